//! Shards on a real Slurm, with tasks that are killed, requeued and duplicated.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use atoms_host::processes::{self, Signal};
use atoms_host::programs;
use atoms_regress::cluster::slurm::{SlurmCommands, SlurmOptions, SlurmShards, WaitOutcome};
use atoms_regress::cluster::{Cut, FORMAT, Manifest};
use atoms_regress::run::origin::Origin;
use atoms_tests::slurm::{Cluster, left};

const LONG: Duration = Duration::from_secs(60);

/// Stand-in for `atoms` with slow tests.
fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_slow_shards"))
}

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

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut names: Vec<_> =
        entries.map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Returns shard, task id and state of each task that Slurm knows.
fn tasks(cluster: &Cluster) -> Vec<(u32, String, String)> {
    let text = cluster.command("squeue", &["-h", "-r", "-t", "all", "-o", "%F_%K|%T"]);
    let task = |line: &str| {
        let (id, state) = line.split_once('|')?;
        Some((id.split('_').nth(1)?.parse().ok()?, id.to_string(), state.to_string()))
    };
    text.lines().filter_map(task).collect()
}

fn task(cluster: &Cluster, shard: u32) -> String {
    let found = tasks(cluster).into_iter().find(|(n, _, state)| *n == shard && state == "RUNNING");
    found.unwrap_or_else(|| panic!("shard {shard} does not run: {:?}", tasks(cluster))).1
}

/// Returns the shards of a folder, to be submitted with `args` for `sbatch`.
fn shards(cluster: &Cluster, out: &Path, args: &[&str]) -> SlurmShards {
    let (variable, value) = cluster.variable();
    let commands = SlurmCommands(vec![(variable.into(), value.into())]);
    // On one machine, a result is visible as soon as its task ends.
    let settle = Duration::from_millis(500);
    let options = SlurmOptions { args: args.iter().map(ToString::to_string).collect(), settle };
    SlurmShards::new(commands, out, program(), options).expect("the folder can be written")
}

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
    let Some(cluster) = Cluster::start("tasks", 4, 1001) else { return };
    let out = cluster.folder().join("an output folder");
    begin(&out, 8, 48, 400);
    let slurm = shards(&cluster, &out, &[]);
    let (submitted, _) = slurm.submit().expect("it takes them").expect("nothing is done");
    assert_eq!(submitted, (0..8).collect::<Vec<_>>());

    // With four nodes, shards 0 to 3 run.
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
    // Shard 0 is cancelled, the process of 1 is killed, 2 is requeued, and 3 runs three times at once.
    cluster.command("scancel", &["--signal=KILL", &task(&cluster, 0)]);
    let pid = process(1).expect("it runs");
    assert!(processes::signal(pid, Signal::KILL), "the shard runs");
    let requeued = task(&cluster, 2);
    cluster.command("scontrol", &["requeue", &requeued]);
    let again =
        || Command::new(program()).args(["regress", "shard"]).arg(&out).arg("3").spawn().expect("it starts");
    let mut twice = [again(), again()];
    // Without this update, Slurm waits for two minutes.
    let soon = format!("JobId={requeued}");
    cluster.until("the requeued task can be hurried", LONG, || {
        tasks(&cluster).iter().any(|(_, id, state)| *id == requeued && state == "PENDING")
    });
    cluster.command("scontrol", &["update", &soon, "StartTime=now"]);
    // The result of shard 4 is truncated.
    let cut = out.join("shards/4.result/records.jsonl");
    cluster.until("shard 4 is done", LONG, || cut.exists());
    let whole = fs::read(&cut).expect("it is there");
    fs::write(&cut, &whole[..whole.len() * 2 / 3]).expect("it can be cut");

    let mut seen = Vec::new();
    let outcome = slurm.wait(&AtomicBool::new(false), &mut |done| seen.push(done));
    let outcome = outcome.expect("Slurm answers");
    let (outcome, missing) = outcome;
    assert_eq!(outcome, WaitOutcome::Ended);
    let numbers: Vec<_> = missing.iter().map(|missing| missing.shard).collect();
    assert_eq!(numbers, [0, 1, 4], "two were killed, one result was cut: {seen:?}");
    assert!(missing[0].to_string().contains("CANCELLED AT"), "{}", missing[0]);
    assert!(missing[2].problem.is_some(), "{}", missing[2]);
    assert!(seen.windows(2).all(|two| two[0] <= two[1]), "{seen:?}");
    for task in &mut twice {
        assert!(task.wait().expect("it ends").success(), "another was first, which is no failure");
    }
    let merge = regress("merge", &out);
    assert!(!merge.status.success());
    let words = String::from_utf8_lossy(&merge.stderr);
    assert!(words.contains("3 of 8 shards have no valid result: 0-1, 4\n"), "{words}");
    assert!(words.contains("atoms regress resume"), "{words}");
    assert!(!out.join("results.jsonl").exists(), "nothing is merged in part");

    drop(slurm);
    let slurm = shards(&cluster, &out, &[]);
    let (submitted, _) = slurm.submit().expect("it takes them").expect("three are missing");
    assert_eq!(submitted, [0, 1, 4]);
    assert_eq!(slurm.submit().expect("nothing is refused"), None, "they are queued");
    let outcome = slurm.wait(&AtomicBool::new(false), &mut |_| ()).expect("Slurm answers");
    assert_eq!(outcome, (WaitOutcome::Done, Vec::new()));
    let merge = regress("merge", &out);
    assert!(merge.status.success(), "{}", String::from_utf8_lossy(&merge.stderr));

    assert_eq!(merged(&out), single(&cluster, 48));
    let shards = names(&out.join("shards"));
    let expected = |name: &String| name.ends_with(".result") || name.ends_with(".failures");
    assert!(shards.iter().all(expected), "what the dead left is gone: {shards:?}");
    assert_eq!(shards.iter().filter(|name| name.ends_with(".result")).count(), 8);
    assert_eq!(cluster.end(), []);
}

/// A process waits for the job of an earlier process. An interrupted process cancels the job.
#[test]
#[ignore = "nightly: starts Slurm"]
fn a_later_process_waits_for_the_job_of_an_earlier_one() {
    let Some(cluster) = Cluster::start("alone", 2, 1001) else { return };
    let out = cluster.folder().join("100% alone");
    begin(&out, 4, 12, 200);
    let refused = shards(&cluster, &out, &["--partition=nowhere"]).submit();
    let refused = refused.expect_err("there is no such partition").to_string();
    assert!(refused.contains("invalid partition specified: nowhere"), "{refused}");
    assert!(shards(&cluster, &out, &[]).submit().expect("it takes them").is_some());
    let later = shards(&cluster, &out, &[]);
    assert_eq!(later.submit().expect("Slurm answers"), None, "the job of the earlier process runs");
    let outcome = later.wait(&AtomicBool::new(false), &mut |_| ()).expect("Slurm answers");
    assert_eq!(outcome, (WaitOutcome::Done, Vec::new()));
    assert!(regress("merge", &out).status.success());
    assert_eq!(merged(&out), single(&cluster, 12));

    let out = cluster.folder().join("interrupted");
    begin(&out, 4, 4, 600_000);
    let slurm = shards(&cluster, &out, &[]);
    slurm.submit().expect("it takes them");
    let running = || cluster.processes().iter().any(|process| process.words.contains(" shard "));
    cluster.until("it runs", LONG, running);
    let (outcome, missing) = slurm.wait(&AtomicBool::new(true), &mut |_| ()).expect("Slurm answers");
    assert_eq!((outcome, missing.len()), (WaitOutcome::Cancelled, 4));
    cluster.until("no task is left", LONG, || !running());
    let states = tasks(&cluster).into_iter().filter(|(_, _, state)| state == "RUNNING" || state == "PENDING");
    assert_eq!(states.count(), 0);
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
        shards(&cluster, &out, &[]).submit().expect("it takes it");
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
