//! Races that were found.

use crate::observer::Memory;
use atoms_isa::Scope;
use std::collections::BTreeMap;
use std::fmt;

/// What is wrong with two accesses to one word, at least one of which writes, that nothing orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RaceKind {
    /// Both are atomic, and the scope of one does not include the other (spec 7.4).
    Scope,
    /// One is a plain access, the other atomic.
    PlainAndAtomic,
    /// Both are plain.
    Plain,
}

impl RaceKind {
    /// Name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            RaceKind::Scope => "scope",
            RaceKind::PlainAndAtomic => "plain and atomic",
            RaceKind::Plain => "plain",
        }
    }
}

impl fmt::Display for RaceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RaceKind::Scope => "two atomics whose scopes do not include each other",
            RaceKind::PlainAndAtomic => "a plain access races with an atomic",
            RaceKind::Plain => "two plain accesses race",
        })
    }
}

/// Atomicity of an access to other accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strength {
    /// The access is not atomic.
    Weak,
    /// A store of which the text does not say: machine code has one for plain and for volatile ones. Plain to all but
    /// loads that are taken for atomic.
    Unsaid,
    /// A load of which the text does not say, taken for atomic by what is done with its value.
    Taken,
    /// To those of its scope; to all where the text does not say.
    Strong(Option<Scope>),
}

impl Strength {
    /// True if the access is atomic.
    pub fn is_atomic(self) -> bool {
        self.scope().is_some()
    }

    /// To which scope it is atomic, if it is: to all where the text does not say.
    pub(super) fn scope(self) -> Option<Option<Scope>> {
        match self {
            Strength::Weak | Strength::Unsaid => None,
            Strength::Taken => Some(None),
            Strength::Strong(scope) => Some(scope),
        }
    }
}

/// A thread as scopes see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Site {
    pub(super) cta: u32,
    pub(super) cluster: u32,
}

impl Site {
    /// True if `scope` around this thread includes the other.
    pub(super) fn reaches(self, scope: Scope, other: Site) -> bool {
        match scope {
            Scope::Cta => self.cta == other.cta,
            Scope::Cluster => self.cluster == other.cluster,
            Scope::Gpu | Scope::Sys => true,
        }
    }
}

/// One of the two accesses of a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Party {
    /// Index of the instruction in the kernel.
    pub pc: u32,
    /// Number of the CTA in the grid.
    pub cta: u32,
    /// Number of its cluster in the grid.
    pub cluster: u32,
    /// Number of the warp in the CTA.
    pub warp: u32,
    /// The lane; of a block copy, the one that asked for it.
    pub lane: u8,
    pub cycle: u64,
    /// A copy, which goes on while the thread that asked for it does.
    pub copy: bool,
    /// True if it writes.
    pub writes: bool,
    /// Atomicity of the access, and the threads to which it is atomic.
    pub strength: Strength,
}

impl Party {
    /// Place of the thread, as scopes see it.
    pub(super) fn site(&self) -> Site {
        Site { cta: self.cta, cluster: self.cluster }
    }
}

/// A race between two instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub kind: RaceKind,
    /// The earlier access of the first time.
    pub first: Party,
    /// The later one.
    pub second: Party,
    pub memory: Memory,
    /// Byte address of the word; of shared memory, in the CTA's allocation.
    pub address: u64,
    /// Number of times that this was found, word by word.
    pub count: u64,
}

impl Finding {
    /// What would work for these two, by how far apart they are.
    pub fn advice(&self) -> String {
        let Finding { kind, first, second, .. } = self;
        if (first.copy || second.copy) && *kind != RaceKind::Scope {
            return "wait for the copy before: for its group (cp.async.wait_group) or the mbarrier object that it \
                    completes at, and then, in other threads, at a barrier"
                .into();
        }
        let (scope, barrier) = if first.cta == second.cta {
            (".cta", "a block barrier (bar.sync), or ")
        } else if first.cluster == second.cluster {
            (".cluster", "the cluster's barrier (barrier.cluster), or ")
        } else {
            (".gpu", "")
        };
        let order = format!("{barrier}release by one and acquire by the other, of scope {scope}");
        match kind {
            RaceKind::Scope => format!("give both scope {scope} or a wider one"),
            RaceKind::PlainAndAtomic => format!("make both atomic, of scope {scope}, or order them: {order}"),
            RaceKind::Plain => format!("order them: {order}"),
        }
    }
}

/// Findings by kind and pair of instructions.
#[derive(Default)]
pub(super) struct Findings {
    found: BTreeMap<(RaceKind, u32, u32), Finding>,
}

impl Findings {
    pub(super) fn add(
        &mut self,
        kind: RaceKind,
        first: &Party,
        second: &Party,
        memory: Memory,
        address: u64,
    ) {
        let pair = (kind, first.pc.min(second.pc), first.pc.max(second.pc));
        let finding = || Finding { kind, first: *first, second: *second, memory, address, count: 0 };
        self.found.entry(pair).or_insert_with(finding).count += 1;
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Finding> {
        self.found.values()
    }
}
