//! History of mbarrier objects, for reports: arrivals and bytes of the current phase.

use atoms_model::mbarrier;
use atoms_ops::{MbarOp, Op, OpKind};
use std::collections::{BTreeMap, BTreeSet};

/// Parts of an operation on an mbarrier object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MbarEffect {
    pub(crate) arrives: bool,
    /// True if the operation expects bytes.
    pub(crate) expects: bool,
    /// True if the operation delivers expected bytes.
    pub(crate) delivers: bool,
}

impl MbarEffect {
    /// Returns `None` for operations that neither arrive nor count bytes.
    pub(crate) fn of(op: Op) -> Option<MbarEffect> {
        let OpKind::Mbar(op) = op.kind() else { return None };
        let (arrives, expects, delivers) = match op {
            MbarOp::Init | MbarOp::Inval | MbarOp::TestWait | MbarOp::TryWait => return None,
            MbarOp::ExpectTx => (false, true, false),
            MbarOp::CompleteTx => (false, false, true),
            MbarOp::ArriveExpectTx | MbarOp::ArriveDropExpectTx => (true, true, false),
            _ => (true, false, false),
        };
        Some(MbarEffect { arrives, expects, delivers })
    }
}

/// CTA slot and byte offset of an mbarrier object.
pub(crate) type ObjectPlace = (usize, u32);

/// Events at one object since its initialization. All counts are of the current phase.
#[derive(Default)]
pub(crate) struct ObjectHistory {
    /// Value of the object after these events.
    pub(crate) bits: u64,
    /// Number of arrivals and mask of the arriving lanes, by warp slot.
    pub(crate) arrivals: BTreeMap<usize, (u32, u32)>,
    pub(crate) expected: u64,
    pub(crate) delivered: u64,
    /// Number of complete phases.
    pub(crate) phases: u32,
    /// Parity of the last wait that passed, by warp slot.
    pub(crate) passed: BTreeMap<usize, u8>,
}

/// Objects that an instruction has used in one warp.
#[derive(Default)]
struct Used {
    objects: BTreeSet<ObjectPlace>,
    last: Option<ObjectPlace>,
    /// True if the warp has returned to an object from another one: the end of a ring.
    returned: bool,
}

/// Histories of the objects of the running CTAs. An object without a known initialization has none.
#[derive(Default)]
pub(crate) struct ObjectLog {
    objects: BTreeMap<ObjectPlace, ObjectHistory>,
    /// Objects that each instruction has used, by instruction and warp slot.
    used: BTreeMap<(u32, Option<usize>), Used>,
    /// Last entry of `used`: a copy uses its object many times in a row.
    last_used: Option<(u32, Option<usize>, ObjectPlace)>,
}

impl ObjectLog {
    /// Records an operation of lanes, one after the other, or of a copy. `threads` is the slot of the warp and the
    /// mask of the lanes. `None` for a copy whose thread is not known.
    pub(crate) fn apply(
        &mut self,
        place: ObjectPlace,
        (op, b): (Op, u64),
        pc: Option<u32>,
        threads: Option<(usize, u32)>,
    ) {
        let warp = threads.map(|(warp, _)| warp);
        if let Some(pc) = pc.filter(|pc| self.last_used != Some((*pc, warp, place))) {
            self.last_used = Some((pc, warp, place));
            let used = self.used.entry((pc, warp)).or_default();
            used.returned |= !used.objects.insert(place) && used.last != Some(place);
            used.last = Some(place);
        }
        if matches!(op, Op::MbarInit | Op::Store) {
            self.objects.insert(place, ObjectHistory { bits: b, ..ObjectHistory::default() });
            return;
        }
        let Some(object) = self.objects.get_mut(&place) else { return };
        let plain = matches!(op, Op::MbarArrive | Op::MbarArriveDrop | Op::MbarArriveSm80);
        // An arrive without a count is one arrival of each lane.
        let b = if plain { 1 } else { b };
        let effect = MbarEffect::of(op).unwrap_or_default();
        // With bytes, `b` is their number, and there is one arrival.
        let count = if effect.expects { 1 } else { b as u32 };
        let arrivals = if effect.arrives { count } else { 0 };
        let [expected, delivered] =
            [effect.expects, effect.delivers].map(|counts| if counts { b } else { 0 });
        // Lanes that have arrived since the start of the phase.
        let (mut arrived, mut rest) = (0, threads.map_or(1, |(_, lanes)| lanes));
        while rest != 0 {
            let lane = rest & rest.wrapping_neg();
            rest &= !lane;
            arrived |= lane;
            object.expected = object.expected.saturating_add(expected);
            object.delivered = object.delivered.saturating_add(delivered);
            let step = mbarrier::step(op, object.bits, b);
            object.bits = step.new.unwrap_or(object.bits);
            if step.completed {
                arrived = 0;
                object.phases = object.phases.saturating_add(1);
                object.arrivals.clear();
                (object.expected, object.delivered) = (0, 0);
            }
        }
        if let Some((warp, _)) = threads.filter(|_| arrivals != 0 && arrived != 0) {
            let (count, lanes) = object.arrivals.entry(warp).or_default();
            *count = count.saturating_add(arrivals.saturating_mul(arrived.count_ones()));
            *lanes |= arrived;
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

    /// True if the instruction has used this object, or none so far. With `any`, also if it may use objects
    /// that it has not used: it has not returned to the first one yet.
    pub(crate) fn may_use(&self, pc: u32, place: ObjectPlace, any: bool) -> bool {
        let mut used = self.used.range((pc, None)..(pc + 1, None)).map(|(_, used)| used).peekable();
        let none = used.peek().is_none();
        let (has, returned) = used.fold((false, false), |(has, returned), used| {
            (has || used.objects.contains(&place), returned || used.returned)
        });
        none || has || any && !returned
    }

    /// Instructions that have used this object.
    pub(crate) fn users(&self, place: ObjectPlace) -> impl Iterator<Item = u32> {
        self.used.iter().filter(move |(_, used)| used.objects.contains(&place)).map(|((pc, _), _)| *pc)
    }

    pub(crate) fn end(&mut self, slot: usize) {
        self.objects.retain(|(of, _), _| *of != slot);
        self.used.values_mut().for_each(|used| used.objects.retain(|(of, _)| *of != slot));
        self.used.retain(|_, used| !used.objects.is_empty());
    }
}
