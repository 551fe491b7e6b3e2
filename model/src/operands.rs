//! Routes the lanes' operands to the banks of one pass, and merges the operands of coalesced lanes. Twin of
//! `rtl/atoms_operands.sv`.

use atoms_ops::{Op, Size};

use crate::agen::BankAddrs;
use crate::alu::{AluIn, alu};
use crate::lanes::{banks, lanes, lanes_downwards};
use crate::port::MAX_BANKS;

#[derive(Clone, Copy, Debug)]
pub(crate) struct BankWork {
    /// Banks that the pass uses: every word of every access.
    pub(crate) valid: u64,
    /// Row per bank. Meaningless for unused banks, as are all fields below.
    pub(crate) row: [u16; MAX_BANKS],
    pub(crate) lane: [u8; MAX_BANKS],
    /// Operand B per bank; for coalesced lanes, their merged operand.
    pub(crate) b: [u32; MAX_BANKS],
    /// Operand C per bank; for a store, the mask of the bits stored.
    pub(crate) c: [u32; MAX_BANKS],
}

impl BankWork {
    pub(crate) const NONE: BankWork = BankWork {
        valid: 0,
        row: [0; MAX_BANKS],
        lane: [0; MAX_BANKS],
        b: [0; MAX_BANKS],
        c: [0; MAX_BANKS],
    };
}

/// Words of an access minus one. Also the mask of the word number within a bank number.
pub(crate) fn last_word(size: Size) -> usize {
    match size {
        Size::B128 => 3,
        Size::U64 => 1,
        Size::U8 | Size::U16 | Size::U32 | Size::S8 | Size::S16 | Size::S32 => 0,
    }
}

/// The lanes' operands. A cluster request has one lane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operands<'a> {
    pub(crate) b: &'a [u128],
    pub(crate) c: &'a [u128],
}

/// Fills `work` for a pass that serves the lanes in `served`. `first` has, for each bank, the lane that the
/// grouper reached first. `coalesce` is true if lanes of one address share the pass.
#[allow(clippy::too_many_arguments)] // one argument for each port of the RTL module
pub(crate) fn operands(
    op: Op,
    size: Size,
    coalesce: bool,
    served: u32,
    first: u32,
    bank_addrs: &BankAddrs,
    of_lanes: Operands<'_>,
    work: &mut BankWork,
) {
    let last = last_word(size);
    work.valid = 0;
    // For coalesced stores the lowest lane wins. Write the operands of all lanes, the lowest last.
    for lane in lanes_downwards(if op == Op::Store { served } else { first }) {
        let bank = bank_addrs.first.bank(lane);
        if last == 0 {
            work.valid |= 1 << bank;
            work.row[bank] = bank_addrs.row[lane];
            work.lane[bank] = lane as u8;
            work.b[bank] = of_lanes.b[lane] as u32;
            work.c[bank] = of_lanes.c[lane] as u32;
        } else {
            let (mut b, mut c) = (of_lanes.b[lane], of_lanes.c[lane]);
            for bank in bank..=bank + last {
                let bank = bank & (MAX_BANKS - 1);
                work.valid |= 1 << bank;
                work.row[bank] = bank_addrs.row[lane];
                work.lane[bank] = lane as u8;
                work.b[bank] = b as u32;
                work.c[bank] = if op == Op::Store { u32::MAX } else { c as u32 };
                b >>= 32;
                c >>= 32;
            }
        }
    }
    if op.arrives_once() || op == Op::PopcInc {
        count(served, bank_addrs, work);
    } else if coalesce && op != Op::Load && last == 0 {
        gather(op, size, served, bank_addrs, of_lanes.b, work);
    }
}

/// Sets operand B of each access to its number of lanes, for operations that count lanes.
fn count(served: u32, bank_addrs: &BankAddrs, work: &mut BankWork) {
    banks(work.valid).for_each(|bank| work.b[bank] = 0);
    lanes(served).for_each(|lane| work.b[bank_addrs.first.bank(lane)] += 1);
}

/// Merges the operands of the lanes of each bank, for coalesced accesses of one word.
fn gather(op: Op, size: Size, served: u32, bank_addrs: &BankAddrs, b: &[u128], work: &mut BankWork) {
    let full = u32::MAX >> (32 - 8 * size.bytes());
    let mut seen = 0u64;
    for lane in lanes_downwards(served) {
        let bank = bank_addrs.first.bank(lane);
        let b = b[lane] as u32;
        let first = seen >> bank & 1 == 0;
        seen |= 1 << bank;
        let (sum, mask) = if first { (0, 0) } else { (work.b[bank], work.c[bank]) };
        if op == Op::Store {
            let shift = 8 * bank_addrs.first.byte(lane);
            work.b[bank] = (sum & !(full << shift)) | ((b & full) << shift);
            work.c[bank] = mask | (full << shift);
        } else {
            // Merge two operands (MergeRed): apply the operation with the first operand in place of the
            // memory word.
            let word = AluIn { signed: size.signed(), old: sum, b, c: 0, hit: false };
            work.b[bank] = if first { b } else { alu(op, word).unwrap_or(b) };
        }
    }
}
