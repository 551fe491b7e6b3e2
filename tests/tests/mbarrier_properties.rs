//! Properties of mbarrier objects, tested with random pipelines through RTL, model and oracle. A wrong program must end
//! in a deadlock or a broken rule, and the deadlock report names the event that each agent waits for.
//!
//! Checks of every correct run, beyond lockstep and oracle:
//! - phases, arrivals and transactions add up exactly;
//! - the parity inverts with every phase, in memory and in returned states;
//! - no wait passes too early or misses its phase, and waits by state and by parity agree;
//! - no data is read before it is written, or overwritten before it is released;
//! - the model reports no undefined use.

use std::cell::RefCell;
use std::time::Instant;

use atoms_cosim::case::{Case, Pauses};
use atoms_cosim::lockstep::Lockstep;
use atoms_cosim::machine::Machine;
use atoms_cosim::session::Session;
use atoms_model::Config;
use atoms_model::mbarrier::MbarObject;
use atoms_ops::{Op, Size};
use atoms_stimulus::request::{Lane, WarpRequest};
use atoms_tests::bench::{run_case, whole};
use atoms_tests::draw::pauses;
use atoms_tests::hunt::{cases_or, seed, settings};
use atoms_tests::pipeline::{
    Awaited, Deadlock, Design, Events, Manner, Member, Mistake, NO_LIMIT, PipelineDesign, PipelineFailure,
    PipelineOutcome, ProducerReach, Waiting, run,
};
use atoms_tests::{config, judged_lockstep_of, test_each};
use proptest::collection;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

/// Lockstep session with the oracle, in which the model watches for undefined uses.
struct Stand {
    session: Session<Lockstep>,
}

impl Stand {
    fn new(name: &str) -> Self {
        let mut session = judged_lockstep_of(&config(name));
        session.machine_mut().watch();
        Stand { session }
    }

    fn config(&self) -> &Config {
        self.session.machine().config()
    }

    fn run(&mut self, design: &Design) -> Result<PipelineOutcome, PipelineFailure> {
        self.session.restart_machine().expect("the RTL comes out of reset");
        run(&mut self.session, design)
    }

    /// Runs a correct program, of which the model must report no undefined use.
    fn run_right(&mut self, design: &Design) -> Result<PipelineOutcome, TestCaseError> {
        let outcome = self.run(design).map_err(|failure| TestCaseError::fail(failure.to_string()))?;
        let watch = self.session.machine().watched().expect("the model watches");
        match watch.diagnoses().first() {
            Some(diagnosis) => Err(TestCaseError::fail(diagnosis.to_string())),
            None => Ok(outcome),
        }
    }
}

/// Runs `law` on `cases` reproducible values, seeded by `PROPTEST_RNG_SEED`, and shrinks a failing value.
fn for_all<S: Strategy>(cases: u32, strategy: &S, law: impl Fn(S::Value) -> Result<(), TestCaseError>) {
    let seed = seed();
    if let Err(found) = TestRunner::new(settings(cases, seed, 2000)).run(strategy, law) {
        panic!("PROPTEST_RNG_SEED={seed}: {found}");
    }
}

/// Maximum number of members in a crew.
const CREW: usize = 4;

/// Maximum bytes of one arrival, such that a whole crew keeps the tx-count in its range (spec 6.1).
const MOST_BYTES: u32 = (1 << 20) / CREW as u32;

fn manner() -> impl Strategy<Value = Manner> {
    prop_oneof![
        (1..33u32).prop_map(Manner::Lanes),
        (1..100u32).prop_map(Manner::Count),
        (2..100u32).prop_map(Manner::ExpectTx),
        (2..MOST_BYTES).prop_map(Manner::ExpectThenArrive),
        (1..100u32).prop_map(Manner::NoComplete),
    ]
}

fn waiting() -> BoxedStrategy<Waiting> {
    prop_oneof![
        Just(Waiting::Poll),
        Just(Waiting::Suspend),
        (1..200u32).prop_map(Waiting::SuspendFor),
        Just(Waiting::SuspendFor(NO_LIMIT)),
    ]
    .boxed()
}

fn member(visits: u32, waiting: &BoxedStrategy<Waiting>) -> impl Strategy<Value = Member> + use<> {
    let delay = prop_oneof![Just(0), 0..16u32, 0..400u32];
    (manner(), waiting.clone(), 1..=2 * visits, delay)
        .prop_map(|(arrives, waits, leaves_after, delay)| Member { arrives, waits, leaves_after, delay })
}

fn pipeline(waiting: BoxedStrategy<Waiting>) -> impl Strategy<Value = PipelineDesign> {
    let reach = prop_oneof![Just(ProducerReach::Local), Just(ProducerReach::Remote)];
    (1..9u32, 1..6u32, reach, any::<bool>()).prop_flat_map(move |(stages, visits, reach, meets)| {
        let crew = || collection::vec(member(visits, &waiting), 1..=CREW);
        (crew(), crew()).prop_map(move |(producers, consumers)| PipelineDesign {
            stages,
            visits,
            reach,
            meets,
            producers,
            consumers,
        })
    })
}

fn design(waiting: BoxedStrategy<Waiting>) -> impl Strategy<Value = Design> {
    (collection::vec(pipeline(waiting), 1..4), pauses(), any::<u64>())
        .prop_map(|(pipelines, pauses, seed)| Design { pipelines, pauses, seed, mistake: None })
}

fn right_programs_end_right(name: &str, cases: u32) {
    let stand = RefCell::new(Stand::new(name));
    for_all(cases_or(cases), &design(waiting()), |design| stand.borrow_mut().run_right(&design).map(|_| ()));
}

test_each! {
    right_programs_end_right;
    default(100)
    tiny(600)
    small(300)
    #[ignore = "nightly: another configuration"]
    hold(100)
    #[ignore = "nightly: another configuration"]
    deep(80)
    #[ignore = "nightly: another configuration"]
    merging(80)
    all_options(150)
}

/// Every waiter without a limit is woken. A request is turned away only if the table of waiters is full.
fn every_waiter_is_woken(name: &str, cases: u32) {
    let stand = RefCell::new(Stand::new(name));
    let places = stand.borrow().config().num_waiters;
    for_all(cases_or(cases), &design(Just(Waiting::SuspendFor(NO_LIMIT)).boxed()), |design| {
        let Events { timed_out, turned_away, .. } = stand.borrow_mut().run_right(&design)?.events;
        prop_assert_eq!(timed_out, 0);
        let warps = design.pipelines.iter().flat_map(|p| p.producers.iter().chain(&p.consumers)).count();
        if warps <= places as usize {
            prop_assert_eq!(turned_away, 0, "{} warps", warps);
        }
        Ok(())
    });
}

test_each! {
    mod no_wake_up_is_lost: every_waiter_is_woken;
    default(30)
    small(100)
    #[ignore = "nightly: another configuration"]
    hold(30)
    #[ignore = "nightly: another configuration"]
    deep(30)
    all_options(50)
}

/// A warp that repeats its wait finally passes, even with very short limits.
fn short_limits_end(name: &str) {
    let stand = RefCell::new(Stand::new(name));
    let timed_out = RefCell::new(0);
    for_all(20, &design((1..20u32).prop_map(Waiting::SuspendFor).boxed()), |design| {
        *timed_out.borrow_mut() += stand.borrow_mut().run_right(&design)?.events.timed_out;
        Ok(())
    });
    assert!(timed_out.into_inner() > 100, "{name}: limits pass");
}

test_each! {
    mod short_limits_are_asked_again: short_limits_end;
    default
    small
    #[ignore = "nightly: another configuration"]
    hold
    all_options
}

/// Every kind of event occurs in at least one sixth of the random pipelines.
#[test]
#[ignore = "nightly: another configuration"]
fn pipelines_are_worth_running() {
    let stand = RefCell::new(Stand::new("hold"));
    let all = RefCell::new(Vec::new());
    for_all(60, &design(waiting()), |design| {
        all.borrow_mut().push(stand.borrow_mut().run_right(&design)?.events);
        Ok(())
    });
    let all = all.into_inner();
    for (what, count) in EVENTS {
        let runs = all.iter().filter(|events| count(events) > 0).count();
        assert!(runs >= all.len() / 6, "{what} in {runs} of {} runs", all.len());
    }
}

type Named = (&'static str, fn(&Events) -> u64);

const EVENTS: [Named; 11] = [
    ("waits that pass", |events| events.passed),
    ("wake-ups", |events| events.woken),
    ("limits that pass", |events| events.timed_out),
    ("waits turned away", |events| events.turned_away),
    ("both forms of a wait", |events| events.both_forms),
    ("states", |events| events.states),
    ("loads", |events| events.loads),
    ("transactions completed before they are expected", |events| events.ahead),
    ("arrivals from another CTA", |events| events.remote),
    ("drops", |events| events.drops),
    ("arrivals that must not complete", |events| events.no_complete),
];

/// The same program gives the same memory and number of phases with merged and with separate arrivals.
#[test]
#[ignore = "nightly: another configuration"]
fn merged_arrivals_come_to_the_same() {
    let (apart, merged) = (RefCell::new(Stand::new("default")), RefCell::new(Stand::new("merging")));
    for_all(50, &design(waiting()), |design| {
        let one = apart.borrow_mut().run_right(&design)?;
        let other = merged.borrow_mut().run_right(&design)?;
        prop_assert_eq!(one.phases, other.phases);
        prop_assert!(one.memory == other.memory, "memory differs");
        Ok(())
    });
}

const OBJECTS: u32 = 3;

/// Draws arrivals of many lanes at few objects, by one warp. One request may complete several phases.
fn arrivals() -> impl Strategy<Value = Case> {
    let op = prop_oneof![
        6 => Just(Op::MbarArrive),
        1 => Just(Op::MbarArriveDrop),
        1 => Just(Op::MbarArriveCount),
        1 => Just(Op::MbarArriveExpectTx),
        1 => Just(Op::MbarCompleteTx),
    ];
    let lane = || (0..OBJECTS, 1..3u64);
    let request = (op, any::<bool>(), any::<u32>(), collection::vec(lane(), 32));
    let counts = collection::vec(1..40u32, OBJECTS as usize);
    (counts, collection::vec(request, 1..12)).prop_map(|(counts, requests)| {
        let request = |op: Op, red, mask, lanes| WarpRequest {
            op: op as u8,
            size: Size::U64 as u8,
            red,
            mask,
            lanes,
            ..WarpRequest::default()
        };
        let lane = |object: u32, b: u64| Lane { ra: 8 * object, b: b.into(), c: 0 };
        let init = (0..).zip(&counts).map(|(object, count)| lane(object, MbarObject::init(*count).encode()));
        let mut warps = vec![request(Op::MbarInit, true, (1 << OBJECTS) - 1, init.collect())];
        for (op, red, mask, lanes) in requests {
            let lanes = lanes.iter().map(|(object, b)| lane(*object, *b)).collect();
            warps.push(request(op, red, mask, lanes));
        }
        let allocations = vec![whole(&Config::default())];
        Case { config: String::new(), allocations, warps, ..Case::default() }
    })
}

/// Merged arrivals leave the same memory, and each lane gets the state of the first lane at its object.
#[test]
#[ignore = "nightly: another configuration"]
fn merged_arrivals_give_the_state_of_the_first() {
    let (apart, merged) = (RefCell::new(Stand::new("default")), RefCell::new(Stand::new("merging")));
    let zeros = vec![0; (apart.borrow().config().bytes() / 4) as usize];
    let observed = |stand: &RefCell<Stand>, case: &Case| {
        run_case(&mut stand.borrow_mut().session, case, &zeros)
            .map_err(|failure| TestCaseError::fail(failure.to_string()))
    };
    for_all(2000, &arrivals(), |case| {
        let (one, other) = (observed(&apart, &case)?, observed(&merged, &case)?);
        prop_assert!(one.memory == other.memory, "memory differs");
        for (number, (request, (one, other))) in
            case.warps.iter().zip(one.warps.iter().zip(&other.warps)).enumerate()
        {
            let merges = request.op == Op::MbarArrive as u8;
            for lane in (0..request.lanes.len()).filter(|lane| request.mask >> lane & 1 == 1) {
                let meets = |first: &usize| {
                    request.mask >> first & 1 == 1 && request.lanes[*first].ra == request.lanes[lane].ra
                };
                let first = if merges { (0..=lane).find(meets).unwrap_or(lane) } else { lane };
                prop_assert_eq!(one.rsp_rd[first], other.rsp_rd[lane], "request {}, lane {}", number, lane);
            }
        }
        Ok(())
    });
}

fn with_mistake(mistake: Mistake, first: impl Strategy<Value = Manner>) -> impl Strategy<Value = Design> {
    (design(waiting()), first).prop_map(move |(mut design, first)| {
        let pipeline = &mut design.pipelines[0];
        pipeline.visits = pipeline.visits.max(2);
        pipeline.producers[0].arrives = first;
        Design { mistake: Some(mistake), ..design }
    })
}

fn deadlocks(stand: &RefCell<Stand>, design: &Design) -> Result<Deadlock, TestCaseError> {
    match stand.borrow_mut().run(design) {
        Err(PipelineFailure::Deadlock(deadlock)) => Ok(deadlock),
        Err(other) => Err(TestCaseError::fail(other.to_string())),
        Ok(_) => Err(TestCaseError::fail("a wrong program ends")),
    }
}

/// Describes the events that the consumers of the first pipeline miss at its first stage in the second visit.
fn missing(deadlock: &Deadlock) -> Vec<String> {
    let at_fault = |awaits: &&Awaited| matches!(awaits, Awaited::Phase { object, phase: 1, .. } if object == "full[0.0]");
    let awaited = deadlock.blocked.iter().map(|agent| &agent.awaits).filter(at_fault);
    awaited.map(Awaited::missing).collect()
}

fn reports_the_arrivals(name: &str) {
    let stand = RefCell::new(Stand::new(name));
    for_all(15, &with_mistake(Mistake::ForgetsArrival, (1..9u32).prop_map(Manner::Count)), |design| {
        let deadlock = deadlocks(&stand, &design)?;
        let Manner::Count(count) = design.pipelines[0].producers[0].arrives else { unreachable!() };
        let expected = match count {
            1 => "1 arrival missing".to_string(),
            count => format!("{count} arrivals missing"),
        };
        prop_assert!(!missing(&deadlock).is_empty(), "{}", deadlock);
        for missing in missing(&deadlock) {
            prop_assert_eq!(missing, &*expected, "{}", deadlock);
        }
        Ok(())
    });
}

test_each! { mod a_forgotten_arrival: reports_the_arrivals; default small all_options }

fn reports_the_byte(name: &str) {
    let stand = RefCell::new(Stand::new(name));
    let manner = prop_oneof![
        (2..100u32).prop_map(Manner::ExpectTx),
        (2..MOST_BYTES).prop_map(Manner::ExpectThenArrive),
    ];
    for_all(15, &with_mistake(Mistake::LosesByte, manner), |design| {
        let deadlock = deadlocks(&stand, &design)?;
        prop_assert!(!missing(&deadlock).is_empty(), "{}", deadlock);
        for missing in missing(&deadlock) {
            prop_assert_eq!(missing, "1 byte missing", "{}", deadlock);
        }
        Ok(())
    });
}

test_each! { mod a_lost_byte: reports_the_byte; default small all_options }

/// A producer that drops but continues is detected, at the latest by the check of the final counts.
fn finds_the_drop(name: &str) {
    let stand = RefCell::new(Stand::new(name));
    for_all(15, &with_mistake(Mistake::DropsAndStays, (1..9u32).prop_map(Manner::Count)), |design| {
        // RTL, model and oracle must still agree.
        match stand.borrow_mut().run(&design) {
            Err(PipelineFailure::Deadlock(_) | PipelineFailure::Broken(_)) => Ok(()),
            Err(PipelineFailure::Failure(failure)) => Err(TestCaseError::fail(failure.to_string())),
            Ok(_) => Err(TestCaseError::fail("a wrong program ends")),
        }
    });
}

test_each! { mod a_drop_too_many: finds_the_drop; default small all_options }

fn alone(arrives: Manner, waits: Waiting) -> Member {
    Member { arrives, waits, leaves_after: u32::MAX, delay: 0 }
}

fn one_stage(producer: Member, mistake: Mistake) -> Design {
    let consumer = alone(Manner::Count(1), Waiting::SuspendFor(NO_LIMIT));
    let pipeline = PipelineDesign {
        stages: 1,
        visits: 4,
        reach: ProducerReach::Local,
        meets: false,
        producers: vec![producer],
        consumers: vec![consumer],
    };
    Design { pipelines: vec![pipeline], pauses: Pauses::default(), seed: 1, mistake: Some(mistake) }
}

/// The report has exactly this text.
#[test]
fn the_report_says_what_each_agent_waits_for() {
    #[rustfmt::skip]
    let cases = [
        (Mistake::ForgetsArrival, Manner::Count(3), [
            "producer 0.0, tag 3, slot 0, waits for phase 1 of empty[0.0] at 0x00001710: \
             phase parity 1, 1 of 1 arrivals pending, tx-count 0; 1 arrival missing",
            "consumer 0.0, tag 4, slot 0, waits for phase 1 of full[0.0] at 0x00002608: \
             phase parity 1, 3 of 3 arrivals pending, tx-count 0; 3 arrivals missing",
        ]),
        (Mistake::LosesByte, Manner::ExpectTx(64), [
            "producer 0.0, tag 3, slot 0, waits for phase 1 of empty[0.0] at 0x00001710: \
             phase parity 1, 1 of 1 arrivals pending, tx-count 0; 1 arrival missing",
            "consumer 0.0, tag 4, slot 0, waits for phase 1 of full[0.0] at 0x00002608: \
             phase parity 1, 0 of 1 arrivals pending, tx-count 1; 1 byte missing",
        ]),
        (Mistake::DropsAndStays, Manner::Count(1), [
            "producer 0.0, tag 3, slot 0, waits for phase 2 of empty[0.0] at 0x00001710: \
             phase parity 0, 1 of 1 arrivals pending, tx-count 0; 1 arrival missing",
            "consumer 0.0, tag 4, slot 0, waits for phase 2 of full[0.0] at 0x00002608: \
             phase parity 0, 1048575 of 0 arrivals pending, tx-count 0; 1 arrival too many",
        ]),
    ];
    let stand = RefCell::new(Stand::new("default"));
    for (mistake, arrives, lines) in cases {
        let design = one_stage(alone(arrives, Waiting::Suspend), mistake);
        let deadlock = deadlocks(&stand, &design).unwrap_or_else(|other| panic!("{mistake:?}: {other}"));
        let found: Vec<_> = deadlock.blocked.iter().map(ToString::to_string).collect();
        assert_eq!(found, lines, "{mistake:?}");
    }
}

/// Four producers and four consumers run 1000 phases of four stages in less than a minute.
#[test]
fn a_long_pipeline_runs_in_seconds() {
    let producer = |arrives| alone(arrives, Waiting::Suspend);
    let pipeline = PipelineDesign {
        stages: 4,
        visits: 1000,
        reach: ProducerReach::Local,
        meets: false,
        producers: vec![
            producer(Manner::Lanes(32)),
            producer(Manner::Count(2)),
            producer(Manner::ExpectTx(128)),
            producer(Manner::NoComplete(1)),
        ],
        consumers: vec![alone(Manner::Lanes(1), Waiting::Suspend); 4],
    };
    let design = Design { pipelines: vec![pipeline], pauses: Pauses::default(), seed: 1, mistake: None };
    let mut stand = Stand::new("default");
    let start = Instant::now();
    let outcome = stand.run_right(&design).unwrap_or_else(|failure| panic!("{failure}"));
    let seconds = start.elapsed().as_secs_f64();
    assert_eq!(outcome.phases, [1000; 8]);
    println!("{} cycles in {seconds:.1} s; {:?}", outcome.cycles, outcome.events);
    assert!(seconds < 60.0, "{seconds:.1} s");
}
