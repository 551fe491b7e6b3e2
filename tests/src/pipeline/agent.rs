//! Agents: warps and copiers, each with a program of steps.

use atoms_ops::{Op, Size};

use super::design::Waiting;
use super::dice::Dice;
use super::place::{Place, Port};

#[derive(Clone, Copy, Debug)]
pub(super) struct LaneAccess {
    pub(super) lane: u32,
    pub(super) place: Place,
    pub(super) b: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Access {
    pub(super) port: Port,
    pub(super) op: Op,
    pub(super) size: Size,
    pub(super) red: bool,
    pub(super) lanes: Vec<LaneAccess>,
    pub(super) reply: Reply,
}

#[derive(Clone, Debug)]
pub(super) enum Reply {
    /// Any answer without a fault.
    Any,
    /// One value per lane.
    Values(Vec<u64>),
    /// States that show this phase of the object.
    States { object: usize, phase: i64 },
}

/// Wait that the agent repeats until the answer is true.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    pub(super) object: usize,
    /// Number of the phase, from 0. Phase -1 is complete from the start.
    pub(super) phase: i64,
    pub(super) waits: Waiting,
    pub(super) lanes: u32,
    pub(super) asks: Asks,
}

/// Operand by which lanes name the phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asks {
    Parity,
    /// Odd lanes use the parity. Even lanes use the state of the agent's last arrival.
    Both,
}

#[derive(Clone, Debug)]
pub(super) struct Copy {
    pub(super) object: usize,
    pub(super) stores: Vec<(Place, Size, u64)>,
    pub(super) bytes: u32,
}

impl Copy {
    /// Returns the stores, then the completion of the transactions, with a random pause before each.
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

#[derive(Clone, Debug)]
pub(super) enum Step {
    Pause(u32),
    Access(Access),
    Wait(Wait),
    Copy(Copy),
}

#[derive(Clone, Debug)]
pub(super) struct Agent {
    pub(super) name: String,
    pub(super) tag: u8,
    pub(super) slot: u8,
    pub(super) steps: Vec<Step>,
    pub(super) at: usize,
    pub(super) until: u64,
    /// `asked`: the request of the agent is offered or in flight. `complete_when_taken`: the phase of a wait
    /// was already complete when the unit accepted the wait.
    pub(super) asked: bool,
    pub(super) complete_when_taken: bool,
    /// High word of the state that the last arrival returned.
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
