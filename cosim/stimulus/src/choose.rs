//! Chooses the next request of random stimulus. A drawn request may be replaced to keep mbarrier objects
//! usable, to complete phases, or to wake waiters.

use std::sync::Arc;

use atoms_ops::Op;
use rand::RngExt;

use super::follow::{Follow, Volley, Wake};
use super::objects::Objects;
use super::profile::{ObjectSharing, Spread};
use super::random::RandomStimulus;
use super::step::ObjectRequest;

/// Operation, slot, addresses and purpose of the next request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chosen {
    pub(super) op: Op,
    pub(super) slot: u8,
    pub(super) spread: Spread,
    /// Start of the lanes' addresses: number of an access for operations on mbarrier objects, else a byte
    /// offset. None if any address will do.
    pub(super) start: Option<u32>,
    /// Fixed operand and number of lanes, if the request has a purpose.
    pub(super) step: Option<ObjectRequest>,
    /// Number of objects whose phases the request completes, one lane each. 0 if the request does not
    /// complete several phases.
    pub(super) jointly: u32,
    /// Limit in cycles, if the request is to be suspended on the incomplete phase.
    pub(super) suspends: Option<u32>,
}

impl Chosen {
    pub(super) fn at(op: Op, slot: u8, object: u32) -> Chosen {
        let (spread, start) = (Spread::SameWord, Some(object));
        Chosen { op, slot, spread, start, step: None, jointly: 0, suspends: None }
    }
}

/// Highest number of requests spent to complete one phase.
const TRIES: u8 = 40;

/// Cycles in which the requests in flight usually drain, if responses are accepted.
const DRAIN: u64 = 40;

/// Longest limit, in cycles, from the configuration for which a race (a completion close to the limit) is
/// generated.
const LONGEST_RACE: u32 = 4000;

impl RandomStimulus {
    /// Returns the next warp request. None if no request is offered in this cycle.
    pub(super) fn choose(&mut self) -> Option<Chosen> {
        match self.follow {
            Follow::Nothing => {}
            Follow::Race { due, .. } if self.cycle < due => return None,
            Follow::Race { wake, .. } => self.follow = Follow::Wake(wake),
            Follow::Volley(volley) => return self.volley(volley),
            _ => {}
        }
        if let Follow::Fill { slot, left, objects } = self.follow {
            return Some(self.fill(slot, left, objects));
        }
        if let Follow::Wake(wake) = self.follow {
            if wake.cluster {
                return None;
            }
            if let Some(chosen) = self.wake(self.config.num_lanes) {
                return Some(chosen);
            }
        }
        Some(self.choose_freely())
    }

    fn choose_freely(&mut self) -> Chosen {
        let profile = Arc::clone(&self.profile);
        let burst = profile.burst.happens(&mut self.rng);
        let op = if burst { self.last.op } else { profile.ops.draw(&mut self.rng) };
        let repeat = profile.repeat.happens(&mut self.rng);
        let slot = if repeat { self.last.slot } else { self.rng.random_range(0..self.slots) as u8 };
        if !op.is_mbarrier() {
            let again = repeat && self.rng.random();
            let spread = if again { self.last.spread } else { profile.spread.draw(&mut self.rng) };
            // The start is in bytes, because the access size may differ.
            let start = repeat.then_some(self.last.start);
            return Chosen { start, spread, ..Chosen::at(op, slot, 0) };
        }
        let objects = self.objects_in_allocation();
        let object = if repeat { self.last.object } else { self.rng.random_range(0..objects) };
        let spread = match profile.barriers.meet.draw(&mut self.rng) {
            ObjectSharing::One => Spread::SameWord,
            ObjectSharing::Few => Spread::FewWords,
            ObjectSharing::Rows => Spread::SameBank,
        };
        let (op, step) = self.instead(op, slot, object, self.config.num_lanes);
        let mut chosen = Chosen { spread, step, ..Chosen::at(op, slot, object) };
        if step.is_some() || (op == Op::MbarInit && !profile.barriers.spoil.happens(&mut self.rng)) {
            chosen.spread = Spread::SameWord;
        }
        if step.is_none() && profile.barriers.jointly.happens(&mut self.rng) {
            chosen.jointly = self.completable(op, slot, objects);
        }
        if chosen.jointly > 1 {
            chosen.start = Some(0);
            return chosen;
        }
        chosen.jointly = 0;
        // Objects of the sm_80 layout lie after the other objects.
        let old_init =
            op == Op::MbarInit && self.listed(Op::MbarArriveSm80) && self.rng.random_range(0..8) == 0;
        if old_init || (op == Op::MbarArriveSm80 && !profile.barriers.spoil.happens(&mut self.rng)) {
            chosen.start = Some(profile.barriers.objects.ends().1);
        }
        if op == Op::MbarTryWait && step.is_none() {
            if profile.barriers.race.happens(&mut self.rng) {
                return self.race(slot, object);
            }
            if profile.barriers.volley.happens(&mut self.rng)
                && [Op::MbarInit, Op::MbarArrive].iter().all(|op| self.listed(*op))
            {
                return self.begin_volley(slot, object);
            }
            if profile.barriers.fill.happens(&mut self.rng) {
                // Fill the whole table and more, or only a few places.
                let all = self.config.num_waiters + 2;
                let left = if self.rng.random() { all } else { self.rng.random_range(2..5).min(all) };
                let objects = self.rng.random_range(1..=objects);
                return self.fill(slot, left, objects);
            }
        }
        chosen
    }

    /// Counts the first objects of a slot whose phases `op` can complete with one lane each.
    fn completable(&self, op: Op, slot: u8, objects: u32) -> u32 {
        let can =
            |object: &u32| ObjectRequest::completing(op, &self.objects.object(slot, *object), 1).is_some();
        (0..objects.min(self.config.num_lanes)).take_while(can).count() as u32
    }

    fn wakes_by_cluster(&mut self) -> bool {
        self.profile.cluster.get() > 0.0 && self.rng.random_range(0..3) == 0
    }

    /// Suspends a request and times a completion close to its limit or to the suspension itself.
    fn race(&mut self, slot: u8, object: u32) -> Chosen {
        let cluster = self.wakes_by_cluster();
        let own = self.config.try_wait_limit;
        let patient = self.profile.barriers.default_limit.happens(&mut self.rng);
        let (limit, lasts) = match self.rng.random_range(0..4) {
            0 => (100, 1),
            1 | 2 if patient && own <= LONGEST_RACE => (0, own),
            _ => {
                let limit = self.rng.random_range(1..2 * self.config.rmw_latency + 10);
                (limit, limit)
            }
        };
        let due = self.cycle + u64::from((lasts + self.rng.random_range(0..7)).saturating_sub(3));
        let wake = Wake { slot, object, last: object + 1, tries: 0, cluster };
        self.follow = Follow::Race { due: due.max(self.cycle + 1), wake };
        Chosen { suspends: Some(limit), ..Chosen::at(Op::MbarTryWait, slot, object) }
    }

    /// Creates an object whose phase one arrival completes, for a volley of waits with limits that end in the
    /// same cycle. The volley starts when all other requests have drained.
    fn begin_volley(&mut self, slot: u8, object: u32) -> Chosen {
        let from = self.cycle + DRAIN;
        let left = self.config.num_waiters;
        // The limits end a few cycles after the last wait of the longest volley.
        let end = from + u64::from(left + self.rng.random_range(2..16));
        self.follow = Follow::Volley(Volley { slot, object, from, end, left });
        self.free_ports(DRAIN as u32 + 64);
        let step = Some(ObjectRequest { op: Op::MbarInit, lanes: 1, b: 1 });
        Chosen { step, ..Chosen::at(Op::MbarInit, slot, object) }
    }

    /// Offers one wait of the volley in each cycle.
    fn volley(&mut self, volley: Volley) -> Option<Chosen> {
        let Volley { slot, object, from, end, left } = volley;
        if self.cycle < from {
            return None;
        }
        // A wait that is offered late gets a shorter limit, so that all limits end in the same cycle.
        let limit = end.saturating_sub(self.cycle).max(1) as u32;
        self.follow = if left > 1 && limit > 1 {
            Follow::Volley(Volley { left: left - 1, ..volley })
        } else {
            let cluster = self.wakes_by_cluster();
            let wake = Wake { slot, object, last: object + 1, tries: 0, cluster };
            Follow::Race { due: end - 1 + [0, 1, 1, 2][self.rng.random_range(0..4)], wake }
        };
        Some(Chosen { suspends: Some(limit), ..Chosen::at(Op::MbarTryWait, slot, object) })
    }

    /// Suspends one more request. After the last one, all are woken.
    fn fill(&mut self, slot: u8, left: u32, objects: u32) -> Chosen {
        let object = self.rng.random_range(0..objects);
        let is = self.objects.object(slot, object);
        self.follow = if left > 1 {
            Follow::Fill { slot, left: left - 1, objects }
        } else {
            let cluster = self.wakes_by_cluster();
            Follow::Wake(Wake { slot, object: 0, last: objects, tries: 0, cluster })
        };
        if !Objects::sound(&is) && self.listed(Op::MbarInit) {
            return Chosen::at(Op::MbarInit, slot, object);
        }
        let limit = self.rng.random_range(300..2000);
        Chosen { suspends: Some(limit), ..Chosen::at(Op::MbarTryWait, slot, object) }
    }

    /// Returns the next request that wakes waiters, with at most `lanes` lanes. None if no object is left.
    pub(super) fn wake(&mut self, lanes: u32) -> Option<Chosen> {
        while let Follow::Wake(wake) = self.follow {
            let Wake { slot, object, last, tries, .. } = wake;
            let next = Follow::Wake(Wake { object: object + 1, tries: 0, ..wake });
            if object >= last {
                self.follow = Follow::Nothing;
                break;
            }
            let several = last - object;
            if several > 1
                && object == 0
                && several <= lanes
                && self.listed(Op::MbarArriveCount)
                && tries == 0
                && self.rng.random()
            {
                // One request completes the phases of all objects.
                self.follow = Follow::Nothing;
                return Some(Chosen { jointly: several, ..Chosen::at(Op::MbarArriveCount, slot, object) });
            }
            let is = self.objects.object(slot, object);
            let step = match tries < TRIES && Objects::sound(&is) {
                true => self.nearer(&is, lanes),
                false => None,
            };
            let Some(step) = step else {
                self.follow = next;
                continue;
            };
            let completes = ObjectRequest::completing(step.op, &is, lanes) == Some(step);
            self.follow = if completes { next } else { Follow::Wake(Wake { tries: tries + 1, ..wake }) };
            return Some(Chosen { step: Some(step), ..Chosen::at(step.op, slot, object) });
        }
        None
    }
}
