//! Instructions by which the lanes of a warp look at each other.

use crate::constant::ConstantBank;
use crate::warp::{LANES, Row, Warp, lanes};
use atoms_isa::{PredSource, ReduxOp, ShuffleMode, VoteMode, WarpOp};

/// Carries out the instruction for split `index`, in the lanes of `mask`, of which there is one.
pub(crate) fn execute(op: &WarpOp, warp: &mut Warp, index: usize, mask: u32, constants: &ConstantBank) {
    if mask == 0 {
        return;
    }
    let view = warp.view(index, constants);
    match *op {
        WarpOp::Vote { mode, dst, pred_dst, src } => {
            let ballot = view.pred(src) & mask;
            warp.registers.set(dst, mask, &[ballot; LANES]);
            warp.set_pred(index, pred_dst, mask, verdict(mode, ballot, mask));
        }
        WarpOp::VoteUniform { mode, dst, pred_dst, src } => {
            let ballot = view.pred(src) & mask;
            warp.splits[index].uniform.set(dst, ballot);
            warp.set_pred(index, pred_dst, mask, verdict(mode, ballot, mask));
        }
        WarpOp::Shuffle { mode, dst, pred_dst, src, lane, control } => {
            let (values, by, control) = (*view.reg(src), view.row(&lane), view.row(&control));
            let mut result: Row = values;
            let mut valid = 0;
            for lane in lanes(mask) {
                let (from, in_range) = source_lane(mode, lane as u32, by[lane], control[lane]);
                result[lane] = values[from];
                valid |= u32::from(in_range) << lane;
            }
            warp.registers.set(dst, mask, &result);
            warp.set_pred(index, pred_dst, mask, valid);
        }
        WarpOp::Redux { op, dst, src } => {
            let row = *view.reg(src);
            let combined = lanes(mask).map(|lane| row[lane]).reduce(|a, b| combine(op, a, b));
            warp.splits[index].uniform.set(dst, combined.unwrap_or(0));
        }
        WarpOp::ToUniform { dst, differs, accumulate, src } => {
            let row = view.row(&src);
            let taken = row[mask.trailing_zeros() as usize % LANES];
            let before = match differs {
                pred if accumulate => view.pred(PredSource { pred, negate: false }),
                _ => 0,
            };
            let different = lanes(mask).filter(|l| row[*l] != taken).fold(before, |m, l| m | 1 << l);
            warp.splits[index].uniform.set(dst, taken);
            warp.set_pred(index, differs, mask, different);
        }
        WarpOp::Match { all, wide, dst, pred_dst, src } => {
            let low = *view.reg(src);
            let high = if wide { *view.reg(src.plus(1)) } else { [0; LANES] };
            let same = |lane: usize| {
                let like = |other: &usize| (low[*other], high[*other]) == (low[lane], high[lane]);
                lanes(mask).filter(like).fold(0, |m, l| m | 1 << l)
            };
            let alike: Row = std::array::from_fn(same);
            let agree = lanes(mask).all(|lane| alike[lane] == mask);
            let masks = match (all, agree) {
                (false, _) => alike,
                (true, true) => [mask; LANES],
                (true, false) => [0; LANES],
            };
            warp.registers.set(dst, mask, &masks);
            warp.set_pred(index, pred_dst, mask, if agree { !0 } else { 0 });
        }
        WarpOp::BarrierResult { dst, pred_dst } => {
            let row = warp.vote;
            warp.registers.set(dst, mask, &row);
            let holds = lanes(mask).filter(|lane| row[*lane] != 0).fold(0, |m, l| m | 1 << l);
            warp.set_pred(index, pred_dst, mask, holds);
        }
        WarpOp::Elect { pred_dst, dst } => {
            let lowest = mask.trailing_zeros();
            warp.splits[index].uniform.set(dst, lowest);
            warp.set_pred(index, pred_dst, mask, 1 << (lowest % 32));
        }
    }
}

/// All ones if the vote carries.
fn verdict(mode: VoteMode, ballot: u32, mask: u32) -> u32 {
    let carries = match mode {
        VoteMode::All => ballot == mask,
        VoteMode::Any => ballot != 0,
        VoteMode::Eq => ballot == mask || ballot == 0,
    };
    if carries { !0 } else { 0 }
}

/// Lane to read, and whether it is in range. Source: [PTX] shfl, of which this is the machine form.
fn source_lane(mode: ShuffleMode, lane: u32, by: u32, control: u32) -> (usize, bool) {
    let by = by & 0x1f;
    let (clamp, segment) = (control & 0x1f, control >> 8 & 0x1f);
    let last = (lane & segment) | (clamp & !segment);
    let (from, in_range) = match mode {
        ShuffleMode::Idx => {
            let from = (lane & segment) | (by & !segment);
            (from, from <= last)
        }
        ShuffleMode::Up => (lane.wrapping_sub(by), lane as i32 - by as i32 >= last as i32),
        ShuffleMode::Down => (lane + by, lane + by <= last),
        ShuffleMode::Butterfly => (lane ^ by, lane ^ by <= last),
    };
    (if in_range { from } else { lane } as usize % LANES, in_range)
}

fn combine(op: ReduxOp, a: u32, b: u32) -> u32 {
    match op {
        ReduxOp::Sum => a.wrapping_add(b),
        ReduxOp::MinU => a.min(b),
        ReduxOp::MinS => (a as i32).min(b as i32) as u32,
        ReduxOp::MaxU => a.max(b),
        ReduxOp::MaxS => (a as i32).max(b as i32) as u32,
        ReduxOp::And => a & b,
        ReduxOp::Or => a | b,
        ReduxOp::Xor => a ^ b,
    }
}
