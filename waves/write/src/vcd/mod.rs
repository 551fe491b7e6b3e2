//! Writes traces as VCD text.

mod encode;
mod header;
mod lines;

pub(crate) use lines::ChangeLines;

use crate::format::{Change, Entry, Format, kinds};
use crate::{Definition, SignalKind};
use encode::Code;
use std::fs::File;
use std::io::{self, Write};

/// Approximate size of a write to the file, in bytes.
const BUFFER_BYTES: usize = 1 << 16;

pub(crate) struct VcdFormat {
    file: File,
    buffer: Vec<u8>,
    signals: Vec<(SignalKind, Code)>,
    dumping: bool,
}

impl VcdFormat {
    pub(crate) fn new(definition: &Definition, mut file: File) -> io::Result<Self> {
        let mut buffer = Vec::with_capacity(BUFFER_BYTES + BUFFER_BYTES / 4);
        let ids = header::write(definition, &mut buffer)?;
        file.write_all(&buffer)?;
        buffer.clear();
        let codes: Vec<_> = ids.iter().map(|id| Code::new(id)).collect::<io::Result<_>>()?;
        let signals = kinds(definition).into_iter().zip(codes).collect();
        Ok(VcdFormat { file, buffer, signals, dumping: false })
    }

    pub(crate) fn change_lines(&self) -> ChangeLines {
        ChangeLines::new(self.signals.clone())
    }

    fn change(&mut self, signal: usize, change: Change<'_>) {
        let (kind, id) = &self.signals[signal];
        let out = &mut self.buffer;
        match (kind, change) {
            (SignalKind::Event | SignalKind::Text, Change::Unknown) => {}
            (SignalKind::Bits(width), Change::Unknown) => encode::unknown(out, *width, id),
            (_, Change::Happens) => encode::scalar(out, true, id),
            (SignalKind::Bits(1), Change::Narrow(value)) => encode::scalar(out, value == 1, id),
            (_, Change::Narrow(value)) => encode::number(out, value, id),
            (SignalKind::Text, Change::Bytes(text)) => encode::text(out, text, id),
            (_, Change::Bytes(bytes)) => encode::vector(out, bytes, id),
        }
    }

    fn write(&mut self) -> io::Result<()> {
        let result = self.file.write_all(&self.buffer);
        self.buffer.clear();
        result
    }
}

impl Format for VcdFormat {
    fn entry(&mut self, entry: Entry<'_>) -> io::Result<()> {
        match entry {
            Entry::Time(time) => {
                if std::mem::take(&mut self.dumping) {
                    self.buffer.extend_from_slice(b"$end\n");
                }
                encode::time(&mut self.buffer, time);
            }
            Entry::All => {
                self.buffer.extend_from_slice(b"$dumpvars\n");
                self.dumping = true;
            }
            Entry::Change(signal, change) => self.change(signal, change),
            Entry::Lines(lines) => self.buffer.extend_from_slice(lines),
        }
        if self.buffer.len() >= BUFFER_BYTES { self.write() } else { Ok(()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.write()
    }
}
