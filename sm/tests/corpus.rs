//! Runs compiled kernels, as machine code and as PTX, on the model, and checks the results of their launch
//! files. `tests/kernels/corpus` has the sources beside the compiled code.

use crate::functional;

use atoms_isa::Program;
use atoms_model::{Config, Unit};
use atoms_sm::{Launch, MemoryPort, RunReport, SmConfig, run, template};
use functional::{FunctionalPort, Shape};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/kernels/corpus")
}

fn files(extension: &str) -> Vec<String> {
    let names = std::fs::read_dir(folder()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.filter(|name| name.ends_with(extension)).collect();
    names.sort();
    names
}

fn program(file: &Path) -> Program {
    let text = std::fs::read_to_string(file).unwrap();
    let name = file.display().to_string();
    Program::read(&name, &text, None).unwrap_or_else(|e| panic!("{:?}", miette::Report::new(e)))
}

fn run_on<P: MemoryPort>(file: &str, port: &mut P) -> RunReport {
    let kernel = file.split('.').next().unwrap();
    let launch = Launch::from_file(&folder().join(format!("{kernel}.launch.toml"))).unwrap();
    let program = program(&folder().join(file));
    let report = run(launch.kernel(&program).unwrap(), &launch, port, &SmConfig::default())
        .unwrap_or_else(|e| panic!("{file}: {e}"));
    let outcomes: Vec<_> = report.buffers.iter().map(|b| (&b.name, &b.outcome)).collect();
    assert!(report.as_expected(), "{file}: {outcomes:?}");
    report
}

/// Runs `each` on every file, and reports the files that failed with their message.
fn all(files: &[String], each: impl Fn(&str) + std::panic::RefUnwindSafe) {
    assert!(!files.is_empty());
    let failed: Vec<_> = files
        .iter()
        .filter_map(|file| {
            let failure = std::panic::catch_unwind(|| each(file)).err()?;
            Some((file, failure.downcast_ref::<String>().cloned()))
        })
        .collect();
    assert!(failed.is_empty(), "{} of {} failed: {failed:#?}", failed.len(), files.len());
}

#[test]
fn machine_code() {
    all(&files(".sass"), |file| {
        run_on(file, &mut Unit::new(Config::default()));
    });
}

#[test]
fn ptx() {
    all(&files(".ptx"), |file| {
        let mut port = FunctionalPort::new(Shape::default());
        run_on(file, &mut port);
        assert!(port.clean(), "{file}: every part is taken away");
    });
}

/// Every source has listings for at least two architectures, and a launch file with an expectation.
#[test]
fn complete() {
    let listings = files(".sass");
    for source in files(".cu") {
        let kernel = source.strip_suffix(".cu").unwrap();
        let of_kernel = listings.iter().filter_map(|f| f.strip_prefix(kernel)?.strip_prefix('.'));
        assert!(of_kernel.collect::<BTreeSet<_>>().len() >= 2, "{kernel}");
        let launch = std::fs::read_to_string(folder().join(format!("{kernel}.launch.toml"))).unwrap();
        assert!(["expect = ", "[param.expect]"].iter().any(|key| launch.contains(key)), "{kernel}");
    }
}

/// The template of a launch file is a valid launch file, and has a parameter for each parameter of the real
/// launch file.
#[test]
fn a_launch_file_to_begin_with_fits_the_kernel() {
    for file in files(".sass").iter().chain(&files(".ptx")) {
        let program = program(&folder().join(file));
        let right =
            Launch::from_file(&folder().join(format!("{}.launch.toml", file.split('.').next().unwrap())));
        let right = right.unwrap();
        let kernel = right.kernel(&program).unwrap();
        let begun = Launch::from_toml("begun", &template(kernel), &folder())
            .unwrap_or_else(|e| panic!("{file}: {e}"));
        let places = |launch: &Launch| -> BTreeSet<(u32, u32)> {
            launch.param_offsets().into_iter().zip(launch.params.iter().map(|p| p.bytes())).collect()
        };
        let (right, begun) = (places(&right), places(&begun));
        if file.ends_with(".ptx") {
            assert_eq!(begun, right, "{file}");
        } else {
            // A listing shows only the bytes that its code reads. Two words loaded at once may be two
            // parameters.
            let bytes = |places: &BTreeSet<(u32, u32)>| -> BTreeSet<u32> {
                places.iter().flat_map(|(at, bytes)| *at..at + bytes).collect()
            };
            assert!(bytes(&begun).is_subset(&bytes(&right)), "{file}: {begun:?} of {right:?}");
        }
    }
}
