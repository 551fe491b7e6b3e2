//! Writes traces as FST, GTKWave's compressed and indexed binary format.

use std::fs::File;
use std::io;

use wavefst::{ChainCompression, FstWriter, GeomEntry, Header, ScopeType, SignalValue, VarDir, VarType};

use crate::definition::{Item, Scope};
use crate::format::{Change, DIGITS, Entry, Format, kinds};
use crate::{Definition, SignalKind, WRITER};

/// Exponent of the time unit, 1 ns.
const TIMESCALE: i8 = -9;

pub(crate) struct FstFormat {
    writer: FstWriter<File>,
    signals: Vec<(SignalKind, u32)>,
    clock: u32,
    time: u64,
    /// Time of the last change.
    written: u64,
    /// Buffer for the digits of a number.
    digits: Vec<u8>,
}

impl FstFormat {
    pub(crate) fn new(definition: &Definition, file: File) -> io::Result<Self> {
        let builder = FstWriter::builder(file).chain_compression(ChainCompression::Lz4);
        let mut writer = builder.timescale_exponent(TIMESCALE).build().map_err(io::Error::other)?;
        let mut handles = vec![0; definition.signals.len()];
        declare(&mut writer, definition, definition.top(), &mut handles).map_err(io::Error::other)?;
        let version = WRITER.to_owned() + env!("CARGO_PKG_VERSION");
        let header = Header { timescale_exponent: TIMESCALE, version, ..Header::default() };
        writer.write_header(header).map_err(io::Error::other)?;
        let clock = handles[definition.clock.0 as usize];
        let signals = kinds(definition).into_iter().zip(handles).collect();
        Ok(FstFormat { writer, signals, clock, time: 0, written: 0, digits: Vec::new() })
    }

    fn change(&mut self, signal: usize, change: Change<'_>) -> wavefst::Result<()> {
        let (kind, handle) = self.signals[signal];
        self.written = self.time;
        let value = match (kind, change) {
            (SignalKind::Bits(width), Change::Unknown) => {
                SignalValue::Vector("x".repeat(width as usize).into())
            }
            (SignalKind::Text | SignalKind::Event, Change::Unknown) => return Ok(()),
            (_, Change::Happens) => SignalValue::Bit('1'),
            (SignalKind::Text, Change::Bytes(word)) => SignalValue::Bytes(word.into()),
            (SignalKind::Bits(1), Change::Narrow(value)) => {
                return self.writer.emit_binary_change(self.time, handle, value == 1);
            }
            (_, Change::Bytes(bytes)) => number(&mut self.digits, kind, bytes),
            (_, Change::Narrow(value)) => number(&mut self.digits, kind, &value.to_le_bytes()),
        };
        self.writer.emit_change(self.time, handle, value)
    }
}

/// Converts bytes, the least significant first, to digits. This is faster than the writer's own bit-by-bit
/// conversion.
fn number<'a>(digits: &'a mut Vec<u8>, kind: SignalKind, bytes: &[u8]) -> SignalValue<'a> {
    let SignalKind::Bits(width) = kind else { unreachable!("a {kind:?} holds no number") };
    let whole = width.div_ceil(8) as usize;
    digits.clear();
    bytes[..whole].iter().rev().for_each(|byte| digits.extend_from_slice(&DIGITS[usize::from(*byte)]));
    SignalValue::Bytes(digits[8 * whole - width as usize..].into())
}

fn declare(
    writer: &mut FstWriter<File>,
    definition: &Definition,
    scope: &Scope,
    handles: &mut [u32],
) -> wavefst::Result<()> {
    writer.begin_scope(ScopeType::VcdModule, &scope.name, None)?;
    for item in &scope.items {
        match item {
            Item::Scope(inner) => declare(writer, definition, inner, handles)?,
            Item::Signal(signal) => {
                let declared = definition.declared(*signal);
                let (kind, geometry) = form(declared.kind);
                let name = reference(&declared.name, declared.kind);
                handles[signal.0 as usize] = writer.add_variable(kind, VarDir::Implicit, name, geometry)?;
            }
            Item::Alias(name, signal) => {
                let kind = definition.declared(*signal).kind;
                let handle = handles[signal.0 as usize];
                writer.add_alias(form(kind).0, VarDir::Implicit, reference(name, kind), handle)?;
            }
        }
    }
    writer.end_scope()
}

fn form(kind: SignalKind) -> (VarType, GeomEntry) {
    match kind {
        SignalKind::Bits(width) => (VarType::VcdWire, GeomEntry::Fixed(width)),
        SignalKind::Text => (VarType::GenString, GeomEntry::Variable),
        SignalKind::Event => (VarType::VcdEvent, GeomEntry::Fixed(1)),
    }
}

fn reference(name: &str, kind: SignalKind) -> String {
    match kind {
        SignalKind::Bits(width @ 2..) => format!("{name} [{}:0]", width - 1),
        SignalKind::Bits(_) | SignalKind::Text | SignalKind::Event => name.to_owned(),
    }
}

impl Format for FstFormat {
    fn entry(&mut self, entry: Entry<'_>) -> io::Result<()> {
        match entry {
            Entry::Time(time) => self.time = time,
            Entry::All => {}
            Entry::Change(signal, change) => self.change(signal, change).map_err(io::Error::other)?,
            Entry::Lines(_) => unreachable!("it has none"),
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.time > self.written {
            // The file ends with its last change. A change to the same value extends the last cycle to its
            // full length.
            self.written = self.time;
            self.writer.emit_binary_change(self.time, self.clock, false).map_err(io::Error::other)?;
        }
        self.writer.flush().map_err(io::Error::other)
    }
}
