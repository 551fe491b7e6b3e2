//! Rules for every command, tested from the definition that also generates the help. A new command or option
//! without a sample or entry here fails a test.

mod help;
mod measure;
mod numbers;
mod overwriting;
mod schemas;
mod signals;
mod streams;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use clap::CommandFactory;

use crate::args;

/// Returns every command that can run, such as `config show`, with its definition.
fn commands() -> Vec<(String, clap::Command)> {
    fn gather(command: &clap::Command, path: &str, found: &mut Vec<(String, clap::Command)>) {
        let needs_more = command.is_subcommand_required_set() || command.is_arg_required_else_help_set();
        if !needs_more {
            found.push((path.to_string(), command.clone()));
        }
        for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
            let path =
                if path.is_empty() { sub.get_name().into() } else { format!("{path} {}", sub.get_name()) };
            gather(sub, &path, found);
        }
    }
    let mut root = args::Cli::command();
    root.build();
    let mut found = Vec::new();
    gather(&root, "", &mut found);
    found
}

/// Sample arguments of every command that writes results to stdout, to be run in [`folder`].
const SAMPLES: &[(&str, &[&str])] = &[
    ("run", &["racy.ptx", "--launch", "racy.toml", "--on", "model"]),
    ("cosim", &["--on", "model", "--requests", "200"]),
    ("lower", &["atom.shared.add.u32 %r1, [%r2], %r3;"]),
    ("check", &["accepted.jsonl"]),
    ("silicon report", &["capture.jsonl.gz", "--on", "model"]),
    ("silicon show", &["capture.jsonl.gz"]),
    ("silicon profile", &["capture.jsonl.gz"]),
    ("silicon trace", &["capture.jsonl.gz", "--program", "order of lanes on one word"]),
    ("regress", &["plan.toml", "--list"]),
    ("regress resume", &["done"]),
    ("regress merge", &["cut"]),
    ("regress shard", &["cut", "0"]),
    ("mutate", &["--only", "`en_i` always true", "--stages", "1"]),
    ("cover", &["done"]),
    ("repro", &["bundle"]),
    ("wave info", &["first_wave.vcd"]),
    ("wave diff", &["first_wave.vcd", "--scopes", "rtl,model"]),
    ("wave show", &["first_wave.vcd"]),
    ("wave at", &["bundle", "--window", "8"]),
    ("wave page", &["first_wave.vcd", "--output", "first_wave.html"]),
    ("wave export", &["first_wave.vcd", "--perfetto", "first_wave.json", "--konata", "first_wave.kanata"]),
    ("wave cause", &["bundle", "--here"]),
    ("explore run", &["contend", "--on", "model"]),
    ("explore workloads", &[]),
    ("explore sweep", &["sweep.toml", "--certify", "none"]),
    ("bench", &["--config", "tiny", "--rounds", "1", "--seconds", "0.001"]),
    ("explore cost", &["--fitted"]),
    ("explore calibrate", &["--gpu", "a100"]),
    ("config list", &[]),
    ("config show", &[]),
    ("completions", &["bash"]),
    ("man", &[]),
    ("rtl build", &["--config", "tiny"]),
    ("rtl clean", &["--older", "3650"]),
    ("rtl lint", &["--config", "tiny"]),
    ("rtl package", &["tiny"]),
];

const SILENT: &[&str] = &["regress worker"];

fn sample(command: &str) -> &'static [&'static str] {
    SAMPLES.iter().find(|(name, _)| *name == command).unwrap_or_else(|| panic!("no sample of {command}")).1
}

#[test]
fn every_command_has_a_sample() {
    let mut known: Vec<_> = SAMPLES.iter().map(|(name, _)| *name).chain(SILENT.iter().copied()).collect();
    let mut there: Vec<_> = commands().into_iter().map(|(name, _)| name).collect();
    known.sort_unstable();
    there.sort_unstable();
    assert_eq!(known, there, "give each command a row in `SAMPLES`, or in `SILENT`");
}

const SWEEP: &str = "about = \"Which queue?\"\nworkload = \"contend\"\nconfig = \"tiny\"\n[unit]\nqueue_depth = [1, 2]\n\
                     [with]\nwarps = [1, 2]\n";

const PLAN: &str = r#"
seed = 3
[profile.all]
causes = false
[[random]]
name = "search"
configs = ["tiny"]
series = 2
requests = 300
"#;

/// Returns a folder with inputs for every command: a regression that found a bug, a regression in shards, and
/// a bundle. The folder is made once for all tests.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = target().join("every-command");
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("a folder");
        for name in ["racy.ptx", "racy.toml", "accepted.jsonl"] {
            let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cmd").join(name);
            fs::copy(from, folder.join(name)).expect("a copy");
        }
        let capture =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../silicon/captures/standin/capture.jsonl.gz");
        fs::copy(capture, folder.join("capture.jsonl.gz")).expect("a copy");
        let wave = Path::new(env!("CARGO_MANIFEST_DIR")).join("../waves/first_wave.vcd");
        fs::copy(wave, folder.join("first_wave.vcd")).expect("a copy");
        fs::write(folder.join("plan.toml"), PLAN).expect("a plan");
        fs::write(folder.join("sweep.toml"), SWEEP).expect("a sweep");
        let status = |arguments: &[&str]| {
            let output = in_folder(&folder, arguments).output().expect("atoms starts");
            (output.status.code(), words(&output))
        };
        let (code, text) = status(&["regress", "plan.toml", "--jobs", "1", "--output", "done"]);
        assert_eq!(code, Some(1), "the defect is found: {text}");
        let failures = fs::read_dir(folder.join("done/failures")).expect("failures");
        let bundle = failures.flatten().map(|entry| entry.path()).find(|path| path.is_dir());
        fs::rename(bundle.expect("a bundle"), folder.join("bundle")).expect("it can be moved");
        // Without Slurm on PATH, the command creates the shards and fails. The next command runs them.
        let cut = ["regress", "plan.toml", "--executor", "slurm", "--shards", "1", "--output", "cut"];
        let (code, text) = status(&cut);
        assert_eq!(code, Some(2), "{text}");
        let (code, text) = status(&["regress", "shard", "cut", "0", "--jobs", "1"]);
        assert_eq!(code, Some(0), "{text}");
        folder
    })
}

fn target() -> PathBuf {
    std::path::absolute(atoms_verilated::Environment::from_process().target).expect("a path")
}

/// Returns `atoms` with these arguments in a folder, on RTL with bugs and with empty stdin.
fn in_folder(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_atoms"));
    let rtl = atoms_tests::regression::rtl_with_bugs();
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    command.env("ATOMS_RTL", std::path::absolute(rtl).expect("a path")).env("CARGO_TARGET_DIR", target());
    command
}

fn atoms(command: &str, arguments: &[&str]) -> Command {
    let words: Vec<_> = command.split_whitespace().chain(arguments.iter().copied()).collect();
    let mut command = in_folder(folder(), &words);
    if matches!(words.first(), Some(&"bench" | &"mutate")) {
        command.env_remove("ATOMS_RTL"); // bench and mutate refuse RTL with bugs
    }
    command
}

fn words(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}
