use atoms_cosim::case::recorder::Recorder;
use atoms_cosim::machine::Failure;
use atoms_coverage::episode::Episode;
use atoms_model::diagnosis::Diagnosis;
use atoms_sm::{KernelError, Outcome as BufferOutcome};

use crate::triage::death::Death;
use crate::triage::signature::{FailureKind, Signature};

#[derive(Debug, thiserror::Error)]
pub enum TestFailure {
    #[error(transparent)]
    Session(#[from] Failure),
    /// A buffer of a kernel differs from the expectation in the launch file.
    #[error("{kernel}: buffer `{buffer}` is not as expected: {outcome:?}")]
    Expectation { kernel: String, buffer: String, outcome: BufferOutcome },
    /// A kernel uses an mbarrier object in an undefined way (spec 6.9).
    #[error("undefined use of an mbarrier object: {0}")]
    Undefined(Box<Diagnosis>),
    /// A kernel cannot continue: a fault, a deadlock, or too many instructions.
    #[error("{kernel}: {error}")]
    Kernel { kernel: String, error: Box<KernelError> },
    #[error(
        "{}{death}{}",
        if matches!(death, Death::Hung(_)) { "" } else { "the process that ran the test died: " },
        if *beside_others { BESIDE_OTHERS } else { "" }
    )]
    Died {
        death: Death,
        /// True if the process died while other tests ran in parallel, but the test alone ran to its end.
        beside_others: bool,
    },
    #[error("the worker panicked: {0}")]
    Panicked(String),
    /// The test cannot run; the text gives the reason.
    #[error("{0}")]
    Cannot(String),
    /// A kernel needs more resources than the configuration has.
    #[error("{0}")]
    DoesNotFit(String),
}

impl TestFailure {
    /// Classifies the error of a kernel. An illegal action and an endless wait are findings. A kernel that
    /// cannot start is not a finding.
    pub fn of_kernel(kernel: &str, error: Box<KernelError>) -> TestFailure {
        match kernel_met(&error) {
            Some(_) => TestFailure::Kernel { kernel: kernel.to_string(), error },
            None if matches!(*error, KernelError::Resources { .. }) => {
                TestFailure::DoesNotFit(error.to_string())
            }
            None => TestFailure::Cannot(error.to_string()),
        }
    }

    /// Returns the raw signature of this failure in a test of `entry`.
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

/// Returns a short name of the error of a running kernel; `None` if the kernel could not start.
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
        KernelError::Deadlock { .. } => "deadlock",
        KernelError::StrayResponse { .. } => "stray response",
    })
}

/// Suffix of the message if the test does not die when it runs alone.
const BESIDE_OTHERS: &str = " while other tests ran in parallel; alone, the test runs to its end";

/// Failed run, with the data for triage.
#[derive(Debug)]
pub struct FailedRun {
    pub failure: TestFailure,
    /// Raw signature, before minimizing.
    pub signature: Signature,
    /// Cycle of the failure, counted from the reset of the run.
    pub cycle: u64,
    pub episode: Option<Episode>,
    pub recorder: Option<Box<Recorder>>,
}

impl FailedRun {
    pub fn new(failure: TestFailure, entry: &str, cycle: u64) -> FailedRun {
        FailedRun { signature: failure.signature(entry), failure, cycle, episode: None, recorder: None }
    }

    /// Makes the record of a session failure in `cycle`, in the configuration named `config`.
    ///
    /// # Errors
    /// Returns the failure itself if it is not a finding.
    pub fn of_session(mut failure: Failure, cycle: u64, config: &str) -> Result<FailedRun, Failure> {
        let Some(signature) = Signature::of(&failure) else { return Err(failure) };
        failure.name_config(config);
        Ok(FailedRun { failure: failure.into(), signature, cycle, episode: None, recorder: None })
    }
}
