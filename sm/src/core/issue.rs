//! Issues one instruction of one warp.

use super::Core;
use super::cta::Stage;
use super::special_register::moved_predicates;
use crate::compute;
use crate::error::{InstructionPlace, KernelError};
use crate::memory::{SHARED_WINDOW_HIGH, SharedPlace, generic};
use crate::observer::CoreEvent;
use crate::port::{Origin, Reply, Request, Transfer};
use crate::schedule::Schedule;
use crate::warp::{Busy, LANES, Row, View, Warp, select};
use atoms_isa::{
    AddressBase, ConstAccess, ConstIndex, Control, Effect, GlobalAddress, Grain, Operation, Path, Reg, UReg,
};
use atoms_ops::{Op, Size};

/// True for instructions that can publish earlier accesses to other threads.
fn orders(operation: &Operation) -> bool {
    matches!(
        operation,
        Operation::Control(
            Control::Fence | Control::ProxyFence(_) | Control::ClusterArrive | Control::Block(_)
        )
    )
}

#[derive(Clone, Copy)]
pub(super) struct At {
    pub(super) slot: usize,
    pub(super) index: usize,
    /// Active lanes, after the guard.
    pub(super) mask: u32,
    pub(super) pc: u32,
}

/// Follow-up after an instruction, done when the warp is back in its slot.
#[derive(PartialEq, Eq)]
pub(super) enum Then {
    Nothing,
    /// Threads arrived at a barrier or ended, so barriers must be checked.
    Barriers,
}

impl Core<'_> {
    pub(super) fn issue(&mut self, slot: usize) -> Result<(), KernelError> {
        let Some(mut warp) = self.warps[slot].take() else { return Ok(()) };
        let result = self.step(slot, &mut warp);
        let cta_slot = warp.cta_slot;
        self.warps[slot] = Some(warp);
        match result {
            // The error lacks the source line. Add it now, because the warp has just returned to its slot.
            Err(ExecError { pc, at }) => Err(at(self.place(slot, pc))),
            Ok(Then::Nothing) => Ok(()),
            Ok(Then::Barriers) => {
                self.barrier_event(cta_slot);
                Ok(())
            }
        }
    }

    /// Releases complete barriers, and starts to end the CTA if all its threads have ended.
    fn barrier_event(&mut self, cta_slot: usize) {
        let Some(cta) = self.ctas[cta_slot].as_mut() else { return };
        let number = cta.number;
        cta.release_barriers(&mut self.warps, |id, ended| {
            self.observer.observe(self.cycle, &CoreEvent::BlockComplete(number, id, ended));
        });
        let ended = |slot: &usize| self.warps[*slot].as_deref().is_none_or(|w| w.splits.is_empty());
        if cta.state == Stage::Running && cta.warps.iter().all(ended) {
            cta.state = Stage::Ending;
        }
        let cluster = cta.cluster;
        self.release_cluster_barrier(cluster);
        self.release_ended();
    }

    fn step(&mut self, slot: usize, warp: &mut Warp) -> Result<Then, ExecError> {
        warp.count_down();
        let Some(index) = warp.turn(self.cycle) else { return Ok(Then::Nothing) };
        let pc = warp.splits[index].pc;
        let Some(instruction) = self.kernel.instructions.get(pc as usize) else {
            return Err(ExecError::new(pc.saturating_sub(1), |place| KernelError::RanOff { place }));
        };
        warp.busy = Busy::No;
        let mask = warp.splits[index].mask & warp.view(index, &self.constants).pred(instruction.guard);
        if mask != 0
            && orders(&instruction.operation)
            && let Some(place) = warp.posted.take()
        {
            self.flush(At { slot, index, mask, pc }, warp, place);
            return Ok(Then::Nothing);
        }
        warp.splits[index].pc = pc + 1;
        self.count(warp, index, pc, mask);
        if mask != 0
            && matches!(instruction.operation.effect(), Effect::Time | Effect::Write | Effect::Arrival)
        {
            self.livelock.change(self.cycle);
            // Reading the clock does not end a poll.
            if let Some(priorities) = &mut self.priorities
                && Schedule::is_step(&instruction.operation)
            {
                priorities.changed(slot);
            }
        }

        let at = At { slot, index, mask, pc };
        match &instruction.operation {
            Operation::Compute(compute) => {
                let misused = warp.states.misused(compute, &warp.view(index, &self.constants), mask);
                if misused != 0 {
                    self.tell(&CoreEvent::ForeignPendingCount(pc, misused));
                }
                compute::execute(compute, warp, index, mask, &self.constants);
            }
            Operation::Special { path, dst, wide, register } => {
                self.special(warp, index, mask, (*path, *dst, *wide), *register);
            }
            Operation::Const(access) => self.constant(warp, index, mask, access),
            Operation::Shared(access) if mask != 0 => {
                let view = warp.view(index, &self.constants);
                let request = Request::new(access, &view, mask, pc, warp.cta_slot);
                self.note_object(warp, &request);
                self.ask(slot, warp, request);
            }
            Operation::Fill(fill) if mask != 0 => {
                let view = warp.view(index, &self.constants);
                let request = Request::fill(fill, &view, mask, pc, warp.cta_slot);
                self.ask(slot, warp, request);
            }
            Operation::Shared(_) | Operation::Fill(_) => {}
            Operation::Barrier(access) => self.barrier_access(at, warp, access)?,
            Operation::ThreadCopy(copy) => self.thread_copy(at, warp, copy)?,
            Operation::CopyArrival(arrival) => self.copy_arrival(at, warp, arrival)?,
            Operation::BulkCopy(copy) => self.bulk_copy(at, warp, copy)?,
            Operation::Async(access) => self.async_access(at, warp, access)?,
            Operation::Global(access) => self.global_access(at, warp, access)?,
            Operation::QuerySpace { pred_dst, address, space } => {
                let arch = self.kernel.arch;
                let addresses = addresses(&warp.view(index, &self.constants), address);
                let addresses = addresses.map(|address| generic(arch, address));
                let rank = self.ctas[warp.cta_slot].as_ref().map_or(0, |c| c.rank);
                let there = |l: &usize| crate::memory::in_window(*space, addresses[*l], rank);
                let shared = select(mask, there);
                warp.set_pred(index, *pred_dst, mask, shared);
            }
            Operation::Local(access) => self.local_access(at, warp, access)?,
            Operation::Predicates(moved) => moved_predicates(warp, index, mask, moved, &self.constants),
            Operation::Warp(op) => {
                let foreign = compute::lanes::execute(op, warp, index, mask, &self.constants);
                self.tell_foreign(pc, foreign);
            }
            Operation::Collective(collective) => self.collective(at, warp, collective)?,
            Operation::Control(control) => return self.control(at, warp, control),
            Operation::Unsupported => {
                return Err(ExecError::operand(pc, "this instruction is not supported".into()));
            }
        }
        Ok(Then::Nothing)
    }

    /// Makes the warp wait for its posted requests to other CTAs. A load at `place`, the target of the last
    /// posted request, follows them in order, so its response shows that they are done. The load is
    /// misaligned: the unit answers it in order without reading memory, which may hold an mbarrier object
    /// (spec 6.9).
    fn flush(&mut self, at: At, warp: &mut Warp, place: SharedPlace) {
        let place = SharedPlace { address: place.address | 1, ..place };
        let origin = Origin::Lane { warp: at.slot, lane: at.mask.trailing_zeros(), pc: at.pc };
        let load = Transfer::posted(Op::Load, Size::U32, place, origin);
        self.cluster_port.ask(Transfer { red: false, reply: Reply::Flushed, ..load });
        warp.remote += 1;
        warp.busy = Busy::Request;
    }

    fn count(&mut self, warp: &Warp, index: usize, pc: u32, mask: u32) {
        self.statistics.warp_instructions += 1;
        self.statistics.thread_instructions += u64::from(mask.count_ones());
        let source = &self.kernel.source[pc as usize];
        self.issues[source.mnemonic as usize] += 1;
        let threads = self.threads(warp, index, mask);
        self.tell(&CoreEvent::Issue(threads, pc, source.code()));
    }

    pub(super) fn ask(&mut self, slot: usize, warp: &mut Warp, mut request: Request) {
        if request.skip_empty(self.geometry.lanes) {
            self.tell_reserved(request.pc, request.mask, |lane| request.address.sum(lane));
            self.requests[slot] = Some(Box::new(request));
            self.waiting |= 1 << slot;
            warp.busy = Busy::Request;
        }
    }

    fn constant(&self, warp: &mut Warp, index: usize, mask: u32, access: &ConstAccess) {
        if mask == 0 {
            return;
        }
        let view = warp.view(index, &self.constants);
        let (count, size) = match access.grain {
            Grain::Sub(size) => (1, Some(size)),
            Grain::Words(count) => (count, None),
        };
        let by_lane = matches!(access.address.index, ConstIndex::Reg(_));
        // Read the indices of all lanes before writing the first result: an index register may be a
        // destination.
        let first = view.const_offset(access.address, 0);
        let offsets: Row = match by_lane {
            true => std::array::from_fn(|lane| view.const_offset(access.address, lane)),
            false => [first; LANES],
        };
        for word in 0..count {
            let read = |offset: u32| {
                let bits = self.constants.word(offset.wrapping_add(4 * u32::from(word)));
                size.map_or(bits, |size| extend(size, u128::from(bits)) as u32)
            };
            match access.path {
                Path::Vector => {
                    let row = if by_lane { offsets.map(read) } else { [read(first); LANES] };
                    warp.registers.set(Reg(access.dst).plus(word), mask, &row);
                }
                Path::Uniform => {
                    warp.splits[index].uniform.set(UReg(access.dst as u8).plus(word), read(first));
                }
            }
        }
    }
}

/// Error of an instruction. The place is filled in later.
pub(super) struct ExecError {
    pc: u32,
    at: Box<dyn FnOnce(InstructionPlace) -> KernelError>,
}

impl ExecError {
    fn new(pc: u32, at: impl FnOnce(InstructionPlace) -> KernelError + 'static) -> ExecError {
        ExecError { pc, at: Box::new(at) }
    }

    /// Failed access; `what` is a kind that [`KernelError::Access`] names.
    pub(super) fn access(what: &'static str, pc: u32, lane: u32, message: String) -> ExecError {
        ExecError::new(pc, move |place| KernelError::Access { what, message, lane, place })
    }

    pub(super) fn operand(pc: u32, message: String) -> ExecError {
        ExecError::new(pc, move |place| KernelError::Operand { message, place })
    }
}

pub(super) fn in_shared_window(address: u64) -> bool {
    (address >> 32) as u32 == SHARED_WINDOW_HIGH
}

/// Rank of the CTA that owns a generic shared address (spec 1.4).
pub(super) fn rank_of(address: u64) -> u32 {
    address as u32 >> 24
}

pub(super) fn addresses(view: &View<'_>, address: &GlobalAddress) -> [u64; LANES] {
    let uniform = address.ur.map_or(0, |ur| view.uniform().pair(ur));
    let rest = uniform.wrapping_add(i64::from(address.imm) as u64);
    match address.base {
        AddressBase::None => [rest; LANES],
        AddressBase::Word(reg) => view.reg(reg).map(|low| rest.wrapping_add(u64::from(low))),
        AddressBase::Pair(reg) => {
            let (low, high) = (view.reg(reg), view.reg(reg.plus(1)));
            std::array::from_fn(|l| rest.wrapping_add(u64::from(low[l]) | u64::from(high[l]) << 32))
        }
    }
}

pub(super) fn extend(size: Size, bits: u128) -> u128 {
    match size {
        Size::U8 => bits & 0xff,
        Size::U16 => bits & 0xffff,
        Size::S8 => u128::from(bits as i8 as u32),
        Size::S16 => u128::from(bits as i16 as u32),
        Size::U32 | Size::S32 => bits & 0xffff_ffff,
        Size::U64 | Size::B128 => bits,
    }
}
