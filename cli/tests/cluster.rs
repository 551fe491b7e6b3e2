//! `atoms regress` on a real Slurm with killed tasks gives the same results as one process, byte for byte.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use atoms_host::processes::{self, Process, Signal, Tree};
use atoms_tests::regression::{assert_same, plan, rtl_with_bugs};
use atoms_tests::slurm::Cluster;

const LONG: Duration = Duration::from_secs(60);

fn regress(cluster: &Cluster, rtl: &Path, args: &[&str]) -> Command {
    let (variable, value) = cluster.variable();
    let mut command = Command::new(env!("CARGO_BIN_EXE_atoms"));
    // Slurm passes the environment to the tasks.
    command.arg("regress").args(args).env(variable, value).env("ATOMS_RTL", rtl).stdin(Stdio::null());
    command
}

fn words(output: &Output) -> String {
    let text = [&output.stdout[..], &output.stderr].concat();
    String::from_utf8_lossy(&text).into_owned()
}

/// Returns two processes of a shard that is running a test: the task of Slurm and the worker.
fn processes_of(cluster: &Cluster, out: &Path, shard: u32) -> Option<(u32, u32)> {
    let work = format!("/shards/.{shard}.work.");
    let out_name = out.display();
    let processes = cluster.processes();
    let find = |words: [&str; 2]| {
        let all = |one: &&Process| words.iter().all(|word| one.words.contains(word));
        processes.iter().find(all).map(|one| one.pid)
    };
    let task = find([" regress shard ", &format!(" {out_name} {shard} ")])?;
    let worker = find([" regress worker ", &format!(" {out_name}{work}")])?;
    let folders = fs::read_dir(out.join("shards")).ok()?.flatten().map(|entry| entry.path());
    let mut desks = folders
        .filter(|path| path.display().to_string().contains(&work))
        .filter_map(|path| fs::read_dir(path.join("running")).ok())
        .flat_map(|desks| desks.flatten().map(|desk| fs::read_to_string(desk.path()).unwrap_or_default()));
    desks.any(|desk| desk.contains(" test ")).then_some((task, worker))
}

fn task(cluster: &Cluster, shard: u32) -> String {
    let text = cluster.command("squeue", &["-h", "-r", "-t", "RUNNING", "-o", "%F_%K"]);
    let task = text.lines().find(|id| id.ends_with(&format!("_{shard}")));
    task.unwrap_or_else(|| panic!("shard {shard} does not run: {text}")).to_string()
}

fn end_of(mut waiting: Tree) -> (Option<i32>, String) {
    let begun = Instant::now();
    while waiting.try_wait().expect("it was started").is_none() {
        assert!(begun.elapsed() < LONG, "it waits for ever");
        std::thread::sleep(Duration::from_millis(50));
    }
    let output = waiting.wait_with_output();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

fn place(cluster: &Cluster, name: &str) -> PathBuf {
    let folder = fs::canonicalize(cluster.folder()).expect("it is there").join(name);
    fs::create_dir_all(&folder).expect("a folder can be made");
    folder.join("an output folder")
}

#[test]
#[ignore = "nightly: starts Slurm"]
fn what_killed_tasks_leave_is_merged_into_what_one_process_writes() {
    let Some(cluster) = Cluster::start("regress", 3, 1001) else { return };
    let rtl = rtl_with_bugs();
    let plan = plan(cluster.folder(), 10_000);
    let plan = plan.to_str().expect("a path in UTF-8");
    let (one, out) = (place(&cluster, "one"), place(&cluster, "shards"));
    let [one_name, out_name] = [&one, &out].map(|path| path.to_str().expect("a path in UTF-8"));
    let args = [plan, "--profile", "all", "--jobs", "1", "--output", one_name];
    let whole = regress(&cluster, &rtl, &args).output().expect("atoms starts");
    assert_eq!(whole.status.code(), Some(1), "there are bugs: {}", words(&whole));

    let timed = [plan, "--profile", "timed", "--executor", "slurm", "--output", out_name];
    let refused = regress(&cluster, &rtl, &timed).output().expect("atoms starts");
    assert_eq!(refused.status.code(), Some(2), "{}", words(&refused));
    assert!(words(&refused).contains("has a budget of wall time"), "{}", words(&refused));

    let args = [plan, "--profile", "all", "--executor", "slurm", "--shards", "8"];
    // A worker that is told to end runs at most two more tests. Each shard has at least twice as many tests.
    let args =
        [&args[..], &["--cpus-per-task", "1", "--settle", "0.5", "--force", "--output", out_name]].concat();
    let mut command = regress(&cluster, &rtl, &args);
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    let waiting = Tree::start(command);
    // With three nodes, shards 0 to 2 run. A shard may take only half a second, so each one is stopped as
    // soon as it runs a test.
    let mut seen = [None; 3];
    cluster.until("three shards are at a test", LONG, || {
        for (shard, seen) in (0..).zip(&mut seen).filter(|(_, seen)| seen.is_none()) {
            let Some((whole, worker)) = processes_of(&cluster, &out, shard) else { continue };
            let group = Process::read(whole).expect("it runs").group;
            assert!(processes::signal(worker, Signal::STOP), "it runs");
            assert!(processes::signal_group(group, Signal::STOP), "it runs");
            *seen = Some((group, worker));
        }
        seen.iter().all(Option::is_some)
    });
    let [_, Some((of_1, _)), Some((of_2, worker))] = seen else { unreachable!("all are seen") };
    // Shard 0 is cancelled by its user, shard 1 loses all processes, and shard 2 only its worker.
    cluster.command("scancel", &["--signal=KILL", &task(&cluster, 0)]);
    assert!(processes::signal_group(of_1, Signal::KILL), "it stands still");
    assert!(processes::signal(worker, Signal::KILL), "it stands still");
    assert!(processes::signal_group(of_2, Signal::CONT), "it stands still");
    let (code, text) = end_of(waiting);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("8 shards submitted as ") && text.contains("shards without a result"), "{text}");
    assert!(text.contains("shard 0 (") && text.contains("shard 1 ("), "both that were killed: {text}");
    assert!(!text.contains("shard 2 ("), "its process of tests was started again: {text}");
    assert!(!out.join("summary.json").exists(), "nothing is merged in part");
    let missing = regress(&cluster, &rtl, &["merge", out_name]).output().expect("atoms starts");
    assert_eq!(missing.status.code(), Some(2), "{}", words(&missing));
    assert!(words(&missing).contains("2 of 8 shards have no valid result: 0-1\n"), "{}", words(&missing));
    let log = |entry: fs::DirEntry| fs::read_to_string(entry.path()).unwrap_or_default();
    let logs = fs::read_dir(out.join("slurm/log")).expect("a folder").flatten().map(log);
    assert_eq!(logs.filter(|log| log.contains("the process died (signal 9 (SIGKILL")).count(), 1);

    let elsewhere = regress(&cluster, &atoms_cosim::embedded::rtl_dir(), &["resume", out_name]).output();
    let elsewhere = elsewhere.expect("atoms starts");
    assert_eq!(elsewhere.status.code(), Some(2), "{}", words(&elsewhere));
    assert!(words(&elsewhere).contains("RTL: then "), "{}", words(&elsewhere));
    let resumed = regress(&cluster, &rtl, &["resume", out_name]).output().expect("atoms starts");
    assert_eq!(resumed.status.code(), Some(1), "there are bugs: {}", words(&resumed));
    assert!(words(&resumed).contains("2 shards submitted as "), "{}", words(&resumed));

    assert_same(&one, &out);
    let shards = fs::read_dir(out.join("shards")).expect("a folder").flatten();
    let mut names: Vec<_> = shards.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.retain(|name| !name.ends_with(".failures"));
    names.sort();
    assert_eq!(names, (0..8).map(|n| format!("{n}.result")).collect::<Vec<_>>(), "the dead left nothing");
    assert_eq!(cluster.end(), []);
}

/// Slurm tasks measure the points of a sweep. The waiting process finds all results and writes the report.
#[test]
#[ignore = "nightly: starts Slurm"]
fn a_sweep_is_dealt_out_to_tasks() {
    let Some(cluster) = Cluster::start("sweep", 2, 1001) else { return };
    let (variable, value) = cluster.variable();
    let folder = place(&cluster, "sweep");
    fs::create_dir_all(&folder).expect("a folder can be made");
    let file = folder.join("a sweep.toml");
    let text = "about = \"Do banks help?\"\nworkload = \"contend\"\nconfig = \"small\"\n[unit]\n\
                num_banks = [4, 8, 16]\n[with]\nunits = [4, 8]\n";
    fs::write(&file, text).expect("a file can be written");
    let sweep = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_atoms"));
        command
            .args(["explore", "sweep"])
            .arg(&file)
            .args(["--certify", "none", "--output"])
            .arg(folder.join("out"));
        command.args(args).env(variable, &value).env("CARGO_TARGET_DIR", folder.join("store"));
        command.stdin(Stdio::null()).output().expect("atoms starts")
    };
    let refused = sweep(&["--executor", "slurm", "--slurm-arg=--partition=none"]);
    assert_eq!(refused.status.code(), Some(2), "{}", words(&refused));
    assert!(words(&refused).contains("invalid partition specified: none"), "{}", words(&refused));
    let shard = sweep(&["--shard", "2/3"]);
    assert!(
        words(&shard).contains("shard 2 of 3: 2 points measured and kept, 0 failed"),
        "{}",
        words(&shard)
    );
    let output = sweep(&["--executor", "slurm", "--shards", "3"]);
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));
    assert!(words(&output).contains("6, 6 of them measured before"), "{}", words(&output));
    let log = fs::read_to_string(folder.join("out/slurm-1.log")).expect("a task's log");
    assert!(log.contains("shard 1 of 3: 2 points measured and kept"), "{log}");
}
