//! Listings in the formats of several tool releases: where the architecture is stated, data sections,
//! remarks.

use atoms_isa::{CompiledBank, Control, DRIVER_CODE, Kernel, Operation, Program, TextError, Value};
use std::path::PathBuf;

fn read(text: &str) -> Result<Program, TextError> {
    Program::parse("test.sass", text)
}

fn kernel(text: &str) -> Kernel {
    read(text).unwrap_or_else(|e| panic!("{:?}", miette::Report::new(e))).kernels.remove(0)
}

fn of_file(name: &str) -> Program {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/kernels").join(name);
    read(&std::fs::read_to_string(path).unwrap()).unwrap_or_else(|e| panic!("{:?}", miette::Report::new(e)))
}

const CODE: &str = "\t.section\t.text.k,\"ax\",@progbits\nNOP ;\n";

#[test]
fn the_architecture_is_told_in_several_ways() {
    for (head, arch) in [
        ("\t.target\tsm_80\n", "sm_80"),
        (
            "\t.headerflags\t@\"EF_CUDA_TEXMODE_UNIFIED EF_CUDA_64BIT_ADDRESS EF_CUDA_SM80 EF_CUDA_VIRTUAL_SM(EF_CUDA_SM75)\"\n",
            "sm_80",
        ),
        (
            "\t.headerflags\t@\"EF_CUDA_64BIT_ADDRESS EF_CUDA_ACCELERATORS EF_CUDA_SM90 EF_CUDA_VIRTUAL_SM(EF_CUDA_SM90)\"\n",
            "sm_90a",
        ),
        // Flags as cuobjdump prints them do not contain the letter of the architecture. They count only if
        // the listing does not state the architecture in another way.
        ("\tcode for sm_90a\n\t\tFunction : j\n\t.headerflags\t@\"EF_CUDA_SM90\"\n", "sm_90a"),
    ] {
        assert_eq!(read(&format!("{head}{CODE}")).unwrap().arch.to_string(), arch);
    }
    let error = read(&format!("\t.headerflags\t@\"EF_CUDA_TEXMODE_INDEPENDENT unrecognized:4\"\n{CODE}"))
        .unwrap_err();
    assert!(error.problems[0].message.contains("does not state its architecture"), "{error}");
    assert!(error.problems[0].help.contains("compiled for"), "{error}");
}

#[test]
fn code_for_two_architectures() {
    let error = read("code for sm_80\n\t\tFunction : k\nNOP ;\ncode for sm_90\n\t\tFunction : k\nNOP ;\n")
        .unwrap_err();
    assert!(error.problems[0].message.contains("a second architecture, sm_90 after sm_80"), "{error}");
    assert!(error.problems[0].help.contains("cuobjdump -arch sm_80"), "{error}");
}

/// Output of `cuobjdump -sass` for an object file: a description of the file, and code in which branch
/// targets are addresses.
#[test]
fn text_of_cuobjdump() {
    let text = "\nFatbin elf code:\n================\narch = sm_80\ncode version = [1,8]\nhost = linux\ncompile_size = 64bit\n\
        compressed\n\n\tcode for sm_80\n\t\tFunction : k\n\
        \t.headerflags\t@\"EF_CUDA_SM80 EF_CUDA_VIRTUAL_SM(EF_CUDA_SM80)\"\n\
        /*0000*/ @P0 BRA 0x20 ; /* 0x000000b000007945 */\n /* 0x000fe60003800000 */\n/*0010*/ NOP ;\n/*0020*/ EXIT ;\n\
        \t\t..........\n\n\t\tFunction : other\n/*0000*/ EXIT ;\n\nFatbin ptx code:\n====\nptxasOptions = \n";
    let program = read(text).unwrap();
    let names: Vec<_> = program.kernels.iter().map(|k| (k.name.as_str(), k.instructions.len())).collect();
    assert_eq!(names, [("k", 3), ("other", 1)]);
    assert!(program.kernels[0].unsupported().next().is_none());
    // A listing that contains only code does not state shared memory and constants.
    assert_eq!((program.kernels[0].shared, program.kernels[0].constants.len()), (None, 0));
}

#[test]
fn remarks_are_no_operands() {
    let head = ".target sm_80\n.section .text.k,\"ax\"\n";
    let text = format!(
        "{head}# whole line\nSTL [R1], R4   (*\"SpillRefill\"*); # rest\nk: # label\nSTL [R1], R4 ;\n"
    );
    let kernel = kernel(&text);
    assert_eq!(kernel.instructions[0], kernel.instructions[1]);
    assert_ne!(kernel.instructions[0].operation, Operation::Unsupported);
}

#[test]
fn instructions_have_the_first_position_of_a_group() {
    let text = ".target sm_80\n.section .text.k,\"ax\"\nNOP ;\n\
        \t//## File \"/src/a.cuh\", line 3 inlined at \"/src/k.cu\", line 9\n\t//## File \"/src/k.cu\", line 9\n\
        NOP ;\nLDS R0, [R1] ;\n\
        //## File \"k.py\", line 7\n\t//## File \".nv_debug_ptx_txt\", line 19\nEXIT ;\n";
    let found: Vec<_> = kernel(text).source.iter().map(ToString::to_string).collect();
    let expected = [
        "line 3: `NOP`",
        "line 6 (a.cuh:3): `NOP`",
        "line 7 (a.cuh:3): `LDS R0, [R1]`",
        "line 10 (k.py:7): `EXIT`",
    ];
    assert_eq!(found, expected);
}

#[test]
fn uniform_registers_by_architecture() {
    let line = "REDUX.SUM.S32 UR79, R9 ;\nULDC.64 UR254, c[0x0][0x0] ;\nLDS R0, [UR63] ;\nMOV R0, URZ ;\n";
    let text = |arch: &str, line: &str| format!(".target {arch}\n.section .text.k,\"ax\"\n{line}");
    let error = read(&text("sm_90a", line)).unwrap_err();
    assert_eq!(error.problems.len(), 3, "{error}");
    let error = read(&text("sm_100a", line)).unwrap_err();
    assert!(error.problems[0].message.contains("UR254 cannot start a 64-bit operand"), "{error}");
    assert_eq!(error.problems.len(), 1, "{error}");
    assert!(kernel(&text("sm_120", &line.replace("UR254", "UR252"))).unsupported().next().is_none());
}

/// Variables, constant banks and shared memory in listings of tool releases 13.5 and 12.4.
#[test]
fn what_sections_of_data_say() {
    for arch in ["sm_80", "sm_86", "sm_90a", "sm_100a"] {
        let program = of_file(&format!("corpus/module_data.{arch}.sass"));
        let kernel = program.kernel("module_data").unwrap();
        assert_eq!(kernel.shared, Some(32), "{arch}");
        assert_eq!(program.kernel("other").unwrap().shared, Some(0), "{arch}");
        let address = |name: &str| kernel.variables.iter().find(|v| v.name == name).unwrap().address;
        let bank = |number: u8| kernel.constants[&number].bytes.clone();
        let words = |bytes: &[u8]| {
            bytes.chunks(8).map(|w| u64::from_le_bytes(w.try_into().unwrap())).collect::<Vec<_>>()
        };
        assert_eq!(bank(3), [5, 0, 0, 0, 6, 0, 0, 0, 7, 0, 0, 0, 8, 0, 0, 0], "{arch}");
        for name in ["scale", "counts", "where", "functions"] {
            assert!(words(&bank(4)).contains(&address(name)), "{arch}: {name}");
        }
        let pointers = kernel.variables.iter().find(|v| v.name == "where").unwrap();
        assert_eq!(words(&pointers.bytes), [address("scale"), address("counts")], "{arch}");
        let counts = kernel.variables.iter().find(|v| v.name == "counts").unwrap();
        assert_eq!((counts.bytes.as_slice(), counts.constant), ([0; 32].as_slice(), false), "{arch}");
    }
}

#[test]
fn data_of_every_width() {
    let data = "\t.target sm_100a\n\t.section\t.nv.constant2.k,\"a\",@progbits\n\t.align\t4\n.nv.constant2.k:\n\
        \t/*0000*/ \t.byte\t0x01, 0x02\n\t/*0002*/ .short 0x0403\n\t.word\t8\n\t.dword 0x100000000\n\t.zero\t3\n\t.align 4\n\
        \t.word\tend@srel\n\t.dword\t`(printf)\n";
    let text = format!("{data}\t.section\t.nv.info,\"\"\n\t.word\t2\n{CODE}end:\nEXIT ;\n");
    let CompiledBank { bytes, unknown } = &kernel(&text).constants[&2];
    let expected =
        [1, 2, 3, 4, 8, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(bytes, &expected);
    assert_eq!(unknown, &[(24, 8, "`(printf)".to_string())]);
}

#[test]
fn a_kernel_that_cannot_be_read_does_not_refuse_the_others() {
    let section = |name: &str, code: &str| format!(".section .text.{name},\"ax\"\n{code}\n");
    let broken = section("broken", "NOPE R1 ;\nMOV R0\nEXIT ;");
    let program =
        read(&format!(".target sm_80\n{}{broken}{}", section("a", "EXIT ;"), section("b", "EXIT ;")))
            .unwrap();
    let names: Vec<_> = program.kernels.iter().map(|k| k.name.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
    let [unread] = program.unread.as_slice() else { panic!("{:?}", program.unread) };
    assert_eq!((unread.name.as_str(), unread.error.problems.len()), ("broken", 2));
    assert_eq!(unread.error.problems[0].line, 5);
    // If the kernel with the problem is the only one, reading the file fails.
    assert_eq!(read(&format!(".target sm_80\n{broken}")).unwrap_err().problems.len(), 2);
    // PTX with a problem in one kernel is handled in the same way.
    let ptx = |body: &str| {
        format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry a()\n{{ ret; }}\n\
        .visible .entry broken()\n{{ {body} ret; }}\n"
        )
    };
    assert!(Program::read("k.ptx", &ptx(""), None).unwrap().unread.is_empty());
    let wrong = ptx(".reg .b32 %r<2>; .reg .b64 %d; .shared .b32 s; atom.shared.add.f16x2 %r0, [s], %r1;");
    assert_eq!(Program::read("k.ptx", &wrong, None).unwrap().unread.len(), 1);
}

/// Listing with a kernel, and a function in its own section that calls itself and a function of the driver.
const LINKED: &str = ".target sm_80\n.section .text.f,\"ax\"\n.type f,@function\nf:\n.L_x_0:\n/*0000*/ LEPC R2 ;\n\
    /*0010*/ MOV R20, 32@lo((f + .L_x_1@srel)) ;\n/*0020*/ CALL.REL.NOINC `(f) ;\n.L_x_1:\n/*0030*/ BRA `(.L_x_0) ;\n\
    /*0040*/ CALL.ABS.NOINC `(vprintf) ;\n.section .text.k,\"ax\"\n.other k,@\"STO_CUDA_ENTRY STV_DEFAULT\"\n.type k,@function\n\
    /*0000*/ CALL.ABS.NOINC `(f) ;\n/*0010*/ MOV R4, 32@lo(text) ;\n/*0020*/ MOV R5, 32@hi(text) ;\n\
    /*0030*/ MOV R6, 32@lo(f) ;\n/*0040*/ EXIT ;\n.section .nv.constant4,\"a\"\n.dword f\n.dword malloc\n\
    .section .nv.global.init,\"aw\"\ntext:\n.byte 0x61, 0x00\ntable:\n.dword f\n.type malloc,@function\n.type vprintf,@function\n";

#[test]
fn functions_in_sections_of_their_own() {
    let program = read(LINKED).unwrap_or_else(|e| panic!("{:?}", miette::Report::new(e)));
    let [kernel] = program.kernels.as_slice() else { panic!("{:?}", program.kernels) };
    assert_eq!((kernel.name.as_str(), kernel.instructions.len()), ("k", 10));
    let target = |at: usize| match kernel.instructions[at].operation {
        Operation::Control(Control::Branch { target, .. }) => target,
        other => panic!("{at}: {other:?}"),
    };
    // The function follows the kernel, so its first instruction has index 5.
    assert_eq!([target(0), target(7), target(8)], [5, 5, 5]);
    let word = |at: usize| match kernel.instructions[at].operation {
        Operation::Compute(compute) => compute.sources[0].value,
        other => panic!("{at}: {other:?}"),
    };
    let text = kernel.variables[0].address;
    let expected = [(1, text as u32), (2, (text >> 32) as u32), (3, 5 * 16), (5, 5 * 16), (6, 8 * 16)];
    for (at, value) in expected {
        assert_eq!(word(at), Value::Imm(i64::from(value)), "{at}");
    }
    assert_eq!(kernel.driver_functions[..], ["malloc", "vprintf"]);
    let Operation::Control(Control::Driver { function: 1 }) = kernel.instructions[9].operation else {
        panic!("{:?}", kernel.instructions[9])
    };
    let bank = &kernel.constants[&4];
    assert_eq!((bank.bytes[0], &bank.bytes[8..16]), (5 * 16, &u64::from(DRIVER_CODE).to_le_bytes()[..]));
    assert_eq!(bank.unknown, []);
    assert_eq!(kernel.variables[1].bytes, [5 * 16, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(kernel.source[5].line, 6);
}

/// An error in a function is reported once, as a problem of the kernels that reach the function.
#[test]
fn errors_in_functions() {
    let section = |name: &str, code: &str, entry: bool| {
        let mark = if entry { format!(".other {name},@\"STO_CUDA_ENTRY\"\n") } else { String::new() };
        format!(".section .text.{name},\"ax\"\n{mark}{code}\nEXIT ;\n")
    };
    let wrong = section("wrong", "CALL.ABS.NOINC `(nowhere) ;", false);
    let calls = |name: &str| section(name, "CALL.ABS.NOINC `(wrong) ;", true);
    let all =
        [".target sm_80\n".into(), section("a", "", true), calls("b"), calls("c"), wrong.clone()].concat();
    let program = read(&all).unwrap();
    assert_eq!(program.kernels.iter().map(|k| k.name.as_str()).collect::<Vec<_>>(), ["a"]);
    let unread: Vec<_> = program.unread.iter().map(|u| (u.name.as_str(), u.error.problems.len())).collect();
    assert_eq!(unread, [("b", 1), ("c", 1)]);
    let error = read(&[".target sm_80\n".into(), calls("b"), wrong].concat()).unwrap_err();
    assert!(error.problems.len() == 1 && error.to_string().contains("unknown label `nowhere`"), "{error}");
    // Constant bank 2 of a function is not that of the kernel, so a read of it is unsupported.
    let reads = section("f", "LDC R0, c[0x2][0x0] ;", false);
    let program =
        read(&[".target sm_80\n".into(), section("k", "CALL.ABS.NOINC `(f) ;", true), reads].concat())
            .unwrap();
    assert_eq!(program.kernels[0].unsupported().collect::<Vec<_>>(), [2]);
}
