//! Why a wave file cannot be read.

use std::io;
use std::path::{Path, PathBuf};

/// A wave file that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read wave `{}`: {fault}", path.display())]
pub struct WaveReadError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub fault: WaveReadFault,
}

/// What is wrong with a wave file.
#[derive(Debug, thiserror::Error)]
pub enum WaveReadFault {
    /// The operating system says no.
    #[error("{0}")]
    Io(io::Error),
    /// A folder, a pipe, a device.
    #[error("it is not a regular file; a wave is read more than once, so write it to a file first")]
    NoFile,
    /// Nothing but white space.
    #[error("it is empty; the simulation may have ended before it wrote anything")]
    Empty,
    /// Compressed as a whole.
    #[error("it is compressed by gzip; decompress it first: gunzip FILE")]
    Gzip,
    /// Neither format.
    #[error(
        "it is neither VCD, which begins with `$`, nor FST: it begins with {}; GTKWave's and the simulator's converters \
         write these two formats",
        shown(&[*first])
    )]
    Foreign {
        /// The first byte that is not white space.
        first: u8,
    },
    /// VCD text that says something impossible.
    #[error("line {line}: {problem}")]
    Vcd {
        /// Counted from 1.
        line: u64,
        /// What stands there, and what was expected.
        problem: String,
    },
    /// A binary file that is damaged.
    #[error("{problem}")]
    Fst {
        /// What, where known, and what would work.
        problem: String,
    },
    /// More than fits into memory.
    #[error(
        "the {signals} signals chosen have {changes} changes in the window, {} MiB in memory, more than the {} MiB that \
         are held; choose a narrower window or fewer signals",
        bytes >> 20,
        limit >> 20
    )]
    TooLarge {
        /// Signals chosen.
        signals: usize,
        /// Their changes.
        changes: u64,
        /// Memory that these take.
        bytes: u64,
        /// The most that is taken.
        limit: u64,
    },
}

impl WaveReadFault {
    pub(super) fn in_file(self, path: &Path) -> WaveReadError {
        WaveReadError { path: path.to_path_buf(), fault: self }
    }
}

/// Bytes of a file for a message: printable characters as they are, others as `\x00`, cut short.
pub(super) fn shown(bytes: &[u8]) -> String {
    const MOST: usize = 40;
    let cut = if bytes.len() > MOST { ".." } else { "" };
    let mut text = String::new();
    for byte in &bytes[..bytes.len().min(MOST)] {
        match byte {
            b' '..=b'~' => text.push(char::from(*byte)),
            _ => text += &byte.escape_ascii().to_string(),
        }
    }
    format!("`{text}{cut}`")
}
