//! Bugs planted in the RTL, one at a time: random cases find each, lockstep says where it shows, and
//! the oracle rejects it without the help of the model.

use atoms_cosim::configs::NamedConfig;
use atoms_cosim::lockstep::Lockstep;
use atoms_cosim::machine::{RtlMachine, Stop};
use atoms_cosim::mismatch::{ComparedSignal, Mismatch};
use atoms_cosim::session::Failure;
use atoms_model::port::OutField;
use atoms_ops::Op;
use atoms_tests::bugs::{Bug, On, each_bug};
use atoms_tests::draw::Mix;
use atoms_tests::hunt::{Found, Judge, hunt};
use atoms_tests::plant::plant;
use atoms_verilated::Library;

/// Cases drawn before a bug counts as missed.
const CASES: u32 = 100_000;

/// Most warp requests of a case.
const REQUESTS: usize = 6;

fn lockstep_finds(bug: &Bug, library: Library, named: NamedConfig) -> Result<Box<Found>, String> {
    let mut judge = Judge::<Lockstep>::new(library, named);
    let Err(found) = hunt(&format!("planted-{}", bug.name), &mut judge, CASES, REQUESTS, bug.on.mix()) else {
        return Err(format!("lockstep finds nothing in {CASES} cases"));
    };
    let Failure::Stop(Stop::Mismatch(mismatch)) = &found.failure else {
        return Err(format!("expected a mismatch, got: {found}"));
    };
    check_report(bug, mismatch).map_err(|what| format!("{what}:\n{found}"))?;
    Ok(found)
}

/// What a mismatch must say: cycle, field, both values, the request in flight.
fn check_report(bug: &Bug, mismatch: &Mismatch) -> Result<(), String> {
    let Some(first) = mismatch.differences.first() else { return Err("no difference is named".to_string()) };
    if !bug.shows_in.contains(&first.signal.to_string().as_str()) {
        return Err(format!("the first difference is in {}, expected {:?}", first.signal, bug.shows_in));
    }
    if first.rtl == first.model {
        return Err(format!("both sides have {:#x}", first.rtl));
    }
    if mismatch.cycle == 0 {
        return Err("nothing can differ in the first cycle".to_string());
    }
    // The memory is compared when nothing is inside any more; a table write needs no request.
    if !matches!(first.signal, ComparedSignal::Memory | ComparedSignal::Output(OutField::cta_reject)) {
        let wanted = |code| bug.ops.is_empty() || Op::from_code(code).is_some_and(|op| bug.ops.contains(&op));
        let warps = mismatch.in_flight.iter().map(|flight| flight.request.op);
        let clusters = mismatch.clusters_in_flight.iter().map(|flight| flight.request.op);
        if !warps.chain(clusters).any(wanted) {
            return Err(format!("no request with one of {:?} is in flight", bug.ops));
        }
    }
    let text = mismatch.to_string();
    for part in
        [&format!("mismatch at cycle {}", mismatch.cycle), &first.show(first.rtl), &first.show(first.model)]
    {
        if !text.contains(part.as_str()) {
            return Err(format!("the report does not say `{part}`"));
        }
    }
    Ok(())
}

fn oracle_objects(bug: &Bug, library: Library, named: NamedConfig) -> Result<(), String> {
    let mut judge = Judge::<RtlMachine>::new(library, named);
    let Err(found) = hunt(&format!("planted-{}-alone", bug.name), &mut judge, CASES, REQUESTS, bug.on.mix())
    else {
        return Err(format!("the oracle objects to nothing in {CASES} cases"));
    };
    match &found.failure {
        Failure::Oracle(_) | Failure::Stuck { .. } if found.failure.to_string().contains(bug.objection) => {
            Ok(())
        }
        _ => Err(format!("expected an objection with `{}`, got:\n{found}", bug.objection)),
    }
}

fn try_bug(bug: &Bug) -> Result<(), String> {
    let named = bug.on.named();
    let library = bug.planted();
    let found = lockstep_finds(bug, library.clone(), named.clone())?;
    let requests = found.case.warps.len() + found.case.clusters.len();
    // Two that wait at an object, one that makes it and one that completes its phase.
    let enough = if bug.on.mix() == Mix::Objects { 4 } else { 3 };
    if requests > enough {
        return Err(format!("{requests} requests are left, which fewer would show:\n{found}"));
    }
    if bug.name.starts_with("spin") {
        let lanes: u32 = found.case.warps.iter().map(|warp| warp.mask.count_ones()).sum();
        if requests > 2 || lanes > 4 {
            return Err(format!("{requests} requests with {lanes} lanes are left:\n{found}"));
        }
    }
    oracle_objects(bug, library, named)
}

/// Two at a time: each build runs two compilers.
#[test]
fn every_planted_bug_is_found() {
    let tried = each_bug(|bug| try_bug(bug).err().map(|what| format!("{}: {what}", bug.name)));
    let missed: Vec<_> = tried.into_iter().flatten().collect();
    assert!(missed.is_empty(), "\n{}", missed.join("\n\n"));
}

/// The RTL without a planted bug passes what finds them.
#[test]
fn without_a_bug_nothing_is_found() {
    for on in [On::Small, On::Forwarding, On::Merging, On::Objects, On::MergingArrivals] {
        let named = on.named();
        let library = plant(&format!("none-in-{}", named.name), &named, &[]);
        let mut judge = Judge::<Lockstep>::new(library, named);
        if let Err(found) = hunt("planted-none", &mut judge, CASES / 50, REQUESTS, on.mix()) {
            panic!("{on:?}: {found}");
        }
    }
}
