//! A histogram: each lane counts elements, by an atomic on the bin of each.

use atoms_model::Config;
use atoms_ops::{Op, Size};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::draw::{Distribution, generators, photograph, zipf};
use super::parameter::{named_values, parameters};
use super::program::{
    Answer, Next, Placement, Threads, WarpPort, WarpProgram, WorkCounts, WorkloadError, lanes_of,
};

named_values! {
    /// How often each bin is met.
    Spread {
        Uniform "uniform";
        Zipf "zipf";
        /// As the grey levels of a photograph.
        Image "image";
    }
}

named_values! {
    /// What counts.
    Counting {
        /// POPC.INC, which joins lanes of one bin.
        PopcInc "popc.inc";
        /// ADD without a result.
        Add "add";
        /// ADD with a result.
        AddReturning "add.return";
    }
}

parameters! {
    /// Of a histogram.
    Histogram {
        /// Bins.
        bins: u32 = 256, 1..=65536;
        /// How often each bin is met; image: as grey levels of a photograph.
        spread: Spread = Spread::Uniform, ();
        /// Exponent of Zipf's law, with `spread=zipf` alone: 0 is uniform, and the larger, the more meet in few bins.
        s: f64 = 1.0, 0.0..=4.0;
        /// Lanes in a row that meet one bin, as neighbouring pixels do.
        run: u32 = 1, 1..=32;
        /// What counts.
        method: Counting = Counting::PopcInc, ();
        /// Copies of the histogram, for one lane after the other.
        copies: u32 = 1, 1..=32;
        /// Words between copies, which move their bins to other banks.
        padding: u32 = 0, 0..=64;
    }
    no_effect |own| {
        "s" if own.spread != Spread::Zipf => "set `spread=zipf`";
        "padding" if own.copies == 1 => "set `copies` to 2 or more";
        "compute" if true => "choose a workload whose requests depend on answers";
    }
}

impl Histogram {
    pub(super) fn program(
        &self,
        threads: Threads,
        units: u32,
        config: &Config,
        seed: u64,
    ) -> Result<HistogramProgram, WorkloadError> {
        let stride = self.bins + self.padding;
        let words = u64::from(stride) * u64::from(self.copies);
        let base = Placement::new(config).words(words, "the bins", "have fewer `bins` or `copies`")?;
        let mut generators = generators(seed, threads.warps + 1);
        let weights = match self.spread {
            Spread::Uniform => vec![1.0; self.bins as usize],
            Spread::Zipf => zipf(self.bins, self.s, &mut generators[threads.warps]),
            Spread::Image => photograph(self.bins),
        };
        Ok(HistogramProgram {
            settings: *self,
            threads,
            base,
            distribution: Distribution::new(&weights),
            generators,
            left: vec![units; threads.warps],
            expected: vec![0; self.bins as usize],
        })
    }
}

#[derive(Debug)]
pub(super) struct HistogramProgram {
    settings: Histogram,
    threads: Threads,
    base: u32,
    distribution: Distribution,
    generators: Vec<Xoshiro256PlusPlus>,
    /// Elements that each lane of a warp has yet to count.
    left: Vec<u32>,
    /// Elements of each bin, as drawn.
    expected: Vec<u32>,
}

impl HistogramProgram {
    fn address(&self, copy: u32, bin: u32) -> u32 {
        self.base + 4 * (copy * (self.settings.bins + self.settings.padding) + bin)
    }
}

impl WarpProgram for HistogramProgram {
    fn memory(&self) -> &[(u32, u32)] {
        &[]
    }

    fn offer(&mut self, warp: usize, port: &mut WarpPort<'_>) {
        let lanes = self.threads.mask();
        match self.settings.method {
            Counting::PopcInc => port.post(Op::PopcInc, Size::U32, lanes),
            Counting::Add => port.post(Op::Add, Size::U32, lanes),
            Counting::AddReturning => port.ask(Op::Add, Size::U32, lanes),
        }
        let Histogram { run, copies, .. } = self.settings;
        let (mut bin, mut rng) = (0, self.generators[warp].clone());
        for lane in lanes_of(lanes) {
            if (lane as u32).is_multiple_of(run) {
                bin = self.distribution.draw(&mut rng);
            }
            self.expected[bin as usize] = self.expected[bin as usize].wrapping_add(1);
            port.lane(lane, self.address(lane as u32 % copies, bin), 1, 0);
        }
        self.generators[warp] = rng;
    }

    fn answered(&mut self, warp: usize, _: &Answer<'_>, counts: &mut WorkCounts) -> Next {
        counts.units += u64::from(self.threads.lanes);
        self.left[warp] -= 1;
        if self.left[warp] == 0 { Next::Done } else { Next::Unit(0) }
    }

    fn waits_for(&self, warp: usize) -> String {
        format!("has {} elements a lane to count", self.left[warp])
    }

    fn check(&self, word: &dyn Fn(u32) -> u32) -> Result<(), String> {
        for (bin, expected) in (0..).zip(&self.expected) {
            let copies = 0..self.settings.copies;
            let found = copies.fold(0_u32, |sum, copy| sum.wrapping_add(word(self.address(copy, bin))));
            if found != *expected {
                return Err(format!("bin {bin} counts {found}, and {expected} elements fell into it"));
            }
        }
        Ok(())
    }
}
