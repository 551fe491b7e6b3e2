//! Litmus tests of the detector: steps of threads in a given order, and the races expected.

use super::engine::{Engine, Rule, Touch};
use super::finding::{RaceKind, Strength};
use super::warp::Barrier;
use crate::observer::{CopyStart, Memory, Threads};
use atoms_isa::{GroupKind, ProxySpace, Scope, Semantics};
use atoms_ops::Op;

/// Data word, and the flag by which threads synchronize.
const DATA: u64 = 0x100;
const FLAG: u64 = 0x200;

/// Step of one thread. CTAs 0 and 1 form a cluster, CTA 2 is alone. Warps 0 and 1 of each CTA have one
/// thread.
#[derive(Clone, Copy, Debug)]
enum Step {
    Read(u64),
    Write(u64),
    /// Atomic load, store or exchange.
    Load(u64, Semantics, Scope),
    Store(u64, Semantics, Scope),
    Exch(u64, Semantics, Scope),
    Fence(Semantics, Scope),
    /// Shared accesses in machine code: possibly volatile store, load treated as atomic, atomic.
    Sts(u64),
    Taken(u64),
    Atoms(u64),
    /// Arrive at block barrier 0 and wait. The next step of the thread implies that all threads have arrived.
    Block,
    ClusterArrive,
    ClusterWait,
    Init(u64, u64),
    Arrive(u64),
    /// The thread learns that the phase with this parity is complete.
    Waited(u64, bool),
    /// Bulk copy from shared to global memory, or the other way, with a group; wait until all are complete.
    CopyOut(u64),
    CopyIn(u64),
    CopiesDone,
    /// Fence between the proxies.
    Proxy(ProxySpace),
    Exit,
}

use Semantics::{AcqRel, Acquire, Relaxed, Release, Sc};
use Step::{
    Arrive, Atoms, Block, ClusterArrive, ClusterWait, CopiesDone, CopyIn, CopyOut, Exch, Exit, Fence, Init,
    Load, Proxy, Read, Store, Sts, Taken, Waited, Write,
};

fn strong(semantics: Semantics, scope: Scope) -> Rule {
    Rule {
        strength: Strength::Strong(Some(scope)),
        acquire: matches!(semantics, Acquire | AcqRel | Sc).then_some(scope),
        release: matches!(semantics, Release | AcqRel | Sc).then_some(scope),
        ..Rule::WEAK
    }
}

/// Executes the steps and returns the kinds of races. A step is (CTA, warp, step).
fn found_in(memory: Memory, steps: &[(u32, u32, Step)]) -> Vec<RaceKind> {
    let mut engine = Engine::default();
    [(0, 0), (1, 0), (2, 1)].into_iter().for_each(|(cta, cluster)| engine.start(cta, cluster, &[1, 1]));
    let mut waiting = Vec::new();
    for (pc, (cta, warp, step)) in steps.iter().copied().enumerate() {
        let threads = Threads { cta, warp, together: 1, mask: 1 };
        if waiting.contains(&(cta, warp)) {
            engine.complete(cta, Barrier::Block(0), true);
            waiting.retain(|(other, _)| *other != cta);
        }
        engine.issue(threads, pc as u32, pc as u64);
        let touch = |address: u64, reads, writes, rule| (address, reads, writes, rule);
        let weak = Rule::WEAK;
        let any = Rule { strength: Strength::Strong(None), ..weak };
        let access = match step {
            Read(at) => touch(at, 1, 0, weak),
            Write(at) | Init(at, _) => touch(at, 0, 1, weak),
            Load(at, semantics, scope) => touch(at, 1, 0, strong(semantics, scope)),
            Store(at, semantics, scope) => touch(at, 0, 1, strong(semantics, scope)),
            Exch(at, semantics, scope) => touch(at, 1, 1, strong(semantics, scope)),
            Arrive(at) => touch(at, 1, 1, Rule { release: Some(Scope::Cta), ..any }),
            Waited(at, _) => touch(at, 1, 0, Rule { acquire: Some(Scope::Cta), ..any }),
            Sts(at) => touch(at, 0, 1, Rule { strength: Strength::Unsaid, fenced: true, ..weak }),
            Taken(at) => {
                touch(at, 1, 0, Rule { strength: Strength::Taken, acquire: Some(Scope::Sys), ..weak })
            }
            Atoms(at) => touch(at, 1, 1, Rule { acquire: Some(Scope::Sys), fenced: true, ..any }),
            Fence(semantics, scope) => {
                engine.fence(threads, semantics, scope);
                continue;
            }
            Block => {
                engine.arrive(threads, Barrier::Block(0), true);
                waiting.push((cta, warp));
                continue;
            }
            ClusterArrive => {
                engine.cluster_arrive(threads, true);
                continue;
            }
            ClusterWait => {
                engine.cluster_wait(threads);
                continue;
            }
            Proxy(space) => {
                engine.proxy_fence(threads, pc as u32, space);
                continue;
            }
            CopyOut(at) | CopyIn(at) => {
                let (shared, global) = ((memory, at), (Memory::Global, (pc as u64 + 1) << 16));
                let out = matches!(step, CopyOut(_));
                let (from, to) = if out { (shared, global) } else { (global, shared) };
                let (number, pc, bytes) = (pc as u64, pc as u32, 4);
                let (from, to, lane) = (Some(from), Some(to), 0);
                let start = CopyStart {
                    number,
                    pc,
                    cta,
                    warp,
                    lane,
                    from,
                    to,
                    bytes,
                    read_bytes: bytes,
                    atomic: false,
                    counted: true,
                };
                engine.copy(number, &start, start.to.expect("a destination"), true);
                engine.end_group(threads, GroupKind::Threads);
                continue;
            }
            CopiesDone => {
                engine.wait_groups(threads, 0, None, false);
                continue;
            }
            Exit => {
                engine.exit(threads);
                continue;
            }
        };
        let (address, reads, writes, rule) = access;
        let touch = Touch {
            threads,
            pc: pc as u32,
            cycle: pc as u64,
            memory,
            addresses: &[address; 32],
            bytes: 4,
            reads,
            writes,
            values: None,
            rule,
            object: false,
        };
        if !matches!(step, Init(..) | Arrive(_) | Waited(..)) {
            engine.access(&touch);
            continue;
        }
        engine.conflicts(&touch);
        match step {
            Init(at, bits) => engine.init(memory, at, bits),
            Arrive(_) => engine.object(&touch, 1, Op::MbarArrive, 0),
            Waited(_, odd) => engine.object(&touch, 1, Op::MbarTestWait, u64::from(odd) << 31),
            _ => {}
        }
    }
    engine.findings.iter().map(|f| f.kind).collect()
}

/// Test case: name of the rule, steps, expected races.
type Row<'a> = (&'a str, &'a [(u32, u32, Step)], &'a [RaceKind]);

fn check(memory: Memory, rows: &[Row<'_>]) {
    for (rule, steps, expected) in rows {
        assert_eq!(found_in(memory, steps), *expected, "{rule}");
    }
}

const CTA: Scope = Scope::Cta;
const CLUSTER: Scope = Scope::Cluster;
const GPU: Scope = Scope::Gpu;

#[test]
fn messages_are_passed_by_release_and_acquire() {
    #[rustfmt::skip]
    check(Memory::Global, &[
        ("release and acquire on the flag", &[
            (0, 0, Write(DATA)), (0, 0, Store(FLAG, Release, CTA)),
            (0, 1, Load(FLAG, Acquire, CTA)), (0, 1, Read(DATA)),
        ], &[]),
        ("fences around relaxed accesses", &[
            (0, 0, Write(DATA)), (0, 0, Fence(AcqRel, CTA)), (0, 0, Store(FLAG, Relaxed, CTA)),
            (0, 1, Load(FLAG, Relaxed, CTA)), (0, 1, Fence(AcqRel, CTA)), (0, 1, Read(DATA)),
        ], &[]),
        ("a release by a fence, an acquire by the load", &[
            (0, 0, Write(DATA)), (0, 0, Fence(Release, CTA)), (0, 0, Store(FLAG, Relaxed, CTA)),
            (0, 1, Load(FLAG, Acquire, CTA)), (0, 1, Read(DATA)),
        ], &[]),
        ("no fence before the store", &[
            (0, 0, Write(DATA)), (0, 0, Store(FLAG, Relaxed, CTA)),
            (0, 1, Load(FLAG, Acquire, CTA)), (0, 1, Read(DATA)),
        ], &[RaceKind::Plain]),
        ("no fence after the load", &[
            (0, 0, Write(DATA)), (0, 0, Store(FLAG, Release, CTA)),
            (0, 1, Load(FLAG, Relaxed, CTA)), (0, 1, Read(DATA)),
        ], &[RaceKind::Plain]),
        ("what follows the fence is not released", &[
            (0, 0, Fence(Sc, CTA)), (0, 0, Write(DATA)), (0, 0, Store(FLAG, Relaxed, CTA)),
            (0, 1, Load(FLAG, Acquire, CTA)), (0, 1, Read(DATA)),
        ], &[RaceKind::Plain]),
        ("an acquire fence releases nothing", &[
            (0, 0, Write(DATA)), (0, 0, Fence(Acquire, CTA)), (0, 0, Store(FLAG, Relaxed, CTA)),
            (0, 1, Load(FLAG, Acquire, CTA)), (0, 1, Read(DATA)),
        ], &[RaceKind::Plain]),
        ("a plain flag orders nothing", &[
            (0, 0, Write(DATA)), (0, 0, Fence(Sc, CTA)), (0, 0, Write(FLAG)),
            (0, 1, Load(FLAG, Acquire, CTA)), (0, 1, Read(DATA)),
        ], &[RaceKind::PlainAndAtomic, RaceKind::Plain]),
        ("reading back is a race as well", &[
            (0, 0, Read(DATA)), (0, 1, Write(DATA)),
        ], &[RaceKind::Plain]),
        ("two reads do not race", &[(0, 0, Read(DATA)), (0, 1, Read(DATA))], &[]),
        ("a chain of atomics passes the release on", &[
            (0, 0, Write(DATA)), (0, 0, Store(FLAG, Release, CTA)),
            (0, 1, Exch(FLAG, Relaxed, GPU)),
            (0, 1, Load(FLAG, Acquire, CTA)), (0, 1, Read(DATA)),
        ], &[]),
    ]);
}

#[test]
fn a_store_ends_the_chain_of_a_release() {
    let steps = |between: Step| {
        vec![
            (0, 0, Write(DATA)),
            (0, 0, Store(FLAG, Release, GPU)),
            (1, 0, between),
            (2, 0, Load(FLAG, Acquire, GPU)),
            (2, 0, Read(DATA)),
        ]
    };
    assert_eq!(found_in(Memory::Global, &steps(Exch(FLAG, Relaxed, GPU))), []);
    assert_eq!(found_in(Memory::Global, &steps(Store(FLAG, Relaxed, GPU))), [RaceKind::Plain]);
}

#[test]
fn scopes_must_include_each_other() {
    #[rustfmt::skip]
    check(Memory::Global, &[
        (".gpu across CTAs", &[
            (0, 0, Write(DATA)), (0, 0, Store(FLAG, Release, GPU)),
            (2, 0, Load(FLAG, Acquire, GPU)), (2, 0, Read(DATA)),
        ], &[]),
        (".cta across CTAs is too narrow", &[
            (0, 0, Write(DATA)), (0, 0, Store(FLAG, Release, CTA)),
            (1, 0, Load(FLAG, Acquire, CTA)), (1, 0, Read(DATA)),
        ], &[RaceKind::Scope, RaceKind::Plain]),
        ("one of two scopes is too narrow", &[
            (0, 0, Exch(FLAG, Relaxed, GPU)), (1, 0, Exch(FLAG, Relaxed, CTA)),
        ], &[RaceKind::Scope]),
        (".cluster inside the cluster", &[
            (0, 0, Write(DATA)), (0, 0, Store(FLAG, Release, CLUSTER)),
            (1, 0, Load(FLAG, Acquire, CLUSTER)), (1, 0, Read(DATA)),
        ], &[]),
        (".cluster to another cluster is too narrow", &[
            (0, 0, Exch(FLAG, Relaxed, CLUSTER)), (2, 0, Exch(FLAG, Relaxed, CLUSTER)),
        ], &[RaceKind::Scope]),
        ("a narrow fence does not release to another CTA, though the flag reaches it", &[
            (0, 0, Write(DATA)), (0, 0, Fence(AcqRel, CTA)), (0, 0, Store(FLAG, Relaxed, GPU)),
            (1, 0, Load(FLAG, Acquire, GPU)), (1, 0, Read(DATA)),
        ], &[RaceKind::Plain]),
        ("a narrow fence does not acquire from another CTA", &[
            (0, 0, Write(DATA)), (0, 0, Store(FLAG, Release, GPU)),
            (1, 0, Load(FLAG, Relaxed, GPU)), (1, 0, Fence(AcqRel, CTA)), (1, 0, Read(DATA)),
        ], &[RaceKind::Plain]),
        ("two atomics of different scopes in one CTA", &[
            (0, 0, Exch(FLAG, Relaxed, CTA)), (0, 1, Exch(FLAG, Relaxed, GPU)),
        ], &[]),
        ("an atomic and a plain store", &[
            (0, 0, Exch(FLAG, Relaxed, GPU)), (0, 1, Write(FLAG)),
        ], &[RaceKind::PlainAndAtomic]),
        ("a scope that is too narrow, but ordered accesses", &[
            (0, 0, Exch(FLAG, Relaxed, CTA)), (0, 0, Store(DATA, Release, GPU)),
            (1, 0, Load(DATA, Acquire, GPU)), (1, 0, Exch(FLAG, Relaxed, CTA)),
        ], &[]),
    ]);
}

#[test]
fn machine_code_does_not_say_which_accesses_to_shared_memory_are_atomic() {
    #[rustfmt::skip]
    check(Memory::Shared(0), &[
        ("a fence, a store, a polling load", &[
            (0, 0, Write(DATA)), (0, 0, Fence(AcqRel, CTA)), (0, 0, Sts(FLAG)),
            (0, 1, Taken(FLAG)), (0, 1, Read(DATA)),
        ], &[]),
        ("without the fence", &[
            (0, 0, Write(DATA)), (0, 0, Sts(FLAG)), (0, 1, Taken(FLAG)), (0, 1, Read(DATA)),
        ], &[RaceKind::Plain]),
        ("the store races with a plain load", &[
            (0, 0, Fence(AcqRel, CTA)), (0, 0, Sts(FLAG)), (0, 1, Read(FLAG)),
        ], &[RaceKind::Plain]),
        ("the store races with an atomic", &[
            (0, 0, Fence(AcqRel, CTA)), (0, 0, Sts(FLAG)), (0, 1, Atoms(FLAG)),
        ], &[RaceKind::PlainAndAtomic]),
        ("a store that is certainly plain", &[
            (0, 0, Write(FLAG)), (0, 1, Taken(FLAG)),
        ], &[RaceKind::PlainAndAtomic]),
        ("a store ends the chain of a release", &[
            (0, 0, Write(DATA)), (0, 0, Fence(AcqRel, CTA)), (0, 0, Atoms(FLAG)),
            (0, 0, Sts(FLAG + 4)), (0, 0, Sts(FLAG)),
            (0, 1, Taken(FLAG)), (0, 1, Read(DATA)), (0, 1, Read(FLAG + 4)),
        ], &[RaceKind::Plain]),
        ("a fence releases the atomic directly after it", &[
            (0, 0, Fence(AcqRel, CTA)), (0, 0, Atoms(FLAG)), (0, 1, Atoms(FLAG)), (0, 1, Read(FLAG)),
        ], &[]),
        ("a fence, a plain access, an atomic", &[
            (0, 0, Fence(AcqRel, CTA)), (0, 0, Write(DATA)), (0, 0, Atoms(FLAG)), (0, 1, Atoms(FLAG)),
            (0, 1, Read(FLAG)), (0, 1, Read(DATA)),
        ], &[RaceKind::PlainAndAtomic, RaceKind::Plain]),
    ]);
}

#[test]
fn threads_that_go_on_know_what_those_did_that_ended() {
    for together in [true, false] {
        let mut engine = Engine::default();
        engine.start(0, 0, &[0b11, 0b1]);
        let touch = |engine: &mut Engine, warp: u32, threads: u32, mask: u32, address: u64, rule: Rule| {
            let threads = Threads { cta: 0, warp, together: threads, mask };
            engine.issue(threads, 0, 0);
            let (reads, writes) = if warp == 0 && rule == Rule::WEAK { (0, mask) } else { (mask, mask) };
            let memory = Memory::Shared(0);
            let addresses = &[address; 32];
            let (values, pc, cycle, bytes) = (None, warp, 0, 4);
            engine.access(&Touch {
                threads,
                pc,
                cycle,
                memory,
                addresses,
                bytes,
                reads,
                writes,
                values,
                rule,
                object: false,
            });
        };
        let release = strong(AcqRel, Scope::Cta);
        touch(&mut engine, 0, if together { 0b11 } else { 0b10 }, 0b10, DATA, Rule::WEAK);
        engine.exit(Threads { cta: 0, warp: 0, together: if together { 0b11 } else { 0b10 }, mask: 0b10 });
        touch(&mut engine, 0, 0b01, 0b01, FLAG, release);
        touch(&mut engine, 1, 0b1, 0b1, FLAG, release);
        touch(&mut engine, 1, 0b1, 0b1, DATA, Rule::WEAK);
        assert_eq!(engine.findings.iter().count(), usize::from(!together), "{together}");
    }
}

#[test]
fn barriers_order_those_who_meet() {
    #[rustfmt::skip]
    check(Memory::Shared(0), &[
        ("a block barrier", &[
            (0, 0, Write(DATA)), (0, 0, Block), (0, 1, Block), (0, 1, Read(DATA)),
        ], &[]),
        ("before the barrier they are not in order", &[
            (0, 0, Write(DATA)), (0, 1, Read(DATA)), (0, 0, Block), (0, 1, Block),
        ], &[RaceKind::Plain]),
        ("after the barrier they are not in order", &[
            (0, 0, Block), (0, 1, Block), (0, 0, Write(DATA)), (0, 1, Read(DATA)),
        ], &[RaceKind::Plain]),
        ("a thread that ended has arrived", &[
            (0, 0, Write(DATA)), (0, 0, Exit), (0, 1, Block), (0, 1, Read(DATA)),
        ], &[]),
        ("the cluster's barrier", &[
            (0, 0, Write(DATA)), (0, 0, ClusterArrive), (1, 0, ClusterArrive), (1, 0, ClusterWait),
            (1, 0, Read(DATA)),
        ], &[]),
        ("arriving without waiting", &[
            (0, 0, Write(DATA)), (0, 0, ClusterArrive), (1, 0, ClusterArrive), (1, 0, Read(DATA)),
        ], &[RaceKind::Plain, RaceKind::LateEntry]),
        ("what comes after the arrival", &[
            (0, 0, ClusterArrive), (0, 0, Write(DATA)), (1, 0, ClusterArrive), (1, 0, ClusterWait),
            (1, 0, Read(DATA)),
        ], &[RaceKind::Plain]),
    ]);
}

/// Word that init writes for this number of arrivals (spec 6.2).
fn object(count: u64) -> u64 {
    let field = (1 << 20) - count;
    field << 1 | field << 43
}

#[test]
fn phases_of_an_mbarrier_object_hand_over_what_was_done_in_them() {
    let bar = 0x300;
    let begin = [(0, 0, Init(bar, object(2))), (0, 0, Block), (0, 1, Block), (0, 1, Arrive(bar))];
    let with = |steps: &[(u32, u32, Step)]| {
        found_in(Memory::Shared(0), &begin.iter().chain(steps).copied().collect::<Vec<_>>())
    };
    assert_eq!(
        with(&[(0, 0, Write(DATA)), (0, 0, Arrive(bar)), (0, 1, Waited(bar, false)), (0, 1, Read(DATA))]),
        []
    );
    let no_wait = with(&[(0, 0, Write(DATA)), (0, 0, Arrive(bar)), (0, 1, Read(DATA))]);
    assert_eq!(no_wait, [RaceKind::Plain]);
    let late =
        with(&[(0, 0, Arrive(bar)), (0, 0, Write(DATA)), (0, 1, Waited(bar, false)), (0, 1, Read(DATA))]);
    assert_eq!(late, [RaceKind::Plain]);
    // Thread 0 has already arrived in the next phase, but thread 1 has only learned of the first one.
    let next = with(&[
        (0, 0, Arrive(bar)),
        (0, 0, Write(DATA)),
        (0, 0, Arrive(bar)),
        (0, 1, Waited(bar, false)),
        (0, 1, Read(DATA)),
    ]);
    assert_eq!(next, [RaceKind::Plain]);
    let before_init = found_in(Memory::Shared(0), &[(0, 0, Init(bar, object(2))), (0, 1, Arrive(bar))]);
    assert_eq!(before_init, [RaceKind::PlainAndAtomic]);
}

#[test]
fn threads_of_a_warp_are_in_order_while_they_are_together() {
    let touch = |engine: &mut Engine, pc: u32, together: u32, mask: u32, reads: u32| {
        let threads = Threads { cta: 0, warp: 0, together, mask };
        engine.issue(threads, 0, 0);
        engine.access(&Touch {
            threads,
            pc,
            cycle: 0,
            memory: Memory::Shared(0),
            addresses: &[DATA; 32],
            bytes: 4,
            reads,
            writes: mask & !reads,
            values: None,
            rule: Rule::WEAK,
            object: false,
        });
    };
    // Lane 0 writes and lane 1 reads: first in one split, then in separate splits, then in one split again.
    for (first, second, races) in [(0b11, 0b11, 0), (0b01, 0b10, 1)] {
        let mut engine = Engine::default();
        engine.start(0, 0, &[0b11]);
        touch(&mut engine, 0, first, 0b01, 0);
        touch(&mut engine, 1, second, 0b10, 0b10);
        assert_eq!(engine.findings.iter().count(), races, "{first:#b} {second:#b}");
        touch(&mut engine, 2, 0b11, 0b01, 0);
        touch(&mut engine, 3, 0b01, 0b01, 0);
        // Lane 1 knows the accesses of lane 0 before they diverged, but not the later ones.
        touch(&mut engine, 4, 0b10, 0b10, 0b10);
        assert_eq!(engine.findings.iter().filter(|f| f.second.pc == 4).count(), 1);
        assert!(engine.findings.iter().all(|f| f.first.pc != 2));
    }
}

#[test]
fn a_bulk_copy_needs_a_proxy_fence_after_generic_accesses() {
    const FENCE: Step = Proxy(ProxySpace::Cta);
    #[rustfmt::skip]
    check(Memory::Shared(0), &[
        ("no fence, same thread", &[(0, 0, Write(DATA)), (0, 0, CopyOut(DATA))], &[RaceKind::Proxy]),
        ("fence, same thread", &[(0, 0, Write(DATA)), (0, 0, FENCE), (0, 0, CopyOut(DATA))], &[]),
        ("fence of all memory", &[(0, 0, Write(DATA)), (0, 0, Proxy(ProxySpace::All)), (0, 0, CopyOut(DATA))], &[]),
        ("fence of global memory", &[(0, 0, Write(DATA)), (0, 0, Proxy(ProxySpace::Global)), (0, 0, CopyOut(DATA))],
            &[RaceKind::Proxy]),
        ("fence before the write", &[(0, 0, FENCE), (0, 0, Write(DATA)), (0, 0, CopyOut(DATA))], &[RaceKind::Proxy]),
        ("fence in the writer, before the barrier", &[
            (0, 0, Write(DATA)), (0, 0, FENCE), (0, 0, Block), (0, 1, Block), (0, 1, CopyOut(DATA)),
        ], &[]),
        ("fence in the issuer, after the barrier", &[
            (0, 0, Write(DATA)), (0, 0, Block), (0, 1, Block), (0, 1, FENCE), (0, 1, CopyOut(DATA)),
        ], &[]),
        ("fence in the issuer, before the barrier", &[
            (0, 0, Write(DATA)), (0, 0, Block), (0, 1, FENCE), (0, 1, Block), (0, 1, CopyOut(DATA)),
        ], &[RaceKind::Proxy]),
        ("fence in one of two writers", &[
            (0, 0, Write(DATA)), (0, 0, FENCE), (0, 1, Write(DATA + 4)), (0, 0, Block), (0, 1, Block),
            (0, 0, CopyOut(DATA)), (0, 0, CopyOut(DATA + 4)),
        ], &[RaceKind::Proxy]),
        ("a fence does not replace the barrier", &[(0, 0, Write(DATA)), (0, 0, FENCE), (0, 1, CopyOut(DATA))],
            &[RaceKind::Plain]),
        ("write after write", &[(0, 0, Write(DATA)), (0, 0, CopyIn(DATA))], &[RaceKind::Proxy]),
        ("write after read", &[(0, 0, Read(DATA)), (0, 0, CopyIn(DATA))], &[RaceKind::ProxyWar]),
        ("read after read", &[(0, 0, Read(DATA)), (0, 0, CopyOut(DATA))], &[]),
        ("generic accesses after a copy", &[
            (0, 0, CopyIn(DATA)), (0, 0, CopiesDone), (0, 0, Read(DATA)), (0, 0, Write(DATA)),
        ], &[]),
        ("copy after copy", &[(0, 0, CopyIn(DATA)), (0, 0, CopiesDone), (0, 0, CopyOut(DATA))], &[]),
        ("a copy does not hide the write from the next one", &[
            (0, 0, Write(DATA)), (0, 0, Block), (0, 1, Block), (0, 0, FENCE), (0, 0, CopyOut(DATA)),
            (0, 1, CopyOut(DATA)),
        ], &[RaceKind::Proxy]),
    ]);
}

#[test]
fn halves_of_a_word_do_not_meet_and_equal_stores_do_no_harm() {
    let found = |addresses: [u64; 2], bytes: u32, values: [u128; 2]| {
        let mut engine = Engine::default();
        engine.start(0, 0, &[1, 1]);
        for warp in [0, 1] {
            let threads = Threads { cta: 0, warp, together: 1, mask: 1 };
            engine.access(&Touch {
                threads,
                pc: warp,
                cycle: 0,
                memory: Memory::Shared(0),
                addresses: &[addresses[warp as usize]; 32],
                bytes,
                reads: 0,
                writes: 1,
                values: Some(&[values[warp as usize]; 32]),
                rule: Rule::WEAK,
                object: false,
            });
        }
        engine.findings.iter().map(|f| f.count).sum::<u64>()
    };
    assert_eq!(found([DATA, DATA + 2], 2, [1, 2]), 0);
    assert_eq!(found([DATA, DATA], 2, [1, 2]), 1);
    assert_eq!(found([DATA, DATA], 2, [0xdead_0001, 0x0001]), 0);
    assert_eq!(found([DATA, DATA], 16, [1 << 96 | 7, 2 << 96 | 7]), 1);
    assert_eq!(found([DATA, DATA + 2], 4, [1, 2]), 1);
}
