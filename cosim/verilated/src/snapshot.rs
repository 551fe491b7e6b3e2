//! The state of a model at one moment.

use crate::{Library, RtlError};
use sha2::{Digest, Sha256};

/// Registers, memory and cycle number of an [`Rtl`](crate::Rtl); fits any model of the same library.
#[derive(Clone, PartialEq, Eq)]
pub struct Snapshot {
    key: String,
    cycle: u64,
    state: Vec<u8>,
}

const MAGIC: &[u8; 8] = b"ATOMSRT1";
/// Magic, checksum, cycle; then the key's length as one byte, the key and the state.
const HEADER_BYTES: usize = 8 + 32 + 8 + 1;

impl Snapshot {
    pub(crate) fn new(library: &Library, cycle: u64, state: Vec<u8>) -> Self {
        Self { key: library.key().to_owned(), cycle, state }
    }

    /// Clocks that had run.
    pub fn cycle(&self) -> u64 {
        self.cycle
    }

    /// Bytes for a file, from which [`Self::from_bytes`] makes an equal snapshot.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut body = self.cycle.to_le_bytes().to_vec();
        body.push(self.key.len() as u8);
        body.extend_from_slice(self.key.as_bytes());
        body.extend_from_slice(&self.state);
        [&MAGIC[..], &Sha256::digest(&body)[..], &body[..]].concat()
    }

    /// Reads what [`Self::to_bytes`] wrote.
    ///
    /// # Errors
    /// [`RtlError::Snapshot`] when the bytes are anything else. They are held against a checksum,
    /// since Verilated code trusts its state: an index out of range would be followed.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, RtlError> {
        if bytes.len() < HEADER_BYTES || bytes[..8] != MAGIC[..] {
            return Err(RtlError::Snapshot);
        }
        let (sum, body) = bytes[8..].split_at(32);
        if Sha256::digest(body)[..] != *sum {
            return Err(RtlError::Snapshot);
        }
        let (cycle, rest) = body.split_first_chunk::<8>().ok_or(RtlError::Snapshot)?;
        let (&length, rest) = rest.split_first().ok_or(RtlError::Snapshot)?;
        let (key, state) = rest.split_at_checked(usize::from(length)).ok_or(RtlError::Snapshot)?;
        let key = String::from_utf8(key.to_vec()).map_err(|_| RtlError::Snapshot)?;
        Ok(Self { key, cycle: u64::from_le_bytes(*cycle), state: state.to_vec() })
    }

    /// The state, if `library` is the one it belongs to.
    pub(crate) fn state_for(&self, library: &Library) -> Result<&[u8], RtlError> {
        if self.key == library.key() { Ok(&self.state) } else { Err(RtlError::Snapshot) }
    }
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Snapshot {{ cycle: {}, {} bytes }}", self.cycle, self.state.len())
    }
}
