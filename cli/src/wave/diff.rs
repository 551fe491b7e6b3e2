//! `atoms wave diff`: compares two waves.

use atoms_wave_view::{
    DiffOptions, DiffSides, SignalPattern, SignalRename, WaveDiff, WaveFile, WaveNoteKind,
};

use crate::args::wave::WaveDiffArgs;
use crate::output::error::{CliError, Verdict, message};
use crate::output::{note, out, print_json};
use crate::wave::{option, print_notes, scale};

pub(crate) fn diff(args: &WaveDiffArgs) -> Result<Verdict, CliError> {
    let left = WaveFile::open(&args.left)?;
    let right = args.right.as_deref().map(WaveFile::open).transpose()?;
    let sides = match (&right, &args.scopes) {
        (Some(right), _) => DiffSides::Files(&left, right),
        (None, Some([one, other])) => DiffSides::Scopes(&left, [one, other]),
        (None, None) => return Err(message!("expected a second wave, or --scopes")),
    };
    let patterns = |texts: &[String]| texts.iter().map(|text| SignalPattern::new(text)).collect();
    let mut options = DiffOptions {
        renames: args
            .rename
            .iter()
            .map(|[old, new]| SignalRename { old: old.clone(), new: new.clone() })
            .collect(),
        clock: args.clock.clone(),
        ignore: patterns(&args.ignore),
        only: patterns(&args.only),
        ..DiffOptions::default()
    };
    if args.shift.is_some() || args.window.is_some() {
        // Cycles on the command line refer to the first wave.
        let scale = scale(&left)?;
        options.shift = args.shift.map_or(Ok(0), |shift| shift.in_units(scale)).map_err(option("--shift"))?;
        options.window =
            args.window.map(|window| window.in_units(scale)).transpose().map_err(option("--window"))?;
    }
    let diff = WaveDiff::compare(sides, &options)?;
    let names = match sides {
        DiffSides::Files(left, right) => {
            [left.path().display().to_string(), right.path().display().to_string()]
        }
        DiffSides::Scopes(_, scopes) => scopes.map(str::to_owned),
    };
    if args.json {
        print_json(&diff.result(&names))?;
    } else {
        out!("{}", diff.text(&names, args.clock.as_deref()))?;
    }
    for (file, notes) in [Some(&left), right.as_ref()].into_iter().flatten().zip(&diff.notes) {
        print_notes(file, notes);
    }
    let cut = diff.cut_in_line.iter().zip(&names).find_map(|(line, name)| Some(((*line)?, name)));
    if let Some((line, name)) = cut {
        note!("{name}: the file ends in the middle of line {line}; only the part before was compared");
    }
    let unclosed = diff.notes.iter().any(|notes| notes.has(WaveNoteKind::Unclosed));
    Ok(match (diff.is_equal(), cut.is_some() || unclosed) {
        (true, false) => Verdict::Agree,
        (true, true) => Verdict::NotAsked,
        (false, _) => Verdict::Disagree,
    })
}
