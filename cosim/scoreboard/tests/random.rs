use atoms_model::Config;
use atoms_model::config::WinnerPolicy;
use atoms_stimulus::Profile;

use crate::bench::{Bench, Shared};

fn configs() -> Vec<Config> {
    let small = Config { num_lanes: 8, num_banks: 8, num_rows: 64, num_cta_slots: 4, ..Config::default() };
    vec![
        Config::default(),
        small,
        Config { winner_policy: WinnerPolicy::Highest, bank_hash: true, merge_red: true, ..small },
        Config { winner_policy: WinnerPolicy::Rotating, merge_arrive: true, forwarding: false, ..small },
    ]
}

/// Runs every configuration under every profile, and expects at least `judged` requests to be judged in each run.
fn is_accepted(observed: bool, seed: u64, judged: u64) {
    for (number, config) in configs().into_iter().enumerate() {
        for profile in ["default", "busy", "objects", "hazards", "faults", "pressure", "resets"] {
            let mut bench = Bench::new(config, observed);
            let named = Profile::named(profile).expect("a profile of this name");
            if let Err(verdict) = bench.run(named, 800, seed, |_| ()) {
                panic!("configuration {number}, {profile}: {verdict}");
            }
            assert!(bench.scoreboard.judged() > judged, "{profile}: {}", bench.scoreboard.judged());
        }
    }
}

#[test]
fn the_model_is_accepted_from_its_ports_alone() {
    is_accepted(false, 7, 150);
}

#[test]
fn the_model_is_accepted_with_words_written_and_order_of_execution() {
    is_accepted(true, 8, 150);
}

#[test]
fn a_recorded_run_is_accepted_as_a_trace() {
    for (config, observed) in configs().into_iter().flat_map(|config| [(config, false), (config, true)]) {
        for profile in ["default", "objects", "resets"] {
            let (mut bench, trace) = (Bench::new(config, observed), Shared::default());
            bench.scoreboard.record(Box::new(trace.clone())).expect("writes");
            bench.run(Profile::named(profile).expect("a profile"), 250, 9, |_| ()).expect("accepted");
            bench.scoreboard.finish_recording().expect("a single order is left");
            let text = trace.take();
            let summary = atoms_record::check_trace(text.as_slice()).expect("an accepted trace");
            assert!(summary.requests > 60 && summary.final_words > 0, "{profile}, {observed}: {summary:?}");
        }
    }
}
