//! Rules that the samples of an assembler do not cover or cover only partly, and absence of panics.

use crate::arch::Arch;
use crate::kernel::instruction::Operation;
use crate::kernel::program::Program;
use crate::lower::{self, Frame, LoweringRefusal};
use crate::ptx::{self, Function, Module, Symbol, Type};
use crate::sass::assemble;
use proptest::prelude::*;

const ARCHITECTURES: [&str; 5] = ["sm_80", "sm_89", "sm_90", "sm_100", "sm_120"];

fn arch(name: &str) -> Arch {
    Arch::from_name(name).expect("an architecture")
}

fn module(target: Arch) -> Module<'static> {
    Module::new((9, 0), target, Vec::new())
}

fn lines_of(function: &Function<'_>, used: bool, arch: Arch) -> Option<Result<Vec<String>, LoweringRefusal>> {
    let mut frame = Frame::new();
    for at in 0..function.variables.len() {
        frame.place(Symbol::Local(at as u32), arch.shared_origin());
    }
    let mut lines = Vec::new();
    for instruction in &function.instructions {
        frame.begin();
        match lower::lower(&module(arch), function, instruction, used, arch, &mut frame)? {
            Ok(sequence) => lines.extend(sequence),
            Err(refusal) => return Some(Err(refusal)),
        }
    }
    Some(Ok(lines))
}

fn lines(text: &str, name: &str) -> Result<Vec<String>, LoweringRefusal> {
    let function = ptx::snippet(text).unwrap_or_else(|e| panic!("`{text}`: {e}"));
    lines_of(&function, true, arch(name)).unwrap_or_else(|| panic!("`{text}` is not lowered"))
}

#[rustfmt::skip]
const CODE: &[(&str, &str, &str, &[&str])] = &[
    // rule                                  line, architecture, code
    ("fences before objects are used",
        "fence.mbarrier_init.release.cluster;", "sm_90", &["NOP"]),
    ("fences between proxies name the memory",
        "fence.proxy.async.shared::cta;", "sm_100", &["MEMBAR.ALL.CTA", "FENCE.VIEW.ASYNC.S"]),
    ("the rank takes the place of the thread's own",
        "mapa.u64 %d, %s, 3;", "sm_90", &["HFMA2.MMA R2, -RZ, RZ, 0, 1.78813934326171875e-07",
        "PRMT R4, R2, 0x654, R0", "MOV R5, R1"]),
    ("one value is stored as it is",
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%a], %c, [%m];", "sm_90",
        &["MOV R4, R1", "MOV R5, R2", "STAS [R4.64], R0"]),
    ("wide values are pairs",
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b64 [%a], {%s, 7}, [%m];", "sm_120",
        &["MOV R0, R4", "MOV R1, R5", "MOV R2, 0x7", "MOV R3, 0x0", "MOV R8, R6", "MOV R9, R7",
        "STAS.128 [R8.64], R0"]),
    ("an offset is added to the address of the data",
        "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.min.s32 [%a+8], %c, [%m];",
        "sm_90", &["IADD3 R6, R1, 0x8, RZ", "MOV R4, R6", "MOV R5, R2", "REDAS.MIN.S32 [R4.64], R0"]),
    ("generic addresses lose their high words",
        "st.async.mbarrier::complete_tx::bytes.b64 [%g], %s, [%m];", "sm_90",
        &["MOV R4, R2", "MOV R8, R6", "MOV R10, R4", "MOV R11, R8", "STAS.64 [R10.64], R0"]),
    ("what nobody reads is not made",
        "mbarrier.arrive.noComplete.shared.b64 _, [%a], 5;", "sm_90",
        &["HFMA2.MMA R0, -RZ, RZ, 0, 2.98023223876953125e-07",
        "SYNCS.ARRIVE.TRANS64.ART0 RZ, [R1+URZ], R0"]),
    ("an address that is the same for all needs no loop",
        "cp.async.mbarrier.arrive.noinc.shared.b64 [sm+8];", "sm_90",
        &["S2UR UR4, SR_CgaCtaId", "UMOV UR5, 0x400", "ULEA UR5, UR4, UR5, 0x18",
        "ARRIVES.LDGSTSBAR.64.ARVCNT [UR5+0x8]"]),
    ("nor does an object there",
        "mbarrier.init.shared.b64 [sm], 1;", "sm_100",
        &["UMOV UR4, 0x1", "UIADD3 UR4, UPT, UPT, -UR4, 0x100000, URZ", "USHF.L.U32 UR5, UR4, 0xb, URZ",
        "USHF.L.U32 UR4, UR4, 0x1, URZ", "S2UR UR7, SR_CgaCtaId", "UMOV UR8, 0x400",
        "ULEA UR8, UR7, UR8, 0x18", "FENCE.VIEW.ASYNC.S", "SYNCS.EXCH.64 URZ, [UR8], UR4"]),
    ("layout 1 is bit 0 of the word",
        "mbarrier.init.layout::v1.shared.b64 [%a], %c;", "sm_100",
        &["IADD3 R0, PT, PT, -R3, 0x100000, RZ", "SHF.L.U32 R1, R0, 0xb, RZ", "SHF.L.U32 R0, R0, 0x1, RZ",
        "LOP3.LUT R0, R0, 0x1, RZ, 0xfe, !PT", "STS.64 [R2+URZ], R0", "FENCE.VIEW.ASYNC.S", "SYNCS.CCTL.IVALL"]),
    ("and is asked for there",
        "mbarrier.check_layout.layout::v0.shared::cta.b64 %p, [%a];", "sm_90",
        &["SYNCS.LD.64 R2, [R0+URZ]", "LOP3.LUT P0, RZ, R2, 0x1, RZ, 0xc, !PT"]),
    ("a conditional phase is one from sm_107 on",
        "mbarrier.try_wait.parity.phase_type::conditional.shared::cta.b64 %p, [%a], %c;", "sm_107",
        &["SHF.L.U32 R2, R1, 0x1f, RZ", "SYNCS.PHASECHK.TRANS64.TRYWAIT.CONDITIONAL P0, [R0+URZ], R2"]),
    ("before sm_90 such an address is a number",
        "mbarrier.test_wait.shared.b64 %p, [sm+16], %s;", "sm_80",
        &["LDS R0, [0x14]", "LOP3.LUT P0, RZ, R0, 0x80000000, R3, 0x48, !PT"]),
    ("a parity that is a constant is in the table",
        "mbarrier.test_wait.parity.shared.b64 %p, [%a], 1;", "sm_80",
        &["LDS R1, [R0+0x4]", "LOP3.LUT P0, RZ, R1, 0x80000000, RZ, 0xc, !PT"]),
];

#[test]
fn code_is_as_expected() {
    let mut wrong = Vec::new();
    for (rule, line, name, expected) in CODE {
        let expected: Vec<String> = expected.iter().map(|line| line.to_string()).collect();
        let found = lines(line, name);
        if found.as_ref() != Ok(&expected) {
            wrong.push(format!("{rule}: `{line}` on {name}\n  {found:?}\n  {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Operation and type of `cp.reduce.async.bulk`, name in UBLKRED, and true if shared memory supports it too
/// [TOOLS].
#[rustfmt::skip]
const REDUCTIONS: &[(&str, &str, bool)] = &[
    ("add.u32",         "ADD",         true),
    ("add.s32",         "ADD.S32",     true),
    ("add.u64",         "ADD.U64",     true),
    ("add.f32",         "ADD.F32.RN",  false),
    ("add.f64",         "ADD.F64.RN",  false),
    ("add.noftz.f16",   "ADD.F16.RN",  false),
    ("add.noftz.bf16",  "ADD.BF16.RN", false),
    ("min.u32",         "MIN",         true),
    ("min.s32",         "MIN.S32",     true),
    ("min.u64",         "MIN.U64",     false),
    ("min.s64",         "MIN.S64",     false),
    ("min.f16",         "MIN.F16.RN",  false),
    ("min.bf16",        "MIN.BF16.RN", false),
    ("max.u32",         "MAX",         true),
    ("max.s32",         "MAX.S32",     true),
    ("max.u64",         "MAX.U64",     false),
    ("max.s64",         "MAX.S64",     false),
    ("max.f16",         "MAX.F16.RN",  false),
    ("max.bf16",        "MAX.BF16.RN", false),
    ("inc.u32",         "INC",         true),
    ("dec.u32",         "DEC",         true),
    ("and.b32",         "AND",         true),
    ("and.b64",         "AND.U64",     false),
    ("or.b32",          "OR",          true),
    ("or.b64",          "OR.U64",      false),
    ("xor.b32",         "XOR",         true),
    ("xor.b64",         "XOR.U64",     false),
];

#[test]
fn reductions_have_their_names() {
    let operations = ["add", "min", "max", "inc", "dec", "and", "or", "xor"];
    let types =
        ["u32", "s32", "u64", "s64", "b32", "b64", "f16", "bf16", "noftz.f16", "noftz.bf16", "f32", "f64"];
    for (operation, ty) in operations.iter().flat_map(|o| types.map(|t| (*o, t))) {
        let form = format!("{operation}.{ty}");
        let row = REDUCTIONS.iter().find(|(known, ..)| *known == form);
        let global = format!("cp.reduce.async.bulk.global.shared::cta.bulk_group.{form} [%g], [%a], %c;");
        let shared = format!(
            "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.{form} [%a], [%b], %c, [%m];"
        );
        for (line, way, legal) in
            [(global, "G.S", row.is_some()), (shared, "S.S", row.is_some_and(|(.., shared)| *shared))]
        {
            let found = lines(&line, "sm_90").ok().map(|lines| {
                let copy = lines.iter().find(|line| line.contains("UBLKRED")).expect("it copies");
                copy.split(' ').find(|word| word.starts_with("UBLKRED")).map(String::from)
            });
            let expected = row.filter(|_| legal).map(|(_, name, _)| Some(format!("UBLKRED.{way}.{name}")));
            assert_eq!(found, expected, "`{line}`");
        }
    }
}

#[rustfmt::skip]
const REFUSALS: &[(&str, &str, &str)] = &[
    ("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.min.u64 [%a], [%a], %c, [%m];", "sm_90",
        "Illegal modifier '.min.u64' for instruction 'cp.reduce.async.bulk'"),
    ("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%g], [%a], %c;", "sm_80",
        "Feature 'cp.reduce.async.bulk' requires .target sm_90 or higher"),
    ("mbarrier.pending_count.b64 %c, %s;", "sm_75",
        "Feature 'mbarrier.pending_count' requires .target sm_80 or higher"),
    ("mbarrier.init.shared::cluster.b64 [%a], 1;", "sm_90",
        "Illegal modifier '::cluster' for instruction 'mbarrier.init'"),
    ("mbarrier.test_wait.parity.acquire.cluster.shared.b64 %p, [%a], 2;", "sm_80",
        "Argument 2 of instruction 'mbarrier.test_wait.parity': unexpected value '2', expected to be 0 or 1"),
    ("mbarrier.test_wait.parity.shared.b64 %p, [%a], 2;", "sm_80",
        "Argument 2 of instruction 'mbarrier.test_wait.parity': unexpected value '2', expected to be 0 or 1"),
    ("mbarrier.arrive.expect_tx.shared.b64 _, [%a];", "sm_90",
        "Arguments mismatch for instruction 'mbarrier.arrive.expect_tx'"),
    ("mbarrier.arrive.noComplete.relaxed.cta.shared.b64 _, [%a], 2;", "sm_90",
        "Modifier '.relaxed' cannot be combined with modifier '.noComplete'"),
    ("mbarrier.arrive.weak.shared.b64 _, [%a];", "sm_90",
        "Illegal modifier '.weak' for instruction 'mbarrier.arrive'"),
    ("mbarrier.arrive.cta.shared.b64 _, [%a];", "sm_90",
        "Modifier '.cta' requires order with 'mbarrier.arrive' instruction"),
    ("mbarrier.wait.shared.b64 %p, [%a];", "sm_90",
        "Unknown instruction 'mbarrier.wait.shared.b64'"),
    ("mbarrier.inval.shared [%a];", "sm_90", "Instruction 'mbarrier.inval' has no type"),
    ("cp.async.bulk.commit_group;", "sm_80", "Feature 'cp.async.bulk' requires .target sm_90 or higher"),
    ("fence.proxy.async;", "sm_80", "Feature 'fence.proxy.async' requires .target sm_90 or higher"),
    ("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.and.u32 [%a], %c, [%m];", "sm_90",
        "Incorrect type '.u32' for operation '.and' in instruction 'red.async'"),
    ("st.async.shared::cluster.b32 [%a], %c, [%m];", "sm_90",
        "Modifier '.shared::cluster' requires modifier '.completion_mechanism' for instruction 'st.async'"),
    ("red.async.relaxed.cluster.shared::cluster.add.u64 [%a], %s, [%m];", "sm_90",
        "Modifier '.cluster' requires modifier '.completion_mechanism' for instruction 'red.async'"),
    ("st.async.weak.cluster.mbarrier::complete_tx::bytes.b32 [%g], %c, [%m];", "sm_90",
        "Modifier '.weak' cannot be combined with modifier '.cluster'"),
    ("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b64 [%a], {%s, %s, %s, %s}, [%m];", "sm_90",
        "Vector type too large, exceeds 128 bit limit"),
];

#[test]
fn refusals_are_as_expected() {
    for (line, name, message) in REFUSALS {
        let refusal = lines(line, name).expect_err(line);
        assert_eq!(refusal.message, *message, "`{line}`");
        assert!(!refusal.help.is_empty(), "`{line}`");
    }
}

fn typed(instruction: &str) -> String {
    format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k()\n{{\n.reg .b32 %r<4>;\n\
         .reg .b64 %rd<4>;\n.reg .pred %p<2>;\n.shared .align 8 .b64 bar;\n{instruction}\nret;\n}}\n"
    )
}

#[test]
fn other_instructions_are_left_to_others() {
    for line in [
        "fence.acq_rel.gpu;",
        "cp.async.ca.shared.global [%a], [%g], 4;",
        "cp.async.bulk.commit_group;",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%a], [%g], %c, [%m], %l;",
        "st.async.mmio.release.sys.global.u32 [%g], %c;",
        "st.shared.u32 [%a], %c;",
        "add.u32 %c, %c, 1;",
    ] {
        let function = ptx::snippet(line).expect("it is readable");
        assert_eq!(lines_of(&function, true, arch("sm_90")), None, "`{line}`");
    }
}

#[test]
fn declared_types_are_looked_at() {
    for (instruction, expected) in [
        ("mbarrier.init.shared.b64 [%rd1], %r1;", true),
        ("mbarrier.init.shared.b64 [%r2], %rd1;", false),
        ("mbarrier.init.b64 [%r2], 1;", false),
        ("mbarrier.arrive.shared.b64 %r1, [bar];", false),
        ("mbarrier.arrive.shared.b64 %rd1, [bar];", true),
        ("mbarrier.test_wait.shared.b64 %r1, [bar], %rd1;", false),
        ("mbarrier.test_wait.shared.b64 %p1, [bar], %rd1;", true),
    ] {
        let text = typed(instruction);
        let module = Module::parse("typed.ptx", &text).unwrap_or_else(|e| panic!("{e}"));
        let kernel = module.kernel("k").expect("the kernel is there");
        let mut frame = Frame::new();
        frame.place_registers(kernel);
        frame.place(Symbol::Local(0), 0x400);
        let first = &kernel.instructions[0];
        let lowered = lower::lower(&module, kernel, first, true, module.target, &mut frame);
        let lowered = lowered.expect("it is lowered");
        assert_eq!(lowered.is_ok(), expected, "`{instruction}`: {lowered:?}");
        assert!(kernel.registers.iter().all(|r| r.ty != Some(Type::B8)));
    }
}

/// The report of a wait has 8 bits, or is `_`. A bar, not a comma, precedes the second predicate.
#[test]
fn reports_have_8_bits() {
    for wait in ["test_wait", "test_wait.parity", "try_wait", "try_wait.parity"] {
        let phase = if wait.ends_with("parity") { "%r1" } else { "%rd1" };
        for (results, expected) in [
            ("%p1", true),
            ("%p1, %b1", true),
            ("%p1, _", true),
            ("%p1|%p0", true),
            ("%p1|%p0, %b1", true),
            ("%p1|_, %b1", true),
            ("%p1, %p0", false),
            ("%p1|%p0, %p0", false),
            ("%p1, %h1", false),
            ("%p1, %r1", false),
            ("%p1|%p0, %rd1", false),
            ("%p1, 1", false),
        ] {
            let line = format!("mbarrier.{wait}.phase_type::primary.shared.b64 {results}, [bar], {phase};");
            let text = typed(&format!(".reg .b8 %b<2>;\n.reg .b16 %h<2>;\n{line}")).replace("8.6", "9.3");
            let error = Program::from_ptx("typed.ptx", &text, None)
                .map(|_| ())
                .map_err(|e| e.problems[0].message.clone());
            let message = format!("Arguments mismatch for instruction 'mbarrier.{wait}'");
            assert_eq!(error, if expected { Ok(()) } else { Err(message) }, "`{line}`");
        }
    }
}

#[test]
fn a_state_that_nobody_reads_is_not_made() {
    for (line, name, expected) in [
        ("mbarrier.arrive.noComplete.shared.b64 %s, [%a], %c;", "sm_90", "SYNCS.ARRIVE.TRANS64.ART0 RZ"),
        ("mbarrier.arrive.b64 %s, [%g];", "sm_90", "SYNCS.ARRIVE.TRANS64.A1T0 RZ"),
        ("mbarrier.arrive.shared.b64 %s, [%a];", "sm_80", "ATOMS.ARRIVE.64 RZ"),
    ] {
        let function = ptx::snippet(line).expect("it is readable");
        let lines = lines_of(&function, false, arch(name)).expect("it is lowered").expect("it is legal");
        assert!(lines.last().is_some_and(|last| last.starts_with(expected)), "`{line}`: {lines:?}");
    }
}

fn line() -> impl Strategy<Value = String> {
    let head = prop::sample::select(vec![
        "mbarrier.init",
        "mbarrier.inval",
        "mbarrier.arrive",
        "mbarrier.arrive_drop",
        "mbarrier.test_wait",
        "mbarrier.try_wait",
        "mbarrier.expect_tx",
        "mbarrier.complete_tx",
        "mbarrier.pending_count",
        "cp.async.mbarrier.arrive",
        "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes",
        "st.async.shared::cluster.mbarrier::complete_tx::bytes",
        "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes",
        "mapa",
        "fence.proxy.async",
        "fence.mbarrier_init",
    ]);
    let modifier = prop::sample::select(vec![
        "expect_tx",
        "noComplete",
        "parity",
        "noinc",
        "release",
        "relaxed",
        "acquire",
        "cta",
        "cluster",
        "gpu",
        "shared",
        "shared::cta",
        "shared::cluster",
        "global",
        "b64",
        "u32",
        "u64",
        "s32",
        "v2",
        "v4",
        "add",
        "min",
        "weak",
    ]);
    let operand = prop::sample::select(vec![
        "%s",
        "%c",
        "%p",
        "_",
        "[%a]",
        "[%g+16]",
        "[sm+8388608]",
        "[%a+-2147483648]",
        "[64]",
        "0",
        "1",
        "-1",
        "4294967296",
        "{%c, %c}",
        "{%s, 1}",
        "sm",
        "0f3F800000",
        "[%m]",
    ]);
    let modifiers = prop::collection::vec(modifier, 0..5);
    let operands = prop::collection::vec(operand, 0..5);
    (head, modifiers, operands).prop_map(|(head, modifiers, operands)| {
        let modifiers: String = modifiers.iter().map(|m| format!(".{m}")).collect();
        format!("{head}{modifiers} {};", operands.join(", "))
    })
}

/// Loads and stores encode offsets beyond 24 bits. Other instructions need an addition to the address.
#[test]
fn far_offsets_of_generic_addresses_are_decoded() {
    let texts = [
        "mbarrier.init.b64 [A], %c;",
        "mbarrier.arrive.b64 %s, [A];",
        "mbarrier.arrive.noComplete.b64 %s, [A], %c;",
        "mbarrier.arrive_drop.noComplete.b64 %s, [A], %c;",
        "mbarrier.test_wait.b64 %p, [A], %s;",
        "mbarrier.test_wait.parity.b64 %p, [A], %c;",
        "mbarrier.inval.b64 [A];",
        "cp.async.mbarrier.arrive.b64 [A];",
        "cp.async.mbarrier.arrive.noinc.b64 [A];",
    ];
    for (text, name) in texts.iter().flat_map(|text| ["sm_80", "sm_89", "sm_90"].map(|name| (text, name))) {
        for offset in [0x80_0000, 0x100_0000, 0x7fff_fff8, -0x80_0004, i64::from(i32::MIN)] {
            let text = text.replace('A', &format!("%a+{offset}"));
            let function = ptx::snippet(&text).unwrap_or_else(|e| panic!("{text}: {e}"));
            let lines = lines_of(&function, true, arch(name)).expect("an instruction on mbarriers");
            let lines = lines.unwrap_or_else(|refusal| panic!("{text} on {name}: {}", refusal.message));
            assemble(&lines).unwrap_or_else(|e| panic!("{text} on {name}: {e}: {lines:#?}"));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]

    /// Every line is either refused with help, or each statement of its lowered code decodes.
    #[test]
    fn lowered_code_is_decoded(text in line(), name in prop::sample::select(&ARCHITECTURES[..])) {
        let Ok(function) = ptx::snippet(&text) else { return Ok(()) };
        match lines_of(&function, true, arch(name)) {
            None => {}
            Some(Err(refusal)) => prop_assert!(!refusal.message.is_empty() && !refusal.help.is_empty()),
            Some(Ok(lines)) => {
                let code = assemble(&lines).map_err(|e| TestCaseError::fail(format!("{e}: {lines:#?}")))?;
                let unsupported = code.iter().position(|i| i.operation == Operation::Unsupported);
                prop_assert!(unsupported.is_none(), "`{text}` on {name}: {lines:#?}, instruction {unsupported:?}");
            }
        }
    }
}
