//! Ctrl-C, and the results that commands keep or report then.

use std::fs;
use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

use atoms_host::processes::{Signal, signal};

use super::{atoms, folder, words};

const LONG: Duration = Duration::from_secs(120);

fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < LONG, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn listens(child: &Child) -> bool {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask >> 1 & 1 == 1)
}

/// Starts a command that would run for hours, and interrupts it once `begun` returns true.
fn interrupted(command: &str, arguments: &[&str], begun: impl Fn() -> bool) -> Output {
    let mut atoms = atoms(command, arguments);
    // The planted bugs would end the command early.
    atoms.env_remove("ATOMS_RTL");
    let mut child = atoms.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("atoms starts");
    until("it does not begin", || {
        listens(&child) && begun() || child.try_wait().is_ok_and(|end| end.is_some())
    });
    assert!(signal(child.id(), Signal::INT), "it runs");
    until("it does not end", || child.try_wait().is_ok_and(|end| end.is_some()));
    child.wait_with_output().expect("it has ended")
}

/// Kernel that changes memory in every iteration, so the livelock check does not end it.
const ENDLESS: &str = ".version 8.0
.target sm_90
.address_size 64
.visible .entry endless()
{
    .reg .b32 %r<2>;
    .shared .align 4 .u32 count;
$again:
    atom.shared.add.u32 %r1, [count], 1;
    bra $again;
}
";

fn grows(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|metadata| metadata.len() > 100_000)
}

#[test]
fn an_interrupted_command_ends_with_130_and_what_there_is() {
    folder();
    let record = folder().join("interrupted.jsonl");
    let launch = "kernel = \"endless\"\ngrid = 1\nblock = 32\nshared = 4\ncycle_budget = 1000000000000\n";
    fs::write(folder().join("endless.toml"), launch).expect("written");
    fs::write(folder().join("endless.ptx"), ENDLESS).expect("written");
    let runs: &[(&str, &[&str], &str)] = &[
        ("cosim", &["--on", "model", "--requests", "1000000000"], "oracle accepts all "),
        (
            "cosim",
            &["--config", "tiny", "--ops", "LDS", "--requests", "1000000000"],
            "rtl and model agree in every",
        ),
        ("cosim", &["--on", "model", "--requests", "1000000000", "--json"], "\"interrupted\":true"),
        ("run", &["endless.ptx", "--launch", "endless.toml", "--on", "model"], "no mismatch so far"),
        (
            "run",
            &["endless.ptx", "--launch", "endless.toml", "--on", "model", "--json"],
            "\"interrupted\":true",
        ),
    ];
    for (command, arguments, told) in runs {
        let _ = fs::remove_file(&record);
        let arguments = [arguments, &["--record", "interrupted.jsonl"][..]].concat();
        let output = interrupted(command, &arguments, || grows(&record));
        assert_eq!(output.status.code(), Some(130), "{command} {arguments:?}: {}", words(&output));
        assert!(words(&output).contains(told), "{command} {arguments:?}: {}", words(&output));
        assert!(words(&output).contains("interrupted"), "{command} {arguments:?}: {}", words(&output));
        let checked = atoms("check", &["interrupted.jsonl"]).output().expect("atoms starts");
        assert_eq!(checked.status.code(), Some(0), "{command}: the recording is whole: {}", words(&checked));
    }
}

#[test]
fn commands_that_keep_nothing_end_with_130() {
    let seconds: &[&str] = &["--config", "tiny", "--seconds", "3600"];
    let kernel = [seconds, &["--kernel", "racy.ptx", "--launch", "racy.toml"]].concat();
    for (command, arguments) in [("bench", seconds), ("bench", &kernel), ("check", &["-"])] {
        let mut atoms = atoms(command, arguments);
        // `atoms check -` waits for stdin, which never receives data.
        let mut child = atoms.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("atoms starts");
        until("it does not begin", || listens(&child));
        std::thread::sleep(Duration::from_millis(300));
        assert!(signal(child.id(), Signal::INT), "it runs");
        until("it does not end", || child.try_wait().is_ok_and(|end| end.is_some()));
        let output = child.wait_with_output().expect("it has ended");
        assert_eq!(output.status.code(), Some(130), "{command} {arguments:?}: {}", words(&output));
    }
}

#[test]
fn an_interrupted_regression_says_how_to_go_on() {
    let plan =
        "seed = 1\n[[random]]\nname = \"long\"\nconfigs = [\"tiny\"]\nseries = 100000\nrequests = 300\n";
    fs::write(folder().join("long.toml"), plan).expect("written");
    let _ = fs::remove_dir_all(folder().join("long"));
    let desks = folder().join("long/running");
    let begun = || {
        let mut desks = fs::read_dir(&desks).into_iter().flatten().flatten();
        desks.any(|desk| fs::read_to_string(desk.path()).is_ok_and(|text| text.contains(" test ")))
    };
    let output = interrupted("regress", &["long.toml", "--jobs", "1", "--output", "long"], begun);
    assert_eq!(output.status.code(), Some(130), "{}", words(&output));
    assert!(words(&output).contains("atoms regress resume long"), "{}", words(&output));
}
