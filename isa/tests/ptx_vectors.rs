//! `atom` and `red` on vectors: their machine code, and the refusals of forms that are illegal [TOOLS].

use atoms_isa::lower::{Frame, lower};
use atoms_isa::ptx::{Module, snippet};
use atoms_isa::{Arch, Program};

fn lowered(text: &str, target: &str, used: bool) -> Result<Vec<String>, String> {
    let module = Module::parse("none", ".version 9.5\n.target sm_90\n.address_size 64\n").unwrap();
    let function = snippet(text).unwrap_or_else(|e| panic!("{text}: {e}"));
    let mut frame = Frame::new();
    frame.begin();
    let arch = Arch::from_name(target).unwrap();
    let sequence = lower(&module, &function, &function.instructions[0], used, arch, &mut frame);
    sequence.unwrap().map_err(|refusal| {
        assert!(!refusal.help.is_empty(), "{text}");
        refusal.message
    })
}

/// Columns: PTX, memory instruction up to its first operand if the result is used, and the same if the result
/// is unused.
#[rustfmt::skip]
const CODE: &[(&str, &str, &str)] = &[
    ("atom.global.v2.f32.add {%f1,%f2}, [%rd1], {%f3,%f4};", "ATOMG.E.ADD.F32x2.FTZ.RN.STRONG.GPU", "REDG.E.ADD.F32x2.FTZ.RN.STRONG.GPU"),
    ("atom.global.v4.f32.add.noftz {%f1,%f2,%f5,%f6}, [%rd1], {%f3,%f4,%f7,%f8};", "ATOMG.E.ADD.F32x4.RN.STRONG.GPU", "REDG.E.ADD.F32x4.RN.STRONG.GPU"),
    ("atom.sys.global.v2.f16.add.noftz {%h1,%h2}, [%rd1], {%h3,%h4};", "ATOMG.E.ADD.F16x2.RN.STRONG.SYS", "REDG.E.ADD.F16x2.RN.STRONG.SYS"),
    ("atom.global.v4.f16.min.noftz {%h1,%h2,%h5,%h6}, [%rd1], {%h3,%h4,%h7,%h8};", "ATOMG.E.MIN.F16x4.RN.STRONG.GPU", "REDG.E.MIN.F16x4.RN.STRONG.GPU"),
    ("atom.global.v8.bf16.max.noftz {%h0,%h1,%h2,%h3,%h4,%h5,%h6,%h7}, [%rd1], {%h0,%h1,%h2,%h3,%h4,%h5,%h6,%h7};", "ATOMG.E.MAX.BF16x8.RN.STRONG.GPU", "REDG.E.MAX.BF16x8.RN.STRONG.GPU"),
    ("atom.cta.global.v2.bf16x2.max.noftz {%r1,%r2}, [%rd1+16], {%r3,%r4};", "ATOMG.E.MAX.BF16x4.RN.STRONG.SM", "REDG.E.MAX.BF16x4.RN.STRONG.SM"),
    ("red.global.v4.f16x2.add.noftz [%rd1], {%r1,%r2,%r3,%r4};", "REDG.E.ADD.F16x8.RN.STRONG.GPU", "REDG.E.ADD.F16x8.RN.STRONG.GPU"),
    ("atom.v2.bf16x2.max.noftz {%r1,%r2}, [%rd1], {%r3,%r4};", "ATOM.E.MAX.BF16x4.RN.STRONG.GPU PT", "ATOM.E.MAX.BF16x4.RN.STRONG.GPU PT"),
    ("red.v2.f32.add [%rd1], {0f00000000, 0f3F800000};", "ATOM.E.ADD.F32x2.FTZ.RN.STRONG.GPU PT", "ATOM.E.ADD.F32x2.FTZ.RN.STRONG.GPU PT"),
];

#[test]
fn vectors_are_one_instruction() {
    for (text, read, unread) in CODE {
        for (used, expected) in [(!text.starts_with("red"), read), (false, unread)] {
            let lines = lowered(text, "sm_90", used).unwrap_or_else(|e| panic!("{text}: {e}"));
            let memory: Vec<_> = lines.iter().filter(|l| l.contains(".E.")).collect();
            assert!(memory.len() == 1 && memory[0].starts_with(*expected), "{text}: {lines:#?}");
            let body: String = lines.iter().map(|line| format!("{line} ;\n")).collect();
            let listing = format!(".target sm_90\n.section .text.k,\"ax\",@progbits\n{body}EXIT ;\n");
            let program = Program::parse("k.sass", &listing).unwrap_or_else(|e| panic!("{listing}{e}"));
            assert_eq!(program.kernels[0].unsupported().count(), 0, "{listing}");
        }
    }
    let fenced =
        lowered("atom.acq_rel.sys.global.v2.f32.add {%f1,_}, [%rd1], {%f3,1.0};", "sm_100", true).unwrap();
    let order: Vec<_> = fenced.iter().map(|l| l.split(' ').next().unwrap()).filter(|l| *l != "MOV").collect();
    let expected =
        ["MEMBAR.ALL.SYS", "ERRBAR", "CGAERRBAR", "ATOMG.E.ADD.F32x2.FTZ.RN.STRONG.SYS", "CCTL.IVALL"];
    assert_eq!(order, expected);
}

#[rustfmt::skip]
const REFUSALS: &[(&str, &str, &str)] = &[
    ("atom.global.v2.f32.add {%f1,%f2}, [%rd1], {%f3,%f4};", "sm_89", "Feature 'atom instruction with vector types' requires .target sm_90 or higher"),
    ("red.v2.f16.add.noftz [%rd1], {%h3,%h4};", "sm_75", "Feature 'red instruction with vector types' requires .target sm_90 or higher"),
    ("atom.v2.f16.min.noftz {%h1,%h2}, [%rd1], {%h3,%h4};", "sm_80", "Instruction 'atom.min.f16 with generic state space' requires .target sm_90 or higher"),
    ("atom.global.v2.bf16.add.noftz {%h1,%h2}, [%rd1], {%h3,%h4};", "sm_75", "Feature '.bf16' requires .target sm_80 or higher"),
    ("atom.shared.v2.f32.add {%f1,%f2}, [%r1], {%f3,%f4};", "sm_90", "State space incorrect for feature 'atom instruction with vector types'"),
    ("red.shared::cluster.v8.f16.max.noftz [%r1], {%h0,%h1,%h2,%h3,%h4,%h5,%h6,%h7};", "sm_100", "State space incorrect for feature 'red instruction with vector types'"),
    ("atom.global.v2.u32.add {%r1,%r2}, [%rd1], {%r3,%r4};", "sm_90", "Vector qualifier is not allowed for instruction 'atom'"),
    ("red.global.v2.b32.exch [%rd1], {%r3,%r4};", "sm_90", "Vector qualifier is not allowed for instruction 'red'"),
    ("red.global.v2.f16.exch.noftz [%rd1], {%h3,%h4};", "sm_90", "Illegal operation '.exch' for instruction 'red'"),
    ("atom.global.v2.f32.min {%f1,%f2}, [%rd1], {%f3,%f4};", "sm_90", "Operation .min requires .u32 or .s32 or .u64 or .s64 or .f16 or .f16x2 or .bf16 or .bf16x2 type for instruction 'atom'"),
    ("atom.global.v2.f32.cas {%f1,%f2}, [%rd1], {%f3,%f4}, {%f3,%f4};", "sm_90", "Unexpected instruction types specified for 'atom'"),
    ("atom.global.v2.f16.add {%h1,%h2}, [%rd1], {%h3,%h4};", "sm_90", "'.noftz' modifier required for instruction 'atom' with type '.f16'"),
    ("atom.global.v8.f32.add _, [%rd1], {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7};", "sm_120", "Only .v2 or .v4 vector modifier supported with type .f32 on .add operation for atom instruction with vector types"),
    ("red.v8.bf16x2.min.noftz [%rd1], {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7};", "sm_90", "Only .v2 or .v4 vector modifier supported with type .bf16x2 on .min operation for red instruction with vector types"),
    ("atom.global.v2.v4.f32.add {%f1,%f2}, [%rd1], {%f3,%f4};", "sm_90", "Multiple vector modifiers specified"),
    ("atom.global.v2.f32.add %f1, [%rd1], %f3;", "sm_90", "Vector expected for argument 0"),
    ("red.global.v2.f32.add [%rd1], %f3;", "sm_90", "Vector expected for argument 1"),
    ("atom.global.v2.f32.add {%f1,%f2}, [%rd1], {%f3,%f4,%f5,%f6};", "sm_90", "Argument 2 of instruction 'atom instruction with vector types': Argument vector size mismatch"),
    ("atom.global.v2.f16.min.noftz {%h1,%h2}, [%rd1], {1,2};", "sm_90", "Arguments mismatch for instruction 'atom'"),
    ("atom.global.v2.f32.add {_,_}, [%rd1], {%f3,%f4};", "sm_90", "Arguments mismatch for instruction 'atom'"),
];

#[test]
fn vectors_that_do_not_exist_are_refused() {
    for (text, target, message) in REFUSALS {
        assert_eq!(lowered(text, target, true), Err(message.to_string()), "{text} at {target}");
    }
}
