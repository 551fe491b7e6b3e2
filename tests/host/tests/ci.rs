//! The scripts of `.ci/` that others stand on.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn script(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("two folders deep");
    root.join(".ci").join(name)
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).trim_end().to_string()
}

/// Continuous integration runs what a reader of the README runs, with a `PATH` that helps no more than the
/// reader's does.
#[test]
fn a_hidden_program_is_not_on_the_path_and_all_others_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let programs = folder.path().join("programs");
    fs::create_dir(&programs).expect("a folder");
    for name in ["verilator", "verilator_bin", "ps", "other"] {
        fs::write(programs.join(name), "").expect("it can be written");
        fs::set_permissions(programs.join(name), fs::Permissions::from_mode(0o755)).expect("it is ours");
    }
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").expect("there is one"));
    let output = Command::new(script("hide")).arg(folder.path().join("links")).env("PATH", path).output();
    let output = output.expect("it starts");
    assert!(output.status.success(), "{}", said(&output));
    let path = said(&output);
    let is_there = |name: &str| std::env::split_paths(&path).any(|folder| folder.join(name).exists());
    for name in ["verilator", "verilator_bin", "ps", "hostname"] {
        assert!(!is_there(name), "{name} is on {path}");
    }
    for name in ["other", "g++", "python3", "sh"] {
        assert!(is_there(name), "{name} is not on {path}");
    }
    assert!(programs.join("verilator").exists(), "nothing is taken away");
}

#[test]
fn the_commands_of_the_readme_are_found() {
    for (which, expected) in [("run", "cargo atoms run tests/kernels/"), ("tests", "cargo test --workspace")]
    {
        let output = Command::new(script("readme")).arg(which).output().expect("it starts");
        assert!(output.status.success() && said(&output).starts_with(expected), "{}", said(&output));
    }
    let unknown = Command::new(script("readme")).arg("other").output().expect("it starts");
    assert_eq!(unknown.status.code(), Some(2), "{}", said(&unknown));
}

#[test]
fn the_runner_notes_how_long_tests_take_and_keeps_their_status() {
    let times = tempfile::tempdir().expect("a folder");
    let program = std::env::current_exe().expect("Linux tells a process its program");
    let run = |test: &str, variable: &str| {
        let mut command = Command::new(script("timed"));
        command.arg(&program).args(["--exact", test]).env(variable, "").env("ATOMS_TEST_TIMES", times.path());
        command.output().expect("it starts")
    };
    let passing = run("ci::passes_unless_told_otherwise", "NOTHING");
    assert!(passing.status.success(), "{}", said(&passing));
    let noted = fs::read_dir(times.path()).expect("a folder").next().expect("a file").expect("it is read");
    let noted = fs::read_to_string(noted.path()).expect("it is text");
    let line = noted.lines().find(|line| line.starts_with("test ci::passes_unless")).expect("it ran");
    assert!(line.contains(" ... ok <") && line.ends_with("s>"), "{line}");
    let failing = run("ci::passes_unless_told_otherwise", "ATOMS_TEST_FAILS");
    assert_eq!(failing.status.code(), Some(101), "{}", said(&failing));
}

/// For the test above, which runs it in a process of its own.
#[test]
fn passes_unless_told_otherwise() {
    assert!(std::env::var_os("ATOMS_TEST_FAILS").is_none(), "it was told to fail");
}
