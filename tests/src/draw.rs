//! Random test cases with frequent conflicts, which shrink to fewer lanes, fewer requests and smaller values.

use atoms_cosim::case::{Case, Pauses};
use atoms_model::Config;
use atoms_model::mbarrier::{self, MbarObject};
use atoms_ops::{OPS, Op, Size};
use atoms_stimulus::request::{AllocationWrite, ClusterRequest, Lane, WarpRequest};
use proptest::prelude::*;
use proptest::{bits, collection, sample};

const CORNERS: [u32; 8] = [0, 1, 2, 3, i32::MAX as u32, i32::MIN as u32, u32::MAX - 1, u32::MAX];

/// Maximum number of CTA slots with an allocation.
const SLOTS: u32 = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mix {
    /// All instructions, and occasionally illegal operation codes.
    All,
    /// mbarrier operations on few objects.
    Objects,
}

pub fn case(name: &str, config: Config, requests: usize, mix: Mix) -> impl Strategy<Value = Case> + use<> {
    let name = name.to_string();
    let slots = config.num_cta_slots.min(SLOTS) as usize;
    let allocations = collection::vec(allocation(&config), slots).prop_map(move |mut allocations| {
        for (slot, allocation) in (0..).zip(&mut allocations) {
            lay_out(&config, slot, allocation);
        }
        allocations
    });
    let late = prop_oneof![9 => Just(Vec::new()), 1 => collection::vec(any_allocation(&config), 1..3)];
    let warps = collection::vec(warp(&config, mix), 1..=requests);
    let clusters = prop_oneof![2 => Just(Vec::new()), 1 => collection::vec(cluster(mix), 0..4)];
    (allocations, late, warps, clusters, pauses()).prop_map(
        move |(allocations, late, warps, clusters, pauses)| {
            let warps = warps.iter().map(|drawn| drawn.request(&config, &allocations)).collect();
            let clusters = clusters.iter().map(|drawn| drawn.request(&config, &allocations)).collect();
            let allocations = allocations.iter().chain(&late).copied().collect();
            Case { config: name.clone(), allocations, warps, clusters, pauses, ..Case::default() }
        },
    )
}

/// Draws an index with these weights. The index shrinks to 0. A union of strategies would keep a test runner
/// for each alternative. With 32 lanes, copying those runners took half of the run time.
fn one_of<const N: usize>(weights: [u32; N]) -> impl Strategy<Value = usize> {
    (0..weights.iter().sum::<u32>()).prop_map(move |mut at| {
        let mut place = 0;
        while at >= weights[place] {
            at -= weights[place];
            place += 1;
        }
        place
    })
}

/// Scales `any` to a number below `end`. The order stays the same, so the result shrinks with `any`.
fn below(end: u32, any: u32) -> u32 {
    ((u64::from(any) * u64::from(end)) >> 32) as u32
}

pub fn word() -> impl Strategy<Value = u32> {
    (one_of([4, 2, 1]), any::<u32>()).prop_map(|(kind, any)| match kind {
        0 => below(4, any),
        1 => CORNERS[below(CORNERS.len() as u32, any) as usize],
        _ => any,
    })
}

/// Draws an operand of any size. The upper words are mostly zero, so that compares match.
pub fn operand() -> impl Strategy<Value = u128> {
    let words = [word(), word(), word(), word()];
    (one_of([4, 3, 1, 1]), 0..3u32, 0..4u32, words).prop_map(|(kind, small, at, words)| match kind {
        0 => small.into(),
        1 => words[0].into(),
        2 => u128::from(words[0]) << (32 * at),
        _ => words.iter().rev().fold(0, |value, &word| value << 32 | u128::from(word)),
    })
}

/// Returns an operand B that completes phases or overflows fields, or None if `op` needs no special operand.
fn mbarrier_operand(op: Op, pick: u32) -> Option<u128> {
    let most = mbarrier::MAX_COUNT;
    let of = |values: &[u32]| values[pick as usize % values.len()];
    Some(match op {
        // Object word of the two-word layout, one arrival before its phase completes.
        Op::MbarInit if pick == 6 => 0x7fff_ffff_3fff_ffff,
        Op::MbarInit => u128::from(MbarObject::init(of(&[1, 2, 3, 4, 32, most])).encode()),
        Op::MbarTestWait | Op::MbarTryWait => u128::from(of(&[0, 1 << 31])),
        _ if op.is_mbarrier() => u128::from(of(&[1, 2, 0, most, 3, u32::MAX])),
        _ => return None,
    })
}

/// Draws the cycles of 64 in which each port pauses. Most ports never pause.
pub fn pauses() -> impl Strategy<Value = Pauses> {
    let some = || prop_oneof![3 => Just(0), 1 => bits::u64::between(0, 64), 1 => Just(u64::MAX)];
    (some(), some(), some(), some(), some()).prop_map(|(warp, response, cluster, cluster_response, wake)| {
        Pauses { warp, response, cluster, cluster_response, wake }
    })
}

/// Draws the rank and the bytes missing from the last row. [`lay_out`] sets the base.
fn allocation(config: &Config) -> impl Strategy<Value = AllocationWrite> + use<> {
    let rank = prop_oneof![4 => Just(0u8), 1 => any::<u8>()];
    let missing = prop_oneof![2 => Just(0), 1 => 0..config.row_bytes()];
    (rank, missing).prop_map(|(rank, size)| AllocationWrite { rank, size, ..AllocationWrite::default() })
}

/// Places the allocations side by side. On entry, `size` is the number of bytes missing from the last row.
fn lay_out(config: &Config, slot: u8, allocation: &mut AllocationWrite) {
    let slots = config.num_cta_slots.min(SLOTS);
    let share = (config.num_rows / slots).max(1);
    let base = u32::from(slot) * share;
    let rows = if u32::from(slot) + 1 == slots { config.num_rows - base } else { share };
    allocation.slot = slot;
    allocation.enable = true;
    allocation.base = base as u16;
    allocation.size = rows * config.row_bytes() - allocation.size;
}

/// Draws a table write that is often refused, removes an allocation, or names an invalid slot.
fn any_allocation(config: &Config) -> impl Strategy<Value = AllocationWrite> + use<> {
    let size = prop_oneof![0..8 * config.row_bytes(), 0..1u32 << 25];
    let base = prop_oneof![4 => 0..=(config.num_rows - 1) as u16, 1 => any::<u16>()];
    (0..16u8, any::<bool>(), base, size, 0..2u8)
        .prop_map(|(slot, enable, base, size, rank)| AllocationWrite { slot, enable, base, size, rank })
}

/// Address of a lane. Units have the access size, and offsets count from the start of the request.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// This many units after the start.
    Near(u32),
    /// Same banks as the start, this many rows below.
    Below(u32),
    /// Crosses a pair if the request starts at an even unit: the next unit, this many rows below.
    Across(u32),
    FromEnd(u32),
    /// This unit of the allocation, modulo its size.
    Anywhere(u32),
    /// This many bytes after the start, mostly misaligned.
    Skewed(u32),
    /// First unit that does not lie completely in the allocation.
    Behind,
    /// Address of the start with another rank.
    Foreign(u8),
    /// This address, mostly illegal.
    Wild(u32),
}

fn place(wild: u32) -> impl Strategy<Value = Place> {
    let kind = one_of([60, 60, 60, 30, 30, 60, wild, wild, wild, wild]);
    (kind, any::<u32>(), any::<bool>()).prop_map(|(kind, any, far)| match kind {
        0 => Place::Near(0),
        1 => Place::Near(below(5, any)),
        2 => Place::Below(1 + below(3, any)),
        3 => Place::Across(below(2, any)),
        4 => Place::FromEnd(1 + below(3, any)),
        5 => Place::Anywhere(any),
        6 => Place::Skewed(1 + below(15, any)),
        7 => Place::Behind,
        8 => Place::Foreign(1 + below(255, any) as u8),
        _ => Place::Wild(if far { any } else { below(1 << 24, any) }),
    })
}

impl Place {
    fn address(self, config: &Config, allocation: &AllocationWrite, bytes: u32, start: u32) -> u32 {
        let units = (allocation.size / bytes).max(1);
        let row_units = (config.row_bytes() / bytes).max(1);
        let start = start % units;
        let unit = match self {
            Place::Near(on) => start + on,
            Place::Below(rows) => start + rows * row_units,
            Place::Across(rows) => (start | 1) + 1 + rows * row_units,
            Place::FromEnd(before) => units - before.min(units),
            Place::Anywhere(unit) => unit,
            Place::Skewed(by) => return u32::from(allocation.rank) << 24 | (start * bytes + by),
            Place::Behind => {
                return u32::from(allocation.rank) << 24 | ((allocation.size / bytes * bytes) & 0xff_ffff);
            }
            Place::Foreign(other) => return u32::from(allocation.rank ^ other) << 24 | (start * bytes),
            Place::Wild(address) => return address,
        };
        u32::from(allocation.rank) << 24 | (unit % units * bytes)
    }
}

/// Draws operation and size: mostly a legal instruction, occasionally two random codes.
fn instruction(mix: Mix) -> impl Strategy<Value = (u8, u8)> {
    let rows = OPS.iter().flat_map(|row| row.sizes.iter().map(|size| (row.op as u8, *size as u8)));
    let legal: Vec<_> = rows.collect();
    let contended: Vec<_> = [Op::Cas, Op::Cast, Op::CastSpin]
        .into_iter()
        .flat_map(|op| [Size::U32, Size::U64].map(|size| (op as u8, size as u8)))
        .collect();
    let objects: Vec<_> = legal.iter().filter(|(op, _)| *op >= Op::MbarInit as u8).copied().collect();
    // Waits, and the operations that end them, are frequent so that wake-ups happen.
    let waits: Vec<_> =
        [Op::MbarInit, Op::MbarTryWait, Op::MbarArrive].map(|op| (op as u8, Size::U64 as u8)).into();
    let all = prop_oneof![20 => sample::select(legal), 5 => sample::select(contended), 4 => sample::select(waits.clone()), 1 => (0..32u8, 0..16u8)];
    match mix {
        Mix::All => all.boxed(),
        Mix::Objects => prop_oneof![1 => sample::select(objects), 2 => sample::select(waits)].boxed(),
    }
}

#[derive(Clone, Debug)]
struct DrawnLane {
    active: bool,
    place: Place,
    b: u128,
    c: u128,
    pick: u32,
}

fn lane(wild: u32) -> impl Strategy<Value = DrawnLane> {
    let pick = (one_of([3, 2, 2]), any::<u32>()).prop_map(|(kind, any)| below([1, 2, 7][kind], any));
    (proptest::bool::weighted(0.9), place(wild), operand(), operand(), pick)
        .prop_map(|(active, place, b, c, pick)| DrawnLane { active, place, b, c, pick })
}

impl DrawnLane {
    fn operands(&self, op: u8) -> (u128, u128) {
        let b = Op::from_code(op).and_then(|op| mbarrier_operand(op, self.pick)).unwrap_or(self.b);
        // The wait limit stays below 64 cycles. A random 32-bit limit would outlast the test.
        (b, if op == Op::MbarTryWait as u8 { self.c % 64 } else { self.c })
    }
}

#[derive(Clone, Debug)]
struct DrawnWarp {
    instruction: (u8, u8),
    red: bool,
    slot: u8,
    tag: u8,
    form: Form,
    start: u32,
    lanes: Vec<Option<DrawnLane>>,
}

/// Address terms common to all lanes of a request.
#[derive(Clone, Copy, Debug)]
struct Form {
    absolute: bool,
    scale: u8,
    imm: u32,
    ur: u32,
}

fn form() -> impl Strategy<Value = Form> {
    let imm = prop_oneof![
        4 => Just(0),
        2 => (0..64u32).prop_map(|words| 4 * words),
        2 => (1..64u32).prop_map(|words| (1 << 24) - 4 * words),
        1 => 0..1u32 << 24,
    ];
    let ur = prop_oneof![4 => Just(0), 1 => (0..64u32).prop_map(|words| 4 * words), 1 => any::<u32>()];
    let scale = prop_oneof![6 => Just(0), 1 => 0..8u8];
    (proptest::bool::weighted(0.06), scale, imm, ur).prop_map(|(absolute, scale, imm, ur)| Form {
        absolute,
        scale,
        imm,
        ur,
    })
}

fn slot() -> impl Strategy<Value = u8> {
    prop_oneof![30 => 0..SLOTS as u8, 1 => 0..16u8]
}

fn start(mix: Mix) -> impl Strategy<Value = u32> {
    match mix {
        Mix::All => prop_oneof![3 => 0..8u32, 1 => any::<u32>()].boxed(),
        Mix::Objects => prop_oneof![3 => Just(0), 1 => 0..2u32].boxed(),
    }
}

fn warp(config: &Config, mix: Mix) -> impl Strategy<Value = DrawnWarp> + use<> {
    // One illegal lane faults the whole request, so only about one request in eight has an illegal lane.
    let wild = (16 / config.num_lanes).max(1);
    let some = || (proptest::bool::weighted(0.9), lane(wild)).prop_map(|(there, lane)| there.then_some(lane));
    let few = collection::vec(some(), 1..=config.num_lanes.min(4) as usize);
    let full = collection::vec(some(), 1..=config.num_lanes as usize);
    let lanes = prop_oneof![1 => few.boxed(), 1 => full.boxed()];
    (instruction(mix), any::<bool>(), slot(), 0..64u8, form(), start(mix), lanes).prop_map(
        |(instruction, red, slot, tag, form, start, lanes)| DrawnWarp {
            instruction,
            red,
            slot,
            tag,
            form,
            start,
            lanes,
        },
    )
}

/// Returns the bytes of an access with this size code, and 4 for an illegal code.
fn bytes_of(size: u8) -> u32 {
    Size::from_code(size).map_or(4, Size::bytes)
}

impl DrawnWarp {
    fn request(&self, config: &Config, allocations: &[AllocationWrite]) -> WarpRequest {
        let slot = if usize::from(self.slot) < allocations.len() || self.slot >= SLOTS as u8 {
            self.slot
        } else {
            0
        };
        let allocation = allocations.get(usize::from(slot)).copied().unwrap_or_default();
        let bytes = bytes_of(self.instruction.1);
        let mut form = self.form;
        if form.absolute {
            // All lanes use one address, inside the allocation unless the first lane has an illegal place.
            let place = self.lanes.iter().flatten().next().map_or(Place::Near(0), |lane| lane.place);
            let address = place.address(config, &allocation, bytes, self.start);
            (form.imm, form.ur) = (address & 0xff_ffff, address & 0xff00_0000);
        }
        let base = form.ur.wrapping_add(((form.imm << 8) as i32 >> 8) as u32);
        let shift = if matches!(form.scale, 2..=4) { form.scale } else { 0 };
        let mut request = WarpRequest {
            op: self.instruction.0,
            size: self.instruction.1,
            red: self.red,
            absolute: form.absolute,
            scale: form.scale,
            tag: self.tag,
            slot,
            mask: 0,
            imm: form.imm,
            ur: form.ur,
            lanes: Vec::new(),
        };
        // In most mbarrier requests, all lanes use one object and ask for one parity.
        let mbarrier = Op::from_code(request.op).is_some_and(Op::is_mbarrier);
        let first = self.lanes.iter().flatten().next().filter(|_| mbarrier && !self.tag.is_multiple_of(4));
        for (l, drawn) in self.lanes.iter().enumerate() {
            let Some(drawn) = drawn else {
                request.lanes.push(Lane::default());
                continue;
            };
            let drawn = &match first {
                Some(DrawnLane { place, pick, .. }) => {
                    DrawnLane { place: *place, pick: *pick, ..drawn.clone() }
                }
                None => drawn.clone(),
            };
            let address = drawn.place.address(config, &allocation, bytes, self.start);
            // The shift rounds addresses that scaling cannot reach, which causes some misaligned accesses.
            let ra = address.wrapping_sub(base) >> shift;
            request.mask |= u32::from(drawn.active) << l;
            let (b, c) = drawn.operands(request.op);
            request.lanes.push(Lane { ra, b, c });
        }
        request
    }
}

#[derive(Clone, Debug)]
struct DrawnCluster {
    instruction: (u8, u8),
    red: bool,
    slot: u8,
    tag: u8,
    start: u32,
    lane: DrawnLane,
}

fn cluster(mix: Mix) -> impl Strategy<Value = DrawnCluster> {
    (instruction(mix), any::<bool>(), slot(), 0..64u8, start(mix), lane(10)).prop_map(
        |(instruction, red, slot, tag, start, lane)| DrawnCluster {
            instruction,
            red,
            slot,
            tag,
            start,
            lane,
        },
    )
}

impl DrawnCluster {
    fn request(&self, config: &Config, allocations: &[AllocationWrite]) -> ClusterRequest {
        let slot = if usize::from(self.slot) < allocations.len() || self.slot >= SLOTS as u8 {
            self.slot
        } else {
            0
        };
        let allocation = allocations.get(usize::from(slot)).copied().unwrap_or_default();
        let address = self.lane.place.address(config, &allocation, bytes_of(self.instruction.1), self.start);
        ClusterRequest {
            op: self.instruction.0,
            size: self.instruction.1,
            red: self.red,
            tag: self.tag,
            slot,
            addr: address & 0xff_ffff,
            b: self.lane.operands(self.instruction.0).0,
            c: self.lane.c,
        }
    }
}
