//! Writes trace events in JSON for Perfetto and Chrome's viewer. Source: [TRACE-EVENT].
//!
//! Each side and each other scope below the outermost one is a process. Each track, each text, and each bit
//! that is ever set is a thread. The fields of a transaction are the arguments of its slice. Counters are the
//! numbers that [`WaveNames`] lists and the numbers in the scope of differences. An instant event across all
//! processes marks each difference of the sides.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::{Value, json};

use super::{Slice, cycle, differences, slices};
use crate::{Excerpt, ExcerptSignal, ValueKind, WaveNames, WaveTrack, WaveValue, signal_path};

#[derive(Serialize)]
struct TraceEvent<'a> {
    ph: Phase,
    /// Category, which some readers require.
    cat: &'static str,
    name: &'a str,
    pid: usize,
    tid: usize,
    /// Start in microseconds; `dur` is in microseconds, too.
    ts: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<f64>,
    /// Scope of an instant event.
    #[serde(skip_serializing_if = "Option::is_none")]
    s: Option<&'a str>,
    args: Value,
}

#[derive(Serialize)]
enum Phase {
    #[serde(rename = "X")]
    Complete,
    #[serde(rename = "C")]
    Counter,
    #[serde(rename = "i")]
    Instant,
    #[serde(rename = "M")]
    Metadata,
}

/// Writes the file. Returns the number of slices.
///
/// # Errors
/// When `out` cannot be written.
pub fn write_perfetto(excerpt: &Excerpt, names: &WaveNames, out: &mut impl Write) -> io::Result<u64> {
    let tracks = excerpt.tracks(names);
    let mut part_of = vec![None; excerpt.signals.len()];
    for track in &tracks {
        track.fields.iter().chain([&track.signal]).for_each(|number| part_of[*number] = Some(track));
    }
    let mut events = Events { excerpt, names, out, unit: microseconds(&excerpt.unit), first: true };
    events.out.write_all(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
    let mut processes: Vec<&str> = Vec::new();
    let mut slices = 0;
    for (number, signal) in excerpt.signals.iter().enumerate() {
        // Viewers use process 0 for events without a process.
        let track = part_of[number];
        let (process, thread) = process_and_thread(signal, track.is_some_and(|track| track.signal == number));
        let known = processes.iter().position(|known| *known == process);
        let pid = known.unwrap_or(processes.len()) + 1;
        let tid = number + 1;
        let written = match track {
            Some(track) if track.signal == number => events.track(track, pid, tid)?,
            Some(_) if !names.counters.contains(&signal.name.as_str()) => Written::Nothing,
            _ => events.signal(signal, track.is_some(), &thread, pid, tid)?,
        };
        if written == Written::Nothing {
            continue;
        }
        if known.is_none() {
            processes.push(process);
            // Show tracks on top.
            let order = if process == names.transactions { 0 } else { pid };
            events.metadata("process_name", pid, 0, json!({ "name": process }))?;
            events.metadata("process_sort_index", pid, 0, json!({ "sort_index": order }))?;
        }
        if let Written::Slices(count) = written {
            slices += count;
            events.metadata("thread_name", pid, tid, json!({ "name": thread }))?;
            events.metadata("thread_sort_index", pid, tid, json!({ "sort_index": tid }))?;
        }
    }
    for Slice { from, to, .. } in differences(excerpt, names) {
        let args = json!({ "cycle": cycle(excerpt, from), "until": cycle(excerpt, to) });
        events.write(&TraceEvent {
            s: Some("g"),
            ..event(Phase::Instant, "sides differ", 1, 0, events.time(from), args)
        })?;
    }
    events.out.write_all(b"\n]}\n")?;
    Ok(slices)
}

#[derive(PartialEq)]
enum Written {
    Nothing,
    Slices(u64),
    Counters,
}

struct Events<'a, W> {
    excerpt: &'a Excerpt,
    names: &'a WaveNames,
    out: &'a mut W,
    /// Length of a time unit in microseconds.
    unit: f64,
    first: bool,
}

impl<W: Write> Events<'_, W> {
    fn track(&mut self, track: &WaveTrack<'_>, pid: usize, tid: usize) -> io::Result<Written> {
        let mut count = 0;
        for transaction in self.excerpt.transactions(track) {
            let mut args = transaction.json();
            args.insert("cycle".into(), cycle(self.excerpt, transaction.from).into());
            let dur = self.time(transaction.to - transaction.from);
            let name = self.excerpt.words(transaction.text);
            let event =
                event(Phase::Complete, &name, pid, tid, self.time(transaction.from), Value::Object(args));
            self.write(&TraceEvent { dur: Some(dur), ..event })?;
            count += 1;
        }
        Ok(if count == 0 { Written::Nothing } else { Written::Slices(count) })
    }

    fn signal(
        &mut self,
        signal: &ExcerptSignal,
        is_field: bool,
        name: &str,
        pid: usize,
        tid: usize,
    ) -> io::Result<Written> {
        let counts = is_field || signal.scopes.iter().any(|scope| scope == self.names.difference);
        let mut count = 0;
        match signal.kind {
            ValueKind::Bits(1) if self.is_clock(signal) => return Ok(Written::Nothing),
            ValueKind::Bits(1) if !is_field => {
                for slice in slices(self.excerpt, signal).filter(Slice::is_set) {
                    self.slice(name, pid, tid, &slice, json!({ "cycle": cycle(self.excerpt, slice.from) }))?;
                    count += 1;
                }
            }
            ValueKind::Text => {
                for slice in slices(self.excerpt, signal) {
                    let Some(text) = slice.text() else { continue };
                    let name = self.excerpt.words(text);
                    let args = json!({ "cycle": cycle(self.excerpt, slice.from) });
                    self.slice(&name, pid, tid, &slice, args)?;
                    count += 1;
                }
            }
            ValueKind::Event => {
                for (time, _) in &signal.changes {
                    let args = json!({ "cycle": cycle(self.excerpt, *time) });
                    let instant = event(Phase::Instant, name, pid, tid, self.time(*time), args);
                    self.write(&TraceEvent { s: Some("t"), ..instant })?;
                    count += 1;
                }
            }
            ValueKind::Bits(width) if counts => {
                let signed = self.names.signed.contains(&signal.name.as_str());
                for (time, value) in &signal.changes {
                    let Some(value) = number(value, width, signed) else { continue };
                    let args = json!({ "value": value });
                    self.write(&event(Phase::Counter, name, pid, tid, self.time(*time), args))?;
                    count += 1;
                }
                return Ok(if count == 0 { Written::Nothing } else { Written::Counters });
            }
            ValueKind::Bits(_) | ValueKind::Real => {}
        }
        Ok(if count == 0 { Written::Nothing } else { Written::Slices(count) })
    }

    fn slice(
        &mut self,
        name: &str,
        pid: usize,
        tid: usize,
        slice: &Slice<'_>,
        args: Value,
    ) -> io::Result<()> {
        let dur = Some(self.time(slice.to - slice.from));
        self.write(&TraceEvent { dur, ..event(Phase::Complete, name, pid, tid, self.time(slice.from), args) })
    }

    fn metadata(&mut self, name: &str, pid: usize, tid: usize, args: Value) -> io::Result<()> {
        self.write(&event(Phase::Metadata, name, pid, tid, 0.0, args))
    }

    fn write(&mut self, event: &TraceEvent<'_>) -> io::Result<()> {
        self.out.write_all(if std::mem::take(&mut self.first) { b"\n" } else { b",\n" })?;
        Ok(serde_json::to_writer(&mut *self.out, event)?)
    }

    fn time(&self, time: u64) -> f64 {
        // Round to a femtosecond: `0.03`, not `0.030000000000000002`.
        (time as f64 * self.unit * 1e9).round() / 1e9
    }

    /// True if the bit rises and falls in every cycle.
    fn is_clock(&self, signal: &ExcerptSignal) -> bool {
        let window = &self.excerpt.window;
        let cycles =
            self.excerpt.period.map(|period| window.end.saturating_sub(window.start) / period.max(1));
        cycles.is_some_and(|cycles| cycles > 1 && signal.changes.len() as u64 >= 2 * cycles - 1)
    }
}

fn event(ph: Phase, name: &str, pid: usize, tid: usize, ts: f64, args: Value) -> TraceEvent<'_> {
    TraceEvent { ph, cat: "wave", name, pid, tid, ts, dur: None, s: None, args }
}

/// Returns process and thread of a signal: side or other scope, and the rest of the path. A track is named
/// after its scope.
fn process_and_thread(signal: &ExcerptSignal, is_track: bool) -> (&str, String) {
    let at = usize::from(signal.scopes.len() > 1);
    let process = signal.scopes.get(at).map_or("", String::as_str);
    let rest = signal.scopes.get(at + 1..).unwrap_or_default();
    let name = Some(&signal.name).filter(|_| !is_track || rest.is_empty());
    (process, signal_path(rest.iter().chain(name)))
}

/// Parses a number of at most 64 bits; `None` if a digit is unknown.
fn number(value: &WaveValue, width: u32, signed: bool) -> Option<i128> {
    let WaveValue::Bits(digits) = value else { return None };
    let value = i128::from(u64::from_str_radix(digits, 2).ok()?);
    let negative = signed && digits.starts_with('1') && digits.len() == width as usize;
    Some(if negative { value - (1 << width) } else { value })
}

/// Converts a time unit such as `10 ps` to microseconds. An unknown unit counts as a nanosecond.
fn microseconds(unit: &str) -> f64 {
    let (factor, name) = unit.split_once(' ').unwrap_or(("1", unit));
    let micro = match name {
        "s" => 1e6,
        "ms" => 1e3,
        "us" => 1.0,
        "ps" => 1e-6,
        "fs" => 1e-9,
        _ => 1e-3,
    };
    factor.parse().unwrap_or(1.0) * micro
}
