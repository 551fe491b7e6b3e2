//! The part of shared memory that each CTA slot owns. Mirror of `rtl/atoms_cta_table.sv`.

use crate::config::Config;

/// The part of one slot; fields as in `part_t`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// Bytes.
    pub size: u32,
    /// First row, in every bank.
    pub base: u16,
    /// Rank of the CTA in its cluster.
    pub rank: u8,
    /// The slot has a part.
    pub valid: bool,
}

impl Part {
    /// First row behind the part.
    fn end_row(&self, row_bytes: u32) -> u32 {
        u32::from(self.base) + self.size.div_ceil(row_bytes)
    }
}

/// A write of one slot.
#[derive(Clone, Copy, Debug)]
pub struct Write {
    /// Slot written.
    pub slot: u8,
    /// Gives the slot a part, or takes it away.
    pub enable: bool,
    /// The part, without its `valid`.
    pub part: Part,
}

/// Registers of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CtaTable {
    part: [Part; 16],
    inside: [u8; 16],
    reject: bool,
}

impl CtaTable {
    /// A table in which no slot has a part.
    pub fn new() -> Self {
        CtaTable { part: [Part::default(); 16], inside: [0; 16], reject: false }
    }

    /// The part of `slot`; not valid for a slot that does not exist.
    pub fn part(&self, slot: u8) -> Part {
        // Slots beyond the configuration's never get a part.
        self.part[usize::from(slot & 15)]
    }

    /// A write of `slot` is taken: no request of that slot is inside.
    pub fn ready(&self, config: &Config, slot: u8) -> bool {
        u32::from(slot) >= config.num_cta_slots || self.inside[usize::from(slot)] == 0
    }

    /// The write of the cycle before was refused.
    pub fn reject(&self) -> bool {
        self.reject
    }

    /// Clock edge: at most one write, and the slots of the requests that enter and leave, from the pipeline and
    /// from the table of waiters.
    pub fn tick(
        &mut self,
        config: &Config,
        write: Option<Write>,
        warp_enter: Option<u8>,
        cluster_enter: Option<u8>,
        leave: [Option<u8>; 2],
    ) {
        self.reject = false;
        if let Some(write) = write {
            self.write(config, write);
        }
        for slot in [warp_enter, cluster_enter].into_iter().flatten() {
            self.inside[usize::from(slot & 15)] += 1;
        }
        for slot in leave.into_iter().flatten() {
            self.inside[usize::from(slot & 15)] -= 1;
        }
    }

    fn write(&mut self, config: &Config, write: Write) {
        let exists = u32::from(write.slot) < config.num_cta_slots;
        let mut written = Part { valid: true, ..write.part };
        let end = written.end_row(config.row_bytes());
        if write.enable {
            self.reject = !exists
                || end > config.num_rows
                || self.part.iter().enumerate().any(|(slot, part)| {
                    part.valid
                        && slot != usize::from(write.slot)
                        && u32::from(written.base) < part.end_row(config.row_bytes())
                        && u32::from(part.base) < end
                });
        }
        if self.reject || !write.enable {
            written = Part::default();
        }
        if exists {
            self.part[usize::from(write.slot)] = written;
        }
    }

    /// Reset: no slot has a part, no request is inside.
    pub fn reset(&mut self) {
        *self = CtaTable::new();
    }
}

impl Default for CtaTable {
    fn default() -> Self {
        CtaTable::new()
    }
}
