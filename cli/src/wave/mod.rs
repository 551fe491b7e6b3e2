//! `atoms wave`: what waves show.

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

use atoms_wave_view::{WaveExtent, WaveFile, WaveNote, WaveNotes};
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::moment::Scale;
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

/// What times of options mean in a file.
fn scale(file: &WaveFile) -> Result<Scale, CliError> {
    let clock = file.clock()?;
    Ok(Scale { unit: file.unit(), period: clock.map(|clock| clock.period) })
}

/// An option's value that means nothing in a file.
fn option(name: &'static str) -> impl FnOnce(String) -> CliError {
    move |problem| message!("{name}: {problem}")
}

/// The last cycle of a wave that goes up to a time, which is where a cycle ends if it is where one begins.
fn last_cycle(last: u64, period: u64) -> u64 {
    last.div_ceil(period).max(1) - 1
}

/// Prints what the format of a file does not allow.
fn print_notes(file: &WaveFile, notes: &WaveNotes) {
    notes.iter().for_each(|note| note!("{}: {note}", file.path().display()));
}

/// A deviation of a file from its format that the reader accepted.
#[derive(Serialize, JsonSchema)]
struct NoteResult {
    /// First line, from 1; none in a binary file.
    line: Option<u64>,
    places: u64,
    text: String,
}

fn notes_results(notes: &WaveNotes) -> Vec<NoteResult> {
    let result = |note: &WaveNote| {
        let line = Some(note.line).filter(|line| *line > 0);
        NoteResult { line, places: note.places, text: note.kind.to_string() }
    };
    notes.iter().map(result).collect()
}

/// Prints the notes about a file and where it ends early.
fn print_extent(file: &WaveFile, extent: &WaveExtent) {
    print_notes(file, file.notes());
    print_notes(file, &extent.notes);
    if let Some(line) = extent.cut_in_line {
        note!(
            "{}: it ends in the middle of line {line}: what is before that was read",
            file.path().display()
        );
    }
}
