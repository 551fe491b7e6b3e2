//! Random cases run through RTL, model and oracle in every named configuration. A failing case is shrunk,
//! saved under `target/failures`, and printed with the command that repeats it.
//!
//! Each case is short and starts from reset, so that it can shrink. `lockstep.rs` runs long streams that
//! accumulate state.

use std::collections::BTreeSet;

use atoms_cosim::embedded::rtl_dir;
use atoms_cosim::lockstep::Lockstep;
use atoms_cosim::machine::ModelMachine;
use atoms_cosim::rtl;
use atoms_cosim::session::Session;
use atoms_ops::{Fault, OPS, legal};
use atoms_tests::bench::run_case;
use atoms_tests::draw::{self, Mix};
use atoms_tests::hunt::{Judge, cases_or, hunt};
use atoms_tests::{config, config_names, test_each};
use atoms_verilated::Variant;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

const REQUESTS: usize = 6;

fn agree(name: &str, cases: u32) {
    let named = config(name);
    let library = rtl::library(&rtl_dir(), &named, Variant::Fast, &mut |_| {})
        .unwrap_or_else(|error| panic!("the RTL of `{name}` does not build: {error}"));
    let mut judge = Judge::<Lockstep>::new(library, named);
    if let Err(found) = hunt(&format!("random-{name}"), &mut judge, cases_or(cases), REQUESTS, Mix::All) {
        panic!("configuration {name}: {found}");
    }
}

test_each! {
    all config_names() => agree;
    default(8000)
    tiny(20_000)
    small(20_000)
    #[ignore = "nightly: another configuration"]
    hold(8000)
    #[ignore = "nightly: another configuration"]
    deep(6000)
    #[ignore = "nightly: another configuration"]
    short(6000)
    #[ignore = "nightly: another configuration"]
    rotating(6000)
    #[ignore = "nightly: another configuration"]
    highest(6000)
    #[ignore = "nightly: another configuration"]
    merging(6000)
    #[ignore = "nightly: another configuration"]
    hashed(6000)
    #[ignore = "nightly: another configuration"]
    wide(6000)
    all_options(10_000)
    #[ignore = "nightly: another configuration"]
    narrow(6000)
    #[ignore = "nightly: another configuration"]
    huge(200)
}

/// Random cases exercise every instruction and fault, bank conflicts, compares that succeed, cluster
/// requests, waits, and refused table writes. More than 60 % of the requests have no fault.
fn reaches_what_it_is_for(name: &str) {
    let named = config(name);
    let strategy = draw::case(name, named.config, REQUESTS, Mix::All);
    let mut runner = TestRunner::deterministic();
    let mut session = Session::new(ModelMachine::new(named.config), None);
    let zeros = vec![0; (named.config.bytes() / 4) as usize];
    let (mut answers, mut conflicts, mut hits, mut clusters, mut refused) = (0, 0, 0, 0, 0);
    let mut waiters = 0;
    let (mut faults, mut instructions) = ([0; 4], BTreeSet::new());
    for _ in 0..1000 {
        let case = strategy.new_tree(&mut runner).expect("nothing is filtered").current();
        let observed = run_case(&mut session, &case, &zeros).unwrap_or_else(|f| panic!("{name}: {f}"));
        waiters += observed.wakes.len();
        // Waiting requests are answered out of order.
        let in_order = if observed.wakes.is_empty() { &case.warps[..] } else { &[] };
        for (request, answer) in in_order.iter().zip(&observed.warps) {
            if legal(request.op, request.size) && answer.rsp_fault == 0 && answer.rsp_passes > 0 {
                instructions.insert((request.op, request.size));
            }
            answers += 1;
            conflicts += usize::from(answer.rsp_passes > 1);
            hits += usize::from(answer.rsp_pred != 0);
            faults[usize::from(answer.rsp_fault)] += 1;
        }
        clusters += observed.clusters.len();
        refused += observed.refused;
    }
    let share = |part: usize| 100 * part / answers;
    let all: usize = OPS.iter().map(|row| row.sizes.len()).sum();
    assert_eq!(instructions.len(), all, "{name}: every instruction does something");
    assert!(share(faults[0]) > 60, "{name}: {faults:?}");
    for fault in [Fault::Illegal, Fault::Misaligned, Fault::OutOfRange] {
        assert!(share(faults[fault as usize]) >= 1, "{name}: {fault}: {faults:?}");
    }
    assert!(share(conflicts) > 25, "{name}: {conflicts} of {answers} take more than one pass");
    assert!(share(hits) > 5, "{name}: {hits} of {answers} compares hit");
    assert!(clusters > 100 && refused > 10, "{name}: {clusters} cluster requests, {refused} refused");
    assert!(waiters > 10, "{name}: {waiters} requests waited");
}

test_each! { mod cases_are_worth_running: reaches_what_it_is_for; default small }
