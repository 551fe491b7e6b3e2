//! Stdout and stderr that cannot be written.

use std::fs::{self, File};
use std::process::{Command, Output, Stdio};

use atoms_tests::test_each;

use super::{SAMPLES, atoms, commands, folder, sample, words};

/// Returns a device that refuses every write because no space is left.
fn full() -> Stdio {
    File::options().write(true).open("/dev/full").expect("Linux has it").into()
}

/// Commands whose samples take more than 0.2 s.
const SLOW: &[&str] = &[
    "mutate",
    "wave cause",
    "rtl lint",
    "regress resume",
    "regress merge",
    "silicon report",
    "explore sweep",
];

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Samples {
    /// All samples except [`SLOW`], and the help of every command.
    Quick,
    Slow,
}

/// Returns the sample of each command, as text and with `--json` if the command has it.
pub(super) fn runs(samples: Samples) -> Vec<(String, Vec<&'static str>)> {
    let mut runs = Vec::new();
    if samples == Samples::Quick {
        runs.extend([(String::new(), vec!["--help"]), (String::new(), vec!["--version"])]);
        runs.extend(commands().into_iter().map(|(name, _)| (name, vec!["--help"])));
    }
    for (name, definition) in commands() {
        let is_slow = SLOW.contains(&name.as_str());
        if is_slow != (samples == Samples::Slow) || !SAMPLES.iter().any(|(sample, _)| *sample == name) {
            continue;
        }
        let text = sample(&name).to_vec();
        if definition.get_arguments().any(|arg| arg.get_long() == Some("json")) && !text.contains(&"--list") {
            runs.push((name.clone(), [&text[..], &["--json"]].concat()));
        }
        runs.push((name, text));
    }
    runs
}

fn finish(mut command: Command) -> Output {
    command.output().expect("atoms starts")
}

fn a_full_disk_ends_every_command_with_a_message(_: &str, samples: Samples) {
    for (name, arguments) in runs(samples) {
        let mut command = atoms(&name, &arguments);
        command.stdout(full());
        let output = finish(command);
        let text = words(&output);
        assert_eq!(output.status.code(), Some(2), "{name} {arguments:?}: {text}");
        let told = "atoms: cannot write to stdout\n  because: No space left on device";
        assert!(text.contains(told) && !text.contains("panicked"), "{name} {arguments:?}: {text}");
    }
}

test_each! {
    mod full_disk: a_full_disk_ends_every_command_with_a_message;
    quick(Samples::Quick)
    #[ignore = "nightly: samples that take long"]
    slow(Samples::Slow)
}

/// A closed pipe, as after `| head`, ends every command without a message. Only the exit status reports it.
fn a_reader_that_has_ended_ends_every_command_quietly(_: &str, samples: Samples) {
    for (name, arguments) in runs(samples) {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let mut command = atoms(&name, &arguments);
        let usual = untimed(&finish(atoms(&name, &arguments)));
        command.stdout(writer);
        let output = finish(command);
        assert_eq!(output.status.code(), Some(2), "{name} {arguments:?}: {}", words(&output));
        assert_eq!(untimed(&output), usual, "{name} {arguments:?}");
    }
}

test_each! {
    mod reader_that_has_ended: a_reader_that_has_ended_ends_every_command_quietly;
    quick(Samples::Quick)
    #[ignore = "nightly: samples that take long"]
    slow(Samples::Slow)
}

/// Returns stderr without the times at the ends of lines, such as `in 0.1 s`.
fn untimed(output: &Output) -> Vec<String> {
    let of_line = |line: &str| match line.rsplit_once(" in ") {
        Some((before, time)) if time.ends_with(" s") => before.to_string(),
        _ => line.to_string(),
    };
    String::from_utf8_lossy(&output.stderr).lines().map(of_line).collect()
}

fn stderr_that_cannot_be_written_changes_nothing(_: &str, samples: Samples) {
    let errors = [("", vec!["frobnicate"]), ("check", vec!["nowhere.jsonl"]), ("run", vec!["plan.toml"])];
    let errors = errors.map(|(name, arguments)| (name.to_string(), arguments));
    for (name, arguments) in runs(samples).into_iter().chain(errors) {
        let usual = finish(atoms(&name, &arguments));
        let mut command = atoms(&name, &arguments);
        command.stderr(full());
        let output = finish(command);
        assert_eq!(output.status.code(), usual.status.code(), "{name} {arguments:?}: {}", words(&usual));
        if name != "bench" && !arguments.contains(&"done") && name != "regress merge" {
            let text = |output: &Output| String::from_utf8_lossy(&output.stdout).into_owned();
            assert_eq!(text(&output), text(&usual), "{name} {arguments:?}: the figures are not of time");
        }
    }
}

test_each! {
    mod stderr_that_cannot_be_written: stderr_that_cannot_be_written_changes_nothing;
    quick(Samples::Quick)
    #[ignore = "nightly: samples that take long"]
    slow(Samples::Slow)
}

/// A long run writes its files before its report, so they exist even if stdout fails.
#[test]
fn results_on_disk_outlive_stdout() {
    let cases: &[(&str, &[&str], &[&str])] = &[
        (
            "run",
            &[
                "racy.ptx",
                "--launch",
                "racy.toml",
                "--on",
                "model",
                "--trace",
                "full.vcd",
                "--record",
                "full.jsonl",
                "--dump",
                "out=full.bin",
            ],
            &["full.vcd", "full.gtkw", "full.jsonl", "full.bin"],
        ),
        ("cosim", &["--on", "model", "--requests", "200", "--record", "full.jsonl"], &["full.jsonl"]),
        (
            "regress",
            &["plan.toml", "--jobs", "1", "--output", "full"],
            &["full/summary.json", "full/report.html", "full/results.jsonl"],
        ),
    ];
    for (name, arguments, left) in cases {
        let mut command = atoms(name, arguments);
        command.stdout(full());
        let output = finish(command);
        assert_eq!(output.status.code(), Some(2), "{name}: {}", words(&output));
        for file in *left {
            let length = fs::metadata(folder().join(file)).map(|metadata| metadata.len()).unwrap_or(0);
            assert!(length > 0, "{name}: {file} is not written");
        }
        if left.contains(&"full.jsonl") {
            let checked = finish(atoms("check", &["full.jsonl"]));
            assert_eq!(checked.status.code(), Some(0), "{name}: the recording is whole: {}", words(&checked));
        }
    }
}
