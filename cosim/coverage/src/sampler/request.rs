//! Samples a request at issue: addresses, banks and conflicts of its lanes.

use atoms_model::Config;
use atoms_model::lanes::{banks, lanes};
use atoms_model::port::MAX_BANKS;
use atoms_ops::{Op, Size};
use atoms_stimulus::request::AllocationWrite;

use super::hits::Hits;
use super::in_flight::{ConflictStats, InFlightRequest};
use crate::groups::faults::{
    Bad, Bystander, Edge, Erring, FaultMix, Misalignment, OutOfRange, Outside, PartEdge,
};
use crate::groups::objects::{AtOne, Named, ObjectLanes, Objects};
use crate::groups::ports::Rank;
use crate::groups::requests::{
    Address, Addresses, Conflict, Decode, Form, Hash, Immediate, LaneAlone, Lanes, Offset, OffsetBits,
    OpCode, Operation, Overlay, Population, SameAddress, Scale, SizeCode, Slot, StoreOverlay, Swizzle, Tag,
    Tags, Uniform,
};
use crate::groups::values::{AnyOp, AnySize, Degree, Lane, ObjectOp, PlainOp, Port, SlotNumber, Width};
use crate::groups::{faults, requests};

/// Samples a request that arrives at issue, with the allocation of its slot. `faulty` is true if the request
/// has active lanes but takes no pass, because of a fault.
pub(super) fn at_issue(
    config: &Config,
    hits: &mut Hits,
    f: &mut InFlightRequest,
    allocation: Option<AllocationWrite>,
    faulty: bool,
) {
    hits.hit(Tags, (f.port, Tag(f.request.tag)));
    f.groups = [0; MAX_BANKS];
    f.taken = 0;
    f.conflicts = ConflictStats::default();
    if f.mask == 0 {
        if let (Port::Warp, Some((op, _))) = (f.port, f.kind) {
            population(config, hits, f, op);
        }
        return;
    }
    if f.port == Port::Warp {
        hits.hit(Decode, (OpCode(f.request.op), SizeCode(f.request.size)));
    }
    let Some((op, size)) = f.kind else { return };
    if faulty {
        return errors(hits, f, size, allocation);
    }
    place(config, hits, f, size, allocation);
    hits.hit(Operation, (AnyOp(op), AnySize(size), f.wanted(), f.port));
    hits.hit(Slot, (f.port, SlotNumber(f.request.slot)));
    if f.port == Port::Cluster {
        return;
    }
    population(config, hits, f, op);
    conflicts(hits, f, op, size);
    let ConflictStats { degree, addresses, same, objects } = f.conflicts;
    if let Some(op) = PlainOp::new(op) {
        hits.hit(Conflict, (op, AnySize(size), Degree::new(degree)));
        hits.hit(Addresses, (op, Degree::new(addresses)));
        hits.hit(SameAddress, (op, f.wanted(), Degree::new(same)));
    }
    if let Some(op) = ObjectOp::new(op) {
        let at_one = match same {
            1 => AtOne::One,
            all if all == config.num_lanes => AtOne::All,
            2 => AtOne::Two,
            _ => AtOne::Some,
        };
        hits.hit(ObjectLanes, (op, at_one));
        let named = match (objects, addresses) {
            (1, _) => Named::One,
            (2, 1) => Named::TwoPairs,
            (2, _) => Named::OnePair,
            _ => Named::More,
        };
        hits.hit(Objects, (op, named));
    }
    if f.mask != config.lane_mask() {
        bystander(config, hits, f, size, allocation);
    }
}

fn population(config: &Config, hits: &mut Hits, f: &InFlightRequest, op: Op) {
    let population = match f.mask.count_ones() {
        0 => Population::None,
        1 => Population::One,
        all if all == config.num_lanes => Population::All,
        _ => Population::Some,
    };
    hits.hit(Lanes, (AnyOp(op), population));
    if population == Population::One {
        hits.hit(LaneAlone, (Lane(f.mask.trailing_zeros() as u8),));
    }
}

/// Computes bank and row of every participating lane, and collects lanes by group of banks.
fn place(
    config: &Config,
    hits: &mut Hits,
    f: &mut InFlightRequest,
    size: Size,
    allocation: Option<AllocationWrite>,
) {
    let Some(allocation) = allocation else { return };
    let addresses = f.request.address_form();
    let bytes = size.bytes();
    let bank_bits = config.num_banks.trailing_zeros();
    let swizzle = if config.bank_hash { config.num_banks / 4 - 1 } else { 0 };
    let width = Width::new(size);
    let group_bits = width.banks().trailing_zeros();
    let (mut first, mut last) = (false, false);
    let mut highest = 0;
    for lane in lanes(f.mask) {
        let offset = addresses.address(f.request.lane(lane).ra) & 0xff_ffff;
        first |= offset == 0;
        highest = highest.max(offset);
        last |= offset + bytes == allocation.size;
        let word = offset >> 2;
        let row = (word >> bank_bits).wrapping_add(allocation.base.into());
        let bank = (word & (config.num_banks - 1)) ^ ((row & swizzle) << 2);
        f.bank[lane] = bank as u8;
        f.row[lane] = row as u16;
        f.byte[lane] = (offset & 3) as u8;
        let group = bank as usize >> group_bits;
        f.groups[group] |= 1 << lane;
        f.taken |= 1 << group;
        if config.bank_hash {
            hits.hit(Hash, (Swizzle((row & swizzle) as u8), width));
        }
    }
    let offset_bits = OffsetBits(32 - highest.leading_zeros() as u8);
    hits.hit(Offset, (f.port, Rank::new(allocation.rank.into()), offset_bits));
    if first {
        hits.hit(PartEdge, (AnySize(size), f.port, Edge::First));
    }
    if last {
        hits.hit(PartEdge, (AnySize(size), f.port, Edge::Last));
    }
    if f.port == Port::Warp {
        form(hits, f);
    }
}

/// Samples the form of the address, and whether the sum of any lane exceeds 32 bits.
fn form(hits: &mut Hits, f: &InFlightRequest) {
    let addresses = f.request.address_form();
    let negative = f.request.imm >> 23 & 1 != 0;
    let wraps = lanes(f.mask).any(|lane| u32::try_from(addresses.sum(f.request.lane(lane).ra)).is_err());
    let immediate = match (f.request.imm == 0, negative, wraps) {
        (true, _, false) => Immediate::Zero,
        (true, _, true) => Immediate::ZeroWraps,
        (_, false, false) => Immediate::Positive,
        (_, false, true) => Immediate::PositiveWraps,
        (_, true, false) => Immediate::Negative,
        (_, true, true) => Immediate::NegativeWraps,
    };
    let scale = match f.request.scale {
        0 => Scale::One,
        2 => Scale::Four,
        3 => Scale::Eight,
        4 => Scale::Sixteen,
        _ => Scale::Reserved,
    };
    let uniform = if f.request.ur == 0 { Uniform::Zero } else { Uniform::Other };
    let form = if f.request.absolute { requests::Form::Absolute } else { Form::Register };
    hits.hit(Address, (form, scale, uniform, immediate));
}

fn conflicts(hits: &mut Hits, f: &mut InFlightRequest, op: Op, size: Size) {
    let mut stats = ConflictStats { degree: 1, addresses: 1, same: 1, objects: 0 };
    let mut overlays = [false; 3];
    for group in banks(f.taken) {
        let mut left = f.groups[group];
        if left.is_power_of_two() {
            stats.objects += 1;
            overlays[Overlay::Alone as usize] = true;
            continue;
        }
        stats.degree = stats.degree.max(left.count_ones());
        let mut addresses = 0;
        while let Some(lane) = lanes(left).next() {
            let at_row = |here, other| here | u32::from(f.row[other] == f.row[lane]) << other;
            let here = lanes(left).fold(0, at_row);
            left &= !here;
            addresses += 1;
            stats.same = stats.same.max(here.count_ones());
            if op == Op::Store {
                let overlay = match here.count_ones() {
                    1 => Overlay::Alone,
                    _ if lanes(here).all(|other| f.byte[other] == f.byte[lane]) => Overlay::Same,
                    _ => Overlay::Beside,
                };
                overlays[overlay as usize] = true;
            }
        }
        stats.addresses = stats.addresses.max(addresses);
        stats.objects += addresses;
    }
    f.conflicts = stats;
    if op == Op::Store {
        for (overlay, seen) in Overlay::ALL.iter().zip(overlays) {
            if seen {
                hits.hit(StoreOverlay, (AnySize(size), *overlay));
            }
        }
    }
}

/// Returns the error of an address. Misalignment takes precedence (spec 2.4). None if the address is good.
fn bad(f: &InFlightRequest, address: u32, size: Size, allocation: Option<AllocationWrite>) -> Option<Bad> {
    if address & (size.bytes() - 1) != 0 {
        return Some(Bad::Misaligned);
    }
    let inside = allocation.is_some_and(|allocation| {
        (f.port == Port::Cluster || address >> 24 == u32::from(allocation.rank))
            && (address & 0xff_ffff) + size.bytes() <= allocation.size
    });
    (!inside).then_some(Bad::OutOfRange)
}

/// Returns true if the address of an active lane is bad.
pub(super) fn is_faulty(f: &InFlightRequest, allocation: Option<AllocationWrite>) -> bool {
    let (Some((_, size)), addresses) = (f.kind, f.request.address_form()) else { return false };
    lanes(f.mask).any(|lane| bad(f, addresses.address(f.request.lane(lane).ra), size, allocation).is_some())
}

fn errors(hits: &mut Hits, f: &InFlightRequest, size: Size, allocation: Option<AllocationWrite>) {
    let addresses = f.request.address_form();
    let mut bads = [0u32; 2];
    for lane in lanes(f.mask) {
        if let Some(why) = bad(f, addresses.address(f.request.lane(lane).ra), size, allocation) {
            bads[why as usize] |= 1 << lane;
        }
    }
    let all = bads[0] | bads[1];
    let Some(lane) = lanes(all).next() else { return };
    let address = addresses.address(f.request.lane(lane).ra);
    let first = if bads[0] >> lane & 1 != 0 { Bad::Misaligned } else { Bad::OutOfRange };
    if f.port == Port::Warp {
        let erring = match (f.mask.count_ones(), all.count_ones()) {
            (1, _) => Erring::Alone,
            (_, 1) => Erring::OneOfMany,
            _ if bads[0] != 0 && bads[1] != 0 => Erring::Mixed,
            (lanes, bad) if lanes == bad => Erring::All,
            _ => Erring::Several,
        };
        hits.hit(FaultMix, (first, erring));
    }
    if first == Bad::Misaligned {
        let excess = address & (size.bytes() - 1);
        hits.hit(Misalignment, (AnySize(size), faults::Excess(excess as u8)));
        return;
    }
    let offset = address & 0xff_ffff;
    let outside = match allocation {
        None => Outside::NoPart,
        Some(allocation) if f.port == Port::Warp && address >> 24 != u32::from(allocation.rank) => {
            Outside::Rank
        }
        Some(allocation) if offset < allocation.size => Outside::Straddles,
        Some(allocation) if offset - allocation.size < size.bytes() => Outside::Behind,
        Some(_) => Outside::Far,
    };
    hits.hit(OutOfRange, (AnySize(size), f.port, outside));
}

/// Samples the address of the lowest lane that does not participate, if that address is bad.
fn bystander(
    config: &Config,
    hits: &mut Hits,
    f: &InFlightRequest,
    size: Size,
    allocation: Option<AllocationWrite>,
) {
    let lane = (!f.mask & config.lane_mask()).trailing_zeros() as usize;
    let address = f.request.address_form().address(f.request.lane(lane).ra);
    if let Some(why) = bad(f, address, size, allocation) {
        hits.hit(Bystander, (why,));
    }
}
