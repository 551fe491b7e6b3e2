//! Who is blamed when the process that runs the tests dies.

use std::fs;
use std::process::Command;

use atoms_regress::running::{self, Suspect};
use atoms_regress::supervisor::{Leash, supervise};

/// Runs a process whose first deaths find these tests at work, and that ends well when there are no more
/// deaths; those in `deadly` die alone, too. Gives the tests that are written down as crashed.
fn blamed(deaths: &[&[u64]], deadly: &[u64]) -> Vec<u64> {
    let dir = tempfile::tempdir().expect("a folder");
    let desks = dir.path().join("running");
    let round = std::cell::Cell::new(0);
    let whole = || {
        let mut command = Command::new("sh");
        if let Some(tests) = deaths.get(round.get()) {
            fs::create_dir_all(&desks).expect("a folder");
            for (worker, test) in tests.iter().enumerate() {
                fs::write(desks.join(worker.to_string()), format!("test {test}\n")).expect("a desk");
            }
            command.args(["-c", "kill -ABRT $$"]);
        } else {
            command.args(["-c", "exit 0"]);
        }
        round.set(round.get() + 1);
        command
    };
    let alone = |suspect| {
        let dies = matches!(suspect, Suspect::Test(index) if deadly.contains(&index));
        let mut command = Command::new("sh");
        command.args(["-c", if dies { "kill -ABRT $$" } else { "exit 0" }]);
        command
    };
    let status = supervise(dir.path(), whole, alone, &Leash::default(), |_| {}).expect("it is supervised");
    assert!(status.success());
    assert_eq!(round.get(), deaths.len() + 1, "it was started again behind each death");
    running::crashes(dir.path()).expect("crashes").into_keys().collect()
}

#[test]
fn who_dies_alone_is_blamed_and_nobody_else() {
    assert_eq!(blamed(&[&[1, 2]], &[2]), [2]);
    // Test 1 was there both times, since its result was not yet on disk.
    assert_eq!(blamed(&[&[1, 2], &[1, 3]], &[2, 3]), [2, 3]);
}

#[test]
fn who_dies_in_company_only_is_blamed_the_second_time() {
    assert!(blamed(&[&[1, 2]], &[]).is_empty());
    assert_eq!(blamed(&[&[1, 2], &[1, 3]], &[]), [1]);
}

#[test]
fn a_death_with_nobody_at_work_is_an_error() {
    let dir = tempfile::tempdir().expect("a folder");
    let whole = || {
        let mut command = Command::new("sh");
        command.args(["-c", "kill -ABRT $$"]);
        command
    };
    let ended = supervise(dir.path(), whole, |_| Command::new("true"), &Leash::default(), |_| {});
    assert!(ended.expect_err("nobody is to blame").to_string().contains("SIGABRT"));
}
