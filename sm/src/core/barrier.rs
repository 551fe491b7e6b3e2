//! Operations on mbarrier objects in any CTA of the cluster, and waits for their phases.

use super::Core;
use super::cta::Stage;
use super::issue::{At, ExecError};
use crate::deadlock::ObjectLog;
use crate::memory::SharedPlace;
use crate::port::{Address, Origin, Request, RequestOperands, Transfer};
use crate::warp::{Busy, LANES, Wait, Warp, groups, lanes, select};
use atoms_isa::{BarrierAccess, Path, Source};
use atoms_model::diagnosis::OBJECT_INIT;
use atoms_ops::{Op, Size};

/// Limit in cycles for a try-wait or a sleep in a diverged warp: other threads of the warp may have to
/// complete the phase. [CHOSEN: PTX leaves the limit to the implementation]
const OTHERS_TURN_CYCLES: u32 = 32;

impl Core<'_> {
    /// Sends lanes with an address in the own CTA to the unit as one request, and the other lanes to the
    /// cluster port one by one.
    pub(super) fn barrier_access(
        &mut self,
        at: At,
        warp: &mut Warp,
        access: &BarrierAccess,
    ) -> Result<(), ExecError> {
        let At { slot, index, mask: active, pc } = at;
        let mask = match access.path {
            Path::Vector => active,
            Path::Uniform => warp.splits[index].uniform.one_of(active, access.address.ur),
        };
        if mask == 0 {
            return Ok(());
        }
        let cta_slot = warp.cta_slot;
        let view = warp.view(index, &self.constants);
        let mut request = Request::on_barrier(access, &view, [mask, active], pc, cta_slot);
        let rank = self.ctas[cta_slot].as_ref().map_or(0, |c| c.rank);
        let local = select(mask, |l| request.address.sum(*l) >> 24 == rank);
        for lane in lanes(mask & !local) {
            let address = request.address.sum(lane);
            let refused = |message| ExecError::access("remote", pc, lane as u32, message);
            let place = self.resolve(cta_slot, address).map_err(refused)?;
            if !access.op.cluster_legal(request.red) {
                let result = if request.red { "" } else { " with a result" };
                return Err(refused(format!(
                    "{}{result} at {address:#010x}, in another CTA of the cluster: only arrivals without result and \
                     transaction counts exist there (spec 6.7)",
                    access.op
                )));
            }
            let origin = Origin::Lane { warp: slot, lane: lane as u32, pc };
            let bare = Transfer::posted(access.op, Size::U64, place, origin);
            self.cluster_port.ask(Transfer { b: request.operands.b[lane], ..bare });
            warp.posted = Some(place);
            warp.remote += 1;
            warp.busy = Busy::Request;
        }
        request.mask = local;
        if matches!(access.op, Op::MbarTestWait | Op::MbarTryWait) {
            note_question(warp, &request);
        }
        if access.op == Op::MbarTryWait && warp.splits.len() > 1 {
            request.operands.c.fill(u128::from(OTHERS_TURN_CYCLES));
        }
        if access.op == Op::MbarTryWait && self.priorities.as_mut().is_some_and(|p| p.times_out()) {
            request.operands.c.fill(1);
        }
        self.ask(slot, warp, request);
        Ok(())
    }

    /// For messages: records the mbarrier objects of sm_80 to sm_89, and the threads that load them.
    pub(super) fn note_object(&mut self, warp: &mut Warp, request: &Request) {
        let slot = warp.cta_slot;
        if request.op == Op::MbarArriveSm80 {
            let each = lanes(request.mask).map(|l| (slot, request.address.sum(l)));
            self.objects.extend(each);
        }
        warp.asked.open &= !request.mask;
        if request.op == Op::Load && !self.objects.is_empty() {
            for lane in lanes(request.mask) {
                let object = request.address.sum(lane) & !7;
                if self.objects.contains(&(slot, object)) {
                    warp.asked.address[lane] = object;
                    warp.asked.pc[lane] = request.pc;
                    warp.asked.open |= 1 << lane;
                }
            }
        }
    }

    /// Resolves a shared address of a thread of CTA `own` (spec 1.4).
    pub(super) fn resolve(&self, own: usize, address: u32) -> Result<SharedPlace, String> {
        let rank = address >> 24;
        let Some(cta) = self.ctas[own].as_ref() else {
            return Err("the CTA has ended".into());
        };
        if rank == cta.rank {
            return Ok(SharedPlace { slot: own, address });
        }
        let count = self.launch.cluster_ctas();
        if rank >= count {
            return Err(format!(
                "address {address:#010x} names rank {rank} of the cluster, which has {count} CTA(s); `cluster` of the \
                 launch sets this number"
            ));
        }
        let sibling =
            |c: &super::cta::Cta| c.cluster == cta.cluster && c.rank == rank && c.state == Stage::Running;
        let found = self.ctas.iter().position(|c| c.as_ref().is_some_and(sibling));
        let Some(slot) = found else {
            return Err(format!(
                "address {address:#010x} names rank {rank} of the cluster, whose threads have ended; its shared memory \
                 is no longer there"
            ));
        };
        Ok(SharedPlace { slot, address })
    }

    /// NANOSLEEP. With `.SYNCS`, the sleep ends early when the phase of the lowest active thread's last
    /// try-wait completes. Compilers put it after a failed try-wait to implement the time limit in
    /// nanoseconds (spec 6.10). [CHOSEN: hint and object of the lowest lane count for all lanes]
    pub(super) fn sleep(&mut self, at: At, warp: &mut Warp, nanoseconds: Source, watch: bool) {
        let At { slot, index, mask, pc } = at;
        let lowest = mask.trailing_zeros() as usize;
        if lowest < LANES {
            let hint = warp.view(index, &self.constants).row(&nanoseconds)[lowest];
            let mut cycles = self.config.sleep_cycles(hint);
            let apart = warp.splits.len() > 1;
            if apart && watch {
                cycles = cycles.min(OTHERS_TURN_CYCLES);
            }
            if cycles != 0 && watch && warp.asked.tried >> lowest & 1 != 0 {
                let parity = u128::from(warp.asked.parity >> lowest & 1) << 31;
                let operands = Box::new(RequestOperands { b: [parity; LANES], c: [cycles.into(); LANES] });
                let (op, address) = (Op::MbarTryWait, Address::plain(warp.asked.address));
                let request = Request::bare(op, Size::U64, 1 << lowest, pc, warp.cta_slot, address, operands);
                self.ask(slot, warp, request);
            } else if apart {
                // Only these threads sleep. Other splits of the warp keep running.
                warp.splits[index].wait = Wait::Until(self.cycle + u64::from(cycles) + 1);
            } else {
                warp.busy = Busy::Until(self.cycle + u64::from(cycles) + 1);
            }
        }
        warp.pass_turn();
    }

    pub(super) fn release_cluster_barrier(&mut self, cluster: u32) {
        let mine = self.ctas.iter().flatten().filter(|c| c.cluster == cluster);
        let slots: Vec<usize> = mine.flat_map(|c| c.warps.iter().copied()).collect();
        let warps = |slot: &usize| self.warps[*slot].as_deref();
        let arrived = slots.iter().filter_map(warps).any(|w| w.live & w.at_cluster != 0);
        let complete = slots.iter().filter_map(warps).all(|w| w.live & !w.at_cluster == 0);
        // All warps of a cluster start together, so `complete` cannot miss a warp that has not started.
        if !arrived || !complete {
            return;
        }
        for slot in slots {
            if let Some(warp) = self.warps[slot].as_deref_mut() {
                warp.at_cluster = 0;
                warp.join(!0, |w| w == crate::warp::Wait::Cluster);
            }
        }
    }
}

/// For messages: records the response to a piece of a request of the warp in `slot`. `holds` are the lanes of
/// the piece whose predicate is true.
pub(super) fn log_answer(log: &mut ObjectLog, slot: usize, request: &Request, holds: u32, port_lanes: u32) {
    let init = request.op == Op::Store && request.operands.c[0] == OBJECT_INIT;
    if !request.op.is_mbarrier() && !init {
        return;
    }
    let first = request.piece * port_lanes;
    let mask = request.piece_mask(port_lanes) << first;
    let place = |lane| (usize::from(request.slot), request.address.sum(lane) & 0xff_ffff);
    let waits = matches!(request.op, Op::MbarTestWait | Op::MbarTryWait);
    let key = |lane: usize| (place(lane), request.operands.b[lane] as u64);
    for group in groups(if waits { mask & holds << first } else { mask }, key) {
        let (place, b) = key(group.trailing_zeros() as usize);
        if waits {
            log.passed(place, slot, (b >> 31) as u8 & 1);
        } else {
            log.apply(place, (request.op, b), Some(request.pc), Some((slot, group)));
        }
    }
}

/// Records the mbarrier object and the phase parity that each lane tests, for later sleeps and for error
/// messages.
fn note_question(warp: &mut Warp, request: &Request) {
    let asked = &mut warp.asked;
    for lane in lanes(request.mask) {
        asked.address[lane] = request.address.sum(lane);
        asked.pc[lane] = request.pc;
        let odd = (request.operands.b[lane] >> 31) as u32 & 1;
        asked.parity = (asked.parity & !(1 << lane)) | odd << lane;
    }
    if request.op == Op::MbarTryWait {
        asked.tried |= request.mask;
    }
}
