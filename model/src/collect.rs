//! Collects the results of a request's passes, and answers. Mirror of `rtl/atoms_collect.sv`.
//!
//! The registers of the warp response are the response fields of [`Out`] themselves.

use atoms_ops::{Op, Size};

use crate::cluster_rsp::ClusterRsp;
use crate::config::Config;
use crate::issue::Pass;
use crate::mbarrier;
use crate::operands::BankWork;
use crate::pipe::Effect;
use crate::port::{In, MAX_BANKS, MAX_LANES, Out};
use crate::waiters::Sleeper;

/// The pass cannot be taken: an older response is in its way.
pub fn stall(pass: &Pass, out: &Out, i: &In) -> bool {
    pass.valid && !pass.cluster && out.rsp_valid == 1 && i.rsp_ready == 0
}

/// The pass in the last stage is a request that goes to sleep, if the table of waiters has a place: all
/// its lanes ask about one object's phase, and that is not complete. `work` is what it brought to its
/// banks.
#[inline] // nearly always the first test is all there is
pub fn sleeper(config: &Config, pass: &Pass, effect: &Effect, work: &BankWork) -> Option<Sleeper> {
    if !matches!(pass.kind, Some((Op::MbarTryWait, _))) {
        return None;
    }
    let one_object = work.valid.count_ones() == 2;
    if !(pass.valid && pass.first && pass.last && one_object) {
        return None;
    }
    let bank = work.valid.trailing_zeros() as usize & (MAX_BANKS - 1);
    let odd = effect.old[bank | 1] >> 31 != 0;
    let complete = pass.served & if odd { !pass.asked } else { pass.asked };
    (complete == 0).then(|| Sleeper {
        tag: pass.tag,
        slot: pass.slot,
        mask: pass.served,
        bank: bank as u8,
        row: work.row[bank],
        limit: if work.c[bank] == 0 { config.try_wait_limit } else { work.c[bank] },
    })
}

/// Clock edge: drops the warp response that is taken, and takes the pass in the last stage, if it is
/// valid, does not stall, and does not go to sleep. `lanes` are bank and byte of each lane's first word.
/// Gives the response of a cluster request that owes one.
pub fn tick(
    config: &Config,
    pass: &Pass,
    withheld: bool,
    effect: &Effect,
    lanes: (&[u8; MAX_LANES], &[u8; MAX_LANES]),
    out: &mut Out,
    i: &In,
) -> Option<ClusterRsp> {
    if i.rsp_ready == 1 {
        out.rsp_valid = 0;
    }
    if !pass.valid || withheld {
        return None;
    }
    if pass.cluster {
        if !pass.owes_response() {
            return None;
        }
        let mut rd = [0; MAX_LANES];
        let stored = results(config, pass, effect, lanes, &mut rd);
        return Some(ClusterRsp {
            rd: rd[0],
            pred: stored != 0,
            tag: pass.tag,
            fault: pass.fault as u8,
            fault_addr: pass.fault_addr,
        });
    }
    if pass.first {
        out.rsp_rd = [0; MAX_LANES];
        out.rsp_pred = 0;
    }
    out.rsp_pred |= results(config, pass, effect, lanes, &mut out.rsp_rd);
    out.rsp_tag = pass.tag;
    out.rsp_fault = pass.fault as u8;
    out.rsp_fault_lane = pass.fault_lane;
    out.rsp_fault_addr = pass.fault_addr;
    out.rsp_passes = pass.passes;
    out.rsp_valid = u8::from(pass.last);
    None
}

/// Puts the results of the lanes served into `rd`; gives the lanes whose compare-and-store
/// stored, or whose phase is complete.
fn results(
    config: &Config,
    pass: &Pass,
    effect: &Effect,
    (lane_bank, lane_byte): (&[u8; MAX_LANES], &[u8; MAX_LANES]),
    rd: &mut [u128; MAX_LANES],
) -> u32 {
    let Some((op, size)) = pass.kind else { return 0 };
    let mut stored = 0;
    if matches!(op, Op::Cas | Op::Cast | Op::CastSpin) {
        let mut lanes = pass.win;
        while lanes != 0 {
            let lane = lanes.trailing_zeros();
            lanes &= lanes - 1;
            let bank = lane_bank[lane as usize & 31];
            stored |= ((effect.hit >> (bank & 63)) as u32 & 1) << lane;
        }
    }
    if matches!(op, Op::MbarTestWait | Op::MbarTryWait) {
        let mut lanes = pass.served;
        while lanes != 0 {
            let lane = lanes.trailing_zeros();
            lanes &= lanes - 1;
            let bank = lane_bank[lane as usize & 31] as usize & (MAX_BANKS - 1);
            stored |= (effect.old[bank | 1] >> 31 ^ pass.asked >> lane & 1) << lane;
        }
    }
    if pass.red {
        return stored;
    }
    match op {
        Op::Store
        | Op::PopcInc
        | Op::MbarInval
        | Op::MbarExpectTx
        | Op::MbarCompleteTx
        | Op::MbarTestWait
        | Op::MbarTryWait => {}
        Op::Cast | Op::CastSpin => {
            let mut lanes = stored;
            while lanes != 0 {
                let lane = lanes.trailing_zeros() as usize;
                lanes &= lanes - 1;
                rd[lane] = 1;
            }
        }
        Op::MbarArrive if config.merge_arrive => {
            // Lanes that arrive together, in order of lanes.
            let mut before = [0; MAX_BANKS];
            let mut lanes = pass.served;
            while lanes != 0 {
                let lane = lanes.trailing_zeros() as usize;
                lanes &= lanes - 1;
                let bank = lane_bank[lane] as usize & (MAX_BANKS - 1);
                let object = old_value(size, &effect.old, bank, 0) as u64;
                rd[lane] = u128::from(mbarrier::state_before(object, before[bank]));
                before[bank] += 1;
            }
        }
        Op::Add
        | Op::Min
        | Op::Max
        | Op::Inc
        | Op::Dec
        | Op::And
        | Op::Or
        | Op::Xor
        | Op::Exch
        | Op::Cas
        | Op::Load
        | Op::MbarInit
        | Op::MbarArrive
        | Op::MbarArriveCount
        | Op::MbarArriveExpectTx
        | Op::MbarArriveDrop
        | Op::MbarArriveDropCount
        | Op::MbarArriveDropExpectTx
        | Op::MbarArriveSm80 => {
            let mut lanes = pass.served;
            while lanes != 0 {
                let lane = lanes.trailing_zeros() as usize;
                lanes &= lanes - 1;
                let bank = lane_bank[lane] as usize & (MAX_BANKS - 1);
                let byte = lane_byte[lane];
                rd[lane] = old_value(size, &effect.old, bank, byte);
            }
        }
        Op::MbarArriveNoComplete | Op::MbarArriveDropNoComplete => {
            // Nobody arrives together with another lane here.
            let mut lanes = pass.served;
            while lanes != 0 {
                let lane = lanes.trailing_zeros() as usize;
                lanes &= lanes - 1;
                let bank = lane_bank[lane] as usize & (MAX_BANKS - 1);
                rd[lane] = u128::from(effect.old[bank | 1]) << 32 | 1 << lane;
            }
        }
    }
    stored
}

#[inline(always)]
fn old_value(size: Size, old: &[u32; MAX_BANKS], bank: usize, byte: u8) -> u128 {
    let word = old[bank] >> (8 * (byte & 3));
    let at = |k: usize| u128::from(old[bank | k]) << (32 * k);
    match size {
        Size::U8 => u128::from(word as u8),
        Size::S8 => u128::from(word as i8 as u32),
        Size::U16 => u128::from(word as u16),
        Size::S16 => u128::from(word as i16 as u32),
        Size::U32 | Size::S32 => u128::from(old[bank]),
        Size::U64 => at(0) | at(1),
        Size::B128 => at(0) | at(1) | at(2) | at(3),
    }
}
