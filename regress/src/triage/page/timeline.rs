//! Cycle-by-cycle table of a case for reports.

use atoms_cosim::case::trials::load_case;
use atoms_cosim::case::{Case, CaseStimulus};
use atoms_cosim::lockstep::Lockstep;
use atoms_cosim::machine::{Failure, Machine};
use atoms_cosim::session::Session;
use atoms_model::port::{In, Out};
use atoms_monitor::{
    AtIssue, BankWrite, ClusterAnswer, Cycle, InFlight, Monitor, PassIssued, WakeUp, WarpAnswer,
};
use atoms_ops::Fault;
use atoms_stimulus::Stimulus;

use crate::triage::signature::OpName;

pub const COLUMNS: [&str; 7] = ["cycle", "taken", "at issue", "pass", "pipeline", "banks written", "answer"];

/// Maximum number of rows; older rows are dropped.
const SHOWN: usize = 64;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub cells: [String; 7],
    /// True if the case fails in this cycle.
    pub fails: bool,
}

/// Runs a case and returns the last rows of its timeline, without idle cycles. A failing cycle is always
/// shown. The session must be after reset, and stops at the failure.
pub fn timeline(session: &mut Session<Lockstep>, case: &Case) -> (Vec<Row>, Option<Failure>) {
    let mut stimulus = Shown { inner: CaseStimulus::new(case), inputs: In::default() };
    let (mut monitor, mut rows): (_, Vec<Row>) = (Monitor::new(session.machine().config()), Vec::new());
    let mut failure = load_case(session, case).err();
    while failure.is_none() && !(stimulus.finished() && session.is_idle()) {
        let cycle = session.machine().cycles();
        failure = session.step(&mut stimulus).err();
        // Call the monitor directly: listeners do not see the failing cycle.
        let (out, probe) = (session.machine().out(), session.machine().probe());
        let mut cells = cells(&monitor.cycle(cycle, &stimulus.inputs, out, probe));
        let busy = cells.iter().any(|cell| !cell.is_empty());
        if busy || failure.is_some() {
            cells[0] = cycle.to_string();
            if rows.len() == SHOWN {
                rows.remove(0);
            }
            rows.push(Row { cells, fails: failure.is_some() });
        }
    }
    if failure.is_none() {
        failure = session.judge_memory().err();
    }
    (rows, failure)
}

/// Stimulus that records the inputs of each cycle.
struct Shown<'a> {
    inner: CaseStimulus<'a>,
    inputs: In,
}

impl Stimulus for Shown<'_> {
    fn drive(&mut self, i: &mut In) {
        self.inner.drive(i);
        self.inputs = *i;
    }

    fn observe(&mut self, i: &In, out: &Out) {
        self.inner.observe(i, out);
    }

    fn finished(&self) -> bool {
        self.inner.finished()
    }
}

fn cells(cycle: &Cycle<'_>) -> [String; 7] {
    let mut cells: [Vec<String>; 7] = Default::default();
    let [_, taken, issue, pass, pipe, written, answer] = &mut cells;
    if let Some(write) = cycle.allocation {
        taken.push(format!("allocation of slot {}", write.slot));
    }
    if cycle.allocation_settled.is_some_and(|settled| settled.rejected) {
        answer.push("allocation refused".to_string());
    }
    if let Some(InFlight { request, .. }) = &cycle.warp_accepted {
        taken.push(format!("{} tag {}", OpName::of(request.op), request.tag));
    }
    if let Some(InFlight { request, .. }) = &cycle.cluster_accepted {
        taken.push(format!("cluster {} tag {}", OpName::of(request.op), request.tag));
    }
    let pipeline = cycle.pipeline();
    if let Some(AtIssue { cluster, op, tag, .. }) = pipeline.at_issue {
        let port = if cluster { "cluster " } else { "" };
        issue.push(format!("{port}{} tag {tag}", OpName::of(op)));
    }
    if let Some(PassIssued { index, lanes, last, .. }) = cycle.pass_issued {
        let last = if last { ", last" } else { "" };
        pass.push(format!("{index} of lanes {lanes:#x}{last}"));
    }
    if pipeline.held_back {
        pass.push("held back".to_string());
    }
    if pipeline.stages != 0 {
        let stages: Vec<_> =
            (0..16).filter(|s| pipeline.stages >> s & 1 == 1).map(|s| s.to_string()).collect();
        pipe.push(format!("stage {}", stages.join(", ")));
    }
    if pipeline.stalled {
        pipe.push("stalled".to_string());
    }
    for BankWrite { bank, row, value } in cycle.writes().take(4) {
        written.push(format!("{bank}: {value:#x} in row {row}"));
    }
    let banks = cycle.writes().count();
    if banks > 4 {
        written.push(format!("and {} more", banks - 4));
    }
    if cycle.phases_completed() != 0 {
        written.push("phase complete".to_string());
    }
    if cycle.cluster_done.as_ref().is_some_and(|done| !done.owes) {
        answer.push("posted cluster request done".to_string());
    }
    let faulty = |code: u8| match Fault::from_code(code) {
        Some(Fault::None) => String::new(),
        Some(fault) => format!(" {fault}"),
        None => " unknown fault".to_string(),
    };
    let waits = |taken: bool| if taken { "" } else { " (not taken)" };
    if let Some(&WarpAnswer { tag, fault, taken, .. }) = cycle.warp_answer.as_ref() {
        answer.push(format!("tag {tag}{}{}", faulty(fault), waits(taken)));
    }
    if let Some(ClusterAnswer { tag, fault, taken, .. }) = cycle.cluster_answer {
        answer.push(format!("cluster tag {tag}{}{}", faulty(fault), waits(taken)));
    }
    if let Some(&WakeUp { tag, taken, .. }) = cycle.wake_up.as_ref() {
        answer.push(format!("wake-up of tag {tag}{}", waits(taken)));
    }
    cells.map(|texts| texts.join("; "))
}
