//! `atoms regress` as a user runs it: planted bugs, dying processes, interrupted runs and invalid input.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use atoms_cosim::campaign::Campaign;
use atoms_cosim::lockstep::Lockstep;
use atoms_cosim::rtl;
use atoms_cosim::session::Session;
use atoms_host::processes::{self, Process, Signal, Tree};
use atoms_stimulus::Profile;
use atoms_stimulus::configs;
use atoms_verilated::Variant;
use serde_json::{Value, json};

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

    /// Plants a bug by replacing a text that occurs once in a file of the RTL.
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

    /// Runs random requests on RTL and model in lockstep, on one thread. Returns the failure and its wave.
    fn in_step(&self, config: &str, seed: u64, requests: u64) -> (String, Vec<u8>) {
        let rtl = self.0.join("rtl");
        let config = configs::named(&rtl, config).expect("a configuration");
        let library = rtl::library(&rtl, &config, Variant::Fast, &mut |_| {}).expect("it is built");
        let machine = Lockstep::new(library.instantiate().expect("an instance"), config.config);
        let campaign = Campaign { config, profile: Profile::default(), seed, requests, until: u64::MAX };
        let session = Session::new(machine.expect("it comes out of reset"), Some(campaign.scoreboard()));
        let mut failed = campaign.run(session, |_| {}).expect_err("a defect is planted");
        failed.failure.name_config(&campaign.config.name);
        let wave = self.0.join("in_step.vcd");
        failed.write_trace(&wave).expect("a wave");
        (failed.failure.to_string(), fs::read(wave).expect("it is written"))
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("it runs")
    }

    fn regress(&self, out: &str, jobs: &str) -> Output {
        self.run(&["regress", "plan.toml", "--output", out, "--jobs", jobs])
    }

    fn summary(&self, out: &str) -> Value {
        let text = fs::read_to_string(self.0.join(out).join("summary.json")).expect("a summary");
        serde_json::from_str(&text).expect("JSON")
    }

    /// Returns the files that must not depend on machine or interruptions: all except files with times.
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
[profile.all]
causes = false
[[random]]
name = "search"
configs = ["tiny", "small"]
series = 6
episodes = 3
requests = 400
steer = true
"#;

/// A bug in one line of the RTL fails many tests in two configurations. All failures are one bucket with a
/// case of a few requests, and the result is the same on every machine.
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
    let key = json!({ "kind": "mismatch", "what": "probe.wr_data", "op": "ATOMS.INC" });
    assert_eq!(bucket["key"], key);
    assert!(bucket["requests"].as_u64().is_some_and(|requests| requests <= 3), "{bucket}");
    assert_eq!(bucket["configs"], json!(["tiny", "small"]));
    let failed = bucket["tests"].as_u64().expect("a number of tests");
    assert!(failed > 2, "{bucket}");
    assert!(words(&output).contains("mismatch probe.wr_data ATOMS.INC"), "{}", words(&output));
    // The bundle reproduces the failure.
    let bundle = format!("one/{}", bucket["bundle"].as_str().expect("a bundle"));
    assert!(words(&output).contains(&format!("atoms repro {bundle}")), "{}", words(&output));
    let replay = bench.run(&["repro", &bundle]);
    assert_eq!(replay.status.code(), Some(1), "{}", words(&replay));
    let replay = bench.run(&["repro", "one"]);
    assert_eq!(replay.status.code(), Some(2), "{}", words(&replay));
    assert!(words(&replay).contains("its bundles are the folders in `one/failures`"), "{}", words(&replay));
    // `atoms cover` prints the coverage, and reports that tests failed.
    let cover = bench.run(&["cover", "one"]);
    assert_eq!(cover.status.code(), Some(1), "{}", words(&cover));
    assert!(
        words(&cover).starts_with(&format!("FAILED  {failed} of 12 tests did not pass\n")),
        "{}",
        words(&cover)
    );

    let output = bench.regress("two", "2");
    assert_eq!(output.status.code(), Some(1), "{}", words(&output));
    assert_same(&bench.lasting("one"), &bench.lasting("two"));
}

/// A run with causes names the changed line as the most likely cause.
#[test]
#[ignore = "nightly: builds RTL with a bug and all mutants of it"]
fn a_bucket_names_its_likeliest_cause() {
    let bench = Bench::new("cause", &PLAN.replace("causes = false", "causes = true"));
    bench.plant("atoms_alu.sv", "(old[i] >= b[i])", "(old[i] > b[i])");
    let output = bench.regress("one", "2");
    assert_eq!(output.status.code(), Some(1), "{}", words(&output));
    let summary = bench.summary("one");
    let suspect = summary["buckets"][0]["suspect"].as_str().expect("a likeliest cause");
    assert!(suspect.starts_with("atoms_alu.sv:") && suspect.contains("(old[i] > b[i])"), "{suspect}");
    assert!(words(&output).contains("suspect atoms_alu.sv:"), "{}", words(&output));
}

/// A failure records a point only by its name. Each way to repeat the failure finds the point again.
#[test]
#[ignore = "nightly: builds RTL with a bug of its own"]
fn a_failure_of_a_point_is_repeated() {
    let bench = Bench::new("point", PLAN);
    bench.plant("atoms_alu.sv", "(old[i] >= b[i])", "(old[i] > b[i])");
    let found = |arguments: &[&str], expected: &str| {
        let output = bench.run(arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {}", words(&output));
        assert!(words(&output).contains(expected), "{arguments:?}: {}", words(&output));
        words(&output)
    };
    let point = "tiny,num_banks=8,rmw_latency=2";
    let set = ["--config", "tiny", "--set", "rmw_latency=2", "--set", "num_banks=8"];
    found(&[&["regress", "plan.toml", "--output", "out", "--jobs", "2"], &set[..]].concat(), point);
    let summary = bench.summary("out");
    let bucket = &summary["buckets"][0];
    assert_eq!(bucket["configs"], json!([point]));
    found(&["regress", "resume", "out"], point);
    let covered = found(&["cover", "out"], "did not pass");
    assert!(!covered.contains(" of       0"), "bins of a point are bins: {covered}");
    let bundle = format!("out/{}", bucket["bundle"].as_str().expect("a bundle"));
    let replayed = found(&["repro", &bundle], "found      the same");
    assert!(replayed.contains(&format!("configuration {point}\n")), "{replayed}");
    found(&["repro", &bundle, "--here"], "found      the same");

    let text = found(&[&["cosim", "--ops", "INC"], &set[..]].concat(), &format!("config   {point}\n"));
    let line = |what: &str| {
        let line = text.lines().find_map(|line| line.trim_start().strip_prefix(what));
        let line = line.unwrap_or_else(|| panic!("no `{what}` in {text}"));
        line.split_whitespace().collect::<Vec<_>>()
    };
    let repeat = line("repeat   atoms");
    assert!(repeat.contains(&point), "{repeat:?}");
    assert_eq!(found(&repeat, "mismatch at cycle").lines().next(), text.lines().next());
    let smaller = line("smaller  atoms");
    found(&smaller, "mismatch at cycle");
    found(&["wave", "at", smaller.last().expect("a case"), "--output", "at.vcd"], "found      in cycle");
}

/// A failure of another unit is repeated on its RTL, and is gone once the RTL is mended. Its coverage is merged with that of
/// this project's unit.
#[test]
#[ignore = "nightly: builds RTL with a bug of its own"]
fn a_failure_of_another_unit_is_repeated() {
    let bench = Bench::new("foreign", PLAN);
    let units = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("tests").join("units/serial");
    fs::copy(units.join("serial_unit.sv"), bench.0.join("serial_unit.sv")).expect("a copy");
    let text = fs::read_to_string(units.join("unit.toml")).expect("a declaration");
    let declare = |bug| {
        fs::write(bench.0.join("unit.toml"), format!("defines = [\"BUG={bug}\"]\n{text}")).expect("written");
    };
    let ends = |arguments: &[&str], status: i32, expected: &str| {
        let output = bench.run(arguments);
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {}", words(&output));
        assert!(words(&output).contains(expected), "{arguments:?}: {}", words(&output));
    };
    let regress = |out, status, expected: &str| {
        let plan = ["regress", "plan.toml", "--jobs", "2", "--unit", "unit.toml", "--output", out];
        ends(&plan, status, expected);
    };
    declare(3);
    regress("bad", 1, "oracle pred ATOMS.CAS");
    ends(&["regress", "resume", "bad"], 1, "oracle pred ATOMS.CAS");
    let bundle = format!("bad/{}", bench.summary("bad")["buckets"][0]["bundle"].as_str().expect("a bundle"));
    let case = format!("{bundle}/case.json");
    ends(&["repro", &bundle, "--here"], 1, "found      the same");
    ends(&["cosim", "--case", &case, "--unit", "unit.toml"], 1, "so its predicate must be 0, got 1 (spec 3)");
    declare(0);
    ends(&["repro", &bundle, "--here"], 0, "agree");
    ends(&["repro", &bundle, "--trust"], 1, "found      the same");
    ends(&["cosim", "--case", &case, "--unit", "unit.toml"], 0, "rtl and oracle agree");
    regress("good", 0, "config serial");
    ends(&["regress", "plan.toml", "--config", "tiny", "--output", "own"], 0, "config tiny");
    ends(&["cover", "good", "own", "--json"], 0, "\"passed\": 12");
}

/// A process that crashes or hangs does not end the run. Each such test has its own status and a bucket with
/// a bundle, and the other tests pass.
#[test]
#[ignore = "nightly: builds RTL with a bug of its own"]
fn a_test_that_ends_or_holds_the_process_is_recorded() {
    let mut plan = "seed = 3\n".to_string();
    let ways = [
        ("INC", "abort", json!({ "kind": "crash", "what": "signal 6" }), "crashed"),
        ("DEC", "exit", json!({ "kind": "crash", "what": "exit" }), "crashed"),
        ("AND", "segv", json!({ "kind": "crash", "what": "signal 11" }), "crashed"),
        ("XOR", "trap", json!({ "kind": "crash", "what": "signal 4" }), "crashed"),
        ("EXCH", "hang", json!({ "kind": "hang" }), "timed_out"),
        ("ADD", "good", json!(null), ""),
        ("CAS", "more", json!(null), ""),
    ];
    for (op, name, ..) in &ways {
        plan += &format!(
            "[[random]]\nname = \"{name}\"\nconfigs = [\"tiny\"]\nstimulus = {{ ops = [\"{op}\"] }}\n\
             series = 2\nrequests = 200\ntimeout = \"1s\"\n"
        );
    }
    let bench = Bench::new("ends", &plan);
    let end = "endmodule : atoms_alu";
    let at = |op: &str, code: &str| {
        format!("    if (valid_i != '0 && op_i == {op} && b_i[0] == 2) $c(\"{code}\");\n")
    };
    let code = [
        at("OpInc", "abort();"),
        at("OpDec", "exit(0);"),
        at("OpAnd", "*(volatile int*)0 = 1;"),
        at("OpXor", "__builtin_trap();"),
        at("OpExch", "for (volatile int i = 0;;) i = 1;"),
    ]
    .concat();
    bench.plant("atoms_alu.sv", end, &format!("  always_comb begin\n{code}  end\n{end}"));
    let output = bench.regress("out", "2");
    assert_eq!(output.status.code(), Some(1), "{}", words(&output));
    let summary = bench.summary("out");
    let totals = &summary["totals"];
    let counts = ["passed", "crashed", "timed_out", "failed", "error"].map(|name| totals[name].as_u64());
    assert_eq!(counts, [4, 8, 2, 0, 0].map(Some), "{}", words(&output));
    let buckets = summary["buckets"].as_array().expect("buckets");
    assert_eq!(buckets.len(), 5, "{}", words(&output));
    for (_, name, key, status) in ways.into_iter().filter(|(.., status)| !status.is_empty()) {
        let bucket = buckets.iter().find(|bucket| bucket["key"] == key);
        let bucket = bucket.unwrap_or_else(|| panic!("{key}: {}", words(&output)));
        assert_eq!(bucket["status"], status);
        assert_eq!(bucket["first_name"], format!("{name}/tiny/0"));
        let bundle = bucket["bundle"].as_str().unwrap_or_else(|| panic!("{key}: {}", words(&output)));
        assert!(bench.0.join("out").join(bundle).join("original.json").is_file());
    }
}

const LONGER: &str = "seed = 5\n[[random]]\nname = \"search\"\nconfigs = [\"tiny\", \"small\"]\nseries = 24\n\
                      episodes = 4\nrequests = 4000\nsteer = true\n";

fn started(bench: &Bench, out: &str) -> Tree {
    let mut command = bench.command(&["regress", "plan.toml", "--output", out, "--jobs", "2"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = Tree::start(command);
    let results = bench.0.join(out).join("running");
    // On a new machine, the run first installs Verilator.
    let deadline = Instant::now() + Duration::from_secs(20 * 60);
    while !results.is_dir() {
        assert!(Instant::now() < deadline, "no test was begun within twenty minutes");
        if child.try_wait().expect("it was started").is_some() {
            panic!("it ended before a test was begun: {}", words(&child.wait_with_output()));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(300));
    child
}

fn signal(process: u32, signal: Signal) {
    let _ = processes::signal(process, signal);
}

fn worker_of(parent: u32) -> u32 {
    processes::descendants(parent).first().expect("it has a child").pid
}

/// A resumed run has the same results as an uninterrupted one, for every kind of interruption.
#[test]
#[ignore = "nightly: kills processes of long runs"]
fn an_interrupted_run_goes_on() {
    let bench = Bench::new("interrupt", LONGER);
    let whole = bench.regress("whole", "2");
    assert_eq!(whole.status.code(), Some(0), "{}", words(&whole));

    let child = started(&bench, "stopped");
    signal(child.id(), Signal::INT);
    let output = child.wait_with_output();
    assert_eq!(output.status.code(), Some(130), "{}", words(&output));
    assert!(words(&output).contains("atoms regress resume stopped"), "{}", words(&output));
    let part = bench.summary("stopped");
    assert_eq!(part["complete"], false);
    // Starting again would discard the results, so it is refused.
    let again = bench.regress("stopped", "2");
    assert_eq!(again.status.code(), Some(2), "{}", words(&again));
    assert!(words(&again).contains("holds a run that was interrupted"), "{}", words(&again));
    let resumed = bench.run(&["regress", "resume", "stopped", "--jobs", "1"]);
    assert_eq!(resumed.status.code(), Some(0), "{}", words(&resumed));
    assert_same(&bench.lasting("whole"), &bench.lasting("stopped"));

    // Both processes are killed. The files on disk are enough to resume.
    let child = started(&bench, "killed");
    let worker = worker_of(child.id());
    signal(child.id(), Signal::KILL);
    signal(worker, Signal::KILL);
    child.wait_with_output();
    let resumed = bench.run(&["regress", "resume", "killed", "--jobs", "2"]);
    assert_eq!(resumed.status.code(), Some(0), "{}", words(&resumed));
    assert_same(&bench.lasting("whole"), &bench.lasting("killed"));

    // Only the worker is killed, once and from outside. No test is blamed.
    let child = started(&bench, "shot");
    signal(worker_of(child.id()), Signal::KILL);
    let output = child.wait_with_output();
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));
    assert_same(&bench.lasting("whole"), &bench.lasting("shot"));

    // A run must not combine results of two different RTL versions.
    bench.plant("atoms_alu.sv", "(old[i] >= b[i])", "(old[i] > b[i])");
    let other = bench.run(&["regress", "resume", "stopped"]);
    assert_eq!(other.status.code(), Some(2), "{}", words(&other));
    assert!(words(&other).contains("RTL: then"), "{}", words(&other));
}

/// The limit holds for a series of any length, and a second signal ends the run immediately.
#[test]
#[ignore = "nightly: kills processes of long runs"]
fn a_long_series_can_be_ended() {
    let plan = "[[random]]\nname = \"long\"\nconfigs = [\"tiny\"]\nepisodes = 100_000_000\nrequests = 3\n";
    let bench = Bench::new("long", plan);
    let child = started(&bench, "out");
    let worker = worker_of(child.id());
    signal(child.id(), Signal::INT);
    std::thread::sleep(Duration::from_millis(300));
    assert!(Process::read(worker).is_some(), "the first time the test is finished");
    signal(child.id(), Signal::TERM);
    let output = child.wait_with_output();
    assert_eq!(output.status.code(), Some(130), "{}", words(&output));
    assert!(words(&output).contains("finishes the running tests"), "{}", words(&output));
    assert!(words(&output).contains("atoms regress resume out"), "{}", words(&output));
    assert!(Process::read(worker).is_none(), "nothing is left that runs tests");

    fs::write(bench.0.join("plan.toml"), format!("{plan}timeout = \"1s\"\n")).expect("a plan");
    let output = bench.regress("limited", "1");
    assert_eq!(output.status.code(), Some(1), "{}", words(&output));
    assert_eq!(bench.summary("limited")["totals"]["timed_out"], 1, "{}", words(&output));
}

#[test]
fn what_cannot_be_run_is_said() {
    let bench = Bench::new("bad", PLAN);
    let waived = PLAN.replace("causes = false", "waivers = \"nothing.toml\"");
    fs::write(bench.0.join("waived.toml"), waived).expect("a plan");
    let plain = PLAN.replace("[profile.all]\ncauses = false\n", "");
    fs::write(bench.0.join("plain.toml"), plain).expect("a plan");
    fs::create_dir(bench.0.join("full")).expect("a folder");
    fs::write(bench.0.join("full/something"), "foreign").expect("a file");
    fs::write(bench.0.join("file"), "").expect("a file");
    let rows: &[(&[&str], &str)] = &[
        (&["regress", "nothing.toml"], "failed to open file `nothing.toml`"),
        (&["regress", "plain.toml", "--profile", "x"], "the plan has no profiles"),
        (&["regress", "plan.toml", "--profile", "x"], "the plan has `all`"),
        (&["regress", "plan.toml", "--tag", "x"], "no entry of the plan has this tag"),
        (&["regress", "plan.toml", "--output", "full"], "is not an output folder of a regression"),
        (&["regress", "plan.toml", "--output", "file/in"], "`file/in`"),
        (&["regress", "waived.toml", "--list"], "waivers of the profile: failed to open file `nothing.toml`"),
        (&["regress", "plan.toml", "--shards", "4"], "for --executor slurm"),
        (&["regress", "resume", "nowhere"], "`nowhere` is not an output folder of a regression"),
        (&["regress", "merge", "nowhere"], "`nowhere` is not an output folder of a regression"),
        (&["regress", "plan.toml", "--jobs", "0"], "expected a whole number, 1 to 1024"),
    ];
    for (arguments, expected) in rows {
        let output = bench.run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", words(&output));
        assert!(words(&output).contains(expected), "{arguments:?}: {}", words(&output));
    }
    assert!(bench.0.join("full/something").is_file(), "a foreign file stays");
}

/// A test is skipped if a configuration chosen on the command line is too small for its kernel. For a
/// configuration of the plan, this is an error.
#[test]
fn kernels_that_do_not_fit_a_chosen_configuration_are_skipped() {
    let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("tests").join("kernels");
    let plan = |configs: &str| {
        let launches = ["ticket_lock", "accum_f32"].map(|name| kernels.join(format!("{name}.launch.toml")));
        format!(
            "[profile.all]\ngate = true\n[[kernels]]\nname = \"kernels\"\nlaunches = {launches:?}\n{configs}"
        )
    };
    let bench = Bench::new("does-not-fit", &plan(""));
    let chosen = bench.run(&[
        "regress",
        "plan.toml",
        "--config",
        "small",
        "--set",
        "num_banks=8",
        "--output",
        "chosen",
    ]);
    assert_eq!(chosen.status.code(), Some(0), "{}", words(&chosen));
    let totals = &bench.summary("chosen")["totals"];
    assert!(totals["passed"].as_u64() > Some(0) && totals["skipped"].as_u64() > Some(0), "{totals}");
    let headline = format!("PASSED  {} tests passed; {} skipped", totals["passed"], totals["skipped"]);
    assert!(words(&chosen).contains(&headline), "{}", words(&chosen));
    // The report names the tools that built the RTL, and its commit.
    let timing = fs::read_to_string(bench.0.join("chosen/timing.json")).expect("times are written");
    let timing: Value = serde_json::from_str(&timing).expect("JSON");
    let said = |name: &str| timing["rtl"][name].as_str().unwrap_or_default().to_string();
    assert!(said("tools").starts_with("Verilator 5.") && said("tools").contains(", "), "{timing}");
    let commit = said("commit").replace(" (dirty)", "");
    assert!(commit.is_empty() || commit.chars().all(|c| c.is_ascii_hexdigit()), "{timing}");
    fs::write(bench.0.join("own.toml"), plan("configs = [\"small,num_banks=8\"]\n")).expect("a plan");
    let own = bench.run(&["regress", "own.toml", "--output", "own"]);
    assert_eq!(own.status.code(), Some(1), "{}", words(&own));
    assert_eq!(bench.summary("own")["totals"]["error"], totals["skipped"]);
}

/// Two runs together cover at least as much as each alone. Runs of different RTL are not merged.
#[test]
#[ignore = "nightly: builds RTL with toggle coverage"]
fn runs_are_covered_together() {
    let plan = "[profile.p]\nrtl_coverage = \"toggles\"\n[[random]]\nname = \"r\"\nconfigs = [\"tiny\"]\nseries = 4\nrequests = 40\n";
    let bench = Bench::new("cover", plan);
    let mut hits = Vec::new();
    for (out, seed) in [("one", "1"), ("two", "2")] {
        let output = bench.run(&["regress", "plan.toml", "--output", out, "--seed", seed, "--jobs", "1"]);
        assert_eq!(output.status.code(), Some(0), "{}", words(&output));
        hits.push(bench.summary(out)["coverage"]["hit"].as_u64().expect("a number"));
    }
    // The number of workers must not affect the coverage.
    let output = bench.run(&["regress", "plan.toml", "--output", "other", "--seed", "1", "--jobs", "2"]);
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
    let sources: Vec<_> = lcov.lines().filter_map(|line| line.strip_prefix("SF:")).collect();
    assert!(sources.iter().any(|path| path.ends_with("/rtl/atoms_pipe.sv")), "{lcov:.300}");
    assert!(
        sources.iter().all(|path| Path::new(path).is_absolute() && Path::new(path).is_file()),
        "{lcov:.300}"
    );
    bench.plant("atoms_alu.sv", "(old[i] >= b[i])", "(old[i] > b[i])");
    let output = bench.run(&["cover", "one", "two"]);
    assert_eq!(output.status.code(), Some(2), "{}", words(&output));
    assert!(words(&output).contains("RTL: then"), "{}", words(&output));
}

/// A run that ended before its first result can be started again, and messages name a command that works.
#[test]
fn a_run_without_a_result_blocks_nothing() {
    let plan = "[[random]]\nname = \"r\"\nconfigs = [\"tiny\"]\nseries = 2\nrequests = 40\n";
    let bench = Bench::new("states", plan);
    let alu = bench.0.join("rtl/atoms_alu.sv");
    let good = fs::read_to_string(&alu).expect("a source");
    fs::write(&alu, good.replace("endmodule", "endmodul")).expect("a source that does not build");
    for _ in 0..2 {
        let output = bench.regress("out", "1");
        assert_eq!(output.status.code(), Some(2), "{}", words(&output));
        assert!(words(&output).contains("cannot build or load the RTL of `tiny`"), "{}", words(&output));
    }
    let resumed = bench.run(&["regress", "resume", "out"]);
    assert!(words(&resumed).contains("cannot build or load the RTL of `tiny`"), "{}", words(&resumed));
    fs::write(&alu, good).expect("a source");
    // The RTL differs from that of the run. The message names the option to start again.
    let resumed = bench.run(&["regress", "resume", "out"]);
    assert_eq!(resumed.status.code(), Some(2), "{}", words(&resumed));
    assert!(words(&resumed).contains("`atoms regress --force`"), "{}", words(&resumed));
    let output = bench.regress("out", "1");
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));

    // State after a kill between the header and the other files.
    let out = bench.0.join("out");
    for name in ["checkpoint.json", "results.jsonl", "timing.jsonl"] {
        fs::remove_file(out.join(name)).expect("it is there");
    }
    let resumed = bench.run(&["regress", "resume", "out"]);
    assert_eq!(resumed.status.code(), Some(2), "{}", words(&resumed));
    assert!(
        words(&resumed).contains("start it again with the same `atoms regress` command"),
        "{}",
        words(&resumed)
    );
    let output = bench.regress("out", "1");
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));
    // State after a kill during the write of the header.
    fs::remove_dir_all(&out).expect("it is there");
    fs::create_dir(&out).expect("a folder");
    fs::write(out.join(".run.json.123"), "{").expect("a draft");
    let output = bench.regress("out", "1");
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));
}

/// A killed run leaves no processes, even if its tests hang.
#[test]
#[ignore = "nightly: kills processes of long runs"]
fn nothing_is_left_of_a_run_that_is_killed() {
    let plan = "[[random]]\nname = \"r\"\nconfigs = [\"tiny\"]\nseries = 2\nrequests = 40\n";
    let bench = Bench::new("left", plan);
    let end = "endmodule : atoms_alu";
    let hang = "  always_comb if (valid_i != '0) $c(\"for (volatile int i = 0;;) i = 1;\");\n";
    bench.plant("atoms_alu.sv", end, &format!("{hang}{end}"));
    // While tests hang, the run is killed, or gets Ctrl-C twice.
    for (out, signals) in [("killed", &[Signal::KILL][..]), ("told", &[Signal::INT, Signal::INT])] {
        let child = started(&bench, out);
        let all = processes::descendants(child.id());
        assert!(!all.is_empty());
        for sent in signals {
            signal(child.id(), *sent);
            std::thread::sleep(Duration::from_millis(200));
        }
        let output = child.wait_with_output();
        if out == "told" {
            assert_eq!(output.status.code(), Some(130), "{}", words(&output));
            assert!(words(&output).contains("interrupted: continue with"), "{}", words(&output));
        }
        let left = processes::left(|process| all.iter().any(|started| started.pid == process.pid));
        assert_eq!(left, [], "of {out}");
    }
}

/// Every command for repeating a failure, in the page and in the XML, works in the root of the checkout.
#[test]
fn lines_that_repeat_work_where_they_are_pasted() {
    let bench = Bench::new("paste $(touch pasted) 'x", PLAN);
    bench.plant("atoms_alu.sv", "(old[i] >= b[i])", "(old[i] > b[i])");
    let out = "-out <b>&";
    let output = bench.run(&["regress", "plan.toml", &format!("--output={out}"), "--jobs", "2"]);
    assert_eq!(output.status.code(), Some(1), "{}", words(&output));
    let read = |name: &str| fs::read_to_string(bench.0.join(out).join(name)).expect("it is written");
    let unescaped = |text: &str| {
        let pairs =
            [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&apos;", "'"), ("&amp;", "&")];
        pairs.into_iter().fold(text.to_string(), |text, (from, to)| text.replace(from, to))
    };
    let (page, xml) = (read("report.html"), read("junit.xml"));
    assert!(!page.contains("<b>&") && !xml.contains("<b>&"), "names are escaped");
    let between = |text: &str, begin: &str, end: &str| -> Vec<String> {
        let parts = text.split(begin).skip(1);
        parts.map(|part| unescaped(part.split(end).next().unwrap_or_default())).collect()
    };
    let mut lines = between(&page, "<code class=\"copy\" tabindex=\"0\">", "</code>");
    lines.extend(between(&xml, "repeat  ", "\n"));
    lines.sort();
    lines.dedup();
    assert!(!lines.is_empty());
    // `cargo atoms` is an alias for this program in the checkout.
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("");
    let alias = fs::read_to_string(checkout.join(".cargo/config.toml")).expect("the checkout's");
    assert!(alias.contains("\natoms = \"run "), "{alias}");
    let bin = bench.0.join("bin");
    fs::create_dir(&bin).expect("a folder");
    let cargo = bin.join("cargo");
    let script = format!(
        "#!/bin/sh\n[ \"$1\" = atoms ] || exit 99\nshift\nexec {} \"$@\"\n",
        env!("CARGO_BIN_EXE_atoms")
    );
    fs::write(&cargo, script).expect("a program");
    let mode = <fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o755);
    fs::set_permissions(&cargo, mode).expect("a mode");
    // If the target folder is elsewhere, commands use the plain name of the program.
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_atoms"), bin.join("atoms")).expect("a link");
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
    for line in &lines {
        let output = Command::new("sh")
            .args(["-c", line])
            .current_dir(&checkout)
            .env("PATH", &path)
            .env("ATOMS_RTL", bench.0.join("rtl"))
            .output()
            .expect("a shell");
        assert_eq!(output.status.code(), Some(1), "{line}: {}", words(&output));
        assert!(words(&output).contains("found      the same"), "{line}: {}", words(&output));
    }
    assert!(!checkout.join("pasted").exists() && !bench.0.join("pasted").exists());
    let output = bench.run(&["regress", "plan.toml", "--output", "a\nb"]);
    assert_eq!(output.status.code(), Some(2), "{}", words(&output));
    assert!(words(&output).contains("control characters"), "{}", words(&output));
}

/// The report names the parameter that separates failing from passing configurations, for three bugs.
#[test]
#[ignore = "nightly: builds RTL with a bug of its own in many configurations"]
fn parameters_that_separate_configurations_are_named() {
    let mut plan = "seed = 3\n[profile.all]\ncauses = false\n".to_string();
    for (name, op) in [("forwarding", "MAX"), ("merging", "OR"), ("everywhere", "AND")] {
        plan += &format!(
            "[[random]]\nname = \"{name}\"\nconfigs = [\"tiny\", \"small\", \"deep\", \"merging\", \"all_options\"]\n\
             stimulus = {{ ops = [\"{op}\"] }}\nrequests = 300\n"
        );
    }
    let bench = Bench::new("causes", &plan);
    let wrong = "      if (atoms_cfg_pkg::Forwarding && op_i == OpMax) new_o[0] = ~new_o[0];\n      \
                 if (atoms_cfg_pkg::MergeRed && op_i == OpOr) new_o[0] = ~new_o[0];\n      \
                 if (op_i == OpAnd) new_o[0] = ~new_o[0];\n";
    let find = "      write_o = compares(op_i)";
    bench.plant("atoms_alu.sv", find, &format!("{wrong}{find}"));
    let output = bench.run(&["regress", "plan.toml", "--profile", "all", "--output", "out", "--jobs", "2"]);
    assert_eq!(output.status.code(), Some(1), "{}", words(&output));
    let summary = bench.summary("out");
    let causes = summary["causes"].as_array().expect("causes");
    let separations = |cause: &Value| -> Vec<String> {
        let all = cause["separations"].as_array().map(Vec::as_slice).unwrap_or_default();
        all.iter()
            .map(|s| {
                format!(
                    "{} {}",
                    s["parameter"].as_str().unwrap_or(""),
                    s["fails_where"].as_str().unwrap_or("")
                )
            })
            .collect()
    };
    let found: Vec<_> = causes.iter().map(separations).collect();
    assert_eq!(causes.len(), 3, "{}", words(&output));
    assert!(found.contains(&vec!["forwarding = true".to_string()]), "{found:?}");
    assert!(
        found.contains(&vec!["merge_red = true".to_string(), "merge_arrive = true".to_string()]),
        "{found:?}"
    );
    assert!(found.contains(&Vec::new()), "{found:?}");
    let said = words(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("fails where forwarding = true (3 of 3), passes where false (2 of 2)"), "{said}");
    assert!(said.contains("fails in each of 5 configurations that ran it"), "{said}");
    let page = fs::read_to_string(bench.0.join("out/report.html")).expect("a page");
    assert!(page.contains("Likely one cause") && page.contains("forwarding = true (3 of 3)"));
}

/// If stdout cannot be written, the command fails but keeps the results of the run.
#[test]
fn results_are_kept_when_nothing_can_be_printed() {
    let plan = "[[random]]\nname = \"r\"\nconfigs = [\"tiny\"]\nseries = 2\nrequests = 40\n";
    let bench = Bench::new("printed", plan);
    let full = || fs::OpenOptions::new().write(true).open("/dev/full").expect("a device that is always full");
    let rows: &[&[&str]] = &[
        &["regress", "plan.toml", "--output", "out"],
        &["regress", "resume", "out", "--json"],
        &["regress", "plan.toml", "--list"],
        &["cover", "out"],
    ];
    for arguments in rows {
        let output =
            bench.command(arguments).stdout(full()).stderr(Stdio::piped()).output().expect("it runs");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", words(&output));
        assert!(words(&output).contains("cannot write to stdout"), "{arguments:?}: {}", words(&output));
        // A closed pipe on stdout must not lose the results either.
        let mut child = bench
            .command(arguments)
            .args(if arguments[1] == "plan.toml" && arguments.len() == 4 { &["--force"][..] } else { &[] })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", words(&output));
    }
    assert_eq!(bench.summary("out")["totals"]["passed"], 2);
}

/// Lockstep on two threads, where the RTL follows the model, finds the same failure as lockstep on one thread.
/// The failure is late enough that the run repeats from a snapshot.
#[test]
#[ignore = "nightly: builds RTL with a bug of its own"]
fn rtl_that_follows_finds_what_rtl_abreast_finds() {
    let bench = Bench::new("threads", "");
    bench.plant("atoms_alu.sv", "(old[i] >= b[i])", "((old[i] >= b[i]) && ((b[i] != 32'h7) || (i != 3)))");
    let failures = atoms_verilated::Environment::from_process().target.join("failures");
    let found = |threads: &str| {
        let run =
            ["cosim", "--config", "small", "--seed", "73", "--requests", "200000", "--threads", threads];
        let output = bench.run(&run);
        assert_eq!(output.status.code(), Some(1), "{}", words(&output));
        let files = ["vcd", "json"].map(|kind| failures.join(format!("small-73.{kind}")));
        // Removes the time from `found in 167 attempts, 133161 cycles, 0.2 s`.
        let text = words(&output);
        let untimed = |line: &str| match line.trim_start().strip_prefix("found in ") {
            Some(spent) => spent.rsplit_once(", ").map_or(spent, |(spent, _)| spent).to_string(),
            None => line.to_string(),
        };
        let text: Vec<String> = text.lines().map(untimed).collect();
        (text.join("\n"), files.map(|file| fs::read(file).expect("it is written")))
    };
    let ((one, one_files), (two, two_files)) = (found("1"), found("2"));
    let cycle = one.strip_prefix("mismatch at cycle ").and_then(|rest| rest.split(':').next()?.parse().ok());
    assert!(cycle.is_some_and(|cycle: u64| cycle > 2 << 16), "plant the bug anew: {one}");
    assert_eq!(one, two);
    assert!(one_files == two_files, "wave or case differ");
    // A run without a minimized case removes the case of an earlier failure next to its wave.
    let run = ["cosim", "--config", "small", "--seed", "73", "--requests", "200000", "--on-fail", "trace"];
    assert_eq!(bench.run(&run).status.code(), Some(1));
    assert!(failures.join("small-73.vcd").exists() && !failures.join("small-73.json").exists());
    let (said, wave) = bench.in_step("small", 73, 200_000);
    assert!(one.starts_with(&said), "one after the other: {one}\nin step: {said}");
    assert!(one_files[0] == wave, "the wave differs from that of a run in step");

    let kernel = |threads: &str| {
        let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("tests").join("kernels");
        let [listing, launch] =
            ["hist_u32.sm_90a.sass", "hist_u32.launch.toml"].map(|name| kernels.join(name));
        let launch = launch.display().to_string();
        let wave = bench.0.join("kernel.vcd");
        let wave = wave.display().to_string();
        let listing = listing.display().to_string();
        let output =
            bench.run(&["run", &listing, "--launch", &launch, "--trace", &wave, "--threads", threads]);
        (output.status.code(), words(&output), fs::read(&wave).expect("it is written"))
    };
    bench.plant("atoms_operands.sv", "number[i] = word_t'($countones(lanes[i]));", "number[i] = word_t'(7);");
    let (one, two) = (kernel("1"), kernel("2"));
    assert_eq!((one.0, &one.1), (Some(1), &two.1));
    assert!(one == two, "the wave differs");
}
