//! Groups waiting lanes by bank and selects the lanes that each pass serves (spec 4, 5). Twin of
//! `rtl/atoms_grouper.sv`.
//!
//! The hardware walks the waiting lanes once per pass. The model makes all passes when the request is loaded:
//! nothing that happens between the passes of a request changes the lanes that they serve.

use std::hint::select_unpredictable;

use crate::agen::BankAddrs;
use crate::config::{Config, WinnerPolicy};
use crate::lanes::{lanes, lanes_downwards};
use crate::port::{MAX_BANKS, MAX_LANES};
use crate::spin::SpinTurns;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConflictPolicy {
    /// Losers wait for a later pass.
    Replay,
    /// Losers fail immediately, without a later pass: CAST.SPIN (spec 5.1).
    Fail,
    /// Lanes of the winner's address are served together with the winner: loads, POPC.INC, merged operations
    /// and stores. For coalesced stores the lowest lane counts as the winner, since its value stays in memory
    /// (spec 3.5).
    Coalesce,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Schedule {
    /// For each pass, the lanes that get their result from it.
    pub(crate) served: [u32; MAX_LANES],
    /// For each pass, the served lane of each bank that the walk reached first.
    pub(crate) first: [u32; MAX_LANES],
    pub(crate) passes: usize,
}

impl Schedule {
    pub(crate) const EMPTY: Schedule = Schedule { served: [0; MAX_LANES], first: [0; MAX_LANES], passes: 0 };
}

/// Makes the passes for the lanes in `pending`.
///
/// Bank conflicts are as unpredictable as random data for the host's branch predictor. Only loops branch on
/// them.
///
/// `rotate` is the first lane in the rotating order. `spin` gives the lane that CAST.SPIN selects on a bank
/// if that lane waits there (spec 5.4).
pub(crate) fn grouper(
    config: &Config,
    pending: u32,
    conflict_policy: ConflictPolicy,
    bank_addrs: &BankAddrs,
    rotate: u32,
    spin: &SpinTurns,
    schedule: &mut Schedule,
) {
    let bank_of = |lane| bank_addrs.first.bank(lane);
    *schedule = Schedule::EMPTY;
    match conflict_policy {
        ConflictPolicy::Replay => {
            let mut group = Group::default();
            walk(config, pending, rotate, |lane| group.meet(lane, bank_of(lane)));
            schedule.served[0] = group.first;
            schedule.passes = usize::from(pending != 0);
            // After the winners, pass n (from 1) serves the n-th waiting lane of each bank.
            let mut met = [1u8; MAX_BANKS];
            walk(config, pending & !group.first, rotate, |lane| {
                let count = &mut met[bank_of(lane)];
                let pass = usize::from(*count) & (MAX_LANES - 1);
                *count += 1;
                schedule.served[pass] |= 1 << lane;
                schedule.passes = schedule.passes.max(pass + 1);
            });
            schedule.first = schedule.served;
        }
        ConflictPolicy::Fail => {
            let mut group = Group::default();
            walk(config, pending, rotate, |lane| {
                if spin.priority_lane(config, bank_of(lane)) == lane {
                    group.meet(lane, bank_of(lane));
                }
            });
            walk(config, pending, rotate, |lane| group.meet(lane, bank_of(lane)));
            schedule.first[0] = group.first;
            schedule.served[0] = pending;
            schedule.passes = 1;
        }
        ConflictPolicy::Coalesce => {
            let mut waiting = pending;
            while waiting != 0 {
                let (mut group, mut served, mut row_of) = (Group::default(), 0, [0; MAX_BANKS]);
                walk(config, waiting, rotate, |lane| {
                    let (bank, row) = (bank_of(lane), bank_addrs.row[lane]);
                    let met = group.met >> bank & 1 != 0;
                    row_of[bank] = select_unpredictable(met, row_of[bank], row);
                    served |= u32::from(row_of[bank] == row) << lane;
                    group.meet(lane, bank);
                });
                let pass = schedule.passes & (MAX_LANES - 1);
                (schedule.served[pass], schedule.first[pass]) = (served, group.first);
                schedule.passes += 1;
                waiting &= !served;
            }
        }
    }
}

#[derive(Default)]
struct Group {
    met: u64,
    /// The first lane that the walk reached on each bank.
    first: u32,
}

impl Group {
    #[inline(always)]
    fn meet(&mut self, lane: usize, bank: usize) {
        self.first |= u32::from(self.met >> bank & 1 == 0) << lane;
        self.met |= 1 << bank;
    }
}

/// Calls `meet` with each lane in `waiting`, in the order of the winner policy.
#[inline(always)]
fn walk(config: &Config, waiting: u32, rotate: u32, mut meet: impl FnMut(usize)) {
    let mut upwards = |mask: u32| lanes(mask).for_each(&mut meet);
    match config.winner_policy {
        WinnerPolicy::Lowest => upwards(waiting),
        WinnerPolicy::Rotating => {
            let below = (1u32 << rotate) - 1;
            upwards(waiting & !below);
            upwards(waiting & below);
        }
        WinnerPolicy::Highest => {
            lanes_downwards(waiting).for_each(meet);
        }
    }
}
