//! Mismatch report: the first cycle in which RTL and model differ.

use std::fmt;

use atoms_model::port::{Field, Out, OutField, Pins, Probe, ProbeField, Radix, Shape};
use atoms_ops::{Fault, Op, Size};

use atoms_monitor::{Cycle, InFlight};
use atoms_stimulus::request::{ClusterRequest, WarpRequest};

/// Signal, or the memory, that lockstep compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparedSignal {
    /// An output port of the unit.
    Output(OutField),
    /// A field of the probe.
    Probe(ProbeField),
    /// The memory, at the end of a run.
    Memory,
}

/// Displays the name from the port list. Fields of the probe get the prefix `probe.`.
impl fmt::Display for ComparedSignal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ComparedSignal::Output(field) => f.write_str(field.field().name),
            ComparedSignal::Probe(field) => write!(f, "probe.{}", field.field().name),
            ComparedSignal::Memory => f.write_str("memory"),
        }
    }
}

/// Element of a signal that has several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignalElement {
    /// Element of one lane.
    Lane(usize),
    /// Element of one bank.
    Bank(usize),
    /// Word of the memory.
    Word {
        /// Bank of the word.
        bank: usize,
        /// Row of the word.
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
    /// Signal that differs, or the memory.
    pub signal: ComparedSignal,
    /// Lane, bank or word. `None` for a signal with a single element.
    pub element: Option<SignalElement>,
    /// Value in the RTL.
    pub rtl: u128,
    /// Value in the model.
    pub model: u128,
}

impl Difference {
    /// Returns the place of the difference, for example `bank 3, probe.wr_data`.
    pub fn place(&self) -> String {
        match self.element {
            Some(element) => format!("{element}, {}", self.signal),
            None => self.signal.to_string(),
        }
    }

    /// Formats one of the two values in the radix of the signal.
    pub fn show(&self, value: u128) -> String {
        match self.signal {
            ComparedSignal::Output(field) => show(field.field(), value),
            ComparedSignal::Probe(field) => show(field.field(), value),
            ComparedSignal::Memory => format!("{value:#010x}"),
        }
    }
}

/// The request that a difference is about, as far as the signals identify it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subject {
    /// True for a cluster request.
    pub cluster: bool,
    /// Tag of the request.
    pub tag: u8,
    /// Operation code. `None` if the signals do not show it.
    pub op: Option<u8>,
}

impl Subject {
    /// Returns the request whose answer appears in a cycle.
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

/// Returns the request that a difference in `signal` is about: answered, at issue, or `last`, in the last
/// stage. `None` for signals of no single request, such as queue levels.
pub fn subject(
    signal: ComparedSignal,
    rtl: (&Out, &Probe),
    model: (&Out, &Probe),
    last: Option<Subject>,
) -> Option<Subject> {
    use {OutField as O, ProbeField as P};
    // If only one side offers an answer, the tag of that answer identifies the request.
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

/// The first cycle in which RTL and model differ, with the requests inside at that time.
#[derive(Clone, Debug)]
pub struct Mismatch {
    /// Cycle since reset, from 0.
    pub cycle: u64,
    /// Every value that differs in that cycle, outputs first.
    pub differences: Vec<Difference>,
    /// Request that the first difference is about.
    pub subject: Option<Subject>,
    /// Warp requests inside the unit, oldest first.
    pub in_flight: Vec<InFlight<WarpRequest>>,
    /// Cluster requests inside the unit, oldest first.
    pub clusters_in_flight: Vec<InFlight<ClusterRequest>>,
    /// Name of the configuration, or empty.
    pub config: String,
    /// Path and first cycle of the wave, if one was written.
    pub trace: Option<(String, u64)>,
    /// Command line that reproduces the mismatch, or empty.
    pub repeat: String,
}

impl Mismatch {
    /// Creates a report without requests, configuration or wave.
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

    /// Adds the requests inside the unit, oldest first, and the operation code of the subject.
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
            // If several requests have this tag, the oldest one is answered first.
            let tag = subject.tag;
            subject.op = if subject.cluster {
                self.clusters_in_flight.iter().map(|f| &f.request).find(|r| r.tag == tag).map(|r| r.op)
            } else {
                self.in_flight.iter().map(|f| &f.request).find(|r| r.tag == tag).map(|r| r.op)
            };
        }
    }
}

/// Returns every value in which RTL and model differ, outputs first.
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

/// Differences shown in full. A broken pipeline can differ in hundreds of values.
const SHOWN: usize = 4;

/// Requests shown. Younger requests have hardly started.
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
            write!(f, "\n           and {} younger requests", self.in_flight.len() - REQUESTS_SHOWN)?;
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
