//! Runs shards and merges them as `atoms regress shard` and `atoms regress merge` do, of tests that only
//! take their time: milliseconds as in the text of the plan. `regress run OUT` does it in one process.

#![allow(clippy::print_stderr)] // a program of its own, for people
#![forbid(unsafe_code)]

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use atoms_regress::cluster::record::{self, Reader, Record, Writer};
use atoms_regress::cluster::{ClusterError, Manifest, Results, sweep, write_whole};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "snake_case")]
enum Line {
    Test { index: u64, drawn: u64 },
    Failure { bundle: String },
}

impl Record for Line {
    fn result_of(&self) -> Option<u64> {
        match self {
            Line::Test { index, .. } => Some(*index),
            Line::Failure { .. } => None,
        }
    }
}

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// What a test comes to.
fn test(manifest: &Manifest, index: u64) -> Line {
    let drawn = (index ^ manifest.seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    Line::Test { index, drawn }
}

fn bundle(index: u64) -> Option<String> {
    (index % 7 == 3).then(|| format!("bundle-{index}"))
}

fn shard(out: &Path, number: u32) -> Outcome {
    let manifest = Manifest::read(out)?;
    if record::verify(out, &manifest, number).is_ok() {
        return Ok(());
    }
    let mut writer = Writer::new(out, &manifest, &manifest.origin, number)?;
    for index in manifest.shard(number)?.tests() {
        std::thread::sleep(Duration::from_millis(manifest.text.parse()?));
        writer.write(&test(&manifest, index))?;
        if let Some(bundle) = bundle(index) {
            let folder = writer.failures()?.join(&bundle);
            fs::create_dir(&folder)?;
            fs::write(folder.join("case"), format!("{index}\n"))?;
            writer.write(&Line::Failure { bundle })?;
        }
    }
    writer.publish()?;
    Ok(())
}

fn merge(out: &Path) -> Outcome {
    let manifest = Manifest::read(out)?;
    Results::expect_all(out, &manifest)?;
    let mut text = String::new();
    for shard in 0..manifest.count() {
        let lines: Result<Vec<Line>, ClusterError> = Reader::new(out, &manifest, shard)?.collect();
        for line in lines? {
            text += &(serde_json::to_string(&line)? + "\n");
        }
    }
    write_whole(&out.join("results.jsonl"), text)?;
    sweep(out, &manifest)?;
    Ok(())
}

fn run(out: &Path) -> Outcome {
    let manifest = Manifest::read(out)?;
    let mut text = String::new();
    for index in 0..manifest.tests {
        text += &(serde_json::to_string(&test(&manifest, index))? + "\n");
        if let Some(bundle) = bundle(index) {
            text += &(serde_json::to_string(&Line::Failure { bundle })? + "\n");
        }
    }
    write_whole(&out.join("results.jsonl"), text)?;
    Ok(())
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let outcome = match words[..] {
        ["regress", "shard", out, number] => {
            number.parse().map_err(Into::into).and_then(|n| shard(Path::new(out), n))
        }
        ["regress", "merge", out] => merge(Path::new(out)),
        ["regress", "run", out] => run(Path::new(out)),
        _ => {
            Err(format!("{words:?}: expected `regress shard OUT N`, `regress merge OUT`, `regress run OUT`")
                .into())
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}
