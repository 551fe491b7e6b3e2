//! Explains the observation of one mbarrier object in one request.
//!
//! `explain/mod.rs` calls this module for the operations of spec 6. Arrivals at objects of sm_80 return the
//! whole object before them, and form an Eulerian trail of objects. All other arrivals need the search in
//! `mbarrier/arrivals.rs`.

use atoms_ops::Op;

use crate::explain::case::{Case, Final, LaneGroup, join, split};
use crate::explain::trail::{Edges, NoTrail};
use crate::kernel::{Gives, leaves, value_mask};
use crate::lanes::{Lanes, lanes_of};
use crate::mbarrier::arrivals::{self, Arrivals, End, NoOrder};
use crate::mbarrier::{self, Fields, LaneStep, ObjectLayout, ObjectWord, wrong_with};
use crate::rejection::{Rejection, times};

/// Checks the waits of some lanes: each predicate must match the phase of the object (spec 6.5).
pub(crate) fn explain_waits(case: &Case<'_>, unit: &LaneGroup, old: u128) -> Result<(), Rejection> {
    let Case { access, req, resp, .. } = case;
    let object = ObjectWord { word: old as u64, layout: ObjectLayout::Sm90 };
    for lane in lanes_of(unit.lanes) {
        let (pred, parity) = ((resp.pred >> lane & 1) as u8, mbarrier::parity_asked(req.b[lane]));
        if (pred == 1) != mbarrier::is_complete(object.word, parity) {
            let addr = access.addr[lane];
            let what = format_args!(
                "lane {lane} tested the phase of parity {parity} of the object at {addr:#x} and got predicate \
                 {pred}, but the object was {object}"
            );
            let must = u128::from(pred == 0);
            return Err(Rejection::new("spec 6.5", "pred", what).at(1 << lane, addr).values(pred, must));
        }
    }
    Ok(())
}

/// Explains lanes that arrive at an object of sm_80, which return the object before them. Returns the single
/// object that they leave.
pub(crate) fn explain_sm80(case: &Case<'_>, unit: &LaneGroup, old: u128) -> Result<u128, Rejection> {
    let Case { access, req, resp, .. } = case;
    let (op, size) = (access.op, access.size);
    let addr = access.addr[unit.lanes.trailing_zeros() as usize & 31];
    let object = |value: u128| ObjectWord { word: value as u64, layout: ObjectLayout::of(op) };
    let before = object(old);
    let mut edges = Edges::new();
    for lane in lanes_of(unit.lanes) {
        let got = resp.rd[lane];
        if got > value_mask(size) {
            return Err(Rejection::never_there(1 << lane, addr, got, old));
        }
        edges.push(lane, got, leaves(op, size, got, req.b[lane], 0));
    }
    edges.end(old).map_err(|broken| match broken {
        NoTrail::Short { lanes, value, stood: 0 } => {
            let (named, got) = (Lanes(lanes), object(value));
            let what = format_args!(
                "{named} got the state {got} from {addr:#x}, but the object there never had this state: it was \
                 {before} before the request, and no lane left this state"
            );
            Rejection::new("spec 6.6", "rd", what).at(lanes, addr).values(value, None)
        }
        NoTrail::Short { lanes, value, stood } => {
            let (named, got, stood) = (Lanes(lanes), object(value), times(stood));
            let what = format_args!(
                "{named} all got the state {got} from {addr:#x}, but the object there had this state only {stood}: \
                 an arrival was lost"
            );
            Rejection::new("spec 6.3", "rd", what).at(lanes, addr).values(value, None)
        }
        NoTrail::Apart { lanes } => {
            let what = format_args!(
                "no order of the lanes leads from {before}, the object before the request, to the states that {} got \
                 from {addr:#x}",
                Lanes(lanes)
            );
            Rejection::new("spec 4.5", "rd", what).at(lanes, addr)
        }
    })
}

/// Writes `end`, the mbarrier object that every order of the lanes leaves, to `left`. First checks that
/// `seen` is equal to `end`.
pub(crate) fn leave_object(
    case: &Case<'_>,
    unit: &LaneGroup,
    old: u128,
    end: u128,
    seen: Option<&[u32]>,
    left: &mut [u32],
) -> Result<Final, Rejection> {
    if let Some(got) = seen.map(join).filter(|&got| got != end) {
        return Err(wrong_object(case, unit, old, got, Some(end)));
    }
    split(end, left);
    Ok(Final::Words)
}

#[cold]
fn wrong_object(
    case: &Case<'_>,
    unit: &LaneGroup,
    old: u128,
    got: u128,
    expected: Option<u128>,
) -> Rejection {
    let op = case.access.op;
    let object = |value: u128| ObjectWord { word: value as u64, layout: ObjectLayout::of(op) };
    let (before, left, only) = (object(old), object(got), expected.map(object));
    let sum = if op == Op::MbarArriveSm80 {
        let mut sum = before.fields();
        sum.pending = sum.pending.wrapping_sub(unit.lanes.count_ones());
        sum
    } else {
        arrivals_of(case, unit).sum(before.fields())
    };
    let (clause, wrong) = wrong_with(before, left, sum, only);
    let instead =
        only.map_or(String::new(), |object| format!(", but every order of the lanes leaves {object}"));
    let (lanes, addr) = (Lanes(unit.lanes), case.access.addr[unit.lanes.trailing_zeros() as usize & 31]);
    let what = format_args!("{op} of {lanes} found {addr:#x} at {before} and left {left}{instead}: {wrong}");
    Rejection::new(clause, "object", what).at(unit.lanes, addr).values(got, expected)
}

fn arrivals_of(case: &Case<'_>, unit: &LaneGroup) -> Arrivals {
    let mut arrivals = Arrivals::new();
    for lane in lanes_of(unit.lanes) {
        if let Some(step) = LaneStep::of(case.access.op, case.req.b[lane] as u32) {
            arrivals.push(step);
        }
    }
    arrivals
}

/// Steps as in [`arrivals_of`], for lanes that return which lanes arrived together and what they found (spec
/// 6.8).
fn arrivals_together(case: &Case<'_>, unit: &LaneGroup) -> Result<Arrivals, Rejection> {
    let Case { access, req, resp, .. } = case;
    let mut arrivals = Arrivals::new();
    for lane in lanes_of(unit.lanes) {
        let got = resp.rd[lane];
        let (low, high) = (got as u32, (got >> 32) as u32);
        let agree = lanes_of(low & unit.lanes).all(|other| resp.rd[other] == got);
        if got >> 64 != 0 || low >> lane & 1 == 0 || low & !unit.lanes != 0 || !agree {
            let addr = access.addr[lane];
            let what = format_args!(
                "lane {lane} got {got:#x} from {addr:#x}: the low word must be the mask of the lanes that arrived \
                 together, this lane included, and all of these lanes must get the same value"
            );
            return Err(Rejection::new("spec 6.8", "rd", what).at(1 << lane, addr).values(got, None));
        }
        let together = lanes_of(unit.lanes)
            .enumerate()
            .fold(0, |mask, (place, other)| mask | (low >> other & 1) << place);
        if let Some(step) = LaneStep::of(access.op, req.b[lane] as u32) {
            arrivals.push_together(step, together, high);
        }
    }
    Ok(arrivals)
}

/// Steps of the lanes of a group, each with its returned state (spec 6.6).
fn arrivals_with_states(case: &Case<'_>, unit: &LaneGroup) -> Result<Arrivals, Rejection> {
    let Case { access, req, resp, .. } = case;
    let mut arrivals = Arrivals::new();
    for lane in lanes_of(unit.lanes) {
        let got = resp.rd[lane];
        if got >> 64 != 0 || got as u32 != 0 {
            let addr = access.addr[lane];
            let what = format_args!(
                "lane {lane} got {got:#x} from {addr:#x}: the low word of a returned state must be 0"
            );
            return Err(Rejection::new("spec 6.6", "rd", what).at(1 << lane, addr).values(got, None));
        }
        if let Some(step) = LaneStep::of(access.op, req.b[lane] as u32) {
            arrivals.push_state(step, (got >> 32) as u32);
        }
    }
    Ok(arrivals)
}

/// Explains lanes that subtract counts from an mbarrier object (sm_90 and later).
pub(crate) fn explain_arrivals(
    case: &Case<'_>,
    unit: &LaneGroup,
    old: u128,
    seen: Option<&[u32]>,
    left: &mut [u32],
    choices: &mut Vec<u128>,
) -> Result<Final, Rejection> {
    let Case { access, req, resp, .. } = case;
    let arrivals = match Gives::of(access.op) {
        Gives::Merged if !req.red => arrivals_together(case, unit)?,
        Gives::State if !req.red => arrivals_with_states(case, unit)?,
        _ => arrivals_of(case, unit),
    };
    let before = ObjectWord { word: old as u64, layout: ObjectLayout::Sm90 };
    let start = before.fields();
    let addr = access.addr[unit.lanes.trailing_zeros() as usize & 31];
    let stuck = |places: u32| {
        let lanes = lanes_of(unit.lanes)
            .enumerate()
            .filter(|(place, _)| places >> place & 1 == 1)
            .fold(0_u32, |mask, (_, lane)| mask | 1 << lane);
        let high = (resp.rd[lanes.trailing_zeros() as usize & 31] >> 32) as u32;
        let word = u64::from(high) << 32 | before.word & 0xffff_ffff;
        let got = ObjectWord { word, layout: before.layout };
        let what = format_args!(
            "{} got the high word {high:#x} of the object at {addr:#x} ({got}), but no order of the lanes leads there \
             from {before}, the object before the request",
            Lanes(lanes)
        );
        Rejection::new("spec 6.6", "rd", what).at(lanes, addr).values(u64::from(high) << 32, None)
    };
    let too_many = || {
        Rejection::undecided(format_args!(
            "{} at {addr:#x} pass through more than {} states of the object; use fewer different counts",
            Lanes(unit.lanes),
            arrivals::MAX_STATES
        ))
    };
    let sum = arrivals.sum(start);

    let Some(seen) = seen else {
        let ends = arrivals.ends(start).map_err(|no_order| match no_order {
            NoOrder::Stuck(places) => stuck(places),
            NoOrder::TooMany => too_many(),
        })?;
        let word = |&(pending, phase): &End| u128::from(Fields { pending, phase, ..sum }.word());
        if let [end] = ends.as_slice() {
            split(word(end), left);
            return Ok(Final::Words);
        }
        choices.clear();
        choices.extend(ends.iter().map(word));
        return Ok(Final::OneOf);
    };
    let got = join(seen);
    let goal = Fields::of(got as u64);
    let wrong = || {
        let one = arrivals.order_is_nothing(&start).then(|| arrivals.ascending(start).word().into());
        wrong_object(case, unit, old, got, one)
    };
    if (Fields { pending: goal.pending, phase: goal.phase, ..sum }) != goal {
        return Err(wrong());
    }
    arrivals.reaches(start, (goal.pending, goal.phase)).map_err(|no_order| match no_order {
        NoOrder::Stuck(0) => wrong(),
        NoOrder::Stuck(places) => stuck(places),
        NoOrder::TooMany => too_many(),
    })?;
    left.copy_from_slice(seen);
    Ok(Final::Words)
}
