//! What lockstep found, as a result: the first cycle in which RTL and model differ.

use std::fmt;

use atoms_model::port::{Field, Out, OutField, Pins, Probe, ProbeField, Radix, Shape};
use atoms_ops::{Fault, Op, Size};

use atoms_monitor::{Cycle, InFlight};
use atoms_stimulus::request::{ClusterRequest, WarpRequest};

/// What lockstep compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparedSignal {
    /// An output port.
    Output(OutField),
    /// A field of the probe.
    Probe(ProbeField),
    /// The memory, at the end of a run.
    Memory,
}

/// As in the port list, with `probe.` before the fields of the probe.
impl fmt::Display for ComparedSignal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ComparedSignal::Output(field) => f.write_str(field.field().name),
            ComparedSignal::Probe(field) => write!(f, "probe.{}", field.field().name),
            ComparedSignal::Memory => f.write_str("memory"),
        }
    }
}

/// Which element of a signal that has several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignalElement {
    /// That of a lane.
    Lane(usize),
    /// That of a bank.
    Bank(usize),
    /// A word of memory.
    Word {
        /// Its bank.
        bank: usize,
        /// Its row.
        row: usize,
    },
}

impl fmt::Display for SignalElement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SignalElement::Lane(lane) => write!(f, "lane {lane}"),
            SignalElement::Bank(bank) => write!(f, "bank {bank}"),
            SignalElement::Word { bank, row } => write!(f, "bank {bank}, row {row}"),
        }
    }
}

/// One value that differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Where.
    pub signal: ComparedSignal,
    /// Lane, bank or word, where the signal has one element of each.
    pub element: Option<SignalElement>,
    /// What the RTL has.
    pub rtl: u128,
    /// What the model has.
    pub model: u128,
}

impl Difference {
    /// The place: `bank 3, probe.wr_data`.
    pub fn place(&self) -> String {
        match self.element {
            Some(element) => format!("{element}, {}", self.signal),
            None => self.signal.to_string(),
        }
    }

    /// One of the two values as the signal is best read.
    pub fn show(&self, value: u128) -> String {
        match self.signal {
            ComparedSignal::Output(field) => show(field.field(), value),
            ComparedSignal::Probe(field) => show(field.field(), value),
            ComparedSignal::Memory => format!("{value:#010x}"),
        }
    }
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

impl Subject {
    /// The request whose answer appears in a cycle.
    pub fn answered_in(cycle: &Cycle<'_>) -> Option<Subject> {
        let of = |cluster, tag| Subject { cluster, tag, op: None };
        let warp = cycle.warp_answer.as_ref().filter(|answer| answer.appears.is_some());
        let wake_up = cycle.wake_up.as_ref().filter(|answer| answer.appears.is_some());
        let cluster = cycle.cluster_answer.filter(|answer| answer.appears);
        warp.map(|answer| of(false, answer.tag))
            .or(wake_up.map(|answer| of(false, answer.tag)))
            .or(cluster.map(|answer| of(true, answer.tag)))
    }
}

/// The request that a difference in `signal` is about: the one answered, the one at issue, or the one whose
/// pass is in the last stage (`last`). None for what belongs to no request, such as queues and the table.
pub fn subject(
    signal: ComparedSignal,
    rtl: (&Out, &Probe),
    model: (&Out, &Probe),
    last: Option<Subject>,
) -> Option<Subject> {
    use {OutField as O, ProbeField as P};
    // Whose side gives the answer that the other has not says whose answer it is.
    let answered = |cluster, side: fn(&Out) -> (u8, u8)| match (side(model.0), side(rtl.0)) {
        ((1, tag), _) | (_, (1, tag)) => Some(Subject { cluster, tag, op: None }),
        _ => None,
    };
    match signal {
        ComparedSignal::Output(field) => match field {
            O::rsp_rd
            | O::rsp_pred
            | O::rsp_fault_addr
            | O::rsp_valid
            | O::rsp_tag
            | O::rsp_fault
            | O::rsp_fault_lane
            | O::rsp_passes => answered(false, |out| (out.rsp_valid, out.rsp_tag)),
            O::cl_rsp_rd
            | O::cl_rsp_fault_addr
            | O::cl_rsp_valid
            | O::cl_rsp_tag
            | O::cl_rsp_pred
            | O::cl_rsp_fault => answered(true, |out| (out.cl_rsp_valid, out.cl_rsp_tag)),
            O::wake_pred | O::wake_valid | O::wake_tag => {
                answered(false, |out| (out.wake_valid, out.wake_tag))
            }
            O::req_ready | O::cl_ready | O::cta_ready | O::cta_reject => None,
        },
        ComparedSignal::Probe(field) => match field {
            P::win_valid
            | P::win_lane
            | P::hazard
            | P::rotate
            | P::issue_pending
            | P::issue_op
            | P::issue_tag
            | P::issue_valid
            | P::issue_cluster
            | P::pass_served
            | P::pass_fire
            | P::pass_last
            | P::pass_index => {
                let probe = if model.1.issue_valid == 1 { model.1 } else { rtl.1 };
                let (cluster, tag, op) = (probe.issue_cluster == 1, probe.issue_tag, Some(probe.issue_op));
                (probe.issue_valid == 1).then_some(Subject { cluster, tag, op })
            }
            P::completed
            | P::wait_enter
            | P::stall
            | P::cl_done
            | P::cl_owes
            | P::wr_en
            | P::wr_data
            | P::wr_row => last,
            P::wait_suspended | P::wait_ready | P::pipe_valid | P::queue_count | P::cl_count | P::cl_owed => {
                None
            }
        },
        ComparedSignal::Memory => None,
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
    for &output in OutField::ALL {
        let value = |out: &Out, element| out.element(output as usize, element);
        compare(
            ComparedSignal::Output(output),
            output.field(),
            |e| (value(rtl.0, e), value(model.0, e)),
            &mut found,
        );
    }
    for &probe in ProbeField::ALL {
        let value = |side: &Probe, element| side.element(probe as usize, element);
        compare(
            ComparedSignal::Probe(probe),
            probe.field(),
            |e| (value(rtl.1, e), value(model.1, e)),
            &mut found,
        );
    }
    found
}

fn compare(
    signal: ComparedSignal,
    field: &Field,
    values: impl Fn(usize) -> (u128, u128),
    found: &mut Vec<Difference>,
) {
    let (elements, element): (_, fn(usize) -> Option<SignalElement>) = match field.shape {
        Shape::PerLane(_) => (atoms_model::port::MAX_LANES, |lane| Some(SignalElement::Lane(lane))),
        Shape::PerBank(_) => (atoms_model::port::MAX_BANKS, |bank| Some(SignalElement::Bank(bank))),
        Shape::Scalar(_) | Shape::LaneMask | Shape::BankMask => (1, |_| None),
    };
    for at in 0..elements {
        let (rtl, model) = values(at);
        if rtl != model {
            found.push(Difference { signal, element: element(at), rtl, model });
        }
    }
}

/// A value as the field is best read.
fn show(field: &Field, value: u128) -> String {
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
        let first = self.differences.first().map_or("nothing".to_string(), Difference::place);
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
            let Difference { rtl, model, .. } = *difference;
            write!(f, "\n  {}", difference.place())?;
            write!(f, "\n    model  {}\n    rtl    {}", difference.show(model), difference.show(rtl))?;
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
