//! Random stimulus through RTL, model and oracle, in every named configuration.

use atoms_cosim::session::Session;
use atoms_cosim::stimulus::{Manner, RandomStimulus};
use atoms_cosim::witness::Witness;
use atoms_tests::{all_configs, lockstep_of};

/// Warp requests per configuration.
const REQUESTS: u64 = 20_000;

#[test]
fn random_requests_agree_in_every_configuration() {
    for named in all_configs() {
        let memory = vec![0; (named.config.bytes() / 4) as usize];
        let witness = Witness::new(&named.config, &memory);
        let mut session = Session::new(lockstep_of(&named), Some(witness));
        let mut stimulus = RandomStimulus::new(named.config, &[], 1, REQUESTS, Manner::Searching);
        let tally = session
            .run(&mut stimulus, u64::MAX, |_| {})
            .unwrap_or_else(|failure| panic!("configuration {}: {failure}", named.name));
        assert_eq!(tally.requests, REQUESTS, "{}", named.name);
        assert!(tally.faults > REQUESTS / 100, "{}: faults are drawn", named.name);
        assert!(tally.faults < REQUESTS / 2, "{}: most requests do something", named.name);
        assert_eq!(tally.judged, tally.requests + tally.cluster_requests, "{}", named.name);
        println!("{}: {tally:?}", named.name);
    }
}
