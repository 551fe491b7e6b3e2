//! Groups waiting lanes by bank and picks what each pass serves (spec 4, 5). Mirror of
//! `rtl/atoms_grouper.sv`.
//!
//! The hardware walks the waiting lanes once a pass. Which lanes a pass serves depends on nothing
//! that happens between the passes of a request, so this walks them once a request and makes all of
//! its passes: the n-th address that the walk meets on a bank is served by the n-th pass.

use crate::agen::Places;
use crate::config::{Config, WinnerPolicy};
use crate::port::{MAX_BANKS, MAX_LANES};
use crate::spin::SpinTurns;

/// How the lanes of one bank that do not win are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Losers {
    /// They wait for a later pass.
    Wait,
    /// They fail at once: CAST.SPIN (spec 5.1).
    Fail,
    /// Those of the winner's address join it: loads, POPC.INC, merged operations, and stores, where
    /// of the joined lanes the highest counts as the winner, since its value stays (spec 3.5).
    Join,
}

/// The passes of one request.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    /// Per pass: lanes that get their result from it.
    pub served: [u32; MAX_LANES],
    /// Per pass: of the lanes served, the one the walk met first on each bank.
    pub first: [u32; MAX_LANES],
    /// Number of passes.
    pub passes: usize,
}

impl Schedule {
    /// No pass.
    pub const EMPTY: Schedule = Schedule { served: [0; MAX_LANES], first: [0; MAX_LANES], passes: 0 };

    fn clear(&mut self) {
        self.served[..self.passes].fill(0);
        self.first[..self.passes].fill(0);
        self.passes = 0;
    }
}

/// Makes the passes for the lanes in `pending`.
///
/// `rotate` is the first lane in the rotating order; `spin` says which lane CAST.SPIN selects on a bank if it
/// waits there (spec 5.4).
pub fn grouper(
    config: &Config,
    pending: u32,
    losers: Losers,
    places: &Places,
    rotate: u32,
    spin: &SpinTurns,
    schedule: &mut Schedule,
) {
    schedule.clear();
    match losers {
        Losers::Wait => {
            let mut met = [0u8; MAX_BANKS];
            walk(config, pending, rotate, |lane| {
                let count = &mut met[places.bank[lane] as usize & (MAX_BANKS - 1)];
                let pass = usize::from(*count) & (MAX_LANES - 1);
                *count += 1;
                schedule.served[pass] |= 1 << lane;
                schedule.passes = schedule.passes.max(pass + 1);
            });
            schedule.first = schedule.served;
        }
        Losers::Fail => {
            let mut met = 0u64;
            let mut select = |lane: usize| {
                let bank = 1u64 << (places.bank[lane] & 63);
                schedule.first[0] |= u32::from(met & bank == 0) << lane;
                met |= bank;
            };
            walk(config, pending, rotate, |lane| {
                if spin.favoured(config, usize::from(places.bank[lane])) == lane {
                    select(lane);
                }
            });
            walk(config, pending, rotate, select);
            schedule.served[0] = pending;
            schedule.passes = 1;
        }
        Losers::Join => {
            // Per bank the addresses met, newest first: the lane that was the first of each, linked.
            let mut newest = [NOBODY; MAX_BANKS];
            let mut older = [NOBODY; MAX_LANES];
            let mut pass_of = [0u8; MAX_LANES];
            walk(config, pending, rotate, |lane| {
                let bank = places.bank[lane] as usize & (MAX_BANKS - 1);
                let mut at = newest[bank];
                while at != NOBODY && places.row[at as usize & (MAX_LANES - 1)] != places.row[lane] {
                    at = older[at as usize & (MAX_LANES - 1)];
                }
                let pass = if at == NOBODY {
                    let before = newest[bank];
                    let pass = match before {
                        NOBODY => 0,
                        lane => pass_of[lane as usize & (MAX_LANES - 1)] + 1,
                    };
                    older[lane] = before;
                    newest[bank] = lane as u8;
                    pass_of[lane] = pass;
                    schedule.first[usize::from(pass) & (MAX_LANES - 1)] |= 1 << lane;
                    schedule.passes = schedule.passes.max(usize::from(pass) + 1);
                    pass
                } else {
                    pass_of[at as usize & (MAX_LANES - 1)]
                };
                schedule.served[usize::from(pass) & (MAX_LANES - 1)] |= 1 << lane;
            });
        }
    }
}

/// No lane.
const NOBODY: u8 = u8::MAX;

/// Calls `meet` with each lane in `lanes`, in the order of the winner policy.
#[inline(always)]
fn walk(config: &Config, mut lanes: u32, rotate: u32, mut meet: impl FnMut(usize)) {
    let mut upwards = |mut lanes: u32| {
        while lanes != 0 {
            meet(lanes.trailing_zeros() as usize & (MAX_LANES - 1));
            lanes &= lanes - 1;
        }
    };
    match config.winner_policy {
        WinnerPolicy::Lowest => upwards(lanes),
        WinnerPolicy::Rotating => {
            let below = (1u32 << rotate) - 1;
            upwards(lanes & !below);
            upwards(lanes & below);
        }
        WinnerPolicy::Highest => {
            while lanes != 0 {
                let lane = 31 - lanes.leading_zeros();
                meet(lane as usize & (MAX_LANES - 1));
                lanes &= !(1 << lane);
            }
        }
    }
}
