//! Captures in the repository. The oracle judges them, their programs run in lockstep, and the findings equal
//! the committed ones.

use expect_test::expect_file;
use std::convert::Infallible;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;

use atoms_silicon::capture::Capture;
use atoms_silicon::report::{self, CaptureReport};
use atoms_silicon::{catalogue, replay};
use atoms_tests::{config, judged_lockstep_of, root};
use serde_json::{Value, json};

fn folders() -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join("silicon/captures")).unwrap().map(|entry| entry.unwrap().path());
    let mut folders: Vec<_> = entries.filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

fn judged(folder: &Path) -> CaptureReport {
    let path = folder.join("capture.jsonl.gz");
    let capture = Capture::read(File::open(&path).unwrap())
        .unwrap_or_else(|error| panic!("{}: it {error}", path.display()));
    let named = config("default");
    let port = || Ok::<_, Infallible>(judged_lockstep_of(&named));
    let mut report = report::judge(&capture);
    report.replayed = Some(report::replay(&capture, port, |_| {}).unwrap());
    report
}

fn findings(report: &CaptureReport) -> Value {
    let replayed = report.replayed.as_ref().unwrap();
    json!({
        "refused": report.oracle.refused,
        "findings": report.oracle.findings,
        "undefined": report.oracle.undefined,
        "different": replayed.different,
        "differences": replayed.differences,
        "not_run": replayed.failed,
    })
}

/// Compares the findings with the committed ones, for the stand-in's captures or for those of GPUs.
fn what_captures_say_is_what_is_known(standin: bool) {
    let folders: Vec<_> = folders().into_iter().filter(|f| f.ends_with("standin") == standin).collect();
    assert!(!folders.is_empty());
    let mut accepted = 0;
    for folder in folders {
        let report = judged(&folder);
        accepted += report.oracle.accepted;
        let found = findings(&report);
        let path = folder.join("findings.json");
        expect_file![&path].assert_eq(&format!("{found:#}\n"));
    }
    assert!(accepted > 100, "{accepted}");
}

#[test]
fn what_the_stand_in_says_of_us_is_what_is_known() {
    what_captures_say_is_what_is_known(true);
}

#[test]
#[ignore = "nightly: the oracle alone judges GPUs in the quick tier, for docs/silicon.md"]
fn what_gpus_say_of_us_is_what_is_known() {
    what_captures_say_is_what_is_known(false);
}

/// Every program of the catalogue runs in lockstep with the oracle before a GPU runs it.
#[test]
#[ignore = "nightly: the model runs the same programs in the quick tier"]
fn every_program_runs_in_lockstep() {
    let (named, programs) = (config("default"), Mutex::new(catalogue::programs(1).into_iter()));
    let worker = || {
        let mut wrong = Vec::new();
        loop {
            let Some(program) = programs.lock().unwrap().next() else { return wrong };
            let mut session = judged_lockstep_of(&named);
            if let Err(error) = replay::run(&program, replay::arch(program.since), &mut session) {
                wrong.push(format!("{}: {error:?}", program.name));
            }
        }
    };
    let wrong: Vec<String> = thread::scope(|scope| {
        let workers: Vec<_> = (0..atoms_verilated::cores()).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
