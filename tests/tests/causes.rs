//! The bundle of a failure names the wrong line. The bugs come from other tests; few of them match a mutation
//! operator of the cause ranking.

#![allow(clippy::print_stdout)] // progress of each bug

use std::fs;

use atoms_cosim::case::recorder::Recorder;
use atoms_cosim::case::trials::Effort;
use atoms_cosim::lockstep::Lockstep;
use atoms_cosim::machine::Machine;
use atoms_cosim::scoreboard::Scoreboard;
use atoms_cosim::session::Session;
use atoms_coverage::episode::Episode;
use atoms_regress::triage::bundle::{BundleContext, Original, bundle};
use atoms_regress::triage::test_failure::FailedRun;
use atoms_stimulus::Profile;
use atoms_tests::bugs::{BUGS, Bug};
use atoms_tests::generated;
use atoms_tests::hunt::Hunted;
use serde_json::Value;

const LISTED: usize = 5;
/// Number of lines around a suspect line that a reader also sees.
const IN_SIGHT: u64 = 3;

#[derive(Debug)]
struct Said {
    /// Rank of the first wrong line, from 1. For a deleted line, a neighbouring line counts.
    place: Option<usize>,
    /// True if a suspect line of the report is within [`IN_SIGHT`] lines of a wrong line.
    in_sight: bool,
    screen: String,
    first: String,
}

/// Bundles the failure that random requests find. Returns None if four runs find no failure.
fn said(bug: &Bug) -> Option<Said> {
    let (named, library) = (bug.on.named(), bug.planted());
    let parent = generated("bundles").join("causes").join(bug.name);
    let _ = fs::remove_dir_all(&parent);
    let folder = (1..=4).find_map(|seed| {
        let machine = Lockstep::make(&library, &named).expect("it comes out of reset");
        let session = Session::new(machine, Some(Scoreboard::new(&named.config, &[])));
        let (mut session, ()) = session.listened_by(Recorder::new(&named.config));
        let (config, profile) = (named.name.clone(), Profile::default());
        let episode = Episode { config, profile, seed, requests: 3000, towards: None };
        let failure = session.run(&mut episode.stimulus(&named.config), u64::MAX, |_| {}).err()?;
        let cycles = session.machine().cycles();
        let failed = FailedRun::of_session(failure, cycles, &named.name).expect("a finding");
        let (_, recorder) = session.listened_by(());
        let failed = FailedRun { recorder: Some(Box::new(recorder)), ..failed };
        let context = BundleContext {
            test: bug.name,
            index: 0,
            seed,
            config: &named,
            rtl_dir: &generated("planted").join(bug.name),
            library: &library,
            original: Original::Episode(&episode),
            effort: Effort::default(),
            causes: true,
        };
        let bucket = bundle(&context, &failed, &parent).expect("the bundle is written");
        let folder = parent.with_file_name("").join(bucket.bundle.expect("a bundle"));
        folder.join("causes.json").exists().then_some(folder)
    })?;
    let read = |name: &str| fs::read_to_string(folder.join(name)).expect("a file of the bundle");
    let list: Vec<Value> = serde_json::from_str(&read("causes.json")).expect("a list");
    let (file, lines) = bug.patches[0].place();
    let beside = u64::from(bug.patches[0].replace.trim().is_empty());
    let within = |one: &Value, beside: u64| {
        let near = lines.start().saturating_sub(beside)..=lines.end() + beside;
        one["file"] == file.as_str() && one["line"].as_u64().is_some_and(|at| near.contains(&at))
    };
    let first = list.first().expect("a line");
    Some(Said {
        place: list.iter().position(|one| within(one, beside)).map(|at| at + 1),
        in_sight: list.iter().take(LISTED).any(|one| within(one, IN_SIGHT)),
        screen: read("report.txt").lines().take(24).collect::<Vec<_>>().join("\n"),
        first: format!("{}:{}  ", first["file"].as_str().expect("a file"), first["line"]),
    })
}

fn all(bugs: &[&Bug]) -> Vec<(&'static str, Option<Said>)> {
    let mut all = Vec::new();
    for bug in bugs {
        let said = said(bug);
        println!("{:48} {:?}", bug.name, said.as_ref().map(|said| (said.place, said.in_sight)));
        if let Some(said) = &said {
            assert!(
                said.screen.contains(&format!("suspect      {}", said.first)),
                "{}:\n{}",
                bug.name,
                said.screen
            );
        }
        all.push((bug.name, said));
    }
    all
}

fn named(all: &[(&str, Option<Said>)], within: usize) -> usize {
    all.iter().filter(|(_, said)| said.as_ref().and_then(|s| s.place).is_some_and(|at| at <= within)).count()
}

#[test]
#[ignore = "nightly: builds RTL with a bug and all mutants of it"]
fn the_first_screen_of_a_bundle_names_the_cause() {
    let all = all(&[Bug::named("nothing_is_forwarded")]);
    assert_eq!(named(&all, 1), 1, "{all:?}");
}

/// Ranks the causes of every bug that a few thousand random requests find.
#[test]
#[ignore = "nightly: half a minute for each of forty bugs"]
fn the_first_screen_names_the_cause_of_most_bugs() {
    let all = all(&BUGS.iter().collect::<Vec<_>>());
    let met = all.iter().filter(|(_, said)| said.is_some()).count();
    let (first, listed) = (named(&all, 1), named(&all, LISTED));
    let in_sight = all.iter().filter(|(_, said)| said.as_ref().is_some_and(|said| said.in_sight)).count();
    println!(
        "of {met} bugs, first {first}, in the first {LISTED} {listed}, {IN_SIGHT} lines from one of these {in_sight}"
    );
    // docs/causes.md claims one half and four fifths. The limits allow two or three fewer bugs.
    assert!(met >= 33 && 20 * first >= 9 * met && 20 * listed >= 15 * met, "{first} and {listed} of {met}");
    assert!(10 * in_sight >= 9 * met, "{in_sight} of {met}");
}
