//! Each profile of random stimulus through RTL, model and oracle, in every named configuration.
//!
//! `tests/tests/lockstep.rs` runs longer streams. These streams are short because `.ci/mutants` runs them for thousands of
//! mutants of model and oracle (`docs/mutation.md`).

use atoms_cosim::embedded::rtl_dir;
use atoms_cosim::lockstep::Lockstep;
use atoms_cosim::rtl;
use atoms_cosim::scoreboard::Scoreboard;
use atoms_cosim::session::Session;
use atoms_stimulus::configs::{self, NamedConfig};
use atoms_stimulus::{Profile, RandomStimulus};
use atoms_verilated::Variant;

/// Warp requests of a run.
const REQUESTS: u64 = 1000;

fn agree(named: &NamedConfig, profile: &str) {
    let NamedConfig { name, config, .. } = named;
    let rtl = rtl::instance(&rtl_dir(), named, Variant::Fast, &mut |_| {})
        .unwrap_or_else(|error| panic!("the RTL of `{name}` does not build: {error}"));
    let machine = Lockstep::new(rtl, *config).expect("the RTL comes out of reset");
    let mut session = Session::new(machine, Some(Scoreboard::new(config, &[])));
    let drawn = Profile::named(profile).expect("it has this name");
    let mut stimulus = RandomStimulus::new(*config, &drawn, 1, REQUESTS);
    let tally = session
        .run(&mut stimulus, u64::MAX, |_| {})
        .unwrap_or_else(|failure| panic!("{name}, {profile}: {failure}"));
    assert_eq!(tally.requests + tally.dropped, REQUESTS, "{name}, {profile}");
}

/// Configurations that reach every option of the unit together.
const QUICK: [&str; 4] = ["default", "tiny", "small", "all_options"];

fn every_profile_agrees(in_these: impl Fn(&str) -> bool) {
    let configurations = configs::all(&rtl_dir()).expect("rtl/configs.toml is readable");
    for profile in Profile::NAMES {
        for named in configurations.iter().filter(|named| in_these(&named.name)) {
            agree(named, profile);
        }
    }
}

#[test]
fn every_profile_agrees_in_four_configurations() {
    every_profile_agrees(|name| QUICK.contains(&name));
}

#[test]
#[ignore = "nightly: other configurations"]
fn every_profile_agrees_in_the_other_configurations() {
    every_profile_agrees(|name| !QUICK.contains(&name));
}
