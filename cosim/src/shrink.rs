//! Makes a failing case small: fewest requests, fewest lanes, smallest values.

use crate::case::{Case, Pauses};
use crate::request::{Lane, WarpRequest};

/// The smallest case that `fails` and that greedy steps from `case` reach. `case` itself must fail.
pub fn shrink(case: Case, mut fails: impl FnMut(&Case) -> bool) -> Case {
    let mut best = case;
    loop {
        let before = best.clone();
        without_pauses(&mut best, &mut fails);
        remove(&mut best, |case| &mut case.clusters, &mut fails);
        remove(&mut best, |case| &mut case.warps, &mut fails);
        remove(&mut best, |case| &mut case.parts, &mut fails);
        for at in 0..best.warps.len() {
            simplify(&mut best, at, &mut fails);
        }
        if best == before {
            return best;
        }
    }
}

/// Takes `candidate` if it differs and still fails.
fn attempt(best: &mut Case, candidate: Case, fails: &mut impl FnMut(&Case) -> bool) -> bool {
    let better = candidate != *best && fails(&candidate);
    if better {
        *best = candidate;
    }
    better
}

fn without_pauses(best: &mut Case, fails: &mut impl FnMut(&Case) -> bool) {
    let steps: [fn(&mut Pauses); 6] = [
        |pauses| *pauses = Pauses::default(),
        |pauses| pauses.warp = 0,
        |pauses| pauses.response = 0,
        |pauses| pauses.cluster = 0,
        |pauses| pauses.cluster_response = 0,
        |pauses| pauses.wake = 0,
    ];
    for step in steps {
        let mut candidate = best.clone();
        step(&mut candidate.pauses);
        attempt(best, candidate, fails);
    }
}

/// Removes elements of a list: halves first, single ones last.
fn remove<T: Clone>(
    best: &mut Case,
    list: impl Fn(&mut Case) -> &mut Vec<T>,
    fails: &mut impl FnMut(&Case) -> bool,
) {
    let mut size = list(best).len();
    while size > 0 {
        let mut at = 0;
        while at < list(best).len() {
            let mut candidate = best.clone();
            let elements = list(&mut candidate);
            let end = (at + size).min(elements.len());
            elements.drain(at..end);
            if !attempt(best, candidate, fails) {
                at += size;
            }
        }
        size /= 2;
    }
}

/// Fewer lanes and smaller values in one warp request.
fn simplify(best: &mut Case, at: usize, fails: &mut impl FnMut(&Case) -> bool) {
    let mut change = |best: &mut Case, change: &dyn Fn(&mut WarpRequest)| {
        let mut candidate = best.clone();
        change(&mut candidate.warps[at]);
        attempt(best, candidate, fails)
    };
    for width in [16u32, 8, 4, 2, 1] {
        for from in (0..32).step_by(width as usize) {
            let some = ((1u32 << width) - 1) << from;
            change(best, &|request| request.mask &= !some);
        }
    }
    change(best, &|request| {
        for lane in request.lanes.iter_mut().enumerate().filter(|(l, _)| request.mask >> l & 1 == 0) {
            *lane.1 = Lane::default();
        }
    });
    change(best, &|request| request.red = false);
    // Requests of one tag wait for each other where some may sleep: that changes what happens.
    change(best, &|request| request.tag = 0);
    // The address: everything in Ra, if it can be.
    change(best, &|request| {
        let base = request.ur.wrapping_add(((request.imm << 8) as i32 >> 8) as u32);
        let shift = if matches!(request.scale, 2..=4) { request.scale } else { 0 };
        for lane in &mut request.lanes {
            lane.ra = (lane.ra << shift).wrapping_add(base);
        }
        (request.ur, request.imm, request.scale) = (0, 0, 0);
    });
    for value in [0, 1] {
        // Downwards only, or zeros and ones would take turns for ever.
        change(best, &|request| request.lanes.iter_mut().for_each(|lane| lane.b = value.min(lane.b)));
        change(best, &|request| request.lanes.iter_mut().for_each(|lane| lane.c = value.min(lane.c)));
        for l in 0..best.warps[at].lanes.len() {
            change(best, &|request| request.lanes[l].b = value.min(request.lanes[l].b));
            change(best, &|request| request.lanes[l].c = value.min(request.lanes[l].c));
        }
    }
    change(best, &|request| {
        let used = request.lanes.iter().rposition(|lane| *lane != Lane::default()).map_or(0, |l| l + 1);
        request.lanes.truncate(used);
    });
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
        // Fails as long as some request has lane 3 with a B of 7.
        let fails = |case: &Case| {
            case.warps.iter().any(|r| r.mask >> 3 & 1 == 1 && r.lanes.get(3).is_some_and(|l| l.b == 7))
        };
        let small = shrink(case, fails);
        assert_eq!(small.pauses, Pauses::default());
        assert_eq!(small.warps.len(), 1);
        assert_eq!(small.warps[0].mask, 1 << 3);
        assert_eq!(small.warps[0].lanes.iter().filter(|l| l.b != 0).count(), 1);
        assert!(small.warps[0].lanes.iter().all(|l| l.c == 0));
    }
}
