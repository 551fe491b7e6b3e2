//! Counts the arrivals and transactions of every object, and compares them with the object's state.

use std::collections::HashMap;

use atoms_model::mbarrier::MbarObject;
use atoms_ops::{MbarOp, Op, OpKind};

use super::place::{Place, Port};

/// Event counts that show what a run exercised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Events {
    pub passed: u64,
    pub woken: u64,
    /// Waits answered with false by a wake-up (timeout).
    pub timed_out: u64,
    /// Tests and waits answered with false by an ordinary response.
    pub turned_away: u64,
    /// Answered waits in which some lanes ask by state and others by parity.
    pub both_forms: u64,
    /// Requests whose returned states were checked.
    pub states: u64,
    pub loads: u64,
    /// Object writes that left a negative tx-count.
    pub ahead: u64,
    pub remote: u64,
    pub drops: u64,
    pub no_complete: u64,
}

#[derive(Clone, Debug)]
pub(super) struct ObjectAccount {
    pub(super) name: String,
    pub(super) place: Place,
    pub(super) count: u32,
    /// Expected end state: `phases` completed, and `left` arrivals expected in the next phase.
    phases: u32,
    left: u32,
    /// Observed state: completed phases, and the word written last.
    pub(super) completed: u32,
    word: u64,
    /// Arrivals expected at the start of the current phase, and the sum of those of earlier phases.
    begun_with: u32,
    used: u64,
    /// Sums over all answered requests: arrivals, expected transactions and completed transactions.
    arrived: u64,
    expected_tx: u64,
    completed_tx: u64,
}

impl ObjectAccount {
    pub(super) fn found(&self) -> MbarObject {
        MbarObject::decode(self.word)
    }

    /// Checks the end state against the counted arrivals and transactions, and against the design.
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

#[derive(Debug, Default)]
pub(super) struct Account {
    pub(super) objects: Vec<ObjectAccount>,
    /// Maps the number of an object's first word in memory to the object.
    by_word: HashMap<usize, usize>,
    pub(super) events: Events,
}

impl Account {
    /// Adds an object that expects `count` arrivals in the first phase, and `left` after `phases` phases.
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

    pub(super) fn place_at(&mut self, object: usize, at: usize) {
        self.by_word.insert(at, object);
    }

    pub(super) fn object_at(&self, at: usize) -> Option<usize> {
        self.by_word.get(&at).copied()
    }

    pub(super) fn book(&mut self, op: Op, port: Port, place: Place, b: u64) {
        let Some(object) = self.objects.iter_mut().find(|object| object.place == place) else { return };
        let OpKind::Mbar(brought) = op.kind() else { return };
        let (arrived, expected, completed) = match brought {
            MbarOp::Arrive | MbarOp::ArriveDrop => (1, 0, 0),
            MbarOp::ArriveCount | MbarOp::ArriveDropCount => (b, 0, 0),
            MbarOp::ArriveNoComplete | MbarOp::ArriveDropNoComplete => (b, 0, 0),
            MbarOp::ArriveExpectTx | MbarOp::ArriveDropExpectTx => (1, b, 0),
            MbarOp::ExpectTx => (0, b, 0),
            MbarOp::CompleteTx => (0, 0, b),
            MbarOp::Init | MbarOp::Inval | MbarOp::TestWait | MbarOp::TryWait | MbarOp::ArriveSm80 => return,
        };
        object.arrived += arrived;
        object.expected_tx += expected;
        object.completed_tx += completed;
        let is = |what: bool| u64::from(what);
        self.events.remote += is(port == Port::Cluster && arrived > 0);
        self.events.drops += is(op.name().starts_with(Op::MbarArriveDrop.name()));
        self.events.no_complete += is(op.name().ends_with("NO_COMPLETE"));
    }

    /// Records a write of an object, and if that write completed a phase.
    ///
    /// # Errors
    /// The phase parity of the word differs from the number of completed phases.
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

    /// # Errors
    /// Description of the first object with a wrong end state.
    pub(super) fn settle(&self) -> Result<(), String> {
        self.objects.iter().try_for_each(ObjectAccount::settle)
    }
}

#[cfg(test)]
mod tests;
