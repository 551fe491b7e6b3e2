//! Warp requests of random stimulus: lanes, addresses, operands and faults.

use std::sync::Arc;

use atoms_model::Config;
use atoms_model::config::WinnerPolicy;
use atoms_model::mbarrier::MbarObject;
use atoms_model::port::In;
use atoms_ops::{Op, Operands as Reads, Size};
use rand::{Rng, RngExt};

use super::barriers::ENDLESS;
use super::choose::Chosen;
use super::follow::{Follow, Last};
use super::objects::Flight;
use super::profile::values::{Operands, Values};
use super::profile::{Form, Immediate, Lanes, Scale, Spread};
use super::random::RandomStimulus;
use super::step::ObjectRequest;
use crate::request::{AddressForm, AllocationWrite};

impl RandomStimulus {
    /// Returns the offset of lane `l`, aligned to `bytes` and inside an allocation of `size` if one access
    /// fits. For spreads with conflicts, `degree` lanes share a bank.
    #[inline]
    pub(super) fn offset(
        &mut self,
        spread: Spread,
        start: u32,
        l: u32,
        size: u32,
        bytes: u32,
        degree: u32,
    ) -> u32 {
        let units = (size / bytes).max(1);
        let row_units = (self.config.row_bytes() / bytes).max(1);
        let unit = match spread {
            Spread::SameWord => start,
            Spread::SameBank => start + row_units * self.rng.random_range(0..4),
            Spread::FewWords => start + self.rng.random_range(0..4),
            // For a stride, the degree is the distance of the lanes.
            Spread::Stride => start + degree * l,
            // An access with an odd number and the next access, in this row or the next.
            Spread::PairEdge => {
                (start | 1) + self.rng.random_range(0..2) + row_units * self.rng.random_range(0..2)
            }
            Spread::PartEdge => {
                let from = self.rng.random_range(0..4.min(units));
                if degree & 1 == 0 { from } else { units - 1 - from }
            }
            Spread::Anywhere => self.rng.random_range(0..units),
            Spread::Conflict | Spread::Contention => {
                // Accesses smaller than a word share its bank.
                let column = start % row_units + l / degree * (4 / bytes).max(1);
                let row = if spread == Spread::Conflict { l % degree } else { 0 };
                start - start % row_units + row * row_units + column % row_units
            }
        };
        (unit % units) * bytes
    }

    /// Draws the distance of the lanes for a stride, or the number of lanes on each bank.
    pub(super) fn degree(&mut self, spread: Spread) -> u32 {
        match spread {
            Spread::Stride => self.rng.random_range(1..5),
            _ => self.profile.degree.draw(&mut self.rng).clamp(1, self.config.num_lanes),
        }
    }

    pub(super) fn size(&mut self, op: Op) -> Size {
        let sizes = &self.sizes[op as usize];
        if sizes.len() == 1 { sizes[0] } else { sizes[self.rng.random_range(0..sizes.len())] }
    }

    fn mask(&mut self) -> u32 {
        let rng = &mut self.rng;
        let mask = match self.profile.lanes.draw(rng) {
            Lanes::All => u32::MAX,
            Lanes::Some => rng.random(),
            Lanes::Few => rng.random::<u32>() & rng.random::<u32>() & rng.random::<u32>(),
            Lanes::Two => {
                let first = rng.random_range(0..self.config.num_lanes);
                let behind = rng.random_range(1..self.config.num_lanes);
                1 << first | 1 << ((first + behind) % self.config.num_lanes)
            }
            Lanes::One => 1 << rng.random_range(0..self.config.num_lanes),
            Lanes::None => 0,
        };
        mask & self.config.lane_mask()
    }

    pub(super) fn values(&mut self) -> Operands {
        let kind = self.profile.values.draw(&mut self.rng);
        let rng = &mut self.rng;
        let all = match kind {
            Values::Seen => {
                let seen = self.seen[rng.random_range(0..self.seen.len())];
                match rng.random_range(0..8) {
                    0..4 => seen,
                    4 => seen.wrapping_add(1),
                    5 => seen.wrapping_sub(1),
                    _ => seen ^ 1 << rng.random_range(0..128),
                }
            }
            Values::Uniform => rng.random_range(0..3),
            _ => 0,
        };
        Operands { kind, all }
    }

    fn tag(&mut self) -> u8 {
        let [answered, _] = self.answered;
        let again = self.profile.tag_again.happens(&mut self.rng) && !self.tags.taken(answered);
        if again { answered } else { self.tags.draw(&mut self.rng) }
    }

    pub(super) fn offer_warp(&mut self, i: &mut In) {
        let Some(chosen) = self.choose() else { return };
        let op = chosen.op;
        let size = self.size(op);
        let bytes = size.bytes();
        let allocation = self.allocations[usize::from(chosen.slot)].unwrap_or_default();
        let units = (allocation.size / bytes).max(1);
        let start = match chosen.start {
            Some(object) if op.is_mbarrier() => object,
            Some(byte) => byte / bytes % units,
            None => self.rng.random_range(0..units),
        };
        i.req_valid = 1;
        i.req_op = op as u8;
        i.req_size = size as u8;
        i.req_slot = chosen.slot;
        i.req_tag = self.tag();
        self.tags.take(i.req_tag);
        i.req_red = u8::from(self.profile.red.happens(&mut self.rng));
        i.req_mask = self.mask();
        let first = |lanes: u32| u32::MAX >> (32 - lanes.clamp(1, self.config.num_lanes));
        if let Some(step) = chosen.step {
            i.req_mask = first(step.lanes);
        } else if chosen.jointly > 0 {
            i.req_mask = first(chosen.jointly);
        } else if chosen.suspends.is_some() {
            i.req_mask |= 1;
        } else if op.name().starts_with(Op::MbarArriveDrop.name()) {
            // Dropping more arrivals than expected makes an object unusable, so keep one lane only.
            if !self.profile.barriers.spoil.happens(&mut self.rng) {
                i.req_mask &= i.req_mask.wrapping_neg();
            }
        }
        self.operands(&chosen, start, size, i);
        let spread = if chosen.jointly > 0 { Spread::Stride } else { chosen.spread };
        let degree = if chosen.jointly > 0 { 1 } else { self.degree(spread) };
        self.addresses(&LaneAddresses { spread, start, bytes, degree }, &allocation, i);
        // Do not make requests of a volley faulty, because one fault breaks the volley.
        let spoilt = !matches!(self.follow, Follow::Volley(_)) && self.spoil(&allocation, bytes, i);
        // The code decides, because a faulty request may have become a MBAR.TRY_WAIT by chance.
        if i.req_op == Op::MbarTryWait as u8 {
            let limit = chosen.suspends.unwrap_or_else(|| self.limit());
            let lasts = if limit == 0 { self.config.try_wait_limit } else { limit };
            if lasts >= ENDLESS {
                self.endless |= 1 << i.req_tag;
            }
            i.req_c[..self.config.num_lanes as usize].fill(limit.into());
        }
        if op.is_mbarrier() && !spoilt {
            self.follow_objects(&chosen, start, i);
        }
        self.last = Last {
            op,
            slot: chosen.slot,
            spread: chosen.spread,
            start: start * bytes,
            object: if op.is_mbarrier() { start } else { self.last.object },
        };
        self.left -= 1;
    }

    /// Drives operands B and C of the lanes. Leaves old values where the operation reads none.
    fn operands(&mut self, chosen: &Chosen, start: u32, size: Size, i: &mut In) {
        let lanes = self.config.num_lanes as usize;
        let Chosen { op, slot, .. } = *chosen;
        if let Some(ObjectRequest { b, .. }) = chosen.step {
            let b = if op == Op::MbarInit { MbarObject::init(b).encode() } else { b.into() };
            i.req_b[..lanes].fill(b.into());
            return;
        }
        for l in 0..chosen.jointly {
            let object = self.objects.object(slot, start + l);
            // An object whose phase cannot be completed gets one arrival.
            i.req_b[l as usize] = ObjectRequest::completing(op, &object, 1).map_or(1, |step| step.b).into();
        }
        if chosen.suspends.is_some() {
            let phase = self.objects.object(slot, start).phase;
            i.req_b[..lanes].fill(u128::from(phase) << 31);
        }
        if chosen.jointly > 0 || chosen.suspends.is_some() {
            return;
        }
        if op.is_mbarrier() {
            let first = self.barrier_operand(op, slot, start);
            // Sometimes keep the operands of the request before.
            let Some(first) = first.filter(|_| self.rng.random_range(0..32) != 0) else { return };
            i.req_b[..lanes].fill(first);
            if !self.profile.barriers.uniform.happens(&mut self.rng) {
                for l in 1..lanes {
                    i.req_b[l] = self.barrier_operand(op, slot, start).unwrap_or(first);
                }
            }
            return;
        }
        let reads = op.row().operands;
        if reads == Reads::None {
            return;
        }
        let values = self.values();
        for b in &mut i.req_b[..lanes] {
            *b = values.draw(size, &mut self.rng);
        }
        if reads == Reads::BC {
            let new = values.to_store(&mut self.rng);
            for c in &mut i.req_c[..lanes] {
                *c = new.draw(size, &mut self.rng);
            }
        }
    }

    /// Draws the common base of the address, and computes the Ra that gives each lane its offset.
    fn addresses(&mut self, place: &LaneAddresses, allocation: &AllocationWrite, i: &mut In) {
        let LaneAddresses { spread, start, bytes, degree } = *place;
        let profile = Arc::clone(&self.profile);
        let lanes = self.config.num_lanes;
        let rng = &mut self.rng;
        let absolute = profile.form.draw(rng) == Form::Absolute;
        i.req_absolute = u8::from(absolute);
        i.req_scale = match profile.scale.draw(rng) {
            Scale::One => 0,
            Scale::Four => 2,
            Scale::Eight => 3,
            Scale::Sixteen => 4,
            Scale::Reserved => [1, 5, 6, 7][rng.random_range(0..4)],
        };
        let scale = if absolute { 0 } else { i.req_scale };
        let shift = AddressForm::shift_of(scale);
        i.req_imm = match profile.immediate.draw(rng) {
            Immediate::Zero => 0,
            Immediate::Positive => 4 * rng.random_range(1u32..64),
            Immediate::Negative => 0x100_0000 - 4 * rng.random_range(1u32..64),
            Immediate::Any => rng.random_range(0..1 << 24),
        };
        let adds = profile.uniform_register.happens(rng);
        // Mostly draw addresses that scaling can reach. Others are rounded and may be misaligned.
        let reachable = shift == 0 || rng.random_range(0..8) != 0;
        // Permutes the lanes that share a bank.
        let swap = match spread {
            Spread::Conflict | Spread::Contention => rng.random_range(0..lanes),
            _ => 0,
        };
        let rank = u32::from(allocation.rank) << 24;
        let step = if reachable { bytes.max(1 << shift) } else { bytes };
        let start = start * bytes / step;
        let first = rank | self.offset(spread, start, swap, allocation.size, step, degree);
        let rng = &mut self.rng;
        if absolute {
            if adds {
                i.req_ur = first.wrapping_sub(i.req_imm);
            } else {
                (i.req_imm, i.req_ur) = (first & 0xff_ffff, rank);
            }
        } else {
            // The uniform register is above the address so that the sum wraps, or below the address so that
            // no sum wraps.
            i.req_ur = match adds {
                true if rng.random() => rng.random(),
                true => rng.random_range(0..=first),
                false => 0,
            };
        }
        let low = (1u32 << shift) - 1;
        if reachable && adds {
            i.req_ur = i.req_ur.wrapping_sub(i.req_ur.wrapping_add(i.req_imm) & low);
        } else if reachable {
            i.req_imm &= !low;
        }
        let form = AddressForm::register(scale, i.req_imm, i.req_ur);
        for l in 0..lanes {
            let offset = self.offset(spread, start, l ^ swap, allocation.size, step, degree);
            i.req_ra[l as usize] = form.ra(rank | offset);
        }
        i.req_ra[lanes as usize..].fill(0);
    }

    /// Makes a request faulty at times. Returns true if it did.
    fn spoil(&mut self, allocation: &AllocationWrite, bytes: u32, i: &mut In) -> bool {
        let profile = Arc::clone(&self.profile);
        let rng = &mut self.rng;
        let mut spoilt = false;
        if profile.faults.illegal.happens(rng) {
            // Every operation has some illegal sizes, so a random size alone can be illegal.
            if !profile.faults.size_only.happens(rng) {
                i.req_op = rng.random_range(0..32);
            }
            i.req_size = rng.random_range(0..16);
            spoilt = true;
        }
        if profile.faults.slot.happens(rng) {
            i.req_slot = rng.random_range(0..16);
            spoilt = true;
        }
        let lane = rng.random_range(0..self.config.num_lanes);
        let mut ra = |rng: &mut _, change: &mut dyn FnMut(u32) -> u32| {
            spoilt = true;
            Astray::draw(rng).apply(&self.config, lane, i, change);
        };
        if profile.faults.misaligned.happens(rng) {
            let beyond = rng.random_range(1..bytes.max(2));
            ra(rng, &mut |address| address.wrapping_add(beyond));
        }
        if profile.faults.out_of_range.happens(rng) {
            // The first access that is not wholly inside the allocation, or one far away.
            let near = allocation.size / bytes * bytes;
            let far = rng.random_range(0..1 << 24) & !(bytes - 1);
            let offset = if rng.random() { near } else { far };
            ra(rng, &mut |address| address & 0xff00_0000 | offset & 0xff_ffff);
        }
        if profile.faults.rank.happens(rng) {
            let bit = 1 << rng.random_range(24..32);
            ra(rng, &mut |address| address ^ bit);
        }
        if profile.faults.wild.happens(rng) {
            i.req_ra[..self.config.num_lanes as usize].fill_with(|| rng.random());
            spoilt = true;
        }
        spoilt
    }

    fn follow_objects(&mut self, chosen: &Chosen, start: u32, i: &In) {
        let Chosen { op, slot, spread, .. } = *chosen;
        let single = matches!(op, Op::MbarArrive | Op::MbarArriveDrop | Op::MbarArriveSm80);
        for l in 0..chosen.jointly {
            let b = if single { 1 } else { i.req_b[l as usize] as u64 };
            self.objects.apply(slot, start + l, op, b);
        }
        if chosen.jointly > 0 {
            return;
        }
        if spread != Spread::SameWord {
            return;
        }
        let lanes = i.req_mask.count_ones();
        if lanes == 0 {
            return;
        }
        let together = op == Op::MbarArrive && (self.config.merge_arrive || lanes == 1);
        let b = |l: u32| match op {
            _ if single => 1,
            _ => i.req_b[l as usize] as u64,
        };
        let last = match self.config.winner_policy {
            WinnerPolicy::Lowest => 31 - i.req_mask.leading_zeros(),
            WinnerPolicy::Highest | WinnerPolicy::Rotating => i.req_mask.trailing_zeros(),
        };
        let mut rest = i.req_mask & !(1 << last);
        while rest != 0 {
            self.objects.apply(slot, start, op, b(rest.trailing_zeros()));
            rest &= rest - 1;
        }
        let low = self.objects.word(slot, start) as u32;
        self.objects.apply(slot, start, op, b(last));
        if self.config.winner_policy == WinnerPolicy::Rotating && lanes > 1 {
            // The lane that is served last is unknown.
            return;
        }
        let b = if together { lanes.into() } else { b(last) };
        let red = i.req_red == 1;
        self.objects.depart(i.req_tag, Flight { slot, object: start, last, op, b, low, red });
    }
}

/// Distribution and first access of the lanes of a request.
#[derive(Clone, Copy, Debug)]
struct LaneAddresses {
    spread: Spread,
    /// Number of the first access, counted from the start of the allocation.
    start: u32,
    /// Bytes of one access.
    bytes: u32,
    /// For a stride, the distance of the lanes; for other spreads, the number of lanes on each bank
    /// ([`RandomStimulus::degree`]).
    degree: u32,
}

/// Lanes of a request that are made faulty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Astray {
    /// One lane gets a faulty address, and becomes active.
    One,
    /// One lane gets a faulty address, and stays active or inactive. An inactive lane causes no fault
    /// (spec 2.6).
    Maybe,
    All,
}

impl Astray {
    fn draw(rng: &mut impl Rng) -> Astray {
        match rng.random_range(0..8) {
            0 => Astray::All,
            1 | 2 => Astray::Maybe,
            _ => Astray::One,
        }
    }

    fn apply(self, config: &Config, lane: u32, i: &mut In, change: &mut dyn FnMut(u32) -> u32) {
        if i.req_absolute == 1 {
            let address = change(AddressForm::absolute(i.req_imm, i.req_ur).address(0));
            (i.req_imm, i.req_ur) = (address & 0xff_ffff, address & 0xff00_0000);
            return;
        }
        let form = AddressForm::register(i.req_scale, i.req_imm, i.req_ur);
        let lanes = if self == Astray::All { 0..config.num_lanes } else { lane..lane + 1 };
        if self == Astray::One {
            i.req_mask |= 1 << lane;
        }
        for l in lanes {
            let ra = &mut i.req_ra[l as usize];
            *ra = form.ra(change(form.address(*ra)));
        }
    }
}
