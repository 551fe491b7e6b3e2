//! Shadow memory: for each word, the accesses that a later one may conflict with.

use super::clock::{Clock, Row};
use super::finding::{Party, RaceKind, Strength};
use crate::observer::Memory;
use atoms_isa::Scope;
use std::collections::HashMap;

/// Accesses kept of one word; of more that are all unordered, the oldest is forgotten.
const MOST: usize = 64;

/// An access as it is kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    pub(super) party: Party,
    pub(super) row: Row,
    /// In the row; of a block copy, not the lane that asked.
    pub(super) lane: u8,
    /// In the row's own time.
    pub(super) time: u32,
    /// Bytes of the word.
    pub(super) bytes: u8,
    /// What a plain store has written there, where that is known.
    pub(super) value: Option<u32>,
}

/// A thread that accesses, and what it knows: threads of one warp that are together are in order with each other.
pub(super) struct Accessor<'c> {
    pub(super) row: Row,
    /// Lanes of the row that are in order with it.
    pub(super) together: u32,
    pub(super) clock: &'c Clock,
}

impl Accessor<'_> {
    fn comes_after(&self, record: &Record) -> bool {
        let lane = record.lane;
        (record.row == self.row && self.together >> (lane & 31) & 1 != 0)
            || self.clock.get(record.row, lane) >= record.time
    }
}

/// True if the scope of one includes the other.
fn includes(scope: Option<Scope>, one: &Party, other: &Party) -> bool {
    scope.is_none_or(|scope| one.site().reaches(scope, other.site()))
}

/// Why two accesses that nothing orders must not meet, if they must not.
fn conflict(one: &Party, other: &Party) -> Option<RaceKind> {
    if !one.writes && !other.writes {
        return None;
    }
    match (one.strength.scope(), other.strength.scope()) {
        (Some(a), Some(b)) => {
            (!includes(a, one, other) || !includes(b, other, one)).then_some(RaceKind::Scope)
        }
        (None, None) => Some(RaceKind::Plain),
        // A word that a loop waits for is one that is stored to say so.
        _ => match (one.strength, other.strength) {
            (Strength::Unsaid, Strength::Taken) | (Strength::Taken, Strength::Unsaid) => None,
            _ => Some(RaceKind::PlainAndAtomic),
        },
    }
}

/// True if whatever conflicts with `old` conflicts with `new` as well, so that `old` need not be kept.
fn stands_for(new: &Party, old: &Party) -> bool {
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
struct Cell {
    records: Vec<Record>,
}

/// All words accessed so far.
#[derive(Default)]
pub(super) struct Shadow {
    global: HashMap<u64, Cell>,
    /// By number of the CTA and word.
    shared: HashMap<u32, Vec<Cell>>,
}

impl Shadow {
    /// Takes in an access to one word, and tells of each earlier one that it must not meet.
    pub(super) fn access(
        &mut self,
        memory: Memory,
        word: u64,
        record: Record,
        who: &Accessor<'_>,
        mut found: impl FnMut(RaceKind, &Party),
    ) {
        let cell = match memory {
            Memory::Global => self.global.entry(word).or_default(),
            Memory::Shared(cta) => {
                let cells = self.shared.entry(cta).or_default();
                // Shared addresses have 24 bits.
                let at = (word & 0x3f_ffff) as usize;
                if cells.len() <= at {
                    cells.resize_with(at + 1, Cell::default);
                }
                &mut cells[at]
            }
        };
        let new = &record.party;
        cell.records.retain(|old| {
            let overlap = old.bytes & record.bytes != 0;
            let ordered = who.comes_after(old);
            // Which of them comes first makes no difference.
            let same = old.value.is_some() && old.value == record.value && old.bytes == record.bytes;
            if overlap
                && !ordered
                && !same
                && let Some(kind) = conflict(&old.party, new)
            {
                found(kind, &old.party);
            }
            !(ordered && old.bytes & !record.bytes == 0 && stands_for(new, &old.party))
        });
        if cell.records.len() >= MOST {
            cell.records.remove(0);
        }
        cell.records.push(record);
    }

    /// The shared memory of a CTA is no longer there.
    pub(super) fn end(&mut self, cta: u32) {
        self.shared.remove(&cta);
    }
}
