//! Random stimulus through RTL, model and oracle, in every named configuration.

use atoms_cosim::configs::NamedConfig;
use atoms_cosim::stimulus::{Faults, Paces, Profile, RandomStimulus, Share};
use atoms_coverage::steer::Steering;
use atoms_coverage::{Map, Model, Sampler};
use atoms_tests::{config, judged_lockstep_of, test_each, test_each_configuration};

/// Warp requests per configuration.
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
    // An answer that a reset takes back was judged; a cluster response that was held and is lost was not.
    let answers = tally.requests + tally.cluster_requests;
    let lost = u64::from(named.config.rmw_latency + 4) * tally.resets;
    let judged = answers - lost.min(answers)..=answers + 2 * tally.resets;
    assert!(judged.contains(&tally.judged), "{}: {tally:?}", named.name);
}

test_each_configuration! { random_requests: random_requests_agree }

/// Runs a profile through RTL, model and oracle; gives what it hit.
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

test_each! { mod named_profiles: all Profile::NAMES => profile_agrees; default busy objects hazards faults pressure resets }

/// A write that names no slot is refused in the cycle in which a request of that slot is answered: the
/// requests of such a slot never had an allocation.
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

test_each! { mod steered_episodes: steered_episodes_agree; small default half }
