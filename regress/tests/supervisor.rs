//! Tests of the supervisor: recorded tests and remaining processes after a crash or hang.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use atoms_coverage::episode::Episode;
use atoms_host::processes;
use atoms_regress::run::journal::{self, Suspect};
use atoms_regress::run::supervisor::{ControlPipe, StopMode, SupervisorError, supervise};
use atoms_regress::triage::death::Death;
use atoms_stimulus::Profile;

/// Makes a shell with journals of these tests; each may run `patience` seconds without a heartbeat.
fn shell(dir: &Path, tests: &[u64], patience: f64, script: &str) -> Command {
    let desks = dir.join("running");
    let mut text = format!("mkdir -p '{}'\n", desks.display());
    for (worker, test) in tests.iter().enumerate() {
        let line = format!("{:016x} test {test} {patience} ", 0);
        text += &format!("echo '{line}' > '{}'/$$-{worker}\n", desks.display());
    }
    let mut command = Command::new("sh");
    command.args(["-c", &(text + script)]);
    command
}

/// Runs a process that dies once for each item of `deaths`, with these tests in progress, and then succeeds.
/// Tests in `deadly` also die alone, in the same `way`. Returns the recorded tests.
fn blamed(deaths: &[&[u64]], deadly: &[u64], way: &str) -> Vec<(u64, Death)> {
    let dir = tempfile::tempdir().expect("a folder");
    let round = std::cell::Cell::new(0);
    let whole = || {
        let command = match deaths.get(round.get()) {
            Some(tests) => shell(dir.path(), tests, 60.0, way),
            None => shell(dir.path(), &[], 60.0, "exit 0"),
        };
        round.set(round.get() + 1);
        command
    };
    let alone = |suspect| match suspect {
        Suspect::Test(index) if deadly.contains(&index) => shell(dir.path(), &[index], 60.0, way),
        _ => shell(dir.path(), &[], 60.0, "exit 0"),
    };
    let status =
        supervise(dir.path(), whole, alone, &ControlPipe::default(), |_| {}).expect("it is supervised");
    assert!(status.success());
    assert_eq!(round.get(), deaths.len() + 1, "it was started again behind each death");
    let crashes = journal::crashes(dir.path()).expect("crashes");
    crashes.into_iter().map(|(index, crash)| (index, crash.death)).collect()
}

const ABORT: &str = "kill -ABRT $$";

#[test]
fn a_test_that_dies_alone_is_named_and_no_other() {
    assert_eq!(blamed(&[&[1, 2]], &[2], ABORT), [(2, Death::Signal(6))]);
    // Test 1 was in progress both times, since its result was not on disk before.
    let both = [(2, Death::Signal(6)), (3, Death::Signal(6))];
    assert_eq!(blamed(&[&[1, 2], &[1, 3]], &[2, 3], ABORT), both);
}

#[test]
fn a_test_that_dies_in_company_only_is_named_the_second_time() {
    assert!(blamed(&[&[1, 2]], &[], ABORT).is_empty());
    assert_eq!(blamed(&[&[1, 2], &[1, 3]], &[], ABORT), [(1, Death::Signal(6))]);
}

/// The recorded random run is that of the death alone. If another test killed the process, this test may not
/// have started a random run.
#[test]
fn a_test_is_repeated_from_its_own_death() {
    let dir = tempfile::tempdir().expect("a folder");
    let episode = Episode {
        config: "tiny".to_string(),
        profile: Profile::default(),
        seed: 7,
        requests: 200,
        towards: None,
    };
    let round = std::cell::Cell::new(0);
    let whole = || {
        round.set(round.get() + 1);
        let (tests, script): (&[u64], _) = if round.get() == 1 { (&[1, 2], ABORT) } else { (&[], "exit 0") };
        shell(dir.path(), tests, 60.0, script)
    };
    let at = serde_json::to_string(&episode).expect("it is written");
    let alone = |suspect| {
        let script = format!("echo '{:016x} test 2 60 {at}' > running/$$-0; {ABORT}", 0);
        let mut command = match suspect {
            Suspect::Test(2) => shell(dir.path(), &[2], 60.0, &script),
            _ => shell(dir.path(), &[], 60.0, "exit 0"),
        };
        command.current_dir(dir.path());
        command
    };
    supervise(dir.path(), whole, alone, &ControlPipe::default(), |_| {}).expect("it is supervised");
    let crashes = journal::crashes(dir.path()).expect("crashes");
    assert_eq!(crashes[&2].episode, Some(episode));
}

/// If the process exits while a test is in progress, that test has called `exit`.
#[test]
fn a_test_that_calls_exit_has_died() {
    for status in [0, 1, 2, 130] {
        let died = blamed(&[&[1, 2]], &[2], &format!("exit {status}"));
        assert_eq!(died, [(2, Death::Exit(status))]);
    }
}

#[test]
fn a_death_with_no_test_at_work_is_an_error() {
    let dir = tempfile::tempdir().expect("a folder");
    let whole = || shell(dir.path(), &[], 60.0, ABORT);
    let ended = supervise(dir.path(), whole, |_| Command::new("true"), &ControlPipe::default(), |_| {});
    assert!(ended.expect_err("no test is to blame").to_string().contains("SIGABRT"));
}

/// A test without heartbeats is killed and recorded; a test with heartbeats may run on.
#[test]
fn a_test_that_shows_no_progress_is_killed() {
    let dir = tempfile::tempdir().expect("a folder");
    let desk = dir.path().join("running");
    let began = Instant::now();
    let round = std::cell::Cell::new(0);
    let whole = || {
        round.set(round.get() + 1);
        let script = match round.get() {
            // Worker 0 writes heartbeats; worker 1 does not.
            1 => format!(
                "i=0; while :; do i=$((i+1)); echo \"$i test 7 1 \" > '{}'/$$-0; sleep 0.1; done",
                desk.display()
            ),
            _ => "sleep 2; rm -r running".to_string(),
        };
        let mut command = shell(dir.path(), if round.get() == 1 { &[7, 8] } else { &[] }, 1.0, &script);
        command.current_dir(dir.path());
        command
    };
    let alone = |_| panic!("what hangs is known");
    supervise(dir.path(), whole, alone, &ControlPipe::default(), |_| {}).expect("it is supervised");
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    let crashes = journal::crashes(dir.path()).expect("crashes");
    let died: Vec<_> = crashes.iter().map(|(index, crash)| (*index, crash.death)).collect();
    assert_eq!(died, [(8, Death::Hung(1))]);
    let said = crashes[&8].failure().to_string();
    assert!(said.contains("no cycle was completed for 1 s"), "{said}");
}

/// The second stop kills the process immediately, even if it does not listen, and its descendants.
#[test]
fn the_second_pull_kills_the_process_and_what_it_started() {
    let dir = tempfile::tempdir().expect("a folder");
    let pipe = ControlPipe::default();
    let child = dir.path().join("child");
    let script = format!("sleep 1000 & echo $! > '{}'; wait", child.display());
    let began = Instant::now();
    let ended: Result<_, SupervisorError> = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !std::fs::read_to_string(&child).is_ok_and(|id| id.ends_with('\n')) {
                std::thread::sleep(Duration::from_millis(10));
            }
            assert_eq!(pipe.stop(), StopMode::Finish);
            std::thread::sleep(Duration::from_millis(100));
            assert_eq!(pipe.stop(), StopMode::End);
        });
        supervise(
            dir.path(),
            || shell(dir.path(), &[1], 60.0, &script),
            |_| panic!("it was told to end"),
            &pipe,
            |_| {},
        )
    });
    assert!(!ended.expect("it was started").success());
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    let child: u32 = std::fs::read_to_string(&child).expect("a number").trim().parse().expect("a number");
    assert_eq!(processes::left(|process| process.pid == child), []);
}
