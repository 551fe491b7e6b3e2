//! Waiters: their places, what wakes them, and when.

use atoms_model::Config;

use super::hits::Hits;
use super::in_flight::bits;
use super::sample::{CycleSample, WAKE, WAKE_HELD};
use crate::groups::values::{Few, Port};
use crate::groups::waits::{
    Filled, LimitCycles, LimitOf, LimitRace, LimitRacePlace, Order, Place, Race, Suspends, Taken, TimeOut,
    WaitLimit, WakeOrder, WakePort, When, Woken, WokenBy,
};

/// A request that is suspended or was.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiter {
    pub(super) slot: u8,
    pub(super) bank: u8,
    pub(super) row: u16,
    pub(super) limit: u32,
    pub(super) limit_of: LimitOf,
    /// Cycle in which it was suspended.
    pub(super) since: u64,
}

/// The table of waiters, as the probe shows it.
#[derive(Clone, Debug)]
pub(super) struct Waits {
    places: [Option<Waiter>; 32],
    entering: Option<Waiter>,
    // As in the cycle before.
    suspended: u32,
    ready: u32,
    /// Woken by a completion of the cycle before.
    woken: u32,
    /// Out of time in the cycle before.
    expired: u32,
    offered: bool,
    last: u32,
}

impl Waits {
    pub(super) fn new() -> Self {
        Waits {
            places: [None; 32],
            entering: None,
            suspended: 0,
            ready: 0,
            woken: 0,
            expired: 0,
            offered: false,
            last: 0,
        }
    }

    /// A request is suspended at the coming clock edge.
    pub(super) fn enter(&mut self, waiter: Waiter) {
        self.entering = Some(waiter);
    }

    /// Nothing is suspended, and nothing was in the cycle before.
    #[inline(always)]
    pub(super) fn quiet(&self, m: &CycleSample) -> bool {
        self.suspended | self.ready | self.expired | m.waiters.suspended | m.waiters.ready == 0
            && !self.offered
            && m.answers & WAKE_HELD == 0
    }

    /// What the clock edge before this cycle did. Gives the slot of a request that left.
    #[inline(never)] // seldom
    pub(super) fn settle(&mut self, config: &Config, hits: &mut Hits, m: &CycleSample) -> Option<u8> {
        let (suspended, ready) = (m.waiters.suspended, m.waiters.ready);
        let fell = suspended & !self.suspended;
        if let (Some(waiter), true) = (self.entering.take(), fell != 0) {
            let place = fell.trailing_zeros();
            self.places[place as usize & 31] = Some(waiter);
            // A waiter that was woken in the same cycle kept its place from the new one.
            let taken = self.suspended | self.ready | fell;
            let table = match taken.count_ones() {
                all if all >= config.num_waiters => Filled::Full,
                1 => Filled::Alone,
                _ => Filled::Some,
            };
            hits.hit(Suspends, (Place(place as u8), table));
            hits.hit(WaitLimit, (waiter.limit_of, LimitCycles::new(waiter.limit)));
        }
        let expired = self.suspended & !suspended & !self.woken;
        bits(expired.into(), |place| {
            if let Some(waiter) = &self.places[place & 31] {
                let cycles = LimitCycles::new(waiter.limit);
                if cycles != LimitCycles::Longer {
                    hits.hit(TimeOut, (waiter.limit_of, cycles));
                }
            }
        });
        let mut left = None;
        if m.answers & WAKE_HELD != 0 && !self.offered {
            let gone = self.ready & !ready;
            if gone != 0 {
                let place = gone.trailing_zeros();
                let taken = if m.answers & WAKE == WAKE { Taken::AtOnce } else { Taken::Held };
                hits.hit(WakePort, (taken, Few::new(ready.count_ones())));
                let order = match place.cmp(&self.last) {
                    std::cmp::Ordering::Greater => Order::Ahead,
                    std::cmp::Ordering::Less => Order::Round,
                    std::cmp::Ordering::Equal => Order::Same,
                };
                hits.hit(WakeOrder, (order,));
                self.last = place;
                left = self.places[place as usize & 31].map(|waiter| waiter.slot);
            }
        }
        self.offered = m.answers & WAKE == WAKE_HELD;
        self.expired = expired;
        self.suspended = suspended;
        self.ready = ready;
        self.woken = 0;
        left
    }

    /// Completions of this cycle, brought by a request of `port`.
    pub(super) fn complete(&mut self, hits: &mut Hits, port: Port, cycle: u64, m: &CycleSample) {
        let at = |waiter: &Waiter| {
            m.completed >> (waiter.bank & 63) & 1 != 0 && m.rows[usize::from(waiter.bank) & 63] == waiter.row
        };
        let mut first: Option<(u8, u16)> = None;
        let mut several_objects = false;
        bits(m.waiters.suspended.into(), |place| {
            if let Some(waiter) = self.places[place & 31].as_ref().filter(|waiter| at(waiter)) {
                let object = (waiter.bank, waiter.row);
                several_objects |= first.is_some_and(|first| first != object);
                first.get_or_insert(object);
                self.woken |= 1 << (place & 31);
            }
        });
        let waiters = match self.woken.count_ones() {
            1 => Woken::Alone,
            _ if several_objects => Woken::Objects,
            _ => Woken::Several,
        };
        bits(self.woken.into(), |place| {
            if let Some(waiter) = &self.places[place & 31] {
                let slept = cycle.saturating_sub(waiter.since);
                let when = if slept == 1 { When::First } else { When::Later };
                hits.hit(WokenBy, (port, when, waiters));
                let limit = u64::from(waiter.limit);
                if limit.wrapping_sub(slept) < 2 {
                    let race = if slept == limit { Race::Same } else { Race::Before };
                    hits.hit(LimitRace, (waiter.limit_of, port, race));
                    hits.hit(LimitRacePlace, (Place(place as u8), race));
                }
            }
        });
        bits(self.expired.into(), |place| {
            if let Some(waiter) = self.places[place & 31].as_ref().filter(|waiter| at(waiter)) {
                hits.hit(LimitRace, (waiter.limit_of, port, Race::After));
                hits.hit(LimitRacePlace, (Place(place as u8), Race::After));
            }
        });
    }
}
