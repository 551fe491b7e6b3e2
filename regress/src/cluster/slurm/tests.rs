//! Tests of Slurm queries and answers, with fake commands that record their arguments.

use tempfile::TempDir;

use super::super::manifest::tests::manifest;
use super::super::result::tests::finish;
use super::*;

struct Site {
    folder: TempDir,
    manifest: Manifest,
}

impl Site {
    fn new() -> Site {
        let site = Site { folder: tempfile::tempdir().expect("a folder"), manifest: manifest(8, 2) };
        site.manifest.create(&site.out()).expect("it can be written");
        site.command("squeue", "cat \"$site/queue\"");
        site.command("scancel", "echo \"$*\" >>\"$site/cancelled\"");
        site.command("sbatch", "for word; do printf '%s\\n' \"$word\"; done >>\"$site/submitted\"; echo 100");
        site.say("queue", "");
        site
    }

    fn out(&self) -> PathBuf {
        self.folder.path().join("an 'odd' folder, 100%")
    }

    fn commands(&self) -> SlurmCommands {
        let path = format!("{}:/usr/bin:/bin", self.folder.path().join("bin").display());
        SlurmCommands(vec![("PATH".into(), path.into())])
    }

    fn command(&self, name: &str, does: &str) {
        let bin = self.folder.path().join("bin");
        fs::create_dir_all(&bin).expect("it can be made");
        let path = bin.join(name);
        let text = format!("#!/bin/sh\nsite={}\n{does}\n", quote(&self.folder.path().to_string_lossy()));
        // Write the script in another process. If a thread forks while this process has the file open, the
        // script cannot run.
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

    fn shards(&self) -> SlurmShards {
        let options = SlurmOptions { args: Vec::new(), settle: Duration::ZERO };
        self.with(options).expect("all is there")
    }

    fn with(&self, options: SlurmOptions) -> Result<SlurmShards, ClusterError> {
        SlurmShards::new(self.commands(), &self.out(), Path::new("/bin/atoms"), options)
    }

    fn finish(&self, shard: u32) {
        finish(&self.out(), &self.manifest, shard);
    }
}

#[test]
fn all_shards_are_submitted_as_one_array() {
    let site = Site::new();
    let args = vec!["--partition=short".to_string(), "--comment=two words".to_string()];
    let options = SlurmOptions { args, settle: Duration::from_secs(2) };
    assert_eq!(SlurmOptions::of(&site.out()).expect("there are none"), SlurmOptions::default());
    let shards = site.with(options.clone()).expect("all is there");
    let submitted = shards.submit().expect("it is taken");
    assert_eq!(submitted, Some(((0..8).collect(), "100".to_string())));
    let out = fs::canonicalize(site.out()).expect("it is there").display().to_string();
    let told = site.told("submitted");
    let expected = [
        "--parsable",
        &format!("--job-name={}", shards.job.name),
        &format!("--chdir={out}"),
        "--output=slurm/log/%a.log",
        "--open-mode=append",
        "--requeue",
        "--array=0-7",
        "--partition=short",
        "--comment=two words",
    ];
    assert_eq!(told[..expected.len()], expected);
    assert!(told[expected.len()].starts_with("--wrap=echo "), "{told:?}");
    // A later process finds the same options and the same job.
    let options_then = SlurmOptions::of(&site.out()).expect("they were kept");
    assert_eq!(options_then, options);
    assert_eq!(site.with(options_then).expect("all is there").job.name, shards.job.name);
}

#[test]
fn shards_with_a_result_are_not_submitted_again() {
    let site = Site::new();
    let shards = site.shards();
    [0, 3, 4, 5].into_iter().for_each(|shard| site.finish(shard));
    fs::write(site.out().join("shards/5.result/records.jsonl"), "cut").expect("it can be cut");
    site.say("queue", "90_[6-7]\n90_5\n");
    assert_eq!(shards.submit().expect("Slurm answers"), None, "tasks of an earlier submission are left");
    site.say("queue", "");
    let (submitted, _) = shards.submit().expect("it is taken").expect("some are missing");
    assert_eq!(submitted, [1, 2, 5, 6, 7]);
    assert!(site.told("submitted").contains(&"--array=1-2,5-7".to_string()));
    (0..8).for_each(|shard| site.finish(shard));
    assert_eq!(shards.submit().expect("Slurm answers"), None);
}

#[test]
fn refusals_are_in_the_words_of_slurm() {
    let site = Site::new();
    for (words, hint) in
        [("invalid partition specified: nowhere", ""), ("Invalid job array specification", "--shards")]
    {
        site.command("sbatch", &format!("echo 'sbatch: error: {words}' >&2; exit 1"));
        let error = site.shards().submit().expect_err("it is refused").to_string();
        assert!(error.starts_with("`sbatch --parsable") && error.contains(words), "{error}");
        assert!(error.ends_with(if hint.is_empty() { words } else { hint }), "{error}");
    }
    site.command("sbatch", "echo Welcome; echo; echo '77;east'");
    assert_eq!(site.shards().submit().expect("it is taken").expect("shards").1, "77");

    let mut shards = site.shards();
    shards.job.commands = SlurmCommands(vec![("PATH".into(), site.out().into())]);
    let error = shards.submit().expect_err("no Slurm").to_string();
    assert!(error.starts_with("`squeue` was not found on PATH"), "{error}");

    fs::write(site.out().join("slurm/options.json"), "{").expect("it can be written");
    let error = SlurmOptions::of(&site.out()).expect_err("damaged").to_string();
    assert!(error.contains("slurm/options.json") && error.contains("remove it"), "{error}");
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let site = Site::new();
    fs::write(site.out().join("slurm"), "in the way").expect("it can be written");
    let error = site.with(SlurmOptions::default()).expect_err("no folder").to_string();
    assert!(error.contains("/slurm/log`"), "{error}");
    assert!(site.told("submitted").is_empty());
}

/// Runs the script of a task from a folder with spaces and quotes in its name.
#[test]
fn a_task_runs_its_shard() {
    let site = Site::new();
    let program = site.folder.path().join("bin/a program");
    site.command("a program", "pwd; for word; do echo \"<$word>\"; done; exit 5");
    let shards = SlurmShards::new(site.commands(), &site.out(), &program, SlurmOptions::default());
    let shards = shards.expect("all is there");
    let mut task = Command::new("sh");
    task.args(["-c", &shards.job.command]).current_dir("/");
    let output = task.env("SLURM_ARRAY_TASK_ID", "4").output().expect("sh starts");
    assert_eq!(output.status.code(), Some(5), "the status is that of the program");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let (here, out) =
        (std::env::current_dir().expect("a folder"), fs::canonicalize(site.out()).expect("a folder"));
    let (here, out) = (here.display(), out.display());
    assert!(text.starts_with("task 4 on "), "{text}");
    assert!(text.ends_with(&format!("{here}\n<regress>\n<shard>\n<{out}>\n<4>\n")), "{text}");
}

#[test]
fn waiting_ends_when_all_results_are_there() {
    let site = Site::new();
    let shards = site.shards();
    shards.submit().expect("it is taken");
    site.say("queue", "100_[0-7]\n");
    let mut seen = Vec::new();
    let outcome = shards.wait(&AtomicBool::new(false), &mut |done| {
        seen.push(done);
        (done..(done + 4).min(8)).for_each(|shard| site.finish(shard));
    });
    assert_eq!(outcome.expect("no error"), (WaitOutcome::Done, Vec::new()));
    assert_eq!(seen, [0, 4, 8]);
}

#[test]
fn shards_without_a_result_are_named() {
    let site = Site::new();
    let shards = site.shards();
    shards.submit().expect("it is taken");
    (1..7).for_each(|shard| site.finish(shard));
    fs::write(site.out().join("shards/3.result/records.jsonl"), "cut").expect("it can be cut");
    fs::write(site.out().join("slurm/log/0.log"), "cannot load the library\n").expect("a log");
    let (outcome, missing) = shards.wait(&AtomicBool::new(false), &mut |_| ()).expect("no error");
    assert_eq!(outcome, WaitOutcome::Ended);
    let found: Vec<_> = missing.iter().map(ToString::to_string).collect();
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found[0].starts_with("shard 0 (tests 0 to 1); `"), "{found:?}");
    assert!(found[0].ends_with("slurm/log/0.log` ends:\n    cannot load the library"), "{found:?}");
    assert!(found[1].starts_with("shard 3 (tests 6 to 7): result of shard 3"), "{found:?}");
    assert!(found[2].starts_with("shard 7 (tests 14 to 15); it left no log"), "{found:?}");
}

/// A shared file system may show a result some time after its task has left the queue.
#[test]
fn waiting_gives_results_time_to_appear() {
    let site = Site::new();
    let mut shards = site.shards();
    shards.job.options.settle = Duration::from_secs(60);
    let mut looks = 0;
    let outcome = shards.wait(&AtomicBool::new(false), &mut |_| {
        looks += 1;
        if looks == 2 {
            (0..8).for_each(|shard| site.finish(shard));
        }
    });
    assert_eq!((outcome.expect("no error").0, looks), (WaitOutcome::Done, 3));
}

#[test]
fn an_interrupted_wait_cancels_the_job() {
    let site = Site::new();
    let shards = site.shards();
    site.say("queue", "100_[0-7]\n");
    let stop = AtomicBool::new(false);
    let outcome = shards.wait(&stop, &mut |_| stop.store(true, Ordering::Relaxed));
    assert_eq!(outcome.expect("no error").0, WaitOutcome::Cancelled);
    assert_eq!(site.told("cancelled"), [format!("--name={}", shards.job.name)]);
}

#[test]
fn waiting_outlasts_a_slurm_that_does_not_answer() {
    let site = Site::new();
    let mut shards = site.shards();
    site.command("squeue", "echo 'Unable to contact slurm controller' >&2; exit 1");
    let mut looks = 0;
    let outcome = shards.wait(&AtomicBool::new(false), &mut |_| {
        looks += 1;
        if looks == 2 {
            (0..8).for_each(|shard| site.finish(shard));
        }
    });
    assert_eq!(outcome.expect("results count").0, WaitOutcome::Done);

    fs::remove_dir_all(site.out().join("shards")).expect("it is there");
    shards.job.outage = Duration::ZERO;
    let error = shards.wait(&AtomicBool::new(false), &mut |_| ()).expect_err("an outage").to_string();
    assert!(error.contains("Unable to contact slurm controller"), "{error}");
}
