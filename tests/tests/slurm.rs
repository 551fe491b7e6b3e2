//! Shards on a real Slurm: what happens when tasks are killed, requeued and duplicated.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use atoms_host::processes::{self, Signal};
use atoms_host::programs;
use atoms_regress::cluster::slurm::{Options, Slurm, Tools, WaitOutcome};
use atoms_regress::cluster::{Cut, FORMAT, Manifest};
use atoms_regress::run::origin::Origin;
use atoms_tests::slurm::{Cluster, left};

const LONG: Duration = Duration::from_secs(60);

/// The program that stands in for `atoms`, with tests that take their time.
fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_slow_shards"))
}

/// A manifest in a folder of its own.
fn begin(out: &Path, shards: u32, tests: u64, test_ms: u64) -> Manifest {
    let manifest = Manifest {
        format: FORMAT,
        plan: "slow".into(),
        profile: "cluster".into(),
        seed: 5,
        origin: Origin { version: "1".into(), build: "1".into(), rtl: "1".into(), ..Origin::default() },
        text: test_ms.to_string(),
        tests,
        shards: Cut::Count(shards).shards(tests, |_| 1.0),
    };
    manifest.create(out).expect("the folder can be written");
    manifest
}

fn regress(what: &str, out: &Path) -> std::process::Output {
    Command::new(program()).args(["regress", what]).arg(out).output().expect("it starts")
}

/// Names in a folder, hidden ones too.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut names: Vec<_> =
        entries.map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Array job, task, state of each shard that Slurm knows, and the shard.
fn tasks(cluster: &Cluster) -> Vec<(u32, String, String)> {
    let text = cluster.command("squeue", &["-h", "-r", "-t", "all", "-o", "%F_%K|%j|%T"]);
    let task = |line: &str| {
        let mut words = line.split('|');
        let (id, name, state) = (words.next()?, words.next()?, words.next()?);
        let base: u32 = name.rsplit('.').next()?.parse().ok()?;
        let index: u32 = id.split('_').nth(1)?.parse().ok()?;
        Some((base + index, id.to_string(), state.to_string()))
    };
    text.lines().filter_map(task).collect()
}

fn task(cluster: &Cluster, shard: u32) -> String {
    let found = tasks(cluster).into_iter().find(|(n, _, state)| *n == shard && state == "RUNNING");
    found.unwrap_or_else(|| panic!("shard {shard} does not run: {:?}", tasks(cluster))).1
}

fn options(cluster: &Cluster) -> Options {
    // A result is to be seen as soon as its task is over: this is one machine.
    let settle = Duration::from_millis(500);
    Options { settle, patience: LONG, ..Options::new(program(), cluster.folder()) }
}

fn tools(cluster: &Cluster) -> Tools {
    let (variable, value) = cluster.variable();
    Tools::from_path().with(variable, value)
}

/// Results of the same tests from one process.
fn single(cluster: &Cluster, tests: u64) -> String {
    let out = cluster.folder().join("single");
    begin(&out, 1, tests, 0);
    assert!(regress("run", &out).status.success());
    merged(&out)
}

fn merged(out: &Path) -> String {
    fs::read_to_string(out.join("results.jsonl")).expect("it was merged")
}

#[test]
#[ignore = "nightly: starts Slurm"]
fn killed_requeued_and_duplicated_tasks_neither_lose_nor_double_a_result() {
    let Some(cluster) = Cluster::start("tasks", 4, 6) else { return };
    let out = cluster.folder().join("an output folder");
    begin(&out, 8, 48, 400);
    let mut slurm = Slurm::open(tools(&cluster), &out, Some(options(&cluster))).expect("Slurm is there");
    let submitted = slurm.submit().expect("it takes them");
    assert_eq!((submitted.shards.len(), submitted.jobs.len()), (8, 2), "arrays of at most 6 tasks");

    // Four nodes: 0 to 3 run.
    let place = fs::canonicalize(&out).expect("it is there").display().to_string();
    let process = |shard: u32| {
        let words = format!("regress shard {place} {shard} ");
        cluster
            .processes()
            .into_iter()
            .find(|process| process.words.ends_with(&words))
            .map(|process| process.pid)
    };
    cluster.until("the first four shards run", LONG, || (0..4).all(|shard| process(shard).is_some()));
    // One is killed by its user, one by the machine, one is put back, one is run twice at once.
    cluster.command("scancel", &["--signal=KILL", &task(&cluster, 0)]);
    let pid = process(1).expect("it runs");
    assert!(processes::signal(pid, Signal::KILL), "the shard runs");
    let requeued = task(&cluster, 2);
    cluster.command("scontrol", &["requeue", &requeued]);
    let again = || {
        let mut command = Command::new("sh");
        command.arg(out.join("slurm/shard.sh")).arg("0").env("SLURM_ARRAY_TASK_ID", "3");
        command.stdout(std::process::Stdio::null()).spawn().expect("it starts")
    };
    let mut twice = [again(), again()];
    // Slurm would wait for two minutes.
    let soon = format!("JobId={requeued}");
    cluster.until("the requeued task can be hurried", LONG, || {
        tasks(&cluster).iter().any(|(_, id, state)| *id == requeued && state == "PENDING")
    });
    cluster.command("scontrol", &["update", &soon, "StartTime=now"]);
    // One loses the end of its result.
    let cut = out.join("shards/4.result/records.jsonl");
    cluster.until("shard 4 is done", LONG, || cut.exists());
    let whole = fs::read(&cut).expect("it is there");
    fs::write(&cut, &whole[..whole.len() * 2 / 3]).expect("it can be cut");

    let mut seen = Vec::new();
    let outcome = slurm.wait(&AtomicBool::new(false), &mut |done| seen.push(done));
    let outcome = outcome.expect("Slurm answers");
    let WaitOutcome::Lost(lost) = outcome else { panic!("{outcome:?}") };
    let found: Vec<_> = lost.iter().map(|l| (l.shard, l.attempts, l.state.as_str())).collect();
    assert_eq!(found, [(0, 1, "CANCELLED")], "what was cancelled stays so, the rest is done: {seen:?}");
    assert!(lost[0].last_lines.contains("CANCELLED AT"), "{}", lost[0]);
    assert!(seen.windows(2).all(|two| two[0] <= two[1]), "{seen:?}");
    for task in &mut twice {
        assert!(task.wait().expect("it ends").success(), "another was first, which is no failure");
    }
    // The job that merges says what is missing, in its log.
    let complains = |name: &String| {
        let log = fs::read_to_string(out.join("slurm/log").join(name)).unwrap_or_default();
        log.contains("1 of 8 shards have no valid result: 0\n") && log.contains("atoms regress resume")
    };
    cluster.until("the merge says what is missing", LONG, || {
        names(&out.join("slurm/log")).iter().any(complains)
    });
    assert!(!regress("merge", &out).status.success());
    assert!(!out.join("results.jsonl").exists(), "nothing is merged in part");

    // Another process resumes.
    drop(slurm);
    let mut slurm = Slurm::open(tools(&cluster), &out, None).expect("it was used");
    let submitted = slurm.submit().expect("it takes them");
    assert_eq!((submitted.shards, submitted.done, submitted.live), (vec![0], 7, 0));
    assert!(slurm.submit().expect("nothing is refused").shards.is_empty(), "it is queued");
    let outcome = slurm.wait(&AtomicBool::new(false), &mut |_| ()).expect("Slurm answers");
    assert_eq!(outcome, WaitOutcome::Done);
    let merge = regress("merge", &out);
    assert!(merge.status.success(), "{}", String::from_utf8_lossy(&merge.stderr));

    assert_eq!(merged(&out), single(&cluster, 48));
    let shards = names(&out.join("shards"));
    let expected = |name: &String| name.ends_with(".result") || name.ends_with(".failures");
    assert!(shards.iter().all(expected), "what the dead left is gone: {shards:?}");
    assert_eq!(shards.iter().filter(|name| name.ends_with(".result")).count(), 8);
    assert_eq!(cluster.end(), []);
}

#[test]
#[ignore = "nightly: starts Slurm"]
fn when_nobody_waits_shards_are_merged_all_the_same() {
    let Some(cluster) = Cluster::start("alone", 2, 1001) else { return };
    let out = cluster.folder().join("100% alone");
    begin(&out, 4, 12, 200);
    let nowhere = Options { partition: Some("nowhere".into()), ..options(&cluster) };
    let refused = Slurm::open(tools(&cluster), &out, Some(nowhere)).and_then(|mut slurm| slurm.submit());
    let refused = refused.expect_err("there is no such partition").to_string();
    assert!(refused.contains("invalid partition specified: nowhere"), "{refused}");
    Slurm::open(tools(&cluster), &out, Some(options(&cluster)))
        .and_then(|mut slurm| slurm.submit())
        .expect("it takes them");
    cluster.until("all is merged", LONG, || out.join("results.jsonl").exists());
    assert_eq!(merged(&out), single(&cluster, 12));
    assert_eq!(cluster.end(), []);
}

#[test]
#[ignore = "nightly: starts Slurm"]
fn a_test_that_panics_leaves_no_process() {
    if programs::SLURM.find().is_none() {
        return;
    }
    let folder = std::sync::Mutex::new(None);
    let panicked = std::panic::catch_unwind(|| {
        let cluster = Cluster::start("panic", 1, 1001).expect("Slurm is there");
        *folder.lock().expect("no other holder") = Some(cluster.folder().to_path_buf());
        let out = cluster.folder().join("out");
        begin(&out, 1, 1, 600_000);
        let mut slurm = Slurm::open(tools(&cluster), &out, Some(options(&cluster))).expect("Slurm is there");
        slurm.submit().expect("it takes it");
        cluster.until("it runs", LONG, || {
            cluster.processes().iter().any(|process| process.words.contains(" shard "))
        });
        std::panic::resume_unwind(Box::new("on purpose"));
    });
    assert_eq!(panicked.expect_err("it panics").downcast_ref(), Some(&"on purpose"));
    let folder = folder.into_inner().expect("no other holder").expect("the cluster started");
    assert_eq!(left(&folder), []);
    fs::remove_dir_all(&folder).expect("its logs can be removed");
}
