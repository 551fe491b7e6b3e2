//! Why a test did not pass.

use atoms_cosim::case::recorder::Recorder;
use atoms_cosim::machine::Failure;
use atoms_coverage::episode::Episode;
use atoms_model::diagnosis::Diagnosis;
use atoms_sm::{KernelError, Outcome as BufferOutcome};

use crate::triage::death::Death;
use crate::triage::signature::{FailureKind, Signature};

/// Reason why a test did not pass.
#[derive(Debug, thiserror::Error)]
pub enum TestFailure {
    /// The session around the unit failed.
    #[error(transparent)]
    Session(#[from] Failure),
    /// A kernel left something else in a buffer than its launch file expects.
    #[error("{kernel}: buffer `{buffer}` is not as expected: {outcome:?}")]
    Expectation {
        /// The kernel.
        kernel: String,
        /// The buffer.
        buffer: String,
        /// What was found and what was expected.
        outcome: BufferOutcome,
    },
    /// A kernel uses an mbarrier object in a way that is undefined (spec 6.9).
    #[error("undefined use of an mbarrier object: {0}")]
    Undefined(Box<Diagnosis>),
    /// A kernel cannot go on: a fault, a deadlock, too many instructions.
    #[error("{kernel}: {error}")]
    Kernel {
        /// The kernel.
        kernel: String,
        /// What it met.
        error: Box<KernelError>,
    },
    /// The process died, or hung and was killed.
    #[error(
        "{}{death}{}",
        if matches!(death, Death::Hung(_)) { "" } else { "the process that ran it died: " },
        if *beside_others { BESIDE_OTHERS } else { "" }
    )]
    Died {
        /// How.
        death: Death,
        /// It did so beside other tests; alone it comes to its end.
        beside_others: bool,
    },
    /// The worker panicked, with these words.
    #[error("the worker panicked: {0}")]
    Panicked(String),
    /// It cannot be run at all.
    #[error("{0}")]
    Cannot(String),
    /// A kernel needs more than the configuration has.
    #[error("{0}")]
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
            TestFailure::Session(Failure::OutOfTime(_)) => Signature::new(FailureKind::Timeout, entry),
            TestFailure::Session(failure) => {
                Signature::of(failure).unwrap_or_else(|| Signature::new(FailureKind::Error, entry))
            }
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
        KernelError::Unsupported { .. }
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
