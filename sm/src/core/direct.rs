//! Instructions that direct threads.

use super::Core;
use super::issue::{At, Stop, Then};
use crate::warp::{LANES, Wait, Warp, YIELD_WEIGHT, lanes};
use atoms_isa::{BlockBarrier, BranchCondition, Control, JumpBase};

/// Bytes of an instruction: what code addresses are multiples of.
const INSTRUCTION_BYTES: u32 = 16;

/// Instructions of a warp after which threads that wait at [`Control::Meet`] go on without the others. [CHOSEN:
/// enough for a loop of some length, little beside a lock that is held meanwhile]
const PATIENCE: u32 = 1024;

impl Core<'_> {
    pub(super) fn control(&mut self, at: At, warp: &mut Warp, control: &Control) -> Result<Then, Stop> {
        let At { index, mask, pc, .. } = at;
        match *control {
            Control::Branch { target, condition } => {
                let all = warp.splits[index].mask;
                let taken = self.taken(warp, index, mask, condition);
                if taken == all {
                    warp.splits[index].pc = target;
                } else if taken != 0 {
                    warp.part(index, taken, target);
                }
                if taken != 0 && target <= pc {
                    warp.went_round(1);
                    warp.pass_turn();
                }
            }
            Control::Jump { base, offset } => self.jump(at, warp, base, offset)?,
            Control::Trap if mask != 0 => return Err(Stop::operand(pc, "a trap".into())),
            Control::EndGroup => {
                lanes(mask).for_each(|lane| self.copies.end_group((at.slot, lane as u32)));
            }
            Control::WaitGroups { most } => {
                if lanes(mask).any(|lane| self.copies.groups((at.slot, lane as u32)) > most as usize) {
                    self.wait(warp, index, mask, Wait::Groups(most));
                }
            }
            Control::Exit => {
                if mask != 0 {
                    warp.exit(index, mask);
                    warp.converge();
                    return Ok(Then::Barriers);
                }
            }
            Control::SetBarrier { barrier } => {
                let row = &mut warp.barriers[usize::from(barrier.0 & 15)];
                lanes(mask).for_each(|lane| row[lane] = mask);
            }
            Control::SyncBarrier { barrier } => {
                self.wait_converging(warp, index, mask, barrier.0 & 15);
            }
            Control::Meet { barrier } => {
                let split = &mut warp.splits[index];
                // Lanes that the guard leaves out do not wait.
                split.patience = Some(PATIENCE).filter(|_| mask == split.mask);
                self.wait(warp, index, mask, Wait::Convergence(barrier.0 & 15));
            }
            Control::BreakBarrier { barrier, pred } => {
                let mask = mask & warp.view(index, &self.constants).pred(pred);
                let row = &mut warp.barriers[usize::from(barrier.0 & 15)];
                row.iter_mut().for_each(|threads| *threads &= !mask);
                warp.converge();
            }
            Control::BarrierToReg { dst, barrier, clear } => {
                let barrier = usize::from(barrier.0 & 15);
                let row = warp.barriers[barrier];
                warp.registers.set(dst, mask, &row);
                if clear {
                    lanes(mask).for_each(|lane| warp.barriers[barrier][lane] = 0);
                }
            }
            Control::RegToBarrier { barrier, src } => {
                let row = warp.view(index, &self.constants).row(&src);
                let threads = &mut warp.barriers[usize::from(barrier.0 & 15)];
                lanes(mask).for_each(|lane| threads[lane] = row[lane]);
            }
            Control::WarpSync { mask: threads } => {
                let row = warp.view(index, &self.constants).row(&threads);
                let threads = row[mask.trailing_zeros() as usize % LANES];
                self.wait(warp, index, mask, Wait::WarpSync(threads));
            }
            Control::Yield => {
                warp.went_round(YIELD_WEIGHT);
                warp.pass_turn();
            }
            Control::Sleep { nanoseconds, watch } => self.sleep(at, warp, nanoseconds, watch),
            Control::ClusterArrive => {
                warp.at_cluster |= mask;
                return Ok(Then::Barriers);
            }
            Control::ClusterWait => {
                // Threads that have not arrived, or arrived in a phase that is complete, do not wait.
                self.wait(warp, index, mask & warp.at_cluster, Wait::Cluster);
            }
            Control::ReturnPcToReg { dst, high } => {
                let row = warp.return_pc[usize::from(high)];
                warp.registers.set(dst, mask, &row);
            }
            Control::RegToReturnPc { high, src } => {
                let row = warp.view(index, &self.constants).row(&src);
                lanes(mask).for_each(|lane| warp.return_pc[usize::from(high)][lane] = row[lane]);
            }
            Control::Block(block) if mask != 0 => return self.block_barrier(at, warp, &block),
            Control::Block(_) | Control::Trap | Control::Fence | Control::Nop => {}
        }
        Ok(Then::Nothing)
    }

    /// Lets the threads of `mask` wait; others of the split go on.
    fn wait(&self, warp: &mut Warp, index: usize, mask: u32, wait: Wait) {
        if mask == 0 {
            return;
        }
        let split = &warp.splits[index];
        let waiting = if mask == split.mask {
            index
        } else {
            warp.part(index, mask, split.pc);
            warp.splits.len() - 1
        };
        warp.splits[waiting].wait = wait;
        warp.current = waiting;
        warp.converge();
    }

    /// Lets the threads of `mask` wait at a convergence barrier. Threads that go together may have come from
    /// different regions, and then each wait for those of its own.
    fn wait_converging(&self, warp: &mut Warp, index: usize, mask: u32, barrier: u8) {
        let noted = warp.barriers[usize::from(barrier)];
        let mut rest = mask;
        while rest != 0 {
            let first = noted[rest.trailing_zeros() as usize % LANES];
            let group = lanes(rest).filter(|lane| noted[*lane] == first).fold(0, |m, lane| m | 1 << lane);
            rest &= !group;
            if rest == 0 {
                self.wait(warp, index, group, Wait::Convergence(barrier));
            } else {
                warp.part(index, group, warp.splits[index].pc);
                if let Some(split) = warp.splits.last_mut() {
                    split.wait = Wait::Convergence(barrier);
                }
            }
        }
    }

    /// Lanes that take a branch.
    fn taken(&self, warp: &Warp, index: usize, mask: u32, condition: BranchCondition) -> u32 {
        let all = warp.splits[index].mask;
        let lowest = 1 << (all.trailing_zeros() % 32);
        let view = warp.view(index, &self.constants);
        let together = |holds: bool| if holds { all } else { 0 };
        match condition {
            BranchCondition::Thread => mask,
            BranchCondition::ThreadIf(pred) => mask & view.pred(pred),
            BranchCondition::Uniform(pred) => together(view.pred(pred) & mask & lowest != 0),
            BranchCondition::Any => together(mask != 0),
            BranchCondition::Apart(threads) | BranchCondition::Together(threads) => {
                let mut row = view.row(&threads);
                if threads.invert {
                    row = row.map(|word| !word);
                }
                let apart = row[all.trailing_zeros() as usize % LANES] & warp.live & !all != 0;
                together(mask != 0 && apart == matches!(condition, BranchCondition::Apart(_)))
            }
        }
    }

    /// Threads go where their registers say, together as far as that is the same place.
    fn jump(&self, at: At, warp: &mut Warp, base: JumpBase, offset: i32) -> Result<(), Stop> {
        let At { index, mask, pc, .. } = at;
        let view = warp.view(index, &self.constants);
        let row = match base {
            JumpBase::Thread(reg) => *view.reg(reg),
            JumpBase::Uniform(reg) => [view.uniform().get(reg); LANES],
        };
        let mut rest = mask;
        while rest != 0 {
            let address = row[rest.trailing_zeros() as usize % LANES].wrapping_add(offset as u32);
            let target = address / INSTRUCTION_BYTES;
            if !address.is_multiple_of(INSTRUCTION_BYTES) || target as usize >= self.kernel.instructions.len()
            {
                let bytes = self.kernel.instructions.len() * INSTRUCTION_BYTES as usize;
                let message =
                    format!("a jump to {address:#x}; the kernel's {bytes:#x} bytes of code begin at 0");
                return Err(Stop::operand(pc, message));
            }
            let same = |lane: &usize| row[*lane].wrapping_add(offset as u32) == address;
            let group = lanes(rest).filter(same).fold(0, |m, lane| m | 1 << lane);
            rest &= !group;
            if group == warp.splits[index].mask {
                warp.splits[index].pc = target;
            } else {
                warp.part(index, group, target);
            }
            if target <= pc {
                warp.pass_turn();
            }
        }
        Ok(())
    }

    /// BAR, in the lanes of `mask`, of which there is one.
    fn block_barrier(&mut self, at: At, warp: &mut Warp, block: &BlockBarrier) -> Result<Then, Stop> {
        let At { index, mask, pc, .. } = at;
        let view = warp.view(index, &self.constants);
        let lowest = mask.trailing_zeros() as usize % LANES;
        let id = view.row(&block.barrier)[lowest];
        let threads = block.threads.map(|t| view.row(&t)[lowest]);
        let vote = block.vote.map(|(vote, pred)| (vote, view.pred(pred) & mask));
        if self.watched {
            self.tell_barrier(at, warp, id, block.wait);
        }
        let Some(cta) = self.ctas[warp.cta_slot].as_mut().filter(|_| id < 16) else {
            return Err(Stop::operand(pc, format!("block barrier {id}; there are 0 to 15")));
        };
        let barrier = &mut cta.barriers[id as usize];
        barrier.expected = threads.or(barrier.expected);
        if let Some((vote, holds)) = vote {
            barrier.vote(vote, holds.count_ones(), mask.count_ones());
        }
        if block.wait {
            self.wait(warp, index, mask, Wait::Block(id as u8));
        } else {
            barrier.arrived += if mask == warp.live { 32 } else { mask.count_ones() };
        }
        Ok(Then::Barriers)
    }
}
