//! Histogram and reduction: sums in shared memory, whose requests depend on no answer.

use atoms_ops::{Op, Size};
use rand::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::draw::{Distribution, generators, photograph, zipf};
use crate::parameter::{named_values, parameters};
use crate::program::{
    Answer, Next, Placement, Remaining, SetUp, Threads, WarpPort, WarpProgram, WorkCounts, WorkloadError,
    lanes_of,
};

named_values! {
    Spread {
        Uniform "uniform";
        Zipf "zipf";
        /// Grey levels of a photograph.
        Image "image";
    }
}

named_values! {
    Counting {
        /// POPC.INC, which merges lanes of one bin.
        PopcInc "popc.inc";
        /// ADD without a result.
        Add "add";
        /// ADD with a result.
        AddReturning "add.return";
    }
}

named_values! {
    Meeting {
        /// In the unit: each lane sends its own value.
        Unit "unit";
        /// In registers: one lane adds the sum of the warp.
        Warp "warp";
    }
}

parameters! {
    /// Parameters of a histogram: each lane counts elements by an atomic on the element's bin.
    Histogram {
        /// Number of bins.
        bins: u32 = 256, 1..=65536;
        /// Distribution of the elements over the bins; image: grey levels of a photograph.
        spread: Spread = Spread::Uniform, ();
        /// Exponent of Zipf's law, for `spread=zipf`: 0 is uniform; a larger value prefers few bins.
        s: f64 = 1.0, 0.0..=4.0;
        /// Number of neighbouring lanes with the same bin, like neighbouring pixels.
        run: u32 = 1, 1..=32;
        /// Operation that counts an element.
        method: Counting = Counting::PopcInc, ();
        /// Copies of the histogram; lanes take the copies in turn.
        copies: u32 = 1, 1..=32;
        /// Words between copies; moves the bins of a copy to other banks.
        padding: u32 = 0, 0..=64;
    }
    no_effect |own| {
        "s" if own.spread != Spread::Zipf => "set `spread=zipf`";
        "padding" if own.copies == 1 => "set `copies` to 2 or more";
        "compute" if true => "choose a workload whose requests depend on answers";
    }
}

parameters! {
    /// Parameters of a reduction: values of all lanes are added up.
    Reduction {
        /// Adder of a warp's values: unit: one add per lane; warp: registers, in log2(lanes) steps of `compute`.
        meet: Meeting = Meeting::Unit, ();
        /// Threads that share an accumulator; 0: all of them.
        contention: u32 = 0, 0..=2048;
    }
    no_effect |own| {
        "compute" if own.meet == Meeting::Unit => "set `meet=warp`";
    }
}

impl Histogram {
    pub(crate) fn program(&self, set_up: &SetUp<'_>) -> Result<SumProgram, WorkloadError> {
        let SetUp { threads, config, seed, .. } = *set_up;
        let words = u64::from(self.bins + self.padding) * u64::from(self.copies);
        let base = Placement::new(config).words(words, "the bins", "use fewer `bins` or `copies`")?;
        let mut generators = generators(seed, threads.warps + 1);
        let weights = match self.spread {
            Spread::Uniform => vec![1.0; self.bins as usize],
            Spread::Zipf => zipf(self.bins, self.s, &mut generators[threads.warps]),
            Spread::Image => photograph(self.bins),
        };
        let adds = Adds::Elements { settings: *self, bins: Distribution::new(&weights) };
        Ok(SumProgram::new(adds, set_up, base, generators, self.bins))
    }

    /// Returns the byte offset of a bin in a copy; the first copy is at `base`.
    fn address(&self, base: u32, copy: u32, bin: u32) -> u32 {
        base + 4 * (copy * (self.bins + self.padding) + bin)
    }
}

impl Reduction {
    pub(crate) fn program(&self, set_up: &SetUp<'_>) -> Result<SumProgram, WorkloadError> {
        let SetUp { threads, config, seed, compute, .. } = *set_up;
        let accumulators = threads.objects(self.contention);
        let help = "use fewer `warps` or `lanes`, or increase `contention`";
        let base = Placement::new(config).words(accumulators.into(), "the accumulators", help)?;
        let steps = match self.meet {
            Meeting::Unit => 0,
            Meeting::Warp => threads.lanes.next_power_of_two().ilog2(),
        };
        let adds = Adds::Values { settings: *self, cycles: steps * compute };
        Ok(SumProgram::new(adds, set_up, base, generators(seed, threads.warps), accumulators))
    }
}

#[derive(Debug)]
enum Adds {
    Elements {
        settings: Histogram,
        bins: Distribution,
    },
    Values {
        settings: Reduction,
        /// Cycles in which a warp reduces its values in registers.
        cycles: u32,
    },
}

#[derive(Debug)]
pub(crate) struct SumProgram {
    adds: Adds,
    threads: Threads,
    base: u32,
    generators: Vec<Xoshiro256PlusPlus>,
    remaining: Remaining,
    /// Expected sum of each bin or accumulator.
    expected: Vec<u32>,
}

impl SumProgram {
    fn new(
        adds: Adds,
        set_up: &SetUp<'_>,
        base: u32,
        generators: Vec<Xoshiro256PlusPlus>,
        sums: u32,
    ) -> Self {
        let SetUp { threads, units, .. } = *set_up;
        let (remaining, expected) = (Remaining::new(threads, units), vec![0; sums as usize]);
        SumProgram { adds, threads, base, generators, remaining, expected }
    }
}

impl WarpProgram for SumProgram {
    fn offer(&mut self, warp: usize, port: &mut WarpPort<'_>) {
        let (lanes, mut rng) = (self.threads.mask(), self.generators[warp].clone());
        let mut expect = |at: u32, value: u32| {
            let expected = &mut self.expected[at as usize];
            *expected = expected.wrapping_add(value);
        };
        match &self.adds {
            Adds::Elements { settings, bins } => {
                match settings.method {
                    Counting::PopcInc => port.post(Op::PopcInc, Size::U32, lanes),
                    Counting::Add => port.post(Op::Add, Size::U32, lanes),
                    Counting::AddReturning => port.ask(Op::Add, Size::U32, lanes),
                }
                let mut bin = 0;
                for lane in lanes_of(lanes) {
                    if (lane as u32).is_multiple_of(settings.run) {
                        bin = bins.draw(&mut rng);
                    }
                    expect(bin, 1);
                    port.lane(lane, settings.address(self.base, lane as u32 % settings.copies, bin), 1, 0);
                }
            }
            Adds::Values { settings: Reduction { meet, contention }, .. } => {
                let in_unit = *meet == Meeting::Unit;
                port.post(Op::Add, Size::U32, if in_unit { lanes } else { 1 });
                let mut sum = 0_u32;
                for lane in lanes_of(lanes) {
                    let value = rng.next_u32();
                    sum = if in_unit { value } else { sum.wrapping_add(value) };
                    let lane = if in_unit { lane } else { 0 };
                    let at = self.threads.object(*contention, self.threads.number(warp, lane));
                    expect(at, value);
                    port.lane(lane, self.base + 4 * at, sum.into(), 0);
                }
            }
        }
        self.generators[warp] = rng;
    }

    fn answered(&mut self, warp: usize, _: &Answer<'_>, counts: &mut WorkCounts) -> Next {
        counts.units += u64::from(self.threads.lanes);
        let compute = if let Adds::Values { cycles, .. } = self.adds { cycles } else { 0 };
        self.remaining.next(warp, compute)
    }

    fn waits_for(&self, warp: usize) -> String {
        let left = self.remaining.of(warp);
        match self.adds {
            Adds::Elements { .. } => format!("has {left} elements per lane left to count"),
            Adds::Values { .. } => format!("has {left} values per lane left to add"),
        }
    }

    fn check(&self, word: &dyn Fn(u32) -> u32) -> Result<(), String> {
        for (at, expected) in (0..).zip(&self.expected) {
            let found = match &self.adds {
                Adds::Elements { settings, .. } => (0..settings.copies)
                    .map(|copy| word(settings.address(self.base, copy, at)))
                    .fold(0, u32::wrapping_add),
                Adds::Values { .. } => word(self.base + 4 * at),
            };
            if found != *expected {
                return Err(match self.adds {
                    Adds::Elements { .. } => {
                        format!("bin {at} has count {found}, expected {expected}")
                    }
                    Adds::Values { .. } => {
                        format!("accumulator {at} is {found:#x}, expected the sum {expected:#x}")
                    }
                });
            }
        }
        Ok(())
    }
}
