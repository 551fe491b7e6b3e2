//! Locks around a critical section: a spin lock and a ticket lock.
//!
//! The critical section loads a counter, adds one and stores it. Two threads inside at once would lose a
//! count.

use atoms_ops::{Op, Size};

use crate::parameter::{named_values, parameters};
use crate::program::{
    Answer, Next, Placement, Remaining, SetUp, Threads, WarpPort, WarpProgram, WorkCounts, WorkloadError,
    lanes_of, lanes_where,
};

named_values! {
    Taking {
        Cas "cas";
        Cast "cast";
        CastSpin "cast.spin";
        Exch "exch";
    }
}

parameters! {
    /// Parameters of a spin lock: a word that is 1 while a thread holds the lock.
    SpinLock {
        /// Operation that takes the lock.
        method: Taking = Taking::CastSpin, ();
        /// Threads that share a lock; 0: all threads.
        contention: u32 = 0, 0..=2048;
        /// Cycles that a warp waits after a failed attempt, in addition to `compute`.
        backoff: u32 = 0, 0..=10000;
    }
}

parameters! {
    /// Parameters of a ticket lock: threads draw numbers and enter in their order.
    TicketLock {
        /// Threads that share a lock; 0: all threads.
        contention: u32 = 0, 0..=2048;
        /// Cycles that a warp waits after an unsuccessful poll, in addition to `compute`.
        backoff: u32 = 0, 0..=10000;
    }
}

impl SpinLock {
    pub(crate) fn program(&self, set_up: &SetUp<'_>) -> Result<LockProgram, WorkloadError> {
        LockProgram::new(Some(self.method), [self.contention, self.backoff], set_up)
    }
}

impl TicketLock {
    pub(crate) fn program(&self, set_up: &SetUp<'_>) -> Result<LockProgram, WorkloadError> {
        LockProgram::new(None, [self.contention, self.backoff], set_up)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LockStep {
    /// Draws a ticket; only for a ticket lock.
    Draw,
    /// Tries to take the spin lock, or polls the ticket being served.
    Enter,
    Load,
    Store,
    Release,
}

#[derive(Clone, Copy, Debug)]
struct LockState {
    step: LockStep,
    /// Lanes that have not entered yet in this unit of work.
    waiting: u32,
    inside: u32,
}

#[derive(Debug)]
pub(crate) struct LockProgram {
    /// Operation that takes the spin lock; `None` for a ticket lock.
    method: Option<Taking>,
    contention: u32,
    backoff: u32,
    threads: Threads,
    /// Byte offset of the array of next tickets.
    next_ticket: u32,
    /// Byte offset of the array of spin locks, or of tickets being served.
    base: u32,
    /// Byte offset of the array of counters.
    counters: u32,
    memory: Vec<(u32, u32)>,
    sections: u64,
    remaining: Remaining,
    state: Vec<LockState>,
    /// Ticket of each thread; `loaded` has the count that each thread loaded.
    tickets: Vec<u32>,
    loaded: Vec<u32>,
    /// Number of threads that have entered each lock.
    entered: Vec<u32>,
    wrong: Option<String>,
}

impl LockProgram {
    fn new(
        method: Option<Taking>,
        [contention, backoff]: [u32; 2],
        set_up: &SetUp<'_>,
    ) -> Result<Self, WorkloadError> {
        let SetUp { threads, units, config, .. } = *set_up;
        let locks = threads.objects(contention);
        let mut placement = Placement::new(config);
        let help = "use fewer `warps` or `lanes`, or increase `contention`";
        let mut place = |what| placement.words(locks.into(), what, help);
        let (next_ticket, base) = match method {
            Some(_) => (0, place("the locks")?),
            None => (place("the next tickets")?, place("the tickets served")?),
        };
        let counters = place("the counters of the locks")?;
        let step = if method.is_some() { LockStep::Enter } else { LockStep::Draw };
        Ok(LockProgram {
            method,
            contention,
            backoff,
            threads,
            next_ticket,
            base,
            counters,
            memory: Vec::new(),
            sections: u64::from(threads.count()) * u64::from(units),
            remaining: Remaining::new(threads, units),
            state: vec![LockState { step, waiting: threads.mask(), inside: 0 }; threads.warps],
            tickets: vec![0; threads.count() as usize],
            loaded: vec![0; threads.count() as usize],
            entered: vec![0; locks as usize],
            wrong: None,
        })
    }

    fn place(&self, warp: usize) -> impl Fn(usize) -> (usize, u32) + use<> {
        let (threads, contention) = (self.threads, self.contention);
        move |lane| {
            let thread = threads.number(warp, lane);
            (thread as usize, threads.object(contention, thread))
        }
    }

    /// Drives the address of each lane in the array at `base`, and its operands; `operands` takes a thread.
    fn lanes(
        &self,
        (warp, lanes): (usize, u32),
        base: u32,
        port: &mut WarpPort<'_>,
        operands: impl Fn(usize) -> (u32, u32),
    ) {
        let place = self.place(warp);
        for lane in lanes_of(lanes) {
            let (thread, lock) = place(lane);
            let (b, c) = operands(thread);
            port.lane(lane, base + 4 * lock, b.into(), c.into());
        }
    }

    fn note_loaded(&mut self, thread: usize, lock: u32, count: u32) {
        self.loaded[thread] = count;
        let (ticket, entered) = (self.tickets[thread], self.entered[lock as usize]);
        let wrong = if self.method.is_none() && count != ticket {
            format!("ticket {ticket} of lock {lock} entered as number {count}")
        } else if count != entered {
            format!(
                "the holder of lock {lock} read count {count}, expected {entered}, the number of earlier holders"
            )
        } else {
            return;
        };
        self.wrong.get_or_insert(wrong);
    }
}

impl WarpProgram for LockProgram {
    fn memory(&self) -> &[(u32, u32)] {
        &self.memory
    }

    fn offer(&mut self, warp: usize, port: &mut WarpPort<'_>) {
        let LockState { step, waiting, inside } = self.state[warp];
        match step {
            LockStep::Draw => {
                port.ask(Op::Add, Size::U32, waiting);
                self.lanes((warp, waiting), self.next_ticket, port, |_| (1, 0));
            }
            LockStep::Enter => {
                // EXCH stores operand B. The other operations store C if they find B.
                let (op, b, c) = match self.method {
                    Some(Taking::Cas) => (Op::Cas, 0, 1),
                    Some(Taking::Cast) => (Op::Cast, 0, 1),
                    Some(Taking::CastSpin) => (Op::CastSpin, 0, 1),
                    Some(Taking::Exch) => (Op::Exch, 1, 0),
                    None => (Op::Load, 0, 0),
                };
                port.ask(op, Size::U32, waiting);
                self.lanes((warp, waiting), self.base, port, |_| (b, c));
            }
            LockStep::Load => {
                port.ask(Op::Load, Size::U32, inside);
                self.lanes((warp, inside), self.counters, port, |_| (0, 0));
            }
            LockStep::Store => {
                port.post(Op::Store, Size::U32, inside);
                let count = |thread: usize| (self.loaded[thread].wrapping_add(1), 0);
                self.lanes((warp, inside), self.counters, port, count);
            }
            LockStep::Release => {
                port.post(Op::Store, Size::U32, inside);
                let next = |thread: usize| match self.method {
                    Some(_) => (0, 0),
                    None => (self.tickets[thread].wrapping_add(1), 0),
                };
                self.lanes((warp, inside), self.base, port, next);
            }
        }
    }

    fn answered(&mut self, warp: usize, answer: &Answer<'_>, counts: &mut WorkCounts) -> Next {
        let place = self.place(warp);
        let LockState { step, waiting, inside } = self.state[warp];
        match step {
            LockStep::Draw => {
                for lane in lanes_of(waiting) {
                    self.tickets[place(lane).0] = answer.rd[lane] as u32;
                }
                self.state[warp].step = LockStep::Enter;
            }
            LockStep::Enter => {
                let found = |lane: usize| answer.rd[lane] as u32;
                let inside = match self.method {
                    Some(Taking::Exch) => lanes_where(waiting, |lane| found(lane) == 0),
                    Some(Taking::Cas | Taking::Cast | Taking::CastSpin) => answer.pred & waiting,
                    None => lanes_where(waiting, |lane| found(lane) == self.tickets[place(lane).0]),
                };
                counts.tried(waiting, inside);
                if inside == 0 {
                    return Next::Backoff(self.backoff);
                }
                self.state[warp] = LockState { step: LockStep::Load, waiting: waiting & !inside, inside };
            }
            LockStep::Load => {
                for lane in lanes_of(inside) {
                    let (thread, lock) = place(lane);
                    self.note_loaded(thread, lock, answer.rd[lane] as u32);
                }
                self.state[warp].step = LockStep::Store;
            }
            LockStep::Store => {
                lanes_of(inside).for_each(|lane| self.entered[place(lane).1 as usize] += 1);
                self.state[warp].step = LockStep::Release;
            }
            LockStep::Release => {
                counts.units += u64::from(inside.count_ones());
                self.state[warp].step = LockStep::Enter;
                if waiting == 0 {
                    let step = if self.method.is_some() { LockStep::Enter } else { LockStep::Draw };
                    self.state[warp] = LockState { step, waiting: self.threads.mask(), inside };
                    return self.remaining.next(warp, 0);
                }
            }
        }
        Next::Dependent
    }

    fn waits_for(&self, warp: usize) -> String {
        let (LockState { step, waiting, inside }, place) = (self.state[warp], self.place(warp));
        let (thread, lock) = place(waiting.trailing_zeros() as usize);
        match step {
            LockStep::Draw => "draws tickets".to_string(),
            LockStep::Enter if self.method.is_none() => {
                let ticket = self.tickets[thread];
                format!("lanes {waiting:#x} wait to enter, the first with ticket {ticket} of lock {lock}")
            }
            LockStep::Enter => {
                let mut holders = (0..).zip(&self.state).filter_map(|(holder, state)| {
                    let place = self.place(holder);
                    let lane = lanes_of(state.inside).find(|lane| place(*lane).1 == lock)?;
                    (state.step != LockStep::Enter).then_some((holder, lane))
                });
                let address = self.base + 4 * lock;
                let held = match holders.next() {
                    Some((holder, lane)) => format!("which warp {holder} lane {lane} holds"),
                    None => "which no warp holds".to_string(),
                };
                let others = lanes_of(waiting).any(|lane| place(lane).1 != lock);
                let the_first = if others { "the first " } else { "" };
                format!("lanes {waiting:#x} wait, {the_first}for lock {lock} at {address:#x}, {held}")
            }
            LockStep::Load | LockStep::Store | LockStep::Release if self.method.is_none() => {
                format!("lanes {inside:#x} have entered")
            }
            LockStep::Load | LockStep::Store | LockStep::Release => {
                format!("lanes {inside:#x} hold lock {}", place(inside.trailing_zeros() as usize).1)
            }
        }
    }

    fn check(&self, word: &dyn Fn(u32) -> u32) -> Result<(), String> {
        self.wrong.clone().map_or(Ok(()), Err)?;
        for (lock, entered) in (0..).zip(&self.entered) {
            let found = word(self.counters + 4 * lock);
            if found != *entered {
                return Err(format!(
                    "the counter of lock {lock} is {found}, expected {entered}, the number of holders"
                ));
            }
        }
        let all: u64 = self.entered.iter().map(|entered| u64::from(*entered)).sum();
        if all == self.sections {
            Ok(())
        } else {
            Err(format!("{all} of {} critical sections were completed", self.sections))
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use atoms_model::Config;

    use super::*;

    pub(crate) fn held(threads: Threads, units: u32, config: &Config) -> LockProgram {
        let set_up = SetUp { threads, units, compute: 0, config, seed: 0 };
        let mut program = SpinLock::default().program(&set_up).expect("it fits");
        program.memory.push((program.base, 1));
        program
    }
}
