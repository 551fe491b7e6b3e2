//! File format for the answers of a GPU.
//!
//! A capture is text with one JSON object per line: `{"crc":"1f2e3d4c","entry":...}`. `crc` is the CRC-32 of
//! the bytes of the entry. The first entry is the [`CaptureHeader`]. The last entry is an [`End`], unless the
//! run was cut off. Every other entry is a [`ProgramRecord`]. A line is written after its program has ended,
//! so every complete line is a complete record.

use std::io::{BufRead, BufReader, Read, Write};

use flate2::read::GzDecoder;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::program::TestProgram;

/// Version of the capture format. Files with a later version are refused.
pub const VERSION: u32 = 1;

/// Limit in bytes for one line: a program with its input and output.
const MOST_LINE_BYTES: u64 = 256 << 20;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CaptureEntry {
    Header(CaptureHeader),
    Record(Box<ProgramRecord>),
    End(End),
}

/// GPU, driver, date and kit version of a capture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CaptureHeader {
    /// Version of the capture format.
    pub atoms_capture: u32,
    /// Version of the capture kit.
    pub kit: String,
    /// Date and time of the capture, in UTC (RFC 3339).
    pub date: String,
    pub seed: u64,
    pub device: DeviceRecord,
    /// CUDA version that the driver supports: `12.8`.
    pub driver: String,
    /// Time at which the driver loads code: `eager` or `lazy`. Missing if the driver is too old to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loading: Option<String>,
}

/// Properties of a GPU as the driver reports them. Contains nothing that identifies one machine among equal
/// ones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct DeviceRecord {
    pub name: String,
    /// Compute capability, major and minor.
    pub compute_capability: [u32; 2],
    pub multiprocessors: u32,
    /// Highest clock of the cores, in kHz.
    pub clock_khz: u32,
    /// Highest clock of the memory, in kHz.
    pub memory_clock_khz: u32,
    /// True if grids of clusters can be launched.
    pub clusters: bool,
    /// True for an instance of a GPU in MIG mode.
    pub mig: bool,
    /// True if the system ends kernels that run for several seconds.
    pub kernel_timeout: bool,
}

impl DeviceRecord {
    /// Returns the architecture as the number after `sm_`.
    pub fn arch(&self) -> u32 {
        let [major, minor] = self.compute_capability;
        10 * major + minor
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProgramRecord {
    pub program: TestProgram,
    pub outcome: ProgramOutcome,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<Code>,
    /// Time to compile and run the program, in seconds.
    pub seconds: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProgramOutcome {
    Outputs(Vec<Bytes>),
    Skipped(String),
    /// Reason why the program could not be compiled, launched or read back.
    Failed(String),
    /// The program was still running after this many seconds.
    TimedOut(u64),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bytes(#[serde(with = "crate::bytes")] pub Vec<u8>);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    Sass(#[serde(with = "crate::bytes::text")] String),
    /// ELF file, if no disassembler was available.
    Cubin(#[serde(with = "crate::bytes")] Vec<u8>),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct End {
    /// Number of programs that the run was asked to execute.
    pub programs: u64,
    pub records: u64,
    /// Reason why the run stopped early. `None` if every program was attempted.
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
    pub header: CaptureHeader,
    pub records: Vec<ProgramRecord>,
    /// Last line of the file. `None` if the run was cut off.
    pub end: Option<End>,
}

#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    #[error("cannot be read")]
    Read(#[from] std::io::Error),
    #[error(
        "is not a capture: its first line is not `{{\"crc\":...,\"entry\":{{\"header\":...` (docs/silicon.md)"
    )]
    NoCapture,
    #[error(
        "has format version {found}, but this program reads versions up to {VERSION}; use a newer program"
    )]
    Newer { found: u64 },
    #[error(
        "line {line}: {message}; the lines before it are usable: delete this line and all lines after it"
    )]
    Damaged {
        /// Line number, from 1.
        line: usize,
        message: String,
    },
}

/// Writes one entry as a line and flushes the writer.
///
/// # Errors
/// Errors of the writer.
pub fn write_entry(writer: impl Write, entry: &CaptureEntry) -> std::io::Result<()> {
    let text = serde_json::to_string(entry)?;
    let crc = crc32fast::hash(text.as_bytes());
    write_line(writer, &format!(r#"{{"crc":"{crc:08x}","entry":{text}}}"#))
}

/// Writes a line that another process has formatted, and flushes the writer.
///
/// # Errors
/// Errors of the writer.
pub fn write_line(mut writer: impl Write, line: &str) -> std::io::Result<()> {
    writeln!(writer, "{line}")?;
    writer.flush()
}

/// Parses one line and checks the CRC.
///
/// # Errors
/// Description of the fault in the line.
pub fn read_entry(line: &str) -> Result<CaptureEntry, String> {
    let Line { crc, entry } = serde_json::from_str(line).map_err(|error| format!("not an entry: {error}"))?;
    let found = format!("{:08x}", crc32fast::hash(entry.get().as_bytes()));
    if found != crc {
        return Err(format!(
            "the checksum of its entry is {found}, but the line states {crc}: the line was changed or damaged"
        ));
    }
    serde_json::from_str(entry.get()).map_err(|error| format!("not an entry of this format: {error}"))
}

/// True if a file that starts with these bytes may be a capture: text, or gzip.
pub fn looks_like_capture(start: &[u8]) -> bool {
    start.starts_with(&GZIP) || start.starts_with(br#"{"crc":""#)
}

const GZIP: [u8; 2] = [0x1f, 0x8b];

impl Capture {
    /// Reads a capture, with or without gzip. An incomplete last line is ignored.
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
            // A line without a line end is incomplete: the capture program was stopped while it wrote the
            // line.
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
                    return Err(damaged("an entry after the end entry".into()));
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
    /// Returns the output of each launch, or `None` if the program did not run to its end.
    pub fn outputs(&self) -> Option<Vec<&[u8]>> {
        match &self.outcome {
            ProgramOutcome::Outputs(outputs) => Some(outputs.iter().map(|bytes| &bytes.0[..]).collect()),
            ProgramOutcome::Skipped(_) | ProgramOutcome::Failed(_) | ProgramOutcome::TimedOut(_) => None,
        }
    }
}

/// Reads the format version from the first line. The rest of the entry may have any form.
fn version(line: &str) -> Option<u64> {
    let line: serde_json::Value = serde_json::from_str(line).ok()?;
    line.get("entry")?.get("header")?.get("atoms_capture")?.as_u64()
}
