//! Groups waiting lanes by bank and picks what one pass serves (spec 4, 5). Mirror of
//! `rtl/atoms_grouper.sv`.

use crate::agen::Places;
use crate::config::{Config, WinnerPolicy};
use crate::port::MAX_BANKS;

/// How the lanes of one bank that do not win are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Losers {
    /// They wait for a later pass.
    Wait,
    /// They fail at once: CAST.SPIN (spec 5.1).
    Fail,
    /// Those of the winner's address join it; the winner's number stays.
    Join,
    /// Those of the winner's address join it, and the highest of them counts as the winner: STS,
    /// whose highest lane's value stays (spec 3.5).
    JoinHighestWins,
}

/// One pass, as the grouper makes it.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    /// Lanes that get their result from this pass.
    pub served: u32,
    /// Lanes that perform their operation.
    pub win: u32,
    /// Banks taken, by the bank of the first word.
    pub taken: u64,
    /// Winner per bank taken; meaningless elsewhere.
    pub lane: [u8; MAX_BANKS],
    /// Row per bank taken; meaningless elsewhere.
    pub row: [u16; MAX_BANKS],
}

impl Group {
    /// A pass that serves nobody.
    pub const EMPTY: Group = Group { served: 0, win: 0, taken: 0, lane: [0; MAX_BANKS], row: [0; MAX_BANKS] };
}

/// Makes the next pass for the lanes in `pending`.
///
/// `rotate` is the first lane in the rotating order.
pub fn grouper(config: &Config, pending: u32, losers: Losers, places: &Places, rotate: u32, group: &mut Group) {
    group.win = 0;
    group.taken = 0;
    let mut consider = |lane: u32| {
        let bank = places.bank[lane as usize & 31] as usize & (MAX_BANKS - 1);
        if group.taken >> bank & 1 == 0 {
            group.win |= 1 << lane;
            group.taken |= 1 << bank;
            group.lane[bank] = lane as u8;
            group.row[bank] = places.row[lane as usize & 31];
        }
    };
    let mut upwards = |mut lanes: u32| {
        while lanes != 0 {
            consider(lanes.trailing_zeros());
            lanes &= lanes - 1;
        }
    };
    match config.winner_policy {
        WinnerPolicy::Lowest => upwards(pending),
        WinnerPolicy::Highest => {
            let mut lanes = pending;
            while lanes != 0 {
                let lane = 31 - lanes.leading_zeros();
                consider(lane);
                lanes &= !(1 << lane);
            }
        }
        WinnerPolicy::Rotating => {
            let below = (1u32 << rotate) - 1;
            upwards(pending & !below);
            upwards(pending & below);
        }
    }
    group.served = group.win;
    match losers {
        Losers::Wait => {}
        Losers::Fail => group.served = pending,
        Losers::Join | Losers::JoinHighestWins => {
            let mut lanes = pending;
            while lanes != 0 {
                let lane = lanes.trailing_zeros() as usize;
                lanes &= lanes - 1;
                let bank = places.bank[lane] as usize & (MAX_BANKS - 1);
                if group.row[bank] == places.row[lane] {
                    group.served |= 1 << lane;
                    if losers == Losers::JoinHighestWins {
                        group.lane[bank] = lane as u8;
                    }
                }
            }
            group.win = group.served;
        }
    }
}
