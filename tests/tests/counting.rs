//! Number of runs in a series that count bins: all while bins are missing, few after all bins are hit.

use std::fs;

use atoms_cosim::embedded::rtl_dir;
use atoms_regress::plan::PlanChoice;
use atoms_regress::run::session::{self, RunRequest};
use atoms_regress::run::worker::{Runner, TestOutcome};
use atoms_tests::generated;

const EPISODES: u64 = 10;

/// Both runs use the same stimulus, so the bins of the shorter count are a subset of the others.
#[test]
fn a_series_counts_less_when_nothing_is_left_to_find() {
    let folder = generated("counting");
    fs::create_dir_all(&folder).expect("a folder can be made");
    let plan = folder.join("plan.toml");
    let text = format!(
        "[[random]]\nname = \"r\"\nconfigs = [\"tiny\"]\nseries = 1\nepisodes = {EPISODES}\nrequests = 60\n"
    );
    fs::write(&plan, text).expect("it can be written");
    let rtl_dir = rtl_dir();
    let choice = RunRequest { plan, choice: PlanChoice::default(), rtl_dir: rtl_dir.clone(), unit: None };
    let (tests, _) = choice.tests().expect("a plan");
    let mut context = session::prepare(tests, &rtl_dir, &mut |_| ()).expect("it builds");
    let test = context.tests.test(0).expect("there is a series");
    let mut outcome = |all_hit: bool| -> TestOutcome {
        context.baseline.fill(all_hit);
        let outcome = Runner::new(&context, None).run(&test);
        assert!(outcome.failed.is_none(), "{outcome:?}");
        assert_eq!(outcome.work.episodes, EPISODES);
        outcome
    };
    let (searching, found) = (outcome(false), outcome(true));
    assert_eq!((searching.work.counted, found.work.counted), (EPISODES, 2));
    assert_eq!(
        searching.work.cycles, found.work.cycles,
        "bins are counted beside what runs, and do not change it"
    );
    let (all, some) = (searching.hits.hit(), found.hits.hit());
    assert!(some.any() && (some.clone() & !all.clone()).not_any(), "nothing is hit that was not there");
    assert!(some.count_ones() < all.count_ones());
}
