//! Special registers, and moves between predicates and a register.

use super::Core;
use crate::memory::{ConstantBank, SHARED_WINDOW_HIGH};
use crate::warp::{LANES, Row, Warp, select};
use atoms_isa::{Path, Pred, PredSource, PredicateMove, Reg, SpecialRegister, UReg};

/// Number of predicates that P2R and R2P can move: P0 to P6.
const PREDICATES: u8 = 7;

impl Core<'_> {
    pub(super) fn special(
        &self,
        warp: &mut Warp,
        index: usize,
        mask: u32,
        dst: (Path, u16, bool),
        register: SpecialRegister,
    ) {
        let [bx, by, _] = self.launch.block;
        let (cta, rank) = self.ctas[warp.cta_slot].as_ref().map_or(([0; 3], 0), |c| (c.index, c.rank));
        let thread = |lane: usize| 32 * warp.number + lane as u32;
        let nanoseconds = self.cycle.wrapping_mul(u64::from(self.config.clock_period_ps)) / 1000;
        let of = |lane: usize| match register {
            SpecialRegister::TidX => thread(lane) % bx,
            SpecialRegister::TidY => thread(lane) / bx % by,
            SpecialRegister::TidZ => thread(lane) / bx / by,
            SpecialRegister::CtaIdX => cta[0],
            SpecialRegister::CtaIdY => cta[1],
            SpecialRegister::CtaIdZ => cta[2],
            SpecialRegister::LaneId => lane as u32,
            SpecialRegister::WarpId => warp.number << 8,
            SpecialRegister::Tid => {
                let (x, rest) = (thread(lane) % bx, thread(lane) / bx);
                x | (rest % by) << 16 | (rest / by) << 26
            }
            SpecialRegister::Ntid => self.launch.threads(),
            SpecialRegister::SmId | SpecialRegister::CgaSize => 0,
            SpecialRegister::SharedBytes => self.table.bytes(warp.cta_slot),
            SpecialRegister::OwnSharedBytes => {
                self.table.bytes(warp.cta_slot).saturating_sub(self.reserved.bytes.len() as u32)
            }
            SpecialRegister::ReservedBegin => self.reserved.bytes.start,
            SpecialRegister::ReservedFirst => self.reserved.first(),
            SpecialRegister::GlobalTimerLo => nanoseconds as u32,
            SpecialRegister::GlobalTimerHi => (nanoseconds >> 32) as u32,
            SpecialRegister::EqMask => 1 << lane,
            SpecialRegister::LtMask => (1 << lane) - 1,
            SpecialRegister::LeMask => u32::MAX >> (31 - lane),
            SpecialRegister::GtMask => u32::MAX.checked_shl(lane as u32 + 1).unwrap_or(0),
            SpecialRegister::GeMask => u32::MAX << lane,
            SpecialRegister::CgaCtaId => rank,
            SpecialRegister::LocalEnd | SpecialRegister::Zero => 0,
            SpecialRegister::SharedWindowHigh => SHARED_WINDOW_HIGH,
            SpecialRegister::ClockLo => self.cycle as u32,
            SpecialRegister::ClockHi => (self.cycle >> 32) as u32,
            SpecialRegister::WarpNumber => warp.number,
            SpecialRegister::ClusterIdX => cta[0] / self.launch.cluster[0],
            SpecialRegister::ClusterIdY => cta[1] / self.launch.cluster[1],
            SpecialRegister::ClusterIdZ => cta[2] / self.launch.cluster[2],
            SpecialRegister::ClustersX => self.launch.grid[0] / self.launch.cluster[0],
            SpecialRegister::ClustersY => self.launch.grid[1] / self.launch.cluster[1],
            SpecialRegister::ClustersZ => self.launch.grid[2] / self.launch.cluster[2],
            SpecialRegister::ClusterCtaIdX => cta[0] % self.launch.cluster[0],
            SpecialRegister::ClusterCtaIdY => cta[1] % self.launch.cluster[1],
            SpecialRegister::ClusterCtaIdZ => cta[2] % self.launch.cluster[2],
            SpecialRegister::ClusterCtasX => self.launch.cluster[0],
            SpecialRegister::ClusterCtasY => self.launch.cluster[1],
            SpecialRegister::ClusterCtasZ => self.launch.cluster[2],
            SpecialRegister::ClusterCtas => self.launch.cluster_ctas(),
            SpecialRegister::IsClustered => u32::from(self.launch.cluster_ctas() > 1),
            SpecialRegister::Warps => self.launch.threads().div_ceil(32),
            SpecialRegister::DynamicShared => self.launch.dynamic_shared,
        };
        let row: Row = std::array::from_fn(of);
        let second = match register {
            SpecialRegister::ClockLo => (self.cycle >> 32) as u32,
            SpecialRegister::GlobalTimerLo => (nanoseconds >> 32) as u32,
            _ => 0,
        };
        let (path, dst, wide) = dst;
        match path {
            Path::Vector => {
                warp.registers.set(Reg(dst), mask, &row);
                if wide {
                    warp.registers.set(Reg(dst).plus(1), mask, &[second; LANES]);
                }
            }
            Path::Uniform if mask != 0 => {
                let uniform = &mut warp.splits[index].uniform;
                uniform.set(UReg(dst as u8), row[0]);
                if wide {
                    uniform.set(UReg(dst as u8).plus(1), second);
                }
            }
            Path::Uniform => {}
        }
    }
}

/// P2R and R2P in the lanes of `mask`. The uniform forms execute once, if a lane is active.
pub(super) fn moved_predicates(
    warp: &mut Warp,
    index: usize,
    mask: u32,
    moved: &PredicateMove,
    constants: &ConstantBank,
) {
    let pred = |number: u8| match moved.path {
        Path::Vector => Pred::Thread(number.into()),
        Path::Uniform => Pred::Uniform(number),
    };
    let view = warp.view(index, constants);
    let (value, named) = (view.row(&moved.value), view.row(&moved.mask));
    let shift = 8 * u32::from(moved.byte & 3);
    if let Some(dst) = moved.dst {
        let held: Vec<u32> =
            (0..PREDICATES).map(|n| view.pred(PredSource { pred: pred(n), negate: false })).collect();
        let row: Row = std::array::from_fn(|lane| {
            let bits = held.iter().enumerate().fold(0, |bits, (n, held)| bits | (held >> lane & 1) << n);
            let named = (named[lane] & 0x7f) << shift;
            (value[lane] & !named) | ((bits << shift) & named)
        });
        match moved.path {
            Path::Vector => warp.registers.set(Reg(dst), mask, &row),
            Path::Uniform if mask != 0 => warp.splits[index].uniform.set(UReg(dst as u8), row[0]),
            Path::Uniform => {}
        }
        return;
    }
    for number in 0..PREDICATES {
        let chosen = select(mask, |l| named[*l] >> number & 1 != 0);
        let bit = |lane: &usize| value[*lane] >> (shift + u32::from(number)) & 1 != 0;
        let values = select(chosen, bit);
        if chosen != 0 {
            warp.set_pred(index, pred(number), chosen, values);
        }
    }
}
