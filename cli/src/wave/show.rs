//! `atoms wave show`: part of a wave in the terminal, as a picture, or as WaveJSON.

use std::io::IsTerminal as _;
use std::ops::Range;
use std::path::Path;

use atoms_wave_view::{
    Charset, Shades, SignalPattern, TextStyle, WaveFile, last_cycle, show_svg, show_text, show_wavedrom,
};

use crate::args::wave::WaveShowArgs;
use crate::files::Files;
use crate::output::error::{CliError, Verdict, message};
use crate::output::progress::grouped;
use crate::output::{note, out, outln};
use crate::wave::save_file::{self, SaveFile};
use crate::wave::{option, print_notes, scale, search, transactions};

const LINES: usize = 24;
/// Number of cycles shown by default, and number of them before the marker or the first change.
const CYCLES: u64 = 16;
const BEFORE: u64 = 2;
/// Maximum number of cycles drawn for one signal, which takes less than a second. For `n` signals, the maximum
/// is divided by `n`.
const MOST_CYCLES: u64 = 500_000;
/// Number of columns if stdout is not a terminal.
const COLUMNS: usize = 80;

pub(crate) fn show(args: &WaveShowArgs) -> Result<Verdict, CliError> {
    let mut files = Files::default();
    files.reads("the wave", &args.wave);
    let beside = save_file::path(&args.wave);
    if beside.is_file() && beside != args.wave {
        files.reads("the GTKWave save file of the wave", &beside);
    }
    for (name, path) in [("--svg", &args.svg), ("--wavedrom", &args.wavedrom)] {
        if let Some(path) = path {
            files.writes(name, path);
        }
    }
    files.check()?;
    let file = WaveFile::open(&args.wave)?;
    if let Some(expression) = &args.query {
        return search::search(&file, args, expression);
    }
    if args.transactions {
        return transactions::list(&file, args);
    }
    let save_file = SaveFile::beside(&file);
    let signals = signals(&file, args, &save_file)?;
    let scale = scale(&file)?;
    let window = match args.window {
        Some(window) => window.in_units(scale).map_err(option("--window"))?,
        None => window(&file, &signals, save_file.marker, scale.period)?,
    };
    let asked_from = window.start;
    let mut excerpt = file.excerpt(window, &signals)?;
    excerpt.separate_words();
    print_notes(&file, &excerpt.notes);
    if excerpt.window.is_empty() {
        let problem = format!(
            "the window starts at {}, after the end: {}",
            scale.period.map_or(asked_from, |period| asked_from / period),
            until(&file, scale.period)?
        );
        return Err(option("--window")(problem));
    }
    let period = excerpt.period.unwrap_or(u64::MAX);
    let cycles = (excerpt.window.end - excerpt.window.start).div_ceil(period);
    let most = MOST_CYCLES / excerpt.signals.len().max(1) as u64;
    if cycles > most {
        let from = excerpt.window.start / period;
        let problem = format!(
            "the window has {} cycles, but at most {} can be drawn; choose fewer cycles or signals, such as {from}..{}",
            grouped(cycles),
            grouped(most),
            from + CYCLES
        );
        return Err(option("--window")(problem));
    }
    let mut text = String::new();
    if let Some(path) = &args.svg {
        show_svg(&mut text, &excerpt)?;
        write(path, &mut text)?;
    }
    if let Some(path) = &args.wavedrom {
        show_wavedrom(&mut text, &excerpt)?;
        write(path, &mut text)?;
    }
    if args.svg.is_some() || args.wavedrom.is_some() {
        return Ok(Verdict::Agree);
    }
    if args.json {
        show_wavedrom(&mut text, &excerpt)?;
        out!("{text}")?;
        return Ok(Verdict::Agree);
    }
    let terminal = std::io::stdout().is_terminal();
    let columns = terminal_size::terminal_size().filter(|_| terminal).map(|(width, _)| usize::from(width.0));
    let style = TextStyle {
        width: columns.unwrap_or(COLUMNS).max(40),
        charset: if args.ascii { Charset::Ascii } else { Charset::Unicode },
        // https://no-color.org: any non-empty value turns colours off.
        shades: if terminal && std::env::var_os("NO_COLOR").is_none_or(|no| no.is_empty()) {
            Shades::Terminal
        } else {
            Shades::Plain
        },
    };
    show_text(&mut text, &excerpt, style)?;
    // Without `--window`, shows only as many cycles as fit side by side.
    let shown = if args.window.is_none() {
        text.split("\n\n").next().unwrap_or(&text).trim_end()
    } else {
        text.trim_end()
    };
    outln!("{shown}")?;
    Ok(Verdict::Agree)
}

fn write(path: &Path, text: &mut String) -> Result<(), CliError> {
    std::fs::write(path, &text).map_err(CliError::writing(path))?;
    text.clear();
    outln!("{}", path.display())
}

fn signals(file: &WaveFile, args: &WaveShowArgs, save_file: &SaveFile) -> Result<Vec<usize>, CliError> {
    if args.signals.is_empty() {
        let mut all = save_file.signals.clone();
        if all.is_empty() {
            let clock = file.clock()?.map(|clock| clock.signal);
            all.extend(clock);
            all.extend((0..file.signals().len()).filter(|at| Some(*at) != clock));
        }
        if all.len() > LINES && args.window.is_some() {
            note!("shows the first {LINES} of {} signals; choose others with --signals", all.len());
        }
        all.truncate(LINES);
        return Ok(all);
    }
    let mut found = Vec::new();
    for text in &args.signals {
        let pattern = SignalPattern::new(text);
        let before = found.len();
        for (number, signal) in file.signals().iter().enumerate() {
            if pattern.matches(signal.parts()) && !found.contains(&number) {
                found.push(number);
            }
        }
        if found.len() == before {
            // A part of a name is enough if it identifies one signal.
            let signal = file.lookup(text);
            let signal = signal.map_err(|error| message!("--signals: {error}"))?;
            found.extend(Some(signal).filter(|signal| !found.contains(signal)));
        }
    }
    Ok(found)
}

/// Returns the default window, around the marker or the first activity.
fn window(
    file: &WaveFile,
    signals: &[usize],
    marker: Option<u64>,
    period: Option<u64>,
) -> Result<Range<u64>, CliError> {
    let at = match marker {
        Some(marker) => marker,
        None => file.first_activity(signals)?,
    };
    match period {
        Some(period) => {
            let from = (at / period).saturating_sub(BEFORE) * period;
            Ok(from..from.saturating_add(CYCLES * period))
        }
        None => Ok(at..u64::MAX),
    }
}

fn until(file: &WaveFile, period: Option<u64>) -> Result<String, CliError> {
    let times = file.count_changes()?.1.times;
    Ok(match (times, period) {
        (None, _) => "the wave has no values".to_owned(),
        (Some((first, last)), Some(period)) => {
            format!("the wave goes from cycle {} to {}", first / period, last_cycle(last, period))
        }
        (Some((first, last)), None) => format!("the wave goes from {first} to {last}"),
    })
}
