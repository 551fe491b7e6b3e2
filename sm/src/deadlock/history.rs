//! History of mbarrier objects, for reports: arrivals and bytes of the current phase.

use atoms_model::mbarrier;
use atoms_ops::{MbarOp, Op, OpKind};
use std::collections::{BTreeMap, BTreeSet};

/// CTA slot and byte offset of an mbarrier object.
pub(crate) type ObjectPlace = (usize, u32);

/// Events at one object since its initialization. All counts are of the current phase.
#[derive(Default)]
pub(crate) struct ObjectHistory {
    /// Value of the object after these events.
    pub(crate) bits: u64,
    /// Arrivals by warp slot.
    pub(crate) arrivals: BTreeMap<usize, u32>,
    pub(crate) expected: u64,
    pub(crate) delivered: u64,
    /// Parity of the last wait that passed, by warp slot.
    pub(crate) passed: BTreeMap<usize, u8>,
}

/// Histories of the objects of the running CTAs. An object without a known initialization has none.
#[derive(Default)]
pub(crate) struct ObjectLog {
    objects: BTreeMap<ObjectPlace, ObjectHistory>,
    /// Objects that each instruction has used.
    used: BTreeMap<u32, BTreeSet<ObjectPlace>>,
}

impl ObjectLog {
    /// Records an operation of one lane. `warp` is the slot of its warp. `None` for a copy.
    pub(crate) fn apply(
        &mut self,
        place: ObjectPlace,
        (op, b): (Op, u64),
        pc: Option<u32>,
        warp: Option<usize>,
    ) {
        if let Some(pc) = pc {
            self.used.entry(pc).or_default().insert(place);
        }
        if matches!(op, Op::MbarInit | Op::Store) {
            self.objects.insert(place, ObjectHistory { bits: b, ..ObjectHistory::default() });
            return;
        }
        let Some(object) = self.objects.get_mut(&place) else { return };
        let plain = matches!(op, Op::MbarArrive | Op::MbarArriveDrop | Op::MbarArriveSm80);
        // One call is one lane, so an arrive without a count is one arrival.
        let b = if plain { 1 } else { b };
        let (arrivals, expected, delivered) = match op.kind() {
            OpKind::Mbar(MbarOp::ExpectTx) => (0, b, 0),
            OpKind::Mbar(MbarOp::CompleteTx) => (0, 0, b),
            OpKind::Mbar(MbarOp::ArriveExpectTx | MbarOp::ArriveDropExpectTx) => (1, b, 0),
            OpKind::Mbar(_) => (b as u32, 0, 0),
            OpKind::Word(_) => return,
        };
        object.expected = object.expected.saturating_add(expected);
        object.delivered = object.delivered.saturating_add(delivered);
        if let Some(warp) = warp.filter(|_| arrivals != 0) {
            let count = object.arrivals.entry(warp).or_default();
            *count = count.saturating_add(arrivals);
        }
        let step = mbarrier::step(op, object.bits, b);
        object.bits = step.new.unwrap_or(object.bits);
        if step.completed {
            object.arrivals.clear();
            (object.expected, object.delivered) = (0, 0);
        }
    }

    /// Records a wait that passed.
    pub(crate) fn passed(&mut self, place: ObjectPlace, warp: usize, parity: u8) {
        if let Some(object) = self.objects.get_mut(&place) {
            object.passed.insert(warp, parity);
        }
    }

    /// Returns the history of an object whose value is `bits`. `None` if the history is not complete.
    pub(crate) fn object(&self, place: ObjectPlace, bits: u64) -> Option<&ObjectHistory> {
        self.objects.get(&place).filter(|object| object.bits == bits)
    }

    /// True if the instruction has used this object, or none so far.
    pub(crate) fn may_use(&self, pc: u32, place: ObjectPlace) -> bool {
        self.used.get(&pc).is_none_or(|used| used.contains(&place))
    }

    pub(crate) fn end(&mut self, slot: usize) {
        self.objects.retain(|(of, _), _| *of != slot);
        self.used.values_mut().for_each(|used| used.retain(|(of, _)| *of != slot));
        self.used.retain(|_, used| !used.is_empty());
    }
}
