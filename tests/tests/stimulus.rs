//! Bugs that the default random profile must find within few requests.

use atoms_cosim::campaign::{Campaign, Failed, SmallCase};
use atoms_cosim::case::Case;
use atoms_cosim::case::trials::{Effort, run_case};
use atoms_cosim::lockstep::Lockstep;
use atoms_cosim::machine::ModelMachine;
use atoms_cosim::session::Session;
use atoms_coverage::{Model, Sampler};
use atoms_stimulus::configs::NamedConfig;
use atoms_stimulus::{Profile, RandomStimulus, Share};
use atoms_tests::config;
use atoms_tests::hunt::Hunted;
use atoms_tests::plant::{Patch, plant};
use atoms_verilated::Library;

const REQUESTS: u64 = 40_000;

struct Defect {
    name: &'static str,
    named: NamedConfig,
    library: Library,
}

impl Defect {
    fn new(name: &'static str, config_name: &str, patch: Patch) -> Self {
        let named = config(config_name);
        Defect { name, library: plant(name, &named, &[patch]), named }
    }

    fn found(&self, seed: u64) -> Box<Failed> {
        let machine = Lockstep::make(&self.library, &self.named).expect("the RTL comes out of reset");
        let campaign = Campaign {
            config: self.named.clone(),
            profile: Profile::default(),
            seed,
            requests: REQUESTS,
            until: u64::MAX,
        };
        match campaign.run(Session::new(machine, None), |_| {}) {
            Err(failed) => failed,
            Ok((_, tally)) => panic!("{}, seed {seed}: not found in {tally:?}", self.name),
        }
    }
}

/// Finds a bug at one entry of the table of waiters: a completion in the last cycle of a limit is lost.
#[test]
#[ignore = "nightly: another bug of a kind"]
fn a_race_that_is_lost_at_one_place() {
    let patch = Patch {
        file: "atoms_waiters.sv",
        find: "(row_i[waiter_q[p].bank] == waiter_q[p].row);",
        replace: "(row_i[waiter_q[p].bank] == waiter_q[p].row) && !((p == 5) && (left_q[p] == 32'd1));",
    };
    let defect = Defect::new("race-at-place-5", "default", patch);
    (1..=4).for_each(|seed| drop(defect.found(seed)));
}

/// Finds waiters that survive a reset. The minimized case contains the reset.
#[test]
fn waiters_that_a_reset_leaves() {
    let patch = Patch { file: "atoms_waiters.sv", find: "      suspended_q  <= '0;\n", replace: "" };
    let defect = Defect::new("reset-leaves-waiters", "small", patch);
    // Some failures need more history than the recorder keeps.
    let small = (1..=8).find_map(|seed| defect.found(seed).small_case(None, Effort::default()).ok());
    let SmallCase { case, failure, .. } = small.expect("the last requests of some run show it too");
    // The case needs one wait, and requests that keep the port busy until the wait is in the table.
    assert!(
        case.warps.len() == 1 && case.requests() <= 6 && case.changes.iter().any(|change| change.reset > 0),
        "{failure}: {case:#?}"
    );
    let text = serde_json::to_string(&case).expect("a case is plain data");
    assert_eq!(serde_json::from_str::<Case>(&text).expect("it was written"), case);
}

fn leaves_a_case(name: &'static str, patch: Patch) -> Case {
    let defect = Defect::new(name, "small", patch);
    let small = defect.found(1).small_case(None, Effort::default());
    let case = small.unwrap_or_else(|spent| panic!("{name} leaves no case: {spent}")).case;
    let machine = Lockstep::make(&defect.library, &defect.named).expect("the RTL comes out of reset");
    assert!(run_case(&mut Session::new(machine, None), &case).is_err(), "{name}: {case:?} passes");
    case
}

/// Finds CAST.SPIN counters that survive a reset. The minimized case contains the reset.
#[test]
#[ignore = "nightly: another bug of a kind"]
fn counters_that_a_reset_keeps() {
    let patch =
        Patch { file: "atoms_spin.sv", find: "turn_q <= '{default: '0};", replace: "turn_q <= turn_q;" };
    let case = leaves_a_case("reset-keeps-turns", patch);
    assert!(case.requests() <= 4 && case.changes.iter().any(|change| change.reset > 0), "{case:#?}");
}

/// The bug loses the results of all passes but the last, and the first pass keeps an old register that no
/// reset clears. The minimized case must not depend on that old value.
#[test]
#[ignore = "nightly: another bug of a kind"]
fn a_case_does_not_fail_by_what_another_left() {
    let patch = Patch {
        file: "atoms_collect.sv",
        find: "pass_i.first ? '0 : rd_q",
        replace: "pass_i.first ? rd_q : '0",
    };
    assert_eq!(leaves_a_case("results-lost", patch).requests(), 1);
}

/// Finds a refused table write that leaves an allocation. The minimized case contains the write.
#[test]
#[ignore = "nightly: another bug of a kind"]
fn a_case_has_writes_that_are_refused() {
    let patch =
        Patch { file: "atoms_cta_table.sv", find: "if (refused || !enable_i)", replace: "if (!enable_i)" };
    assert!(!leaves_a_case("refused-and-kept", patch).allocations.is_empty());
}

/// Finds a unit that issues without a request. The minimized case is empty.
#[test]
#[ignore = "nightly: another bug of a kind"]
fn a_case_may_have_no_request() {
    let patch =
        Patch { file: "atoms_issue.sv", find: "valid_d   = load ||", replace: "valid_d   = !load ||" };
    assert_eq!(
        leaves_a_case("issue-without-request", patch),
        Case { config: "small".into(), ..Case::default() }
    );
}

/// Finds a wait limit that is cut to 12 bits.
#[test]
#[ignore = "nightly: another bug of a kind"]
fn a_limit_that_is_cut_off() {
    let patch = Patch {
        file: "atoms_waiters.sv",
        find: "left_d[vacant] = limit_i;",
        replace: "left_d[vacant] = (limit_i > 32'd4095) ? 32'd4095 : limit_i;",
    };
    Defect::new("limit-of-12-bits", "small", patch).found(1);
}

/// Finds a rank that is cut to its low four bits.
#[test]
#[ignore = "nightly: another bug of a kind"]
fn a_rank_of_four_bits() {
    let patch = Patch {
        file: "atoms_cta_table.sv",
        find: "base: base_i, rank: rank_i, valid",
        replace: "base: base_i, rank: rank_i & 8'h0f, valid",
    };
    Defect::new("rank-of-4-bits", "small", patch).found(1);
}

/// The default profile hits every reachable bin of these groups. `limit_race_place` has the completions that
/// meet a limit, in the same cycle and in the cycles next to it, at every entry of the table.
#[test]
fn what_the_default_profile_reaches() {
    let config = config("default").config;
    let hits = |profile: Profile| {
        let session = Session::new(ModelMachine::new(config), None);
        let (mut session, ()) = session.listened_by(Sampler::new(&config));
        let mut stimulus = RandomStimulus::new(config, &profile, 1, 4 * REQUESTS);
        session.run(&mut stimulus, u64::MAX, |_| {}).expect("a model does not fail");
        session.listener().take()
    };
    let model = Model::standard();
    let (default, resets) = (Profile::default(), Share::new(1.0 / 1024.0));
    for (names, profile) in [
        (&["limit_race_place", "hold", "allocation", "wait_limit"][..], default.clone()),
        (&["reset"], Profile { reset: resets, ..default }),
    ] {
        let hits = hits(profile);
        for name in names {
            let group = model.groups.iter().find(|group| group.name == *name).expect("it is a group");
            let open: Vec<_> = (0..group.len())
                .filter(|at| {
                    (group.reachable)(&config, &group.values(*at)) && hits.hits(group.first + at) == 0
                })
                .map(|at| group.bin_name(at))
                .collect();
            assert!(open.is_empty(), "{open:#?}");
        }
    }
}
