//! Runs once more what was run when a test failed.

use std::path::{Path, PathBuf};

use atoms_cosim::case::Case;
use atoms_cosim::configs::NamedConfig;
use atoms_cosim::lockstep::Lockstep;
use atoms_cosim::machine::{Failure, Machine};
use atoms_cosim::session::{Listener, Session};
use atoms_cosim::trials::run_case;
use atoms_isa::Arch;
use serde::{Deserialize, Serialize};

use crate::triage::error::BundleError;
use crate::triage::test_failure::{FailedRun, TestFailure};
use atoms_coverage::episode::Episode;

/// What was run: the content of `original.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Run {
    /// A random run.
    Episode {
        /// The run.
        episode: Box<Episode>,
    },
    /// A directed case.
    Case {
        /// The case.
        case: Case,
    },
    /// A kernel.
    Kernel {
        /// Listing or PTX, relative to the folder.
        listing: PathBuf,
        /// Launch file, relative to the folder.
        launch: PathBuf,
        /// Architecture in place of that of the PTX.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        arch: Option<String>,
    },
}

impl Run {
    /// Runs it on a session after reset, from `folder` where it names files, until it fails or ends, or until
    /// `until` cycles. Gives what was found.
    ///
    /// # Errors
    /// [`BundleError`] when it cannot be run at all.
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
                let arch = match arch {
                    Some(name) => Some(
                        Arch::from_name(name)
                            .ok_or_else(|| BundleError::Replay(format!("`{name}` is no architecture")))?,
                    ),
                    None => None,
                };
                let run =
                    crate::triage::kernel::run(session, &folder.join(listing), &folder.join(launch), arch);
                return run.err().map(|failure| kernel_failed(failure, session, config)).transpose();
            }
        };
        outcome.map(|_| None).or_else(|failure| found(failure, session, config).map(Some))
    }
}

/// What a session found.
pub(crate) fn found<L: Listener>(
    failure: Failure,
    session: &Session<Lockstep, L>,
    config: &NamedConfig,
) -> Result<FailedRun, BundleError> {
    FailedRun::of_session(failure, session.machine().cycles(), &config.name)
        .map_err(|failure| BundleError::Replay(failure.to_string()))
}

/// What a kernel found.
fn kernel_failed<L: Listener>(
    failure: TestFailure,
    session: &Session<Lockstep, L>,
    config: &NamedConfig,
) -> Result<FailedRun, BundleError> {
    match failure {
        TestFailure::Session(failure) => found(*failure, session, config),
        TestFailure::Cannot(message) => Err(BundleError::Replay(message)),
        failure => Ok(FailedRun::new(failure, "", session.machine().cycles())),
    }
}
