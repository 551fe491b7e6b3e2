//! Pipelines of producers and consumers on mbarrier objects: a stimulus whose warps and copies are
//! little programs, the account of what their objects must come to, and the report of who waits for
//! what when they stand still.
//!
//! Every stage of a pipeline has an object `full`, on which producers arrive and consumers wait, and an
//! object `empty` the other way round. What a right program does is known before it runs, whatever the
//! delays: so every answer can be checked as it comes.

use std::collections::HashMap;
use std::fmt;

use atoms_cosim::case::Pauses;
use atoms_cosim::machine::Machine;
use atoms_cosim::request::{ClusterRequest, Lane, PartWrite, WarpRequest};
use atoms_cosim::session::{Failure, Session};
use atoms_cosim::stimulus::Stimulus;
use atoms_cosim::trace::Sides;
use atoms_model::Config;
use atoms_model::mbarrier::Object;
use atoms_model::port::{In, Out};
use atoms_ops::{Op, Size};

use crate::bench::word;

/// A limit that no run lasts for.
pub const NO_LIMIT: u32 = 1 << 30;

/// CTA slots that pipelines spread over.
const SLOTS: u32 = 3;

/// Copies on their way at once.
const COPIERS: u8 = 3;

/// What is run: pipelines side by side, and the conditions they run under.
#[derive(Clone, Debug)]
pub struct Design {
    /// The pipelines; pipeline `n` has its consumers in slot `n`, modulo the slots there are.
    pub pipelines: Vec<Pipeline>,
    /// Back-pressure.
    pub pauses: Pauses,
    /// Draws delays, who goes first, which lanes take part, and where objects and data lie.
    pub seed: u64,
    /// What is wrong with the first pipeline, if anything is.
    pub mistake: Option<Mistake>,
}

/// Producers and consumers around a ring of stages.
#[derive(Clone, Debug)]
pub struct Pipeline {
    /// Stages; fewer where memory does not hold so many.
    pub stages: u32,
    /// How often each stage is filled.
    pub visits: u32,
    /// Where the producers are.
    pub reach: Reach,
    /// All members meet at an object of their own at the beginning of every visit, and wait there with
    /// the state of their own arrival. Only where all are in one CTA.
    pub meets: bool,
    /// Those who fill; the first stays to the end.
    pub producers: Vec<Member>,
    /// Those who empty; the first stays to the end.
    pub consumers: Vec<Member>,
}

/// How a producer gets at the consumers' stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// It is in their CTA.
    Local,
    /// It is in another CTA of the cluster, where it waits at objects of its own; data and arrivals
    /// come through the cluster port, both ways.
    Remote,
}

/// One warp of a pipeline.
#[derive(Clone, Copy, Debug)]
pub struct Member {
    /// How it arrives.
    pub arrives: Manner,
    /// How it waits.
    pub waits: Waiting,
    /// It leaves, with arrive_drop, after so many visits to each stage, if that is before the end.
    pub leaves_after: u32,
    /// It pauses for up to so many cycles between two steps.
    pub delay: u32,
}

/// How a member arrives at the end of its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// So many lanes arrive once each; no more than there are.
    Lanes(u32),
    /// One lane arrives so many times.
    Count(u32),
    /// One lane arrives and expects so many bytes, which a copy brings; a consumer just arrives.
    ExpectTx(u32),
    /// As [`Manner::ExpectTx`], in two steps.
    ExpectThenArrive(u32),
    /// One lane arrives so many times without completing the phase, then once more.
    NoComplete(u32),
}

/// How a member waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// It asks over and over.
    Poll,
    /// It sleeps until the limit of the configuration.
    Sleep,
    /// It sleeps for so many cycles at most.
    SleepFor(u32),
}

/// What the first producer of the first pipeline does wrong at stage 0 of its second visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// It does not arrive.
    ForgetsArrival,
    /// Its copy completes one byte less than it expects; nothing is wrong where it expects none.
    LosesByte,
    /// It drops out and carries on.
    DropsAndStays,
}

/// What a right run came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Clock cycles.
    pub cycles: u64,
    /// Phases completed, in order of objects.
    pub phases: Vec<u32>,
    /// Memory at the end: word `row * num_banks + bank`.
    pub memory: Vec<u32>,
    /// Requests by kind of event; see [`Events`].
    pub events: Events,
}

/// How often things happened, to see whether a run was worth it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Events {
    /// Waits answered with true.
    pub passed: u64,
    /// Waits answered with true by a wake-up.
    pub woken: u64,
    /// Waits answered with false by a wake-up.
    pub timed_out: u64,
    /// Tests and waits answered with false at once.
    pub turned_away: u64,
    /// Tests in which lanes asked by state and by parity.
    pub both_forms: u64,
    /// States checked.
    pub states: u64,
    /// Loads checked.
    pub loads: u64,
    /// Writes of an object that left its tx-count negative.
    pub ahead: u64,
    /// Arrivals through the cluster port.
    pub remote: u64,
    /// Drops.
    pub drops: u64,
    /// Arrivals that must not complete the phase.
    pub no_complete: u64,
}

/// Why a run did not end well.
#[derive(Debug)]
pub enum Trouble {
    /// RTL, model or oracle object.
    Failure(Box<Failure>),
    /// A law of pipelines is broken: what was seen.
    Broken(String),
    /// Nobody gets on.
    Standstill(Standstill),
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        Trouble::Failure(Box::new(failure))
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::Failure(failure) => failure.fmt(f),
            Trouble::Broken(law) => f.write_str(law),
            Trouble::Standstill(standstill) => standstill.fmt(f),
        }
    }
}

/// Who waits for what while nobody gets on.
#[derive(Clone, Debug)]
pub struct Standstill {
    /// Cycle of the report.
    pub cycle: u64,
    /// Cycles since somebody got on.
    pub quiet_for: u64,
    /// Those who have not finished.
    pub stuck: Vec<Stuck>,
}

/// One agent that does not get on.
#[derive(Clone, Debug)]
pub struct Stuck {
    /// Its part in the pipeline.
    pub who: String,
    /// Its tag.
    pub tag: u8,
    /// Its CTA slot.
    pub slot: u8,
    /// What it waits for.
    pub awaits: Awaited,
}

/// What somebody waits for.
#[derive(Clone, Debug)]
pub enum Awaited {
    /// The completion of a phase.
    Phase {
        /// The object's part in the pipeline.
        object: String,
        /// Its address as the lane forms it.
        address: u32,
        /// Number of the phase, from 0.
        phase: i64,
        /// Phases completed.
        completed: u32,
        /// The object as it is.
        found: Object,
    },
    /// An answer to a request of this operation, offered or taken.
    Answer(Op),
}

impl fmt::Display for Standstill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "nobody has got on for {} cycles, in cycle {}:", self.quiet_for, self.cycle)?;
        for stuck in &self.stuck {
            write!(f, "\n  {stuck}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, tag {}, slot {}, waits for ", self.who, self.tag, self.slot)?;
        match &self.awaits {
            Awaited::Answer(op) => write!(f, "an answer to {op}"),
            Awaited::Phase { object, address, phase, found, .. } => {
                write!(f, "phase {phase} of {object} at {address:#010x}: {found}; {}", self.awaits.missing())
            }
        }
    }
}

impl Awaited {
    /// What it would take for the wait to end.
    pub fn missing(&self) -> String {
        let Awaited::Phase { phase, completed, found, .. } = self else {
            return "answer missing".to_string();
        };
        let behind = phase - i64::from(*completed);
        if behind < 0 {
            return "it is complete, wake-up missing".to_string();
        }
        let mut missing = Vec::new();
        if behind > 0 {
            missing.push(several(behind as u32, "phase") + " before it missing");
        }
        let pending = found.pending;
        if pending > found.expected {
            missing.push(format!("{} too many", several((1 << 20) - pending, "arrival")));
        } else if pending > 0 {
            missing.push(several(pending, "arrival") + " missing");
        }
        if found.tx < 0 {
            missing.push(several(found.tx.unsigned_abs(), "byte") + " too many");
        } else if found.tx > 0 {
            missing.push(several(found.tx.unsigned_abs(), "byte") + " missing");
        }
        if missing.is_empty() { "nothing missing".to_string() } else { missing.join(", ") }
    }
}

/// `1 arrival`, `2 arrivals`.
fn several(count: u32, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// Runs `design` on a machine after reset with a memory of zeros, and holds it to account.
///
/// # Errors
/// [`Trouble`]; a right program on a right unit has none.
pub fn run<M: Machine + Sides>(session: &mut Session<M>, design: &Design) -> Result<Outcome, Trouble> {
    let config = *session.machine().config();
    let mut program = Program::new(&config, design);
    // Everybody's longest request, pause and sleep, one behind the other.
    let sleep = config.try_wait_limit.min(NO_LIMIT) + program.longest_pause;
    let patience = 2000 + 300 * program.agents.len() as u64 + 4 * u64::from(sleep);
    let start = session.machine().cycles();
    while !(program.finished() && session.is_idle()) {
        session.step(&mut program)?;
        program.watch_objects(&config, session);
        if let Some(law) = program.broken.take() {
            return Err(Trouble::Broken(format!("cycle {}: {law}", session.machine().cycles() - 1)));
        }
        if program.cycle - program.last_progress > patience {
            return Err(Trouble::Standstill(program.standstill()));
        }
    }
    session.judge_memory()?;
    program.settle_accounts().map_err(Trouble::Broken)?;
    Ok(Outcome {
        cycles: session.machine().cycles() - start,
        phases: program.objects.iter().map(|object| object.completed).collect(),
        memory: session.machine_mut().read_memory().map_err(Failure::from)?,
        events: program.events,
    })
}

/// An address of a CTA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    slot: u8,
    offset: u32,
}

impl Place {
    /// As a lane of the CTA forms it; the rank is the slot.
    fn address(self) -> u32 {
        u32::from(self.slot) << 24 | self.offset
    }
}

/// An object, and its account.
#[derive(Clone, Debug)]
struct Account {
    name: String,
    place: Place,
    count: u32,
    /// What it must come to.
    phases: u32,
    left: u32,
    /// What it came to.
    completed: u32,
    word: u64,
    /// Arrivals that the current phase began with, and those of the phases before.
    begun_with: u32,
    used: u64,
    /// What was brought.
    arrived: u64,
    expected_tx: u64,
    completed_tx: u64,
}

/// One lane's share of a request.
#[derive(Clone, Copy, Debug)]
struct Part {
    lane: u32,
    place: Place,
    b: u64,
}

/// Through which port a request goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Port {
    Warp,
    Cluster,
}

/// One request, and what its answer must be.
#[derive(Clone, Debug)]
struct Access {
    port: Port,
    op: Op,
    size: Size,
    red: bool,
    parts: Vec<Part>,
    reply: Reply,
}

/// What an answer must be.
#[derive(Clone, Debug)]
enum Reply {
    /// Anything but a fault.
    Any,
    /// This value for every part.
    Values(Vec<u64>),
    /// States of this phase of the object.
    States { object: usize, phase: i64 },
}

/// A wait, repeated until it is answered with true.
#[derive(Clone, Copy, Debug)]
struct Wait {
    object: usize,
    /// From 0; the one before the first is complete from the beginning.
    phase: i64,
    waits: Waiting,
    lanes: u32,
    asks: Asks,
}

/// How the lanes name the phase they ask about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asks {
    Parity,
    /// Odd lanes by parity, even ones with the state of the agent's last arrival.
    Both,
}

/// A copy to be made by whoever is free.
#[derive(Clone, Debug)]
struct Copy {
    object: usize,
    stores: Vec<(Place, Size, u64)>,
    bytes: u32,
}

#[derive(Clone, Debug)]
enum Step {
    Pause(u32),
    Access(Access),
    Wait(Wait),
    Copy(Copy),
}

/// Somebody with a program: a warp, or a copy.
#[derive(Clone, Debug)]
struct Agent {
    name: String,
    tag: u8,
    slot: u8,
    steps: Vec<Step>,
    at: usize,
    /// Rests until this cycle.
    until: u64,
    /// Its request is offered or inside. Of a wait: the phase was complete when it was taken.
    asked: bool,
    complete_when_taken: bool,
    /// High word of the state of its last arrival.
    state: u32,
}

impl Agent {
    fn new(name: String, tag: u8, slot: u8) -> Self {
        Agent {
            name,
            tag,
            slot,
            steps: Vec::new(),
            at: 0,
            until: 0,
            asked: false,
            complete_when_taken: false,
            state: 0,
        }
    }

    fn finished(&self) -> bool {
        self.at == self.steps.len()
    }

    fn port(&self) -> Option<Port> {
        match self.steps.get(self.at)? {
            Step::Access(access) => Some(access.port),
            Step::Wait(_) => Some(Port::Warp),
            Step::Pause(_) | Step::Copy(_) => None,
        }
    }
}

/// SplitMix64: the published generator, for delays that need no library.
#[derive(Clone, Debug)]
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which is not 0.
    fn below(&mut self, bound: u32) -> u32 {
        (self.roll() % u64::from(bound)) as u32
    }

    fn one_in(&mut self, times: u32) -> bool {
        self.below(times) == 0
    }

    /// `count` of `lanes` lanes, in order.
    fn lanes(&mut self, count: u32, lanes: u32) -> Vec<u32> {
        let mut all: Vec<_> = (0..lanes).collect();
        while all.len() > count as usize {
            let at = self.below(all.len() as u32);
            all.remove(at as usize);
        }
        all
    }
}

/// The agents of a design, driving the ports.
#[derive(Debug)]
struct Program {
    lanes: u32,
    pauses: Pauses,
    dice: Dice,
    parts: Vec<PartWrite>,
    /// Those before this one init the objects; the others wait until that is done.
    members_from: usize,
    /// Those from this one on make the copies.
    copiers_from: usize,
    agents: Vec<Agent>,
    copies: Vec<Copy>,
    objects: Vec<Account>,
    /// Objects by the number of their first word in memory.
    by_word: HashMap<usize, usize>,
    longest_pause: u32,
    cycle: u64,
    last_progress: u64,
    broken: Option<String>,
    events: Events,
}

impl Program {
    fn new(config: &Config, design: &Design) -> Self {
        let mut program = Program {
            lanes: config.num_lanes,
            pauses: design.pauses,
            dice: Dice(design.seed),
            parts: Vec::new(),
            members_from: 0,
            copiers_from: 0,
            agents: Vec::new(),
            copies: Vec::new(),
            objects: Vec::new(),
            by_word: HashMap::new(),
            longest_pause: 0,
            cycle: 0,
            last_progress: 0,
            broken: None,
            events: Events::default(),
        };
        let slots = config.num_cta_slots.min(SLOTS).min(config.num_rows);
        let rows = config.num_rows / slots;
        let size = rows * config.row_bytes();
        for slot in 0..slots as u8 {
            let base = u32::from(slot) * rows;
            program.parts.push(PartWrite { slot, enable: true, base: base as u16, size, rank: slot });
            program.agents.push(Agent::new(format!("init {slot}"), slot, slot));
        }
        program.members_from = program.agents.len();
        let mut free: Vec<Vec<u32>> = vec![(0..size / 8).map(|unit| 8 * unit).collect(); slots as usize];
        for (number, pipeline) in design.pipelines.iter().enumerate() {
            let mistake = design.mistake.filter(|_| number == 0);
            program.lay_pipeline(number as u32, pipeline, mistake, &mut free);
        }
        for object in 0..program.objects.len() {
            let Account { place, count, .. } = program.objects[object];
            let at =
                config.row_bytes() * u32::from(program.parts[usize::from(place.slot)].base) + place.offset;
            program.by_word.insert(word(config, at), object);
            program.init(place, count);
        }
        program.copiers_from = program.agents.len();
        for copier in 0..COPIERS {
            let tag = program.agents.len() as u8;
            program.agents.push(Agent::new(format!("copy {copier}"), tag, 0));
        }
        assert!(program.agents.len() <= 64, "{} agents: tags have six bits", program.agents.len());
        program
    }

    /// Has the object made by its slot's own warp: the cluster port knows no init.
    fn init(&mut self, place: Place, count: u32) {
        let part = |lane| Part { lane, place, b: Object::init(count).encode() };
        let lane = self.dice.below(self.lanes);
        // Often several by one request.
        let together = !self.dice.one_in(3);
        let steps = &mut self.agents[usize::from(place.slot)].steps;
        if together
            && let Some(Step::Access(access)) = steps.last_mut()
            && access.parts.iter().all(|part| part.lane != lane)
        {
            access.parts.push(part(lane));
        } else {
            let (op, size, reply) = (Op::MbarInit, Size::U64, Reply::Any);
            let access = Access { port: Port::Warp, op, size, red: true, parts: vec![part(lane)], reply };
            steps.push(Step::Access(access));
        }
    }

    fn lay_pipeline(
        &mut self,
        number: u32,
        pipeline: &Pipeline,
        mistake: Option<Mistake>,
        free: &mut [Vec<u32>],
    ) {
        let slots = free.len() as u32;
        let here = number % slots;
        let there = if pipeline.reach == Reach::Remote { (number + 1) % slots } else { here };
        let meets = pipeline.meets && here == there;
        let mut producers = pipeline.producers.clone();
        producers.truncate(self.lanes as usize);
        let mut stages = pipeline.stages;
        // A unit for each object and each producer's data.
        let fits = |stages: u32, producers: u32| {
            let data = stages * producers + u32::from(meets);
            let (room_here, room_there) = (free[here as usize].len(), free[there as usize].len());
            if here == there {
                (data + 2 * stages) as usize <= room_here
            } else {
                (data + stages) as usize <= room_here && stages as usize <= room_there
            }
        };
        while !fits(stages, producers.len() as u32) {
            if stages > 1 {
                stages -= 1;
            } else if producers.len() > 1 {
                producers.pop();
            } else {
                // The pipelines before it have taken all there is.
                return;
            }
        }
        let crews = [Crew::new(&producers, pipeline.visits), Crew::new(&pipeline.consumers, pipeline.visits)];
        let mut place = |dice: &mut Dice, slot: u32| {
            let units = &mut free[slot as usize];
            let at = dice.below(units.len() as u32);
            Place { slot: slot as u8, offset: units.swap_remove(at as usize) }
        };
        let mut ring =
            Ring { visits: pipeline.visits, full: vec![], empty: vec![], data: vec![], meet: None };
        for stage in 0..stages {
            let at = place(&mut self.dice, here);
            ring.full.push(self.open(format!("full[{number}.{stage}]"), at, &crews[0], self.lanes));
            let at = place(&mut self.dice, there);
            ring.empty.push(self.open(format!("empty[{number}.{stage}]"), at, &crews[1], self.lanes));
            ring.data.push(producers.iter().map(|_| place(&mut self.dice, here)).collect());
        }
        if meets {
            let everybody = crews.iter().flat_map(|crew| &crew.members);
            let once = everybody.map(|member| Member { arrives: Manner::Lanes(1), ..*member }).collect();
            let crew = Crew { members: once, visits: pipeline.visits };
            let at = place(&mut self.dice, here);
            ring.meet = Some(self.open(format!("meet[{number}]"), at, &crew, self.lanes));
        }
        for (index, member) in crews[0].members.iter().enumerate() {
            let name = format!("producer {number}.{index}");
            let agent = Agent::new(name, self.agents.len() as u8, there as u8);
            let mistake = mistake.filter(|_| index == 0);
            let steps = self.producer(&agent, index, member, &ring, mistake);
            self.agents.push(Agent { steps, ..agent });
        }
        for (index, member) in crews[1].members.iter().enumerate() {
            let name = format!("consumer {number}.{index}");
            let agent = Agent::new(name, self.agents.len() as u8, here as u8);
            let steps = self.consumer(&agent, member, &ring, &crews[0]);
            self.agents.push(Agent { steps, ..agent });
        }
    }

    /// Opens the account of an object at which `crew` arrives.
    fn open(&mut self, name: String, place: Place, crew: &Crew, lanes: u32) -> usize {
        let weight = |member: &Member| member.arrives.weight(lanes);
        let count = crew.members.iter().map(weight).sum();
        let leaves = |member: &&Member| member.leaves_after < crew.visits;
        let gone: u32 = crew.members.iter().filter(leaves).map(weight).sum();
        self.objects.push(Account {
            name,
            place,
            count,
            phases: crew.visits,
            left: count - gone,
            completed: 0,
            word: 0,
            begun_with: count,
            used: 0,
            arrived: 0,
            expected_tx: 0,
            completed_tx: 0,
        });
        self.objects.len() - 1
    }

    fn producer(
        &mut self,
        agent: &Agent,
        index: usize,
        member: &Member,
        ring: &Ring,
        mistake: Option<Mistake>,
    ) -> Vec<Step> {
        let mut steps = Vec::new();
        for visit in 0..member.leaves_after.min(ring.visits) {
            self.meet(&mut steps, agent, member, ring, visit);
            for stage in 0..ring.full.len() {
                let mistake = mistake.filter(|_| visit == 1 && stage == 0);
                let (full, data) = (ring.full[stage], ring.data[stage][index]);
                steps.push(self.pause(member));
                steps.push(self.wait(ring.empty[stage], i64::from(visit) - 1, member, Asks::Parity));
                steps.push(self.pause(member));
                let value = contents(visit, stage, index);
                match member.arrives {
                    Manner::ExpectTx(bytes) | Manner::ExpectThenArrive(bytes) => {
                        let lost = u32::from(mistake == Some(Mistake::LosesByte));
                        self.copy(&mut steps, full, data, value, bytes, lost);
                    }
                    Manner::Lanes(_) | Manner::Count(_) | Manner::NoComplete(_) => {
                        steps.push(self.store(agent, data, value));
                    }
                }
                steps.push(self.pause(member));
                let mut leaving = Leaving::of(member, visit, ring);
                if mistake == Some(Mistake::DropsAndStays) {
                    leaving = Leaving::Drops;
                }
                if mistake != Some(Mistake::ForgetsArrival) {
                    self.arrive(&mut steps, agent, full, visit, member, leaving);
                }
            }
        }
        steps
    }

    fn consumer(&mut self, agent: &Agent, member: &Member, ring: &Ring, producers: &Crew) -> Vec<Step> {
        let arrives = match member.arrives {
            // Nobody brings a consumer anything.
            Manner::ExpectTx(_) | Manner::ExpectThenArrive(_) => Manner::Count(1),
            arrives => arrives,
        };
        let member = &Member { arrives, ..*member };
        let mut steps = Vec::new();
        for visit in 0..member.leaves_after.min(ring.visits) {
            self.meet(&mut steps, agent, member, ring, visit);
            for stage in 0..ring.full.len() {
                steps.push(self.pause(member));
                steps.push(self.wait(ring.full[stage], visit.into(), member, Asks::Parity));
                // Again at the end of the turn: nobody may fill a stage that is not released.
                for _ in 0..2 {
                    steps.push(self.pause(member));
                    steps.push(self.load(ring, producers, visit, stage));
                }
                let leaving = Leaving::of(member, visit, ring);
                self.arrive(&mut steps, agent, ring.empty[stage], visit, member, leaving);
            }
        }
        steps
    }

    /// All members begin a visit together.
    fn meet(&mut self, steps: &mut Vec<Step>, agent: &Agent, member: &Member, ring: &Ring, visit: u32) {
        let Some(meet) = ring.meet else { return };
        let once = Member { arrives: Manner::Lanes(1), ..*member };
        steps.push(self.pause(member));
        self.arrive(steps, agent, meet, visit, &once, Leaving::of(member, visit, ring));
        // The state of that arrival is asked with.
        if let Some(Step::Access(access)) = steps.last_mut() {
            access.red = false;
            access.reply = Reply::States { object: meet, phase: visit.into() };
        }
        steps.push(self.wait(meet, visit.into(), member, Asks::Both));
    }

    fn pause(&mut self, member: &Member) -> Step {
        self.longest_pause = self.longest_pause.max(member.delay);
        // Mostly short, so that now and then somebody is late.
        let most = if self.dice.one_in(4) { member.delay } else { member.delay / 8 };
        Step::Pause(self.dice.below(most + 1))
    }

    fn wait(&mut self, object: usize, phase: i64, member: &Member, asks: Asks) -> Step {
        let some = 1 + self.dice.below(self.lanes);
        let mask = |lanes: Vec<u32>| lanes.iter().fold(0, |mask, lane| mask | 1 << lane);
        let lanes = match self.dice.below(3) {
            0 => mask(self.dice.lanes(1, self.lanes)),
            1 => mask(self.dice.lanes(some, self.lanes)),
            _ => u32::MAX >> (32 - self.lanes),
        };
        if let Waiting::SleepFor(limit) = member.waits
            && limit < NO_LIMIT
        {
            self.longest_pause = self.longest_pause.max(limit);
        }
        Step::Wait(Wait { object, phase, waits: member.waits, lanes, asks })
    }

    fn store(&mut self, agent: &Agent, place: Place, value: u64) -> Step {
        let port = port(agent.slot, place);
        let lane = if port == Port::Warp { self.dice.below(self.lanes) } else { 0 };
        let parts = vec![Part { lane, place, b: value }];
        // An arrival of another port may follow: a store at the cluster port is not posted.
        let red = port == Port::Warp;
        Step::Access(Access { port, op: Op::Store, size: Size::U64, red, parts, reply: Reply::Any })
    }

    /// Everything that the producers who are still there brought to a stage, each lane a producer's.
    fn load(&mut self, ring: &Ring, producers: &Crew, visit: u32, stage: usize) -> Step {
        let (mut parts, mut values) = (Vec::new(), Vec::new());
        for (index, member) in producers.members.iter().enumerate() {
            if visit < member.leaves_after {
                parts.push(Part { lane: index as u32, place: ring.data[stage][index], b: 0 });
                values.push(contents(visit, stage, index));
            }
        }
        let reply = Reply::Values(values);
        Step::Access(Access { port: Port::Warp, op: Op::Load, size: Size::U64, red: false, parts, reply })
    }

    /// Has `value` copied to `place`: whole, or word by word in either order.
    fn copy(
        &mut self,
        steps: &mut Vec<Step>,
        object: usize,
        place: Place,
        value: u64,
        bytes: u32,
        lost: u32,
    ) {
        let whole = (place, Size::U64, value);
        let high = (Place { offset: place.offset + 4, ..place }, Size::U32, value >> 32);
        let low = (place, Size::U32, value & u64::from(u32::MAX));
        let of = |stores: Vec<_>, bytes| Step::Copy(Copy { object, stores, bytes });
        let half = bytes / 2;
        match self.dice.below(4) {
            0 => steps.push(of(vec![high, low], bytes - lost)),
            1 => steps.extend([of(vec![low], half), of(vec![high], bytes - half - lost)]),
            2 => steps.extend([of(vec![high], half), of(vec![low], bytes - half - lost)]),
            _ => steps.push(of(vec![whole], bytes - lost)),
        }
    }

    /// Arrives for one phase of `object` in the manner of `member`.
    fn arrive(
        &mut self,
        steps: &mut Vec<Step>,
        agent: &Agent,
        object: usize,
        visit: u32,
        member: &Member,
        leaving: Leaving,
    ) {
        let place = self.objects[object].place;
        let port = port(agent.slot, place);
        let drops = leaving == Leaving::Drops;
        let pick = |stays, goes| if drops { goes } else { stays };
        let once = pick(Op::MbarArrive, Op::MbarArriveDrop);
        let counted = pick(Op::MbarArriveCount, Op::MbarArriveDropCount);
        let requests: Vec<(Op, u32, u32)> = match member.arrives {
            Manner::Lanes(lanes) if port == Port::Cluster => {
                vec![(once, 0, 1); lanes.min(self.lanes) as usize]
            }
            Manner::Lanes(lanes) => vec![(once, 0, lanes.min(self.lanes))],
            Manner::Count(count) => vec![(counted, count, 1)],
            Manner::ExpectTx(bytes) => {
                vec![(pick(Op::MbarArriveExpectTx, Op::MbarArriveDropExpectTx), bytes, 1)]
            }
            Manner::ExpectThenArrive(bytes) => vec![(Op::MbarExpectTx, bytes, 1), (once, 0, 1)],
            Manner::NoComplete(count) if port == Port::Cluster => vec![(counted, count, 1), (once, 0, 1)],
            Manner::NoComplete(count) => {
                let no_complete = pick(Op::MbarArriveNoComplete, Op::MbarArriveDropNoComplete);
                vec![(no_complete, count, 1), (once, 0, 1)]
            }
        };
        let phase = visit.into();
        for (op, b, lanes) in requests {
            let lanes = if port == Port::Warp { self.dice.lanes(lanes, self.lanes) } else { vec![0] };
            let parts = lanes.into_iter().map(|lane| Part { lane, place, b: b.into() }).collect();
            let silent = op == Op::MbarExpectTx;
            let red = port == Port::Cluster || silent || self.dice.one_in(3);
            let reply = if red { Reply::Any } else { Reply::States { object, phase } };
            steps.push(Step::Access(Access { port, op, size: Size::U64, red, parts, reply }));
        }
    }

    /// An agent that could put a request on `port`, drawn from all that could.
    fn next(&mut self, port: Port) -> Option<usize> {
        let setting_up = self.agents[..self.members_from].iter().any(|agent| !agent.finished());
        let able = if setting_up { 0..self.members_from } else { self.members_from..self.agents.len() };
        let cycle = self.cycle;
        let able: Vec<_> = able
            .filter(|&index| {
                let agent = &self.agents[index];
                !agent.asked && agent.until <= cycle && agent.port() == Some(port)
            })
            .collect();
        if able.is_empty() { None } else { Some(able[self.dice.below(able.len() as u32) as usize]) }
    }

    /// Takes every agent to its next request, or to its next rest.
    fn advance(&mut self) {
        for index in 0..self.agents.len() {
            let agent = &mut self.agents[index];
            if agent.asked || agent.until > self.cycle {
                continue;
            }
            if agent.finished() && index >= self.copiers_from && !self.copies.is_empty() {
                let copy = self.copies.swap_remove(self.dice.below(self.copies.len() as u32) as usize);
                agent.steps = copy_steps(&copy, self.objects[copy.object].place, &mut self.dice);
                agent.at = 0;
            }
            while let Some(step) = agent.steps.get(agent.at) {
                match step {
                    Step::Pause(cycles) => agent.until = self.cycle + u64::from(*cycles),
                    Step::Copy(copy) => self.copies.push(copy.clone()),
                    Step::Access(_) | Step::Wait(_) => break,
                }
                agent.at += 1;
                self.last_progress = self.cycle;
                if agent.until > self.cycle {
                    break;
                }
            }
        }
    }

    fn offer_warp(&mut self, index: usize, i: &mut In) {
        let agent = &mut self.agents[index];
        agent.asked = true;
        let mut request =
            WarpRequest { tag: agent.tag, slot: agent.slot, size: Size::U64 as u8, ..WarpRequest::default() };
        request.lanes = vec![Lane::default(); self.lanes as usize];
        match &agent.steps[agent.at] {
            Step::Access(access) => {
                request.op = access.op as u8;
                request.size = access.size as u8;
                request.red = access.red;
                for part in &access.parts {
                    request.mask |= 1 << part.lane;
                    request.lanes[part.lane as usize] =
                        Lane { ra: part.place.address(), b: part.b.into(), c: 0 };
                }
            }
            Step::Wait(wait) => {
                let limit = match wait.waits {
                    Waiting::Poll | Waiting::Sleep => 0,
                    Waiting::SleepFor(limit) => limit,
                };
                let op = if wait.waits == Waiting::Poll { Op::MbarTestWait } else { Op::MbarTryWait };
                request.op = op as u8;
                request.mask = wait.lanes;
                let parity = u32::from(wait.phase & 1 != 0) << 31;
                let ra = self.objects[wait.object].place.address();
                for (lane, operands) in request.lanes.iter_mut().enumerate() {
                    let by_state = wait.asks == Asks::Both && lane % 2 == 0;
                    let b = if by_state { agent.state } else { parity };
                    *operands = Lane { ra, b: b.into(), c: limit.into() };
                }
            }
            Step::Pause(_) | Step::Copy(_) => unreachable!("no request"),
        }
        request.drive(i);
    }

    fn offer_cluster(&mut self, index: usize, i: &mut In) {
        let agent = &mut self.agents[index];
        agent.asked = true;
        let Step::Access(access) = &agent.steps[agent.at] else { unreachable!("no request for the cluster") };
        let part = access.parts[0];
        ClusterRequest {
            op: access.op as u8,
            size: access.size as u8,
            red: access.red,
            tag: agent.tag,
            slot: part.place.slot,
            addr: part.place.offset,
            b: part.b.into(),
            c: 0,
        }
        .drive(i);
    }

    /// The request of the agent was answered; `pred` and `rd` as on the port, and whether by a wake-up.
    fn answered(&mut self, tag: u8, pred: u32, rd: &[u128], by: Answer) -> Result<(), String> {
        let agent = &mut self.agents[usize::from(tag)];
        if !agent.asked {
            return Err(format!("{} is answered without a request", agent.name));
        }
        agent.asked = false;
        let who = agent.name.clone();
        match &agent.steps[agent.at] {
            Step::Wait(wait) => {
                let wait = *wait;
                let object = &self.objects[wait.object];
                let what = || format!("{who}, phase {} of {}", wait.phase, object.name);
                if pred != 0 && pred != wait.lanes {
                    let lanes = wait.lanes;
                    return Err(format!("{}: of lanes {lanes:#x} only {pred:#x} pass", what()));
                }
                self.events.both_forms += u64::from(wait.asks == Asks::Both);
                if pred != 0 {
                    if i64::from(object.completed) != wait.phase + 1 {
                        return Err(format!("{} passes with {} complete", what(), object.completed));
                    }
                    self.events.passed += 1;
                    self.events.woken += u64::from(by == Answer::WakeUp);
                    agent.at += 1;
                    self.last_progress = self.cycle;
                } else {
                    if agent.complete_when_taken {
                        return Err(format!("{} does not pass, although it was complete before", what()));
                    }
                    if by == Answer::WakeUp {
                        self.events.timed_out += 1;
                    } else {
                        self.events.turned_away += 1;
                    }
                    agent.until = self.cycle + u64::from(self.dice.below(16));
                }
            }
            Step::Access(access) => {
                match &access.reply {
                    Reply::Any => {}
                    Reply::Values(values) => {
                        for (part, value) in access.parts.iter().zip(values) {
                            let found = rd[part.lane as usize] as u64;
                            if found != *value {
                                let at = part.place.address();
                                return Err(format!("{who} finds {found:#x} at {at:#010x}, not {value:#x}"));
                            }
                        }
                        self.events.loads += 1;
                    }
                    Reply::States { object, phase } => {
                        for part in &access.parts {
                            let state = (rd[part.lane as usize] >> 32) as u32;
                            if i64::from(state >> 31) != phase & 1 {
                                let object = &self.objects[*object].name;
                                return Err(format!(
                                    "{who} arrives in phase {phase} of {object} and is given state {state:#010x}"
                                ));
                            }
                            agent.state = state;
                        }
                        self.events.states += 1;
                    }
                }
                book(access, &mut self.objects, &mut self.events);
                agent.at += 1;
                self.last_progress = self.cycle;
            }
            Step::Pause(_) | Step::Copy(_) => unreachable!("{who} has no request"),
        }
        Ok(())
    }

    /// Sees what the cycle just run did to the objects.
    fn watch_objects<M: Machine + Sides>(&mut self, config: &Config, session: &Session<M>) {
        let probe = session.machine().probe();
        // Both words of an object are written together: the even banks tell.
        let mut written = probe.wr_en & 0x5555_5555_5555_5555;
        while written != 0 {
            let bank = written.trailing_zeros();
            written &= written - 1;
            let at = (u32::from(probe.wr_row[bank as usize]) * config.num_banks + bank) as usize;
            let Some(&object) = self.by_word.get(&at) else { continue };
            let object = &mut self.objects[object];
            let half = |at| u64::from(session.machine().word(at));
            object.word = half(at) | half(at + 1) << 32;
            let found = Object::decode(object.word);
            self.events.ahead += u64::from(found.tx < 0);
            if probe.completed >> bank & 1 != 0 {
                object.completed += 1;
                object.used += u64::from(object.begun_with);
                object.begun_with = found.pending;
            }
            if u32::from(found.phase) != object.completed & 1 && self.broken.is_none() {
                let Account { name, completed, .. } = object;
                self.broken = Some(format!("{name} after {completed} phases: {found}"));
            }
        }
    }

    /// Every object has come to what it was brought, and to what the design says.
    fn settle_accounts(&self) -> Result<(), String> {
        for object in &self.objects {
            let found = Object::decode(object.word);
            let begun = i64::from(object.begun_with) - i64::from(found.pending);
            let tx = object.expected_tx as i64 - object.completed_tx as i64;
            let conserved = object.used as i64 + begun == object.arrived as i64 && i64::from(found.tx) == tx;
            let right = Object { phase: object.phases & 1 != 0, ..Object::init(object.left) };
            if !conserved || object.completed != object.phases || found != right {
                return Err(format!("{object:?} at the end is {found}, and should be {right}"));
            }
        }
        Ok(())
    }

    fn standstill(&self) -> Standstill {
        let unfinished = self.agents.iter().filter(|agent| !agent.finished());
        let awaits = |agent: &Agent| match &agent.steps[agent.at] {
            Step::Wait(wait) => {
                let object = &self.objects[wait.object];
                Awaited::Phase {
                    object: object.name.clone(),
                    address: object.place.address(),
                    phase: wait.phase,
                    completed: object.completed,
                    found: Object::decode(object.word),
                }
            }
            Step::Access(access) => Awaited::Answer(access.op),
            Step::Pause(_) | Step::Copy(_) => unreachable!("taken at once"),
        };
        let stuck = |agent: &Agent| Stuck {
            who: agent.name.clone(),
            tag: agent.tag,
            slot: agent.slot,
            awaits: awaits(agent),
        };
        Standstill {
            cycle: self.cycle,
            quiet_for: self.cycle - self.last_progress,
            stuck: unfinished.map(stuck).collect(),
        }
    }
}

impl Stimulus for Program {
    fn drive(&mut self, i: &mut In) {
        let open = |pattern: u64| pattern >> (self.cycle % 64) & 1 == 0 || self.cycle % 64 == 63;
        let (warp, cluster) = (open(self.pauses.warp), open(self.pauses.cluster));
        i.rst_n = 1;
        i.rsp_ready = u8::from(open(self.pauses.response));
        i.cl_rsp_ready = u8::from(open(self.pauses.cluster_response));
        i.wake_ready = u8::from(open(self.pauses.wake));
        if i.cta_valid == 0 {
            match self.parts.pop() {
                Some(part) => part.drive(i),
                None => {
                    self.advance();
                    if i.req_valid == 0
                        && warp
                        && let Some(index) = self.next(Port::Warp)
                    {
                        self.offer_warp(index, i);
                    }
                    if i.cl_valid == 0
                        && cluster
                        && let Some(index) = self.next(Port::Cluster)
                    {
                        self.offer_cluster(index, i);
                    }
                }
            }
        }
        self.cycle += 1;
    }

    fn observe(&mut self, i: &In, out: &Out) {
        let mut laws = Vec::new();
        if out.rsp_valid & i.rsp_ready == 1 {
            if out.rsp_fault != 0 {
                laws.push(Err(format!("tag {} is answered with fault {}", out.rsp_tag, out.rsp_fault)));
            }
            laws.push(self.answered(out.rsp_tag, out.rsp_pred, &out.rsp_rd, Answer::Response));
        }
        if out.wake_valid & i.wake_ready == 1 {
            laws.push(self.answered(out.wake_tag, out.wake_pred, &out.rsp_rd, Answer::WakeUp));
        }
        if out.cl_rsp_valid & i.cl_rsp_ready == 1 {
            if out.cl_rsp_fault != 0 {
                let (tag, fault) = (out.cl_rsp_tag, out.cl_rsp_fault);
                laws.push(Err(format!("cluster tag {tag} is answered with fault {fault}")));
            }
            laws.push(self.answered(out.cl_rsp_tag, 0, &[out.cl_rsp_rd], Answer::Response));
        }
        // A posted request has no response: its agent goes on when it is taken.
        if i.cl_valid & out.cl_ready & i.cl_red == 1 {
            laws.push(self.answered(i.cl_tag, 0, &[0], Answer::Response));
        }
        if i.req_valid & out.req_ready == 1 {
            let agent = &mut self.agents[usize::from(i.req_tag)];
            if let Step::Wait(wait) = &agent.steps[agent.at] {
                agent.complete_when_taken = i64::from(self.objects[wait.object].completed) > wait.phase;
            }
        }
        self.broken = laws.into_iter().find_map(Result::err);
    }

    fn finished(&self) -> bool {
        self.parts.is_empty() && self.copies.is_empty() && self.agents.iter().all(Agent::finished)
    }
}

/// What an answer came as.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    Response,
    WakeUp,
}

/// Where the objects and data of a pipeline are.
struct Ring {
    visits: u32,
    full: Vec<usize>,
    empty: Vec<usize>,
    /// By stage and producer.
    data: Vec<Vec<Place>>,
    meet: Option<usize>,
}

/// Those who arrive at an object.
struct Crew {
    members: Vec<Member>,
    visits: u32,
}

impl Crew {
    /// The first stays to the end: with nobody left, nothing is expected and no phase begins.
    fn new(members: &[Member], visits: u32) -> Self {
        let stay = |(index, member): (usize, &Member)| {
            let leaves_after = if index == 0 { visits } else { member.leaves_after.max(1) };
            Member { leaves_after, ..*member }
        };
        Crew { members: members.iter().enumerate().map(stay).collect(), visits }
    }
}

impl Manner {
    /// Arrivals in a phase.
    fn weight(self, lanes: u32) -> u32 {
        match self {
            Manner::Lanes(count) => count.min(lanes),
            Manner::Count(count) => count,
            Manner::ExpectTx(_) | Manner::ExpectThenArrive(_) => 1,
            Manner::NoComplete(count) => count + 1,
        }
    }
}

/// Whether a turn is a member's last at an object.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Leaving {
    Stays,
    Drops,
}

impl Leaving {
    fn of(member: &Member, visit: u32, ring: &Ring) -> Self {
        let last = visit + 1 == member.leaves_after && visit + 1 < ring.visits;
        if last { Leaving::Drops } else { Leaving::Stays }
    }
}

/// The port from a CTA to a place.
fn port(slot: u8, place: Place) -> Port {
    if slot == place.slot { Port::Warp } else { Port::Cluster }
}

/// What a producer puts into a stage: never the same twice, in either word.
fn contents(visit: u32, stage: usize, producer: usize) -> u64 {
    let word = (visit + 1) << 12 | (stage as u32) << 8 | producer as u32;
    u64::from(word) << 32 | u64::from(!word)
}

/// Stores, then completes the transactions, with pauses between.
fn copy_steps(copy: &Copy, object: Place, dice: &mut Dice) -> Vec<Step> {
    let access = |op, place, size, b| {
        let parts = vec![Part { lane: 0, place, b }];
        Step::Access(Access { port: Port::Cluster, op, size, red: true, parts, reply: Reply::Any })
    };
    let mut steps = vec![Step::Pause(dice.below(64))];
    for (place, size, value) in &copy.stores {
        steps.push(access(Op::Store, *place, *size, *value));
    }
    steps.push(Step::Pause(dice.below(64)));
    steps.push(access(Op::MbarCompleteTx, object, Size::U64, copy.bytes.into()));
    steps
}

/// Enters in the accounts what a request brought.
fn book(access: &Access, objects: &mut [Account], events: &mut Events) {
    for part in &access.parts {
        let Some(object) = objects.iter_mut().find(|object| object.place == part.place) else { continue };
        let (arrived, expected, completed) = match access.op {
            Op::MbarArrive | Op::MbarArriveDrop => (1, 0, 0),
            Op::MbarArriveCount
            | Op::MbarArriveDropCount
            | Op::MbarArriveNoComplete
            | Op::MbarArriveDropNoComplete => (part.b, 0, 0),
            Op::MbarArriveExpectTx | Op::MbarArriveDropExpectTx => (1, part.b, 0),
            Op::MbarExpectTx => (0, part.b, 0),
            Op::MbarCompleteTx => (0, 0, part.b),
            _ => continue,
        };
        object.arrived += arrived;
        object.expected_tx += expected;
        object.completed_tx += completed;
        let is = |what: bool| u64::from(what);
        events.remote += is(access.port == Port::Cluster && arrived > 0);
        events.drops += is(access.op.name().starts_with(Op::MbarArriveDrop.name()));
        events.no_complete += is(access.op.name().ends_with("NO_COMPLETE"));
    }
}
