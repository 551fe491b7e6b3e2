//! Samples the bins that a run hits, from the monitor's view of each cycle.
//!
//! The sampler keeps the properties of requests in flight and the places of suspended requests ([`waits`]).
//! It also keeps a shadow of memory, from the observed bank writes ([`shadow`]). It computes the bank of each
//! lane from the specification. If the RTL used a wrong bank, coverage must not count the right bank as
//! tested.

mod answer;
mod hits;
mod in_flight;
mod object;
mod ports;
mod request;
mod shadow;
mod step;
mod tags;
mod waits;

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use atoms_model::Config;
use atoms_model::lanes::banks;
use atoms_model::port::MAX_BANKS;
use atoms_model::spin::SpinTurns;
use atoms_monitor::Listener;
use atoms_monitor::{AtIssue, Cycle, InFlight, LastStage, PassIssued};
use atoms_ops::Op;
use atoms_stimulus::request::WarpRequest;

use crate::groups::kernels::{Counter, PriorityLane, SpinPriority};
use crate::groups::objects::{CompletingOp, Completions};
use crate::groups::pipeline::{
    Behind, Contest, Cycles, Hazard, Held, Neighbours, Relation, Stall, StallFill, Stalled, Turns, Writer,
};
use crate::groups::ports::{Answer, ClusterResponses, Inside, Passing, ResetInside, Room};
use crate::groups::requests::{Policy, Rotation, Standing, Turn, Winner, merges};
use crate::groups::values::{Few, Lane, Port, Width};
use crate::groups::waits::LimitOf;
use crate::map::Map;
use hits::Hits;
use in_flight::{InFlightRequest, InFlightRequests, of_lane_0};
use ports::{Ports, Table, answers};
use shadow::Shadow;
use step::{MemoryStep, Winners, winner};
use tags::Tags;
use waits::{Waiter, Waits};

/// Number of latest passes, and of pipeline steps, that the sampler remembers. Passes this many steps apart
/// do not count as neighbours. The longest pipeline has fewer steps.
const APART: u32 = 16;

pub struct Sampler {
    config: Config,
    hits: Hits,
    shadow: Shadow,
    requests: InFlightRequests,
    /// Winning lane of each bank, for the last [`APART`] passes. The index is the serial number of the pass
    /// modulo [`APART`].
    winners: [Winners; APART as usize],
    /// Copy of the CAST.SPIN counters.
    spin: SpinTurns,
    /// Number of pipeline steps so far. Starts at [`APART`], because a word that was never written counts as
    /// written in step 0.
    step: u32,
    since_reset: SinceReset,
    /// True if there is no probe: requests are sampled when they are accepted, and answered.
    ports_only: bool,
}

#[derive(Default)]
struct SinceReset {
    table: Table,
    ports: Ports,
    waits: Waits,
    tags: Tags,
    last_port: Option<Port>,
    /// Step and last pass of the previous request, if that pass accessed banks.
    last_pass: Option<(u32, PassIssued)>,
    /// Cycles for which the pass at issue has been held back.
    held: u32,
    /// Pass in the last stage when the stall began, and cycles of the stall so far.
    stall: Option<(Stalled, u32)>,
}

impl fmt::Debug for Sampler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sampler").field("config", &self.config).finish_non_exhaustive()
    }
}

impl Sampler {
    /// Creates a sampler for a machine after reset with memory zero.
    pub fn new(config: &Config) -> Self {
        Sampler {
            config: *config,
            hits: Hits::new(),
            shadow: Shadow::new(config),
            requests: InFlightRequests::new(config),
            winners: [[0; MAX_BANKS]; APART as usize],
            spin: SpinTurns::RESET,
            step: APART,
            since_reset: SinceReset::default(),
            ports_only: false,
        }
    }

    /// Creates a sampler for a machine without a probe, after reset.
    pub fn of_ports(config: &Config) -> Self {
        Sampler { requests: InFlightRequests::many(), ports_only: true, ..Self::new(config) }
    }

    /// Returns the hits since the last call.
    pub fn take(&mut self) -> Map {
        self.hits.take()
    }

    /// Prepares for a machine that restarts with memory zero. Keeps the hits.
    pub fn restart(&mut self) {
        self.shadow.clear();
        self.step = APART;
        self.reset();
    }

    /// Clears requests and passes. Memory keeps its content, but earlier writes no longer count as in the
    /// pipeline.
    fn reset(&mut self) {
        self.step = self.step.wrapping_add(APART);
        self.spin = SpinTurns::RESET;
        self.since_reset = SinceReset::default();
    }

    fn found_inside(&mut self, cycle: &Cycle<'_>) {
        let (pipeline, waiters) = (cycle.pipeline(), cycle.waiters());
        let last = pipeline.stages >> self.config.rmw_latency & 1 != 0;
        let [response, cluster_response, wake_up] = answers(cycle).map(|answer| answer == Answer::Held);
        let found = [
            (cycle.queues().iter().any(|queue| queue.level != 0), Inside::Queued),
            (pipeline.at_issue.is_some(), Inside::Issue),
            (pipeline.stages != 0, Inside::Pipeline),
            (last && cycle.bank_ports().written != 0, Inside::Writes),
            (waiters.suspended | waiters.ready != 0, Inside::Waiters),
            (response || cluster_response, Inside::Answer),
            (wake_up, Inside::WakeUp),
        ];
        let nothing = (found.iter().all(|(is, _)| !is), Inside::Nothing);
        for (_, inside) in found.into_iter().chain([nothing]).filter(|(is, _)| *is) {
            self.hits.hit(ResetInside, (inside,));
        }
    }

    /// Tracks accepted requests and taken responses.
    #[inline(always)]
    fn hand_over(&mut self, cycle: &Cycle<'_>) {
        let tags = &mut self.since_reset.tags;
        if let Some(answer) = cycle.warp_answer.as_ref().filter(|answer| answer.taken) {
            tags.leave(Port::Warp, answer.tag);
        }
        if let Some(wake_up) = cycle.wake_up.as_ref().filter(|wake_up| wake_up.taken) {
            tags.leave(Port::Warp, wake_up.tag);
        }
        if let Some(answer) = cycle.cluster_answer.filter(|answer| answer.taken) {
            tags.leave(Port::Cluster, answer.tag);
            if let Some(taken) = &cycle.cluster_taken {
                answer::cluster(&mut self.hits, &taken.request, answer.fault);
            }
        }
        if let Some(InFlight { number, request, .. }) = &cycle.warp_accepted {
            self.accept(Port::Warp, *number, Arc::clone(request));
        }
        if let Some(InFlight { number, request, .. }) = &cycle.cluster_accepted {
            self.accept(Port::Cluster, *number, Arc::new(of_lane_0(request)));
        }
    }

    fn accept(&mut self, port: Port, number: u64, request: Arc<WarpRequest>) {
        self.since_reset.table.enter(request.slot);
        self.since_reset.tags.enter(&mut self.hits, port, request.tag);
        let Sampler { config, hits, requests, since_reset, ports_only, .. } = self;
        let accepted = requests.get_mut(port, number);
        accepted.accept(config, request);
        if *ports_only {
            let allocation = since_reset.table.allocation(accepted.request.slot);
            let faulty = request::is_faulty(accepted, allocation);
            request::at_issue(config, hits, accepted, allocation, faulty);
        }
    }

    #[inline(never)] // one cycle in ten: keeps the common path small
    fn comes_to_issue(&mut self, at_issue: AtIssue) {
        let port = port_of(at_issue.cluster);
        let SinceReset { table, ports, last_port, .. } = &mut self.since_reset;
        if let Some(last) = last_port.replace(port) {
            let other = if port == Port::Warp { Port::Cluster } else { Port::Warp };
            let contest = if ports.had_waiting(other) { Contest::Both } else { Contest::Alone };
            self.hits.hit(Turns, (last, port, contest));
        }
        let request = self.requests.get_mut(port, at_issue.number);
        let allocation = table.allocation(request.request.slot);
        let faulty = at_issue.pending == 0 && request.mask != 0;
        request::at_issue(&self.config, &mut self.hits, request, allocation, faulty);
    }

    #[inline(always)]
    fn of(&self, pass: &PassIssued) -> &InFlightRequest {
        self.requests.get(port_of(pass.cluster), pass.number)
    }

    #[inline(never)] // one cycle in ten: keeps the common path small
    fn stalls(&mut self, cycle: &Cycle<'_>) {
        if let Some((_, cycles)) = &mut self.since_reset.stall {
            *cycles = cycles.saturating_add(1);
            return;
        }
        let last = cycle.last_stage.filter(|last| last.pass.banks != 0);
        let kind = last.and_then(|last| self.of(&last.pass).pipeline_kind);
        self.since_reset.stall = Some((kind.map_or(Stalled::Nothing, Stalled::new), 1));
        let pipeline = cycle.pipeline();
        let stages = (1u16 << self.config.rmw_latency) - 1;
        let behind = match (pipeline.stages & stages, pipeline.at_issue) {
            (0, None) => Behind::Empty,
            (all, Some(_)) if all == stages => Behind::Full,
            _ => Behind::Some,
        };
        self.hits.hit(StallFill, (behind,));
    }

    #[inline(always)]
    fn moves(&mut self, cycle: &Cycle<'_>) {
        if let Some((held, cycles)) = self.since_reset.stall.take() {
            self.hits.hit(Stall, (held, Cycles::new(cycles)));
        }
        if let Some(last) = &cycle.last_stage {
            self.pass_done(last, cycle);
        }
        self.since_reset.held += u32::from(cycle.pipeline().held_back);
        if let Some(pass) = &cycle.pass_issued {
            self.winners[at(pass)] = *cycle.winners();
            self.pass_issued(pass);
        }
        self.step = self.step.wrapping_add(1);
    }

    #[inline(always)]
    fn pass_issued(&mut self, pass: &PassIssued) {
        let held = std::mem::take(&mut self.since_reset.held);
        if held > 0
            && let Some(kind) = self.of(pass).pipeline_kind
        {
            self.hits.hit(Hazard, (kind, Held(held.min(8) as u8)));
        }
        if pass.index == 0 {
            self.first_pass(pass);
        }
        if pass.last {
            self.since_reset.last_pass = (pass.banks != 0).then_some((self.step, *pass));
        }
    }

    fn first_pass(&mut self, pass: &PassIssued) {
        let request = self.requests.get(port_of(pass.cluster), pass.number);
        let (Some(kind), true) = (request.pipeline_kind, pass.banks != 0) else { return };
        if let Some((step, earlier)) = &self.since_reset.last_pass
            // A pass that was issued [`APART`] or more steps ago does not count as a neighbour.
            && self.step.wrapping_sub(*step) < APART
            && let Some(first_kind) = self.of(earlier).pipeline_kind
        {
            let first = self.of(earlier);
            let shared = pass.banks & earlier.banks;
            let row =
                |request: &InFlightRequest, pass, bank| request.row[winner(&self.winners[at(pass)], bank)];
            let relation = if shared == 0 {
                Relation::Apart
            } else if banks(shared).any(|bank| row(request, pass, bank) == row(first, earlier, bank)) {
                Relation::Word
            } else {
                Relation::Bank
            };
            self.hits.hit(Neighbours, (first_kind, kind, relation, (first.port, request.port)));
        }
        if request.kind.is_some_and(|(op, _)| op == Op::CastSpin) {
            sample_spin_priority(&self.config, &mut self.hits, request, &mut self.spin, pass.first_lane);
        } else if request.conflicts.degree > 1 {
            contenders(&self.config, &mut self.hits, request, pass.first_lane, &self.winners[at(pass)]);
        }
    }

    fn pass_done(&mut self, done: &LastStage, cycle: &Cycle<'_>) {
        let pass = &done.pass;
        let port = port_of(pass.cluster);
        let (banks, number) = (cycle.bank_ports(), self.step);
        let request = self.requests.get(port, pass.number);
        if let (Some((op, size)), Some(kind), true) = (request.kind, request.pipeline_kind, pass.banks != 0) {
            let width = Width::new(size);
            let winners = &self.winners[at(pass)];
            let step = MemoryStep {
                config: &self.config,
                request,
                pass,
                winners,
                banks,
                number,
                op,
                size,
                kind,
                width,
            };
            if op.is_mbarrier() {
                object::objects(&step, &mut self.hits, &mut self.shadow);
            } else {
                step.plain(&mut self.hits, &self.shadow);
            }
            if let Some(writer) = Writer::new(kind) {
                self.shadow.write(&banks, number, (writer, width));
            }
            if banks.completed != 0 {
                self.since_reset.waits.complete(&mut self.hits, port, cycle.number, &banks);
            }
        }
        self.requests.get_mut(port, pass.number).completions += banks.completed.count_ones();
        self.hold_responses(done, cycle);
        if pass.last {
            self.last_pass_done(done, cycle.number);
        }
    }

    fn hold_responses(&mut self, done: &LastStage, cycle: &Cycle<'_>) {
        let request = &self.of(&done.pass).request;
        let tells = Op::from_code(request.op).is_some_and(Op::compares);
        let passing = match (port_of(done.pass.cluster), done.owes, request.red && !tells) {
            (Port::Warp, _, _) => Passing::Warp,
            (Port::Cluster, true, true) => Passing::Faulty,
            (Port::Cluster, true, false) => Passing::Answered,
            (Port::Cluster, false, _) => Passing::Posted,
        };
        let room = if u32::from(cycle.cluster_responses_owed()) == self.config.cluster_responses() {
            Room::None
        } else if cycle.cluster_answer.is_some_and(|answer| !answer.taken) {
            Room::Held
        } else {
            Room::Free
        };
        self.hits.hit(ClusterResponses, (passing, room));
    }

    fn last_pass_done(&mut self, done: &LastStage, cycle: u64) {
        let LastStage { pass, suspends, owes, .. } = done;
        let request = self.requests.get(port_of(pass.cluster), pass.number);
        if let (Some((op, _)), true) = (request.kind, pass.banks != 0)
            && let Some(op) = CompletingOp::new(op)
        {
            self.hits.hit(Completions, (op, Few::new(request.completions)));
        }
        let slot = request.request.slot;
        self.since_reset.table.leave(slot, *suspends);
        if pass.cluster {
            if !owes {
                self.since_reset.tags.leave(Port::Cluster, request.request.tag);
            }
        } else if *suspends {
            let bank = pass.banks.trailing_zeros() as usize & (MAX_BANKS - 1);
            let lane = winner(&self.winners[at(pass)], bank);
            let (limit, limit_of) = match request.request.lane(lane).c as u32 {
                0 => (self.config.try_wait_limit, LimitOf::Configuration),
                given => (given, LimitOf::Request),
            };
            let row = request.row[lane];
            self.since_reset.waits.enter(Waiter { slot, bank, row, limit, limit_of, since: cycle });
        }
    }
}

#[inline(always)]
fn at(pass: &PassIssued) -> usize {
    pass.serial as usize % APART as usize
}

fn port_of(cluster: bool) -> Port {
    if cluster { Port::Cluster } else { Port::Warp }
}

/// Samples the priority lane on each bank that several lanes of a CAST.SPIN want, and advances the counters.
#[inline(never)] // only one of many operations
fn sample_spin_priority(
    config: &Config,
    hits: &mut Hits,
    request: &InFlightRequest,
    spin: &mut SpinTurns,
    rotate: u8,
) {
    let Some((_, size)) = request.kind else { return };
    let words = Width::new(size).banks();
    let policy = Policy::of_config(config);
    for group in banks(request.taken) {
        let (lanes, bank) = (request.groups[group], group * words);
        if lanes.count_ones() > 1 {
            let priority_lane = spin.priority_lane(config, bank) as u32;
            let from_start = lanes >> (rotate & 31) << (rotate & 31);
            let first = match policy {
                Policy::Lowest => lanes.trailing_zeros(),
                Policy::Highest => 31 - lanes.leading_zeros(),
                Policy::Rotating if from_start == 0 => lanes.trailing_zeros(),
                Policy::Rotating => from_start.trailing_zeros(),
            };
            let counter = if spin.holds(config, bank) { Counter::Holds } else { Counter::Steps };
            let place = match lanes >> priority_lane & 1 {
                0 => PriorityLane::Away,
                _ if priority_lane == first => PriorityLane::First,
                _ => PriorityLane::Behind,
            };
            hits.hit(SpinPriority, (policy, counter, place));
        }
        spin.fire(config, bank);
    }
}

/// Samples the winner on each group of banks that several lanes want.
fn contenders(config: &Config, hits: &mut Hits, request: &InFlightRequest, rotate: u8, winners: &Winners) {
    let Some((op, size)) = request.kind else { return };
    if merges(config, op, request.wanted()) {
        return;
    }
    let words = Width::new(size).banks();
    let policy = Policy::of_config(config);
    for group in banks(request.taken) {
        let lanes = request.groups[group];
        if lanes.is_power_of_two() {
            continue;
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
                Ordering::Equal => Turn::AtStart,
                Ordering::Greater => Turn::Behind,
                Ordering::Less => Turn::Round,
            };
            hits.hit(Rotation, (Lane(rotate), turn));
        }
    }
}

impl Listener for Sampler {
    fn cycle(&mut self, cycle: &Cycle<'_>) {
        if cycle.reset.is_some() {
            if !self.ports_only {
                self.found_inside(cycle);
            }
            return self.reset();
        }
        let SinceReset { table, waits, .. } = &mut self.since_reset;
        if let Some(answer) = &cycle.warp_answer
            && let Some(appears) = &answer.appears
            && let Ok(request) = &appears.request
        {
            let request = self.requests.get(Port::Warp, request.number);
            answer::warp(&self.config, &mut self.hits, request, answer);
        }
        if self.ports_only {
            table.cycle(&self.config, &mut self.hits, cycle);
            self.since_reset.ports.held(&mut self.hits, answers(cycle));
            return self.hand_over(cycle);
        }
        if let Some(slot) = waits.settle(&self.config, &mut self.hits, cycle) {
            table.wake(slot);
        }
        table.cycle(&self.config, &mut self.hits, cycle);
        let pipeline = cycle.pipeline();
        if let Some(at_issue) = pipeline.at_issue.filter(|at_issue| at_issue.arrives) {
            self.comes_to_issue(at_issue);
        }
        if pipeline.stalled {
            self.stalls(cycle);
        } else {
            self.moves(cycle);
        }
        self.since_reset.ports.cycle(&mut self.hits, cycle);
        self.hand_over(cycle);
    }
}
