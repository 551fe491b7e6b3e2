//! Messages and positions of problems in listings.

use atoms_isa::{Operation, Program};

const HEAD: &str = ".target sm_90a\n.section .text.k,\"ax\",@progbits\n.L_x_0:\n";

/// Rule, line, column in the line, part of the message, part of the help.
#[rustfmt::skip]
const CASES: &[(&str, &str, u32, &str, &str)] = &[
    ("unknown mnemonic",          "IMADD R0, R1, R2, R3 ;",                1, "unknown mnemonic `IMADD`",                 "`IMAD`"),
    ("after a guard too",         "@!P0 ATOMZ.ADD RZ, [R0], R1 ;",         6, "unknown mnemonic `ATOMZ`",                 "ATOM"),
    ("unknown label",             "BRA `(.L_x_9) ;",                       5, "unknown label `.L_x_9`",                   "`.L_x_0`"),
    ("label after everything",    "BRA `(.L_x_1) ;\n.L_x_1:",              5, "no instruction follows",                   "before an instruction"),
    ("odd pair, destination",     "LDS.64 R3, [R2] ;",                     8, "R3 cannot start a 64-bit operand",         "such as R2 (spec 2.5)"),
    ("odd pair, Rb",              "ATOMS.CAST.SPIN.64 R6, [R9], R5, R6 ;", 30, "R5 cannot start a 64-bit operand",        "is even"),
    ("odd pair, Rc",              "ATOMS.CAS.64 R6, [R9], R4, R7 ;",       28, "R7 cannot start a 64-bit operand",        "is even"),
    ("odd pair, global address",  "LDG.E R0, [R3.64] ;",                   11, "R3 cannot start a 64-bit operand",        "is even"),
    ("unaligned quad",            "STS.128 [R0], R6 ;",                    15, "R6 cannot start a 128-bit operand",       "such as R4"),
    ("odd uniform pair",          "ULDC.64 UR5, c[0x0][0x210] ;",          9, "UR5 cannot start a 64-bit operand",        "such as UR4"),
    ("size of ATOMS.ADD",         "ATOMS.ADD.64 R2, [R0], R4 ;",           1, "ATOMS.ADD does not exist with this size",    ".U32, .S32 (spec 3.3)"),
    ("size of ATOMS.CAST",        "ATOMS.CAST.128 R4, [R0], R4, R8 ;",     1, "ATOMS.CAST does not exist with this size",   ".U32, .S32, .64"),
    ("modifier of ATOMS.CAS",     "ATOMS.CAS.SPIN R6, [R9], R4, R5 ;",     1, "ATOMS.CAS has no modifier `.SPIN`",        "the size: .U32"),
    ("operation of ATOMS",        "ATOMS.SUB R2, [R0], R4 ;",              1, "ATOMS has no operation `SUB`",             "ADD, MIN"),
    ("no operation",              "ATOMS R2, [R0], R4 ;",                  1, "ATOMS has no operation in its modifiers",                 "ADD, MIN"),
    ("result of POPC.INC",        "ATOMS.POPC.INC.32 R1, [R0] ;",         19, "returns no result",                        "RZ"),
    ("odd pair of an object",     "SYNCS.EXCH.64 URZ, [UR6], UR5 ;",      27, "UR5 cannot start a 64-bit operand",        "such as UR4"),
    ("result of a reduction",     "SYNCS.ARRIVE.TRANS64.RED.A1T0 R2, [R0], RZ ;", 31, "returns no result",                  "RZ"),
    ("address of a block",        "UBLKCP.S.G [R8], [UR6], UR4 ;",        12, "must be a uniform register",                "[UR8]"),
    ("odd pair of STAS",          "STAS [R3.64], R0 ;",                    6, "R3 cannot start a 64-bit operand",         "is even"),
    ("size of ATOMS.ARRIVE",      "ATOMS.ARRIVE R2, [R0] ;",               1, "ATOMS.ARRIVE does not exist with this size", ".64"),
    ("register number",           "MOV R255, R1 ;",                        5, "register `R255` does not exist",               "R254"),
    ("uniform register number",   "UMOV UR63, 0x1 ;",                      6, "no uniform register beyond UR62",          "UR62"),
    ("barrier number",            "BSYNC B16 ;",                           7, "convergence barrier `B16` does not exist",              "B15"),
    ("missing operand",           "IADD3 R0, R1, R2 ;",                    1, "IADD3 has 3 operands: expected a register, a constant or a number", "add"),
    ("too many operands",         "MUFU.RCP R0, R1, R2 ;",                 18, "takes 2 operands",                        "remove"),
    ("wrong operand",             "LDS R0, R1 ;",                          9, "operand 2 of LDS: expected an address",     "[R2+0x4]"),
    ("empty operand",             "MOV R0, , R1 ;",                        8, "an operand is missing",                    "comma"),
    ("offset with a register",    "LDS R0, [R1+0x800000] ;",               9, "does not fit in 24 bits",                  "0x7fffff (spec 2.1)"),
    ("offset without a register", "LDS R0, [0x1000000] ;",                 9, "does not fit in 24 bits",                  "0xffffff (spec 2.1)"),
    ("64-bit shared address",     "LDS R0, [R2.64] ;",                     9, "a shared address has 32 bits",             "without .64"),
    ("open bracket",              "LDS R0, [R2 ;",                         9, "is not closed",                            "]"),
    ("guard",                     "@Q0 NOP ;",                             2, "`@Q0` is not a guard",                     "@P0"),
    ("no semicolon",              "NOP",                                   1, "this is not a line of a listing",          "semicolon"),
    ("immediate too large",       "MOV R0, 0x123456789 ;",                 9, "expected an integer of at most 32 bits",   "write"),
];

#[test]
fn each_problem_is_named_with_its_place() {
    for (rule, line, column, message, help) in CASES {
        let error = Program::parse("test.sass", &format!("{HEAD}{line}\n")).expect_err(rule);
        let [problem] = error.problems.as_slice() else { panic!("{rule}: {error}") };
        assert!(problem.message.contains(message), "{rule}: {}", problem.message);
        assert!(problem.help.contains(help), "{rule}: {}", problem.help);
        assert_eq!((problem.line, problem.column), (4, *column), "{rule}");
    }
}

#[test]
fn all_problems_are_reported_together() {
    let text = format!("{HEAD}NOPE ;\nNOP ;\nLDS.64 R1, [R0] ;\nBRA `(nowhere) ;\n");
    let error = Program::parse("test.sass", &text).unwrap_err();
    let lines: Vec<_> = error.problems.iter().map(|p| p.line).collect();
    assert_eq!(lines, [4, 6, 7]);
    let report = format!("{:?}", miette::Report::new(error));
    for part in ["unknown mnemonic `NOPE`", "R1 cannot start", "unknown label `nowhere`", "test.sass"] {
        assert!(report.contains(part), "{report}");
    }
}

#[test]
fn listings_that_are_none() {
    for (text, message) in [
        ("", "does not state its architecture"),
        (".target sm_80\n", "no kernel in this listing"),
        (".target sm_37\n.section .text.k,\"ax\"\nNOP ;\n", "`sm_37` is not supported"),
        (".target sm_80\nNOP ;\n", "an instruction outside a kernel"),
        (".target sm_80\n.section .text.k,\"\"\n.section .text.k,\"\"\n", "a second kernel `k`"),
        (".target sm_80\n.section .text.k,\"\"\na:\na:\n", "a second label `a`"),
    ] {
        let error = Program::parse("test.sass", text).unwrap_err();
        assert!(error.problems[0].message.contains(message), "{error}");
    }
}

#[test]
fn instructions_that_are_only_named_do_not_stop_the_reading() {
    let text = format!("{HEAD}DMMA.884 R4, R4.reuse.ROW, R6.COL, R8 ;\nUTMASTG.2D [UR8], [UR4] ;\nNOP ;\n");
    let program = Program::parse("test.sass", &text).unwrap();
    let kernel = &program.kernels[0];
    assert_eq!(kernel.unsupported().collect::<Vec<_>>(), [0, 1]);
    assert_eq!(kernel.mnemonic(0), "DMMA.884");
    assert_ne!(kernel.instructions[2].operation, Operation::Unsupported);
}

/// Problems with the same message and help become one entry with all their lines.
#[test]
fn equal_problems_are_shown_once() {
    let text = ".target sm_80\n.section .text.k,\"ax\"\nNOPE R1 ;\nBRA `(.L_x_9) ;\nNOPE R2 ;\nNOPE R3 ;\n";
    let error = Program::parse("k", text).unwrap_err();
    assert_eq!(error.problems.iter().map(|p| p.line).collect::<Vec<_>>(), [3, 4, 5, 6]);
    // A report contains the list and each of its places.
    for (shown, count) in [(error.to_string(), 1), (format!("{:?}", miette::Report::new(error)), 2)] {
        assert_eq!(shown.matches("unknown mnemonic `NOPE`").count(), count, "{shown}");
        assert!(shown.contains("(the same in lines 5, 6)") && shown.contains("line 4, column"), "{shown}");
    }
}
