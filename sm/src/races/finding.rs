use crate::observer::Memory;
use atoms_isa::Scope;
use std::collections::BTreeMap;
use std::fmt;

/// Kind of race: two unordered accesses to one word, at least one of which writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RaceKind {
    /// Both accesses are atomic, but the scope of one does not include the other thread (spec 7.4).
    Scope,
    PlainAndAtomic,
    Plain,
}

impl RaceKind {
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

/// Atomicity of an access with respect to other accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strength {
    Weak,
    /// Shared store in machine code, which does not distinguish plain and volatile stores. Treated as plain,
    /// except against [`Strength::Taken`] loads.
    Unsaid,
    /// Load in machine code that is treated as atomic because of the use of its value.
    Taken,
    /// Atomic for threads in this scope; for all threads if the code states no scope.
    Strong(Option<Scope>),
}

impl Strength {
    pub fn is_atomic(self) -> bool {
        self.scope().is_some()
    }

    /// Scope in which the access is atomic. `None` if plain; `Some(None)` if the code states no scope.
    pub(super) fn scope(self) -> Option<Option<Scope>> {
        match self {
            Strength::Weak | Strength::Unsaid => None,
            Strength::Taken => Some(None),
            Strength::Strong(scope) => Some(scope),
        }
    }
}

/// Position of a thread with respect to scopes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Site {
    pub(super) cta: u32,
    pub(super) cluster: u32,
}

impl Site {
    /// True if `scope` around this thread includes `other`.
    pub(super) fn reaches(self, scope: Scope, other: Site) -> bool {
        match scope {
            Scope::Cta => self.cta == other.cta,
            Scope::Cluster => self.cluster == other.cluster,
            Scope::Gpu | Scope::Sys => true,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Party {
    pub pc: u32,
    pub cta: u32,
    pub cluster: u32,
    pub warp: u32,
    /// Lane. For a block copy: the lane that started the copy.
    pub lane: u8,
    pub cycle: u64,
    /// True for an asynchronous copy, which runs in parallel with the thread that started it.
    pub copy: bool,
    pub writes: bool,
    /// Atomicity of the access, and the scope in which it is atomic.
    pub strength: Strength,
}

impl Party {
    pub(super) fn site(&self) -> Site {
        Site { cta: self.cta, cluster: self.cluster }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub kind: RaceKind,
    /// Earlier access of the first occurrence.
    pub first: Party,
    pub second: Party,
    pub memory: Memory,
    /// Byte address of the word. For shared memory: the offset in the CTA's allocation.
    pub address: u64,
    /// Number of occurrences, counted per word.
    pub count: u64,
}

impl Finding {
    /// Advice to fix the race, depending on the scope that both threads share.
    pub fn advice(&self) -> String {
        let Finding { kind, first, second, .. } = self;
        if (first.copy || second.copy) && *kind != RaceKind::Scope {
            return "wait for the end of the copy: for its group (cp.async.wait_group) or its mbarrier object; \
                    other threads then also need a barrier"
                .into();
        }
        let (scope, barrier) = if first.cta == second.cta {
            (".cta", "a block barrier (bar.sync), or ")
        } else if first.cluster == second.cluster {
            (".cluster", "the cluster barrier (barrier.cluster), or ")
        } else {
            (".gpu", "")
        };
        let order =
            format!("{barrier}a release in one thread and an acquire in the other, both of scope {scope}");
        match kind {
            RaceKind::Scope => format!("give both atomics scope {scope} or a wider scope"),
            RaceKind::PlainAndAtomic => {
                format!("make both accesses atomic with scope {scope}, or order them: {order}")
            }
            RaceKind::Plain => format!("order them: {order}"),
        }
    }
}

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
