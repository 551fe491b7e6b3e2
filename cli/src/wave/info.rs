//! `atoms wave info`: what a wave contains.

use std::collections::BTreeMap;
use std::path::Path;

use atoms_wave_view::{FileSignal, SignalPattern, ValueKind, WaveFile, signal_path};
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::wave::WaveInfoArgs;
use crate::output::error::{CliError, Verdict, message};
use crate::output::progress::grouped;
use crate::output::{outln, print_json};
use crate::wave::{NoteResult, last_cycle, notes_results, print_extent, print_notes};

const SCOPES: usize = 40;

pub(crate) fn info(args: &WaveInfoArgs) -> Result<Verdict, CliError> {
    let file = WaveFile::open(&args.wave)?;
    if let Some(pattern) = &args.signals {
        return list(&file, pattern, args.json);
    }
    let (changes, extent) = file.count_changes()?;
    let mut notes = *file.notes();
    notes.extend(&extent.notes);
    let clock = file.clock()?;
    let cycles = clock
        .as_ref()
        .zip(extent.times)
        .map(|(clock, (first, last))| (first / clock.period, last_cycle(last, clock.period)));
    let scopes = scopes(file.signals());
    let unit = file.unit().map(|unit| unit.to_string());
    let clock_path = clock.as_ref().map(|clock| file.signals()[clock.signal].path());
    if args.json {
        print_json(&InfoResult {
            file: &args.wave,
            format: file.format().name(),
            bytes: file.bytes(),
            version: file.version(),
            unit,
            times: extent.times,
            clock: clock_path,
            period: clock.map(|clock| clock.period),
            cycles,
            signals: file.signals().len(),
            distinct: file.slots(),
            changes,
            cut_in_line: extent.cut_in_line,
            notes: notes_results(&notes),
            scopes: scopes.iter().map(|(scope, signals)| ScopeResult { scope, signals: *signals }).collect(),
        })?;
        return Ok(Verdict::Agree);
    }
    outln!("{}", args.wave.display())?;
    let by = if file.version().is_empty() { String::new() } else { format!(", by {}", file.version()) };
    outln!("  format     {}, {} bytes{by}", file.format().name(), grouped(file.bytes()))?;
    outln!("  time unit  {}", unit.as_deref().unwrap_or("not stated"))?;
    match extent.times {
        Some((first, last)) => outln!("  time       {first} to {last}")?,
        None => outln!("  time       none: the file has no values")?,
    }
    if let (Some(path), Some(clock), Some((first, end))) = (&clock_path, &clock, cycles) {
        outln!(
            "  clock      {path}, period {}: cycles {} to {}",
            clock.period,
            grouped(first),
            grouped(end)
        )?;
    }
    let (signals, distinct) = (file.signals().len(), file.slots());
    let shared = if signals == distinct { String::new() } else { format!(", {distinct} of them distinct") };
    outln!("  signals    {}{shared}", grouped(signals as u64))?;
    outln!("  changes    {}", grouped(changes))?;
    if !scopes.is_empty() {
        outln!("  scopes     signals in them and below")?;
    }
    for (scope, signals) in scopes.iter().take(SCOPES) {
        outln!("  {:>9}  {scope}", grouped(*signals))?;
    }
    if scopes.len() > SCOPES {
        outln!("             ... and {} more scopes; --json lists all", scopes.len() - SCOPES)?;
    }
    print_extent(&file, &extent);
    Ok(Verdict::Agree)
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct InfoResult<'f> {
    file: &'f Path,
    format: &'static str,
    bytes: u64,
    version: &'f str,
    unit: Option<String>,
    times: Option<(u64, u64)>,
    clock: Option<String>,
    period: Option<u64>,
    cycles: Option<(u64, u64)>,
    signals: usize,
    distinct: usize,
    changes: u64,
    cut_in_line: Option<u64>,
    notes: Vec<NoteResult>,
    scopes: Vec<ScopeResult<'f>>,
}

#[derive(Serialize, JsonSchema)]
struct ScopeResult<'f> {
    scope: &'f str,
    signals: u64,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct SignalResult {
    path: String,
    kind: &'static str,
    bits: Option<u32>,
}

/// Each scope with the number of signals in it and below.
fn scopes(signals: &[FileSignal]) -> BTreeMap<String, u64> {
    let mut found = BTreeMap::new();
    for signal in signals {
        for depth in 1..=signal.scopes.len() {
            *found.entry(signal_path(&signal.scopes[..depth])).or_default() += 1;
        }
    }
    found
}

fn list(file: &WaveFile, pattern: &str, as_json: bool) -> Result<Verdict, CliError> {
    print_notes(file, file.notes());
    let chosen = SignalPattern::new(pattern);
    let signals: Vec<_> = file.signals().iter().filter(|signal| chosen.matches(signal.parts())).collect();
    if signals.is_empty() {
        let path = file.path().display();
        return Err(message!(
            "`{path}`: no signal matches `{pattern}`; `atoms wave info {path} --signals` lists all"
        ));
    }
    if as_json {
        let result = |signal: &&FileSignal| SignalResult {
            path: signal.path(),
            kind: kind(signal.kind),
            bits: bits(signal.kind),
        };
        print_json(&signals.iter().map(result).collect::<Vec<_>>())?;
        return Ok(Verdict::Agree);
    }
    for signal in signals {
        let kind = match signal.kind {
            ValueKind::Bits(1) => "1 bit".to_owned(),
            ValueKind::Bits(width) => format!("{width} bits"),
            other => kind(other).to_owned(),
        };
        outln!("{kind:>10}  {}", signal.path())?;
    }
    Ok(Verdict::Agree)
}

fn kind(kind: ValueKind) -> &'static str {
    match kind {
        ValueKind::Bits(_) => "bits",
        ValueKind::Text => "text",
        ValueKind::Real => "real",
        ValueKind::Event => "event",
    }
}

fn bits(kind: ValueKind) -> Option<u32> {
    match kind {
        ValueKind::Bits(width) => Some(width),
        ValueKind::Text | ValueKind::Real | ValueKind::Event => None,
    }
}
