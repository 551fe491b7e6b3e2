//! Drives a program through the ports of a unit, and checks all answers.

use atoms_cosim::case::Pauses;
use atoms_cosim::machine::Machine;
use atoms_cosim::session::Session;
use atoms_model::Config;
use atoms_model::port::{In, Out};
use atoms_ops::{Op, Size};
use atoms_stimulus::Stimulus;
use atoms_stimulus::request::{ClusterRequest, Lane, WarpRequest};

use super::agent::{Agent, Asks, Copy, Reply, Step};
use super::deadlock::{Awaited, BlockedAgent, Deadlock};
use super::design::Waiting;
use super::place::Port;
use super::program::Program;

#[derive(Debug)]
pub(super) struct Execution {
    pub(super) program: Program,
    pauses: Pauses,
    copies: Vec<Copy>,
    cycle: u64,
    last_progress: u64,
    pub(super) broken: Option<String>,
}

impl Execution {
    pub(super) fn new(program: Program, pauses: Pauses) -> Self {
        Execution { program, pauses, copies: Vec::new(), cycle: 0, last_progress: 0, broken: None }
    }

    pub(super) fn idle_cycles(&self) -> u64 {
        self.cycle - self.last_progress
    }

    fn next(&mut self, port: Port) -> Option<usize> {
        let setting_up =
            self.program.agents[..self.program.members_from].iter().any(|agent| !agent.finished());
        let able = if setting_up {
            0..self.program.members_from
        } else {
            self.program.members_from..self.program.agents.len()
        };
        let cycle = self.cycle;
        let able: Vec<_> = able
            .filter(|&index| {
                let agent = &self.program.agents[index];
                !agent.asked && agent.until <= cycle && agent.port() == Some(port)
            })
            .collect();
        if able.is_empty() { None } else { Some(able[self.program.dice.below(able.len() as u32) as usize]) }
    }

    /// Advances every agent to its next request or pause.
    fn advance(&mut self) {
        for index in 0..self.program.agents.len() {
            let agent = &mut self.program.agents[index];
            if agent.asked || agent.until > self.cycle {
                continue;
            }
            if agent.finished() && index >= self.program.copiers_from && !self.copies.is_empty() {
                let copy =
                    self.copies.swap_remove(self.program.dice.below(self.copies.len() as u32) as usize);
                agent.steps =
                    copy.steps(self.program.account.objects[copy.object].place, &mut self.program.dice);
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
        let agent = &mut self.program.agents[index];
        agent.asked = true;
        let mut request =
            WarpRequest { tag: agent.tag, slot: agent.slot, size: Size::U64 as u8, ..WarpRequest::default() };
        request.lanes = vec![Lane::default(); self.program.lanes as usize];
        match &agent.steps[agent.at] {
            Step::Access(access) => {
                request.op = access.op as u8;
                request.size = access.size as u8;
                request.red = access.red;
                for lane in &access.lanes {
                    request.mask |= 1 << lane.lane;
                    request.lanes[lane.lane as usize] =
                        Lane { ra: lane.place.address(), b: lane.b.into(), c: 0 };
                }
            }
            Step::Wait(wait) => {
                let limit = match wait.waits {
                    Waiting::Poll | Waiting::Suspend => 0,
                    Waiting::SuspendFor(limit) => limit,
                };
                let op = if wait.waits == Waiting::Poll { Op::MbarTestWait } else { Op::MbarTryWait };
                request.op = op as u8;
                request.mask = wait.lanes;
                let parity = u32::from(wait.phase & 1 != 0) << 31;
                let ra = self.program.account.objects[wait.object].place.address();
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
        let agent = &mut self.program.agents[index];
        agent.asked = true;
        let Step::Access(access) = &agent.steps[agent.at] else { unreachable!("no request for the cluster") };
        let lane = access.lanes[0];
        ClusterRequest {
            op: access.op as u8,
            size: access.size as u8,
            red: access.red,
            tag: agent.tag,
            slot: lane.place.slot,
            addr: lane.place.offset,
            b: lane.b.into(),
            c: 0,
        }
        .drive(i);
    }

    /// Handles the answer to an agent's request. `pred` and `rd` are the values at the port.
    fn answered(&mut self, tag: u8, pred: u32, rd: &[u128], by: Answer) -> Result<(), String> {
        let agent = &mut self.program.agents[usize::from(tag)];
        if !agent.asked {
            return Err(format!("{} is answered without a request", agent.name));
        }
        agent.asked = false;
        let name = agent.name.clone();
        match &agent.steps[agent.at] {
            Step::Wait(wait) => {
                let wait = *wait;
                let object = &self.program.account.objects[wait.object];
                let what = || format!("{name}, phase {} of {}", wait.phase, object.name);
                if pred != 0 && pred != wait.lanes {
                    let lanes = wait.lanes;
                    return Err(format!("{}: of lanes {lanes:#x} only {pred:#x} pass", what()));
                }
                self.program.account.events.both_forms += u64::from(wait.asks == Asks::Both);
                if pred != 0 {
                    if i64::from(object.completed) != wait.phase + 1 {
                        return Err(format!("{} passes with {} complete", what(), object.completed));
                    }
                    self.program.account.events.passed += 1;
                    self.program.account.events.woken += u64::from(by == Answer::WakeUp);
                    agent.at += 1;
                    self.last_progress = self.cycle;
                } else {
                    if agent.complete_when_taken {
                        return Err(format!("{} does not pass, although it was complete before", what()));
                    }
                    if by == Answer::WakeUp {
                        self.program.account.events.timed_out += 1;
                    } else {
                        self.program.account.events.turned_away += 1;
                    }
                    agent.until = self.cycle + u64::from(self.program.dice.below(16));
                }
            }
            Step::Access(access) => {
                match &access.reply {
                    Reply::Any => {}
                    Reply::Values(values) => {
                        for (lane, value) in access.lanes.iter().zip(values) {
                            let found = rd[lane.lane as usize] as u64;
                            if found != *value {
                                let at = lane.place.address();
                                return Err(format!("{name} finds {found:#x} at {at:#010x}, not {value:#x}"));
                            }
                        }
                        self.program.account.events.loads += 1;
                    }
                    Reply::States { object, phase } => {
                        for lane in &access.lanes {
                            let state = (rd[lane.lane as usize] >> 32) as u32;
                            if i64::from(state >> 31) != phase & 1 {
                                let object = &self.program.account.objects[*object].name;
                                return Err(format!(
                                    "{name} arrives in phase {phase} of {object} and is given state {state:#010x}"
                                ));
                            }
                            agent.state = state;
                        }
                        self.program.account.events.states += 1;
                    }
                }
                for lane in &access.lanes {
                    self.program.account.book(access.op, access.port, lane.place, lane.b);
                }
                agent.at += 1;
                self.last_progress = self.cycle;
            }
            Step::Pause(_) | Step::Copy(_) => unreachable!("{name} has no request"),
        }
        Ok(())
    }

    pub(super) fn watch_objects<M: Machine>(&mut self, config: &Config, session: &Session<M>) {
        let probe = session.machine().probe();
        // The unit writes both words of an object together, so the even banks show every write.
        let mut written = probe.wr_en & 0x5555_5555_5555_5555;
        while written != 0 {
            let bank = written.trailing_zeros();
            written &= written - 1;
            let at = (u32::from(probe.wr_row[bank as usize]) * config.num_banks + bank) as usize;
            let account = &mut self.program.account;
            let Some(object) = account.object_at(at) else { continue };
            let half = |at| u64::from(session.machine().word(at));
            let completes = probe.completed >> bank & 1 != 0;
            let law = account.written(object, half(at) | half(at + 1) << 32, completes);
            self.broken = self.broken.take().or(law.err());
        }
    }

    pub(super) fn deadlock(&self) -> Deadlock {
        let unfinished = self.program.agents.iter().filter(|agent| !agent.finished());
        let awaits = |agent: &Agent| match &agent.steps[agent.at] {
            Step::Wait(wait) => {
                let object = &self.program.account.objects[wait.object];
                Awaited::Phase {
                    object: object.name.clone(),
                    address: object.place.address(),
                    phase: wait.phase,
                    completed: object.completed,
                    found: object.found(),
                }
            }
            Step::Access(access) => Awaited::Answer(access.op),
            Step::Pause(_) | Step::Copy(_) => unreachable!("taken at once"),
        };
        let blocked = |agent: &Agent| BlockedAgent {
            agent: agent.name.clone(),
            tag: agent.tag,
            slot: agent.slot,
            awaits: awaits(agent),
        };
        Deadlock {
            cycle: self.cycle,
            idle_cycles: self.idle_cycles(),
            blocked: unfinished.map(blocked).collect(),
        }
    }
}

impl Stimulus for Execution {
    fn drive(&mut self, i: &mut In) {
        let open = |pattern: u64| pattern >> (self.cycle % 64) & 1 == 0 || self.cycle % 64 == 63;
        let (warp, cluster) = (open(self.pauses.warp), open(self.pauses.cluster));
        i.rst_n = 1;
        i.rsp_ready = u8::from(open(self.pauses.response));
        i.cl_rsp_ready = u8::from(open(self.pauses.cluster_response));
        i.wake_ready = u8::from(open(self.pauses.wake));
        if i.cta_valid == 0 {
            match self.program.allocations.pop() {
                Some(allocation) => allocation.drive(i),
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
        // A posted request has no response. Its agent continues when the unit accepts the request.
        if i.cl_valid & out.cl_ready & i.cl_red == 1 {
            laws.push(self.answered(i.cl_tag, 0, &[0], Answer::Response));
        }
        if i.req_valid & out.req_ready == 1 {
            let agent = &mut self.program.agents[usize::from(i.req_tag)];
            if let Step::Wait(wait) = &agent.steps[agent.at] {
                agent.complete_when_taken =
                    i64::from(self.program.account.objects[wait.object].completed) > wait.phase;
            }
        }
        self.broken = laws.into_iter().find_map(Result::err);
    }

    fn finished(&self) -> bool {
        self.program.allocations.is_empty()
            && self.copies.is_empty()
            && self.program.agents.iter().all(Agent::finished)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    Response,
    WakeUp,
}
