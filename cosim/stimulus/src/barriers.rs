//! Operands of mbarrier operations, and replacements of drawn operations that keep objects usable.

use atoms_model::mbarrier::{self, MbarObject};
use atoms_ops::Op;
use rand::RngExt;

use super::objects::Objects;
use super::profile::{Limit, Wait};
use super::random::RandomStimulus;
use super::step::ObjectRequest;

const TX_MASK: u32 = (1 << 21) - 1;

/// Limit of a wait, in cycles, from which on the end of a run does not wait for the timeout.
pub(super) const ENDLESS: u32 = 1 << 13;

/// Encodes an sm_80 object that expects `count` arrivals (spec 6.2.1).
fn sm80(count: u32) -> u128 {
    u128::from(u64::from(0x8000_0000 - count) << 32 | u64::from(0x4000_0000 - count))
}

impl RandomStimulus {
    /// Returns true if the profile draws this operation, so that it may replace another one.
    pub(super) fn listed(&self, op: Op) -> bool {
        self.profile.ops.draws(op)
    }

    /// Returns the next request on the way to completing the phase of an object. Prefers the drawn operation.
    pub(super) fn nearer(&mut self, object: &MbarObject, lanes: u32) -> Option<ObjectRequest> {
        let drawn = self.profile.ops.draw(&mut self.rng);
        let arrive = |count| MbarObject { pending: count, tx: 0, ..*object };
        let listed = |op: &Op| self.listed(*op);
        let exact = ObjectRequest::completing(drawn, object, lanes).or_else(|| {
            let ops = [Op::MbarArrive, Op::MbarArriveCount, Op::MbarCompleteTx, Op::MbarArriveExpectTx];
            ops.into_iter().filter(listed).find_map(|op| ObjectRequest::completing(op, object, lanes))
        });
        exact
            .or_else(|| ObjectRequest::towards(Op::MbarArrive, object, lanes, |op| listed(&op)))
            // More arrivals are pending than there are lanes, so several requests are needed.
            .or_else(|| {
                ObjectRequest::completing(Op::MbarArrive, &arrive(lanes), lanes)
                    .filter(|_| listed(&Op::MbarArrive))
            })
    }

    /// Replaces some of the drawn mbarrier operations, so that objects stay usable and their phases complete.
    pub(super) fn instead(&mut self, op: Op, slot: u8, at: u32, lanes: u32) -> (Op, Option<ObjectRequest>) {
        let profile = std::sync::Arc::clone(&self.profile);
        let object = self.objects.object(slot, at);
        if !Objects::sound(&object) {
            let revived = self.listed(Op::MbarInit) && profile.barriers.revive.happens(&mut self.rng);
            return (if revived { Op::MbarInit } else { op }, None);
        }
        let steps = !matches!(op, Op::MbarInit | Op::MbarInval | Op::MbarTestWait | Op::MbarTryWait);
        if steps && profile.barriers.finish.happens(&mut self.rng) {
            let step = match self.rng.random_range(0..4) {
                0 => ObjectRequest::just_not(op, &object, lanes),
                _ => ObjectRequest::completing(op, &object, lanes)
                    .or_else(|| ObjectRequest::towards(op, &object, lanes, |op| self.listed(op))),
            };
            if let Some(step) = step {
                return (step.op, Some(step));
            }
        }
        if object.tx != 0
            && profile.barriers.settle.happens(&mut self.rng)
            && let Some(step) = ObjectRequest::towards(Op::MbarArrive, &object, lanes, |op| self.listed(op))
        {
            return (step.op, Some(step));
        }
        // Transactions that no arrival expects keep an object from completing for a long time.
        let stray = op == Op::MbarCompleteTx && object.tx == 0 && self.listed(Op::MbarArrive);
        if stray && !profile.barriers.spoil.happens(&mut self.rng) {
            return (Op::MbarArrive, None);
        }
        (op, None)
    }

    fn init(&mut self, old_layout: bool) -> u128 {
        let profile = &self.profile;
        let rng = &mut self.rng;
        let counts = &profile.barriers.counts;
        let count = match profile.barriers.most.happens(rng) {
            true => mbarrier::MAX_COUNT - [0, 0, 1, 2][rng.random_range(0..4)],
            // Half of the counts are small, so that a few requests complete a phase.
            false if rng.random() => counts.draw(rng).min(counts.ends().0 + rng.random_range(0..4)),
            false => counts.draw(rng),
        };
        if old_layout {
            return sm80(count.min(0xf_ffff));
        }
        let strange = profile.barriers.strange.happens(rng);
        let [lock, version, phase] = [(); 3].map(|()| strange && rng.random());
        u128::from(MbarObject { lock, version, phase, ..MbarObject::init(count) }.encode())
    }

    /// Returns operand B of one lane. None if the operation reads none.
    pub(super) fn barrier_operand(&mut self, op: Op, slot: u8, at: u32) -> Option<u128> {
        if op == Op::MbarInit {
            return Some(self.init(at >= self.profile.barriers.objects.ends().1));
        }
        let most = mbarrier::MAX_COUNT;
        let MbarObject { phase, pending, tx, .. } = self.objects.object(slot, at);
        let profile = &self.profile;
        let rng = &mut self.rng;
        let b = match op {
            Op::MbarTestWait | Op::MbarTryWait => {
                let parity = match profile.barriers.wait.draw(rng) {
                    Wait::Current => phase,
                    Wait::Preceding => !phase,
                    Wait::Returned => return Some(self.objects.state(slot, at).into()),
                    Wait::MadeUp => return Some(rng.random::<u32>().into()),
                };
                // The operand is a plain parity, or a state in which only the phase bit matters.
                u32::from(parity) << 31 | if rng.random() { 0 } else { rng.random::<u32>() >> 1 }
            }
            Op::MbarExpectTx | Op::MbarCompleteTx | Op::MbarArriveExpectTx | Op::MbarArriveDropExpectTx => {
                if profile.barriers.overflow.happens(rng) {
                    // Change the tx-count to one of these values, inside and outside its range.
                    let ends =
                        [0, 1, -1, most as i32, -(most as i32), most as i32 + 1 + rng.random_range(0..2)];
                    let change = ends[rng.random_range(0..6)].wrapping_sub(tx) as u32;
                    let change = if op == Op::MbarCompleteTx { change.wrapping_neg() } else { change };
                    if rng.random_range(0..4) == 0 { most } else { change & TX_MASK }
                } else {
                    // Use only two amounts, so that expected transactions are likely to be completed.
                    16 * rng.random_range(1..3)
                }
            }
            Op::MbarArriveNoComplete | Op::MbarArriveDropNoComplete
                if !profile.barriers.overflow.happens(rng) =>
            {
                // Keep the count below the pending arrivals, so that the phase does not complete.
                rng.random_range(1..pending.clamp(2, 8))
            }
            Op::MbarArriveCount
            | Op::MbarArriveNoComplete
            | Op::MbarArriveDropCount
            | Op::MbarArriveDropNoComplete => {
                if profile.barriers.overflow.happens(rng) {
                    [0, most, most - 1, most + 1, pending, pending + 1][rng.random_range(0..6)]
                } else {
                    rng.random_range(1..4)
                }
            }
            _ => return None,
        };
        Some(b.into())
    }

    /// Draws the limit of a MBAR.TRY_WAIT in cycles. A limit from all 32-bit numbers would outlast the run.
    pub(super) fn limit(&mut self) -> u32 {
        match self.profile.barriers.limit.draw(&mut self.rng) {
            Limit::Default => 0,
            Limit::Tiny => self.rng.random_range(1..5),
            Limit::Short => self.rng.random_range(5..64),
            Limit::Long => self.rng.random_range(64..1000),
            // Numbers of 11 to 32 bits need a profile with resets, because only a reset ends such a wait.
            // Otherwise 11 to 13 bits.
            Limit::Longer => {
                let most = if self.profile.reset.get() > 0.0 { 32 } else { ENDLESS.ilog2() };
                let bits = self.rng.random_range(10..most);
                1 << bits | self.rng.random::<u32>() & ((1 << bits) - 1)
            }
        }
    }
}
