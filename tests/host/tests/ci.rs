//! Scripts in `.ci/` that other scripts use.

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

/// CI runs the commands of the README with a `PATH` that has no more than a reader's `PATH`.
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
fn a_failed_check_does_not_stop_the_others() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join(".ci")).expect("a folder");
    for name in ["steps", "hide"] {
        fs::copy(script(name), folder.path().join(".ci").join(name)).expect("it can be copied");
    }
    let checks = "source .ci/steps
        first() { false; echo wrong; }
        second() { echo right; }
        checks=(first second)
        run_checks \"$@\"";
    let run = |names: &[&str]| {
        let mut bash = Command::new("bash");
        bash.args(["-c", checks, "checks"]).args(names).current_dir(folder.path());
        let output = bash.output().expect("it starts");
        (output.status.code(), said(&output))
    };
    let (status, all) = run(&[]);
    assert!(status == Some(1) && all.contains("\nright\n") && all.ends_with("failed: first"), "{all}");
    assert!(!all.contains("wrong"), "{all}");
    let (status, second) = run(&["second"]);
    assert!(status == Some(0) && second.ends_with("right") && !second.contains("== first"), "{second}");
    let (status, unknown) = run(&["third"]);
    assert!(status == Some(2) && unknown.contains("expected one of first second"), "{unknown}");
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

/// Helper of the test above, which runs it in a separate process.
#[test]
fn passes_unless_told_otherwise() {
    assert!(std::env::var_os("ATOMS_TEST_FAILS").is_none(), "it was told to fail");
}

/// Fake test binary. Two of its tests are slow also when they run alone, and one is slow only among others.
/// If `LEAVES` is set, it leaves a process behind.
const HARNESS: &str = "#!/bin/bash
case \"$*\" in
  *'--exact computes') timeout 1 sh -c 'while :; do :; done'; true ;;
  *'--exact sleeps') sleep 1.1 ;;
  *--exact*) ;;
  *)
    if [ -n \"$LEAVES\" ]; then sleep 4321 >/dev/null 2>&1 & fi
    printf 'test %s ... ok <30.000s>\\n' computes sleeps waits
    echo 'test quick ... ok <0.100s>'
    echo 'test later ... ignored, nightly: long <0.000s>'
    echo 'test result: ok. 4 passed; finished in 30.00s' ;;
esac
";

/// Runs `.ci/tests` with [`HARNESS`] as only test binary and limits of 0.5 s processor time and 1 s.
fn tests_of_tier(root: &Path, leaves: &str) -> Output {
    fs::create_dir_all(root.join(".ci")).expect("a folder");
    fs::create_dir_all(root.join("deps")).expect("a folder");
    for name in ["tests", "timed", "readme"] {
        let text = fs::read_to_string(script(name)).expect("a script");
        let text = text.replace(
            "PROCESSOR_SECONDS, ELAPSED_SECONDS = 20, 40",
            "PROCESSOR_SECONDS, ELAPSED_SECONDS = 0.5, 1",
        );
        write_program(&root.join(".ci").join(name), &text);
    }
    write_program(&root.join("deps/harness"), HARNESS);
    let readme =
        "Run the tests:\n\n```sh\n$(env | sed -n 's/^CARGO_TARGET_.*_RUNNER=//p') $PWD/deps/harness\n```\n";
    fs::write(root.join("README.md"), readme).expect("it can be written");
    let mut command = Command::new(root.join(".ci/tests"));
    command.env_remove("CARGO_TARGET_DIR").env("LEAVES", leaves).output().expect("it starts")
}

fn write_program(path: &Path, text: &str) {
    fs::write(path, text).expect("it can be written");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("it is ours");
}

#[test]
fn a_quick_test_that_takes_too_long_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = tests_of_tier(folder.path(), "");
    let text = said(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    for name in ["computes", "sleeps"] {
        assert!(text.contains(&format!("\n{name} in ")), "{name}: {text}");
    }
    assert!(!text.contains("\nwaits in ") && !text.contains("\nquick in "), "{text}");
    assert!(text.contains("make it smaller, or mark it"), "{text}");
    let nightly = fs::read_to_string(folder.path().join("target/ci/nightly.txt")).expect("it is written");
    assert!(nightly.ends_with("-harness later: long\n"), "{nightly}");
}

#[test]
fn a_process_that_a_test_leaves_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = tests_of_tier(folder.path(), "1");
    let text = said(&output);
    for process in atoms_host::processes::running(|process| process.words.contains("sleep 4321")) {
        atoms_host::processes::signal(process.pid, atoms_host::processes::Signal::KILL);
    }
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("left by a test: sleep 4321"), "{text}");
}
