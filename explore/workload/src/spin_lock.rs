//! A spin lock: a word that is stored by compare-and-store when it is free.

use atoms_model::Config;
use atoms_ops::{Op, Size};

use super::critical::Guarded;
use super::parameter::{named_values, parameters};
use super::program::{
    Answer, Next, Placement, Threads, WarpPort, WarpProgram, WorkCounts, WorkloadError, lanes_of, lanes_where,
};

named_values! {
    /// How a lock is taken.
    Taking {
        Cas "cas";
        Cast "cast";
        CastSpin "cast.spin";
        Exch "exch";
    }
}

parameters! {
    /// Of a spin lock.
    SpinLock {
        /// How it is taken.
        method: Taking = Taking::CastSpin, ();
        /// Threads that share a lock; 0: all of them.
        contention: u32 = 0, 0..=2048;
        /// Cycles that a warp waits after a try in vain, beside `compute`.
        backoff: u32 = 0, 0..=10000;
    }
}

impl SpinLock {
    pub(super) fn program(
        &self,
        threads: Threads,
        units: u32,
        config: &Config,
    ) -> Result<SpinLockProgram, WorkloadError> {
        let help = "have fewer `warps` or `lanes`, or more `contention`";
        let locks = threads.objects(self.contention);
        let mut placement = Placement::new(config);
        Ok(SpinLockProgram {
            settings: *self,
            threads,
            base: placement.words(locks.into(), "the locks", help)?,
            guarded: Guarded::new(threads, locks, &mut placement, help)?,
            memory: Vec::new(),
            sections: u64::from(threads.count()) * u64::from(units),
            left: vec![units; threads.warps],
            state: vec![State { step: Step::Take, wanting: threads.mask(), inside: 0 }; threads.warps],
        })
    }
}

/// What a warp does with the lanes concerned.
#[derive(Clone, Copy, Debug)]
enum Step {
    Take,
    Load,
    Store,
    Release,
}

#[derive(Clone, Copy, Debug)]
struct State {
    step: Step,
    /// Lanes that have yet to be let in, in this unit of work.
    wanting: u32,
    /// Lanes that hold a lock.
    inside: u32,
}

#[derive(Debug)]
pub(super) struct SpinLockProgram {
    settings: SpinLock,
    threads: Threads,
    base: u32,
    guarded: Guarded,
    memory: Vec<(u32, u32)>,
    sections: u64,
    left: Vec<u32>,
    state: Vec<State>,
}

impl SpinLockProgram {
    /// Thread and lock of a lane.
    fn place(&self, warp: usize) -> impl Fn(usize) -> (u32, u32) + use<> {
        let (threads, contention) = (self.threads, self.settings.contention);
        move |lane| {
            let thread = threads.number(warp, lane);
            (thread, threads.object(contention, thread))
        }
    }
}

impl WarpProgram for SpinLockProgram {
    fn memory(&self) -> &[(u32, u32)] {
        &self.memory
    }

    fn offer(&mut self, warp: usize, port: &mut WarpPort<'_>) {
        let (State { step, wanting, inside }, place) = (self.state[warp], self.place(warp));
        match step {
            Step::Take => {
                // EXCH stores operand B, the others C in place of B.
                let (op, b, c) = match self.settings.method {
                    Taking::Cas => (Op::Cas, 0, 1),
                    Taking::Cast => (Op::Cast, 0, 1),
                    Taking::CastSpin => (Op::CastSpin, 0, 1),
                    Taking::Exch => (Op::Exch, 1, 0),
                };
                port.ask(op, Size::U32, wanting);
                lanes_of(wanting).for_each(|lane| port.lane(lane, self.base + 4 * place(lane).1, b, c));
            }
            Step::Load => self.guarded.load(inside, port, place),
            Step::Store => self.guarded.store(inside, port, place),
            Step::Release => {
                port.post(Op::Store, Size::U32, inside);
                lanes_of(inside).for_each(|lane| port.lane(lane, self.base + 4 * place(lane).1, 0, 0));
            }
        }
    }

    fn answered(&mut self, warp: usize, answer: &Answer<'_>, counts: &mut WorkCounts) -> Next {
        let place = self.place(warp);
        let State { step, wanting, inside } = &mut self.state[warp];
        match step {
            Step::Take => {
                *inside = match self.settings.method {
                    Taking::Exch => lanes_where(*wanting, |lane| answer.rd[lane] == 0),
                    Taking::Cas | Taking::Cast | Taking::CastSpin => answer.pred & *wanting,
                };
                counts.tried(*wanting, *inside);
                *wanting &= !*inside;
                if *inside == 0 {
                    return Next::Backoff(self.settings.backoff);
                }
                *step = Step::Load;
            }
            Step::Load => {
                for lane in lanes_of(*inside) {
                    let (thread, lock) = place(lane);
                    self.guarded.loaded(thread, lock, answer.rd[lane] as u32);
                }
                *step = Step::Store;
            }
            Step::Store => {
                lanes_of(*inside).for_each(|lane| self.guarded.stored(place(lane).1));
                *step = Step::Release;
            }
            Step::Release => {
                counts.units += u64::from(inside.count_ones());
                *step = Step::Take;
                if *wanting == 0 {
                    *wanting = self.threads.mask();
                    self.left[warp] -= 1;
                    return if self.left[warp] == 0 { Next::Done } else { Next::Unit(0) };
                }
            }
        }
        Next::Dependent
    }

    fn waits_for(&self, warp: usize) -> String {
        let (State { step, wanting, inside }, place) = (self.state[warp], self.place(warp));
        let lock = |lane: u32| place(lane as usize).1;
        match step {
            Step::Take => {
                let lock = lock(wanting.trailing_zeros());
                let holders = (0..).zip(&self.state).filter_map(|(holder, state)| {
                    let place = self.place(holder);
                    let lane = lanes_of(state.inside).find(|lane| place(*lane).1 == lock)?;
                    (!matches!(state.step, Step::Take)).then_some((holder, lane))
                });
                let address = self.base + 4 * lock;
                let held = match holders.into_iter().next() {
                    Some((holder, lane)) => format!("which warp {holder} lane {lane} holds"),
                    None => "which no warp holds".to_string(),
                };
                let others = lanes_of(wanting).any(|lane| place(lane).1 != lock);
                let the_first = if others { "the first " } else { "" };
                format!("lanes {wanting:#x} wait, {the_first}for lock {lock} at {address:#x}, {held}")
            }
            Step::Load | Step::Store | Step::Release => {
                format!("lanes {inside:#x} hold lock {}", lock(inside.trailing_zeros()))
            }
        }
    }

    fn check(&self, word: &dyn Fn(u32) -> u32) -> Result<(), String> {
        self.guarded.check(self.sections, word)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Locks of which the first is held from the start, by nothing that would release it.
    pub(crate) fn held(threads: Threads, units: u32, config: &Config) -> SpinLockProgram {
        let mut program = SpinLock::default().program(threads, units, config).expect("it fits");
        program.memory.push((program.base, 1));
        program
    }
}
