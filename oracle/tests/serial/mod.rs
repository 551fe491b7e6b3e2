//! A plain serial machine: it works on bytes, one lane after another, in the given order. It shares only the
//! interface types with the crate, and takes no decisions of its own.

use std::collections::BTreeSet;

use atoms_ops::{Fault, Op, Size};
use atoms_oracle::{Allocation, Geometry, Response, SerialRequest};
use proptest::prelude::*;

/// Memory, and the single allocation that all requests of these tests use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Machine {
    pub(crate) geometry: Geometry,
    pub(crate) allocation: Allocation,
    pub(crate) bytes: Vec<u8>,
}

/// Response as a unit shows it; `None` for a posted request without a fault (spec 4.7).
pub(crate) fn heard<'a>(req: &SerialRequest, resp: &'a Response) -> Option<&'a Response> {
    (!req.is_posted() || resp.fault != Fault::None).then_some(resp)
}

impl Machine {
    pub(crate) fn new(geometry: Geometry, allocation: Allocation) -> Self {
        Machine { geometry, allocation, bytes: vec![0; (geometry.banks * geometry.rows * 4) as usize] }
    }

    pub(crate) fn word(&self, index: u32) -> u32 {
        let at = index as usize * 4;
        u32::from_le_bytes(self.bytes[at..at + 4].try_into().unwrap())
    }

    pub(crate) fn set_word(&mut self, index: u32, value: u32) {
        let at = index as usize * 4;
        self.bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }

    fn load(&self, at: usize, bytes: usize) -> u128 {
        let mut wide = [0; 16];
        wide[..bytes].copy_from_slice(&self.bytes[at..at + bytes]);
        u128::from_le_bytes(wide)
    }

    /// Runs the request with its lanes in this order. CAST.SPIN selects the first lane of each bank group.
    /// Returns the response and the words written.
    pub(crate) fn run(&mut self, req: &SerialRequest, order: &[usize]) -> (Response, BTreeSet<u32>) {
        self.run_merged(req, order, 0)
    }

    /// Runs the request like [`Machine::run`]. `merged` has one bit for each position of the order. An
    /// arrival at such a position that returns a state arrives together with the previous one at the same
    /// object, if there is one.
    pub(crate) fn run_merged(
        &mut self,
        req: &SerialRequest,
        order: &[usize],
        merged: u32,
    ) -> (Response, BTreeSet<u32>) {
        let mut resp = Response::default();
        let mut written = BTreeSet::new();
        let mut lowest_first = order.to_vec();
        lowest_first.sort_unstable();
        let legal = LEGAL
            .iter()
            .find(|(op, size)| *op as u8 == req.op && *size as u8 == req.size)
            .filter(|(op, _)| !req.cluster || *op <= Op::Store || req.red && REMOTE.contains(op));
        let bytes = legal.map_or(1, |(_, size)| size.bytes());
        for &lane in &lowest_first {
            let (addr, base) =
                (formed(req, lane), u64::from(self.allocation.base_row * self.geometry.banks * 4));
            let offset = u64::from(addr % (1 << 24));
            let fault = if legal.is_none() {
                Fault::Illegal
            } else if addr % bytes != 0 {
                Fault::Misaligned
            } else if addr >> 24 != u32::from(self.allocation.rank)
                || offset + u64::from(bytes) > u64::from(self.allocation.size_bytes)
                || base + offset >= self.bytes.len() as u64
            {
                Fault::OutOfRange
            } else {
                continue;
            };
            (resp.fault, resp.fault_lane, resp.fault_addr) = (fault, lane as u8, addr);
            return (resp, written);
        }
        let Some(&(op, size)) = legal else { return (resp, written) };

        let place = |lane: usize| {
            (self.allocation.base_row * self.geometry.banks * 4 + formed(req, lane) % (1 << 24)) as usize
        };
        let mut groups_served = BTreeSet::new();
        // Address, mask of the lanes, and high word before the first lane, for each step of arrivals, oldest
        // first.
        let mut arrived: Vec<(usize, u32, u128)> = Vec::new();
        let highest_first: Vec<usize> = lowest_first.iter().rev().copied().collect();
        let order = if op == Op::Store { &highest_first } else { order };
        for (turn, &lane) in order.iter().enumerate() {
            let (at, count) = (place(lane), bytes as usize);
            let keep = if count == 16 { u128::MAX } else { (1 << (8 * count)) - 1 };
            let (b, c, old) = (req.b[lane] & keep, req.c[lane] & keep, self.load(at, count));
            let signed =
                |value: u128| if size == Size::S32 { i128::from(value as u32 as i32) } else { value as i128 };
            if op == Op::CastSpin {
                let row = at as u32 / 4 / self.geometry.banks;
                let mut bank = at as u32 / 4 % self.geometry.banks;
                if self.geometry.xor_hash {
                    bank ^= (row % (self.geometry.banks / 4)) * 4;
                }
                if !groups_served.insert(bank * 4 / bytes) {
                    continue;
                }
            }
            let new = match op {
                Op::Add => (old + b) & keep,
                Op::PopcInc => (old + 1) & keep,
                Op::Min => {
                    if signed(b) < signed(old) {
                        b
                    } else {
                        old
                    }
                }
                Op::Max => {
                    if signed(b) > signed(old) {
                        b
                    } else {
                        old
                    }
                }
                Op::Inc => {
                    if old >= b {
                        0
                    } else {
                        old + 1
                    }
                }
                Op::Dec => {
                    if old == 0 || old > b {
                        b
                    } else {
                        old - 1
                    }
                }
                Op::And => old & b,
                Op::Or => old | b,
                Op::Xor => old ^ b,
                Op::Exch | Op::Store => b,
                Op::Cas | Op::Cast | Op::CastSpin => {
                    if old == b {
                        c
                    } else {
                        old
                    }
                }
                Op::Load => old,
                Op::MbarInit => b,
                _ => object_after(op, old as u64, b as u32).into(),
            };
            if gives_state(op) {
                match arrived.iter_mut().rev().find(|group| group.0 == at) {
                    Some(group) if merged >> turn & 1 == 1 => group.1 |= 1 << lane,
                    _ => arrived.push((at, 1 << lane, old >> 32)),
                }
            }
            let waits = matches!(op, Op::MbarTestWait | Op::MbarTryWait);
            let complete = waits && old >> 63 & 1 != b >> 31 & 1;
            resp.pred |= u32::from(complete) << lane;
            let stored = matches!(op, Op::Cas | Op::Cast | Op::CastSpin) && old == b;
            resp.pred |= u32::from(stored) << lane;
            resp.rd[lane] = match op {
                _ if req.red => 0,
                Op::PopcInc | Op::Store | Op::MbarInval | Op::MbarExpectTx | Op::MbarCompleteTx => 0,
                Op::MbarTestWait | Op::MbarTryWait => 0,
                Op::Cast | Op::CastSpin => u128::from(stored),
                Op::Load if size == Size::S8 => u128::from(old as u8 as i8 as u32),
                Op::Load if size == Size::S16 => u128::from(old as u16 as i16 as u32),
                _ => old,
            };
            let writes = match op {
                Op::Cas | Op::Cast | Op::CastSpin => stored,
                Op::Load | Op::MbarInval | Op::MbarTestWait | Op::MbarTryWait => false,
                _ => true,
            };
            if writes {
                self.bytes[at..at + count].copy_from_slice(&new.to_le_bytes()[..count]);
                written.extend((at as u32 / 4)..=((at + count - 1) as u32 / 4));
            }
        }
        for (_, lanes, high) in arrived.into_iter().filter(|_| !req.red) {
            for lane in (0..32).filter(|lane| lanes >> lane & 1 == 1) {
                let no_complete = matches!(op, Op::MbarArriveNoComplete | Op::MbarArriveDropNoComplete);
                resp.rd[lane] = high << 32 | if no_complete { u128::from(lanes) } else { 0 };
            }
        }
        (resp, written)
    }
}

pub(crate) fn gives_state(op: Op) -> bool {
    (Op::MbarArrive..=Op::MbarArriveDropNoComplete).contains(&op)
}

pub(crate) fn object(expected: i64, pending: i64, tx: i64, phase: u64) -> u64 {
    let negative = |value: i64, bits: u32| (-value).rem_euclid(1 << bits) as u64;
    negative(expected, 20) << 1 | negative(tx, 21) << 21 | negative(pending, 20) << 43 | phase << 63
}

/// Object after the operation of one lane (spec 6.3, 6.4, 6.2.1).
fn object_after(op: Op, word: u64, b: u32) -> u64 {
    if op == Op::MbarArriveSm80 {
        let (low, mut high) = (word as u32, ((word >> 32) as u32).wrapping_add(1));
        if high << 1 == 0 {
            // The carry has already flipped the phase.
            high |= low.wrapping_sub(0x4000_0000) & 0x7fff_ffff;
        }
        return u64::from(high) << 32 | u64::from(low);
    }
    let field = |at: u32, bits: u32| (-((word >> at) as i64)).rem_euclid(1 << bits);
    let (mut expected, mut tx, mut pending, mut phase) =
        (field(1, 20), field(21, 21), field(43, 20), word >> 63);
    let b = i64::from(b);
    tx += match op {
        Op::MbarExpectTx | Op::MbarArriveExpectTx | Op::MbarArriveDropExpectTx => b,
        Op::MbarCompleteTx => -b,
        _ => 0,
    };
    let arrivals = match op {
        Op::MbarArrive | Op::MbarArriveDrop | Op::MbarArriveExpectTx | Op::MbarArriveDropExpectTx => 1,
        Op::MbarArriveCount | Op::MbarArriveNoComplete => b,
        Op::MbarArriveDropCount | Op::MbarArriveDropNoComplete => b,
        _ => 0,
    };
    pending -= arrivals;
    if matches!(
        op,
        Op::MbarArriveDrop
            | Op::MbarArriveDropCount
            | Op::MbarArriveDropExpectTx
            | Op::MbarArriveDropNoComplete
    ) {
        expected -= arrivals;
    }
    let looks = !matches!(op, Op::MbarInval | Op::MbarTestWait | Op::MbarTryWait);
    if looks && pending % (1 << 20) == 0 && tx % (1 << 21) == 0 {
        phase ^= 1;
        pending = expected;
    }
    object(expected, pending, tx, phase) | word & (1 | 1 << 42)
}

fn formed(req: &SerialRequest, lane: usize) -> u32 {
    let imm = i64::from(req.imm);
    if req.absolute {
        return (imm + i64::from(req.ur)) as u32;
    }
    let imm = if imm >= 1 << 23 { imm - (1 << 24) } else { imm };
    let ra = i64::from(req.ra[lane]) * [1, 1, 4, 8, 16, 1, 1, 1][usize::from(req.scale) % 8];
    (ra + i64::from(req.ur) + imm) as u32
}

pub(crate) fn active(req: &SerialRequest, geometry: &Geometry) -> Vec<usize> {
    (0..geometry.lanes as usize).filter(|lane| req.mask >> lane & 1 == 1).collect()
}

pub(crate) fn orders(lanes: &[usize]) -> Vec<Vec<usize>> {
    if lanes.is_empty() {
        return vec![vec![]];
    }
    let mut all = Vec::new();
    for (i, &first) in lanes.iter().enumerate() {
        let rest: Vec<usize> = lanes.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, &l)| l).collect();
        all.extend(orders(&rest).into_iter().map(|tail| [vec![first], tail].concat()));
    }
    all
}

/// Legal operations and sizes of spec 3 and 3.5, row by row.
#[rustfmt::skip]
pub(crate) const LEGAL: &[(Op, Size)] = &[
    (Op::Add, Size::U32), (Op::Add, Size::S32), (Op::Min, Size::U32), (Op::Min, Size::S32),
    (Op::Max, Size::U32), (Op::Max, Size::S32), (Op::Inc, Size::U32), (Op::Dec, Size::U32),
    (Op::And, Size::U32), (Op::And, Size::S32), (Op::Or, Size::U32), (Op::Or, Size::S32),
    (Op::Xor, Size::U32), (Op::Xor, Size::S32),
    (Op::Exch, Size::U32), (Op::Exch, Size::S32), (Op::Exch, Size::U64), (Op::Exch, Size::B128),
    (Op::Cas, Size::U32), (Op::Cas, Size::S32), (Op::Cas, Size::U64), (Op::Cas, Size::B128),
    (Op::Cast, Size::U32), (Op::Cast, Size::S32), (Op::Cast, Size::U64),
    (Op::CastSpin, Size::U32), (Op::CastSpin, Size::S32), (Op::CastSpin, Size::U64),
    (Op::PopcInc, Size::U32),
    (Op::Load, Size::U8), (Op::Load, Size::S8), (Op::Load, Size::U16), (Op::Load, Size::S16),
    (Op::Load, Size::U32), (Op::Load, Size::U64), (Op::Load, Size::B128),
    (Op::Store, Size::U8), (Op::Store, Size::U16), (Op::Store, Size::U32), (Op::Store, Size::U64),
    (Op::Store, Size::B128),
    (Op::MbarInit, Size::U64), (Op::MbarInval, Size::U64), (Op::MbarExpectTx, Size::U64),
    (Op::MbarCompleteTx, Size::U64), (Op::MbarArrive, Size::U64), (Op::MbarArriveCount, Size::U64),
    (Op::MbarArriveExpectTx, Size::U64), (Op::MbarArriveNoComplete, Size::U64), (Op::MbarArriveDrop, Size::U64),
    (Op::MbarArriveDropCount, Size::U64), (Op::MbarArriveDropExpectTx, Size::U64),
    (Op::MbarArriveDropNoComplete, Size::U64), (Op::MbarTestWait, Size::U64), (Op::MbarTryWait, Size::U64),
    (Op::MbarArriveSm80, Size::U64),
];

/// Operations that are legal on an object of another CTA, without a result (spec 6.7).
const REMOTE: [Op; 9] = [
    Op::MbarExpectTx,
    Op::MbarCompleteTx,
    Op::MbarArrive,
    Op::MbarArriveCount,
    Op::MbarArriveExpectTx,
    Op::MbarArriveDrop,
    Op::MbarArriveDropCount,
    Op::MbarArriveDropExpectTx,
    Op::MbarArriveSm80,
];

/// Mbarrier objects shortly before or after a completion, at the word pairs that requests use, from 0 on.
pub(crate) fn objects() -> impl Strategy<Value = Vec<(usize, u64)>> {
    let counts = (0i64..5, 0i64..6, prop::sample::select(vec![0i64, 0, 0, 1, 2, 5, -1, -3]));
    let word = (counts, 0u64..2, prop::sample::select(vec![0u64, 0, 0, 1, 1 << 42]), any::<bool>()).prop_map(
        |((expected, pending, tx), phase, kept, sm80)| {
            if sm80 {
                let high = (0x8000_0000_u64 - pending.max(1) as u64) | phase << 31;
                high << 32 | (0x4000_0000 - expected as u64)
            } else {
                object(expected, pending, tx, phase) | kept
            }
        },
    );
    prop::collection::vec((prop::sample::select(vec![0usize, 2, 4, 32]), word), 0..5)
}

/// Values at which operations change behaviour. Mostly a few small values, so that lanes collide.
pub(crate) fn value() -> impl Strategy<Value = u128> {
    prop_oneof![
        12 => 0u128..4,
        1 => Just(0xffff_ffffu128),
        1 => Just(0x8000_0000u128),
        1 => Just(0x7fff_ffffu128),
        1 => Just(1u128 << 32 | 1),
        1 => Just(u128::MAX),
        1 => any::<u128>(),
    ]
}

/// Requests of up to `lanes` active lanes, many of them at one address or in one bank. `fault` percent of
/// addresses, sizes or operations are illegal.
pub(crate) fn request(
    allocation: Allocation,
    lanes: usize,
    fault: u32,
) -> impl Strategy<Value = SerialRequest> {
    let operands = (0usize..5, value(), value(), 0u32..100);
    (
        prop::sample::select(LEGAL),
        prop::collection::vec((any::<bool>(), operands), 1..=lanes),
        (
            prop::bool::weighted(0.3),
            prop::bool::weighted(0.1),
            prop::bool::weighted(0.1),
            prop::sample::select(vec![0u8, 0, 0, 2, 3, 4, 7]),
        ),
        (prop::sample::select(vec![0u32, 0, 16, 0xff_fff0, 0x40]), 0u32..100, 0u8..40, 0u8..16),
        1usize..=5,
    )
        .prop_map(
            move |(
                (op, size),
                given,
                (red, absolute, cluster, scale),
                (imm, broken, op_code, size_code),
                spread,
            )| {
                let mut req = SerialRequest {
                    op: op as u8,
                    size: size as u8,
                    red,
                    cluster: cluster && fault > 0,
                    absolute,
                    scale,
                    imm,
                    ..SerialRequest::default()
                };
                if broken < fault {
                    (req.op, req.size) = (op_code, size_code);
                }
                let bytes = size.bytes();
                let rank = u32::from(allocation.rank) << 24;
                for (lane, (active, (place, b, c, broken))) in given.into_iter().enumerate() {
                    req.mask |= u32::from(active || lane == 0) << lane;
                    let mut offset = [64, 64 + bytes, 192, 64 + 2 * bytes, 320][place % spread];
                    if broken < fault {
                        offset = [
                            offset + 1,
                            allocation.size_bytes - bytes / 2,
                            allocation.size_bytes,
                            1 << 25,
                            u32::MAX - 3,
                        ][(b % 5) as usize];
                    }
                    if absolute {
                        req.imm = offset & 0xff_ffff;
                        req.ur = rank;
                        req.ra[lane] = b as u32;
                    } else {
                        let sign_extended = ((imm << 8) as i32 >> 8) as u32;
                        let sum = (rank + offset % (1 << 24)).wrapping_sub(sign_extended);
                        let shift = if (2..=4).contains(&scale) { scale } else { 0 };
                        // UR adds the part that scaling cannot express.
                        req.ur = sum & ((1 << shift) - 1) | rank;
                        req.ra[lane] = sum.wrapping_sub(req.ur) >> shift;
                    }
                    (req.b[lane], req.c[lane]) = (b, c);
                }
                req
            },
        )
}
