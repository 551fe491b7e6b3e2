//! What lockstep found, as a result: the first cycle in which RTL and model differ.

use std::fmt;

use atoms_model::port::{Field, Out, Probe, Radix, Shape};
use atoms_ops::{Fault, Op, Size};

use crate::monitor::InFlight;
use crate::request::{ClusterRequest, WarpRequest};

/// One value that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Field of the port list, `probe.` before those of the probe.
    pub field: String,
    /// Lane or bank, where the field has one element of each.
    pub element: Option<String>,
    /// What the RTL has.
    pub rtl: String,
    /// What the model has.
    pub model: String,
}

/// The request that a difference is about, as far as the unit says which one that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subject {
    /// It came through the cluster port.
    pub cluster: bool,
    /// Its tag.
    pub tag: u8,
    /// Its operation code, where the unit still knows it.
    pub op: Option<u8>,
}

/// The request that a difference in `field` is about: the one answered, the one at issue, or the one whose
/// pass is in the last stage (`last`). None for what belongs to no request, such as queues and the table.
pub fn subject(
    field: &str,
    rtl: (&Out, &Probe),
    model: (&Out, &Probe),
    last: Option<Subject>,
) -> Option<Subject> {
    // Whose side gives the answer that the other has not says whose answer it is.
    let of = |side: fn(&Out) -> (u8, u8)| match (side(model.0), side(rtl.0)) {
        ((1, tag), _) | (_, (1, tag)) => Some(tag),
        _ => None,
    };
    let answer = |cluster| move |tag| Subject { cluster, tag, op: None };
    let at_issue = || {
        let probe = if model.1.issue_valid == 1 { model.1 } else { rtl.1 };
        let (cluster, tag, op) = (probe.issue_cluster == 1, probe.issue_tag, Some(probe.issue_op));
        (probe.issue_valid == 1).then_some(Subject { cluster, tag, op })
    };
    match field {
        field if field.starts_with("rsp_") => of(|out| (out.rsp_valid, out.rsp_tag)).map(answer(false)),
        field if field.starts_with("cl_rsp_") => {
            of(|out| (out.cl_rsp_valid, out.cl_rsp_tag)).map(answer(true))
        }
        field if field.starts_with("wake_") => of(|out| (out.wake_valid, out.wake_tag)).map(answer(false)),
        "probe.win_valid" | "probe.win_lane" | "probe.hazard" | "probe.rotate" => at_issue(),
        field if field.starts_with("probe.issue_") || field.starts_with("probe.pass_") => at_issue(),
        "probe.completed" | "probe.wait_enter" | "probe.stall" | "probe.cl_done" | "probe.cl_owes" => last,
        field if field.starts_with("probe.wr_") => last,
        _ => None,
    }
}

/// The first cycle in which RTL and model differ, and what led there.
#[derive(Clone, Debug)]
pub struct Mismatch {
    /// Cycle since reset, from 0.
    pub cycle: u64,
    /// Every value that differs in that cycle, outputs first.
    pub differences: Vec<Difference>,
    /// The request that the first of them is about.
    pub subject: Option<Subject>,
    /// Warp requests inside the unit, oldest first.
    pub in_flight: Vec<InFlight<WarpRequest>>,
    /// Cluster requests inside the unit, oldest first.
    pub clusters_in_flight: Vec<InFlight<ClusterRequest>>,
    /// Configuration.
    pub config: String,
    /// Wave of the cycles before, if one was written, and its first cycle.
    pub trace: Option<(String, u64)>,
    /// One line that reproduces it.
    pub repeat: String,
}

impl Mismatch {
    /// A mismatch in `cycle` without its surroundings.
    pub fn new(cycle: u64, differences: Vec<Difference>) -> Self {
        Mismatch {
            cycle,
            differences,
            subject: None,
            in_flight: Vec::new(),
            clusters_in_flight: Vec::new(),
            config: String::new(),
            trace: None,
            repeat: String::new(),
        }
    }
}

impl Mismatch {
    /// Adds the requests inside the unit, oldest first, and with them the operation of the one it is about.
    pub(crate) fn surround(
        &mut self,
        warps: Vec<InFlight<WarpRequest>>,
        clusters: Vec<InFlight<ClusterRequest>>,
    ) {
        self.in_flight = warps;
        self.clusters_in_flight = clusters;
        if let Some(subject) = &mut self.subject
            && subject.op.is_none()
        {
            // Of several with this tag the oldest is answered first.
            let tag = subject.tag;
            subject.op = if subject.cluster {
                self.clusters_in_flight.iter().map(|f| &f.request).find(|r| r.tag == tag).map(|r| r.op)
            } else {
                self.in_flight.iter().map(|f| &f.request).find(|r| r.tag == tag).map(|r| r.op)
            };
        }
    }
}

/// Every value in which the two sides differ, outputs first.
pub fn differences(rtl: (&Out, &Probe), model: (&Out, &Probe)) -> Vec<Difference> {
    let mut found = Vec::new();
    compare("", Out::FIELDS, |f, e| (rtl.0.element(f, e), model.0.element(f, e)), &mut found);
    compare("probe.", Probe::FIELDS, |f, e| (rtl.1.element(f, e), model.1.element(f, e)), &mut found);
    found
}

fn compare(
    prefix: &str,
    fields: &[Field],
    values: impl Fn(usize, usize) -> (u128, u128),
    found: &mut Vec<Difference>,
) {
    for (at, field) in fields.iter().enumerate() {
        let (elements, what) = match field.shape {
            Shape::PerLane(_) => (atoms_model::port::MAX_LANES, Some("lane")),
            Shape::PerBank(_) => (atoms_model::port::MAX_BANKS, Some("bank")),
            Shape::Scalar(_) | Shape::LaneMask | Shape::BankMask => (1, None),
        };
        for element in 0..elements {
            let (rtl, model) = values(at, element);
            if rtl != model {
                found.push(Difference {
                    field: format!("{prefix}{}", field.name),
                    element: what.map(|what| format!("{what} {element}")),
                    rtl: show(field, rtl),
                    model: show(field, model),
                });
            }
        }
    }
}

/// A value as the field is best read.
pub fn show(field: &Field, value: u128) -> String {
    let code = u8::try_from(value).unwrap_or(u8::MAX);
    let name = match field.radix {
        Radix::Number => None,
        Radix::Op => Op::from_code(code).map(|op| op.name()),
        Radix::Size => Size::from_code(code).map(|size| size.name()),
        Radix::Fault => Fault::from_code(code).map(|fault| fault.name()),
    };
    match name {
        Some(name) => format!("{name} ({code})"),
        None if value <= 0xffff => format!("{value:#x}"),
        None if value <= u128::from(u32::MAX) => format!("{:#06x}_{:04x}", value >> 16, value & 0xffff),
        None => format!("{value:#x}"),
    }
}

/// Differences shown in full; a broken pipeline differs in hundreds.
const SHOWN: usize = 4;

/// Requests shown; those behind them have hardly done anything yet.
const REQUESTS_SHOWN: usize = 3;

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = |d: &Difference| match &d.element {
            Some(element) => format!("{element}, {}", d.field),
            None => d.field.clone(),
        };
        let first = self.differences.first().map_or("nothing".to_string(), place);
        write!(f, "mismatch at cycle {}: {first}", self.cycle)?;
        if !self.config.is_empty() {
            write!(f, "\n  config   {}", self.config)?;
        }
        for flight in self.in_flight.iter().take(REQUESTS_SHOWN) {
            write!(
                f,
                "\n  request  #{} taken in cycle {}: {}",
                flight.number, flight.taken_at, flight.request
            )?;
        }
        if self.in_flight.len() > REQUESTS_SHOWN {
            write!(f, "\n           and {} younger ones", self.in_flight.len() - REQUESTS_SHOWN)?;
        }
        for flight in &self.clusters_in_flight {
            write!(
                f,
                "\n  cluster  #{} taken in cycle {}: {}",
                flight.number, flight.taken_at, flight.request
            )?;
        }
        for difference in self.differences.iter().take(SHOWN) {
            write!(f, "\n  {}", place(difference))?;
            write!(f, "\n    model  {}\n    rtl    {}", difference.model, difference.rtl)?;
        }
        if self.differences.len() > SHOWN {
            write!(f, "\n  and {} more values", self.differences.len() - SHOWN)?;
        }
        if let Some((path, from)) = &self.trace {
            write!(f, "\n  trace    {path}, from cycle {from}")?;
        }
        if !self.repeat.is_empty() {
            write!(f, "\n  repeat   {}", self.repeat)?;
        }
        Ok(())
    }
}
