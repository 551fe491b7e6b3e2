//! `atoms bench`: what it measures is compared with an earlier run, another build of the program,
//! another checkout.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;

use super::{atoms, folder, words};

const QUICK: [&str; 6] = ["--config", "tiny", "--rounds", "1", "--seconds", "0.001"];

fn report(arguments: &[&str]) -> Value {
    let output = atoms("bench", &[&QUICK[..], &["--json"], arguments].concat()).output().expect("it runs");
    assert!(output.status.success(), "{}", words(&output));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn names(value: &Value) -> Vec<&str> {
    let rows = value.as_array().map_or(&[][..], Vec::as_slice);
    rows.iter().filter_map(|row| row["what"].as_str()).collect()
}

#[test]
fn bench_compares_with_a_report_and_with_a_program() {
    let first = report(&[]);
    let file = folder().join("bench-before.json");
    fs::write(&file, first.to_string()).expect("it is written");
    let program = env!("CARGO_BIN_EXE_atoms");
    for other in [&file.display().to_string(), program] {
        let second = report(&["--compare", other]);
        assert!(names(&second["figures"]).len() > 5, "{second}");
        assert_eq!(names(&second["figures"]), names(&first["figures"]));
        assert_eq!(names(&second["times_as_fast"]), names(&second["figures"]), "{other}");
        let times = |value: &Value| value["median"].as_f64().is_some_and(|times| times > 0.0);
        assert!(second["times_as_fast"].as_array().is_some_and(|rows| rows.iter().all(times)), "{second}");
    }
    // A run that was twice as slow.
    let mut slow = first.clone();
    for figure in slow["figures"].as_array_mut().expect("figures") {
        figure["rounds"] = serde_json::json!([1.0]);
    }
    fs::write(&file, slow.to_string()).expect("it is written");
    let second = report(&["--compare", &file.display().to_string()]);
    let (now, times) = (&second["figures"][0], &second["times_as_fast"][0]);
    assert_eq!(now["rounds"][0], times["median"], "{now} {times}");
}

#[test]
fn bench_refuses_what_it_cannot_compare_with() {
    let file = folder().join("bench-other.json");
    for (text, why) in [
        ("no JSON", "expected what `atoms bench --json` prints, or a program that prints it"),
        ("{}", "expected what `atoms bench --json` prints"),
        (r#"{"figures": [{"what": "tea", "unit": "cups/s", "rounds": [1]}]}"#, "measured something else"),
        ("#!/bin/sh\necho it is ill >&2; exit 3", "it is ill"),
    ] {
        program(&file, text);
        let output = atoms("bench", &[&QUICK[..], &["--compare", &file.display().to_string()]].concat());
        let output = { output }.output().expect("it runs");
        assert_eq!(output.status.code(), Some(2), "{text}: {}", words(&output));
        let said = words(&output).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(why), "{text}: {said}");
    }
}

/// A checkout with a README of these commands.
fn checkout(name: &str, readme: &str) -> PathBuf {
    let root = folder().join(name);
    fs::create_dir_all(root.join(".ci")).expect("a folder");
    std::os::unix::fs::symlink(Path::new(env!("CARGO_MANIFEST_DIR")).join("../rtl"), root.join("rtl"))
        .expect("a link");
    program(&root.join(".ci/readme"), &format!("#!/bin/sh\n{readme}\n"));
    root
}

fn program(file: &Path, text: &str) {
    fs::write(file, text).expect("it is written");
    fs::set_permissions(file, PermissionsExt::from_mode(0o755)).expect("they are set");
}

/// Tests run beside each other: each checkout has a target folder.
fn target_of(root: &Path) -> PathBuf {
    root.join("target")
}

/// `atoms bench --fresh` in a checkout, where `cargo` notes what it is asked.
fn bench_fresh(root: &Path, commands: &str, arguments: &[&str]) -> Output {
    let programs = root.join("programs");
    fs::create_dir_all(&programs).expect("a folder");
    program(&programs.join("cargo"), "#!/bin/sh\necho cargo $* >>notes\n");
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").expect("a path"));
    let arguments = [&["--fresh", commands, "--json"], arguments].concat();
    let mut command = atoms("bench", &arguments);
    command.current_dir(root).env("PATH", path).env("CARGO_TARGET_DIR", target_of(root));
    command.output().expect("it runs")
}

/// A README whose commands note whether their target folder is there, and leave one.
const NOTES: &str = "echo 'if [ -d \"$CARGO_TARGET_DIR\" ]; then echo '$1', built; else echo '$1', nothing built; fi >>notes; \
                     mkdir -p \"$CARGO_TARGET_DIR\"'";

fn notes(root: &Path) -> Vec<String> {
    let notes = fs::read_to_string(root.join("notes")).expect("notes");
    notes.lines().map(str::to_owned).collect()
}

#[test]
fn bench_times_the_commands_of_two_checkouts() {
    let [one, other] = ["checkout", "other checkout"].map(|name| checkout(name, NOTES));
    let compare = ["--rounds", "2", "--compare", &other.display().to_string()];
    let output = bench_fresh(&one, "run,rtl,tests,again", &compare);
    assert!(output.status.success(), "{}", words(&output));
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(names(&report["figures"]).len(), 4, "{report}");
    assert_eq!(names(&report["times_as_fast"]), names(&report["figures"]));
    for root in [one, other] {
        let round = [
            "run, nothing built",
            "cargo atoms rtl clean --all",
            "cargo atoms rtl build",
            "tests, nothing built",
            "tests, built",
        ];
        assert_eq!(notes(&root), round.repeat(2), "{}", root.display());
    }
}

#[test]
fn bench_runs_tests_before_it_times_them_again() {
    let root = checkout("checkout again", NOTES);
    let output = bench_fresh(&root, "run,again", &["--rounds", "1"]);
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(names(&report["figures"]), ["kernel run, nothing built", "tests, everything built"]);
    assert_eq!(notes(&root), ["run, nothing built", "tests, built", "tests, built"]);
}

#[test]
fn bench_says_which_command_of_a_checkout_failed() {
    let root = checkout("failing checkout", "echo 'echo it is ill >&2; false'");
    let output = bench_fresh(&root, "run", &[]);
    assert_eq!(output.status.code(), Some(2), "{}", words(&output));
    let said = words(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("ended with exit status: 1"), "{said}");
    assert_eq!(fs::read_to_string(target_of(&root).join("bench/fresh.log")).expect("a log"), "it is ill\n");
    fs::remove_file(root.join(".ci/readme")).expect("it is removed");
    let output = bench_fresh(&root, "run", &[]);
    assert!(words(&output).contains("the commands of a checkout"), "{}", words(&output));
}
