//! Requests that sleep in MBAR.TRY_WAIT until their phase is complete or their limit has passed.
//! Mirror of `rtl/atoms_waiters.sv`.

use crate::config::Config;
use crate::port::{In, Out};

/// A request that goes to sleep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sleeper {
    /// Given back with the wake-up.
    pub tag: u8,
    /// CTA slot.
    pub slot: u8,
    /// Lanes that take part.
    pub mask: u32,
    /// First bank of the object.
    pub bank: u8,
    /// Row of the object.
    pub row: u16,
    /// Cycles until it is answered all the same.
    pub limit: u32,
}

/// Registers of the table.
#[derive(Clone, Debug)]
pub struct Waiters {
    places: Vec<Sleeper>,
    /// Places whose request sleeps.
    asleep: u32,
    /// Places whose request is woken, and those out of time; not yet answered.
    woken: u32,
    expired: u32,
    /// Place answered last.
    last: u32,
}

impl Waiters {
    /// Nobody sleeps.
    pub fn new(config: &Config) -> Self {
        Waiters {
            places: vec![Sleeper::default(); config.num_waiters as usize],
            asleep: 0,
            woken: 0,
            expired: 0,
            last: 0,
        }
    }

    /// A request can go to sleep.
    pub fn free(&self) -> bool {
        let taken = self.asleep | self.woken | self.expired;
        (taken.count_ones() as usize) < self.places.len()
    }

    fn vacant(&self) -> Option<usize> {
        let taken = self.asleep | self.woken | self.expired;
        (0..self.places.len()).find(|place| taken >> place & 1 == 0)
    }

    /// Somebody sleeps at the object with this first bank and row.
    pub fn sleeps_at(&self, bank: u8, row: u16) -> bool {
        let here =
            |(place, s): (usize, &Sleeper)| self.asleep >> place & 1 != 0 && (s.bank, s.row) == (bank, row);
        self.places.iter().enumerate().any(here)
    }

    /// Places whose request sleeps.
    pub fn asleep(&self) -> u32 {
        self.asleep
    }

    /// Places whose request waits for the wake-up port.
    pub fn ready(&self) -> u32 {
        self.woken | self.expired
    }

    /// Clock edge: puts `enter` to sleep, and wakes those whose object, by first bank and row, is
    /// `completed`. Gives the slot of the request whose wake-up goes to the port.
    pub fn tick(
        &mut self,
        enter: Option<Sleeper>,
        completed: impl Fn(u8, u16) -> bool,
        out: &mut Out,
        i: &In,
    ) -> Option<u8> {
        if i.wake_ready == 1 {
            out.wake_valid = 0;
        }
        if self.asleep | self.ready() == 0 && enter.is_none() {
            return None;
        }
        let vacant = self.vacant();
        let mut leave = None;
        if out.wake_valid == 0 && self.ready() != 0 {
            let place = self.next();
            let sleeper = &self.places[place];
            out.wake_valid = 1;
            out.wake_tag = sleeper.tag;
            out.wake_pred = if self.woken >> place & 1 != 0 { sleeper.mask } else { 0 };
            leave = Some(sleeper.slot);
            self.woken &= !(1 << place);
            self.expired &= !(1 << place);
            self.last = place as u32;
        }
        let mut asleep = self.asleep;
        while asleep != 0 {
            let place = asleep.trailing_zeros() as usize;
            asleep &= asleep - 1;
            let sleeper = &mut self.places[place];
            sleeper.limit -= 1;
            // Completion and limit in one cycle: completion counts.
            if completed(sleeper.bank, sleeper.row) {
                self.woken |= 1 << place;
            } else if sleeper.limit == 0 {
                self.expired |= 1 << place;
            } else {
                continue;
            }
            self.asleep &= !(1 << place);
        }
        if let (Some(sleeper), Some(place)) = (enter, vacant) {
            self.places[place] = sleeper;
            self.asleep |= 1 << place;
        }
        leave
    }

    /// The first place to be answered behind the one answered last, in a circle.
    fn next(&self) -> usize {
        let ready = self.ready();
        let behind = ready & !((2u64 << self.last) - 1) as u32;
        (if behind != 0 { behind } else { ready }).trailing_zeros() as usize
    }

    /// Reset: nobody sleeps.
    pub fn reset(&mut self) {
        self.asleep = 0;
        self.woken = 0;
        self.expired = 0;
        self.last = 0;
    }
}
