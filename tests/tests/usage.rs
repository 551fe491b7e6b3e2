//! Usage report of a run: cases with figures calculated by hand, sums that hold for random runs, and equal
//! figures from model, RTL and lockstep.

use atoms_cosim::case::trials::run_case;
use atoms_cosim::case::{Case, MemoryWord, Pauses};
use atoms_cosim::machine::{Machine, ModelMachine, RtlMachine};
use atoms_cosim::session::{Session, Tally};
use atoms_cosim::usage::{CycleClass, CycleStack, Distribution, RetryUsage, Usage, UsageReport};
use atoms_model::mbarrier::MbarObject;
use atoms_monitor::Cycle;
use atoms_monitor::Listener;
use atoms_ops::{Op, Size};
use atoms_stimulus::request::{ClusterRequest, Lane, WarpRequest};
use atoms_stimulus::{Profile, RandomStimulus};
use atoms_tests::bench::whole;
use atoms_tests::{config, lockstep_of, rtl_of};
use proptest::prelude::*;

/// Returns a request of these lanes: lane, address, operand B and operand C.
fn request(op: Op, size: Size, lanes: &[(usize, u32, u128, u128)]) -> WarpRequest {
    let mut request = WarpRequest { op: op as u8, size: size as u8, ..WarpRequest::default() };
    for (lane, ra, b, c) in lanes {
        request.mask |= 1 << lane;
        request.lanes.resize(request.lanes.len().max(lane + 1), Lane::default());
        request.lanes[*lane] = Lane { ra: *ra, b: *b, c: *c };
    }
    request
}

/// Runs a case on the model, with slot 0 as owner of all memory, and returns its usage report.
fn report(name: &str, case: Case) -> UsageReport {
    let named = config(name);
    let case = Case { config: name.to_string(), allocations: vec![whole(&named.config)], ..case };
    let session = Session::new(ModelMachine::new(named.config), None);
    let (mut session, ()) = session.listened_by(Usage::new(&named.config));
    run_case(&mut session, &case).expect("the case runs to its end");
    session.listener().report()
}

fn stack(stack: &CycleStack) -> Vec<(CycleClass, u64)> {
    stack.iter().filter(|(_, cycles)| *cycles > 0).collect()
}

fn counts(distribution: &Distribution) -> Vec<(u64, u64)> {
    distribution.counts().collect()
}

/// Runs four requests in `small` and compares all figures. There a pass waits until the words it needs are
/// written, three cycles after the pass before. A accesses four words. B has four passes on word 0, which A
/// also accesses. C reads word 0. D faults.
#[test]
fn four_requests_come_to_what_was_worked_out_by_hand() {
    let row = [(0, 0, 1, 0), (1, 4, 1, 0), (2, 8, 1, 0), (3, 12, 1, 0)];
    let word = [(0, 0, 1, 0), (1, 0, 1, 0), (2, 0, 1, 0), (3, 0, 1, 0)];
    let warps = vec![
        request(Op::Add, Size::U32, &row),
        request(Op::Add, Size::U32, &word),
        request(Op::Load, Size::U32, &word),
        request(Op::Add, Size::U32, &[(1, 2, 1, 0)]),
    ];
    let found = report("small", Case { warps, ..Case::default() });
    // cycle  0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23
    // issue  .  .  . A0 B0 .. B0 B1 .. B1 B2 .. B2 B3 .. B3 C0 .. C0 D0
    // taken     A  B  C  D        A                                B        C  D
    let expected = [
        (CycleClass::Conflict, 3),
        (CycleClass::NoLane, 1),
        (CycleClass::FirstPass, 3),
        (CycleClass::Hazard, 10),
        (CycleClass::Fill, 2),
        (CycleClass::Drain, 4),
        (CycleClass::Idle, 1),
    ];
    assert_eq!((found.cycles, stack(&found.stack)), (24, expected.to_vec()));
    assert_eq!((found.hazards.first_pass, found.hazards.between_passes), (4, 6));
    assert_eq!(counts(&found.warp.latency.total), [(6, 1), (17, 1), (19, 2)]);
    assert_eq!(counts(&found.warp.latency.queueing), [(2, 1), (4, 1), (15, 2)]);
    assert_eq!(counts(&found.warp.latency.service), [(0, 3), (9, 1)]);
    assert_eq!(counts(&found.warp.latency.answer), [(4, 4)]);
    assert_eq!(counts(&found.warp.passes), [(0, 1), (1, 2), (4, 1)]);
    assert_eq!((found.warp.conflicts, found.warp.lane_operations, found.warp.faults), (3, 12, 1));
    assert_eq!(counts(&found.warp_queue), [(0, 7), (1, 6), (2, 11)]);
    assert_eq!(
        (found.banks.served.clone(), found.banks.written.clone()),
        (vec![6, 1, 1, 1], vec![5, 1, 1, 1])
    );
    assert_eq!(found.banks.interval_cycles, 16);
    assert_eq!(found.banks.served_over_time, [[5, 1, 1, 1], [1, 0, 0, 0]], "C reads in cycle 18");
    assert_eq!(found.banks.written_over_time, [[4, 1, 1, 1], [1, 0, 0, 0]], "B3 is in its last stage then");
    assert_eq!(found.throughput.passes_per_cycle, 7.0 / 24.0);
    assert_eq!(found.throughput.requests_per_cycle, 4.0 / 24.0);
    assert_eq!(found.throughput.lane_operations_per_cycle, 0.5);
    assert_eq!(found.throughput.bank_utilisation, 9.0 / (4.0 * 24.0));
}

/// Cycles with an untaken response count as stalls. The case is the table "Back-pressure" of
/// docs/timing.md, one cycle later because the first cycle writes the CTA table.
#[test]
fn cycles_in_which_a_response_is_not_taken_are_stalls() {
    let lanes: Vec<_> = (0..32).map(|lane| (lane, 4 * lane as u32, 1, 0)).collect();
    let warps = vec![request(Op::Add, Size::U32, &lanes); 9];
    let pauses = Pauses { response: 0b111_1100_0000, ..Pauses::default() };
    let found = report("default", Case { warps, pauses, ..Case::default() });
    let expected = [
        (CycleClass::Stall, 4),
        (CycleClass::FirstPass, 9),
        (CycleClass::Fill, 2),
        (CycleClass::Drain, 4),
        (CycleClass::Idle, 1),
    ];
    assert_eq!(stack(&found.stack), expected);
    assert_eq!(found.back_pressure.warp_responses, 4);
    assert_eq!(counts(&found.warp.latency.total), [(10, 9)], "four more than in an empty unit");
}

/// Cluster requests that wait for response space count as `NoRoom`. Responses are taken in cycles 63, 127 and
/// so on, and there is room for six, so requests 7 and 8 wait.
#[test]
fn cluster_requests_without_room_are_told_from_an_empty_unit() {
    let load = ClusterRequest { op: Op::Load as u8, size: Size::U32 as u8, ..ClusterRequest::default() };
    let store = |addr| ClusterRequest { op: Op::Store as u8, red: true, addr, ..load.clone() };
    let behind_six_loads = |stores: &[ClusterRequest]| {
        let pauses = Pauses { cluster_response: u64::MAX, ..Pauses::default() };
        let clusters = [&vec![load.clone(); 6], stores].concat();
        report("small", Case { clusters, pauses, ..Case::default() })
    };
    let found = behind_six_loads(&[load.clone(), load.clone()]);
    let expected = [
        (CycleClass::Cluster, 8),
        (CycleClass::Fill, 4),
        (CycleClass::NoRoom, 117),
        (CycleClass::Drain, 382),
        (CycleClass::Idle, 1),
    ];
    assert_eq!(stack(&found.stack), expected);
    assert_eq!(found.back_pressure.cluster_responses, 497);
    assert_eq!(
        (found.cluster.answered, found.cluster.posted, found.cluster.latency.total.min()),
        (8, 0, Some(62))
    );
    assert_eq!(counts(&found.cluster.latency.queueing), [(2, 6), (58, 1), (121, 1)]);
    // Posted requests need no response space.
    let found = behind_six_loads(&(0..8).map(|word| store(4 * word)).collect::<Vec<_>>());
    assert_eq!((found.stack.cycles(CycleClass::NoRoom), found.cluster.posted), (0, 8));
    assert_eq!(counts(&found.cluster.posted_latency.total), [(5, 8)]);
    // A posted request that faults needs a response. Its address is checked in cycle 8, in which the last
    // load leaves. The request then waits until a response is taken.
    let found = behind_six_loads(&[store(2)]);
    assert_eq!((found.cluster.faults, found.cluster.posted), (1, 0));
    assert_eq!(found.stack.cycles(CycleClass::NoRoom), 63 - 8);
}

fn retries(
    op: Op,
    requests: u64,
    retries: u64,
    attempts: u64,
    successes: u64,
    not_selected: u64,
) -> RetryUsage {
    let attempts_per_success = (successes > 0).then(|| attempts as f64 / successes as f64);
    RetryUsage { op: op.name(), requests, retries, attempts, successes, not_selected, attempts_per_success }
}

/// Runs a case in which the second request is offered in cycle 40, after the answer to the first.
fn in_turn(warps: Vec<WarpRequest>) -> UsageReport {
    let pauses = Pauses { warp: (1 << 40) - 4, ..Pauses::default() };
    report("small", Case { warps, pauses, ..Case::default() })
}

#[test]
fn a_retry_is_a_request_of_lanes_that_failed_at_the_same_place() {
    let all = |op| request(op, Size::U32, &[(0, 0, 0, 5), (1, 0, 0, 6), (2, 0, 0, 7), (3, 16, 0, 8)]);
    // With CAS, lanes 0 and 3 store. With CAST.SPIN only lane 0 stores, because word 4 is on the same bank.
    let found = in_turn(vec![all(Op::Cas), request(Op::Cas, Size::U32, &[(1, 0, 5, 6), (2, 0, 5, 7)])]);
    assert_eq!(found.retries, [retries(Op::Cas, 2, 1, 6, 3, 0)]);
    assert_eq!((found.stack.cycles(CycleClass::Retry), found.stack.cycles(CycleClass::Conflict)), (1, 3 + 1));
    let found = in_turn(vec![all(Op::CastSpin), request(Op::CastSpin, Size::U32, &[(3, 16, 0, 8)])]);
    assert_eq!(found.retries, [retries(Op::CastSpin, 2, 1, 5, 2, 3)]);
    #[rustfmt::skip]
    let others = [
        ("a lane that did not fail",  request(Op::Cas, Size::U32, &[(0, 0, 5, 6), (1, 0, 5, 6)])),
        ("another address",           request(Op::Cas, Size::U32, &[(1, 4, 0, 6)])),
        ("another operation",         request(Op::Cast, Size::U32, &[(1, 0, 5, 6)])),
        ("another tag",               WarpRequest { tag: 1, ..request(Op::Cas, Size::U32, &[(1, 0, 5, 6)]) }),
    ];
    for (rule, second) in others {
        let found = in_turn(vec![all(Op::Cas), second]);
        assert_eq!(found.stack.cycles(CycleClass::Retry), 0, "{rule}");
    }
}

/// Suspended waits count separately. A limit of n cycles ends with a wake-up after n + 2 cycles.
#[test]
fn suspended_waits_are_counted_apart() {
    let object = MbarObject { pending: 1, expected: 1, ..MbarObject::default() }.encode();
    let memory = vec![
        MemoryWord { word: 0, value: object as u32 },
        MemoryWord { word: 1, value: (object >> 32) as u32 },
    ];
    let wait = request(Op::MbarTryWait, Size::U64, &[(0, 0, 0, 9)]);
    let found =
        report("small", Case { warps: vec![wait.clone()], memory: memory.clone(), ..Case::default() });
    assert_eq!((found.waits.suspended, counts(&found.waits.timed_out)), (1, vec![(11, 1)]));
    assert_eq!((found.warp.answered, found.warp.latency.total.count()), (1, 0));
    // The wait is suspended at the end of cycle 6, ready in cycle 16, and answered in cycle 17.
    let expected = [
        (CycleClass::FirstPass, 1),
        (CycleClass::Fill, 2),
        (CycleClass::Drain, 5),
        (CycleClass::Suspended, 9),
    ];
    assert_eq!(stack(&found.stack)[..4], expected);
    let arrive = WarpRequest { tag: 1, ..request(Op::MbarArrive, Size::U64, &[(0, 0, 0, 0)]) };
    let found = report("small", Case { warps: vec![wait, arrive], memory, ..Case::default() });
    assert_eq!((found.waits.woken.count(), found.waits.timed_out.count()), (1, 0));
    assert_eq!(found.retries, [retries(Op::MbarTryWait, 1, 0, 1, 1, 0)]);
}

#[derive(Debug, Default)]
struct Plain {
    passes: u64,
    lanes: u64,
    bank_passes: u64,
    written: u64,
    stalled: u64,
    suspended: u64,
}

impl Listener for Plain {
    fn cycle(&mut self, cycle: &Cycle<'_>) {
        if let Some(pass) = cycle.pass_issued {
            self.passes += 1;
            self.lanes += u64::from(pass.lanes.count_ones());
            self.bank_passes += u64::from(pass.banks.count_ones());
        }
        self.written += cycle.writes().count() as u64;
        if cycle.reset.is_none() {
            self.stalled += u64::from(cycle.pipeline().stalled);
            self.suspended += u64::from(cycle.last_stage.is_some_and(|last| last.done && last.suspends));
        }
    }
}

fn random<M: Machine>(
    machine: M,
    profile: &Profile,
    seed: u64,
    requests: u64,
) -> (UsageReport, Plain, Tally) {
    let config = *machine.config();
    let (mut session, ()) = Session::new(machine, None).listened_by((Usage::new(&config), Plain::default()));
    let mut stimulus = RandomStimulus::new(config, profile, seed, requests);
    let tally = session.run(&mut stimulus, u64::MAX, |_| {}).expect("the machine goes on");
    let (usage, plain) = std::mem::replace(session.listener(), (Usage::new(&config), Plain::default()));
    (usage.report(), plain, tally)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn everything_adds_up(
        name in prop::sample::select(vec!["tiny", "small", "default", "hold", "merging", "all_options", "narrow"]),
        profile in prop::sample::select(Profile::NAMES.to_vec()),
        seed in any::<u64>(),
    ) {
        let named = config(name);
        let profile = Profile::named(profile).expect("it has this name");
        let (found, plain, tally) = random(ModelMachine::new(named.config), &profile, seed, 400);
        let UsageReport { cycles, stack, warp, cluster, waits, banks, hazards, .. } = &found;
        prop_assert_eq!((*cycles, stack.total()), (tally.cycles, tally.cycles));
        let of = |classes: &[CycleClass]| classes.iter().map(|class| stack.cycles(*class)).sum::<u64>();
        use CycleClass::*;
        prop_assert_eq!(of(&[FirstPass, Retry, Conflict, Cluster, NoLane]), plain.passes);
        prop_assert_eq!(of(&[Stall]), plain.stalled);
        prop_assert_eq!(of(&[Reset]), tally.resets);
        prop_assert_eq!(of(&[Conflict]), warp.conflicts);
        prop_assert_eq!(of(&[Hazard]), hazards.first_pass + hazards.between_passes);
        prop_assert!(!hazards.forwarding || of(&[Hazard]) == 0);
        prop_assert_eq!((warp.answered, warp.faults, warp.dropped), (tally.requests, tally.faults, tally.dropped));
        prop_assert_eq!(warp.accepted, warp.answered + warp.dropped);
        prop_assert_eq!(cluster.accepted, cluster.answered + cluster.posted + cluster.dropped);
        prop_assert_eq!(waits.woken.count() + warp.latency.total.count() + waits.timed_out.count(), warp.answered);
        prop_assert_eq!((waits.woken.count(), waits.timed_out.count()), (tally.wake_ups, tally.time_outs));
        prop_assert_eq!(waits.suspended, plain.suspended);
        for latency in [&warp.latency, &cluster.latency, &cluster.posted_latency] {
            let parts = [&latency.queueing, &latency.service, &latency.answer];
            prop_assert_eq!(parts.iter().map(|part| part.sum()).sum::<u64>(), latency.total.sum());
            prop_assert!(parts.iter().all(|part| part.count() == latency.total.count()));
            prop_assert!(latency.queueing.min().is_none_or(|least| least >= 2));
        }
        let least = u64::from(4 + named.config.rmw_latency);
        prop_assert!(warp.latency.total.min().is_none_or(|cycles| cycles >= least));
        prop_assert!(warp.passes.count() >= warp.answered && warp.passes.count() <= warp.accepted);
        prop_assert_eq!(warp.lane_operations + cluster.lane_operations, plain.lanes);
        prop_assert_eq!((found.warp_queue.count(), found.cluster_queue.count()), (*cycles, *cycles));
        for (total, over_time, counted) in [
            (&banks.served, &banks.served_over_time, plain.bank_passes),
            (&banks.written, &banks.written_over_time, plain.written),
        ] {
            prop_assert_eq!(total.iter().sum::<u64>(), counted);
            prop_assert_eq!(over_time.iter().flatten().sum::<u64>(), counted);
            prop_assert!(total.iter().all(|words| words <= cycles));
        }
        for tried in &found.retries {
            prop_assert!(tried.successes + tried.not_selected <= tried.attempts && tried.retries <= tried.requests);
        }
    }
}

/// Model, RTL and lockstep give equal reports for the same stimulus.
#[test]
fn model_and_rtl_give_the_same_report() {
    for name in ["small", "default"] {
        let named = config(name);
        let profile = Profile::default();
        let (model, ..) = random(ModelMachine::new(named.config), &profile, 3, 1000);
        let rtl = RtlMachine::new(rtl_of(&named), named.config).expect("it comes out of reset");
        assert_eq!(random(rtl, &profile, 3, 1000).0, model, "{name}: RTL");
        assert_eq!(random(lockstep_of(&named), &profile, 3, 1000).0, model, "{name}: lockstep");
        let classes = stack(&model.stack).len();
        assert!(classes >= 10, "{name}: {classes} classes have cycles");
    }
}
