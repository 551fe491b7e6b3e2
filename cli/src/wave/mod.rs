//! `atoms wave`: commands on wave files.

pub(crate) mod at;
pub(crate) mod cause;
pub(crate) mod diff;
mod export;
pub(crate) mod info;
mod page;
mod save_file;
pub(crate) mod search;
mod selection;
mod show;
pub(crate) mod transactions;

use std::ops::Range;

use atoms_wave_view::{MomentWindow, WaveExtent, WaveFile, WaveNotes, WaveScale};

use crate::args::wave::WaveCommand;
use crate::output::error::{CliError, Verdict, message};
use crate::output::note;

pub(crate) fn wave(command: &WaveCommand) -> Result<Verdict, CliError> {
    match command {
        WaveCommand::Info(args) => info::info(args),
        WaveCommand::Diff(args) => diff::diff(args),
        WaveCommand::Show(args) => show::show(args),
        WaveCommand::Cause(args) => cause::cause(args),
        WaveCommand::Page(args) => page::page(args),
        WaveCommand::Export(args) => export::export(args),
        WaveCommand::At(args) => at::at(args),
    }
}

/// Returns the time scale of option values for a file.
fn scale(file: &WaveFile) -> Result<WaveScale, CliError> {
    let clock = file.clock()?;
    Ok(WaveScale { unit: file.unit(), period: clock.map(|clock| clock.period) })
}

/// Returns the range of `--window` in units of the file. Without the option, the whole file.
fn whole_or(file: &WaveFile, window: Option<MomentWindow>) -> Result<Range<u64>, CliError> {
    let Some(window) = window else { return Ok(0..u64::MAX) };
    window.in_units(scale(file)?).map_err(option("--window"))
}

/// Returns a function for `map_err` that prefixes a problem with the option.
fn option(name: &'static str) -> impl FnOnce(String) -> CliError {
    move |problem| message!("{name}: {problem}")
}

fn print_notes(file: &WaveFile, notes: &WaveNotes) {
    notes.iter().for_each(|note| note!("{}: {note}", file.path().display()));
}

fn print_extent(file: &WaveFile, extent: &WaveExtent) {
    print_notes(file, file.notes());
    print_notes(file, &extent.notes);
    if let Some(line) = extent.cut_in_line {
        note!(
            "{}: the file ends in the middle of line {line}; the part before was read",
            file.path().display()
        );
    }
}
