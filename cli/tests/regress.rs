//! `atoms regress` as its users meet it: a bug that comes back as one bucket, processes that die, runs that
//! are interrupted, and input that is wrong.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// A folder with a plan and a copy of the RTL.
struct Bench(PathBuf);

impl Bench {
    fn new(name: &str, plan: &str) -> Self {
        let target = atoms_verilated::Environment::from_process().target;
        let folder = target.join("regress-tests").join(format!("{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        let rtl = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("rtl");
        fs::create_dir_all(folder.join("rtl")).expect("a folder");
        for entry in fs::read_dir(rtl).expect("the RTL is there") {
            let path = entry.expect("it can be read").path();
            if let (true, Some(name)) = (path.is_file(), path.file_name()) {
                fs::copy(&path, folder.join("rtl").join(name)).expect("a copy");
            }
        }
        fs::write(folder.join("plan.toml"), plan).expect("a plan");
        Bench(folder)
    }

    /// Plants a bug at a text that stands once in a file of the RTL.
    fn plant(&self, file: &str, find: &str, replace: &str) -> &Self {
        let path = self.0.join("rtl").join(file);
        let text = fs::read_to_string(&path).expect("a source");
        assert_eq!(
            text.matches(find).count(),
            1,
            "`{find}` must stand once in rtl/{file}: plant the bug anew"
        );
        fs::write(&path, text.replace(find, replace)).expect("a source");
        self
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_atoms"));
        let target = atoms_verilated::Environment::from_process().target;
        let target = std::path::absolute(target).expect("a path");
        command.current_dir(&self.0).env("ATOMS_RTL", self.0.join("rtl")).env("CARGO_TARGET_DIR", target);
        command.args(arguments);
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("it runs")
    }

    fn regress(&self, out: &str, jobs: &str) -> Output {
        self.run(&["regress", "plan.toml", "--out", out, "--jobs", jobs])
    }

    fn summary(&self, out: &str) -> Value {
        let text = fs::read_to_string(self.0.join(out).join("summary.json")).expect("a summary");
        serde_json::from_str(&text).expect("JSON")
    }

    /// What must not depend on machines and interruptions: all files but times and pages with times.
    fn lasting(&self, out: &str) -> BTreeMap<String, Vec<u8>> {
        let out = self.0.join(out);
        let mut found = BTreeMap::new();
        for name in ["results.jsonl", "summary.json", "corpus.json"] {
            found.insert(name.to_string(), fs::read(out.join(name)).expect("it is written"));
        }
        let mut folders = vec![out.join("failures")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let name = path.strip_prefix(&out).expect("it is inside").display().to_string();
                    found.insert(name, fs::read(&path).expect("it can be read"));
                }
            }
        }
        found
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}

fn words(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[track_caller]
fn assert_same(a: &BTreeMap<String, Vec<u8>>, b: &BTreeMap<String, Vec<u8>>) {
    assert_eq!(a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>());
    for (name, content) in a {
        assert!(content == &b[name], "{name} differs");
    }
}

const PLAN: &str = r#"
seed = 3
[[random]]
name = "search"
configs = ["tiny", "small"]
series = 6
episodes = 3
requests = 400
steer = true
"#;

/// The bug is in one line of the RTL; it shows in many tests of two configurations, and comes back as one
/// bucket, with a case of a few requests, the same whoever runs it.
#[test]
fn a_planted_bug_is_one_bucket() {
    let bench = Bench::new("bug", PLAN);
    bench.plant("atoms_alu.sv", "(old[i] >= b[i])", "(old[i] > b[i])");
    let output = bench.regress("one", "1");
    assert_eq!(output.status.code(), Some(1), "{}", words(&output));
    let summary = bench.summary("one");
    let buckets = summary["buckets"].as_array().expect("buckets");
    assert_eq!(buckets.len(), 1, "{}", words(&output));
    let bucket = &buckets[0];
    assert_eq!(bucket["key"], "mismatch probe.wr_data ATOMS.INC");
    assert!(bucket["requests"].as_u64().is_some_and(|requests| requests <= 3), "{bucket}");
    assert_eq!(bucket["configs"], serde_json::json!(["tiny", "small"]));
    assert!(bucket["tests"].as_u64().is_some_and(|tests| tests > 2), "{bucket}");
    assert!(words(&output).contains("mismatch probe.wr_data ATOMS.INC"), "{}", words(&output));
    // The line that repeats it does.
    let bundle = format!("one/{}", bucket["bundle"].as_str().expect("a bundle"));
    assert!(words(&output).contains(&format!("atoms repro {bundle}")), "{}", words(&output));
    let replay = bench.run(&["repro", &bundle]);
    assert_eq!(replay.status.code(), Some(1), "{}", words(&replay));
    let replay = bench.run(&["repro", "one"]);
    assert_eq!(replay.status.code(), Some(2), "{}", words(&replay));
    assert!(words(&replay).contains("its bundles are the folders in `one/failures`"), "{}", words(&replay));
    // What it covered is told, and that its tests failed.
    let cover = bench.run(&["cover", "one"]);
    assert_eq!(cover.status.code(), Some(1), "{}", words(&cover));
    assert!(words(&cover).starts_with("FAILED  12 of 12 tests did not pass\n"), "{}", words(&cover));

    let output = bench.regress("two", "2");
    assert_eq!(output.status.code(), Some(1), "{}", words(&output));
    assert_same(&bench.lasting("one"), &bench.lasting("two"));
}

/// C++ that aborts ends the process, but not the run: the tests in which it does are crashes, and whoever
/// ran beside them is not.
#[test]
fn an_abort_is_a_failed_test() {
    let plan = "seed = 3\n[stimulus.inc]\nops = [\"INC\"]\n[stimulus.add]\nops = [\"ADD\"]\n\
                [[random]]\nname = \"good\"\nconfigs = [\"tiny\"]\nstimulus = \"add\"\nseries = 8\nrequests = 300\n\
                [[random]]\nname = \"bad\"\nconfigs = [\"tiny\"]\nstimulus = \"inc\"\nseries = 2\nrequests = 300\n\
                [[random]]\nname = \"more\"\nconfigs = [\"tiny\"]\nstimulus = \"add\"\nseries = 8\nrequests = 300\n";
    let bench = Bench::new("abort", plan);
    let find = "OpInc:\n        for (int unsigned i = 0; i < NumBanks; i++)";
    let abort =
        "OpInc:\n        for (int unsigned i = 0; i < NumBanks; i++) if (b[i] == 2) $c(\"abort();\"); else";
    bench.plant("atoms_alu.sv", find, abort);
    let output = bench.regress("out", "2");
    assert_eq!(output.status.code(), Some(1), "{}", words(&output));
    let summary = bench.summary("out");
    assert_eq!(summary["totals"]["passed"], 16, "{}", words(&output));
    assert_eq!(summary["totals"]["crashed"], 2, "{}", words(&output));
    let buckets = summary["buckets"].as_array().expect("buckets");
    assert_eq!(buckets.len(), 1, "{}", words(&output));
    assert_eq!(buckets[0]["key"], "crash signal 6");
    let bundle = buckets[0]["bundle"].as_str().unwrap_or_else(|| panic!("a bundle: {}", words(&output)));
    assert!(bench.0.join("out").join(bundle).join("original.json").is_file());
}

const LONGER: &str = "seed = 5\n[[random]]\nname = \"search\"\nconfigs = [\"tiny\", \"small\"]\nseries = 24\n\
                      episodes = 4\nrequests = 4000\nsteer = true\n";

/// Starts a run and waits until it has some results.
fn started(bench: &Bench, out: &str) -> Child {
    let mut command = bench.command(&["regress", "plan.toml", "--out", out, "--jobs", "2"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let results = bench.0.join(out).join("running");
    let deadline = Instant::now() + Duration::from_secs(120);
    while !results.is_dir() {
        assert!(Instant::now() < deadline, "no test was begun within two minutes");
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(300));
    child
}

fn kill(signal: &str, process: u32) {
    let status = Command::new("kill").args([signal, &process.to_string()]).status().expect("kill is there");
    assert!(status.success(), "kill {signal} {process}");
}

/// The process that runs the tests.
fn worker_of(parent: u32) -> u32 {
    let children = fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).expect("it runs");
    children.split_whitespace().next().and_then(|child| child.parse().ok()).expect("it has a child")
}

/// However a run is cut off, going on gives what it would have given.
#[test]
fn an_interrupted_run_goes_on() {
    let bench = Bench::new("interrupt", LONGER);
    let whole = bench.regress("whole", "2");
    assert_eq!(whole.status.code(), Some(0), "{}", words(&whole));

    let child = started(&bench, "stopped");
    kill("-INT", child.id());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130), "{}", words(&output));
    assert!(words(&output).contains("atoms regress resume stopped"), "{}", words(&output));
    let part = bench.summary("stopped");
    assert_eq!(part["complete"], false);
    // Beginning anew would throw away what is there.
    let again = bench.regress("stopped", "2");
    assert_eq!(again.status.code(), Some(2), "{}", words(&again));
    assert!(words(&again).contains("holds a run that was interrupted"), "{}", words(&again));
    let resumed = bench.run(&["regress", "resume", "stopped", "--jobs", "1"]);
    assert_eq!(resumed.status.code(), Some(0), "{}", words(&resumed));
    assert_same(&bench.lasting("whole"), &bench.lasting("stopped"));

    // Killed with both processes: what is on disk suffices.
    let child = started(&bench, "killed");
    let worker = worker_of(child.id());
    kill("-KILL", child.id());
    kill("-KILL", worker);
    child.wait_with_output().expect("it ends");
    let resumed = bench.run(&["regress", "resume", "killed", "--jobs", "2"]);
    assert_eq!(resumed.status.code(), Some(0), "{}", words(&resumed));
    assert_same(&bench.lasting("whole"), &bench.lasting("killed"));

    // The process that runs the tests is killed once, by somebody else: no test is to blame.
    let child = started(&bench, "shot");
    kill("-KILL", worker_of(child.id()));
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));
    assert_same(&bench.lasting("whole"), &bench.lasting("shot"));

    // Results of two different RTLs do not belong together.
    bench.plant("atoms_alu.sv", "(old[i] >= b[i])", "(old[i] > b[i])");
    let other = bench.run(&["regress", "resume", "stopped"]);
    assert_eq!(other.status.code(), Some(2), "{}", words(&other));
    assert!(words(&other).contains("RTL: then"), "{}", words(&other));
}

/// However long a series is, its limit holds, and whoever tells the run to end twice need not wait for it.
#[test]
fn a_long_series_can_be_ended() {
    let plan = "[[random]]\nname = \"long\"\nconfigs = [\"tiny\"]\nepisodes = 100_000_000\nrequests = 3\n";
    let bench = Bench::new("long", plan);
    let child = started(&bench, "out");
    let worker = worker_of(child.id());
    kill("-INT", child.id());
    std::thread::sleep(Duration::from_millis(300));
    assert!(Path::new("/proc").join(worker.to_string()).exists(), "the first time the test is finished");
    kill("-TERM", child.id());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130), "{}", words(&output));
    assert!(words(&output).contains("finishes the tests at work"), "{}", words(&output));
    assert!(words(&output).contains("atoms regress resume out"), "{}", words(&output));
    assert!(!Path::new("/proc").join(worker.to_string()).exists(), "nothing is left that runs tests");

    fs::write(bench.0.join("plan.toml"), format!("{plan}timeout = \"1s\"\n")).expect("a plan");
    let output = bench.regress("limited", "1");
    assert_eq!(output.status.code(), Some(1), "{}", words(&output));
    assert_eq!(bench.summary("limited")["totals"]["timed_out"], 1, "{}", words(&output));
}

#[test]
fn what_cannot_be_run_is_said() {
    let bench = Bench::new("bad", PLAN);
    let waived = format!("[profile.p]\nwaivers = \"nothing.toml\"\n{}", PLAN.replace("seed = 3", ""));
    fs::write(bench.0.join("waived.toml"), waived).expect("a plan");
    fs::create_dir(bench.0.join("full")).expect("a folder");
    fs::write(bench.0.join("full/something"), "of somebody").expect("a file");
    fs::write(bench.0.join("file"), "").expect("a file");
    let rows: &[(&[&str], &str)] = &[
        (&["regress", "nothing.toml"], "cannot read `nothing.toml`"),
        (&["regress", "plan.toml", "--profile", "x"], "the plan has no profiles"),
        (&["regress", "plan.toml", "--tag", "x"], "no entry has it"),
        (&["regress", "plan.toml", "--out", "full"], "is no output folder of a regression"),
        (&["regress", "plan.toml", "--out", "file/in"], "cannot write `file/in`"),
        (&["regress", "waived.toml", "--list"], "waivers of the profile: cannot read `nothing.toml`"),
        (&["regress", "plan.toml", "--shards", "4"], "for --executor slurm"),
        (&["regress", "resume", "nowhere"], "`nowhere` is no output folder of a regression"),
        (&["regress", "merge", "nowhere"], "`nowhere` is no output folder of a regression"),
        (&["regress", "plan.toml", "--jobs", "0"], "0 is not in 1..=1024"),
    ];
    for (arguments, expected) in rows {
        let output = bench.run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", words(&output));
        assert!(words(&output).contains(expected), "{arguments:?}: {}", words(&output));
    }
    assert!(bench.0.join("full/something").is_file(), "what is somebody else's stays");
}

/// Two runs cover at least what each covers; runs of two RTLs are not brought together.
#[test]
fn runs_are_covered_together() {
    let plan = "[profile.p]\nrtl_coverage = \"toggles\"\n[[random]]\nname = \"r\"\nconfigs = [\"tiny\"]\nseries = 4\nrequests = 40\n";
    let bench = Bench::new("cover", plan);
    let mut hits = Vec::new();
    for (out, seed) in [("one", "1"), ("two", "2")] {
        let output = bench.run(&["regress", "plan.toml", "--out", out, "--seed", seed, "--jobs", "1"]);
        assert_eq!(output.status.code(), Some(0), "{}", words(&output));
        hits.push(bench.summary(out)["coverage"]["hit"].as_u64().expect("a number"));
    }
    // Each worker makes machines of its own, which is not to be seen in what was reached.
    let output = bench.run(&["regress", "plan.toml", "--out", "other", "--seed", "1", "--jobs", "2"]);
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));
    assert_same(&bench.lasting("one"), &bench.lasting("other"));
    let output = bench.run(&["cover", "one", "./one"]);
    assert_eq!(output.status.code(), Some(2), "{}", words(&output));
    assert!(words(&output).contains("named twice"), "{}", words(&output));
    let output = bench.run(&["cover", "one", "two", "--lcov", "both.info", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));
    let both: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let hit = both["coverage"]["hit"].as_u64().expect("a number");
    assert!(hits.iter().all(|one| hit > *one) && hit < hits.iter().sum(), "{hit} of {hits:?}");
    assert_eq!(both["totals"]["passed"], 8);
    let toggles = both["rtl_coverage"]["files"].as_array().expect("files").iter().find_map(|file| {
        let toggles = file["toggles"].as_array()?;
        Some((toggles[0].as_u64()?, toggles[1].as_u64()?))
    });
    assert!(toggles.is_some_and(|(bits, both_ways)| both_ways > 0 && both_ways < bits), "{toggles:?}");
    let lcov = fs::read_to_string(bench.0.join("both.info")).expect("it was written");
    assert!(lcov.contains("SF:rtl/atoms_pipe.sv"), "{lcov:.300}");
    bench.plant("atoms_alu.sv", "(old[i] >= b[i])", "(old[i] > b[i])");
    let output = bench.run(&["cover", "one", "two"]);
    assert_eq!(output.status.code(), Some(2), "{}", words(&output));
    assert!(words(&output).contains("RTL: then"), "{}", words(&output));
}
