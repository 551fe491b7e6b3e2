//! Tracks states of mbarrier arrivals in registers. A pending count may be taken only from the state of a
//! noComplete arrival (spec 6.3, 6.9).
//!
//! `mbarrier.pending_count` does not access memory, so the unit cannot see it. Compilers extract the count
//! from the state's high word with a shift or a mask.

use super::registers::{LANES, Row, View, select};
use atoms_isa::{Compute, ComputeOp, Reg, Source, Value};
use atoms_ops::Op;

/// Number of most recent states kept per warp.
const KEPT: usize = 16;

/// First bit of the pending count in the high word of a state, sm_90 and later.
const COUNT_SHIFT: i64 = 11;

/// Mask of the pending count in the high word of a state, sm_80 to sm_89.
const COUNT_MASK_SM80: u32 = 0x7fff_ffff;

/// High words of states from arrivals other than noComplete, with the registers that hold them.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct States {
    kept: Vec<(Reg, u32, Row)>,
}

impl States {
    /// Records results of `op` in the register pair at `dst` for the lanes of `mask`. `high` are the high
    /// words. Results of other operations replace recorded states.
    pub(crate) fn note(&mut self, op: Op, dst: Reg, mask: u32, high: &Row) {
        let plain = matches!(
            op,
            Op::MbarArrive
                | Op::MbarArriveCount
                | Op::MbarArriveExpectTx
                | Op::MbarArriveDrop
                | Op::MbarArriveDropCount
                | Op::MbarArriveDropExpectTx
                | Op::MbarArriveSm80
        );
        if dst.is_zero() {
            return;
        }
        let register = dst.plus(1);
        self.kept.retain_mut(|(other, held, _)| {
            if *other == register {
                *held &= !mask;
            }
            *held != 0
        });
        if !plain {
            return;
        }
        if self.kept.len() == KEPT {
            self.kept.remove(0);
        }
        self.kept.push((register, mask, *high));
    }

    /// Lanes of `mask` in which `compute` takes a pending count from a recorded state.
    pub(crate) fn misused(&self, compute: &Compute, view: &View<'_>, mask: u32) -> u32 {
        if self.kept.is_empty() {
            return 0;
        }
        let Some(register) = counted(compute) else { return 0 };
        let row = view.reg(register);
        // A register with a different value was overwritten, so it no longer holds the state.
        let same = |high: &Row, held: u32| select(mask & held, |lane| row[*lane] == high[*lane]);
        let of_register = self.kept.iter().filter(|(reg, ..)| *reg == register);
        of_register.fold(0, |misused, (_, held, high)| misused | same(high, *held))
    }
}

/// Register from which an instruction extracts a pending count. `None` for other instructions.
fn counted(compute: &Compute) -> Option<Reg> {
    let reg = |source: &Source| match source.value {
        Value::Reg(reg) if !reg.is_zero() => Some(reg),
        _ => None,
    };
    let is =
        |source: &Source, word: i64| matches!(source.value, Value::Imm(imm) if imm as u32 == word as u32);
    let [a, b, c, _] = &compute.sources;
    match compute.op {
        ComputeOp::Funnel { left: false, high: true, .. } if is(b, COUNT_SHIFT) => reg(c),
        ComputeOp::Lop3 { .. } if is(b, i64::from(COUNT_MASK_SM80)) => reg(a),
        _ => None,
    }
}

pub(crate) fn high_words(values: &[u128; LANES]) -> Row {
    std::array::from_fn(|lane| (values[lane] >> 32) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_takes_the_place_of_a_state() {
        let (dst, high) = (Reg(6), [0x7fff_d800; LANES]);
        let mut states = States::default();
        states.note(Op::MbarArrive, dst, 0b11, &high);
        states.note(Op::MbarArriveNoComplete, dst, 0b01, &high);
        assert_eq!(states.kept, [(dst.plus(1), 0b10, high)], "lane 1 still has its own");
        states.note(Op::Load, dst, 0b10, &high);
        assert_eq!(states.kept, []);
    }
}
