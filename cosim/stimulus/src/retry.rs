//! Retry loops of several warps around CAST.SPIN, in which only one lane can store at a time.
//!
//! The lanes form a chain in random order. Each lane waits for the value that its predecessor stores, and all
//! lanes try the same word. A lane keeps trying before its turn, as the loops of spec 7.2 do. An unfair
//! selection would therefore stop the chain (spec 5.4). The loops also contain loads and other CAST.SPINs
//! that always fail.

use std::collections::VecDeque;

use atoms_model::Config;
use atoms_model::port::{In, Out};
use atoms_ops::{Op, Size};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::Stimulus;
use crate::request::AllocationWrite;

/// Highest number of warps, and highest number of requests after each try in a loop.
const MOST_WARPS: usize = 4;
const MOST_OTHERS: u32 = 4;

/// Drives retry loops. Depends only on configuration and seed. When all lanes have stored, a new round
/// begins.
#[derive(Clone, Debug)]
pub struct RetryLoops {
    rng: Xoshiro256PlusPlus,
    config: Config,
    left: u64,
    warps: Vec<Warp>,
    looping: usize,
    /// Warps without a request in flight, in the order in which they were answered.
    ready: VecDeque<usize>,
    /// Warp and lane of each link of the chain that has not stored yet.
    chain: VecDeque<(usize, u32)>,
    /// Number of links that have stored in all rounds. The word in memory has this value.
    stored: u32,
    set_up: bool,
    /// CAST.SPIN requests since a link last stored, and the highest such number so far.
    tries: u64,
    most_tries: u64,
}

#[derive(Clone, Debug)]
struct Warp {
    size: Size,
    /// Requests after the try, and the position in the loop: 0 is the try.
    others: Vec<Other>,
    next: usize,
    lanes: u32,
}

/// Request in a retry loop in addition to the CAST.SPIN that tries to store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Other {
    /// A CAST.SPIN of these lanes on the same group of banks. Its comparison never matches.
    Spin(u32),
    /// A load from the same group of banks.
    Load,
}

impl RetryLoops {
    /// Creates loops with `requests` requests in total. The last loops may be cut off.
    pub fn new(config: Config, seed: u64, requests: u64) -> Self {
        RetryLoops {
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            config,
            left: requests,
            warps: Vec::new(),
            looping: 0,
            ready: VecDeque::new(),
            chain: VecDeque::new(),
            stored: 0,
            set_up: false,
            tries: 0,
            most_tries: 0,
        }
    }

    /// Returns the number of links that have stored.
    pub fn stored(&self) -> u32 {
        self.stored
    }

    /// Returns the highest number of CAST.SPIN requests between two links of a chain.
    pub fn most_tries(&self) -> u64 {
        self.most_tries
    }

    /// True if no link stored for more CAST.SPIN requests than the second bound of spec 5.4 allows. The bound
    /// counts from the next request of the warp whose turn it is, so `spin_hold` more requests are allowed.
    /// The stimulus ends in that case.
    pub fn livelock(&self) -> bool {
        let Config { spin_hold, num_lanes, .. } = self.config;
        self.tries > u64::from(2 * spin_hold * num_lanes + spin_hold)
    }

    /// Draws warps, the content of their loops, and the order of the chain.
    fn next_round(&mut self) {
        let rng = &mut self.rng;
        let spin_hold = self.config.spin_hold;
        let warps = rng.random_range(1..=MOST_WARPS.min(spin_hold as usize));
        // Limits the loop, so that every warp tries at least once in any `spin_hold` requests to the group.
        let others = rng.random_range(0..=MOST_OTHERS.min(spin_hold / warps as u32 - 1));
        self.warps.clear();
        for warp in 0..warps {
            let mut lanes: Vec<u32> = (0..self.config.num_lanes).collect();
            lanes.shuffle(rng);
            lanes.truncate(rng.random_range(1..=4));
            let other = |rng: &mut Xoshiro256PlusPlus| match rng.random_range(0..3) {
                0 => Other::Load,
                _ => Other::Spin(rng.random::<u32>() & self.config.lane_mask() | 1),
            };
            self.warps.push(Warp {
                size: if rng.random() { Size::U32 } else { Size::U64 },
                others: (0..others).map(|_| other(rng)).collect(),
                next: 0,
                lanes: lanes.iter().fold(0, |mask, lane| mask | 1 << lane),
            });
            self.chain.extend(lanes.into_iter().map(|lane| (warp, lane)));
        }
        self.chain.make_contiguous().shuffle(rng);
        self.ready = (0..warps).collect();
        self.looping = warps;
        self.tries = 0;
    }

    fn offer(&mut self, at: usize, i: &mut In) {
        let warp = &self.warps[at];
        let lanes = 0..self.config.num_lanes as usize;
        let other = warp.next.checked_sub(1).and_then(|other| warp.others.get(other));
        i.req_valid = 1;
        i.req_tag = at as u8;
        i.req_slot = 0;
        (i.req_red, i.req_absolute, i.req_scale, i.req_imm, i.req_ur) = (0, 0, 0, 0, 0);
        (i.req_op, i.req_size) = (Op::CastSpin as u8, warp.size as u8);
        i.req_ra[lanes.clone()].fill(0);
        i.req_b[lanes.clone()].fill(0);
        i.req_c[lanes.clone()].fill(0);
        match other {
            None => {
                i.req_mask = warp.lanes;
                for (link, (of, lane)) in (self.stored..).zip(&self.chain) {
                    if *of == at {
                        (i.req_b[*lane as usize], i.req_c[*lane as usize]) =
                            (link.into(), u128::from(link) + 1);
                    }
                }
            }
            // Access another row of the same bank, which holds zeros.
            Some(Other::Spin(mask)) => {
                let row = if self.config.bank_hash { self.config.num_banks / 4 } else { 1 };
                i.req_mask = *mask;
                i.req_ra[lanes.clone()].fill(row * self.config.row_bytes());
                i.req_b[lanes].fill(1);
            }
            Some(Other::Load) => {
                (i.req_op, i.req_mask) = (Op::Load as u8, 1);
            }
        }
    }

    fn answered(&mut self, at: usize, out: &Out) {
        let warp = &mut self.warps[at];
        let (behind, others) = (warp.next, warp.others.len());
        warp.next = if behind == others { 0 } else { behind + 1 };
        if behind == 0 || warp.others[behind - 1] != Other::Load {
            self.tries += 1;
            self.most_tries = self.most_tries.max(self.tries);
        }
        if behind == 0 && out.rsp_pred != 0 {
            warp.lanes &= !out.rsp_pred;
            self.chain.retain(|(of, lane)| *of != at || out.rsp_pred >> lane & 1 == 0);
            self.stored += out.rsp_pred.count_ones();
            self.tries = 0;
        }
        if warp.lanes == 0 && warp.next == 0 {
            self.looping -= 1;
        } else {
            self.ready.push_back(at);
        }
    }
}

impl Stimulus for RetryLoops {
    fn drive(&mut self, i: &mut In) {
        i.rst_n = 1;
        i.rsp_ready = u8::from(self.rng.random_range(0..4) != 0);
        if !self.set_up {
            self.set_up = true;
            let size = self.config.bytes() as u32;
            return AllocationWrite { slot: 0, enable: true, base: 0, size, rank: 0 }.drive(i);
        }
        if self.finished() || i.cta_valid == 1 {
            return;
        }
        if self.looping == 0 {
            self.next_round();
        }
        if i.req_valid == 0
            && let Some(at) = self.ready.pop_front()
        {
            self.left -= 1;
            self.offer(at, i);
        }
    }

    fn observe(&mut self, i: &In, out: &Out) {
        let at = usize::from(out.rsp_tag);
        // A wrong unit can answer a warp that has no request in flight.
        let in_flight = self.warps.get(at).is_some_and(|warp| warp.lanes != 0 || warp.next != 0);
        if out.rsp_valid & i.rsp_ready == 1 && in_flight && !self.ready.contains(&at) {
            self.answered(at, out);
        }
    }

    fn finished(&self) -> bool {
        self.left == 0 || self.livelock()
    }
}
