//! Samples the effect of a pass on mbarrier objects, in the last pipeline stage.

use atoms_model::lanes::{accesses, lanes};
use atoms_model::mbarrier::{MAX_COUNT, MbarObject};
use atoms_ops::Op;

use super::hits::Hits;
use super::shadow::Shadow;
use super::step::MemoryStep;
use crate::groups::objects::{
    CompletingOp, Completion, Count, CountingOp, Counts, DroppingOp, Edge, Expected, ExpectedAfter, Extra,
    Layout, LayoutOp, Left, Live, LiveObject, MergedCompletions, NearCompletion, OldPending, Pending,
    PendingBefore, Phase, Since, Sm80, SteppingOp, TransactionOp, Tx, TxAfter,
};
use crate::groups::requests::WideAccess;
use crate::groups::values::{AnyOp, Bank, Few, Width};

pub(super) fn objects(step: &MemoryStep<'_>, hits: &mut Hits, shadow: &mut Shadow) {
    for low in accesses(step.pass.banks, 2) {
        let lane = step.lane(low);
        let words = [low, low | 1].map(|bank| step.reach(hits, shadow, lane, bank));
        hits.hit(WideAccess, (Width::Pair, Bank(low as u8)));
        let live = if words[0].live() { Live::Object } else { Live::Word };
        hits.hit(LiveObject, (AnyOp(step.op), live));
        let old = u64::from(words[1].value) << 32 | u64::from(words[0].value);
        one(step, hits, shadow, low, old);
    }
}

/// Samples one operation on the mbarrier object whose low word is in bank `low`.
fn one(step: &MemoryStep<'_>, hits: &mut Hits, shadow: &mut Shadow, low: usize, old: u64) {
    let lane = step.lane(low);
    let row = step.request.row[lane];
    let before = MbarObject::decode(old);
    if let Some(op) = LayoutOp::new(step.op) {
        let extra = match (before.lock, before.version) {
            (false, false) => Extra::Rest,
            (true, false) => Extra::Lock,
            (false, true) => Extra::Version,
            (true, true) => Extra::Both,
        };
        hits.hit(Layout, (op, extra));
    }
    if step.op == Op::MbarInit {
        shadow.set_live(row, low, true);
    }
    if step.op == Op::MbarInval {
        shadow.set_live(row, low, false);
    }
    if (step.op == Op::MbarInit || step.op.asks_phase())
        && let Some(since) = shadow.since(row, low)
    {
        *since = 0;
    }
    let completed = step.banks.completed >> low & 1 != 0;
    let edge = if before.phase { Edge::Odd } else { Edge::Even };
    if let (true, Some(op)) = (completed, CompletingOp::new(step.op)) {
        hits.hit(Completion, (op, step.request.port, edge));
        if let Some(since) = shadow.since(row, low) {
            hits.hit(Phase, (edge, Since::ALL[usize::from(*since).min(2)]));
            *since = (*since + 1).min(2);
        }
    }
    if step.op == Op::MbarArriveSm80 {
        let pending = (old >> 32) as u32 & 0x7fff_ffff;
        let pending = match pending.wrapping_neg() & 0x7fff_ffff {
            0 => OldPending::Zero,
            1 => OldPending::One,
            _ => OldPending::More,
        };
        return hits.hit(Sm80, (pending, edge));
    }
    let operand = step.request.request.lane(lane).b as u32;
    let Some(op) = SteppingOp::new(step.op) else { return };
    hits.hit(PendingBefore, (op, Pending::new(before.pending)));
    if !completed {
        let new = u64::from(step.banks.values[low | 1]) << 32 | u64::from(step.banks.values[low]);
        near(hits, op, MbarObject::decode(new));
    }
    counts(step, hits, before, operand);
    if step.config.merge_arrive && step.op == Op::MbarArrive {
        let here =
            |lane: &usize| (usize::from(step.request.bank[*lane]), step.request.row[*lane]) == (low, row);
        let together = lanes(step.pass.lanes).filter(here).count() as u32;
        if together > 1 {
            hits.hit(MergedCompletions, (Few::new(completions(before, together)),));
        }
    }
}

fn near(hits: &mut Hits, op: SteppingOp, after: MbarObject) {
    let left = match (after.pending, after.tx) {
        (0, 1..) => Left::Positive,
        (0, i32::MIN..=-1) => Left::Negative,
        (1.., 0) => Left::Pending,
        _ => return,
    };
    hits.hit(NearCompletion, (op, left));
}

fn counts(step: &MemoryStep<'_>, hits: &mut Hits, before: MbarObject, operand: u32) {
    if let Some(op) = DroppingOp::new(step.op) {
        let counted = matches!(step.op, Op::MbarArriveDropCount | Op::MbarArriveDropNoComplete);
        let dropped = if counted { operand } else { 1 };
        let expected = match before.expected.checked_sub(dropped) {
            None => Expected::Wraps,
            Some(0) => Expected::Zero,
            Some(1) => Expected::One,
            Some(_) => Expected::More,
        };
        hits.hit(ExpectedAfter, (op, expected));
    }
    if let Some(op) = TransactionOp::new(step.op) {
        let change = i64::from(operand);
        let most = i64::from(MAX_COUNT);
        let sign = if step.op == Op::MbarCompleteTx { -1 } else { 1 };
        let tx = match i64::from(before.tx) + sign * change {
            0 => Tx::Zero,
            1 => Tx::One,
            -1 => Tx::MinusOne,
            tx if tx == most => Tx::Most,
            tx if tx == -most => Tx::Least,
            tx if tx > most => Tx::Above,
            tx if tx < -most => Tx::Below,
            tx if tx > 0 => Tx::Positive,
            _ => Tx::Negative,
        };
        hits.hit(TxAfter, (op, tx));
    }
    if let Some(op) = CountingOp::new(step.op) {
        let count = match operand {
            0 => Count::Zero,
            beyond if beyond > MAX_COUNT => Count::Wraps,
            fewer if fewer < before.pending => Count::Fewer,
            all if all == before.pending => Count::All,
            _ => Count::Beyond,
        };
        hits.hit(Counts, (op, count));
    }
}

/// Computes the number of phases that `lanes` arrivals complete in sequence.
fn completions(before: MbarObject, lanes: u32) -> u32 {
    if before.tx != 0 {
        return 0;
    }
    // A count of 0 wraps, and so needs as many arrivals as the field has values.
    let round = |count: u32| if count == 0 { MAX_COUNT + 1 } else { count };
    match lanes.checked_sub(round(before.pending)) {
        None => 0,
        Some(beyond) => 1 + beyond / round(before.expected),
    }
}
