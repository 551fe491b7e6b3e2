//! `atoms bench --compare` with an earlier report and with another build of the program.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

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
    // Report of a much slower run.
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
        ("no JSON", "expected a report of `atoms bench --json`, or a build of `atoms`"),
        ("{}", "expected a report of `atoms bench --json`"),
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

fn program(file: &Path, text: &str) {
    fs::write(file, text).expect("it is written");
    fs::set_permissions(file, PermissionsExt::from_mode(0o755)).expect("they are set");
}
