//! Asynchronous copies. They run in parallel with the threads that started them, complete out of order, and
//! signal an mbarrier object when their data has arrived.
//!
//! A copy waits for its latency. Then it reads its source and writes shared memory through the cluster port,
//! in turn with other copies. One write has at most 16 bytes. The completion follows the writes on the same
//! port. The port executes requests in order, so a thread never sees a completion before the data. Writes of
//! such a copy are posted (spec 4.7). If a thread waits for the copy directly, the copy waits for the
//! responses of its writes instead.

use super::transfer::{Answer, Origin, Transfer};
use crate::compute::atomic;
use crate::config::SmConfig;
use crate::memory::{GlobalMemory, SharedPlace};
use crate::random::SplitMix64;
use atoms_isa::Reduction;
use atoms_model::port::MAX_LANES;
use atoms_ops::{Op, Size};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

#[derive(Clone, Copy)]
pub(crate) enum Data {
    /// `bytes` bytes of global memory at address `from`, followed by zeros.
    Global {
        from: u64,
        bytes: u32,
    },
    Shared(SharedPlace),
    Given(u128),
}

#[derive(Clone, Copy)]
pub(crate) enum Action {
    /// Operation that writes each piece to shared memory: [`Op::Store`], or an atomic of the unit.
    Each(Op),
    /// Loads from shared memory, then stores to global memory at `to`, or reduces into it. In each group of
    /// 16 bytes, only bytes with a set bit in `written` are stored.
    ToGlobal { to: u64, reduction: Option<Reduction>, written: u16 },
    /// 64-bit addition: load and compare-and-store, repeated until the store succeeds (spec 7.1).
    Add64 {
        /// Value before the addition. `None` until it has been loaded.
        old: Option<u64>,
    },
}

impl std::fmt::Display for Action {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Action::Each(op) => op.fmt(f),
            Action::ToGlobal { .. } => f.write_str("store"),
            Action::Add64 { .. } => f.write_str("ADD"),
        }
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Payload {
    pub(crate) data: Data,
    pub(crate) to: SharedPlace,
    pub(crate) bytes: u32,
    pub(crate) action: Action,
    pub(crate) size: Size,
}

/// Operation on an mbarrier object after the data has arrived.
#[derive(Clone, Copy)]
pub(crate) struct Completion {
    pub(crate) op: Op,
    pub(crate) at: SharedPlace,
    pub(crate) b: u64,
}

/// Lane that started the copy, for messages, and the slot of its CTA.
#[derive(Clone, Copy)]
pub(crate) struct Asker {
    pub(crate) slot: usize,
    pub(crate) warp: usize,
    pub(crate) lane: u32,
    pub(crate) pc: u32,
}

pub(crate) struct Copy {
    pub(crate) asker: Asker,
    payload: Option<Payload>,
    completion: Option<Completion>,
    /// True if the thread can wait for the copy directly, without an mbarrier object.
    counted: bool,
    /// Bytes whose writes were handed to the port (`sent`), and bytes whose writes were answered or posted
    /// (`written`).
    sent: u32,
    written: u32,
    /// Data loaded from shared memory and not stored yet.
    held: Option<u128>,
}

impl Copy {
    pub(crate) fn describe(&self) -> String {
        match (&self.payload, &self.completion) {
            (Some(Payload { data: Data::Global { from, bytes }, to, .. }), _) => {
                format!("copy of {bytes} bytes from global {from:#x} to shared {:#010x}", to.address)
            }
            (Some(Payload { data: Data::Shared(from), to, bytes, .. }), _) => {
                let (from, to) = (from.address, to.address);
                format!("copy of {bytes} bytes from shared {from:#010x} to shared {to:#010x}")
            }
            (Some(Payload { action: Action::ToGlobal { to: global, .. }, to, bytes, .. }), _) => {
                format!("copy of {bytes} bytes from shared {:#010x} to global {global:#x}", to.address)
            }
            (Some(Payload { data: Data::Given(_), to, bytes, action, .. }), _) => {
                format!("asynchronous {action} of {bytes} bytes at shared {:#010x}", to.address)
            }
            (None, Some(Completion { op, at, .. })) => format!("{op} at mbarrier {:#010x}", at.address),
            (None, None) => "copy of nothing".into(),
        }
    }

    fn bytes(&self) -> u32 {
        self.payload.map_or(0, |p| p.bytes)
    }

    fn slots(&self) -> impl Iterator<Item = usize> {
        let to = self.payload.map(|p| p.to.slot);
        let from = self.payload.and_then(|p| match p.data {
            Data::Shared(place) => Some(place.slot),
            Data::Global { .. } | Data::Given(_) => None,
        });
        [Some(self.asker.slot), to, from, self.completion.map(|c| c.at.slot)].into_iter().flatten()
    }
}

/// Entry in the list of a thread's copies, group ends and arrivals.
enum ArrivalStep {
    Copy {
        number: u64,
        done: bool,
    },
    /// Arrival that waits for the copies before it.
    Arrival(u64),
    End,
}

/// Copies by number. They end roughly in the order of their start.
#[derive(Default)]
struct Numbered {
    /// Number of the first entry of `copies`.
    first: u64,
    /// `None` for copies that have ended.
    copies: VecDeque<Option<Copy>>,
}

impl Numbered {
    fn is_empty(&self) -> bool {
        self.copies.is_empty()
    }

    fn place(&self, number: u64) -> Option<usize> {
        number.checked_sub(self.first).map(|at| at as usize)
    }

    fn get(&self, number: u64) -> Option<&Copy> {
        self.copies.get(self.place(number)?)?.as_ref()
    }

    fn get_mut(&mut self, number: u64) -> Option<&mut Copy> {
        let at = self.place(number)?;
        self.copies.get_mut(at)?.as_mut()
    }

    fn add(&mut self, copy: Copy) -> u64 {
        self.copies.push_back(Some(copy));
        self.first + self.copies.len() as u64 - 1
    }

    fn remove(&mut self, number: u64) -> Option<Copy> {
        let at = self.place(number)?;
        let copy = self.copies.get_mut(at)?.take();
        while let Some(None) = self.copies.front() {
            self.copies.pop_front();
            self.first += 1;
        }
        copy
    }
}

pub(crate) struct CopyEngine {
    latency: [u32; 2],
    random: SplitMix64,
    copies: Numbered,
    /// Cycle and number of the copies that wait for their latency.
    due: BinaryHeap<Reverse<(u64, u64)>>,
    /// Numbers of the copies with a request for the port, round robin.
    active: VecDeque<u64>,
    /// Steps of each thread, by the index that [`thread`] returns.
    threads: Vec<VecDeque<ArrivalStep>>,
    /// For each slot, the number of copies that need its allocation.
    users: Vec<u32>,
}

impl CopyEngine {
    pub(crate) fn new(config: &SmConfig, slots: u32) -> CopyEngine {
        let [least, most] = config.copy_latency_cycles;
        CopyEngine {
            latency: [least, most.max(least)],
            random: SplitMix64::new(config.copy_seed),
            copies: Numbered::default(),
            due: BinaryHeap::new(),
            active: VecDeque::new(),
            threads: Vec::new(),
            users: vec![0; slots as usize],
        }
    }

    pub(crate) fn idle(&self) -> bool {
        self.copies.is_empty()
    }

    /// True if a copy or a pending arrival needs the allocation of `slot`.
    pub(crate) fn uses(&self, slot: usize) -> bool {
        self.users.get(slot).is_some_and(|users| *users > 0)
    }

    pub(crate) fn copy(&self, number: u64) -> Option<&Copy> {
        self.copies.get(number)
    }

    fn steps(&mut self, at: (usize, u32)) -> &mut VecDeque<ArrivalStep> {
        let at = thread(at);
        if at >= self.threads.len() {
            self.threads.resize_with(at + 1, VecDeque::new);
        }
        &mut self.threads[at]
    }

    /// Starts a copy that ends with a completion. Returns its number.
    pub(crate) fn start(
        &mut self,
        cycle: u64,
        asker: Asker,
        payload: Payload,
        completion: Completion,
    ) -> u64 {
        let number = self.add(asker, Some(payload), Some(completion), false);
        self.wait_for_latency(cycle, number);
        number
    }

    /// Starts a copy for which later arrivals and group waits of the thread wait. Returns its number.
    pub(crate) fn start_counted(&mut self, cycle: u64, asker: Asker, payload: Payload) -> u64 {
        let number = self.add(asker, Some(payload), None, true);
        self.steps((asker.warp, asker.lane)).push_back(ArrivalStep::Copy { number, done: false });
        self.wait_for_latency(cycle, number);
        number
    }

    /// Starts an arrival that waits for the thread's earlier copies. Returns its number.
    pub(crate) fn arrive(&mut self, asker: Asker, completion: Completion) -> u64 {
        let number = self.add(asker, None, Some(completion), false);
        let thread = (asker.warp, asker.lane);
        self.steps(thread).push_back(ArrivalStep::Arrival(number));
        self.go_on(thread);
        number
    }

    /// Groups the copies that the thread has started since the last group.
    pub(crate) fn end_group(&mut self, thread: (usize, u32)) {
        let steps = self.steps(thread);
        // A thread without pending copies has nothing to wait for.
        if !steps.is_empty() {
            steps.push_back(ArrivalStep::End);
        }
    }

    /// Groups of the thread that are pending, or were ended after a pending one.
    pub(crate) fn groups(&self, at: (usize, u32)) -> usize {
        let steps = self.threads.get(thread(at));
        steps.map_or(0, |steps| steps.iter().filter(|step| matches!(step, ArrivalStep::End)).count())
    }

    fn add(
        &mut self,
        asker: Asker,
        payload: Option<Payload>,
        completion: Option<Completion>,
        counted: bool,
    ) -> u64 {
        let copy = Copy { asker, payload, completion, counted, sent: 0, written: 0, held: None };
        self.count_users(&copy, |users| users + 1);
        self.copies.add(copy)
    }

    fn count_users(&mut self, copy: &Copy, to: impl Fn(u32) -> u32) {
        for slot in copy.slots() {
            if let Some(users) = self.users.get_mut(slot) {
                *users = to(*users);
            }
        }
    }

    fn wait_for_latency(&mut self, cycle: u64, number: u64) {
        let [least, most] = self.latency.map(i128::from);
        // Cannot truncate: the value lies between two u32 values.
        let latency = self.random.between(least, most) as u64;
        self.due.push(Reverse((cycle + latency, number)));
    }

    pub(crate) fn clock(&mut self, cycle: u64) {
        while let Some(Reverse((due, number))) = self.due.peek().copied()
            && due <= cycle
        {
            self.due.pop();
            self.active.push_back(number);
        }
    }

    pub(crate) fn has_request(&self) -> bool {
        !self.active.is_empty()
    }

    /// Returns the next request for the cluster port.
    ///
    /// # Errors
    /// Number of the copy whose source cannot be read, and the reason.
    pub(crate) fn next_request(
        &mut self,
        global: &mut GlobalMemory,
    ) -> Result<Option<Transfer>, (u64, String)> {
        let Some(number) = self.active.pop_front() else { return Ok(None) };
        let Some(copy) = self.copies.get_mut(number) else { return Ok(None) };
        let origin = Origin::Copy(number);
        if let Some(payload) = copy.payload
            && copy.sent < payload.bytes
        {
            let step = payload.size.bytes();
            let value = match payload.data {
                Data::Given(value) => value,
                Data::Global { from, bytes } => {
                    let left = bytes.saturating_sub(copy.sent).min(step);
                    let from = from.wrapping_add(u64::from(copy.sent));
                    read(global, from, left, step).map_err(|message| (number, message))?
                }
                Data::Shared(place) => match copy.held {
                    Some(value) => value,
                    None => {
                        let address = place.address.wrapping_add(copy.sent);
                        let place = SharedPlace { address, ..place };
                        // Load without sign extension: a copy only moves the bits.
                        let size = if payload.size == Size::S32 { Size::U32 } else { payload.size };
                        let load = Transfer::posted(Op::Load, size, place, origin);
                        return Ok(Some(Transfer { red: false, ..load }));
                    }
                },
            };
            let address = payload.to.address.wrapping_add(copy.sent);
            let place = SharedPlace { address, ..payload.to };
            let red = Transfer { b: value, ..Transfer::posted(Op::Load, payload.size, place, origin) };
            let transfer = match payload.action {
                Action::Each(op) => Transfer { op, red: !copy.counted, ..red },
                Action::ToGlobal { .. } => Transfer { red: false, ..red },
                Action::Add64 { old: None } => Transfer { red: false, ..red },
                Action::Add64 { old: Some(old) } => {
                    let sum = u128::from(old.wrapping_add(value as u64));
                    Transfer { op: Op::Cas, b: u128::from(old), c: sum, red: false, ..red }
                }
            };
            copy.sent += step;
            if let Action::Add64 { .. } = payload.action {
                // The next piece follows when this one has been stored.
                return Ok(Some(transfer));
            }
            copy.held = None;
            if copy.sent < payload.bytes {
                // Continue with the next piece. A piece from shared memory is loaded only after the one
                // before has been sent.
                self.active.push_back(number);
            }
            return Ok(Some(transfer));
        }
        let completion = copy.completion;
        Ok(completion.map(|Completion { op, at, b }| Transfer {
            b: b.into(),
            ..Transfer::posted(op, Size::U64, at, origin)
        }))
    }

    /// Handles the response to a request of a copy, or the acceptance of a posted one. Returns the number of
    /// bytes copied if the copy has ended.
    ///
    /// # Errors
    /// Reason why data could not be stored to global memory.
    pub(crate) fn answered(
        &mut self,
        number: u64,
        answer: &Answer,
        global: &mut GlobalMemory,
    ) -> Result<Option<u32>, String> {
        let Some(copy) = self.copies.get_mut(number) else { return Ok(None) };
        let bytes = copy.bytes();
        if let Some(Payload { data: Data::Shared(_), .. }) = copy.payload
            && answer.transfer.op == Op::Load
            && copy.held.is_none()
        {
            copy.held = Some(answer.old);
            self.active.push_back(number);
            return Ok(None);
        }
        if let Some(Payload { action: Action::ToGlobal { to, reduction, written }, size, .. }) = copy.payload
        {
            let to = to.wrapping_add(u64::from(copy.written));
            match reduction {
                None if written == u16::MAX => global.store(to, size.bytes() as usize, answer.old)?,
                None => {
                    for byte in (0..size.bytes()).filter(|byte| written >> byte & 1 != 0) {
                        let to = to.wrapping_add(u64::from(byte));
                        global.store(to, 1, answer.old >> (8 * byte) & 0xff)?;
                    }
                }
                Some(reduction) => reduce(global, to, size, answer.old, reduction)?,
            }
        }
        if copy.written < bytes {
            if let Some(Payload { action: Action::Add64 { old }, .. }) = &mut copy.payload
                && !answer.stored
            {
                *old = Some(answer.old as u64);
                copy.sent = copy.written;
                self.active.push_back(number);
                return Ok(None);
            }
            copy.written += copy.payload.map_or(0, |p| p.size.bytes());
            let left = copy.written < bytes;
            if let Some(Payload { action: Action::Add64 { old }, .. }) = &mut copy.payload
                && left
            {
                (*old, copy.held) = (None, None);
                self.active.push_back(number);
            }
            if left {
                return Ok(None);
            }
            if copy.completion.is_some() {
                self.active.push_back(number);
                return Ok(None);
            }
        }
        let Some(copy) = self.copies.remove(number) else { return Ok(None) };
        self.count_users(&copy, |users| users.saturating_sub(1));
        if copy.counted {
            let thread = (copy.asker.warp, copy.asker.lane);
            for step in self.steps(thread) {
                if let ArrivalStep::Copy { number: other, done } = step {
                    *done |= *other == number;
                }
            }
            self.go_on(thread);
        }
        Ok(Some(bytes))
    }

    /// Removes finished steps from the front of a thread's list, and activates arrivals with no earlier copy
    /// pending.
    fn go_on(&mut self, at: (usize, u32)) {
        let Some(steps) = self.threads.get_mut(thread(at)) else { return };
        while let Some(ArrivalStep::Copy { done: true, .. } | ArrivalStep::Arrival(_) | ArrivalStep::End) =
            steps.front()
        {
            if let Some(ArrivalStep::Arrival(number)) = steps.pop_front() {
                self.active.push_back(number);
            }
        }
    }
}

fn thread((warp, lane): (usize, u32)) -> usize {
    MAX_LANES * warp + lane as usize
}

/// Reduces the elements of a piece into global memory, one by one.
fn reduce(
    global: &mut GlobalMemory,
    to: u64,
    piece: Size,
    value: u128,
    Reduction { op, size }: Reduction,
) -> Result<(), String> {
    let kept = u128::MAX >> (128 - 8 * size.bytes());
    for at in (0..piece.bytes()).step_by(size.bytes() as usize) {
        let to = to.wrapping_add(u64::from(at));
        let old = global.load(to, size.bytes() as usize)?;
        if let Some(new) = atomic::apply(op, size, old, value >> (8 * at) & kept, 0) {
            global.store(to, size.bytes() as usize, new)?;
        }
    }
    Ok(())
}

/// Reads `bytes` bytes of global memory, followed by zeros up to `of` bytes.
fn read(global: &mut GlobalMemory, from: u64, bytes: u32, of: u32) -> Result<u128, String> {
    if bytes == of {
        return global.load(from, of as usize);
    }
    (0..bytes).try_fold(0, |value, i| {
        let byte = global.load(from.wrapping_add(u64::from(i)), 1)?;
        Ok(value | byte << (8 * i))
    })
}
