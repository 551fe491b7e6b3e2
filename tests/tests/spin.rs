//! CAST.SPIN is fair (spec 5.4): a lane that keeps asking is selected within the bounds, for any set of other
//! lanes, and retry loops end.
//!
//! To observe the selected lane, every lane compares with the current value of its word and stores the same
//! value. The selected lane is then the one that reports a store.

use std::path::Path;

use atoms_cosim::case::{Case, CaseStimulus};
use atoms_cosim::lockstep::Lockstep;
use atoms_cosim::machine::{Failure, Machine, ModelMachine, RtlMachine};
use atoms_cosim::mismatch::ComparedSignal;
use atoms_cosim::scoreboard::Scoreboard;
use atoms_cosim::session::Session;
use atoms_isa::Program;
use atoms_model::Config;
use atoms_model::config::WinnerPolicy;
use atoms_model::port::ProbeField;
use atoms_ops::{Op, Size};
use atoms_sm::{Launch, SmConfig, run};
use atoms_stimulus::configs::NamedConfig;
use atoms_stimulus::request::{Lane, WarpRequest};
use atoms_stimulus::{Profile, RandomStimulus, RetryLoops, Stimulus};
use atoms_tests::bench::{run_case, whole};
use atoms_tests::hunt::Hunted;
use atoms_tests::plant::{Patch, plant};
use atoms_tests::{config, lockstep_of, test_each, test_each_configuration};
use atoms_verilated::Library;

/// Returns a request of `op` for the lanes of `mask`. Even lanes access row 0 of bank 0, and odd lanes row 1.
fn request(config: &Config, op: Op, size: Size, mask: u32) -> WarpRequest {
    let lane = |l: u32| Lane { ra: (l & 1) * config.row_bytes(), b: 0, c: 0 };
    let lanes = (0..config.num_lanes).map(lane).collect();
    WarpRequest { op: op as u8, size: size as u8, mask, lanes, ..WarpRequest::default() }
}

fn spins(config: &Config, masks: impl IntoIterator<Item = u32>) -> Vec<WarpRequest> {
    masks.into_iter().map(|mask| request(config, Op::CastSpin, Size::U32, mask)).collect()
}

fn case(named: &NamedConfig, warps: Vec<WarpRequest>) -> Case {
    Case { config: named.name.clone(), allocations: vec![whole(&named.config)], warps, ..Case::default() }
}

/// Runs the case with the oracle. Returns the lanes that ask and the selected lane, for each CAST.SPIN.
fn selected<M: Machine>(session: &mut Session<M>, case: &Case) -> Result<Vec<(u32, u32)>, Failure> {
    let words = (session.machine().config().bytes() / 4) as usize;
    let observed = run_case(session, case, &vec![0; words])?;
    let spins = case.warps.iter().zip(&observed.warps).filter(|(warp, _)| warp.op == Op::CastSpin as u8);
    // A request without a pass had a fault or no lanes.
    Ok(spins
        .filter(|(_, out)| out.rsp_passes > 0)
        .map(|(warp, out)| {
            assert!(
                out.rsp_pred.is_power_of_two() && out.rsp_pred & !warp.mask == 0,
                "one of those that ask"
            );
            (warp.mask, out.rsp_pred)
        })
        .collect())
}

/// Returns two maxima for a lane: the longest row of requests until the lane is selected, if the lane asks in
/// each of them, and if it asks at least once in `spin_hold` requests. Both ends count, and so does a row
/// that the end of the run cuts off.
fn longest(config: &Config, requests: &[(u32, u32)], lane: u32) -> (u32, u32) {
    let (mut in_each, mut now_and_then) = (0, 0);
    // Requests since the first one of the lane, requests in a row with it, and requests since its last one.
    let (mut run, mut row, mut away) = (0, 0, u32::MAX);
    for (asked, winner) in requests {
        (run, row) = (run + 1, row + 1);
        away = away.saturating_add(1);
        if asked >> lane & 1 == 0 {
            row = 0;
            continue;
        }
        if away > config.spin_hold {
            run = 1;
        }
        away = 0;
        (in_each, now_and_then) = (in_each.max(row), now_and_then.max(run));
        if winner >> lane & 1 != 0 {
            (run, row, away) = (0, 0, u32::MAX);
        }
    }
    (in_each, now_and_then)
}

fn bounds(config: &Config) -> (u32, u32) {
    (config.spin_hold + config.num_lanes, 2 * config.spin_hold * config.num_lanes)
}

/// Checks both bounds for every lane. Returns the longest rows.
fn assert_fair(config: &Config, requests: &[(u32, u32)], what: &str) -> (u32, u32) {
    let (first, second) = bounds(config);
    (0..config.num_lanes).fold((0, 0), |worst, lane| {
        let (in_each, now_and_then) = longest(config, requests, lane);
        assert!(in_each <= first, "{what}: lane {lane} asked {in_each} times in succession, {first} at most");
        assert!(now_and_then <= second, "{what}: lane {lane} waited for {now_and_then}, {second} at most");
        (worst.0.max(in_each), worst.1.max(now_and_then))
    })
}

fn model_of(config: Config) -> Session<ModelMachine> {
    Session::new(ModelMachine::new(config), None)
}

fn with_policy(named: &NamedConfig, policy: &str) -> NamedConfig {
    let winner_policy = WinnerPolicy::ALL.into_iter().find(|known| known.name() == policy);
    let config = Config { winner_policy: winner_policy.expect("it has this name"), ..named.config };
    NamedConfig { name: format!("{}-{policy}", named.name), config, ..named.clone() }
}

/// Generates one test per policy, which calls `$run` with its name.
macro_rules! test_each_policy {
    ($module:ident: $run:ident) => {
        test_each! {
            mod $module: all WinnerPolicy::ALL.map(WinnerPolicy::name) => $run;
            lowest highest rotating
        }
    };
}

#[test]
fn the_priority_lane_goes_before_the_policy_if_it_asks() {
    // After reset, steps 0 to 3 give priority to lanes 0 to 3. Then lane 0 is held for four requests.
    let asks = [0b1111, 0b1101, 0b1101, 0b0110, 0b1110, 0b1111, 0b1000, 0b1111, 0b1111];
    #[rustfmt::skip]
    const SELECTED: [(WinnerPolicy, [u32; 9]); 3] = [
        //                   priority lane 0  1  2  3  0  0  0  0  0
        (WinnerPolicy::Lowest,            [0, 0, 2, 1, 1, 0, 3, 0, 0]),
        (WinnerPolicy::Highest,           [0, 3, 2, 2, 3, 0, 3, 0, 0]),
        // The rotating policy starts at lane 0, 1, 2, 3, 0, ...
        (WinnerPolicy::Rotating,          [0, 2, 2, 1, 1, 0, 3, 0, 0]),
    ];
    for (winner_policy, lanes) in SELECTED {
        let mut named = config("small");
        named.config.winner_policy = winner_policy;
        let case = case(&named, spins(&named.config, asks));
        let got =
            selected(&mut model_of(named.config), &case).unwrap_or_else(|e| panic!("{winner_policy:?}: {e}"));
        let got: Vec<_> = got.iter().map(|(_, winner)| winner.trailing_zeros()).collect();
        assert_eq!(got, lanes, "{winner_policy:?}");
    }
}

/// Requests that move the counter of a group, and requests that do not.
#[test]
fn only_cast_spin_on_the_bank_moves_the_counter() {
    let named = config("small");
    let c = &named.config;
    let all = |op, size| request(c, op, size, 0b1111);
    let elsewhere = |mut warp: WarpRequest, by: u32| {
        warp.lanes.iter_mut().for_each(|lane| lane.ra += by);
        warp
    };
    let spin = || all(Op::CastSpin, Size::U32);
    #[rustfmt::skip]
    let rows: [(&str, WarpRequest, u32); 9] = [
        ("a load",                          all(Op::Load, Size::U32),                     1),
        ("a CAST",                          all(Op::Cast, Size::U32),                     1),
        ("a CAST.SPIN on another bank",     elsewhere(spin(), 4),                         1),
        ("a 64-bit one on another pair",    elsewhere(all(Op::CastSpin, Size::U64), 8),   1),
        ("a CAST.SPIN without lanes",       request(c, Op::CastSpin, Size::U32, 0),       1),
        ("a CAST.SPIN with a fault",        elsewhere(spin(), 2),                         1),
        ("a CAST.SPIN on the bank",         spin(),                                       2),
        ("of one lane",                     request(c, Op::CastSpin, Size::U32, 0b1000),  2),
        ("a 64-bit one on the pair",        all(Op::CastSpin, Size::U64),                 2),
    ];
    for (rule, between, priority_lane) in rows {
        let case = case(&named, vec![spin(), between, spin()]);
        let got = selected(&mut model_of(*c), &case);
        let observed = match got {
            Ok(got) => got,
            Err(failure) => panic!("{rule}: {failure}"),
        };
        let last = observed.last().expect("three were answered").1;
        assert_eq!(last, 1 << priority_lane, "{rule}");
    }
}

/// Tests every sequence of eight requests of two lanes, from every state of the counter.
fn every_sequence_is_fair(policy: &str) {
    let named = with_policy(&config("tiny"), policy);
    let c = named.config;
    let mut session = model_of(c);
    let period = 2 * c.spin_hold * c.num_lanes;
    let mut worst = (0, 0);
    for start in 0..period {
        for sequence in 0..3u32.pow(8) {
            let before = (0..start).map(|_| 0b01);
            let masks = before.chain((0..8).map(|at| 1 + sequence / 3u32.pow(at) % 3));
            let requests = selected(&mut session, &case(&named, spins(&c, masks))).expect("it runs");
            let (in_each, now_and_then) = assert_fair(&c, &requests[start as usize..], &named.name);
            worst = (worst.0.max(in_each), worst.1.max(now_and_then));
        }
    }
    let (first, _) = bounds(&c);
    assert!(worst.0 == first || c.winner_policy != WinnerPolicy::Lowest, "the bound is met: {worst:?}");
}

test_each_policy! { the_bounds_hold_for_every_sequence_in_tiny: every_sequence_is_fair }

/// One lane asks in one of `period` requests, and all others in each. This is the pattern of several warps
/// that take turns, or of loops with several CAST.SPINs. Sizes alternate too.
fn every_period_is_fair(policy: &str) {
    let small = config("small");
    let eight = NamedConfig {
        name: "eight".to_string(),
        config: Config { num_lanes: 8, spin_hold: 8, num_banks: 8, ..small.config },
        ..small.clone()
    };
    for named in [config("tiny"), small, eight].map(|named| with_policy(&named, policy)) {
        let c = named.config;
        let (_, second) = bounds(&c);
        let mut session = model_of(c);
        for lane in 0..c.num_lanes {
            for period in 1..=c.spin_hold {
                for phase in 0..period {
                    let ask = |at: u32| {
                        let others = c.lane_mask() & !(1 << lane);
                        if at % period == phase { c.lane_mask() } else { others }
                    };
                    let size = |at: u32| if (at / period).is_multiple_of(2) { Size::U32 } else { Size::U64 };
                    let warps = (0..2 * second).map(|at| request(&c, Op::CastSpin, size(at), ask(at)));
                    let requests = selected(&mut session, &case(&named, warps.collect())).expect("it runs");
                    let what = format!("{}, lane {lane} in every {period}", named.name);
                    assert_fair(&c, &requests, &what);
                    assert!(
                        requests.iter().any(|(_, winner)| winner >> lane & 1 != 0),
                        "{what}: never selected"
                    );
                }
            }
        }
    }
}

test_each_policy! { the_bounds_hold_for_every_period_of_requests: every_period_is_fair }

/// Warps take turns, and all their lanes ask. Each lane of each warp is selected within the bound.
fn every_thread_is_selected(policy: &str) {
    let named = with_policy(&config("small"), policy);
    let c = named.config;
    let (_, second) = bounds(&c);
    let requests =
        selected(&mut model_of(c), &case(&named, spins(&c, (0..2 * second).map(|_| c.lane_mask()))));
    let requests = requests.expect("it runs");
    for period in 1..=c.spin_hold {
        for (phase, lane) in (0..period).flat_map(|phase| (0..c.num_lanes).map(move |lane| (phase, lane))) {
            let mut since = phase;
            for (at, (_, winner)) in (0..).zip(&requests).skip(phase as usize).step_by(period as usize) {
                let waited = at + 1 - since;
                assert!(waited <= second, "{}: lane {lane} in every {period}: {waited}", named.name);
                if winner >> lane & 1 != 0 {
                    since = at + period;
                }
            }
        }
    }
}

test_each_policy! { threads_that_share_a_lane: every_thread_is_selected }

fn loops<M: Machine>(session: &mut Session<M>, seed: u64, requests: u64) -> Result<RetryLoops, Failure> {
    session.restart(Some(Scoreboard::new(session.machine().config(), &[])));
    let mut loops = RetryLoops::new(*session.machine().config(), seed, requests);
    session.run(&mut loops, u64::MAX, |_| {})?;
    Ok(loops)
}

/// Retry loops of several warps end in RTL and model, with the oracle.
fn retry_loops_end(name: &str) {
    let named = config(name);
    let mut session = Session::new(lockstep_of(&named), None);
    let loops = loops(&mut session, 1, 10_000).unwrap_or_else(|e| panic!("{}: {e}", named.name));
    assert!(!loops.livelock(), "{}: {} requests, and no lane stores", named.name, loops.most_tries());
    assert!(loops.stored() >= 8, "{}: {} links have stored", named.name, loops.stored());
}

test_each_configuration! { random_retry_loops: retry_loops_end }

/// Retry loops end on the model, for every policy and several seeds.
fn retry_loops_end_on_the_model(policy: &str) {
    for named in ["tiny", "small", "all_options"].map(|name| with_policy(&config(name), policy)) {
        for seed in 0..4 {
            let loops = loops(&mut model_of(named.config), seed, 10_000)
                .unwrap_or_else(|e| panic!("{}: {e}", named.name));
            let (livelock, tries) = (loops.livelock(), loops.most_tries());
            assert!(!livelock, "{}, seed {seed}: {tries} requests, and no lane stores", named.name);
        }
    }
}

test_each_policy! { random_retry_loops_by_policy: retry_loops_end_on_the_model }

/// Direction in which threads pass the word on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// From the last thread to thread 0.
    Down,
    /// From thread 0 to the last thread.
    Up,
}

/// Returns a kernel of four threads, each with its own word in one bank. The CAST.SPIN of a thread succeeds
/// after its neighbour has stored. The loop also contains `beside`.
fn handover(way: Way, beside: &str) -> String {
    let (first, last, next) = match way {
        Way::Down => (3, 0, "+0x380"),
        Way::Up => (0, 3, "+0x480"),
    };
    format!(
        "	.target	sm_90
	.section	.text.handover,\"ax\",@progbits
        .global         handover
        .type           handover,@function
.text.handover:
        S2R R0, SR_TID.X ;
        IMAD R1, R0, 0x80, RZ ;
        MOV R4, 0x1 ;
        MOV R5, 0x7 ;
        MOV R8, 0x1 ;
        ISETP.EQ.U32.AND P0, PT, R0, {first:#x}, PT ;
   @P0  MOV R4, RZ ;
        ISETP.NE.AND P0, PT, R0, {last:#x}, PT ;
.L_x_1:
        ATOMS.CAST.SPIN R6, [R1+0x400], R4, R5 ;
        {beside}
        ISETP.EQ.U32.AND P1, PT, R6, 0x1, PT ;
        ISETP.EQ.U32.AND P2, PT, R6, 0x1, P0 ;
   @P2  STS [R1{next}], R8 ;
  @!P1  BRA `(.L_x_1) ;
        EXIT ;
"
    )
}

/// Loops of one warp end within a cycle budget, for every policy and additional instruction. Without a
/// priority lane, the first loop never ends in `default`, and the second never ends in `rotating`.
fn handovers_end(name: &str) {
    // There are four links. A CAST.SPIN alone in its loop is selected within 160 requests. If the loop has
    // another one of the same group, the bound is 8192 requests. Links with the same turn of the counters
    // share these requests.
    let launch = "kernel = \"handover\"\ngrid = 1\nblock = 4\nshared = 512\ncycle_budget = 300000\n";
    let launch = Launch::from_toml("handover", launch, Path::new(".")).expect("a launch");
    let besides = [
        "",
        "LDS R9, [R1+0x400] ;",
        "ATOMS.CAST.SPIN R9, [R1+0x404], R4, R5 ;",
        "ATOMS.CAST.SPIN R9, [R1+0x400], R5, R4 ;",
        "ATOMS.CAST.SPIN.64 R10, [R1+0x400], R10, R12 ;",
    ];
    let named = config(name);
    let mut session = Session::new(lockstep_of(&named), None);
    for (way, beside) in [Way::Down, Way::Up].into_iter().flat_map(|way| besides.map(|beside| (way, beside)))
    {
        let what = format!("{way:?}, beside `{beside}`, configuration {}", named.name);
        let program = Program::read("handover", &handover(way, beside), None);
        let program = program.unwrap_or_else(|e| panic!("{what}: {e}"));
        let kernel = launch.kernel(&program).unwrap_or_else(|e| panic!("{what}: {e}"));
        session.set_scoreboard(Some(Scoreboard::new(&named.config, &[])));
        session.restart_machine().unwrap_or_else(|e| panic!("{what}: {e}"));
        let report = run(kernel, &launch, &mut session, &SmConfig::default());
        let report = report.unwrap_or_else(|e| panic!("{what}: {e}"));
        assert!(report.statistics.spin_successes >= 4, "{what}: {}", report.statistics.spin_successes);
    }
}

test_each! {
    mod loops_in_which_lanes_wait_for_others: handovers_end;
    default
    #[ignore = "nightly: another configuration"]
    rotating
    #[ignore = "nightly: another configuration"]
    highest
    all_options
}

/// Checks that the oracle rejects the RTL of `library` with clause 5.4.
fn oracle_rejects(library: &Library, named: &NamedConfig, stimulus: &mut impl Stimulus, what: &str) {
    let rtl = RtlMachine::make(library, named).expect("it comes out of reset");
    let mut session = Session::new(rtl, Some(Scoreboard::new(&named.config, &[])));
    match session.run(stimulus, u64::MAX, |_| {}) {
        Err(Failure::Oracle(objection)) => {
            assert_eq!(objection.clause(), Some("spec 5.4"), "{what}: {objection}");
        }
        Err(failure) => panic!("{what}: {failure}"),
        Ok(_) => panic!("{what}: the oracle accepts it"),
    }
}

/// Requests with `loads` loads behind each CAST.SPIN, and random retry loops, both find a selection bug. The
/// oracle alone rejects the RTL, and lockstep names the lane that differs.
fn unfair_selection_is_found(name: &str, patch: Patch, loads: usize) {
    let named = config("small");
    let c = &named.config;
    // Removes the assertion that would detect the bug first.
    let silent =
        self::patch("atoms_spin.sv", "`ATOMS_ASSERT(PriorityMovesOnSpinOnly,", "`ATOMS_COVER(PriorityMoves,");
    let library = plant(name, &named, &[patch, silent]);
    // Lane 1 asks only in requests at which the counter gives priority to lanes 0 and 2.
    let masks = (0..100).map(|at| if at % 2 == 0 { 0b0111 } else { 0b1101 });
    let one_in_two = name == "no_lane_is_held";
    let warps = masks.map(|mask| if one_in_two { mask } else { 0b1111 }).flat_map(|mask| {
        let load = || request(c, Op::Load, Size::U32, 0b0001);
        spins(c, [mask]).into_iter().chain(std::iter::repeat_with(load).take(loads))
    });
    let case = case(&named, warps.collect());

    oracle_rejects(&library, &named, &mut CaseStimulus::new(&case), "loads");
    let retry_loops = Profile::named("retry_loops").expect("a profile");
    oracle_rejects(&library, &named, &mut RandomStimulus::new(*c, &retry_loops, 1, 2_000), "retry loops");
    let pair = Lockstep::make(&library, &named).expect("it comes out of reset");
    let mut session = Session::new(pair, None);
    match session.run(&mut CaseStimulus::new(&case), u64::MAX, |_| {}) {
        Err(Failure::Mismatch(mismatch)) => {
            let lane = ComparedSignal::Probe(ProbeField::win_lane);
            assert!(mismatch.differences.iter().any(|d| d.signal == lane), "{mismatch}");
        }
        Err(failure) => panic!("{failure}"),
        Ok(_) => panic!("RTL and model agree"),
    }
}

const fn patch(file: &'static str, find: &'static str, replace: &'static str) -> Patch {
    Patch { file, find, replace }
}

test_each! {
    mod unfair_selection: unfair_selection_is_found;
    the_priority_lane_is_never_selected(patch("atoms_grouper.sv", "if (spin) begin", "if (1'b0) begin"), 0)
    #[ignore = "nightly: another bug of a kind"]
    the_counters_stand_still(patch("atoms_spin.sv", "else if (fire_i) begin", "else if (1'b0) begin"), 0)
    // 31 loads return the counter to its old value.
    #[ignore = "nightly: another bug of a kind"]
    every_request_moves_the_counters(
        patch("atoms_issue.sv", "fire && advance_i && spins", "fire && advance_i"), 31)
    #[ignore = "nightly: another bug of a kind"]
    no_lane_is_held(
        patch("atoms_spin.sv", "turn[b].hold ? turn[b].lane : lane_t'(turn[b].step)", "lane_t'(turn[b].step)"), 0)
}
