//! Requests on an mbarrier object that complete a phase, or that leave one of its two counts nonzero.

use atoms_model::mbarrier::MbarObject;
use atoms_ops::Op;

/// Request of the first `lanes` lanes, with the same operand in all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ObjectRequest {
    pub(super) op: Op,
    pub(super) lanes: u32,
    pub(super) b: u32,
}

impl ObjectRequest {
    fn one(op: Op, b: u32) -> Option<ObjectRequest> {
        Some(ObjectRequest { op, lanes: 1, b })
    }

    /// Returns a request with `op` that completes the phase in one step. None if no operand does.
    pub(super) fn completing(op: Op, object: &MbarObject, lanes: u32) -> Option<ObjectRequest> {
        let MbarObject { pending, tx, .. } = *object;
        match op {
            Op::MbarCompleteTx if pending == 0 && tx >= 0 => ObjectRequest::one(op, tx as u32),
            Op::MbarExpectTx if pending == 0 && tx <= 0 => ObjectRequest::one(op, tx.unsigned_abs()),
            Op::MbarArrive if tx == 0 && (1..=lanes).contains(&pending) => {
                Some(ObjectRequest { op, lanes: pending, b: 0 })
            }
            Op::MbarArriveDrop if tx == 0 && pending == 1 => ObjectRequest::one(op, 0),
            Op::MbarArriveExpectTx | Op::MbarArriveDropExpectTx if pending == 1 && tx <= 0 => {
                ObjectRequest::one(op, tx.unsigned_abs())
            }
            Op::MbarArriveCount
            | Op::MbarArriveNoComplete
            | Op::MbarArriveDropCount
            | Op::MbarArriveDropNoComplete
                if tx == 0 && pending > 0 =>
            {
                ObjectRequest::one(op, pending)
            }
            _ => None,
        }
    }

    /// Returns a request with `op` that leaves exactly one of the two counts at 0.
    pub(super) fn just_not(op: Op, object: &MbarObject, lanes: u32) -> Option<ObjectRequest> {
        let MbarObject { pending, tx, .. } = *object;
        match op {
            Op::MbarCompleteTx if pending > 0 && tx > 0 => ObjectRequest::one(op, tx as u32),
            Op::MbarExpectTx if pending > 0 && tx < 0 => ObjectRequest::one(op, tx.unsigned_abs()),
            Op::MbarExpectTx | Op::MbarCompleteTx if pending == 0 => ObjectRequest::one(op, 16),
            Op::MbarArriveExpectTx | Op::MbarArriveDropExpectTx if pending == 1 => ObjectRequest::one(op, 16),
            Op::MbarArriveExpectTx | Op::MbarArriveDropExpectTx if pending > 1 && tx <= 0 => {
                ObjectRequest::one(op, tx.unsigned_abs())
            }
            _ if tx != 0 => ObjectRequest::completing(op, &MbarObject { tx: 0, ..*object }, lanes),
            _ => None,
        }
    }

    /// Returns a request with a `listed` operation that brings the object closer to a state in which `op`
    /// completes its phase.
    pub(super) fn towards(
        op: Op,
        object: &MbarObject,
        lanes: u32,
        listed: impl Fn(Op) -> bool,
    ) -> Option<ObjectRequest> {
        let MbarObject { pending, tx, .. } = *object;
        let arrive = |count: u32| {
            if (1..=lanes).contains(&count) && listed(Op::MbarArrive) {
                Some(ObjectRequest { op: Op::MbarArrive, lanes: count, b: 0 })
            } else {
                ObjectRequest::one(Op::MbarArriveCount, count)
                    .filter(|_| count > 0 && listed(Op::MbarArriveCount))
            }
        };
        let step = match op {
            Op::MbarCompleteTx if tx <= 0 => ObjectRequest::one(Op::MbarExpectTx, tx.unsigned_abs() + 16),
            Op::MbarExpectTx if tx < 0 => return arrive(pending),
            Op::MbarCompleteTx => return arrive(pending),
            _ if tx > 0 => ObjectRequest::one(Op::MbarCompleteTx, tx as u32),
            _ if tx < 0 => ObjectRequest::one(Op::MbarExpectTx, tx.unsigned_abs()),
            _ => return arrive(pending.saturating_sub(1)),
        };
        step.filter(|step| listed(step.op))
    }
}
