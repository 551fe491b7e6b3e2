//! Stand-in for `atoms regress shard` and `atoms regress merge`. Each test only sleeps for the number of
//! milliseconds in the text of the plan. `regress run OUT` runs all tests in one process.

#![allow(clippy::print_stderr)] // prints errors to the user
#![forbid(unsafe_code)]

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use atoms_regress::cluster::{Manifest, Results, result, sweep};
use atoms_regress::run::result::{Status, TestResult, Work};
use atoms_regress::run::state::{RegressionState, TestRecord};
use atoms_regress::run::store::{self, FORMAT, RunHeader, Store};
use atoms_regress::run::timing::Timing;
use atoms_regress::whole_file::write_whole;

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// Returns the result of a test. Its name is a number that depends on the seed.
fn test(manifest: &Manifest, index: u64) -> TestResult {
    let drawn = (index ^ manifest.seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    TestResult {
        index,
        name: drawn.to_string(),
        entry: String::new(),
        config: String::new(),
        status: Status::Passed,
        work: Work::default(),
        new_bins: 0,
        failure: None,
    }
}

fn bundle(index: u64) -> Option<String> {
    (index % 7 == 3).then(|| format!("bundle-{index}"))
}

fn line(result: &TestResult) -> Result<String, serde_json::Error> {
    Ok(serde_json::to_string(result)? + &bundle(result.index).unwrap_or_default() + "\n")
}

fn shard(out: &Path, number: u32) -> Outcome {
    let manifest = Manifest::read(out)?;
    if result::verify(out, &manifest, number).is_ok() {
        return Ok(());
    }
    let header = RunHeader {
        format: FORMAT,
        origin: manifest.origin.clone(),
        plan: "plan.toml".into(),
        text: manifest.text.clone(),
        profile: None,
        seed: manifest.seed,
        tags: Vec::new(),
        configs: Vec::new(),
        unit: None,
    };
    let work = result::work_folder(out, number);
    let mut store = Store::create(&work, &header, true, true)?;
    let tests = manifest.shard(number)?;
    let mut state = RegressionState::new(tests.first, 0, &[], &[]);
    for index in tests.tests() {
        std::thread::sleep(Duration::from_millis(manifest.text.parse()?));
        let result = test(&manifest, index);
        let (record, _) = state.take(TestRecord { result, candidates: Vec::new(), finds: Vec::new() });
        store.push(&record, 1.0)?;
        if let Some(bundle) = bundle(index) {
            let folder = work.join("failures").join(&bundle);
            fs::create_dir_all(&folder)?;
            fs::write(folder.join("case"), format!("{index}\n"))?;
        }
    }
    store.checkpoint(&state, &Timing::default(), true)?;
    result::publish(out, &manifest, &manifest.origin, number, &work)?;
    Ok(())
}

fn merge(out: &Path) -> Outcome {
    let manifest = Manifest::read(out)?;
    Results::expect_all(out, &manifest)?;
    let mut text = String::new();
    for shard in 0..manifest.count() {
        for record in store::records(&result::folder(out, shard))? {
            text += &line(&record?.result)?;
        }
    }
    write_whole(&out.join("results.jsonl"), text)?;
    sweep(out, &manifest)?;
    Ok(())
}

fn run(out: &Path) -> Outcome {
    let manifest = Manifest::read(out)?;
    let lines: Result<String, _> = (0..manifest.tests).map(|index| line(&test(&manifest, index))).collect();
    write_whole(&out.join("results.jsonl"), lines?)?;
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
