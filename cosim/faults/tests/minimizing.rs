//! Tests that minimizing stops at its limits and keeps the smallest case found so far.

use std::time::Duration;

use atoms_cosim::case::Case;
use atoms_cosim::case::trials::{Effort, Trials, run_case};
use atoms_cosim::lockstep::Lockstep;
use atoms_cosim::session::Session;
use atoms_faults::build::{SchemataRtl, Switch};
use atoms_faults::schemata::MutationOperator;
use atoms_ops::{Op, Size};
use atoms_stimulus::Profile;
use atoms_stimulus::request::{AllocationWrite, Lane, WarpRequest};

use crate::causes::{campaign, schemata, switch};

fn session(schemata: &SchemataRtl, switches: &[Switch]) -> Session<Lockstep> {
    let rtl = schemata.altered(switches).expect("it comes out of reset");
    Session::new(Lockstep::new(rtl, schemata.config.config).expect("it comes out of reset"), None)
}

#[test]
fn the_smallest_case_so_far_is_kept() {
    let schemata = schemata("tiny");
    let defect = switch(&schemata, "atoms_alu.sv", "old[i] >= b[i]", MutationOperator::Operator(">"));
    let campaign = campaign(&schemata, Profile::default());
    let mut failed = campaign.run(session(&schemata, &[defect]), |_| {}).expect_err("the defect shows");
    let smallest = failed.small_case(None, Effort::default()).expect("it fails from reset too");
    assert!(!smallest.spent.exhausted, "{}", smallest.spent);
    let mut found = 0;
    for divisor in [2, 4, 8, 1000] {
        let effort = Effort { cycles: smallest.spent.cycles / divisor, ..Effort::default() };
        let spent = match failed.small_case(None, effort) {
            Ok(small) => {
                found += 1;
                assert!(small.case.requests() >= smallest.case.requests(), "{:?}", small.case);
                let mut session = session(&schemata, &[defect]);
                assert!(Trials::new(&mut session, Effort::default()).run(&small.case).is_some());
                small.spent
            }
            Err(spent) => spent,
        };
        assert!(spent.exhausted && spent.cycles < effort.cycles + 1000, "{spent} of {effort:?}");
        assert!(spent.to_string().ends_with("then the limit was reached"), "{spent}");
    }
    assert!((1..4).contains(&found), "{found} of 4 limits leave a case");
    let no_time = Effort { time: Duration::ZERO, ..Effort::default() };
    assert_eq!(failed.small_case(None, no_time).expect_err("there is no time").attempts, 0);
}

/// A request waits for a phase that nothing completes, with a limit of four billion cycles. Minimizing tries
/// such a case when it removes the arrival from a case with a wait. It must cut the case off, so that effort
/// is left for other cases.
#[test]
fn a_case_without_an_end_is_cut_off() {
    let schemata = schemata("tiny");
    let mut session = session(&schemata, &[]);
    let wait = WarpRequest {
        op: Op::MbarTryWait as u8,
        size: Size::U64 as u8,
        mask: 1,
        lanes: vec![Lane { ra: 0, b: 0, c: u32::MAX.into() }],
        ..WarpRequest::default()
    };
    let allocation = AllocationWrite { slot: 0, enable: true, base: 0, size: 8, rank: 0 };
    let case = Case { allocations: vec![allocation], warps: vec![wait], ..Case::default() };
    let mut trials = Trials::new(&mut session, Effort::default());
    assert!(trials.run(&case).is_none());
    let spent = trials.spent();
    assert!(!spent.exhausted && spent.cycles < 5_000 && spent.attempts == 1, "{spent}");
}

/// Minimizes the failure of a defect to a case. The case must fail when run alone, and only with the defect.
fn leaves_a_case(profile: &str, file: &str, text: &str, by: MutationOperator) -> Case {
    let schemata = schemata("tiny");
    let defect = switch(&schemata, file, text, by);
    let campaign = campaign(&schemata, Profile::named(profile).expect("a profile"));
    let mut failed = campaign.run(session(&schemata, &[defect]), |_| {}).expect_err("the defect shows");
    let small = failed.small_case(None, Effort::default());
    let case = small.unwrap_or_else(|spent| panic!("{file}, {text}: no case in {spent}")).case;
    assert!(run_case(&mut session(&schemata, &[defect]), &case).is_err(), "{case:#?} passes alone");
    assert!(run_case(&mut session(&schemata, &[]), &case).is_ok(), "{case:#?} fails without the defect");
    case
}

/// A register without its reset needs a request before the reset and one after it.
#[test]
fn a_missing_reset_leaves_a_case() {
    let case =
        leaves_a_case("resets", "atoms_spin.sv", "turn_q <= '{default: '0};", MutationOperator::Dropped);
    assert!(case.requests() == 2 && case.changes.iter().any(|change| change.reset == 1), "{case:#?}");
}

/// The priority of CAST.SPIN never changes.
#[test]
fn an_unfair_selection_leaves_a_case() {
    let case = leaves_a_case("default", "atoms_spin.sv", "turn_q <= turn_d;", MutationOperator::Dropped);
    assert_eq!((case.requests(), case.changes.len()), (2, 0), "{case:#?}");
}

/// The first mutant loses a wake-up. The second lets a limit pass early.
#[test]
fn a_wrong_wait_leaves_a_case() {
    let case = leaves_a_case("default", "atoms_waiters.sv", "woken_q | wakes", MutationOperator::FirstOnly);
    assert!(case.requests() <= 4 && case.changes.is_empty(), "{case:#?}");
    let case = leaves_a_case("default", "atoms_waiters.sv", "32'd1", MutationOperator::OneMore);
    assert!(case.requests() == 1 && case.changes.is_empty(), "{case:#?}");
}
