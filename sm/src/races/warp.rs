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

/// Events that threads of a strand make known to others.
#[derive(Clone, Debug)]
pub(super) struct Published {
    clock: Clock,
    /// Row and time of the warp, if each thread publishes only its own accesses.
    own: Option<(Row, u32)>,
}

impl Published {
    /// Events that the threads of `mask` make known.
    pub(super) fn by(&self, mask: u32) -> Clock {
        let mut clock = self.clock.clone();
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
    /// WARPSYNC, or a collective instruction.
    Warp,
}

/// Clocks that threads bring to a barrier, and the clock that they take away.
#[derive(Default)]
pub(super) struct BarrierPhase {
    arriving: Clock,
    done: Clock,
    /// Ended threads count as arrived in each phase.
    ended: Clock,
    /// Threads that have ended after their arrival in this phase. They count as arrived in the next phases.
    ended_late: Clock,
    generation: u32,
    /// Row, lanes and time of the warps that have continued after the last complete phase.
    left: Vec<(Row, u32, u32)>,
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

    /// Continues a thread that waited for `generation`. The first one ends the phase.
    pub(super) fn leave(&mut self, generation: u32) -> &Clock {
        if generation == self.generation {
            self.done = std::mem::take(&mut self.arriving);
            self.done.join(&self.ended);
            self.ended.join(&std::mem::take(&mut self.ended_late));
            self.generation = self.generation.wrapping_add(1);
            self.left.clear();
        }
        &self.done
    }

    pub(super) fn left(&mut self, row: Row, lanes: u32, time: u32) {
        self.left.push((row, lanes, time));
    }

    /// True if a thread with this clock knows that the phase `generation` is complete.
    pub(super) fn is_known_complete(&self, generation: u32, clock: &Clock) -> bool {
        let later = self.generation.wrapping_sub(generation);
        let knows =
            |(row, lanes, time): &(Row, u32, u32)| clock.get(*row, lanes.trailing_zeros() as u8) >= *time;
        later > 1 || (later == 1 && self.left.iter().any(knows))
    }

    pub(super) fn generation(&self) -> u32 {
        self.generation
    }
}

/// Threads of a warp that run together. In machine code, each instruction orders them with each other.
#[derive(Clone, Default)]
pub(super) struct Strand {
    pub(super) mask: u32,
    /// Events that all threads of the strand know. Each thread also knows its own, and in machine code those of all
    /// threads of the strand.
    pub(super) clock: Clock,
    pub(super) fences: Vec<Fence>,
    open: Vec<Open>,
    pub(super) waits: Vec<Waits>,
    /// Phase of the cluster barrier at which the strand has arrived.
    pub(super) at_cluster: Option<u32>,
}

impl Strand {
    /// Acquires a release immediately.
    pub(super) fn learn(&mut self, clock: &Clock) {
        self.clock.join(clock);
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

    /// Passes an acquiring fence: acquires the kept releases in its scope.
    pub(super) fn acquire(&mut self, scope: Scope, site: Site) {
        let clock = &mut self.clock;
        self.open.retain(|Open { release, .. }| {
            let reaches = site.reaches(scope, release.site);
            if reaches {
                clock.join(&release.clock);
            }
            !reaches
        });
    }

    fn absorb(&mut self, other: Strand) {
        self.clock.join(&other.clock);
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
    pub(super) sync: BarrierPhase,
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
            sync: BarrierPhase::default(),
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
        let known: Vec<_> = (0..self.strands.len()).map(|at| self.snapshot(at, 0)).collect();
        let (mut joined, mut rest) = (Strand { mask, ..Strand::default() }, Vec::new());
        for (mut strand, clock) in std::mem::take(&mut self.strands).into_iter().zip(known) {
            let inside = strand.mask & mask;
            if inside != 0 {
                joined.absorb(Strand { clock: clock.clone(), ..strand.clone() });
            }
            if strand.mask & !mask != 0 {
                // Threads that leave know the events of the time in which they were together.
                if inside != 0 {
                    strand.clock = clock;
                }
                strand.mask &= !mask;
                rest.push(strand);
            }
        }
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
            return Published { clock: Clock::default(), own: None };
        };
        let published = Published { clock: strand.clock.clone(), own: Some((self.row, self.time)) };
        match self.text {
            Text::Ptx => published,
            Text::Machine => Published { clock: published.by(strand.mask), own: None },
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

    pub(super) fn learn(&mut self, at: usize, clock: &Clock) {
        if let Some(strand) = self.strands.get_mut(at) {
            strand.learn(clock);
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
            published = Published { clock: Clock::default(), own: Some((Row { events, ..row }, time)) };
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
        let known = self.snapshot(at, 0);
        let clock = self.release(at, mask);
        if let Some(strand) = self.strands.get_mut(at) {
            strand.clock = known;
            strand.mask &= !mask;
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
