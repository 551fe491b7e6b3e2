//! Runs a compiled kernel on a session.

use std::path::Path;

use atoms_cosim::lockstep::Lockstep;
use atoms_cosim::machine::Machine;
use atoms_cosim::session::Session;
use atoms_isa::{Arch, Program};
use atoms_monitor::Listener;
use atoms_sm::{Launch, Outcome, RunError, SmConfig};

use crate::triage::test_failure::TestFailure;

/// Runs the kernel of `listing` with the launch file `launch` on a session after reset. `arch` overrides the
/// architecture of the PTX.
///
/// # Errors
/// [`TestFailure`] of the unit or the kernel, including an unexpected buffer and an undefined use of an
/// mbarrier object.
pub(crate) fn run<L: Listener>(
    session: &mut Session<Lockstep, L>,
    listing: &Path,
    launch: &Path,
    arch: Option<Arch>,
) -> Result<(), TestFailure> {
    let name = listing.display().to_string();
    let text = std::fs::read_to_string(listing)
        .map_err(|error| TestFailure::Cannot(format!("cannot read `{name}`: {error}")))?;
    let cannot = |error: &dyn std::error::Error| TestFailure::Cannot(error.to_string());
    let launch = Launch::from_file(launch).map_err(|error| cannot(&error))?;
    let program = Program::read(&name, &text, arch.or(launch.arch)).map_err(|error| cannot(&error))?;
    let kernel = launch.kernel(&program).map_err(|error| cannot(&error))?;
    session.machine_mut().watch();
    let report = atoms_sm::run(kernel, &launch, session, &SmConfig::default());
    let watched = session.machine().watched().and_then(|watch| watch.diagnoses().first().copied());
    session.machine_mut().unwatch();
    let report = report.map_err(|error| match error {
        RunError::Port(failure) => failure.into(),
        RunError::Kernel(error) => TestFailure::of_kernel(&kernel.name, error),
    })?;
    session.judge_memory()?;
    let as_expected = |outcome: &Outcome| matches!(outcome, Outcome::Open | Outcome::Met { .. });
    if let Some(missed) = report.buffers.iter().find(|buffer| !as_expected(&buffer.outcome)) {
        let (kernel, buffer) = (kernel.name.clone(), missed.name.clone());
        return Err(TestFailure::Expectation { kernel, buffer, outcome: missed.outcome.clone() });
    }
    match watched {
        Some(undefined) => Err(TestFailure::Undefined(Box::new(undefined))),
        None => Ok(()),
    }
}
