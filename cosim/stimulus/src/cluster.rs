//! Cluster requests of random stimulus.

use std::sync::Arc;

use atoms_model::port::In;
use atoms_ops::Op;
use rand::RngExt;

use super::choose::Chosen;
use super::follow::Follow;
use super::profile::Spread;
use super::random::RandomStimulus;
use crate::request::ClusterRequest;

impl RandomStimulus {
    fn choose_cluster(&mut self) -> Option<Chosen> {
        let known = |op: Op| op.cluster_legal(true);
        if let Follow::Wake(wake) = self.follow
            && wake.cluster
        {
            return self.wake(1).filter(|chosen| known(chosen.op));
        }
        let profile = Arc::clone(&self.profile);
        let mut op = profile.ops.draw(&mut self.rng);
        let repeat = profile.repeat.happens(&mut self.rng);
        let slot = if repeat { self.last.slot } else { self.rng.random_range(0..self.slots) as u8 };
        if !op.is_mbarrier() {
            let spread = if repeat { Spread::SameWord } else { profile.spread.draw(&mut self.rng) };
            return Some(Chosen {
                start: repeat.then_some(self.last.start),
                spread,
                ..Chosen::at(op, slot, 0)
            });
        }
        if !matches!(self.follow, Follow::Nothing) {
            // A sequence of requests is in progress, and no other request may complete a phase meanwhile.
            return None;
        }
        let objects = self.objects_in_allocation();
        let object = if repeat { self.last.object } else { self.rng.random_range(0..objects) };
        if !known(op) && self.listed(Op::MbarArrive) && self.rng.random_range(0..8) != 0 {
            op = Op::MbarArrive;
        }
        let (instead, step) = self.instead(op, slot, object, 1);
        let (op, step) = if known(instead) { (instead, step) } else { (op, None) };
        Some(Chosen { step, ..Chosen::at(op, slot, object) })
    }

    pub(super) fn offer_cluster(&mut self, i: &mut In) {
        let Some(Chosen { op, slot, spread, start, step, .. }) = self.choose_cluster() else { return };
        let profile = Arc::clone(&self.profile);
        let allocation = self.allocations[usize::from(slot)].unwrap_or_default();
        let size = self.size(op);
        let bytes = size.bytes();
        let units = (allocation.size / bytes).max(1);
        let start = match start {
            Some(object) if op.is_mbarrier() => object,
            Some(byte) => byte / bytes % units,
            None => self.rng.random_range(0..units),
        };
        let degree = self.degree(spread);
        let mut addr = self.offset(spread, start, 0, allocation.size, bytes, degree);
        let (b, c) = if let Some(step) = step {
            (step.b.into(), 0)
        } else if op.is_mbarrier() {
            (self.barrier_operand(op, slot, start).unwrap_or(0), 0)
        } else {
            let values = self.values();
            let b = values.draw(size, &mut self.rng);
            (b, values.to_store(&mut self.rng).draw(size, &mut self.rng))
        };
        let rng = &mut self.rng;
        // Most requests use only what objects of another CTA support (spec 6.7).
        let red = step.is_some() || rng.random() || (op.is_mbarrier() && rng.random_range(0..8) != 0);
        let (mut code, mut size_code, mut slot_code) = (op as u8, size as u8, slot);
        let mut spoilt = op.is_mbarrier() && !red;
        if profile.faults.illegal.happens(rng) {
            if !profile.faults.size_only.happens(rng) {
                code = rng.random_range(0..32);
            }
            (size_code, spoilt) = (rng.random_range(0..16), true);
        }
        if profile.faults.slot.happens(rng) {
            (slot_code, spoilt) = (rng.random_range(0..16), true);
        }
        if profile.faults.misaligned.happens(rng) {
            (addr, spoilt) = (addr + rng.random_range(1..bytes.max(2)), true);
        }
        if profile.faults.out_of_range.happens(rng) {
            let near = allocation.size / bytes * bytes;
            let far = rng.random_range(0..1 << 24) & !(bytes - 1);
            (addr, spoilt) = (if rng.random() { near } else { far }, true);
        }
        if op.is_mbarrier() && !spoilt {
            let count = if matches!(op, Op::MbarArrive | Op::MbarArriveDrop) { 1 } else { b as u64 };
            self.objects.apply(slot, start, op, count);
        }
        let rng = &mut self.rng;
        let tag = match profile.tag_again.happens(rng) {
            true if rng.random() => self.answered[1],
            true => i.req_tag,
            false => rng.random_range(0..64),
        };
        ClusterRequest { op: code, size: size_code, red, tag, slot: slot_code, addr, b, c }.drive(i);
    }
}
