//! Random inputs of cases.

use atoms_ops::{Op, Size};
use fastrand::Rng;

use crate::bytes::{low, number, value_at};
use crate::instruction::{LaneOperands, Meaning, TestInstruction};
use crate::program::{LANES, ProgramStep, Steps};
use crate::value::Update;
use crate::value::ValueType;

/// Words of memory per case: four rows of 32 banks.
pub const WORDS: u32 = 128;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    Apart,
    One,
    /// Each lane accesses one of this many random addresses.
    Few(u32),
    OneBank,
    Any,
}

#[derive(Clone, Debug)]
pub struct DrawnRequest {
    pub active: [bool; LANES],
    /// Byte offset of each lane.
    pub offset: [u32; LANES],
    pub b: [u128; LANES],
    pub c: [u128; LANES],
}

impl Default for DrawnRequest {
    fn default() -> DrawnRequest {
        DrawnRequest { active: [false; LANES], offset: [0; LANES], b: [0; LANES], c: [0; LANES] }
    }
}

pub struct DrawnCase {
    pub memory: Vec<u32>,
    pub requests: Vec<DrawnRequest>,
}

impl DrawnCase {
    /// Appends the bytes of the case in the layout of [`Steps`].
    pub fn pack(&self, steps: &[ProgramStep], into: &mut Vec<u8>) {
        into.extend(self.memory.iter().flat_map(|word| word.to_le_bytes()));
        for (request, step) in self.requests.iter().zip(steps) {
            let bytes = step.operand_bytes();
            for lane in 0..LANES {
                let start = into.len();
                into.extend(request.offset[lane].to_le_bytes());
                into.extend(u32::from(request.active[lane]).to_le_bytes());
                into.resize(start + bytes, 0);
                into.extend(&request.b[lane].to_le_bytes()[..bytes]);
                into.extend(&request.c[lane].to_le_bytes()[..bytes]);
            }
        }
    }

    pub fn unpack(steps: &Steps, bytes: &[u8]) -> DrawnCase {
        let word = |at: usize| number(&bytes[at..at + 4]) as u32;
        let memory = (0..steps.words as usize).map(|w| word(4 * w)).collect();
        let request = |(index, step): (usize, &ProgramStep)| {
            let wide = step.operand_bytes();
            let value = |at: usize| number(&bytes[at..at + wide]);
            let place = |lane: usize| steps.record(index).start + lane * step.record_bytes();
            DrawnRequest {
                active: std::array::from_fn(|lane| word(place(lane) + 4) != 0),
                offset: std::array::from_fn(|lane| word(place(lane))),
                b: std::array::from_fn(|lane| value(place(lane) + wide)),
                c: std::array::from_fn(|lane| value(place(lane) + 2 * wide)),
            }
        };
        DrawnCase { memory, requests: steps.steps.iter().enumerate().map(request).collect() }
    }
}

/// Draws a case in which every step is `instruction`. Floats on shared addresses are small integers, so their
/// sum does not depend on the order.
pub fn case(rng: &mut Rng, instruction: &TestInstruction, steps: usize) -> DrawnCase {
    let patterns = [Pattern::Apart, Pattern::One, Pattern::Few(3), Pattern::OneBank, Pattern::Any];
    let pattern = patterns[rng.usize(..patterns.len())];
    let alone = pattern == Pattern::Apart && rng.bool();
    let values = Values { instruction, alone };
    let memory = values.memory(rng);
    let requests = (0..steps).map(|_| request(rng, instruction, pattern, &values, &memory)).collect();
    DrawnCase { memory, requests }
}

fn request(
    rng: &mut Rng,
    instruction: &TestInstruction,
    pattern: Pattern,
    values: &Values<'_>,
    memory: &[u32],
) -> DrawnRequest {
    let bytes = instruction.bytes();
    let places = 4 * WORDS / bytes;
    let active = mask(rng);
    let one = rng.u32(..places);
    let mut own: Vec<u32> = (0..places).collect();
    rng.shuffle(&mut own);
    // Addresses, in multiples of `bytes`, whose first word is in the same bank as the first word of address
    // `one`.
    let in_bank = |place: &u32| (place * bytes / 4) % 32 == (one * bytes / 4) % 32;
    let banked: Vec<u32> = own.iter().copied().filter(in_bank).collect();
    let mut request = DrawnRequest {
        active: std::array::from_fn(|lane| active >> lane & 1 == 1),
        ..DrawnRequest::default()
    };
    for lane in 0..LANES {
        let place = match pattern {
            Pattern::Apart => own[lane % own.len()],
            Pattern::One => one,
            Pattern::Few(n) => own[rng.usize(..n as usize)],
            Pattern::OneBank => banked[lane % banked.len()],
            Pattern::Any => rng.u32(..places),
        };
        if !request.active[lane] {
            continue;
        }
        request.offset[lane] = place * bytes;
        let there = value_at(memory, place * bytes, bytes);
        (request.b[lane], request.c[lane]) = values.operands(rng, there);
    }
    request
}

fn mask(rng: &mut Rng) -> u32 {
    match rng.u32(..8) {
        0..=2 => u32::MAX,
        3 => 1 << rng.u32(..32),
        4 => 0x5555_5555,
        5 => 0xffff,
        _ => rng.u32(..),
    }
}

struct Values<'a> {
    instruction: &'a TestInstruction,
    /// True if no two lanes share an address. Then the order of additions has no effect, and any float is
    /// allowed.
    alone: bool,
}

impl Values<'_> {
    fn memory(&self, rng: &mut Rng) -> Vec<u32> {
        let Meaning::Loop { update: Update::Add, value } = self.instruction.meaning else {
            return (0..WORDS).map(|_| edge(rng, 32) as u32).collect();
        };
        let mut bytes = Vec::new();
        while bytes.len() < 4 * WORDS as usize {
            let element = self.float(rng, value);
            bytes.extend(&element.to_le_bytes()[..value.bytes() as usize]);
        }
        bytes.chunks_exact(4).map(|word| number(word) as u32).collect()
    }

    fn float(&self, rng: &mut Rng, value: ValueType) -> u64 {
        if self.alone && rng.bool() {
            edge(rng, 8 * value.bytes()) as u64
        } else {
            value.of_small(rng.i8(-8..=8))
        }
    }

    /// Draws Rb and Rc of a lane. `there` is the initial value at the lane's address.
    fn operands(&self, rng: &mut Rng, there: u128) -> (u128, u128) {
        if self.instruction.operand == LaneOperands::One {
            return (1, 0);
        }
        match self.instruction.meaning {
            Meaning::Loop { update: Update::Add, value } => (self.float(rng, value).into(), 0),
            Meaning::Unit { op: Op::Cas, .. } | Meaning::Loop { update: Update::Cas, .. } => {
                let bits = 8 * self.instruction.bytes();
                // Half of the lanes compare with the initial value, so that chains of successful stores
                // occur.
                let b = if rng.bool() { there } else { edge(rng, bits) };
                (b, if rng.bool() { there.wrapping_add(1) & low(bits) } else { edge(rng, bits) })
            }
            Meaning::Unit { size: Size::U8, .. } => (edge(rng, 8), 0),
            _ => (edge(rng, 8 * self.instruction.bytes()), 0),
        }
    }
}

/// Draws a corner value (0, all ones, or next to the sign bit), a value below 8, or a random value.
fn edge(rng: &mut Rng, bits: u32) -> u128 {
    let top = 1u128 << (bits - 1);
    let value = match rng.u32(..8) {
        0 => 0,
        1 => u128::MAX,
        2 => top,
        3 => top - 1,
        4 | 5 => u128::from(rng.u32(..8)),
        _ => u128::from(rng.u64(..)) << 64 | u128::from(rng.u64(..)),
    };
    value & low(bits)
}
