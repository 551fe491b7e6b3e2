//! Runs every one-instruction case over small sets of values through RTL, model and oracle.
//!
//! `tiny` has 2 lanes, 4 banks, 2 rows and forwarding. The cases use all its 32 bytes:
//! - *addresses*: every operation in every size, with and without Rd, every mask, and every pair of byte
//!   addresses from 0 to 35, including misaligned and out of range. For compare operations, lane 1 expects
//!   the initial value or the value that lane 0 leaves.
//! - *codes*: every pair of operation and size codes, legal or not, with every mask.
//! - *values*: every legal pair, with and without Rd, both lanes active, on every pair of aligned addresses.
//!   Compare operations, bytes and halves use one word, two words of one bank, and two banks only. The
//!   initial words, Rb and Rc of both lanes each take every value of [`WORDS`], or of [`PAIRS`] and [`QUADS`]
//!   for wide accesses. For mbarrier operations, the initial words take every value of [`OBJECTS`], and Rb
//!   every value of [`COUNTS`].
//!
//! `small` has 4 lanes, 4 banks, stalls instead of forwarding, and two CTAs. The cases cover every legal
//! pair, with and without Rd, and every mask. Each lane takes every address of five: two words of one bank, a
//! word of another bank, a misaligned address and one out of range. Lanes that compare all expect zero, or
//! each the value that the lane before leaves. Lanes that arrive use objects with two arrivals pending.
//!
//! The tests assert the totals: 5,433,800 instructions in `tiny` and 1,237,500 in `small`. Before each instruction, a
//! store sets its words. There is no pause or reset between instructions, so the cases also cover the pipeline hazards.
//!
//! Some combinations would take hours and are left out: all values of compare operations on all address
//! pairs, wide operands beyond six values, and operand words that an access does not use. `rows.rs` tests
//! immediates, UR and scales, and `random.rs` tests sequences.

use atoms_cosim::lockstep::Lockstep;
use atoms_cosim::session::Session;
use atoms_model::port::{In, Out};
use atoms_ops::{OPS, Op, Operands, Size};
use atoms_stimulus::Stimulus;
use atoms_stimulus::configs::NamedConfig;
use atoms_stimulus::request::{AllocationWrite, Lane};
use atoms_tests::{config, judged_lockstep_of};

/// Values at which 32-bit operations change behaviour.
const WORDS: [u128; 6] = [0, 1, 2, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];
const PAIRS: [u128; 6] = [0, 1, 1 << 32, 1 << 32 | 1, 1 << 63, u64::MAX as u128];
const QUADS: [u128; 6] = [0, 1, 1 << 32, 1 << 64, 1 << 96, u128::MAX];

/// mbarrier objects one step before a change: 1 or 2 arrivals pending, both parities, transactions
/// outstanding, no arrivals pending, and a word that is not an object.
const OBJECTS: [u128; 6] = [
    0x7fff_f800_001f_fffe,
    0xffff_f000_001f_fffc,
    0x7fff_fbff_fffd_fffa,
    0x0000_03ff_ffff_fffe,
    0x8000_0000_0020_0000,
    0x7fff_ffff_3fff_ffff,
];
const TWO_PENDING: u128 = 0x7fff_f000_001f_fffc;
/// Counts of arrivals and transactions: small counts, the maximum of a field, and counts beyond it.
const COUNTS: [u128; 6] = [0, 1, 2, 0xf_ffff, 0x10_0001, 0xffff_ffff];

/// Initial word of the *addresses* cases. Its bytes and halves have both signs and are all different.
const BEFORE: u32 = 0x8f03_c142;

#[derive(Clone, Copy, Debug, Default)]
struct Step {
    op: u8,
    size: u8,
    red: bool,
    slot: u8,
    mask: u32,
    lanes: [Lane; 4],
}

struct Steps<'a> {
    allocations: Vec<AllocationWrite>,
    steps: std::slice::Iter<'a, Step>,
}

impl Stimulus for Steps<'_> {
    fn drive(&mut self, i: &mut In) {
        i.rst_n = 1;
        (i.rsp_ready, i.cl_rsp_ready, i.wake_ready) = (1, 1, 1);
        if i.cta_valid == 1 || i.req_valid == 1 {
            return;
        }
        if let Some(allocation) = self.allocations.pop() {
            allocation.drive(i);
        } else if let Some(step) = self.steps.next() {
            i.req_valid = 1;
            // Distinguishes requests in flight, of which there are fewer than 64. Some may be waiters.
            i.req_tag = (self.steps.len() % 64) as u8;
            i.req_op = step.op;
            i.req_size = step.size;
            i.req_red = u8::from(step.red);
            i.req_slot = step.slot;
            i.req_mask = step.mask;
            for (l, lane) in step.lanes.iter().enumerate() {
                (i.req_ra[l], i.req_b[l], i.req_c[l]) = (lane.ra, lane.b, lane.c);
            }
        }
    }

    fn observe(&mut self, _: &In, _: &Out) {}

    fn finished(&self) -> bool {
        self.allocations.is_empty() && self.steps.len() == 0
    }
}

struct Run {
    session: Session<Lockstep>,
    expected: u64,
}

impl Run {
    fn new(named: &NamedConfig, allocations: Vec<AllocationWrite>) -> Self {
        let mut run = Run { session: judged_lockstep_of(named), expected: 0 };
        run.take("allocations", allocations, &[]);
        run
    }

    fn steps(&mut self, what: &str, steps: &[Step]) {
        self.take(what, Vec::new(), steps);
    }

    fn take(&mut self, what: &str, allocations: Vec<AllocationWrite>, steps: &[Step]) {
        self.expected += steps.len() as u64;
        let mut stimulus = Steps { allocations, steps: steps.iter() };
        let tally =
            self.session.run(&mut stimulus, u64::MAX, |_| {}).unwrap_or_else(|f| panic!("{what}: {f}"));
        assert_eq!((tally.requests, tally.judged), (self.expected, self.expected), "{what}: all were judged");
    }
}

fn instructions() -> impl Iterator<Item = (Op, Size)> {
    OPS.iter().flat_map(|row| row.sizes.iter().map(|size| (row.op, *size)))
}

/// True if the operation compares with Rb and can store Rc.
fn compares(op: Op) -> bool {
    op.row().operands == Operands::BC && !op.is_mbarrier()
}

/// Returns a value of the access width that repeats `word`.
fn repeat(word: u32, size: Size) -> u128 {
    let word = u128::from(word);
    let all = word | word << 32 | word << 64 | word << 96;
    all >> (128 - 8 * size.bytes())
}

fn set_all(word: u32) -> Step {
    let lane = |ra| Lane { ra, b: repeat(word, Size::B128), c: 0 };
    let lanes = [lane(0), lane(16), Lane::default(), Lane::default()];
    Step { op: Op::Store as u8, size: Size::B128 as u8, red: true, mask: 3, lanes, ..Step::default() }
}

/// Number of enumerated byte addresses: the 32 of `tiny` and one word beyond.
const ADDRESSES: u32 = 36;

fn addresses(op: Op, size: Size) -> Vec<Step> {
    let mut steps = Vec::new();
    let compares = compares(op);
    let before = repeat(BEFORE, size);
    // Rc of MBAR.TRY_WAIT is its limit. 0 selects the limit of the configuration.
    let left = if op == Op::MbarTryWait { 0 } else { 0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10 };
    let last = if op == Op::MbarTryWait { 0 } else { u128::MAX };
    let expectations: &[u128] = if compares { &[before, left] } else { &[0x7766_5544] };
    for red in [false, true] {
        for mask in 1..4 {
            for at in 0..ADDRESSES * ADDRESSES {
                for &second in expectations {
                    let first = if compares { before } else { left };
                    let lane0 = Lane { ra: at / ADDRESSES, b: first, c: left };
                    let lane1 = Lane { ra: at % ADDRESSES, b: second, c: last };
                    let lanes = [lane0, lane1, Lane::default(), Lane::default()];
                    steps.push(set_all(BEFORE));
                    steps.push(Step { op: op as u8, size: size as u8, red, mask, lanes, slot: 0 });
                }
            }
        }
    }
    steps
}

fn codes() -> Vec<Step> {
    let mut steps = Vec::new();
    for op in 0..32 {
        for size in 0..16 {
            for mask in 0..4 {
                let lanes = [Lane { ra: 16, b: 1, c: 2 }; 4];
                steps.push(set_all(BEFORE));
                steps.push(Step { op, size, mask, lanes, ..Step::default() });
            }
        }
    }
    steps
}

fn values(op: Op, size: Size) -> Vec<Step> {
    let set = match size {
        Size::U64 if op.is_mbarrier() => OBJECTS,
        Size::U64 => PAIRS,
        Size::B128 => QUADS,
        Size::U8 | Size::U16 | Size::U32 | Size::S8 | Size::S16 | Size::S32 => WORDS,
    };
    // Unit that holds the access: the word for bytes and halves.
    let unit = size.bytes().max(4);
    let unit_size = if unit == 4 { Size::U32 } else { size };
    let compares = compares(op);
    let pairs: Vec<(u32, u32)> = if compares || size.bytes() < 4 {
        // One unit, two units of one bank, and two of different banks unless a unit fills a row.
        let seconds: &[u32] = if unit == 16 { &[0, 16] } else { &[0, 16, 16 + unit] };
        seconds.iter().map(|&second| (0, second)).collect()
    } else {
        let units = 0..32 / unit;
        units.clone().flat_map(|a| units.clone().map(move |b| (unit * a, unit * b))).collect()
    };
    let (bs, cs) = match op.row().operands {
        Operands::None => (&set[..1], &set[..1]),
        Operands::B if op.is_mbarrier() && op != Op::MbarInit => (&COUNTS[..], &set[..1]),
        Operands::B => (&set[..], &set[..1]),
        // Parities and limits of a wait. The oracle must not replace these limits by the configuration's.
        Operands::BC if op == Op::MbarTryWait => (&[0, 1 << 31][..], &[0, 1, 5][..]),
        Operands::BC => (&set[..], &set[..]),
    };
    let mut steps = Vec::new();
    for (first, second) in pairs {
        // Both addresses are one unit, so there is one initial value.
        let befores = if second == first { &set[..1] } else { &set[..] };
        for red in [false, true] {
            for &m0 in &set {
                for &m1 in befores {
                    let m1 = if second == first { m0 } else { m1 };
                    let set = [Lane { ra: first, b: m0, c: 0 }, Lane { ra: second, b: m1, c: 0 }];
                    let set = [set[0], set[1], Lane::default(), Lane::default()];
                    let store = Step {
                        op: Op::Store as u8,
                        size: unit_size as u8,
                        red: true,
                        mask: 3,
                        lanes: set,
                        slot: 0,
                    };
                    for &b0 in bs {
                        for &b1 in bs {
                            for &c0 in cs {
                                for &c1 in cs {
                                    let lanes = [
                                        Lane { ra: first, b: b0, c: c0 },
                                        Lane { ra: second, b: b1, c: c1 },
                                        Lane::default(),
                                        Lane::default(),
                                    ];
                                    steps.push(store);
                                    steps.push(Step {
                                        op: op as u8,
                                        size: size as u8,
                                        red,
                                        mask: 3,
                                        lanes,
                                        slot: 0,
                                    });
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    steps
}

/// Instructions enumerated in `tiny`, without the stores before them.
const IN_TINY: u64 = 5_433_800;

#[test]
#[ignore = "nightly: enumerates 5 million instructions"]
fn every_instruction_in_tiny() {
    let named = config("tiny");
    let mut run = Run::new(&named, vec![atoms_tests::bench::whole(&named.config)]);
    run.steps("codes", &codes());
    for (op, size) in instructions() {
        run.steps(&format!("addresses of {op}.{size}"), &addresses(op, size));
        run.steps(&format!("values of {op}.{size}"), &values(op, size));
    }
    assert_eq!(run.expected, 2 * IN_TINY, "the page above says how many");
}

const ALLOCATION: u32 = 48;

fn in_small(op: Op, size: Size) -> Vec<Step> {
    let bytes = size.bytes();
    // Two units of one bank, one of another bank (a quad: of a third row), misaligned, out of range.
    let other = if bytes == 16 { 32 } else { bytes.max(4) };
    let addresses = [0, 16, other, 1, ALLOCATION];
    // Initial memory: objects with two arrivals pending, or zeros.
    let before = if op.is_mbarrier() { TWO_PENDING << 64 | TWO_PENDING } else { 0 };
    let waits = matches!(op, Op::MbarTestWait | Op::MbarTryWait);
    let set = |slot| Step {
        op: Op::Store as u8,
        size: Size::B128 as u8,
        red: true,
        slot,
        mask: 7,
        lanes: [0, 16, 32, 0].map(|ra| Lane { ra, b: before, c: 0 }),
    };
    let mut steps = Vec::new();
    let compares = compares(op);
    // All lanes compare with zero, or each lane with the value that the lane before would leave.
    let chains: &[bool] = if compares { &[false, true] } else { &[true] };
    for red in [false, true] {
        for mask in 1..16 {
            for at in 0..5u32.pow(4) {
                for &chain in chains {
                    let slot = (steps.len() / 2 % 2) as u8;
                    let lane = |l: usize| Lane {
                        ra: addresses[(at / 5u32.pow(l as u32) % 5) as usize],
                        b: match chain {
                            true if waits => (l as u128 & 1) << 31,
                            true => l as u128 + u128::from(!compares),
                            false => 0,
                        },
                        c: l as u128 + 1,
                    };
                    let lanes = std::array::from_fn(lane);
                    steps.push(set(slot));
                    steps.push(Step { op: op as u8, size: size as u8, red, slot, mask, lanes });
                }
            }
        }
    }
    steps
}

/// Instructions enumerated in `small`, without the stores before them.
const IN_SMALL: u64 = (46 + 2 * 10) * 2 * 15 * 625;

#[test]
fn every_instruction_in_small() {
    let named = config("small");
    let allocation = |slot, base| AllocationWrite { slot, enable: true, base, size: ALLOCATION, rank: 0 };
    let mut run = Run::new(&named, vec![allocation(0, 0), allocation(1, 4)]);
    for (op, size) in instructions() {
        run.steps(&format!("{op}.{size}"), &in_small(op, size));
    }
    assert_eq!(run.expected, 2 * IN_SMALL, "the page above says how many");
}
