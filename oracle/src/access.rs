//! Resolves the bytes that each lane accesses, and checks that the access is legal (spec 1.4, 2).

use atoms_ops::{Fault, Op, Size};

use crate::kernel::{instruction, reaches_the_cluster};
use crate::lanes::lanes_of;
use crate::request::{Allocation, FaultReport, Geometry, MAX_LANES, SerialRequest};

pub(crate) struct Access {
    pub(crate) op: Op,
    pub(crate) size: Size,
    pub(crate) lanes: u32,
    /// Address that each active lane forms, modulo 2^32.
    pub(crate) addr: [u32; MAX_LANES],
    /// Index of the first memory word that each active lane accesses.
    pub(crate) word: [u32; MAX_LANES],
    /// Lanes with the same key are explained together. These are the lanes at one word. For CAST.SPIN they
    /// are the lanes in one bank or pair of banks, by the bank of the first word (spec 5.1).
    pub(crate) key: [u32; MAX_LANES],
}

/// True if a request ends with a fault (spec 2.4, 3.3), given the allocation of its slot.
pub fn faults(geometry: &Geometry, allocation: Option<&Allocation>, req: &SerialRequest) -> bool {
    resolve(geometry, allocation, req).is_err()
}

impl Access {
    /// True if two requests may have different results in different orders: they share a word that one of them may
    /// write, or a bank group of CAST.SPIN.
    pub(crate) fn order_matters(&self, other: &Access) -> bool {
        let words = |access: &Access, lane: usize| {
            access.word[lane]..access.word[lane] + access.size.bytes().div_ceil(4)
        };
        let writes = !(self.op.only_reads() && other.op.only_reads());
        let spins = self.op == Op::CastSpin && other.op == Op::CastSpin;
        let shares = |i: usize, j: usize| {
            let (mine, theirs) = (words(self, i), words(other, j));
            writes && mine.start < theirs.end && theirs.start < mine.end
                || spins && self.key[i] == other.key[j]
        };
        lanes_of(self.lanes).any(|i| lanes_of(other.lanes).any(|j| shares(i, j)))
    }

    /// Words of all active lanes; a word occurs once for each lane that accesses it.
    pub(crate) fn words(&self) -> Vec<u32> {
        let words = self.size.bytes().div_ceil(4);
        lanes_of(self.lanes).flat_map(|lane| self.word[lane]..self.word[lane] + words).collect()
    }
}

/// Address that a lane forms, modulo 2^32 (spec 2.1, 2.2).
pub(crate) fn address(req: &SerialRequest, lane: usize) -> u32 {
    let imm = req.imm & 0x00ff_ffff;
    if req.absolute {
        return imm.wrapping_add(req.ur);
    }
    let sign_extended = if imm & 0x0080_0000 == 0 { imm } else { imm | 0xff00_0000 };
    let scaled = match req.scale {
        shift @ 2..=4 => req.ra[lane] << shift,
        _ => req.ra[lane],
    };
    scaled.wrapping_add(req.ur).wrapping_add(sign_extended)
}

fn first_word(
    geometry: &Geometry,
    allocation: Option<&Allocation>,
    addr: u32,
    bytes: u32,
) -> Result<u32, Fault> {
    if !addr.is_multiple_of(bytes) {
        return Err(Fault::Misaligned);
    }
    let allocation = allocation.ok_or(Fault::OutOfRange)?;
    let (rank, offset) = (addr >> 24, addr & 0x00ff_ffff);
    if rank != u32::from(allocation.rank) || offset + bytes > allocation.size_bytes {
        return Err(Fault::OutOfRange);
    }
    // An allocation beyond the end of memory is an error of the driver. Accesses beyond the end of memory
    // fault.
    let word = u64::from(allocation.base_row) * u64::from(geometry.banks) + u64::from(offset / 4);
    let words = u64::from(bytes.div_ceil(4));
    if word + words > u64::from(geometry.words()) { Err(Fault::OutOfRange) } else { Ok(word as u32) }
}

/// Resolves all active lanes, or returns the fault that the unit must report, for the lowest faulting lane.
///
/// Returns `Ok(None)` if no lane is active. Such a request has no effect, even with illegal codes (spec 2.6).
pub(crate) fn resolve(
    geometry: &Geometry,
    allocation: Option<&Allocation>,
    req: &SerialRequest,
) -> Result<Option<Access>, FaultReport> {
    let lanes = req.mask & geometry.lane_mask();
    if lanes == 0 {
        return Ok(None);
    }
    let exists_here = |&(op, _): &(Op, Size)| !req.cluster || reaches_the_cluster(op, req.red);
    let Some((op, size)) = instruction(req.op, req.size).filter(exists_here) else {
        let lane = lanes.trailing_zeros() as u8;
        return Err(FaultReport { fault: Fault::Illegal, lane, addr: address(req, usize::from(lane)) });
    };
    let bytes = size.bytes();
    let mut access =
        Access { op, size, lanes, addr: [0; MAX_LANES], word: [0; MAX_LANES], key: [0; MAX_LANES] };
    for lane in lanes_of(lanes) {
        let addr = address(req, lane);
        access.addr[lane] = addr;
        access.word[lane] = match first_word(geometry, allocation, addr, bytes) {
            Ok(word) => word,
            Err(fault) => return Err(FaultReport { fault, lane: lane as u8, addr }),
        };
        let word = access.word[lane];
        access.key[lane] = if op == Op::CastSpin { geometry.bank(word) } else { word };
    }
    Ok(Some(access))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GEOMETRY: Geometry = Geometry { lanes: 32, banks: 32, rows: 64, xor_hash: false };

    fn lane0(ra: u32, absolute: bool, scale: u8, imm: u32, ur: u32) -> SerialRequest {
        let mut req = SerialRequest { mask: 1, absolute, scale, imm, ur, ..SerialRequest::default() };
        req.ra[0] = ra;
        req
    }

    #[rustfmt::skip]
    const ADDRESSES: &[(&str, u32, bool, u8, u32, u32, u32)] = &[
        // rule                                ra           absolute scale imm         ur           address
        ("register and immediate",             0x100,       false,   0,    0x4,        0,           0x104),
        ("the immediate is signed",            0x100,       false,   0,    0xff_fffc,  0,           0xfc),
        ("the sum is modulo 2^32",             0,           false,   0,    0xff_fffc,  0,           0xffff_fffc),
        ("absolute: the immediate is unsigned",0x100,       true,    4,    0xff_fffc,  0,           0xff_fffc),
        ("absolute: UR adds in",               0x100,       true,    0,    0x10,       0x0100_0000, 0x0100_0010),
        ("scale 2 is .X4",                     0x10,        false,   2,    0,          0,           0x40),
        ("scale 4 is .X16",                    0x10,        false,   4,    0,          1,           0x101),
        ("scale 1 counts as 0",                0x10,        false,   1,    0,          0,           0x10),
        ("scale 7 counts as 0",                0x10,        false,   7,    0,          0,           0x10),
        ("bits above 23 of imm are ignored",   0,           false,   0,    0x0100_0004,0,           4),
        ("scaling drops the top bits",         0xf000_0001, false,   4,    0,          0,           0x10),
    ];

    #[test]
    fn addresses_are_formed_as_each_row_says() {
        for (rule, ra, absolute, scale, imm, ur, addr) in ADDRESSES {
            assert_eq!(address(&lane0(*ra, *absolute, *scale, *imm, *ur), 0), *addr, "{rule}");
        }
    }

    type WordCase = (&'static str, Option<Allocation>, u32, u32, Result<u32, Fault>);

    #[rustfmt::skip]
    const WORDS: &[WordCase] = &[
        // rule                        allocation                                                 address      size word
        ("the allocation's first byte",      Some(Allocation { base_row: 2, size_bytes: 64, rank: 0 }), 0,           4,  Ok(64)),
        ("its last word",              Some(Allocation { base_row: 2, size_bytes: 64, rank: 0 }), 60,          4,  Ok(79)),
        ("one beyond",                 Some(Allocation { base_row: 2, size_bytes: 64, rank: 0 }), 64,          4,  Err(Fault::OutOfRange)),
        ("last byte of an odd allocation",   Some(Allocation { base_row: 0, size_bytes: 6,  rank: 0 }), 5,           1,  Ok(1)),
        ("all of it must be inside",   Some(Allocation { base_row: 0, size_bytes: 6,  rank: 0 }), 4,           4,  Err(Fault::OutOfRange)),
        ("the top byte is the rank",   Some(Allocation { base_row: 0, size_bytes: 64, rank: 3 }), 0x0300_0004, 4,  Ok(1)),
        ("another CTA's rank",         Some(Allocation { base_row: 0, size_bytes: 64, rank: 3 }), 0x0200_0004, 4,  Err(Fault::OutOfRange)),
        ("no allocation",                    None,                                                0,           4,  Err(Fault::OutOfRange)),
        ("misaligned comes first",     None,                                                2,           4,  Err(Fault::Misaligned)),
        ("128 bits need 16",           Some(Allocation { base_row: 0, size_bytes: 64, rank: 0 }), 8,           16, Err(Fault::Misaligned)),
        ("beyond the memory",          Some(Allocation { base_row: 63, size_bytes: 256, rank: 0 }), 128,       4,  Err(Fault::OutOfRange)),
    ];

    #[test]
    fn words_are_found_as_each_row_says() {
        for (rule, allocation, addr, bytes, word) in WORDS {
            assert_eq!(first_word(&GEOMETRY, allocation.as_ref(), *addr, *bytes), *word, "{rule}");
        }
    }

    #[test]
    fn the_bank_hash_mixes_the_row_in_above_bit_1() {
        let hashed = Geometry { xor_hash: true, ..GEOMETRY };
        assert_eq!(GEOMETRY.bank(32 + 5), 5);
        assert_eq!(hashed.bank(5), 5);
        assert_eq!(hashed.bank(32 + 5), 5 ^ 4);
        assert_eq!(hashed.bank(9 * 32 + 5), 5 ^ 4, "only the low three bits of the row count");
        assert_eq!(Geometry { banks: 2, ..hashed }.bank(7), 1, "two banks leave nothing to hash");
    }
}
