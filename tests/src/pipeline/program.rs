//! Builds the program of a design: agents, their steps, and the places of objects and data.

use atoms_model::Config;
use atoms_model::mbarrier::MbarObject;
use atoms_ops::{Op, Size};
use atoms_stimulus::request::AllocationWrite;

use super::account::{Account, ObjectAccount};
use super::agent::{Access, Agent, Asks, Copy, LaneAccess, Reply, Step, Wait};
use super::design::{Design, Manner, Member, Mistake, NO_LIMIT, PipelineDesign, ProducerReach, Waiting};
use super::dice::Dice;
use super::place::{Place, Port};
use crate::bench::word;

const SLOTS: u32 = 3;

const COPIERS: u8 = 3;

#[derive(Debug)]
pub(super) struct Program {
    pub(super) lanes: u32,
    pub(super) dice: Dice,
    pub(super) allocations: Vec<AllocationWrite>,
    /// Index of the first member. The agents before it init the objects, and all others wait for them.
    pub(super) members_from: usize,
    pub(super) copiers_from: usize,
    pub(super) agents: Vec<Agent>,
    pub(super) account: Account,
    pub(super) longest_pause: u32,
}

impl Program {
    pub(super) fn new(config: &Config, design: &Design) -> Self {
        let mut program = Program {
            lanes: config.num_lanes,
            dice: Dice(design.seed),
            allocations: Vec::new(),
            members_from: 0,
            copiers_from: 0,
            agents: Vec::new(),
            account: Account::default(),
            longest_pause: 0,
        };
        let slots = config.num_cta_slots.min(SLOTS).min(config.num_rows);
        let rows = config.num_rows / slots;
        let size = rows * config.row_bytes();
        for slot in 0..slots as u8 {
            let base = u32::from(slot) * rows;
            program.allocations.push(AllocationWrite {
                slot,
                enable: true,
                base: base as u16,
                size,
                rank: slot,
            });
            program.agents.push(Agent::new(format!("init {slot}"), slot, slot));
        }
        program.members_from = program.agents.len();
        let mut free: Vec<Vec<u32>> = vec![(0..size / 8).map(|unit| 8 * unit).collect(); slots as usize];
        for (number, pipeline) in design.pipelines.iter().enumerate() {
            let mistake = design.mistake.filter(|_| number == 0);
            program.lay_pipeline(number as u32, pipeline, mistake, &mut free);
        }
        for object in 0..program.account.objects.len() {
            let ObjectAccount { place, count, .. } = program.account.objects[object];
            let base = u32::from(program.allocations[usize::from(place.slot)].base);
            program.account.place_at(object, word(config, config.row_bytes() * base + place.offset));
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

    /// Lets a warp of the object's slot init the object, because the cluster port has no init.
    fn init(&mut self, place: Place, count: u32) {
        let access_of = |lane| LaneAccess { lane, place, b: MbarObject::init(count).encode() };
        let lane = self.dice.below(self.lanes);
        // Often combines several inits in one request.
        let together = !self.dice.one_in(3);
        let steps = &mut self.agents[usize::from(place.slot)].steps;
        if together
            && let Some(Step::Access(access)) = steps.last_mut()
            && access.lanes.iter().all(|access| access.lane != lane)
        {
            access.lanes.push(access_of(lane));
        } else {
            let (op, size, reply) = (Op::MbarInit, Size::U64, Reply::Any);
            let access =
                Access { port: Port::Warp, op, size, red: true, lanes: vec![access_of(lane)], reply };
            steps.push(Step::Access(access));
        }
    }

    fn lay_pipeline(
        &mut self,
        number: u32,
        pipeline: &PipelineDesign,
        mistake: Option<Mistake>,
        free: &mut [Vec<u32>],
    ) {
        let slots = free.len() as u32;
        let here = number % slots;
        let there = if pipeline.reach == ProducerReach::Remote { (number + 1) % slots } else { here };
        let meets = pipeline.meets && here == there;
        let mut producers = pipeline.producers.clone();
        producers.truncate(self.lanes as usize);
        let mut stages = pipeline.stages;
        // Each object and the data of each producer need one 8-byte unit.
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
                // Earlier pipelines use all memory.
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
            let members = crews.iter().flat_map(|crew| &crew.members);
            let once = members.map(|member| Member { arrives: Manner::Lanes(1), ..*member }).collect();
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

    fn open(&mut self, name: String, place: Place, crew: &Crew, lanes: u32) -> usize {
        let weight = |member: &Member| member.arrives.weight(lanes);
        let count = crew.members.iter().map(weight).sum();
        let leaves = |member: &&Member| member.leaves_after < crew.visits;
        let gone: u32 = crew.members.iter().filter(leaves).map(weight).sum();
        self.account.open(name, place, count, crew.visits, count - gone)
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
            // A consumer has no copy, so it expects no bytes.
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
                // The second load, at the end of the turn, detects a producer that fills a stage too early.
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

    fn meet(&mut self, steps: &mut Vec<Step>, agent: &Agent, member: &Member, ring: &Ring, visit: u32) {
        let Some(meet) = ring.meet else { return };
        let once = Member { arrives: Manner::Lanes(1), ..*member };
        steps.push(self.pause(member));
        self.arrive(steps, agent, meet, visit, &once, Leaving::of(member, visit, ring));
        // The wait uses the state that this arrival returns.
        if let Some(Step::Access(access)) = steps.last_mut() {
            access.red = false;
            access.reply = Reply::States { object: meet, phase: visit.into() };
        }
        steps.push(self.wait(meet, visit.into(), member, Asks::Both));
    }

    fn pause(&mut self, member: &Member) -> Step {
        self.longest_pause = self.longest_pause.max(member.delay);
        // Three of four pauses are short. The others make an agent late occasionally.
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
        if let Waiting::SuspendFor(limit) = member.waits
            && limit < NO_LIMIT
        {
            self.longest_pause = self.longest_pause.max(limit);
        }
        Step::Wait(Wait { object, phase, waits: member.waits, lanes, asks })
    }

    fn store(&mut self, agent: &Agent, place: Place, value: u64) -> Step {
        let port = Port::from(agent.slot, place);
        let lane = if port == Port::Warp { self.dice.below(self.lanes) } else { 0 };
        let lanes = vec![LaneAccess { lane, place, b: value }];
        // A store at the cluster port is not posted because an arrival through another port may follow.
        let red = port == Port::Warp;
        Step::Access(Access { port, op: Op::Store, size: Size::U64, red, lanes, reply: Reply::Any })
    }

    /// Loads the data of all remaining producers of a stage, one lane per producer.
    fn load(&mut self, ring: &Ring, producers: &Crew, visit: u32, stage: usize) -> Step {
        let (mut lanes, mut values) = (Vec::new(), Vec::new());
        for (index, member) in producers.members.iter().enumerate() {
            if visit < member.leaves_after {
                lanes.push(LaneAccess { lane: index as u32, place: ring.data[stage][index], b: 0 });
                values.push(contents(visit, stage, index));
            }
        }
        let reply = Reply::Values(values);
        Step::Access(Access { port: Port::Warp, op: Op::Load, size: Size::U64, red: false, lanes, reply })
    }

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

    fn arrive(
        &mut self,
        steps: &mut Vec<Step>,
        agent: &Agent,
        object: usize,
        visit: u32,
        member: &Member,
        leaving: Leaving,
    ) {
        let place = self.account.objects[object].place;
        let port = Port::from(agent.slot, place);
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
            let lanes = lanes.into_iter().map(|lane| LaneAccess { lane, place, b: b.into() }).collect();
            let silent = op == Op::MbarExpectTx;
            let red = port == Port::Cluster || silent || self.dice.one_in(3);
            let reply = if red { Reply::Any } else { Reply::States { object, phase } };
            steps.push(Step::Access(Access { port, op, size: Size::U64, red, lanes, reply }));
        }
    }
}

struct Ring {
    visits: u32,
    full: Vec<usize>,
    empty: Vec<usize>,
    /// Indexed by stage, then producer.
    data: Vec<Vec<Place>>,
    meet: Option<usize>,
}

struct Crew {
    members: Vec<Member>,
    visits: u32,
}

impl Crew {
    /// Keeps the first member to the end. Without members, an object would expect no arrivals.
    fn new(members: &[Member], visits: u32) -> Self {
        let stay = |(index, member): (usize, &Member)| {
            let leaves_after = if index == 0 { visits } else { member.leaves_after.max(1) };
            Member { leaves_after, ..*member }
        };
        Crew { members: members.iter().enumerate().map(stay).collect(), visits }
    }
}

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

/// Returns the data of a producer for a stage. Neither word occurs twice.
fn contents(visit: u32, stage: usize, producer: usize) -> u64 {
    let word = (visit + 1) << 12 | (stage as u32) << 8 | producer as u32;
    u64::from(word) << 32 | u64::from(!word)
}
