//! Threads of a warp, and the barriers at which they wait.

use super::clock::{Clock, Events, Row};
use super::finding::{Party, Site, Text};
use super::sync::{Release, merge};
use crate::warp::LANES;
use atoms_isa::{GroupKind, Scope};
use std::collections::HashMap;

/// Limit for releasing fences kept per strand. Older fences are dropped.
const FENCES: usize = 8;

/// Limit for copies of a warp that are in flight. If more are, the end of one stands for an earlier one.
const MOST_SLOTS: usize = 1024;

/// Limit for the groups of threads in a strand that know other events. If there are more, all threads know the
/// events of the oldest group.
const GROUPS: usize = 8;

/// Events that the threads of a strand know. In machine code, all of them know the same.
#[derive(Clone, Debug, Default)]
struct Known {
    all: Clock,
    /// Events that only the threads of a mask know.
    some: Vec<(u32, Clock)>,
    /// Ends of the copies for which each thread has waited itself. A thread knows those in its lane.
    copies: Clock,
}

impl Known {
    /// Events that at least one thread of `mask` knows.
    fn by(&self, mask: u32) -> Clock {
        let mut clock = self.all.clone();
        self.some.iter().filter(|(of, _)| of & mask != 0).for_each(|(_, known)| clock.join(known));
        if !self.copies.is_empty() && mask != 0 {
            clock.join(&self.copies.limited(mask));
        }
        clock
    }

    /// Threads of a strand with the threads `whole` learn events.
    fn learn(&mut self, whole: u32, mask: u32, clock: &Clock) {
        if whole & !mask == 0 {
            self.all.join(clock);
            self.some.retain(|(_, known)| !self.all.covers(known));
            if self.all.covers(&self.copies) {
                self.copies = Clock::default();
            }
        } else if let Some((_, known)) = self.some.iter_mut().find(|(of, _)| *of == mask) {
            known.join(clock);
        } else {
            self.some.push((mask, clock.clone()));
            if self.some.len() > GROUPS {
                self.all.join(&self.some.remove(0).1);
            }
        }
    }

    /// Events that the threads of `mask` know, if they leave the strand.
    fn narrowed(mut self, mask: u32) -> Known {
        for (of, known) in std::mem::take(&mut self.some) {
            if of & mask != 0 {
                self.learn(mask, of & mask, &known);
            }
        }
        self
    }

    /// Adds the threads `others`, which know `known`, to the threads of `mask`.
    fn meet(&mut self, mask: u32, others: u32, known: Known) {
        let mine = self.all.clone();
        self.all.meet(&known.all);
        self.copies.join(&known.copies);
        for (of, clock) in [(mask, mine), (others, known.all)].into_iter().chain(known.some) {
            if !self.all.covers(&clock) {
                self.learn(mask | others, of, &clock);
            }
        }
    }
}

/// Events that threads of a strand make known to others.
#[derive(Clone, Debug)]
pub(super) struct Published {
    known: Known,
    /// Row and time of the warp, if each thread publishes only its own accesses.
    own: Option<(Row, u32)>,
}

impl Published {
    /// Events that the threads of `mask` make known.
    pub(super) fn by(&self, mask: u32) -> Clock {
        let mut clock = self.known.by(mask);
        if let Some((row, time)) = self.own.filter(|_| mask != 0) {
            clock.raise(row, mask, time);
        }
        clock
    }
}

/// Fence that a strand has passed, with the events that it releases.
#[derive(Clone, Debug)]
pub(super) struct Fence {
    pub(super) mask: u32,
    /// Threads whose accesses since the fence were all atomic.
    pub(super) last: u32,
    pub(super) scope: Scope,
    /// Accesses that the fence releases. `None` for all.
    only: Option<Events>,
    pub(super) published: Published,
}

/// Release that a strand has read but not acquired yet, with the scope of the read.
#[derive(Clone, Debug)]
pub(super) struct Open {
    scope: Scope,
    release: Release,
}

/// Barrier at which a strand waits, and its phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Waits {
    pub(super) at: Barrier,
    pub(super) generation: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Barrier {
    Block(u32),
    Cluster,
    /// WARPSYNC with this member mask. In machine code, any WARPSYNC or collective instruction.
    Warp(u32),
}

/// Clocks that threads bring to a barrier, and the clock that they take away.
#[derive(Default)]
pub(super) struct BarrierPhase {
    arriving: Clock,
    done: Clock,
    /// Ended threads count as arrived in each phase, except at block barriers with a count.
    ended: Clock,
    /// Threads that have ended after their arrival in this phase. They count as arrived in the next phases.
    ended_late: Clock,
    generation: u32,
}

impl BarrierPhase {
    /// Adds a thread that arrives. Returns the phase.
    pub(super) fn arrive(&mut self, clock: &Clock) -> u32 {
        self.arriving.join(clock);
        self.generation
    }

    /// Threads end. `arrived` is the phase of their last arrival.
    pub(super) fn exit(&mut self, clock: &Clock, arrived: Option<u32>) {
        if arrived == Some(self.generation) {
            self.ended_late.join(clock);
        } else {
            self.ended.join(clock);
        }
    }

    /// Clock of a thread that continues after the phase `generation`. The first call ends the phase. `ended` is true if
    /// ended threads count as arrived.
    pub(super) fn leave(&mut self, generation: u32, ended: bool) -> &Clock {
        if generation == self.generation {
            self.done = std::mem::take(&mut self.arriving);
            if ended {
                self.done.join(&self.ended);
            }
            self.ended.join(&std::mem::take(&mut self.ended_late));
            self.generation = self.generation.wrapping_add(1);
        }
        &self.done
    }

    /// True if a thread with this clock knows that the phase `generation` is complete, because it knows all arrivals.
    pub(super) fn is_known_complete(&self, generation: u32, clock: &Clock) -> bool {
        let later = self.generation.wrapping_sub(generation);
        later > 1 || (later == 1 && clock.covers(&self.done))
    }

    pub(super) fn generation(&self) -> u32 {
        self.generation
    }
}

/// Threads of a warp that run together. In machine code, each instruction orders them with each other.
#[derive(Clone, Default)]
pub(super) struct Strand {
    pub(super) mask: u32,
    /// Events of other threads. Each thread also knows its own, and in machine code those of all threads of the
    /// strand.
    known: Known,
    pub(super) fences: Vec<Fence>,
    open: Vec<Open>,
    pub(super) waits: Vec<Waits>,
    /// Phase of the cluster barrier at which the strand has arrived.
    pub(super) at_cluster: Option<u32>,
}

impl Strand {
    /// Threads of `mask` learn events.
    pub(super) fn learn(&mut self, mask: u32, clock: &Clock) {
        self.known.learn(self.mask, mask, clock);
    }

    /// Clock that all threads of the strand have. `None` if some know more.
    pub(super) fn common(&self) -> Option<&Clock> {
        (self.known.some.is_empty() && self.known.copies.is_empty()).then_some(&self.known.all)
    }

    /// Clock of one thread.
    pub(super) fn clock_of(&self, lane: usize) -> Clock {
        self.known.by(1 << lane)
    }

    /// Keeps a release that was read until a fence acquires it.
    pub(super) fn keep(&mut self, scope: Scope, release: &Release) {
        let same = |o: &&mut Open| {
            o.scope == scope && o.release.scope == release.scope && o.release.site == release.site
        };
        match self.open.iter_mut().find(same) {
            Some(open) => open.release.clock.join(&release.clock),
            None => self.open.push(Open { scope, release: release.clone() }),
        }
    }

    /// Threads of `mask` pass an acquiring fence: they acquire the kept releases in its scope.
    pub(super) fn acquire(&mut self, mask: u32, scope: Scope, site: Site) {
        let Strand { known, open, .. } = self;
        open.retain(|Open { release, .. }| {
            let reaches = site.reaches(scope, release.site);
            if reaches {
                known.learn(self.mask, mask, &release.clock);
            }
            !reaches
        });
    }

    /// Adds the threads of another strand. In machine code, all know what any of them knew.
    fn absorb(&mut self, other: Strand, text: Text) {
        match text {
            _ if self.mask == 0 => self.known = other.known,
            Text::Machine => self.known.all.join(&other.known.all),
            Text::Ptx => self.known.meet(self.mask, other.mask, other.known),
        }
        self.mask |= other.mask;
        self.fences.extend(other.fences);
        let extra = self.fences.len().saturating_sub(FENCES);
        self.fences.drain(..extra);
        for open in other.open {
            self.keep(open.scope, &open.release);
        }
        self.waits.extend(other.waits);
        self.at_cluster = self.at_cluster.or(other.at_cluster);
    }
}

pub(super) struct Warp {
    pub(super) row: Row,
    text: Text,
    /// Time of the warp. Increases whenever another thread may learn the current time.
    pub(super) time: u32,
    strands: Vec<Strand>,
    /// Phase of WARPSYNC by member mask.
    pub(super) syncs: HashMap<u32, BarrierPhase>,
    pub(super) copies: u32,
    /// Groups of each lane, until a wait for their end: kind, and the value of `copies` at the end of the group.
    pub(super) groups: [Vec<(GroupKind, u32)>; LANES],
    /// Copies without a group, by lane of the rows of [`Events::Copies`]: time of the last one.
    slots: Vec<u32>,
    /// True if the warp has initialized an mbarrier object since its last proxy fence.
    pub(super) initialized: bool,
    /// Last arrival without a wait at each barrier, and its phase.
    pub(super) arrivals: HashMap<Barrier, (u32, Party)>,
}

impl Warp {
    pub(super) fn new(row: Row, mask: u32, text: Text) -> Warp {
        let strand = Strand { mask, ..Strand::default() };
        Warp {
            row,
            text,
            time: 1,
            strands: vec![strand],
            syncs: HashMap::new(),
            copies: 0,
            groups: Default::default(),
            slots: Vec::new(),
            initialized: false,
            arrivals: HashMap::new(),
        }
    }

    /// Lane of a row for a copy without a group, and its time. These copies complete in any order. So a copy uses
    /// the lane of an earlier copy only if the thread that starts it knows the end of the earlier one.
    pub(super) fn slot(&mut self, clock: &Clock) -> (Row, u8, u32) {
        let at =
            |slot: usize| (Row { events: Events::Copies((slot / 32) as u16), ..self.row }, (slot % 32) as u8);
        let ended = |(slot, time): (usize, &u32)| {
            let (row, lane) = at(slot);
            clock.get(row, lane) >= *time
        };
        let slot = self.slots.iter().enumerate().position(ended).unwrap_or(self.slots.len() % MOST_SLOTS);
        let (row, lane) = at(slot);
        if slot == self.slots.len() {
            self.slots.push(0);
        }
        self.slots[slot] += 1;
        (row, lane, self.slots[slot])
    }

    pub(super) fn live(&self) -> u32 {
        self.strands.iter().fold(0, |mask, s| mask | s.mask)
    }

    /// Index of the strand with exactly the threads of `mask`, which run together from now on.
    pub(super) fn together(&mut self, mask: u32) -> usize {
        if let Some(at) = self.strands.iter().position(|s| s.mask == mask) {
            return at;
        }
        // Threads that leave know the events of the time in which they were together.
        let known: Vec<_> = (0..self.strands.len()).map(|at| self.current(at).known).collect();
        let (mut joined, mut rest) = (Strand::default(), Vec::new());
        for (mut strand, known) in std::mem::take(&mut self.strands).into_iter().zip(known) {
            let (inside, outside) = (strand.mask & mask, strand.mask & !mask);
            if inside != 0 {
                let known = known.clone().narrowed(inside);
                joined.absorb(Strand { mask: inside, known, ..strand.clone() }, self.text);
            }
            if outside != 0 {
                if inside != 0 {
                    strand.known = known.narrowed(outside);
                }
                strand.mask = outside;
                rest.push(strand);
            }
        }
        joined.mask = mask;
        self.time += 1;
        rest.push(joined);
        self.strands = rest;
        self.strands.len() - 1
    }

    pub(super) fn together_with(&self, lane: u8) -> usize {
        self.strands.iter().position(|s| s.mask >> (lane & 31) & 1 != 0).unwrap_or(self.strands.len())
    }

    pub(super) fn strand(&mut self, at: usize) -> Option<&mut Strand> {
        self.strands.get_mut(at)
    }

    /// Events that threads of a strand make known to others now.
    fn current(&self, at: usize) -> Published {
        let Some(strand) = self.strands.get(at) else {
            return Published { known: Known::default(), own: None };
        };
        let published = Published { known: strand.known.clone(), own: Some((self.row, self.time)) };
        match self.text {
            Text::Ptx => published,
            Text::Machine => {
                let known = Known { all: published.by(strand.mask), ..Known::default() };
                Published { known, own: None }
            }
        }
    }

    /// Clock of the threads of `mask` in a strand, including their own accesses.
    pub(super) fn snapshot(&self, at: usize, mask: u32) -> Clock {
        self.current(at).by(mask)
    }

    /// Events that threads of a strand make known to others; their later accesses are not included.
    pub(super) fn publish(&mut self, at: usize) -> Published {
        let published = self.current(at);
        self.time += 1;
        published
    }

    /// Same as [`Warp::publish`], for the threads of `mask`.
    pub(super) fn release(&mut self, at: usize, mask: u32) -> Clock {
        self.publish(at).by(mask)
    }

    /// Ends a wait: its threads learn the clock of the phase.
    pub(super) fn end_wait(&mut self, wait: Waits, clock: &Clock) {
        for strand in self.strands.iter_mut().filter(|strand| strand.waits.contains(&wait)) {
            strand.waits.retain(|other| *other != wait);
            strand.learn(strand.mask, clock);
        }
    }

    /// Threads of `mask` learn events; in machine code, all threads of the strand.
    pub(super) fn learn(&mut self, at: usize, mask: u32, clock: &Clock) {
        let mask = self.learners(mask);
        if let Some(strand) = self.strands.get_mut(at) {
            strand.learn(mask, clock);
        }
    }

    /// Threads that learn if those of `mask` do.
    pub(super) fn learners(&self, mask: u32) -> u32 {
        if self.text == Text::Ptx { mask } else { u32::MAX }
    }

    /// A thread has waited for its copies up to `time`.
    pub(super) fn copies_end(&mut self, at: usize, row: Row, lane: usize, time: u32) {
        let Some(strand) = self.strands.get_mut(at) else { return };
        match self.text {
            Text::Ptx => strand.known.copies.raise(row, 1 << lane, time),
            Text::Machine => strand.known.all.raise(row, 1 << lane, time),
        }
    }

    /// Returns the current time of the warp, and advances it.
    pub(super) fn tick(&mut self) -> (Row, u32) {
        let now = (self.row, self.time);
        self.time += 1;
        now
    }

    /// Threads pass a releasing fence. `only` limits it to some of their own accesses.
    pub(super) fn fence(&mut self, at: usize, mask: u32, scope: Scope, only: Option<Events>) {
        let mut published = self.publish(at);
        if let (Some(events), Some((row, time))) = (only, published.own) {
            published = Published { known: Known::default(), own: Some((Row { events, ..row }, time)) };
        }
        let Some(strand) = self.strands.get_mut(at) else { return };
        // This fence covers everything that earlier fences of the same threads in a narrower or equal scope
        // covered, unless it is limited.
        let covers =
            |f: &Fence| f.scope <= scope && f.mask & !mask == 0 && (only.is_none() || f.only == only);
        strand.fences.retain(|f| !covers(f));
        if strand.fences.len() == FENCES {
            strand.fences.remove(0);
        }
        strand.fences.push(Fence { mask, last: mask, scope, only, published });
    }

    /// Ends the threads of `mask`, and returns their clock.
    pub(super) fn exit(&mut self, at: usize, mask: u32) -> Clock {
        let known = self.current(at).known;
        let clock = self.release(at, mask);
        if let Some(strand) = self.strands.get_mut(at) {
            strand.mask &= !mask;
            strand.known = known.narrowed(strand.mask);
        }
        self.strands.retain(|s| s.mask != 0);
        clock
    }
}

/// Releases of a write by the threads of `mask`: the clocks of their fences, limited to the scope of the
/// write. `itself` adds the write to a fence directly before it. `own` is the release of the write itself.
pub(super) fn released(
    fences: &[Fence],
    mask: u32,
    scope: Scope,
    site: Site,
    itself: Option<(Row, u32)>,
    own: Option<&(Scope, Published)>,
) -> Vec<Release> {
    let mut releases = Vec::new();
    for fence in fences.iter().filter(|f| f.mask & mask != 0) {
        let mut clock = fence.published.by(mask & fence.mask);
        if let Some((row, time)) = itself.filter(|_| fence.last & mask != 0) {
            clock.raise(row, mask, time);
        }
        merge(&mut releases, Release { scope: fence.scope.min(scope), site, clock });
    }
    if let Some((scope, own)) = own {
        merge(&mut releases, Release { scope: *scope, site, clock: own.by(mask) });
    }
    releases
}
