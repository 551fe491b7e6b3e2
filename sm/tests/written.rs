//! Handwritten kernels in the style of compilers: locks, queues, tables and stacks. The comments of their
//! launch files describe them.

use crate::functional;

use atoms_isa::Program;
use atoms_model::{Config, Unit};
use atoms_sm::{Launch, MemoryPort, Outcome, RunReport, SmConfig, run};
use functional::{FunctionalPort, Shape};
use std::path::PathBuf;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/kernels")
}

fn report<P: MemoryPort>(kernel: &str, arch: &str, port: &mut P) -> RunReport {
    let path = folder().join(format!("{kernel}.{arch}.sass"));
    let text = std::fs::read_to_string(&path).unwrap();
    let program = Program::parse(kernel, &text).unwrap_or_else(|e| panic!("{:?}", miette::Report::new(e)));
    let launch = Launch::from_file(&folder().join(format!("{kernel}.launch.toml"))).unwrap();
    run(launch.kernel(&program).unwrap(), &launch, port, &SmConfig::default())
        .unwrap_or_else(|e| panic!("{kernel} {arch}: {e}"))
}

/// Runs a kernel on the functional port and on the model, and checks the result.
fn right(kernel: &str, arches: &[&str], out: &str) -> Vec<RunReport> {
    let mut reports = Vec::new();
    for arch in arches {
        let mut functional = FunctionalPort::new(Shape::default());
        reports.push(report(kernel, arch, &mut functional));
        assert!(functional.clean(), "{kernel} {arch}");
        reports.push(report(kernel, arch, &mut Unit::new(Config::default())));
    }
    for report in &reports {
        let outcome = &report.buffer(out).unwrap().outcome;
        assert!(matches!(outcome, Outcome::Met { .. }), "{kernel}: {outcome:?}");
    }
    reports
}

const ALL: &[&str] = &["sm_80", "sm_90a", "sm_100a", "sm_120a"];

#[test]
fn ticket_lock() {
    right("ticket_lock", ALL, "out");
}

#[test]
fn hash_count() {
    right("hash_count", ALL, "out");
}

#[test]
fn ring() {
    right("ring", ALL, "out");
}

#[test]
fn stack128() {
    right("stack128", &ALL[1..], "out");
}

#[test]
fn cluster_hist() {
    for report in right("cluster_hist", &ALL[1..], "out") {
        let (input, sum) = (report.buffer("in").unwrap(), report.buffer("sum").unwrap());
        let expected: u64 = (0..192).map(|i| input.element.read(&input.bytes, i)).sum();
        assert_eq!(sum.element.read(&sum.bytes, 0), expected);
    }
}
