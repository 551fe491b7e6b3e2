//! Operands of mbarrier operations, and what comes in place of one that is drawn.

use atoms_model::mbarrier::{self, MbarObject};
use atoms_ops::Op;
use rand::RngExt;

use super::objects::Objects;
use super::profile::{Limit, Wait};
use super::random::RandomStimulus;
use super::step::ObjectRequest;

/// Bits of the tx-count.
const TX_MASK: u32 = (1 << 21) - 1;

/// Limits from here on are not waited for at the end of a run.
pub(super) const ENDLESS: u32 = 1 << 13;

/// An object of sm_80 for so many arrivals (spec 6.2.1).
fn sm80(count: u32) -> u128 {
    u128::from(u64::from(0x8000_0000 - count) << 32 | u64::from(0x4000_0000 - count))
}

impl RandomStimulus {
    /// Whether an operation may stand in for the one drawn: only those asked for are drawn.
    pub(super) fn listed(&self, op: Op) -> bool {
        self.profile.ops.draws(op)
    }

    /// The next request with which the phase of an object is completed, by an operation drawn if it can.
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
            // More than there are lanes: one after the other.
            .or_else(|| {
                ObjectRequest::completing(Op::MbarArrive, &arrive(lanes), lanes)
                    .filter(|_| listed(&Op::MbarArrive))
            })
    }

    /// What comes in place of an mbarrier operation now and then, so that objects live and their phases go
    /// by.
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
        // What no arrival expects keeps an object from completing for long.
        let stray = op == Op::MbarCompleteTx && object.tx == 0 && self.listed(Op::MbarArrive);
        if stray && !profile.barriers.spoil.happens(&mut self.rng) {
            return (Op::MbarArrive, None);
        }
        (op, None)
    }

    /// The word of a new object.
    fn init(&mut self, old_layout: bool) -> u128 {
        let profile = &self.profile;
        let rng = &mut self.rng;
        let counts = &profile.barriers.counts;
        let count = match profile.barriers.most.happens(rng) {
            true => mbarrier::MAX_COUNT - [0, 0, 1, 2][rng.random_range(0..4)],
            // Half of them few, so that phases are completed by few requests.
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

    /// Operand B of one lane of an mbarrier operation; `None` where it reads none.
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
                // As a parity, or as a state whose other bits do not count.
                u32::from(parity) << 31 | if rng.random() { 0 } else { rng.random::<u32>() >> 1 }
            }
            Op::MbarExpectTx | Op::MbarCompleteTx | Op::MbarArriveExpectTx | Op::MbarArriveDropExpectTx => {
                if profile.barriers.overflow.happens(rng) {
                    // What leaves one of these, within and beyond the range.
                    let ends =
                        [0, 1, -1, most as i32, -(most as i32), most as i32 + 1 + rng.random_range(0..2)];
                    let change = ends[rng.random_range(0..6)].wrapping_sub(tx) as u32;
                    let change = if op == Op::MbarCompleteTx { change.wrapping_neg() } else { change };
                    if rng.random_range(0..4) == 0 { most } else { change & TX_MASK }
                } else {
                    // Few different amounts, so that what is expected is completed again.
                    16 * rng.random_range(1..3)
                }
            }
            Op::MbarArriveNoComplete | Op::MbarArriveDropNoComplete
                if !profile.barriers.overflow.happens(rng) =>
            {
                // Fewer than the phase waits for.
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

    /// Limit of a MBAR.TRY_WAIT in cycles. One that is drawn from all numbers would outlast the run.
    pub(super) fn limit(&mut self) -> u32 {
        match self.profile.barriers.limit.draw(&mut self.rng) {
            Limit::Default => 0,
            Limit::Tiny => self.rng.random_range(1..5),
            Limit::Short => self.rng.random_range(5..64),
            Limit::Long => self.rng.random_range(64..1000),
            // Any number of 11 to 32 bits, where a reset ends what would not end otherwise.
            Limit::Longer => {
                let most = if self.profile.reset.get() > 0.0 { 32 } else { ENDLESS.ilog2() };
                let bits = self.rng.random_range(10..most);
                1 << bits | self.rng.random::<u32>() & ((1 << bits) - 1)
            }
        }
    }
}
