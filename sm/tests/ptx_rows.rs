//! One row per PTX compute instruction: statement, operands, result. All rows are in one kernel, which every
//! thread of a warp executes.

use crate::functional;

use atoms_isa::Program;
use atoms_sm::{Launch, SmConfig, run};
use functional::{FunctionalPort, Shape};
use std::fmt::Write;
use std::path::Path;

/// Register kind of the operands a, b, c, and of the result d.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// 32-bit registers: `%r0` to `%r3`.
    W,
    /// 64-bit registers: `%rd0` to `%rd3`.
    D,
    /// 16-bit registers: `%h0` to `%h3`.
    H,
}
use Kind::{D, H, W};

/// Statement with `d`, `a`, `b`, `c` for the operands; kinds of `d`, `a`, `b`, `c`; values of `a`, `b`, `c`;
/// result.
type Row = (&'static str, [Kind; 4], [u64; 3], u64);

const WWWW: [Kind; 4] = [W; 4];
const DDDD: [Kind; 4] = [D; 4];
const HHHH: [Kind; 4] = [H; 4];

const fn f(value: f32) -> u64 {
    value.to_bits() as u64
}

const fn p(low: f32, high: f32) -> u64 {
    f(high) << 32 | f(low)
}

const fn g(value: f64) -> u64 {
    value.to_bits()
}

#[rustfmt::skip]
const ROWS: &[Row] = &[
    ("add.s32 d, a, b;",                  WWWW, [0xffff_ffff, 2, 0], 1),
    ("add.sat.s32 d, a, b;",              WWWW, [0x7fff_ffff, 2, 0], 0x7fff_ffff),
    ("add.u64 d, a, b;",                  DDDD, [u64::MAX, 2, 0], 1),
    ("add.s16 d, a, b;",                  HHHH, [0xffff, 3, 0], 2),
    ("sub.s32 d, a, 5;",                  WWWW, [3, 0, 0], 0xffff_fffe),
    ("sub.sat.s32 d, a, b;",              WWWW, [0x8000_0000, 1, 0], 0x8000_0000),
    ("mul.lo.s32 d, a, b;",               WWWW, [0x1_0001, 0x1_0001, 0], 0x2_0001),
    ("mul.hi.s32 d, a, b;",               WWWW, [0xffff_fffe, 3, 0], 0xffff_ffff),
    ("mul.hi.u32 d, a, b;",               WWWW, [0xffff_fffe, 3, 0], 2),
    ("mul.hi.u64 d, a, b;",               DDDD, [u64::MAX, u64::MAX, 0], u64::MAX - 1),
    ("mul.hi.s64 d, a, b;",               DDDD, [u64::MAX, 5, 0], u64::MAX),
    ("mul.wide.s32 d, a, b;",             [D, W, W, D], [0xffff_ffff, 7, 0], (-7_i64) as u64),
    ("mul.wide.u32 d, a, 16;",            [D, W, W, D], [0xffff_ffff, 0, 0], 0xf_ffff_fff0),
    ("mul.wide.u16 d, a, b;",             [W, H, H, W], [0xffff, 0xffff, 0], 0xfffe_0001),
    ("mad.lo.s32 d, a, b, c;",            WWWW, [5, 6, 0xffff_fff0], 14),
    ("mad.hi.u32 d, a, b, c;",            WWWW, [0x8000_0000, 6, 1], 4),
    ("mad.hi.sat.s32 d, a, b, c;",        WWWW, [0x4000_0000, 0x4000_0000, 0x7fff_ffff], 0x7fff_ffff),
    ("mad.wide.s32 d, a, b, c;",          [D, W, W, D], [0xffff_ffff, 2, 1], u64::MAX),
    ("mul24.lo.s32 d, a, b;",             WWWW, [0x00ff_ffff, 5, 0], (-5_i32) as u32 as u64),
    ("mul24.hi.u32 d, a, b;",             WWWW, [0x00ff_ffff, 0x00ff_ffff, 0], 0xffff_fe00),
    ("mad24.lo.u32 d, a, b, c;",          WWWW, [0x0100_0003, 4, 5], 17),
    ("sad.s32 d, a, b, c;",               WWWW, [0xffff_fffe, 3, 10], 15),
    ("sad.u32 d, a, b, c;",               WWWW, [3, 0xffff_fffe, 10], 5),
    ("div.s32 d, a, b;",                  WWWW, [(-7_i32) as u32 as u64, 2, 0], (-3_i32) as u32 as u64),
    ("div.u32 d, a, b;",                  WWWW, [0xffff_fff9, 2, 0], 0x7fff_fffc),
    ("div.u32 d, a, b;",                  WWWW, [5, 0, 0], 0xffff_ffff),
    ("rem.s32 d, a, b;",                  WWWW, [(-7_i32) as u32 as u64, 2, 0], (-1_i32) as u32 as u64),
    ("rem.u64 d, a, b;",                  DDDD, [1_000_000_007, 1000, 0], 7),
    ("div.s64 d, a, b;",                  DDDD, [i64::MIN as u64, u64::MAX, 0], i64::MIN as u64),
    ("abs.s32 d, a;",                     WWWW, [0xffff_fff0, 0, 0], 16),
    ("neg.s64 d, a;",                     DDDD, [1, 0, 0], u64::MAX),
    ("min.s32 d, a, b;",                  WWWW, [0xffff_ffff, 1, 0], 0xffff_ffff),
    ("min.u32 d, a, b;",                  WWWW, [0xffff_ffff, 1, 0], 1),
    ("min.relu.s32 d, a, b;",             WWWW, [0xffff_ffff, 1, 0], 0),
    ("max.s32.relu d, a, b;",             WWWW, [0xffff_ffff, 1, 0], 1),
    ("add.u16x2 d, a, b;",                WWWW, [0xffff_ffff, 0x0002_0001, 0], 0x0001_0000),
    ("add.s16x2 d, a, b;",                WWWW, [0x7fff_8000, 0x0001_ffff, 0], 0x8000_7fff),
    ("min.u16x2 d, a, b;",                WWWW, [0x8000_0003, 0x0001_8000, 0], 0x0001_0003),
    ("min.s16x2 d, a, b;",                WWWW, [0x8000_0003, 0x0001_8000, 0], 0x8000_8000),
    ("max.u16x2 d, a, b;",                WWWW, [0x8000_0003, 0x0001_8000, 0], 0x8000_8000),
    ("max.relu.s16x2 d, a, b;",           WWWW, [0xffff_0003, 0x8000_0002, 0], 0x0000_0003),
    ("add.u8x4 d, a, b;",                 WWWW, [0xff01_80ff, 0x02ff_8001, 0], 0x0100_0000),
    ("add.sat.u8x4 d, a, b;",             WWWW, [0xff01_80ff, 0x02fe_7f01, 0], 0xffff_ffff),
    ("add.sat.s8x4 d, a, b;",             WWWW, [0x7f80_01ff, 0x01ff_0201, 0], 0x7f80_0300),
    ("sub.u8x4 d, a, b;",                 WWWW, [0x0005_0080, 0x0101_0180, 0], 0xff04_ff00),
    ("sub.sat.s8x4 d, a, b;",             WWWW, [0x7f80_01ff, 0xff01_0201, 0], 0x7f80_fffe),
    ("neg.s8x4 d, a;",                    WWWW, [0x807f_01ff, 0, 0],       0x8081_ff01),
    ("min.u8x4 d, a, b;",                 WWWW, [0x80ff_0102, 0x7f01_0201, 0], 0x7f01_0101),
    ("max.s8x4 d, a, b;",                 WWWW, [0x80ff_0102, 0x7f01_0201, 0], 0x7f01_0202),
    ("min.s8x4.relu d, a, b;",            WWWW, [0x80ff_0102, 0x7f01_0201, 0], 0x0000_0101),
    ("add.sat.u16x2 d, a, b;",            WWWW, [0xffff_0001, 0x0001_fffe, 0], 0xffff_ffff),
    ("add.sat.s16x2 d, a, b;",            WWWW, [0x7fff_8000, 0x0001_ffff, 0], 0x7fff_8000),
    ("min.s16x2.relu d, a, b;",           WWWW, [0x0005_0003, 0x0006_8000, 0], 0x0005_0000),
    ("max.s64 d, a, b;",                  DDDD, [u64::MAX, 1, 0], 1),
    ("max.u16 d, a, b;",                  HHHH, [0xffff, 1, 0], 0xffff),
    ("popc.b64 d, a;",                    [W, D, W, W], [0xff00_0000_0000_000f, 0, 0], 12),
    ("clz.b32 d, a;",                     WWWW, [0x0001_0000, 0, 0], 15),
    ("clz.b64 d, a;",                     [W, D, W, W], [0, 0, 0], 64),
    ("bfind.u32 d, a;",                   WWWW, [0x0001_0000, 0, 0], 16),
    ("bfind.s32 d, a;",                   WWWW, [0xffff_0000, 0, 0], 15),
    ("bfind.shiftamt.u64 d, a;",          [W, D, W, W], [1, 0, 0], 63),
    ("bfind.u32 d, a;",                   WWWW, [0, 0, 0], 0xffff_ffff),
    ("brev.b32 d, a;",                    WWWW, [0x8000_0003, 0, 0], 0xc000_0001),
    ("bfe.u32 d, a, b, c;",               WWWW, [0x1234_5678, 8, 12], 0x456),
    ("bfe.s32 d, a, b, c;",               WWWW, [0x0000_0f00, 8, 4], 0xffff_ffff),
    ("bfe.s32 d, a, b, c;",               WWWW, [0x8000_0000, 24, 16], 0xffff_ff80),
    ("bfe.s64 d, a, 60, 10;",             DDDD, [u64::MAX << 63, 0, 0], u64::MAX << 3),
    ("bfi.b32 d, a, b, 8, 4;",            WWWW, [0xf, 0x1111_1111, 0], 0x1111_1f11),
    ("bfi.b64 d, a, b, 60, 8;",           DDDD, [0xff, 1, 0], 0xf000_0000_0000_0001),
    ("fns.b32 d, a, 2, 1;",               WWWW, [0b1011_0011, 0, 0], 4),
    ("fns.b32 d, a, 2, 2;",               WWWW, [0b1011_0011, 0, 0], 5),
    ("fns.b32 d, a, 4, -2;",              WWWW, [0b1011_0011, 0, 0], 1),
    ("fns.b32 d, a, 2, 0;",               WWWW, [0b1011_0011, 0, 0], 0xffff_ffff),
    ("bmsk.clamp.b32 d, a, b;",           WWWW, [4, 40, 0], 0xffff_fff0),
    ("bmsk.wrap.b32 d, a, b;",            WWWW, [36, 34, 0], 0x30),
    ("szext.clamp.s32 d, a, b;",          WWWW, [0x80, 8, 0], 0xffff_ff80),
    ("szext.wrap.u32 d, a, b;",           WWWW, [0xfff, 36, 0], 0xf),
    ("vabsdiff4.u32.u32.u32 d, a, b, c;", WWWW, [0x01f0_0304, 0x0410_0304, 100], 0x03e0_0000),
    ("vabsdiff4.s32.s32.s32 d, a, b, c;", WWWW, [0x01f0_807f, 0x0410_7f81, 100], 0x0320_fffe),
    ("vabsdiff4.u32.u32.u32.add d, a, b, c;", WWWW, [0x01f0_0304, 0x0410_0304, 100], 100 + 3 + 224),
    ("vabsdiff4.u32.s32.s32.add d, a, b, c;", WWWW, [0x01f0_807f, 0x0410_7f81, 100], 100 + 3 + 32 + 255 + 254),
    ("vabsdiff2.u32.u32.u32 d, a, b, c;", WWWW, [0x0001_fff0, 0xfff1_0010, 100], 0xfff0_ffe0),
    ("vabsdiff2.u32.s32.s32 d, a, b, c;", WWWW, [0x0001_fff0, 0xfff1_0010, 100], 0x0010_0020),
    ("vabsdiff2.u32.u32.u32.add d, a, b, c;", WWWW, [0x0001_fff0, 0xfff1_0010, 100], 100 + 0xfff0 + 0xffe0),
    ("dp4a.s32.s32 d, a, b, c;",          WWWW, [0x01ff_0203, 0x0204_0506, 100], 100 + 2 - 4 + 10 + 18),
    ("dp4a.u32.u32 d, a, b, c;",          WWWW, [0x01ff_0203, 0x0204_0506, 0], 2 + 1020 + 10 + 18),
    ("dp2a.lo.s32.u32 d, a, b, c;",       WWWW, [0xffff_0002, 0x0a0b_0304, 1], 1 + 8 - 3),
    ("dp2a.hi.u32.u32 d, a, b, c;",       WWWW, [0x0001_0002, 0x0a0b_0304, 0], 22 + 10),
    ("and.b32 d, a, b;",                  WWWW, [0xff00, 0x0ff0, 0], 0x0f00),
    ("or.b64 d, a, b;",                   DDDD, [1 << 40, 1, 0], 1 << 40 | 1),
    ("xor.b16 d, a, b;",                  HHHH, [0xffff, 0x0f0f, 0], 0xf0f0),
    ("not.b32 d, a;",                     WWWW, [0xffff_0000, 0, 0], 0xffff),
    ("cnot.b32 d, a;",                    WWWW, [0, 0, 0], 1),
    ("lop3.b32 d, a, b, c, 0x96;",        WWWW, [0xf0f0, 0xff00, 0xaaaa], 0xf0f0 ^ 0xff00 ^ 0xaaaa),
    ("shl.b32 d, a, b;",                  WWWW, [1, 32, 0], 0),
    ("shl.b64 d, a, 40;",                 DDDD, [1, 0, 0], 1 << 40),
    ("shr.s32 d, a, b;",                  WWWW, [0x8000_0000, 99, 0], 0xffff_ffff),
    ("shr.u32 d, a, b;",                  WWWW, [0x8000_0000, 31, 0], 1),
    ("shr.s16 d, a, 4;",                  [H, H, W, W], [0x8000, 0, 0], 0xf800),
    ("shf.l.wrap.b32 d, a, b, c;",        WWWW, [0x8000_0001, 0x1, 33], 0x3),
    ("shf.l.clamp.b32 d, a, b, c;",       WWWW, [0x1234_5678, 0x1, 33], 0x1234_5678),
    ("shf.r.clamp.b32 d, a, b, c;",       WWWW, [0x1234_5678, 0x1, 4], 0x1123_4567),
    ("prmt.b32 d, a, b, c;",              WWWW, [0x3322_1100, 0x7766_5584, 0x0c41], 0x00ff_8411),
    ("prmt.b32.f4e d, a, b, c;",          WWWW, [0x3322_1100, 0x7766_5544, 1], 0x4433_2211),
    ("prmt.b32.b4e d, a, b, c;",          WWWW, [0x3322_1100, 0x7766_5544, 1], 0x6677_0011),
    ("prmt.b32.rc8 d, a, b, c;",          WWWW, [0x3322_1100, 0, 2], 0x2222_2222),
    ("prmt.b32.ecl d, a, b, c;",          WWWW, [0x3322_1100, 0, 1], 0x3322_1111),
    ("prmt.b32.ecr d, a, b, c;",          WWWW, [0x3322_1100, 0, 1], 0x1111_1100),
    ("prmt.b32.rc16 d, a, b, c;",         WWWW, [0x3322_1100, 0, 1], 0x3322_3322),
    ("mov.b64 d, {a, b};",                [D, W, W, W], [1, 2, 0], 2 << 32 | 1),
    ("mov.b32 d, {a, b};",                [W, H, H, W], [1, 2, 0], 2 << 16 | 1),
    ("mov.b32 {d, b}, a;",                [H, W, H, W], [0x1234_5678, 0, 0], 0x5678),
    ("mov.b64 {_, d}, a;",                [W, D, W, W], [7 << 32, 0, 0], 7),
    ("selp.b32 d, a, b, %yes;",           WWWW, [1, 2, 0], 1),
    ("selp.b64 d, a, b, !%yes;",          DDDD, [1, 2, 0], 2),
    ("slct.b32.s32 d, a, b, c;",          WWWW, [1, 2, 0xffff_ffff], 2),
    ("slct.b32.f32 d, a, b, c;",          WWWW, [1, 2, f(-0.0)], 1),
    ("slct.b32.f32 d, a, b, c;",          WWWW, [1, 2, f(f32::NAN)], 2),
    ("set.lt.u32.f16x2 d, a, b;",         WWWW, [0x4000_3c00, 0x3c00_4000, 0], 0x0000_ffff),
    ("set.lt.s32.f16x2 d, a, b;",         WWWW, [0x4000_3c00, 0x3c00_4000, 0], 0x0000_ffff),
    ("set.gt.u32.f16x2 d, a, b;",         WWWW, [0x4000_3c00, 0x3c00_4000, 0], 0xffff_0000),
    ("set.gt.f16x2.f16x2 d, a, b;",       WWWW, [0x4000_3c00, 0x3c00_4000, 0], 0x3c00_0000),
    ("set.lt.u32.bf16x2 d, a, b;",        WWWW, [0x4000_3f80, 0x3f80_4000, 0], 0x0000_ffff),
    ("set.lt.s32.bf16x2 d, a, b;",        WWWW, [0x4000_3f80, 0x3f80_4000, 0], 0x0000_ffff),
    ("set.gt.u32.bf16x2 d, a, b;",        WWWW, [0x4000_3f80, 0x3f80_4000, 0], 0xffff_0000),
    ("set.gt.bf16x2.bf16x2 d, a, b;",     WWWW, [0x4000_3f80, 0x3f80_4000, 0], 0x3f80_0000),
    ("set.lt.u32.s32 d, a, b;",           WWWW, [0xffff_ffff, 1, 0], 0xffff_ffff),
    ("set.lt.f32.u32 d, a, b;",           WWWW, [0xffff_ffff, 1, 0], 0),
    ("set.ge.f32.f32 d, a, b;",           WWWW, [f(2.0), f(1.0), 0], f(1.0)),
    ("setp.lo.u32 %p, a, b; selp.b32 d, 1, 0, %p;",            WWWW, [1, 0xffff_ffff, 0], 1),
    ("setp.lt.and.s32 %p|%q, a, b, %yes; selp.b32 d, 1, 2, %q;", WWWW, [1, 0xffff_ffff, 0], 1),
    ("setp.eq.xor.s32 %p, a, b, !%yes; selp.b32 d, 1, 2, %p;", WWWW, [4, 4, 0], 1),
    ("setp.equ.f32 %p, a, b; selp.b32 d, 1, 2, %p;",           WWWW, [f(f32::NAN), f(1.0), 0], 1),
    ("setp.ne.f32 %p, a, b; selp.b32 d, 1, 2, %p;",            WWWW, [f(f32::NAN), f(1.0), 0], 2),
    ("setp.num.f32 %p, a, b; selp.b32 d, 1, 2, %p;",           WWWW, [f(3.0), f(1.0), 0], 1),
    ("setp.nan.f64 %p, a, b; selp.b64 d, 1, 2, %p;",           DDDD, [g(f64::NAN), g(1.0), 0], 1),
    ("setp.lt.ftz.f32 %p, a, b; selp.b32 d, 1, 2, %p;",        WWWW, [1, 2, 0], 2),
    ("setp.lt.f16 %p, a, b; selp.b16 d, 1, 2, %p;",            HHHH, [0xbc00, 0x3c00, 0], 1),
    ("setp.gt.f16x2 %p|%q, a, b; selp.b32 d, 1, 2, %q;",       WWWW, [0x3c00_0000, 0x0000_3c00, 0], 1),
    ("add.cc.u32 d, a, b; addc.u32 d, c, 0;",                  WWWW, [0xffff_ffff, 1, 5], 6),
    ("sub.cc.u32 d, a, b; subc.u32 d, c, 0;",                  WWWW, [0, 1, 5], 4),
    ("add.cc.u64 d, a, b; addc.cc.u64 d, c, 0;",               DDDD, [u64::MAX, 1, 5], 6),
    ("mad.lo.cc.u32 d, a, b, c; madc.hi.u32 d, a, b, 0;",      WWWW, [0xffff_ffff, 2, 0xffff_ffff], 2),
    ("cvt.s32.s8 d, a;",                  WWWW, [0x1f0, 0, 0], 0xffff_fff0),
    ("cvt.u32.u16 d, a;",                 [W, H, W, W], [0xfff0, 0, 0], 0xfff0),
    ("cvt.s64.s32 d, a;",                 [D, W, W, W], [0xffff_fff0, 0, 0], (-16_i64) as u64),
    ("cvt.u64.u32 d, a;",                 [D, W, W, W], [0xffff_fff0, 0, 0], 0xffff_fff0),
    ("cvt.s8.s32 d, a;",                  WWWW, [0x1ff, 0, 0], 0xffff_ffff),
    ("cvt.sat.s8.s32 d, a;",              WWWW, [0x1ff, 0, 0], 127),
    ("cvt.sat.u16.s32 d, a;",             [H, W, W, W], [0xffff_fff0, 0, 0], 0),
    ("cvt.rn.f32.s32 d, a;",              WWWW, [0xffff_fff0, 0, 0], f(-16.0)),
    ("cvt.rp.f32.u32 d, a;",              WWWW, [0x0100_0001, 0, 0], f(16_777_218.0)),
    ("cvt.rz.f32.u64 d, a;",              [W, D, W, W], [u64::MAX, 0, 0], 0x5f7f_ffff),
    ("cvt.rzi.s32.f32 d, a;",             WWWW, [f(-2.9), 0, 0], 0xffff_fffe),
    ("cvt.rni.s32.f32 d, a;",             WWWW, [f(2.5), 0, 0], 2),
    ("cvt.rmi.s32.f32 d, a;",             WWWW, [f(-2.1), 0, 0], 0xffff_fffd),
    ("cvt.rpi.u32.f32 d, a;",             WWWW, [f(2.1), 0, 0], 3),
    ("cvt.rzi.u32.f32 d, a;",             WWWW, [f(-5.0), 0, 0], 0),
    ("cvt.rzi.s32.f32 d, a;",             WWWW, [f(1e20), 0, 0], 0x7fff_ffff),
    ("cvt.rzi.s32.f32 d, a;",             WWWW, [f(f32::NAN), 0, 0], 0),
    ("cvt.rzi.s32.f64 d, a;",             [W, D, W, W], [g(f64::NAN), 0, 0], 0x8000_0000),
    ("cvt.rzi.u64.f32 d, a;",             [D, W, W, W], [f(f32::NAN), 0, 0], 1 << 63),
    ("cvt.f64.f32 d, a;",                 [D, W, W, W], [f(1.5), 0, 0], g(1.5)),
    ("cvt.rn.f32.f64 d, a;",              [W, D, W, W], [g(0.1), 0, 0], f(0.1)),
    ("cvt.rm.f32.f64 d, a;",              [W, D, W, W], [g(0.1), 0, 0], 0x3dcc_cccc),
    ("cvt.rni.f32.f32 d, a;",             WWWW, [f(2.5), 0, 0], f(2.0)),
    ("cvt.rpi.f64.f64 d, a;",             DDDD, [g(-0.5), 0, 0], g(-0.0)),
    ("cvt.sat.f32.f32 d, a;",             WWWW, [f(2.5), 0, 0], f(1.0)),
    ("cvt.ftz.f32.f32 d, a;",             WWWW, [1, 0, 0], 0),
    ("cvt.rn.f16.f32 d, a;",              [H, W, W, W], [f(1.0), 0, 0], 0x3c00),
    ("cvt.f32.f16 d, a;",                 [W, H, W, W], [0xc000, 0, 0], f(-2.0)),
    ("cvt.rn.bf16.f32 d, a;",             [H, W, W, W], [0x3f80_8000, 0, 0], 0x3f80),
    ("cvt.f32.bf16 d, a;",                [W, H, W, W], [0xc000, 0, 0], f(-2.0)),
    ("cvt.f32.bf16 d, a;",                [W, H, W, W], [0xffc1, 0, 0], 0xffc1_0000),
    ("cvt.rn.f16x2.f32 d, a, b;",         WWWW, [f(1.0), f(-2.0), 0], 0x3c00_c000),
    ("cvt.rn.relu.bf16x2.f32 d, a, b;",   WWWW, [f(1.0), f(-2.0), 0], 0x3f80_0000),
    ("cvt.rn.satfinite.e4m3x2.f32 d, a, b;", [H, W, W, W], [f(1.0), f(2.0), 0], 0x3840),
    ("cvt.rn.satfinite.relu.e5m2x2.f32 d, a, b;", [H, W, W, W], [f(-1.0), f(1e9), 0], 0x007b),
    ("cvt.rn.satfinite.e5m2x2.f16x2 d, a;", [H, W, W, W], [0x4000_3c00, 0, 0], 0x403c),
    ("cvt.rn.f16x2.e4m3x2 d, a;",         [W, H, W, W], [0x7f38, 0, 0], 0x7fff_3c00),
    ("cvt.rn.relu.f16x2.e5m2x2 d, a;",    [W, H, W, W], [0xbc3c, 0, 0], 0x3c00),
    ("cvt.pack.sat.u8.s32.b32 d, a, b, c;", WWWW, [300, 0xffff_fffb, 0xabcd], 0xabcd_ff00),
    ("cvt.pack.sat.s8.s32.b32 d, a, b, c;", WWWW, [300, (-300_i32) as u32 as u64, 0x1_0001], 0x1_7f80),
    ("cvt.pack.sat.u16.s32 d, a, b;",     WWWW, [70000, 0xffff_ffff, 0], 0xffff_0000),
    ("cvt.pack.sat.s16.s32 d, a, b;",     WWWW, [70000, (-70000_i32) as u32 as u64, 0], 0x7fff_8000),
    ("cvt.pack.sat.u4.s32.b32 d, a, b, c;", WWWW, [20, 0xffff_ffff, 0x123], 0x1_23f0),
    ("cvt.pack.sat.s4.s32.b32 d, a, b, c;", WWWW, [(-20_i32) as u32 as u64, 9, 0], 0x87),
    ("cvt.pack.sat.u2.s32.b32 d, a, b, c;", WWWW, [5, 2, 1], 0x1e),
    ("cvt.pack.sat.s2.s32.b32 d, a, b, c;", WWWW, [5, (-7_i32) as u32 as u64, 1], 0x16),
    ("cp.async.bulk.prefetch.L2.global [%in], 16; mov.b32 d, a;", WWWW, [5, 0, 0], 5),
    ("prefetch.tensormap [%in]; setmaxnreg.inc.sync.aligned.u32 232; mov.b32 d, a;", WWWW, [6, 0, 0], 6),
    ("add.f32 d, a, b;",                  WWWW, [f(1.5), f(2.25), 0], f(3.75)),
    ("add.rz.f32 d, a, b;",               WWWW, [f(16_777_216.0), f(1.9), 0], f(16_777_216.0)),
    ("add.rp.f32 d, a, b;",               WWWW, [f(16_777_216.0), f(0.1), 0], f(16_777_218.0)),
    ("add.ftz.f32 d, a, b;",              WWWW, [1, 1, 0], 0),
    ("add.sat.f32 d, a, b;",              WWWW, [f(0.7), f(0.7), 0], f(1.0)),
    ("sub.f32 d, a, b;",                  WWWW, [f(1.5), f(2.25), 0], f(-0.75)),
    ("sub.f64 d, a, b;",                  DDDD, [g(1.5), g(2.25), 0], g(-0.75)),
    ("mul.f32 d, a, b;",                  WWWW, [f(f32::INFINITY), f(0.0), 0], 0x7fff_ffff),
    ("mul.f64 d, a, 0d4000000000000000;", DDDD, [g(1.5), 0, 0], g(3.0)),
    ("mul.rm.f64 d, a, b;",               DDDD, [g(0.1), g(0.1), 0], 0x3f84_7ae1_47ae_147b),
    ("fma.rn.f32 d, a, b, c;",            WWWW, [f(16_777_215.0), f(16_777_215.0), f(-281_474_943_156_224.0)], f(1.0)),
    ("mad.rn.f32 d, a, b, c;",            WWWW, [f(2.0), f(3.0), f(4.0)], f(10.0)),
    ("fma.rn.f64 d, a, b, c;",            DDDD, [g(2.0), g(3.0), g(4.0)], g(10.0)),
    ("div.rn.f32 d, a, b;",               WWWW, [f(1.0), f(3.0), 0], 0x3eaa_aaab),
    ("div.rz.f32 d, a, b;",               WWWW, [f(1.0), f(3.0), 0], 0x3eaa_aaaa),
    ("div.approx.f32 d, a, b;",           WWWW, [f(6.0), f(3.0), 0], f(2.0)),
    ("div.full.f32 d, a, b;",             WWWW, [f(6.0), f(0.0), 0], f(f32::INFINITY)),
    ("div.rn.f64 d, a, b;",               DDDD, [g(1.0), g(3.0), 0], g(1.0 / 3.0)),
    ("rcp.rn.f32 d, a;",                  WWWW, [f(3.0), 0, 0], 0x3eaa_aaab),
    ("rcp.approx.ftz.f32 d, a;",          WWWW, [f(0.25), 0, 0], f(4.0)),
    ("sqrt.rn.f32 d, a;",                 WWWW, [f(2.0), 0, 0], 0x3fb5_04f3),
    ("sqrt.rp.f32 d, a;",                 WWWW, [f(2.0), 0, 0], 0x3fb5_04f4),
    ("sqrt.rz.f64 d, a;",                 DDDD, [g(2.0), 0, 0], 0x3ff6_a09e_667f_3bcc),
    ("sqrt.rn.f64 d, a;",                 DDDD, [g(2.0), 0, 0], 0x3ff6_a09e_667f_3bcd),
    ("rsqrt.approx.f32 d, a;",            WWWW, [f(16.0), 0, 0], f(0.25)),
    ("ex2.approx.f32 d, a;",              WWWW, [f(10.0), 0, 0], f(1024.0)),
    ("lg2.approx.f32 d, a;",              WWWW, [f(1024.0), 0, 0], f(10.0)),
    ("sin.approx.f32 d, a;",              WWWW, [f(0.0), 0, 0], f(0.0)),
    ("cos.approx.f32 d, a;",              WWWW, [f(0.0), 0, 0], f(1.0)),
    ("tanh.approx.f32 d, a;",             WWWW, [f(100.0), 0, 0], f(1.0)),
    ("tanh.approx.f32 d, a;",             WWWW, [0x8000_0003, 0, 0], 0x8000_0003),
    ("rcp.approx.ftz.f64 d, a;",          DDDD, [g(3.0), 0, 0], 0x3fd5_5555_0000_0000),
    ("rcp.approx.ftz.f64 d, a;",          DDDD, [1 << 63 | 1 << 51, 0, 0], g(f64::NEG_INFINITY)),
    ("rsqrt.approx.ftz.f64 d, a;",        DDDD, [0x4008_0000_0000_0001, 0, 0], 0x3fe2_79a7_0000_0000),
    ("abs.f32 d, a;",                     WWWW, [f(-2.0), 0, 0], f(2.0)),
    ("neg.f64 d, a;",                     DDDD, [g(2.0), 0, 0], g(-2.0)),
    ("min.f32 d, a, b;",                  WWWW, [f(f32::NAN), f(2.0), 0], f(2.0)),
    ("min.NaN.f32 d, a, b;",              WWWW, [f(f32::NAN), f(2.0), 0], 0x7fff_ffff),
    ("max.f32 d, a, b;",                  WWWW, [f(-0.0), f(0.0), 0], f(0.0)),
    ("max.xorsign.abs.f32 d, a, b;",      WWWW, [f(-3.0), f(2.0), 0], f(-3.0)),
    ("min.xorsign.abs.f32 d, a, b;",      WWWW, [f(-3.0), f(-2.0), 0], f(2.0)),
    ("min.xorsign.abs.f32 d, a, b;",      WWWW, [0xffc0_0001, f(2.0), 0], f(-2.0)),
    ("max.NaN.xorsign.abs.f32 d, a, b;",  WWWW, [0xffc0_0001, f(2.0), 0], 0x7fff_ffff),
    ("max.f32 d, a, b, c;",               WWWW, [f(1.0), f(3.0), f(2.0)], f(3.0)),
    ("min.f32 d, a, b, c;",               WWWW, [f(-0.0), f(0.0), f(f32::NAN)], f(-0.0)),
    ("max.f32 d, a, b, c;",               WWWW, [0xffc0_0001, f(-1.0), 0x7fc0_0000], f(-1.0)),
    ("min.f32 d, a, b, c;",               WWWW, [0xffc0_0001, 0x7fc0_0000, 0x7f80_0001], 0x7fff_ffff),
    ("max.NaN.f32 d, a, b, c;",           WWWW, [f(1.0), 0xffc0_0001, f(2.0)], 0x7fff_ffff),
    ("max.ftz.f32 d, a, b, c;",           WWWW, [0x8000_0001, 0x8000_0002, f(-1.0)], 0x8000_0000),
    ("min.abs.f32 d, a, b, c;",           WWWW, [f(-3.0), f(-2.0), f(4.0)], f(2.0)),
    ("max.ftz.NaN.abs.f32 d, a, b, c;",   WWWW, [f(-3.0), 1, f(2.0)], f(3.0)),
    ("max.f32 d, a, 0f40A00000, c;",      WWWW, [f(1.0), 0, f(2.0)], f(5.0)),
    ("add.rn.f32x2 d, a, b;",             DDDD, [p(1.0, 2.0), p(0.5, -2.0), 0], p(1.5, 0.0)),
    ("sub.rn.f32x2 d, a, b;",             DDDD, [p(1.0, 2.0), p(0.5, -2.0), 0], p(0.5, 4.0)),
    ("add.rz.ftz.f32x2 d, a, b;",         DDDD, [1 << 32 | f(1.0), 1 << 32 | 0x33ff_ffff, 0], p(1.0, 0.0)),
    ("mul.f32x2 d, a, b;",                DDDD, [p(f32::INFINITY, 1.0), p(0.0, -3.0), 0], f(-3.0) << 32 | 0x7fff_ffff),
    ("fma.rn.f32x2 d, a, b, c;",          DDDD, [p(2.0, 3.0), p(4.0, 5.0), p(1.0, -1.0)], p(9.0, 14.0)),
    ("min.f64 d, a, b;",                  DDDD, [g(-3.0), g(2.0), 0], g(-3.0)),
    ("copysign.f32 d, a, b;",             WWWW, [f(-1.0), f(2.0), 0], f(-2.0)),
    ("testp.infinite.f32 %p, a; selp.b32 d, 1, 2, %p;",  WWWW, [f(f32::INFINITY), 0, 0], 1),
    ("testp.subnormal.f32 %p, a; selp.b32 d, 1, 2, %p;", WWWW, [1, 0, 0], 1),
    ("testp.normal.f64 %p, a; selp.b64 d, 1, 2, %p;",    DDDD, [0, 0, 0], 1),
    ("testp.normal.f64 %p, a; selp.b64 d, 1, 2, %p;",    DDDD, [1, 0, 0], 2),
    ("testp.normal.f32 %p, a; selp.b32 d, 1, 2, %p;",    WWWW, [f(-0.0), 0, 0], 1),
    ("testp.notanumber.f32 %p, a; selp.b32 d, 1, 2, %p;", WWWW, [f(f32::NAN), 0, 0], 1),
    ("add.f16 d, a, b;",                  HHHH, [0x3c00, 0x4000, 0], 0x4200),
    ("mul.f16x2 d, a, b;",                WWWW, [0x4000_3c00, 0x4000_4000, 0], 0x4400_4000),
    ("fma.rn.relu.f16x2 d, a, b, c;",     WWWW, [0x4000_3c00, 0x4000_c000, 0x0000_0000], 0x4400_0000),
    ("fma.rn.bf16x2 d, a, b, c;",         WWWW, [0x4000_3f80, 0x4000_4000, 0x3f80_3f80], 0x40a0_4040),
    ("min.bf16x2 d, a, b;",               WWWW, [0x4000_3f80, 0x3f80_4000, 0], 0x3f80_3f80),
    ("neg.f16x2 d, a;",                   WWWW, [0x4000_3c00, 0, 0], 0xc000_bc00),
    ("sub.sat.f16 d, a, b;",              HHHH, [0x4200, 0x3c00, 0], 0x3c00),
    ("and.pred %p, %yes, %yes; not.pred %q, %p; selp.b32 d, 1, 2, %q;", WWWW, [0, 0, 0], 2),
    ("mov.pred %p, %yes; xor.pred %q, %p, 1; selp.b32 d, 1, 2, %q;", WWWW, [0, 0, 0], 2),
    ("getctarank.shared::cluster.u32 d, a;", WWWW, [0x0300_0010, 0, 0], 3),
    ("isspacep.global %p, a; selp.b32 d, 1, 2, %p;", [W, D, W, W], [0x1000, 0, 0], 1),
    ("cvta.shared.u64 d, a; isspacep.shared %p, d; selp.b64 d, 1, 2, %p;", DDDD, [0x10, 0, 0], 1),
    ("cvta.local.u64 d, a; isspacep.local %p, d; cvta.to.local.u64 d, d; selp.b64 d, d, 2, %p;", DDDD, [0x10, 0, 0], 0x10),
    ("mov.u64 d, start; isspacep.const %p, d; ld.const.u32 d, [start+4]; selp.b64 d, d, 2, %p;", DDDD, [0; 3], 9),
];

/// Replaces the operand letters by registers of their kinds.
fn written(text: &str, kinds: [Kind; 4]) -> String {
    let mut out = String::new();
    let bytes = text.as_bytes();
    for (at, c) in text.char_indices() {
        let alone = |i: Option<&u8>| i.is_none_or(|b| !b.is_ascii_alphanumeric() && !b"._%:".contains(b));
        let before = at.checked_sub(1).and_then(|i| bytes.get(i));
        let number = "dabc".find(c).filter(|_| alone(before) && alone(bytes.get(at + 1)));
        match number {
            None => out.push(c),
            Some(n) => {
                let file = match kinds[n] {
                    W => "%r",
                    D => "%rd",
                    H => "%h",
                };
                write!(out, "{file}{n}").unwrap();
            }
        }
    }
    out
}

fn kernel() -> String {
    let mut text = String::from(
        ".version 9.5\n.target sm_120a\n.address_size 64\n.const .align 4 .b32 start[2] = {7, 9};\n\
         .visible .entry rows(.param .u64 p0, .param .u64 p1)\n{\n.reg .pred %p, %q, %yes;\n.reg .b16 %h<4>;\n\
         .reg .b32 %r<4>;\n.reg .b64 %rd<4>, %in, %out;\nld.param.u64 %in, [p0];\nld.param.u64 %out, [p1];\n\
         setp.eq.u64 %yes, %in, %in;\n",
    );
    for (row, (statement, kinds, ..)) in ROWS.iter().enumerate() {
        for n in 0..3 {
            let at = 24 * row + 8 * n;
            let k = n + 1;
            for (ty, file) in [("u16", "%h"), ("u32", "%r"), ("u64", "%rd")] {
                writeln!(text, "ld.global.{ty} {file}{k}, [%in+{at}];").unwrap();
            }
        }
        writeln!(text, "{}", written(statement, *kinds)).unwrap();
        match kinds[0] {
            W => writeln!(text, "cvt.u64.u32 %rd0, %r0;").unwrap(),
            H => writeln!(text, "cvt.u64.u16 %rd0, %h0;").unwrap(),
            D => {}
        }
        writeln!(text, "st.global.u64 [%out+{}], %rd0;", 8 * row).unwrap();
    }
    text + "ret;\n}\n"
}

#[test]
fn every_row_gives_its_result() {
    let text = kernel();
    let program =
        Program::from_ptx("rows.ptx", &text, None).unwrap_or_else(|e| panic!("{:?}", miette::Report::new(e)));
    let operands: Vec<String> =
        ROWS.iter().flat_map(|(_, _, values, _)| values).map(|v| format!("\"{v}\"")).collect();
    let toml = format!(
        "kernel = \"rows\"\ngrid = 1\nblock = 32\n[[param]]\nname = \"in\"\ntype = \"u64\"\nvalues = [{}]\n\
         [[param]]\nname = \"out\"\ntype = \"u64\"\nzeros = {}\n",
        operands.join(","),
        ROWS.len()
    );
    let launch = Launch::from_toml("rows", &toml, Path::new("")).unwrap();
    let mut port = FunctionalPort::new(Shape::default());
    let kernel = launch.kernel(&program).unwrap();
    let report = run(kernel, &launch, &mut port, &SmConfig::default()).unwrap_or_else(|e| panic!("{e}"));
    assert!(port.clean(), "every part is taken away");
    let out = &report.buffer("out").unwrap().bytes;
    let mut wrong = String::new();
    for ((statement, _, values, expected), found) in ROWS.iter().zip(out.chunks(8)) {
        let found = u64::from_le_bytes(found.try_into().unwrap());
        if found != *expected {
            writeln!(wrong, "{statement} of {values:x?}: {found:#x}, expected {expected:#x}").unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
