//! Random stimulus runs through RTL, model and oracle in every named configuration.

use atoms_cosim::machine::Machine;
use atoms_coverage::steer::Steering;
use atoms_coverage::{Map, Model, Sampler};
use atoms_model::Config;
use atoms_model::port::In;
use atoms_ops::{Op, Size};
use atoms_stimulus::configs::NamedConfig;
use atoms_stimulus::request::{AllocationWrite, ClusterRequest, Lane, WarpRequest};
use atoms_stimulus::{Faults, Paces, Profile, RandomStimulus, Share};
use atoms_tests::{config, judged_lockstep_of, test_each, test_each_configuration};

const REQUESTS: u64 = 20_000;

fn random_requests_agree(name: &str) {
    let named = config(name);
    let mut session = judged_lockstep_of(&named);
    let mut stimulus = RandomStimulus::new(named.config, &Profile::default(), 1, REQUESTS);
    let tally = session
        .run(&mut stimulus, u64::MAX, |_| {})
        .unwrap_or_else(|failure| panic!("configuration {}: {failure}", named.name));
    assert_eq!(tally.requests + tally.dropped, REQUESTS, "{}", named.name);
    assert!(tally.resets > 0 && tally.dropped < 50 * tally.resets, "{}: {tally:?}", named.name);
    assert!(tally.faults > REQUESTS / 100, "{}: faults are drawn", named.name);
    assert!(tally.faults < REQUESTS / 2, "{}: most requests do something", named.name);
    // A reset can take back an answer that the oracle has judged. A reset can also discard a held cluster
    // response before the oracle judges it.
    let answers = tally.requests + tally.cluster_requests;
    let lost = u64::from(named.config.rmw_latency + 4) * tally.resets;
    let judged = answers - lost.min(answers)..=answers + 2 * tally.resets;
    assert!(judged.contains(&tally.judged), "{}: {tally:?}", named.name);
}

test_each_configuration! { random_requests: random_requests_agree }

/// Runs a profile through RTL, model and oracle. Returns the bins that it hit.
fn agree(named: &NamedConfig, profile: &Profile, what: &str, seed: u64, requests: u64) -> Map {
    let (mut session, ()) = judged_lockstep_of(named).listened_by(Sampler::new(&named.config));
    let mut stimulus = RandomStimulus::new(named.config, profile, seed, requests);
    let tally = session
        .run(&mut stimulus, u64::MAX, |_| {})
        .unwrap_or_else(|failure| panic!("{}, {what}, seed {seed}: {failure}", named.name));
    assert_eq!(tally.requests + tally.dropped, requests, "{}, {what}", named.name);
    session.listener().take()
}

fn profile_agrees(name: &str) {
    let profile = Profile::named(name).expect("it has this name");
    agree(&config("small"), &profile, name, 1, 5000);
}

test_each! { mod named_profiles: all Profile::NAMES => profile_agrees; default busy objects hazards faults pressure resets retry_loops }

/// The unit refuses a table write for an invalid slot even in a cycle that answers a request of that slot.
/// Such a request never has an allocation.
#[test]
fn a_slot_that_does_not_exist_never_has_an_allocation() {
    let storm = Profile {
        faults: Faults { slot: Share::new(0.5), ..Faults::none() },
        table: Share::new(0.5),
        pace: Paces::free(),
        ..Profile::default()
    };
    agree(&config("small"), &storm, "table writes", 1, 5000);
}

/// The unit takes no table write of a slot while requests of that slot are in flight (spec 1.3). The test
/// fills the unit with requests of one slot.
fn a_full_unit_keeps_its_slot(name: &str) {
    let named = config(name);
    let Config { queue_depth, rmw_latency, num_waiters, .. } = named.config;
    let mut session = judged_lockstep_of(&named);
    let mut i = In { rst_n: 1, rsp_ready: 1, cl_rsp_ready: 1, wake_ready: 1, ..In::default() };
    let allocation = AllocationWrite { slot: 0, enable: true, base: 0, size: 16, rank: 0 };
    let (mut accepted, mut warps) = (0, 0);
    let mut clock = |i: &mut In, cycles: u32, most: u32| {
        for _ in 0..cycles {
            if warps < most && i.req_valid == 0 {
                let waits = warps < num_waiters;
                let (op, size) = if waits { (Op::MbarTryWait, Size::U64) } else { (Op::Load, Size::U32) };
                let lanes = vec![Lane { ra: 0, b: 0, c: 20_000 }];
                let (op, size, tag) = (op as u8, size as u8, warps as u8);
                WarpRequest { op, size, tag, mask: 1, lanes, ..WarpRequest::default() }.drive(i);
            }
            session.clock(i).unwrap_or_else(|failure| panic!("{name}: {failure}"));
            let out = &session.machine().last().out;
            if i.req_valid & out.req_ready == 1 {
                (i.req_valid, warps, accepted) = (0, warps + 1, accepted + 1);
            }
            if i.cl_valid & out.cl_ready == 1 {
                (i.cl_valid, accepted) = (u8::from(most > 0), accepted + 1);
            }
            if i.cta_valid & out.cta_ready == 1 {
                i.cta_valid = 0;
            }
        }
        accepted
    };
    allocation.drive(&mut i);
    clock(&mut i, 4, 0);
    // Each wait has left the pipeline and only occupies an entry of the table of waiters.
    assert_eq!(clock(&mut i, 2_000, num_waiters), num_waiters, "{name}");
    (i.rsp_ready, i.cl_rsp_ready, i.wake_ready) = (0, 0, 0);
    clock(&mut i, 100, u32::MAX);
    ClusterRequest { op: Op::Load as u8, size: Size::U32 as u8, ..ClusterRequest::default() }.drive(&mut i);
    // A queue of one entry accepts a request only every other cycle, so every other pipeline stage is empty.
    let empty = if queue_depth == 1 { rmw_latency.div_ceil(2) } else { 0 };
    let most = queue_depth + 2 + 1 + (rmw_latency + 1 - empty) + num_waiters;
    // One more request was accepted. It has left the pipeline, but its response is not taken.
    assert_eq!(clock(&mut i, 100, u32::MAX), most + 1, "{name}");
    AllocationWrite { base: 1, ..allocation }.drive(&mut i);
    clock(&mut i, 100, u32::MAX);
    assert_eq!(i.cta_valid, 1, "{name}: the write is taken while {most} requests of its slot are inside");
    (i.rsp_ready, i.cl_rsp_ready, i.wake_ready) = (1, 1, 1);
    clock(&mut i, 25_000, 0);
    assert_eq!(i.cta_valid, 0, "{name}: all requests have left");
}

test_each_configuration! { full_unit: a_full_unit_keeps_its_slot }

fn steered_episodes_agree(name: &str) {
    let model = Model::standard();
    let named = config(name);
    let mut steering = Steering::new(&model, &named.config);
    let mut hit = Map::new(model.bins());
    for seed in 0..40 {
        let (profile, towards) = steering.next(&model, hit.hit(), seed);
        hit.merge(&agree(&named, &profile, towards.as_deref().unwrap_or("anywhere"), seed, 300));
    }
}

test_each! { mod steered_episodes: steered_episodes_agree; small default all_options }
