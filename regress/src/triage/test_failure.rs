//! Why a test did not pass.

use std::fmt;

use atoms_cosim::session::Failure;
use atoms_sm::KernelError;

use crate::triage::bucket::Key;
use crate::triage::death::Death;

/// Why a test did not pass.
#[derive(Debug)]
pub enum Trouble {
    /// What the session around the unit had to say.
    Unit(Box<Failure>),
    /// A kernel left something else in a buffer than its launch file expects.
    Missed {
        /// The kernel.
        kernel: String,
        /// The buffer.
        buffer: String,
        /// What was found and what was expected.
        text: String,
    },
    /// A kernel uses an mbarrier object in a way that is undefined (spec 6.9).
    Undefined {
        /// Kind of use.
        kind: String,
        /// In the model's words.
        text: String,
    },
    /// A kernel cannot go on: a fault, a deadlock, too many instructions.
    Kernel {
        /// The kernel.
        kernel: String,
        /// Kind of trouble.
        what: &'static str,
        /// In the core's words.
        text: String,
    },
    /// The process died, or hung and was killed.
    Crashed {
        /// How.
        death: Death,
        /// How, in words.
        how: String,
    },
    /// The worker panicked, with these words.
    Panicked(String),
    /// It cannot be run at all.
    Cannot(String),
}

impl Trouble {
    /// What a kernel met in the core. One that cannot be run is a question that cannot be asked; one that
    /// does what it must not, or waits for ever, is a finding.
    pub fn of_kernel(kernel: &str, error: &KernelError) -> Trouble {
        let what = match error {
            KernelError::Lacking { .. }
            | KernelError::Launch(_)
            | KernelError::Resources { .. }
            | KernelError::Operand { .. } => return Trouble::Cannot(error.to_string()),
            KernelError::PartRefused { .. } => "part refused",
            KernelError::Fault { .. } => "fault",
            KernelError::Global { .. } => "global",
            KernelError::Remote { .. } => "remote",
            KernelError::Copy { .. } => "copy",
            KernelError::RanOff { .. } => "ran off",
            KernelError::Budget { .. } => "budget",
            KernelError::Deadlock { .. } | KernelError::WaitsForEver { .. } => "deadlock",
            KernelError::StrayResponse { .. } => "stray response",
        };
        Trouble::Kernel { kernel: kernel.to_string(), what, text: error.to_string() }
    }

    /// Raw key of the bucket of a test of `entry` with it.
    pub fn key(&self, entry: &str) -> Key {
        match self {
            Trouble::Unit(failure) => match **failure {
                Failure::OutOfTime { .. } => Key::timeout(entry),
                ref failure => Key::of(failure).unwrap_or_else(|| Key::error(entry)),
            },
            Trouble::Missed { kernel, buffer, .. } => Key::expectation(kernel, buffer),
            Trouble::Undefined { kind, .. } => Key::undefined(kind),
            Trouble::Kernel { kernel, what, .. } => Key::kernel(kernel, what),
            Trouble::Crashed { death, .. } => Key::death(*death),
            Trouble::Panicked(words) => Key::panic(words),
            Trouble::Cannot(_) => Key::error(entry),
        }
    }
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        Trouble::Unit(Box::new(failure))
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::Unit(failure) => write!(f, "{failure}"),
            Trouble::Missed { kernel, text, .. } => write!(f, "{kernel}: {text}"),
            Trouble::Undefined { text, .. } => write!(f, "undefined use of an mbarrier object: {text}"),
            Trouble::Kernel { kernel, text, .. } => write!(f, "{kernel}: {text}"),
            Trouble::Crashed { death: Death::Hung(_), how } => f.write_str(how),
            Trouble::Crashed { how, .. } => write!(f, "the process that ran it died: {how}"),
            Trouble::Panicked(words) => write!(f, "the worker panicked: {words}"),
            Trouble::Cannot(reason) => f.write_str(reason),
        }
    }
}
