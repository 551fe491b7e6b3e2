//! Finds out which bins a run hits, from ports and probe alone.
//!
//! A little bookkeeping goes with it: requests in flight, the passes in the pipeline, what memory holds
//! (from the words that the probe shows written, [`shadow`]), and who sleeps ([`waits`]). Addresses are
//! formed here once more, from the specification: a unit that puts a lane on the wrong bank must not
//! thereby count as having been tried on the right one.

mod answer;
mod flight;
mod hits;
mod moment;
mod object;
mod ports;
mod request;
mod shadow;
mod step;
mod tags;
mod waits;

use std::collections::VecDeque;
use std::fmt;

use atoms_cosim::monitor::Cycle;
use atoms_cosim::session::Listener;
use atoms_model::Config;
use atoms_model::port::{In, Out, Probe};

use super::groups::kernels::{Counter, Favour, Favoured};
use super::groups::objects::{CompletingOp, Completions};
use super::groups::pipeline::{
    Before, Behind, Contest, Cycles, Hazard, Held, Neighbours, Ports as PortPair, Relation, Stall, StallFill,
    Stalled, Turns, Writer,
};
use super::groups::ports::{ClusterResponses, Inside, Passing, ResetInside, Room};
use super::groups::requests::{Policy, Rotation, Standing, Turn, Winner, merges};
use super::groups::values::{Few, Kind, Lane, Port, Width};
use super::groups::waits::LimitOf;
use super::map::Map;
use answer::Answered;
use atoms_model::config::WinnerPolicy;
use atoms_model::spin::SpinTurns;
use atoms_ops::Op;
use flight::{Flight, Flights, Pass, bits, kind_of, more_banks};
use hits::Hits;
use moment::{CAME, CL_RSP, CL_RSP_HELD, LEVEL, Moment, RSP, WAKE};
use ports::{Ports, Table};
use shadow::{FIRST_STEP, Marks, STEPS, Shadow};
use step::Step;
use tags::Tags;
use waits::{Sleeper, Waits};

/// Steps by which a reset ages memory: a multiple of [`RING`], which is addressed by steps.
const STEPS_OF_RESET: u32 = 4 * RING as u32;

/// Passes remembered: more than the longest pipeline holds.
const RING: usize = 16;

/// Cycles looked at together, at most, and requests taken in them.
const BATCH: usize = 16;
const REQUESTS: u32 = 4;

/// Counts the bins that a run hits.
pub struct Sampler {
    config: Config,
    hits: Hits,
    shadow: Shadow,
    table: Table,
    ports: Ports,
    waits: Waits,
    /// What CAST.SPIN favours, by the requests that were at issue.
    spin: SpinTurns,
    flights: [Flights; 2],
    /// Cluster requests carried out and owed a response.
    owed: VecDeque<answer::Owed>,
    ring: [Pass; RING],
    answered: Answered,
    /// Steps of the pipeline, and clock cycles.
    step: u32,
    cycle: u64,
    at_issue: Option<(Port, u64)>,
    /// The request at issue leaves it at the coming clock edge, or there is none.
    changes: bool,
    waiting: [bool; 2],
    last_port: Option<Port>,
    /// Step of the last pass of the request before, if it worked on banks.
    last_pass: Option<u32>,
    held: u32,
    stalled: u64,
    stall: Option<Stalled>,
    tags: Tags,
    /// Cycles not yet looked at: the first few of these, and the requests taken in them.
    moments: Box<[Moment]>,
    kept: usize,
    requests: u32,
}

impl fmt::Debug for Sampler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sampler")
            .field("config", &self.config)
            .field("cycle", &self.cycle)
            .finish_non_exhaustive()
    }
}

impl Sampler {
    /// For a machine of this configuration, after reset and with a memory of zeros.
    pub fn new(config: &Config) -> Self {
        // At the port, at issue, in the pipeline, and answered but not yet taken.
        // And those taken in cycles not yet looked at.
        let inside = |queue: u32| Flights::new(queue + config.rmw_latency + 4 + REQUESTS + 1);
        Sampler {
            config: *config,
            hits: Hits::new(),
            shadow: Shadow::new(config),
            table: Table::default(),
            ports: Ports::new(),
            waits: Waits::new(),
            spin: SpinTurns::RESET,
            flights: [inside(config.queue_depth), inside(2)],
            owed: VecDeque::new(),
            ring: [Pass::NONE; RING],
            answered: Answered::default(),
            step: FIRST_STEP,
            cycle: 0,
            at_issue: None,
            changes: true,
            waiting: [false; 2],
            last_port: None,
            last_pass: None,
            held: 0,
            stalled: 0,
            stall: None,
            tags: Tags::NONE,
            moments: vec![Moment::NONE; BATCH].into(),
            kept: 0,
            requests: 0,
        }
    }

    /// What was hit since the last call.
    pub fn take(&mut self) -> Map {
        self.catch_up();
        self.ports.tell(&mut self.hits);
        self.hits.take()
    }

    /// The machine starts over, with a memory of zeros. What was hit stays counted.
    pub fn restart(&mut self) {
        self.catch_up();
        self.shadow.clear();
        self.step = FIRST_STEP;
        self.reset();
    }

    /// What a cycle of reset finds inside.
    fn found_inside(&mut self, i: &In, out: &Out, probe: &Probe) {
        let last = probe.pipe_valid >> self.config.rmw_latency & 1 != 0;
        let found = [
            (probe.queue_count | probe.cl_count != 0, Inside::Queued),
            (probe.issue_valid == 1, Inside::Issue),
            (probe.pipe_valid != 0, Inside::Pipeline),
            (last && probe.wr_en != 0, Inside::Writes),
            (probe.wait_asleep | probe.wait_ready != 0, Inside::Waiters),
            ((out.rsp_valid & !i.rsp_ready | out.cl_rsp_valid & !i.cl_rsp_ready) & 1 != 0, Inside::Answer),
            (out.wake_valid & !i.wake_ready & 1 != 0, Inside::WakeUp),
        ];
        let mut nothing = true;
        for (_, inside) in found.into_iter().filter(|(is, _)| *is) {
            nothing = false;
            self.hits.hit(ResetInside, (inside,));
        }
        if nothing {
            self.hits.hit(ResetInside, (Inside::Nothing,));
        }
    }

    /// The machine is reset: memory stays, and what was written before counts as written long ago.
    fn reset(&mut self) {
        self.step += STEPS_OF_RESET;
        if self.step >= STEPS {
            self.shadow.forget();
            self.step = FIRST_STEP;
        }
        self.table.clear();
        self.ports.clear();
        self.waits = Waits::new();
        self.spin = SpinTurns::RESET;
        self.flights.iter_mut().for_each(Flights::clear);
        self.ring.iter_mut().for_each(|pass| pass.valid = false);
        self.owed.clear();
        self.answered = Answered::default();
        self.at_issue = None;
        self.changes = true;
        self.waiting = [false; 2];
        self.last_port = None;
        self.last_pass = None;
        self.held = 0;
        self.stalled = 0;
        self.stall = None;
        self.tags = Tags::NONE;
    }

    /// Looks at the cycles kept.
    fn catch_up(&mut self) {
        let moments = std::mem::take(&mut self.moments);
        for moment in moments.iter().take(self.kept) {
            self.see(moment);
        }
        self.moments = moments;
        (self.kept, self.requests) = (0, 0);
    }

    #[inline(always)] // once
    fn see(&mut self, m: &Moment) {
        self.cycle += 1;
        self.ports.cycle(&mut self.hits, m);
        if self.answered.any {
            self.answered.see(&self.config, &mut self.hits, &self.flights[Port::Warp as usize], m);
        }
        if !self.waits.quiet(m)
            && let Some(slot) = self.waits.settle(&self.config, &mut self.hits, m)
        {
            self.table.wake(slot);
        }
        self.table.cycle(&self.config, &mut self.hits, m);
        if m.issue_valid == 1 && self.changes {
            self.comes_to_issue(m);
        }
        if m.stall == 1 {
            self.stalls(m);
        } else {
            self.moves(m);
        }
        self.changes = m.issue_valid == 0 || m.pass_fire & m.pass_last == 1;
        self.waiting = m.queues.map(|queue| queue & LEVEL != 0);
        self.hand_over(m);
    }

    /// Requests that are taken, and answers that are.
    #[inline(always)]
    fn hand_over(&mut self, m: &Moment) {
        if m.answers & RSP == RSP {
            self.tags.leave(Port::Warp, m.rsp_tag);
        }
        if m.answers & WAKE == WAKE {
            self.tags.leave(Port::Warp, m.wake_tag);
        }
        if m.answers & CL_RSP == CL_RSP {
            self.tags.leave(Port::Cluster, m.cl_rsp_tag);
            if let Some(owed) = self.owed.pop_front() {
                answer::cluster(&mut self.hits, owed, m);
            }
        }
        if m.queues[0] & CAME != 0 {
            self.table.enter(m.req_slot);
            self.tags.enter(&mut self.hits, Port::Warp, m.req_tag);
        }
        if m.queues[1] & CAME != 0 {
            self.table.enter(m.cl_slot);
            self.tags.enter(&mut self.hits, Port::Cluster, m.cl_tag);
        }
    }

    /// A request is at issue that was not there before.
    #[inline(never)] // a cycle in ten: out of the way of the others
    fn comes_to_issue(&mut self, m: &Moment) {
        let port = if m.issue_cluster == 1 { Port::Cluster } else { Port::Warp };
        if let Some(last) = self.last_port {
            let other = self.waiting[1 - port as usize];
            let before = if last == Port::Warp { Before::Warp } else { Before::Cluster };
            let contest = if other { Contest::Both } else { Contest::Alone };
            self.hits.hit(Turns, (before, port, contest));
        }
        self.last_port = Some(port);
        let flights = &mut self.flights[port as usize];
        let number = flights.issued;
        flights.issued += 1;
        self.at_issue = Some((port, number));
        let flight = flights.get_mut(number);
        let part = self.table.part(flight.slot);
        let faulty = m.issue_pending == 0 && flight.mask != 0;
        request::at_issue(&self.config, &mut self.hits, flight, part, faulty);
    }

    /// The pipeline stands still.
    #[inline(never)] // a cycle in ten: out of the way of the others
    fn stalls(&mut self, m: &Moment) {
        self.stalled += 1;
        if self.stall.is_some() {
            return;
        }
        let pass = self.last_stage();
        let held = if pass.banks == 0 {
            Stalled::Nothing
        } else {
            kind_of(self.flights[pass.port as usize].get(pass.number)).map_or(Stalled::Nothing, Stalled::new)
        };
        self.stall = Some(held);
        let stages = (1u16 << self.config.rmw_latency) - 1;
        let others = m.pipe_valid & stages;
        let behind = match (others, m.issue_valid) {
            (0, 0) => Behind::Empty,
            (all, 1) if all == stages => Behind::Full,
            _ => Behind::Some,
        };
        self.hits.hit(StallFill, (behind,));
    }

    fn last_stage_at(&self) -> usize {
        self.step.wrapping_sub(1 + self.config.rmw_latency) as usize & (RING - 1)
    }

    fn last_stage(&self) -> &Pass {
        &self.ring[self.last_stage_at()]
    }

    /// The pipeline moves: the pass in the last stage writes, the pass at issue may enter.
    #[inline(always)]
    fn moves(&mut self, m: &Moment) {
        if let Some(held) = self.stall.take() {
            self.hits.hit(Stall, (held, Cycles::new(self.stalled)));
            self.stalled = 0;
        }
        if m.pipe_valid >> self.config.rmw_latency & 1 != 0 {
            self.last_stage_works(m);
        }
        self.held += u32::from(m.hazard);
        let at = self.step as usize & (RING - 1);
        match self.at_issue {
            Some((port, number)) if m.pass_fire == 1 => {
                self.ring[at] = Pass::of(port, number, m);
                self.leaves_issue(port, number, m);
            }
            _ => self.ring[at].valid = false,
        }
        self.step += 1;
        if self.step == STEPS {
            self.shadow.forget();
            self.step = FIRST_STEP;
            self.last_pass = None;
            // The ring is addressed by steps: both numbers are multiples of its length, less one.
            self.ring.rotate_left((STEPS - FIRST_STEP) as usize % RING);
        }
    }

    /// A pass leaves issue.
    #[inline(always)]
    fn leaves_issue(&mut self, port: Port, number: u64, m: &Moment) {
        let flight = self.flights[port as usize].get(number);
        if self.held > 0 {
            if let Some(kind) = kind_of(flight) {
                self.hits.hit(Hazard, (kind, Held(self.held.min(8) as u8)));
            }
            self.held = 0;
        }
        if flight.fresh {
            self.first_pass(port, number, m);
        }
        if m.pass_last == 1 {
            self.last_pass = (m.win_valid != 0).then_some(self.step);
        }
    }

    /// The first pass of a request leaves issue.
    fn first_pass(&mut self, port: Port, number: u64, m: &Moment) {
        self.flights[port as usize].get_mut(number).fresh = false;
        let pass = &self.ring[self.step as usize & (RING - 1)];
        let flight = self.flights[port as usize].get(number);
        let (Some(kind), true) = (kind_of(flight), pass.banks != 0) else { return };
        if let Some(before) = self.last_pass {
            let earlier = &self.ring[before as usize & (RING - 1)];
            let first = self.flights[earlier.port as usize].get(earlier.number);
            // What left issue long ago is no neighbour any more; its place here is another's.
            if self.step - before < RING as u32
                && let Some(first_kind) = kind_of(first)
            {
                let shared = pass.banks & earlier.banks;
                let mut word = false;
                bits(shared, |bank| word |= flight.row[pass.lane(bank)] == first.row[earlier.lane(bank)]);
                let relation = match (shared, word) {
                    (0, _) => Relation::Apart,
                    (_, true) => Relation::Word,
                    (_, false) => Relation::Bank,
                };
                let ports = match (earlier.port, port) {
                    (Port::Warp, Port::Warp) => PortPair::WarpWarp,
                    (Port::Warp, Port::Cluster) => PortPair::WarpCluster,
                    (Port::Cluster, Port::Warp) => PortPair::ClusterWarp,
                    (Port::Cluster, Port::Cluster) => PortPair::ClusterCluster,
                };
                self.hits.hit(Neighbours, (first_kind, kind, relation, ports));
            }
        }
        if flight.kind.is_some_and(|(op, _)| op == Op::CastSpin) {
            favours(&self.config, &mut self.hits, flight, &mut self.spin, m.rotate);
        } else if flight.crowd.degree > 1 {
            contenders(&self.config, &mut self.hits, flight, pass, m.rotate);
        }
    }

    /// A pass is in the last stage and is not stalled.
    fn last_stage_works(&mut self, m: &Moment) {
        let at = self.last_stage_at();
        let pass = &self.ring[at];
        if !pass.valid {
            return;
        }
        let flight = self.flights[pass.port as usize].get(pass.number);
        if let (Some((op, size)), true) = (flight.kind, pass.banks != 0) {
            let (kind, width) = (Kind::new(op), Width::new(size));
            let number = self.step;
            let step = Step { config: &self.config, flight, pass, m, number, op, size, kind, width };
            if op.is_mbarrier() {
                object::objects(&step, &mut self.hits, &mut self.shadow);
            } else {
                step.plain(&mut self.hits, &self.shadow);
            }
            if let (Some(writer), true) = (Writer::new(kind), m.wr_en != 0) {
                let marks = Marks::new(self.step, writer, width);
                bits(m.wr_en, |bank| {
                    let bank = bank & 63;
                    self.shadow.write(m.wr_row[bank], bank, m.wr_data[bank], marks);
                });
            }
            if m.completed != 0 {
                self.waits.complete(&mut self.hits, pass.port, self.cycle, m);
            }
        }
        let completed = m.completed.count_ones();
        let (port, number, last) = (pass.port, pass.number, pass.last);
        if completed != 0 {
            self.flights[port as usize].get_mut(number).completions += completed;
        }
        self.hold_responses(at, m);
        if last {
            self.last_pass_works(at, m);
        }
    }

    /// A pass goes on, whatever becomes of the responses of the cluster port.
    fn hold_responses(&mut self, at: usize, m: &Moment) {
        let pass = &self.ring[at];
        let flight = self.flights[pass.port as usize].get(pass.number);
        let tells = matches!(Op::from_code(flight.op_code), Some(Op::Cas | Op::Cast | Op::CastSpin));
        let passing = match (pass.port, m.cl_owes == 1, flight.red && !tells) {
            (Port::Warp, _, _) => Passing::Warp,
            (Port::Cluster, true, true) => Passing::Faulty,
            (Port::Cluster, true, false) => Passing::Answered,
            (Port::Cluster, false, _) => Passing::Posted,
        };
        let held = if u32::from(m.cl_owed) == self.config.rmw_latency + 4 {
            Room::None
        } else if m.answers & CL_RSP == CL_RSP_HELD {
            Room::Held
        } else {
            Room::Free
        };
        self.hits.hit(ClusterResponses, (passing, held));
    }

    /// The last pass of a request is through.
    fn last_pass_works(&mut self, at: usize, m: &Moment) {
        let pass = &self.ring[at];
        let flight = self.flights[pass.port as usize].get(pass.number);
        if let (Some((op, _)), true) = (flight.kind, pass.banks != 0)
            && let Some(op) = CompletingOp::new(op)
        {
            self.hits.hit(Completions, (op, Few::new(flight.completions)));
        }
        let asleep = m.wait_enter == 1;
        self.table.leave(flight.slot, asleep);
        if pass.port == Port::Cluster {
            if m.cl_owes == 1 {
                self.owed.push_back(answer::owed(flight));
            } else {
                self.tags.leave(Port::Cluster, flight.tag);
            }
            return;
        }
        if !asleep {
            self.answered.expect(pass.number);
            return;
        }
        let bank = pass.banks.trailing_zeros() as usize & 63;
        let lane = pass.lane(bank);
        let given = flight.c[lane] as u32;
        let (limit, limit_of) = match given {
            0 => (self.config.try_wait_limit, LimitOf::Configuration),
            given => (given, LimitOf::Request),
        };
        let row = flight.row[lane];
        let slot = flight.slot;
        self.waits.enter(Sleeper { slot, bank: bank as u8, row, limit, limit_of, since: self.cycle });
    }
}

fn policy(config: &Config) -> Policy {
    match config.winner_policy {
        WinnerPolicy::Lowest => Policy::Lowest,
        WinnerPolicy::Highest => Policy::Highest,
        WinnerPolicy::Rotating => Policy::Rotating,
    }
}

/// A CAST.SPIN leaves issue: which lane is favoured on each bank that several lanes want. Each counter moves on.
#[inline(never)] // one operation of many
fn favours(config: &Config, hits: &mut Hits, flight: &Flight, spin: &mut SpinTurns, rotate: u8) {
    let Some((_, size)) = flight.kind else { return };
    let words = more_banks(size) + 1;
    let policy = policy(config);
    bits(flight.taken, |group| {
        let (lanes, bank) = (flight.groups[group & 63], group * words);
        if lanes.count_ones() > 1 {
            let favoured = spin.favoured(config, bank) as u32;
            let from_start = lanes >> (rotate & 31) << (rotate & 31);
            let first = match policy {
                Policy::Lowest => lanes.trailing_zeros(),
                Policy::Highest => 31 - lanes.leading_zeros(),
                Policy::Rotating if from_start == 0 => lanes.trailing_zeros(),
                Policy::Rotating => from_start.trailing_zeros(),
            };
            let counter = if spin.holds(config, bank) { Counter::Holds } else { Counter::Steps };
            let favoured_lane = match lanes >> favoured & 1 {
                0 => Favoured::Away,
                _ if favoured == first => Favoured::First,
                _ => Favoured::Behind,
            };
            hits.hit(Favour, (policy, counter, favoured_lane));
        }
        spin.fire(config, bank);
    });
}

/// Which lane goes first on the banks that several lanes want.
fn contenders(config: &Config, hits: &mut Hits, flight: &Flight, pass: &Pass, rotate: u8) {
    let Some((op, size)) = flight.kind else { return };
    if merges(config, op, flight.wanted()) {
        return;
    }
    let words = more_banks(size) + 1;
    let policy = policy(config);
    bits(flight.taken, |group| {
        let lanes = flight.groups[group & 63];
        if lanes.count_ones() < 2 {
            return;
        }
        let winner = pass.lane(group * words) as u32;
        let standing = if winner == lanes.trailing_zeros() {
            Standing::Lowest
        } else if winner == 31 - lanes.leading_zeros() {
            Standing::Highest
        } else {
            Standing::Between
        };
        hits.hit(Winner, (policy, standing));
        if policy == Policy::Rotating {
            let turn = match winner.cmp(&rotate.into()) {
                std::cmp::Ordering::Equal => Turn::AtStart,
                std::cmp::Ordering::Greater => Turn::Behind,
                std::cmp::Ordering::Less => Turn::Round,
            };
            hits.hit(Rotation, (Lane(rotate), turn));
        }
    });
}

impl Listener for Sampler {
    fn cycle(&mut self, cycle: &Cycle<'_>) {
        let (i, out, probe) = cycle.pins();
        if i.rst_n == 0 {
            self.catch_up();
            self.cycle += 1;
            self.found_inside(i, out, probe);
            return self.reset();
        }
        if let Some(moment) = self.moments.get_mut(self.kept) {
            moment.set(i, out, probe);
            self.kept += 1;
        }
        if i.req_valid & out.req_ready == 1 {
            let warps = &mut self.flights[Port::Warp as usize];
            warps.next().take_warp(&self.config, i);
            self.requests += 1;
        }
        if i.cl_valid & out.cl_ready == 1 {
            self.flights[Port::Cluster as usize].next().take_cluster(i);
            self.requests += 1;
        }
        if self.kept == BATCH || self.requests >= REQUESTS {
            self.catch_up();
        }
    }
}
