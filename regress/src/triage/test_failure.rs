//! Why a test did not pass.

use std::fmt;

use atoms_cosim::machine::Failure;
use atoms_cosim::recorder::Recorder;
use atoms_model::diagnosis::Diagnosis;
use atoms_sm::{KernelError, Outcome as BufferOutcome};

use crate::triage::death::Death;
use crate::triage::signature::{FailureKind, Signature};
use atoms_coverage::episode::Episode;

/// Why a test did not pass.
#[derive(Debug)]
pub enum TestFailure {
    /// What the session around the unit had to say.
    Session(Box<Failure>),
    /// A kernel left something else in a buffer than its launch file expects.
    Expectation {
        /// The kernel.
        kernel: String,
        /// The buffer.
        buffer: String,
        /// What was found and what was expected.
        outcome: BufferOutcome,
    },
    /// A kernel uses an mbarrier object in a way that is undefined (spec 6.9).
    Undefined(Box<Diagnosis>),
    /// A kernel cannot go on: a fault, a deadlock, too many instructions.
    Kernel {
        /// The kernel.
        kernel: String,
        /// What it met.
        error: Box<KernelError>,
    },
    /// The process died, or hung and was killed.
    Died {
        /// How.
        death: Death,
        /// It did so beside other tests; alone it comes to its end.
        beside_others: bool,
    },
    /// The worker panicked, with these words.
    Panicked(String),
    /// It cannot be run at all.
    Cannot(String),
    /// A kernel needs more than the configuration has.
    DoesNotFit(String),
}

impl TestFailure {
    /// What a kernel met in the core. One that cannot be run is no finding; one that does what it must not, or
    /// waits for ever, is one.
    pub fn of_kernel(kernel: &str, error: Box<KernelError>) -> TestFailure {
        match kernel_met(&error) {
            Some(_) => TestFailure::Kernel { kernel: kernel.to_string(), error },
            None if matches!(*error, KernelError::Resources { .. }) => {
                TestFailure::DoesNotFit(error.to_string())
            }
            None => TestFailure::Cannot(error.to_string()),
        }
    }

    /// Raw signature of a test of `entry` with it.
    pub fn signature(&self, entry: &str) -> Signature {
        match self {
            TestFailure::Session(failure) => match **failure {
                Failure::OutOfTime { .. } => Signature::new(FailureKind::Timeout, entry),
                ref failure => {
                    Signature::of(failure).unwrap_or_else(|| Signature::new(FailureKind::Error, entry))
                }
            },
            TestFailure::Expectation { kernel, buffer, .. } => {
                Signature::new(FailureKind::Expectation, format!("{kernel} {buffer}"))
            }
            TestFailure::Undefined(diagnosis) => {
                Signature::new(FailureKind::Undefined, diagnosis.kind.name())
            }
            TestFailure::Kernel { kernel, error } => {
                let met = kernel_met(error).unwrap_or_default();
                Signature::new(FailureKind::Kernel, format!("{kernel} {met}"))
            }
            TestFailure::Died { death, .. } => Signature::of_death(*death),
            TestFailure::Panicked(words) => {
                let first = words.lines().next().unwrap_or_default();
                Signature::new(FailureKind::Crash, format!("panic {first}"))
            }
            TestFailure::Cannot(_) | TestFailure::DoesNotFit(_) => Signature::new(FailureKind::Error, entry),
        }
    }
}

/// What a kernel met that cannot go on, in a word or two; none if it could not begin.
fn kernel_met(error: &KernelError) -> Option<&'static str> {
    Some(match error {
        KernelError::Lacking { .. }
        | KernelError::Launch(_)
        | KernelError::Resources { .. }
        | KernelError::Operand { .. } => return None,
        KernelError::AllocationRefused { .. } => "part refused",
        KernelError::Fault { .. } => "fault",
        KernelError::Access { what, .. } => what,
        KernelError::RanOff { .. } => "ran off",
        KernelError::Budget { .. } => "budget",
        KernelError::Deadlock { .. } | KernelError::WaitsForEver { .. } => "deadlock",
        KernelError::StrayResponse { .. } => "stray response",
    })
}

impl From<Failure> for TestFailure {
    fn from(failure: Failure) -> Self {
        TestFailure::Session(Box::new(failure))
    }
}

impl fmt::Display for TestFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TestFailure::Session(failure) => write!(f, "{failure}"),
            TestFailure::Expectation { kernel, buffer, outcome } => {
                write!(f, "{kernel}: buffer `{buffer}` is not as expected: {outcome:?}")
            }
            TestFailure::Undefined(diagnosis) => {
                write!(f, "undefined use of an mbarrier object: {diagnosis}")
            }
            TestFailure::Kernel { kernel, error } => write!(f, "{kernel}: {error}"),
            TestFailure::Died { death, beside_others } => {
                if !matches!(death, Death::Hung(_)) {
                    f.write_str("the process that ran it died: ")?;
                }
                let note = if *beside_others { BESIDE_OTHERS } else { "" };
                write!(f, "{death}{note}")
            }
            TestFailure::Panicked(words) => write!(f, "the worker panicked: {words}"),
            TestFailure::Cannot(reason) | TestFailure::DoesNotFit(reason) => f.write_str(reason),
        }
    }
}

/// What is said of a test whose process died although it does not die alone.
const BESIDE_OTHERS: &str = " while others ran beside it; alone it comes to its end";

/// A run that failed, with what triage needs.
#[derive(Debug)]
pub struct FailedRun {
    /// Why.
    pub failure: TestFailure,
    /// Raw signature.
    pub signature: Signature,
    /// Cycle in which it showed, counted from the reset of the run.
    pub cycle: u64,
    /// The run, if it was a random one.
    pub episode: Option<Episode>,
    /// The last requests of the run.
    pub recorder: Option<Box<Recorder>>,
}

impl FailedRun {
    /// A test of `entry` that failed in `cycle`.
    pub fn new(failure: TestFailure, entry: &str, cycle: u64) -> FailedRun {
        FailedRun { signature: failure.signature(entry), failure, cycle, episode: None, recorder: None }
    }

    /// What a session found in `cycle`, in configuration `config`.
    ///
    /// # Errors
    /// The failure itself, if it is no finding.
    pub fn of_session(mut failure: Failure, cycle: u64, config: &str) -> Result<FailedRun, Failure> {
        let Some(signature) = Signature::of(&failure) else { return Err(failure) };
        failure.name_config(config);
        Ok(FailedRun { failure: failure.into(), signature, cycle, episode: None, recorder: None })
    }
}
