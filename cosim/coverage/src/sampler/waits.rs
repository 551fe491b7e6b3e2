//! Samples waiters: places, wake-ups and timeouts.

use std::cmp::Ordering;

use atoms_model::Config;
use atoms_model::lanes::lanes as places;
use atoms_monitor::{BankPorts, Cycle, WaiterPlaces};

use super::hits::Hits;
use crate::groups::values::{Few, Port};
use crate::groups::waits::{
    Filled, LimitCycles, LimitOf, LimitRace, LimitRacePlace, Order, Place, Race, Suspends, Taken, TimeOut,
    WaitLimit, WakeOrder, WakePort, When, Woken, WokenBy,
};

/// A request that is or was suspended in MBAR.TRY_WAIT.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiter {
    pub(super) slot: u8,
    pub(super) bank: usize,
    pub(super) row: u16,
    pub(super) limit: u32,
    pub(super) limit_of: LimitOf,
    pub(super) since: u64,
}

/// Copy of the waiter table, updated from the probe.
#[derive(Clone, Debug, Default)]
pub(super) struct Waits {
    table: [Option<Waiter>; 32],
    entering: Option<Waiter>,
    before: WaiterPlaces,
    /// Mask of the places of the waiter table that a completion woke in the previous cycle.
    woken: u32,
    /// Mask of the places of the waiter table that timed out in the previous cycle.
    expired: u32,
    last_answered: usize,
}

impl Waits {
    /// Records a request that is suspended at the next clock edge.
    pub(super) fn enter(&mut self, waiter: Waiter) {
        self.entering = Some(waiter);
    }

    /// Samples changes of the table since the previous cycle. Returns the slot of the request whose wake-up
    /// appears.
    pub(super) fn settle(&mut self, config: &Config, hits: &mut Hits, cycle: &Cycle<'_>) -> Option<u8> {
        let now = cycle.waiters();
        let before = std::mem::replace(&mut self.before, now);
        let fell = now.suspended & !before.suspended;
        if let (Some(waiter), Some(place)) = (self.entering.take(), places(fell).next()) {
            self.table[place] = Some(waiter);
            // A waiter woken in the same cycle still occupied its place when the unit selected a place for
            // the new waiter.
            let taken = before.suspended | before.ready | fell;
            let filled = match taken.count_ones() {
                all if all >= config.num_waiters => Filled::Full,
                1 => Filled::Alone,
                _ => Filled::Some,
            };
            hits.hit(Suspends, (Place(place as u8), filled));
            hits.hit(WaitLimit, (waiter.limit_of, LimitCycles::new(waiter.limit)));
        }
        self.expired = before.suspended & !now.suspended & !std::mem::take(&mut self.woken);
        for (_, waiter) in self.waiters(self.expired) {
            let cycles = LimitCycles::new(waiter.limit);
            if cycles != LimitCycles::Longer {
                hits.hit(TimeOut, (waiter.limit_of, cycles));
            }
        }
        let wake_up = cycle.wake_up.as_ref().filter(|wake_up| wake_up.appears.is_some())?;
        let place = places(before.ready & !now.ready).next()?;
        let taken = if wake_up.taken { Taken::AtOnce } else { Taken::Held };
        hits.hit(WakePort, (taken, Few::new(now.ready.count_ones())));
        let order = match place.cmp(&self.last_answered) {
            Ordering::Greater => Order::Ahead,
            Ordering::Less => Order::Round,
            Ordering::Equal => Order::Same,
        };
        hits.hit(WakeOrder, (order,));
        self.last_answered = place;
        self.table[place].map(|waiter| waiter.slot)
    }

    fn waiters(&self, set: u32) -> impl Iterator<Item = (usize, &Waiter)> {
        places(set).filter_map(|place| Some((place, self.table[place].as_ref()?)))
    }

    /// Samples the completions of this cycle, caused by a request of `port`.
    #[inline(never)] // rare
    pub(super) fn complete(&mut self, hits: &mut Hits, port: Port, cycle: u64, banks: &BankPorts<'_>) {
        let at_completed = |(_, waiter): &(usize, &Waiter)| {
            banks.completed >> waiter.bank & 1 != 0 && banks.rows[waiter.bank] == waiter.row
        };
        let woken: Vec<_> = self.waiters(self.before.suspended).filter(at_completed).collect();
        let object = |at: usize| (woken[at].1.bank, woken[at].1.row);
        let waiters = match woken.len() {
            1 => Woken::Alone,
            _ if (1..woken.len()).any(|at| object(at) != object(0)) => Woken::Objects,
            _ => Woken::Several,
        };
        for (place, waiter) in &woken {
            let slept = cycle.saturating_sub(waiter.since);
            let when = if slept == 1 { When::First } else { When::Later };
            hits.hit(WokenBy, (port, when, waiters));
            let race = match u64::from(waiter.limit).wrapping_sub(slept) {
                0 => Race::Same,
                1 => Race::Before,
                _ => continue,
            };
            hits.hit(LimitRace, (waiter.limit_of, port, race));
            hits.hit(LimitRacePlace, (Place(*place as u8), race));
        }
        for (place, waiter) in self.waiters(self.expired).filter(at_completed) {
            hits.hit(LimitRace, (waiter.limit_of, port, Race::After));
            hits.hit(LimitRacePlace, (Place(place as u8), Race::After));
        }
        self.woken = woken.iter().fold(0, |set, (place, _)| set | 1 << place);
    }
}
