//! Summary of a wave: format, times, clock, signals and scopes, as text and JSON.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use crate::excerpt::ValueKind;
use crate::grouped;
use crate::reader::{
    FileSignal, SignalPattern, WaveClock, WaveExtent, WaveFile, WaveNoteResult, WaveReadError, last_cycle,
    signal_path,
};

/// Maximum number of scopes in the text. JSON contains all.
const SCOPES: usize = 40;

#[derive(Debug)]
pub struct WaveInfo<'f> {
    file: &'f WaveFile,
    changes: u64,
    pub extent: WaveExtent,
    clock: Option<WaveClock>,
    /// First and last cycle; `None` without a clock.
    cycles: Option<(u64, u64)>,
    scopes: BTreeMap<String, u64>,
}

impl<'f> WaveInfo<'f> {
    /// Reads the whole file.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn of(file: &'f WaveFile) -> Result<Self, WaveReadError> {
        let (changes, extent) = file.count_changes()?;
        let clock = file.clock()?;
        let cycles = clock
            .as_ref()
            .zip(extent.times)
            .map(|(clock, (first, last))| (first / clock.period, last_cycle(last, clock.period)));
        Ok(WaveInfo { file, changes, extent, clock, cycles, scopes: scopes(file.signals()) })
    }

    fn clock_path(&self) -> Option<String> {
        self.clock.as_ref().map(|clock| self.file.signals()[clock.signal].path())
    }

    pub fn result(&self) -> InfoResult<'_> {
        let WaveInfo { file, extent, .. } = self;
        let mut notes = *file.notes();
        notes.extend(&extent.notes);
        InfoResult {
            file: file.path(),
            format: file.format().name(),
            bytes: file.bytes(),
            version: file.version(),
            unit: file.unit().map(|unit| unit.to_string()),
            times: extent.times,
            clock: self.clock_path(),
            period: self.clock.as_ref().map(|clock| clock.period),
            cycles: self.cycles,
            signals: file.signals().len(),
            distinct: file.slots(),
            changes: self.changes,
            cut_in_line: extent.cut_in_line,
            notes: notes.results(),
            scopes: self
                .scopes
                .iter()
                .map(|(scope, signals)| ScopeResult { scope, signals: *signals })
                .collect(),
        }
    }

    pub fn text(&self) -> String {
        let mut text = String::new();
        let _ = self.write(&mut text);
        text
    }

    fn write(&self, text: &mut String) -> fmt::Result {
        let WaveInfo { file, changes, extent, clock, cycles, scopes } = self;
        let unit = file.unit().map(|unit| unit.to_string());
        writeln!(text, "{}", file.path().display())?;
        let by = if file.version().is_empty() { String::new() } else { format!(", by {}", file.version()) };
        writeln!(text, "  format     {}, {} bytes{by}", file.format().name(), grouped(file.bytes()))?;
        writeln!(text, "  time unit  {}", unit.as_deref().unwrap_or("not stated"))?;
        match extent.times {
            Some((first, last)) => writeln!(text, "  time       {first} to {last}")?,
            None => writeln!(text, "  time       none: the file has no values")?,
        }
        if let (Some(path), Some(clock), Some((first, end))) = (&self.clock_path(), clock, cycles) {
            writeln!(
                text,
                "  clock      {path}, period {}: cycles {} to {}",
                clock.period,
                grouped(*first),
                grouped(*end)
            )?;
        }
        let (signals, distinct) = (file.signals().len(), file.slots());
        let shared =
            if signals == distinct { String::new() } else { format!(", {distinct} of them distinct") };
        writeln!(text, "  signals    {}{shared}", grouped(signals as u64))?;
        writeln!(text, "  changes    {}", grouped(*changes))?;
        if !scopes.is_empty() {
            writeln!(text, "  scopes     signals in them and below")?;
        }
        for (scope, signals) in scopes.iter().take(SCOPES) {
            writeln!(text, "  {:>9}  {scope}", grouped(*signals))?;
        }
        if scopes.len() > SCOPES {
            writeln!(text, "             ... and {} more scopes; --json lists all", scopes.len() - SCOPES)?;
        }
        Ok(())
    }
}

pub fn matching_signals(file: &WaveFile, pattern: &str) -> Vec<SignalResult> {
    let chosen = SignalPattern::new(pattern);
    let signals = file.signals().iter().filter(|signal| chosen.matches(signal.parts()));
    let result = |signal: &FileSignal| SignalResult {
        path: signal.path(),
        kind: kind(signal.kind),
        bits: bits(signal.kind),
    };
    signals.map(result).collect()
}

impl fmt::Display for SignalResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.bits {
            Some(1) => "1 bit".to_owned(),
            Some(width) => format!("{width} bits"),
            None => self.kind.to_owned(),
        };
        write!(f, "{kind:>10}  {}", self.path)
    }
}

/// Summary of a wave, for JSON.
#[derive(Serialize, JsonSchema)]
pub struct InfoResult<'f> {
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
    notes: Vec<WaveNoteResult>,
    scopes: Vec<ScopeResult<'f>>,
}

#[derive(Serialize, JsonSchema)]
struct ScopeResult<'f> {
    scope: &'f str,
    signals: u64,
}

/// Signal of a wave, for JSON.
#[derive(Serialize, JsonSchema)]
pub struct SignalResult {
    path: String,
    kind: &'static str,
    bits: Option<u32>,
}

fn scopes(signals: &[FileSignal]) -> BTreeMap<String, u64> {
    let mut found = BTreeMap::new();
    for signal in signals {
        for depth in 1..=signal.scopes.len() {
            *found.entry(signal_path(&signal.scopes[..depth])).or_default() += 1;
        }
    }
    found
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
