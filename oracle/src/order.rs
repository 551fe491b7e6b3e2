//! Order of the lanes at one word (spec 4.2).
//!
//! All lanes at one word are in one bank group, so they run in the order of that group. Other lanes of the
//! group do not change the order between them. The groups therefore need not be known.

use atoms_ops::Op;

use crate::kernel::Together;

/// Winner policy: the order in which the lanes of a bank's group win (spec 4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoesFirst {
    /// Lowest waiting lane first.
    Lowest,
    /// Highest waiting lane first.
    Highest,
    /// First waiting lane from a start lane, which advances by one with each request.
    Rotating,
}

/// Order of any two lanes of one request that access the same word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Ascending from this lane, with wrap-around.
    UpFrom(u32),
    /// Descending from the highest lane.
    Down,
    /// Ascending, all lanes in one step: merged arrivals (spec 6.11).
    Merged,
}

impl GoesFirst {
    /// Order of a request. `start` is the start of the rotation; without it a rotating policy returns `None`.
    pub(crate) fn order(self, start: Option<u32>) -> Option<Order> {
        match self {
            GoesFirst::Lowest => Some(Order::UpFrom(0)),
            GoesFirst::Highest => Some(Order::Down),
            GoesFirst::Rotating => start.map(Order::UpFrom),
        }
    }
}

/// True if results or memory depend on the order of lanes at one word.
pub(crate) fn matters(op: Op) -> bool {
    match Together::of(op) {
        Together::Commute | Together::Replace | Together::CountUp | Together::CountDown => true,
        Together::Compare | Together::Arrive | Together::ArriveSm80 => true,
        // The lowest lane's store stays in every order (spec 3.5). CAST.SPIN is judged by spec 5.4.
        Together::Load | Together::Store | Together::Count | Together::Select => false,
        Together::Nothing | Together::Wait => false,
    }
}

impl Order {
    /// The lanes of a mask, in this order.
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
