//! Repeats the run of a failed test.

use std::path::{Path, PathBuf};

use atoms_cosim::case::Case;
use atoms_cosim::case::trials::run_case;
use atoms_cosim::lockstep::Lockstep;
use atoms_cosim::machine::{Failure, Machine};
use atoms_cosim::session::{Session, Tally};
use atoms_coverage::episode::Episode;
use atoms_isa::Arch;
use atoms_monitor::Listener;
use atoms_stimulus::configs::NamedConfig;
use serde::{Deserialize, Serialize};

use crate::triage::error::BundleError;
use crate::triage::kernel;
use crate::triage::test_failure::{FailedRun, TestFailure};

/// Stimulus of the failed run: contents of `original.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Run {
    Episode {
        episode: Box<Episode>,
    },
    Case {
        case: Case,
    },
    Kernel {
        /// Path of the listing or PTX file, relative to the bundle.
        listing: PathBuf,
        /// Path of the launch file, relative to the bundle.
        launch: PathBuf,
        /// Architecture that overrides that of the PTX.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        arch: Option<String>,
    },
}

impl Run {
    /// Repeats the run on a session after reset, until a failure or the end. Random runs also stop after
    /// `until` cycles. Kernel files are relative to `folder`. Returns the failure, if any.
    ///
    /// # Errors
    /// [`BundleError`] if the run cannot start.
    pub fn replay<L: Listener>(
        &self,
        session: &mut Session<Lockstep, L>,
        config: &NamedConfig,
        folder: &Path,
        until: u64,
    ) -> Result<Option<FailedRun>, BundleError> {
        let outcome = match self {
            Run::Case { case } => run_case(session, case),
            Run::Episode { episode } => session.run(&mut episode.stimulus(&config.config), until, |_| {}),
            Run::Kernel { listing, launch, arch } => {
                let known = |name: &String| {
                    let unknown = || BundleError::Replay(format!("`{name}` is not an architecture"));
                    Arch::from_name(name).ok_or_else(unknown)
                };
                let arch = arch.as_ref().map(known).transpose()?;
                match kernel::run(session, &folder.join(listing), &folder.join(launch), arch) {
                    Ok(()) => return Ok(None),
                    Err(TestFailure::Session(failure)) => Err(failure),
                    Err(TestFailure::Cannot(message)) => return Err(BundleError::Replay(message)),
                    Err(failure) => {
                        return Ok(Some(FailedRun::new(failure, "", session.machine().cycles())));
                    }
                }
            }
        };
        found(outcome, session, config)
    }
}

/// Converts the outcome of a session into a failed run; `None` if the run passed.
pub(crate) fn found<L: Listener>(
    outcome: Result<Tally, Failure>,
    session: &Session<Lockstep, L>,
    config: &NamedConfig,
) -> Result<Option<FailedRun>, BundleError> {
    let Err(failure) = outcome else { return Ok(None) };
    FailedRun::of_session(failure, session.machine().cycles(), &config.name)
        .map(Some)
        .map_err(|failure| BundleError::Replay(failure.to_string()))
}
