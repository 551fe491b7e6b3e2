//! Tests that the list of causes names mutated lines, and how often the list is right.

use atoms_cosim::campaign::Campaign;
use atoms_cosim::case::Case;
use atoms_cosim::case::trials::Effort;
use atoms_cosim::embedded::rtl_dir;
use atoms_cosim::lockstep::Lockstep;
use atoms_cosim::session::Session;
use atoms_faults::build::{SchemataRtl, Switch};
use atoms_faults::cause::{self, CauseError};
use atoms_faults::schemata::MutationOperator;
use atoms_stimulus::configs;
use atoms_stimulus::{Profile, Share};

pub(crate) fn schemata(name: &str) -> SchemataRtl {
    let rtl = rtl_dir();
    let config = configs::named(&rtl, name).unwrap_or_else(|error| panic!("{name}: {error}"));
    SchemataRtl::build(&rtl, &config, &mut |_| {}).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn failing(schemata: &SchemataRtl, switches: &[Switch]) -> Option<Case> {
    failing_in(schemata, Profile::default(), switches)
}

pub(crate) fn campaign(schemata: &SchemataRtl, profile: Profile) -> Campaign {
    Campaign { config: schemata.config.clone(), profile, seed: 10, requests: 1500, until: u64::MAX }
}

fn failing_in(schemata: &SchemataRtl, profile: Profile, switches: &[Switch]) -> Option<Case> {
    let rtl = schemata.altered(switches).expect("it comes out of reset");
    let machine = Lockstep::new(rtl, schemata.config.config).expect("it comes out of reset");
    let mut failed = campaign(schemata, profile).run(Session::new(machine, None), |_| {}).err()?;
    Some(failed.small_case(None, Effort::default()).expect("it fails from reset too").case)
}

pub(crate) fn switch(schemata: &SchemataRtl, file: &str, text: &str, by: MutationOperator) -> Switch {
    let mut sites =
        schemata.sites.iter().enumerate().filter(|(_, site)| site.file == file && site.text == text);
    let found = sites.find_map(|(number, site)| {
        let (value, _) = site.operators().into_iter().find(|(_, operator)| *operator == by)?;
        Some(Switch::always(number, value))
    });
    found.unwrap_or_else(|| panic!("{file} has no `{text}` to be {by}: choose another one"))
}

#[test]
fn without_a_mutant_the_schemata_are_the_rtl() {
    let schemata = schemata("tiny");
    assert_eq!(failing(&schemata, &[]), None);
    let run = campaign(&schemata, Profile::default());
    assert!(matches!(cause::failing_case(&schemata, &run), Ok(None)), "the run passes");
    let switches: Vec<Switch> = (0..schemata.sites.len()).map(|site| Switch::always(site, 0)).collect();
    assert_eq!(failing(&schemata, &switches), None, "a switch that is set to 0 is off");
    // A run may drive the ports that set switches in a later reset.
    let resets = Profile { reset: Share::new(1.0 / 64.0), table: Share::new(0.5), ..Profile::default() };
    assert_eq!(failing_in(&schemata, resets, &[]), None, "no switch is set behind the first cycle of a run");
}

#[test]
fn the_list_begins_with_the_line_that_was_altered() {
    let schemata = schemata("tiny");
    let defect = switch(&schemata, "atoms_alu.sv", "old[i] >= b[i]", MutationOperator::Operator(">"));
    let case = failing(&schemata, &[defect]).expect("the defect shows");
    let sound = cause::list(&schemata, &case);
    assert!(
        matches!(sound, Err(CauseError::Agrees)),
        "without the defect there is nothing to find: {sound:?}"
    );
    let suspects = cause::list_with(&schemata, &case, defect).expect("experiments");
    let first = suspects.first().expect("a suspect");
    let site = &schemata.sites[defect.site];
    assert_eq!((&first.file, first.line, first.mends), (&site.file, site.line, true), "{first:?}");
    assert!(first.source.contains("old[i] >= b[i]"), "{first:?}");
}

/// Number of defects, chosen so that the test takes about a minute. The example `cause_score` takes 200.
const SAMPLE: usize = 100;

#[test]
#[ignore = "nightly: experiments on 100 defects"]
fn the_list_is_right_often_enough() {
    let score = cause::score(&schemata("small"), 11, SAMPLE, |_| {}).expect("experiments");
    println!("line first              {}", score.line(1));
    println!("line in the first 3     {}", score.line(3));
    println!("module in the first 3   {}", score.module(3));
    println!("line first by distance  {}", score.line_by_distance(1));
    assert_eq!(score.defects.len(), SAMPLE);
    // The goals for 200 defects are 60, 85 and 97 %. The thresholds are lower, because a smaller sample
    // varies more.
    assert!(score.line(1).percent() >= 55.0, "line first {}", score.line(1));
    assert!(score.line(3).percent() >= 76.0, "line in the first 3 {}", score.line(3));
    assert!(score.module(3).percent() >= 86.0, "module in the first 3 {}", score.module(3));
    assert!(
        score.line_by_distance(3).hits < score.line(3).hits,
        "experiments say more than the data flow alone"
    );
}
