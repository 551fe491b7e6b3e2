//! Brings the lanes' operands to the banks of one pass, and combines those of joined lanes.
//! Mirror of `rtl/atoms_operands.sv`.

use atoms_ops::{Op, Operands as OperandsRead, Size};

use crate::agen::Places;
use crate::port::{MAX_BANKS, MAX_LANES};

/// What a pass brings to its banks.
#[derive(Clone, Copy, Debug)]
pub struct BankWork {
    /// Banks the pass works on: every word of every access.
    pub valid: u64,
    /// Row per bank; meaningless where the pass does nothing, as are the next three.
    pub row: [u16; MAX_BANKS],
    /// Winning lane per bank.
    pub lane: [u8; MAX_BANKS],
    /// Operand B per bank, or what the joined lanes come to together.
    pub b: [u32; MAX_BANKS],
    /// Operand C per bank; for a store, the mask of the bits stored.
    pub c: [u32; MAX_BANKS],
}

impl BankWork {
    /// No work for any bank.
    pub const NONE: BankWork = BankWork {
        valid: 0,
        row: [0; MAX_BANKS],
        lane: [0; MAX_BANKS],
        b: [0; MAX_BANKS],
        c: [0; MAX_BANKS],
    };
}

/// Words an access covers, less one: also the mask of its word number in a bank number.
pub fn last_word(size: Size) -> usize {
    match size {
        Size::B128 => 3,
        Size::U64 => 1,
        Size::U8 | Size::U16 | Size::U32 | Size::S8 | Size::S16 | Size::S32 => 0,
    }
}

/// Two operands of one address as one (MergeRed).
fn combine(op: Op, size: Size, a: u32, b: u32) -> u32 {
    match op {
        Op::Min if size.signed() => (a as i32).min(b as i32) as u32,
        Op::Min => a.min(b),
        Op::Max if size.signed() => (a as i32).max(b as i32) as u32,
        Op::Max => a.max(b),
        Op::And => a & b,
        Op::Or => a | b,
        Op::Xor => a ^ b,
        // Addition, and no other operation joins lanes by their operands.
        _ => a.wrapping_add(b),
    }
}

/// Where the lanes' operands are.
#[derive(Clone, Copy, Debug)]
pub struct Operands<'a> {
    /// Operand B per lane.
    pub b: &'a [u128; MAX_LANES],
    /// Operand C per lane.
    pub c: &'a [u128; MAX_LANES],
}

/// Fills `work` for a pass that serves the lanes in `served`; of each bank, `first` has the lane that
/// the grouper met first. `join` says that lanes of one address joined.
#[allow(clippy::too_many_arguments)] // the ports of the RTL module
pub fn operands(
    op: Op,
    size: Size,
    join: bool,
    served: u32,
    first: u32,
    places: &Places,
    lanes: Operands<'_>,
    work: &mut BankWork,
) {
    let last = last_word(size);
    work.valid = 0;
    // Of joined stores the highest lane wins, so all of them are brought, the highest last.
    let mut bring = if op == Op::Store { served } else { first };
    while bring != 0 {
        let lane = bring.trailing_zeros() as usize & (MAX_LANES - 1);
        bring &= bring - 1;
        let bank = places.bank[lane] as usize & (MAX_BANKS - 1);
        if last == 0 {
            work.valid |= 1 << bank;
            work.row[bank] = places.row[lane];
            work.lane[bank] = lane as u8;
            work.b[bank] = lanes.b[lane] as u32;
            work.c[bank] = lanes.c[lane] as u32;
        } else {
            let (mut b, mut c) = (lanes.b[lane], lanes.c[lane]);
            for bank in bank..=bank + last {
                let bank = bank & (MAX_BANKS - 1);
                work.valid |= 1 << bank;
                work.row[bank] = places.row[lane];
                work.lane[bank] = lane as u8;
                work.b[bank] = b as u32;
                work.c[bank] = if op == Op::Store { u32::MAX } else { c as u32 };
                b >>= 32;
                c >>= 32;
            }
        }
    }
    if join && op != Op::Load && last == 0 {
        join_lanes(op, size, served, places, lanes.b, work);
    }
    if op.is_mbarrier() && op.row().operands == OperandsRead::None {
        count_lanes(served, places, work);
    }
}

/// For operations that arrive once a lane, operand B of a bank is how many lanes do.
fn count_lanes(mut served: u32, places: &Places, work: &mut BankWork) {
    let mut seen = 0u64;
    while served != 0 {
        let lane = served.trailing_zeros() as usize & (MAX_LANES - 1);
        served &= served - 1;
        let bank = places.bank[lane] as usize & (MAX_BANKS - 1);
        work.b[bank] = if seen >> bank & 1 == 0 { 1 } else { work.b[bank] + 1 };
        work.b[(bank + 1) & (MAX_BANKS - 1)] = 0;
        seen |= 1 << bank;
    }
}

/// What the lanes of one bank come to together, for joined accesses of one word.
fn join_lanes(op: Op, size: Size, served: u32, places: &Places, b: &[u128; MAX_LANES], work: &mut BankWork) {
    let full = u32::MAX >> (32 - 8 * size.bytes());
    let mut seen = 0u64;
    let mut lanes = served;
    while lanes != 0 {
        let lane = lanes.trailing_zeros() as usize & (MAX_LANES - 1);
        lanes &= lanes - 1;
        let bank = places.bank[lane] as usize & (MAX_BANKS - 1);
        let b = b[lane] as u32;
        let first = seen >> bank & 1 == 0;
        seen |= 1 << bank;
        let (sum, mask) = if first { (0, 0) } else { (work.b[bank], work.c[bank]) };
        match op {
            Op::Store => {
                let shift = 8 * places.byte[lane];
                work.b[bank] = (sum & !(full << shift)) | ((b & full) << shift);
                work.c[bank] = mask | (full << shift);
            }
            Op::PopcInc => work.b[bank] = sum + 1,
            _ if first => work.b[bank] = b,
            _ => work.b[bank] = combine(op, size, sum, b),
        }
    }
}
