//! The file that a GPU's answers are kept in.
//!
//! A capture is text, one JSON object a line: `{"crc":"1f2e3d4c","entry":...}`, where `crc` is the CRC-32 of the bytes
//! of the entry as they stand. The first entry is the [`CaptureHeader`], the last, if the run was not cut off, an [`End`];
//! each other is a [`ProgramRecord`]. A line is written when its program has ended, so that what stands in the file is whole.

use std::io::{BufRead, BufReader, Read, Write};

use flate2::read::GzDecoder;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::program::TestProgram;

/// Version of the format; later versions are refused.
pub const VERSION: u32 = 1;

/// Longest line: a program with its input and output.
const MOST_LINE_BYTES: u64 = 256 << 20;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CaptureEntry {
    /// The first line.
    Header(CaptureHeader),
    /// What came of a program.
    Record(Box<ProgramRecord>),
    /// The last line.
    End(End),
}

/// On what, when and by what a capture was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CaptureHeader {
    /// Version of the format.
    pub atoms_capture: u32,
    /// Version of the kit.
    pub kit: String,
    /// UTC, RFC 3339.
    pub date: String,
    pub seed: u64,
    pub device: DeviceRecord,
    /// CUDA version of the driver: `12.8`.
    pub driver: String,
    /// When the driver loads code: `eager` or `lazy`; missing where it is too old to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loading: Option<String>,
}

/// What the driver says of a GPU. Nothing that tells one machine from another of its kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct DeviceRecord {
    pub name: String,
    /// Compute capability, major and minor.
    pub compute_capability: [u32; 2],
    pub multiprocessors: u32,
    /// Highest clock of the cores.
    pub clock_khz: u32,
    /// Highest clock of the memory.
    pub memory_clock_khz: u32,
    /// Grids of clusters can be launched.
    pub clusters: bool,
    /// It is an instance of a GPU in MIG mode.
    pub mig: bool,
    /// Kernels that run for seconds are ended by the system.
    pub kernel_timeout: bool,
}

impl DeviceRecord {
    /// The architecture as the number after `sm_`.
    pub fn arch(&self) -> u32 {
        let [major, minor] = self.compute_capability;
        10 * major + minor
    }
}

/// A program and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProgramRecord {
    pub program: TestProgram,
    pub outcome: ProgramOutcome,
    /// The machine code that ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<Code>,
    /// Seconds that compiling and running took.
    pub seconds: f64,
}

/// What came of a program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProgramOutcome {
    /// Output of each launch.
    Outputs(Vec<Bytes>),
    /// It was not run, and why.
    Skipped(String),
    /// It could not be compiled, launched or read back, and why.
    Failed(String),
    /// It was still running after so many seconds.
    TimedOut(u64),
}

/// Bytes as they came from the GPU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bytes(#[serde(with = "crate::bytes")] pub Vec<u8>);

/// Machine code as the driver made it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// As a disassembler prints it.
    Sass(#[serde(with = "crate::bytes::text")] String),
    /// The ELF file, where no disassembler was at hand.
    Cubin(#[serde(with = "crate::bytes")] Vec<u8>),
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct End {
    /// Programs that were to be run.
    pub programs: u64,
    pub records: u64,
    /// Why it ended before all of them, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Line<'a> {
    crc: String,
    #[serde(borrow)]
    entry: &'a RawValue,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Capture {
    /// Its first line.
    pub header: CaptureHeader,
    /// Its records, in order.
    pub records: Vec<ProgramRecord>,
    /// Its last line; `None` where the run was cut off.
    pub end: Option<End>,
}

/// Why a file is no capture that can be used.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// It cannot be read.
    #[error("cannot be read")]
    Read(#[from] std::io::Error),
    #[error(
        "is no capture: its first line is not `{{\"crc\":...,\"entry\":{{\"header\":...` (docs/silicon.md)"
    )]
    NoCapture,
    /// It is of a later version of the format.
    #[error("has version {found} of the format, and this program reads up to {VERSION}; use a newer one")]
    Newer {
        /// The version found.
        found: u64,
    },
    #[error("line {line}: {message}; the lines before it can be used: delete it and those behind it")]
    Damaged {
        /// Its number, from 1.
        line: usize,
        message: String,
    },
}

/// Writes one line and flushes it.
///
/// # Errors
/// Of the writer.
pub fn write_entry(writer: impl Write, entry: &CaptureEntry) -> std::io::Result<()> {
    let text = serde_json::to_string(entry)?;
    let crc = crc32fast::hash(text.as_bytes());
    write_line(writer, &format!(r#"{{"crc":"{crc:08x}","entry":{text}}}"#))
}

/// Writes one line as another process made it, and flushes it.
///
/// # Errors
/// Of the writer.
pub fn write_line(mut writer: impl Write, line: &str) -> std::io::Result<()> {
    writeln!(writer, "{line}")?;
    writer.flush()
}

/// Reads one line.
///
/// # Errors
/// What is wrong with it.
pub fn read_entry(line: &str) -> Result<CaptureEntry, String> {
    let Line { crc, entry } = serde_json::from_str(line).map_err(|error| format!("no entry: {error}"))?;
    let found = format!("{:08x}", crc32fast::hash(entry.get().as_bytes()));
    if found != crc {
        return Err(format!("its checksum is {found}, and it says {crc}: it was changed or damaged"));
    }
    serde_json::from_str(entry.get()).map_err(|error| format!("no entry of this format: {error}"))
}

/// Whether a file that begins with these bytes may be a capture: text or, compressed, gzip.
pub fn looks_like_capture(start: &[u8]) -> bool {
    start.starts_with(&GZIP) || start.starts_with(br#"{"crc":""#)
}

/// First bytes of a gzip file.
const GZIP: [u8; 2] = [0x1f, 0x8b];

impl Capture {
    /// Reads a capture, compressed by gzip or not. One whose last line is cut off is read up to there.
    ///
    /// # Errors
    /// [`CaptureError`].
    pub fn read(file: impl Read) -> Result<Capture, CaptureError> {
        let mut file = BufReader::new(file);
        if file.fill_buf()?.starts_with(&GZIP) {
            Capture::read_lines(BufReader::new(GzDecoder::new(file)))
        } else {
            Capture::read_lines(file)
        }
    }

    fn read_lines(mut lines: impl BufRead) -> Result<Capture, CaptureError> {
        let mut line = String::new();
        let mut next = |line: &mut String| -> std::io::Result<bool> {
            line.clear();
            lines.by_ref().take(MOST_LINE_BYTES).read_line(line)?;
            // A line without its end is one that was being written.
            Ok(line.ends_with('\n'))
        };
        if !next(&mut line)? {
            return Err(CaptureError::NoCapture);
        }
        if let Some(found) = version(&line).filter(|found| *found > VERSION.into()) {
            return Err(CaptureError::Newer { found });
        }
        let header = match read_entry(&line) {
            Ok(CaptureEntry::Header(header)) => header,
            Ok(_) => return Err(CaptureError::NoCapture),
            Err(_) if version(&line).is_none() => return Err(CaptureError::NoCapture),
            Err(message) => return Err(CaptureError::Damaged { line: 1, message }),
        };
        let mut capture = Capture { header, records: Vec::new(), end: None };
        let mut number = 1;
        while next(&mut line)? {
            number += 1;
            let damaged = |message| CaptureError::Damaged { line: number, message };
            match read_entry(&line).map_err(damaged)? {
                CaptureEntry::Record(record) if capture.end.is_none() => {
                    record.program.check().map_err(damaged)?;
                    capture.records.push(*record);
                }
                CaptureEntry::End(end) if capture.end.is_none() => capture.end = Some(end),
                CaptureEntry::Record(_) | CaptureEntry::End(_) => {
                    return Err(damaged("it stands behind the last line".into()));
                }
                CaptureEntry::Header(_) => {
                    return Err(damaged("a second header: two captures in one file".into()));
                }
            }
        }
        Ok(capture)
    }

    pub fn record(&self, name: &str) -> Option<&ProgramRecord> {
        self.records.iter().find(|record| record.program.name == name)
    }
}

impl ProgramRecord {
    /// Output of each launch, if it ran.
    pub fn outputs(&self) -> Option<Vec<&[u8]>> {
        match &self.outcome {
            ProgramOutcome::Outputs(outputs) => Some(outputs.iter().map(|bytes| &bytes.0[..]).collect()),
            ProgramOutcome::Skipped(_) | ProgramOutcome::Failed(_) | ProgramOutcome::TimedOut(_) => None,
        }
    }
}

/// Version that a first line states, whatever else has changed in it.
fn version(line: &str) -> Option<u64> {
    let line: serde_json::Value = serde_json::from_str(line).ok()?;
    line.get("entry")?.get("header")?.get("atoms_capture")?.as_u64()
}
