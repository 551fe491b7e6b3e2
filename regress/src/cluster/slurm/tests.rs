//! What is asked of Slurm, and what is made of its answers: against commands that only take notes.

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use tempfile::TempDir;

use super::super::manifest::tests::manifest;
use super::super::result::tests::finish;
use super::*;

/// An output folder with 8 shards, and commands beside it.
struct Site {
    folder: TempDir,
    manifest: Manifest,
}

const CONFIG: &str = "MaxArraySize            = 3\nAccountingStorageType   = accounting_storage/none\n";

impl Site {
    fn new() -> Site {
        let site = Site { folder: tempfile::tempdir().expect("a folder"), manifest: manifest(8, 2) };
        site.manifest.create(&site.out()).expect("it can be written");
        site.command("scontrol", "cat \"$site/config\"");
        site.command("squeue", "echo \"$0 $*\" >>\"$site/asked\"; cat \"$site/queue\"");
        site.command("sacct", "echo \"$0 $*\" >>\"$site/asked\"; cat \"$site/queue\"");
        site.command("scancel", "echo \"$*\" >>\"$site/cancelled\"");
        let number = "n=$(cat \"$site/number\"); echo $((n + 1)) >\"$site/number\"";
        site.command(
            "sbatch",
            &format!("[ $1 = --version ] && exit; {number}; echo \"$*\" >>\"$site/submitted\"; echo $n"),
        );
        site.say("config", CONFIG);
        site.say("number", "100");
        site.say("queue", "");
        site
    }

    fn out(&self) -> PathBuf {
        self.folder.path().join("an 'odd' folder, 100%")
    }

    fn tools(&self) -> Tools {
        Tools::within(self.folder.path().join("bin"))
    }

    fn command(&self, name: &str, does: &str) {
        let bin = self.folder.path().join("bin");
        fs::create_dir_all(&bin).expect("it can be made");
        let path = bin.join(name);
        let text = format!("#!/bin/sh\nsite={}\n{does}\n", quote(&self.folder.path().to_string_lossy()));
        // Written by another process: a file that this one has open while a thread forks cannot be run.
        let script = r#"printf %s "$1" >"$0" && chmod 755 "$0""#;
        let written = Command::new("sh").args(["-c", script]).arg(path).arg(text).status();
        assert!(written.expect("sh starts").success());
    }

    fn say(&self, name: &str, text: &str) {
        fs::write(self.folder.path().join(name), text).expect("it can be written");
    }

    fn told(&self, name: &str) -> Vec<String> {
        let text = fs::read_to_string(self.folder.path().join(name)).unwrap_or_default();
        text.lines().map(str::to_string).collect()
    }

    fn options(&self) -> Options {
        Options { settle: Duration::ZERO, patience: Duration::ZERO, ..Options::new("atoms", "/") }
    }

    fn slurm(&self) -> Slurm {
        Slurm::open(self.tools(), &self.out(), Some(self.options())).expect("all is there")
    }

    /// Leaves the result of a shard.
    fn finish(&self, shard: u32) {
        finish(&self.out(), &self.manifest, shard);
    }

    /// Fills the queue with lines in which ID stands for that of the jobs.
    fn queue(&self, slurm: &Slurm, lines: &[&str]) {
        let name = slurm.jobs.name(0);
        let id = name.strip_suffix(".0").expect("a name ends with the base");
        self.say("queue", &(lines.join("\n").replace("ID", id) + "\n"));
    }
}

#[test]
fn all_shards_are_submitted_and_a_merge_after_them() {
    let site = Site::new();
    let options = Options {
        partition: Some("short".into()),
        account: Some("chips".into()),
        time_limit: Some("0:10:00".into()),
        cpus_per_task: Some(4),
        args: vec!["--nice=100".into(), "--comment=two words".into()],
        ..site.options()
    };
    let mut slurm = Slurm::open(site.tools(), &site.out(), Some(options.clone())).expect("all is there");
    let submitted = slurm.submit().expect("it is taken");
    assert_eq!(submitted.shards, [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(
        (submitted.jobs, submitted.merge),
        (vec!["100".into(), "101".into(), "102".into()], Some("103".into()))
    );
    let told = site.told("submitted");
    let out = fs::canonicalize(site.out()).expect("it is there").display().to_string();
    let name = slurm.jobs.name(6);
    assert_eq!(
        told[2],
        format!(
            "--parsable --job-name={name} --chdir={out} --output=slurm/log/%A_%a.log --open-mode=append \
             --partition=short --account=chips --time=0:10:00 --cpus-per-task=4 --requeue --array=0-1 \
             --nice=100 --comment=two words {out}/slurm/shard.sh 6"
        )
    );
    assert!(told[3].contains("--dependency=afterany:100:101:102"), "{}", told[3]);
    assert!(told[3].ends_with("/slurm/merge.sh"), "{}", told[3]);

    // A later call need not say all that again.
    drop(slurm);
    let slurm = Slurm::open(site.tools(), &site.out(), None).expect("it was used");
    assert_eq!((&slurm.jobs.options, slurm.jobs.name(6)), (&options, name));
}

#[test]
fn what_is_done_queued_or_running_is_not_submitted_again() {
    let site = Site::new();
    let mut slurm = site.slurm();
    for shard in [0, 5] {
        site.finish(shard);
    }
    site.queue(
        &slurm,
        &[
            "90_1|ID.0|RUNNING|None",
            "90_2|ID.0|CANCELLED|None",
            "91_0|ID.3|FAILED|NonZeroExitCode",
            "95_0|ID.3|PENDING|Priority",
            "96_0|other.3|PENDING|Priority",
            "97_9|ID.0|PENDING|of a larger plan",
            "98|ID.merge|PENDING|Dependency",
        ],
    );
    fs::write(site.out().join("shards/5.result/records.jsonl"), "cut").expect("it can be cut");
    let submitted = slurm.submit().expect("it is taken");
    assert_eq!(submitted.shards, [2, 4, 5, 6, 7], "0 is done, 1 runs, 3 is queued");
    assert_eq!((submitted.done, submitted.live), (1, 2));
    let told = site.told("submitted");
    let arrays: Vec<_> = told.iter().filter_map(|l| l.split(" --array=").nth(1)?.split(' ').next()).collect();
    assert_eq!(arrays, ["2", "1-2", "0-1"]);
    assert!(told[3].contains("--dependency=afterany:100:101:102:90:95:97"), "{}", told[3]);
    assert!(site.told("cancelled")[0].contains(".merge"), "the merge that waited for less");
    assert_eq!(site.told("asked").len(), 1, "one query: {:?}", site.told("asked"));

    (0..8).for_each(|shard| site.finish(shard));
    let nothing = slurm.submit().expect("nothing is refused");
    assert_eq!(nothing, Submitted { done: 8, ..Submitted::default() });
    assert_eq!(site.told("submitted").len(), told.len());
}

#[test]
fn accounting_is_asked_where_there_is_some() {
    let site = Site::new();
    site.say("config", "MaxArraySize = 100\nAccountingStorageType   = accounting_storage/slurmdbd\n");
    let mut slurm = site.slurm();
    let lines =
        ["7_[1,3-5%2]|ID.0|PENDING|Priority", "7_0|ID.0|CANCELLED by 1000|None", "7_2|ID.0|RUNNING|None"];
    site.queue(&slurm, &lines);
    assert_eq!(slurm.submit().expect("it is taken").shards, [0, 6, 7]);
    let asked = site.told("asked");
    assert!(asked.len() == 1 && asked[0].contains("sacct --allocations"), "{asked:?}");
    assert!(asked[0].contains("--starttime=now-36"), "{asked:?}");
}

#[test]
fn answers_that_nobody_expects_are_errors_and_no_panic() {
    let site = Site::new();
    let mut slurm = site.slurm();
    for line in [
        "?",
        "1_0|ID.0|RUNNING",
        "1_x|ID.0|RUNNING|",
        "1_[0-|ID.0|RUNNING|",
        "1_0-9999999999|ID.0|RUNNING|",
        "1_0-4000001|ID.0|RUNNING|",
        "1_0-4:0|ID.0|RUNNING|",
    ] {
        site.queue(&slurm, &[line]);
        let error = slurm.submit().expect_err(line).to_string();
        assert!(error.contains("expected `JOB_TASK|NAME|STATE|REASON`"), "{line}: {error}");
    }
    site.queue(&slurm, &["1_4294967295|ID.3|RUNNING|", "12|ID.0|RUNNING|", "1_5-2|ID.0|RUNNING|"][1..]);
    site.command("sbatch", "echo Welcome; echo; echo '77;east'");
    assert_eq!(slurm.submit().expect("it is taken").jobs, ["77", "77", "77"]);
    site.command("sbatch", "echo Welcome");
    let error = slurm.submit().expect_err("no number").to_string();
    assert!(error.contains("answered `Welcome`, expected the number of a job"), "{error}");
}

#[test]
fn refusals_are_in_the_words_of_slurm() {
    let site = Site::new();
    site.command(
        "sbatch",
        "[ $1 = --version ] && exit; echo 'sbatch: error: invalid partition specified: nowhere' >&2; exit 1",
    );
    let error = site.slurm().submit().expect_err("it is refused").to_string();
    assert!(
        error.starts_with("`sbatch --parsable") && error.ends_with("invalid partition specified: nowhere"),
        "{error}"
    );

    let nothing = Tools::within(site.folder.path().join("nothing"));
    let error = Slurm::open(nothing, &site.out(), Some(site.options())).expect_err("no Slurm").to_string();
    assert!(error.starts_with("`sbatch` was not found on PATH"), "{error}");

    let site = Site::new();
    let error = Slurm::open(site.tools(), &site.out(), None).expect_err("never used").to_string();
    assert!(error.contains("never submitted; begin with `--executor slurm`"), "{error}");
    site.say("config", "MaxArraySize = 0\n");
    let error =
        Slurm::open(site.tools(), &site.out(), Some(site.options())).expect_err("no arrays").to_string();
    assert!(error.contains("MaxArraySize"), "{error}");
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let site = Site::new();
    fs::write(site.out().join("slurm"), "in the way").expect("it can be written");
    let error = Slurm::open(site.tools(), &site.out(), Some(site.options())).expect_err("no folder");
    assert!(error.to_string().contains("/slurm/log`"), "{error}");
    assert!(site.told("submitted").is_empty());
}

#[test]
fn scripts_run_what_they_should_from_odd_folders() {
    let site = Site::new();
    let program = site.folder.path().join("bin/a program");
    site.command("a program", "pwd; for word; do echo \"<$word>\"; done; exit 5");
    let options = Options { program, folder: site.out(), ..site.options() };
    Slurm::open(site.tools(), &site.out(), Some(options)).expect("all is there");
    let out = fs::canonicalize(site.out()).expect("it is there");
    let run = |script: &str, args: &[&str]| {
        let script = out.join(script);
        let output = Command::new("sh").arg(script).args(args).env("SLURM_ARRAY_TASK_ID", "4").output();
        let output = output.expect("sh starts");
        assert_eq!(output.status.code(), Some(5), "the status is that of the program");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let place = out.display();
    let shard = run(script::SHARD, &["30"]);
    assert!(shard.starts_with("shard 34 on "), "{shard}");
    assert!(shard.ends_with(&format!("{place}\n<regress>\n<shard>\n<{place}>\n<34>\n")), "{shard}");
    assert_eq!(run(script::MERGE, &[]), format!("{place}\n<regress>\n<merge>\n<{place}>\n"));
}

#[test]
fn waiting_ends_when_all_results_are_there() {
    let site = Site::new();
    let mut slurm = site.slurm();
    slurm.submit().expect("it is taken");
    let running: Vec<_> =
        (0..8).map(|n| format!("{}_{}|ID.{}|RUNNING|None", 100 + n / 3, n % 3, n / 3 * 3)).collect();
    site.queue(&slurm, &running.iter().map(String::as_str).collect::<Vec<_>>());
    let mut seen = Vec::new();
    let outcome = slurm.wait(&AtomicBool::new(false), &mut |done| {
        seen.push(done);
        (done..(done + 4).min(8)).for_each(|shard| site.finish(shard));
    });
    assert_eq!(outcome.expect("no error"), WaitOutcome::Done);
    assert_eq!(seen, [0, 4, 8]);
    assert_eq!(site.told("submitted").len(), 4, "nothing was submitted twice");
}

#[test]
fn what_is_lost_is_submitted_again_but_not_for_ever() {
    let site = Site::new();
    let mut slurm = site.slurm();
    slurm.submit().expect("it is taken");
    (1..7).for_each(|shard| site.finish(shard));
    // Whatever number the array has, shard 0 is in it and fails; 7 was cancelled by hand.
    site.command("squeue", "n=$(($(cat \"$site/number\") - 2)); sed \"s/LAST/$n/\" \"$site/queue\"");
    site.queue(&slurm, &["LAST_0|ID.0|FAILED|NonZeroExitCode", "102_1|ID.6|CANCELLED|None"]);
    let outcome = slurm.wait(&AtomicBool::new(false), &mut |_| ()).expect("no error");
    let WaitOutcome::Lost(lost) = outcome else { panic!("{outcome:?}") };
    let found: Vec<_> = lost.iter().map(|l| (l.shard, l.attempts, l.state.as_str())).collect();
    assert_eq!(found, [(0, 3, "FAILED"), (7, 1, "CANCELLED")]);
    assert!(
        lost[1]
            .to_string()
            .starts_with("shard 7 (tests 14 to 15): CANCELLED after 1 attempt; it left no log")
    );
    let again: Vec<_> =
        site.told("submitted").into_iter().skip(4).filter(|l| l.contains("--array=0 ")).collect();
    assert_eq!(again.len(), 2, "twice after the first: {again:?}");
}

#[test]
fn when_no_shard_comes_to_a_result_none_is_tried_again() {
    let site = Site::new();
    let mut slurm = site.slurm();
    slurm.submit().expect("it is taken");
    fs::write(site.out().join("slurm/log/100_1.log"), "cannot load the library\n").expect("a log");
    site.queue(&slurm, &["100_1|ID.0|FAILED|NonZeroExitCode"]);
    let outcome = slurm.wait(&AtomicBool::new(false), &mut |_| ()).expect("no error");
    let WaitOutcome::Lost(lost) = outcome else { panic!("{outcome:?}") };
    assert_eq!(lost.len(), 8);
    assert!(lost[1].to_string().ends_with("ends:\n    cannot load the library"), "{}", lost[1]);
    assert_eq!(lost[0].state, "gone from the queue");
    assert_eq!(site.told("submitted").len(), 4);
}

#[test]
fn an_array_that_was_cancelled_before_it_began_is_not_submitted_again() {
    let site = Site::new();
    let mut slurm = site.slurm();
    slurm.submit().expect("it is taken");
    (3..8).for_each(|shard| site.finish(shard));
    site.queue(&slurm, &["100_N/A|ID.0|CANCELLED|None"]);
    let outcome = slurm.wait(&AtomicBool::new(false), &mut |_| ()).expect("no error");
    let WaitOutcome::Lost(lost) = outcome else { panic!("{outcome:?}") };
    assert!(lost.len() == 3 && lost.iter().all(|l| l.state == "CANCELLED"), "{lost:?}");
}

#[test]
fn waiting_can_be_stopped_and_outlasts_silence() {
    let site = Site::new();
    let mut slurm = site.slurm();
    slurm.submit().expect("it is taken");
    site.command("squeue", "echo 'Unable to contact slurm controller' >&2; exit 1");
    let error = slurm.wait(&AtomicBool::new(false), &mut |_| ()).expect_err("no patience").to_string();
    assert!(error.contains("Unable to contact slurm controller"), "{error}");

    slurm.jobs.options.patience = Duration::from_secs(60);
    let stop = AtomicBool::new(false);
    let outcome = slurm.wait(&stop, &mut |_| {
        stop.store(true, Ordering::Relaxed);
    });
    assert_eq!(outcome.expect("no error"), WaitOutcome::Interrupted);
    let told = slurm.come_back();
    assert!(told.contains("atoms regress resume '/") && told.contains("scancel --name=atoms-"), "{told}");

    (0..8).for_each(|shard| site.finish(shard));
    let outcome = slurm.wait(&AtomicBool::new(false), &mut |_| ());
    assert_eq!(outcome.expect("no error"), WaitOutcome::Done, "results are the truth");
}
