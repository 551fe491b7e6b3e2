//! Tests steering towards bins without hits.

use atoms_cosim::machine::ModelMachine;
use atoms_cosim::session::Session;
use atoms_coverage::episode::Episode;
use atoms_coverage::steer::Steering;
use atoms_coverage::{Map, Model, Sampler};
use atoms_model::Config;
use atoms_stimulus::Profile;
use bitvec::vec::BitVec;

fn small() -> Config {
    Config {
        num_lanes: 4,
        num_banks: 4,
        num_rows: 8,
        num_cta_slots: 2,
        queue_depth: 2,
        forwarding: false,
        num_waiters: 2,
        try_wait_limit: 20,
        ..Config::default()
    }
}

fn run(config: &Config, profile: Profile, seed: u64, requests: u64) -> Map {
    let episode = Episode { config: "small".into(), profile, seed, requests, towards: None };
    let (mut session, ()) = Session::new(ModelMachine::new(*config), None).listened_by(Sampler::new(config));
    let tally = session.run(&mut episode.stimulus(config), 2_000_000, |_| {}).expect("a model does not fail");
    assert_eq!(tally.requests + tally.dropped, requests, "every request is answered or dropped: {episode:?}");
    session.listener().take()
}

#[test]
fn the_same_is_aimed_at_for_the_same_seed() {
    let model = Model::standard();
    let series = || {
        let mut steering = Steering::new(&model, &small());
        (0..50).map(|seed| steering.next(&model, &BitVec::new(), seed)).collect::<Vec<_>>()
    };
    let one = series();
    assert_eq!(one, series());
    let unsteered = one.iter().filter(|(_, towards)| towards.is_none()).count();
    assert!((5..20).contains(&unsteered), "{unsteered} of 50 are not steered");
}

#[test]
fn nothing_is_aimed_at_when_all_is_hit() {
    let model = Model::standard();
    let mut steering = Steering::new(&model, &small());
    let all = BitVec::repeat(true, model.bins());
    for seed in 0..20 {
        assert_eq!(steering.next(&model, &all, seed), (Profile::default(), None));
    }
}

#[test]
fn all_episodes_count_until_nothing_is_left() {
    let model = Model::standard();
    let steering = Steering::new(&model, &small());
    let mut hit = BitVec::repeat(true, model.bins());
    let counting = |hit: &BitVec| (0..16).filter(|nth| steering.counts(*nth, hit)).collect::<Vec<u64>>();
    assert_eq!(counting(&hit), [0, 8], "an eighth, and the first");
    let out_of_reach = steering.reachable().first_zero().expect("a small configuration cannot hit all");
    hit.set(out_of_reach, false);
    assert_eq!(counting(&hit), [0, 8], "what cannot be hit is not looked for");
    hit.set(steering.reachable().first_one().expect("it can hit something"), false);
    assert_eq!(counting(&hit), (0..16).collect::<Vec<_>>());
}

/// Steering must hit at least 90 % of a group's bins, and more than unsteered stimulus with the same number
/// of requests.
#[test]
fn hard_bins_are_reached() {
    let (model, config) = (Model::standard(), small());
    for name in ["limit_race", "cta_back_to_back", "objects", "completions"] {
        let group = model.groups.iter().find(|group| group.name == name).expect("there is one");
        let reachable = model.reachable(&config);
        let bins: Vec<_> = (group.first..group.first + group.len()).filter(|bin| reachable[*bin]).collect();
        let mut steering = Steering::new(&model, &config);
        let mut others = BitVec::repeat(true, model.bins());
        bins.iter().for_each(|bin| others.set(*bin, false));
        let (mut steered, mut plain) = (Map::new(model.bins()), Map::new(model.bins()));
        for seed in 0..48 {
            let hit = others.clone() | steered.hit();
            let (profile, _) = steering.next(&model, &hit, seed);
            steered.merge(&run(&config, profile, seed, 300));
            plain.merge(&run(&config, Profile::default(), seed, 300));
        }
        let count = |map: &Map| bins.iter().filter(|bin| map.hits(**bin) > 0).count();
        let (steered, plain) = (count(&steered), count(&plain));
        assert!(steered > plain, "{name}: {steered} of {} bins steered, {plain} not", bins.len());
        assert!(steered * 10 >= bins.len() * 9, "{name}: {steered} of {} bins steered", bins.len());
    }
}
