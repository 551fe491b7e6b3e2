//! Findings of one run: results of all checks, and the reason why the run did not end.

use atoms_cosim::machine::Failure;
use atoms_isa::SourceLine;
use atoms_sm::races::Party;
use atoms_sm::{Buffer, KernelError, Outcome, RunError};

use crate::kernel::KernelRun;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum KernelFault {
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

impl KernelFault {
    pub const fn name(self) -> &'static str {
        match self {
            KernelFault::WrongResult => "wrong result",
            KernelFault::Race => "race",
            KernelFault::Deadlock => "deadlock",
            KernelFault::Livelock => "livelock",
            KernelFault::Endless => "not ended",
            KernelFault::Error => "error",
            KernelFault::Undefined => "undefined use",
        }
    }
}

#[derive(Clone, Debug)]
pub struct KernelFinding<'k> {
    pub fault: KernelFault,
    /// Buffer, kind of race or kind of undefined use. Empty for other faults.
    pub name: String,
    /// True if the finding need not be a bug.
    pub hint: bool,
    /// Description of the kind of finding, or of the finding itself, in one line.
    pub title: String,
    /// Memory or barrier. Empty if there is none.
    pub at: String,
    /// Advice to fix it. Empty if there is none.
    pub advice: String,
    pub sites: Vec<FindingSite<'k>>,
}

/// Instruction that takes part in a finding.
#[derive(Clone, Debug)]
pub struct FindingSite<'k> {
    pub line: &'k SourceLine,
    /// Kind of access, such as `plain write`. Empty if the site is none of a race.
    pub act: String,
    /// Threads and cycle, such as `CTA 0 warp 0 lane 0, cycle 16`. Empty if they are not known.
    pub threads: String,
    /// Access, for a race.
    pub party: Option<Party>,
}

/// Kind and place of a finding. Findings of several orders with the same kind and place count as one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FindingPlace {
    pub fault: KernelFault,
    /// Lines of the listing, from 1.
    pub lines: Vec<u32>,
    pub name: String,
}

impl FindingSite<'_> {
    /// Description, such as `plain write, CTA 0 warp 0 lane 0, cycle 16`.
    pub fn about(&self) -> String {
        let separator = if self.act.is_empty() { "" } else { ", " };
        format!("{}{separator}{}", self.act, self.threads)
    }
}

impl KernelFinding<'_> {
    /// Description in one line.
    pub fn what(&self) -> String {
        let separator = if self.at.is_empty() { "" } else { ", at " };
        format!("{}{separator}{}", self.title, self.at)
    }

    pub fn place(&self) -> FindingPlace {
        let mut lines: Vec<u32> = self.sites.iter().map(|site| site.line.line).collect();
        lines.sort_unstable();
        if matches!(self.fault, KernelFault::Deadlock | KernelFault::Livelock) {
            // Orders differ in the threads that wait, so the first line stands for all.
            lines.truncate(1);
        }
        FindingPlace { fault: self.fault, lines, name: self.name.clone() }
    }

    /// Description with the instructions, in one line.
    pub fn summary(&self) -> String {
        if !matches!(self.fault, KernelFault::Race | KernelFault::Undefined) {
            return self.what();
        }
        let mut lines: Vec<_> = self.sites.iter().map(|site| site.line).collect();
        lines.sort_by_key(|line| line.line);
        let lines: Vec<_> = lines.iter().map(ToString::to_string).collect();
        format!("{}: {}", self.what(), lines.join(" and "))
    }
}

impl<'k> KernelRun<'k> {
    /// Findings of the run, with the reason why it did not end. An interrupted run has only those of checks.
    pub fn findings(&self) -> Vec<KernelFinding<'k>> {
        let mut found: Vec<_> = match &self.outcome {
            Ok(report) => report.buffers.iter().filter_map(wrong_result).collect(),
            Err(error) => self.of_error(error).into_iter().collect(),
        };
        found.extend(self.races.iter().flat_map(|races| races.reported()));
        found.extend(self.undefined.iter().flat_map(|undefined| undefined.reported()));
        found
    }

    /// `None` if the run was interrupted.
    fn of_error(&self, error: &RunError<Failure>) -> Option<KernelFinding<'k>> {
        let site = |line: u32, text: &str| {
            let same = |source: &&SourceLine| source.line == line && source.text == text;
            let line = self.kernel.source.iter().find(same)?;
            Some(FindingSite { line, act: String::new(), threads: String::new(), party: None })
        };
        let text = error.to_string();
        let (fault, sites, advice) = match error {
            RunError::Port(failure) if failure.is_finding() => (KernelFault::Error, Vec::new(), ""),
            RunError::Port(_) => return None,
            RunError::Kernel(error) => match &**error {
                KernelError::Deadlock { report, .. } => {
                    let livelock = report.quiet.is_some();
                    let fault = if livelock { KernelFault::Livelock } else { KernelFault::Deadlock };
                    let places = report.blocked.iter().flat_map(|object| &object.places);
                    let sites = places.filter_map(|place| site(place.line, &place.text)).collect();
                    (fault, sites, text.split_once('\n').map_or("", |(_, rest)| rest))
                }
                KernelError::Budget { .. } => (KernelFault::Endless, Vec::new(), ""),
                KernelError::Fault { place, .. }
                | KernelError::Access { place, .. }
                | KernelError::Operand { place, .. }
                | KernelError::RanOff { place } => {
                    let sites = site(place.line.line, &place.line.text).into_iter().collect();
                    (KernelFault::Error, sites, "")
                }
                _ => (KernelFault::Error, Vec::new(), ""),
            },
        };
        let title = text.lines().next().unwrap_or_default().trim_end_matches([':', ',']).to_string();
        let (name, at) = (String::new(), String::new());
        Some(KernelFinding { fault, name, hint: false, title, at, advice: advice.into(), sites })
    }
}

fn wrong_result<'k>(buffer: &Buffer) -> Option<KernelFinding<'k>> {
    let name = &buffer.name;
    let title = match &buffer.outcome {
        Outcome::Open | Outcome::Met { .. } => return None,
        Outcome::Differs { index, expected, found, .. } => {
            format!("{name}[{index}]: expected {expected}, found {found}")
        }
        Outcome::OtherValues { lacking, compared, .. } => {
            format!("{name}: {lacking} of {compared} expected values are missing")
        }
    };
    let (fault, name) = (KernelFault::WrongResult, name.clone());
    let (at, advice, sites) = (String::new(), String::new(), Vec::new());
    Some(KernelFinding { fault, name, hint: false, title, at, advice, sites })
}
