//! A ticket lock: threads draw numbers, and are let in one after the other.

use atoms_model::Config;
use atoms_ops::{Op, Size};

use super::critical::Guarded;
use super::parameter::parameters;
use super::program::{
    Answer, Next, Placement, Threads, WarpPort, WarpProgram, WorkCounts, WorkloadError, lanes_of, lanes_where,
};

parameters! {
    /// Of a ticket lock.
    TicketLock {
        /// Threads that share a lock; 0: all of them.
        contention: u32 = 0, 0..=2048;
        /// Cycles that a warp waits after a look in vain, beside `compute`.
        backoff: u32 = 0, 0..=10000;
    }
}

impl TicketLock {
    pub(super) fn program(
        &self,
        threads: Threads,
        units: u32,
        config: &Config,
    ) -> Result<TicketLockProgram, WorkloadError> {
        let help = "have fewer `warps` or `lanes`, or more `contention`";
        let locks = threads.objects(self.contention);
        let mut placement = Placement::new(config);
        Ok(TicketLockProgram {
            settings: *self,
            threads,
            next_ticket: placement.words(locks.into(), "the next tickets", help)?,
            serving: placement.words(locks.into(), "the tickets served", help)?,
            guarded: Guarded::new(threads, locks, &mut placement, help)?,
            sections: u64::from(threads.count()) * u64::from(units),
            left: vec![units; threads.warps],
            state: vec![State { step: Step::Draw, waiting: 0, inside: 0 }; threads.warps],
            tickets: vec![0; threads.count() as usize],
            wrong: None,
        })
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Draw,
    Look,
    Load,
    Store,
    Release,
}

#[derive(Clone, Copy, Debug)]
struct State {
    step: Step,
    /// Lanes with a ticket that is not served yet.
    waiting: u32,
    inside: u32,
}

#[derive(Debug)]
pub(super) struct TicketLockProgram {
    settings: TicketLock,
    threads: Threads,
    next_ticket: u32,
    serving: u32,
    guarded: Guarded,
    sections: u64,
    left: Vec<u32>,
    state: Vec<State>,
    /// By thread.
    tickets: Vec<u32>,
    wrong: Option<String>,
}

impl TicketLockProgram {
    /// Thread and lock of a lane.
    fn place(&self, warp: usize) -> impl Fn(usize) -> (u32, u32) + use<> {
        let (threads, contention) = (self.threads, self.settings.contention);
        move |lane| {
            let thread = threads.number(warp, lane);
            (thread, threads.object(contention, thread))
        }
    }
}

impl WarpProgram for TicketLockProgram {
    fn memory(&self) -> &[(u32, u32)] {
        &[]
    }

    fn offer(&mut self, warp: usize, port: &mut WarpPort<'_>) {
        let (State { step, waiting, inside }, place) = (self.state[warp], self.place(warp));
        match step {
            Step::Draw => {
                let lanes = self.threads.mask();
                port.ask(Op::Add, Size::U32, lanes);
                lanes_of(lanes).for_each(|lane| port.lane(lane, self.next_ticket + 4 * place(lane).1, 1, 0));
            }
            Step::Look => {
                port.ask(Op::Load, Size::U32, waiting);
                lanes_of(waiting).for_each(|lane| port.lane(lane, self.serving + 4 * place(lane).1, 0, 0));
            }
            Step::Load => self.guarded.load(inside, port, place),
            Step::Store => self.guarded.store(inside, port, place),
            Step::Release => {
                port.post(Op::Store, Size::U32, inside);
                for lane in lanes_of(inside) {
                    let (thread, lock) = place(lane);
                    let next = self.tickets[thread as usize].wrapping_add(1);
                    port.lane(lane, self.serving + 4 * lock, next.into(), 0);
                }
            }
        }
    }

    fn answered(&mut self, warp: usize, answer: &Answer<'_>, counts: &mut WorkCounts) -> Next {
        let place = self.place(warp);
        let State { step, waiting, inside } = &mut self.state[warp];
        match step {
            Step::Draw => {
                *waiting = self.threads.mask();
                for lane in lanes_of(*waiting) {
                    self.tickets[place(lane).0 as usize] = answer.rd[lane] as u32;
                }
                *step = Step::Look;
            }
            Step::Look => {
                let served = |lane: usize| answer.rd[lane] as u32 == self.tickets[place(lane).0 as usize];
                *inside = lanes_where(*waiting, served);
                counts.tried(*waiting, *inside);
                *waiting &= !*inside;
                if *inside == 0 {
                    return Next::Backoff(self.settings.backoff);
                }
                *step = Step::Load;
            }
            Step::Load => {
                for lane in lanes_of(*inside) {
                    let ((thread, lock), count) = (place(lane), answer.rd[lane] as u32);
                    let ticket = self.tickets[thread as usize];
                    if count != ticket {
                        self.wrong.get_or_insert_with(|| {
                            format!("ticket {ticket} of lock {lock} is let in as number {count}")
                        });
                    }
                    self.guarded.loaded(thread, lock, count);
                }
                *step = Step::Store;
            }
            Step::Store => {
                lanes_of(*inside).for_each(|lane| self.guarded.stored(place(lane).1));
                *step = Step::Release;
            }
            Step::Release => {
                counts.units += u64::from(inside.count_ones());
                *step = Step::Look;
                if *waiting == 0 {
                    *step = Step::Draw;
                    self.left[warp] -= 1;
                    return if self.left[warp] == 0 { Next::Done } else { Next::Unit(0) };
                }
            }
        }
        Next::Dependent
    }

    fn waits_for(&self, warp: usize) -> String {
        let (State { step, waiting, inside }, place) = (self.state[warp], self.place(warp));
        match step {
            Step::Draw => "draws tickets".to_string(),
            Step::Look => {
                let (thread, lock) = place(waiting.trailing_zeros() as usize);
                let ticket = self.tickets[thread as usize];
                format!("lanes {waiting:#x} wait to be let in, the first with ticket {ticket} of lock {lock}")
            }
            Step::Load | Step::Store | Step::Release => format!("lanes {inside:#x} are let in"),
        }
    }

    fn check(&self, word: &dyn Fn(u32) -> u32) -> Result<(), String> {
        self.wrong.clone().map_or(Ok(()), Err)?;
        self.guarded.check(self.sections, word)
    }
}
