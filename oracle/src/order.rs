//! The order in which the lanes at one word go (spec 4.2).
//!
//! All of them are in one bank group, and wherever two go one after the other it is the order of that group. So the
//! groups need not be known: the lanes of a word go as they would if they were alone.

use atoms_ops::Op;

use crate::case::{Case, Unit, join, split};
use crate::kernel::{Gives, Together, leaves, value_mask};
use crate::lanes::Lanes;
use crate::rejection::Rejection;

/// Which lane of a bank's group goes first (spec 4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoesFirst {
    /// The lowest that waits.
    Lowest,
    /// The highest that waits.
    Highest,
    /// The next one from a start lane on, which moves up with each request.
    Rotating,
}

/// The order in which the lanes of one request go, wherever two name the same word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Upwards from this lane and around.
    UpFrom(u32),
    /// Downwards.
    Down,
    /// Upwards, as if one after the other: merged arrivals (spec 6.11).
    Merged,
}

impl GoesFirst {
    /// The order of a request: under rotation that from the lane `start`, if it is known.
    pub(crate) fn order(self, start: Option<u32>) -> Option<Order> {
        match self {
            GoesFirst::Lowest => Some(Order::UpFrom(0)),
            GoesFirst::Highest => Some(Order::Down),
            GoesFirst::Rotating => start.map(Order::UpFrom),
        }
    }
}

/// Whether results or memory depend on the order of lanes at one word.
pub(crate) fn matters(op: Op) -> bool {
    match Together::of(op) {
        Together::Commute | Together::Replace | Together::CountUp | Together::CountDown => true,
        Together::Compare | Together::Arrive | Together::ArriveSm80 => true,
        // The highest lane's store stays whichever goes first (spec 3.5), and CAST.SPIN is judged by 5.4.
        Together::Load | Together::Store | Together::Count | Together::Select => false,
        Together::Nothing | Together::Wait => false,
    }
}

impl Order {
    /// These lanes in the order.
    pub(crate) fn of_lanes(self, lanes: u32) -> impl Iterator<Item = usize> {
        let mut rest = lanes;
        std::iter::from_fn(move || {
            (rest != 0).then(|| {
                let lane = match self {
                    Order::UpFrom(start) if rest >> start != 0 => start + (rest >> start).trailing_zeros(),
                    Order::UpFrom(_) | Order::Merged => rest.trailing_zeros(),
                    Order::Down => rest.ilog2(),
                };
                rest &= !(1 << lane);
                lane as usize
            })
        })
    }

    /// Holds what was seen of a word against this order of its lanes, and gives what they leave there.
    pub(crate) fn follow(
        self,
        case: &Case<'_>,
        unit: &Unit,
        before: &[u32],
        seen: Option<&[u32]>,
        left: &mut [u32],
    ) -> Result<(), Rejection> {
        let Case { access, req, resp, .. } = case;
        let (op, size, gives) = (access.op, access.size, Gives::of(access.op));
        let (old, mask) = (join(before), value_mask(size));
        let mut value = old;
        for lane in self.of_lanes(unit.lanes) {
            let (b, c, addr) = (req.b[lane] & mask, req.c[lane] & mask, access.addr[lane]);
            let rd = match gives {
                Gives::Old | Gives::OldAndStored if !req.red => Some(value),
                // Each arrives in a step of its own (spec 6.6).
                Gives::Merged if !req.red => Some(value >> 32 << 32 | 1 << lane),
                _ => None,
            };
            if let Some(rd) = rd.filter(|&rd| rd != resp.rd[lane]) {
                let got = resp.rd[lane];
                return Err(
                    self.broken(unit, format!("lane {lane} got {got:#x} from {addr:#x}, expected {rd:#x}"))
                );
            }
            let (stores, pred) = (value == b, resp.pred >> lane & 1);
            if matches!(gives, Gives::Stored | Gives::OldAndStored) && u32::from(stores) != pred {
                let stored = if stores { "should have stored" } else { "should not have stored" };
                return Err(
                    self.broken(unit, format!("lane {lane} got predicate {pred} at {addr:#x}, but {stored}"))
                );
            }
            value = leaves(op, size, value, b, c);
        }
        if let Some(got) = seen.map(join).filter(|&got| got != value) {
            let addr = access.addr[unit.lanes.trailing_zeros() as usize & 31];
            let held = format!(
                "{addr:#x} held {old:#x} before the request and {got:#x} after it, expected {value:#x}"
            );
            return Err(self.broken(unit, held));
        }
        split(value, left);
        Ok(())
    }

    #[cold]
    fn broken(self, unit: &Unit, what: String) -> Rejection {
        let (clause, way) = match self {
            Order::UpFrom(0) => ("spec 4.2", "the others upwards"),
            Order::UpFrom(_) => ("spec 4.2", "the others upwards and around"),
            Order::Down => ("spec 4.2", "the others downwards"),
            Order::Merged => ("spec 6.11", "the others upwards"),
        };
        let (lanes, first) = (Lanes(unit.lanes), self.of_lanes(unit.lanes).next().unwrap_or(0));
        let what = format_args!("{what}: of {lanes}, lane {first} goes first and {way}");
        Rejection::new(clause, "order", what)
    }
}
