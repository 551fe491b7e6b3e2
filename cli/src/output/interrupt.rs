//! Ctrl-C: a command that keeps results ends soon and reports them, any other ends at once.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::output::error::{CliError, Verdict};

/// Set by the first signal, for whatever runs to see.
static ASKED: AtomicBool = AtomicBool::new(false);
/// Whether something runs that sees it.
static SEEN: AtomicBool = AtomicBool::new(false);

/// Answers Ctrl-C and a request to terminate from now on.
///
/// # Errors
/// When there is a handler already.
pub(crate) fn watch() -> Result<(), CliError> {
    let asked = || {
        if ASKED.swap(true, Ordering::SeqCst) || !SEEN.load(Ordering::SeqCst) {
            std::process::exit(Verdict::INTERRUPTED);
        }
    };
    Ok(ctrlc::set_handler(asked)?)
}

/// From now on the first signal only sets this, and the second one ends the process.
pub(crate) fn seen() -> &'static AtomicBool {
    SEEN.store(true, Ordering::SeqCst);
    &ASKED
}

/// The verdict of a command, unless it was interrupted.
pub(crate) fn or(verdict: Verdict) -> Verdict {
    if asked() { Verdict::Interrupted } else { verdict }
}

/// Whether a signal has come.
pub(crate) fn asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}
