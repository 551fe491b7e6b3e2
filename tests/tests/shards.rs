//! Shards and their merge, in sequence in one process, give the same results as one whole run.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use atoms_regress::cluster::result::{Published, publish, verify, work_folder};
use atoms_regress::cluster::shard;
use atoms_regress::cluster::{Cut, Manifest};
use atoms_regress::plan::{PlanChoice, Tests};
use atoms_regress::report::finish::finish;
use atoms_regress::report::summary::Summary;
use atoms_regress::run::scheduler::Limits;
use atoms_regress::run::session::{self, RunRequest};
use atoms_regress::run::store::{RunHeader, Store};
use atoms_regress::run::worker::Context;
use atoms_tests::generated;
use atoms_tests::regression::{assert_same, plan, rtl_with_bugs};

fn folder(name: &str) -> PathBuf {
    let folder = generated("shards").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder can be made");
    folder
}

fn choice(plan: PathBuf, profile: &str, rtl_dir: PathBuf) -> RunRequest {
    let choice = PlanChoice { profile: Some(profile.to_string()), ..PlanChoice::default() };
    RunRequest { plan, choice, rtl_dir, unit: None }
}

fn run(context: &Context, dir: &Path, records: bool, end: u64, jobs: usize) {
    let (store, checkpoint) = Store::reopen(dir, records).expect("it was begun");
    let limits = Limits { jobs, until: None, stop: &AtomicBool::new(false) };
    session::run(context, 0..end, store, Some(checkpoint), &limits, &mut |_| ()).expect("it can be written");
}

fn whole(context: &Context, tests: &Tests, header: &RunHeader, out: &Path) -> Summary {
    session::create(out, tests, header, "local", false).expect("a new folder");
    run(context, out, false, u64::MAX, 1);
    let checkpoint = atoms_regress::run::store::checkpoint(out).expect("it was written");
    finish(context, header, &checkpoint, out, out).expect("reports can be written")
}

fn run_shard(
    context: &Context,
    header: &RunHeader,
    out: &Path,
    manifest: &Manifest,
    number: u32,
) -> Published {
    let tests = manifest.shard(number).expect("there is one");
    let work = work_folder(out, number);
    shard::begin(&work, context, header, tests).expect("a new folder");
    run(context, &work, true, tests.end, 1 + number as usize % 3);
    publish(out, manifest, &header.origin, number, &work).expect("it can be written")
}

#[test]
fn merged_shards_are_the_whole() {
    let folder = folder("whole");
    let rtl = rtl_with_bugs();
    let (tests, header) = choice(plan(&folder, 200), "all", rtl.clone()).tests().expect("a plan");
    let context = session::prepare(tests.clone(), &rtl, &mut |_| ()).expect("it builds");
    let one = folder.join("one/out");
    fs::create_dir_all(one.with_file_name("")).expect("a folder");
    let expected = whole(&context, &tests, &header, &one);

    for (name, cut) in [("eight", Cut::Count(8)), ("each", Cut::Seconds(0.0))] {
        let out = folder.join(name).join("out");
        fs::create_dir_all(out.with_file_name("")).expect("a folder");
        session::create(&out, &tests, &header, "slurm", false).expect("a new folder");
        let manifest = shard::cut(&out, &tests, &header, cut).expect("it can be cut");
        fs::create_dir_all(out.join("shards")).expect("a folder");
        let dead = work_folder(&out, 2);
        shard::begin(&dead, &context, &header, manifest.shard(2).expect("there is one")).expect("a folder");
        // Descending order, because shards may finish in any order.
        for number in (1..manifest.count()).rev() {
            assert_eq!(run_shard(&context, &header, &out, &manifest, number), Published::New);
        }
        let missing = shard::merge(&out, &manifest, &context, &header).expect_err("one is missing");
        let of = manifest.count();
        assert!(
            missing.to_string().contains(&format!("1 of {of} shards have no valid result: 0")),
            "{missing}"
        );
        run_shard(&context, &header, &out, &manifest, 0);
        assert_eq!(run_shard(&context, &header, &out, &manifest, 0), Published::AlreadyThere);

        // A truncated result is reported, and its shard must run again.
        let result = out.join("shards/3.result/records.jsonl");
        let bytes = fs::read(&result).expect("it is there");
        fs::write(&result, &bytes[..bytes.len() / 2]).expect("it can be cut");
        let cut = shard::merge(&out, &manifest, &context, &header).expect_err("it is not whole").to_string();
        assert!(cut.contains("no valid result: 3") && cut.contains("shards/3.result"), "{cut}");
        assert!(!out.join("summary.json").exists(), "nothing is merged in part");
        fs::write(&result, &bytes).expect("it can be written");

        for time in ["once", "and once more"] {
            let merged = shard::merge(&out, &manifest, &context, &header).expect("all are there");
            assert_eq!(merged, expected, "{time}");
            assert_same(&one, &out);
            assert!(!dead.exists(), "what the dead left is gone");
        }
    }
}

#[test]
fn what_cannot_be_cut_or_does_not_belong_is_refused() {
    let folder = folder("refused");
    let rtl = rtl_with_bugs();
    let plan = plan(&folder, 10);
    for (profile, budget) in [("timed", "wall time"), ("cycles", "cycles")] {
        let (tests, header) = choice(plan.clone(), profile, rtl.clone()).tests().expect("a plan");
        let refused = shard::cut(&folder.join(profile), &tests, &header, Cut::Count(2)).expect_err("no end");
        let expected = format!("profile `{profile}` has a budget of {budget}, but shards are cut");
        assert!(refused.to_string().starts_with(&expected), "{refused}");
        assert!(!folder.join(profile).exists());
    }
    let (tests, header) = choice(plan.clone(), "all", rtl).tests().expect("a plan");
    let out = folder.join("out");
    let manifest = shard::cut(&out, &tests, &header, Cut::Count(2)).expect("it can be cut");
    manifest.admit(&out, &header.origin).expect("its own");
    let (_, other) = choice(plan, "all", atoms_cosim::embedded::rtl_dir()).tests().expect("a plan");
    let refused = manifest.admit(&out, &other.origin).expect_err("other RTL").to_string();
    assert!(refused.contains("RTL: manifest ") && refused.contains("manifest.json"), "{refused}");
    assert!(!refused.contains("version of ATOMS"), "{refused}");
    assert!(verify(&out, &manifest, 0).is_err(), "nothing was run");
}
