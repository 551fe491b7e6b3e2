//! Threads of a warp, and where they meet others.

use super::clock::{Clock, Row};
use super::finding::Site;
use super::sync::{Release, merge};
use crate::warp::LANES;
use atoms_isa::Scope;

/// Releases by fences that are kept of a strand; those before them are narrower or older.
const FENCES: usize = 8;

/// A fence that a strand has passed, and what its release covers.
#[derive(Clone, Debug)]
pub(super) struct Fence {
    pub(super) mask: u32,
    /// Threads whose accesses since are atomic, all of them.
    pub(super) last: u32,
    pub(super) scope: Scope,
    pub(super) clock: Clock,
}

/// What a strand has read of, without an acquire so far: the scope of the read, and the release.
#[derive(Clone, Debug)]
pub(super) struct Open {
    scope: Scope,
    release: Release,
}

/// Where a strand waits, and for which phase there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Waits {
    pub(super) at: Barrier,
    pub(super) generation: u32,
}

/// Barrier at which threads wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Barrier {
    /// A block barrier.
    Block(u32),
    /// The cluster's barrier.
    Cluster,
    /// WARPSYNC.
    Warp,
}

/// Clocks that threads bring to a barrier, and the clock that they take away.
#[derive(Default)]
pub(super) struct BarrierPhase {
    arriving: Clock,
    done: Clock,
    generation: u32,
}

impl BarrierPhase {
    /// Adds a thread that arrives. Returns the phase.
    pub(super) fn arrive(&mut self, clock: &Clock) -> u32 {
        self.arriving.join(clock);
        self.generation
    }

    /// Continues a thread that waited for `generation`. The first one ends the phase.
    pub(super) fn leave(&mut self, generation: u32, besides: &Clock) -> &Clock {
        if generation == self.generation {
            self.done = std::mem::take(&mut self.arriving);
            self.done.join(besides);
            self.generation = self.generation.wrapping_add(1);
        }
        &self.done
    }

    /// Returns the current phase.
    pub(super) fn generation(&self) -> u32 {
        self.generation
    }
}

/// Threads of a warp that are together: each instruction finds them in order with each other.
#[derive(Clone, Default)]
pub(super) struct Strand {
    pub(super) mask: u32,
    /// What it knows of others; of its own threads, all is known.
    pub(super) clock: Clock,
    pub(super) fences: Vec<Fence>,
    open: Vec<Open>,
    pub(super) waits: Vec<Waits>,
    /// The phase at the cluster's barrier that it has arrived for.
    pub(super) at_cluster: Option<u32>,
}

impl Strand {
    /// Learns what has been released, at once.
    pub(super) fn learn(&mut self, clock: &Clock) {
        self.clock.join(clock);
    }

    /// Keeps what it has read of until a fence.
    pub(super) fn keep(&mut self, scope: Scope, release: &Release) {
        let same = |o: &&mut Open| {
            o.scope == scope && o.release.scope == release.scope && o.release.site == release.site
        };
        match self.open.iter_mut().find(same) {
            Some(open) => open.release.clock.join(&release.clock),
            None => self.open.push(Open { scope, release: release.clone() }),
        }
    }

    /// Passes a fence that acquires: learns what it has read of in its scope.
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
    /// Its own time: goes on whenever another may learn how far it has come.
    pub(super) time: u32,
    strands: Vec<Strand>,
    pub(super) sync: BarrierPhase,
    /// Copies asked for so far.
    pub(super) copies: u32,
    /// By lane, for each group of copies not waited for, how many had been asked for at its end.
    pub(super) groups: [Vec<u32>; LANES],
}

impl Warp {
    pub(super) fn new(row: Row, mask: u32) -> Warp {
        let strand = Strand { mask, ..Strand::default() };
        Warp {
            row,
            time: 1,
            strands: vec![strand],
            sync: BarrierPhase::default(),
            copies: 0,
            groups: Default::default(),
        }
    }

    /// Threads that have not ended.
    pub(super) fn live(&self) -> u32 {
        self.strands.iter().fold(0, |mask, s| mask | s.mask)
    }

    /// The strand of the threads in `mask`, which go on together from here.
    pub(super) fn together(&mut self, mask: u32) -> usize {
        if let Some(at) = self.strands.iter().position(|s| s.mask == mask) {
            return at;
        }
        let known = self.snapshots();
        let (mut joined, mut rest) = (Strand { mask, ..Strand::default() }, Vec::new());
        for (mut strand, clock) in std::mem::take(&mut self.strands).into_iter().zip(known) {
            let inside = strand.mask & mask;
            if inside != 0 {
                joined.absorb(Strand { clock: clock.clone(), ..strand.clone() });
            }
            if strand.mask & !mask != 0 {
                // Threads that part know what they did together.
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

    /// The strand that a thread is in.
    pub(super) fn together_with(&self, lane: u8) -> usize {
        self.strands.iter().position(|s| s.mask >> (lane & 31) & 1 != 0).unwrap_or(self.strands.len())
    }

    pub(super) fn strand(&mut self, at: usize) -> Option<&mut Strand> {
        self.strands.get_mut(at)
    }

    /// All that a strand knows, what it did itself included.
    pub(super) fn snapshot(&self, at: usize) -> Clock {
        let Some(strand) = self.strands.get(at) else { return Clock::default() };
        let mut clock = strand.clock.clone();
        clock.raise(self.row, strand.mask, self.time);
        clock
    }

    fn snapshots(&self) -> Vec<Clock> {
        (0..self.strands.len()).map(|at| self.snapshot(at)).collect()
    }

    /// As [`Warp::snapshot`]; what the strand does from here on is not in it.
    pub(super) fn release(&mut self, at: usize) -> Clock {
        let clock = self.snapshot(at);
        self.time += 1;
        clock
    }

    /// Now, in its own time; what comes from here on is later.
    pub(super) fn tick(&mut self) -> (Row, u32) {
        let now = (self.row, self.time);
        self.time += 1;
        now
    }

    /// The threads of `mask` pass a fence that releases.
    pub(super) fn fence(&mut self, at: usize, mask: u32, scope: Scope) {
        let clock = self.release(at);
        let Some(strand) = self.strands.get_mut(at) else { return };
        // What a narrower fence of the same threads covered, this one does.
        strand.fences.retain(|f| f.scope > scope || f.mask & !mask != 0);
        if strand.fences.len() == FENCES {
            strand.fences.remove(0);
        }
        strand.fences.push(Fence { mask, last: mask, scope, clock });
    }

    /// The threads of `mask` end; gives what they knew. Those that go on know what all of them did together.
    pub(super) fn exit(&mut self, at: usize, mask: u32) -> Clock {
        let clock = self.release(at);
        if let Some(strand) = self.strands.get_mut(at) {
            strand.clock = clock.clone();
            strand.mask &= !mask;
        }
        self.strands.retain(|s| s.mask != 0);
        clock
    }
}

/// What a write to a word releases for the threads of `mask`: what their fences covered, as far as the scope of the
/// write goes, the write `itself` with a fence right before it, and `own`, if the write itself releases.
pub(super) fn released(
    fences: &[Fence],
    mask: u32,
    scope: Scope,
    site: Site,
    itself: Option<(Row, u32)>,
    own: Option<Release>,
) -> Vec<Release> {
    let mut releases = Vec::new();
    for fence in fences.iter().filter(|f| f.mask & mask != 0) {
        let mut clock = fence.clock.clone();
        if let Some((row, time)) = itself.filter(|_| fence.last & mask != 0) {
            clock.raise(row, mask, time);
        }
        merge(&mut releases, Release { scope: fence.scope.min(scope), site, clock });
    }
    if let Some(own) = own {
        merge(&mut releases, own);
    }
    releases
}
