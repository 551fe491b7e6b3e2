//! Ctrl-C: a command that keeps results stops early and reports them, and others end immediately.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::output::error::{CliError, Verdict};

/// True after the first Ctrl-C or termination request.
static ASKED: AtomicBool = AtomicBool::new(false);
/// True if the running command polls [`ASKED`], so that the first signal must not end the process.
static SEEN: AtomicBool = AtomicBool::new(false);

/// Installs the handler for Ctrl-C and termination requests.
///
/// # Errors
/// A handler is already installed.
pub(crate) fn watch() -> Result<(), CliError> {
    let asked = || {
        if ASKED.swap(true, Ordering::SeqCst) || !SEEN.load(Ordering::SeqCst) {
            std::process::exit(Verdict::INTERRUPTED);
        }
    };
    Ok(ctrlc::set_handler(asked)?)
}

/// Returns the flag that the first signal sets. After this call, only a second signal ends the process.
pub(crate) fn seen() -> &'static AtomicBool {
    SEEN.store(true, Ordering::SeqCst);
    &ASKED
}

/// Replaces the verdict by `Interrupted` after a signal.
pub(crate) fn or(verdict: Verdict) -> Verdict {
    if asked() { Verdict::Interrupted } else { verdict }
}

pub(crate) fn asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}
