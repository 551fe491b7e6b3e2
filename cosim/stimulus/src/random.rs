//! Random stimulus: timing of requests at each port, and writes of the CTA table.

use std::sync::Arc;

use atoms_model::Config;
use atoms_model::port::{In, Out};
use atoms_ops::{Op, Size};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::follow::{Follow, Last, Wake};
use super::objects::Objects;
use super::profile::Profile;
use super::profile::pace::Beat;
use super::retry::RetryLoops;
use super::tags::Tags;
use super::{MAX_OBJECTS, Stimulus};
use crate::request::AllocationWrite;

/// Sizes to draw from, by operation code. Each size occurs as often as its weight.
type Sizes = [Vec<Size>; 32];

fn sizes(profile: &Profile) -> Sizes {
    std::array::from_fn(|code| {
        let sizes = Op::from_code(code as u8).map_or(&[][..], |op| op.row().sizes);
        let all = |size: &Size| std::iter::repeat_n(*size, profile.sizes.weight(*size).into());
        let weighed: Vec<_> = sizes.iter().flat_map(all).collect();
        if weighed.is_empty() { sizes.to_vec() } else { weighed }
    })
}

/// Indices of the response ports in `beats`.
const RESPONSE: usize = 1;
const CLUSTER_RESPONSE: usize = 3;
const WAKE: usize = 4;

/// Number of recent result values kept.
const SEEN: usize = 8;

/// Random stimulus that depends only on configuration, profile, seed and number of requests.
#[derive(Clone, Debug)]
pub struct RandomStimulus {
    pub(super) rng: Xoshiro256PlusPlus,
    pub(super) config: Config,
    pub(super) profile: Arc<Profile>,
    pub(super) sizes: Arc<Sizes>,
    /// Slots with an allocation in the current layout.
    pub(super) slots: u32,
    pub(super) allocations: [Option<AllocationWrite>; 16],
    offered_allocation: Option<AllocationWrite>,
    written: usize,
    setup: Vec<AllocationWrite>,
    pub(super) left: u64,
    beats: [Beat; 5],
    beats_for: u32,
    resetting: u32,
    /// Mask of the tags of waits with limits too long for the end of a run to wait for. Bit `n`: tag `n`.
    pub(super) endless: u64,
    pub(super) cycle: u64,
    pub(super) tags: Tags,
    /// Tag of the last response at each port: warp port, cluster port.
    pub(super) answered: [u8; 2],
    pub(super) objects: Objects,
    pub(super) last: Last,
    pub(super) follow: Follow,
    /// Recent values of memory, from responses.
    pub(super) seen: [u128; SEEN],
    /// Drives the whole run if the profile draws retry loops.
    retry_loops: Option<Box<RetryLoops>>,
}

impl RandomStimulus {
    /// Creates stimulus for `requests` warp requests.
    pub fn new(config: Config, profile: &Profile, seed: u64, requests: u64) -> Self {
        let mut stimulus = RandomStimulus {
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            config,
            profile: Arc::new(profile.clone()),
            sizes: Arc::new(sizes(profile)),
            slots: 1,
            allocations: [None; 16],
            offered_allocation: None,
            written: 0,
            setup: Vec::new(),
            left: requests,
            beats: [Beat::FREE; 5],
            beats_for: 0,
            resetting: 0,
            endless: 0,
            cycle: 0,
            tags: Tags::default(),
            answered: [0; 2],
            objects: Objects::new(),
            last: Last::default(),
            follow: Follow::Nothing,
            seen: [0; SEEN],
            retry_loops: None,
        };
        if profile.retry_loops.happens(&mut stimulus.rng) {
            let loops = RetryLoops::new(config, stimulus.rng.random(), requests);
            stimulus.retry_loops = Some(Box::new(loops));
        }
        stimulus.lay_out_allocations();
        stimulus
    }

    pub(super) fn objects_in_allocation(&mut self) -> u32 {
        self.profile.barriers.objects.draw(&mut self.rng).clamp(1, MAX_OBJECTS as u32)
    }

    /// Draws a layout of adjacent allocations, some of which end within a row.
    fn lay_out_allocations(&mut self) {
        let row_bytes = self.config.row_bytes();
        let slots = self.profile.slots.draw(&mut self.rng).clamp(1, self.config.num_cta_slots);
        self.slots = slots.min(self.config.num_rows);
        let share = (self.config.num_rows / self.slots).max(1);
        let uneven = self.slots > 1 && self.profile.uneven_parts.happens(&mut self.rng);
        let large = if uneven { self.rng.random_range(0..self.slots) } else { self.slots };
        let mut end = 0;
        for slot in 0..self.slots {
            let base = end;
            let rows = match slot {
                _ if slot == large => self.config.num_rows - (self.slots - 1),
                _ if uneven => 1,
                _ if slot + 1 == self.slots => self.config.num_rows - base,
                _ => share,
            };
            end += rows;
            let whole = rows * row_bytes;
            let odd = self.profile.odd_parts.happens(&mut self.rng);
            let size = if odd { whole - self.rng.random_range(0..row_bytes.min(whole)) } else { whole };
            let ranked = self.profile.odd_parts.happens(&mut self.rng) && self.rng.random();
            let rank = if ranked { self.rank() } else { 0 };
            self.setup.push(AllocationWrite {
                slot: slot as u8,
                enable: true,
                base: base as u16,
                size,
                rank,
            });
        }
        self.setup.reverse();
    }

    /// Draws a rank. Each number of bits up to 8 is equally likely. One rank in four is 255, because address
    /// sums wrap at its addresses.
    fn rank(&mut self) -> u8 {
        if self.rng.random_range(0..4) == 0 {
            return u8::MAX;
        }
        (self.rng.random::<u32>() & ((1 << self.rng.random_range(0..=8)) - 1)) as u8
    }

    /// Offers the next write of a layout. Otherwise sometimes removes, moves or gives an allocation, or
    /// requests one that is refused.
    fn offer_part(&mut self, i: &mut In) {
        let write = match self.setup.pop() {
            Some(write) => write,
            None if self.profile.table.happens(&mut self.rng) => {
                let slot = self.rng.random_range(0..16u8);
                let touching = self.profile.touching_parts.happens(&mut self.rng);
                let touching = if touching { self.touching_part(slot) } else { None };
                match (self.rng.random_range(0..4), self.allocations[usize::from(slot)]) {
                    _ if let Some(allocation) = touching => allocation,
                    (0, Some(allocation)) => AllocationWrite { enable: false, ..allocation },
                    (1, Some(allocation)) => AllocationWrite { rank: self.rank(), ..allocation },
                    // Such a write is often refused, because it overlaps another slot or exceeds memory.
                    (2, _) => AllocationWrite {
                        slot,
                        enable: true,
                        base: match self.rng.random_range(0..4) {
                            0 => self.config.num_rows - 1,
                            _ => self.rng.random_range(0..self.config.num_rows),
                        } as u16,
                        size: match self.rng.random_range(0..4) {
                            0 => self.config.row_bytes() * self.rng.random_range(0..3),
                            1 => self.rng.random_range(0..=self.config.bytes() as u32),
                            _ => self.rng.random_range(0..8 * self.config.row_bytes()),
                        },
                        rank: if self.rng.random() { 0 } else { self.rank() },
                    },
                    _ => {
                        self.lay_out_allocations();
                        let slots = self.config.num_cta_slots as u8;
                        self.setup.extend(
                            (0..slots).map(|slot| AllocationWrite { slot, ..AllocationWrite::default() }),
                        );
                        return;
                    }
                }
            }
            None => return,
        };
        self.offered_allocation = Some(write);
        write.drive(i);
    }

    /// Returns an allocation of up to three rows that overlaps another slot's first or last row, or borders
    /// on it. None if no other slot has an allocation, or if there is no room before it.
    fn touching_part(&mut self, slot: u8) -> Option<AllocationWrite> {
        let row_bytes = self.config.row_bytes();
        let others = (0..).zip(self.allocations).filter(|(other, _)| *other != slot);
        let others: Vec<_> = others
            .filter_map(|(_, allocation)| allocation.filter(|allocation| allocation.size > 0))
            .collect();
        let rng = &mut self.rng;
        let other = others.get(rng.random_range(0..others.len().max(1)))?;
        let first = u32::from(other.base);
        let end = first + other.size.div_ceil(row_bytes);
        let rows = rng.random_range(1..=3);
        let last_row = if rng.random_range(0..8) == 0 { row_bytes } else { rng.random_range(1..=row_bytes) };
        let base = match rng.random_range(0..4) {
            0 => end - 1,
            1 => end,
            2 => (first + 1).checked_sub(rows)?,
            _ => first.checked_sub(rows)?,
        };
        let base = u16::try_from(base).ok()?;
        Some(AllocationWrite { slot, enable: true, base, size: (rows - 1) * row_bytes + last_row, rank: 0 })
    }

    fn draw_beats(&mut self) {
        let before = self.beats;
        let profile = Arc::clone(&self.profile);
        let pace = &profile.pace;
        let paces = [&pace.request, &pace.response, &pace.cluster, &pace.cluster_response, &pace.wake];
        for (beat, paces) in self.beats.iter_mut().zip(paces) {
            *beat = Beat::draw(paces.draw(&mut self.rng), &mut self.rng);
        }
        if profile.pace.hold.happens(&mut self.rng) {
            let port = [RESPONSE, CLUSTER_RESPONSE, WAKE][self.rng.random_range(0..3)];
            if before[port] != Beat::HELD {
                for beat in self.beats.iter_mut().filter(|beat| **beat == Beat::HELD) {
                    *beat = Beat::FREE;
                }
                self.beats[port] = Beat::HELD;
                self.beats_for = self.rng.random_range(100..800);
                return;
            }
        }
        if self.beats.contains(&Beat::HELD) {
            self.beats_for = 40;
            // Do not hold a port twice in a row, because a request must get its response in the end.
            for (beat, before) in self.beats.iter_mut().zip(before) {
                if *beat == Beat::HELD && before == Beat::HELD {
                    *beat = Beat::FREE;
                }
            }
        } else {
            self.beats_for = self.rng.random_range(16..256);
        }
    }

    /// Makes every port free for a while, so that requests in flight drain without a pause.
    pub(super) fn free_ports(&mut self, cycles: u32) {
        (self.beats, self.beats_for) = ([Beat::FREE; 5], cycles);
    }

    /// Begins a reset. Forgets requests in flight; an offered request stays.
    fn begin_reset(&mut self, i: &In) {
        self.resetting = self.rng.random_range(1..4);
        self.tags = Tags::default();
        if i.req_valid == 1 {
            self.tags.take(i.req_tag);
        }
        self.endless = 0;
        self.objects = Objects::new();
        self.follow = Follow::Nothing;
        self.allocations = [None; 16];
        self.setup.clear();
        self.lay_out_allocations();
    }
}

impl Stimulus for RandomStimulus {
    fn drive(&mut self, i: &mut In) {
        if let Some(loops) = &mut self.retry_loops {
            return loops.drive(i);
        }
        if self.beats_for == 0 {
            self.draw_beats();
        }
        self.beats_for -= 1;
        self.cycle += 1;
        // At the end of a run, only a reset ends waits with very long limits.
        let stays = self.left == 0 && self.endless != 0 && self.endless == self.tags.all();
        if self.resetting == 0 && (stays || self.left > 0 && self.profile.reset.happens(&mut self.rng)) {
            self.begin_reset(i);
        }
        i.rst_n = u8::from(self.resetting == 0);
        self.resetting = self.resetting.saturating_sub(1);
        if i.rst_n == 0 {
            return;
        }
        let [warp, answer, cluster, cluster_answer, wake] = self.beats;
        let goes_on = self.left > 0 && self.setup.is_empty();
        if goes_on && i.req_valid == 0 && warp.high(&mut self.rng) {
            self.offer_warp(i);
        }
        // Stop requests at both ports while a layout is written, because the table waits for requests of the
        // slot.
        if goes_on
            && i.cl_valid == 0
            && cluster.high(&mut self.rng)
            && !matches!(self.follow, Follow::Volley(_))
            && (matches!(self.follow, Follow::Wake(Wake { cluster: true, .. }))
                || self.profile.cluster.happens(&mut self.rng))
        {
            self.offer_cluster(i);
        }
        if i.cta_valid == 0 && self.left > 0 {
            self.offer_part(i);
        }
        i.rsp_ready = u8::from(answer.high(&mut self.rng));
        i.cl_rsp_ready = u8::from(cluster_answer.high(&mut self.rng));
        i.wake_ready = u8::from(wake.high(&mut self.rng));
    }

    fn observe(&mut self, i: &In, out: &Out) {
        if let Some(loops) = &mut self.retry_loops {
            return loops.observe(i, out);
        }
        if i.rst_n == 0 {
            return;
        }
        self.tags.observe(i, out);
        self.endless &= self.tags.all();
        if out.rsp_valid & i.rsp_ready == 1 {
            let value = out.rsp_rd[usize::from(out.rsp_tag) % self.config.num_lanes as usize];
            if value != 0 {
                self.seen[usize::from(out.rsp_tag) % SEEN] = value;
            }
            self.objects.arrive(out.rsp_tag, Some(out));
            self.answered[0] = out.rsp_tag;
        }
        if out.wake_valid & i.wake_ready == 1 {
            self.objects.arrive(out.wake_tag, None);
            self.answered[0] = out.wake_tag;
        }
        if out.cl_rsp_valid & i.cl_rsp_ready == 1 {
            self.answered[1] = out.cl_rsp_tag;
        }
        if out.cta_reject == 1 {
            self.allocations[self.written] = None;
        }
        if i.cta_valid == 1
            && out.cta_ready == 1
            && let Some(write) = self.offered_allocation.take()
        {
            self.allocations[usize::from(write.slot)] = write.enable.then_some(write);
            self.objects.forget(write.slot);
            self.written = usize::from(write.slot);
        }
    }

    fn finished(&self) -> bool {
        self.retry_loops.as_ref().map_or(self.left == 0, |loops| loops.finished())
    }
}
