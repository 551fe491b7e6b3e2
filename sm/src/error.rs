use crate::deadlock::DeadlockReport;
use crate::launch::LaunchError;
use atoms_isa::SourceLine;
use atoms_ops::Fault;
use std::fmt;

/// Reason why a run gave no report. `E` is the error of the port.
#[derive(Debug, thiserror::Error)]
pub enum RunError<E: std::error::Error + 'static> {
    /// Error of the port, such as a difference between model and RTL.
    #[error(transparent)]
    Port(E),
    #[error(transparent)]
    Kernel(#[from] Box<KernelError>),
}

impl<E: std::error::Error + 'static> From<KernelError> for RunError<E> {
    fn from(error: KernelError) -> Self {
        RunError::Kernel(Box::new(error))
    }
}

#[derive(Debug, thiserror::Error)]
pub enum KernelError {
    #[error("kernel `{kernel}` uses {} instruction(s) that this core does not support:{}", instructions.len(), listed(instructions))]
    Unsupported { kernel: String, instructions: Vec<UnsupportedInstruction> },
    #[error(transparent)]
    Launch(#[from] LaunchError),
    #[error("{message}; {help}")]
    Resources { message: String, help: String },
    #[error(
        "CTA {cta}: the unit refused the allocation of {bytes} bytes from row {row} on; no CTA slot may \
         have an allocation before the run"
    )]
    AllocationRefused {
        cta: u32,
        bytes: u32,
        /// First row of the allocation.
        row: u32,
    },
    /// The unit reported a fault (spec 2.4, 3.3).
    #[error(
        "{fault} {address:#010x} in {place}, lane {lane}; the CTA's allocation has {allocation_bytes} bytes"
    )]
    Fault {
        fault: Fault,
        /// Address of the lowest faulting lane.
        address: u32,
        lane: u32,
        allocation_bytes: u32,
        place: InstructionPlace,
    },
    /// Invalid access: global memory outside every buffer, a misaligned global address, shared memory of
    /// another CTA of the cluster (spec 6.7), or an access by an asynchronous copy.
    #[error("{message} in {place}, lane {lane}")]
    Access {
        /// Kind of access: `global`, `remote` or `copy`.
        what: &'static str,
        message: String,
        lane: u32,
        place: InstructionPlace,
    },
    #[error("{message} in {place}")]
    Operand { message: String, place: InstructionPlace },
    #[error("threads ran past the end of the kernel; its last instruction is {place}")]
    RanOff { place: InstructionPlace },
    #[error(
        "kernel `{kernel}` has not ended after {} cycles; raise `cycle_budget` if that is too few:{}",
        report.cycle,
        report.objects()
    )]
    Budget { kernel: String, report: Box<DeadlockReport> },
    /// Deadlock or livelock: every thread waits for another one, or polls for a change that no thread can make
    /// any more.
    #[error("kernel `{kernel}` cannot go on at cycle {}: {}", report.cycle, report.text())]
    Deadlock { kernel: String, report: Box<DeadlockReport> },
    #[error("the port sent a response with tag {tag}, but no request in flight has this tag")]
    StrayResponse { tag: u8 },
}

impl KernelError {
    pub fn deadlock(&self) -> Option<&DeadlockReport> {
        match self {
            KernelError::Deadlock { report, .. } => Some(report),
            _ => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstructionPlace {
    pub kernel: String,
    pub line: Box<SourceLine>,
    /// Number of the CTA in the grid.
    pub cta: u32,
    /// Number of the warp in the CTA.
    pub warp: u32,
}

impl fmt::Display for InstructionPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let InstructionPlace { kernel, line, cta, warp } = self;
        write!(f, "kernel `{kernel}`, {line}, CTA {cta}, warp {warp}")
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsupportedInstruction {
    pub line: SourceLine,
    pub reason: String,
    /// Key under which instructions are reported together: a mnemonic without modifiers, or the reason.
    pub class: String,
}

/// One entry per class: the first instruction, and the lines of the others.
fn listed(instructions: &[UnsupportedInstruction]) -> String {
    let mut classes: Vec<(&UnsupportedInstruction, Vec<String>)> = Vec::new();
    for instruction in instructions {
        match classes.iter_mut().find(|(first, _)| first.class == instruction.class) {
            Some((_, others)) => others.push(instruction.line.line.to_string()),
            None => classes.push((instruction, Vec::new())),
        }
    }
    let entry = |(first, others): (&UnsupportedInstruction, Vec<String>)| {
        let text = format!("\n  {} ({})", first.line, first.reason);
        match others.as_slice() {
            [] => text,
            others => format!("{text}\n    and {} like it, in lines {}", others.len(), others.join(", ")),
        }
    };
    classes.into_iter().map(entry).collect()
}
