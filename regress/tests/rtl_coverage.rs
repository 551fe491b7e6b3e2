//! Tests of the coverage build of the RTL: its counts, and that it behaves like the fast build.

use atoms_cosim::campaign::Campaign;
use atoms_cosim::embedded::rtl_dir;
use atoms_cosim::lockstep::Lockstep;
use atoms_cosim::machine::Machine;
use atoms_cosim::rtl;
use atoms_cosim::session::{Session, Tally};
use atoms_regress::coverage::rtl::{RtlItem, RtlMap};
use atoms_stimulus::Profile;
use atoms_stimulus::configs;
use atoms_verilated::Variant;

fn session(config: &str, variant: Variant) -> (Campaign, Session<Lockstep>) {
    let named = configs::named(&rtl_dir(), config).unwrap();
    let rtl = rtl::instance(&rtl_dir(), &named, variant, &mut |_| {}).unwrap();
    let machine = Lockstep::new(rtl, named.config).unwrap();
    let campaign =
        Campaign { config: named, profile: Profile::default(), seed: 5, requests: 2000, until: u64::MAX };
    let session = Session::new(machine, Some(campaign.scoreboard()));
    (campaign, session)
}

fn run(campaign: &Campaign, session: &mut Session<Lockstep>) -> (Tally, Vec<u32>) {
    let tally = session.run(&mut campaign.stimulus(), u64::MAX, |_| {}).unwrap();
    (tally, session.machine_mut().read_memory().unwrap())
}

fn measured(session: &Session<Lockstep>) -> RtlMap {
    let mut map = RtlMap::default();
    map.add(&session.machine().coverage().unwrap());
    map
}

#[test]
fn counts_rise_with_what_is_done() {
    let (campaign, mut fast) = session("small", Variant::Fast);
    let (_, mut cov) = session("small", Variant::Cov);
    let before = measured(&cov).uncovered().count();
    let done = run(&campaign, &mut cov);
    assert_eq!(done, run(&campaign, &mut fast), "the same unit");
    let first = measured(&cov);
    let missing: Vec<String> = first.uncovered().map(|item| item.to_string()).collect();
    assert!(missing.len() * 4 < before, "{before} before, then {missing:?}");
    assert!(
        first.items().any(|(item, n)| item == RtlItem::Cover("atoms_issue.HeldByHazard".into()) && n > 0)
    );
    assert!(!missing.contains(&"cover atoms_pipe.HazardWithStage[1]".to_string()), "{missing:?}");

    // A restart keeps the counts: repeating the run adds the same counts again.
    cov.restart_machine().unwrap();
    assert_eq!(run(&campaign, &mut cov), done);
    let twice = measured(&cov);
    for ((item, one), (_, two)) in first.items().zip(twice.items()) {
        assert!(two >= one, "{item}: {one}, then {two}");
    }
    cov.machine_mut().zero_coverage().unwrap();
    assert!(measured(&cov).items().all(|(_, count)| count == 0));
    cov.restart_machine().unwrap();
    assert_eq!(run(&campaign, &mut cov), done);
    let alone = measured(&cov);
    assert_eq!(alone, first, "a function of the run alone, whatever ran before");

    let (mut merged, mut sum) = (first.clone(), RtlMap::default());
    merged.merge(&alone);
    sum.merge(&alone);
    sum.merge(&first);
    assert_eq!(merged, sum);
    let text = serde_json::to_string(&merged).unwrap();
    assert_eq!(serde_json::from_str::<RtlMap>(&text).unwrap(), merged);
    assert!(text.len() < 30_000, "{} bytes in a checkpoint", text.len());
}

#[test]
#[ignore = "nightly: builds two configurations with coverage"]
fn what_one_configuration_does_not_have_another_covers() {
    let map = |config| {
        let (campaign, mut session) = session(config, Variant::Cov);
        run(&campaign, &mut session);
        measured(&session)
    };
    let (held, forwarded) = (map("small"), map("tiny"));
    let has = |map: &RtlMap, name: &str| {
        map.items().any(|(item, count)| item == RtlItem::Cover(name.to_string()) && count > 0)
    };
    assert!(has(&held, "atoms_pipe.HazardWithStage[0]") && !has(&held, "atoms_pipe.Forwards[0]"));
    assert!(has(&forwarded, "atoms_pipe.Forwards[0]") && !has(&forwarded, "atoms_pipe.HazardWithStage[0]"));
    let mut both = held.clone();
    both.merge(&forwarded);
    assert!(has(&both, "atoms_pipe.Forwards[0]") && has(&both, "atoms_pipe.HazardWithStage[0]"));
    assert!(both.items().count() > held.items().count());
}

#[test]
fn every_cover_property_is_documented() {
    let docs = include_str!("../../docs/coverage.md");
    let (_, section) = docs.split_once("## Cover properties of the RTL").expect("the section");
    let section = section.split("\n## ").next().unwrap_or(section);
    for entry in std::fs::read_dir(rtl_dir()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "sv") {
            let text = std::fs::read_to_string(&path).unwrap();
            for cover in text.split("`ATOMS_COVER(").skip(1) {
                let label = cover.split(',').next().unwrap_or_default();
                let named = [format!("`{label}`"), format!("`{label}[n]`")];
                assert!(named.iter().any(|name| section.contains(name)), "{label} of {}", path.display());
            }
        }
    }
}
