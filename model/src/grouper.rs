//! Groups waiting lanes by bank and picks what each pass serves (spec 4, 5). Mirror of
//! `rtl/atoms_grouper.sv`.
//!
//! The hardware walks the waiting lanes once a pass. Which lanes a pass serves depends on nothing
//! that happens between the passes of a request, so this walks them once a request and makes all of
//! its passes: the n-th address that the walk meets on a bank is served by the n-th pass.

use crate::agen::BankAddrs;
use crate::config::{Config, WinnerPolicy};
use crate::lanes::lanes;
use crate::port::{MAX_BANKS, MAX_LANES};
use crate::spin::SpinTurns;

/// What becomes of the lanes of one bank that do not win.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Conflict {
    /// They wait for a later pass.
    Replay,
    /// They fail at once: CAST.SPIN (spec 5.1).
    Fail,
    /// Those of the winner's address are served with it: loads, POPC.INC, merged operations, and stores, where
    /// of the coalesced lanes the highest counts as the winner, since its value stays (spec 3.5).
    Coalesce,
}

/// The passes of one request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schedule {
    /// Per pass: lanes that get their result from it.
    pub(crate) served: [u32; MAX_LANES],
    /// Per pass: of the lanes served, the one the walk met first on each bank.
    pub(crate) first: [u32; MAX_LANES],
    /// Number of passes.
    pub(crate) passes: usize,
}

impl Schedule {
    /// No pass.
    pub(crate) const EMPTY: Schedule = Schedule { served: [0; MAX_LANES], first: [0; MAX_LANES], passes: 0 };

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
pub(crate) fn grouper(
    config: &Config,
    pending: u32,
    conflict: Conflict,
    bank_addrs: &BankAddrs,
    rotate: u32,
    spin: &SpinTurns,
    schedule: &mut Schedule,
) {
    schedule.clear();
    match conflict {
        Conflict::Replay => {
            let mut met = [0u8; MAX_BANKS];
            walk(config, pending, rotate, |lane| {
                let count = &mut met[bank_addrs.first.bank(lane)];
                let pass = usize::from(*count) & (MAX_LANES - 1);
                *count += 1;
                schedule.served[pass] |= 1 << lane;
                schedule.passes = schedule.passes.max(pass + 1);
            });
            schedule.first = schedule.served;
        }
        Conflict::Fail => {
            let mut met = 0u64;
            let mut select = |lane: usize| {
                let bank = 1u64 << bank_addrs.first.bank(lane);
                schedule.first[0] |= u32::from(met & bank == 0) << lane;
                met |= bank;
            };
            walk(config, pending, rotate, |lane| {
                if spin.favoured(config, bank_addrs.first.bank(lane)) == lane {
                    select(lane);
                }
            });
            walk(config, pending, rotate, select);
            schedule.served[0] = pending;
            schedule.passes = 1;
        }
        Conflict::Coalesce => {
            // Per bank the addresses met, newest first: the lane that was the first of each, linked.
            let mut newest = [NO_LANE; MAX_BANKS];
            let mut older = [NO_LANE; MAX_LANES];
            let mut pass_of = [0u8; MAX_LANES];
            walk(config, pending, rotate, |lane| {
                let bank = bank_addrs.first.bank(lane);
                let mut at = newest[bank];
                while at != NO_LANE && bank_addrs.row[at as usize & (MAX_LANES - 1)] != bank_addrs.row[lane] {
                    at = older[at as usize & (MAX_LANES - 1)];
                }
                let pass = if at == NO_LANE {
                    let before = newest[bank];
                    let pass = match before {
                        NO_LANE => 0,
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
const NO_LANE: u8 = u8::MAX;

/// Calls `meet` with each lane in `waiting`, in the order of the winner policy.
#[inline(always)]
fn walk(config: &Config, mut waiting: u32, rotate: u32, mut meet: impl FnMut(usize)) {
    let mut upwards = |mask: u32| lanes(mask).for_each(&mut meet);
    match config.winner_policy {
        WinnerPolicy::Lowest => upwards(waiting),
        WinnerPolicy::Rotating => {
            let below = (1u32 << rotate) - 1;
            upwards(waiting & !below);
            upwards(waiting & below);
        }
        WinnerPolicy::Highest => {
            while waiting != 0 {
                let lane = 31 - waiting.leading_zeros();
                meet(lane as usize & (MAX_LANES - 1));
                waiting &= !(1 << lane);
            }
        }
    }
}
