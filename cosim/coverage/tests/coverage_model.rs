//! Tests the coverage model: bin numbers, merging, and reachability.

use atoms_cosim::embedded::rtl_dir;
use atoms_cosim::machine::ModelMachine;
use atoms_cosim::session::Session;
use atoms_coverage::{Map, Model, Sampler};
use atoms_model::Config;
use atoms_ops::OPS;
use atoms_stimulus::configs;
use atoms_stimulus::{Profile, RandomStimulus};

/// Returns the hits of random stimulus on the model alone, in 4 runs from reset. Every other run has only
/// mbarrier operations.
fn random(config: Config, first_seed: u64, requests: u64) -> Map {
    let objects: Vec<_> = OPS.iter().map(|row| row.op).filter(|op| op.is_mbarrier()).collect();
    let mut sampler = Sampler::new(&config);
    for seed in first_seed..first_seed + 4 {
        sampler.restart();
        let (mut session, ()) = Session::new(ModelMachine::new(config), None).listened_by(sampler);
        let ops: &[_] = if seed % 2 == 0 { &objects } else { &[] };
        let mut stimulus = RandomStimulus::new(config, &Profile::of_ops(ops), seed, requests);
        session.run(&mut stimulus, u64::MAX, |_| {}).expect("the model does not stop");
        sampler = session.listened_by(()).1;
    }
    sampler.take()
}

#[test]
fn nothing_unreachable_is_hit() {
    let model = Model::standard();
    for named in configs::all(&rtl_dir()).expect("rtl/configs.toml") {
        let map = random(named.config, 1, 2500);
        let mut hit = 0;
        for (bin, hits) in map.iter() {
            let (group, at) = model.locate(bin).expect("every bin is a group's");
            let reachable = (group.reachable)(&named.config, &group.values(at));
            assert!(reachable, "{}: {} was hit {hits} times", named.name, group.bin_name(at));
            hit += 1;
        }
        assert!(hit > 1500, "{}: {hit} bins", named.name);
    }
}

#[test]
fn the_same_run_hits_the_same() {
    let config = Config::default();
    assert_eq!(random(config, 7, 300), random(config, 7, 300));
    assert_ne!(random(config, 7, 300), random(config, 8, 300));
}

#[test]
fn merging_knows_no_order() {
    let config = Config::default();
    let [a, b, c] = [1, 2, 3].map(|seed| random(config, seed, 200));
    let merged = |maps: [&Map; 3]| {
        let mut all = Map::new(Model::standard().bins());
        for map in maps {
            all.merge(map);
        }
        all
    };
    assert_eq!(merged([&a, &b, &c]), merged([&c, &a, &b]));
    let mut ab = a.clone();
    ab.merge(&b);
    let mut bc = b.clone();
    let new = bc.merge(&c);
    let mut left = ab;
    left.merge(&c);
    let mut right = a.clone();
    right.merge(&bc);
    assert_eq!(left, right);
    assert!(new.iter().all(|bin| b.hits(*bin) == 0 && c.hits(*bin) > 0), "new bins are the other's alone");
    assert_eq!(new.len() + b.iter().count(), bc.iter().count());
}

#[test]
fn bins_are_numbered_through() {
    let model = Model::standard();
    let mut next = 0;
    let mut names = std::collections::BTreeSet::new();
    for group in &model.groups {
        assert_eq!(group.first, next, "{}", group.name);
        next += group.len();
        assert!(names.insert(group.name), "{} twice", group.name);
        for at in [0, group.len() / 2, group.len() - 1] {
            let (found, number) = model.locate(group.first + at).expect("a bin");
            assert_eq!((found.name, number), (group.name, at));
            for (value, dimension) in group.values(at).iter().zip(&group.dimensions) {
                assert!(*value < dimension.values.len());
            }
        }
        for dimension in &group.dimensions {
            let distinct: std::collections::BTreeSet<_> = dimension.values.iter().collect();
            assert_eq!(distinct.len(), dimension.values.len(), "{} {}", group.name, dimension.name);
        }
    }
    assert_eq!(model.bins(), next);
    assert!(model.locate(next).is_none());
}

/// A combination that no supported configuration can hit is no bin. The number of remaining bins must stay
/// reviewable.
#[test]
fn there_are_as_many_bins_as_a_person_can_look_at() {
    let configs = configs::all(&rtl_dir()).expect("rtl/configs.toml");
    let mut bins = 0;
    for group in &Model::standard().groups {
        let reachable = |at| configs.iter().any(|named| (group.reachable)(&named.config, &group.values(at)));
        let of_group = (0..group.len()).filter(|at| reachable(*at)).count();
        assert!(of_group > 0, "{} has no bin", group.name);
        bins += of_group;
    }
    assert!((3000..12_000).contains(&bins), "{bins} bins");
}
