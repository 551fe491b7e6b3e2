//! Explains the lanes at one word whose order is known (spec 4.2): results and final value must be those of
//! the order.

use crate::explain::case::{Case, LaneGroup, join, split};
use crate::kernel::{Gives, leaves, value_mask};
use crate::lanes::Lanes;
use crate::order::Order;
use crate::rejection::Rejection;

/// Checks the observation of a word against the order of its lanes. Writes the value that the lanes leave to
/// `left`.
pub(crate) fn follow(
    order: Order,
    case: &Case<'_>,
    unit: &LaneGroup,
    before: &[u32],
    seen: Option<&[u32]>,
    left: &mut [u32],
) -> Result<(), Rejection> {
    let Case { access, req, resp, .. } = case;
    let (op, size, gives) = (access.op, access.size, Gives::of(access.op));
    let (old, mask) = (join(before), value_mask(size));
    let mut value = old;
    for lane in order.of_lanes(unit.lanes) {
        let (b, c, addr) = (req.b[lane] & mask, req.c[lane] & mask, access.addr[lane]);
        let rd = match gives {
            Gives::Old | Gives::OldAndStored if !req.red => Some(value),
            // Each lane arrives in a step of its own, or all lanes in one step (spec 6.6, 6.11).
            Gives::State if !req.red && order == Order::Merged => Some(old >> 32 << 32),
            Gives::State if !req.red => Some(value >> 32 << 32),
            Gives::Merged if !req.red => Some(value >> 32 << 32 | 1 << lane),
            _ => None,
        };
        if let Some(rd) = rd.filter(|&rd| rd != resp.rd[lane]) {
            let got = resp.rd[lane];
            let what = format!("lane {lane} got {got:#x} from {addr:#x}, expected {rd:#x}");
            return Err(broken(order, unit, what).at(1 << lane, addr).values(got, rd));
        }
        let (stores, pred) = (value == b, resp.pred >> lane & 1);
        if matches!(gives, Gives::Stored | Gives::OldAndStored) && u32::from(stores) != pred {
            let stored = if stores { "should have stored" } else { "should not have stored" };
            let what = format!("lane {lane} got predicate {pred} at {addr:#x}, but {stored}");
            return Err(broken(order, unit, what).at(1 << lane, addr).values(pred, u128::from(stores)));
        }
        value = leaves(op, size, value, b, c);
    }
    if let Some(got) = seen.map(join).filter(|&got| got != value) {
        let addr = access.addr[unit.lanes.trailing_zeros() as usize & 31];
        let held =
            format!("{addr:#x} held {old:#x} before the request and {got:#x} after it, expected {value:#x}");
        return Err(broken(order, unit, held).at(unit.lanes, addr).values(got, value));
    }
    split(value, left);
    Ok(())
}

#[cold]
fn broken(order: Order, unit: &LaneGroup, what: String) -> Rejection {
    let (clause, way) = match order {
        Order::UpFrom(0) => ("spec 4.2", "the others in ascending order"),
        Order::UpFrom(_) => ("spec 4.2", "the others in ascending order, then from lane 0"),
        Order::Down => ("spec 4.2", "the others in descending order"),
        Order::Merged => {
            let what = format_args!("{what}: {} arrive in one step", Lanes(unit.lanes));
            return Rejection::new("spec 6.11", "order", what);
        }
    };
    let (lanes, first) = (Lanes(unit.lanes), order.of_lanes(unit.lanes).next().unwrap_or(0));
    let what = format_args!("{what}: of {lanes}, lane {first} goes first and {way}");
    Rejection::new(clause, "order", what)
}
