//! Finds the objects at which the threads of a run wait, for reports.

use super::Core;
use super::releasers::{Act, Agent, ObjectKey};
use crate::deadlock::{
    BlockedObject, DeadlockHint, DeadlockReport, HintCause, Releaser, WaitObject, WaitPlace, WarpLanes, waits,
};
use crate::error::InstructionPlace;
use crate::warp::{Wait, Warp, groups, lanes};
use atoms_isa::Operation;
use atoms_model::mbarrier::MbarObject;
use atoms_ops::Op;
use std::collections::{BTreeMap, BTreeSet};

/// Reads a word of shared memory by row and bank.
type ReadWord<'r> = &'r dyn Fn(u32, u32) -> u32;

impl Core<'_> {
    pub(super) fn place(&self, slot: usize, pc: u32) -> InstructionPlace {
        let warp = self.warps.get(slot).and_then(Option::as_deref);
        let cta = warp.and_then(|w| self.ctas.get(w.cta_slot)).and_then(Option::as_ref);
        InstructionPlace {
            kernel: self.kernel.name.clone(),
            line: Box::new(self.kernel.source.get(pc as usize).cloned().unwrap_or_default()),
            cta: cta.map_or(0, |c| c.number),
            warp: warp.map_or(0, |w| w.number),
        }
    }

    /// True if threads wait to reconverge with running threads of their warp and may not continue alone. Only
    /// before sm_70.
    fn held_back(&self) -> bool {
        let held = |warp: &Warp| {
            let converging = warp.splits.iter().any(|s| matches!(s.wait, Wait::Convergence(_)));
            converging && warp.splits.iter().any(|s| s.wait == Wait::Ready)
        };
        self.warps.iter().flatten().any(|warp| !warp.independent && held(warp))
    }

    /// Reports the objects at which threads wait. `quiet` is the number of cycles without a change, for a
    /// livelock.
    pub(super) fn deadlock(&self, word: ReadWord<'_>, quiet: Option<u64>) -> Box<DeadlockReport> {
        let agents = self.agents();
        let mut at: BTreeMap<&ObjectKey, Vec<usize>> = BTreeMap::new();
        agents.iter().enumerate().for_each(|(index, agent)| at.entry(&agent.key).or_default().push(index));
        let keys: Vec<&ObjectKey> = at.keys().copied().collect();
        let acts: Vec<Vec<Act>> = agents.iter().map(|agent| self.acts(agent)).collect();
        let (mut blocked, mut hints, mut releasers) = (Vec::new(), Vec::new(), Vec::new());
        for (key, waiters) in &at {
            let object = self.object(key, &agents[waiters[0]], word);
            let released = self.releasers(key, &object, &agents, &acts);
            let alone = released.iter().all(|r| agents[r.agent].key == **key);
            hints.extend(
                self.hint(key, &object, alone, word)
                    .map(|cause| DeadlockHint { object: blocked.len(), cause }),
            );
            let places = waiters.iter().filter_map(|agent| {
                let line = self.kernel.source.get(agents[*agent].waits_at as usize)?;
                let source = line.position.as_ref().map(ToString::to_string);
                Some(WaitPlace { line: line.line, text: line.text.clone(), source })
            });
            let places: BTreeSet<WaitPlace> = places.collect();
            blocked.push(BlockedObject {
                cta: agents[waiters[0]].threads.cta,
                object,
                waiters: threads(&agents, waiters.iter().copied()),
                places: places.into_iter().collect(),
                releasers: threads(&agents, released.iter().map(|r| r.agent)),
                certain: released.iter().all(|r| r.certain),
                ended: self.ended(agents[waiters[0]].cta_slot),
            });
            releasers.push(released);
        }
        // One such wait is usual. If objects wait for each other, one of these waits must not block.
        let first = |hint: &DeadlockHint| hint.cause == HintCause::FirstPhase;
        if hints.iter().filter(|hint| first(hint)).count() == 1 {
            hints.retain(|hint| !first(hint));
        }
        let index = |agent: usize| keys.iter().position(|key| **key == agents[agent].key).unwrap_or(0);
        let edges: Vec<Vec<(usize, bool)>> = releasers
            .iter()
            .map(|of: &Vec<Releaser>| {
                let each: BTreeSet<(usize, bool)> = of.iter().map(|r| (index(r.agent), r.certain)).collect();
                each.into_iter().collect()
            })
            .collect();
        let waits = waits(&edges, |object, behind| {
            threads(
                &agents,
                releasers[object].iter().map(|r| r.agent).filter(|agent| index(*agent) == behind),
            )
        });
        let in_step = Some(self.kernel.arch).filter(|_| quiet.is_some() && self.held_back());
        Box::new(DeadlockReport { cycle: self.cycle, quiet, in_step, blocked, waits, hints })
    }

    fn ended(&self, cta_slot: usize) -> Vec<u32> {
        let slots = self.ctas[cta_slot].iter().flat_map(|cta| &cta.warps);
        let warps = slots.filter_map(|slot| self.warps[*slot].as_deref());
        warps.filter(|warp| warp.splits.is_empty()).map(|warp| warp.number).collect()
    }

    fn agents(&self) -> Vec<Agent> {
        let mut agents = Vec::new();
        for (slot, warp) in self.warps.iter().enumerate().filter_map(|(slot, w)| Some((slot, w.as_deref()?)))
        {
            for (index, split) in warp.splits.iter().enumerate() {
                let mut add = |mask: u32, waits_at: u32, key: ObjectKey| {
                    let lanes = Some(mask).filter(|mask| *mask != warp.live);
                    let threads = WarpLanes { cta: self.cta_number(warp.cta_slot), warp: warp.number, lanes };
                    let (cta_slot, pc) = (warp.cta_slot, split.pc);
                    agents.push(Agent { slot, cta_slot, index, mask, pc, waits_at, key, threads });
                };
                let request = self.requests[slot].as_ref().filter(|r| split.mask & r.mask != 0);
                let suspended = request.filter(|r| r.op == Op::MbarTryWait).map_or(0, |r| r.mask);
                let can_run = matches!(split.wait, Wait::Ready | Wait::Until(_));
                if !can_run {
                    let key = self.wait_key(warp, split.wait);
                    // Threads wait behind the instruction, except before a collective one.
                    let before = matches!(split.wait, Wait::Collective { .. });
                    add(split.mask, if before { split.pc } else { split.pc.saturating_sub(1) }, key);
                    continue;
                }
                let open = split.mask & (warp.asked.open | suspended);
                for mask in groups(open, |lane| warp.asked.address[lane]) {
                    let first = mask.trailing_zeros() as usize & 31;
                    let key = ObjectKey::Mbarrier(warp.cta_slot, warp.asked.address[first] & 0xff_ffff);
                    add(mask, warp.asked.pc[first], key);
                }
                if split.mask & !open != 0 {
                    let pc = request.map_or(split.pc, |r| r.pc);
                    add(split.mask & !open, pc, ObjectKey::Running(warp.cta_slot));
                }
            }
        }
        agents
    }

    fn wait_key(&self, warp: &Warp, wait: Wait) -> ObjectKey {
        let slot = warp.cta_slot;
        let what = match wait {
            Wait::Block(id) => return ObjectKey::Block(slot, id),
            Wait::Cluster => {
                return ObjectKey::Cluster(self.ctas[slot].as_ref().map_or(0, |cta| cta.cluster));
            }
            Wait::Ready | Wait::Until(_) => return ObjectKey::Running(slot),
            Wait::Convergence(barrier) => format!("convergence barrier B{barrier}"),
            Wait::WarpSync { mask, .. } => format!("WARPSYNC of lanes {mask:#010x}"),
            Wait::Collective { mask, .. } => format!("instruction of lanes {mask:#010x} together"),
            Wait::Groups(most) => format!("copies, at most {most} groups pending"),
        };
        ObjectKey::Warp(slot, what)
    }

    /// Describes an object. `waiter` is one of the agents that wait at it.
    fn object(&self, key: &ObjectKey, waiter: &Agent, word: ReadWord<'_>) -> WaitObject {
        match *key {
            ObjectKey::Mbarrier(slot, address) => {
                let bits = self.read_object(slot, address, word).unwrap_or(0);
                let two_words = self.kernel.arch.number() < 90;
                let object = if two_words { sm_80_object(bits) } else { MbarObject::decode(bits) };
                let arrivals = self.log.object((slot, address), bits).map(|history| &history.arrivals);
                let arrived = arrivals.into_iter().flatten().filter_map(|(slot, (_, lanes))| {
                    let warp = self.warps[*slot].as_deref()?;
                    let lanes = (warp.live & !lanes != 0).then_some(*lanes);
                    Some(WarpLanes { cta: self.cta_number(warp.cta_slot), warp: warp.number, lanes })
                });
                let asked = self.warps[waiter.slot].as_deref().map(|warp| &warp.asked);
                let parity = asked.map(|asked| (asked.parity & waiter.mask != 0).into());
                WaitObject::Mbarrier {
                    name: self.kernel.shared_variable(address),
                    address,
                    phase: object.phase.into(),
                    waited: parity.filter(|_| !two_words),
                    pending: object.pending,
                    count: object.expected,
                    bytes: object.tx,
                    arrived: arrived.collect(),
                }
            }
            ObjectKey::Block(slot, id) => {
                let Some(cta) = &self.ctas[slot] else { return WaitObject::Running };
                let barrier = &cta.barriers[usize::from(id & 15)];
                let warps = || cta.warps.iter().filter_map(|slot| self.warps[*slot].as_deref());
                let live = warps().map(|warp| warp.live.count_ones()).sum();
                let waiting = warps().map(|warp| warp.waiting(|w| w == Wait::Block(id)).count_ones());
                let arrived = waiting.sum::<u32>() + barrier.arrived;
                WaitObject::BlockBarrier { id, arrived, count: barrier.expected.unwrap_or(live) }
            }
            ObjectKey::Cluster(cluster) => {
                let ctas = self.ctas.iter().flatten().filter(|cta| cta.cluster == cluster);
                let warps = ctas.flat_map(|cta| &cta.warps).filter_map(|slot| self.warps[*slot].as_deref());
                let (mut arrived, mut count) = (0, 0);
                for warp in warps {
                    arrived += (warp.live & warp.at_cluster).count_ones();
                    count += warp.live.count_ones();
                }
                WaitObject::ClusterBarrier { arrived, count }
            }
            ObjectKey::Warp(_, ref what) => WaitObject::Warp { what: what.clone() },
            ObjectKey::Running(_) => WaitObject::Running,
        }
    }

    /// Names the likely cause of the wait at an object. `alone` is true if no thread that waits elsewhere can
    /// release it.
    fn hint(
        &self,
        key: &ObjectKey,
        object: &WaitObject,
        alone: bool,
        word: ReadWord<'_>,
    ) -> Option<HintCause> {
        match (key, object) {
            (
                ObjectKey::Mbarrier(slot, address),
                WaitObject::Mbarrier { phase, waited, pending, count, bytes, .. },
            ) => {
                let bits = self.read_object(*slot, *address, word)?;
                let history = self.log.object((*slot, *address), bits)?;
                let waiting =
                    |slot: &usize| self.warps[*slot].as_deref().is_some_and(|warp| waits_for(warp, *address));
                let again = |(slot, parity): (&usize, &u8)| parity == phase && waiting(slot);
                let arrived =
                    history.arrivals.values().fold(0, |sum: u32, (count, _)| sum.saturating_add(*count));
                if history.passed.iter().any(again) {
                    Some(HintCause::ParityNotFlipped { parity: *phase })
                } else if !alone {
                    let first = *waited == Some(0) && history.phases == 0 && pending == count;
                    first.then_some(HintCause::FirstPhase)
                } else if self.arrives_net_zero((*slot, *address))
                    && *pending > 0
                    && (arrived == 0 || history.delivered == u64::from(*pending))
                {
                    Some(HintCause::NetZeroArrive { count: arrived.saturating_add(*pending), arrived })
                } else if history.expected > 0 && arrived == 0 && *pending > 0 {
                    Some(HintCause::ExpectWithoutArrive { expected: history.expected })
                } else if *pending == 0 && *bytes != 0 {
                    let (expected, delivered) = (history.expected, history.delivered);
                    Some(HintCause::BytesDiffer { expected, delivered })
                } else if arrived > 0 && *bytes == 0 && (1..=*count).contains(pending) {
                    // Arrivals beyond the count wrap the pending count above it. A drop lowers only `count`.
                    Some(HintCause::CountTooLarge { count: arrived.saturating_add(*pending), arrived })
                } else {
                    None
                }
            }
            (ObjectKey::Block(slot, id), WaitObject::BlockBarrier { count, .. }) if alone => {
                let barrier = self.ctas[*slot].as_ref()?.barriers[usize::from(id & 15)];
                let (count, threads) = (*count, barrier.total);
                barrier.expected.filter(|count| *count != 0 && threads % count != 0)?;
                Some(if threads < count {
                    HintCause::CountTooLarge { count, arrived: threads }
                } else {
                    HintCause::CountDoesNotDivide { count, threads }
                })
            }
            _ => None,
        }
    }

    /// True if a `cp.async.mbarrier.arrive` without `.noinc` has used the object.
    fn arrives_net_zero(&self, place: (usize, u32)) -> bool {
        self.log.users(place).any(|pc| {
            let operation = self.kernel.instructions.get(pc as usize).map(|of| &of.operation);
            matches!(operation, Some(Operation::CopyArrival(arrival)) if arrival.op == Op::MbarCompleteTx)
        })
    }

    fn read_object(&self, slot: usize, address: u32, word: ReadWord<'_>) -> Option<u64> {
        let allocation = self.table.allocation(slot)?;
        if !address.is_multiple_of(8) || address.checked_add(8)? > allocation.bytes {
            return None;
        }
        let first = address / 4;
        let at = |n: u32| u64::from(word(allocation.base + n / self.geometry.banks, n % self.geometry.banks));
        Some(at(first) | at(first + 1) << 32)
    }
}

fn waits_for(warp: &Warp, address: u32) -> bool {
    lanes(warp.asked.open).any(|lane| warp.asked.address[lane] & 0xff_ffff == address)
}

fn threads(agents: &[Agent], indices: impl Iterator<Item = usize>) -> Vec<WarpLanes> {
    let threads: BTreeSet<WarpLanes> = indices.map(|index| agents[index].threads).collect();
    threads.into_iter().collect()
}

/// Decodes the two words of an object of sm_80 to sm_89 (spec 6.2.1).
fn sm_80_object(bits: u64) -> MbarObject {
    let (low, high) = (bits as u32, (bits >> 32) as u32);
    MbarObject {
        phase: high >> 31 != 0,
        expected: 0x4000_0000_u32.wrapping_sub(low),
        pending: 0x8000_0000_u32.wrapping_sub(high & 0x7fff_ffff),
        ..MbarObject::default()
    }
}
