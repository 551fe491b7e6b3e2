//! The order in which the lanes at one word go (spec 4.2).
//!
//! All of them are in one bank group, and wherever two go one after the other it is the order of that group. So the
//! groups need not be known: the lanes of a word go as they would if they were alone.

use atoms_ops::Op;

use crate::kernel::Together;

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
    /// Upwards, all in one step: merged arrivals (spec 6.11).
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
        // The lowest lane's store stays whichever goes first (spec 3.5), and CAST.SPIN is judged by 5.4.
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
}
