//! Errors of reading a wave file.

use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
#[error("cannot read wave `{}`: {fault}", path.display())]
pub struct WaveReadError {
    pub path: PathBuf,
    pub fault: WaveReadFault,
}

#[derive(Debug, thiserror::Error)]
pub enum WaveReadFault {
    #[error("{0}")]
    Io(io::Error),
    /// Not a regular file, but a folder, a pipe or a device.
    #[error("it is not a regular file; a wave is read more than once, so write it to a file first")]
    NoFile,
    #[error("it is empty; the simulation may have ended before it wrote anything")]
    Empty,
    #[error("it is compressed by gzip; decompress it first: gunzip FILE")]
    Gzip,
    #[error(
        "it is neither VCD, which begins with `$`, nor FST: it begins with {}; GTKWave's and the simulator's converters \
         write these two formats",
        shown(&[*first])
    )]
    Foreign {
        /// First byte that is not white space.
        first: u8,
    },
    #[error("line {line}: {problem}")]
    Vcd {
        /// Line number from 1.
        line: u64,
        problem: String,
    },
    #[error("{problem}")]
    Fst { problem: String },
    #[error(
        "the {signals} selected signals have {changes} changes in the window, {} MiB in memory, more than the limit \
         of {} MiB; choose a narrower window or fewer signals",
        bytes >> 20,
        limit >> 20
    )]
    TooLarge { signals: usize, changes: u64, bytes: u64, limit: u64 },
}

impl WaveReadFault {
    pub(super) fn in_file(self, path: &Path) -> WaveReadError {
        WaveReadError { path: path.to_path_buf(), fault: self }
    }
}

/// Formats bytes for a message: non-printable bytes as `\x00`, truncated after 40 bytes.
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
