//! Findings of one run in one order.

use atoms_cosim::machine::Failure;
use atoms_isa::Kernel;
use atoms_sm::{Buffer, KernelError, Outcome, RunError};

use crate::kernel::KernelRun;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OrderFault {
    WrongResult,
    Race,
    Deadlock,
    Livelock,
    /// The run has not ended within the limit.
    Endless,
    /// An instruction failed, such as an access outside memory, or the unit.
    Error,
    Undefined,
}

impl OrderFault {
    pub const fn name(self) -> &'static str {
        match self {
            OrderFault::WrongResult => "wrong result",
            OrderFault::Race => "race",
            OrderFault::Deadlock => "deadlock",
            OrderFault::Livelock => "livelock",
            OrderFault::Endless => "not ended",
            OrderFault::Error => "error",
            OrderFault::Undefined => "undefined use",
        }
    }
}

/// Kind and place of a finding. Findings of several orders with the same kind and place count as one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FindingPlace {
    pub fault: OrderFault,
    /// Lines of the listing, from 1.
    pub lines: Vec<u32>,
    /// Buffer, kind of race or kind of undefined use.
    pub name: String,
}

impl FindingPlace {
    fn new(fault: OrderFault, lines: Vec<u32>, name: &str) -> FindingPlace {
        FindingPlace { fault, lines, name: name.to_string() }
    }
}

/// Findings of a run, each with a description of one line.
pub(crate) fn findings(kernel: &Kernel, run: &KernelRun<'_>) -> Vec<(FindingPlace, String)> {
    let mut found: Vec<(FindingPlace, String)> = Vec::new();
    match &run.outcome {
        Ok(report) => found.extend(report.buffers.iter().filter_map(wrong_result)),
        Err(error) => {
            let first_line = error.to_string().lines().take(1).collect::<String>();
            found.extend(
                place_of(error).map(|place| (place, first_line.trim_end_matches([':', ',']).to_string())),
            );
        }
    }
    let line_of = |pc: u32| kernel.source.get(pc as usize);
    let races = run.races.iter().flat_map(|races| races.findings());
    for finding in races.filter(|finding| !finding.kind.is_hint()) {
        let parties = [finding.first.pc, finding.second.pc].map(line_of);
        let mut parties: Vec<_> = parties.into_iter().flatten().collect();
        parties.sort_by_key(|line| line.line);
        let lines = parties.iter().map(|line| line.line).collect();
        let texts: Vec<_> = parties.iter().map(ToString::to_string).collect();
        let what = format!("{}: {}", finding.kind, texts.join(" and "));
        found.push((FindingPlace::new(OrderFault::Race, lines, finding.kind.name()), what));
    }
    for (kind, line) in run.undefined.iter().flat_map(|undefined| undefined.places()) {
        let what = line.map_or(kind.to_string(), |line| format!("{kind} in line {line}"));
        found.push((FindingPlace::new(OrderFault::Undefined, Vec::from_iter(line), kind), what));
    }
    found
}

fn wrong_result(buffer: &Buffer) -> Option<(FindingPlace, String)> {
    let what = match &buffer.outcome {
        Outcome::Open | Outcome::Met { .. } => return None,
        Outcome::Differs { index, expected, found, .. } => {
            format!("{}[{index}]: expected {expected}, found {found}", buffer.name)
        }
        Outcome::OtherValues { lacking, compared, .. } => {
            format!("{}: {lacking} of {compared} expected values are missing", buffer.name)
        }
    };
    Some((FindingPlace::new(OrderFault::WrongResult, Vec::new(), &buffer.name), what))
}

/// `None` if the run was interrupted.
fn place_of(error: &RunError<Failure>) -> Option<FindingPlace> {
    let error = match error {
        RunError::Port(failure) if failure.is_finding() => {
            return Some(FindingPlace::new(OrderFault::Error, Vec::new(), ""));
        }
        RunError::Port(_) => return None,
        RunError::Kernel(error) => &**error,
    };
    let (fault, line) = match error {
        KernelError::Deadlock { report, .. } => {
            let fault = if report.quiet.is_some() { OrderFault::Livelock } else { OrderFault::Deadlock };
            // Orders differ in the threads that wait, so the first line stands for all.
            let places = report.blocked.iter().flat_map(|object| &object.places);
            (fault, places.map(|place| place.line).min())
        }
        KernelError::Budget { .. } => (OrderFault::Endless, None),
        KernelError::Fault { place, .. }
        | KernelError::Access { place, .. }
        | KernelError::Operand { place, .. }
        | KernelError::RanOff { place } => (OrderFault::Error, Some(place.line.line)),
        _ => (OrderFault::Error, None),
    };
    Some(FindingPlace::new(fault, Vec::from_iter(line), ""))
}
