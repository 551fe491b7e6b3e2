//! Allocates rows of the banks to CTA slots, and writes the allocations to the unit's CTA table.

use atoms_model::port::{In, Out};
use std::collections::VecDeque;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Allocation {
    /// First row, the same in every bank.
    pub(crate) base: u32,
    pub(crate) rows: u32,
    /// Bytes that the CTA may access.
    pub(crate) bytes: u32,
    pub(crate) rank: u32,
}

#[derive(Clone, Copy)]
struct Write {
    slot: usize,
    /// New allocation. `None` releases the slot.
    allocation: Option<Allocation>,
}

pub(crate) enum Verdict {
    Granted {
        slot: usize,
    },
    Refused {
        slot: usize,
        allocation: Allocation,
    },
    /// The allocation is released, and its rows are free.
    Released {
        slot: usize,
    },
}

pub(crate) struct AllocationTable {
    rows: u32,
    allocations: Vec<Option<Allocation>>,
    writes: VecDeque<Write>,
    /// Write accepted in the previous cycle. The unit reports the result in this cycle.
    taken: Option<Write>,
}

impl AllocationTable {
    pub(crate) fn new(slots: u32, rows: u32) -> AllocationTable {
        AllocationTable {
            rows,
            allocations: vec![None; slots as usize],
            writes: VecDeque::new(),
            taken: None,
        }
    }

    pub(crate) fn idle(&self) -> bool {
        self.writes.is_empty() && self.taken.is_none()
    }

    /// Allocates the first gap with enough rows to a free slot. Returns the slot, or `None` if nothing fits.
    pub(crate) fn allocate(&mut self, rows: u32, bytes: u32, rank: u32) -> Option<usize> {
        let slot = self.allocations.iter().position(Option::is_none)?;
        let (base, _) = self.gaps().find(|(_, free)| *free >= rows)?;
        let allocation = Allocation { base, rows, bytes, rank };
        self.allocations[slot] = Some(allocation);
        self.writes.push_back(Write { slot, allocation: Some(allocation) });
        Some(slot)
    }

    /// Number of further CTAs of `rows` rows that fit.
    pub(crate) fn room(&self, rows: u32) -> u32 {
        let free_slots = self.allocations.iter().filter(|p| p.is_none()).count() as u32;
        let room: u32 = self.gaps().map(|(_, free)| free / rows.max(1)).sum();
        room.min(free_slots)
    }

    /// Free row ranges: first row, number of rows.
    fn gaps(&self) -> impl Iterator<Item = (u32, u32)> {
        let mut used: Vec<_> = self.allocations.iter().flatten().map(|p| (p.base, p.base + p.rows)).collect();
        used.sort_unstable();
        used.push((self.rows, self.rows));
        let mut base = 0;
        used.into_iter().map(move |(start, end)| {
            let free = start - base;
            (std::mem::replace(&mut base, end), free)
        })
    }

    pub(crate) fn release(&mut self, slot: usize) {
        self.writes.push_back(Write { slot, allocation: None });
    }

    pub(crate) fn drive(&self, inputs: &mut In) {
        let write = self.writes.front().filter(|_| self.taken.is_none());
        inputs.cta_valid = u8::from(write.is_some());
        if let Some(Write { slot, allocation }) = write {
            inputs.cta_slot = *slot as u8;
            inputs.cta_enable = u8::from(allocation.is_some());
            inputs.cta_base = allocation.map_or(0, |p| p.base as u16);
            inputs.cta_size = allocation.map_or(0, |p| p.bytes);
            inputs.cta_rank = allocation.map_or(0, |p| p.rank as u8);
        }
    }

    pub(crate) fn observe(&mut self, inputs: &In, outputs: &Out) -> Option<Verdict> {
        if let Some(Write { slot, allocation }) = self.taken.take() {
            return Some(match allocation {
                None => {
                    self.allocations[slot] = None;
                    Verdict::Released { slot }
                }
                Some(allocation) if outputs.cta_reject != 0 => {
                    self.allocations[slot] = None;
                    Verdict::Refused { slot, allocation }
                }
                Some(_) => Verdict::Granted { slot },
            });
        }
        if inputs.cta_valid != 0 && outputs.cta_ready != 0 {
            self.taken = self.writes.pop_front();
        }
        None
    }

    pub(crate) fn bytes(&self, slot: usize) -> u32 {
        self.allocation(slot).map_or(0, |p| p.bytes)
    }

    pub(crate) fn allocation(&self, slot: usize) -> Option<Allocation> {
        self.allocations.get(slot).copied().flatten()
    }
}
