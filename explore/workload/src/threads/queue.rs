//! Bounded queue of several producers and consumers: a ring of numbered slots and two counters.
//!
//! Algorithm: Vyukov, "Bounded MPMC queue". Here, atomic adds draw positions from the counters, like tickets.

use atoms_ops::{Op, Size};

use crate::parameter::parameters;
use crate::program::{
    Answer, Next, Placement, SetUp, Threads, WarpPort, WarpProgram, WorkCounts, WorkloadError, lanes_of,
    lanes_where,
};

parameters! {
    /// Parameters of a queue.
    Queue {
        /// Warps that take elements; the other warps put them. 0: elements stay in the queue.
        consumers: u32 = 4, 0..=63;
        /// Number of slots of the ring.
        capacity: u32 = 256, 1..=65536;
        /// Cycles that a warp waits after an unsuccessful poll, in addition to `compute`.
        backoff: u32 = 0, 0..=10000;
    }
    no_effect |own| {
        "backoff" if own.consumers == 0 => "set `consumers` to 1 or more";
    }
}

impl Queue {
    pub(crate) fn program(&self, set_up: &SetUp<'_>) -> Result<QueueProgram, WorkloadError> {
        let SetUp { threads, units, config, .. } = *set_up;
        let consumers = self.consumers as usize;
        let producers = set_up.producers(consumers)?;
        let elements = producers as u64 * u64::from(threads.lanes) * u64::from(units);
        let most = 1 << 24;
        if consumers == 0 && elements > self.capacity.into() || elements > most {
            let room = if consumers == 0 { self.capacity.into() } else { most };
            return Err(WorkloadError::Combination(format!(
                "{elements} elements, but the queue has room for {room}; increase `capacity` or `consumers`, or use fewer `units`"
            )));
        }
        let help = "reduce `capacity`";
        let mut placement = Placement::new(config);
        let capacity = self.capacity.into();
        let counters = placement.words(2, "the counters", help)?;
        let numbers = placement.words(capacity, "the numbers of the slots", help)?;
        let slots = placement.words(capacity, "the slots", help)?;
        let takers = consumers as u64 * u64::from(threads.lanes);
        if takers > elements {
            return Err(WorkloadError::Combination(format!(
                "{takers} lanes take {elements} elements, so some lanes get none; use fewer `consumers` or more `units`"
            )));
        }
        let share = |warp: usize, lane: u32| {
            let Some(consumer) = warp.checked_sub(producers) else { return units };
            let number = consumer as u64 * u64::from(threads.lanes) + u64::from(lane);
            (elements / takers + u64::from(number < elements % takers)) as u32
        };
        let left: Vec<u32> = (0..threads.warps)
            .flat_map(|warp| (0..threads.lanes).map(move |lane| share(warp, lane)))
            .collect();
        let with_work =
            |warp: usize| lanes_where(threads.mask(), |lane| left[threads.number(warp, lane) as usize] > 0);
        Ok(QueueProgram {
            settings: *self,
            threads,
            producers,
            counters,
            numbers,
            slots,
            // Slot 0 needs no entry: its number is 0, like all memory.
            memory: (1..self.capacity).map(|at| (numbers + 4 * at, at)).collect(),
            state: (0..threads.warps)
                .map(|warp| QueueState { step: QueueStep::Draw, waiting: with_work(warp), moving: 0 })
                .collect(),
            left,
            positions: vec![0; threads.count() as usize],
            put: vec![0; elements as usize],
            taken: vec![false; elements as usize],
            elements: 0,
            wrong: None,
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum QueueStep {
    Draw,
    Look,
    Move,
    Pass,
}

#[derive(Clone, Copy, Debug)]
struct QueueState {
    step: QueueStep,
    /// Lanes that must draw a position, or whose slot is not ready.
    waiting: u32,
    moving: u32,
}

#[derive(Debug)]
pub(crate) struct QueueProgram {
    settings: Queue,
    threads: Threads,
    /// Number of producers. Producers are the lowest warps.
    producers: usize,
    /// Byte offset of two counters: next position to put at, next position to take from.
    counters: u32,
    numbers: u32,
    slots: u32,
    memory: Vec<(u32, u32)>,
    state: Vec<QueueState>,
    /// Elements that each thread still has to put or take.
    left: Vec<u32>,
    /// Position that each thread has drawn.
    positions: Vec<u32>,
    /// Element put at each position; `taken` is true if it was taken.
    put: Vec<u32>,
    taken: Vec<bool>,
    elements: u32,
    wrong: Option<String>,
}

impl QueueProgram {
    fn produces(&self, warp: usize) -> bool {
        warp < self.producers
    }

    /// Returns the slot number that a thread at `position` waits for.
    fn awaited(&self, warp: usize, position: u32) -> u32 {
        if self.produces(warp) { position } else { position.wrapping_add(1) }
    }

    fn position(&self, warp: usize, lane: usize) -> u32 {
        self.positions[self.threads.number(warp, lane) as usize]
    }
}

impl WarpProgram for QueueProgram {
    fn memory(&self) -> &[(u32, u32)] {
        &self.memory
    }

    fn offer(&mut self, warp: usize, port: &mut WarpPort<'_>) {
        let QueueState { step, waiting, moving } = self.state[warp];
        let (capacity, produces) = (self.settings.capacity, self.produces(warp));
        let slot = |of: &Self, lane| 4 * (of.position(warp, lane) % capacity);
        match step {
            QueueStep::Draw => {
                port.ask(Op::Add, Size::U32, waiting);
                let counter = self.counters + if produces { 0 } else { 4 };
                lanes_of(waiting).for_each(|lane| port.lane(lane, counter, 1, 0));
            }
            QueueStep::Look => {
                port.ask(Op::Load, Size::U32, waiting);
                lanes_of(waiting).for_each(|lane| port.lane(lane, self.numbers + slot(self, lane), 0, 0));
            }
            QueueStep::Move if produces => {
                port.post(Op::Store, Size::U32, moving);
                for lane in lanes_of(moving) {
                    // Elements are numbered from 1 in the order of the stores.
                    self.elements += 1;
                    let position = self.position(warp, lane);
                    if let Some(put) = self.put.get_mut(position as usize) {
                        *put = self.elements;
                    }
                    port.lane(lane, self.slots + slot(self, lane), self.elements.into(), 0);
                }
            }
            QueueStep::Move => {
                port.ask(Op::Load, Size::U32, moving);
                lanes_of(moving).for_each(|lane| port.lane(lane, self.slots + slot(self, lane), 0, 0));
            }
            QueueStep::Pass => {
                port.post(Op::Store, Size::U32, moving);
                for lane in lanes_of(moving) {
                    let by = if produces { 1 } else { capacity };
                    let number = self.position(warp, lane).wrapping_add(by);
                    port.lane(lane, self.numbers + slot(self, lane), number.into(), 0);
                }
            }
        }
    }

    fn answered(&mut self, warp: usize, answer: &Answer<'_>, counts: &mut WorkCounts) -> Next {
        let QueueState { step, waiting, moving } = self.state[warp];
        match step {
            QueueStep::Draw => {
                for lane in lanes_of(waiting) {
                    self.positions[self.threads.number(warp, lane) as usize] = answer.rd[lane] as u32;
                }
                self.state[warp].step = QueueStep::Look;
            }
            QueueStep::Look => {
                let open =
                    |lane: usize| answer.rd[lane] as u32 == self.awaited(warp, self.position(warp, lane));
                let moving = lanes_where(waiting, open);
                counts.tried(waiting, moving);
                if moving == 0 {
                    return Next::Backoff(self.settings.backoff);
                }
                self.state[warp] = QueueState { step: QueueStep::Move, waiting: waiting & !moving, moving };
            }
            QueueStep::Move => {
                if !self.produces(warp) {
                    for lane in lanes_of(moving) {
                        let (at, found) = (self.position(warp, lane), answer.rd[lane] as u32);
                        let put = self.put.get(at as usize).copied().unwrap_or(0);
                        let again = self
                            .taken
                            .get_mut(at as usize)
                            .is_none_or(|taken| std::mem::replace(taken, true));
                        if found != put || again {
                            self.wrong.get_or_insert_with(|| {
                                let times = if again { ", a second time" } else { "" };
                                format!("element {found} was taken from position {at}{times}, expected {put}")
                            });
                        }
                    }
                }
                self.state[warp].step = QueueStep::Pass;
            }
            QueueStep::Pass => {
                for lane in lanes_of(moving) {
                    self.left[self.threads.number(warp, lane) as usize] -= 1;
                }
                if !self.produces(warp) || self.settings.consumers == 0 {
                    counts.units += u64::from(moving.count_ones());
                }
                if waiting != 0 {
                    self.state[warp].step = QueueStep::Look;
                    return Next::Dependent;
                }
                let more = |lane: usize| self.left[self.threads.number(warp, lane) as usize] > 0;
                let waiting = lanes_where(self.threads.mask(), more);
                self.state[warp] = QueueState { step: QueueStep::Draw, waiting, moving: 0 };
                return if waiting == 0 { Next::Done } else { Next::Unit(0) };
            }
        }
        Next::Dependent
    }

    fn waits_for(&self, warp: usize) -> String {
        let QueueState { step, waiting, .. } = self.state[warp];
        let what = if self.produces(warp) { "a slot to be free" } else { "an element to be put" };
        match step {
            QueueStep::Look if waiting != 0 => {
                let position = self.position(warp, waiting.trailing_zeros() as usize);
                let slot = position % self.settings.capacity;
                format!("lanes {waiting:#x} wait for {what}, the first at position {position}, slot {slot}")
            }
            QueueStep::Draw | QueueStep::Look | QueueStep::Move | QueueStep::Pass => {
                "puts or takes elements".to_string()
            }
        }
    }

    fn check(&self, word: &dyn Fn(u32) -> u32) -> Result<(), String> {
        self.wrong.clone().map_or(Ok(()), Err)?;
        let kept = self.settings.consumers == 0;
        for (position, put) in (0..).zip(&self.put).filter(|_| kept) {
            let found = word(self.slots + 4 * position);
            if found != *put {
                return Err(format!("position {position} holds {found}, expected {put}"));
            }
        }
        match self.put.iter().zip(&self.taken).position(|(put, taken)| *put == 0 || !(*taken || kept)) {
            Some(position) => {
                Err(format!("the element of position {position} was never put, or never taken"))
            }
            None => Ok(()),
        }
    }
}
