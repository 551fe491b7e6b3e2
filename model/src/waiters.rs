//! Table of the requests suspended in MBAR.TRY_WAIT, until wake-up or timeout. Mirror of
//! `rtl/atoms_waiters.sv`.

use crate::config::Config;
use crate::lanes::lanes;
use crate::port::{In, Out};
use crate::registers::SeeRegister;

/// Suspended request; fields as in `waiter_t`, with the cycles left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Waiter {
    /// Request tag; the wake-up returns it.
    pub(crate) tag: u8,
    pub(crate) slot: u8,
    pub(crate) mask: u32,
    pub(crate) bank: u8,
    pub(crate) row: u16,
    /// Cycles until the timeout.
    pub(crate) limit: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct Waiters {
    places: Vec<Waiter>,
    /// Entries that hold a suspended request.
    suspended: u32,
    /// Entries that are woken or timed out (`expired`), and not yet answered.
    woken: u32,
    expired: u32,
    last: u32,
}

impl Waiters {
    pub(crate) fn new(config: &Config) -> Self {
        Waiters {
            places: vec![Waiter::default(); config.num_waiters as usize],
            suspended: 0,
            woken: 0,
            expired: 0,
            last: 0,
        }
    }

    pub(crate) fn free(&self) -> bool {
        let taken = self.suspended | self.woken | self.expired;
        (taken.count_ones() as usize) < self.places.len()
    }

    fn vacant(&self) -> Option<usize> {
        let taken = self.suspended | self.woken | self.expired;
        (0..self.places.len()).find(|place| taken >> place & 1 == 0)
    }

    /// True if a request is suspended at the object with this first bank and row.
    pub(crate) fn waits_at(&self, bank: u8, row: u16) -> bool {
        let here =
            |(place, s): (usize, &Waiter)| self.suspended >> place & 1 != 0 && (s.bank, s.row) == (bank, row);
        self.places.iter().enumerate().any(here)
    }

    pub(crate) fn suspended(&self) -> u32 {
        self.suspended
    }

    /// Entries that wait for the wake-up port.
    pub(crate) fn ready(&self) -> u32 {
        self.woken | self.expired
    }

    /// Clock edge: suspends `enter`, and wakes the waiters of each object for which `completed` (first bank,
    /// row) is true. Returns the slot of the request whose wake-up moves to the port.
    #[inline] // for an empty table the first test returns
    pub(crate) fn tick(
        &mut self,
        enter: Option<&Waiter>,
        completed: impl Fn(u8, u16) -> bool,
        out: &mut Out,
        i: &In,
    ) -> Option<u8> {
        if i.wake_ready == 1 {
            out.wake_valid = 0;
        }
        if self.suspended | self.ready() == 0 && enter.is_none() {
            return None;
        }
        self.advance(enter, completed, out)
    }

    fn advance(
        &mut self,
        enter: Option<&Waiter>,
        completed: impl Fn(u8, u16) -> bool,
        out: &mut Out,
    ) -> Option<u8> {
        let vacant = self.vacant();
        let mut leave = None;
        if out.wake_valid == 0 && self.ready() != 0 {
            let place = self.next();
            let waiter = &self.places[place];
            out.wake_valid = 1;
            out.wake_tag = waiter.tag;
            out.wake_pred = if self.woken >> place & 1 != 0 { waiter.mask } else { 0 };
            leave = Some(waiter.slot);
            self.woken &= !(1 << place);
            self.expired &= !(1 << place);
            self.last = place as u32;
        }
        for place in lanes(self.suspended) {
            let waiter = &mut self.places[place];
            waiter.limit -= 1;
            // If completion and timeout coincide, completion wins.
            if completed(waiter.bank, waiter.row) {
                self.woken |= 1 << place;
            } else if waiter.limit == 0 {
                self.expired |= 1 << place;
            } else {
                continue;
            }
            self.suspended &= !(1 << place);
        }
        if let (Some(waiter), Some(place)) = (enter, vacant) {
            self.places[place] = *waiter;
            self.suspended |= 1 << place;
        }
        leave
    }

    /// Next entry to answer: round robin, starting after the entry answered last.
    fn next(&self) -> usize {
        let ready = self.ready();
        let behind = ready & !((2u64 << self.last) - 1) as u32;
        (if behind != 0 { behind } else { ready }).trailing_zeros() as usize
    }

    /// Shows the registers. The registers of the wake-up port are fields of `out`.
    pub(crate) fn registers(&self, out: &Out, see: &mut impl SeeRegister) {
        let Waiters { places, suspended, woken, expired, last } = self;
        see.see(format_args!("u_waiters.suspended_q"), Some((*suspended).into()));
        see.see(format_args!("u_waiters.woken_q"), Some((*woken).into()));
        see.see(format_args!("u_waiters.expired_q"), Some((*expired).into()));
        for (place, waiter) in places.iter().enumerate() {
            let Waiter { tag, slot, mask, bank, row, limit } = *waiter;
            let is = |set: &u32| set >> place & 1 == 1;
            let taken = is(suspended) || is(woken) || is(expired);
            let fields = [
                ("mask", mask),
                ("row", row.into()),
                ("bank", bank.into()),
                ("slot", slot.into()),
                ("tag", tag.into()),
            ];
            for (field, value) in fields {
                see.see(format_args!("u_waiters.waiter_q[{place}].{field}"), taken.then_some(value.into()));
            }
            see.see(format_args!("u_waiters.left_q[{place}]"), is(suspended).then_some(limit.into()));
        }
        see.see(format_args!("u_waiters.last_q"), Some((*last).into()));
        see.see(format_args!("u_waiters.wake_valid_q"), Some(out.wake_valid.into()));
        see.see(format_args!("u_waiters.wake_tag_q"), Some(out.wake_tag.into()));
        see.see(format_args!("u_waiters.wake_pred_q"), Some(out.wake_pred.into()));
    }

    pub(crate) fn reset(&mut self) {
        self.suspended = 0;
        self.woken = 0;
        self.expired = 0;
        self.last = 0;
    }
}
