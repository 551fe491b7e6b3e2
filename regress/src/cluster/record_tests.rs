//! Result files that are whole, and all the ways in which they are not.

use std::fs;

use tempfile::TempDir;

use super::super::manifest::tests::manifest;
use super::super::{Results, sweep};
use super::*;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "snake_case")]
enum Line {
    Test { index: u64, text: String },
    Note { text: String },
}

impl Record for Line {
    fn result_of(&self) -> Option<u64> {
        match self {
            Line::Test { index, .. } => Some(*index),
            Line::Note { .. } => None,
        }
    }
}

fn lines(manifest: &Manifest, shard: u32) -> Vec<Line> {
    let tests = manifest.shard(shard).expect("the shard exists").tests();
    let result = |index| Line::Test { index, text: format!("a \"{index}\"\nline") };
    std::iter::once(Line::Note { text: "before".into() }).chain(tests.map(result)).collect()
}

fn begin(out: &TempDir, manifest: &Manifest, shard: u32) -> Writer<Line> {
    let mut writer =
        Writer::new(out.path(), manifest, &manifest.origin, shard).expect("the shard can be begun");
    for line in lines(manifest, shard) {
        writer.write(&line).expect("a record in order");
    }
    writer
}

fn read(out: &TempDir, manifest: &Manifest, shard: u32) -> Result<Vec<Line>, ClusterError> {
    Reader::new(out.path(), manifest, shard)?.collect()
}

fn problem(out: &TempDir, manifest: &Manifest, shard: u32) -> ShardProblem {
    match verify(out.path(), manifest, shard) {
        Err(ClusterError::Shard { shard: named, problem, .. }) if named == shard => problem,
        other => panic!("shard {shard}: {other:?}"),
    }
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

/// Files in `shards/`, hidden ones too.
fn names(out: &TempDir) -> Vec<String> {
    let entries = fs::read_dir(out.path().join("shards")).expect("a folder");
    let mut names: Vec<_> =
        entries.map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_result_comes_back() {
    let (out, manifest) = (folder(), manifest(3, 4));
    assert_eq!(problem(&out, &manifest, 1), ShardProblem::Absent);
    assert_eq!(begin(&out, &manifest, 1).publish().expect("it can be published"), Published::New);
    assert_eq!(read(&out, &manifest, 1).expect("it is valid"), lines(&manifest, 1));
    assert_eq!(names(&out), ["1.result"]);
    assert!(matches!(verify(out.path(), &manifest, 3), Err(ClusterError::NoShard { shard: 3, shards: 3 })));
}

#[test]
fn a_file_cut_anywhere_is_not_valid() {
    let (out, manifest) = (folder(), manifest(1, 3));
    begin(&out, &manifest, 0).publish().expect("it can be published");
    let path = result_path(out.path(), 0);
    let whole = fs::read(&path).expect("it is there");
    for bytes in 0..whole.len() {
        fs::write(&path, &whole[..bytes]).expect("it can be cut");
        let problem = problem(&out, &manifest, 0);
        assert!(matches!(problem, ShardProblem::CutShort(_)), "cut to {bytes} of {}: {problem}", whole.len());
    }
}

#[test]
fn a_changed_byte_anywhere_is_noticed() {
    let (out, manifest) = (folder(), manifest(1, 3));
    begin(&out, &manifest, 0).publish().expect("it can be published");
    let path = result_path(out.path(), 0);
    let whole = fs::read(&path).expect("it is there");
    for at in 0..whole.len() {
        for change in [1, 0x20, 0x80] {
            let mut changed = whole.clone();
            changed[at] ^= change;
            fs::write(&path, &changed).expect("it can be changed");
            assert!(read(&out, &manifest, 0).is_err(), "byte {at} changed by {change:#x}");
        }
    }
    let twice = [whole.clone(), whole].concat();
    fs::write(&path, twice).expect("it can be written");
    assert!(matches!(problem(&out, &manifest, 0), ShardProblem::Damaged(_)));
}

#[test]
fn another_manifest_shard_or_version_is_refused() {
    let (out, ours) = (folder(), manifest(3, 4));
    begin(&out, &ours, 1).publish().expect("it can be published");
    fs::copy(result_path(out.path(), 1), result_path(out.path(), 2)).expect("it can be copied");
    assert_eq!(problem(&out, &ours, 2), ShardProblem::OtherShard(1));

    let mut seed = ours.clone();
    seed.seed += 1;
    assert!(matches!(problem(&out, &seed, 1), ShardProblem::OtherManifest { .. }));

    let mut cut = ours.clone();
    (cut.shards[1].end, cut.shards[2].first) = (7, 7);
    assert_eq!(problem(&out, &cut, 1).to_string(), "has tests 4 to 7, of another cut");

    let mut rtl = ours.clone();
    rtl.origin.rtl = "changed".into();
    let found = problem(&out, &rtl, 1);
    assert_eq!(found.to_string(), "is of something else: RTL: manifest changed, result r");

    let refused = Writer::<Line>::new(out.path(), &rtl, &ours.origin, 0).expect_err("other RTL");
    assert!(refused.to_string().contains("RTL: manifest changed, here r"), "{refused}");
    assert_eq!(names(&out), ["1.result", "2.result"], "nothing was begun");
}

#[test]
fn results_are_in_order_each_once() {
    let (out, manifest) = (folder(), manifest(2, 3));
    let result = |index| Line::Test { index, text: String::new() };
    let mut writer = Writer::new(out.path(), &manifest, &manifest.origin, 1).expect("it can be begun");
    writer.write(&result(3)).expect("the first");
    let mut refuse = |index| writer.write(&result(index)).expect_err("out of order").to_string();
    assert_eq!(refuse(3), "shard 1: the result of test 3 twice");
    assert_eq!(refuse(5), "shard 1: no result of test 4 before that of 5");
    assert_eq!(refuse(2), "shard 1: a result of test 2, expected 3 to 5");
    assert_eq!(refuse(6), "shard 1: a result of test 6, expected 3 to 5");
    let unfinished = writer.publish().expect_err("two are missing").to_string();
    assert_eq!(unfinished, "shard 1: no result of tests 4 to 5");
    assert!(names(&out).is_empty(), "nothing is left of it");
}

#[test]
fn of_two_tasks_one_result_is_kept_with_its_failures() {
    let (out, manifest) = (folder(), manifest(2, 3));
    let mut tasks = [begin(&out, &manifest, 0), begin(&out, &manifest, 0)];
    for (number, task) in tasks.iter_mut().enumerate() {
        let bundle = task.failures().expect("a folder").join("bucket");
        fs::create_dir(&bundle).expect("it can be made");
        fs::write(bundle.join("case"), format!("{number}")).expect("it can be written");
    }
    let [first, second] = tasks;
    assert_eq!(second.publish().expect("it can be published"), Published::New);
    let kept = fs::read(result_path(out.path(), 0)).expect("it is there");
    assert_eq!(first.publish().expect("it may come late"), Published::AlreadyThere);
    assert_eq!(fs::read(result_path(out.path(), 0)).expect("it is there"), kept);
    let case = failures_path(out.path(), 0).join("bucket/case");
    assert_eq!(fs::read_to_string(&case).expect("it is there"), "1", "the first to come is kept");
    assert_eq!(names(&out), ["0.failures", "0.result"]);

    fs::remove_file(case).expect("it can be removed");
    assert_eq!(problem(&out, &manifest, 0), ShardProblem::BundleMissing("bucket/case".into()));
    // Damaged results are replaced by good ones.
    fs::write(result_path(out.path(), 0), &kept[..kept.len() / 2]).expect("it can be cut");
    assert_eq!(begin(&out, &manifest, 0).publish().expect("it can be published"), Published::New);
    verify(out.path(), &manifest, 0).expect("it is valid again");
}

#[test]
fn failures_of_a_task_that_died_do_not_stop_the_next() {
    let (out, manifest) = (folder(), manifest(1, 1));
    let with_failure = || {
        let mut task = begin(&out, &manifest, 0);
        fs::write(task.failures().expect("a folder").join("case"), "c").expect("it can be written");
        task
    };
    let mut died = with_failure();
    died.publish_failures().expect("it gets that far");
    std::mem::forget(died);
    assert_eq!(with_failure().publish().expect("it can be published"), Published::New);
    verify(out.path(), &manifest, 0).expect("it is valid");
    assert_eq!(names(&out).len(), 3, "the temporary file of the dead: {:?}", names(&out));
    sweep(out.path(), &manifest).expect("it can be tidied");
    assert_eq!(names(&out), ["0.failures", "0.result"]);
}

#[test]
fn a_task_that_comes_after_the_sweep_finds_it_done() {
    let (out, manifest) = (folder(), manifest(1, 2));
    let late = begin(&out, &manifest, 0);
    assert!(sweep(out.path(), &manifest).is_err(), "not while somebody may need it");
    begin(&out, &manifest, 0).publish().expect("it can be published");
    sweep(out.path(), &manifest).expect("it can be tidied");
    assert_eq!(names(&out), ["0.result"]);
    assert_eq!(late.publish().expect("no error"), Published::AlreadyThere);
}

#[test]
fn what_is_missing_is_named() {
    let (out, manifest) = (folder(), manifest(8, 2));
    for shard in [0, 4, 7] {
        begin(&out, &manifest, shard).publish().expect("it can be published");
    }
    fs::write(result_path(out.path(), 4), "").expect("it can be emptied");
    let error = Results::expect_all(out.path(), &manifest).expect_err("some are missing").to_string();
    assert!(error.starts_with("6 of 8 shards have no valid result: 1-6\n  result of shard 4"), "{error}");
    assert!(error.contains("is cut short") && error.contains("atoms regress resume"), "{error}");
}

#[test]
fn many_writers_at_once_leave_one_valid_result() {
    let (out, manifest) = (folder(), manifest(1, 50));
    let new = std::sync::atomic::AtomicU32::new(0);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                if begin(&out, &manifest, 0).publish().expect("no error") == Published::New {
                    new.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                }
            });
        }
    });
    assert!(new.into_inner() >= 1);
    assert_eq!(read(&out, &manifest, 0).expect("it is valid"), lines(&manifest, 0));
    assert_eq!(names(&out), ["0.result"]);
}
