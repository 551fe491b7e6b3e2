//! Planted RTL bugs, one at a time. Random cases find each bug, lockstep reports the expected field, and the
//! oracle alone rejects the RTL.

use atoms_cosim::lockstep::Lockstep;
use atoms_cosim::machine::{Failure, RtlMachine};
use atoms_cosim::mismatch::{ComparedSignal, Mismatch};
use atoms_model::port::OutField;
use atoms_ops::Op;
use atoms_stimulus::configs::NamedConfig;
use atoms_tests::bugs::{Bug, On};
use atoms_tests::draw::Mix;
use atoms_tests::hunt::{Found, Hunted, Judge, hunt};
use atoms_tests::plant::plant;
use atoms_tests::{test_each, test_each_bug};
use atoms_verilated::Library;

/// Number of cases after which a bug counts as missed.
const CASES: u32 = 100_000;

const REQUESTS: usize = 6;

fn found_on<M: Hunted>(name: &str, bug: &Bug, library: Library, named: NamedConfig) -> Box<Found> {
    let mut judge = Judge::<M>::new(library, named);
    match hunt(name, &mut judge, CASES, REQUESTS, bug.on.mix()) {
        Ok(()) => panic!("nothing is found in {CASES} cases"),
        Err(found) => found,
    }
}

/// Checks that a mismatch reports cycle, field, both values and the request in flight.
fn check_report(bug: &Bug, mismatch: &Mismatch) {
    let first = mismatch.differences.first().expect("a difference is named");
    let field = first.signal.to_string();
    assert!(bug.shows_in.contains(&&*field), "first in {field}, not {:?}: {mismatch}", bug.shows_in);
    assert_ne!(first.rtl, first.model, "{mismatch}");
    assert_ne!(mismatch.cycle, 0, "nothing can differ in the first cycle: {mismatch}");
    // Memory is compared after all requests have ended, and a table write needs no request.
    if !matches!(first.signal, ComparedSignal::Memory | ComparedSignal::Output(OutField::cta_reject)) {
        let wanted = |code| bug.ops.is_empty() || Op::from_code(code).is_some_and(|op| bug.ops.contains(&op));
        let warps = mismatch.in_flight.iter().map(|flight| flight.request.op);
        let mut in_flight = warps.chain(mismatch.clusters_in_flight.iter().map(|flight| flight.request.op));
        assert!(in_flight.any(wanted), "no request with one of {:?} is in flight: {mismatch}", bug.ops);
    }
    let text = mismatch.to_string();
    for part in
        [&format!("mismatch at cycle {}", mismatch.cycle), &first.show(first.rtl), &first.show(first.model)]
    {
        assert!(text.contains(part.as_str()), "the report does not say `{part}`: {text}");
    }
}

fn is_found(bug: &Bug) {
    let (named, library) = (bug.on.named(), bug.planted());
    let found = found_on::<Lockstep>(&format!("planted-{}", bug.name), bug, library.clone(), named.clone());
    let Failure::Mismatch(mismatch) = &found.failure else {
        panic!("expected a mismatch, got: {found}");
    };
    check_report(bug, mismatch);
    let requests = found.case.warps.len() + found.case.clusters.len();
    // Two waiters at an object, its init, and the arrival that completes its phase.
    let enough = if bug.on.mix() == Mix::Objects { 4 } else { 3 };
    assert!(requests <= enough, "{requests} requests are left, which fewer would show:\n{found}");
    if bug.name.starts_with("spin") {
        let lanes: u32 = found.case.warps.iter().map(|warp| warp.mask.count_ones()).sum();
        assert!(requests <= 2 && lanes <= 4, "{requests} requests with {lanes} lanes are left:\n{found}");
    }

    let found = found_on::<RtlMachine>(&format!("planted-{}-alone", bug.name), bug, library, named);
    let objects = matches!(found.failure, Failure::Oracle(_) | Failure::Stuck { .. });
    let text = found.failure.to_string();
    assert!(
        objects && text.contains(bug.objection),
        "expected an objection with `{}`, got:\n{found}",
        bug.objection
    );
}

test_each_bug! { is_found }

/// RTL without a bug passes the cases that find the bugs.
fn nothing_is_found(name: &str, on: On) {
    let named = on.named();
    let library = plant(&format!("none-in-{}", named.name), &named, &[]);
    let mut judge = Judge::<Lockstep>::new(library, named);
    if let Err(found) = hunt(&format!("planted-none-{name}"), &mut judge, CASES / 50, REQUESTS, on.mix()) {
        panic!("{found}");
    }
}

test_each! {
    mod without_a_bug: nothing_is_found;
    small(On::Small)
    objects(On::Objects)
    #[ignore = "nightly: another configuration"]
    forwarding(On::Forwarding)
    #[ignore = "nightly: another configuration"]
    merging(On::Merging)
    #[ignore = "nightly: another configuration"]
    merging_arrivals(On::MergingArrivals)
}
