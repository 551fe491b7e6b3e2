use crate::observer::{Memory, Threads};
use atoms_isa::Scope;
use std::collections::BTreeMap;
use std::fmt;

/// Source of the kernel's code, which decides how much it states about memory order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Text {
    /// Machine code, which states little about memory order.
    #[default]
    Machine,
    /// PTX. Missing qualifiers have the default values of PTX.
    Ptx,
}

/// Kind of race: two unordered accesses to one word, at least one of which writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RaceKind {
    /// Both accesses are atomic, but the scope of one does not include the other thread (spec 7.4).
    Scope,
    PlainAndAtomic,
    Plain,
    /// An access of the async proxy after a write of the generic proxy, without a proxy fence between.
    Proxy,
    /// A write of the async proxy after a read of the generic proxy, without a proxy fence between.
    ProxyWar,
    /// Same as [`RaceKind::Proxy`], but a proxy fence of another CTA, or for the shared memory of one CTA, is between.
    ProxyFar,
    /// A read of global memory by the async proxy after a write of the generic proxy, without a proxy fence between.
    ProxyGlobal,
    /// An access to memory of a CTA that need not have started yet.
    LateEntry,
    /// An access to memory of a CTA that can end before.
    EarlyExit,
    /// A warp arrives again at a block barrier whose phase need not be complete.
    ArrivedTwice,
    /// Operations on one mbarrier object by threads of several CTAs, one of them with scope `.cta`.
    ObjectScope,
}

/// Kinds of findings to report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RaceChecks {
    /// Accesses that nothing orders, and scopes that are too narrow.
    pub races: bool,
    /// Missing proxy fences after a write.
    pub proxies: bool,
    /// Missing proxy fences after a read.
    pub proxies_war: bool,
}

impl RaceChecks {
    pub const NONE: RaceChecks = RaceChecks { races: false, proxies: false, proxies_war: false };
    /// All checks without [`RaceChecks::proxies_war`], about which sources disagree.
    pub const ALL: RaceChecks = RaceChecks { races: true, proxies: true, proxies_war: false };

    pub fn any(self) -> bool {
        self.races || self.proxies || self.proxies_war
    }

    pub fn includes(self, kind: RaceKind) -> bool {
        match kind {
            RaceKind::Scope | RaceKind::PlainAndAtomic | RaceKind::Plain => self.races,
            RaceKind::ObjectScope => self.races,
            RaceKind::LateEntry | RaceKind::EarlyExit | RaceKind::ArrivedTwice => self.races,
            RaceKind::Proxy | RaceKind::ProxyFar | RaceKind::ProxyGlobal => self.proxies,
            RaceKind::ProxyWar => self.proxies_war,
        }
    }
}

impl RaceKind {
    /// True if sources disagree, so that the finding need not be a bug.
    pub const fn is_hint(self) -> bool {
        matches!(self, RaceKind::ProxyFar | RaceKind::ProxyGlobal | RaceKind::ObjectScope)
    }

    pub const fn name(self) -> &'static str {
        match self {
            RaceKind::Scope => "scope",
            RaceKind::PlainAndAtomic => "plain and atomic",
            RaceKind::Plain => "plain",
            RaceKind::Proxy => "proxy",
            RaceKind::ProxyWar => "proxy, write after read",
            RaceKind::ProxyFar => "proxy, fence for one CTA",
            RaceKind::ProxyGlobal => "proxy, global memory",
            RaceKind::LateEntry => "late entry",
            RaceKind::EarlyExit => "early exit",
            RaceKind::ArrivedTwice => "arrived twice",
            RaceKind::ObjectScope => "mbarrier scope",
        }
    }
}

impl fmt::Display for RaceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RaceKind::Scope => "two atomics whose scopes do not include each other",
            RaceKind::PlainAndAtomic => "a plain access races with an atomic",
            RaceKind::Plain => "two plain accesses race",
            RaceKind::Proxy => "no proxy fence between a write and a bulk copy",
            RaceKind::ProxyWar => "no proxy fence between a read and a bulk copy that overwrites",
            RaceKind::ProxyFar => "the proxy fence between an access and a bulk copy may be too narrow",
            RaceKind::LateEntry => "the CTA of this memory may not have started",
            RaceKind::EarlyExit => "the CTA of this memory may end before the access",
            RaceKind::ArrivedTwice => "a warp may arrive twice in one phase",
            RaceKind::ObjectScope => "scope .cta at an mbarrier object that several CTAs use",
            RaceKind::ProxyGlobal => "no proxy fence between a write to global memory and a bulk copy",
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

/// Path of an access to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proxy {
    /// Loads, stores, atomics, and copies of `cp.async` and `st.async`.
    Generic,
    /// Bulk copies and reductions.
    Async,
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
    pub proxy: Proxy,
    pub writes: bool,
    /// Atomicity of the access, and the scope in which it is atomic.
    pub strength: Strength,
    /// True for an operation on an mbarrier object.
    pub object: bool,
}

impl Party {
    /// The same access by other lanes. Copies keep the lane that started them.
    pub(super) fn of(self, lanes: u32) -> Party {
        Party { lane: if self.copy { self.lane } else { (lanes.trailing_zeros() & 31) as u8 }, ..self }
    }

    /// True for `mbarrier.init` and `mbarrier.inval`.
    pub(super) fn is_init(&self) -> bool {
        self.object && self.strength == Strength::Weak
    }

    /// Threads that issue the instruction with this index, in this cycle. It accesses no memory.
    pub(super) fn issuing((pc, cycle): (u32, u64), site: Site, threads: Threads) -> Party {
        Party {
            pc,
            cta: site.cta,
            cluster: site.cluster,
            warp: threads.warp,
            lane: (threads.mask.trailing_zeros() & 31) as u8,
            cycle,
            copy: false,
            proxy: Proxy::Generic,
            writes: false,
            strength: Strength::Weak,
            object: false,
        }
    }

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
    /// Byte address of the word. For shared memory: the offset in the CTA's allocation. For
    /// [`RaceKind::ArrivedTwice`]: the number of the block barrier.
    pub address: u64,
    /// Number of occurrences, counted per word and lane of the later access.
    pub count: u64,
}

impl Finding {
    /// Advice to fix the race, depending on the scope that both threads share.
    pub fn advice(&self) -> String {
        let Finding { kind, first, second, memory, .. } = self;
        let own = first.cta == second.cta && *memory == Memory::Shared(second.cta);
        let space = match memory {
            Memory::Global => "global",
            Memory::Shared(_) if own => "shared::cta",
            Memory::Shared(_) => "shared::cluster",
        };
        let (scope, barrier) = if (first.cta, first.warp) == (second.cta, second.warp) {
            (".cta", "bar.warp.sync, or ")
        } else if first.cta == second.cta {
            (".cta", "a block barrier (bar.sync), or ")
        } else if first.cluster == second.cluster {
            (".cluster", "the cluster barrier (barrier.cluster), or ")
        } else {
            (".gpu", "")
        };
        let order =
            format!("{barrier}a release in one thread and an acquire in the other, both of scope {scope}");
        match kind {
            RaceKind::LateEntry => {
                "put barrier.cluster.arrive and barrier.cluster.wait before the first access to another CTA".into()
            }
            RaceKind::EarlyExit if first.copy => {
                "let a thread of this CTA wait for the copy before the threads of the CTA end: barrier.cluster does \
                 not wait for copies"
                    .into()
            }
            RaceKind::EarlyExit => {
                "put barrier.cluster.arrive and barrier.cluster.wait after the last access to another CTA, and \
                 before the threads of both CTAs end"
                    .into()
            }
            RaceKind::ArrivedTwice => {
                "between both arrivals, wait for something that a thread does after this phase, such as another \
                 barrier"
                    .into()
            }
            RaceKind::ObjectScope => "give both operations scope .cluster".into(),
            RaceKind::Proxy | RaceKind::ProxyWar | RaceKind::ProxyGlobal if first.copy => format!(
                "put fence.proxy.async.{space} between them, after the wait for the first copy (cp.async.wait_group or its object) and before the \
                 barrier that orders both"
            ),
            RaceKind::Proxy | RaceKind::ProxyWar | RaceKind::ProxyGlobal if first.cta == second.cta => format!(
                "put fence.proxy.async.{space} between them: either in each thread of the first access, before the barrier \
                 that orders them, or in the thread of the copy, after that barrier"
            ),
            RaceKind::Proxy | RaceKind::ProxyWar | RaceKind::ProxyGlobal | RaceKind::ProxyFar => format!(
                "put fence.proxy.async.{space} in the thread of the copy, after the barrier that orders them"
            ),
            RaceKind::Scope => format!("give both atomics scope {scope} or a wider scope"),
            _ if first.copy => {
                "wait for the end of the copy: for its group (cp.async.wait_group) or its mbarrier object; \
                 other threads then also need a barrier"
                    .into()
            }
            _ if second.copy && !first.writes => {
                "order the read before the start of the copy: put a barrier between them, or arrive after the read \
                 and wait for this phase before the copy. If the read needs the data of the copy, wait for the copy"
                    .into()
            }
            _ if second.copy => {
                "order the access before the start of the copy: put a barrier between them, or arrive after the \
                 access and wait for this phase before the copy"
                    .into()
            }
            // Initialization cannot be atomic.
            RaceKind::PlainAndAtomic if !first.object || !second.object => {
                format!("make both accesses atomic with scope {scope}, or order them: {order}")
            }
            RaceKind::PlainAndAtomic | RaceKind::Plain => format!("order them: {order}"),
        }
    }
}

#[derive(Default)]
pub(super) struct Findings {
    found: BTreeMap<(RaceKind, u32, u32), Finding>,
    /// Proxy fences that were executed, by instruction. True if the fence ordered an access before a copy.
    fences: BTreeMap<u32, bool>,
}

impl Findings {
    pub(super) fn add(
        &mut self,
        kind: RaceKind,
        first: &Party,
        second: &Party,
        memory: Memory,
        address: u64,
        count: u32,
    ) {
        let pair = (kind, first.pc.min(second.pc), first.pc.max(second.pc));
        let finding = || Finding { kind, first: *first, second: *second, memory, address, count: 0 };
        self.found.entry(pair).or_insert_with(finding).count += u64::from(count);
    }

    pub(super) fn fence_executed(&mut self, pc: u32) {
        self.fences.entry(pc).or_default();
    }

    pub(super) fn fence_orders(&mut self, pc: u32) {
        self.fences.insert(pc, true);
    }

    /// Proxy fences that ordered no access before a copy.
    pub(super) fn idle_fences(&self) -> impl Iterator<Item = u32> {
        self.fences.iter().filter(|(_, orders)| !**orders).map(|(pc, _)| *pc)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Finding> {
        self.found.values()
    }
}
