//! The account of what was brought to every object, and what the objects came to.

use std::collections::HashMap;

use atoms_model::mbarrier::MbarObject;
use atoms_ops::Op;

use super::place::{Place, Port};

/// How often things happened, to see whether a run was worth it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Events {
    /// Waits answered with true.
    pub passed: u64,
    /// Waits answered with true by a wake-up.
    pub woken: u64,
    /// Waits answered with false by a wake-up.
    pub timed_out: u64,
    /// Tests and waits answered with false at once.
    pub turned_away: u64,
    /// Tests in which lanes asked by state and by parity.
    pub both_forms: u64,
    /// States checked.
    pub states: u64,
    /// Loads checked.
    pub loads: u64,
    /// Writes of an object that left its tx-count negative.
    pub ahead: u64,
    /// Arrivals through the cluster port.
    pub remote: u64,
    /// Drops.
    pub drops: u64,
    /// Arrivals that must not complete the phase.
    pub no_complete: u64,
}

/// One object's side of the account.
#[derive(Clone, Debug)]
pub(super) struct ObjectAccount {
    pub(super) name: String,
    pub(super) place: Place,
    /// Arrivals of its first phase.
    pub(super) count: u32,
    /// What it must come to: phases completed, and arrivals that the next one expects.
    phases: u32,
    left: u32,
    /// What it came to.
    pub(super) completed: u32,
    word: u64,
    /// Arrivals that the current phase began with, and those of the phases before.
    begun_with: u32,
    used: u64,
    /// What was brought.
    arrived: u64,
    expected_tx: u64,
    completed_tx: u64,
}

impl ObjectAccount {
    /// The object as it was written last.
    pub(super) fn found(&self) -> MbarObject {
        MbarObject::decode(self.word)
    }

    /// It has come to what it was brought, and to what the design says.
    fn settle(&self) -> Result<(), String> {
        let found = self.found();
        let begun = i64::from(self.begun_with) - i64::from(found.pending);
        let tx = self.expected_tx as i64 - self.completed_tx as i64;
        let conserved = self.used as i64 + begun == self.arrived as i64 && i64::from(found.tx) == tx;
        let right = MbarObject { phase: self.phases & 1 != 0, ..MbarObject::init(self.left) };
        if !conserved || self.completed != self.phases || found != right {
            return Err(format!("{self:?} at the end is {found}, and should be {right}"));
        }
        Ok(())
    }
}

/// The account of all objects.
#[derive(Debug, Default)]
pub(super) struct Account {
    pub(super) objects: Vec<ObjectAccount>,
    /// Objects by the number of their first word in memory.
    by_word: HashMap<usize, usize>,
    pub(super) events: Events,
}

impl Account {
    /// Opens the account of an object at `place` that expects `count` arrivals at first and `left` after `phases`
    /// phases.
    pub(super) fn open(&mut self, name: String, place: Place, count: u32, phases: u32, left: u32) -> usize {
        self.objects.push(ObjectAccount {
            name,
            place,
            count,
            phases,
            left,
            completed: 0,
            word: 0,
            begun_with: count,
            used: 0,
            arrived: 0,
            expected_tx: 0,
            completed_tx: 0,
        });
        self.objects.len() - 1
    }

    /// The object's first word in memory is word `at`.
    pub(super) fn place_at(&mut self, object: usize, at: usize) {
        self.by_word.insert(at, object);
    }

    /// The object whose first word in memory is word `at`.
    pub(super) fn object_at(&self, at: usize) -> Option<usize> {
        self.by_word.get(&at).copied()
    }

    /// Enters what one lane of a request brought to `place`.
    pub(super) fn book(&mut self, op: Op, port: Port, place: Place, b: u64) {
        let Some(object) = self.objects.iter_mut().find(|object| object.place == place) else { return };
        let (arrived, expected, completed) = match op {
            Op::MbarArrive | Op::MbarArriveDrop => (1, 0, 0),
            Op::MbarArriveCount
            | Op::MbarArriveDropCount
            | Op::MbarArriveNoComplete
            | Op::MbarArriveDropNoComplete => (b, 0, 0),
            Op::MbarArriveExpectTx | Op::MbarArriveDropExpectTx => (1, b, 0),
            Op::MbarExpectTx => (0, b, 0),
            Op::MbarCompleteTx => (0, 0, b),
            Op::MbarInit | Op::MbarInval | Op::MbarTestWait | Op::MbarTryWait | Op::MbarArriveSm80 => return,
            Op::Add | Op::Min | Op::Max | Op::Inc | Op::Dec | Op::And | Op::Or | Op::Xor | Op::PopcInc => {
                return;
            }
            Op::Exch | Op::Cas | Op::Cast | Op::CastSpin | Op::Load | Op::Store => return,
        };
        object.arrived += arrived;
        object.expected_tx += expected;
        object.completed_tx += completed;
        let is = |what: bool| u64::from(what);
        self.events.remote += is(port == Port::Cluster && arrived > 0);
        self.events.drops += is(op.name().starts_with(Op::MbarArriveDrop.name()));
        self.events.no_complete += is(op.name().ends_with("NO_COMPLETE"));
    }

    /// Enters that an object was written, and whether that completed its phase.
    ///
    /// # Errors
    /// Its phase parity is not that of the phases completed.
    pub(super) fn written(&mut self, object: usize, word: u64, completes: bool) -> Result<(), String> {
        let object = &mut self.objects[object];
        object.word = word;
        let found = object.found();
        self.events.ahead += u64::from(found.tx < 0);
        if completes {
            object.completed += 1;
            object.used += u64::from(object.begun_with);
            object.begun_with = found.pending;
        }
        if u32::from(found.phase) != object.completed & 1 {
            let ObjectAccount { name, completed, .. } = object;
            return Err(format!("{name} after {completed} phases: {found}"));
        }
        Ok(())
    }

    /// Every object has come to what it was brought, and to what the design says.
    ///
    /// # Errors
    /// The first that has not.
    pub(super) fn settle(&self) -> Result<(), String> {
        self.objects.iter().try_for_each(ObjectAccount::settle)
    }
}

#[cfg(test)]
mod tests;
