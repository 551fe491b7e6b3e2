//! Machine code of sm_50 to sm_62: syntax, and rules of its ATOMS (spec 2.3, 2.5).

use atoms_isa::{Operation, Program, SharedAccess, SharedResult, TextError};
use atoms_ops::{Op, Size};

fn read(arch: &str, lines: &str) -> Result<Program, TextError> {
    Program::parse("test.sass", &format!(".target {arch}\n.section .text.k,\"ax\",@progbits\n{lines}\n"))
}

fn access(arch: &str, line: &str) -> SharedAccess {
    let program = read(arch, line).unwrap_or_else(|e| panic!("{:?}", miette::Report::new(e)));
    match program.kernels[0].instructions[0].operation {
        Operation::Shared(access) => access,
        other => panic!("{line}: {other:?}"),
    }
}

/// Syntax in the reference of these architectures: white space and signs in addresses, decimal offsets,
/// remarks.
#[test]
fn text_of_the_reference() {
    for (line, op, size, ra, imm, rb, rc) in [
        ("ATOMS.ADD.S32 R3, [R5 - 64], R7;", Op::Add, Size::S32, Some(5), 0xff_ffc0, 7, None),
        ("ATOMS.MAX.U32 R3, [R8 + 12], R2;", Op::Max, Size::U32, Some(8), 12, 2, None),
        ("ATOMS.ADD.U32 R9, [0x20], R8; # absolute", Op::Add, Size::U32, None, 0x20, 8, None),
        ("ATOMS.CAS.U64 R0, [R12 + 16], R4, R6;", Op::Cas, Size::U64, Some(12), 16, 4, Some(6)),
        (
            "ATOMS.CAST.SPIN.U32 R0, [R12 + 0x1c], R4, R5;",
            Op::CastSpin,
            Size::U32,
            Some(12),
            0x1c,
            4,
            Some(5),
        ),
        ("@!P0 ATOMS.CAS R2, [RZ+0x4], R6, RZ ;", Op::Cas, Size::U32, None, 4, 6, None),
    ] {
        for arch in ["sm_50", "sm_52", "sm_61", "sm_62"] {
            let a = access(arch, line);
            let register = |reg: atoms_isa::Reg| (!reg.is_zero()).then_some(reg.0);
            assert_eq!((a.op, a.size, register(a.address.ra), a.address.imm), (op, size, ra, imm), "{line}");
            assert_eq!((register(a.rb), register(a.rc)), (Some(rb), rc), "{line}");
        }
    }
}

/// The message of each violation names the rule and its clause in the specification. From sm_70 on, none of
/// these instructions is an error.
#[test]
fn rules_of_atoms() {
    for (line, column, message, help) in [
        (
            "ATOMS.ADD R3, [R5+0x2], R7 ;",
            15,
            "offset 0x2 of an ATOMS is not a multiple of 4",
            "low two bits of the immediate are zero",
        ),
        ("ATOMS.ADD R3, [R5 - 63], R7 ;", 15, "not a multiple of 4", "(spec 2.3)"),
        ("ATOMS.EXCH R3, [0x21], R7 ;", 16, "not a multiple of 4", "(spec 2.3)"),
        ("ATOMS.CAS R0, [R2], R5, R6 ;", 21, "Rb is R5", "is even, such as R4 (spec 2.5)"),
        ("ATOMS.CAS R0, [R2], RZ, R6 ;", 21, "Rb is RZ", "is even, and not RZ (spec 2.5)"),
        ("ATOMS.CAS R0, [R2], R4, R6 ;", 25, "Rc is R6, and Rb is R4", "Rc is R5, which follows Rb, or RZ"),
        ("ATOMS.CAST.SPIN R0, [R2], R4, R4 ;", 31, "Rc is R4", "(spec 2.5)"),
        ("ATOMS.CAS.64 R0, [R2], R6, R8 ;", 24, "Rb is R6", "is a multiple of four, such as R4 (spec 2.5)"),
        ("ATOMS.CAST.U64 R0, [R2], R4, R8 ;", 30, "Rc is R8, and Rb is R4", "Rc is R6, which follows Rb"),
    ] {
        let error = read("sm_61", line).unwrap_err();
        let [problem] = error.problems.as_slice() else { panic!("{line}: {error}") };
        assert!(problem.message.contains(message), "{line}: {}", problem.message);
        assert!(problem.help.contains(help), "{line}: {}", problem.help);
        assert_eq!((problem.line, problem.column), (3, column), "{line}");
        if !line.contains("RZ,") && !line.contains("0x21") {
            assert!(read("sm_70", line).is_ok(), "{line}");
        }
    }
    // The limit of 24 bits for an offset is the same on all architectures.
    let error = read("sm_61", "ATOMS.ADD R3, [R5+0x800000], R7 ;").unwrap_err();
    assert!(error.problems[0].message.contains("does not fit in 24 bits"), "{error}");
    // The rule on multiples of 4 applies only to ATOMS.
    assert!(read("sm_61", "LDS.U.U8 R3, [R5+0x1] ;").is_ok());
}

/// A problem in rewritten code is reported at the original text.
#[test]
fn problems_have_their_place() {
    let error =
        read("sm_50", "MOV32I R0, 0x1 ;\n@P0 IADF R2, R0, R1 ;\nATOMS.ADD.64 RZ, [R0], R2 ;").unwrap_err();
    let places: Vec<_> = error.problems.iter().map(|p| (p.line, p.column)).collect();
    assert_eq!(places, [(4, 1), (5, 1)], "{error}");
    assert!(error.problems[0].message.contains("unknown mnemonic `IADF`"), "{error}");
}

/// An unknown instruction is unsupported and keeps its text. The rest of the kernel can still be used.
#[test]
fn instructions_that_are_not_known() {
    let program = read("sm_60", "PRET 0x20 ;\n{ XMAD.S16.S16.CSFU R0, R1, R2, RZ ;\nSYNC }\nEXIT ;").unwrap();
    let kernel = &program.kernels[0];
    let lacking: Vec<_> =
        kernel.unsupported().map(|at| (kernel.mnemonic(at), kernel.source[at].text.as_str())).collect();
    assert_eq!(
        lacking,
        [("PRET", "PRET 0x20"), ("XMAD.S16.S16.CSFU", "XMAD.S16.S16.CSFU R0, R1, R2, RZ"), ("SYNC", "SYNC")]
    );
}

#[test]
fn functions_that_call_themselves_are_not_known() {
    let code = "CAL `(f) ;\nEXIT ;\nf:\n@P0 CAL `(f) ;\nRET ;";
    assert!(read("sm_50", code).unwrap().kernels[0].unsupported().count() > 0);
    assert_eq!(
        read("sm_50", &code.replace("@P0 CAL `(f)", "NOP")).unwrap().kernels[0].unsupported().count(),
        0
    );
}

/// Columns: instruction on shared memory, first architecture that supports the instruction, last architecture
/// that does not.
#[test]
fn instructions_of_later_architectures() {
    for (line, first, last) in [
        ("ATOMS.EXCH.128 R8, [R4], R12 ;", "sm_90", "sm_89"),
        ("ATOMS.CAS.128 R8, [R4], R8, R12 ;", "sm_90", "sm_89"),
        ("ATOMS.ARRIVE.64 RZ, [R4] ;", "sm_80", "sm_75"),
        ("ARRIVES.LDGSTSBAR.64 [UR4] ;", "sm_80", "sm_75"),
        ("LDGSTS.E [R4], [R2.64] ;", "sm_80", "sm_75"),
        ("LDGDEPBAR ;", "sm_80", "sm_75"),
        ("SYNCS.CCTL.IV [UR4] ;", "sm_90", "sm_89"),
        ("STAS [R2.64], R4 ;", "sm_90", "sm_89"),
        ("REDAS.ADD [R2.64], R4 ;", "sm_90", "sm_89"),
        ("UBLKCP.S.G [UR4], [UR6], UR8 ;", "sm_90", "sm_89"),
        ("UBLKRED.G.S.ADD [UR4], [UR6], UR8 ;", "sm_90", "sm_89"),
        ("UMEMSETS.64 [UR4], URZ, UR6 ;", "sm_100", "sm_90a"),
        ("ATOMS.CAST.SPIN P0, [R10], R2, R3 ;", "sm_100", "sm_90a"),
    ] {
        let name = line.split(['.', ' ']).next().unwrap();
        for arch in ["sm_50", "sm_70", last] {
            let error = read(arch, &format!("NOP ;\n{line}\nEXIT ;")).unwrap_err();
            let problem = &error.problems[0];
            assert!(problem.message.starts_with(&format!("{arch} has no {name}")), "{line}: {error}");
            assert!(problem.help.contains(&format!("from {first} on")), "{line}: {}", problem.help);
            assert_eq!((problem.line, problem.column), (4, 1), "{line}");
        }
        let program = read(first, line).unwrap_or_else(|e| panic!("{line}: {e}"));
        assert_eq!(program.kernels[0].unsupported().count(), 0, "{line}");
    }
    assert_eq!(access("sm_100", "ATOMS.CAST.SPIN P0, [R10], R2, R3 ;").result, SharedResult::Pred(0));
    assert!(read("sm_50", "LDS.U.128 R4, [R0] ;\nSTS.128 [R0], R4 ;").is_ok());
}
