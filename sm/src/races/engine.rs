//! Race detector: tracks the happens-before order, and finds unordered conflicting accesses.

use super::clock::{Clock, Events, ProxyFence, Row};
use super::finding::{Findings, Party, Proxy, RaceKind, Site, Strength, Text};
use super::shadow::{Accessor, Record, Shadow};
use super::sync::{Release, Sync, SyncPlace};
use super::warp::{Barrier, BarrierPhase, Fence, Waits, Warp, released};
use crate::observer::{CopyDone, CopyStart, Memory, Threads};
use crate::warp::{groups, lanes};
use atoms_isa::{GroupKind, ProxySpace, Scope, Semantics};
use atoms_ops::Op;
use std::collections::HashMap;

/// Memory-order classification of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rule {
    pub(super) strength: Strength,
    /// Scope of an immediate acquire. `None` if only a later fence acquires.
    pub(super) acquire: Option<Scope>,
    /// Scope of an immediate release, which includes the access itself. `None` if only an earlier fence
    /// releases.
    pub(super) release: Option<Scope>,
    /// True if a fence directly before the access also releases the access: compilers emit this pair for one
    /// release.
    pub(super) fenced: bool,
    /// Bit mask of the loaded words whose value no instruction uses. Bit `n` is word `n` of the load.
    pub(super) unused: u8,
}

impl Rule {
    pub(super) const WEAK: Rule =
        Rule { strength: Strength::Weak, acquire: None, release: None, fenced: false, unused: 0 };

    /// Rule with scope `.cluster` for `.cta`.
    fn at_object(self) -> Rule {
        let wide = |scope: Scope| scope.max(Scope::Cluster);
        let strength = match self.strength {
            Strength::Strong(scope) => Strength::Strong(scope.map(wide)),
            other => other,
        };
        Rule { strength, acquire: self.acquire.map(wide), release: self.release.map(wide), ..self }
    }

    fn scope(self) -> Scope {
        match self.strength {
            Strength::Strong(Some(scope)) => scope,
            Strength::Strong(None) | Strength::Unsaid | Strength::Taken | Strength::Weak => Scope::Sys,
        }
    }
}

pub(super) struct Touch<'a> {
    pub(super) threads: Threads,
    pub(super) pc: u32,
    pub(super) cycle: u64,
    pub(super) memory: Memory,
    /// Byte address of each lane. For shared memory: the offset in the CTA's allocation.
    pub(super) addresses: &'a [u64; 32],
    pub(super) bytes: u32,
    /// Lanes that have read the word.
    pub(super) reads: u32,
    /// Lanes that have written.
    pub(super) writes: u32,
    /// Value that each lane has written. Only for plain stores.
    pub(super) values: Option<&'a [u128; 32]>,
    pub(super) rule: Rule,
    /// True for an operation on an mbarrier object.
    pub(super) object: bool,
}

struct Cta {
    site: Site,
    warps: Vec<Warp>,
    barriers: HashMap<Barrier, BarrierPhase>,
    /// Clock of the threads that have ended.
    exited: Clock,
    last_exit: Option<Party>,
}

#[derive(Default)]
pub(super) struct Engine {
    text: Text,
    /// Index and cycle of the last issued instruction.
    issued: (u32, u64),
    ctas: HashMap<u32, Cta>,
    /// Cluster barrier of each cluster, by number.
    clusters: HashMap<u32, BarrierPhase>,
    /// Completion of each copy at its mbarrier object, by number of the copy.
    copies: HashMap<u64, Completion>,
    shadow: Shadow,
    sync: Sync,
    pub(super) findings: Findings,
}

/// Completion of a copy, or of an arrival after copies, at an mbarrier object.
struct Completion {
    release: Release,
    /// Access to the object, without its strength.
    record: Record,
    /// Clock of the thread at the start.
    started: Clock,
}

fn words(address: u64, bytes: u32) -> impl Iterator<Item = (u64, u8)> {
    let (first, last) = (address / 4, address.saturating_add(u64::from(bytes.max(1)) - 1) / 4);
    (first..=last).map(move |word| {
        let covered = |byte: u64| {
            let at = 4 * word + byte;
            at >= address && at - address < u64::from(bytes)
        };
        (word, (0..4).filter(|b| covered(*b)).fold(0, |m, b| m | 1 << b))
    })
}

fn find(ctas: &mut HashMap<u32, Cta>, threads: Threads) -> Option<(Site, &mut Warp, usize)> {
    let cta = ctas.get_mut(&threads.cta)?;
    let warp = cta.warps.get_mut(threads.warp as usize)?;
    let at = warp.together(threads.together);
    Some((cta.site, warp, at))
}

impl Engine {
    pub(super) fn new(text: Text) -> Engine {
        Engine { text, ..Engine::default() }
    }

    pub(super) fn start(&mut self, cta: u32, cluster: u32, threads: &[u32]) {
        let warps = threads.iter().enumerate();
        let warps = warps
            .map(|(warp, mask)| Warp::new(Row::new(cta, warp as u32, Events::Threads), *mask, self.text))
            .collect();
        let site = Site { cta, cluster };
        let state = Cta { site, warps, barriers: HashMap::new(), exited: Clock::default(), last_exit: None };
        self.ctas.insert(cta, state);
    }

    pub(super) fn end(&mut self, cta: u32) {
        if let Some(Cta { exited, last_exit: Some(exit), .. }) = self.ctas.get(&cta) {
            self.shadow.ended(cta, exited, exit, &mut self.findings);
        }
        if let Some(state) = self.ctas.remove(&cta)
            && !self.ctas.values().any(|c| c.site.cluster == state.site.cluster)
        {
            self.clusters.remove(&state.site.cluster);
        }
        self.shadow.end(cta);
        self.sync.end(cta);
    }

    /// All expected threads have arrived at a block barrier: its phase ends, and the waiting threads learn its clock.
    pub(super) fn complete(&mut self, cta: u32, barrier: Barrier, ended: bool) {
        let Some(cta) = self.ctas.get_mut(&cta) else { return };
        let Some(phase) = cta.barriers.get_mut(&barrier) else { return };
        let wait = Waits { at: barrier, generation: phase.generation() };
        let clock = phase.leave(wait.generation, ended);
        cta.warps.iter_mut().for_each(|warp| warp.end_wait(wait, clock));
    }

    /// Threads continue together, so the warp and cluster barriers at which they waited are complete.
    pub(super) fn issue(&mut self, threads: Threads, pc: u32, cycle: u64) {
        self.issued = (pc, cycle);
        let Some(cta) = self.ctas.get_mut(&threads.cta) else { return };
        let Some(warp) = cta.warps.get_mut(threads.warp as usize) else { return };
        let at = warp.together(threads.together);
        let Some(strand) = warp.strand(at).filter(|s| !s.waits.is_empty()) else { return };
        let mask = strand.mask;
        let mut clock = Clock::default();
        for Waits { at, generation } in std::mem::take(&mut strand.waits) {
            let phase = match at {
                Barrier::Block(_) => continue,
                Barrier::Cluster => self.clusters.entry(cta.site.cluster).or_default(),
                Barrier::Warp(members) => warp.syncs.entry(members).or_default(),
            };
            clock.join(phase.leave(generation, true));
        }
        warp.learn(at, mask, &clock);
    }

    pub(super) fn arrive(&mut self, threads: Threads, barrier: Barrier, waits: bool) {
        let Some(cta) = self.ctas.get_mut(&threads.cta) else { return };
        let Some(warp) = cta.warps.get_mut(threads.warp as usize) else { return };
        let members = if let Barrier::Warp(members) = barrier { members } else { 0 };
        let whole = threads.mask == members & warp.live();
        if whole && self.text == Text::Machine {
            return;
        }
        let at = if waits { warp.together(threads.mask) } else { warp.together(threads.together) };
        let clock = warp.release(at, threads.mask);
        if whole {
            return warp.learn(at, threads.mask, &clock);
        }
        let generation = match barrier {
            Barrier::Block(number) => {
                let phase = cta.barriers.entry(barrier).or_insert_with(|| {
                    let mut phase = BarrierPhase::default();
                    phase.exit(&cta.exited, None);
                    phase
                });
                let party = Party::issuing(self.issued, cta.site, threads);
                if let Some((earlier, first)) = warp.arrivals.remove(&barrier)
                    && !phase.is_known_complete(earlier, &clock)
                {
                    let memory = Memory::Shared(threads.cta);
                    self.findings.add(RaceKind::ArrivedTwice, &first, &party, memory, number.into(), 1);
                }
                let generation = phase.arrive(&clock);
                if !waits {
                    warp.arrivals.insert(barrier, (generation, party));
                }
                generation
            }
            _ => warp.syncs.entry(members).or_default().arrive(&clock),
        };
        if waits && let Some(strand) = warp.strand(at) {
            strand.waits.push(Waits { at: barrier, generation });
        }
    }

    /// Threads arrive at the cluster barrier. Without `release`, they release only what their fences cover.
    pub(super) fn cluster_arrive(&mut self, threads: Threads, release: bool) {
        let Some((site, warp, at)) = find(&mut self.ctas, threads) else { return };
        let mut clock = if release { warp.release(at, threads.mask) } else { Clock::default() };
        let Some(strand) = warp.strand(at) else { return };
        for fence in strand.fences.iter().filter(|f| f.scope >= Scope::Cluster && f.mask & threads.mask != 0)
        {
            clock.join(&fence.published.by(fence.mask & threads.mask));
        }
        // Even an arrival that releases nothing shows that the CTA has started.
        clock.raise(Row::new(threads.cta, 0, Events::Started), 1, 1);
        let phase = self.clusters.entry(site.cluster).or_default();
        strand.at_cluster = Some(phase.arrive(&clock));
    }

    pub(super) fn cluster_wait(&mut self, threads: Threads) {
        let Some((site, warp, at)) = find(&mut self.ctas, threads) else { return };
        let phase = self.clusters.entry(site.cluster).or_default();
        let Some(strand) = warp.strand(at) else { return };
        let generation = strand.at_cluster.unwrap_or(phase.generation());
        strand.waits.push(Waits { at: Barrier::Cluster, generation });
    }

    pub(super) fn fence(&mut self, threads: Threads, semantics: Semantics, scope: Scope) {
        let Some((site, warp, at)) = find(&mut self.ctas, threads) else { return };
        let learners = warp.learners(threads.mask);
        if semantics.acquires()
            && let Some(strand) = warp.strand(at)
        {
            strand.acquire(learners, scope, site);
        }
        if semantics.releases() {
            let limited = matches!(semantics, Semantics::ReleaseShared | Semantics::ReleaseProxy);
            warp.fence(at, threads.mask, scope, limited.then_some(Events::OwnShared));
        }
    }

    /// Threads pass `fence.mbarrier_init.release.cluster`.
    pub(super) fn init_fence(&mut self, threads: Threads) {
        if let Some((_, warp, at)) = find(&mut self.ctas, threads) {
            warp.fence(at, threads.mask, Scope::Cluster, Some(Events::Inits));
        }
    }

    /// Threads pass a fence between the generic proxy and the async proxy. It orders the accesses that they know.
    pub(super) fn proxy_fence(&mut self, threads: Threads, pc: u32, space: ProxySpace) {
        let Some((.., warp, at)) = find(&mut self.ctas, threads) else { return };
        if self.text == Text::Ptx {
            self.findings.fence_executed(pc);
            // Authors put a fence between an initialization and a copy that uses the object. PTX does not ask for it.
            if std::mem::take(&mut warp.initialized) {
                self.findings.fence_orders(pc);
            }
        }
        // Only the text of PTX shows if the author wrote the fence, so machine code needs no rows for each fence.
        let pc = if self.text == Text::Ptx { pc } else { 0 };
        let clock = warp.release(at, threads.mask);
        let fenced = clock.fenced(ProxyFence { pc, cta: threads.cta, space });
        warp.learn(at, threads.mask, &fenced);
    }

    pub(super) fn exit(&mut self, threads: Threads) {
        let Some(cta) = self.ctas.get_mut(&threads.cta) else { return };
        let Some(warp) = cta.warps.get_mut(threads.warp as usize) else { return };
        let at = warp.together(threads.together);
        let at_cluster = warp.strand(at).and_then(|strand| strand.at_cluster);
        let clock = warp.exit(at, threads.mask);
        cta.exited.join(&clock);
        cta.last_exit = Some(Party::issuing(self.issued, cta.site, threads));
        for (barrier, phase) in &mut cta.barriers {
            phase.exit(&clock, warp.arrivals.get(barrier).map(|(generation, _)| *generation));
        }
        self.clusters.entry(cta.site.cluster).or_default().exit(&clock, at_cluster);
    }

    /// Lanes access memory: checks for races, then applies acquire and release.
    pub(super) fn access(&mut self, touch: &Touch<'_>) {
        self.conflicts(touch);
        let fences = self.fences(touch);
        if touch.rule.strength == Strength::Weak {
            return;
        }
        let Some((site, ..)) = find(&mut self.ctas, touch.threads) else { return };
        // Groups of lanes with equal addresses, with each of their words.
        let places = |mask: u32| {
            let word = move |group: u32| {
                words(touch.addresses[group.trailing_zeros() as usize & 31], touch.bytes)
                    .map(move |(word, _)| (group, SyncPlace { memory: touch.memory, word }))
            };
            groups(mask & touch.threads.mask, |lane| touch.addresses[lane]).into_iter().flat_map(word)
        };
        let learnt: Vec<Release> =
            places(touch.reads).flat_map(|(_, place)| self.sync.read(place).to_vec()).collect();
        self.acquire(touch.threads, touch.rule, site, learnt.iter());
        if touch.writes & touch.threads.mask == 0 {
            return;
        }
        let Some((_, warp, at)) = find(&mut self.ctas, touch.threads) else { return };
        let own = touch.rule.release.map(|scope| (scope, warp.publish(at)));
        let itself = (touch.rule.fenced && !fences.is_empty()).then(|| warp.tick());
        let scope = touch.rule.scope();
        for (group, place) in places(touch.writes) {
            let releases = released(&fences, group, scope, site, itself, own.as_ref());
            self.sync.write(place, touch.reads & group != 0, releases.into_iter());
        }
    }

    /// Lanes initialize mbarrier objects. [`Engine::access`] handles the store itself.
    pub(super) fn init(&mut self, memory: Memory, address: u64, bits: u64) {
        self.sync.init(SyncPlace { memory, word: address / 4 }, bits);
    }

    /// Threads initialize mbarrier objects, or store values that may do so.
    pub(super) fn initialized(&mut self, threads: Threads) {
        if let Some((_, warp, _)) = find(&mut self.ctas, threads) {
            warp.initialized = true;
        }
    }

    /// Lanes have executed an operation on one mbarrier object, one after the other. `b` is the count, or for a wait
    /// the parity in bit 31.
    pub(super) fn object(&mut self, touch: &Touch<'_>, group: u32, op: Op, b: u64) {
        let lane = group.trailing_zeros() as usize;
        let Some((site, warp, at)) = find(&mut self.ctas, touch.threads) else { return };
        let place = SyncPlace { memory: touch.memory, word: touch.addresses[lane & 31] / 4 };
        // Scope .cta, the default, is common at objects that a cluster uses. The conflict of the operations is a hint.
        let rule = touch.rule.at_object();
        if matches!(op, Op::MbarTestWait | Op::MbarTryWait) {
            let learnt: Vec<Release> = self.sync.phase(place, b >> 31 & 1 != 0).cloned().collect();
            return self.acquire(touch.threads, rule, site, learnt.iter());
        }
        let own = rule.release.map(|scope| (scope, warp.publish(at)));
        let fences = self.fences(touch);
        let releases = released(&fences, group, rule.scope(), site, None, own.as_ref());
        self.sync.arrive(place, op, b, group.count_ones(), &releases);
    }

    /// A thread starts a copy. Its accesses can race from now on until a thread has waited for the end of the
    /// copy.
    pub(super) fn copy(&mut self, cycle: u64, copy: &CopyStart, to: (Memory, u64), is_bulk: bool) {
        let asker = copy.lane as u8;
        let Some(cta) = self.ctas.get_mut(&copy.cta) else { return };
        let Some(warp) = cta.warps.get_mut(copy.warp as usize) else { return };
        let at = warp.together_with(asker);
        let clock = warp.snapshot(at, 1 << (asker & 31));
        let site = cta.site;
        let of = |events| Row::new(copy.cta, copy.warp, events);
        let (row, written, lane, time) = if copy.counted {
            warp.copies += 1;
            let row = of(if is_bulk { Events::BulkGroups } else { Events::Groups });
            (row, if to.0 == Memory::Global { of(Events::Published) } else { row }, asker, warp.copies)
        } else {
            let (row, lane, time) = warp.slot(&clock);
            (row, row, lane, time)
        };
        let who = Accessor::new(row, 0, &clock);
        let proxy = if is_bulk { Proxy::Async } else { Proxy::Generic };
        let strength = if copy.atomic { Strength::Strong(None) } else { Strength::Weak };
        let party = Party {
            pc: copy.pc,
            cta: copy.cta,
            cluster: site.cluster,
            warp: copy.warp,
            lane: asker,
            cycle,
            copy: true,
            proxy,
            writes: false,
            strength: Strength::Weak,
            object: false,
        };
        let lanes = 1 << (lane & 31);
        let mut touch = |memory: Memory, address: u64, size: u32, party: Party| {
            let row = if party.writes { written } else { row };
            for (word, bytes) in words(address, size).take(size as usize) {
                let record = Record { party, row, lanes, time, bytes, value: None };
                self.shadow.access(memory, word, record, &who, &mut self.findings);
            }
        };
        if let Some((memory, from)) = copy.from {
            touch(memory, from, copy.read_bytes, party);
        }
        let (memory, to) = to;
        touch(memory, to, copy.bytes, Party { writes: true, strength, ..party });
        if !copy.counted {
            let mut end = Clock::default();
            end.raise(row, lanes, time);
            let release = Release { scope: Scope::Sys, site, clock: end };
            let record = Record { party, row, lanes, time, bytes: 0xf, value: None };
            self.copies.insert(copy.number, Completion { release, record, started: clock });
        }
    }

    /// Groups the copies of a kind that each thread has started since its last group of this kind.
    pub(super) fn end_group(&mut self, threads: Threads, kind: GroupKind) {
        let Some((_, warp, _)) = find(&mut self.ctas, threads) else { return };
        let asked = warp.copies;
        for lane in lanes(threads.mask) {
            warp.groups[lane].push((kind, asked));
        }
    }

    /// Threads wait until at most `most` of their last groups of a kind are pending; of both kinds together if `kind`
    /// is `None`. With `read`, a group counts as done when its source has been read.
    pub(super) fn wait_groups(&mut self, threads: Threads, most: u32, kind: Option<GroupKind>, read: bool) {
        let Some((_, warp, at)) = find(&mut self.ctas, threads) else { return };
        let waits_for = |group: &(GroupKind, u32)| kind.is_none_or(|kind| kind == group.0);
        for lane in lanes(threads.mask) {
            let groups = &mut warp.groups[lane];
            let all = groups.iter().filter(|group| waits_for(group)).count();
            let complete = all.saturating_sub(most as usize);
            let Some(last) = complete.checked_sub(1) else { continue };
            let Some((_, asked)) = groups.iter().filter(|group| waits_for(group)).nth(last).copied() else {
                continue;
            };
            if !read {
                let mut left = complete;
                groups.retain(|group| {
                    let done = left > 0 && waits_for(group);
                    left -= usize::from(done);
                    !done
                });
            }
            let known: &[Events] = match (kind, read) {
                (Some(GroupKind::Threads), _) => &[Events::Groups],
                (_, true) => &[Events::BulkGroups],
                (Some(GroupKind::Bulk), false) => &[Events::BulkGroups, Events::Published],
                (None, false) => &[Events::Groups, Events::BulkGroups, Events::Published],
            };
            for events in known {
                warp.copies_end(at, Row::new(threads.cta, threads.warp, *events), lane, asked);
            }
        }
    }

    /// A thread requests an arrival after its earlier counted copies. The arrival releases these copies only.
    pub(super) fn copy_arrival(&mut self, start: &CopyStart) {
        let CopyStart { number, cta, warp, .. } = *start;
        let lane = start.lane as u8;
        let Some(state) = self.ctas.get_mut(&cta) else { return };
        let Some(of) = state.warps.get_mut(warp as usize) else { return };
        let (row, lanes, time) = (Row::new(cta, warp, Events::Groups), 1 << (lane & 31), of.copies);
        let mut clock = Clock::default();
        clock.raise(row, lanes, time);
        let release = Release { scope: Scope::Sys, site: state.site, clock };
        let threads = Threads { cta, warp, together: lanes, mask: lanes };
        let party = Party { copy: true, ..Party::issuing((start.pc, self.issued.1), state.site, threads) };
        let record = Record { party, row, lanes, time, bytes: 0xf, value: None };
        let at = of.together_with(lane);
        self.copies.insert(number, Completion { release, record, started: of.snapshot(at, lanes) });
    }

    /// The completion of a copy or of an arrival has been executed on an mbarrier object.
    pub(super) fn completed(&mut self, done: &CopyDone) {
        let CopyDone { number, cta, op, b, .. } = *done;
        let (memory, address) = (Memory::Shared(cta), u64::from(done.address));
        // The data is visible to every thread that waits at the object, so the release takes the site of the
        // object's CTA.
        let site = self.ctas.get(&cta).map(|cta| cta.site);
        let completion = self.copies.remove(&number);
        let place = SyncPlace { memory, word: address / 4 };
        if let Some(Completion { record, started, .. }) = &completion {
            // The object belongs to the generic proxy, also as an operand of a bulk copy (PTX).
            let (proxy, strength) = (Proxy::Generic, Strength::Strong(None));
            let party = Party { writes: true, object: true, proxy, strength, ..record.party };
            let who = Accessor::new(record.row, 0, started);
            for word in [place.word, place.word + 1] {
                self.shadow.access(memory, word, Record { party, ..*record }, &who, &mut self.findings);
            }
        }
        let release = completion.map(|Completion { release, .. }| release);
        let release = release.map(|release| Release { site: site.unwrap_or(release.site), ..release });
        if op == Op::MbarArriveSm80 {
            // Code for mbarrier objects of two words waits by loading the high word.
            let high = SyncPlace { word: place.word + 1, ..place };
            self.sync.write(high, true, release.into_iter());
        } else {
            self.sync.arrive(place, op, b, 1, release.as_slice());
        }
    }

    /// Returns the fences that the accessing threads have passed. After a plain access, a fence no longer
    /// counts as directly before the next write.
    fn fences(&mut self, touch: &Touch<'_>) -> Vec<Fence> {
        let Some((_, warp, at)) = find(&mut self.ctas, touch.threads) else { return Vec::new() };
        let Some(strand) = warp.strand(at) else { return Vec::new() };
        let fences = strand.fences.clone();
        if !touch.rule.strength.is_atomic() {
            strand.fences.iter_mut().for_each(|fence| fence.last &= !touch.threads.mask);
        }
        fences
    }

    fn acquire<'r>(
        &mut self,
        threads: Threads,
        rule: Rule,
        site: Site,
        releases: impl Iterator<Item = &'r Release>,
    ) {
        let Some((_, warp, at)) = find(&mut self.ctas, threads) else { return };
        let learners = warp.learners(threads.mask);
        let Some(strand) = warp.strand(at) else { return };
        let scope = rule.scope();
        for release in releases {
            if !release.site.reaches(release.scope, site) || !site.reaches(scope, release.site) {
                continue;
            }
            if rule.acquire.is_some_and(|acquire| site.reaches(acquire, release.site)) {
                strand.learn(learners, &release.clock);
            } else {
                strand.keep(scope, release);
            }
        }
    }

    /// Checks accesses for races, without acquire or release.
    pub(super) fn conflicts(&mut self, touch: &Touch<'_>) {
        let Threads { warp: number, together, mask, .. } = touch.threads;
        let Some((Site { cta, cluster }, warp, at)) = find(&mut self.ctas, touch.threads) else { return };
        let (row, time) = (warp.row, warp.time);
        let Some(strand) = warp.strand(at) else { return };
        let first = mask.trailing_zeros() as usize & 31;
        let like_first = |lane: usize| {
            let alike = |other: usize| {
                (touch.addresses[other], touch.writes >> other & 1, touch.values.map(|v| v[other]))
            };
            alike(lane) == alike(first)
        };
        // Lanes that access one word alike are checked together.
        let uniform = strand.common().is_some() && lanes(mask).all(like_first);
        let mut rest = mask;
        while rest != 0 {
            let group = if uniform { rest } else { rest & rest.wrapping_neg() };
            rest &= !group;
            let lane = group.trailing_zeros() as usize;
            let together = match self.text {
                Text::Machine => together,
                // Threads of a warp run separately.
                Text::Ptx if group.is_power_of_two() => group,
                Text::Ptx => 0,
            };
            let own = if strand.common().is_none() { strand.clock_of(lane) } else { Clock::default() };
            let who = Accessor::new(row, together, strand.common().unwrap_or(&own));
            let party = Party {
                pc: touch.pc,
                cta,
                cluster,
                warp: number,
                lane: lane as u8,
                cycle: touch.cycle,
                copy: false,
                proxy: Proxy::Generic,
                writes: touch.writes >> lane & 1 != 0,
                strength: touch.rule.strength,
                object: touch.object,
            };
            let looked_at = |(number, _): &(usize, _)| touch.rule.unused >> number & 1 == 0;
            let all = words(touch.addresses[lane], touch.bytes).enumerate();
            for (_, (word, bytes)) in all.filter(looked_at) {
                let at = 32 * (word - touch.addresses[lane] / 4) as u32;
                let kept = u128::MAX >> (128 - 8 * touch.bytes.clamp(1, 16));
                let value = touch.values.map(|v| (v[lane] & kept).checked_shr(at).unwrap_or(0) as u32);
                let record = Record { party, row, lanes: group, time, bytes, value };
                self.shadow.access(touch.memory, word, record, &who, &mut self.findings);
            }
        }
    }
}
