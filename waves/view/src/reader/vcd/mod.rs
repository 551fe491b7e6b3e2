//! Reads value change dumps (VCD).
//!
//! The crate `vcd`, which writes our headers, also has a reader. That reader iterates over single bytes,
//! allocates every value, and rejects unknown types of scopes and variables. `tests/reader.rs` compares this
//! reader with `vcd` and with `wellen`.

mod body;
mod codes;
mod header;
mod twins;
mod words;

pub(crate) use body::Position;
pub(super) use body::VcdBody;
pub(super) use header::open;
pub(crate) use twins::{Alike, Twins};

use super::WaveReadFault;
use words::WordFault;

fn problem(line: u64, problem: impl Into<String>) -> WaveReadFault {
    WaveReadFault::Vcd { line, problem: problem.into() }
}

fn extended(line: u64) -> WaveReadFault {
    problem(
        line,
        "extended VCD is not supported ($dumpports, values of ports with their strengths); dump signals with $dumpvars \
         instead",
    )
}

impl From<WordFault> for WaveReadFault {
    fn from(fault: WordFault) -> Self {
        match fault {
            WordFault::Io(source) => WaveReadFault::Io(source),
            WordFault::TooLong { line, most } => {
                problem(line, format!("a word of more than {} MiB: this is not VCD text", most >> 20))
            }
        }
    }
}
