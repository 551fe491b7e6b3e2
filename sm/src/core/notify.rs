//! Reports accesses to an observer that watches memory.

use super::Core;
use super::cta::Cta;
use super::issue::At;
use crate::memory::SharedPlace;
use crate::observer::{Access, CopyDone, CopyStart, CoreEvent, Observer, Threads};
use crate::port::{Action, Answer, Asker, Data, Origin, Payload, Request};
use crate::races::Memory;
use crate::warp::{LANES, Warp, select};
use atoms_isa::{GlobalAccess, GlobalOp};
use atoms_ops::Op;

/// Mask of the offset in a shared address (spec 1.4).
const OFFSET: u32 = 0xff_ffff;

fn as_global(op: Op) -> GlobalOp {
    match op {
        Op::Load => GlobalOp::Load,
        Op::Store => GlobalOp::Store,
        op => GlobalOp::Atomic(op),
    }
}

/// Lanes of the split that made the request with the lanes of `mask`.
fn together(warp: &Warp, mask: u32) -> u32 {
    warp.splits.iter().map(|s| s.mask).find(|together| together & mask != 0).unwrap_or(mask)
}

/// Reports the response to a piece of a request. `at` is the cycle and the number of port lanes. `answer` is
/// the piece and its predicates.
pub(super) fn answered(
    observer: &mut dyn Observer,
    at: (u64, u32),
    request: &Request,
    answer: (u32, u32),
    warp: &Warp,
    ctas: &[Option<Cta>],
) {
    let ((cycle, port_lanes), (piece, preds)) = (at, answer);
    let first = piece * port_lanes;
    let all = u32::MAX >> (32 - port_lanes);
    let mask = request.mask & (all << first);
    let cta = ctas.get(warp.cta_slot).and_then(Option::as_ref).map_or(0, |c| c.number);
    let addresses = std::array::from_fn(|lane| u64::from(request.address.sum(lane) & OFFSET));
    let together = together(warp, request.mask);
    let access = Access {
        threads: Threads { cta, warp: warp.number, together, mask },
        pc: request.pc,
        memory: Memory::Shared(cta),
        op: as_global(request.op),
        size: request.size,
        addresses: &addresses,
        operand: &request.operands.b,
        stored: (preds << first) & mask,
    };
    observer.observe(cycle, &CoreEvent::Accessed(access));
}

impl Core<'_> {
    pub(super) fn tell(&mut self, event: &CoreEvent<'_>) {
        self.observer.observe(self.cycle, event);
    }

    pub(super) fn threads(&self, warp: &Warp, index: usize, mask: u32) -> Threads {
        let cta = self.cta_number(warp.cta_slot);
        Threads { cta, warp: warp.number, together: warp.splits[index].mask, mask }
    }

    pub(super) fn cta_number(&self, slot: usize) -> u32 {
        self.ctas.get(slot).and_then(Option::as_ref).map_or(0, |c| c.number)
    }

    pub(super) fn tell_start(&mut self, slot: usize) {
        if let Some(cta) = self.ctas.get(slot).and_then(Option::as_ref).filter(|_| self.watched) {
            let live = |slot: &usize| self.warps[*slot].as_deref().map_or(0, |w| w.live);
            let threads: Vec<u32> = cta.warps.iter().map(live).collect();
            let event = CoreEvent::Started(cta.number, cta.cluster, &threads);
            self.observer.observe(self.cycle, &event);
        }
    }

    pub(super) fn tell_foreign(&mut self, pc: u32, mask: u32) {
        if mask != 0 {
            self.tell(&CoreEvent::ForeignLane(pc, mask));
        }
    }

    pub(super) fn tell_reserved(&mut self, pc: u32, mask: u32, address: impl Fn(usize) -> u32) {
        let end = self.reserved.forbidden_end();
        // Test all lanes together first: requests are frequent, and accesses to reserved memory are rare.
        let below = |all, lane| all | u32::from(address(lane) & OFFSET < end) << lane;
        let forbidden = if end == 0 { 0 } else { (0..LANES).fold(0, below) & mask };
        if forbidden != 0 {
            self.tell(&CoreEvent::ReservedShared(pc, forbidden));
        }
    }

    pub(super) fn tell_end(&mut self, slot: usize) {
        if self.watched {
            self.tell(&CoreEvent::Ended(self.cta_number(slot)));
        }
    }

    pub(super) fn tell_barrier(&mut self, at: At, warp: &Warp, id: u32, waits: bool) {
        let threads = self.threads(warp, at.index, at.mask);
        self.tell(&CoreEvent::BlockBarrier(threads, id, waits));
    }

    pub(super) fn tell_global(
        &mut self,
        at: At,
        warp: &Warp,
        access: &GlobalAccess,
        mask: u32,
        words: (&[u64; LANES], &[u128; LANES], &[u128; LANES]),
    ) {
        let (addresses, results, operand) = words;
        let stored = match access.op {
            GlobalOp::Atomic(Op::Cast | Op::CastSpin) => select(mask, |l| results[*l] != 0),
            GlobalOp::Atomic(Op::Cas) => select(mask, |l| results[*l] == operand[*l]),
            _ => mask,
        };
        let access = Access {
            threads: self.threads(warp, at.index, mask),
            pc: at.pc,
            memory: Memory::Global,
            op: access.op,
            size: access.size,
            addresses,
            operand,
            stored,
        };
        self.tell(&CoreEvent::Accessed(access));
    }

    /// Reports the start of a copy. Without `payload`: an arrival after earlier copies.
    pub(super) fn tell_copy(&mut self, number: u64, asker: Asker, payload: Option<&Payload>, counted: bool) {
        if let Some(p) = payload {
            self.tell_reserved(asker.pc, 1 << asker.lane, |_| p.to.address);
            if let Data::Shared(from) = p.data
                && from != p.to
            {
                self.tell_reserved(asker.pc, 1 << asker.lane, |_| from.address);
            }
        }
        if !self.watched {
            return;
        }
        let warp = self.asking_warp(asker);
        let shared =
            |place: SharedPlace| (Memory::Shared(self.cta_number(place.slot)), u64::from(place.offset()));
        let from = payload.and_then(|p| match (p.action, p.data) {
            (Action::ToGlobal { .. }, _) => Some(shared(p.to)),
            (_, Data::Global { from, .. }) => Some((Memory::Global, from)),
            (_, Data::Shared(place)) => Some(shared(place)),
            (_, Data::Given(_)) => None,
        });
        let to = payload.map(|p| match p.action {
            Action::ToGlobal { to, .. } => (Memory::Global, to),
            _ => shared(p.to),
        });
        let atomic = payload.is_some_and(|p| match p.action {
            Action::Each(op) => op != Op::Store,
            Action::Add64 { .. } => true,
            Action::ToGlobal { reduction, .. } => reduction.is_some(),
        });
        self.tell(&CoreEvent::CopyStarted(CopyStart {
            number,
            pc: asker.pc,
            cta: self.cta_number(asker.slot),
            warp,
            lane: asker.lane,
            from,
            to,
            bytes: payload.map_or(0, |p| p.bytes),
            read_bytes: payload.map_or(0, |p| match p.data {
                Data::Global { bytes, .. } => bytes,
                Data::Shared(_) | Data::Given(_) => p.bytes,
            }),
            atomic,
            counted,
        }));
    }

    /// Number of the requesting warp in its CTA. A warp that is issuing is not in its slot, so the number
    /// comes from the CTA.
    fn asking_warp(&self, asker: Asker) -> u32 {
        let cta = self.ctas.get(asker.slot).and_then(Option::as_ref);
        let at = cta.and_then(|c| c.warps.iter().position(|slot| *slot == asker.warp));
        at.unwrap_or(0) as u32
    }

    pub(super) fn tell_cluster(&mut self, answer: &Answer) {
        let transfer = &answer.transfer;
        let owner = self.cta_number(transfer.place.slot);
        let address = transfer.place.offset();
        match transfer.origin {
            Origin::Copy(number) if transfer.op.is_mbarrier() => {
                let (op, b) = (transfer.op, transfer.b as u64);
                self.tell(&CoreEvent::CopyDone(CopyDone { number, cta: owner, address, op, b }));
            }
            Origin::Copy(_) => {}
            Origin::Lane { warp: slot, lane, pc } => {
                let Some(warp) = self.warps.get(slot).and_then(Option::as_deref) else { return };
                let mask = 1 << (lane & 31);
                let compares = matches!(transfer.op, Op::Cas | Op::Cast | Op::CastSpin);
                let (cta, together) = (self.cta_number(warp.cta_slot), together(warp, mask));
                let access = Access {
                    threads: Threads { cta, warp: warp.number, together, mask },
                    pc,
                    memory: Memory::Shared(owner),
                    op: as_global(transfer.op),
                    size: transfer.size,
                    addresses: &[u64::from(address); LANES],
                    operand: &[transfer.b; LANES],
                    // Every operation stores, except a compare-and-store that failed.
                    stored: if compares && !answer.stored { 0 } else { mask },
                };
                self.observer.observe(self.cycle, &CoreEvent::Accessed(access));
            }
        }
    }
}
