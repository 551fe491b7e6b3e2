use super::Core;
use super::issue::{At, ExecError, Then};
use crate::compute::lanes::{Part, execute_together};
use crate::observer::CoreEvent;
use crate::support;
use crate::warp::{LANES, Row, Split, Sync, Wait, Warp, YIELD_WEIGHT, lanes, select};
use atoms_isa::{
    BlockBarrier, BranchCondition, Collective, Control, DRIVER_CODE, JumpBase, Operation, SyncWay,
};

/// Groups the lanes of `mask` by their words in `row`. Yields word and lanes.
fn groups(mask: u32, row: &Row) -> impl Iterator<Item = (u32, u32)> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        let word = *row.get(rest.trailing_zeros() as usize)?;
        let group = select(rest, |lane| row[*lane] == word);
        rest &= !group;
        Some((word, group))
    })
}

/// Moves `threads` of a split to `target`; the other threads stay in the split.
fn go(warp: &mut Warp, index: usize, threads: u32, target: u32) {
    if threads == warp.splits[index].mask {
        warp.splits[index].pc = target;
    } else if threads != 0 {
        warp.part(index, threads, target);
    }
}

/// Size and alignment of an instruction in bytes.
const INSTRUCTION_BYTES: u32 = 16;

/// Number of instructions of a warp after which threads that wait at [`Control::Reconverge`] continue without
/// the threads that have not arrived. [CHOSEN: long enough for a typical loop, short compared with the time
/// for which a lock is held]
const MEET_LIMIT: u32 = 1024;

impl Core<'_> {
    pub(super) fn control(&mut self, at: At, warp: &mut Warp, control: &Control) -> Result<Then, ExecError> {
        let At { index, mask, pc, .. } = at;
        match *control {
            Control::Branch { target, condition } => {
                let taken = self.taken(warp, index, mask, condition);
                go(warp, index, taken, target);
                if taken != 0 && target <= pc {
                    warp.went_round(1);
                    warp.pass_turn();
                    if let Some(priorities) = &mut self.priorities {
                        priorities.looped(at.slot);
                    }
                }
            }
            Control::Jump { base, offset } => self.jump(at, warp, base, offset)?,
            Control::Driver { function } if mask != 0 => self.call_driver(at, warp, function)?,
            Control::Trap if mask != 0 => {
                let asked = !self.launch.cooperative && support::reads_grid_workspace(self.kernel);
                let why = if asked {
                    "; the kernel synchronizes its grid: set `cooperative = true` in the launch file"
                } else {
                    ""
                };
                return Err(ExecError::operand(pc, format!("a trap{why}")));
            }
            Control::EndGroup(_) => {
                lanes(mask).for_each(|lane| self.copies.end_group((at.slot, lane as u32)));
            }
            Control::WaitGroups { most, .. } => {
                if lanes(mask).any(|lane| self.copies.groups((at.slot, lane as u32)) > most as usize) {
                    self.wait(warp, index, mask, Wait::Groups(most));
                }
            }
            Control::Exit => {
                if mask != 0 {
                    warp.exit(index, mask);
                    warp.converge();
                    self.carry_out_collectives(warp);
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
            Control::Reconverge { barrier } => {
                let split = &mut warp.splits[index];
                // If the guard excludes lanes, the waiting threads have no limit.
                split.limit = Some(MEET_LIMIT).filter(|_| mask == split.mask);
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
            Control::WarpSync { mask: threads, way } => {
                let sync = match way {
                    SyncWay::Plain => Sync::Plain,
                    SyncWay::Exclusive => Sync::Exclusive,
                    SyncWay::Collective { resume } => {
                        lanes(mask).for_each(|lane| warp.resume[lane] = resume);
                        Sync::Collective
                    }
                };
                let row = warp.view(index, &self.constants).row(&threads);
                for (members, group) in groups(mask, &row) {
                    self.tell(&CoreEvent::WarpSync(self.threads(warp, index, group), members));
                }
                self.wait_for_members(at, warp, &row, |mask| Wait::WarpSync { mask, sync })?;
            }
            Control::EndCollective => {
                let resume = warp.resume;
                groups(mask, &resume).for_each(|(target, group)| go(warp, index, group, target));
            }
            Control::Yield => {
                warp.went_round(YIELD_WEIGHT);
                warp.pass_turn();
            }
            Control::Sleep { nanoseconds, watch } => self.sleep(at, warp, nanoseconds, watch),
            Control::ClusterArrive => {
                let again = mask & warp.owes_wait;
                if again != 0 {
                    let message = format!(
                        "lanes {again:#010x} arrive at the cluster barrier again: no barrier.cluster.wait since their \
                         last arrival,"
                    );
                    return Err(ExecError::operand(pc, message));
                }
                warp.owes_wait |= mask;
                warp.at_cluster |= mask;
                return Ok(Then::Barriers);
            }
            Control::ClusterWait => {
                let early = mask & !warp.owes_wait;
                if early != 0 {
                    let message = format!(
                        "lanes {early:#010x} wait at the cluster barrier for their own arrival: no \
                         barrier.cluster.arrive since their last wait,"
                    );
                    return Err(ExecError::operand(pc, message));
                }
                warp.owes_wait &= !mask;
                // Threads whose phase is complete do not wait.
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
            Control::Block(_)
            | Control::Driver { .. }
            | Control::Trap
            | Control::Fence
            | Control::ProxyFence(_)
            | Control::InitFence
            | Control::Nop => {}
        }
        Ok(Then::Nothing)
    }

    /// Makes the threads of `mask` wait. The other threads of the split continue.
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

    /// Makes the threads of `mask` wait at a convergence barrier. The threads of a split may belong to
    /// different regions, so each waits only for the threads of its own region.
    fn wait_converging(&self, warp: &mut Warp, index: usize, mask: u32, barrier: u8) {
        let noted = warp.barriers[usize::from(barrier)];
        self.wait_apart(warp, index, mask, &noted, |_| Wait::Convergence(barrier));
    }

    /// Makes the threads of `mask` wait, as one split per distinct word in `row`.
    fn wait_apart(&self, warp: &mut Warp, index: usize, mask: u32, row: &Row, wait: impl Fn(u32) -> Wait) {
        let mut groups = groups(mask, row).peekable();
        while let Some((word, group)) = groups.next() {
            if groups.peek().is_none() {
                self.wait(warp, index, group, wait(word));
            } else {
                warp.part(index, group, warp.splits[index].pc);
                if let Some(split) = warp.splits.last_mut() {
                    split.wait = wait(word);
                }
            }
        }
    }

    /// Makes each thread of `mask` wait for the threads in its mask, which is its word in `row`.
    ///
    /// Two cases that PTX leaves undefined end the run: a thread that is missing in its own mask, and threads
    /// that name each other but wait with different masks or at different instructions.
    pub(super) fn wait_for_members(
        &self,
        at: At,
        warp: &mut Warp,
        row: &Row,
        wait: impl Fn(u32) -> Wait,
    ) -> Result<(), ExecError> {
        let At { index, mask, pc, .. } = at;
        if let Some(lane) = lanes(mask).find(|lane| row[*lane] >> lane & 1 == 0) {
            let message = format!(
                "lane {lane} waits with mask {:#010x}, which does not contain it; PTX leaves this undefined",
                row[lane]
            );
            return Err(ExecError::operand(pc, message));
        }
        let arriving: Vec<(u32, Wait)> = groups(mask, row).map(|(word, group)| (group, wait(word))).collect();
        let waiting = warp.splits.iter().map(|split| (split.mask, split.wait));
        let all: Vec<(u32, Wait)> = waiting.chain(arriving.iter().copied()).collect();
        for (here, wait) in &arriving {
            let named = wait.members().unwrap_or(0);
            let blocks = |(there, other): &&(u32, Wait)| {
                let names_here = other.members().is_some_and(|members| members & here != 0);
                named & there != 0 && names_here && !wait.meets(*other)
            };
            if let Some((there, other)) = all.iter().find(blocks) {
                let members = other.members().unwrap_or(0);
                let message = format!(
                    "lanes {here:#010x} wait with mask {named:#010x} and lanes {there:#010x} with mask {members:#010x}: each \
                     mask contains lanes of the other, so PTX requires the same mask and instruction for all these lanes"
                );
                return Err(ExecError::operand(pc, message));
            }
        }
        self.wait_apart(warp, index, mask, row, wait);
        Ok(())
    }

    /// Executes an instruction that all threads of a mask execute together. Waits until they have arrived.
    pub(super) fn collective(
        &mut self,
        at: At,
        warp: &mut Warp,
        collective: &Collective,
    ) -> Result<(), ExecError> {
        let At { index, mask, pc, .. } = at;
        if mask == 0 {
            return Ok(());
        }
        let row = warp.view(index, &self.constants).row(&collective.members);
        let kind = self.kernel.source[pc as usize].mnemonic;
        self.wait_for_members(at, warp, &row, |mask| Wait::Collective { mask, kind })?;
        let here = |wait: Wait| matches!(wait, Wait::Collective { .. });
        // Set the program counter back to this instruction: the threads wait before it, not after it.
        warp.splits.iter_mut().filter(|s| s.mask & mask != 0 && here(s.wait)).for_each(|s| s.pc = pc);
        self.carry_out_collectives(warp);
        Ok(())
    }

    /// Executes every collective instruction for which all threads in the mask have arrived.
    fn carry_out_collectives(&mut self, warp: &mut Warp) {
        let mut met = 0;
        loop {
            let open = |s: &&Split| s.mask & met == 0 && matches!(s.wait, Wait::Collective { .. });
            let found = warp.splits.iter().filter(open).find_map(|s| Some((warp.all_there(s)?, s.wait)));
            let Some((together, wait)) = found else { break };
            met |= together;
            let part = |(index, split): (usize, &Split)| {
                let Operation::Collective(Collective { op, spread, .. }) =
                    self.kernel.instructions.get(split.pc as usize)?.operation
                else {
                    return None;
                };
                Some(Part { op, spread, index, mask: split.mask, pc: split.pc })
            };
            let splits = warp.splits.iter().enumerate().filter(|(_, s)| s.wait == wait);
            let parts: Vec<Part> = splits.filter_map(part).collect();
            let foreign = execute_together(&parts, warp, &self.constants);
            for Part { index, mask, pc, .. } in parts {
                self.tell_foreign(pc, foreign & mask);
                warp.splits[index].pc = pc + 1;
            }
        }
        if met != 0 {
            warp.join(met, |wait| matches!(wait, Wait::Collective { .. }));
        }
    }

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
                // The guard selects `mask`, and the operand names threads that may have diverged from these.
                // `apart` is true if a live thread of the operand is not in `mask`. All threads of the split
                // take the same direction.
                let apart = row[all.trailing_zeros() as usize % LANES] & warp.live & !mask != 0;
                together(mask != 0 && apart == matches!(condition, BranchCondition::Apart(_)))
            }
        }
    }

    /// Jumps to register addresses. Threads with the same address stay together.
    fn jump(&mut self, at: At, warp: &mut Warp, base: JumpBase, offset: i32) -> Result<(), ExecError> {
        let At { index, mask, .. } = at;
        let view = warp.view(index, &self.constants);
        let row = match base {
            JumpBase::Thread(reg) => *view.reg(reg),
            JumpBase::Uniform(reg) => [view.uniform().get(reg); LANES],
        };
        let addresses = row.map(|word| word.wrapping_add(offset as u32));
        let mut code = mask;
        for (address, group) in groups(mask, &addresses) {
            if let Some(offset) = address.checked_sub(DRIVER_CODE) {
                code &= !group;
                self.call_driver(At { mask: group, ..at }, warp, offset / INSTRUCTION_BYTES)?;
            }
        }
        self.go_to_addresses(At { mask: code, ..at }, warp, &addresses)
    }

    pub(super) fn go_to_addresses(&self, at: At, warp: &mut Warp, addresses: &Row) -> Result<(), ExecError> {
        let At { index, mask, pc, .. } = at;
        for (address, group) in groups(mask, addresses) {
            let target = address / INSTRUCTION_BYTES;
            if !address.is_multiple_of(INSTRUCTION_BYTES) || target as usize >= self.kernel.instructions.len()
            {
                let bytes = self.kernel.instructions.len() * INSTRUCTION_BYTES as usize;
                let message =
                    format!("a jump to {address:#x}; the kernel's {bytes:#x} bytes of code begin at 0");
                return Err(ExecError::operand(pc, message));
            }
            go(warp, index, group, target);
            if target <= pc {
                warp.pass_turn();
            }
        }
        Ok(())
    }

    /// BAR in the lanes of `mask`. At least one lane must be active.
    fn block_barrier(&mut self, at: At, warp: &mut Warp, block: &BlockBarrier) -> Result<Then, ExecError> {
        let At { index, mask, pc, .. } = at;
        let view = warp.view(index, &self.constants);
        let lowest = mask.trailing_zeros() as usize % LANES;
        let word = view.row(&block.barrier)[lowest];
        let named = block.threads.map(|t| view.row(&t)[lowest]);
        let (id, threads) =
            if block.packed { (word & 0xffff, Some(word >> 16 & 0xfff)) } else { (word, named) };
        let threads = threads.filter(|&threads| threads != 0);
        let vote = block.vote.map(|(vote, pred)| (vote, view.pred(pred) & mask));
        if self.watched {
            self.tell_barrier(at, warp, id, block.wait);
        }
        let Some(cta) = self.ctas[warp.cta_slot].as_mut().filter(|_| id < 16) else {
            return Err(ExecError::operand(pc, format!("block barrier {id}; there are 0 to 15")));
        };
        let all = 32 * cta.warps.len() as u32;
        let count = threads.unwrap_or(all);
        if !count.is_multiple_of(LANES as u32) {
            let message = format!("block barrier {id} for {count} threads: PTX requires a multiple of 32");
            return Err(ExecError::operand(pc, message));
        }
        let barrier = &mut cta.barriers[id as usize];
        let (first, of_first) = *barrier.first.get_or_insert((pc, count));
        if count != of_first {
            let line = self.kernel.source.get(first as usize).map_or(0, |source| source.line);
            let message = format!(
                "all participants must name one count: block barrier {id} for {of_first} threads in line {line}, and \
                 for {count} threads"
            );
            return Err(ExecError::operand(pc, message));
        }
        barrier.expected = threads.or(barrier.expected);
        if let Some((vote, holds)) = vote {
            barrier.vote(vote, holds.count_ones(), mask.count_ones());
        }
        let threads = if mask == warp.live { 32 } else { mask.count_ones() };
        barrier.total = barrier.total.saturating_add(threads);
        if block.wait {
            self.wait(warp, index, mask, Wait::Block(id as u8));
        } else {
            barrier.arrived += threads;
        }
        Ok(Then::Barriers)
    }
}
