//! Changes on their way from a trace to its file.

use crate::SignalKind;
use std::ops::Range;

/// Bytes of a batch from which on it is handed over.
const FULL_BYTES: usize = 1 << 18;

/// Consecutive changes, as they are handed to the thread that formats them.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    records: Vec<Record>,
    /// Values that do not fit into a record.
    bytes: Vec<u8>,
}

/// One entry of a batch.
#[derive(Clone, Debug)]
enum Record {
    Time(u64),
    /// From here to the next time, every signal has its value: a file starts like this.
    All,
    Unknown(u32),
    Happens(u32),
    Narrow(u32, u128),
    Bytes(u32, Range<u32>),
}

/// An entry of a batch, as a format takes it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Entry<'a> {
    /// What follows happens at this time.
    Time(u64),
    /// Up to the next time, every signal that has a value is listed.
    All,
    /// The signal, by number, takes a value.
    Change(usize, Change<'a>),
}

/// What becomes of a signal.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change<'a> {
    /// It has no value yet.
    Unknown,
    /// It is an event, and happens.
    Happens,
    /// It has at most 128 bits.
    Narrow(u128),
    /// It is wider, and these are its bits, the least significant byte first; or it is text.
    Bytes(&'a [u8]),
}

impl Batch {
    pub(crate) fn time(&mut self, time: u64) {
        self.records.push(Record::Time(time));
    }

    pub(crate) fn all(&mut self) {
        self.records.push(Record::All);
    }

    pub(crate) fn change(&mut self, signal: u32, change: Change<'_>) {
        self.records.push(match change {
            Change::Unknown => Record::Unknown(signal),
            Change::Happens => Record::Happens(signal),
            Change::Narrow(value) => Record::Narrow(signal, value),
            Change::Bytes(bytes) => {
                let from = self.bytes.len() as u32;
                self.bytes.extend_from_slice(bytes);
                Record::Bytes(signal, from..self.bytes.len() as u32)
            }
        });
    }

    /// Worth handing over.
    pub(crate) fn is_full(&self) -> bool {
        self.records.len() * size_of::<Record>() + self.bytes.len() >= FULL_BYTES
    }

    pub(crate) fn clear(&mut self) {
        self.records.clear();
        self.bytes.clear();
    }

    /// The entries, in order.
    pub(crate) fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        self.records.iter().map(|record| match record {
            Record::Time(time) => Entry::Time(*time),
            Record::All => Entry::All,
            Record::Unknown(signal) => Entry::Change(*signal as usize, Change::Unknown),
            Record::Happens(signal) => Entry::Change(*signal as usize, Change::Happens),
            Record::Narrow(signal, value) => Entry::Change(*signal as usize, Change::Narrow(*value)),
            Record::Bytes(signal, range) => {
                let bytes = &self.bytes[range.start as usize..range.end as usize];
                Entry::Change(*signal as usize, Change::Bytes(bytes))
            }
        })
    }
}

/// A file format that a trace can be written in.
pub(crate) trait Format: Send {
    /// Takes an entry.
    fn entry(&mut self, entry: Entry<'_>) -> std::io::Result<()>;

    /// Brings everything taken so far to the file, which is valid as it then stands.
    fn flush(&mut self) -> std::io::Result<()>;
}

/// Appends `text` with `_` for each run of white space, which separates words in a VCD file.
pub(crate) fn word(out: &mut Vec<u8>, text: &[u8]) {
    let mut parts = text.split(u8::is_ascii_whitespace).filter(|part| !part.is_empty());
    out.extend_from_slice(parts.next().unwrap_or(b"-"));
    for part in parts {
        out.push(b'_');
        out.extend_from_slice(part);
    }
}

/// The kinds of all signals, by number.
pub(crate) fn kinds(definition: &crate::Definition) -> Vec<SignalKind> {
    definition.signals.iter().map(|declared| declared.kind).collect()
}
