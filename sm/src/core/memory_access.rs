//! Accesses to global, generic and local memory.

use super::Core;
use super::issue::{At, ExecError, addresses, extend, in_shared_window, rank_of};
use crate::compute::atomic;
use crate::memory::{LOCAL_WINDOW_HIGH, PARAM_WINDOW_HIGH, generic};
use crate::observer::CoreEvent;
use crate::port::{Address, Origin, Reply, Request, RequestOperands, Transfer, gather, scatter};
use crate::warp::{Busy, LANES, Warp, lanes, select};
use atoms_isa::{GlobalAccess, GlobalOp, LocalAccess, Space, WideOp};
use atoms_ops::{Op, Size};

/// Limit in words for the local memory of one thread. [CHOSEN: 64 KiB]
const MOST_LOCAL_WORDS: usize = 1 << 14;

impl Core<'_> {
    /// Executes global lanes immediately, one by one. Lanes in the CTA's own shared window go to the unit as
    /// one request. Lanes in the window of another CTA go to the cluster port one by one.
    pub(super) fn global_access(
        &mut self,
        at: At,
        warp: &mut Warp,
        access: &GlobalAccess,
    ) -> Result<(), ExecError> {
        let At { slot, index, mask, pc } = at;
        if mask == 0 {
            return Ok(());
        }
        let GlobalAccess { op, size, dst, pred_dst, .. } = *access;
        let view = warp.view(index, &self.constants);
        let mut addresses = addresses(&view, &access.address);
        if access.space == Space::Generic {
            addresses = addresses.map(|address| generic(self.kernel.arch, address));
        }
        let operands = match op {
            GlobalOp::Load => RequestOperands::NONE,
            _ => RequestOperands::gather(&view, access.rb, access.rc, size),
        };
        let RequestOperands { b, c } = &operands;
        let window = match access.space {
            Space::Global => 0,
            Space::Generic => select(mask, |l| in_shared_window(addresses[*l])),
        };
        let rank = self.ctas[warp.cta_slot].as_ref().map_or(0, |c| c.rank);
        let shared = select(window, |l| rank_of(addresses[*l]) == rank);
        if let GlobalOp::Atomic(op) = op
            && op.is_mbarrier()
            && mask != shared
        {
            let lane = (mask & !shared).trailing_zeros();
            let address = addresses[lane as usize % LANES];
            return Err(ExecError::access(
                "global",
                pc,
                lane,
                format!("{op} at {address:#x}, which is not in shared memory of the CTA"),
            ));
        }
        if let GlobalOp::Wide(wide) = op
            && wide.float()
            && wide != WideOp::AddF64
            && size.bytes() > 4
            && window != 0
        {
            let lane = window.trailing_zeros();
            let address = addresses[lane as usize % LANES];
            let message =
                format!("a vector atomic at {address:#x}, which is in shared memory, not in global memory");
            return Err(ExecError::access("global", pc, lane, message));
        }
        let bytes = size.bytes() as usize;
        let mut results = [0; LANES];
        let mut changed = false;
        for lane in lanes(mask & !window) {
            let address = addresses[lane];
            let high = match access.space {
                Space::Global => 0,
                Space::Generic => (address >> 32) as u32,
            };
            let outside = |message: String| ExecError::access("global", pc, lane as u32, message);
            let local = |message: String| ExecError::operand(pc, message);
            let old = match (op, high) {
                (GlobalOp::Store, _) => 0,
                (_, LOCAL_WINDOW_HIGH) => local_load(warp, lane, address as u32, size).map_err(local)?,
                (_, PARAM_WINDOW_HIGH) => {
                    let word = |n: u32| self.constants.word((address as u32).wrapping_add(4 * n));
                    let bits = (0..4).fold(0, |bits, n| bits | u128::from(word(n)) << (32 * n));
                    bits & (u128::MAX >> (128 - 8 * size.bytes()))
                }
                _ => self.global.load(address, bytes).map_err(outside)?,
            };
            let new = match op {
                GlobalOp::Load => None,
                op => atomic::apply(op, size, old, b[lane], c[lane]),
            };
            if new.is_some_and(|new| new != old) {
                self.livelock.change(self.cycle);
                changed = true;
            }
            match (new, high) {
                (None, _) => {}
                (Some(new), LOCAL_WINDOW_HIGH) => {
                    local_store(warp, lane, address as u32, size, new).map_err(local)?;
                }
                (Some(new), _) => self.global.store(address, bytes, new).map_err(outside)?,
            }
            results[lane] = match op {
                GlobalOp::Atomic(Op::Cast | Op::CastSpin) => u128::from(new.is_some()),
                _ => extend(size, old),
            };
        }
        if let Some(priorities) = &mut self.priorities {
            let values = lanes(mask & !window).flat_map(|lane| [addresses[lane], results[lane] as u64]);
            priorities.answered(slot, changed, values);
        }
        if self.watched {
            let own =
                |l: &usize| !matches!((addresses[*l] >> 32) as u32, LOCAL_WINDOW_HIGH | PARAM_WINDOW_HIGH);
            let open = |l: &usize| access.space == Space::Global || own(l);
            let told = select(mask & !window, open);
            self.tell_global(at, warp, access, told, (&addresses, &results, b));
        }
        scatter(warp, dst, size, mask & !window, &results);
        warp.busy = Busy::Until(self.cycle + u64::from(self.config.global_latency_cycles) + 1);
        let to_unit = match op {
            GlobalOp::Load => Some(Op::Load),
            GlobalOp::Store => Some(Op::Store),
            GlobalOp::Atomic(op) => Some(op),
            GlobalOp::Wide(_) => None,
        };
        let remote = window & !shared;
        let (first, reply) = match op {
            GlobalOp::Wide(WideOp::Add64) => (Some(Op::Load), Reply::Add64 { operand: 0, dst }),
            GlobalOp::Wide(WideOp::AddF32 { .. } | WideOp::AddF64) => (None, Reply::None),
            GlobalOp::Wide(_) => {
                if remote != 0 {
                    self.tell(&CoreEvent::SplitAtomic(pc, remote));
                }
                (None, Reply::None)
            }
            GlobalOp::Atomic(Op::Cast | Op::CastSpin) => (to_unit, Reply::Stored { dst }),
            _ if dst.is_zero() => (to_unit, Reply::None),
            _ => (to_unit, Reply::Old { dst }),
        };
        if let Some(op) = first {
            self.tell_reserved(pc, remote, |lane| addresses[lane] as u32);
            for lane in lanes(remote) {
                let refused = |message| ExecError::access("remote", pc, lane as u32, message);
                let place = self.resolve(warp.cta_slot, addresses[lane] as u32).map_err(refused)?;
                let reply = match reply {
                    Reply::Add64 { dst, .. } => Reply::Add64 { operand: b[lane] as u64, dst },
                    reply => reply,
                };
                // The warp waits for this request, because a later fence must not pass it.
                let red = false;
                let origin = Origin::Lane { warp: slot, lane: lane as u32, pc };
                let (b, c) = (b[lane], c[lane]);
                self.cluster_port.ask(Transfer { op, size, place, b, c, red, origin, reply });
                warp.remote += 1;
                warp.busy = Busy::Request;
            }
        }
        let done = (mask & !window)
            | if to_unit.is_some() { shared } else { 0 }
            | if first.is_some() { remote } else { 0 };
        warp.set_pred(index, pred_dst, mask, done);
        if let Some(op) = to_unit
            && shared != 0
        {
            let address = Address::plain(addresses.map(|address| address as u32));
            let bare = Request::bare(op, size, shared, pc, warp.cta_slot, address, Box::new(operands));
            let request = Request { red: dst.is_zero(), dst, ..bare };
            self.ask(slot, warp, request);
        }
        Ok(())
    }

    /// LDL and STL: local memory.
    pub(super) fn local_access(
        &self,
        at: At,
        warp: &mut Warp,
        access: &LocalAccess,
    ) -> Result<(), ExecError> {
        let At { index, mask, pc, .. } = at;
        let view = warp.view(index, &self.constants);
        let address = Address::of(&access.address, &view);
        let data = gather(&view, access.reg, access.size);
        let size = access.size;
        let mut results = [0; LANES];
        for lane in lanes(mask) {
            let (first, failed) = (address.sum(lane), |message: String| ExecError::operand(pc, message));
            if access.op == Op::Load {
                results[lane] = extend(size, local_load(warp, lane, first, size).map_err(failed)?);
            } else {
                local_store(warp, lane, first, size, data[lane]).map_err(failed)?;
            }
        }
        if access.op == Op::Load {
            scatter(warp, access.reg, size, mask, &results);
        }
        Ok(())
    }

    /// Continues a lane's request to another CTA: writes the result, or starts the next step. Returns `true`
    /// if the request is finished.
    pub(super) fn lane_answered(&mut self, answer: &crate::port::Answer) -> bool {
        let transfer = &answer.transfer;
        let Origin::Lane { warp: slot, lane, .. } = transfer.origin else { return true };
        if let Some(priorities) = &mut self.priorities {
            let changed = transfer.op != Op::Load && !(transfer.op == Op::Cas && answer.old != transfer.b);
            let values = [transfer.place.address.into(), answer.old as u64];
            priorities.answered(slot, changed, values.into_iter());
        }
        let (dst, size, value) = match transfer.reply {
            Reply::None | Reply::Flushed => return true,
            Reply::Old { dst } => (dst, transfer.size, extend(transfer.size, answer.old)),
            Reply::Stored { dst } => (dst, transfer.size, u128::from(answer.stored)),
            Reply::Add64 { operand, dst } => {
                if transfer.op != Op::Cas || answer.old != transfer.b {
                    let c = u128::from((answer.old as u64).wrapping_add(operand));
                    self.cluster_port.ask(Transfer {
                        op: Op::Cas,
                        b: answer.old,
                        c,
                        red: false,
                        ..*transfer
                    });
                    return false;
                }
                (dst, transfer.size, answer.old)
            }
        };
        if let Some(warp) = self.warps[slot].as_deref_mut() {
            let lane = lane as usize % LANES;
            scatter(warp, dst, size, 1 << lane, &[value; LANES]);
        }
        true
    }
}

fn local_words(address: u32, size: Size) -> Result<(impl Iterator<Item = (u32, u32)>, u32), String> {
    let bytes = size.bytes();
    if !address.is_multiple_of(bytes) {
        return Err(format!("local address {address:#010x} is not a multiple of the {bytes} bytes accessed"));
    }
    let each = (0..bytes.div_ceil(4)).map(move |word| (word, (address / 4).wrapping_add(word)));
    Ok((each, 8 * (address & 3)))
}

fn local_load(warp: &Warp, lane: usize, address: u32, size: Size) -> Result<u128, String> {
    let (words, shift) = local_words(address, size)?;
    let bits = |word: u32| warp.local.get(&word).map_or(0, |row| row[lane]);
    let all = words.fold(0, |all, (number, word)| all | u128::from(bits(word) >> shift) << (32 * number));
    Ok(all & (u128::MAX >> (128 - 8 * size.bytes())))
}

fn local_store(warp: &mut Warp, lane: usize, address: u32, size: Size, data: u128) -> Result<(), String> {
    let (words, shift) = local_words(address, size)?;
    let ones = u32::MAX >> (32 - 8 * size.bytes().min(4));
    for (number, word) in words {
        if warp.local.len() >= MOST_LOCAL_WORDS && !warp.local.contains_key(&word) {
            return Err(format!("a thread uses more than {} bytes of local memory", 4 * MOST_LOCAL_WORDS));
        }
        let bits = (data >> (32 * number)) as u32;
        let held = &mut warp.local.entry(word).or_insert([0; LANES])[lane];
        *held = (*held & !(ones << shift)) | (bits & ones) << shift;
    }
    Ok(())
}
