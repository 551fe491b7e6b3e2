//! Agents: warps and copiers, each with a little program.

use atoms_ops::{Op, Size};

use super::design::Waiting;
use super::dice::Dice;
use super::place::{Place, Port};

/// What one lane of a request accesses.
#[derive(Clone, Copy, Debug)]
pub(super) struct LaneAccess {
    pub(super) lane: u32,
    pub(super) place: Place,
    pub(super) b: u64,
}

/// One request, and what its answer must be.
#[derive(Clone, Debug)]
pub(super) struct Access {
    pub(super) port: Port,
    pub(super) op: Op,
    pub(super) size: Size,
    pub(super) red: bool,
    pub(super) lanes: Vec<LaneAccess>,
    pub(super) reply: Reply,
}

/// What an answer must be.
#[derive(Clone, Debug)]
pub(super) enum Reply {
    /// Anything but a fault.
    Any,
    /// This value for every lane.
    Values(Vec<u64>),
    /// States of this phase of the object.
    States { object: usize, phase: i64 },
}

/// A wait, repeated until it is answered with true.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    pub(super) object: usize,
    /// From 0; the one before the first is complete from the beginning.
    pub(super) phase: i64,
    pub(super) waits: Waiting,
    pub(super) lanes: u32,
    pub(super) asks: Asks,
}

/// How the lanes name the phase they ask about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asks {
    Parity,
    /// Odd lanes by parity, even ones with the state of the agent's last arrival.
    Both,
}

/// A copy to be made by a copier that is free.
#[derive(Clone, Debug)]
pub(super) struct Copy {
    pub(super) object: usize,
    pub(super) stores: Vec<(Place, Size, u64)>,
    pub(super) bytes: u32,
}

impl Copy {
    /// Stores, then completes the transactions, with pauses between.
    pub(super) fn steps(&self, object: Place, dice: &mut Dice) -> Vec<Step> {
        let access = |op, place, size, b| {
            let lanes = vec![LaneAccess { lane: 0, place, b }];
            Step::Access(Access { port: Port::Cluster, op, size, red: true, lanes, reply: Reply::Any })
        };
        let mut steps = vec![Step::Pause(dice.below(64))];
        for (place, size, value) in &self.stores {
            steps.push(access(Op::Store, *place, *size, *value));
        }
        steps.push(Step::Pause(dice.below(64)));
        steps.push(access(Op::MbarCompleteTx, object, Size::U64, self.bytes.into()));
        steps
    }
}

/// A step of an agent's program.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Pause(u32),
    Access(Access),
    Wait(Wait),
    Copy(Copy),
}

/// A warp or a copier, and its program.
#[derive(Clone, Debug)]
pub(super) struct Agent {
    pub(super) name: String,
    pub(super) tag: u8,
    pub(super) slot: u8,
    pub(super) steps: Vec<Step>,
    pub(super) at: usize,
    /// Rests until this cycle.
    pub(super) until: u64,
    /// Its request is offered or inside. Of a wait: the phase was complete when it was taken.
    pub(super) asked: bool,
    pub(super) complete_when_taken: bool,
    /// High word of the state of its last arrival.
    pub(super) state: u32,
}

impl Agent {
    pub(super) fn new(name: String, tag: u8, slot: u8) -> Self {
        Agent {
            name,
            tag,
            slot,
            steps: Vec::new(),
            at: 0,
            until: 0,
            asked: false,
            complete_when_taken: false,
            state: 0,
        }
    }

    pub(super) fn finished(&self) -> bool {
        self.at == self.steps.len()
    }

    pub(super) fn port(&self) -> Option<Port> {
        match self.steps.get(self.at)? {
            Step::Access(access) => Some(access.port),
            Step::Wait(_) => Some(Port::Warp),
            Step::Pause(_) | Step::Copy(_) => None,
        }
    }
}
