//! Instructions by which the lanes of a warp look at each other.

use crate::memory::ConstantBank;
use crate::warp::{LANES, Row, View, Warp, lanes, select};
use atoms_isa::{FloatRedux, PredSource, ReduxOp, Reg, ShuffleMode, VoteMode, WarpOp};
use std::cmp::Ordering;

/// The NaN that results are. Source: [PTX].
const NAN: u32 = 0x7fff_ffff;

/// Threads of one split that carry out an instruction together with others.
pub(crate) struct Part {
    pub(crate) op: WarpOp,
    /// Register in which each thread takes a result that the warp has once; RZ if there is none.
    pub(crate) spread: Reg,
    /// Index of the split.
    pub(crate) index: usize,
    /// The threads.
    pub(crate) mask: u32,
    /// Index of the instruction.
    pub(crate) pc: u32,
}

/// Inputs of an instruction, by lane.
struct Brought {
    low: Row,
    high: Row,
    /// Lane or distance of a shuffle, and its clamp and segments.
    by: Row,
    control: Row,
    /// Lanes in which the predicate holds.
    holds: u32,
}

/// Results of an instruction.
struct Given {
    values: Row,
    preds: u32,
    uniform: u32,
    /// Lanes that read a lane which takes no part.
    foreign: u32,
}

/// Carries out the instruction for split `index`, in the lanes of `mask`. Gives the lanes that read a lane which
/// takes no part: what PTX leaves undefined.
pub(crate) fn execute(
    op: &WarpOp,
    warp: &mut Warp,
    index: usize,
    mask: u32,
    constants: &ConstantBank,
) -> u32 {
    execute_together(&[Part { op: *op, spread: Reg::RZ, index, mask, pc: 0 }], warp, constants)
}

/// As [`execute`], for threads of several splits together. Each has an instruction of its own, and they differ in
/// operands alone.
pub(crate) fn execute_together(parts: &[Part], warp: &mut Warp, constants: &ConstantBank) -> u32 {
    // Of lanes that take no part, a shuffle finds what its register holds.
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
            warp.splits[index].uniform.set(dst, self.uniform);
        }
        if let Some(dst) = pred {
            warp.set_pred(index, dst, mask, self.preds);
        }
    }
}

/// What the instruction gives the lanes of `mask`, of which there is one.
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
                // What a lane brings alone is taken like the others.
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
        ReduxOp::MinF(how) => combine_floats(how, a, b, Ordering::is_lt),
        ReduxOp::MaxF(how) => combine_floats(how, a, b, Ordering::is_gt),
    }
}

/// The one of two binary32 values that is `first` by the other. Source: [PTX] redux.sync.
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
