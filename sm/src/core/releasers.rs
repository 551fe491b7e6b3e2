//! Finds the threads that can still release an object, for reports.

use super::Core;
use crate::compute;
use crate::deadlock::{Flow, MbarEffect, Releaser, WaitObject, WarpLanes, writes};
use crate::port::Address;
use crate::races::rules::dataflow::{Name, effect, is_constant, source};
use crate::warp::lanes;
use atoms_isa::{BulkWay, Control, GlobalOp, Operation, PredSource, SharedAddress};
use atoms_ops::Op;

/// Instructions before an access that may compute its address.
const ADDRESS_CODE: usize = 16;

/// Object, identified by CTA slot (cluster number for a cluster barrier) and its number or address.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ObjectKey {
    Mbarrier(usize, u32),
    Block(usize, u8),
    Cluster(u32),
    Warp(usize, String),
    Running(usize),
}

/// Threads of a split that wait at one object.
pub(super) struct Agent {
    pub(super) slot: usize,
    pub(super) cta_slot: usize,
    /// Index of the split.
    pub(super) index: usize,
    pub(super) mask: u32,
    /// Instruction at which the threads continue.
    pub(super) pc: u32,
    /// Instruction that waits.
    pub(super) waits_at: u32,
    pub(super) key: ObjectKey,
    pub(super) threads: WarpLanes,
}

/// Instruction that threads can still execute and that other threads may wait for.
pub(super) struct Act {
    pc: u32,
    kind: ActKind,
    /// Objects of an operation on mbarrier objects. `None` if the address is not known yet.
    places: Option<Vec<(usize, u32)>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ActKind {
    Mbarrier(MbarEffect),
    /// Arrival at a block barrier. `None` if its number is not known yet.
    Block(Option<u8>),
}

fn mbarrier(op: Op) -> Option<ActKind> {
    MbarEffect::of(op).map(ActKind::Mbarrier)
}

impl Core<'_> {
    /// Returns the releasing instructions that the threads can still execute.
    pub(super) fn acts(&self, agent: &Agent) -> Vec<Act> {
        let Some(warp) = self.warps[agent.slot].as_deref() else { return Vec::new() };
        let view = warp.view(agent.index, &self.constants);
        let flow = Flow::new(self.kernel, &view, agent.pc, agent.mask);
        let mut acts = Vec::new();
        for (pc, instruction) in self.kernel.instructions.iter().enumerate() {
            let executes = flow.lanes[pc];
            if executes == 0 {
                continue;
            }
            let (kind, address) = match &instruction.operation {
                Operation::Shared(access) => (mbarrier(access.op), Some(&access.address)),
                Operation::Barrier(access) => (mbarrier(access.op), Some(&access.address)),
                Operation::CopyArrival(arrival) => (mbarrier(arrival.op), Some(&arrival.address)),
                Operation::BulkCopy(copy) if copy.way != BulkWay::ToGlobal => {
                    (mbarrier(Op::MbarCompleteTx), None)
                }
                Operation::Async(_) => (mbarrier(Op::MbarCompleteTx), None),
                Operation::Global(access) => match access.op {
                    GlobalOp::Atomic(op) => (mbarrier(op), None),
                    _ => (None, None),
                },
                Operation::Control(Control::Block(block)) => {
                    let known = source(&block.barrier).iter().all(|name| is_known(name, &flow));
                    let word = view.row(&block.barrier)[executes.trailing_zeros() as usize & 31];
                    (Some(ActKind::Block(known.then_some((word & 0xffff) as u8))), None)
                }
                _ => (None, None),
            };
            if let Some(kind) = kind {
                let places = address.and_then(|address| self.places(agent, &flow, pc, address));
                acts.push(Act { pc: pc as u32, kind, places });
            }
        }
        acts
    }

    /// Returns the objects that the instruction at `pc` will access. `None` if its address is not known yet.
    fn places(
        &self,
        agent: &Agent,
        flow: &Flow,
        pc: usize,
        address: &SharedAddress,
    ) -> Option<Vec<(usize, u32)>> {
        let mut warp = self.warps[agent.slot].clone()?;
        let mut unknown = flow.written.clone();
        // Execute the instructions before the access on a copy of the warp, if their operands are known.
        let pure = |at: &usize| {
            let operation = &self.kernel.instructions[*at].operation;
            flow.lanes[*at] != 0 && matches!(operation, Operation::Compute(_) | Operation::Special { .. })
        };
        let first = pc - (0..pc).rev().take(ADDRESS_CODE).take_while(pure).count();
        for instruction in &self.kernel.instructions[first..pc] {
            let (reads, _) = effect(instruction);
            let known =
                instruction.guard == PredSource::TRUE && !reads.iter().any(|name| unknown.contains(name));
            let known = known
                && match &instruction.operation {
                    Operation::Compute(compute) => {
                        compute::execute(compute, &mut warp, agent.index, agent.mask, &self.constants);
                        true
                    }
                    Operation::Special { path, dst, wide, register } if !register.is_time() => {
                        self.special(&mut warp, agent.index, agent.mask, (*path, *dst, *wide), *register);
                        true
                    }
                    _ => false,
                };
            for name in writes(instruction) {
                if known {
                    unknown.remove(&name);
                } else {
                    unknown.insert(name);
                }
            }
        }
        let names = [Name::Reg(address.ra.0), Name::Uniform(address.ur.0)];
        if names.iter().any(|name| !is_constant(name) && unknown.contains(name)) {
            return None;
        }
        let address = Address::of(address, &warp.view(agent.index, &self.constants));
        let place = |lane| {
            let place = self.resolve(agent.cta_slot, address.sum(lane)).ok()?;
            Some((place.slot, place.offset()))
        };
        Some(lanes(flow.lanes[pc]).filter_map(place).collect())
    }

    /// Returns the threads that can release an object. Threads that wait at this object, or have arrived in
    /// its current phase, count only if there are no others.
    pub(super) fn releasers(
        &self,
        key: &ObjectKey,
        object: &WaitObject,
        agents: &[Agent],
        acts: &[Vec<Act>],
    ) -> Vec<Releaser> {
        let cluster = |slot: usize| self.ctas[slot].as_ref().map(|cta| cta.cluster);
        let warp = |agent: &Agent| self.warps[agent.slot].as_deref();
        let can = |index: usize, agent: &Agent, any: bool| -> Option<bool> {
            match (key, object) {
                (ObjectKey::Mbarrier(slot, address), WaitObject::Mbarrier { pending, bytes, .. }) => {
                    let wanted = |act: &&Act| match act.kind {
                        ActKind::Mbarrier(effect) if *pending > 0 => effect.arrives,
                        ActKind::Mbarrier(effect) if *bytes > 0 => effect.delivers,
                        ActKind::Mbarrier(effect) => effect.expects,
                        ActKind::Block(_) => false,
                    };
                    let near = cluster(agent.cta_slot) == cluster(*slot);
                    let place = (*slot, *address);
                    let releases = |act: &Act| match &act.places {
                        Some(places) => places.contains(&place).then_some(true),
                        None => (near && self.log.may_use(act.pc, place, any)).then_some(false),
                    };
                    acts[index].iter().filter(wanted).filter_map(releases).max()
                }
                (ObjectKey::Block(slot, id), _) if agent.cta_slot == *slot => {
                    let barrier = self.ctas[*slot].as_ref()?.barriers[usize::from(id & 15)];
                    if barrier.expected.is_none() {
                        return (agent.key != *key).then_some(true);
                    }
                    let releases = |act: &Act| match act.kind {
                        ActKind::Block(Some(other)) => (other == *id).then_some(true),
                        ActKind::Block(None) => Some(false),
                        ActKind::Mbarrier(_) => None,
                    };
                    acts[index].iter().filter_map(releases).max()
                }
                (ObjectKey::Cluster(number), _) if cluster(agent.cta_slot) == Some(*number) => {
                    (agent.mask & !warp(agent)?.at_cluster != 0).then_some(true)
                }
                (ObjectKey::Warp(..), _) => {
                    let same = agents.iter().any(|other| other.slot == agent.slot && other.key == *key);
                    (same && agent.key != *key).then_some(true)
                }
                _ => None,
            }
        };
        let find = |any| -> Vec<Releaser> {
            let each = agents.iter().enumerate();
            each.filter_map(|(agent, of)| Some(Releaser { agent, certain: can(agent, of, any)? })).collect()
        };
        let mut found = find(false);
        if found.is_empty() {
            found = find(true);
        }
        let arrived = |agent: &Agent| {
            let WaitObject::Mbarrier { arrived, .. } = object else { return false };
            let warp = warp(agent).map_or(0, |warp| warp.number);
            arrived.iter().any(|a| (a.cta, a.warp) == (self.cta_number(agent.cta_slot), warp))
        };
        keep_if_any(&mut found, |r| agents[r.agent].key != *key);
        keep_if_any(&mut found, |r| r.certain);
        keep_if_any(&mut found, |r| !arrived(&agents[r.agent]));
        found
    }
}

/// Keeps the elements with a property, or all if there are none.
fn keep_if_any(found: &mut Vec<Releaser>, keep: impl Fn(&Releaser) -> bool) {
    if found.iter().any(&keep) {
        found.retain(keep);
    }
}

fn is_known(name: &Name, flow: &Flow) -> bool {
    is_constant(name) || !flow.written.contains(name)
}
