//! Progress on stderr: lines for what a build does, a bar for what takes time, both for people.

use std::io::IsTerminal;
use std::time::Duration;

use atoms_cosim::rtl::BuildStep;
pub(crate) use atoms_run::grouped;
use atoms_verilated::Progress;
use indicatif::{ProgressBar, ProgressStyle};

use crate::output::{diagnostic, note};

/// Tells what a build is doing. On a terminal, each step in one line that the next one takes the place of, and
/// nothing at the end; elsewhere only what is to be kept.
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

/// To the beginning of the line, and nothing behind.
const CLEAR: &str = "\r\x1b[K";

fn clear_line() {
    if std::io::stderr().is_terminal() {
        diagnostic(format_args!("{CLEAR}"));
    }
}

/// A bar of `length` steps, on a terminal only.
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
