//! Tests of the output folder under failures.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, Instant};

use atoms_regress::run::origin::Origin;
use atoms_regress::run::result::{Status, TestResult, Work};
use atoms_regress::run::state::{RegressionState, TestRecord};
use atoms_regress::run::store::{self, FORMAT, RunHeader, Store, StoreError};
use atoms_regress::run::timing::Timing;

fn header() -> RunHeader {
    RunHeader {
        format: FORMAT,
        origin: Origin::default(),
        plan: "plan.toml".into(),
        text: String::new(),
        profile: None,
        seed: 1,
        tags: Vec::new(),
        configs: Vec::new(),
        unit: None,
    }
}

fn record(index: u64) -> TestRecord {
    let result = TestResult {
        index,
        name: format!("e/c/{index}"),
        entry: "e".to_string(),
        config: "c".to_string(),
        status: Status::Passed,
        work: Work::default(),
        new_bins: 0,
        failure: None,
    };
    TestRecord { result, candidates: Vec::new(), finds: Vec::new() }
}

/// Creates a folder with `tests` results, and a checkpoint after the first `saved` of them.
fn filled(dir: &Path, tests: u64, saved: u64) {
    let mut store = Store::create(dir, &header(), false, false).expect("a folder");
    let mut state = RegressionState::new(0, 10, &["e".to_string()], &["c".to_string()]);
    for index in 0..tests {
        if index == saved {
            store.checkpoint(&state, &Timing::default(), false).expect("there is room");
        }
        let (record, _) = state.take(record(index));
        store.push(&record, 1.0).expect("there is room");
    }
    if saved == tests {
        store.checkpoint(&state, &Timing::default(), false).expect("there is room");
    }
}

/// Resuming truncates lines after the checkpoint, even partial ones, and appends correctly.
#[test]
fn going_on_cuts_off_what_no_checkpoint_counts() {
    let dir = tempfile::tempdir().expect("a folder");
    let dir = dir.path().join("out");
    filled(&dir, 20, 12);
    let (mut store, checkpoint) = Store::reopen(&dir, false).expect("it goes on");
    assert_eq!(checkpoint.state.next, 12);
    let mut state = checkpoint.state;
    for index in 12..20 {
        let (record, _) = state.take(record(index));
        store.push(&record, 1.0).expect("there is room");
    }
    store.checkpoint(&state, &Timing::default(), true).expect("there is room");
    let indices: Vec<_> =
        store::results(&dir).expect("results").map(|result| result.expect("a line").index).collect();
    assert_eq!(indices, (0..20).collect::<Vec<_>>());
}

#[test]
fn a_result_file_that_was_cut_short_is_named() {
    let dir = tempfile::tempdir().expect("a folder");
    let dir = dir.path().join("out");
    filled(&dir, 5, 5);
    let path = dir.join("results.jsonl");
    let text = fs::read(&path).expect("results");
    fs::write(&path, &text[..text.len() - 10]).expect("a shorter file");
    let error = Store::reopen(&dir, false).expect_err("something is missing").to_string();
    assert!(error.contains("results.jsonl") && error.contains("cut short"), "{error}");
}

/// A full disk gives a clear error and leaves the checkpoint unchanged.
#[test]
fn a_full_disk_leaves_a_whole_checkpoint() {
    let dir = tempfile::tempdir().expect("a folder");
    let dir = dir.path().join("out");
    filled(&dir, 0, 0);
    let before = fs::read(dir.join("checkpoint.json")).expect("a checkpoint");
    let path = dir.join("results.jsonl");
    fs::remove_file(&path).expect("it is there");
    symlink("/dev/full", &path).expect("a device that is always full");
    let (mut store, checkpoint) = Store::reopen(&dir, false).expect("nothing is written yet");
    let mut state = checkpoint.state;
    let (record, _) = state.take(record(0));
    let ended = store.push(&record, 1.0).and_then(|()| store.checkpoint(&state, &Timing::default(), false));
    let error = ended.expect_err("there is no room").to_string();
    assert!(error.contains("results.jsonl") && error.contains("make room"), "{error}");
    assert_eq!(fs::read(dir.join("checkpoint.json")).expect("a checkpoint"), before);
}

#[test]
fn what_is_unfinished_or_somebody_elses_is_kept() {
    let dir = tempfile::tempdir().expect("a folder");
    let dir = dir.path().join("out");
    filled(&dir, 3, 3);
    let error = Store::create(&dir, &header(), false, false).expect_err("it is unfinished");
    assert!(matches!(error, StoreError::Unfinished { tests: 3, .. }), "{error}");
    Store::create(&dir, &header(), false, true).expect("--force");
    fs::remove_file(dir.join("run.json")).expect("it is there");
    let error = Store::create(&dir, &header(), false, true).expect_err("it may be anything");
    assert!(matches!(error, StoreError::Foreign { .. }), "{error}");
}

/// A folder has one writer: a new run is refused, and a resumed run waits for the other process.
#[test]
fn a_folder_has_one_writer() {
    let dir = tempfile::tempdir().expect("a folder");
    let dir = dir.path().join("out");
    filled(&dir, 3, 3);
    let (store, _) = Store::reopen(&dir, false).expect("nobody is there");
    for force in [false, true] {
        let error = Store::create(&dir, &header(), false, force).expect_err("somebody is there");
        assert!(matches!(error, StoreError::InUse { .. }), "{error}");
    }
    let ending = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        drop(store);
    });
    let began = Instant::now();
    Store::reopen(&dir, false).expect("it was waited for");
    assert!(began.elapsed() >= Duration::from_millis(250), "{:?}", began.elapsed());
    ending.join().expect("it ends");
}

/// A folder with an unreadable checkpoint of an earlier version is deleted only if its run was finished.
#[test]
fn what_cannot_be_read_is_not_lost() {
    let dir = tempfile::tempdir().expect("a folder");
    let dir = dir.path().join("out");
    let with = |checkpoint: &str| {
        filled(&dir, 0, 0);
        fs::write(dir.join("checkpoint.json"), checkpoint).expect("a checkpoint");
        Store::create(&dir, &header(), false, false)
    };
    let error = with(r#"{"complete":false,"state":{"next":7,"from":2}}"#).expect_err("it is unfinished");
    assert!(matches!(error, StoreError::Unfinished { tests: 5, .. }), "{error}");
    fs::remove_dir_all(&dir).expect("it is there");
    with(r#"{"complete":false,"state":{"next":2,"from":2}}"#).expect("there is nothing to lose");
    let error = with("{").expect_err("nobody knows").to_string();
    assert!(error.contains("checkpoint.json") && error.contains("--force"), "{error}");
    fs::remove_dir_all(&dir).expect("it is there");
    with(r#"{"complete":true,"state":{"format":"of another time"}}"#).expect("it is over");
}

/// Resuming deletes drafts of a killed process.
#[test]
fn drafts_are_taken_away() {
    let dir = tempfile::tempdir().expect("a folder");
    let dir = dir.path().join("out");
    filled(&dir, 0, 0);
    for folder in ["alone/failures/x", "failures/.x.123", "failures/y"] {
        fs::create_dir_all(dir.join(folder)).expect("a folder");
    }
    Store::reopen(&dir, false).expect("it goes on");
    let left = |folder: &str| dir.join(folder).exists();
    assert!(!left("alone") && !left("failures/.x.123") && left("failures/y"));
}

/// A changed digit is detected and its line is named. A partial line after the checkpoint is ignored.
#[test]
fn a_changed_digit_is_seen() {
    let dir = tempfile::tempdir().expect("a folder");
    let dir = dir.path().join("out");
    filled(&dir, 5, 5);
    for name in ["run.json", "checkpoint.json", "results.jsonl", "timing.jsonl"] {
        let path = dir.join(name);
        let good = fs::read(&path).expect("it is there");
        let digits: Vec<_> = (0..good.len()).filter(|at| good[*at].is_ascii_digit()).collect();
        assert!(digits.len() > 10, "{name}");
        for at in digits {
            let mut bad = good.clone();
            bad[at] = if bad[at] == b'9' { b'0' } else { bad[at] + 1 };
            fs::write(&path, &bad).expect("it is changed");
            let read = store::header(&dir).and_then(|_| Store::reopen(&dir, false));
            let error = read.expect_err("it is damaged").to_string();
            assert!(error.contains(name) && error.contains("--force"), "{error}");
            let line = good[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
            assert!(!name.ends_with("jsonl") || error.contains(&format!("line {line}: ")), "{error}");
        }
        fs::write(&path, &good).expect("as it was");
        Store::reopen(&dir, false).expect("it is whole again");
    }
    let path = dir.join("results.jsonl");
    let torn = [fs::read(&path).expect("results"), b"{\"index\":5,\"na".to_vec()].concat();
    fs::write(&path, torn).expect("a line that was cut off");
    let (_, checkpoint) = Store::reopen(&dir, false).expect("it goes on");
    assert_eq!(checkpoint.state.next, 5);
}

/// A run that was killed before its first result can be started again without `--force`.
#[test]
fn a_folder_without_results_is_free() {
    let dir = tempfile::tempdir().expect("a folder");
    let dir = dir.path().join("out");
    filled(&dir, 0, 0);
    Store::create(&dir, &header(), false, false).expect("it has no results");
    fs::remove_file(dir.join("run.json")).expect("it is there");
    for name in ["results.jsonl", "timing.jsonl"] {
        fs::remove_file(dir.join(name)).expect("it is there");
    }
    fs::write(dir.join(".run.json.77"), "{").expect("a draft");
    Store::create(&dir, &header(), false, false).expect("a draft is nothing");
    let error = store::checkpoint(&dir).expect_err("there is none").to_string();
    assert!(error.contains("start it again"), "{error}");
}

/// A checkpoint that does not match its results cannot be resumed.
#[test]
fn a_checkpoint_of_other_tests_is_refused() {
    let dir = tempfile::tempdir().expect("a folder");
    let dir = dir.path().join("out");
    let mut store = Store::create(&dir, &header(), false, false).expect("a folder");
    let mut state = RegressionState::new(0, 10, &["e".to_string()], &["c".to_string()]);
    for index in 0..5 {
        let (record, _) = state.take(record(index));
        store.push(&record, 1.0).expect("there is room");
    }
    state.next = 6;
    store.checkpoint(&state, &Timing::default(), false).expect("there is room");
    drop(store);
    let error = Store::reopen(&dir, false).expect_err("a test has no result").to_string();
    assert!(error.contains("checkpoint.json") && error.contains("there are 5 results"), "{error}");
    let path = dir.join("checkpoint.json");
    let good = fs::read(&path).expect("a checkpoint");
    fs::write(&path, &good[..good.len() / 2]).expect("half a checkpoint");
    let error = Store::reopen(&dir, false).expect_err("it is damaged").to_string();
    assert!(error.contains("checkpoint.json") && error.contains("--force"), "{error}");
}
