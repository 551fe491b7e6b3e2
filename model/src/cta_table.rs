//! The allocation of shared memory that each CTA slot owns. Mirror of `rtl/atoms_cta_table.sv`.

use crate::config::Config;
use crate::registers::SeeRegister;

/// The allocation of one slot; fields as in `allocation_t`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Allocation {
    /// Size of the allocation in bytes.
    pub(crate) size: u32,
    /// First row; the same in every bank.
    pub(crate) base: u16,
    pub(crate) rank: u8,
    pub(crate) valid: bool,
}

impl Allocation {
    fn end_row(&self, row_bytes: u32) -> u32 {
        u32::from(self.base) + self.size.div_ceil(row_bytes)
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Write {
    pub(crate) slot: u8,
    /// True to give the slot an allocation, false to remove it.
    pub(crate) enable: bool,
    /// The new allocation; its `valid` is ignored.
    pub(crate) allocation: Allocation,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CtaTable {
    allocation: [Allocation; 16],
    inside: [u8; 16],
    reject: bool,
}

impl CtaTable {
    /// Allocation of `slot`; not valid if the slot does not exist.
    pub(crate) fn allocation(&self, slot: u8) -> Allocation {
        // Slots beyond the configured number never get an allocation.
        self.allocation[usize::from(slot & 15)]
    }

    /// True if a write of `slot` can be accepted: no request of that slot is in flight.
    pub(crate) fn ready(&self, config: &Config, slot: u8) -> bool {
        u32::from(slot) >= config.num_cta_slots || self.inside[usize::from(slot)] == 0
    }

    pub(crate) fn reject(&self) -> bool {
        self.reject
    }

    /// Clock edge: performs at most one write, and counts the requests that enter and leave each slot.
    /// `leave` holds the slots of a request that leaves the pipeline and of one that leaves the waiter table.
    #[inline]
    pub(crate) fn tick(
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
        let mut count = |slot: Option<u8>, change: i8| {
            if let Some(slot) = slot {
                let inside = &mut self.inside[usize::from(slot & 15)];
                *inside = inside.wrapping_add_signed(change);
            }
        };
        count(warp_enter, 1);
        count(cluster_enter, 1);
        leave.into_iter().for_each(|slot| count(slot, -1));
    }

    #[inline(never)] // rarely called, from a function that runs every cycle
    fn write(&mut self, config: &Config, write: Write) {
        let exists = u32::from(write.slot) < config.num_cta_slots;
        let mut written = Allocation { valid: true, ..write.allocation };
        let end = written.end_row(config.row_bytes());
        if write.enable {
            self.reject = !exists
                || end > config.num_rows
                || self.allocation.iter().enumerate().any(|(slot, other)| {
                    other.valid
                        && slot != usize::from(write.slot)
                        && u32::from(written.base) < other.end_row(config.row_bytes())
                        && u32::from(other.base) < end
                });
        }
        if self.reject || !write.enable {
            written = Allocation::default();
        }
        if exists {
            self.allocation[usize::from(write.slot)] = written;
        }
    }

    pub(crate) fn registers(&self, config: &Config, see: &mut impl SeeRegister) {
        let CtaTable { allocation, inside, reject } = self;
        let slots = config.num_cta_slots as usize;
        let valid = allocation.iter().enumerate().fold(0, |all, (slot, a)| all | u128::from(a.valid) << slot);
        see.see(format_args!("u_cta_table.valid_q"), Some(valid));
        for (slot, allocation) in allocation.iter().enumerate().take(slots) {
            let Allocation { size, base, rank, valid } = *allocation;
            let fields =
                [("size", size), ("base", base.into()), ("rank", rank.into()), ("valid", valid.into())];
            for (field, value) in fields {
                let path = format_args!("u_cta_table.allocation_q[{slot}].{field}");
                see.see(path, valid.then_some(value.into()));
            }
        }
        for (slot, inside) in inside.iter().enumerate().take(slots) {
            see.see(format_args!("u_cta_table.inside_q[{slot}]"), Some((*inside).into()));
        }
        see.see(format_args!("u_cta_table.reject_q"), Some((*reject).into()));
    }

    pub(crate) fn reset(&mut self) {
        *self = CtaTable::default();
    }
}
