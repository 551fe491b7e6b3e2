//! Instructions that exchange data between the lanes of a warp.

use crate::memory::ConstantBank;
use crate::warp::{LANES, Row, View, Warp, lanes, select};
use atoms_isa::{FloatRedux, PredSource, ReduxOp, Reg, ShuffleMode, VoteMode, WarpOp};
use std::cmp::Ordering;

/// NaN result of REDUX. Source: [PTX].
const NAN: u32 = 0x7fff_ffff;

/// Threads of one split that execute a collective instruction together with other splits.
pub(crate) struct Part {
    pub(crate) op: WarpOp,
    /// Register for a result that the warp has only once; every thread gets a copy. RZ if there is none.
    pub(crate) spread: Reg,
    pub(crate) index: usize,
    pub(crate) mask: u32,
    pub(crate) pc: u32,
}

struct Brought {
    low: Row,
    high: Row,
    /// Source lane or distance of a shuffle (`by`), and its operand with clamp and segment mask (`control`).
    by: Row,
    control: Row,
    holds: u32,
}

struct Given {
    values: Row,
    preds: u32,
    uniform: u32,
    /// Bit mask of the active lanes that read an inactive lane (undefined in PTX).
    foreign: u32,
}

/// Executes the instruction for split `index` in the lanes of `mask`. Returns the lanes that read an inactive
/// lane, which PTX leaves undefined.
pub(crate) fn execute(
    op: &WarpOp,
    warp: &mut Warp,
    index: usize,
    mask: u32,
    constants: &ConstantBank,
) -> u32 {
    execute_together(&[Part { op: *op, spread: Reg::RZ, index, mask, pc: 0 }], warp, constants)
}

/// Executes one instruction for threads of several splits together. Each split has its own copy of the
/// instruction; the copies differ only in their operands. Returns the lanes that read an inactive lane.
pub(crate) fn execute_together(parts: &[Part], warp: &mut Warp, constants: &ConstantBank) -> u32 {
    // A shuffle from an inactive lane returns the register content of that lane.
    let low = match parts.first() {
        Some(Part { op: WarpOp::Shuffle { src, .. }, index, .. }) => *warp.view(*index, constants).reg(*src),
        _ => [0; LANES],
    };
    let mut brought = Brought { low, high: [0; LANES], by: [0; LANES], control: [0; LANES], holds: 0 };
    for part in parts {
        brought.take(part, &warp.view(part.index, constants), &warp.vote);
    }
    let mask = parts.iter().fold(0, |mask, part| mask | part.mask);
    let Some(first) = parts.first().filter(|_| mask != 0) else { return 0 };
    let given = result(&first.op, &brought, mask);
    for part in parts {
        given.write(part, warp);
    }
    given.foreign
}

impl Brought {
    fn take(&mut self, part: &Part, view: &View<'_>, vote: &Row) {
        let mut values = |low: &Row, high: &Row| {
            for lane in lanes(part.mask) {
                (self.low[lane], self.high[lane]) = (low[lane], high[lane]);
            }
        };
        let none = [0; LANES];
        match &part.op {
            WarpOp::Vote { src, .. } | WarpOp::VoteUniform { src, .. } => {
                self.holds |= view.pred(*src) & part.mask;
            }
            WarpOp::Shuffle { src, lane: by, control, .. } => {
                values(view.reg(*src), &none);
                let (by, control) = (view.row(by), view.row(control));
                for lane in lanes(part.mask) {
                    (self.by[lane], self.control[lane]) = (by[lane], control[lane]);
                }
            }
            WarpOp::Redux { src, .. } => values(view.reg(*src), &none),
            WarpOp::ToUniform { differs, accumulate, src, .. } => {
                values(&view.row(src), &none);
                if *accumulate {
                    self.holds |= view.pred(PredSource { pred: *differs, negate: false });
                }
            }
            WarpOp::Match { wide, src, .. } => {
                values(view.reg(*src), if *wide { view.reg(src.plus(1)) } else { &none });
            }
            WarpOp::BarrierResult { .. } => values(vote, &none),
            WarpOp::Elect { .. } => {}
        }
    }
}

impl Given {
    fn write(&self, part: &Part, warp: &mut Warp) {
        let Part { index, mask, .. } = *part;
        let (reg, uniform, pred) = match part.op {
            WarpOp::Vote { dst, pred_dst, .. }
            | WarpOp::Shuffle { dst, pred_dst, .. }
            | WarpOp::Match { dst, pred_dst, .. }
            | WarpOp::BarrierResult { dst, pred_dst } => (Some(dst), None, Some(pred_dst)),
            WarpOp::VoteUniform { dst, pred_dst, .. } | WarpOp::Elect { dst, pred_dst } => {
                (None, Some(dst), Some(pred_dst))
            }
            WarpOp::ToUniform { dst, differs, .. } => (None, Some(dst), Some(differs)),
            WarpOp::Redux { dst, .. } => (None, Some(dst), None),
        };
        if let Some(dst) = reg {
            warp.registers.set(dst, mask, &self.values);
        }
        warp.registers.set(part.spread, mask, &[self.uniform; LANES]);
        if let Some(dst) = uniform {
            warp.splits[index].uniform.set_from(mask.trailing_zeros(), dst, self.uniform);
        }
        if let Some(dst) = pred {
            warp.set_pred(index, dst, mask, self.preds);
        }
    }
}

/// Computes the results for the lanes of `mask`. At least one lane must be active.
fn result(op: &WarpOp, brought: &Brought, mask: u32) -> Given {
    let Brought { low, high, by, control, holds } = brought;
    let mut given = Given { values: *low, preds: 0, uniform: 0, foreign: 0 };
    let first = mask.trailing_zeros() as usize % LANES;
    match *op {
        WarpOp::Vote { mode, .. } | WarpOp::VoteUniform { mode, .. } => {
            given.values = [*holds; LANES];
            given.uniform = *holds;
            given.preds = verdict(mode, *holds, mask);
        }
        WarpOp::Shuffle { mode, .. } => {
            for lane in lanes(mask) {
                let (from, in_range) = source_lane(mode, lane as u32, by[lane], control[lane]);
                given.values[lane] = low[from];
                given.preds |= u32::from(in_range) << lane;
                given.foreign |= u32::from(mask >> from & 1 == 0) << lane;
            }
        }
        WarpOp::Redux { op, .. } => {
            let combined = lanes(mask).map(|lane| low[lane]).reduce(|a, b| combine(op, a, b)).unwrap_or(0);
            given.uniform = match op {
                // For a single lane, combine its value with itself: this handles NaN and sign as for several
                // lanes.
                ReduxOp::MinF(_) | ReduxOp::MaxF(_) => combine(op, combined, combined),
                _ => combined,
            };
        }
        WarpOp::ToUniform { .. } => {
            given.uniform = low[first];
            given.preds = lanes(mask).filter(|l| low[*l] != low[first]).fold(*holds, |m, l| m | 1 << l);
        }
        WarpOp::Match { all, .. } => {
            let same = |lane: usize| {
                let like = |other: &usize| (low[*other], high[*other]) == (low[lane], high[lane]);
                select(mask, like)
            };
            let alike: Row = std::array::from_fn(same);
            let agree = alike[first] == mask;
            given.values = match (all, agree) {
                (false, _) => alike,
                (true, true) => [mask; LANES],
                (true, false) => [0; LANES],
            };
            given.preds = if agree { !0 } else { 0 };
        }
        WarpOp::BarrierResult { .. } => {
            given.preds = select(mask, |lane| low[*lane] != 0);
        }
        WarpOp::Elect { .. } => {
            given.uniform = first as u32;
            given.preds = 1 << first;
        }
    }
    given
}

/// Returns all ones if the vote passes.
fn verdict(mode: VoteMode, ballot: u32, mask: u32) -> u32 {
    let carries = match mode {
        VoteMode::All => ballot == mask,
        VoteMode::Any => ballot != 0,
        VoteMode::Eq => ballot == mask || ballot == 0,
    };
    if carries { !0 } else { 0 }
}

/// Source lane of a shuffle, and true if it is in range. Source: [PTX] shfl, in its machine form.
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
        ReduxOp::MinF(how) => combine_floats(how, a, b, Ordering::is_lt),
        ReduxOp::MaxF(how) => combine_floats(how, a, b, Ordering::is_gt),
    }
}

/// Selects the binary32 value that orders `first` against the other. Source: [PTX] redux.sync.
fn combine_floats(how: FloatRedux, a: u32, b: u32, first: fn(Ordering) -> bool) -> u32 {
    let taken = |bits: u32| f32::from_bits(if how.absolute { bits & 0x7fff_ffff } else { bits });
    let (x, y) = (taken(a), taken(b));
    match (x.is_nan(), y.is_nan()) {
        (false, false) if first(x.total_cmp(&y)) => x.to_bits(),
        (false, false) => y.to_bits(),
        (true, false) if !how.nan => y.to_bits(),
        (false, true) if !how.nan => x.to_bits(),
        _ => NAN,
    }
}
