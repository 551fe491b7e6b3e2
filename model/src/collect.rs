//! Collects the results of a request's passes and drives the response. Mirror of `rtl/atoms_collect.sv`.
//!
//! The registers of the warp response are the response fields of [`Out`].

use atoms_ops::{Op, ResultKind, Size};

use crate::cluster_rsp::ClusterRsp;
use crate::config::Config;
use crate::issue::Pass;
use crate::lanes::{FirstWords, accesses, lanes};
use crate::operands::BankWork;
use crate::pipe::Effect;
use crate::port::{In, MAX_BANKS, MAX_LANES, Out};
use crate::registers::{SeeRegister, words};
use crate::waiters::Waiter;

/// True if the pass in the last stage must stall because the previous response is not accepted.
pub(crate) fn stall(pass: &Pass, out: &Out, i: &In) -> bool {
    i.rsp_ready == 0 && out.rsp_valid == 1 && pass.valid && !pass.cluster
}

/// Returns the waiter if the request in the last stage must be suspended, given a free entry in the table.
/// All lanes of the request must test one mbarrier object, whose phase is not complete. `work` is the bank
/// work of the pass.
#[inline] // usually the first test returns
pub(crate) fn waiter(config: &Config, pass: &Pass, effect: &Effect, work: &BankWork) -> Option<Waiter> {
    if !matches!(pass.kind, Some((Op::MbarTryWait, _))) {
        return None;
    }
    let one_object = work.valid.count_ones() == 2;
    if !(pass.valid && pass.first && pass.last && one_object) {
        return None;
    }
    let bank = accesses(work.valid, 2).next()?;
    let odd = effect.old[bank | 1] >> 31 != 0;
    let complete = pass.served & if odd { !pass.asked } else { pass.asked };
    (complete == 0).then(|| Waiter {
        tag: pass.tag,
        slot: pass.slot,
        mask: pass.served,
        bank: bank as u8,
        row: work.row[bank],
        limit: if work.c[bank] == 0 { config.try_wait_limit } else { work.c[bank] },
    })
}

/// Clock edge: removes the accepted warp response, then collects the pass in the last stage. `withheld`
/// passes (stalled or suspended) are not collected. `first` holds bank and byte of each lane's first word.
/// Returns the response of a cluster request that owes one.
pub(crate) fn tick(
    pass: &Pass,
    withheld: bool,
    effect: &Effect,
    first: &FirstWords,
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
        return pass.owes_response().then(|| cluster_rsp(pass, effect, first));
    }
    if pass.first {
        out.rsp_rd = [0; MAX_LANES];
        out.rsp_pred = 0;
    }
    out.rsp_pred |= results(pass, effect, first, &mut out.rsp_rd);
    out.rsp_tag = pass.tag;
    out.rsp_fault = pass.fault as u8;
    out.rsp_fault_lane = pass.fault_lane;
    out.rsp_fault_addr = pass.fault_addr;
    out.rsp_passes = pass.passes;
    out.rsp_valid = u8::from(pass.last);
    None
}

fn cluster_rsp(pass: &Pass, effect: &Effect, first: &FirstWords) -> ClusterRsp {
    let mut rd = [0; MAX_LANES];
    let stored = results(pass, effect, first, &mut rd);
    ClusterRsp {
        rd: rd[0],
        pred: stored != 0,
        tag: pass.tag,
        fault: pass.fault as u8,
        fault_addr: pass.fault_addr,
    }
}

pub(crate) fn registers(config: &Config, out: &Out, see: &mut impl SeeRegister) {
    see.see(format_args!("u_collect.rsp_valid_q"), Some(out.rsp_valid.into()));
    let results = &out.rsp_rd[..config.num_lanes as usize];
    if !see.leaves_out(4 * results.len(), results, true) {
        for (lane, rd) in results.iter().enumerate() {
            for (word, value) in words(*rd) {
                see.see(format_args!("u_collect.rd_q[{lane}][{word}]"), Some(value));
            }
        }
    }
    see.see(format_args!("u_collect.pred_q"), Some(out.rsp_pred.into()));
    see.see(format_args!("u_collect.tag_q"), Some(out.rsp_tag.into()));
    see.see(format_args!("u_collect.fault_q"), Some(out.rsp_fault.into()));
    see.see(format_args!("u_collect.fault_lane_q"), Some(out.rsp_fault_lane.into()));
    see.see(format_args!("u_collect.fault_addr_q"), Some(out.rsp_fault_addr.into()));
    see.see(format_args!("u_collect.passes_q"), Some(out.rsp_passes.into()));
}

/// Writes the results of the served lanes to `rd`. Returns the lanes whose compare-and-store stored, or whose
/// phase is complete.
#[inline(always)] // runs once per pass of warp requests
fn results(pass: &Pass, effect: &Effect, first: &FirstWords, rd: &mut [u128; MAX_LANES]) -> u32 {
    let Some((op, size)) = pass.kind else { return 0 };
    let mut stored = 0;
    if op.compares() {
        for lane in lanes(pass.win) {
            stored |= ((effect.hit >> first.bank(lane)) as u32 & 1) << lane;
        }
    }
    if op.asks_phase() {
        for lane in lanes(pass.served) {
            stored |= (effect.old[first.bank(lane) | 1] >> 31 ^ pass.asked >> lane & 1) << lane;
        }
    }
    if pass.red {
        return stored;
    }
    match op.row().result {
        ResultKind::Nothing | ResultKind::Predicate => {}
        ResultKind::Flag => lanes(stored).for_each(|lane| rd[lane] = 1),
        ResultKind::Old if matches!(size, Size::U32 | Size::S32) => {
            for lane in lanes(pass.served) {
                rd[lane] = effect.old[first.bank(lane)].into();
            }
        }
        ResultKind::Old => {
            for lane in lanes(pass.served) {
                rd[lane] = old_value(size, &effect.old, first.bank(lane), first.byte(lane));
            }
        }
        kind @ (ResultKind::State | ResultKind::MergedArrival) => {
            // A noComplete arrive never shares a pass with another lane, so its lane mask has one bit.
            let alone = u128::from(kind == ResultKind::MergedArrival);
            for lane in lanes(pass.served) {
                rd[lane] = u128::from(effect.old[first.bank(lane) | 1]) << 32 | alone << lane;
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
