//! Checks the blocks of an FST file before `fst-reader` trusts their content.
//!
//! A block is a type (one byte), a length (eight bytes, which includes these eight), and content. Lengths of
//! compressed content come first. The checks cover lengths and positions that the reader uses for allocations
//! and seeks.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use super::{problem, unfinished};
use crate::reader::WaveReadFault;

const HEADER: u8 = 0;
const VALUES: u8 = 1;
const BLACKOUT: u8 = 2;
const GEOMETRY: u8 = 3;
const HIERARCHY: u8 = 4;
const VALUES_ALIASED: u8 = 5;
const HIERARCHY_LZ4: u8 = 6;
const HIERARCHY_LZ4_TWICE: u8 = 7;
const VALUES_ALIASED_TWICE: u8 = 8;
const GZIP: u8 = 254;
const SKIP: u8 = 255;

const HEADER_LENGTH: u64 = 329;
/// Maximum uncompressed size of a block, which is read as a whole.
const MOST: u64 = 1 << 32;
/// Maximum compression ratios of deflate and LZ4.
const DEFLATE: u64 = 1032;
const LZ4: u64 = 255;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Overview {
    pub(super) bytes: u64,
    /// True if an incomplete block follows.
    pub(super) cut: bool,
    /// True if the list of signals is missing. The writer keeps the list in a separate file until it closes
    /// the wave.
    pub(super) unlisted: bool,
    /// Last time stated in the header: the time of the last flush.
    pub(super) stated_end: u64,
    /// First and last time of the value blocks.
    pub(super) times: Option<(u64, u64)>,
    /// Largest number of signals in a value block.
    pub(super) signals: u64,
}

pub(super) fn check(path: &Path) -> Result<Overview, WaveReadFault> {
    let mut file = File::open(path).map_err(WaveReadFault::Io)?;
    let length = file.metadata().map_err(WaveReadFault::Io)?.len();
    let mut blocks = Blocks { file: &mut file, length };
    blocks.check().map_err(|fault| match fault {
        Fault::Read(error) if error.kind() == io::ErrorKind::UnexpectedEof => unfinished(),
        Fault::Read(error) => WaveReadFault::Io(error),
        Fault::Found(fault) => fault,
    })
}

enum Fault {
    Read(io::Error),
    Found(WaveReadFault),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Fault::Read(error)
    }
}

struct Blocks<'a> {
    file: &'a mut File,
    length: u64,
}

impl Blocks<'_> {
    fn check(&mut self) -> Result<Overview, Fault> {
        let (mut at, mut found) = (0, Overview::default());
        let (mut headers, mut geometries, mut hierarchies) = (0, 0, 0);
        let mut handles = 0;
        // A block has at least a type and a length.
        while self.length - at >= 9 {
            self.file.seek(SeekFrom::Start(at))?;
            let [kind] = self.bytes()?;
            let length = self.number()?;
            // A value block that is still being written.
            if kind == SKIP && length == 0 {
                break;
            }
            let end = at.checked_add(1).and_then(|at| at.checked_add(length)).filter(|_| length >= 8);
            let Some(end) = end else { return Err(self.damaged(at, "a block of impossible length")) };
            if end > self.length {
                break;
            }
            match kind {
                HEADER if length == HEADER_LENGTH => {
                    headers += 1;
                    found.stated_end = [self.number()?, self.number()?][1];
                }
                HEADER => return Err(self.damaged(at, "a header of the wrong length")),
                VALUES | VALUES_ALIASED | VALUES_ALIASED_TWICE => {
                    let [first, last] = [self.number()?, self.number()?];
                    found.times = Some((found.times.map_or(first, |(first, _)| first), last));
                    found.signals = self.values(at, length, kind)?.max(found.signals);
                }
                GEOMETRY => {
                    geometries += 1;
                    let uncompressed = self.number()?;
                    handles = self.number()?;
                    self.bounded(at, uncompressed, length.saturating_mul(DEFLATE))?;
                    // Each handle takes at least one byte.
                    self.bounded(at, handles, uncompressed)?;
                }
                HIERARCHY | HIERARCHY_LZ4 | HIERARCHY_LZ4_TWICE => {
                    hierarchies += 1;
                    let uncompressed = self.number()?;
                    let ratio = match kind {
                        HIERARCHY => DEFLATE,
                        HIERARCHY_LZ4 => LZ4,
                        _ => LZ4 * LZ4,
                    };
                    self.bounded(at, uncompressed, length.saturating_mul(ratio))?;
                }
                GZIP if at == 0 => {
                    let uncompressed = self.number()?;
                    self.bounded(at, uncompressed, length.saturating_mul(DEFLATE))?;
                    return Ok(Overview { bytes: self.length, ..found });
                }
                BLACKOUT => {
                    let count = self.short_number()?;
                    // Each entry takes at least two bytes.
                    self.bounded(at, count, length / 2)?;
                }
                SKIP => {}
                _ => return Err(self.damaged(at, "a block of unknown type")),
            }
            at = end;
        }
        self.bounded(0, found.signals, handles.max(if geometries == 0 { u64::MAX } else { 0 }))?;
        (found.bytes, found.cut) = (at, at < self.length);
        found.unlisted = geometries == 0 || hierarchies == 0;
        match (headers, geometries, hierarchies) {
            (0, ..) if found.cut => Err(Fault::Found(unfinished())),
            (0, ..) => Err(self.damaged(0, "no header")),
            (1, 0..=1, 0..=1) => Ok(found),
            _ => Err(self.damaged(at, "a second block of a type that may occur only once")),
        }
    }

    /// Checks the lengths in the value block at `at`. Returns an upper bound for its number of signals.
    fn values(&mut self, at: u64, length: u64, kind: u8) -> Result<u64, Fault> {
        // Layout: length, two times, memory size, initial values, changes, positions of each signal's
        // changes; at the end the times and their lengths.
        const LEADER: u64 = 32;
        const TRAILER: u64 = 24;
        let Some(room) = length.checked_sub(LEADER + TRAILER) else {
            return Err(self.damaged(at, "a block of values that is too short"));
        };
        let end = at + 1 + length;
        self.file.seek(SeekFrom::Start(end - TRAILER))?;
        let (uncompressed, compressed, times) = (self.number()?, self.number()?, self.number()?);
        self.bounded(at, compressed.saturating_add(8), room)?;
        self.bounded(at, uncompressed, compressed.saturating_mul(DEFLATE))?;
        // Each time takes at least one byte.
        self.bounded(at, times, uncompressed)?;
        self.file.seek(SeekFrom::Start(end - TRAILER - compressed - 8))?;
        let places = self.number()?;
        self.bounded(at, places, room - compressed - 8)?;
        let listed = if kind == VALUES_ALIASED_TWICE {
            0 // checked against the number of signals during reading
        } else {
            self.file.seek(SeekFrom::Start(end - TRAILER - compressed - 8 - places))?;
            self.listed(places)?
        };
        self.file.seek(SeekFrom::Start(at + 1 + LEADER))?;
        let (uncompressed, compressed) = (self.short_number()?, self.short_number()?);
        let at_first = self.short_number()?;
        self.bounded(at, compressed, room)?;
        self.bounded(at, uncompressed, compressed.saturating_mul(DEFLATE))?;
        self.file.seek(SeekFrom::Current(compressed as i64))?;
        Ok(self.short_number()?.max(at_first).max(listed))
    }

    /// Counts the signals in a list of positions, `bytes` long. An entry is a position, or 0 and the number
    /// of an aliased signal, or twice the length of a run of signals without changes.
    fn listed(&mut self, bytes: u64) -> Result<u64, Fault> {
        let mut list = BufReader::new((&mut *self.file).take(bytes));
        let mut signals = 0_u64;
        while !list.fill_buf()?.is_empty() {
            signals = signals.saturating_add(match short_number(&mut list)? {
                0 => {
                    short_number(&mut list)?;
                    1
                }
                place if place % 2 == 1 => 1,
                twice => twice / 2,
            });
        }
        Ok(signals)
    }

    fn bounded(&self, at: u64, found: u64, most: u64) -> Result<(), Fault> {
        if found > most {
            return Err(self.damaged(at, "a length that is not possible"));
        }
        if found > MOST {
            let gib = MOST >> 30;
            return Err(self.damaged(
                at,
                &format!("a block of more than {gib} GiB, which is too large to read into memory"),
            ));
        }
        Ok(())
    }

    fn damaged(&self, at: u64, what: &str) -> Fault {
        Fault::Found(problem(format!("the FST file is damaged: {what}, in the block at byte {at}")))
    }

    fn bytes<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let mut bytes = [0; N];
        self.file.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    fn short_number(&mut self) -> Result<u64, Fault> {
        Ok(short_number(self.file)?)
    }

    fn number(&mut self) -> Result<u64, Fault> {
        Ok(u64::from_be_bytes(self.bytes()?))
    }
}

/// Reads a number in groups of seven bits, the lowest first.
fn short_number(input: &mut impl Read) -> io::Result<u64> {
    let mut number = 0;
    for group in 0..10 {
        let mut byte = [0];
        input.read_exact(&mut byte)?;
        number |= u64::from(byte[0] & 0x7f).checked_shl(group * 7).unwrap_or(0);
        if byte[0] & 0x80 == 0 {
            break;
        }
    }
    Ok(number)
}
