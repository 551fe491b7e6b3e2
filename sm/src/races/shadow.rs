//! Shadow memory: for each word, the accesses that a later access may conflict with.

use super::clock::{Clock, Events, ProxyFence, Row};
use super::finding::{Findings, Party, Proxy, RaceKind, Strength};
use crate::observer::Memory;
use crate::warp::{LANES, lanes};
use atoms_isa::{ProxySpace, Scope};
use std::cell::Cell;
use std::collections::HashMap;

/// Limit for accesses kept per word. If more are unordered, the oldest one is dropped.
const MOST: usize = 64;

#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    pub(super) party: Party,
    pub(super) row: Row,
    /// Lanes in the row that have accessed the word in this way. For a copy, this is not the lane that started it.
    pub(super) lanes: u32,
    pub(super) time: u32,
    /// Bit mask of the accessed bytes of the word. Bit `n` is byte `n`.
    pub(super) bytes: u8,
    /// Value that a plain store has written, if known.
    pub(super) value: Option<u32>,
}

impl Record {
    /// Lanes of the access that a clock with these times knows.
    fn known(&self, times: Option<&[u32; LANES]>) -> u32 {
        let Some(times) = times else { return 0 };
        if self.lanes.is_power_of_two() {
            return if times[self.lanes.trailing_zeros() as usize] >= self.time { self.lanes } else { 0 };
        }
        let at_least = |(lane, time): (usize, &u32)| u32::from(*time >= self.time) << lane;
        self.lanes & times.iter().enumerate().map(at_least).fold(0, |mask, lane| mask | lane)
    }
}

/// Row of a clock with its times. `None` if no event of the row is known.
type KnownRow<'c> = (Row, Option<&'c [u32; LANES]>);

/// Accessing thread with its clock. Threads of a split are ordered with each other.
pub(super) struct Accessor<'c> {
    pub(super) row: Row,
    /// Lanes of the row that are ordered with the thread.
    pub(super) together: u32,
    pub(super) clock: &'c Clock,
    /// Row that was looked up last, with its times: the records of a word are often of one row.
    last: Cell<Option<KnownRow<'c>>>,
}

impl<'c> Accessor<'c> {
    pub(super) fn new(row: Row, together: u32, clock: &'c Clock) -> Accessor<'c> {
        Accessor { row, together, clock, last: Cell::new(None) }
    }

    /// Lanes of an earlier access that are ordered before this one.
    fn comes_after(&self, record: &Record) -> u32 {
        let together = if record.row == self.row { record.lanes & self.together } else { 0 };
        if together == record.lanes {
            return together;
        }
        let times = match self.last.get() {
            Some((row, times)) if row == record.row => times,
            _ => self.clock.times(record.row),
        };
        self.last.set(Some((record.row, times)));
        together | record.known(times)
    }

    /// Lanes of an earlier access that only a limited fence orders before this one.
    fn comes_after_limited(&self, record: &Record, memory: Memory) -> u32 {
        let known = |events| record.known(self.clock.times(Row { events, ..record.row }));
        match memory {
            Memory::Shared(cta) if cta == record.row.cta && record.party.is_init() => {
                known(Events::OwnShared) | known(Events::Inits)
            }
            Memory::Shared(cta) if cta == record.row.cta => known(Events::OwnShared),
            _ => 0,
        }
    }
}

/// Kind of finding if no proxy fence is between two ordered accesses. `None` if none is needed.
fn crosses(old: &Party, new: &Party, memory: Memory) -> Option<RaceKind> {
    match (old.proxy, new.proxy, memory) {
        (Proxy::Generic, Proxy::Async, Memory::Global) => old.writes.then_some(RaceKind::ProxyGlobal),
        (Proxy::Generic, Proxy::Async, _) if old.writes => Some(RaceKind::Proxy),
        (Proxy::Generic, Proxy::Async, _) if new.writes => Some(RaceKind::ProxyWar),
        _ => None,
    }
}

/// True if the CTA of `new` executed the fence, and the fence covers the memory of every CTA involved.
fn is_near(fence: &ProxyFence, old: &Party, new: &Party, memory: Memory) -> bool {
    let own = old.cta == new.cta && memory == Memory::Shared(new.cta);
    fence.cta == new.cta && (memory == Memory::Global || own || fence.space != ProxySpace::Cta)
}

fn includes(scope: Option<Scope>, one: &Party, other: &Party) -> bool {
    scope.is_none_or(|scope| one.site().reaches(scope, other.site()))
}

/// Kind of race between two unordered accesses. `None` if they do not conflict.
fn conflict(one: &Party, other: &Party) -> Option<RaceKind> {
    if !one.writes && !other.writes {
        return None;
    }
    match (one.strength.scope(), other.strength.scope()) {
        // Copies complete phases for the threads of every CTA.
        (Some(_), Some(_)) if one.object && other.object && (one.copy || other.copy) => None,
        (Some(a), Some(b)) => (!includes(a, one, other) || !includes(b, other, one))
            .then_some(if one.object && other.object { RaceKind::ObjectScope } else { RaceKind::Scope }),
        (None, None) => Some(RaceKind::Plain),
        // A polled word is a flag, so a store to it counts as volatile.
        _ => match (one.strength, other.strength) {
            (Strength::Unsaid, Strength::Taken) | (Strength::Taken, Strength::Unsaid) => None,
            _ => Some(RaceKind::PlainAndAtomic),
        },
    }
}

/// True if every access that conflicts with `old` also conflicts with `new`, so that `old` can be dropped.
fn stands_for(new: &Party, old: &Party) -> bool {
    if (old.proxy, new.proxy) == (Proxy::Generic, Proxy::Async) && !new.writes {
        // Later writes of the async proxy must still follow `old`.
        return false;
    }
    let writes = new.writes || !old.writes;
    match (new.strength, old.strength) {
        (Strength::Weak, _) => writes,
        (Strength::Unsaid, Strength::Weak) => !old.writes,
        (Strength::Unsaid, _) | (Strength::Taken, Strength::Taken) => true,
        (Strength::Strong(a), Strength::Strong(b)) => a == b && new.cta == old.cta && writes,
        (Strength::Strong(a), Strength::Taken) => a.is_none(),
        (Strength::Strong(_), Strength::Weak | Strength::Unsaid) | (Strength::Taken, _) => false,
    }
}

#[derive(Default)]
struct Word {
    records: Vec<Record>,
}

#[derive(Default)]
pub(super) struct Shadow {
    global: HashMap<u64, Word>,
    /// Words of shared memory, by number of the CTA.
    shared: HashMap<u32, Vec<Word>>,
}

impl Shadow {
    /// Records an access to one word, and adds to `findings` each earlier access that conflicts with it.
    pub(super) fn access(
        &mut self,
        memory: Memory,
        word: u64,
        record: Record,
        who: &Accessor<'_>,
        findings: &mut Findings,
    ) {
        let cell = match memory {
            Memory::Global => self.global.entry(word).or_default(),
            Memory::Shared(cta) => {
                let cells = self.shared.entry(cta).or_default();
                // Shared addresses have 24 bits.
                let at = (word & 0x3f_ffff) as usize;
                if cells.len() <= at {
                    cells.resize_with(at + 1, Word::default);
                }
                &mut cells[at]
            }
        };
        let (new, count) = (&record.party, record.lanes.count_ones());
        if matches!(memory, Memory::Shared(cta) if cta != new.cta && !who.clock.knows(cta)) {
            findings.add(RaceKind::LateEntry, new, new, memory, 4 * word, count);
        }
        let mut merged = false;
        cell.records.retain_mut(|old| {
            let same_instruction =
                !new.copy && old.row == record.row && (old.party.pc, old.party.cycle) == (new.pc, new.cycle);
            if same_instruction {
                // Lanes of one instruction never race with each other.
                if old.bytes == record.bytes && old.value == record.value && old.party.writes == new.writes {
                    old.lanes |= record.lanes;
                    merged = true;
                }
                return true;
            }
            let overlap = old.bytes & record.bytes != 0;
            let ordered = who.comes_after(old);
            let unordered = old.lanes & !ordered;
            // If both store the same value, their order makes no difference.
            let same = old.value.is_some() && old.value == record.value && old.bytes == record.bytes;
            if overlap
                && unordered != 0
                && !same
                && let Some(kind) = conflict(&old.party, new)
            {
                let unordered = unordered & !who.comes_after_limited(old, memory);
                if unordered != 0 {
                    findings.add(kind, &old.party.of(unordered), new, memory, 4 * word, count);
                }
            }
            if overlap && let Some(kind) = crosses(&old.party, new, memory) {
                for lane in lanes(ordered) {
                    let fences = who.clock.fences(old.row, lane as u8, old.time, memory);
                    let near = fences.fold(None, |near, fence| {
                        findings.fence_orders(fence.pc);
                        Some(near == Some(true) || is_near(&fence, &old.party, new, memory))
                    });
                    let first = old.party.of(1 << lane);
                    match near {
                        None => findings.add(kind, &first, new, memory, 4 * word, count),
                        Some(false) if kind != RaceKind::ProxyWar => {
                            findings.add(RaceKind::ProxyFar, &first, new, memory, 4 * word, count);
                        }
                        Some(_) => {}
                    }
                }
            }
            if old.bytes & !record.bytes == 0 && stands_for(new, &old.party) {
                // A lane follows its own accesses.
                let again = if old.row == record.row { record.lanes } else { 0 };
                old.lanes = unordered & !again;
            }
            old.lanes != 0
        });
        if merged {
            return;
        }
        if cell.records.len() >= MOST {
            cell.records.remove(0);
        }
        cell.records.push(record);
    }

    /// The threads of a CTA have ended, with all that they know. Checks the accesses of other CTAs to its memory.
    pub(super) fn ended(&self, cta: u32, known: &Clock, exit: &Party, findings: &mut Findings) {
        for (word, cell) in (0..).zip(self.shared.get(&cta).into_iter().flatten()) {
            // A bulk copy of the CTA may still read. Its other accesses end with its threads.
            let remains = |party: &Party| party.cta != cta || (party.proxy == Proxy::Async && !party.writes);
            for record in cell.records.iter().filter(|record| remains(&record.party)) {
                let unknown = lanes(record.lanes).fold(0, |mask, lane| {
                    let known = known.get(record.row, lane as u8) >= record.time;
                    mask | u32::from(!known) << lane
                });
                if unknown != 0 {
                    let first = record.party.of(unknown);
                    findings.add(RaceKind::EarlyExit, &first, exit, Memory::Shared(cta), 4 * word, 1);
                }
            }
        }
    }

    pub(super) fn end(&mut self, cta: u32) {
        self.shared.remove(&cta);
    }
}
