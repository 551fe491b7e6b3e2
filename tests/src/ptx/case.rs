//! Test cases for a PTX line: object states, threads and operands, and the check of the result.

use super::barrier::{Barrier, BarrierLayout, LIMIT};
use super::spelling::{SpelledOperand, SpelledOperation, SpelledReduction, Spelling, Yields};

#[derive(Clone, Copy, Debug)]
pub enum PtxStep {
    /// Arrives with this count in one operation. The arrival returns a state.
    Arrive(u32),
    ExpectTx(u32),
    CompleteTx(u32),
    /// Waits for the phase before the current one, which is already complete.
    Wait,
}

#[derive(Clone, Debug, Default)]
pub struct PtxStart {
    /// Count of the init operation. None if the place holds other bytes and no object.
    pub count: Option<u32>,
    pub steps: Vec<PtxStep>,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Agent {
    pub cta: u32,
    /// Number of the thread in its CTA. The number is also the lane.
    pub thread: u32,
    pub target: u32,
    pub object: usize,
    /// Value of `%c`, or of the immediate operand in its place.
    pub amount: u32,
    /// Value of the operand `%s`.
    pub state: u64,
    /// Parity of the phase that a wait asks about, from `%par`, an immediate or a state.
    pub parity: u32,
    /// Value of `%h`: limit of the wait in nanoseconds.
    pub hint: u32,
}

impl Agent {
    /// Returns word `at` of the source of the agent's bulk copy.
    pub fn source(&self, at: usize) -> u32 {
        0x1111_0000 * (self.thread + 1) + 0x100 * self.cta + at as u32
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Late {
    /// While try_wait is suspended.
    InTryWait,
    /// After the limit of try_wait itself, but within the limit of the hint.
    InHint,
}

#[derive(Clone, Debug)]
pub struct PtxCase {
    pub what: String,
    pub ctas: u32,
    /// Start states of the objects. Every CTA has the same ones.
    pub objects: Vec<PtxStart>,
    pub agents: Vec<Agent>,
    /// Time of an arrival at object 0 by a thread of another warp. None for no such arrival.
    pub late: Option<Late>,
}

#[derive(Clone, Debug)]
pub struct PtxObserved {
    pub answers: Vec<PtxAnswer>,
    /// Object words, indexed `[cta][object]`.
    pub words: Vec<Vec<u64>>,
    pub data: Vec<Vec<u32>>,
    /// True if the agents of a warp arrive in one operation, and so all get the state before it.
    pub at_once: bool,
}

/// Results of an agent. A result that the line does not have is [`UNTOUCHED`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PtxAnswer {
    pub low: u32,
    pub high: u32,
    /// Predicate result: 1 if the phase is complete. `check_layout` sets 1 if the layout matches.
    pub flag: u32,
    pub count: u32,
}

pub const UNTOUCHED: u32 = 0xcdcd_cdcd;

/// First two words of every agent's data before an asynchronous operation. The other words are zero.
pub const DATA: [u32; 2] = [5, 5];

pub const DATA_WORDS: usize = 16;

/// Value of a plain store to the place of an object before init or after inval.
pub const OTHER_BYTES: u64 = 0x5a5a_1234_a5a5_4321;

impl PtxStart {
    pub fn reached(&self, layout: BarrierLayout) -> (Option<Barrier>, Vec<u64>) {
        let mut states = Vec::new();
        let barrier = self.count.map(|count| {
            let mut barrier = Barrier::new(count);
            for step in &self.steps {
                match *step {
                    PtxStep::Arrive(count) => {
                        states.push(barrier.word(layout));
                        barrier.arrive(count);
                    }
                    PtxStep::ExpectTx(transactions) => barrier.expect_tx(transactions),
                    PtxStep::CompleteTx(transactions) => barrier.complete_tx(transactions),
                    PtxStep::Wait => {}
                }
            }
            barrier
        });
        (barrier, states)
    }
}

#[derive(Clone, Copy)]
struct Try {
    what: &'static str,
    expected: u32,
    pending: u32,
    tx: i64,
    /// True if the object is in phase 1, false for phase 0.
    later: bool,
}

impl Try {
    fn possible(&self) -> bool {
        i64::from(self.expected) <= LIMIT && self.tx.abs() <= LIMIT
    }

    fn start(&self) -> PtxStart {
        let Try { expected, pending, tx, .. } = *self;
        let mut steps = Vec::new();
        if self.later {
            steps.extend([PtxStep::Arrive(expected), PtxStep::Wait]);
        }
        match tx {
            1.. => steps.push(PtxStep::ExpectTx(tx as u32)),
            0 => {}
            _ => steps.push(PtxStep::CompleteTx(-tx as u32)),
        }
        if pending < expected {
            steps.push(PtxStep::Arrive(expected - pending));
        }
        PtxStart { count: Some(expected), steps }
    }
}

/// Returns the object states for testing an operation that brings these amounts to one object.
fn tries(operation: SpelledOperation, layout: BarrierLayout, amounts: &[u32]) -> Vec<Try> {
    use SpelledOperation::*;
    let (agents, total) = (amounts.len() as u32, amounts.iter().sum());
    let (arrivals, dropped) = match operation {
        Arrive | ArriveNoComplete | PendingCount => (total, 0),
        CheckLayout(_) => (0, 0),
        ArriveDrop | ArriveDropNoComplete => (total, total),
        ArriveExpectTx | CopyArriveNoinc => (agents, 0),
        ArriveDropExpectTx => (agents, agents),
        Init | Inval | ExpectTx | CompleteTx | TestWait | TryWait | CopyArrive => (0, 0),
        BulkCopy | StoreAsync | ReduceAsync(_) => (0, 0),
    };
    let stays = Try {
        what: "leaves the phase open",
        expected: arrivals + dropped + 3,
        pending: arrivals + 2,
        tx: 0,
        later: false,
    };
    // A dropped agent is not expected in later phases. Two extra arrivals keep the count above zero.
    let expected = if dropped == 0 { arrivals } else { dropped + 2 };
    let ends = Try { what: "completes the phase", expected, pending: arrivals, ..stays };
    let held = Try { what: "is held by transactions", ..ends };
    let last = Try { expected: 3, pending: 0, tx: i64::from(total), ..ends };
    let later = |t: Try| Try { later: true, ..t };
    let tries = match operation {
        Arrive | ArriveDrop | PendingCount | CopyArriveNoinc => match layout {
            BarrierLayout::Fields => vec![later(stays), ends, later(Try { tx: 48, ..held }), later(ends)],
            BarrierLayout::TwoWords => vec![later(stays), ends, later(ends)],
        },
        ArriveExpectTx | ArriveDropExpectTx => {
            vec![stays, later(Try { tx: -i64::from(total), ..ends }), held]
        }
        Inval | ArriveNoComplete | ArriveDropNoComplete | CopyArrive | CheckLayout(_) => {
            vec![stays, later(stays)]
        }
        ExpectTx if total == 0 => vec![later(stays)],
        ExpectTx => {
            let back = -i64::from(total);
            vec![later(stays), Try { tx: back, ..stays }, Try { tx: back, ..last }]
        }
        CompleteTx | BulkCopy | StoreAsync | ReduceAsync(_) if total == 0 => vec![stays],
        CompleteTx => vec![
            Try { tx: last.tx + 8, ..stays },
            later(last),
            Try { what: "is ahead of what is expected", ..stays },
            Try { what: "leaves transactions", tx: last.tx + 16, ..last },
        ],
        BulkCopy | StoreAsync | ReduceAsync(_) => vec![Try { tx: last.tx, ..stays }, later(last)],
        Init | TestWait | TryWait => Vec::new(),
    };
    tries.into_iter().filter(Try::possible).collect()
}

/// Threads that execute the line, and true if each thread has its own object: one thread, several threads
/// with gaps at one object, several threads at different objects.
const CROWDS: [(&[u32], bool); 3] = [(&[0], false), (&[1, 4, 5, 7], false), (&[0, 2, 3, 9], true)];

pub fn cases(spelling: &Spelling, layout: BarrierLayout) -> Vec<PtxCase> {
    if spelling.operation.waits() {
        return waits(spelling, layout);
    }
    let mut cases = Vec::new();
    for (threads, apart) in CROWDS {
        if !fits(spelling, threads.len(), apart) {
            continue;
        }
        let amounts: Vec<u32> = (0..threads.len()).map(|n| amount(spelling, n)).collect();
        let tries = |amounts: &[u32]| tries(spelling.operation, layout, amounts);
        // Asynchronous operations use `state` as data.
        let agent = |(n, (thread, amount)): (usize, (&u32, &u32))| Agent {
            thread: *thread,
            object: if apart { n } else { 0 },
            amount: *amount,
            state: 0x1_0000_0003 * (n as u64 + 1),
            ..Agent::default()
        };
        let agents: Vec<Agent> = threads.iter().zip(&amounts).enumerate().map(agent).collect();
        let mut add = |what: &str, objects: Vec<PtxStart>| {
            cases.extend(places(spelling, layout, format!("threads {threads:?}: {what}"), &objects, &agents));
        };
        if spelling.operation == SpelledOperation::Init {
            add("makes an object", vec![PtxStart::default(); if apart { threads.len() } else { 1 }]);
        } else if apart && amounts.iter().any(|amount| tries(&[*amount]).is_empty()) {
            // The cases would need more arrivals than an object can expect.
        } else if apart {
            // The objects are in different states, so one case covers several states.
            let start = |(n, amount): (usize, &u32)| {
                let tries = tries(&[*amount]);
                tries[n % tries.len()].start()
            };
            add("each at its own object", amounts.iter().enumerate().map(start).collect());
        } else {
            tries(&amounts).iter().for_each(|t| add(t.what, vec![t.start()]));
        }
    }
    cases
}

/// Returns the case in one CTA, and in two CTAs that access each other's objects if the line can.
fn places(
    spelling: &Spelling,
    layout: BarrierLayout,
    what: String,
    objects: &[PtxStart],
    agents: &[Agent],
) -> Vec<PtxCase> {
    let case = PtxCase { what, ctas: 1, objects: objects.to_vec(), agents: agents.to_vec(), late: None };
    let mut cases = Vec::new();
    if spelling.reaches_others() && layout == BarrierLayout::Fields {
        let of = |cta: u32| agents.iter().map(move |agent| Agent { cta, target: 1 - cta, ..*agent });
        let what = format!("{}, in the other CTA", case.what);
        cases.push(PtxCase { what, ctas: 2, agents: of(0).chain(of(1)).collect(), ..case.clone() });
    }
    if !spelling.mapped {
        cases.push(case);
    }
    cases
}

/// True if `threads` threads can execute the line together, at one object or `apart`.
fn fits(spelling: &Spelling, threads: usize, apart: bool) -> bool {
    let one_object = threads > 1 && !apart;
    let total: i64 = (0..threads).map(|n| i64::from(amount(spelling, n))).sum();
    match spelling.operation {
        // Only one thread may init or inval an object.
        SpelledOperation::Init | SpelledOperation::Inval if one_object => false,
        _ if one_object && total > LIMIT => false,
        _ => !(apart && spelling.symbol),
    }
}

fn amount(spelling: &Spelling, n: usize) -> u32 {
    use SpelledOperation::*;
    match (spelling.operation, spelling.operand) {
        (StoreAsync | ReduceAsync(SpelledReduction::AddWide), _) => 8,
        (ReduceAsync(SpelledReduction::Add | SpelledReduction::Dec), _) => 4,
        (BulkCopy, _) => [32, 64, 16, 48][n],
        (_, SpelledOperand::Given(given)) => given,
        (_, SpelledOperand::None) => 1,
        (Init, SpelledOperand::KernelRegister) => [1, 5, LIMIT as u32, 300][n],
        (ExpectTx | CompleteTx | ArriveExpectTx | ArriveDropExpectTx, SpelledOperand::KernelRegister) => {
            [64, 16, 4096, 16][n]
        }
        // Some counts are equal because compilers combine lanes with equal counts.
        (_, SpelledOperand::KernelRegister) => [2, 3, 2, 1][n],
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Current,
    Before,
}

struct PtxQuery<'a> {
    what: &'static str,
    threads: &'static [u32],
    /// One object for all threads, or one object per thread.
    starts: Vec<&'a PtxStart>,
    phases: &'static [Phase],
    late: Option<Late>,
}

fn waits(spelling: &Spelling, layout: BarrierLayout) -> Vec<PtxCase> {
    use Phase::{Before, Current};
    let arrivals = |count: usize| vec![PtxStep::Arrive(1); count];
    let open = PtxStart { count: Some(3), steps: arrivals(2) };
    let complete = PtxStart { count: Some(3), steps: arrivals(3) };
    let mut steps = arrivals(3);
    steps.extend([PtxStep::Wait, PtxStep::Arrive(1)]);
    let second = PtxStart { count: Some(3), steps };
    let alone =
        |what, start, phases| PtxQuery { what, threads: &[3], starts: vec![start], phases, late: None };
    let together = |what, start, phases| PtxQuery { threads: &[1, 4, 5], ..alone(what, start, phases) };
    let questions = [
        alone("an open phase", &open, &[Current]),
        alone("the phase before the first", &open, &[Before]),
        alone("a phase just completed", &complete, &[Before]),
        alone("the phase after", &complete, &[Current]),
        alone("the second phase", &second, &[Current]),
        together("an open phase, by several", &open, &[Current; 3]),
        together("two phases at once", &second, &[Before, Current, Before]),
        PtxQuery {
            starts: vec![&open, &complete, &second],
            ..together("objects apart", &open, &[Current, Before, Current])
        },
        PtxQuery {
            late: Some(Late::InTryWait),
            ..together("a phase completed meanwhile", &open, &[Current; 3])
        },
        PtxQuery {
            late: Some(Late::InHint),
            ..alone("a phase completed within the hint", &open, &[Current])
        },
    ];
    questions.iter().filter_map(|question| wait(spelling, layout, question)).collect()
}

fn wait(spelling: &Spelling, layout: BarrierLayout, question: &PtxQuery<'_>) -> Option<PtxCase> {
    let PtxQuery { what, threads, starts, phases, late } = question;
    let apart = starts.len() > 1;
    let long = match spelling.hint {
        SpelledOperand::KernelRegister => true,
        SpelledOperand::Given(nanoseconds) => nanoseconds > 10_000,
        SpelledOperand::None => false,
    };
    let runs = match late {
        None => true,
        Some(Late::InTryWait) => spelling.operation == SpelledOperation::TryWait,
        Some(Late::InHint) => long,
    };
    if !runs || (apart && spelling.symbol) {
        return None;
    }
    let agent = |n: usize| {
        let object = if apart { n } else { 0 };
        let (barrier, states) = starts[object].reached(layout);
        let current = barrier?.phase;
        let asked = if phases[n] == Phase::Current { current } else { !current };
        // States of arrivals in the phase asked about. Threads use different states where there are several.
        let fitting: Vec<u64> = states.into_iter().filter(|state| (state >> 63 == 1) == asked).collect();
        let state = fitting.get(n % fitting.len().max(1)).copied();
        let parity = u32::from(asked);
        let given = !matches!(spelling.operand, SpelledOperand::Given(given) if given != parity);
        let askable = given && (spelling.parity || state.is_some());
        let hint = if *late == Some(Late::InHint) { 1_000_000 } else { 40 };
        let state = state.unwrap_or(0);
        let agent = Agent { thread: threads[n], object, state, parity, hint, ..Agent::default() };
        askable.then_some(agent)
    };
    let agents = (0..threads.len()).map(agent).collect::<Option<_>>()?;
    let objects = starts.iter().map(|start| (*start).clone()).collect();
    Some(PtxCase { what: (*what).into(), ctas: 1, objects, agents, late: *late })
}

/// Checks the observed results against the results that \[PTX\] allows.
///
/// The threads execute in an unspecified serial order, so one order must explain all results (spec 4.5).
///
/// # Errors
/// No order explains the results. The message shows the results expected in thread order.
pub fn judge(
    case: &PtxCase,
    spelling: &Spelling,
    layout: BarrierLayout,
    observed: &PtxObserved,
) -> Result<(), String> {
    let start = |start: &PtxStart| start.reached(layout).0;
    let mut barriers: Vec<Vec<_>> =
        (0..case.ctas).map(|_| case.objects.iter().map(start).collect()).collect();
    if case.late.is_some()
        && let Some(barrier) = &mut barriers[0][0]
    {
        barrier.arrive(1);
    }
    for (at, agent) in case.agents.iter().enumerate() {
        let (found, expected) = (&observed.data[at], data(spelling.operation, agent));
        if spelling.operation.asynchronous() && *found != expected {
            return Err(format!(
                "\n  {agent:x?}\n    data found    {found:x?}\n    data expected {expected:x?}"
            ));
        }
    }
    let judge = Judge { case, spelling, layout, observed, start: barriers.clone() };
    let all: Vec<usize> = (0..case.agents.len()).collect();
    if judge.some_order(&barriers, &all) {
        return Ok(());
    }
    let mut text = String::new();
    for at in all {
        let agent = &case.agents[at];
        let expected = judge.answer(agent, &mut barriers[agent.target as usize][agent.object], at);
        let found = &observed.answers[at];
        text += &format!("\n  {agent:x?}\n    found    {found:x?}\n    expected {expected:x?}");
    }
    let words: Vec<Vec<u64>> =
        barriers.iter().map(|of| of.iter().map(|barrier| judge.word(barrier)).collect()).collect();
    Err(format!("{text}\n  objects found    {:x?}\n  objects expected {words:x?}", observed.words))
}

fn data(operation: SpelledOperation, agent: &Agent) -> Vec<u32> {
    let mut words = vec![0; DATA_WORDS];
    words[..2].copy_from_slice(&DATA);
    let operand = agent.state as u32;
    match operation {
        SpelledOperation::BulkCopy => {
            for (at, word) in words.iter_mut().take(agent.amount as usize / 4).enumerate() {
                *word = agent.source(at);
            }
        }
        SpelledOperation::StoreAsync => words[..2].fill(operand),
        SpelledOperation::ReduceAsync(SpelledReduction::Add) => words[0] = DATA[0].wrapping_add(operand),
        SpelledOperation::ReduceAsync(SpelledReduction::Dec) => {
            words[0] = if DATA[0] == 0 || DATA[0] > operand { operand } else { DATA[0] - 1 };
        }
        SpelledOperation::ReduceAsync(SpelledReduction::AddWide) => {
            let sum = (u64::from(DATA[1]) << 32 | u64::from(DATA[0])).wrapping_add(agent.state);
            (words[0], words[1]) = (sum as u32, (sum >> 32) as u32);
        }
        _ => {}
    }
    words
}

struct Judge<'a> {
    case: &'a PtxCase,
    spelling: &'a Spelling,
    layout: BarrierLayout,
    observed: &'a PtxObserved,
    /// Objects before the line, indexed `[cta][object]`.
    start: Vec<Vec<Option<Barrier>>>,
}

impl Judge<'_> {
    fn some_order(&self, barriers: &[Vec<Option<Barrier>>], left: &[usize]) -> bool {
        if left.is_empty() {
            let mut all = barriers.iter().flatten().zip(self.observed.words.iter().flatten());
            return all.all(|(barrier, word)| self.word(barrier) == *word);
        }
        left.iter().any(|&at| {
            let agent = &self.case.agents[at];
            let mut after = barriers.to_vec();
            let answer = self.answer(agent, &mut after[agent.target as usize][agent.object], at);
            let rest: Vec<usize> = left.iter().copied().filter(|other| *other != at).collect();
            answer == self.observed.answers[at] && self.some_order(&after, &rest)
        })
    }

    /// Executes the line for one agent. Takes implementation-specific bits of a state from the observed
    /// result.
    fn answer(&self, agent: &Agent, place: &mut Option<Barrier>, at: usize) -> PtxAnswer {
        use SpelledOperation::*;
        let Agent { amount, .. } = *agent;
        let mut answer = PtxAnswer { low: UNTOUCHED, high: UNTOUCHED, flag: UNTOUCHED, count: UNTOUCHED };
        match self.spelling.operation {
            Init => *place = Some(Barrier::new(amount)),
            Inval => *place = None,
            _ => {}
        }
        let Some(barrier) = place else { return answer };
        let before = *barrier;
        match self.spelling.operation {
            Init | Inval => {}
            CheckLayout(layout) => answer.flag = u32::from(layout == 0),
            ExpectTx => barrier.expect_tx(amount),
            CompleteTx | BulkCopy | StoreAsync | ReduceAsync(_) => barrier.complete_tx(amount),
            Arrive | ArriveNoComplete | PendingCount => barrier.arrive(amount),
            ArriveExpectTx => {
                barrier.expect_tx(amount);
                barrier.arrive(1);
            }
            ArriveDrop | ArriveDropNoComplete => {
                barrier.drop_expected(amount);
                barrier.arrive(amount);
            }
            ArriveDropExpectTx => {
                barrier.expect_tx(amount);
                barrier.drop_expected(1);
                barrier.arrive(1);
            }
            CopyArrive => {
                barrier.increment();
                barrier.arrive(1);
            }
            CopyArriveNoinc => barrier.arrive(1),
            TestWait | TryWait => answer.flag = u32::from(u32::from(barrier.phase) != agent.parity),
        }
        let start = self.start[agent.target as usize][agent.object];
        let given = start.filter(|_| self.observed.at_once).unwrap_or(before);
        match self.spelling.yields {
            Yields::State if self.spelling.operation.no_complete() => {
                let (found, mask) = (&self.observed.answers[at], Barrier::count_mask(self.layout));
                answer.low = found.low;
                answer.high = (found.high & !mask) | before.count_in_state(self.layout);
                answer.count = before.pending as u32;
            }
            Yields::State => {
                let word = given.word(self.layout);
                (answer.low, answer.high) = (word as u32, (word >> 32) as u32);
                if self.layout == BarrierLayout::Fields {
                    answer.low = 0;
                }
                if self.spelling.operation == ArriveDrop && self.layout == BarrierLayout::TwoWords {
                    // The drop is a separate instruction: all lanes drop before any lane arrives.
                    answer.low = self.observed.answers[at].low;
                }
            }
            Yields::Count => answer.count = given.pending as u32,
            Yields::Nothing | Yields::Predicate => {}
        }
        answer
    }

    fn word(&self, barrier: &Option<Barrier>) -> u64 {
        barrier.map_or(OTHER_BYTES, |barrier| barrier.word(self.layout))
    }
}
