//! A reduction: values of all lanes are added up in shared memory.

use atoms_model::Config;
use atoms_ops::{Op, Size};
use rand::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::draw::generators;
use super::parameter::{named_values, parameters};
use super::program::{
    Answer, Next, Placement, Threads, WarpPort, WarpProgram, WorkCounts, WorkloadError, lanes_of,
};

named_values! {
    /// Where values of a warp meet.
    Meeting {
        /// In the unit: each lane adds its own.
        Unit "unit";
        /// In registers: one lane adds what the warp's come to.
        Warp "warp";
    }
}

parameters! {
    /// Of a reduction.
    Reduction {
        /// Where values of a warp meet: in the unit, each lane adding its own, or before, in log2(lanes) steps of `compute`.
        meet: Meeting = Meeting::Unit, ();
        /// Threads that share an accumulator; 0: all of them.
        contention: u32 = 0, 0..=2048;
    }
    no_effect |own| {
        "compute" if own.meet == Meeting::Unit => "set `meet=warp`";
    }
}

impl Reduction {
    pub(super) fn program(
        &self,
        threads: Threads,
        units: u32,
        config: &Config,
        seed: u64,
        compute: u32,
    ) -> Result<ReductionProgram, WorkloadError> {
        let accumulators = threads.objects(self.contention);
        let help = "have fewer `warps` or `lanes`, or more `contention`";
        let base = Placement::new(config).words(accumulators.into(), "the accumulators", help)?;
        let steps = match self.meet {
            Meeting::Unit => 0,
            Meeting::Warp => threads.lanes.next_power_of_two().ilog2(),
        };
        Ok(ReductionProgram {
            settings: *self,
            threads,
            base,
            steps: steps * compute,
            generators: generators(seed, threads.warps),
            left: vec![units; threads.warps],
            expected: vec![0; accumulators as usize],
        })
    }
}

#[derive(Debug)]
pub(super) struct ReductionProgram {
    settings: Reduction,
    threads: Threads,
    base: u32,
    /// Cycles in which a warp reduces its values in registers.
    steps: u32,
    generators: Vec<Xoshiro256PlusPlus>,
    left: Vec<u32>,
    expected: Vec<u32>,
}

impl WarpProgram for ReductionProgram {
    fn memory(&self) -> &[(u32, u32)] {
        &[]
    }

    fn offer(&mut self, warp: usize, port: &mut WarpPort<'_>) {
        let mut first = 0;
        let lanes = self.threads.mask();
        let meet = self.settings.meet;
        port.post(Op::Add, Size::U32, if meet == Meeting::Unit { lanes } else { 1 });
        for lane in lanes_of(lanes) {
            let value = self.generators[warp].next_u32();
            let thread = self.threads.number(warp, if meet == Meeting::Unit { lane } else { 0 });
            let at = self.threads.object(self.settings.contention, thread);
            self.expected[at as usize] = self.expected[at as usize].wrapping_add(value);
            match meet {
                Meeting::Unit => port.lane(lane, self.base + 4 * at, value.into(), 0),
                Meeting::Warp => {
                    first = value.wrapping_add(first);
                    port.lane(0, self.base + 4 * at, first.into(), 0);
                }
            }
        }
    }

    fn answered(&mut self, warp: usize, _: &Answer<'_>, counts: &mut WorkCounts) -> Next {
        counts.units += u64::from(self.threads.lanes);
        self.left[warp] -= 1;
        if self.left[warp] == 0 { Next::Done } else { Next::Unit(self.steps) }
    }

    fn waits_for(&self, warp: usize) -> String {
        format!("has {} values a lane to add", self.left[warp])
    }

    fn check(&self, word: &dyn Fn(u32) -> u32) -> Result<(), String> {
        for (at, expected) in (0..).zip(&self.expected) {
            let found = word(self.base + 4 * at);
            if found != *expected {
                return Err(format!(
                    "accumulator {at} is {found:#x}, and its values add up to {expected:#x}"
                ));
            }
        }
        Ok(())
    }
}
