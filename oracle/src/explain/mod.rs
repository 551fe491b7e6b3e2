//! Explains the observation of one word, or of one bank group of CAST.SPIN, in one request.

pub(crate) mod case;
pub(crate) mod counting;
pub(crate) mod follow;
pub(crate) mod objects;
pub(crate) mod trail;

use crate::explain::case::{Case, Final, LaneGroup, join, split, words_each};
use crate::explain::follow::follow;
use crate::explain::objects::{explain_arrivals, explain_sm80, explain_waits, leave_object};
use crate::explain::trail::{Edges, NoTrail};
use crate::kernel::{Gives, Together, leaves, loaded, value_mask};
use crate::lanes::{Lanes, lanes_of};
use crate::rejection::{Rejection, held_value};
use crate::request::MAX_LANES;

/// Explains a group from the words `before`.
///
/// With `seen`, the words after the request, these must be explained too, and the result is always
/// [`Final::Words`]. Without `seen`, the lanes may leave one of several values, unless their order is known.
pub(crate) fn explain(
    case: &Case<'_>,
    unit: &LaneGroup,
    before: &[u32],
    seen: Option<&[u32]>,
    left: &mut [u32],
    choices: &mut Vec<u128>,
) -> Result<Final, Rejection> {
    let Some(order) = case.order else {
        return explain_in_any_order(case, unit, before, seen, left, choices);
    };
    follow(order, case, unit, before, seen, left).map(|()| Final::Words).map_err(|out_of_order| {
        // If no order explains the observation, report the simpler error.
        match explain_in_any_order(case, unit, before, seen, left, choices) {
            Err(rejection) if !rejection.is_undecided() => rejection,
            _ => out_of_order,
        }
    })
}

/// Explains a group as [`explain`] does, but accepts any order.
fn explain_in_any_order(
    case: &Case<'_>,
    unit: &LaneGroup,
    before: &[u32],
    seen: Option<&[u32]>,
    left: &mut [u32],
    choices: &mut Vec<u128>,
) -> Result<Final, Rejection> {
    let Case { access, req, resp, .. } = case;
    let (op, size) = (access.op, access.size);
    let mask = value_mask(size);
    let first = unit.lanes.trailing_zeros() as usize & 31;
    let addr = access.addr[first];
    let old = join(&before[..words_each(access)]);
    let wrong = |expected| wrong_final(unit.lanes, addr, old, expected, seen.map_or(0, join));

    let left_value = match Together::of(op) {
        Together::Load => {
            for lane in lanes_of(unit.lanes) {
                let shift = (access.addr[lane] % 4) * 8;
                let expected = loaded(size, (old >> if size.bytes() < 4 { shift } else { 0 }) & mask);
                let got = resp.rd[lane];
                if !req.red && got != expected {
                    let addr = access.addr[lane];
                    let what =
                        format_args!("lane {lane} loaded {got:#x} from {addr:#x}, expected {expected:#x}");
                    return Err(Rejection::new("spec 3.5", "rd", what)
                        .at(1 << lane, addr)
                        .values(got, expected));
                }
            }
            old
        }
        Together::Store => {
            // The lowest lane's store stays in memory (spec 3.5).
            let (mut stored, mut value) = (0, old);
            for lane in lanes_of(unit.lanes) {
                let shift = if size.bytes() < 4 { (access.addr[lane] % 4) * 8 } else { 0 };
                let bits = mask << shift & !stored;
                value = value & !bits | req.b[lane] << shift & bits;
                stored |= bits;
            }
            value
        }
        Together::Count => (old + u128::from(unit.lanes.count_ones())) & mask,
        Together::Select => {
            left.copy_from_slice(before);
            explain_spin(case, unit, before, left)?;
            if let Some(seen) = seen {
                compare_spin(case, unit, before, seen, left)?;
            }
            return Ok(Final::Words);
        }
        Together::Compare if req.red || Gives::of(op) == Gives::Stored => explain_flags(case, unit, old)?,
        Together::Commute if req.red => {
            lanes_of(unit.lanes).fold(old, |value, lane| leaves(op, size, value, req.b[lane] & mask, 0))
        }
        how @ (Together::Replace | Together::CountUp | Together::CountDown) if req.red => {
            let Some(seen) = seen else {
                choices.clear();
                list_ends(case, unit, how, old, choices);
                return Ok(Final::OneOf);
            };
            if !may_leave(case, unit, how, old, join(seen)) {
                return Err(wrong(None));
            }
            left.copy_from_slice(seen);
            return Ok(Final::Words);
        }
        Together::Compare
        | Together::Commute
        | Together::Replace
        | Together::CountUp
        | Together::CountDown => explain_values(case, unit, old)?,
        Together::Nothing => old,
        Together::Wait => {
            explain_waits(case, unit, old)?;
            old
        }
        Together::ArriveSm80 if req.red => {
            let end = lanes_of(unit.lanes).fold(old, |value, _| leaves(op, size, value, 0, 0));
            return leave_object(case, unit, old, end, seen, left);
        }
        Together::Arrive => return explain_arrivals(case, unit, old, seen, left, choices),
        Together::ArriveSm80 => {
            let end = explain_sm80(case, unit, old)?;
            return leave_object(case, unit, old, end, seen, left);
        }
    };
    if seen.is_some_and(|seen| join(seen) != left_value) {
        return Err(wrong(Some(left_value)));
    }
    split(left_value, left);
    Ok(Final::Words)
}

/// Explains lanes that return the old value. Returns the single value that they leave.
fn explain_values(case: &Case<'_>, unit: &LaneGroup, old: u128) -> Result<u128, Rejection> {
    let Case { access, req, resp, .. } = case;
    let (op, size) = (access.op, access.size);
    let mask = value_mask(size);
    let mut edges = Edges::new();
    for lane in lanes_of(unit.lanes) {
        let (got, b, c) = (resp.rd[lane], req.b[lane] & mask, req.c[lane] & mask);
        if Gives::of(op) == Gives::OldAndStored {
            let pred = (resp.pred >> lane & 1) as u8;
            if (got == b) != (pred == 1) {
                let (addr, must) = (access.addr[lane], u8::from(got == b));
                let what = format_args!(
                    "lane {lane} compared {b:#x} with {got:#x} at {addr:#x}, so its predicate must be {must}, got {pred}"
                );
                let wrong = Rejection::new("spec 3", "pred", what).at(1 << lane, addr);
                return Err(wrong.values(pred, u128::from(must)));
            }
        }
        // No lane leaves a value wider than the size, so such a result can be reduced to the size here.
        edges.push(lane, got, leaves(op, size, got & mask, b, c));
    }
    let addr = access.addr[unit.lanes.trailing_zeros() as usize & 31];
    edges.end(old).map_err(|broken| match broken {
        NoTrail::Short { lanes, value, stood: 0 } => Rejection::never_there(lanes, addr, value, old),
        NoTrail::Short { lanes, value, stood } => {
            let (named, held) = (Lanes(lanes), held_value(stood));
            let what =
                format_args!("{named} all got {value:#x} from {addr:#x}, which {held}: one update was lost");
            Rejection::new("spec 4.5", "rd", what).at(lanes, addr).values(value, None)
        }
        NoTrail::Apart { lanes } => closed_circle(lanes, addr, old),
    })
}

fn closed_circle(lanes: u32, addr: u32, before: u128) -> Rejection {
    let what = format_args!(
        "no order of the lanes leads from {before:#x}, the value before the request, to the values of {} at {addr:#x}",
        Lanes(lanes)
    );
    Rejection::new("spec 4.5", "rd", what).at(lanes, addr)
}

/// Rejects a final value that the lanes cannot leave. `expected` is the value that every order leaves, if
/// there is one.
fn wrong_final(lanes: u32, addr: u32, before: u128, expected: Option<u128>, got: u128) -> Rejection {
    let left = match expected {
        Some(value) => format!("but every order of {} leaves {value:#x}", Lanes(lanes)),
        None => format!("which no order of {} leaves", Lanes(lanes)),
    };
    let what = format_args!("{addr:#x} held {before:#x} before the request and {got:#x} after it, {left}");
    Rejection::new("spec 4.5", "memory", what).at(lanes, addr).values(got, expected)
}

/// Explains lanes that return only a flag: 1 if they stored. Returns the single value that they leave.
///
/// Lanes that stored replaced their own Rb, so they form a trail. Every other lane needs one time at which
/// memory held a value other than its Rb. All trails pass through the same values.
fn explain_flags(case: &Case<'_>, unit: &LaneGroup, old: u128) -> Result<u128, Rejection> {
    let Case { access, req, resp, .. } = case;
    let mask = value_mask(access.size);
    let mut edges = Edges::new();
    for lane in lanes_of(unit.lanes & resp.pred) {
        edges.push(lane, req.b[lane] & mask, req.c[lane] & mask);
    }
    let addr = access.addr[unit.lanes.trailing_zeros() as usize & 31];
    let end = edges.end(old).map_err(|broken| match broken {
        NoTrail::Short { lanes, value, stood } => {
            let (named, held) = (Lanes(lanes), held_value(stood));
            let what = format_args!(
                "{named} got predicate 1 for a store that replaces {value:#x} at {addr:#x}, which {held}"
            );
            Rejection::new("spec 4.5", "pred", what).at(lanes, addr).values(1u8, None)
        }
        NoTrail::Apart { lanes } => closed_circle(lanes, addr, old),
    })?;
    if !edges.moves_off(old) {
        let stuck = |&lane: &usize| req.b[lane] & mask == old;
        if let Some(lane) = lanes_of(unit.lanes & !resp.pred).find(stuck) {
            let what = format_args!(
                "lane {lane} reports a failed compare with {old:#x}, but {addr:#x} held {old:#x} all the time"
            );
            return Err(Rejection::new("spec 4.5", "pred", what).at(1 << lane, addr).values(0u8, None));
        }
    }
    Ok(end)
}

/// Explains CAST.SPIN: one lane of the group is selected, all others fail without a store (spec 5).
fn explain_spin(
    case: &Case<'_>,
    unit: &LaneGroup,
    before: &[u32],
    left: &mut [u32],
) -> Result<(), Rejection> {
    let Case { access, req, resp, .. } = case;
    let mask = value_mask(access.size);
    let words_each = words_each(access);
    let held = |lane: usize| join(&before[usize::from(unit.at[lane])..][..words_each]);
    let group = access.key[unit.lanes.trailing_zeros() as usize & 31];
    let winners = unit.lanes & resp.pred;
    if winners.count_ones() > 1 {
        let what = format_args!(
            "{} all report a store in bank group {group}; CAST.SPIN selects only one lane of each bank group",
            Lanes(winners)
        );
        return Err(Rejection::new("spec 5.1", "pred", what).at(winners, None));
    }
    if let Some(selected) = unit.selected {
        let addr = access.addr[selected];
        if let Some(lane) = lanes_of(winners).find(|&lane| lane != selected) {
            let what = format_args!(
                "lane {lane} reports a store in bank group {group}, where lane {selected} at {addr:#x} is selected"
            );
            return Err(Rejection::new("spec 5.4", "pred", what)
                .at(1 << lane, access.addr[lane])
                .values(1u8, 0));
        }
        if winners == 0 && held(selected) == req.b[selected] & mask {
            let what = format_args!(
                "lane {selected} is selected in bank group {group} and its compare matches at {addr:#x}, so it must store"
            );
            return Err(Rejection::new("spec 5.4", "pred", what).at(1 << selected, addr).values(0u8, 1));
        }
    }
    if let Some(lane) = lanes_of(winners).next() {
        let (compare, before, addr) = (req.b[lane] & mask, held(lane), access.addr[lane]);
        if compare != before {
            let what = format_args!(
                "lane {lane} got predicate 1 for a store that replaces {compare:#x} at {addr:#x}, which held {before:#x}"
            );
            return Err(Rejection::new("spec 5.3", "pred", what).at(1 << lane, addr).values(1u8, 0));
        }
        split(req.c[lane] & mask, &mut left[usize::from(unit.at[lane])..][..words_each]);
    } else if lanes_of(unit.lanes).all(|lane| held(lane) == req.b[lane] & mask) {
        let what = format_args!(
            "{} did not store in bank group {group}, but all their compares match, so the selected lane must store",
            Lanes(unit.lanes)
        );
        return Err(Rejection::new("spec 5.3", "pred", what).at(unit.lanes, None).values(0u8, None));
    }
    Ok(())
}

/// Returns the lanes of a CAST.SPIN group that were certainly not selected (spec 5.4). Some selection must
/// explain the answer. `known` is true for words whose value in `before` is certain.
pub(crate) fn passed_over(
    case: &Case<'_>,
    unit: &LaneGroup,
    before: &[u32],
    known: impl Fn(u32) -> bool,
) -> u32 {
    let Case { access, req, resp, .. } = case;
    let winners = unit.lanes & resp.pred;
    if winners != 0 {
        return unit.lanes & !winners;
    }
    let matches = |&lane: &usize| {
        let words = usize::from(unit.at[lane])..usize::from(unit.at[lane]) + words_each(access);
        unit.words[words.clone()].iter().all(|&word| known(word))
            && join(&before[words]) == req.b[lane] & value_mask(access.size)
    };
    lanes_of(unit.lanes).filter(matches).fold(0, |mask, lane| mask | 1 << lane)
}

/// Compares the words seen after a CAST.SPIN with those left, at each address of the group.
fn compare_spin(
    case: &Case<'_>,
    unit: &LaneGroup,
    before: &[u32],
    seen: &[u32],
    left: &[u32],
) -> Result<(), Rejection> {
    if seen == left {
        return Ok(());
    }
    let words_each = words_each(case.access);
    let value = |words: &[u32], lane: usize| join(&words[usize::from(unit.at[lane])..][..words_each]);
    for lane in lanes_of(unit.lanes) {
        if value(seen, lane) != value(left, lane) {
            let there = lanes_of(unit.lanes).filter(|&l| unit.at[l] == unit.at[lane]);
            let there = there.fold(0, |mask, l| mask | 1 << l);
            let (before, got, addr) = (value(before, lane), value(seen, lane), case.access.addr[lane]);
            return Err(wrong_final(there, addr, before, Some(value(left, lane)), got));
        }
    }
    Ok(())
}

fn sorted_limits(case: &Case<'_>, unit: &LaneGroup) -> ([u32; MAX_LANES], usize) {
    let mut limits = [0; MAX_LANES];
    let mut count = 0;
    for lane in lanes_of(unit.lanes) {
        limits[count] = case.req.b[lane] as u32;
        count += 1;
    }
    limits[..count].sort_unstable();
    (limits, count)
}

/// True if some order leaves `end`, for operations without results that depend on the order.
fn may_leave(case: &Case<'_>, unit: &LaneGroup, how: Together, old: u128, end: u128) -> bool {
    let Case { access, req, .. } = case;
    let (op, size, mask) = (access.op, access.size, value_mask(access.size));
    if how == Together::Replace {
        return lanes_of(unit.lanes).any(|lane| req.b[lane] & mask == end);
    }
    // Try the order that hardware most likely used.
    if lanes_of(unit.lanes).fold(old, |value, lane| leaves(op, size, value, req.b[lane] & mask, 0)) == end {
        return true;
    }
    let (limits, count) = sorted_limits(case, unit);
    let reaches = if how == Together::CountUp { counting::inc_reaches } else { counting::dec_reaches };
    reaches(old as u32, &limits[..count], end as u32)
}

/// Lists all values that orders leave, for operations without results that depend on the order.
fn list_ends(case: &Case<'_>, unit: &LaneGroup, how: Together, old: u128, ends: &mut Vec<u128>) {
    if how == Together::Replace {
        let mask = value_mask(case.access.size);
        ends.extend(lanes_of(unit.lanes).map(|lane| case.req.b[lane] & mask));
        ends.sort_unstable();
        ends.dedup();
        return;
    }
    let (limits, count) = sorted_limits(case, unit);
    let of_limits = if how == Together::CountUp { counting::inc_ends } else { counting::dec_ends };
    ends.extend(of_limits(old as u32, &limits[..count]));
}
