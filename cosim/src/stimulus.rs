//! Random stimulus: requests drawn where operations change behaviour, in bursts of conflict, with
//! back-pressure on every port.

use atoms_model::port::{In, MAX_LANES, Out};
use atoms_model::{Config, mbarrier};
use atoms_ops::{OPS, Op, Size};
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::request::{ClusterRequest, PartWrite};

/// Drives the inputs of a machine, cycle by cycle.
pub trait Stimulus {
    /// Sets the inputs of the next cycle; `i` holds those of the cycle before. What was offered and
    /// not taken stays as it is.
    fn drive(&mut self, i: &mut In);

    /// Sees what the machine drove in the cycle of `i`.
    fn observe(&mut self, i: &In, out: &Out);

    /// Nothing is left to be driven; what is inside may still be on its way.
    fn finished(&self) -> bool;
}

/// How a port's valid or ready behaves for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pace {
    Always,
    /// High in this many of 16 cycles.
    Often(u8),
    Never,
}

impl Pace {
    fn draw(rng: &mut impl Rng) -> Self {
        match rng.random_range(0..8) {
            0..4 => Pace::Always,
            4..7 => Pace::Often(rng.random_range(1..16)),
            _ => Pace::Never,
        }
    }

    fn high(self, rng: &mut impl Rng) -> bool {
        match self {
            Pace::Always => true,
            Pace::Often(of_16) => rng.random_range(0..16) < of_16,
            Pace::Never => false,
        }
    }
}

/// Tags of the warp requests inside, or offered.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tags {
    taken: u64,
}

impl Tags {
    /// A request with this tag is inside.
    pub fn taken(self, tag: u8) -> bool {
        self.taken >> (tag & 63) & 1 != 0
    }

    /// A request with this tag is offered.
    pub fn take(&mut self, tag: u8) {
        self.taken |= 1 << (tag & 63);
    }

    /// Sees which requests are answered.
    pub fn observe(&mut self, i: &In, out: &Out) {
        if out.rsp_valid & i.rsp_ready == 1 {
            self.taken &= !(1 << out.rsp_tag);
        }
        if out.wake_valid & i.wake_ready == 1 {
            self.taken &= !(1 << out.wake_tag);
        }
    }

    /// A tag drawn from those that are free; there are more of them than requests fit inside.
    fn draw(self, rng: &mut impl Rng) -> u8 {
        let start = rng.random_range(0..64u32);
        ((start + self.taken.rotate_right(start).trailing_ones()) % 64) as u8
    }
}

/// How the lanes of one request spread over memory.
#[derive(Clone, Copy, Debug)]
enum Spread {
    SameWord,
    SameBank,
    FewWords,
    Stride(u32),
    PairEdge,
    PartEdge,
    Anywhere,
}

/// Operands of the mbarrier operations.
struct Objects;

impl Objects {
    /// Operand B of one lane; none for an operation without one.
    fn operand(op: Op, rng: &mut impl Rng) -> Option<u128> {
        let few = [0, 1, 2, 3, 4, 7, 32, 33, 64];
        let most = u128::from(mbarrier::MAX_COUNT);
        Some(match op {
            Op::MbarInit => {
                let count = match rng.random_range(0..16) {
                    0 => mbarrier::MAX_COUNT - rng.random_range(0..3),
                    _ => few[rng.random_range(1..few.len())],
                };
                u128::from(mbarrier::Object::init(count).encode())
            }
            Op::MbarTestWait | Op::MbarTryWait => rng.random_range(0..2) << 31 | rng.random_range(0..8),
            Op::MbarExpectTx | Op::MbarCompleteTx | Op::MbarArriveExpectTx | Op::MbarArriveDropExpectTx => {
                // Few different amounts, so that what is expected is completed again.
                [16, 16, 16, 32, 0, most][rng.random_range(0..6)]
            }
            _ if op.is_mbarrier() => match rng.random_range(0..32) {
                0 => most - rng.random_range(0..2),
                1 => 0,
                _ => rng.random_range(1..4),
            },
            _ => return None,
        })
    }
}

/// Endless random stimulus, a function of configuration, operations and seed.
#[derive(Clone, Debug)]
pub struct RandomStimulus {
    rng: Xoshiro256PlusPlus,
    config: Config,
    ops: Vec<Op>,
    parts: [Option<PartWrite>; 16],
    offered_part: Option<PartWrite>,
    written: usize,
    setup: Vec<PartWrite>,
    left: u64,
    manner: Manner,
    paces: [Pace; 5],
    paces_for: u32,
    tags: Tags,
    /// Transactions expected and not completed, by slot and object, as far as requests tell: without
    /// somebody who keeps count no phase would ever be complete.
    owed: [[u32; OBJECTS as usize]; 16],
}

/// mbarrier objects in a part, one after the other from its beginning. More would seldom be
/// completed while somebody waits.
const OBJECTS: u32 = 3;

/// What random stimulus is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// To find defects: faults, back-pressure on every port, CTA table writes, cluster requests.
    Searching,
    /// To measure speed: legal warp requests only, offered and answered without a pause.
    Busy,
}

impl Manner {
    /// Operations drawn from where none are named: all of them, to measure those on plain memory.
    fn ops(self) -> Vec<Op> {
        let all = OPS.iter().map(|row| row.op);
        all.filter(|op| self == Manner::Searching || !op.is_mbarrier()).collect()
    }
}

/// Values at which operations change behaviour.
const CORNERS: [u32; 8] = [0, 1, 2, 3, i32::MAX as u32, i32::MIN as u32, u32::MAX, u32::MAX - 1];

impl RandomStimulus {
    /// Stimulus of `requests` warp requests with operations from `ops`, all of them if it is empty.
    pub fn new(config: Config, ops: &[Op], seed: u64, requests: u64, manner: Manner) -> Self {
        let mut stimulus = RandomStimulus {
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            config,
            ops: if ops.is_empty() { manner.ops() } else { ops.to_vec() },
            parts: [None; 16],
            offered_part: None,
            written: 0,
            setup: Vec::new(),
            left: requests,
            manner,
            paces: [Pace::Always; 5],
            paces_for: 0,
            tags: Tags::default(),
            owed: [[0; OBJECTS as usize]; 16],
        };
        stimulus.lay_out_parts();
        stimulus
    }

    /// Parts for up to four slots, side by side, of whole and of odd sizes.
    fn lay_out_parts(&mut self) {
        let row_bytes = self.config.row_bytes();
        let slots = self.config.num_cta_slots.min(4);
        let share = (self.config.num_rows / slots).max(1);
        for slot in 0..slots {
            let base = slot * share;
            let rows = if slot + 1 == slots { self.config.num_rows - base } else { share };
            let whole = rows * row_bytes;
            let odd = self.astray(2);
            let size = if odd { whole - self.rng.random_range(0..row_bytes.min(whole)) } else { whole };
            let rank = if self.astray(4) { self.rng.random_range(0..16) } else { 0 };
            self.setup.push(PartWrite { slot: slot as u8, enable: true, base: base as u16, size, rank });
        }
        self.setup.reverse();
    }

    fn value(&mut self) -> u32 {
        match self.rng.random_range(0..4) {
            0 => CORNERS[self.rng.random_range(0..CORNERS.len())],
            1 => self.rng.random_range(0..4),
            2 => self.rng.random_range(0..64),
            _ => self.rng.random(),
        }
    }

    fn operand(&mut self, size: Size, small: bool) -> u128 {
        if small {
            return self.rng.random_range(0..3);
        }
        let mut value = u128::from(self.value());
        for _ in 1..size.bytes().div_ceil(4) {
            value = value << 32 | u128::from(self.value());
        }
        value
    }

    fn spread(&mut self) -> Spread {
        match self.rng.random_range(0..8) {
            0 => Spread::SameWord,
            1 => Spread::SameBank,
            2 | 3 => Spread::FewWords,
            4 => Spread::Stride(self.rng.random_range(1..5)),
            5 => Spread::PairEdge,
            6 => Spread::PartEdge,
            _ => Spread::Anywhere,
        }
    }

    /// Offset of lane `l`; aligned to `bytes`, and inside a part of `size` if one access fits.
    fn offset(&mut self, spread: Spread, start: u32, l: u32, size: u32, bytes: u32) -> u32 {
        let units = (size / bytes).max(1);
        let row_units = (self.config.row_bytes() / bytes).max(1);
        let unit = match spread {
            Spread::SameWord => start,
            Spread::SameBank => start + row_units * self.rng.random_range(0..4),
            Spread::FewWords => start + self.rng.random_range(0..4),
            Spread::Stride(stride) => start + stride * l,
            // Neighbours across a pair, and the same place a row on.
            Spread::PairEdge => {
                (start | 1) + self.rng.random_range(0..2) + row_units * self.rng.random_range(0..2)
            }
            Spread::PartEdge => units - 1 - self.rng.random_range(0..4.min(units)),
            Spread::Anywhere => self.rng.random_range(0..units),
        };
        (unit % units) * bytes
    }

    /// Whether an operation may stand in for the one drawn: only those asked for are drawn.
    fn listed(&self, op: Op) -> bool {
        self.ops.contains(&op)
    }

    /// Where the lanes of a request meet mbarrier objects: of the few that a part has, mostly one.
    fn object(&mut self) -> (Spread, u32) {
        let spread = match self.rng.random_range(0..8) {
            0..6 => Spread::SameWord,
            6 => Spread::FewWords,
            _ => Spread::SameBank,
        };
        (spread, self.rng.random_range(0..OBJECTS))
    }

    /// Operands with which phases are completed now and then, and fields overflow now and then.
    fn mbarrier_operands(&mut self, op: Op, i: &mut In) {
        let uniform = self.rng.random_range(0..4) != 0;
        let mut all = Objects::operand(op, &mut self.rng);
        // Now and then what the operands were before.
        if self.rng.random_range(0..32) == 0 {
            all = None;
        }
        for l in 0..self.config.num_lanes as usize {
            let own = if uniform { all } else { all.and(Objects::operand(op, &mut self.rng)) };
            i.req_b[l] = own.unwrap_or(i.req_b[l]);
        }
    }

    /// Something rare that a search wants and a measurement does not.
    fn astray(&mut self, one_in: u32) -> bool {
        self.manner == Manner::Searching && self.rng.random_range(0..one_in) == 0
    }

    fn offer_warp(&mut self, i: &mut In) {
        let mut op = self.ops[self.rng.random_range(0..self.ops.len())];
        let slots = self.config.num_cta_slots.min(4) as u8;
        i.req_slot = self.rng.random_range(0..slots);
        let (object_spread, object) = self.object();
        let owed = self.owed[usize::from(i.req_slot)][object as usize];
        let pays = op.is_mbarrier() && owed > 0 && self.listed(Op::MbarCompleteTx) && self.rng.random();
        if pays {
            op = Op::MbarCompleteTx;
        } else if op == Op::MbarCompleteTx && self.listed(Op::MbarArrive) && self.rng.random_range(0..16) != 0
        {
            // What nobody expects keeps an object from completing for long.
            op = Op::MbarArrive;
        }
        let sizes = op.row().sizes;
        let size = sizes[self.rng.random_range(0..sizes.len())];
        i.req_valid = 1;
        i.req_op = op as u8;
        i.req_size = size as u8;
        if self.astray(64) {
            i.req_op = self.rng.random_range(0..32);
            i.req_size = self.rng.random_range(0..16);
        }
        if self.astray(64) {
            i.req_slot = self.rng.random_range(0..16);
        }
        i.req_tag = self.tags.draw(&mut self.rng);
        self.tags.take(i.req_tag);
        i.req_red = u8::from(self.rng.random_range(0..4) == 0);
        i.req_mask = match self.rng.random_range(0..4) {
            0 | 1 => u32::MAX,
            2 => self.rng.random(),
            _ => self.rng.random::<u32>() & self.rng.random::<u32>() & self.rng.random::<u32>(),
        } & self.config.lane_mask();

        let part = self.parts[usize::from(i.req_slot)].unwrap_or_default();
        let bytes = size.bytes();
        let (mut spread, small) = (self.spread(), self.rng.random());
        let mut start = self.rng.random_range(0..(part.size / bytes).max(1));
        if op.is_mbarrier() {
            (spread, start) = (object_spread, object);
            // What would spoil an object for long comes seldom, so that phases go by: the other layout
            // on it, and dropping more than is expected.
            if op == Op::MbarArriveSm80 && self.rng.random_range(0..16) != 0 {
                start = OBJECTS;
            }
            if op.name().starts_with(Op::MbarArriveDrop.name()) && self.rng.random_range(0..16) != 0 {
                i.req_mask &= i.req_mask.wrapping_neg();
            }
        }

        // The base all lanes add, then Ra to reach the offset wanted.
        i.req_absolute = u8::from(self.rng.random_range(0..32) == 0);
        i.req_scale = if self.astray(4) { self.rng.random_range(0..8) } else { 0 };
        i.req_imm = match self.rng.random_range(0..4) {
            0 => self.rng.random_range(0..1 << 24),
            1 => 0x100_0000 - 4 * self.rng.random_range(1u32..64),
            _ => 4 * self.rng.random_range(0u32..64),
        };
        let rank = u32::from(part.rank) << 24;
        if i.req_absolute == 1 {
            i.req_imm = self.offset(spread, start, 0, part.size, bytes);
            i.req_ur = rank;
        } else {
            i.req_ur = if self.rng.random() { 0 } else { self.rng.random() };
        }
        let base = i.req_ur.wrapping_add(((i.req_imm << 8) as i32 >> 8) as u32);
        let shift = if matches!(i.req_scale, 2..=4) { i.req_scale } else { 0 };
        for l in 0..self.config.num_lanes {
            let offset = self.offset(spread, start, l, part.size, bytes);
            // What scaling cannot reach is rounded: misaligned now and then, as it should be.
            let ra = (rank | offset).wrapping_sub(base);
            let l = l as usize;
            i.req_ra[l] = ra >> shift;
            i.req_b[l] = self.operand(size, small);
            i.req_c[l] = self.operand(size, small);
        }
        if op.is_mbarrier() {
            self.mbarrier_operands(op, i);
            let at = &mut self.owed[usize::from(i.req_slot)][object as usize];
            match op {
                Op::MbarInit => *at = 0,
                Op::MbarExpectTx | Op::MbarArriveExpectTx | Op::MbarArriveDropExpectTx => {
                    let lanes = (0..self.config.num_lanes as usize).filter(|l| i.req_mask >> l & 1 != 0);
                    *at = lanes.fold(*at, |owed, l| owed.saturating_add(i.req_b[l] as u32));
                }
                _ if pays => {
                    i.req_mask &= i.req_mask.wrapping_neg();
                    i.req_b = [u128::from(owed); MAX_LANES];
                    *at = 0;
                }
                _ => {}
            }
        }
        if shift != 0 && self.rng.random_range(0..8) != 0 {
            // Mostly reachable addresses: the base is a multiple of the factor.
            i.req_imm = 0;
            i.req_ur = rank;
            for l in 0..self.config.num_lanes as usize {
                let offset = self.offset(spread, start, l as u32, part.size, bytes.max(1 << shift));
                i.req_ra[l] = offset >> shift;
            }
        }
        let astray = if self.astray(16) { self.rng.random_range(0..3) } else { 3 };
        match astray {
            // One lane astray: misaligned, out of range, or of another rank.
            0 => i.req_ra[self.rng.random_range(0..MAX_LANES)] ^= 1 << self.rng.random_range(0..4),
            1 => i.req_ra[self.rng.random_range(0..MAX_LANES)] ^= 1 << self.rng.random_range(8..32),
            2 => i.req_ra = std::array::from_fn(|_| self.rng.random()),
            _ => {}
        }
        i.req_ra[self.config.num_lanes as usize..].fill(0);
        if i.req_op == Op::MbarTryWait as u8 {
            // A limit that is drawn from all numbers would outlast the run.
            i.req_c = [match self.manner {
                Manner::Busy => 1,
                Manner::Searching if self.rng.random() => 0,
                Manner::Searching if self.rng.random() => self.rng.random_range(1..5),
                Manner::Searching => self.rng.random_range(5..1000),
            }; MAX_LANES];
        }
        self.left -= 1;
    }

    fn offer_cluster(&mut self, i: &mut In) {
        let mut op = self.ops[self.rng.random_range(0..self.ops.len())];
        let slot = self.rng.random_range(0..self.config.num_cta_slots.min(4) as u8);
        let part = self.parts[usize::from(slot)].unwrap_or_default();
        let (spread, start) = if op.is_mbarrier() { self.object() } else { (self.spread(), 0) };
        let owed = self.owed[usize::from(slot)][start as usize];
        let pays = owed > 0 && op.is_mbarrier() && self.rng.random() && self.listed(Op::MbarCompleteTx);
        let illegal = op.is_mbarrier() && !op.cluster_legal(true);
        if (illegal || matches!(op, Op::MbarCompleteTx | Op::MbarExpectTx))
            && self.rng.random_range(0..8) != 0
            && self.listed(Op::MbarArrive)
        {
            op = Op::MbarArrive;
        }
        if pays {
            op = Op::MbarCompleteTx;
        }
        let sizes = op.row().sizes;
        let size = sizes[self.rng.random_range(0..sizes.len())];
        let mut addr = self.offset(spread, start, 0, part.size, size.bytes());
        if self.rng.random_range(0..32) == 0 {
            addr = self.rng.random_range(0..1 << 24);
        }
        let small = self.rng.random();
        let (b, c) = match Objects::operand(op, &mut self.rng) {
            Some(_) if pays => {
                self.owed[usize::from(slot)][start as usize] = 0;
                (owed.into(), 0)
            }
            Some(b) => (b, 0),
            None => (self.operand(size, small), self.operand(size, small)),
        };
        ClusterRequest {
            op: if self.rng.random_range(0..64) == 0 { self.rng.random_range(0..32) } else { op as u8 },
            size: size as u8,
            // Mostly what an object of another CTA knows (spec 6.7).
            red: pays || self.rng.random() || (op.is_mbarrier() && self.rng.random_range(0..8) != 0),
            tag: self.rng.random_range(0..64),
            slot,
            addr,
            b,
            c,
        }
        .drive(i);
    }

    /// Now and then a part is taken away, given back, moved, or asked for where it cannot be.
    fn offer_part(&mut self, i: &mut In) {
        let write = match self.setup.pop() {
            Some(write) => write,
            None if self.rng.random_range(0..2048) == 0 => {
                let slot = self.rng.random_range(0..16u8);
                match (self.rng.random_range(0..4), self.parts[usize::from(slot)]) {
                    (0, Some(part)) => PartWrite { enable: false, ..part },
                    (1, Some(part)) => PartWrite { rank: self.rng.random_range(0..4), ..part },
                    // Often in another slot's way, or behind the end of memory: refused.
                    (2, _) => PartWrite {
                        slot,
                        enable: true,
                        base: self.rng.random_range(0..self.config.num_rows) as u16,
                        size: self.rng.random_range(0..8 * self.config.row_bytes()),
                        rank: 0,
                    },
                    _ => {
                        self.lay_out_parts();
                        let slots = self.config.num_cta_slots as u8;
                        self.setup.extend((0..slots).map(|slot| PartWrite { slot, ..PartWrite::default() }));
                        return;
                    }
                }
            }
            None => return,
        };
        self.offered_part = Some(write);
        write.drive(i);
    }
}

impl Stimulus for RandomStimulus {
    fn drive(&mut self, i: &mut In) {
        if self.paces_for == 0 && self.manner == Manner::Searching {
            self.paces = std::array::from_fn(|_| Pace::draw(&mut self.rng));
            // Whoever waits for an answer must get one in the end.
            if self.paces.contains(&Pace::Never) {
                self.paces_for = 40;
            } else {
                self.paces_for = self.rng.random_range(16..256);
            }
        }
        self.paces_for = self.paces_for.saturating_sub(1);
        i.rst_n = 1;
        let [warp, answer, cluster, cluster_answer, wake] = self.paces;
        if i.req_valid == 0 && self.left > 0 && self.setup.is_empty() && warp.high(&mut self.rng) {
            self.offer_warp(i);
        }
        // Requests of either port keep a slot's part in use, and the table waiting.
        if i.cl_valid == 0
            && self.left > 0
            && self.setup.is_empty()
            && cluster.high(&mut self.rng)
            && self.astray(8)
        {
            self.offer_cluster(i);
        }
        if i.cta_valid == 0 && self.left > 0 && (self.manner == Manner::Searching || !self.setup.is_empty()) {
            self.offer_part(i);
        }
        i.rsp_ready = u8::from(answer.high(&mut self.rng));
        i.cl_rsp_ready = u8::from(cluster_answer.high(&mut self.rng));
        i.wake_ready = u8::from(wake.high(&mut self.rng));
    }

    fn observe(&mut self, i: &In, out: &Out) {
        self.tags.observe(i, out);
        if i.cta_valid == 1
            && out.cta_ready == 1
            && let Some(write) = self.offered_part.take()
        {
            self.parts[usize::from(write.slot)] = write.enable.then_some(write);
            self.written = usize::from(write.slot);
        } else if out.cta_reject == 1 {
            self.parts[self.written] = None;
        }
    }

    fn finished(&self) -> bool {
        self.left == 0
    }
}

/// Ends the handshakes of a cycle: what was taken is no longer offered.
pub fn settle(i: &mut In, out: &Out) {
    i.req_valid &= 1 - out.req_ready;
    i.cl_valid &= 1 - out.cl_ready;
    i.cta_valid &= 1 - out.cta_ready;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No operation stands in for another that was not asked for.
    #[test]
    fn only_listed_operations_are_drawn() {
        let ops = [Op::MbarCompleteTx, Op::MbarExpectTx, Op::Load];
        let mut stimulus = RandomStimulus::new(Config::default(), &ops, 1, u64::MAX, Manner::Searching);
        let mut others = 0;
        for _ in 0..1000 {
            let mut i = In::default();
            stimulus.offer_cluster(&mut i);
            stimulus.offer_warp(&mut i);
            stimulus.tags = Tags::default();
            let other = |code: u8| !ops.iter().any(|op| *op as u8 == code);
            others += u32::from(other(i.req_op)) + u32::from(other(i.cl_op));
        }
        // A search draws any code now and then, one in 64 of each port.
        assert!(others < 80, "{others} of 2000 operations were not asked for");
    }
}
