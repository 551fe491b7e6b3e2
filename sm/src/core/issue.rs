//! Issuing one instruction of one warp.

use super::Core;
use crate::cta::Stage;
use crate::error::KernelError;
use crate::global::SHARED_WINDOW_HIGH;
use crate::observer::Issue;
use crate::request::{self, Address, Request};
use crate::warp::{Busy, LANES, Row, View, Wait, Warp, lanes};
use crate::{alu, atomic, warp_op};
use atoms_isa::{
    AddressBase, BranchCondition, ConstAccess, Control, GlobalAccess, GlobalAddress, GlobalOp, Grain,
    Operation, Path, Reg, Space, SpecialRegister, UReg,
};
use atoms_ops::{Op, Size};

/// Who carries an instruction out.
#[derive(Clone, Copy)]
pub(super) struct At {
    /// Warp slot.
    pub(super) slot: usize,
    /// Index of the split.
    pub(super) index: usize,
    /// Lanes that take part, after the guard.
    pub(super) mask: u32,
    /// Index of the instruction.
    pub(super) pc: u32,
}

/// What has to be looked at once the warp is back in its place.
#[derive(PartialEq, Eq)]
enum Then {
    Nothing,
    /// Threads arrived at a barrier, or ended.
    Barriers,
}

impl Core<'_> {
    /// Issues the next instruction of the warp in `slot`, which is ready.
    pub(super) fn issue(&mut self, slot: usize) -> Result<(), KernelError> {
        let Some(mut warp) = self.warps[slot].take() else { return Ok(()) };
        let result = self.step(slot, &mut warp);
        let cta_slot = warp.cta_slot;
        self.warps[slot] = Some(warp);
        match result {
            // Messages name the warp, which is only now back in its place.
            Err(stop) => Err(stop.locate(self, slot)),
            Ok(Then::Nothing) => Ok(()),
            Ok(Then::Barriers) => {
                self.barrier_event(cta_slot);
                Ok(())
            }
        }
    }

    /// Releases barriers that are complete, and the CTA if all its threads have ended.
    fn barrier_event(&mut self, cta_slot: usize) {
        let Some(cta) = self.ctas[cta_slot].as_mut() else { return };
        cta.release_barriers(&mut self.warps);
        let ended = |slot: &usize| self.warps[*slot].as_deref().is_none_or(|w| w.splits.is_empty());
        if cta.state == Stage::Running && cta.warps.iter().all(ended) {
            cta.state = Stage::Ending;
        }
        let cluster = cta.cluster;
        self.release_cluster_barrier(cluster);
        self.release_ended();
    }

    fn step(&mut self, slot: usize, warp: &mut Warp) -> Result<Then, Stop> {
        let Some(index) = warp.turn() else { return Ok(Then::Nothing) };
        let pc = warp.splits[index].pc;
        let Some(instruction) = self.kernel.instructions.get(pc as usize) else {
            return Err(Stop::ran_off(pc));
        };
        warp.busy = Busy::No;
        let mask = warp.splits[index].mask & warp.view(index, &self.constants).pred(instruction.guard);
        warp.splits[index].pc = pc + 1;
        self.count(warp, pc, mask);
        if mask != 0 && others_see(&instruction.operation) {
            self.quiet.change(self.cycle);
        }

        let at = At { slot, index, mask, pc };
        match &instruction.operation {
            Operation::Alu(alu) => {
                let misused = warp.states.misused(alu, &warp.view(index, &self.constants), mask);
                if misused != 0 {
                    self.observer.foreign_pending_count(self.cycle, pc, misused);
                }
                alu::execute(alu, warp, index, mask, &self.constants);
            }
            Operation::Special { path, dst, wide, register } => {
                self.special(warp, index, mask, (*path, *dst, *wide), *register);
            }
            Operation::Const(access) => self.constant(warp, index, mask, access),
            Operation::Shared(access) if mask != 0 => {
                let cta_slot = warp.cta_slot as u8;
                let view = warp.view(index, &self.constants);
                let request = Request::new(access, &view, mask, pc, cta_slot);
                self.note_object(warp, &request);
                self.ask(slot, warp, request);
            }
            Operation::Shared(_) => {}
            Operation::Barrier(access) => self.barrier_access(at, warp, access)?,
            Operation::ThreadCopy(copy) => self.thread_copy(at, warp, copy)?,
            Operation::CopyArrival(arrival) => self.copy_arrival(at, warp, arrival)?,
            Operation::BulkCopy(copy) => self.bulk_copy(at, warp, copy)?,
            Operation::Async(access) => self.async_access(at, warp, access)?,
            Operation::Global(access) => self.global_access(at, warp, access)?,
            Operation::QuerySpace { pred_dst, address, own } => {
                let addresses = addresses(&warp.view(index, &self.constants), address);
                let rank = self.ctas[warp.cta_slot].as_ref().map_or(0, |c| c.rank);
                let there = |l: &usize| in_window(addresses[*l]) && (!own || rank_of(addresses[*l]) == rank);
                let shared = lanes(mask).filter(there).fold(0, |m, l| m | 1 << l);
                warp.set_pred(index, *pred_dst, mask, shared);
            }
            Operation::Warp(op) => warp_op::execute(op, warp, index, mask, &self.constants),
            Operation::Control(control) => return self.control(at, warp, control),
            Operation::Lacking => {
                return Err(Stop::operand(pc, "an instruction that was not decoded".into()));
            }
        }
        Ok(Then::Nothing)
    }

    fn count(&mut self, warp: &Warp, pc: u32, mask: u32) {
        self.statistics.warp_instructions += 1;
        self.statistics.thread_instructions += u64::from(mask.count_ones());
        let source = &self.kernel.source[pc as usize];
        self.issues[source.mnemonic as usize] += 1;
        let cta = self.ctas[warp.cta_slot].as_ref().map_or(0, |c| c.number);
        let (cycle, text) = (self.cycle, source.text.as_str());
        self.observer.issue(&Issue { cycle, cta, warp: warp.number, pc, mask, text });
    }

    /// Queues a request; the warp waits for its answer.
    pub(super) fn ask(&mut self, slot: usize, warp: &mut Warp, mut request: Request) {
        if request.skip_empty(self.geometry.lanes) {
            self.requests[slot] = Some(Box::new(request));
            self.waiting |= 1 << slot;
            warp.busy = Busy::Request;
        }
    }

    fn special(
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
        let of = |lane: usize| match register {
            SpecialRegister::TidX => thread(lane) % bx,
            SpecialRegister::TidY => thread(lane) / bx % by,
            SpecialRegister::TidZ => thread(lane) / bx / by,
            SpecialRegister::CtaIdX => cta[0],
            SpecialRegister::CtaIdY => cta[1],
            SpecialRegister::CtaIdZ => cta[2],
            SpecialRegister::LaneId => lane as u32,
            SpecialRegister::WarpId => warp.number,
            SpecialRegister::EqMask => 1 << lane,
            SpecialRegister::LtMask => (1 << lane) - 1,
            SpecialRegister::LeMask => u32::MAX >> (31 - lane),
            SpecialRegister::GtMask => u32::MAX.checked_shl(lane as u32 + 1).unwrap_or(0),
            SpecialRegister::GeMask => u32::MAX << lane,
            SpecialRegister::CgaCtaId => rank,
            SpecialRegister::Zero => 0,
            SpecialRegister::SharedWindowHigh => SHARED_WINDOW_HIGH,
            SpecialRegister::ClockLo => self.cycle as u32,
            SpecialRegister::ClockHi => (self.cycle >> 32) as u32,
        };
        let row: Row = std::array::from_fn(of);
        let (path, dst, wide) = dst;
        match path {
            Path::Vector => {
                warp.registers.set(Reg(dst), mask, &row);
                if wide {
                    warp.registers.set(Reg(dst).plus(1), mask, &[0; LANES]);
                }
            }
            Path::Uniform if mask != 0 => warp.splits[index].uniform.set(UReg(dst as u8), row[0]),
            Path::Uniform => {}
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
        let rows: Vec<Row> = (0..count)
            .map(|word| {
                std::array::from_fn(|lane| {
                    let offset = view.const_offset(access.address, lane).wrapping_add(4 * u32::from(word));
                    let bits = view.constants().word(offset);
                    size.map_or(bits, |size| extend(size, u128::from(bits)) as u32)
                })
            })
            .collect();
        for (word, row) in rows.iter().enumerate() {
            let dst = access.dst;
            match access.path {
                Path::Vector => warp.registers.set(Reg(dst).plus(word as u8), mask, row),
                Path::Uniform => warp.splits[index].uniform.set(UReg(dst as u8).plus(word as u8), row[0]),
            }
        }
    }

    /// Global lanes are done at once, lane by lane; lanes in the shared window go to the unit.
    fn global_access(&mut self, at: At, warp: &mut Warp, access: &GlobalAccess) -> Result<(), Stop> {
        let At { slot, index, mask, pc } = at;
        if mask == 0 {
            return Ok(());
        }
        let GlobalAccess { op, size, dst, pred_dst, .. } = *access;
        let view = warp.view(index, &self.constants);
        let addresses = addresses(&view, &access.address);
        let b = request::gather(&view, access.rb, size);
        let c = request::gather(&view, access.rc, size);
        let shared = match access.space {
            Space::Global => 0,
            Space::Generic => lanes(mask).filter(|l| in_window(addresses[*l])).fold(0, |m, l| m | 1 << l),
        };
        let rank = self.ctas[warp.cta_slot].as_ref().map_or(0, |c| c.rank);
        if let Some(lane) = lanes(shared).find(|l| rank_of(addresses[*l]) != rank) {
            let message = format!(
                "generic address {:#x} is in the shared memory of another CTA of the cluster, which this core \
                 reaches by SYNCS, STAS and REDAS alone",
                addresses[lane]
            );
            return Err(Stop::remote(pc, lane as u32, message));
        }
        if let GlobalOp::Atomic(op) = op
            && op.is_mbarrier()
            && mask != shared
        {
            let lane = (mask & !shared).trailing_zeros();
            let address = addresses[lane as usize % LANES];
            return Err(Stop::global(
                pc,
                lane,
                format!("{op} at {address:#x}, which is not in shared memory"),
            ));
        }
        let bytes = size.bytes() as usize;
        let mut results = [0; LANES];
        for lane in lanes(mask & !shared) {
            let outside = |message: String| Stop::global(pc, lane as u32, message);
            let old = if op == GlobalOp::Store {
                0
            } else {
                self.global.load(addresses[lane], bytes).map_err(outside)?
            };
            let new = atomic::apply(op, size, old, b[lane], c[lane]);
            if let Some(new) = new {
                self.global.store(addresses[lane], bytes, new).map_err(outside)?;
            }
            results[lane] = match op {
                GlobalOp::Atomic(Op::Cast | Op::CastSpin) => u128::from(new.is_some()),
                _ => extend(size, old),
            };
        }
        request::scatter(warp, dst, size, mask & !shared, &results);
        warp.busy = Busy::Until(self.cycle + u64::from(self.config.global_latency_cycles) + 1);
        let to_unit = match op {
            GlobalOp::Load => Some(Op::Load),
            GlobalOp::Store => Some(Op::Store),
            GlobalOp::Atomic(op) => Some(op),
            GlobalOp::AddF32 | GlobalOp::AddF16x2 | GlobalOp::Add64 | GlobalOp::Min64 | GlobalOp::Max64 => {
                None
            }
        };
        let done = if to_unit.is_some() { mask } else { mask & !shared };
        warp.set_pred(index, pred_dst, mask, done);
        if let Some(op) = to_unit
            && shared != 0
        {
            let request = Request {
                op,
                size,
                mask: shared,
                pc,
                red: dst.is_zero(),
                slot: warp.cta_slot as u8,
                address: Address {
                    ra: addresses.map(|a| a as u32),
                    scale: 0,
                    ur: 0,
                    imm: 0,
                    absolute: false,
                },
                b,
                c,
                dst,
                pred_dst: None,
                piece: 0,
                in_flight: false,
                stored: 0,
            };
            self.ask(slot, warp, request);
        }
        Ok(())
    }

    fn control(&mut self, at: At, warp: &mut Warp, control: &Control) -> Result<Then, Stop> {
        let At { index, mask, pc, .. } = at;
        match *control {
            Control::Branch { target, condition } => {
                let all = warp.splits[index].mask;
                let lowest = 1 << (all.trailing_zeros() % 32);
                let taken = match condition {
                    BranchCondition::Thread => mask,
                    BranchCondition::Uniform(pred) => {
                        let holds = warp.view(index, &self.constants).pred(pred) & mask & lowest != 0;
                        if holds { all } else { 0 }
                    }
                    BranchCondition::Any if mask != 0 => all,
                    BranchCondition::Any => 0,
                };
                if taken == all {
                    warp.splits[index].pc = target;
                } else if taken != 0 {
                    warp.part(index, taken, target);
                }
                if taken != 0 && target <= pc {
                    warp.pass_turn();
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
                self.wait(warp, index, mask, Wait::Convergence(barrier.0 & 15))
            }
            Control::BreakBarrier { barrier } => {
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
            Control::Yield => warp.pass_turn(),
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
            Control::Block(block) if mask != 0 => {
                let view = warp.view(index, &self.constants);
                let lowest = mask.trailing_zeros() as usize % LANES;
                let id = view.row(&block.barrier)[lowest];
                let threads = block.threads.map(|t| view.row(&t)[lowest]);
                let Some(cta) = self.ctas[warp.cta_slot].as_mut().filter(|_| id < 16) else {
                    return Err(Stop::operand(pc, format!("block barrier {id}; there are 0 to 15")));
                };
                let barrier = &mut cta.barriers[id as usize];
                barrier.expected = threads.or(barrier.expected);
                if block.wait {
                    self.wait(warp, index, mask, Wait::Block(id as u8));
                } else {
                    barrier.arrived += if mask == warp.live { 32 } else { mask.count_ones() };
                }
                return Ok(Then::Barriers);
            }
            Control::Block(_) | Control::Fence | Control::Nop => {}
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
}

/// A stop whose place is not yet written out.
pub(super) enum Stop {
    RanOff { pc: u32 },
    Operand { pc: u32, message: String },
    Global { pc: u32, lane: u32, message: String },
    Remote { pc: u32, lane: u32, message: String },
    Copy { pc: u32, lane: u32, message: String },
}

impl Stop {
    fn ran_off(pc: u32) -> Stop {
        Stop::RanOff { pc }
    }

    pub(super) fn remote(pc: u32, lane: u32, message: String) -> Stop {
        Stop::Remote { pc, lane, message }
    }

    pub(super) fn copy(pc: u32, lane: u32, message: String) -> Stop {
        Stop::Copy { pc, lane, message }
    }

    fn operand(pc: u32, message: String) -> Stop {
        Stop::Operand { pc, message }
    }

    fn global(pc: u32, lane: u32, message: String) -> Stop {
        Stop::Global { pc, lane, message }
    }

    fn locate(self, core: &Core<'_>, slot: usize) -> KernelError {
        match self {
            Stop::RanOff { pc } => KernelError::RanOff { place: core.place(slot, pc.saturating_sub(1)) },
            Stop::Operand { pc, message } => KernelError::Operand { message, place: core.place(slot, pc) },
            Stop::Global { pc, lane, message } => {
                KernelError::Global { message, lane, place: core.place(slot, pc) }
            }
            Stop::Remote { pc, lane, message } => {
                KernelError::Remote { message, lane, place: core.place(slot, pc) }
            }
            Stop::Copy { pc, lane, message } => {
                KernelError::Copy { message, lane, place: core.place(slot, pc) }
            }
        }
    }
}

/// Whether another thread may see that the instruction was carried out, or it depends on time itself: all but
/// what changes nothing outside the warp's own registers.
fn others_see(operation: &Operation) -> bool {
    match operation {
        Operation::Alu(_)
        | Operation::Const(_)
        | Operation::QuerySpace { .. }
        | Operation::Warp(_)
        | Operation::Lacking => false,
        Operation::Special { register, .. } => {
            matches!(register, SpecialRegister::ClockLo | SpecialRegister::ClockHi)
        }
        Operation::Shared(access) => !access.op.only_reads(),
        Operation::Barrier(access) => !access.op.only_reads() || access.op == Op::MbarInval,
        Operation::Global(access) => access.op != GlobalOp::Load,
        Operation::ThreadCopy(_)
        | Operation::CopyArrival(_)
        | Operation::BulkCopy(_)
        | Operation::Async(_) => true,
        Operation::Control(control) => match control {
            Control::Exit | Control::Block(_) | Control::ClusterArrive => true,
            Control::Branch { .. }
            | Control::SetBarrier { .. }
            | Control::SyncBarrier { .. }
            | Control::BreakBarrier { .. }
            | Control::BarrierToReg { .. }
            | Control::RegToBarrier { .. }
            | Control::WarpSync { .. }
            | Control::Yield
            | Control::Sleep { .. }
            | Control::ClusterWait
            | Control::ReturnPcToReg { .. }
            | Control::RegToReturnPc { .. }
            | Control::Fence
            | Control::Nop => false,
        },
    }
}

/// Whether a generic address names shared memory.
fn in_window(address: u64) -> bool {
    (address >> 32) as u32 == SHARED_WINDOW_HIGH
}

/// Rank of the CTA whose shared memory a generic address names (spec 1.4).
fn rank_of(address: u64) -> u32 {
    address as u32 >> 24
}

/// 64-bit address of each lane.
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

/// A loaded value, extended to its registers as its size says.
fn extend(size: Size, bits: u128) -> u128 {
    match size {
        Size::U8 => bits & 0xff,
        Size::U16 => bits & 0xffff,
        Size::S8 => u128::from(bits as i8 as u32),
        Size::S16 => u128::from(bits as i16 as u32),
        Size::U32 | Size::S32 => bits & 0xffff_ffff,
        Size::U64 | Size::B128 => bits,
    }
}
