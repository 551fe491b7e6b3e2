//! Finds out which bins a run hits, from what the monitor sees.
//!
//! A little bookkeeping goes with it: what is found about requests in flight, what memory holds
//! (from the words that the banks are seen to be written, [`shadow`]), and the places of suspended requests
//! ([`waits`]). Where lanes are is found here once more, from the specification: a unit that puts a lane on the
//! wrong bank must not thereby count as having been tried on the right one.

mod answer;
mod hits;
mod in_flight;
mod object;
mod ports;
mod request;
mod sample;
mod shadow;
mod step;
mod tags;
mod waits;

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use atoms_cosim::monitor::{AtIssue, Cycle, LastStage, PassIssued};
use atoms_cosim::session::Listener;
use atoms_model::Config;

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
use atoms_model::config::WinnerPolicy;
use atoms_model::port::MAX_BANKS;
use atoms_model::spin::SpinTurns;
use atoms_ops::Op;
use hits::Hits;
use in_flight::{InFlightRequest, InFlightRequests, bits, kind_of, more_banks, of_lane_0};
use ports::{Ports, Table};
use sample::{CL_RSP, CL_RSP_HELD, CycleSample, LEVEL, RSP, WAKE};
use shadow::{FIRST_STEP, Marks, STEPS, Shadow};
use step::{Step, Winners, winner};
use tags::Tags;
use waits::{Waiter, Waits};

/// Passes remembered, and steps from which on passes are no neighbours any more: more than the longest pipeline
/// has.
const APART: u32 = 16;

/// Steps by which a reset ages memory.
const STEPS_OF_RESET: u32 = 4 * APART;

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
    requests: [InFlightRequests; 2],
    /// Cluster requests carried out and owed a response.
    owed: VecDeque<answer::Owed>,
    /// Of the last passes, by the number of the pass.
    winners: [Winners; APART as usize],
    /// Steps of the pipeline, and clock cycles.
    step: u32,
    cycle: u64,
    waiting: [bool; 2],
    last_port: Option<Port>,
    /// The last pass of the request before, if it worked on banks, and its step.
    last_pass: Option<(u32, PassIssued)>,
    held: u32,
    stalled: u64,
    stall: Option<Stalled>,
    tags: Tags,
    /// Cycles not yet looked at: the first few of these, and the requests taken in them.
    samples: Box<[CycleSample]>,
    kept: usize,
    accepted: u32,
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
        let inside = |queue: u32| InFlightRequests::new(queue + config.rmw_latency + 4 + REQUESTS + 1);
        Sampler {
            config: *config,
            hits: Hits::new(),
            shadow: Shadow::new(config),
            table: Table::default(),
            ports: Ports::new(),
            waits: Waits::new(),
            spin: SpinTurns::RESET,
            requests: [inside(config.queue_depth), inside(2)],
            owed: VecDeque::new(),
            winners: [[0; MAX_BANKS]; APART as usize],
            step: FIRST_STEP,
            cycle: 0,
            waiting: [false; 2],
            last_port: None,
            last_pass: None,
            held: 0,
            stalled: 0,
            stall: None,
            tags: Tags::NONE,
            samples: vec![CycleSample::NONE; BATCH].into(),
            kept: 0,
            accepted: 0,
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
    fn found_inside(&mut self, cycle: &Cycle<'_>) {
        let (pipeline, waiters) = (cycle.pipeline(), cycle.waiters());
        let last = pipeline.stages >> self.config.rmw_latency & 1 != 0;
        let held = cycle.warp_answer.as_ref().is_some_and(|answer| !answer.taken)
            || cycle.cluster_answer.is_some_and(|answer| !answer.taken);
        let found = [
            (cycle.queues().iter().any(|queue| queue.level != 0), Inside::Queued),
            (pipeline.at_issue.is_some(), Inside::Issue),
            (pipeline.stages != 0, Inside::Pipeline),
            (last && cycle.bank_ports().written != 0, Inside::Writes),
            (waiters.suspended | waiters.ready != 0, Inside::Waiters),
            (held, Inside::Answer),
            (cycle.wake_up.as_ref().is_some_and(|wake_up| !wake_up.taken), Inside::WakeUp),
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
        self.owed.clear();
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
        let samples = std::mem::take(&mut self.samples);
        for sample in samples.iter().take(self.kept) {
            self.see(sample);
        }
        self.samples = samples;
        (self.kept, self.accepted) = (0, 0);
    }

    #[inline(always)] // once
    fn see(&mut self, m: &CycleSample) {
        self.cycle += 1;
        self.ports.cycle(&mut self.hits, m);
        if let Some(response) = m.response {
            let request = self.requests[Port::Warp as usize].get(response.number);
            answer::warp(&self.config, &mut self.hits, request, response);
        }
        if !self.waits.quiet(m)
            && let Some(slot) = self.waits.settle(&self.config, &mut self.hits, m)
        {
            self.table.wake(slot);
        }
        self.table.cycle(&self.config, &mut self.hits, m);
        if let Some(at_issue) = m.pipeline.at_issue.filter(|at_issue| at_issue.arrives) {
            self.comes_to_issue(at_issue);
        }
        if m.pipeline.stalled {
            self.stalls(m);
        } else {
            self.moves(m);
        }
        self.waiting = m.queues.map(|queue| queue & LEVEL != 0);
        self.hand_over(m);
    }

    /// Requests that are accepted, and answers that are taken.
    #[inline(always)]
    fn hand_over(&mut self, m: &CycleSample) {
        let [response, cluster_response, wake_up] = m.tags;
        if m.answers & RSP == RSP {
            self.tags.leave(Port::Warp, response);
        }
        if m.answers & WAKE == WAKE {
            self.tags.leave(Port::Warp, wake_up);
        }
        if m.answers & CL_RSP == CL_RSP {
            self.tags.leave(Port::Cluster, cluster_response);
            if let Some(owed) = self.owed.pop_front() {
                answer::cluster(&mut self.hits, owed, m.cluster_fault);
            }
        }
        for (port, accepted) in [Port::Warp, Port::Cluster].into_iter().zip(m.accepted) {
            if let Some((slot, tag)) = accepted {
                self.table.enter(slot);
                self.tags.enter(&mut self.hits, port, tag);
            }
        }
    }

    /// A request is at issue that was not there before.
    #[inline(never)] // a cycle in ten: out of the way of the others
    fn comes_to_issue(&mut self, at_issue: AtIssue) {
        let port = port_of(at_issue.cluster);
        if let Some(last) = self.last_port {
            let other = self.waiting[1 - port as usize];
            let before = if last == Port::Warp { Before::Warp } else { Before::Cluster };
            let contest = if other { Contest::Both } else { Contest::Alone };
            self.hits.hit(Turns, (before, port, contest));
        }
        self.last_port = Some(port);
        let request = self.requests[port as usize].get_mut(at_issue.number);
        let part = self.table.part(request.request.slot);
        let faulty = at_issue.pending == 0 && request.mask != 0;
        request::at_issue(&self.config, &mut self.hits, request, part, faulty);
    }

    #[inline(always)]
    fn of(&self, pass: &PassIssued) -> &InFlightRequest {
        self.requests[port_of(pass.cluster) as usize].get(pass.number)
    }

    #[inline(never)] // a cycle in ten: out of the way of the others
    fn stalls(&mut self, m: &CycleSample) {
        self.stalled += 1;
        if self.stall.is_some() {
            return;
        }
        let held = match &m.last_stage {
            Some(last) if last.pass.banks != 0 => {
                kind_of(self.of(&last.pass)).map_or(Stalled::Nothing, Stalled::new)
            }
            _ => Stalled::Nothing,
        };
        self.stall = Some(held);
        let stages = (1u16 << self.config.rmw_latency) - 1;
        let others = m.pipeline.stages & stages;
        let behind = match (others, m.pipeline.at_issue) {
            (0, None) => Behind::Empty,
            (all, Some(_)) if all == stages => Behind::Full,
            _ => Behind::Some,
        };
        self.hits.hit(StallFill, (behind,));
    }

    /// The pipeline moves: the pass in the last stage writes, the pass at issue may enter.
    #[inline(always)]
    fn moves(&mut self, m: &CycleSample) {
        if let Some(held) = self.stall.take() {
            self.hits.hit(Stall, (held, Cycles::new(self.stalled)));
            self.stalled = 0;
        }
        if let Some(last) = &m.last_stage {
            self.pass_done(last, m);
        }
        self.held += u32::from(m.pipeline.held_back);
        if let Some(pass) = &m.issued {
            self.winners[at(pass)] = m.winners;
            self.pass_issued(pass);
        }
        self.step += 1;
        if self.step == STEPS {
            self.shadow.forget();
            self.step = FIRST_STEP;
            self.last_pass = None;
        }
    }

    #[inline(always)]
    fn pass_issued(&mut self, pass: &PassIssued) {
        if self.held > 0 {
            if let Some(kind) = kind_of(self.of(pass)) {
                self.hits.hit(Hazard, (kind, Held(self.held.min(8) as u8)));
            }
            self.held = 0;
        }
        if pass.index == 0 {
            self.first_pass(pass);
        }
        if pass.last {
            self.last_pass = (pass.banks != 0).then_some((self.step, *pass));
        }
    }

    /// The first pass of a request leaves issue.
    fn first_pass(&mut self, pass: &PassIssued) {
        let port = port_of(pass.cluster);
        let request = self.requests[port as usize].get(pass.number);
        let (Some(kind), true) = (kind_of(request), pass.banks != 0) else { return };
        if let Some((before, earlier)) = &self.last_pass {
            let earlier_port = port_of(earlier.cluster);
            let first = self.requests[earlier_port as usize].get(earlier.number);
            // What left issue long ago is no neighbour any more.
            if self.step - before < APART
                && let Some(first_kind) = kind_of(first)
            {
                let shared = pass.banks & earlier.banks;
                let mut word = false;
                bits(shared, |bank| {
                    let lane = |pass| winner(&self.winners[at(pass)], bank);
                    word |= request.row[lane(pass)] == first.row[lane(earlier)];
                });
                let relation = match (shared, word) {
                    (0, _) => Relation::Apart,
                    (_, true) => Relation::Word,
                    (_, false) => Relation::Bank,
                };
                let ports = match (earlier_port, port) {
                    (Port::Warp, Port::Warp) => PortPair::WarpWarp,
                    (Port::Warp, Port::Cluster) => PortPair::WarpCluster,
                    (Port::Cluster, Port::Warp) => PortPair::ClusterWarp,
                    (Port::Cluster, Port::Cluster) => PortPair::ClusterCluster,
                };
                self.hits.hit(Neighbours, (first_kind, kind, relation, ports));
            }
        }
        if request.kind.is_some_and(|(op, _)| op == Op::CastSpin) {
            favours(&self.config, &mut self.hits, request, &mut self.spin, pass.first_lane);
        } else if request.conflicts.degree > 1 {
            contenders(&self.config, &mut self.hits, request, pass.first_lane, &self.winners[at(pass)]);
        }
    }

    /// A pass is in the last stage and goes on.
    fn pass_done(&mut self, done: &LastStage, m: &CycleSample) {
        let pass = &done.pass;
        let port = port_of(pass.cluster);
        let request = self.requests[port as usize].get(pass.number);
        if let (Some((op, size)), true) = (request.kind, pass.banks != 0) {
            let (kind, width) = (Kind::new(op), Width::new(size));
            let number = self.step;
            let winners = &self.winners[at(pass)];
            let step =
                Step { config: &self.config, request, pass, winners, m, number, op, size, kind, width };
            if op.is_mbarrier() {
                object::objects(&step, &mut self.hits, &mut self.shadow);
            } else {
                step.plain(&mut self.hits, &self.shadow);
            }
            if let (Some(writer), true) = (Writer::new(kind), m.written != 0) {
                let marks = Marks::new(self.step, writer, width);
                bits(m.written, |bank| {
                    let bank = bank & 63;
                    self.shadow.write(m.rows[bank], bank, m.values[bank], marks);
                });
            }
            if m.completed != 0 {
                self.waits.complete(&mut self.hits, port, self.cycle, m);
            }
        }
        let completed = m.completed.count_ones();
        if completed != 0 {
            self.requests[port as usize].get_mut(pass.number).completions += completed;
        }
        self.hold_responses(done, m);
        if pass.last {
            self.last_pass_done(done);
        }
    }

    /// A pass goes on, whatever becomes of the responses of the cluster port.
    fn hold_responses(&mut self, done: &LastStage, m: &CycleSample) {
        let request = &self.of(&done.pass).request;
        let tells = matches!(Op::from_code(request.op), Some(Op::Cas | Op::Cast | Op::CastSpin));
        let passing = match (port_of(done.pass.cluster), done.owes, request.red && !tells) {
            (Port::Warp, _, _) => Passing::Warp,
            (Port::Cluster, true, true) => Passing::Faulty,
            (Port::Cluster, true, false) => Passing::Answered,
            (Port::Cluster, false, _) => Passing::Posted,
        };
        let held = if u32::from(m.cluster_responses_owed) == self.config.cluster_responses() {
            Room::None
        } else if m.answers & CL_RSP == CL_RSP_HELD {
            Room::Held
        } else {
            Room::Free
        };
        self.hits.hit(ClusterResponses, (passing, held));
    }

    /// The last pass of a request is through.
    fn last_pass_done(&mut self, done: &LastStage) {
        let pass = &done.pass;
        let port = port_of(pass.cluster);
        let request = self.requests[port as usize].get(pass.number);
        if let (Some((op, _)), true) = (request.kind, pass.banks != 0)
            && let Some(op) = CompletingOp::new(op)
        {
            self.hits.hit(Completions, (op, Few::new(request.completions)));
        }
        let slot = request.request.slot;
        self.table.leave(slot, done.suspends);
        if port == Port::Cluster {
            if done.owes {
                self.owed.push_back(answer::owed(request));
            } else {
                self.tags.leave(Port::Cluster, request.request.tag);
            }
            return;
        }
        if !done.suspends {
            return;
        }
        let bank = pass.banks.trailing_zeros() as usize & 63;
        let lane = winner(&self.winners[at(pass)], bank);
        let given = request.request.lanes.get(lane).map_or(0, |lane| lane.c as u32);
        let (limit, limit_of) = match given {
            0 => (self.config.try_wait_limit, LimitOf::Configuration),
            given => (given, LimitOf::Request),
        };
        let row = request.row[lane];
        self.waits.enter(Waiter { slot, bank: bank as u8, row, limit, limit_of, since: self.cycle });
    }
}

/// Where the lanes of a pass are remembered.
#[inline(always)]
fn at(pass: &PassIssued) -> usize {
    pass.serial as usize % APART as usize
}

fn port_of(cluster: bool) -> Port {
    if cluster { Port::Cluster } else { Port::Warp }
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
fn favours(config: &Config, hits: &mut Hits, request: &InFlightRequest, spin: &mut SpinTurns, rotate: u8) {
    let Some((_, size)) = request.kind else { return };
    let words = more_banks(size) + 1;
    let policy = policy(config);
    bits(request.taken, |group| {
        let (lanes, bank) = (request.groups[group & 63], group * words);
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
fn contenders(config: &Config, hits: &mut Hits, request: &InFlightRequest, rotate: u8, winners: &Winners) {
    let Some((op, size)) = request.kind else { return };
    if merges(config, op, request.wanted()) {
        return;
    }
    let words = more_banks(size) + 1;
    let policy = policy(config);
    bits(request.taken, |group| {
        let lanes = request.groups[group & 63];
        if lanes.count_ones() < 2 {
            return;
        }
        let winner = winner(winners, group * words) as u32;
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
        if cycle.reset.is_some() {
            self.catch_up();
            self.cycle += 1;
            self.found_inside(cycle);
            return self.reset();
        }
        if let Some(sample) = self.samples.get_mut(self.kept) {
            sample.set(cycle);
            self.kept += 1;
        }
        let [warps, clusters] = &mut self.requests;
        if let Some(accepted) = &cycle.warp_accepted {
            warps.accept(&self.config, Port::Warp, accepted.number, Arc::clone(&accepted.request));
            self.accepted += 1;
        }
        if let Some(accepted) = &cycle.cluster_accepted {
            let request = Arc::new(of_lane_0(&accepted.request));
            clusters.accept(&self.config, Port::Cluster, accepted.number, request);
            self.accepted += 1;
        }
        if self.kept == BATCH || self.accepted >= REQUESTS {
            self.catch_up();
        }
    }
}
