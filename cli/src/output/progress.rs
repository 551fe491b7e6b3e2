//! Progress on stderr: lines for build steps, and a bar for long operations.

use std::io::IsTerminal;
use std::time::Duration;

use atoms_cosim::rtl::BuildStep;
pub(crate) use atoms_run::grouped;
use atoms_verilated::Progress;
use indicatif::{ProgressBar, ProgressStyle};

use crate::output::{diagnostic, note};

/// Prints a build step. On a terminal each step replaces the previous one, and the end clears the line.
/// Elsewhere only important steps are printed.
pub(crate) fn build_step(step: &BuildStep) {
    match &step.step {
        Progress::Discarded { .. } | Progress::Warnings(_) | Progress::Installing { .. } => {
            clear_line();
            note!("rtl: {step}");
        }
        Progress::Cached { .. } | Progress::Built { .. } => clear_line(),
        _ if std::io::stderr().is_terminal() => diagnostic(format_args!("{CLEAR}rtl: {step}")),
        _ => {}
    }
}

/// Returns to the start of the line and clears it.
const CLEAR: &str = "\r\x1b[K";

fn clear_line() {
    if std::io::stderr().is_terminal() {
        diagnostic(format_args!("{CLEAR}"));
    }
}

/// Returns a progress bar of `length` steps, hidden if stderr is not a terminal.
pub(crate) fn bar(length: u64, what: &'static str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(length);
    if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {human_pos}/{human_len} {eta}") {
        bar.set_style(style);
    }
    bar.set_message(what);
    bar.enable_steady_tick(Duration::from_millis(250));
    bar
}
