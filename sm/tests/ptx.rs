//! PTX kernels from the text to the result, on every architecture with the needed features. `kernels.rs`
//! tests that PTX and machine code of a kernel give the same result.

use crate::functional;

use atoms_isa::{Arch, Control, Kernel, Operation, Program};
use atoms_sm::{Launch, RunReport, SmConfig, run};
use functional::{FunctionalPort, Shape};
use std::path::PathBuf;

/// Architectures for which PTX of any earlier one runs, oldest first.
const TARGETS: [&str; 9] =
    ["sm_70", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_120"];

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/kernels")
}

fn launch(kernel: &str) -> Launch {
    Launch::from_file(&folder().join(format!("{kernel}.launch.toml"))).unwrap()
}

fn text(file: &str) -> String {
    std::fs::read_to_string(folder().join(file)).unwrap()
}

fn run_on(program: &Program, launch: &Launch, shape: Shape) -> Result<RunReport, String> {
    let mut port = FunctionalPort::new(shape);
    let kernel = launch.kernel(program).map_err(|e| e.to_string())?;
    let report = run(kernel, launch, &mut port, &SmConfig::default()).map_err(|e| e.to_string())?;
    let outcomes: Vec<_> = report.buffers.iter().map(|b| &b.outcome).collect();
    if !report.as_expected() {
        return Err(format!("{outcomes:?}"));
    }
    assert!(port.clean(), "every part is taken away");
    Ok(report)
}

fn files() -> Vec<(String, String)> {
    let names: Vec<String> =
        std::fs::read_dir(folder()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    let split = |name: &String| {
        let (kernel, arch) = name.strip_suffix(".ptx")?.split_once('.')?;
        let launched = names.contains(&format!("{kernel}.launch.toml"));
        launched.then(|| (kernel.to_string(), arch.to_string()))
    };
    let mut files: Vec<_> = names.iter().filter_map(split).collect();
    files.sort();
    files
}

/// First architecture with all features of a kernel's PTX that was compiled for `arch`.
fn first_target(kernel: &str, arch: &str) -> &'static str {
    match (kernel, arch) {
        ("awbarrier", "sm_75") => "sm_70",
        ("awbarrier" | "cpasync_mbar" | "pipeline" | "warp_ops", _) => "sm_80",
        ("cluster_mbar" | "tma_bulk" | "pair128" | "cluster_counts", _) => "sm_90",
        _ => "sm_70",
    }
}

#[test]
fn every_file_runs_on_every_architecture_that_has_what_it_asks_for() {
    let mut wrong = Vec::new();
    let files = files();
    assert!(files.len() >= 55 + 12, "the compiler's files, and those written by hand");
    for (kernel, arch) in files {
        let file = format!("{kernel}.{arch}.ptx");
        let (text, launch) = (text(&file), launch(&kernel));
        let first = TARGETS.iter().position(|t| *t == first_target(&kernel, &arch)).unwrap();
        for (at, target) in TARGETS.iter().map(Some).chain([None]).enumerate() {
            let program = Program::from_ptx(&file, &text, target.and_then(|t| Arch::from_name(t)));
            let outcome = match program {
                Err(refused) if at < first => {
                    let reasons = refused.problems.iter().map(|p| format!("{} {}", p.message, p.help));
                    let unexplained = reasons.filter(|reason| !reason.contains("sm_")).collect::<Vec<_>>();
                    if unexplained.is_empty() { Ok(()) } else { Err(unexplained.join("; ")) }
                }
                Err(refused) => Err(refused.to_string()),
                Ok(_) if at < first => Err("not refused".into()),
                Ok(program) => run_on(&program, &launch, Shape::default()).map(|_| ()),
            };
            wrong.extend(outcome.err().map(|why| format!("{file} for {target:?}: {why}")));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn any_shape_and_any_stall() {
    for file in
        ["lane_lock.sm_70", "ticket_lanes.sm_70", "ring_lanes.sm_70", "hash_table.sm_70", "wide64.sm_70"]
    {
        let (kernel, _) = file.split_once('.').unwrap();
        let program = Program::from_ptx(file, &text(&format!("{file}.ptx")), None).unwrap();
        for (lanes, banks, slots, seed) in [(8, 8, 1, 2), (16, 64, 2, 3), (4, 4, 3, 4), (32, 16, 16, 5)] {
            let shape = Shape { lanes, banks, rows: 16384 / banks, slots, seed };
            run_on(&program, &launch(kernel), shape).unwrap_or_else(|e| panic!("{file}, {lanes} lanes: {e}"));
        }
    }
}

fn kernel(body: &str) -> Kernel {
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 a)\n{{\n.reg .pred %p<8>;\n\
         .reg .b32 %r<20>;\n.reg .b64 %rd<8>;\n.shared .align 8 .b8 s[64];\n{body}\nret;\n}}\n"
    );
    let program = Program::from_ptx("k.ptx", &text, None).unwrap_or_else(|e| panic!("{e}"));
    program.kernels.into_iter().next().unwrap()
}

/// Number of instructions that set a convergence barrier, and number of reconvergence points.
fn meetings(kernel: &Kernel) -> (usize, usize) {
    let count = |of: fn(&Control) -> bool| {
        let each = kernel.instructions.iter();
        each.filter(|i| matches!(&i.operation, Operation::Control(c) if of(c))).count()
    };
    (count(|c| matches!(c, Control::SetBarrier { .. })), count(|c| matches!(c, Control::Reconverge { .. })))
}

#[test]
fn threads_meet_where_ways_join() {
    let tid = "mov.u32 %r1, %tid.x;\nsetp.lt.u32 %p1, %r1, 7;\n";
    #[rustfmt::skip]
    let rows: &[(&str, String, usize)] = &[
        ("a branch that parts threads",
         format!("{tid}@%p1 bra A; mov.u32 %r2, 1;\nA: mov.u32 %r3, 2;"), 1),
        ("a branch that is the same in all threads",
         "mov.u32 %r1, %ctaid.x;\nsetp.lt.u32 %p1, %r1, 7;\n@%p1 bra A; mov.u32 %r2, 1;\nA: mov.u32 %r3, 2;".into(), 0),
        ("two conditions of one if meet once",
         format!("{tid}setp.gt.u32 %p2, %r1, 3;\n@%p1 bra A; @%p2 bra A; mov.u32 %r2, 1;\nA: mov.u32 %r3, 2;"), 1),
        ("a loop that threads leave one by one",
         "mov.u32 %r1, %tid.x;\nL: sub.u32 %r1, %r1, 1;\nsetp.gt.s32 %p1, %r1, 0;\n@%p1 bra L;\nmov.u32 %r3, 2;".into(), 1),
        ("a loop that all leave together",
         "mov.u32 %r1, 9;\nL: sub.u32 %r1, %r1, 1;\nsetp.gt.s32 %p1, %r1, 0;\n@%p1 bra L;\nmov.u32 %r3, 2;".into(), 0),
        ("an if within a loop, and the loop",
         format!("{tid}L: sub.u32 %r1, %r1, 1;\nsetp.eq.s32 %p2, %r1, 4;\n@%p2 bra A; mov.u32 %r2, 1;\n\
                  A: setp.gt.s32 %p1, %r1, 0;\n@%p1 bra L;\nmov.u32 %r3, 2;"), 2),
        ("no reconvergence point after a lock loop",
         "L: atom.shared.cas.b32 %r1, [s], 0, 1;\nsetp.ne.s32 %p1, %r1, 0;\n@%p1 bra L;\nmov.u32 %r3, 2;".into(), 0),
        ("a loop that tries the next place each time is no lock",
         "mov.u32 %r1, %tid.x;\nL: atom.shared.cas.b32 %r2, [%r1], 0, 1;\nadd.u32 %r1, %r1, 4;\nsetp.ne.s32 %p1, %r2, 0;\n\
          @%p1 bra L;\nmov.u32 %r3, 2;".into(), 1),
    ];
    for (rule, body, expected) in rows {
        let found = meetings(&kernel(body));
        assert_eq!(found, (*expected, *expected), "{rule}");
    }
}

#[test]
fn what_is_wrong_is_told() {
    #[rustfmt::skip]
    let rows: &[(&str, &str, &str)] = &[
        ("mul.lo.s32 %r1, %r2;",                 "too few operands: 2",             "mul.lo.s32 has at least 3 operands"),
        ("ld.shared.v2.u32 {%r1}, [s];",         "1 registers for a vector of 2",   "name as many"),
        ("ld.global.u32 %r1, [s];",              "the variable is in another state space", "the variable is in .shared"),
        ("cp.async.ca.shared.global [s], [%rd1], 5;", "a copy of 5 bytes is illegal", "4, 8 or 16"),
        ("add.s32 %r1, %p1, [%r1];",             "the operand is not a value",      "write a register"),
        ("setp.eq.s32 %p1, %r1, %r2; @%p1 bra A; A: st.param.u32 [a], %r1;", "a kernel parameter cannot be stored to", "ld.param"),
        ("barrier.cluster.arrive;",              "barrier.cluster requires sm_90",  "--arch sm_90"),
        ("add.u16x2 %r1, %r2, %r3;",             "add.u16x2 requires sm_90",        "--arch sm_90"),
        ("min.relu.s32 %r1, %r2, %r3;",          "min.relu.s32 requires sm_90",     "--arch sm_90"),
        ("add.sat.s16x2 %r1, %r2, %r3;",         "add.sat.s16x2 requires sm_120",   "--arch sm_120"),
        ("max.relu.s8x4 %r1, %r2, %r3;",         "max.relu.s8x4 requires sm_120",   "--arch sm_120"),
        ("sub.u8x4 %r1, %r2, %r3;",              "sub.u8x4 requires sm_120",        "--arch sm_120"),
    ];
    for (body, message, help) in rows {
        let text = format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 a)\n{{\n.reg .pred %p<8>;\n\
             .reg .b32 %r<20>;\n.reg .b64 %rd<8>;\n.shared .align 8 .b8 s[64];\n{body}\nret;\n}}\n"
        );
        let error = Program::from_ptx("k.ptx", &text, None).expect_err(body);
        let problem = &error.problems[0];
        assert!(problem.message.contains(message), "{body}: {}", problem.message);
        assert!(problem.help.contains(help), "{body}: {}", problem.help);
        assert_eq!(problem.line, 10, "{body}");
    }
}

/// Recursive function, and call of a missing function.
#[test]
fn calls_that_cannot_be_put_in_place() {
    let head = ".version 8.0\n.target sm_80\n.address_size 64\n";
    let recursive = format!(
        "{head}.func f()\n{{\ncall.uni f;\nret;\n}}\n.visible .entry k()\n{{\ncall.uni f;\nret;\n}}\n"
    );
    let absent = format!("{head}.extern .func f();\n.visible .entry k()\n{{\ncall.uni f;\nret;\n}}\n");
    for (text, message) in [(recursive, "calls itself"), (absent, "is not defined in this module")] {
        let error = Program::from_ptx("k.ptx", &text, None).unwrap_err();
        assert!(error.problems[0].message.contains(message), "{error}");
    }
}

/// The launch must match the declarations of the kernel.
#[test]
fn a_launch_that_does_not_fit_is_refused() {
    let head = ".version 8.0\n.target sm_90\n.address_size 64\n";
    let text = format!(
        "{head}.visible .entry k(.param .u64 a, .param .u32 n)\n.reqntid 64\n.reqnctapercluster 2\n{{\nret;\n}}\n"
    );
    let program = Program::from_ptx("k.ptx", &text, None).unwrap();
    let params = "[[param]]\nname = \"a\"\ntype = \"u32\"\nzeros = 4\n[[param]]\nname = \"n\"\ntype = \"u32\"\nvalue = 1\n";
    let outcome = |head: &str, params: &str| {
        let toml = format!("kernel = \"k\"\n{head}\n{params}");
        let launch = Launch::from_toml("k", &toml, &folder()).unwrap();
        run_on(&program, &launch, Shape::default()).map(|report| report.statistics.ctas)
    };
    assert_eq!(outcome("grid = 4\nblock = 64", params), Ok(4));
    let (first, _) = params.split_at(params.rfind("[[param]]").unwrap());
    for (head, params, message) in [
        ("grid = 4\nblock = 32", params, "the kernel declares .reqntid"),
        ("grid = 4\nblock = 64\ncluster = 4", params, "the kernel declares .reqnctapercluster"),
        ("grid = 3\nblock = 64", params, "do not fill a grid"),
        ("grid = 4\nblock = 64", first, "declares `a` in bytes 0 to 7, `n` in bytes 8 to 11"),
        (
            "grid = 4\nblock = 64",
            &params.replace("type = \"u32\"\nvalue", "type = \"u64\"\nvalue"),
            "but the launch has",
        ),
    ] {
        let error = outcome(head, params).unwrap_err();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn noftz_keeps_subnormals_in_global_memory() {
    let text = ".version 9.4\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 o)\n{\n\
        .reg .b64 %d<3>; .reg .f32 %f<9>; .reg .b32 %s; .shared .align 4 .f32 sh;\n\
        ld.param.u64 %d1, [o]; mov.b32 %f1, 5; mov.u32 %s, sh; st.shared.f32 [%s], %f1;\n\
        atom.global.add.noftz.f32 %f2, [%d1], %f1;\nred.global.add.noftz.f32 [%d1+4], %f1;\n\
        atom.add.noftz.f32 %f3, [%d1+8], %f1;\nred.add.noftz.f32 [%d1+12], %f1;\n\
        atom.global.add.f32 %f4, [%d1+16], %f1;\nred.global.add.f32 [%d1+20], %f1;\natom.add.f32 %f5, [%d1+24], %f1;\n\
        red.shared::cluster.add.noftz.f32 [%s], %f1;\nred.shared.add.f32 [%s], %f1;\n\
        ld.shared.f32 %f6, [%s];\nst.global.f32 [%d1+28], %f6;\nret;\n}\n";
    let launch = "kernel = \"k\"\ngrid = 1\nblock = 1\n[[param]]\nname = \"o\"\ntype = \"u32\"\n\
        values = [7, 7, 7, 7, 7, 7, 7, 0]\nexpect = { values = [12, 12, 12, 12, 0, 0, 0, 15] }\n";
    let launch = Launch::from_toml("noftz", launch, std::path::Path::new("")).unwrap();
    for target in ["sm_90", "sm_100", "sm_120"] {
        let program = Program::from_ptx("noftz.ptx", &text.replace("sm_90", target), None).unwrap();
        run_on(&program, &launch, Shape::default()).unwrap();
    }
}
