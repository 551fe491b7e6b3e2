//! Compiled machine code of sm_50 to sm_62 for kernels of `tests/kernels`, and single instructions compared
//! with their definition.

use crate::functional;

use atoms_isa::Program;
use atoms_sm::{KernelError, Launch, RunError, SmConfig, run};
use functional::{FunctionalPort, Shape};
use std::path::Path;

/// Runs `lines` in one thread with R2 to R5 set. Returns R8, R9, P1 and P2.
fn outcome(lines: &str, r: [u32; 4]) -> [u32; 4] {
    let text = format!(
        ".target sm_52\n.section .text.k,\"ax\",@progbits\n\
         MOV R2, c[0x0][0x140] ;\nMOV R3, c[0x0][0x144] ;\nMOV R4, c[0x0][0x148] ;\nMOV R5, c[0x0][0x14c] ;\n\
         MOV R20, c[0x0][0x150] ;\nMOV R21, c[0x0][0x154] ;\n{lines}\n\
         SEL R10, RZ, 0x1, !P1 ;\nSEL R11, RZ, 0x1, !P2 ;\n\
         STG.E.64 [R20], R8 ;\nSTG.E.64 [R20+0x8], R10 ;\nEXIT ;\n"
    );
    let program = Program::parse(lines, &text).unwrap_or_else(|e| panic!("{:?}", miette::Report::new(e)));
    let scalars: String = r.iter().map(|v| format!("[[param]]\ntype = \"u32\"\nvalue = {v}\n")).collect();
    let launch = format!(
        "kernel = \"k\"\ngrid = 1\nblock = 1\n{scalars}[[param]]\nname = \"out\"\ntype = \"u32\"\nzeros = 4\n"
    );
    let launch = Launch::from_toml("launch", &launch, Path::new("")).unwrap();
    let mut port = FunctionalPort::new(Shape::default());
    let kernel = &program.kernels[0];
    let report =
        run(kernel, &launch, &mut port, &SmConfig::default()).unwrap_or_else(|e| panic!("{lines}: {e}"));
    assert!(port.clean());
    let out = report.buffer("out").unwrap();
    [0, 1, 2, 3].map(|i| out.element.read(&out.bytes, i) as u32)
}

const WORDS: [u32; 6] = [0, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0x1234_89ab];

fn pairs() -> impl Iterator<Item = (u32, u32)> {
    WORDS.into_iter().flat_map(|a| WORDS.map(|b| (a, b)))
}

/// Product in 16-bit pieces, in the code that compilers emit.
#[test]
fn products() {
    let low = "XMAD R8, R2, R3, RZ ;\nXMAD.MRG R9, R2, R3.H1, RZ ;\nXMAD.PSL.CBCC R8, R2.H1, R9.H1, R8 ;\nMOV R9, RZ ;";
    // High word: four products, and the carries between them.
    let high = "XMAD R8, R2, R3, RZ ;\nXMAD R9, R2, R3.H1, RZ ;\nXMAD R10, R2.H1, R3.H1, RZ ;\n\
        XMAD.CHI R8, R2.H1, R3, R8 ;\nIADD3.RS R8, R9, R8, R10 ;\nXMAD.S16.U16 R9, R2, R3.H1, RZ ;";
    let signed = "XMAD R8, R2, R3, RZ ;\nXMAD.U16.S16 R9, R2, R3.H1, RZ ;\nXMAD.S16.S16.CSFU R10, R2.H1, R3.H1, RZ ;\n\
        XMAD.S16.U16.CHI R8, R2.H1, R3, R8 ;\nIADD3.RS R8, R8, R9, R10 ;";
    for (a, b) in pairs().chain([(0xffff_0000, 0x0001_0000), (0x8000_0000, 0x8000_8000)]) {
        assert_eq!(outcome(low, [a, b, 0, 0])[0], a.wrapping_mul(b), "{a:#x} {b:#x}");
        let high_word = (i64::from(a as i32) * i64::from(b as i32)) >> 32;
        assert_eq!(outcome(signed, [a, b, 0, 0])[0], high_word as u32, "{a:#x} {b:#x}");
        let mixed = i64::from(a as u16 as i16) * i64::from(b >> 16);
        let product = (u64::from(a) * u64::from(b)) >> 32;
        assert_eq!(outcome(high, [a, b, 0, 0])[..2], [product as u32, mixed as u32], "{a:#x} {b:#x}");
    }
}

#[test]
fn words_joined_by_the_condition_code() {
    for (a, b) in pairs() {
        for (c, d) in [(0, 1), (1, 0), (7, 7), (0xffff_ffff, 0)] {
            let (x, y) = (u64::from(a) << 32 | u64::from(c), u64::from(b) << 32 | u64::from(d));
            let input = [c, a, d, b];
            let words = |value: u64| [value as u32, (value >> 32) as u32];
            let sum = outcome("IADD R8.CC, R2, R4 ;\nIADD.X R9, R3, R5 ;", input);
            assert_eq!(sum[..2], words(x.wrapping_add(y)), "{x:#x} + {y:#x}");
            let difference = outcome("IADD R8.CC, R2, -R4 ;\nIADD.X R9, R3, -R5 ;", input);
            assert_eq!(difference[..2], words(x.wrapping_sub(y)), "{x:#x} - {y:#x}");
            for (name, unsigned, signed) in [
                ("LT", x < y, (x as i64) < y as i64),
                ("LE", x <= y, x as i64 <= y as i64),
                ("GT", x > y, x as i64 > y as i64),
                ("GE", x >= y, x as i64 >= y as i64),
                ("EQ", x == y, x == y),
                ("NE", x != y, x != y),
            ] {
                let lines = format!(
                    "IADD RZ.CC, R2, -R4 ;\nISETP.{name}.U32.X.AND P1, PT, R3, R5, PT ;\n\
                     ISETP.{name}.X.AND P2, PT, R3, R5, PT ;\nISET.{name}.U32.X.AND R8, R3, R5, PT ;"
                );
                let found = outcome(&lines, input);
                assert_eq!(found[2..], [u32::from(unsigned), u32::from(signed)], "{x:#x} {name} {y:#x}");
                assert_eq!(found[0], if unsigned { !0 } else { 0 }, "{x:#x} {name} {y:#x}");
            }
        }
    }
}

/// Test cases: lines, R8, R9, P1. R2 = 0x1234_89ab, R3 = 0xffff_fffb (-5), R4 = 3, R5 = 0.
#[rustfmt::skip]
const STEPS: &[(&str, u32, u32, u32)] = &[
    ("SHL R8, R2, 0x4 ;\nSHR R9, R3, 0x1 ;",                        0x2348_9ab0, 0xffff_fffd, 0),
    ("SHR.U32 R8, R3, R4 ;\nSHL.W R9, R4, 0x21 ;",                  0x1fff_ffff, 6,           0),
    ("SHF.L.W R8, R2, 0x8, R3 ;\nSHF.R.U64 R9, R2, 0x8, R3 ;",      0xffff_fb12, 0xfb12_3489, 0),
    ("BFE.U32 R8, R2, 0x808 ;\nBFE R9, R2, 0x808 ;",                0x89,        0xffff_ff89, 0),
    ("BFE.U32.BREV R8, R2, 0x2000 ;\nLOP.PASS_B R9, RZ, ~R2 ;",     0xd591_2c48, 0xedcb_7654, 0),
    ("LOP.AND.NZ P1, R8, R2, ~R3 ;\nLOP32I.OR R9, R2, 0xffff ;",    0,           0x1234_ffff, 0),
    ("ISCADD R8, R4, R2, 0x2 ;\nISCADD R9, -R4, R2, 0x2 ;",         0x1234_89b7, 0x1234_899f, 0),
    ("ICMP.LT R8, R2, R4, R3 ;\nICMP.LT R9, R2, R4, R4 ;",          0x1234_89ab, 3,           0),
    ("I2I.S32.S32 R8, |R3| ;\nI2I.S32.S32 R9, -|R3| ;",             5,           0xffff_fffb, 0),
    ("I2I.S32.S32 RZ.CC, R3 ;\nCSETP.SFT.AND P1, PT, CC, PT ;\nMOV32I R8, 0x7 ;\nMOV R9, RZ ;", 7, 0, 1),
    ("I2F.F32.S32.RP R8, |R3| ;\nF2I.S32.F32.TRUNC R9, 1.5.NEG ;",  0x40a0_0000, 0xffff_ffff, 0),
    ("IADD R8, R4, -R3 ;\nIADD32I R9, R4, -0x4 ;",                  8,           0xffff_ffff, 0),
    ("IADD.SAT R8, R2, 0x7fffffff ;\nIADD.SAT R9, R3, -0x7ffffffe ;", 0x7fff_ffff, 0x8000_0000, 0),
    ("IADD32I.SAT R8, R4, 0x4 ;\nIADD.SAT R9, R4, -R3 ;",             7,           8,           0),
    ("MOV32I R6, 0x80000000 ;\nIADD.SAT R8, R5, -R6 ;\nIADD.SAT R9, -R6, R3 ;", 0x7fff_ffff, 0x7fff_fffb, 0),
    ("IMAD.HI R8, R3, R4, R4 ;\nIMAD.HI.SAT R9, R3, R2, R3 ;",        2,           0xffff_fffa, 0),
    ("IMAD.HI.U32.U32 R8, R3, R4, R4 ;\nMOV32I R6, 0x80000000 ;\nIMAD.HI.SAT R9, R6, R4, R6 ;", 5, 0x8000_0000, 0),
    ("IMAD.U32.U32 RZ.CC, R3, R4, R3 ;\nIMAD.U32.U32.HI.X R8, R3, R4, RZ ;\nIMAD R9, R3, R4, R2 ;", 3, 0x1234_899c, 0),
    ("IMUL R8, R2, R3 ;\nIMUL.HI R9, R2, R3 ;",                        0xa4f9_4fa9, 0xffff_ffff, 0),
    ("IMUL32I.U32.U32 R8, R3, -0x2 ;\nIMUL32I.U32.U32.HI R9, R3, 0x7 ;", 10,       6,           0),
    ("IADD RZ.CC, R3, R3 ;\nP2R R6, CC, RZ, 0xf ;\nIADD RZ.CC, R5, R5 ;\nR2P CC, R6, 0xf ;\nIADD.X R8, R5, R5 ;\n\
      CSETP.SFT.AND P1, PT, CC, PT ;\nS2R R9, SR_LMEMHIOFF ;",      1,           0,           1),
    ("IMNMX.XHI R9.CC, R3, R5, !PT ;\nIMNMX.U32.XLO R8, R2, R4, !PT ;", 3,         0,           0),
    ("IMNMX.XHI R9.CC, R3, R5, PT ;\nIMNMX.U32.XLO R8, R2, R4, PT ;",   0x1234_89ab, 0xffff_fffb, 0),
    ("IMNMX.U32.XHI R9.CC, R3, R3, PT ;\nIMNMX.U32.XLO R8, R2, R4, PT ;", 3,       0xffff_fffb, 0),
    ("MOV32I R6, 0x7fffffff ;\nF2I.S32.F32.TRUNC R8, R6 ;\nF2I.U32.F32.CEIL R9, R6 ;", 0, 0,   0),
    ("VABSDIFF.SD.ACC R8, R3, R4, R4 ;\nVABSDIFF.U32.U32.ACC R9, R3, R4, R4 ;", 11, 0xffff_fffb, 0),
    ("DMNMX R8, R2, R4, PT ;",                                        3,           0,           0),
    ("MOV R6, RZ ;\nMOV32I R7, 0x3ff00000 ;\nDMNMX R8, R6, R4, !PT ;", 0,         0x3ff0_0000, 0),
    ("MOV R6, RZ ;\nMOV32I R7, 0x3ff00000 ;\nDSET.GT.AND R8, R6, R4, PT ;\nDSET.BF.LTU.AND R9, R6, R2, PT ;", 0xffff_ffff, 0x3f80_0000, 0),
    ("F2F.F32.F32.CEIL R8, R4 ;\nF2F.FTZ.F32.F32.CEIL R9, R4 ;",      0x3f80_0000, 0,           0),
    ("BFI R8, R2, 0x810, R3 ;\nBFI R9, R3, 0x51e, RZ ;",             0xffab_fffb, 0xc000_0000, 0),
    ("MOV32I R6, 0x2404 ;\nBFI R8, R4, R6, R2 ;\nBFE R9, R3, R6 ;",  0x3b,        0xffff_ffff, 0),
    ("MOV32I R6, 0x0421 ;\nBFI R8, R3, R6, R2 ;\nBFE.U32 R9, R2, R6 ;", 0x1234_89ab, 0,        0),
    ("BFE R8, R2, 0x0 ;\nBFE R9, R3, 0x40 ;",                        0,           0,           0),
    ("FCMP R8, R2, R4, 1.0 ;\nFCMP.LE R9, R2, R4, 1.0 ;",             0x1234_89ab, 3,           0),
    ("FCMP.NEU R8, R2, R4, R5 ;\nFCMP.FTZ R9, R2, R4, R4 ;",          3,           3,           0),
    ("IADD RZ.CC, R3, R3 ;\nXMAD.X R8, R4, R3, R2 ;\nXMAD R9.CC, R4, R4, R3 ;\nIADD.X R9, R9, RZ ;", 0x1237_899d, 5, 0),
    ("ISETP.NE.AND P1, PT, R4, RZ, PT ;\nPSET.AND.AND R8, P1, PT, PT ;\nPSET.BF.AND.AND R9, P1, PT, PT ;", 0xffff_ffff, 0x3f80_0000, 1),
    ("IADD3 R8, R2.H1, R4, -R3 ;\nIADD3 R9, R2.H0, -R4, RZ ;",      0x123c,      0x89a8,      0),
];

#[test]
fn single_steps() {
    for (lines, r8, r9, p1) in STEPS {
        let start = "PSETP.AND.AND P1, PT, !PT, PT, PT ;\nPSETP.AND.AND P2, PT, !PT, PT, PT ;\n";
        let found = outcome(&format!("{start}{lines}"), [0x1234_89ab, 0xffff_fffb, 3, 0]);
        assert_eq!(found[..3], [*r8, *r9, *p1], "{lines}");
    }
}

/// Loops that threads leave at different times, calls, and branches on the condition code.
#[test]
fn threads_that_part_and_meet() {
    let code = "S2R R0, SR_TID.X ;\nMOV R8, RZ ;\nMOV R3, R0 ;\nSSY `(.L_meet) ;\nPBK `(.L_out) ;\n\
        .L_loop:\n{ ISETP.GT.AND P0, PT, R3, 0x3, PT ;\n@P0 BRK (*\"BRANCH_TARGETS .L_out\"*) }\n\
        I2I.S32.S32 RZ.CC, R3 ;\nBRA CC.EQ, `(.L_zero) ;\nIADD32I R8, R8, 0x10 ;\n\
        .L_zero:\nIADD32I R3, R3, 0x1 ;\nBRA `(.L_loop) ;\n\
        .L_out:\nCAL `(f) ;\nSYNC ;\n\
        .L_meet:\nVOTE.ANY R9, PT, PT ;\nISCADD R2, R0, c[0x0][0x140], 0x3 ;\nMOV R3, c[0x0][0x144] ;\n\
        STG.E.64 [R2], R8 ;\nEXIT ;\nf:\nSSY `(.L_f) ;\nISETP.NE.AND P0, PT, R0, 0x2, PT ;\n@P0 SYNC ;\n\
        IADD32I R8, R8, 0x1 ;\nSYNC ;\n.L_f:\nVOTE.ANY R4, PT, PT ;\nIADD R8, R8, R4 ;\nRET ;\n";
    let text = format!(".target sm_60\n.section .text.k,\"ax\"\n{code}");
    let program = Program::parse("k", &text).unwrap_or_else(|e| panic!("{:?}", miette::Report::new(e)));
    let launch =
        "kernel = \"k\"\ngrid = 1\nblock = 8\n[[param]]\nname = \"out\"\ntype = \"u32\"\nzeros = 16\n";
    let launch = Launch::from_toml("launch", launch, Path::new("")).unwrap();
    let mut port = FunctionalPort::new(Shape::default());
    let report =
        run(&program.kernels[0], &launch, &mut port, &SmConfig::default()).unwrap_or_else(|e| panic!("{e}"));
    let out = report.buffer("out").unwrap();
    let expected = |i: u32| [(i.max(1)..4).count() as u32 * 0x10 + u32::from(i == 2) + 0xff, 0xff];
    for i in 0..8 {
        let found = [0, 1].map(|word| out.element.read(&out.bytes, 2 * i as usize + word) as u32);
        assert_eq!(found, expected(i), "thread {i}");
    }
}

/// Branch through a table, as a compiler emits it. Table entries are addresses in the listing. The scheduling
/// word before an instruction counts as the address of the instruction.
#[test]
fn branches_through_tables() {
    let code = r#"
/*0008*/ MOV R1, c[0x0][0x20] ;
/*0010*/ S2R R4, SR_TID.X ;
/*0018*/ SSY `(.L_x_0) ;
/*0028*/ LOP32I.AND R0, R4.reuse, 0x3 ;
/*0030*/ ISCADD R2.CC, R4.reuse, c[0x0][0x140], 0x2 ;
/*0038*/ SHL R5, R0, 0x2 ;
/*0048*/ SHR.U32 R0, R4, 0x1e ;
/*0050*/ LDC R5, c[0x2][R5] ;
.L_x_2:
/*0058*/ { IADD.X R3, R0, c[0x0][0x144] ;
/*0068*/ BRX R5 -0x70 (*"BRANCH_TARGETS .L_x_3,.L_x_4,.L_x_5,.L_x_6"*) }
.L_x_3:
/*0070*/ { IADD32I R4, R4, 0x5 ;
/*0078*/ SYNC (*"BRANCH_TARGETS .L_x_0"*) }
.L_x_4:
/*0088*/ XMAD R5, R4.reuse, 0x5, RZ ;
.L_x_9:
/*0090*/ { XMAD.PSL R4, R4.H1, 0x5, R5 ;
/*0098*/ SYNC (*"BRANCH_TARGETS .L_x_0"*) }
.L_x_5:
/*00a8*/ { LOP32I.XOR R4, R4, 0x5 ;
/*00b0*/ SYNC (*"BRANCH_TARGETS .L_x_0"*) }
.L_x_6:
/*00b8*/ { IADD32I R4, -R4, 0x5 ;
/*00c8*/ SYNC (*"BRANCH_TARGETS .L_x_0"*) }
.L_x_0:
/*00d0*/ STG.E [R2], R4 ;
/*00d8*/ EXIT ;
"#;
    let bank = ".section .nv.constant2.k,\"a\",@progbits\n.byte 0x70, 0, 0, 0, 0x80, 0, 0, 0, 0xa0, 0, 0, 0, 0xb8, 0, 0, 0\n";
    let launch = "kernel = \"k\"\ngrid = 1\nblock = 64\n[[param]]\nname = \"o\"\ntype = \"u32\"\nzeros = 64\n\
        expect = { formula = \"i % 4 == 0 ? i + 5 : i % 4 == 1 ? i * 5 : i % 4 == 2 ? (i ^ 5) : 5 - i\" }\n";
    let launch = Launch::from_toml("launch", launch, Path::new("")).unwrap();
    // With the constant bank that holds the table, and with only the list of branch targets.
    for bank in [bank, ""] {
        let text = format!(".target sm_50\n{bank}.section .text.k,\"ax\"\n{code}");
        let program = Program::parse("k", &text).unwrap_or_else(|e| panic!("{:?}", miette::Report::new(e)));
        let mut port = FunctionalPort::new(Shape::default());
        let report = run(&program.kernels[0], &launch, &mut port, &SmConfig::default())
            .unwrap_or_else(|e| panic!("{e}"));
        assert!(report.as_expected(), "{:?}", report.buffers[0].outcome);
    }
    // Without the list of branch targets, there is no table.
    let unnamed = code.replace("BRANCH_TARGETS .L_x_3,.L_x_4,.L_x_5,.L_x_6", "INDIRECT_CALL");
    let text = format!(".target sm_50\n.section .text.k,\"ax\"\n{unnamed}");
    let program = Program::parse("k", &text).unwrap_or_else(|e| panic!("{:?}", miette::Report::new(e)));
    assert!(program.kernels[0].unsupported().count() > 0);
}

/// Runs `body` with R0 = thread number, R4 = 0 and R5 = 1 on zeroed shared memory. Returns the second word of
/// shared memory.
fn locked(arch: &str, body: &str, block: u32, config: &SmConfig) -> Result<u32, KernelError> {
    let [low, high] = if arch == "sm_75" { ["0x160", "0x164"] } else { ["0x140", "0x144"] };
    let text = format!(
        ".target {arch}\n.section .text.k,\"ax\"\nS2R R0, SR_TID.X ;\nMOV R4, RZ ;\nMOV R6, RZ ;\n\
         ISETP.EQ.AND P6, PT, R0, RZ, PT ;\n@P6 STS [RZ], RZ ;\n@P6 STS [0x4], RZ ;\nSEL R5, RZ, 0x1, !PT ;\n\
         BAR.SYNC 0x0 ;\n{body}\nBAR.SYNC 0x0 ;\nLDS R3, [0x4] ;\n\
         MOV R8, c[0x0][{low}] ;\nMOV R9, c[0x0][{high}] ;\n@P6 STG.E [R8], R3 ;\nEXIT ;\n"
    );
    let program = Program::parse("k", &text).unwrap_or_else(|e| panic!("{:?}", miette::Report::new(e)));
    let launch = format!(
        "kernel = \"k\"\ngrid = 1\nblock = {block}\nshared = 8\ncycle_budget = 1000000\n\
         [[param]]\nname = \"out\"\ntype = \"u32\"\nzeros = 1\n"
    );
    let launch = Launch::from_toml("launch", &launch, Path::new("")).unwrap();
    match run(&program.kernels[0], &launch, &mut FunctionalPort::new(Shape::default()), config) {
        Ok(report) => {
            let out = report.buffer("out").unwrap();
            Ok(out.element.read(&out.bytes, 0) as u32)
        }
        Err(RunError::Kernel(error)) => Err(*error),
        Err(RunError::Port(error)) => panic!("{error}"),
    }
}

/// The lanes of a warp take a lock, and wait to reconverge before they release it.
const HELD_AT_SYNC: &str = "SSY `(.L_have) ;\n.L_try:\nATOMS.CAS R2, [RZ], R4, R5 ;\nISETP.NE.AND P0, PT, R2, RZ, PT ;\n\
    @P0 BRA `(.L_try) ;\nSYNC ;\n.L_have:\nLDS R3, [0x4] ;\nIADD32I R3, R3, 0x1 ;\nSTS [0x4], R3 ;\n\
    ATOMS.EXCH R2, [RZ], RZ ;";

/// The lanes release the lock before they reconverge: code for machines without independent thread
/// scheduling.
const HELD_IN_BRANCH: &str = ".L_try:\nSSY `(.L_join) ;\nATOMS.CAS R2, [RZ], R4, R5 ;\n\
    ISETP.NE.AND P0, PT, R2, RZ, PT ;\n@P0 SYNC ;\nLDS R3, [0x4] ;\nIADD32I R3, R3, 0x1 ;\nSTS [0x4], R3 ;\n\
    ATOMS.EXCH R2, [RZ], RZ ;\nMOV32I R6, 0x1 ;\nSYNC ;\n.L_join:\nISETP.EQ.AND P0, PT, R6, RZ, PT ;\n\
    @P0 BRA `(.L_try) ;";

/// Before sm_70, a lock between lanes of a warp is never released. The run reports this long before its cycle
/// budget ends. A lock between warps works.
#[test]
fn locks_between_lanes() {
    for arch in ["sm_50", "sm_52", "sm_60", "sm_61"] {
        for block in [2, 32, 96] {
            let error = locked(arch, HELD_AT_SYNC, block, &SmConfig::default()).unwrap_err();
            let KernelError::Deadlock { report, .. } = &error else { panic!("{error}") };
            assert!(report.cycle < 100_000 && report.in_step.is_some_and(|found| found.to_string() == arch));
            assert!(error.to_string().contains(&format!("on {arch}, threads that wait at SYNC")), "{error}");
            assert!(error.to_string().contains("convergence barrier B"), "{error}");
            assert_eq!(locked(arch, HELD_IN_BRANCH, block, &SmConfig::default()).unwrap(), block);
        }
        // One lane of each warp.
        let alone = format!(
            "LOP32I.AND R7, R0, 0x1f ;\nISETP.NE.AND P5, PT, R7, RZ, PT ;\n@P5 BRA `(.L_out) ;\n{HELD_AT_SYNC}\n.L_out:"
        );
        assert_eq!(locked(arch, &alone, 96, &SmConfig::default()).unwrap(), 3);
    }
}

/// Polling a taken lock is a livelock only if no running thread can release it, no matter how long that
/// takes.
#[test]
fn a_lock_that_is_held_for_long() {
    let held = "MOV32I R7, 0x0 ;\n@P6 ATOMS.EXCH R2, [RZ], R5 ;\nBAR.SYNC 0x0 ;\n@!P6 BRA `(.L_wait) ;\n.L_count:\n\
        IADD3 R7, R7, 0x1, RZ ;\nISETP.LT.AND P0, PT, R7, 0x7d0, PT ;\n@P0 BRA `(.L_count) ;\nSTS [0x4], R7 ;\n\
        ATOMS.EXCH R2, [RZ], RZ ;\nBRA `(.L_done) ;\n.L_wait:\nISETP.LT.AND P1, PT, R0, 0x20, PT ;\n\
        @P1 BRA `(.L_done) ;\n.L_try:\nATOMS.CAS R2, [RZ], R4, R5 ;\nISETP.NE.AND P0, PT, R2, RZ, PT ;\n\
        @P0 BRA `(.L_try) ;\n.L_done:";
    let config = SmConfig { quiet_cycles: 100, ..SmConfig::default() };
    for arch in ["sm_52", "sm_75"] {
        let held = if arch == "sm_52" { held.to_string() } else { held.replace("MOV32I", "MOV") };
        assert_eq!(locked(arch, &held, 33, &config).unwrap(), 0x7d0, "{arch}");
        let kept = held.replace("ATOMS.EXCH R2, [RZ], RZ ;", "NOP ;");
        let error = locked(arch, &kept, 33, &config).unwrap_err();
        let KernelError::Deadlock { report, .. } = error else { panic!("{error}") };
        assert!(report.in_step.is_none() && report.cycle < 50_000, "{}", report.cycle);
    }
}
