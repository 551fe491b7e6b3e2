//! Skips identical text of two VCD files with the same declarations. The text is read once, and only the last
//! value of each signal in it is decoded.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

use memchr::{memchr, memchr_iter, memrchr};

use super::body::{Position, VcdBody};
use super::words::is_space;
use crate::ValueKind;
use crate::reader::digits::shorten;
use crate::reader::escapes;
use crate::reader::{ClockLevel, RawValue, Slot, Slots, WaveReadError, WaveReadFault};

/// Block size in bytes. A time step that does not fit into a block is not skipped.
const BLOCK: usize = 1 << 18;

#[derive(Debug)]
pub(crate) struct Twins<'a> {
    body: &'a VcdBody,
    paths: [PathBuf; 2],
    files: [File; 2],
    buffers: [Vec<u8>; 2],
    rules: Vec<Rule>,
    /// Last line of each slot in the buffer; `changed` lists the slots that have one.
    lines: Vec<Range<u32>>,
    changed: Vec<Slot>,
    digits: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    Skip,
    /// Accept a number of at most this many digits.
    Digits(u32),
    Text,
    /// Stop before the time step of the change.
    Stop,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Alike<'a> {
    /// A time step, and true if the clock rises in it.
    Step(u64, bool),
    /// Value of a signal after the time steps so far. Intermediate values are omitted. The value may already
    /// belong to the next time step.
    Value(Slot, RawValue<'a>),
}

enum Line<'a> {
    Time(u64),
    /// A value, with its letter if it has one, and a code.
    Change(&'a [u8], &'a [u8]),
    Other,
}

impl VcdBody {
    /// True if codes and kinds are equal and no file scales its times, so that equal text has equal meaning.
    pub(in crate::reader) fn is_like(&self, other: &VcdBody) -> bool {
        [self.factor, other.factor] == [1, 1] && self.codes == other.codes && self.kinds == other.kinds
    }
}

impl<'a> Twins<'a> {
    pub(in crate::reader) fn open(paths: [&Path; 2], body: &'a VcdBody) -> Result<Self, WaveReadError> {
        let open = |path: &Path| File::open(path).map_err(|fault| WaveReadFault::Io(fault).in_file(path));
        Ok(Twins {
            body,
            files: [open(paths[0])?, open(paths[1])?],
            paths: paths.map(Path::to_path_buf),
            buffers: [Vec::new(), Vec::new()],
            rules: Vec::new(),
            lines: vec![0..0; body.kinds.len()],
            changed: Vec::new(),
            digits: Vec::new(),
        })
    }

    /// Skips identical text up to time `until`, or up to a change of a slot in `differ`. Visits only the
    /// slots in `which`. Returns the number of bytes skipped. Both positions are before the same time step,
    /// at the start and at the end. Malformed or rare lines end the skipping: the normal reader handles them.
    ///
    /// # Errors [`WaveReadError`] when a file cannot be read.
    pub(crate) fn read(
        &mut self,
        at: &mut [Position; 2],
        [which, differ]: [&Slots; 2],
        until: u64,
        clock: &mut Option<ClockLevel>,
        mut visit: impl FnMut(Alike<'_>),
    ) -> Result<u64, WaveReadError> {
        let before = at[0].bytes;
        let rule = |(slot, kind): (u32, &ValueKind)| match (Slot(slot), kind) {
            (slot, _) if differ.contains(slot) => Rule::Stop,
            (slot, _) if !which.contains(slot) => Rule::Skip,
            (_, ValueKind::Bits(width)) => Rule::Digits(*width),
            (_, ValueKind::Text) => Rule::Text,
            (_, ValueKind::Real | ValueKind::Event) => Rule::Stop,
        };
        self.rules.clear();
        self.rules.extend((0..).zip(&self.body.kinds).map(rule));
        loop {
            let mut lengths = [0; 2];
            for (side, length) in lengths.iter_mut().enumerate() {
                let (file, buffer) = (&mut self.files[side], &mut self.buffers[side]);
                *length = block(file, at[side].bytes, buffer)
                    .map_err(|fault| WaveReadFault::Io(fault).in_file(&self.paths[side]))?;
            }
            let common = common(&self.buffers[0][..lengths[0]], &self.buffers[1][..lengths[1]]);
            let (read, ended) = self.block(common, at[0].now, until, clock, &mut visit);
            for at in at.iter_mut() {
                *at = Position { bytes: at.bytes + read.bytes, line: at.line + read.line, now: read.now };
            }
            if read.bytes == 0 || ended || common < BLOCK {
                return Ok(at[0].bytes - before);
            }
        }
    }

    /// Processes the common part of the buffers, which follows time `now`. Returns the end of the last
    /// complete time step as an offset in the buffers, and whether skipping ends there.
    fn block(
        &mut self,
        common: usize,
        now: u64,
        until: u64,
        clock: &mut Option<ClockLevel>,
        visit: &mut impl FnMut(Alike<'_>),
    ) -> (Position, bool) {
        let Twins { body, buffers, rules, lines, changed, digits, .. } = self;
        let text = &buffers[0][..common];
        let mut keep = |slot: Slot, line: &Range<usize>| {
            let last = &mut lines[slot.index()];
            if last.start == last.end {
                changed.push(slot);
            }
            *last = line.start as u32..line.end as u32;
        };
        let mut read = Position { bytes: 0, line: 0, now };
        let mut time = None;
        let (mut level, mut rises) = (*clock, false);
        let (mut from, mut ended) = (0, true);
        loop {
            let Some(length) = memchr(b'\n', &text[from..]) else {
                ended = false;
                break;
            };
            let line = from..from + length;
            match Line::of(&text[line.clone()]) {
                Line::Time(next) => {
                    if next < now || time.is_some_and(|time| next <= time) {
                        break;
                    }
                    if let Some(time) = time.replace(next) {
                        visit(Alike::Step(time, rises));
                        read.now = time;
                    }
                    read.bytes = from as u64;
                    (*clock, rises) = (level, false);
                    if next >= until {
                        break;
                    }
                }
                Line::Change(value, code) if time.is_some() => {
                    let Some(slot) = body.codes.find(code) else { break };
                    match rules[slot.index()] {
                        Rule::Skip => {}
                        Rule::Digits(width) if is_number(value, width) => {
                            let (now, high) = (time.unwrap_or(now), value.ends_with(b"1"));
                            rises |= level.as_mut().is_some_and(|clock| clock.rises(now, slot, high));
                            keep(slot, &line);
                        }
                        Rule::Text if is_text(value) => keep(slot, &line),
                        Rule::Digits(_) | Rule::Text | Rule::Stop => break,
                    }
                }
                Line::Change(..) | Line::Other => break,
            }
            from = line.end + 1;
        }
        for slot in changed.drain(..) {
            let line = std::mem::take(&mut lines[slot.index()]);
            let Line::Change(value, _) = Line::of(&text[line.start as usize..line.end as usize]) else {
                continue;
            };
            let value = match value {
                [b's', text @ ..] if memchr(b'\\', text).is_some() => {
                    *digits = escapes::decode(text);
                    RawValue::Text(digits)
                }
                [b's', text @ ..] => RawValue::Text(text),
                [b'b', vector @ ..] => {
                    digits.clear();
                    digits.extend_from_slice(vector);
                    // The rule has checked that these are digits.
                    let from = shorten(digits).unwrap_or_default();
                    RawValue::Bits(&digits[from..])
                }
                digit => RawValue::Bits(digit),
            };
            visit(Alike::Value(slot, value));
        }
        read.line = memchr_iter(b'\n', &text[..read.bytes as usize]).count() as u64;
        (read, ended)
    }

    /// Returns the time of the first step that starts at least `bytes` after `at` in the first file; `None`
    /// if there is none.
    ///
    /// # Errors
    /// [`WaveReadError`].
    pub(crate) fn time_behind(&mut self, at: Position, bytes: u64) -> Result<Option<u64>, WaveReadError> {
        let mut from = at.bytes + bytes;
        loop {
            let length = block(&mut self.files[0], from, &mut self.buffers[0])
                .map_err(|fault| WaveReadFault::Io(fault).in_file(&self.paths[0]))?;
            let text = &self.buffers[0][..length];
            let mut lines = text.split(|byte| *byte == b'\n');
            // The first line may start before the block, and the last line may continue after it.
            let (_, _) = (lines.next(), lines.next_back());
            for line in lines {
                if let Line::Time(time) = Line::of(line)
                    && time > at.now
                {
                    return Ok(Some(time));
                }
            }
            let Some(end) = memrchr(b'\n', text).filter(|end| *end > 0) else { return Ok(None) };
            from += end as u64;
        }
    }
}

impl<'a> Line<'a> {
    fn of(line: &'a [u8]) -> Self {
        match line {
            [b'#', digits @ ..] if (1..=19).contains(&digits.len()) => {
                let number =
                    |time, digit: &u8| digit.is_ascii_digit().then(|| 10 * time + u64::from(digit - b'0'));
                digits.iter().try_fold(0, number).map_or(Line::Other, Line::Time)
            }
            [b'0' | b'1' | b'x' | b'z', code @ ..] => Line::Change(&line[..1], code),
            [b'b' | b's', ..] => match line.iter().rposition(|byte| *byte == b' ') {
                Some(space) => Line::Change(&line[..space], &line[space + 1..]),
                None => Line::Other,
            },
            _ => Line::Other,
        }
    }
}

/// True if a value is a number in the usual form, with at most `width` digits.
fn is_number(value: &[u8], width: u32) -> bool {
    let digits = value.strip_prefix(b"b").unwrap_or(value);
    // No early exit, so that the compiler vectorizes the loop.
    let known = digits.iter().fold(true, |known, digit| known & matches!(digit, b'0' | b'1' | b'x' | b'z'));
    known && (1..=width as usize).contains(&digits.len())
}

fn is_text(value: &[u8]) -> bool {
    value.starts_with(b"s") && !value.iter().any(|byte| is_space(*byte))
}

fn block(file: &mut File, from: u64, buffer: &mut Vec<u8>) -> io::Result<usize> {
    file.seek(SeekFrom::Start(from))?;
    buffer.resize(BLOCK, 0);
    let mut length = 0;
    while length < BLOCK {
        match file.read(&mut buffer[length..]) {
            Ok(0) => break,
            Ok(more) => length += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(length)
}

fn common(left: &[u8], right: &[u8]) -> usize {
    let length = left.len().min(right.len());
    if left[..length] == right[..length] {
        return length;
    }
    left.iter().zip(right).take_while(|(left, right)| left == right).count()
}
