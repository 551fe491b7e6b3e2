//! What went into the unit, what came out, and the memory it worked on.

use std::fmt;

use atoms_ops::{Fault, Op};

/// Lanes that a [`SerialRequest`] has room for.
pub const MAX_LANES: usize = 32;

/// Most words of memory that a [`Checker`](crate::Checker) holds: 64 windows of 16 MiB (spec 1.3).
pub const MAX_WORDS: u64 = 1 << 28;

/// Shape of a warp and of the shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Lanes of a warp, 1 to 32.
    pub lanes: u32,
    /// Banks, each one 32-bit word wide (spec 1.2).
    pub banks: u32,
    /// Words in each bank.
    pub rows: u32,
    /// Whether the row is mixed into the bank number (spec 1.2). It moves no byte of the linear
    /// memory image; only the groups of CAST.SPIN depend on it.
    pub xor_hash: bool,
}

impl Geometry {
    /// Words of the whole memory; a shape beyond [`MAX_WORDS`] counts as [`MAX_WORDS`].
    pub fn words(&self) -> u32 {
        (u64::from(self.banks) * u64::from(self.rows)).min(MAX_WORDS) as u32
    }

    /// One bit for every lane that exists.
    pub fn lane_mask(&self) -> u32 {
        if self.lanes >= 32 { u32::MAX } else { (1 << self.lanes) - 1 }
    }

    /// Bank that holds a word, the hash included. `word` is the physical byte address / 4.
    pub(crate) fn bank(&self, word: u32) -> u32 {
        let (row, bank) = (word / self.banks, word % self.banks);
        if self.xor_hash { bank ^ ((row & (self.banks / 4).saturating_sub(1)) << 2) } else { bank }
    }
}

/// The allocation of shared memory that a CTA owns (spec 1.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// Row of its first byte; allocations begin on whole rows.
    pub base_row: u32,
    /// Bytes in it.
    pub size_bytes: u32,
    /// Rank of the CTA in its cluster: the top byte of every address it may name (spec 1.4).
    pub rank: u8,
}

/// One request of a warp as it stands on the port: nothing in it need be legal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SerialRequest {
    /// Operation code, as in `atoms_ops::Op`, or one that is none.
    pub op: u8,
    /// Size code, as in `atoms_ops::Size`, or one that is none.
    pub size: u8,
    /// Rd is RZ: no result is given back. From the cluster port it is posted: see [`SerialRequest::is_posted`].
    pub red: bool,
    /// It came through the cluster port, where fewer operations exist (spec 6.7).
    pub cluster: bool,
    /// Slot of the CTA table; one without an allocation has no memory.
    pub slot: u8,
    /// Active lanes, lane 0 in bit 0. Bits of lanes that do not exist are ignored.
    pub mask: u32,
    /// The form `[UR + ImmU24]`: Ra is not read and the immediate is unsigned (spec 2.1).
    pub absolute: bool,
    /// Ra is shifted left by 2, 3 or 4; every other code counts as 0 (spec 2.2).
    pub scale: u8,
    /// Immediate, 24 bits; higher bits are ignored.
    pub imm: u32,
    /// Uniform register added to every address.
    pub ur: u32,
    /// Address register of each lane.
    pub ra: [u32; MAX_LANES],
    /// Rb of each lane; only the bits of the size count.
    pub b: [u128; MAX_LANES],
    /// Rc of each lane; only the bits of the size count.
    pub c: [u128; MAX_LANES],
}

impl SerialRequest {
    /// A cluster request that wants no result and gives no predicate (spec 3.2): it has no response unless it
    /// faults (spec 4.7).
    pub fn is_posted(&self) -> bool {
        let gives_predicate = [Op::Cas, Op::Cast, Op::CastSpin].map(|op| op as u8).contains(&self.op);
        self.cluster && self.red && !gives_predicate
    }
}

/// When a request was accepted and answered: what the judgement of suspended requests needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestTiming {
    /// Number of the request, counted on each port in order of acceptance.
    pub number: u64,
    /// Cycle in which its answer appeared; of a cluster request, the cycle after it was carried out.
    pub answered: u64,
    /// Cycle in which the oldest request of either port was accepted that is still unanswered and not
    /// known to be suspended.
    pub oldest_unanswered: Option<u64>,
}

/// The unit's answer to one [`SerialRequest`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// Rd of each lane, extended with zeros; 0 where no result is given.
    pub rd: [u128; MAX_LANES],
    /// Bit of each lane whose CAS, CAST or CAST.SPIN stored, or whose phase is complete (spec 6.5).
    pub pred: u32,
    /// Why nothing was done, if so.
    pub fault: Fault,
    /// Lowest faulting lane; meaningless without a fault.
    pub fault_lane: u8,
    /// Its address as formed; meaningless without a fault.
    pub fault_addr: u32,
}

impl Default for Response {
    fn default() -> Self {
        Response { rd: [0; MAX_LANES], pred: 0, fault: Fault::None, fault_lane: 0, fault_addr: 0 }
    }
}

/// A fault as a response reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FaultReport {
    /// Kind of fault; with [`Fault::None`] the other fields mean nothing.
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
