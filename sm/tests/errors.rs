//! Error messages of launches and runs.

use crate::functional;

use atoms_isa::Program;
use atoms_model::port::{In, Out};
use atoms_sm::{
    CoreEvent, KernelError, Launch, MemoryPort, Observer, Outcome, RunError, SmConfig, run, run_observed,
};
use functional::{FunctionalPort, Shape};
use std::path::Path;

fn program(lines: &str) -> Program {
    let text = format!(".target sm_80\n.section .text.k,\"ax\",@progbits\n{lines}\n");
    Program::parse("k.sass", &text).unwrap_or_else(|e| panic!("{:?}", miette::Report::new(e)))
}

fn launch(params: &str) -> Launch {
    let text =
        format!("kernel = \"k\"\ngrid = [2, 1]\nblock = 40\nshared = 64\ncycle_budget = 500\n{params}");
    Launch::from_toml("k.toml", &text, Path::new("")).unwrap()
}

fn failure(lines: &str, params: &str) -> (KernelError, String) {
    let mut port = FunctionalPort::new(Shape::default());
    match run(&program(lines).kernels[0], &launch(params), &mut port, &SmConfig::default()) {
        Err(RunError::Kernel(error)) => {
            let text = error.to_string();
            (*error, text)
        }
        other => panic!("{lines}: {other:?}"),
    }
}

#[track_caller]
fn says(text: &str, parts: &[&str]) {
    parts.iter().for_each(|part| assert!(text.contains(part), "`{part}` is not in: {text}"));
}

#[test]
fn all_lacking_instructions_are_named_before_anything_runs() {
    let (error, text) = failure(
        "STS [0x3], RZ ;\nVHMNMX R0, R1, R2, R3 ;\nMUFU.EX2.F16 R0, R1 ;\nMOV R0, c[0x3][0x8] ;\nUGETNEXTWORKID.SELFCAST [UR4], [UR5] ;\nEXIT ;",
        "",
    );
    says(
        &text,
        &[
            "4 instruction(s)",
            "UGETNEXTWORKID.SELFCAST [UR4], [UR5]` (it takes over a CTA that has not started",
            "line 4: `VHMNMX R0, R1, R2, R3`",
            "this form of MUFU.EX2.F16 is not supported",
            "line 6",
            "constant bank 3",
        ],
    );
    assert!(matches!(error, KernelError::Unsupported { instructions, .. } if instructions.len() == 4));
}

#[test]
fn faults_of_the_unit() {
    let (_, text) = failure("S2R R0, SR_TID.X ;\n@P0 NOP ;\nSTS [R0+0x2], R0 ;\nEXIT ;", "");
    says(
        &text,
        &["misaligned address 0x00000002", "line 5: `STS [R0+0x2], R0`", "warp 0", "lane 0", "64 bytes"],
    );
    let (_, text) = failure("S2R R0, SR_TID.X ;\nSTS [R0.X4], R0 ;\nEXIT ;", "");
    says(&text, &["address out of range 0x00000040", "CTA 0, warp 0, lane 16", "allocation has 64 bytes"]);
}

#[test]
fn accesses_outside_every_buffer() {
    let buffer = "[[param]]\nname = \"b\"\ntype = \"u32\"\nzeros = 8\n";
    let lines = "S2R R0, SR_LANEID ;\nMOV R1, 0x4 ;\nIMAD.WIDE.U32 R2, R0, R1, c[0x0][0x160] ;\nLDG.E R0, [R2.64] ;\nEXIT ;";
    let (_, text) = failure(lines, buffer);
    says(&text, &["nearest is `b`, 32 bytes", "offset 32", "lane 8", "`LDG.E R0, [R2.64]`"]);
    let (_, text) = failure("LDG.E R0, [RZ] ;\nEXIT ;", "");
    says(&text, &["global address 0x0", "the launch has no buffers"]);
    let (_, text) = failure("ULDC.64 UR4, c[0x0][0x160] ;\nLDG.E R0, [UR4+0x2] ;\nEXIT ;", buffer);
    says(&text, &["not a multiple of the 4 bytes"]);
}

#[test]
fn a_kernel_that_never_ends_says_where_it_stands() {
    let (error, text) = failure(
        "S2R R0, SR_TID.X ;\nISETP.EQ.AND P0, PT, R0, RZ, PT ;\n@P0 EXIT ;\n.L_x_0:\nBRA `(.L_x_0) ;",
        "",
    );
    says(&text, &["has not ended after 500 cycles", "CTAs 0-1 warps 0-1 run", "line 7"]);
    assert!(
        matches!(error, KernelError::Budget { report, .. } if report.cycle == 500 && report.blocked.len() == 2)
    );
}

#[test]
fn threads_that_wait_for_each_other() {
    let lines = "S2R R0, SR_TID.X ;\nISETP.EQ.AND P0, PT, R0, RZ, PT ;\n@P0 BRA `(.L_x_0) ;\nBAR.SYNC 0x0 ;\nEXIT ;\n\
                 .L_x_0:\nWARPSYNC 0xffffffff ;\nEXIT ;";
    let (_, text) = failure(lines, "");
    says(
        &text,
        &[
            "every thread waits for another",
            "block barrier 0: warp 1, warp 0 lanes 1-31 wait",
            "WARPSYNC of lanes 0xffffffff: warp 0 lane 0 waits",
        ],
    );
}

#[test]
fn threads_that_run_off() {
    let (_, text) = failure("NOP ;\nNOP ;", "");
    says(&text, &["ran past the end of the kernel", "line 4"]);
}

#[test]
fn what_does_not_fit() {
    let mut port = FunctionalPort::new(Shape { rows: 4, ..Shape::default() });
    let program = program("EXIT ;");
    let text = "kernel = \"k\"\ngrid = 1\nblock = 32\nshared = 1024\n";
    let launch = Launch::from_toml("k.toml", text, Path::new("")).unwrap();
    let error = run(&program.kernels[0], &launch, &mut port, &SmConfig::default()).unwrap_err();
    says(&error.to_string(), &["needs 1024 bytes", "the configuration has 512", "`shared`"]);
    let few = SmConfig { max_warps: 1, ..SmConfig::default() };
    let error = run(&program.kernels[0], &self::launch(""), &mut port, &few).unwrap_err();
    says(&error.to_string(), &["40 threads has 2 warps", "`block`"]);
}

/// Start of the code of `grid.sync()`.
const GRID: &str = "ISETP.NE.U32.AND P0, PT, RZ, c[0x0][0x90], PT ;\nISETP.NE.AND.EX P0, PT, RZ, c[0x0][0x8c], PT, P0 ;\n\
                    @P0 EXIT ;\nBPT.TRAP 0x1 ;";

#[test]
fn a_grid_that_synchronizes() {
    let (_, text) = failure(GRID, "");
    says(&text, &["a trap; the kernel synchronizes its grid", "`cooperative = true`", "`BPT.TRAP 0x1`"]);
    let (_, text) = failure("BPT.TRAP 0x1 ;", "");
    assert!(!text.contains("cooperative"), "{text}");
    // A read of either word of the workspace address is enough.
    for word in ["0x8c", "0x90"] {
        let (_, text) = failure(&format!("MOV R0, c[0x0][{word}] ;\nBPT.TRAP 0x1 ;"), "");
        says(&text, &["`cooperative = true`"]);
    }
    let begun = atoms_sm::template(&program(GRID).kernels[0]);
    assert!(begun.contains("cooperative = true"), "{begun}");
    // If the grid is not cooperative, the same CTAs run one after the other.
    for (ctas, there) in [(4, true), (64, false)] {
        let text = format!("kernel = \"k\"\ngrid = {ctas}\nblock = 32\nshared = 64\ncooperative = ");
        let run_as = |cooperative: bool, lines: &str| {
            let launch =
                Launch::from_toml("k.toml", &format!("{text}{cooperative}\n"), Path::new("")).unwrap();
            let mut port = FunctionalPort::new(Shape::default());
            run(&program(lines).kernels[0], &launch, &mut port, &SmConfig::default())
                .map_err(|e| e.to_string())
        };
        assert_eq!(run_as(false, "EXIT ;").unwrap().statistics.ctas, ctas);
        match run_as(true, GRID) {
            Ok(_) => assert!(there),
            Err(error) => {
                assert!(!there);
                says(
                    &error,
                    &[
                        "a cooperative grid of 64 CTAs needs 64 CTA slots",
                        "at the same time, but there are only",
                        "lower `grid`",
                    ],
                );
            }
        }
    }
    // The first word of the workspace is its size.
    let size = "MOV R2, c[0x0][0x90] ;\nMOV R3, c[0x0][0x8c] ;\nLDG.E R4, [R2.64] ;\nISETP.EQ.AND P0, PT, R4, 0x8, PT ;\n\
                @P0 EXIT ;\nBPT.TRAP 0x1 ;";
    let launch = "kernel = \"k\"\ngrid = 1\nblock = 1\nshared = 64\ncooperative = true\n";
    let launch = Launch::from_toml("k.toml", launch, Path::new("")).unwrap();
    let mut port = FunctionalPort::new(Shape::default());
    run(&program(size).kernels[0], &launch, &mut port, &SmConfig::default())
        .unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn parameters_that_the_kernel_reads_and_nobody_gives() {
    let (_, text) = failure("LDC.64 R0, c[0x0][0x168] ;\nEXIT ;", "[[param]]\ntype = \"u64\"\nvalue = 1\n");
    says(&text, &["bytes 8 to 15", "`param 0` in bytes 0 to 7", "every parameter in order"]);
}

/// Values outside the range of TOML integers, as input and as expectation.
#[test]
fn values_of_64_bits() {
    let copy = program(
        "MOV R2, c[0x0][0x160] ;\nMOV R3, c[0x0][0x164] ;\nLDG.E.64 R4, [R2.64] ;\nLDG.E.64 R6, [R2.64+0x8] ;\n\
         STG.E.64 [R2.64], R6 ;\nSTG.E.64 [R2.64+0x8], R4 ;\nEXIT ;",
    );
    let outcome = |start: &str, expect: &str| {
        let text = format!(
            "kernel = \"k\"\ngrid = 1\nblock = 1\nshared = 64\n[[param]]\nname = \"b\"\ntype = \"u64\"\n\
             {start}\nexpect = {{ {expect} }}\n"
        );
        let launch = Launch::from_toml("k.toml", &text, Path::new("")).unwrap_or_else(|e| panic!("{e}"));
        let mut port = FunctionalPort::new(Shape::default());
        let mut report = run(&copy.kernels[0], &launch, &mut port, &SmConfig::default()).unwrap();
        report.buffers.remove(0).outcome
    };
    let start = "values = [18446744073709551615, 9223372036854775808]";
    let met = Outcome::Met { compared: 2 };
    for expect in [
        "values = [9223372036854775808, 18446744073709551615]",
        "values = [9223372036854775808, \"0xffffffffffffffff\"]",
        "formula = \"b[1 - i]\"",
        "formula = \"i == 0 ? max(b[1], 0) : b[1] / 2 * 4 - 1\"",
        "formula = \"i == 0 ? u64(9223372036854775808.0) : b[0]\"",
        "values = [18446744073709551615, 9223372036854775808], order = \"any\"",
    ] {
        assert_eq!(outcome(start, expect), met, "{expect}");
    }
    let differs = outcome(start, "values = [9223372036854775808, 18446744073709551614]");
    let Outcome::Differs { index: 1, expected, found, .. } = differs else { panic!("{differs:?}") };
    assert_eq!([expected, found], ["18446744073709551614", "18446744073709551615"]);
    let random = "random = { count = 2, seed = 1, min = 18446744073709551615, max = \"0xffffffffffffffff\" }";
    assert_eq!(outcome(random, "formula = \"18446744073709551615\""), met);
}

/// Shared memory that the system reserves, in PTX and compiled: begin, end, size, and both parts.
#[test]
fn reserved_shared_memory() {
    let names = ["begin", "end", "cap", "0", "1"];
    let each = |(i, name): (usize, &&str)| {
        format!("mov.b32 %r1, %reserved_smem_offset_{name};\nst.global.u32 [%rd1+{}], %r1;\n", 4 * i)
    };
    let body: String = names.iter().enumerate().map(each).collect();
    let sm_80 = "S2R R7, SR_SMEMSZ ;\nMOV R2, c[0x0][0x160] ;\nIMAD.MOV.U32 R3, RZ, RZ, c[0x0][0x164] ;\nMOV R9, c[0x0][0x120] ;\n\
                 IMAD.MOV.U32 R11, RZ, RZ, c[0x0][0x124] ;\nSTG.E [R2.64+0x4], R9 ;\nSTG.E [R2.64+0x10], R11 ;\n\
                 IADD3 R5, R7, -c[0x0][0x114], RZ ;\nSTG.E [R2.64+0x8], R7 ;\nSTG.E [R2.64], R5 ;\nSTG.E [R2.64+0xc], R5 ;\nEXIT ;";
    let sm_90 = "LDC.64 R2, c[0x0][0x210] ;\nMOV R7, 0x400 ;\nMOV R5, 0x0 ;\nMOV R9, 0x0 ;\nLDC R13, c[0x0][0x68] ;\nLDC R15, c[0x0][0x6c] ;\n\
                 STG.E [R2.64], R5 ;\nSTG.E [R2.64+0xc], R9 ;\nSTG.E [R2.64+0x4], R13 ;\nSTG.E [R2.64+0x8], R7 ;\nSTG.E [R2.64+0x10], R15 ;\nEXIT ;";
    let sm_100 = "LDC.64 R2, c[0x0][0x380] ;\nMOV R7, 0x400 ;\nMOV R5, 0x0 ;\nMOV R9, 0x40 ;\nCS2R.32 R13, SR_CgaSize ;\nIMAD R13, R13, -0xa0, RZ ;\n\
                  LDC R13, c[0x0][R13+0x278] ;\nCS2R.32 R15, SR_CgaSize ;\nIMAD R15, R15, -0xa0, RZ ;\nLDC R15, c[0x0][R15+0x27c] ;\n\
                  STG.E [R2.64], R5 ;\nSTG.E [R2.64+0xc], R9 ;\nSTG.E [R2.64+0x4], R13 ;\nSTG.E [R2.64+0x8], R7 ;\nSTG.E [R2.64+0x10], R15 ;\nEXIT ;";
    for (arch, code, expected) in [
        ("sm_80", sm_80, [64, 1088, 1088, 64, 320]),
        ("sm_90", sm_90, [0, 0x400, 0x400, 0, 0x100]),
        ("sm_100", sm_100, [0, 0x400, 0x400, 0x40, 0x100]),
    ] {
        let ptx = format!(
            ".version 8.6\n.target {arch}\n.address_size 64\n.visible .entry k(.param .u64 out)\n{{\n.reg .b32 %r<4>;\n.reg .b64 %rd<4>;\n\
             ld.param.u64 %rd1, [out];\n{body}ret;\n}}\n"
        );
        let listing = format!(".target {arch}\n.section .text.k,\"ax\",@progbits\n{code}\n");
        for text in [ptx, listing] {
            let program =
                Program::read("k", &text, None).unwrap_or_else(|e| panic!("{:?}", miette::Report::new(e)));
            let text = format!(
                "kernel = \"k\"\ngrid = 1\nblock = 1\nshared = 64\n[[param]]\nname = \"out\"\ntype = \"u32\"\nzeros = 5\n\
                 expect = {{ values = {expected:?} }}\n"
            );
            let launch = Launch::from_toml("k.toml", &text, Path::new("")).unwrap();
            let mut port = FunctionalPort::new(Shape::default());
            let report = run(&program.kernels[0], &launch, &mut port, &SmConfig::default())
                .unwrap_or_else(|e| panic!("{arch}: {e}"));
            assert!(report.as_expected(), "{arch}: {:?}", report.buffer("out").map(|b| &b.outcome));
        }
    }
}

/// Collects the lanes reported for access to reserved shared memory.
#[derive(Default)]
struct Reserved(u32);

impl Observer for Reserved {
    fn observe(&mut self, _: u64, event: &CoreEvent<'_>) {
        if let CoreEvent::ReservedShared(_, mask) = event {
            self.0 |= mask;
        }
    }
}

/// Runs PTX with 64 bytes of static shared memory. `%r1` is the address in the CTA, `%r2` the address in the
/// cluster. Returns the reported lanes, or the error.
fn reserved_lanes(arch: &str, body: &str) -> Result<u32, String> {
    let ptx = format!(
        ".version 8.6\n.target {arch}\n.address_size 64\n.visible .entry k(.param .u64 out)\n{{\n.reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n\
         .reg .pred %p<2>;\n.shared .align 16 .b8 s[64];\nld.param.u64 %rd1, [out];\nmov.u32 %r1, s;\n{body}\nret;\n}}\n"
    );
    let program = Program::read("k", &ptx, None).unwrap_or_else(|e| panic!("{:?}", miette::Report::new(e)));
    let text = "kernel = \"k\"\ngrid = 1\nblock = 2\n[[param]]\ntype = \"u32\"\nzeros = 8\nexpect = { values = [7] }\n";
    let launch = Launch::from_toml("k.toml", text, Path::new("")).unwrap();
    let mut port = FunctionalPort::new(Shape::default());
    let mut seen = Reserved::default();
    run_observed(&program.kernels[0], &launch, &mut port, &SmConfig::default(), &mut seen)
        .map(|report| {
            assert!(report.as_expected(), "{arch} {body}");
            seen.0
        })
        .map_err(|e| e.to_string())
}

/// A slightly wrong address points to reserved memory. Such accesses are reported, unless the kernel reads
/// the offset of the reserved memory.
#[test]
fn accesses_to_reserved_shared_memory() {
    let returns_7 = "mov.u32 %r7, 7;\nst.global.u32 [%rd1], %r7;\n";
    let before = format!("{returns_7}atom.shared.add.u32 %r3, [%r1+-4], 1;");
    let copy = format!(
        "{returns_7}add.u32 %r1, %r1, -16;\ncp.async.ca.shared.global [%r1], [%rd1], 16;\ncp.async.wait_all;"
    );
    let remote =
        format!("{returns_7}mapa.shared::cluster.u32 %r2, %r1, 0;\nst.shared::cluster.u32 [%r2+-4], %r7;");
    for arch in ["sm_90", "sm_100"] {
        for body in [&before, &copy, &remote] {
            assert_eq!(reserved_lanes(arch, body), Ok(0b11), "{arch} {body}");
        }
        assert_eq!(reserved_lanes(arch, &format!("{returns_7}st.shared.u32 [%r1], %r7;")), Ok(0));
    }
    for part in ["0", "1", "begin"] {
        let body = format!(
            "mov.b32 %r2, %reserved_smem_offset_{part};\nmov.u32 %r3, 7;\nst.shared.u32 [%r2+4], %r3;\n\
             ld.shared.u32 %r4, [%r2+4];\nst.global.u32 [%rd1], %r4;"
        );
        for arch in ["sm_80", "sm_89", "sm_90", "sm_100"] {
            assert_eq!(reserved_lanes(arch, &body), Ok(0), "{arch} {part}");
        }
        let past = body.replace("+4]", "+1024]");
        assert!(reserved_lanes("sm_80", &past).is_err(), "{part}");
    }
    // Without reserved bytes, the allocation ends with the kernel's own bytes.
    let error = reserved_lanes("sm_80", "st.shared.u32 [%r1+64], %r1;").unwrap_err();
    says(&error, &["address out of range 0x00000040", "the CTA's allocation has 64 bytes"]);
}

/// Sizes of shared memory with and without the reserved bytes, in PTX and compiled.
#[test]
fn sizes_of_shared_memory() {
    let sm_90 = "S2R R4, SR_SMEMSZ ;\nLDC R5, c[0x0][0x114] ;\nLDC R6, c[0x0][0x13c] ;\nLDC.64 R2, c[0x0][0x210] ;\nIADD3 R5, R4, -R5, RZ ;\n\
                 VIMNMX.U32 R6, R6, R4, PT ;\nSTG.E [R2.64], R5 ;\nSTG.E [R2.64+0x4], R6 ;\nEXIT ;";
    let ptx = ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n.reg .b32 %r<4>;\n.reg .b64 %rd<4>;\n\
               ld.param.u64 %rd1, [out];\nmov.u32 %r1, %total_smem_size;\nmov.u32 %r2, %aggr_smem_size;\n\
               st.global.u32 [%rd1], %r1;\nst.global.u32 [%rd1+4], %r2;\nret;\n}\n";
    for text in [ptx.to_string(), format!(".target sm_90\n.section .text.k,\"ax\",@progbits\n{sm_90}\n")] {
        let program =
            Program::read("k", &text, None).unwrap_or_else(|e| panic!("{:?}", miette::Report::new(e)));
        let launch = "kernel = \"k\"\ngrid = 1\nblock = 1\nshared = 64\ndynamic_shared = 32\n[[param]]\ntype = \"u32\"\nzeros = 2\n\
                      expect = { values = [96, 1120] }\n";
        let launch = Launch::from_toml("k.toml", launch, Path::new("")).unwrap();
        let mut port = FunctionalPort::new(Shape::default());
        let report = run(&program.kernels[0], &launch, &mut port, &SmConfig::default()).unwrap();
        assert!(report.as_expected(), "{:?}", report.buffers[0].outcome);
    }
}

/// Pointers to buffers in buffers, values and expectations; pointers to elements; pointers to buffers that
/// are not parameters.
#[test]
fn pointers_to_buffers() {
    let ptx = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 rows, .param .u64 last)\n\
               {\n.reg .b32 %r<4>;\n.reg .b64 %rd<4>;\nld.param.u64 %rd1, [rows];\nld.param.u64 %rd3, [last];\n\
               ld.global.u64 %rd2, [%rd1];\nld.global.u32 %r1, [%rd2];\nld.global.u64 %rd2, [%rd1+8];\nst.global.u32 [%rd2], %r1;\n\
               st.global.u32 [%rd3], %r1;\nst.global.u64 [%rd1], %rd2;\nret;\n}\n";
    let program = Program::from_ptx("k.ptx", ptx, None).unwrap();
    let read = |rows: &str, more: &str| {
        let text = format!(
            "kernel = \"k\"\ngrid = 1\nblock = 1\n[[param]]\nname = \"rows\"\ntype = \"u64\"\nvalues = {rows}\n\
             expect = {{ values = [\"&b[2]\", \"open\"] }}\n[[param]]\ntype = \"u64\"\nvalue = \"&b\"\n\
             [[buffer]]\nname = \"a\"\ntype = \"u32\"\nvalues = [1, 5]\n\
             [[buffer]]\nname = \"b\"\ntype = \"u32\"\nzeros = 3\nexpect = {{ formula = \"i == 1 ? 0 : a[1]\" }}\n{more}"
        );
        Launch::from_toml("k.toml", &text, Path::new("")).map_err(|e| e.to_string())
    };
    let launch = read("[\"&a[1]\", \"&b[2]\"]", "").unwrap();
    let mut port = FunctionalPort::new(Shape::default());
    let report = run(&program.kernels[0], &launch, &mut port, &SmConfig::default()).unwrap();
    let outcomes: Vec<_> = report.buffers.iter().map(|b| (b.name.as_str(), b.outcome.clone())).collect();
    let met = |compared| Outcome::Met { compared };
    assert_eq!(outcomes, [("rows", met(1)), ("a", Outcome::Open), ("b", met(3))]);
    for rows in ["[\"&c\"]", "[\"&a[x]\"]", "[\"&a[-1]\"]", "[\"&\"]"] {
        says(
            &read(rows, "").unwrap_err(),
            &["rows", "is not the name of a buffer", "\"&NAME[3]\"", "buffers are a, b, rows"],
        );
    }
    let scalar = read("[0]", "[[buffer]]\nname = \"n\"\ntype = \"u32\"\nvalue = 0\n").unwrap_err();
    says(&scalar, &["n", "a `[[buffer]]` without the content of a buffer", "`zeros`"]);
}

/// The warps of a cluster that are resident together are limited by the number of tags.
#[test]
fn warps_of_a_cluster() {
    for (ctas, fits) in [(2, true), (3, false)] {
        let text = format!("kernel = \"k\"\ngrid = {ctas}\nblock = 1024\nshared = 64\ncluster = {ctas}\n");
        let launch = Launch::from_toml("k.toml", &text, Path::new("")).unwrap();
        let listing = ".target sm_90\n.section .text.k,\"ax\",@progbits\nEXIT ;\n";
        let program = Program::read("k", listing, None).unwrap_or_else(|e| panic!("{e}"));
        let mut port = FunctionalPort::new(Shape::default());
        let outcome = run(&program.kernels[0], &launch, &mut port, &SmConfig::default());
        match outcome {
            Ok(report) => assert!(fits && report.statistics.ctas == ctas),
            Err(error) => {
                assert!(!fits);
                says(
                    &error.to_string(),
                    &["cluster of 3 CTAs needs 96 warps at the same time, but there are only 64"],
                );
            }
        }
    }
}

/// A structure has the offset of a declared parameter with its size and alignment.
#[test]
fn structures() {
    let ptx = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u32 n, .param .align 8 .b8 p[24], .param .u64 out)\n\
               {\n.reg .b32 %r<4>;\n.reg .b64 %rd<4>;\nld.param.u64 %rd1, [out];\nld.param.u64 %rd2, [p+16];\nst.global.u64 [%rd1], %rd2;\n\
               ld.param.u16 %r1, [p+10];\nst.global.u32 [%rd1+8], %r1;\nret;\n}\n";
    let program = Program::from_ptx("k.ptx", ptx, None).unwrap();
    let outcome = |p: &str| {
        let text = format!(
            "kernel = \"k\"\ngrid = 1\nblock = 1\n[[param]]\ntype = \"u32\"\nvalue = 1\n[[param]]\nname = \"p\"\n{p}\n\
             [[param]]\nname = \"out\"\ntype = \"u64\"\nzeros = 2\nexpect = {{ values = [0x1122334455667788, 770] }}\n"
        );
        let launch = Launch::from_toml("k.toml", &text, Path::new("")).unwrap_or_else(|e| panic!("{e}"));
        let mut port = FunctionalPort::new(Shape::default());
        run(&program.kernels[0], &launch, &mut port, &SmConfig::default())
            .map(|r| r.as_expected())
            .map_err(|e| e.to_string())
    };
    let fields = "fields = [{ type = \"u64\", value = 5 }, { fields = [{ type = \"u8\", value = 9 }, { type = \"u8\", array = [8, 2, 3] }] }, \
                  { type = \"u64\", value = \"0x1122334455667788\" }]";
    assert_eq!(outcome(fields), Ok(true));
    let bytes =
        "[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 3, 0, 0, 0, 0, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11]";
    assert_eq!(outcome(&format!("type = \"u8\"\nalign = 8\narray = {bytes}")), Ok(true));
    // An alignment below the natural one has no effect.
    assert_eq!(outcome(&format!("align = 1\n{fields}")), Ok(true));
    assert_eq!(
        outcome("type = \"u64\"\nalign = 4\narray = [5, 0x3020000, \"0x1122334455667788\"]"),
        Ok(true)
    );
    // A larger alignment moves the structure and makes it larger.
    let error = outcome(&format!("align = 16\n{fields}")).unwrap_err();
    says(&error, &["`p` in bytes 8 to 31", "`p` in bytes 16 to 47"]);
    // Without its alignment, the array gets another offset, so it does not match the declared parameter.
    let error = outcome(&format!("type = \"u8\"\narray = {bytes}")).unwrap_err();
    says(&error, &["`p` in bytes 8 to 31", "`p` in bytes 4 to 27"]);
    let error =
        outcome("fields = [{ type = \"u64\", value = 5 }, { type = \"u64\", value = 5 }]").unwrap_err();
    says(&error, &["`p` in bytes 8 to 31", "`p` in bytes 8 to 23"]);
}

/// The full content of objects of layout 1 is unknown, so code that makes one is refused.
#[test]
fn objects_of_layout_1() {
    let text = |layout: &str| {
        format!(
            ".version 9.3\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out)\n{{\n\
             .reg .b32 %r<4>;\n.reg .b64 %rd<4>;\n.reg .pred %p<4>;\n.reg .b8 %b;\n.shared .align 8 .b64 bar;\n\
             ld.param.u64 %rd1, [out];\nmbarrier.init.layout::{layout}.shared.b64 [bar], 1;\n\
             mbarrier.check_layout.layout::v0.shared.b64 %p1, [bar];\nselp.u32 %r1, 1, 0, %p1;\n\
             mbarrier.check_layout.layout::v1.shared.b64 %p1, [bar];\nselp.u32 %r2, 2, 0, %p1;\n\
             add.u32 %r1, %r1, %r2;\nmbarrier.arrive.shared.b64 %rd2, [bar];\n\
             mbarrier.test_wait.phase_type::primary.shared.b64 %p1|%p2, %b, [bar], %rd2;\n\
             selp.u32 %r2, 4, 0, %p1;\nadd.u32 %r1, %r1, %r2;\nselp.u32 %r2, 8, 0, %p2;\nadd.u32 %r1, %r1, %r2;\n\
             cvt.u32.u8 %r2, %b;\nshl.b32 %r2, %r2, 4;\nadd.u32 %r1, %r1, %r2;\nst.global.u32 [%rd1], %r1;\nret;\n}}\n"
        )
    };
    let run_with = |layout: &str| {
        let program = Program::read("k.ptx", &text(layout), None)
            .unwrap_or_else(|e| panic!("{:?}", miette::Report::new(e)));
        let launch = "kernel = \"k\"\ngrid = 1\nblock = 1\n[[param]]\nname = \"out\"\ntype = \"u32\"\nzeros = 1\n\
                      expect = { values = [5] }\n";
        let launch = Launch::from_toml("k.toml", launch, Path::new("")).unwrap();
        let mut port = FunctionalPort::new(Shape::default());
        run(&program.kernels[0], &launch, &mut port, &SmConfig::default()).map_err(|e| e.to_string())
    };
    assert!(run_with("v0").unwrap().as_expected());
    let error = run_with("v1").unwrap_err();
    says(&error, &["line 12", "mbarrier.init.layout::v1.shared.b64 [bar], 1", "layout 0", "remove"]);
}

/// A buffer to which a field points is read from a file and compared like any other buffer.
#[test]
fn buffers_of_structures() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    std::fs::write(folder.join("field.bin"), [1, 0, 0, 0, 2, 0, 0, 0]).unwrap();
    for (expected, met) in [("[1, 2]", true), ("[1, 3]", false)] {
        let text = format!(
            "kernel = \"k\"\ngrid = 1\nblock = 1\nshared = 64\n[[param]]\nname = \"s\"\nfields = [{{ fields = [\
             {{ name = \"a\", type = \"u32\", file = \"field.bin\", expect = {{ values = {expected} }} }}] }}]\n"
        );
        let launch = Launch::from_toml("k.toml", &text, folder).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(launch.files, [folder.join("field.bin")]);
        let mut port = FunctionalPort::new(Shape::default());
        let report = run(&program("EXIT ;").kernels[0], &launch, &mut port, &SmConfig::default()).unwrap();
        assert!(report.checked());
        assert_eq!(report.as_expected(), met);
    }
}

/// Test cases: launch file, parts of the message.
#[rustfmt::skip]
const LAUNCHES: &[(&str, &[&str])] = &[
    ("grid = 1\nblock = 1\n",                                                       &["missing field `kernel`"]),
    ("kernel = \"k\"\ngrid = 1\nblock = 1\nblocks = 2\n",                           &["unknown field `blocks`", "expected one of"]),
    ("kernel = \"k\"\ngrid = 0\nblock = 1\n",                                       &["`grid`: found 0", "[x, y, z]"]),
    ("kernel = \"k\"\ngrid = 4294967295\nblock = 1\n",                              &["`grid`: found 4294967295", "from 1 to 2147483647"]),
    ("kernel = \"k\"\ngrid = -1\nblock = 1\n",                                      &["`grid`: found -1", "from 1 to 2147483647"]),
    ("kernel = \"k\"\ngrid = [65536, 65536]\nblock = 1\n",                          &["`grid`: 4294967296 CTAs", "at most 16777216"]),
    ("kernel = \"k\"\ngrid = [2147483647, 2147483647, 2147483647]\nblock = 1\n",    &["`grid`: ", "at most 16777216"]),
    ("kernel = \"k\"\ngrid = 1\nblock = [2147483647, 2147483647, 2147483647]\n",    &["`block`: ", "at most 1024"]),
    ("kernel = \"k\"\ngrid = 1\nblock = 1\ncluster = [2147483647, 2147483647, 4]\n", &["`cluster`: ", "at most 16"]),
    ("kernel = \"k\"\ngrid = 1\nblock = 1\n[[param]]\ntype = \"u8\"\nzeros = 4611686018427387904\n", &["4611686018427387904 elements", "at most 67108864"]),
    ("kernel = \"k\"\ngrid = 1\nblock = 1\n[[param]]\ntype = \"u8\"\nrandom = { count = 4611686018427387904, seed = 1 }\n", &["4611686018427387904 elements", "at most 67108864"]),
    ("kernel = \"k\"\ngrid = 1\nblock = 1\n[[param]]\nname = \"a\"\ntype = \"u8\"\nzeros = 4\nexpect = { histogram_of = \"a\", bins = 0 }\n", &["`a.expect.bins`: 0 bins", "expected 1 to "]),
    ("kernel = \"k\"\ngrid = 1\nblock = 1\n[[param]]\nname = \"a\"\ntype = \"u8\"\nzeros = 4\nexpect = { sum_of = \"a\", bins = 0 }\n", &["`a.expect.bins`: 0 bins", "expected 1 to "]),
    ("kernel = \"k\"\ngrid = 1\nblock = 1\n[[param]]\nname = \"a\"\ntype = \"u8\"\nzeros = 4\nexpect = { formula = \"1\", count = 0 }\n", &["`a.expect.count`: 0 elements"]),
    ("kernel = \"k\"\ngrid = 1\nblock = 1\n[[param]]\nname = \"a\"\ntype = \"u8\"\nzeros = 4\nexpect = { copy_of = \"a\", xor = 9223372036854775807 }\n", &["`xor` gives an index beyond"]),
    ("kernel = \"k\"\ngrid = 1\nblock = 1\n[[param]]\nname = \"a\"\ntype = \"u8\"\nzeros = 4\nexpect = { formula = \"i / 0\" }\n", &["`a.expect.formula`"]),
    ("kernel = \"k\"\ngrid = 1\nblock = [33, 32]\n",                                &["`block`: 1056 threads", "at most 1024"]),
    ("kernel = \"k\"\ngrid = 1\nblock = 1\narch = \"sm_20\"\n",                     &["no architecture `sm_20`"]),
    ("kernel = \"k\"\ngrid = 1\nblock = 1\n[[param]]\ntype = \"int\"\nvalue = 1\n", &["no type `int`", "u32, s32"]),
    ("kernel = \"k\"\ngrid = 1\nblock = 1\n[[param]]\ntype = \"u8\"\nvalue = 256\n", &["`param 0`: value 256", "from 0 to 255"]),
    ("kernel = \"k\"\ngrid = 1\nblock = 1\n[[param]]\ntype = \"u8\"\n",             &["no key states the value to pass"]),
    ("kernel = \"k\"\ngrid = 1\nblock = 1\n[[param]]\nvalue = 1\n",                  &["`param 0`: no `type`", "u32, s32"]),
    ("kernel = \"k\"\ngrid = 1\nblock = 1\n[[param]]\ntype = \"u8\"\nfields = []\n", &["without fields, or with a type"]),
    ("kernel = \"k\"\ngrid = 1\nblock = 1\n[[param]]\ntype = \"u8\"\narray = []\n", &["`array` is empty"]),
    ("kernel = \"k\"\ngrid = 1\nblock = 1\n[[param]]\ntype = \"u8\"\nalign = 3\narray = [1]\n", &["`align` 3", "power of two up to 128"]),
    ("kernel = \"k\"\ngrid = 1\nblock = 1\n[[param]]\ntype = \"u8\"\nalign = 4\nvalue = 1\n", &["`align` 4", "needs `array` or `fields`"]),
    ("kernel = \"k\"\ngrid = 1\nblock = 1\n[[param]]\nname = \"s\"\nfields = [{ name = \"a\", type = \"u8\", value = 300 }]\n", &["`a`: value 300", "from 0 to 255"]),
    ("kernel = \"k\"\ngrid = 1\nblock = 1\n[[param]]\nname = \"s\"\nfields = [{ name = \"s\", type = \"u8\", value = 3 }]\n", &["a second parameter of this name"]),
    ("kernel = \"k\"\ngrid = 1\nblock = 1\n[[param]]\nname = \"s\"\nfields = [{ type = \"u8\", value = 3, expect = { values = [1] } }]\n", &["`s.0`: `expect` without a buffer"]),
    ("kernel = \"k\"\ngrid = 1\nblock = 1\n[[param]]\ntype = \"u64\"\nvalue = 18446744073709551616\n", &["value 18446744073709551616", "from 0 to 18446744073709551615"]),
    ("kernel = \"k\"\ngrid = 1\nblock = 1\n[[param]]\ntype = \"u64\"\nvalues = [true]\n", &["expected a number, or a string such as"]),
    ("kernel = \"k\"\ngrid = 1\nblock = 1\n[[param]]\ntype = \"u8\"\nvalue = 1\nzeros = 1\n", &["more than one key"]),
    ("kernel = \"k\"\ngrid = 1\nblock = 1\n[[param]]\ntype = \"u8\"\nfile = \"none.bin\"\n", &["cannot read `none.bin`"]),
    ("kernel = \"k\"\ngrid = 1\nblock = 1\n[[param]]\nname = \"a\"\ntype = \"u8\"\nzeros = 4\nexpect = { histogram_of = \"b\", bins = 4 }\n", &["no buffer `b`", "buffers are a"]),
    ("kernel = \"k\"\ngrid = 1\nblock = 1\n[[param]]\nname = \"a\"\ntype = \"u8\"\nzeros = 4\nexpect = { histogram_of = \"a\", bins = 5 }\n", &["expected 1 to 4"]),
    ("kernel = \"k\"\ngrid = 1\nblock = 1\n[[param]]\nname = \"a\"\ntype = \"u8\"\nzeros = 1\nexpect = { values = [1, 2] }\n", &["more elements are expected"]),
    ("kernel = \"k\"\ngrid = 1\nblock = 1\n[[param]]\ntype = \"f32\"\nrandom = { count = 1, seed = 1, min = 5, max = 4 }\n", &["random values from 5 to 4"]),
    ("kernel = \"k\"\ngrid = 1\nblock = 1\n[[param]]\nname = \"a\"\ntype = \"u8\"\nzeros = 1\nexpect = { formula = \"1 + b[i]\" }\n", &["`a.expect.formula`: no buffer, scalar or variable `b`; the nearest is `a`\n  1 + b[i]\n      ^"]),
    ("kernel = \"k\"\ngrid = 1\nblock = 1\n[[param]]\nname = \"a\"\ntype = \"u8\"\nzeros = 1\nexpect = { formula = \"1\", count = 2 }\n", &["`a.expect.count`: 2 elements", "expected 1 to 1"]),
    ("kernel = \"k\"\ngrid = 1\nblock = 1\n[[param]]\nname = \"a\"\ntype = \"f32\"\nzeros = 1\nexpect = { values = [1], order = \"any\", ulps = 1 }\n", &["these keys cannot be combined", "`ulps` and `open` need `order"]),
    ("kernel = \"k\"\ngrid = 1\nblock = 1\n[[param]]\nname = \"a\"\ntype = \"u8\"\nzeros = 1\nexpect = { values = [1], order = \"some\" }\n", &["unknown variant `some`", "`given`, `any`, `set`"]),
];

#[test]
fn launch_files_with_something_wrong() {
    for (text, parts) in LAUNCHES {
        let error = Launch::from_toml("k.toml", text, Path::new("")).expect_err(text);
        says(&error.to_string(), parts);
    }
}

#[test]
fn kernels_that_are_not_there() {
    let program = program("EXIT ;");
    let text = "kernel = \"hist\"\ngrid = 1\nblock = 1\n";
    let error = Launch::from_toml("k.toml", text, Path::new("")).unwrap().kernel(&program).unwrap_err();
    says(&error.to_string(), &["no kernel `hist`", "it has k"]);
    let text = "kernel = \"k\"\narch = \"sm_90\"\ngrid = 1\nblock = 1\n";
    let error = Launch::from_toml("k.toml", text, Path::new("")).unwrap().kernel(&program).unwrap_err();
    says(
        &error.to_string(),
        &["the launch is for sm_90, but the listing is for", "remove `arch` from the launch"],
    );
}

#[test]
fn a_difference_from_the_expectation_is_a_result() {
    let params =
        "[[param]]\nname = \"b\"\ntype = \"u32\"\nvalues = [1, 2, 3]\nexpect = { values = [1, 5, 4] }\n";
    let mut port = FunctionalPort::new(Shape::default());
    let report =
        run(&program("EXIT ;").kernels[0], &launch(params), &mut port, &SmConfig::default()).unwrap();
    assert!(!report.as_expected());
    let atoms_sm::Outcome::Differs { index, expected, found, differing, compared } =
        &report.buffers[0].outcome
    else {
        panic!()
    };
    assert_eq!((*index, expected.as_str(), found.as_str(), *differing, *compared), (1, "5", "2", 2, 3));
}

/// Outcome for a buffer with `content` at the start and at the end, compared with `expect`.
fn outcome(content: &str, expect: &str) -> atoms_sm::Outcome {
    let params =
        format!("[[param]]\nname = 'b'\ntype = 's16'\nvalues = {content}\nexpect = {{ {expect} }}\n");
    let mut port = FunctionalPort::new(Shape::default());
    let report =
        run(&program("EXIT ;").kernels[0], &launch(&params), &mut port, &SmConfig::default()).unwrap();
    report.buffers[0].outcome.clone()
}

#[test]
fn values_are_expected_in_any_order() {
    use atoms_sm::Outcome::{Met, OtherValues};
    let other = |missing: Option<&str>, surplus: Option<&str>, lacking| OtherValues {
        missing: missing.map(String::from),
        surplus: surplus.map(String::from),
        lacking,
        compared: 3,
    };
    #[rustfmt::skip]
    let rows = [
        ("[3, -1, 2]", "values = [2, 3, -1], order = 'any'", Met { compared: 3 }),
        ("[3, 3, 2]",  "values = [2, 3, 2], order = 'any'",  other(Some("2"), Some("3"), 1)),
        ("[3, 3, 2]",  "values = [2, 3, 2], order = 'set'",  Met { compared: 3 }),
        ("[3, 3, 2]",  "values = [2, 2, 2], order = 'set'",  other(None, Some("3"), 0)),
        ("[3, 3, 3]",  "values = [-7, 2, 3], order = 'set'", other(Some("-7"), None, 2)),
        ("[3, 1, 2]",  "formula = 'i + 1', order = 'any'",   Met { compared: 3 }),
        ("[3, 1, 2]",  "formula = 'b[i] * threads / 32'",    Met { compared: 3 }),
        ("[3, 1, 2]",  "formula = '3 - i', count = 1",       Met { compared: 1 }),
    ];
    for (content, expect, expected) in rows {
        assert_eq!(outcome(content, expect), expected, "{content} {expect}");
    }
}

/// Port that reports an error after some cycles.
struct Disagreeing(FunctionalPort, u32);

#[derive(Debug, PartialEq, thiserror::Error)]
#[error("the sides differ")]
struct Disagreement;

impl MemoryPort for Disagreeing {
    type Error = Disagreement;

    fn lanes(&self) -> u32 {
        self.0.lanes()
    }

    fn rows(&self) -> u32 {
        self.0.rows()
    }

    fn banks(&self) -> u32 {
        self.0.banks()
    }

    fn cta_slots(&self) -> u32 {
        self.0.cta_slots()
    }

    fn cycle(&mut self, inputs: &In) -> Result<&Out, Disagreement> {
        self.1 = self.1.checked_sub(1).ok_or(Disagreement)?;
        self.0.cycle(inputs).map_err(|never| match never {})
    }

    fn word(&self, row: u32, bank: u32) -> u32 {
        self.0.word(row, bank)
    }
}

#[test]
fn what_the_port_reports_comes_out_unchanged() {
    let mut port = Disagreeing(FunctionalPort::new(Shape::default()), 20);
    let lines = program(".L_x_0:\nLDS R0, [RZ] ;\nBRA `(.L_x_0) ;");
    let error = run(&lines.kernels[0], &launch(""), &mut port, &SmConfig::default()).unwrap_err();
    assert!(matches!(error, RunError::Port(Disagreement)));
    assert!(!port.0.clean());
}

#[derive(Default)]
struct Counter {
    issues: u64,
    requests: u64,
    responses: u64,
}

impl Observer for Counter {
    fn observe(&mut self, _: u64, event: &CoreEvent<'_>) {
        match event {
            CoreEvent::Issue(_, _, text) => {
                assert!(!text.is_empty());
                self.issues += 1;
            }
            CoreEvent::Request(_, _, inputs) => {
                assert_eq!(inputs.req_valid, 1);
                self.requests += 1;
            }
            CoreEvent::Response(outputs) => {
                assert_eq!(outputs.rsp_valid, 1);
                self.responses += 1;
            }
            _ => {}
        }
    }
}

#[test]
fn an_observer_is_told_everything() {
    let mut counter = Counter::default();
    let mut port = FunctionalPort::new(Shape::default());
    let lines = program("STS [0x4], RZ ;\nLDS R0, [0x4] ;\nATOMS.ADD RZ, [0x4], R0 ;\nEXIT ;");
    let report =
        run_observed(&lines.kernels[0], &launch(""), &mut port, &SmConfig::default(), &mut counter).unwrap();
    assert_eq!(counter.issues, report.statistics.warp_instructions);
    assert_eq!((counter.requests, counter.responses), (12, 12));
    assert_eq!(report.statistics.shared_requests, 12);
}

/// Unsupported instructions of one class give one entry with all their lines.
#[test]
fn lacking_instructions_are_grouped() {
    let (error, text) = failure(
        "MUFU.EX2.F16 R0, R1 ;\nMOV R0, c[0x3][0x8] ;\nMUFU.TANH.F16 R0, R1 ;\nIADD3 R0, R0, c[0x3][0x4], RZ ;\n\
         MUFU.EX2.F16 R2, R1 ;\nVHMNMX R0, R1, R2, R3 ;\nEXIT ;",
        "",
    );
    says(
        &text,
        &[
            "6 instruction(s)",
            "\n  line 3: `MUFU.EX2.F16 R0, R1` (this form of MUFU.EX2.F16 is not supported)\n    and 2 like it, in lines 5, 7\n  line 4: `MOV",
            "nvdisasm without -c prints the bank)\n    and 1 like it, in lines 6\n  line 8: `VHMNMX",
        ],
    );
    assert_eq!(text.lines().count(), 6, "{text}");
    assert!(matches!(error, KernelError::Unsupported { instructions, .. } if instructions.len() == 6));
}

/// Listing whose bank 4 holds addresses of driver functions, and a text.
fn calling(code: &str) -> String {
    format!(
        "{code}\n.section .nv.constant4,\"a\"\n.dword malloc\n.dword __assertfail\n.dword vprintf\n.dword text\n\
         .section .nv.global.init,\"aw\"\ntext:\n.byte 0x6e, 0x3e, 0x30, 0x25, 0x64, 0x00\n.type malloc,@function\n.type __assertfail,@function\n.type vprintf,@function"
    )
}

const CALL: &str = "MOV R20, 0x90 ;\nMOV R4, c[0x4][0x18] ;\nMOV R5, c[0x4][0x1c] ;\nMOV R6, R4 ;\nMOV R7, R5 ;\nMOV R8, 0x7 ;\n\
    LDC.64 R2, c[0x4][R0] ;\nCALL.ABS.NOINC R2 ;\nEXIT ;";

#[test]
fn an_assertion_that_fails_is_named() {
    let (_, text) = failure(&calling(&format!("MOV R10, R4 ;\nMOV R0, 0x8 ;\n{CALL}")), "");
    says(&text, &["assertion `n>0%d` failed: n>0%d, line 7", "lane 0", "line 12: `CALL.ABS.NOINC R2`"]);
}

#[test]
fn a_function_that_the_driver_is_asked_for_in_vain_is_named() {
    let (_, text) = failure(&calling(&format!("MOV R0, 0x0 ;\n{CALL}")), "");
    says(&text, &["call of `malloc`, which is neither in the listing", "vprintf", "`CALL.ABS.NOINC R2`"]);
}

/// A read with a variable offset, and a read of a word with an unknown value.
#[test]
fn unknown_words_are_all_named() {
    let code = calling("MOV R1, c[0x4][0x8] ;\nMOV R0, c[0x4][0x20] ;\nLDC R0, c[0x4][R1] ;\nEXIT ;");
    let unknown = ".dword text\n.dword elsewhere\n.dword outside\n";
    let (_, text) = failure(&code.replace(".dword text\n", unknown), "");
    says(&text, &["2 instruction(s)", "line 4: `MOV R0, c[0x4][0x20]` (c[0x4][0x20] is `elsewhere`, which"]);
    says(
        &text,
        &["line 5: `LDC R0, c[0x4][R1]` (c[0x4][0x20] is `elsewhere`, c[0x4][0x28] is `outside`, which"],
    );
}

/// A call that is never executed is not an error. `printf` returns the number of its values, and the report
/// contains its format.
#[test]
fn calls_of_the_driver() {
    let text = calling(
        "S2R R9, SR_TID.X ;\nISETP.GE.AND P0, PT, R9, 0x21, PT ;\nMOV R0, 0x10 ;\nMOV R20, 0x90 ;\nMOV R4, c[0x4][0x18] ;\n\
         MOV R5, c[0x4][0x1c] ;\nLDC.64 R2, c[0x4][R0] ;\nMOV R14, c[0x4][0x0] ;\n@!P0 CALL.ABS.NOINC R2 ;\n\
         MOV R4, c[0x4][0x18] ;\nMOV R20, 0xc0 ;\n@!P0 CALL.ABS.NOINC `(vprintf) ;\n@P0 MOV R4, 0x5 ;\nMOV R1, 0x4 ;\n\
         IMAD.WIDE.U32 R2, R9, R1, c[0x0][0x160] ;\nSTG.E [R2.64], R4 ;\nEXIT ;",
    );
    let launch = Launch::from_toml(
        "k.toml",
        "kernel = \"k\"\ngrid = 1\nblock = 40\n[[param]]\nname = \"out\"\ntype = \"u32\"\nzeros = 40\nexpect = { formula = \"i < 33 ? 1 : 5\" }",
        Path::new(""),
    );
    let mut port = FunctionalPort::new(Shape::default());
    let report = run(&program(&text).kernels[0], &launch.unwrap(), &mut port, &SmConfig::default());
    let report = report.unwrap_or_else(|e| panic!("{e}"));
    assert!(report.as_expected(), "{:?}", report.buffers);
    assert_eq!(report.statistics.printed, [("n>0%d".to_string(), 66)]);
}
