//! PTX kernels, from the text to the right answer: the same as from machine code of the same kernel.

mod functional;

use atoms_isa::{Arch, Program};
use atoms_sm::{Launch, RunReport, SmConfig, run};
use functional::{FunctionalPort, Shape};
use std::path::PathBuf;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/kernels")
}

fn launch(kernel: &str) -> Launch {
    Launch::from_file(&folder().join(format!("{kernel}.launch.toml"))).unwrap()
}

/// A PTX file, for the architecture it is written for or another.
fn program(file: &str, arch: Option<&str>) -> Program {
    let path = folder().join(file);
    let text = std::fs::read_to_string(&path).unwrap();
    Program::from_ptx(&path.display().to_string(), &text, arch.and_then(Arch::from_name))
        .unwrap_or_else(|e| panic!("{:?}", miette::Report::new(e)))
}

fn run_on(program: &Program, launch: &Launch, shape: Shape) -> RunReport {
    let mut port = FunctionalPort::new(shape);
    let kernel = launch.kernel(program).unwrap();
    let what = format!("{} for {}", kernel.name, kernel.arch);
    let report =
        run(kernel, launch, &mut port, &SmConfig::default()).unwrap_or_else(|e| panic!("{what}: {e}"));
    let outcomes: Vec<_> = report.buffers.iter().map(|b| &b.outcome).collect();
    assert!(report.as_expected(), "{what}: {outcomes:?}");
    assert!(port.clean(), "{what}: every part is taken away");
    report
}

/// Kernel and architecture of every PTX file that has a launch file.
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

#[test]
fn every_file_runs() {
    let mut failed = Vec::new();
    for (kernel, arch) in files() {
        let result = std::panic::catch_unwind(|| {
            run_on(&program(&format!("{kernel}.{arch}.ptx"), None), &launch(&kernel), Shape::default());
        });
        if let Err(e) = result {
            failed.push((kernel, arch, e.downcast_ref::<String>().cloned()));
        }
    }
    assert!(failed.is_empty(), "{} failed: {:#?}", failed.len(), failed);
}

/// Architectures that PTX of any earlier one is run on, oldest first.
const TARGETS: [&str; 9] =
    ["sm_70", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_120"];

/// The first architecture that has what the PTX of a kernel, compiled for `arch`, asks for.
fn first_target(kernel: &str, arch: &str) -> &'static str {
    match (kernel, arch) {
        ("awbarrier", "sm_75") => "sm_70",
        ("awbarrier" | "cpasync_mbar" | "pipeline" | "warp_ops", _) => "sm_80",
        ("cluster_mbar" | "tma_bulk" | "pair128" | "remote_hist", _) => "sm_90",
        _ => "sm_70",
    }
}

#[test]
fn every_file_runs_on_other_architectures() {
    let mut failed = Vec::new();
    for (kernel, arch) in files() {
        let file = format!("{kernel}.{arch}.ptx");
        let text = std::fs::read_to_string(folder().join(&file)).unwrap();
        let first = TARGETS.iter().position(|t| *t == first_target(&kernel, &arch)).unwrap();
        for (at, target) in TARGETS.iter().enumerate() {
            let program = Program::from_ptx(&file, &text, Arch::from_name(target));
            if at < first {
                let refused = program.is_err_and(|e| {
                    e.problems.iter().all(|p| p.help.contains("sm_") || p.message.contains("sm_"))
                });
                if !refused {
                    failed.push((file.clone(), *target, "not refused".to_string()));
                }
                continue;
            }
            let program = match program {
                Ok(p) => p,
                Err(e) => {
                    failed.push((file.clone(), *target, e.to_string()));
                    continue;
                }
            };
            let launch = launch(&kernel);
            if let Err(e) = std::panic::catch_unwind(|| run_on(&program, &launch, Shape::default())) {
                failed.push((file.clone(), *target, e.downcast_ref::<String>().cloned().unwrap_or_default()));
            }
        }
    }
    assert!(failed.is_empty(), "{} failed: {:#?}", failed.len(), failed);
}
