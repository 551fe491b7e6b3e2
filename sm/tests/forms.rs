//! Forms of single instructions, beyond `instructions.rs`: code in, registers and predicates out.

use crate::single;

use single::outcome;

const T: u32 = 1;
const F: u32 = 0;
const N: u32 = u32::MAX;
const ONE: u32 = 0x3f80_0000;
const NAN: u32 = 0x7fff_ffff;

/// Test case: rule; instruction; R2 to R5; P0; expected R8, R9, P1, P2.
type Case = (&'static str, &'static str, [u32; 4], u32, [u32; 4]);

fn check(cases: &[Case]) {
    for (rule, lines, r, p0, expected) in cases {
        assert_eq!(outcome(lines, *r, *p0), *expected, "{rule}: {lines}");
    }
}

#[rustfmt::skip]
const INTEGERS: &[Case] = &[
    ("mov.64",                          "MOV.64 R8, R2 ;",                              [5, 6, 0, 0],            F, [5, 6, F, F]),
    ("sel.64",                          "SEL.64 R8, R2, R4, P0 ;",                      [1, 2, 3, 4],            F, [3, 4, F, F]),
    ("iadd.64 carries",                 "IADD.64 R8, R2, R4 ;",                         [N, 1, 1, 2],            F, [0, 4, F, F]),
    ("iadd.64 subtracts",               "IADD.64 R8, R2, -R4 ;",                        [0, 1, 1, 0],            F, [N, 0, F, F]),
    ("iadd.64 of a negative number",    "IADD.64 R8, R2, -0x1 ;",                       [0, 1, 0, 0],            F, [N, 0, F, F]),
    ("iadd3.64 of three",               "IADD3.64 R8, PT, PT, R2, R4, R2 ;",            [N, 0, 2, 1],            F, [0, 3, F, F]),
    ("iadd3.64 carry out",              "IADD3.64 R8, P1, P2, R2, R4, RZ ;",            [N, N, 1, 0],            F, [0, 0, T, F]),
    ("iadd.x",                          "IADD.X R8, P1, R2, R3, P0 ;",                  [N, 0, 0, 0],            T, [0, 0, T, F]),
    ("iadd.x of an inverse",            "IADD.X R8, ~R2, R3, P0 ;",                     [2, 5, 0, 0],            F, [2, 0, F, F]),
    ("imad.hi.u32 carry out",           "IMAD.HI.U32 R8, P1, R2, R3, R4 ;",             [N, N, N, N],            F, [N - 1, 0, T, F]),
    ("imad.hi.u32 without one",         "IMAD.HI.U32 R8, P1, R2, R3, R4 ;",             [2, 3, N, 4],            F, [5, 0, F, F]),
    ("iadd3.x two carries in",          "IADD3.X R8, R2, R3, RZ, P0, PT ;",             [1, 2, 0, 0],            T, [5, 0, F, F]),
    ("imad.hi.x adds the carry low",    "IMAD.HI.U32.X R8, R2, R3, R4, P0 ;",           [1, N, 0, 0],            T, [1, 0, F, F]),
    ("imad.wide.u32 carry out",         "IMAD.WIDE.U32 R8, P1, R2, R3, R4 ;",           [N, N, N, N],            F, [0, N - 1, T, F]),
    ("imad.wide.u32.x carry in",        "IMAD.WIDE.U32.X R8, R2, R3, R4, P0 ;",         [2, 3, 4, 5],            T, [11, 5, F, F]),
    ("imad.wide negated addend",        "IMAD.WIDE R8, R2, R3, -R4 ;",                  [2, 3, 7, 0],            F, [N, N, F, F]),
    ("imad negated factor",             "IMAD R8, R2, -0x3, R4 ;",                      [5, 0, 20, 0],           F, [5, 0, F, F]),
    ("lea.hi carry out",                "LEA.HI R8, P1, R2, R3, R4, 0x4 ;",             [0, N, 0x1000_0000, 0],  F, [N, 0, F, F]),
    ("lea.hi.sx32",                     "LEA.HI.SX32 R8, R2, RZ, 0x4 ;",                [N, 0, 0, 0],            F, [N, 0, F, F]),
    ("isetp.ex, low words of a sum",    "ISETP.GT.U32.AND P1, PT, R2, R4, PT ;\nISETP.GT.U32.AND.EX P1, PT, R3, R5, PT, P1 ;", [9, 1, 8, 1], F, [0, 0, T, F]),
    ("isetp.s64 of -1 and an immediate","ISETP.GT.S64.AND P1, P2, R2, -0x2, PT ;",      [N, N, 0, 0],            F, [0, 0, T, F]),
    ("isetp.t",                         "ISETP.T.AND P1, P2, R2, R3, P0 ;",             [0; 4],                  T, [0, 0, T, F]),
    ("imnmx.u32 min",                   "IMNMX.U32 R8, R2, R3, PT ;",                   [N, 1, 0, 0],            F, [1, 0, F, F]),
    ("imnmx.s64 max",                   "IMNMX.S64 R8, R2, R4, !PT ;",                  [5, N, 3, 0],            F, [3, 0, F, F]),
    ("imnmx.u64 min",                   "VIMNMX.U64 R8, R2, R4, PT ;",                  [5, 1, 6, 0],            F, [6, 0, F, F]),
    ("vimnmx by a predicate",           "VIMNMX.S32 R8, R2, R3, P0 ;",                  [N, 1, 0, 0],            T, [N, 0, F, F]),
    ("vimnmx.relu",                     "VIMNMX.RELU R8, R2, R3, !PT ;",                [N, -2_i32 as u32, 0, 0], F, [0, 0, F, F]),
    ("vimnmx3",                         "VIMNMX3 R8, R2, R3, R4, PT ;",                 [3, N, 5, 0],            F, [N, 0, F, F]),
    ("viaddmnmx.u32",                   "VIADDMNMX.U32 R8, R2, R3, R4, PT ;",           [5, 6, 10, 0],           F, [10, 0, F, F]),
    ("viaddmnmx wraps",                 "VIADDMNMX R8, R2, R3, R4, !PT ;",              [0x7fff_ffff, 1, 10, 0], F, [10, 0, F, F]),
    ("viadd.16x2, each half wraps",     "VIADD.16x2 R8, R2, R3 ;",                      [0xffff_ffff, 0x0002_0001, 0, 0], F, [0x0001_0000, 0, F, F]),
    ("viadd.16x2, each half negated",   "VIADD.16x2 R8, R2, -R3 ;",                     [0x0005_0000, 0x0001_0001, 0, 0], F, [0x0004_ffff, 0, F, F]),
    ("viadd.16x2, both operands negated", "VIADD.16x2 R8, -R2, -R3 ;",                    [0x0005_0000, 0x0001_0001, 0, 0], F, [0xfffa_ffff, 0, F, F]),
    ("i2ip.u4",                         "I2IP.U4.S32.SAT R8, R2, R3, R4.24 ;",          [20, N, 0x123, 0],       F, [0x1_23f0, 0, F, F]),
    ("i2ip.s2",                         "I2IP.S2.S32.SAT R8, R2, R3, R4.28 ;",          [5, -7_i32 as u32, 1, 0], F, [0x16, 0, F, F]),
    ("viadd.u8x4, each byte wraps",     "VIADD.U8x4 R8, R2, R3 ;",                      [0xff01_80ff, 0x02ff_8001, 0, 0], F, [0x0100_0000, 0, F, F]),
    ("viadd.u8x4, each byte subtracted", "VIADD.U8x4 R8, R2, -R3 ;",                    [0x0005_0080, 0x0101_0180, 0, 0], F, [0xff04_ff00, 0, F, F]),
    ("viadd.u8x4.isat",                 "VIADD.U8x4.ISAT R8, R2, R3 ;",                 [0xff01_80ff, 0x02fe_7f01, 0, 0], F, [0xffff_ffff, 0, F, F]),
    ("viadd.s8x4.isat",                 "VIADD.S8x4.ISAT R8, R2, R3 ;",                 [0x7f80_01ff, 0x01ff_0201, 0, 0], F, [0x7f80_0300, 0, F, F]),
    ("viadd.s8x4.isat of a difference", "VIADD.S8x4.ISAT R8, RZ, -R3 ;",                [0, 0x807f_01ff, 0, 0],  F, [0x7f81_ff01, 0, F, F]),
    ("viadd.16x2.isat",                 "VIADD.16x2.ISAT R8, R2, R3 ;",                 [0xffff_0001, 0x0001_fffe, 0, 0], F, [0xffff_ffff, 0, F, F]),
    ("viadd.s16x2.isat",                "VIADD.S16x2.ISAT R8, R2, R3 ;",                [0x7fff_8000, 0x0001_ffff, 0, 0], F, [0x7fff_8000, 0, F, F]),
    ("viadd.32.isat",                   "VIADD.32.ISAT R8, R2, R3 ;",                   [N, 2, 0, 0],            F, [N, 0, F, F]),
    ("viadd.s32.isat up",               "VIADD.S32.ISAT R8, R2, 0x5 ;",                 [0x7fff_fffe, 0, 0, 0],  F, [0x7fff_ffff, 0, F, F]),
    ("viadd.s32.isat of a difference",  "VIADD.S32.ISAT R8, R2, -R3 ;",                 [5, 1 << 31, 0, 0],      F, [0x7fff_ffff, 0, F, F]),
    ("viadd.s32.isat down",             "VIADD.S32.ISAT R8, R2, -R3 ;",                 [1 << 31, 1, 0, 0],      F, [1 << 31, 0, F, F]),
    ("vimnmx.u8x4 min",                 "VIMNMX.U8x4 R8, R2, R3, PT ;",                 [0x80ff_0102, 0x7f01_0201, 0, 0], F, [0x7f01_0101, 0, F, F]),
    ("vimnmx.s8x4 max",                 "VIMNMX.S8x4 R8, R2, R3, !PT ;",                [0x80ff_0102, 0x7f01_0201, 0, 0], F, [0x7f01_0202, 0, F, F]),
    ("vimnmx.s8x4.relu",                "VIMNMX.S8x4.RELU R8, R2, R3, PT ;",            [0x80ff_0102, 0x7f01_0201, 0, 0], F, [0x0000_0101, 0, F, F]),
    ("vimnmx.u16x2 min",                "VIMNMX.U16x2 R8, R2, R3, PT ;",                [0x8000_0003, 0x0001_8000, 0, 0], F, [0x0001_0003, 0, F, F]),
    ("vimnmx.s16x2 min",                "VIMNMX.S16x2 R8, R2, R3, PT ;",                [0x8000_0003, 0x0001_8000, 0, 0], F, [0x8000_8000, 0, F, F]),
    ("vimnmx.s16x2.relu max",           "VIMNMX.S16x2.RELU R8, R2, R3, !PT ;",          [0xffff_0003, 0x8000_0002, 0, 0], F, [0x0000_0003, 0, F, F]),
    ("vimnmx.u16x2 says which half",    "VIMNMX.U16x2 R8, P1, P2, R2, R3, !PT ;",       [0x0002_0001, 0x0001_0003, 0, 0], F, [0x0002_0003, 0, F, T]),
    ("vimnmx.s16x2 of equal halves",    "VIMNMX.S16x2 R8, P1, P2, R2, R3, PT ;",        [0x0002_0007, 0x0001_0007, 0, 0], F, [0x0001_0007, 0, T, F]),
    ("vimnmx3.u16x2",                   "VIMNMX3.U16x2 R8, R2, R3, R4, PT ;",           [0x0003_ffff, N, 0x0005_0001, 0], F, [0x0003_0001, 0, F, F]),
    ("viaddmnmx.s16x2.relu",            "VIADDMNMX.S16x2.RELU R8, R2, R3, R4, PT ;",    [0x0001_ffff, 0x0001_ffff, 0x0001_0005, 0], F, [0x0001_0000, 0, F, F]),
    ("vabsdiff",                        "VABSDIFF R8, R2, R3, R4 ;",                    [N, 3, 10, 0],           F, [14, 0, F, F]),
    ("vabsdiff.u32",                    "VABSDIFF.U32 R8, R2, R3, RZ ;",                [N, 3, 0, 0],            F, [N - 3, 0, F, F]),
    ("vabsdiff4.u8",                    "VABSDIFF4.U8 R8, R2, R3, R4 ;",                [0x01f0_0304, 0x0410_0304, 100, 0], F, [0x03e0_0000, 0, F, F]),
    ("vabsdiff4 is signed",             "VABSDIFF4 R8, R2, R3, R4 ;",                   [0x01f0_807f, 0x0410_7f81, 100, 0], F, [0x0320_fffe, 0, F, F]),
    ("vabsdiff4.acc is signed",         "VABSDIFF4.ACC R8, R2, R3, R4 ;",               [0x01f0_807f, 0x0410_7f81, 100, 0], F, [100 + 3 + 32 + 255 + 254, 0, F, F]),
    ("vabsdiff4.u8.acc",                "VABSDIFF4.U8.ACC R8, R2, R3, R4 ;",            [0x0102_0304, 0x0401_0304, 100, 0], F, [104, 0, F, F]),
    ("idp.4a",                          "IDP.4A.U8.S8 R8, R2, R3, R4 ;",                [0x0102_03ff, 0x0101_01ff, 1, 0], F, [(7 - 255) as u32, 0, F, F]),
    ("idp.2a.lo",                       "IDP.2A.LO.S16.U8 R8, R2, R3, RZ ;",            [0x0002_ffff, 0x0909_0305, 0, 0], F, [1, 0, F, F]),
    ("idp.2a.hi",                       "IDP.2A.HI.U16.U8 R8, R2, R3, RZ ;",            [0x0002_0001, 0x0304_0909, 0, 0], F, [10, 0, F, F]),
    ("i2ip",                            "I2IP.U8.S32.SAT R8, R2, R3, R4 ;",             [300, N, 0x1234, 0],     F, [0x1234_ff00, 0, F, F]),
    ("i2i limits",                      "I2I.S8.S32.SAT R8, R2 ;",                      [-200_i32 as u32, 0, 0, 0], F, [-128_i32 as u32, 0, F, F]),
    ("i2i cuts off",                    "I2I.U8.S32 R8, R2 ;",                          [0x1ff, 0, 0, 0],        F, [0xff, 0, F, F]),
    ("iabs",                            "IABS R8, R2 ;",                                [-7_i32 as u32, 0, 0, 0], F, [7, 0, F, F]),
    ("iabs of the least",               "IABS R8, R2 ;",                                [1 << 31, 0, 0, 0],      F, [1 << 31, 0, F, F]),
];

#[test]
fn integers() {
    check(INTEGERS);
}

#[rustfmt::skip]
const BITS: &[Case] = &[
    ("bmsk",                            "BMSK R8, R2, R3 ;",                            [4, 8, 0, 0],            F, [0xff0, 0, F, F]),
    ("bmsk of all",                     "BMSK R8, RZ, R3 ;",                            [0, 40, 0, 0],           F, [N, 0, F, F]),
    ("bmsk beyond",                     "BMSK R8, R2, R3 ;",                            [32, 8, 0, 0],           F, [0, 0, F, F]),
    ("bmsk.w wraps",                    "BMSK.W R8, R2, R3 ;",                          [36, 33, 0, 0],          F, [0x10, 0, F, F]),
    ("sgxt",                            "SGXT R8, R2, 0x8 ;",                           [0x180, 0, 0, 0],        F, [0xffff_ff80, 0, F, F]),
    ("sgxt.u32",                        "SGXT.U32 R8, R2, 0x8 ;",                       [0x180, 0, 0, 0],        F, [0x80, 0, F, F]),
    ("sgxt of 32",                      "SGXT R8, R2, R3 ;",                            [0x180, 32, 0, 0],       F, [0x180, 0, F, F]),
    ("sgxt of none",                    "SGXT R8, R2, RZ ;",                            [0x180, 0, 0, 0],        F, [0, 0, F, F]),
    ("sgxt.w wraps",                    "SGXT.W R8, R2, R3 ;",                          [0x180, 40, 0, 0],       F, [0xffff_ff80, 0, F, F]),
    ("flo.u32.sh",                      "FLO.U32.SH R8, R2 ;",                          [0x0001_0000, 0, 0, 0],  F, [15, 0, F, F]),
    ("flo.u32.sh of nothing",           "FLO.U32.SH R8, R2 ;",                          [0; 4],                  F, [N, 0, F, F]),
    ("popc of an inverse",              "POPC R8, ~R2 ;",                               [0xff, 0, 0, 0],         F, [24, 0, F, F]),
    ("shf.r.s64 low word",              "SHF.R.S64 R8, R2, 0x4, R3 ;",                  [0x10, 0xf, 0, 0],       F, [0xf000_0001, 0, F, F]),
    ("shf.l.w.u32.hi",                  "SHF.L.W.U32.HI R8, R2, 0x24, R3 ;",            [0xf000_0000, 1, 0, 0],  F, [0x1f, 0, F, F]),
    ("shf.r.u32 funnel",                "SHF.R.U32 R8, R2, 0x8, R3 ;",                  [0x100, 0xab, 0, 0],     F, [0xab00_0001, 0, F, F]),
    ("shf.r.s32.hi by 63 is the sign",  "SHF.R.S32.HI R8, RZ, 0x3f, R2 ;",              [1 << 31, 0, 0, 0],      F, [N, 0, F, F]),
    ("lop3.pand",                       "LOP3.LUT.PAND P1, R8, R2, R3, RZ, 0xc0, P0 ;", [1, 3, 0, 0],            F, [1, 0, F, F]),
    ("psetp and, or",                   "PSETP.AND.OR P1, P2, P0, PT, !PT ;",           [0; 4],                  T, [0, 0, T, F]),
    ("psetp xor, and",                  "PSETP.XOR.AND P1, P2, P0, PT, PT ;",           [0; 4],                  T, [0, 0, F, T]),
    ("prmt.f4e",                        "PRMT.F4E R8, R2, 0x1, R3 ;",                   [0x3322_1100, 0x7766_5544, 0, 0], F, [0x4433_2211, 0, F, F]),
    ("prmt.b4e",                        "PRMT.B4E R8, R2, 0x1, R3 ;",                   [0x3322_1100, 0x7766_5544, 0, 0], F, [0x6677_0011, 0, F, F]),
    ("prmt.rc8",                        "PRMT.RC8 R8, R2, 0x2, R3 ;",                   [0x3322_1100, 0, 0, 0],  F, [0x2222_2222, 0, F, F]),
    ("prmt.ecl",                        "PRMT.ECL R8, R2, 0x2, R3 ;",                   [0x3322_1100, 0, 0, 0],  F, [0x3322_2222, 0, F, F]),
    ("prmt.ecr",                        "PRMT.ECR R8, R2, 0x1, R3 ;",                   [0x3322_1100, 0, 0, 0],  F, [0x1111_1100, 0, F, F]),
    ("prmt.rc16",                       "PRMT.RC16 R8, R2, 0x1, R3 ;",                  [0x3322_1100, 0, 0, 0],  F, [0x3322_3322, 0, F, F]),
    ("p2r",                             "ISETP.EQ.AND P1, P2, RZ, RZ, PT ;\nP2R R8, PR, R2, 0x3 ;", [0xfc, 0, 0, 0], T, [0xff, 0, T, F]),
    ("p2r.b1",                          "ISETP.EQ.AND P1, P2, RZ, RZ, PT ;\nP2R.B1 R8, PR, R2, 0x7f ;", [0x1_00ff, 0, 0, 0], T, [0x1_03ff, 0, T, F]),
    ("r2p",                             "R2P PR, R2, 0x6 ;",                            [4, 0, 0, 0],            F, [0, 0, F, T]),
    ("r2p keeps the others",            "ISETP.EQ.AND P1, P2, RZ, RZ, PT ;\nR2P PR, R2, 0x4 ;", [4, 0, 0, 0],    F, [0, 0, T, T]),
    ("r2p of a byte",                   "R2P PR, R2.B1, 0x7f ;",                        [0x200, 0, 0, 0],        F, [0, 0, T, F]),
    ("up2ur and back",                  "UISETP.EQ.AND UP1, UP2, URZ, URZ, UPT ;\nUP2UR UR4, UPR, URZ, 0x7f ;\nMOV R8, UR4 ;\nUMOV UR5, 0x8 ;\nUR2UP UPR, UR5, 0x8 ;\nPLOP3.LUT P1, PT, UP3, PT, PT, 0xf0, 0x0 ;", [0; 4], F, [2, 0, T, F]),
    ("uniform bits",                    "UMOV UR4, 0x4 ;\nUBMSK UR5, UR4, 0x3 ;\nUSGXT UR6, UR5, 0x7 ;\nUPOPC UR7, UR6 ;\nMOV R8, UR6 ;\nMOV R9, UR7 ;", [0; 4], F, [0xffff_fff0, 28, F, F]),
    ("uvimnmx and uviadd",              "UMOV UR4, 0x4 ;\nUVIADD UR5, UR4, -0x6 ;\nUVIMNMX.S32 UR6, UR5, UR4, UPT ;\nUIMNMX.U32 UR7, UR5, UR4, UPT ;\nMOV R8, UR6 ;\nMOV R9, UR7 ;", [0; 4], F, [-2_i32 as u32, 4, F, F]),
    ("uiadd3.64",                       "UMOV UR4, 0xffffffff ;\nUMOV UR5, 0x1 ;\nUIADD3.64 UR6, UPT, UPT, UR4, 0x2, URZ ;\nMOV.64 R8, UR6 ;", [0; 4], F, [1, 2, F, F]),
];

#[test]
fn bits_and_predicates() {
    check(BITS);
}

#[rustfmt::skip]
const FLOATS: &[Case] = &[
    ("fadd.rz",                         "FADD.RZ R8, R2, R3 ;",                         [ONE, 0x33ff_ffff, 0, 0], F, [ONE, 0, F, F]),
    ("fadd.rp",                         "FADD.RP R8, R2, R3 ;",                         [ONE, 1, 0, 0],          F, [ONE + 1, 0, F, F]),
    ("fadd.rm",                         "FADD.RM R8, R2, -R3 ;",                        [ONE, 1, 0, 0],          F, [ONE - 1, 0, F, F]),
    ("fadd.sat above",                  "FADD.SAT R8, R2, R2 ;",                        [ONE, 0, 0, 0],          F, [ONE, 0, F, F]),
    ("fadd.sat below",                  "FADD.SAT R8, -R2, RZ ;",                       [ONE, 0, 0, 0],          F, [0, 0, F, F]),
    ("fmul.sat of a nan",               "FMUL.SAT R8, R2, R2 ;",                        [NAN, 0, 0, 0],          F, [0, 0, F, F]),
    ("fmul.ftz flushes the product",    "FMUL.FTZ R8, R2, R3 ;",                        [0x0080_0000, 0x3f00_0000, 0, 0], F, [0, 0, F, F]),
    ("ffma.rz",                         "FFMA.RZ R8, R2, R3, R4 ;",                     [ONE, ONE, 0x33ff_ffff, 0], F, [ONE, 0, F, F]),
    ("ffma of -0",                      "FFMA R8, R2, -R3, R4 ;",                       [ONE, 0, 0x8000_0000, 0], F, [0x8000_0000, 0, F, F]),
    ("fsetp.num",                       "FSETP.NUM.AND P1, P2, R2, R3, PT ;",           [NAN, ONE, 0, 0],        F, [0, 0, F, T]),
    ("fsetp.nan",                       "FSETP.NAN.AND P1, P2, R2, R3, PT ;",           [NAN, ONE, 0, 0],        F, [0, 0, T, F]),
    ("fsetp.neu of numbers",            "FSETP.NEU.AND P1, P2, R2, R3, PT ;",           [0, 0x8000_0000, 0, 0],  F, [0, 0, F, T]),
    ("fsetp.ftz of subnormals",         "FSETP.EQ.FTZ.AND P1, PT, R2, R3, PT ;",        [1, 2, 0, 0],            F, [0, 0, T, F]),
    ("fsetp of absolute values",        "FSETP.GT.AND P1, PT, |R2|, R3, PT ;",          [0xc000_0000, ONE, 0, 0], F, [0, 0, T, F]),
    ("fset.bf",                         "FSET.BF.GT.AND R8, R2, RZ, PT ;",              [ONE, 0, 0, 0],          F, [ONE, 0, F, F]),
    ("fset",                            "FSET.GT.AND R8, R2, RZ, PT ;",                 [ONE, 0, 0, 0],          F, [N, 0, F, F]),
    ("fmnmx.nan",                       "FMNMX.NAN R8, R2, R3, PT ;",                   [NAN, ONE, 0, 0],        F, [NAN, 0, F, F]),
    ("fmnmx of zeros",                  "FMNMX R8, R2, R3, !PT ;",                      [0x8000_0000, 0, 0, 0],  F, [0, 0, F, F]),
    ("fmnmx3 of the greatest",          "FMNMX3 R8, R2, R3, R4, !PT ;",                 [ONE, 0x4040_0000, 0x4000_0000, 0], F, [0x4040_0000, 0, F, F]),
    ("fmnmx3 of the least",             "FMNMX3 R8, R2, R3, R4, PT ;",                  [0x4040_0000, 0x4000_0000, 0xbf80_0000, 0], F, [0xbf80_0000, 0, F, F]),
    ("fmnmx3 drops nans",               "FMNMX3 R8, R2, R3, R4, !PT ;",                 [NAN, 0xbf80_0000, 0xffc0_0001, 0], F, [0xbf80_0000, 0, F, F]),
    ("fmnmx3 of three nans",            "FMNMX3 R8, R2, R3, R4, PT ;",                  [0xffc0_0001, 0x7fc0_0000, 0xff80_0001, 0], F, [NAN, 0, F, F]),
    ("fmnmx3.nan",                      "FMNMX3.NAN R8, R2, R3, R4, PT ;",              [ONE, ONE, 0xffc0_0000, 0], F, [NAN, 0, F, F]),
    ("fmnmx3.ftz",                      "FMNMX3.FTZ R8, R2, R3, R4, !PT ;",             [0x8000_0001, 0x8000_0002, 0xbf80_0000, 0], F, [0x8000_0000, 0, F, F]),
    ("fmnmx3 of zeros",                 "FMNMX3 R8, R2, R3, RZ, PT ;",                  [0, 0x8000_0000, 0, 0],  F, [0x8000_0000, 0, F, F]),
    ("fmnmx3 with signs",               "FMNMX3 R8, |R2|, -R3, 1.5, !PT ;",             [0xc000_0000, 0x4040_0000, 0, 0], F, [0x4000_0000, 0, F, F]),
    ("fmnmx.xorsign",                   "FMNMX.XORSIGN R8, |R2|, |R3|, PT ;",           [0xc000_0000, 0x4040_0000, 0, 0], F, [0xc000_0000, 0, F, F]),
    ("fmnmx.xorsign of negatives",      "FMNMX.XORSIGN R8, |R2|, |R3|, !PT ;",          [0xc000_0000, 0xc040_0000, 0, 0], F, [0x4040_0000, 0, F, F]),
    ("fmnmx.xorsign of a negative nan", "FMNMX.XORSIGN R8, |R2|, |R3|, PT ;",           [0xffc0_0000, 0x4040_0000, 0, 0], F, [0xc040_0000, 0, F, F]),
    ("fmnmx.nan.xorsign",               "FMNMX.NAN.XORSIGN R8, |R2|, |R3|, PT ;",       [0xffc0_0000, ONE, 0, 0], F, [NAN, 0, F, F]),
    ("fmnmx.ftz.xorsign",               "FMNMX.FTZ.XORSIGN R8, |R2|, |R3|, PT ;",       [0x8000_0001, ONE, 0, 0], F, [0x8000_0000, 0, F, F]),
    ("fadd2",                           "FADD2 R8, R2.F32x2.HI_LO, R4.F32x2.HI_LO ;",   [ONE, 0x4000_0000, 0x3f00_0000, 0xc000_0000], F, [0x3fc0_0000, 0, F, F]),
    ("fadd2 of differences",            "FADD2 R8, R2.F32x2.HI_LO, -R4.F32x2.HI_LO ;",  [ONE, 0x4000_0000, 0x3f00_0000, 0xc000_0000], F, [0x3f00_0000, 0x4080_0000, F, F]),
    ("fadd2.ftz.rz",                    "FADD2.FTZ.RZ R8, R2.F32x2.HI_LO, R4.F32x2.HI_LO ;", [ONE, 1, 0x33ff_ffff, 1], F, [ONE, 0, F, F]),
    ("fadd2 keeps subnormals",          "FADD2 R8, R2.F32x2.HI_LO, R4.F32x2.HI_LO ;",   [1, 0x8000_0001, 1, 0],  F, [2, 0x8000_0001, F, F]),
    ("fmul2 by a number",               "FMUL2 R8, R2.F32x2.HI_LO, 1.5 ;",              [0x4000_0000, 0xc000_0000, 0, 0], F, [0x4040_0000, 0xc040_0000, F, F]),
    ("fmul2 has one nan",               "FMUL2 R8, R2.F32x2.HI_LO, R4.F32x2.HI_LO ;",   [0x7f80_0000, ONE, 0, 0xffc0_0001], F, [NAN, NAN, F, F]),
    ("ffma2 by one word",               "FFMA2 R8, R2.F32x2.HI_LO, R4.F32, RZ.F32 ;",   [ONE, 0x4000_0000, 0x4040_0000, N], F, [0x4040_0000, 0x40c0_0000, F, F]),
    ("ffma2 rounds once",               "FFMA2 R8, R2.F32x2.HI_LO, R2.F32x2.HI_LO, R4.F32x2.HI_LO ;", [0x3f80_0001, 0x3f80_0001, 0xbf80_0002, 0xbf80_0002], F, [0x2880_0000, 0x2880_0000, F, F]),
    ("ffma2 of uniform registers",      "UMOV UR4, 0x40000000 ;\nUMOV UR5, 0x3f800000 ;\nFFMA2 R8, R2.F32x2.HI_LO, UR4.F32x2.HI_LO, R4.F32x2.HI_LO ;", [ONE, ONE, ONE, ONE], F, [0x4040_0000, 0x4000_0000, F, F]),
    ("fsel",                            "FSEL R8, R2, -R3, P0 ;",                       [ONE, ONE, 0, 0],        F, [0xbf80_0000, 0, F, F]),
    ("fchk of easy numbers",            "FCHK P1, R2, R3 ;",                            [ONE, 0x4040_0000, 0, 0], F, [0, 0, F, F]),
    ("fchk of a divisor of zero",       "FCHK P1, R2, RZ ;",                            [ONE, 0, 0, 0],          F, [0, 0, T, F]),
    ("mufu.rsq",                        "MUFU.RSQ R8, R2 ;",                            [0x4080_0000, 0, 0, 0],  F, [0x3f00_0000, 0, F, F]),
    ("mufu.sqrt of an absolute value",  "MUFU.SQRT R8, |R2| ;",                         [0xc080_0000, 0, 0, 0],  F, [0x4000_0000, 0, F, F]),
    ("mufu.ex2",                        "MUFU.EX2 R8, -R2 ;",                           [0x4000_0000, 0, 0, 0],  F, [0x3e80_0000, 0, F, F]),
    ("mufu.lg2",                        "MUFU.LG2 R8, R2 ;",                            [0x4180_0000, 0, 0, 0],  F, [0x4080_0000, 0, F, F]),
    ("mufu.sin of a quarter turn",      "MUFU.SIN R8, R2 ;",                            [0x3e80_0000, 0, 0, 0],  F, [ONE, 0, F, F]),
    ("mufu.cos of half a turn",         "MUFU.COS R8, R2 ;",                            [0x3f00_0000, 0, 0, 0],  F, [0xbf80_0000, 0, F, F]),
    ("mufu.rcp64h of a number",         "MUFU.RCP64H R8, 4 ;",                          [0; 4],                  F, [0x3fd0_0000, 0, F, F]),
    ("fadd of absolute values",         "FADD R8, |R2|.reuse, -|R3|.reuse ;",           [0xc000_0000, 0xbf80_0000, 0, 0], F, [ONE, 0, F, F]),
    ("mufu.rcp64h",                     "MUFU.RCP64H R8, R2 ;",                         [0x4010_0000, 0, 0, 0],  F, [0x3fd0_0000, 0, F, F]),
    ("mufu.rcp64h flushes",             "MUFU.RCP64H R8, R2 ;",                         [0x8008_0000, 0, 0, 0],  F, [0xfff0_0000, 0, F, F]),
    ("mufu.tanh keeps subnormals",      "MUFU.TANH R8, R2 ;",                           [0x8000_0003, 0, 0, 0],  F, [0x8000_0003, 0, F, F]),
    ("mufu.rsq64h",                     "MUFU.RSQ64H R8, R2 ;",                         [0x4010_0000, 0, 0, 0],  F, [0x3fe0_0000, 0, F, F]),
    ("frnd.floor",                      "FRND.FLOOR R8, R2 ;",                          [0xbfa0_0000, 0, 0, 0],  F, [0xc000_0000, 0, F, F]),
    ("frnd keeps the zero's sign",      "FRND.TRUNC R8, R2 ;",                          [0xbf00_0000, 0, 0, 0],  F, [0x8000_0000, 0, F, F]),
    ("frnd.f64.ceil",                   "FRND.F64.CEIL R8, R2 ;",                       [1, 0x3ff0_0000, 0, 0],  F, [0, 0x4000_0000, F, F]),
    ("dmul",                            "DMUL R8, R2, 1.5 ;",                           [0, 0x4000_0000, 0, 0],  F, [0, 0x4008_0000, F, F]),
    ("dfma",                            "DFMA R8, R2, R2, -R4 ;",                       [0, 0x4000_0000, 0, 0x3ff0_0000], F, [0, 0x4008_0000, F, F]),
    ("dadd.rz",                         "DADD.RZ R8, R2, -R4 ;",                        [0, 0x3ff0_0000, 1, 0],  F, [N, 0x3fef_ffff, F, F]),
    ("dadd.rp",                         "DADD.RP R8, R2, R4 ;",                         [0, 0x3ff0_0000, 1, 0],  F, [1, 0x3ff0_0000, F, F]),
    ("dsetp",                           "DSETP.GT.AND P1, P2, R2, R4, PT ;",            [1, 0x3ff0_0000, 0, 0x3ff0_0000], F, [0, 0, T, F]),
    ("dsetp.neu of a nan",              "DSETP.NEU.OR P1, PT, |R2|, +INF, PT ;",        [0, 0x7ff8_0000, 0, 0],  F, [0, 0, T, F]),
    ("dsetp.max takes the greater",     "DSETP.MAX.AND P1, P2, R2, R4, PT ;",           [0, 0x4000_0000, 0, 0x3ff0_0000], F, [0, 0, T, F]),
    ("dsetp.min of a nan",              "DSETP.MIN.AND P1, P2, R2, R4, PT ;",           [0, 0x7ff8_0000, 0, 0x3ff0_0000], F, [0, 0, F, F]),
    ("dsetp.min of two nans",           "DSETP.MIN.AND P1, P2, R2, R4, PT ;",           [0, 0x7ff8_0000, 0, 0x7ff8_0000], F, [0, 0, F, T]),
];

#[test]
fn floats() {
    check(FLOATS);
}

#[rustfmt::skip]
const CONVERSIONS: &[Case] = &[
    ("i2f of an unsigned word",         "I2F.U32 R8, R2 ;",                             [N, 0, 0, 0],            F, [0x4f80_0000, 0, F, F]),
    ("i2f.rz",                          "I2F.U32.RZ R8, R2 ;",                          [N, 0, 0, 0],            F, [0x4f7f_ffff, 0, F, F]),
    ("i2f of a signed word",            "I2F R8, R2 ;",                                 [N, 0, 0, 0],            F, [0xbf80_0000, 0, F, F]),
    ("i2f.u64",                         "I2F.U64.RP R8, R2 ;",                          [1, 1, 0, 0],            F, [0x4f80_0001, 0, F, F]),
    ("i2f.u8 of a byte",                "I2F.U8 R8, R2.B2 ;",                           [0x00ff_0000, 0, 0, 0],  F, [0x437f_0000, 0, F, F]),
    ("i2f.s16 of a half",               "I2F.S16 R8, R2.H1 ;",                          [0xffff_0000, 0, 0, 0],  F, [0xbf80_0000, 0, F, F]),
    ("i2f.f64.u32",                     "I2F.F64.U32 R8, R2 ;",                         [N, 0, 0, 0],            F, [0xffe0_0000, 0x41ef_ffff, F, F]),
    ("i2f.f64.s64",                     "I2F.F64.S64 R8, R2 ;",                         [N, N, 0, 0],            F, [0, 0xbff0_0000, F, F]),
    ("i2f.f16",                         "I2F.F16 R8, R2 ;",                             [3, 0, 0, 0],            F, [0x4200, 0, F, F]),
    ("i2fp",                            "I2FP.F32.S32 R8, R2 ;",                        [-2_i32 as u32, 0, 0, 0], F, [0xc000_0000, 0, F, F]),
    ("f2i to nearest",                  "F2I.NTZ R8, R2 ;",                             [0x4020_0000, 0, 0, 0],  F, [2, 0, F, F]),
    ("f2i.floor",                       "F2I.FLOOR.NTZ R8, R2 ;",                       [0xbf00_0000, 0, 0, 0],  F, [N, 0, F, F]),
    ("f2i.ceil",                        "F2I.CEIL.NTZ R8, R2 ;",                        [0x3f00_0000, 0, 0, 0],  F, [1, 0, F, F]),
    ("f2i limits",                      "F2I.TRUNC.NTZ R8, R2 ;",                       [0xff80_0000, 0, 0, 0],  F, [1 << 31, 0, F, F]),
    ("f2i.u32 of a negative",           "F2I.U32.TRUNC.NTZ R8, R2 ;",                   [0xbf80_0000, 0, 0, 0],  F, [0, 0, F, F]),
    ("f2i of a nan",                    "F2I.TRUNC.NTZ R8, R2 ;",                       [NAN, 0, 0, 0],          F, [0, 0, F, F]),
    ("f2i.u64",                         "F2I.U64.TRUNC R8, R2 ;",                       [0x4f80_0000, 0, 0, 0],  F, [0, 1, F, F]),
    ("f2i.s64.f64",                     "F2I.S64.F64.TRUNC R8, R2 ;",                   [0, 0xbff8_0000, 0, 0],  F, [N, N, F, F]),
    ("f2i.f64 of a nan",                "F2I.F64.TRUNC R8, R2 ;",                       [0, 0x7ff8_0000, 0, 0],  F, [1 << 31, 0, F, F]),
    ("f2f.f64.f32",                     "F2F.F64.F32 R8, R2 ;",                         [ONE, 0, 0, 0],          F, [0, 0x3ff0_0000, F, F]),
    ("f2f.f32.f64",                     "F2F.F32.F64 R8, R2 ;",                         [1, 0x3ff0_0000, 0, 0],  F, [ONE, 0, F, F]),
    ("f2f.f32.f64.rp",                  "F2F.F32.F64.RP R8, R2 ;",                      [1, 0x3ff0_0000, 0, 0],  F, [ONE + 1, 0, F, F]),
    ("f2f.f16.f32",                     "F2F.F16.F32 R8, R2 ;",                         [0x477f_f000, 0, 0, 0],  F, [0x7c00, 0, F, F]),
    ("f2f.f16.f32.rz",                  "F2F.F16.F32.RZ R8, R2 ;",                      [0x477f_f000, 0, 0, 0],  F, [0x7bff, 0, F, F]),
    ("f2f.bf16.f32",                    "F2F.BF16.F32 R8, -R2 ;",                       [0x3f81_8000, 0, 0, 0],  F, [0xbf82, 0, F, F]),
    ("f2fp.pack_ab",                    "F2FP.PACK_AB R8, R2, R3 ;",                    [ONE, 0x4000_0000, 0, 0], F, [0x3c00_4000, 0, F, F]),
    ("f2fp.bf16.f32.pack_ab",           "F2FP.BF16.F32.PACK_AB R8, RZ, R3 ;",           [0, 0x3f81_8000, 0, 0],  F, [0x3f82, 0, F, F]),
    ("f2fp to e4m3 beside other bytes", "F2FP.SATFINITE.E4M3.F32.PACK_AB_MERGE_C R8, R2, R3, R4 ;", [ONE, 0x4000_0000, 0xcafe_1234, 0], F, [0x1234_3840, 0, F, F]),
    ("f2fp to e4m3 of a nan, of -inf",  "F2FP.SATFINITE.E4M3.F32.PACK_AB_MERGE_C R8, R2, R3, RZ ;", [0xffc0_0000, 0xff80_0000, 0, 0], F, [0x7ffe, 0, F, F]),
    ("f2fp to e5m2 of inf, of a nan",   "F2FP.SATFINITE.E5M2.F32.PACK_AB_MERGE_C R8, R2, R3, RZ ;", [0x7f80_0000, 0xffc0_0000, 0, 0], F, [0x7b7f, 0, F, F]),
    ("f2fp.relu to e4m3",               "F2FP.SATFINITE.RELU.E4M3.F32.PACK_AB_MERGE_C R8, R2, R3, RZ ;", [0xbf80_0000, 0x4000_0000, 0, 0], F, [0x40, 0, F, F]),
    ("f2fp to e4m3 of halves",          "F2FP.SATFINITE.E4M3.F16.UNPACK_B_MERGE_C R8, R2, R3 ;", [0x4000_3c00, 0xdead_0001, 0, 0], F, [0x1_4038, 0, F, F]),
    ("f2fp to e5m2 of halves",          "F2FP.SATFINITE.E5M2.F16.UNPACK_B_MERGE_C R8, R2, RZ ;", [0xfc00_7e00, 0, 0, 0], F, [0xfb7f, 0, F, F]),
    ("f2fp from e4m3",                  "F2FP.F16.E4M3.UNPACK_B R8, R2 ;",              [0x7f38, 0, 0, 0],       F, [0x7fff_3c00, 0, F, F]),
    ("f2fp from e5m2, the high bytes",  "F2FP.F16.E5M2.UNPACK_B R8, R2.H1 ;",           [0xfc7d_0000, 0, 0, 0],  F, [0xfc00_7fff, 0, F, F]),
    ("f2fp.relu from e5m2",             "F2FP.RELU.F16.E5M2.UNPACK_B R8, R2 ;",         [0xbc3c, 0, 0, 0],       F, [0x3c00, 0, F, F]),
    ("hsetp2 with numbers",             "HSETP2.GT.AND P1, P2, R2, 2, 1, PT ;",         [0x4200_3800, 0, 0, 0],  F, [0, 0, F, T]),
    ("hsetp2 with a signaling nan",     "HSETP2.GT.AND P1, P2, R2, 2, -SNAN , PT ;",    [0x4200_3c00, 0, 0, 0],  F, [0, 0, F, T]),
    ("uimnmx.s64",                      "R2UR UR4, R2 ;\nR2UR UR5, R3 ;\nR2UR UR6, R4 ;\nR2UR UR7, R5 ;\nUIMNMX.S64 UPT, UPT, UR8, UR4, UR6, UPT, !UPT ;\nMOV R8, UR8 ;\nMOV R9, UR9 ;", [5, N, 7, 0], F, [5, N, F, F]),
    ("plop3 of signs",                  "PLOP3.LUT P1, PT, R2.reuse.SIGN, R3.SIGN, R4.SIGN, 0x2, 0x0 ;\nPLOP3.LUT P2, PT, R2.SIGN, R3.SIGN, R4.SIGN, 0x40, 0x0 ;", [1, 2, N, 0], F, [0, 0, T, F]),
    ("plop3 of a constant's sign",         "PLOP3.LUT P1, P2, c[0x0] [0x160].SIGN, P0, RZ.SIGN, 0x50, 0xa0 ;", [N, 0, 0, 0], F, [0, 0, T, F]),
    ("viadd.s8x4 negates its first",    "VIADD.S8x4 R8, -R2, R3 ;",                     [0x0180_7f00, 0x0101_0101, 0, 0], F, [0x0081_8201, 0, F, F]),
    ("f2fp.relu keeps a nan",           "F2FP.RELU.PACK_AB R8, R2, R3 ;",               [NAN, 0xbf80_0000, 0, 0], F, [0x7fff_0000, 0, F, F]),
    ("hadd2.f32 as a conversion",       "HADD2.F32 R8, -RZ, R2.H1_H1 ;",                [0x3c00_0000, 0, 0, 0],  F, [ONE, 0, F, F]),
    ("hadd2 cuts a binary32 off",       "HADD2 R8, R2.F32, -RZ.H0_H0 ;",                [0x3e99_999a, 0, 0, 0],  F, [0x34cc_34cc, 0, F, F]),
    ("hadd2 of a binary32",             "HADD2 R8, -RZ.H0_H0, R2.F32 ;",                [0xc75f_6000, 0, 0, 0],  F, [0xfafb_fafb, 0, F, F]),
    ("hadd2.sat",                       "HADD2.SAT R8, R2, R2 ;",                       [0xbc00_3c00, 0, 0, 0],  F, [0x3c00, 0, F, F]),
    ("hfma2.relu",                      "HFMA2.RELU R8, R2, 1, 1, RZ ;",                [0xbc00_3c00, 0, 0, 0],  F, [0x3c00, 0, F, F]),
    ("hfma2.bf16_v2",                   "HFMA2.BF16_V2 R8, R2, 1, 1, R3 ;",             [0x3f80_3f80, 0x3f80_0000, 0, 0], F, [0x4000_3f80, 0, F, F]),
    ("hmul2",                           "HMUL2 R8, R2, R3.H0_H0 ;",                     [0x4000_3c00, 0x4000, 0, 0], F, [0x4400_4000, 0, F, F]),
    ("hmnmx2",                          "HMNMX2 R8, R2, R3, PT ;",                      [0x3c00_7fff, 0x4000_3c00, 0, 0], F, [0x3c00_3c00, 0, F, F]),
    ("hmnmx2.ftz",                      "HMNMX2.FTZ R8, R2, R3, PT ;",                  [0x0001_8001, 0x3c00_3c00, 0, 0], F, [0x0000_8000, 0, F, F]),
    ("hadd2 of one absolute half",      "HADD2.FTZ R8, |R2|.reuse.H1_H1, -RZ.H0_H0 ;",  [0xbc00_8001, 0, 0, 0],  F, [0x3c00_3c00, 0, F, F]),
    ("hsetp2",                          "HSETP2.GT.AND P1, P2, R2, R3, PT ;",           [0x3c00_4000, 0x4000_3c00, 0, 0], F, [0, 0, T, F]),
    ("hsetp2.h_and",                    "HSETP2.GE.AND.H_AND P1, P2, R2, R2, PT ;",     [0x3c00_4000, 0, 0, 0],  F, [0, 0, T, F]),
    ("hset2.bf",                        "HSET2.BF.GT.AND R8, R2, R3, PT ;",             [0x3c00_4000, 0x4000_3c00, 0, 0], F, [0x3c00, 0, F, F]),
];

#[test]
fn conversions() {
    check(CONVERSIONS);
}

#[rustfmt::skip]
const THREADS: &[Case] = &[
    ("match.any",                       "MATCH.ANY R8, R2 ;",                           [5, 0, 0, 0],            F, [1, 0, F, F]),
    ("match.all.u64",                   "MATCH.ALL.U64 P1, R8, R2 ;",                   [5, 6, 0, 0],            F, [1, 0, T, F]),
    ("bar.red.popc",                    "BAR.RED.POPC.DEFER_BLOCKING 0x0, P0 ;\nB2R.RESULT R8, P1 ;", [0; 4],    T, [1, 0, T, F]),
    ("bar.red.and",                     "BAR.RED.AND.DEFER_BLOCKING 0x0, P0 ;\nB2R.RESULT RZ, P1 ;", [0; 4],     F, [0, 0, F, F]),
    ("bar.red.or with an inverse",      "BAR.RED.OR.DEFER_BLOCKING 0x0, !P0 ;\nB2R.RESULT RZ, P1 ;", [0; 4],     F, [0, 0, T, F]),
    ("a subroutine",                    "MOV R12, 0x80 ;\nMOV R13, 0x0 ;\nCALL.REL.NOINC `(.L_x_1) ;\nBRA `(.L_x_2) ;\n.L_x_1:\nMOV R8, 0x7 ;\nRET.REL.NODEC R12 `(k) ;\n.L_x_2:\nMOV R9, 0x8 ;", [0; 4], F, [7, 8, F, F]),
    ("a relocatable return address",    "MOV R12, 32@lo((k + .L_x_2@srel)) ;\nMOV R13, 32@hi((k + .L_x_2@srel)) ;\nCALL.ABS.NOINC `(.L_x_1) ;\n.L_x_2:\nBRA `(.L_x_3) ;\n.L_x_1:\nMOV R8, 0x7 ;\nRET.ABS.NODEC R12 0x0 ;\n.L_x_3:\nMOV R9, 0x8 ;", [0; 4], F, [7, 8, F, F]),
    ("lepc of itself",                  "LEPC R12 ;\nLEPC R14, `(.L_x_1) ;\n.L_x_1:\nIADD3 R8, R14, -R12, RZ ;\nMOV R9, 0x1 ;", [0; 4], F, [32, 1, F, F]),
    ("lepc and a branch to a register", "LEPC R12, `(.L_x_1) ;\nRET.ABS.NODEC R12 0x0 ;\nMOV R8, 0x1 ;\n.L_x_1:\nMOV R9, 0x2 ;", [0; 4], F, [0, 2, F, F]),
    ("brx from the next instruction",   "MOV R12, 0x20 ;\nBRX R12 -0x10 (*\"BRANCH_TARGETS .L_x_1,.L_x_2\"*) ;\n.L_x_1:\nMOV R8, 0x1 ;\n.L_x_2:\nMOV R9, 0x2 ;", [0; 4], F, [0, 2, F, F]),
    ("brxu",                            "UMOV UR4, 0x10 ;\nBRXU UR4 0x0 ;\nMOV R8, 0x1 ;\nMOV R9, 0x2 ;", [0; 4], F, [0, 2, F, F]),
    ("jmp",                             "JMP `(.L_x_1) ;\nMOV R8, 0x1 ;\n.L_x_1:\nMOV R9, 0x2 ;", [0; 4],         F, [0, 2, F, F]),
    ("a branch with a second predicate","@!P0 BRA P0, `(.L_x_1) ;\nMOV R8, 0x1 ;\n.L_x_1:\nMOV R9, 0x2 ;", [0; 4], F, [1, 2, F, F]),
    ("bra.div of all",                  "BRA.DIV `(.L_x_1) ;\nMOV R8, 0x1 ;\n.L_x_1:\nMOV R9, 0x2 ;", [0; 4], F, [1, 2, F, F]),
    ("bra.conv of threads together",    "BRA.CONV UR6, `(.L_x_1) ;\nMOV R8, 0x1 ;\n.L_x_1:\nMOV R9, 0x2 ;", [0; 4], F, [0, 2, F, F]),
    ("bra.conv of all",                 "BRA.CONV ~URZ, `(.L_x_1) ;\nMOV R8, 0x1 ;\n.L_x_1:\nMOV R9, 0x2 ;", [0; 4], F, [0, 2, F, F]),
    ("bra.div of threads together",     "BRA.DIV ~URZ, `(.L_x_1) ;\nMOV R8, 0x1 ;\n.L_x_1:\nMOV R9, 0x2 ;", [0; 4], F, [1, 2, F, F]),
    ("a collective region",             "BSSY B0, `(.L_x_2) ;\nMOV R12, 0xffffffff ;\nWARPSYNC.COLLECTIVE R12, `(.L_x_1) ;\nMOV R8, 0x1 ;\nENDCOLLECTIVE ;\n.L_x_1:\nBSYNC B0 ;\n.L_x_2:\nMOV R9, 0x2 ;", [0; 4], F, [1, 2, F, F]),
    ("break with a predicate",          "BSSY B0, `(.L_x_1) ;\nBREAK !P0, B0 ;\n.L_x_1:\nMOV R9, 0x2 ;", [0; 4],   F, [0, 2, F, F]),
    ("the stack",                       "LDC R1, c[0x0][0x28] ;\nIADD3 R1, R1, -0x10, RZ ;\nSTL.64 [R1], R2 ;\nSTL.U8 [R1+0x1], R4 ;\nLDL R8, [R1] ;\nLDL.S16 R9, [R1+0x4] ;", [0x1111_1111, 0xffff, 0x22, 0], F, [0x1111_2211, N, F, F]),
    ("an uninitialized stack",          "LDL R8, [R2] ;",                               [0x100, 0, 0, 0],        F, [0, 0, F, F]),
    ("cs2r.32 of nothing",              "CS2R.32 R8, SRZ ;",                            [0; 4],                  F, [0, 0, F, F]),
    ("registers are granted",           "USETMAXREG.TRY_ALLOC.CTAPOOL UP1, 0xe8 ;\nPLOP3.LUT P1, PT, PT, PT, UP1, 0x80, 0x0 ;\nSETMAXREG.TRY_ALLOC.CTAPOOL P2, 0x28 ;", [0; 4], F, [0, 0, T, T]),
    ("special registers",               "S2R R8, SR_NTID ;\nS2R R9, SR_SMEMSZ ;",       [0; 4],                  F, [1, 64, F, F]),
    ("nothing to wait for",             "ACQBULK ;\nPREEXIT ;\nCCTL.E.PF2 [R2] ;\nUBLKPF.L2 [UR4], UR6 ;\nUTMACCTL.PF [UR4] ;\nUSETMAXREG.DEALLOC.CTAPOOL 0x18 ;\nLDGDEPBAR ;\nDEPBAR.LE SB0, 0x0 ;\nDEPBAR {5,4} ;\nMEMBAR.SC.VC ;\nMOV R8, 0x1 ;", [0; 4], F, [1, 0, F, F]),
];

#[test]
fn threads_and_their_own_memory() {
    check(THREADS);
}
