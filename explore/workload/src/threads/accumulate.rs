//! Accumulation without a suitable atomic: a loop of load, add in registers, and compare-and-store (spec
//! 7.2).

use atoms_ops::{Op, Size};
use half::f16;
use rand::{Rng, RngExt};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::draw::generators;
use crate::parameter::{named_values, parameters};
use crate::program::{
    Answer, Next, Placement, Remaining, SetUp, Threads, WarpPort, WarpProgram, WorkCounts, WorkloadError,
    lanes_of,
};

named_values! {
    Storing {
        /// CAS: its result is the next value to add to.
        Cas "cas";
        /// CAST: a load gets the next value to add to.
        Cast "cast";
        /// CAST.SPIN: a load gets the next value to add to.
        CastSpin "cast.spin";
        /// A single ADD of the bits as integers: models a unit that adds the type directly.
        Add "add";
    }
}

named_values! {
    Type {
        F32 "f32";
        F16x2 "f16x2";
        U64 "u64";
    }
}

impl Type {
    fn size(self) -> Size {
        match self {
            Type::F32 | Type::F16x2 => Size::U32,
            Type::U64 => Size::U64,
        }
    }

    /// Adds two values. Sums of floats are rounded to nearest even.
    fn add(self, a: u64, b: u64) -> u64 {
        match self {
            Type::F32 => (f32::from_bits(a as u32) + f32::from_bits(b as u32)).to_bits().into(),
            Type::F16x2 => {
                let halves = |shift: u32| {
                    // Double rounding is harmless: f32 has enough bits for a correctly rounded f16 sum.
                    let [a, b] = [a, b].map(|word| f16::from_bits((word >> shift) as u16).to_f32());
                    u64::from(f16::from_f32(a + b).to_bits()) << shift
                };
                halves(0) | halves(16)
            }
            Type::U64 => a.wrapping_add(b),
        }
    }

    fn draw(self, rng: &mut Xoshiro256PlusPlus) -> u64 {
        match self {
            Type::F32 => (rng.random_range(-1.0..1.0_f32)).to_bits().into(),
            Type::F16x2 => {
                let half = |bits: u64| u64::from(f16::from_f32(bits as u8 as i8 as f32 / 128.0).to_bits());
                let bits = rng.next_u64();
                half(bits) | half(bits >> 8) << 16
            }
            Type::U64 => rng.next_u64(),
        }
    }
}

parameters! {
    /// Parameters of accumulation.
    Accumulate {
        /// Method: cas adds to its result, cast and cast.spin load first; add is one ADD, as if the unit added floats.
        method: Storing = Storing::CastSpin, ();
        /// Type of the values.
        of: Type = Type::F32, ();
        /// Threads that add to one accumulator; 0: all of them.
        contention: u32 = 4, 0..=2048;
    }
    no_effect |own| {
        "compute" if own.method == Storing::Add => "set `method` to cas, cast or cast.spin";
    }
}

impl Accumulate {
    pub(crate) fn program(&self, set_up: &SetUp<'_>) -> Result<AccumulateProgram, WorkloadError> {
        let SetUp { threads, units, config, seed, .. } = *set_up;
        let help = "use fewer `warps` or `lanes`, or increase `contention`";
        let accumulators = threads.objects(self.contention);
        if self.method == Storing::Add && self.of.size() != Size::U32 {
            return Err(WorkloadError::Combination(
                "method=add adds words of 32 bits; set `of` to f32 or f16x2".into(),
            ));
        }
        let words = u64::from(accumulators) * u64::from(self.of.size().bytes() / 4);
        let base = Placement::new(config).words(words, "the accumulators", help)?;
        let mut program = AccumulateProgram {
            settings: *self,
            threads,
            base,
            generators: generators(seed, threads.warps),
            remaining: Remaining::new(threads, units),
            state: vec![AccumulateState { step: AccumulateStep::Load, pending: 0 }; threads.warps],
            adding: vec![Adding::default(); threads.count() as usize],
            serial: vec![0; accumulators as usize],
            wrong: None,
        };
        (0..threads.warps).for_each(|warp| program.begin(warp));
        Ok(program)
    }
}

#[derive(Clone, Copy, Debug)]
enum AccumulateStep {
    Load,
    Store,
}

#[derive(Clone, Copy, Debug)]
struct AccumulateState {
    step: AccumulateStep,
    /// Lanes that have not stored their sum yet.
    pending: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Adding {
    value: u64,
    /// `old`: value found in memory. `new`: value to store in its place.
    old: u64,
    new: u64,
}

#[derive(Debug)]
pub(crate) struct AccumulateProgram {
    settings: Accumulate,
    threads: Threads,
    base: u32,
    generators: Vec<Xoshiro256PlusPlus>,
    remaining: Remaining,
    state: Vec<AccumulateState>,
    /// State of each thread.
    adding: Vec<Adding>,
    /// Expected sum of each accumulator, added up in the order of the stores.
    serial: Vec<u64>,
    wrong: Option<String>,
}

impl AccumulateProgram {
    /// Draws the values of a warp's next unit of work.
    fn begin(&mut self, warp: usize) {
        let lanes = self.threads.mask();
        for lane in lanes_of(lanes) {
            let value = self.settings.of.draw(&mut self.generators[warp]);
            self.adding[self.threads.number(warp, lane) as usize].value = value;
        }
        let step =
            if self.settings.method == Storing::Add { AccumulateStep::Store } else { AccumulateStep::Load };
        self.state[warp] = AccumulateState { step, pending: lanes };
    }

    fn accumulator(&self, thread: u32) -> (usize, u32) {
        let at = self.threads.object(self.settings.contention, thread);
        (at as usize, self.base + self.settings.of.size().bytes() * at)
    }

    /// Adds the values of the lanes in `stored` to the expected sums.
    fn stored(&mut self, warp: usize, stored: u32) {
        if self.settings.method == Storing::Add {
            for lane in lanes_of(stored) {
                let thread = self.threads.number(warp, lane);
                let at = self.accumulator(thread).0;
                let sum = (self.serial[at] as u32).wrapping_add(self.adding[thread as usize].value as u32);
                self.serial[at] = sum.into();
            }
            return;
        }
        // First take the lanes whose store did not change the sum: such a store does not make other lanes of
        // the request fail.
        for changes in [false, true] {
            for lane in lanes_of(stored) {
                let thread = self.threads.number(warp, lane);
                let Adding { value, old, new } = self.adding[thread as usize];
                if (old != new) != changes {
                    continue;
                }
                let at = self.accumulator(thread).0;
                let serial = &mut self.serial[at];
                if *serial != old {
                    let found = *serial;
                    self.wrong.get_or_insert_with(|| {
                        format!(
                            "lane {lane} of warp {warp} expected {old:#x} when it stored to accumulator {at}, which held \
                             {found:#x}"
                        )
                    });
                }
                self.serial[at] = self.settings.of.add(self.serial[at], value);
            }
        }
    }
}

impl WarpProgram for AccumulateProgram {
    fn offer(&mut self, warp: usize, port: &mut WarpPort<'_>) {
        let AccumulateState { step, pending } = self.state[warp];
        let op = match (step, self.settings.method) {
            (AccumulateStep::Load, _) => Op::Load,
            (AccumulateStep::Store, Storing::Cas) => Op::Cas,
            (AccumulateStep::Store, Storing::Cast) => Op::Cast,
            (AccumulateStep::Store, Storing::CastSpin) => Op::CastSpin,
            (AccumulateStep::Store, Storing::Add) => Op::Add,
        };
        port.ask(op, self.settings.of.size(), pending);
        for lane in lanes_of(pending) {
            let thread = self.threads.number(warp, lane);
            let Adding { value, old, new } = self.adding[thread as usize];
            let (b, c) = if op == Op::Add { (value, 0) } else { (old, new) };
            port.lane(lane, self.accumulator(thread).1, b.into(), c.into());
        }
    }

    fn answered(&mut self, warp: usize, answer: &Answer<'_>, counts: &mut WorkCounts) -> Next {
        let AccumulateState { step, mut pending } = self.state[warp];
        let mut looks = true;
        if let AccumulateStep::Store = step {
            let stored = if self.settings.method == Storing::Add { pending } else { answer.pred & pending };
            counts.tried(pending, stored);
            counts.units += u64::from(stored.count_ones());
            self.stored(warp, stored);
            pending &= !stored;
            looks = self.settings.method == Storing::Cas;
        }
        if pending == 0 {
            let next = self.remaining.next(warp, 0);
            self.state[warp].pending = 0;
            if next != Next::Done {
                self.begin(warp);
            }
            return next;
        }
        if looks {
            let of = self.settings.of;
            for lane in lanes_of(pending) {
                let adding = &mut self.adding[self.threads.number(warp, lane) as usize];
                adding.old = answer.rd[lane] as u64;
                adding.new = of.add(adding.old, adding.value);
            }
        }
        self.state[warp] = AccumulateState {
            step: if looks { AccumulateStep::Store } else { AccumulateStep::Load },
            pending,
        };
        Next::Dependent
    }

    fn waits_for(&self, warp: usize) -> String {
        let pending = self.state[warp].pending;
        let (at, address) =
            self.accumulator(self.threads.number(warp, pending.trailing_zeros() as usize & 31));
        format!("lanes {pending:#x} try to store, the first to accumulator {at} at {address:#x}")
    }

    fn check(&self, word: &dyn Fn(u32) -> u32) -> Result<(), String> {
        self.wrong.clone().map_or(Ok(()), Err)?;
        for (at, serial) in (0_u32..).zip(&self.serial) {
            let bytes = self.settings.of.size().bytes();
            let address = self.base + bytes * at;
            let high = if bytes == 8 { word(address + 4) } else { 0 };
            let found = u64::from(high) << 32 | u64::from(word(address));
            if found != *serial {
                return Err(format!("accumulator {at} is {found:#x}, expected the sum {serial:#x}"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_the_type() {
        #[rustfmt::skip]
        const CASES: &[(&str, Type, u64, u64, u64)] = &[
            // rule                                  type         a                      b            sum
            ("f32: 1 + 2",                           Type::F32,   0x3f80_0000,           0x4000_0000, 0x4040_0000),
            ("f32: 2^24 + 1 is rounded to even",     Type::F32,   0x4b80_0000,           0x3f80_0000, 0x4b80_0000),
            ("f16x2: 1 + 1, and 2048 + 1 is even",   Type::F16x2, 0x6800_3c00,           0x3c00_3c00, 0x6800_4000),
            ("f16x2: 2050 + 1 is rounded to even",   Type::F16x2, 0x6801,                0x3c00,      0x6802),
            ("f16x2: subnormals stay",               Type::F16x2, 0x0001_0001,           0x0001_0000, 0x0002_0001),
            ("u64: carries, and wraps",              Type::U64,   0xffff_ffff_ffff_ffff, 2,           1),
        ];
        for (rule, of, a, b, sum) in CASES {
            assert_eq!(of.add(*a, *b), *sum, "{rule}");
        }
    }
}
