//! Types of the observation: request, response, timing, and the shape of memory.

use std::fmt;

use atoms_ops::{Fault, Op};

/// Number of lanes in the arrays of a [`SerialRequest`].
pub const MAX_LANES: usize = 32;

/// Maximum number of words that a [`Checker`](crate::Checker) holds: 64 windows of 16 MiB (spec 1.3).
pub const MAX_WORDS: u64 = 1 << 28;

/// Shape of a warp and of the shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Lanes of a warp, 1 to 32.
    pub lanes: u32,
    /// Banks, each one 32-bit word wide (spec 1.2).
    pub banks: u32,
    /// Rows: words per bank.
    pub rows: u32,
    /// True if the row is hashed into the bank number (spec 1.2). The hash does not change the linear memory
    /// image, only the groups of CAST.SPIN.
    pub xor_hash: bool,
}

impl Geometry {
    /// Words of the whole memory, at most [`MAX_WORDS`].
    pub fn words(&self) -> u32 {
        (u64::from(self.banks) * u64::from(self.rows)).min(MAX_WORDS) as u32
    }

    /// Mask with one bit set for every existing lane.
    pub fn lane_mask(&self) -> u32 {
        if self.lanes >= 32 { u32::MAX } else { (1 << self.lanes) - 1 }
    }

    /// Linear index of the word that `bank` holds in `row`: physical byte address / 4. Undoes the bank hash.
    pub fn word(&self, row: u32, bank: u32) -> u32 {
        // The bank hash is its own inverse.
        row * self.banks + self.bank(row * self.banks + bank)
    }

    /// Bank of a word, after the hash. `word` is the physical byte address / 4.
    pub(crate) fn bank(&self, word: u32) -> u32 {
        let (row, bank) = (word / self.banks, word % self.banks);
        if self.xor_hash { bank ^ ((row & (self.banks / 4).saturating_sub(1)) << 2) } else { bank }
    }
}

/// Allocation of shared memory that a CTA owns (spec 1.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// Row of its first byte; allocations begin on whole rows.
    pub base_row: u32,
    /// Size in bytes.
    pub size_bytes: u32,
    /// Rank of the CTA in its cluster: the top byte of every legal address (spec 1.4).
    pub rank: u8,
}

/// One request of a warp or of the cluster port, as offered at the port. Every field may be illegal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SerialRequest {
    /// Operation code, as in `atoms_ops::Op`; may be undefined.
    pub op: u8,
    /// Size code, as in `atoms_ops::Size`; may be undefined.
    pub size: u8,
    /// True if Rd is RZ: no result is returned. On the cluster port such a request is posted, see
    /// [`SerialRequest::is_posted`].
    pub red: bool,
    /// True if the request came through the cluster port, where fewer operations are legal (spec 6.7).
    pub cluster: bool,
    /// Slot of the CTA table. A slot without an allocation has no memory.
    pub slot: u8,
    /// Active lanes, lane 0 in bit 0. Bits of lanes that do not exist are ignored.
    pub mask: u32,
    /// True for the form `[UR + ImmU24]`: Ra is not read and the immediate is unsigned (spec 2.1).
    pub absolute: bool,
    /// Ra is shifted left by 2, 3 or 4; every other code acts as 0 (spec 2.2).
    pub scale: u8,
    /// Immediate, 24 bits; higher bits are ignored.
    pub imm: u32,
    /// Uniform register of the address, added for every lane.
    pub ur: u32,
    /// Address register of each lane.
    pub ra: [u32; MAX_LANES],
    /// Rb of each lane; only the bits of the size are used.
    pub b: [u128; MAX_LANES],
    /// Rc of each lane; only the bits of the size are used.
    pub c: [u128; MAX_LANES],
}

impl SerialRequest {
    /// True for a cluster request that wants no result and returns no predicate (spec 3.2). Such a request
    /// gets a response only after a fault (spec 4.7).
    pub fn is_posted(&self) -> bool {
        let gives_predicate = [Op::Cas, Op::Cast, Op::CastSpin].map(|op| op as u8).contains(&self.op);
        self.cluster && self.red && !gives_predicate
    }
}

/// Times of a request's acceptance and answer, needed to judge suspended requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestTiming {
    /// Number of the request, counted on each port in order of acceptance.
    pub number: u64,
    /// Cycle in which the answer appeared. For a cluster request, the cycle after its last access.
    pub answered: u64,
    /// Acceptance cycle of the oldest request of either port that is unanswered and not known to be
    /// suspended.
    pub oldest_unanswered: Option<u64>,
}

/// Response of the unit to one [`SerialRequest`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// Rd of each lane, zero-extended; 0 for lanes without a result.
    pub rd: [u128; MAX_LANES],
    /// Mask of the lanes whose CAS, CAST or CAST.SPIN stored, or whose phase is complete (spec 6.5).
    pub pred: u32,
    /// Reason why the request touched no memory.
    pub fault: Fault,
    /// Lowest faulting lane; meaningless without a fault.
    pub fault_lane: u8,
    /// Address that the faulting lane forms; meaningless without a fault.
    pub fault_addr: u32,
}

impl Default for Response {
    fn default() -> Self {
        Response { rd: [0; MAX_LANES], pred: 0, fault: Fault::None, fault_lane: 0, fault_addr: 0 }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FaultReport {
    /// Kind of fault. With [`Fault::None`] all other fields are meaningless.
    pub(crate) fault: Fault,
    pub(crate) lane: u8,
    pub(crate) addr: u32,
}

impl fmt::Display for FaultReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.fault {
            Fault::None => f.write_str("no fault"),
            fault => write!(f, "`{fault}` for lane {} at {:#x}", self.lane, self.addr),
        }
    }
}
