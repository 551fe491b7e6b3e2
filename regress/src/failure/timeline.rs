//! What goes on in the unit while a case runs, cycle by cycle, as a report shows it.

use atoms_cosim::campaign::load_case;
use atoms_cosim::case::{Case, CaseStimulus};
use atoms_cosim::lockstep::Lockstep;
use atoms_cosim::machine::Machine;
use atoms_cosim::session::{Failure, Session};
use atoms_cosim::stimulus::Stimulus;
use atoms_model::port::{In, Out, Probe};
use atoms_ops::Fault;

use crate::failure::bucket::op_name;

/// Columns of a timeline.
pub const COLUMNS: [&str; 7] = ["cycle", "taken", "at issue", "pass", "pipeline", "banks written", "answer"];

/// Rows shown: the last ones.
const SHOWN: usize = 64;

/// One cycle of the RTL: the texts below [`COLUMNS`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The texts.
    pub cells: [String; 7],
    /// Whether it is the cycle in which the case fails.
    pub fails: bool,
}

/// The rows of a case's run, the last ones if there are many; cycles in which nothing happens are left out, but
/// for the last. The session is after reset, and stands at the failure then.
pub fn timeline(session: &mut Session<Lockstep>, case: &Case) -> (Vec<Row>, Option<Failure>) {
    let mut stimulus = Shown { inner: CaseStimulus::new(case), inputs: In::default() };
    let mut rows: Vec<Row> = Vec::new();
    let mut failure = load_case(session, case).err();
    while failure.is_none() && !(stimulus.finished() && session.is_idle()) {
        let cycle = session.machine.cycles();
        failure = session.step(&mut stimulus).err();
        let mut cells = cells(&stimulus.inputs, session.machine.out(), session.machine.probe());
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

/// A stimulus whose inputs can be looked at.
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

fn cells(i: &In, out: &Out, probe: &Probe) -> [String; 7] {
    let mut cells: [Vec<String>; 7] = Default::default();
    let [_, taken, issue, pass, pipe, written, answer] = &mut cells;
    if i.cta_valid & out.cta_ready == 1 {
        taken.push(format!("part of slot {}", i.cta_slot));
    }
    if out.cta_reject == 1 {
        answer.push("part refused".to_string());
    }
    if i.req_valid & out.req_ready == 1 {
        taken.push(format!("{} tag {}", op_name(i.req_op), i.req_tag));
    }
    if i.cl_valid & out.cl_ready == 1 {
        taken.push(format!("cluster {} tag {}", op_name(i.cl_op), i.cl_tag));
    }
    if probe.issue_valid == 1 {
        let port = if probe.issue_cluster == 1 { "cluster " } else { "" };
        issue.push(format!("{port}{} tag {}", op_name(probe.issue_op), probe.issue_tag));
    }
    if probe.pass_fire == 1 {
        let last = if probe.pass_last == 1 { ", last" } else { "" };
        pass.push(format!("{} of lanes {:#x}{last}", probe.pass_index, probe.pass_served));
    }
    if probe.hazard == 1 {
        pass.push("held back".to_string());
    }
    if probe.pipe_valid != 0 {
        let stages: Vec<_> =
            (0..16).filter(|s| probe.pipe_valid >> s & 1 == 1).map(|s| s.to_string()).collect();
        pipe.push(format!("stage {}", stages.join(", ")));
    }
    if probe.stall == 1 {
        pipe.push("stands still".to_string());
    }
    let banks: Vec<_> = (0..64usize).filter(|bank| probe.wr_en >> bank & 1 == 1).collect();
    for bank in banks.iter().take(4) {
        written.push(format!("{bank}: {:#x} in row {}", probe.wr_data[*bank], probe.wr_row[*bank]));
    }
    if banks.len() > 4 {
        written.push(format!("and {} more", banks.len() - 4));
    }
    if probe.completed != 0 {
        written.push("phase complete".to_string());
    }
    if probe.cl_done & !probe.cl_owes == 1 {
        answer.push("a posted cluster request is done".to_string());
    }
    let faulty = |code: u8| match Fault::from_code(code) {
        Some(Fault::None) => String::new(),
        Some(fault) => format!(" {fault}"),
        None => " unknown fault".to_string(),
    };
    let waits = |ready: u8| if ready == 1 { "" } else { " (not taken)" };
    if out.rsp_valid == 1 {
        answer.push(format!("tag {}{}{}", out.rsp_tag, faulty(out.rsp_fault), waits(i.rsp_ready)));
    }
    if out.cl_rsp_valid == 1 {
        answer.push(format!(
            "cluster tag {}{}{}",
            out.cl_rsp_tag,
            faulty(out.cl_rsp_fault),
            waits(i.cl_rsp_ready)
        ));
    }
    if out.wake_valid == 1 {
        answer.push(format!("wake-up of tag {}{}", out.wake_tag, waits(i.wake_ready)));
    }
    cells.map(|texts| texts.join("; "))
}
