//! Rules of the CTA table (spec 1.3).

use crate::request::{Allocation, Geometry};

/// Rule that the allocation of `slot` breaks, if any. `allocations` has one entry for each possible slot; the unit
/// has `slots` of them.
pub(crate) fn broken_rule(
    geometry: &Geometry,
    allocations: &[Option<Allocation>],
    slot: u8,
    slots: u32,
) -> Option<String> {
    let row_bytes = 4 * geometry.banks;
    let rows = |one: &Allocation| (one.base_row, one.base_row + one.size_bytes.div_ceil(row_bytes));
    let allocation = |slot: usize| allocations.get(slot)?.as_ref();
    let (first, end) = rows(allocation(slot.into())?);
    if u32::from(slot) >= slots {
        return Some(format!("although there are {slots} slots"));
    }
    if end > geometry.rows {
        return Some(format!("up to row {end} of {}", geometry.rows));
    }
    let others = (0..allocations.len()).filter(|other| *other != usize::from(slot));
    others.filter_map(|other| Some((other, rows(allocation(other)?)))).find_map(
        |(other, (other_first, other_end))| {
            let apart = end <= other_first || other_end <= first;
            (!apart).then(|| {
                format!("that shares row {} with the allocation of slot {other}", first.max(other_first))
            })
        },
    )
}
