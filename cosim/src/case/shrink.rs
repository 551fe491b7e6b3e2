//! Minimizes a failing case: fewest requests, fewest lanes, smallest values.

use atoms_ops::Size;
use atoms_stimulus::request::{AddressForm, AllocationWrite, ClusterRequest, Lane, WarpRequest};

use crate::case::{Case, Change, Pauses};

/// Returns the smallest failing case that greedy steps from `case` reach. `case` itself must fail.
///
/// Steps that remove most come first. Every step makes the case smaller, so the loop ends. Each step is tried
/// again after other steps have changed the case.
pub fn shrink(case: Case, mut fails: impl FnMut(&Case) -> bool) -> Case {
    let mut shrinking = Shrinking { best: case, fails: &mut fails };
    // Lengthen the pauses before changes, so that requests that only delay a reset can be removed.
    shrinking.attempt(|case| case.changes.iter_mut().for_each(|change| change.after = change.after.max(32)));
    loop {
        let before = shrinking.best.clone();
        // Remove requests first: the steps for each single request are slow while there are many.
        shrinking.structure();
        for at in 0..shrinking.best.warps.len() {
            shrinking.lanes(at);
        }
        for at in 0..shrinking.best.warps.len() {
            shrinking.warp(at);
        }
        for at in 0..shrinking.best.clusters.len() {
            shrinking.cluster(at);
        }
        for at in 0..shrinking.best.writes().count() {
            shrinking.allocation(at);
        }
        for at in 0..shrinking.best.memory.len() {
            shrinking.bits(
                32,
                |case| case.memory[at].value.into(),
                |case, value| case.memory[at].value = value as u32,
            );
        }
        shrinking.slots();
        if shrinking.best == before {
            return shrinking.best;
        }
    }
}

/// Smallest failing case so far, and the test for failure.
struct Shrinking<'a> {
    best: Case,
    fails: &'a mut dyn FnMut(&Case) -> bool,
}

impl Shrinking<'_> {
    /// Applies `change` to the best case. Keeps the result if it differs and still fails.
    fn attempt(&mut self, change: impl FnOnce(&mut Case)) -> bool {
        let mut candidate = self.best.clone();
        change(&mut candidate);
        let better = candidate != self.best && (self.fails)(&candidate);
        if better {
            self.best = candidate;
        }
        better
    }

    fn structure(&mut self) {
        loop {
            let before = self.size();
            self.attempt(|case| case.memory.clear());
            self.attempt(|case| case.pauses = Pauses::default());
            self.attempt(|case| case.changes.clear());
            self.attempt(|case| *case = std::mem::take(case).with_early_allocations());
            self.remove(|case| &mut case.warps, |change| Some(&mut change.warps));
            self.remove(|case| &mut case.clusters, |change| Some(&mut change.clusters));
            self.remove(|case| &mut case.changes, |_| None);
            self.remove(|case| &mut case.memory, |_| None);
            if self.size() == before {
                break;
            }
        }
        self.remove(|case| &mut case.allocations, |_| None);
        for at in 0..self.best.changes.len() {
            self.remove(|case| &mut case.changes[at].allocations, |_| None);
            self.less(|case| &mut case.changes[at].after);
            self.less(|case| &mut case.changes[at].reset);
        }
        self.pauses();
    }

    fn size(&self) -> [usize; 3] {
        [self.best.requests(), self.best.changes.len(), self.best.memory.len()]
    }

    fn less(&mut self, cycles: impl Fn(&mut Case) -> &mut u64) {
        let mut step = *cycles(&mut self.best);
        while step > 0 {
            let less = cycles(&mut self.best).checked_sub(step);
            if !less.is_some_and(|less| self.attempt(|case| *cycles(case) = less)) {
                step /= 2;
            }
        }
    }

    fn pauses(&mut self) {
        let fields: [fn(&mut Pauses) -> &mut u64; 5] = [
            |pauses| &mut pauses.warp,
            |pauses| &mut pauses.response,
            |pauses| &mut pauses.cluster,
            |pauses| &mut pauses.cluster_response,
            |pauses| &mut pauses.wake,
        ];
        for field in fields {
            self.bits(
                64,
                |case| u128::from(*field(&mut case.pauses)),
                |case, value| {
                    *field(&mut case.pauses) = value as u64;
                },
            );
        }
    }

    /// Removes elements of a list: halves first, single elements last. `before` returns the field of a change
    /// that counts the elements before it, if there is one.
    fn remove<T>(
        &mut self,
        list: impl Fn(&mut Case) -> &mut Vec<T>,
        before: fn(&mut Change) -> Option<&mut usize>,
    ) {
        let mut size = list(&mut self.best).len();
        while size > 0 {
            let mut at = 0;
            while at < list(&mut self.best).len() {
                let removed = self.attempt(|case| {
                    let elements = list(case);
                    let end = (at + size).min(elements.len());
                    elements.drain(at..end);
                    for before in case.changes.iter_mut().filter_map(before) {
                        *before -= end.min(*before) - at.min(*before);
                    }
                });
                if !removed {
                    at += size;
                }
            }
            size /= 2;
        }
    }

    /// Clears bits of a value of `width` bits: all bits, then halves, then single bits.
    fn bits(&mut self, width: u32, get: impl Fn(&mut Case) -> u128, set: impl Fn(&mut Case, u128)) {
        let mut size = width;
        while size > 0 {
            for from in (0..width).step_by(size as usize).rev() {
                let value = get(&mut self.best);
                let some = (u128::MAX >> (128 - size)) << from;
                if value & some != 0 {
                    self.attempt(|case| set(case, value & !some));
                }
            }
            // With 4 set bits or fewer, try single bits next.
            size = if get(&mut self.best).count_ones() <= 4 { size.min(2) / 2 } else { size / 2 };
        }
    }

    fn lanes(&mut self, at: usize) {
        for width in [16u32, 8, 4, 2, 1] {
            for from in (0..32).step_by(width as usize) {
                let some = ((1u32 << width) - 1) << from;
                self.attempt(|case| case.warps[at].mask &= !some);
            }
        }
        self.attempt(|case| {
            let request = &mut case.warps[at];
            for (l, lane) in request.lanes.iter_mut().enumerate() {
                if request.mask >> l & 1 == 0 {
                    *lane = Lane::default();
                }
            }
            trim(request);
        });
        // Move the active lanes to lane 0 and up.
        self.attempt(|case| {
            let request = &mut case.warps[at];
            request.lanes = active(request).collect();
            request.mask = u32::MAX.checked_shr(32 - request.lanes.len() as u32).unwrap_or(0);
        });
    }

    fn warp(&mut self, at: usize) {
        self.warp_step(at, |request| request.red = false);
        // Equal tags change the timing: if some request may be suspended, they wait for each other.
        self.warp_step(at, |request| request.tag = 0);
        // Put the whole address into Ra, if possible.
        self.warp_step(at, |request| {
            let form = AddressForm::register(request.scale, request.imm, request.ur);
            request.lanes.iter_mut().for_each(|lane| lane.ra = form.address(lane.ra));
            (request.ur, request.imm, request.scale) = (0, 0, 0);
        });
        self.warp_step(at, |request| request.absolute = false);
        self.warp_step(at, |request| request.scale = 0);
        self.bits(24, |case| case.warps[at].imm.into(), |case, value| case.warps[at].imm = value as u32);
        self.bits(32, |case| case.warps[at].ur.into(), |case, value| case.warps[at].ur = value as u32);
        for size in [Size::U32, Size::U64] {
            // Try smaller sizes only. Otherwise two sizes would alternate without end.
            let bytes = |code| Size::from_code(code).map_or(u32::MAX, Size::bytes);
            let smaller = size.bytes() < bytes(self.best.warps[at].size);
            if smaller && self.warp_step(at, |request| request.size = size as u8) {
                break;
            }
        }
        // Try to change all lanes together first: often they can have equal values.
        for change in [
            (|lane: &mut Lane| lane.b = 0) as fn(&mut Lane),
            |lane| lane.c = 0,
            |lane| lane.b = lane.b.min(1),
            |lane| lane.c = lane.c.min(1),
            |lane| lane.ra = 0,
        ] {
            self.warp_step(at, |request| request.lanes.iter_mut().for_each(change));
        }
        self.warp_step(at, |request| {
            let low = active(request).map(|lane| lane.ra).min().unwrap_or(0);
            let mask = request.mask;
            let lanes = request.lanes.iter_mut().enumerate().filter(|(l, _)| mask >> l & 1 == 1);
            lanes.for_each(|(_, lane)| lane.ra = lane.ra.wrapping_sub(low));
        });
        for l in 0..self.best.warps[at].lanes.len() {
            let lane = |case: &mut Case| case.warps[at].lane(l);
            let edit = |case: &mut Case, change: &dyn Fn(&mut Lane)| {
                case.warps[at].lanes.get_mut(l).into_iter().for_each(change);
            };
            // Prefer 1 as a nonzero value: it reads better than a high bit.
            self.attempt(|case| edit(case, &|lane| lane.b = lane.b.min(1)));
            self.attempt(|case| edit(case, &|lane| lane.c = lane.c.min(1)));
            self.bits(128, |case| lane(case).b, |case, value| edit(case, &|lane| lane.b = value));
            self.bits(128, |case| lane(case).c, |case, value| edit(case, &|lane| lane.c = value));
            self.bits(
                32,
                |case| lane(case).ra.into(),
                |case, value| edit(case, &|lane| lane.ra = value as u32),
            );
        }
        self.attempt(|case| trim(&mut case.warps[at]));
    }

    fn warp_step(&mut self, at: usize, change: impl FnOnce(&mut WarpRequest)) -> bool {
        self.attempt(|case| change(&mut case.warps[at]))
    }

    fn cluster(&mut self, at: usize) {
        for change in [
            (|request: &mut ClusterRequest| request.red = false) as fn(&mut ClusterRequest),
            |request| request.tag = 0,
            |request| request.b = request.b.min(1),
            |request| request.c = request.c.min(1),
        ] {
            self.attempt(|case| change(&mut case.clusters[at]));
        }
        self.bits(128, |case| case.clusters[at].b, |case, value| case.clusters[at].b = value);
        self.bits(128, |case| case.clusters[at].c, |case, value| case.clusters[at].c = value);
        self.bits(
            24,
            |case| case.clusters[at].addr.into(),
            |case, value| case.clusters[at].addr = value as u32,
        );
    }

    /// Shrinks an allocation, and moves it to the first row.
    fn allocation(&mut self, at: usize) {
        let edit = |case: &mut Case, change: &dyn Fn(&mut AllocationWrite)| case.writes().nth(at).map(change);
        for change in [
            (|allocation: &mut AllocationWrite| allocation.base = 0) as fn(&mut AllocationWrite),
            |allocation| allocation.rank = 0,
        ] {
            self.attempt(|case| _ = edit(case, &change));
        }
        // Clear the rank in the addresses of the slot, too.
        self.attempt(|case| {
            let slot = case.writes().nth(at).map(|allocation| allocation.slot);
            case.writes()
                .filter(|allocation| Some(allocation.slot) == slot)
                .for_each(|allocation| allocation.rank = 0);
            for request in case.warps.iter_mut().filter(|request| Some(request.slot) == slot) {
                request.ur &= 0xff_ffff;
                request.lanes.iter_mut().for_each(|lane| lane.ra &= 0xff_ffff);
            }
        });
        let size = |case: &mut Case| case.writes().nth(at).map_or(0, |allocation| allocation.size);
        while size(&mut self.best) > 1
            && self.attempt(|case| _ = edit(case, &|allocation| allocation.size /= 2))
        {}
        self.bits(
            25,
            |case| size(case).into(),
            |case, value| _ = edit(case, &|allocation| allocation.size = value as u32),
        );
    }

    fn slots(&mut self) {
        for slot in 1..16u8 {
            for free in 0..slot {
                let renamed = self.attempt(|case| {
                    let used: Vec<_> = case.writes().map(|allocation| allocation.slot).collect();
                    let used = used.into_iter().chain(case.warps.iter().map(|request| request.slot));
                    let mut used = used.chain(case.clusters.iter().map(|request| request.slot));
                    if used.any(|used| used == free) {
                        return;
                    }
                    let rename = |place: &mut u8| {
                        if *place == slot {
                            *place = free;
                        }
                    };
                    case.writes().for_each(|allocation| rename(&mut allocation.slot));
                    case.warps.iter_mut().for_each(|request| rename(&mut request.slot));
                    case.clusters.iter_mut().for_each(|request| rename(&mut request.slot));
                });
                if renamed {
                    break;
                }
            }
        }
    }
}

fn active(request: &WarpRequest) -> impl Iterator<Item = Lane> + '_ {
    (0..32).filter(|l| request.mask >> l & 1 == 1).map(|l| request.lane(l))
}

/// Drops trailing lanes that are all zero.
fn trim(request: &mut WarpRequest) {
    let used = request.lanes.iter().rposition(|lane| *lane != Lane::default()).map_or(0, |l| l + 1);
    request.lanes.truncate(used);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_needed_stays() {
        let lane = |b| Lane { ra: 64, b, c: 9 };
        let request = |tag, b| WarpRequest {
            tag,
            mask: 0xff,
            lanes: (0..8).map(|_| lane(b)).collect(),
            ..WarpRequest::default()
        };
        let case = Case {
            warps: vec![request(1, 5), request(2, 7), request(3, 9)],
            pauses: Pauses { warp: 3, response: 4, cluster: 5, cluster_response: 6, wake: 7 },
            ..Case::default()
        };
        // Fail while some request has lane 3 with a B of 7.
        let fails = |case: &Case| {
            case.warps.iter().any(|r| r.mask >> 3 & 1 == 1 && r.lanes.get(3).is_some_and(|l| l.b == 7))
        };
        let small = shrink(case, fails);
        assert_eq!(small.pauses, Pauses::default());
        assert_eq!(small.warps.len(), 1);
        assert_eq!(small.warps[0].mask, 1 << 3, "it is lane 3 that fails");
        assert_eq!(small.warps[0].lanes.iter().filter(|l| l.b != 0).count(), 1);
        assert!(small.warps[0].lanes.iter().all(|l| l.c == 0));
    }

    #[test]
    fn values_lose_the_bits_that_do_not_matter() {
        let lane = Lane { ra: 0x1234, b: 0xffff_ffff_0000_0000_1234, c: u128::MAX };
        let case = Case {
            allocations: vec![AllocationWrite { slot: 3, enable: true, base: 4, size: 512, rank: 1 }],
            warps: vec![WarpRequest {
                size: Size::B128 as u8,
                slot: 3,
                mask: 2,
                imm: 0x10,
                ur: 0x1000,
                scale: 2,
                lanes: vec![lane, lane],
                ..WarpRequest::default()
            }],
            clusters: vec![ClusterRequest { slot: 3, addr: 0xff, b: 77, c: 78, ..ClusterRequest::default() }],
            pauses: Pauses { response: u64::MAX, ..Pauses::default() },
            ..Case::default()
        };
        // Fail with bit 4 of B, bit 2 of the cluster's B, bit 33 of the pauses, and 64 bytes in the same
        // slot.
        let fails = |case: &Case| {
            let slots = case.allocations.first().map(|allocation| allocation.slot);
            case.pauses.response >> 33 & 1 == 1
                && case.clusters.iter().any(|r| r.b >> 2 & 1 == 1 && Some(r.slot) == slots)
                && case
                    .warps
                    .iter()
                    .any(|r| Some(r.slot) == slots && active(r).any(|lane| lane.b >> 4 & 1 == 1))
                && case.allocations.iter().any(|allocation| allocation.size >= 64)
        };
        let small = shrink(case, fails);
        assert_eq!(small.pauses, Pauses { response: 1 << 33, ..Pauses::default() });
        let allocation = AllocationWrite { enable: true, size: 64, ..AllocationWrite::default() };
        assert_eq!(small.allocations, [allocation]);
        let lanes = vec![Lane { b: 1 << 4, ..Lane::default() }];
        assert_eq!(
            small.warps,
            [WarpRequest { size: Size::U32 as u8, mask: 1, lanes, ..WarpRequest::default() }]
        );
        assert_eq!(small.clusters, [ClusterRequest { b: 4, ..ClusterRequest::default() }]);
    }

    #[test]
    fn only_the_change_that_is_needed_stays() {
        let allocation =
            |slot, size| AllocationWrite { slot, enable: true, size, ..AllocationWrite::default() };
        let case = Case {
            allocations: vec![allocation(0, 64)],
            warps: (0..8).map(|imm| WarpRequest { imm, mask: 1, ..WarpRequest::default() }).collect(),
            changes: vec![
                Change { warps: 2, after: 5, allocations: vec![allocation(1, 64)], ..Change::default() },
                Change {
                    warps: 4,
                    after: 37,
                    reset: 3,
                    allocations: vec![allocation(0, 8), allocation(1, 32)],
                    clusters: 0,
                },
                Change { warps: 6, reset: 1, ..Change::default() },
            ],
            ..Case::default()
        };
        // Fail with a reset of two cycles between the second and the sixth request, 20 cycles later, and an
        // allocation of 16 bytes.
        let fails = |case: &Case| {
            case.changes.iter().any(|change| {
                let (before, behind) = case.warps.split_at(change.warps.min(case.warps.len()));
                let has = |requests: &[WarpRequest], imm| requests.iter().any(|request| request.imm == imm);
                let large = change.allocations.iter().any(|allocation| allocation.size >= 16);
                change.reset >= 2 && change.after >= 20 && large && has(before, 1) && has(behind, 5)
            })
        };
        let small = shrink(case, fails);
        assert_eq!(small.warps.iter().map(|request| request.imm).collect::<Vec<_>>(), [1, 5]);
        let change =
            Change { warps: 1, clusters: 0, after: 20, reset: 2, allocations: vec![allocation(1, 16)] };
        assert_eq!((&small.allocations[..], &small.changes[..]), (&[][..], &[change][..]));
    }
}
