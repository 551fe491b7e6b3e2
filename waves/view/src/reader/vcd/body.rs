//! Reads the value section of a VCD.

use std::fs::File;
use std::io::{Seek as _, SeekFrom};
use std::ops::ControlFlow;
use std::path::Path;

use memchr::memchr;

use super::codes::Codes;
use super::words::{Word, Words};
use super::{extended, problem};
use crate::ValueKind;
use crate::reader::digits::{is_digit, shorten};
use crate::reader::error::shown;
use crate::reader::escapes;
use crate::reader::{RawValue, Slot, Slots, WaveExtent, WaveNoteKind, WaveNotes, WaveReadFault};

#[derive(Debug)]
pub(in crate::reader) struct VcdBody {
    start: Position,
    /// Factor from times in the file to time units.
    pub(super) factor: u64,
    pub(super) codes: Codes,
    pub(super) kinds: Vec<ValueKind>,
}

/// Position in the value section: before all values, or before a time step.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Position {
    /// Number of bytes before the position; `line` is the line number there.
    pub(super) bytes: u64,
    pub(super) line: u64,
    /// Time of the previous step.
    pub(super) now: u64,
}

impl VcdBody {
    pub(super) fn new(
        start: Position,
        factor: u64,
        codes: Codes,
        kinds: impl Iterator<Item = (Slot, ValueKind)>,
    ) -> Self {
        let mut of_slots = vec![ValueKind::Bits(1); codes.len()];
        // Of several declarations, keep the widest one, so that every value fits.
        for (slot, kind) in kinds {
            let known = &mut of_slots[slot.index()];
            match (&known, kind) {
                (ValueKind::Bits(before), ValueKind::Bits(width)) if *before >= width => {}
                _ => *known = kind,
            }
        }
        VcdBody { start, factor, codes, kinds: of_slots }
    }

    pub(in crate::reader) fn start(&self) -> Position {
        self.start
    }

    /// Reads from `at` on, and moves `at` to where reading ended.
    pub(in crate::reader) fn changes(
        &self,
        path: &Path,
        at: &mut Position,
        which: &Slots,
        until: u64,
        visit: impl FnMut(u64, Slot, RawValue<'_>) -> ControlFlow<()>,
    ) -> Result<WaveExtent, WaveReadFault> {
        let mut file = File::open(path).map_err(WaveReadFault::Io)?;
        file.seek(SeekFrom::Start(at.bytes)).map_err(WaveReadFault::Io)?;
        let (words, notes) = (Words::new(file, at.bytes, at.line), WaveNotes::default());
        Values { words, at, body: self, which, until, notes, visit }.read()
    }
}

struct Values<'a, V> {
    words: Words<File>,
    at: &'a mut Position,
    body: &'a VcdBody,
    which: &'a Slots,
    until: u64,
    notes: WaveNotes,
    visit: V,
}

impl<V: FnMut(u64, Slot, RawValue<'_>) -> ControlFlow<()>> Values<'_, V> {
    fn read(mut self) -> Result<WaveExtent, WaveReadFault> {
        let mut extent = WaveExtent::default();
        let end = self.read_into(&mut extent)?;
        extent.notes = self.notes;
        if let End::OfFile | End::Cut = end {
            (self.at.bytes, self.at.line) = (self.words.bytes(), self.words.line());
        }
        match end {
            End::Stopped => {}
            End::OfFile => extent.whole = true,
            End::Cut => (extent.whole, extent.cut_in_line) = (true, Some(self.words.line())),
        }
        Ok(extent)
    }

    fn read_into(&mut self, extent: &mut WaveExtent) -> Result<End, WaveReadFault> {
        let mut now = self.at.now;
        loop {
            self.words.begin();
            let Some(first) = self.words.next()? else { return Ok(End::OfFile) };
            if self.words.is_unterminated() && !self.is_whole(&first) {
                return Ok(End::Cut);
            }
            match self.words.text(&first)[0] {
                b'#' => {
                    let mut time = self.time(&first)?;
                    if time < now {
                        self.notes.add(WaveNoteKind::TimeBack, self.words.line());
                        time = now;
                    }
                    if time >= self.until {
                        let bytes = self.words.bytes() - first.len() as u64;
                        *self.at = Position { bytes, line: self.words.line(), now };
                        return Ok(End::Stopped);
                    }
                    now = time;
                    extent.times = Some((extent.times.map_or(time, |(first, _)| first), time));
                }
                b'$' => {
                    if let Whole::No = self.command(&first)? {
                        return Ok(End::Cut);
                    }
                }
                _ => {
                    match self.change(first, now)? {
                        ControlFlow::Continue(Whole::Yes) => {}
                        ControlFlow::Continue(Whole::No) => return Ok(End::Cut),
                        ControlFlow::Break(()) => return Ok(End::Stopped),
                    }
                    // Values before the first time.
                    extent.times.get_or_insert((now, now));
                }
            }
        }
    }

    /// True if this word cannot be the start of a longer valid word: `$end`, or a change whose code is not a
    /// prefix of another code.
    fn is_whole(&self, word: &Word) -> bool {
        match self.words.text(word) {
            [digit, code @ ..] if is_digit(*digit) => self.body.codes.is_whole(code),
            text => text == b"$end",
        }
    }

    fn time(&mut self, word: &Word) -> Result<u64, WaveReadFault> {
        let text = &self.words.text(word)[1..];
        let time = whole_number(text).or_else(|| self.without_fraction(word));
        time.and_then(|time| time.checked_mul(self.body.factor)).ok_or_else(|| {
            self.problem(format!("{}: expected a time, such as #1200", shown(self.words.text(word))))
        })
    }

    #[cold]
    fn without_fraction(&mut self, word: &Word) -> Option<u64> {
        let text = &self.words.text(word)[1..];
        let (whole, fraction) = text.split_at(text.iter().position(|byte| *byte == b'.')?);
        let time = whole_number(whole).filter(|_| fraction[1..].iter().all(u8::is_ascii_digit))?;
        self.notes.add(WaveNoteKind::TimeFraction, self.words.line());
        Some(time)
    }

    fn command(&mut self, word: &Word) -> Result<Whole, WaveReadFault> {
        match self.words.text(word) {
            // The values inside these commands are ordinary changes.
            b"$dumpvars" | b"$dumpall" | b"$dumpon" | b"$dumpoff" | b"$end" => return Ok(Whole::Yes),
            b"$dumpports" | b"$dumpportson" | b"$dumpportsoff" | b"$dumpportsall" => {
                return Err(extended(self.words.line()));
            }
            b"$var" | b"$scope" | b"$upscope" | b"$enddefinitions" | b"$timescale" => {
                let found = shown(self.words.text(word));
                return Err(self.problem(format!("{found} after $enddefinitions: is this two files in one?")));
            }
            // `$comment`, and commands of other programs.
            _ => {}
        }
        loop {
            self.words.begin();
            match self.words.next()? {
                None => return Ok(Whole::No),
                Some(end) if self.words.text(&end) == b"$end" => return Ok(Whole::Yes),
                Some(_) => {}
            }
        }
    }

    fn change(&mut self, first: Word, now: u64) -> Result<ControlFlow<(), Whole>, WaveReadFault> {
        let initial = self.words.text(&first)[0];
        // A scalar value directly precedes its code; other values are separate words.
        let (mut value, code) = match initial {
            b'b' | b'B' | b'r' | b'R' | b's' | b'S' => (first.start + 1..first.end, None),
            digit if is_digit(digit) => {
                let behind = first.start + 1..first.end;
                (first.start..first.start + 1, Some(behind).filter(|code| !code.is_empty()))
            }
            b'p' => return Err(extended(self.words.line())),
            _ => {
                let found = shown(self.words.text(&first));
                return Err(self.problem(format!(
                    "expected a time (#1200), a change (1!, b1010 !, r0.5 !, sIDLE !) or a command, found {found}"
                )));
            }
        };
        let code = match code {
            Some(code) => code,
            None => match self.words.next()? {
                Some(code)
                    if !self.words.is_unterminated() || self.body.codes.is_whole(self.words.text(&code)) =>
                {
                    code
                }
                Some(_) | None => return Ok(ControlFlow::Continue(Whole::No)),
            },
        };
        let Some(slot) = self.body.codes.find(self.words.text(&code)) else {
            let found = shown(self.words.text(&code));
            return Err(self.problem(format!("a value of {found}, a code that no $var declares")));
        };
        if !self.which.contains(slot) {
            return Ok(ControlFlow::Continue(Whole::Yes));
        }
        let kind = self.body.kinds[slot.index()];
        let decoded;
        let raw = match initial {
            b's' | b'S' => {
                let text = self.words.text(&value);
                if memchr(b'\\', text).is_some() {
                    decoded = escapes::decode(text);
                    RawValue::Text(&decoded)
                } else {
                    RawValue::Text(text)
                }
            }
            b'r' | b'R' => {
                let text = self.words.text(&value);
                let number = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
                let Some(number) = number else {
                    let found = shown(text);
                    return Err(self.problem(format!("{found}: expected a floating-point number")));
                };
                RawValue::Real(number)
            }
            _ => {
                let line = self.words.line();
                if let [b'0', b'b' | b'B', ..] = self.words.text(&value) {
                    self.notes.add(WaveNoteKind::VectorPrefix, line);
                    value.start += 2;
                }
                let digits = self.words.text_mut(&value);
                let from = shorten(digits).map_err(|found| {
                    let found = shown(&[found]);
                    problem(line, format!("{found} in a number: expected digits 0, 1, x, z"))
                })?;
                let mut digits = &self.words.text(&value)[from..];
                if digits.is_empty() {
                    self.notes.add(WaveNoteKind::EmptyVector, line);
                    digits = b"0";
                }
                match kind {
                    // 0 and x mean that the event does not trigger.
                    ValueKind::Event if digits == b"1" => RawValue::Event,
                    ValueKind::Event => return Ok(ControlFlow::Continue(Whole::Yes)),
                    ValueKind::Bits(width) if digits.len() > width as usize => {
                        return Err(self.problem(format!(
                            "a value of {} digits for a signal of {width} bits",
                            value.len()
                        )));
                    }
                    ValueKind::Bits(_) | ValueKind::Text | ValueKind::Real => RawValue::Bits(digits),
                }
            }
        };
        Ok(match (self.visit)(now, slot, raw) {
            ControlFlow::Continue(()) => ControlFlow::Continue(Whole::Yes),
            ControlFlow::Break(()) => ControlFlow::Break(()),
        })
    }

    fn problem(&self, text: impl Into<String>) -> WaveReadFault {
        problem(self.words.line(), text)
    }
}

fn whole_number(digits: &[u8]) -> Option<u64> {
    let number = digits.iter().try_fold(0_u64, |number, digit| {
        let digit = digit.wrapping_sub(b'0');
        if digit > 9 { None } else { number.checked_mul(10)?.checked_add(digit.into()) }
    });
    number.filter(|_| !digits.is_empty())
}

enum End {
    Stopped,
    OfFile,
    Cut,
}

enum Whole {
    Yes,
    No,
}
