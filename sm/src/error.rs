//! Errors that end a run early.

use crate::launch::LaunchError;
use atoms_isa::Arch;
use atoms_ops::Fault;
use std::fmt;

/// Reason why a run gave no report. `E` is what the port reports.
#[derive(Debug, thiserror::Error)]
pub enum RunError<E: std::error::Error + 'static> {
    /// The port had something to report, such as two sides that disagree.
    #[error(transparent)]
    Port(E),
    /// The kernel cannot be run, or did something it must not.
    #[error(transparent)]
    Kernel(#[from] Box<KernelError>),
}

impl<E: std::error::Error + 'static> From<KernelError> for RunError<E> {
    fn from(error: KernelError) -> Self {
        RunError::Kernel(Box::new(error))
    }
}

/// Error in a kernel or in its launch.
#[derive(Debug, thiserror::Error)]
pub enum KernelError {
    /// Instructions that cannot be carried out; found before anything runs.
    #[error("kernel `{kernel}` needs {} instruction(s) that this core lacks:{}", instructions.len(), listed(instructions))]
    Unsupported {
        kernel: String,
        /// All of them, in order of the listing.
        instructions: Vec<UnsupportedInstruction>,
    },
    /// The launch does not fit the kernel.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// The launch does not fit the core or the memory behind the port.
    #[error("{message}; {help}")]
    Resources {
        /// The resource, the amount needed and the amount available.
        message: String,
        /// What would work.
        help: String,
    },
    /// The port refused the allocation of a CTA.
    #[error(
        "CTA {cta}: its allocation of {bytes} bytes from row {row} on was refused; is the memory behind the port empty?"
    )]
    AllocationRefused {
        /// Number of the CTA in the grid.
        cta: u32,
        /// Size of the allocation, in bytes.
        bytes: u32,
        /// First row of the allocation.
        row: u32,
    },
    /// The unit found a request faulty (spec 2.4, 3.3).
    #[error(
        "{fault} {address:#010x} in {place}, lane {lane}; the CTA's allocation has {allocation_bytes} bytes"
    )]
    Fault {
        fault: Fault,
        /// The lowest faulting lane's address.
        address: u32,
        /// The lowest faulting lane.
        lane: u32,
        /// Size of the CTA's allocation, in bytes.
        allocation_bytes: u32,
        place: InstructionPlace,
    },
    /// An access that cannot be done: to global memory outside every buffer or misaligned, to another CTA of the cluster
    /// (spec 6.7), or by an asynchronous copy.
    #[error("{message} in {place}, lane {lane}")]
    Access {
        /// Kind of access: `global`, `remote` or `copy`.
        what: &'static str,
        /// The error, with the address.
        message: String,
        lane: u32,
        place: InstructionPlace,
    },
    /// An instruction whose operands say something that cannot be done.
    #[error("{message} in {place}")]
    Operand { message: String, place: InstructionPlace },
    /// A thread ran past the last instruction.
    #[error("threads ran past the last instruction; the last one was {place}")]
    RanOff {
        /// The last instruction.
        place: InstructionPlace,
    },
    /// The kernel did not end in time.
    #[error(
        "kernel `{kernel}` has not ended after {cycles} cycles; raise `cycle_budget` if that is too few:{}",
        standing(warps)
    )]
    Budget { kernel: String, cycles: u64, warps: Vec<WarpStanding> },
    /// Every thread waits for another one.
    #[error(
        "kernel `{kernel}` cannot go on at cycle {cycles}: every thread waits for another:{}",
        standing(warps)
    )]
    Deadlock { kernel: String, cycles: u64, warps: Vec<WarpStanding> },
    /// Threads ask again and again for what no thread is left to do.
    #[error(
        "kernel `{kernel}` cannot go on at cycle {cycles}: nothing but registers has changed for {quiet} cycles, and \
         every thread waits or repeats itself{}:{}",
        together(*in_step),
        standing(warps)
    )]
    WaitsForEver {
        kernel: String,
        cycles: u64,
        /// Cycles since something changed that another thread could see.
        quiet: u64,
        /// The architecture, if threads wait to converge with others of their warp that repeat themselves, and it does
        /// not let them go on alone: before sm_70.
        in_step: Option<Arch>,
        warps: Vec<WarpStanding>,
    },
    /// The port answered a request that was not asked.
    #[error("the port answered tag {tag}, and no request has that tag")]
    StrayResponse { tag: u8 },
}

/// An instruction of a warp, for messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstructionPlace {
    pub kernel: String,
    /// Line in the listing, from 1.
    pub line: u32,
    /// The instruction as written.
    pub text: String,
    /// Number of the CTA in the grid.
    pub cta: u32,
    /// Number of the warp in the CTA.
    pub warp: u32,
}

impl fmt::Display for InstructionPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let InstructionPlace { kernel, line, text, cta, warp } = self;
        write!(f, "kernel `{kernel}`, line {line}: `{text}`, CTA {cta}, warp {warp}")
    }
}

/// An instruction that cannot be carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsupportedInstruction {
    /// Line in the listing, from 1.
    pub line: u32,
    /// The instruction as written.
    pub text: String,
    /// Reason why the instruction is unsupported.
    pub reason: String,
    /// Instructions of one class are reported together: a mnemonic without modifiers, or the reason.
    pub class: String,
}

/// Position of threads of one warp that are together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WarpStanding {
    /// Their next instruction.
    pub place: InstructionPlace,
    pub pc: u32,
    pub mask: u32,
    pub waiting: String,
}

/// One entry for each class: its first instruction, and the lines of the others.
fn listed(instructions: &[UnsupportedInstruction]) -> String {
    let mut classes: Vec<(&UnsupportedInstruction, Vec<String>)> = Vec::new();
    for instruction in instructions {
        match classes.iter_mut().find(|(first, _)| first.class == instruction.class) {
            Some((_, others)) => others.push(instruction.line.to_string()),
            None => classes.push((instruction, Vec::new())),
        }
    }
    let entry = |(first, others): (&UnsupportedInstruction, Vec<String>)| {
        let text = format!("\n  line {}: `{}` ({})", first.line, first.text, first.reason);
        match others.as_slice() {
            [] => text,
            others => format!("{text}\n    and {} like it, in lines {}", others.len(), others.join(", ")),
        }
    };
    classes.into_iter().map(entry).collect()
}

fn together(in_step: Option<Arch>) -> String {
    in_step.map_or(String::new(), |arch| {
        format!(
            "; on {arch} threads that wait at SYNC go on only with all others of their warp, so that none of these can wait \
             for what they do behind it (from sm_70 on they are independent)"
        )
    })
}

fn standing(warps: &[WarpStanding]) -> String {
    let mut text = String::new();
    for (at, w) in warps.iter().enumerate() {
        let WarpStanding {
            place: InstructionPlace { cta, warp, line, text: instruction, .. },
            pc,
            mask,
            waiting,
        } = w;
        // Many wait at one object, whose fields need be told once.
        let told = warps[..at].iter().any(|other| (other.place.cta, &other.waiting) == (*cta, waiting));
        let waiting = match waiting.split_once(": ") {
            Some((what, _)) if told => what,
            _ => waiting,
        };
        let place = format!("at {pc} (line {line}: `{instruction}`)");
        text += &format!("\n  CTA {cta} warp {warp} lanes {mask:#010x} {place}, {waiting}");
    }
    text
}
