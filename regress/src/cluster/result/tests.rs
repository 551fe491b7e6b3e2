//! Tests of results: valid, damaged, incomplete and of other manifests.

use std::fs;

use tempfile::TempDir;

use super::super::manifest::tests::manifest;
use super::super::{Results, sweep};
use super::*;
use crate::run::result::{Status, TestResult, Work};
use crate::run::state::{RegressionState, TestRecord};
use crate::run::store::{FORMAT, RunHeader, Store};
use crate::run::timing::Timing;

/// Runs the first `tests` tests of a shard and returns the work folder.
fn run_some(out: &Path, manifest: &Manifest, shard: u32, tests: u64) -> PathBuf {
    let header = RunHeader {
        format: FORMAT,
        origin: manifest.origin.clone(),
        plan: "plan.toml".into(),
        text: String::new(),
        profile: None,
        seed: manifest.seed,
        tags: Vec::new(),
        configs: Vec::new(),
        unit: None,
    };
    let work = work_folder(out, shard);
    let mut store = Store::create(&work, &header, true, true).expect("a folder");
    let first = manifest.shard(shard).expect("the shard exists").first;
    let mut state = RegressionState::new(first, 0, &[], &[]);
    for index in first..first + tests {
        let result = TestResult {
            index,
            name: format!("a \"{index}\"\nline"),
            entry: String::new(),
            config: String::new(),
            status: Status::Passed,
            work: Work::default(),
            new_bins: 0,
            failure: None,
        };
        let (record, _) = state.take(TestRecord { result, candidates: Vec::new(), finds: Vec::new() });
        store.push(&record, 1.0).expect("there is room");
    }
    store.checkpoint(&state, &Timing::default(), true).expect("there is room");
    work
}

pub(in super::super) fn run(out: &Path, manifest: &Manifest, shard: u32) -> PathBuf {
    let tests = manifest.shard(shard).expect("the shard exists");
    run_some(out, manifest, shard, tests.end - tests.first)
}

pub(in super::super) fn finish(out: &Path, manifest: &Manifest, shard: u32) -> Published {
    let work = run(out, manifest, shard);
    publish(out, manifest, &manifest.origin, shard, &work).expect("it can be published")
}

fn problem(out: &TempDir, manifest: &Manifest, shard: u32) -> ShardProblem {
    match verify(out.path(), manifest, shard) {
        Err(ClusterError::Shard(named, _, problem)) if named == shard => problem,
        other => panic!("shard {shard}: {other:?}"),
    }
}

fn out() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

/// Lists the entries of `shards/`, including hidden ones.
fn names(out: &TempDir) -> Vec<String> {
    let entries = fs::read_dir(out.path().join("shards")).expect("a folder");
    let mut names: Vec<_> =
        entries.map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_result_comes_back() {
    let (out, manifest) = (out(), manifest(3, 4));
    assert_eq!(problem(&out, &manifest, 1), ShardProblem::Absent);
    assert_eq!(finish(out.path(), &manifest, 1), Published::New);
    let state = verify(out.path(), &manifest, 1).expect("it is valid").state;
    assert_eq!((state.from, state.next, state.totals.tests()), (4, 8, 4));
    let records = store::records(&folder(out.path(), 1)).expect("records");
    let indices: Vec<_> = records.map(|record| record.expect("a line").result.index).collect();
    assert_eq!(indices, [4, 5, 6, 7]);
    assert_eq!(names(&out), ["1.result"]);
    let none = verify(out.path(), &manifest, 3).expect_err("there is none").to_string();
    assert_eq!(none, "no shard 3: the manifest has shards 0 to 2");
}

fn files(out: &TempDir, shard: u32) -> Vec<PathBuf> {
    let folder = folder(out.path(), shard);
    let files: Vec<_> =
        files_below(&folder).expect("a folder").iter().map(|name| folder.join(name)).collect();
    assert_eq!(files.len(), 6, "{files:?}");
    files
}

#[test]
fn a_file_cut_anywhere_is_not_valid() {
    let (out, manifest) = (out(), manifest(1, 3));
    finish(out.path(), &manifest, 0);
    for path in files(&out, 0) {
        let whole = fs::read(&path).expect("it is there");
        for bytes in 0..whole.len() {
            fs::write(&path, &whole[..bytes]).expect("it can be cut");
            let problem = problem(&out, &manifest, 0);
            assert!(
                problem.to_string().starts_with("is damaged: "),
                "{}: {bytes}: {problem}",
                path.display()
            );
        }
        fs::remove_file(&path).expect("it can be removed");
        let problem = problem(&out, &manifest, 0).to_string();
        assert!(problem.starts_with("is damaged: "), "{}: {problem}", path.display());
        fs::write(&path, &whole).expect("it can be written");
    }
    verify(out.path(), &manifest, 0).expect("it is valid again");
}

#[test]
fn a_changed_byte_anywhere_is_noticed() {
    let (out, manifest) = (out(), manifest(1, 3));
    finish(out.path(), &manifest, 0);
    for path in files(&out, 0) {
        let whole = fs::read(&path).expect("it is there");
        for at in 0..whole.len() {
            let change = [1, 0x20, 0x80][at % 3];
            let mut changed = whole.clone();
            changed[at] ^= change;
            fs::write(&path, &changed).expect("it can be changed");
            let valid = verify(out.path(), &manifest, 0).is_ok();
            assert!(!valid, "{}: byte {at} changed by {change:#x}", path.display());
        }
        let twice = [whole.clone(), whole.clone()].concat();
        fs::write(&path, twice).expect("it can be written");
        let problem = problem(&out, &manifest, 0).to_string();
        assert!(problem.starts_with("is damaged: "), "{}: {problem}", path.display());
        fs::write(&path, &whole).expect("it can be written");
    }
    verify(out.path(), &manifest, 0).expect("it is valid again");
}

#[test]
fn another_manifest_shard_or_version_is_refused() {
    let (out, ours) = (out(), manifest(3, 4));
    finish(out.path(), &ours, 1);

    let mut seed = ours.clone();
    seed.seed += 1;
    assert!(problem(&out, &seed, 1).to_string().starts_with("belongs to another manifest: "));

    let mut cut = ours.clone();
    (cut.shards[1].end, cut.shards[2].first) = (7, 7);
    assert_eq!(problem(&out, &cut, 1).to_string(), "has tests 4 to 7, which are not those of this shard");

    let mut rtl = ours.clone();
    rtl.origin.rtl = "changed".into();
    let found = problem(&out, &rtl, 1);
    assert_eq!(
        found.to_string(),
        "was made with another program, RTL or input file: RTL: manifest changed, result r"
    );

    let work = run(out.path(), &ours, 0);
    let refused = publish(out.path(), &rtl, &ours.origin, 0, &work).expect_err("other RTL");
    assert!(refused.to_string().contains("RTL: manifest changed, here r"), "{refused}");
    assert!(!folder(out.path(), 0).exists());

    fs::rename(folder(out.path(), 1), folder(out.path(), 2)).expect("it can be renamed");
    assert_eq!(problem(&out, &ours, 2).to_string(), "belongs to shard 1");
}

#[test]
fn a_result_that_lacks_tests_or_has_others_is_refused() {
    let (out, manifest) = (out(), manifest(2, 3));
    let refused = |work: &Path| {
        publish(out.path(), &manifest, &manifest.origin, 1, work).expect_err("not its tests").to_string()
    };
    assert_eq!(refused(&run_some(out.path(), &manifest, 1, 1)), "shard 1: no result of tests 4 to 5");
    let more = refused(&run_some(out.path(), &manifest, 1, 4));
    assert_eq!(more, "shard 1: results of tests 3 to 6, expected 3 to 5");
    let other = refused(&run(out.path(), &manifest, 0));
    assert_eq!(other, "shard 1: results of tests 0 to 2, expected 3 to 5");
    assert!(!folder(out.path(), 1).exists());
}

#[test]
fn of_two_tasks_one_result_is_kept_with_its_failures() {
    let (out, manifest) = (out(), manifest(2, 3));
    let tasks = [0, 1].map(|number| {
        let work = run(out.path(), &manifest, 0);
        let bundle = work.join(FAILURES).join("bucket");
        fs::create_dir_all(&bundle).expect("it can be made");
        fs::write(bundle.join("case"), format!("{number}")).expect("it can be written");
        work
    });
    let publish = |work: &Path| publish(out.path(), &manifest, &manifest.origin, 0, work).expect("no error");
    assert_eq!(publish(&tasks[1]), Published::New);
    assert_eq!(publish(&tasks[0]), Published::AlreadyThere, "it may come late");
    let case = folder(out.path(), 0).join(FAILURES).join("bucket/case");
    assert_eq!(fs::read_to_string(&case).expect("it is there"), "1", "the first to come is kept");
    assert_eq!(names(&out), ["0.result"]);

    fs::remove_file(case).expect("it can be removed");
    let gone = problem(&out, &manifest, 0).to_string();
    assert_eq!(gone, "lists the failure file `bucket/case`, which is missing");
    // A valid result replaces a damaged folder, and even a file of that name.
    assert_eq!(finish(out.path(), &manifest, 0), Published::New);
    verify(out.path(), &manifest, 0).expect("it is valid again");
    fs::remove_dir_all(folder(out.path(), 0)).expect("it can be removed");
    fs::write(folder(out.path(), 0), "no folder").expect("it can be written");
    assert_eq!(finish(out.path(), &manifest, 0), Published::New);
    assert_eq!(names(&out), ["0.result"]);
}

#[test]
fn a_task_that_comes_after_the_sweep_finds_it_done() {
    let (out, manifest) = (out(), manifest(1, 2));
    let late = run(out.path(), &manifest, 0);
    assert!(sweep(out.path(), &manifest).is_err(), "not while a task may need it");
    finish(out.path(), &manifest, 0);
    let dead = run(out.path(), &manifest, 0);
    fs::rename(&late, late.with_extension("away")).expect("it can be renamed");
    sweep(out.path(), &manifest).expect("it can be tidied");
    assert!(!dead.exists(), "what the dead left is gone");
    fs::rename(late.with_extension("away"), &late).expect("it can be renamed");
    let published = publish(out.path(), &manifest, &manifest.origin, 0, &late).expect("no error");
    assert_eq!(published, Published::AlreadyThere);
    assert_eq!(names(&out), ["0.result"]);
}

#[test]
fn what_is_missing_is_named() {
    let (out, manifest) = (out(), manifest(8, 2));
    for shard in [0, 4, 7] {
        finish(out.path(), &manifest, shard);
    }
    fs::write(folder(out.path(), 4).join("records.jsonl"), "").expect("it can be emptied");
    let error = Results::expect_all(out.path(), &manifest).expect_err("some are missing").to_string();
    assert!(error.starts_with("6 of 8 shards have no valid result: 1-6\n  result of shard 4"), "{error}");
    assert!(error.contains("cut short") && error.contains("atoms regress resume"), "{error}");
}

#[test]
fn many_tasks_at_once_leave_one_valid_result() {
    let (out, manifest) = (out(), manifest(1, 50));
    let new = std::sync::atomic::AtomicU32::new(0);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                if finish(out.path(), &manifest, 0) == Published::New {
                    new.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                }
            });
        }
    });
    assert!(new.into_inner() >= 1);
    verify(out.path(), &manifest, 0).expect("it is valid");
    assert_eq!(names(&out), ["0.result"]);
}
