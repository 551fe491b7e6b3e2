//! Instructions that start asynchronous copies, and responses of the cluster port.

use super::Core;
use super::issue::{At, ExecError, addresses};
use crate::error::KernelError;
use crate::memory::SharedPlace;
use crate::port::{Action, Address, Answer, Asker, Completion, Data, Origin, Payload, Reply, gather};
use crate::warp::{Busy, Wait, Warp, lanes};
use atoms_isa::{
    AsyncAccess, AsyncOp, BulkCopy, BulkMask, BulkWay, CopyArrival, GlobalOp, Reduction, ThreadCopy,
};
use atoms_ops::{Fault, Op, Size};

/// Bytes per write of a block copy, and alignment of its addresses. Source: [PTX] cp.async.bulk.
const BULK_STEP: u32 = 16;

pub(super) struct Block {
    pub(super) way: BulkWay,
    pub(super) reduction: Option<Reduction>,
    /// Destination address (`to`), and address of the mbarrier object (`barrier`).
    pub(super) to: u32,
    pub(super) barrier: u32,
    pub(super) from: u64,
    pub(super) bytes: u32,
    /// One bit per rank for a multicast copy. These ranks replace the CTA in `to` and `barrier`.
    pub(super) ranks: Option<u32>,
}

impl Core<'_> {
    /// LDGSTS: asynchronous copy per thread.
    pub(super) fn thread_copy(&mut self, at: At, warp: &Warp, copy: &ThreadCopy) -> Result<(), ExecError> {
        let At { slot, index, mask, pc } = at;
        let view = warp.view(index, &self.constants);
        let from = addresses(&view, &copy.global);
        let shared = Address::of(&copy.shared, &view);
        let bytes = copy.size.bytes();
        let enabled = view.pred(copy.enable);
        for lane in lanes(mask) {
            let address = shared.sum(lane);
            let missing = if copy.fill { (from[lane] % u64::from(bytes)) as u32 } else { 0 };
            let (from, there) = (from[lane] - u64::from(missing), bytes - missing);
            let failed = |message: String| {
                let what = format!("copy of {there} bytes from global {from:#x} to shared {address:#010x}");
                ExecError::access("copy", pc, lane as u32, format!("{what}: {message}"))
            };
            let data = if enabled >> lane & 1 != 0 {
                self.global.check(from, u64::from(there), u64::from(bytes)).map_err(failed)?;
                Data::Global { from, bytes: there }
            } else {
                Data::Given(0)
            };
            let to = self.own_place(warp.cta_slot, address, bytes, bytes).map_err(failed)?;
            let payload = Payload { data, to, bytes, action: Action::Each(Op::Store), size: copy.size };
            let asker = Asker { slot: warp.cta_slot, warp: slot, lane: lane as u32, pc };
            let number = self.copies.start_counted(self.cycle, asker, payload);
            self.tell_copy(number, asker, Some(&payload), true);
        }
        Ok(())
    }

    /// ARRIVES.LDGSTSBAR: one asynchronous arrival per thread.
    pub(super) fn copy_arrival(
        &mut self,
        at: At,
        warp: &Warp,
        arrival: &CopyArrival,
    ) -> Result<(), ExecError> {
        let At { slot, index, mask, pc } = at;
        let shared = Address::of(&arrival.address, &warp.view(index, &self.constants));
        for lane in lanes(mask) {
            let address = shared.sum(lane);
            let failed = |message: String| {
                let what = format!("{} after the thread's copies at mbarrier {address:#010x}", arrival.op);
                ExecError::access("copy", pc, lane as u32, format!("{what}: {message}"))
            };
            let at = self.own_place(warp.cta_slot, address, 8, 8).map_err(failed)?;
            if arrival.op == Op::MbarArriveSm80 {
                // Code for sm_80 to sm_89 waits by loading the mbarrier object, so record that this address
                // holds an object.
                self.objects.insert((warp.cta_slot, address));
            }
            let asker = Asker { slot: warp.cta_slot, warp: slot, lane: lane as u32, pc };
            let number = self.copies.arrive(asker, Completion { op: arrival.op, at, b: 1 });
            self.tell_copy(number, asker, None, true);
        }
        Ok(())
    }

    /// UBLKCP and UBLKRED: one copy per warp.
    pub(super) fn bulk_copy(&mut self, at: At, warp: &Warp, copy: &BulkCopy) -> Result<(), ExecError> {
        let At { slot, index, mask, pc } = at;
        if mask == 0 {
            return Ok(());
        }
        let view = warp.view(index, &self.constants);
        let uniform = view.uniform();
        let mask = uniform.one_of(mask, copy.to);
        let bytes = BULK_STEP * (uniform.get(copy.size) & 0xffff);
        let lane = mask.trailing_zeros();
        let asker = Asker { slot: warp.cta_slot, warp: slot, lane, pc };
        let size = Size::B128;
        if copy.way == BulkWay::ToGlobal {
            let (global, from) = (uniform.pair(copy.to), uniform.get(copy.from));
            let failed = |message: String| {
                let what = format!("copy of {bytes} bytes from shared {from:#010x} to global {global:#x}");
                ExecError::access("copy", pc, lane, format!("{what}: {message}"))
            };
            self.global.check(global, u64::from(bytes), u64::from(BULK_STEP)).map_err(failed)?;
            let place = self.own_place(warp.cta_slot, from, bytes, BULK_STEP).map_err(failed)?;
            let written = match copy.mask {
                Some(BulkMask::Bytes) => (uniform.get(copy.size) >> 16) as u16,
                _ => u16::MAX,
            };
            let (data, action) =
                (Data::Given(0), Action::ToGlobal { to: global, reduction: copy.reduction, written });
            let payload = Payload { data, to: place, bytes, action, size };
            let number = self.copies.start_counted(self.cycle, asker, payload);
            self.tell_copy(number, asker, Some(&payload), true);
            return Ok(());
        }
        let from = match copy.way {
            BulkWay::AmongShared => u64::from(uniform.get(copy.from)),
            BulkWay::ToShared | BulkWay::ToGlobal => uniform.pair(copy.from),
        };
        let block = Block {
            way: copy.way,
            reduction: copy.reduction,
            to: uniform.get(copy.to),
            barrier: uniform.get(copy.to.plus(1)),
            from,
            bytes,
            ranks: (copy.mask == Some(BulkMask::Ctas)).then(|| uniform.get(copy.size) >> 16),
        };
        self.copy_block(At { mask, ..at }, warp, &block)
    }

    pub(super) fn copy_block(&mut self, at: At, warp: &Warp, block: &Block) -> Result<(), ExecError> {
        let At { slot, mask, pc, .. } = at;
        let Block { to, barrier, from, bytes, .. } = *block;
        let lane = mask.trailing_zeros();
        let asker = Asker { slot: warp.cta_slot, warp: slot, lane, pc };
        let space = if block.way == BulkWay::AmongShared { "shared" } else { "global" };
        let failed = |message: String| {
            let what = format!("copy of {bytes} bytes from {space} {from:#x} to shared {to:#010x}");
            ExecError::access("copy", pc, lane, format!("{what}, mbarrier {barrier:#010x}: {message}"))
        };
        if !bytes.is_multiple_of(BULK_STEP) {
            return Err(failed(format!("the size is not a multiple of {BULK_STEP} bytes")));
        }
        let data = if block.way == BulkWay::AmongShared {
            Data::Shared(self.own_place(warp.cta_slot, from as u32, bytes, BULK_STEP).map_err(failed)?)
        } else {
            self.global.check(from, u64::from(bytes), u64::from(BULK_STEP)).map_err(failed)?;
            Data::Global { from, bytes }
        };
        let (action, size) = match block.reduction {
            None => (Action::Each(Op::Store), Size::B128),
            Some(Reduction { op: GlobalOp::Atomic(op), size }) => (Action::Each(op), size),
            // 64-bit addition is the only supported reduction that the unit cannot execute as one operation.
            Some(Reduction { size, .. }) => (Action::Add64 { old: None }, size),
        };
        let mut targets = vec![(to, barrier)];
        if let Some(ranks) = block.ranks {
            // The rank replaces the rank in the address (spec 1.4).
            let in_cta = |address: u32, rank: usize| address & 0xff_ffff | (rank as u32) << 24;
            targets = lanes(ranks).map(|rank| (in_cta(to, rank), in_cta(barrier, rank))).collect();
        }
        let mut payloads = Vec::new();
        for (to, barrier) in targets {
            let to = self.place_of(warp.cta_slot, to, bytes, BULK_STEP).map_err(failed)?;
            let at = self.place_of(warp.cta_slot, barrier, 8, 8).map_err(failed)?;
            let completion = Completion { op: Op::MbarCompleteTx, at, b: u64::from(bytes) };
            payloads.push((Payload { data, to, bytes, action, size }, completion));
        }
        for (payload, completion) in payloads {
            let number = self.copies.start(self.cycle, asker, payload, completion);
            self.tell_copy(number, asker, Some(&payload), false);
        }
        Ok(())
    }

    /// STAS and REDAS: asynchronous stores and reductions to the cluster.
    pub(super) fn async_access(
        &mut self,
        at: At,
        warp: &Warp,
        access: &AsyncAccess,
    ) -> Result<(), ExecError> {
        let At { slot, index, mask, pc } = at;
        let view = warp.view(index, &self.constants);
        let (data, barriers) = (*view.reg(access.addresses), *view.reg(access.addresses.plus(1)));
        let values = gather(&view, access.rb, access.size);
        let bytes = access.size.bytes();
        let action = match access.op {
            AsyncOp::Plain(op) => Action::Each(op),
            AsyncOp::Add64 => Action::Add64 { old: None },
        };
        for lane in lanes(mask) {
            let (address, barrier) = (data[lane], barriers[lane]);
            let failed = |message: String| {
                let what = format!("asynchronous {action} of {bytes} bytes at shared {address:#010x}");
                ExecError::access(
                    "copy",
                    pc,
                    lane as u32,
                    format!("{what}, mbarrier {barrier:#010x}: {message}"),
                )
            };
            let to = self.place_of(warp.cta_slot, address, bytes, bytes).map_err(failed)?;
            let at = self.place_of(warp.cta_slot, barrier, 8, 8).map_err(failed)?;
            let payload = Payload { data: Data::Given(values[lane]), to, bytes, action, size: access.size };
            let completion = Completion { op: Op::MbarCompleteTx, at, b: u64::from(bytes) };
            let asker = Asker { slot: warp.cta_slot, warp: slot, lane: lane as u32, pc };
            let number = self.copies.start(self.cycle, asker, payload, completion);
            self.tell_copy(number, asker, Some(&payload), false);
        }
        Ok(())
    }

    /// Resolves an access that must be in the CTA's own allocation.
    fn own_place(
        &self,
        slot: usize,
        address: u32,
        bytes: u32,
        alignment: u32,
    ) -> Result<SharedPlace, String> {
        if self.resolve(slot, address)?.slot != slot {
            return Err("the address is in another CTA of the cluster".into());
        }
        self.place_of(slot, address, bytes, alignment)
    }

    /// Resolves an access of a thread of CTA `own`. Fails unless the access is aligned and inside an
    /// allocation.
    fn place_of(&self, own: usize, address: u32, bytes: u32, alignment: u32) -> Result<SharedPlace, String> {
        let place = self.resolve(own, address)?;
        if !address.is_multiple_of(alignment) {
            return Err(format!("{address:#010x} is not a multiple of {alignment}"));
        }
        let allocation = self.table.bytes(place.slot);
        if u64::from(place.offset()) + u64::from(bytes) > u64::from(allocation) {
            return Err(format!(
                "{bytes} bytes at {address:#010x} reach beyond the allocation of {allocation} bytes"
            ));
        }
        Ok(place)
    }

    /// Handles a response of the cluster port, or the acceptance of a posted request.
    pub(super) fn cluster_answered(&mut self, answer: &Answer) -> Result<(), KernelError> {
        let transfer = &answer.transfer;
        // A load that flushes posted requests is misaligned on purpose, so its fault is not an error.
        if answer.fault != Fault::None && transfer.reply != Reply::Flushed {
            return Err(match transfer.origin {
                Origin::Lane { warp, lane, pc } => KernelError::Fault {
                    fault: answer.fault,
                    address: transfer.place.address,
                    lane,
                    allocation_bytes: self.table.bytes(transfer.place.slot),
                    place: self.place(warp, pc),
                },
                Origin::Copy(number) => self.copy_failed(number, answer.fault.to_string()),
            });
        }
        self.statistics.cluster_requests += u64::from(transfer.reply != Reply::Flushed);
        if self.watched && transfer.reply != Reply::Flushed {
            self.tell_cluster(answer);
        }
        let pc = match transfer.origin {
            Origin::Lane { pc, .. } => Some(pc),
            Origin::Copy(number) => self.copies.copy(number).map(|copy| copy.asker.pc),
        };
        if let Some(pc) = pc.filter(|_| transfer.reply != Reply::Flushed) {
            self.profile.cluster_answered(pc, transfer.op);
        }
        if transfer.op.is_mbarrier() {
            let thread = match transfer.origin {
                Origin::Lane { warp, lane, .. } => Some((warp, 1 << (lane & 31))),
                Origin::Copy(number) => {
                    self.copies.copy(number).map(|copy| (copy.asker.warp, 1 << (copy.asker.lane & 31)))
                }
            };
            let place = (transfer.place.slot, transfer.place.offset());
            self.log.apply(place, (transfer.op, transfer.b as u64), pc, thread);
        }
        match transfer.origin {
            Origin::Lane { warp: slot, .. } if self.lane_answered(answer) => {
                if let Some(warp) = self.warps[slot].as_deref_mut() {
                    warp.remote = warp.remote.saturating_sub(1);
                    if warp.remote == 0 && self.requests[slot].is_none() {
                        warp.busy = Busy::No;
                    }
                }
            }
            Origin::Lane { .. } => {}
            Origin::Copy(number) => {
                let warp = self.copies.copy(number).map(|copy| copy.asker.warp);
                let ended = self.copies.answered(number, answer, &mut self.global);
                let ended = ended.map_err(|message| self.copy_failed(number, message))?;
                if let Some(bytes) = ended.filter(|bytes| *bytes > 0) {
                    self.statistics.copies += 1;
                    self.statistics.copied_bytes += u64::from(bytes);
                    self.let_waiters_go(warp);
                }
            }
        }
        self.release_ended();
        Ok(())
    }

    /// Wakes the threads of a warp that wait for copy groups, if no more groups are pending than they allow.
    fn let_waiters_go(&mut self, slot: Option<usize>) {
        let Some((slot, warp)) = slot.and_then(|slot| Some((slot, self.warps[slot].as_deref_mut()?))) else {
            return;
        };
        for split in &mut warp.splits {
            if let Wait::Groups(most) = split.wait
                && lanes(split.mask).all(|lane| self.copies.groups((slot, lane as u32)) <= most as usize)
            {
                split.wait = Wait::Ready;
            }
        }
    }

    pub(super) fn copy_failed(&self, number: u64, message: String) -> KernelError {
        let Some(copy) = self.copies.copy(number) else {
            return KernelError::Access { what: "copy", message, lane: 0, place: self.place(usize::MAX, 0) };
        };
        KernelError::Access {
            what: "copy",
            message: format!("{}: {message}", copy.describe()),
            lane: copy.asker.lane,
            place: self.place(copy.asker.warp, copy.asker.pc),
        }
    }
}
