//! Infers the memory order of an access from the code around it.

use super::dataflow::{Address, FAR, Name, comparer, effect, is_constant, load, no_barrier, pred, reach};
use super::value_flow;
use atoms_isa::{
    BranchCondition, Control, Effect, Instruction, Kernel, Operation, PredSource, Reg, SharedAddress,
};
use atoms_ops::Op;
use std::collections::BTreeSet;

/// Names of registers that may depend on `names` through the instructions with the indices `places`.
fn dependent(kernel: &Kernel, places: &BTreeSet<usize>, names: Vec<Name>) -> BTreeSet<Name> {
    let mut known: BTreeSet<Name> = names.into_iter().collect();
    loop {
        let before = known.len();
        for instruction in places.iter().filter_map(|pc| kernel.instructions.get(*pc)) {
            let (reads, writes) = effect(instruction);
            let guard = pred(instruction.guard.pred);
            if reads.iter().chain([&guard]).any(|name| known.contains(name)) {
                known.extend(writes.into_iter().filter(|name| !is_constant(name)));
            }
        }
        known.retain(|name| !is_constant(name));
        if known.len() == before {
            return known;
        }
    }
}

/// True if the instruction neither communicates with other threads nor waits for them.
fn quiet(instruction: &Instruction) -> bool {
    // `@!PT LDS RZ, [RZ]` never executes: compilers insert it as padding.
    instruction.guard == PredSource::FALSE
        || matches!(instruction.operation.effect(), Effect::Own | Effect::Time)
}

/// True for the load of a polling loop: the loop only repeats this load at one address until the value ends
/// it. Also true for the first iteration, if the compiler has peeled it off.
pub(super) fn polls(kernel: &Kernel, pc: usize) -> bool {
    repeats(kernel, pc) || first_turn(kernel, pc)
}

fn first_turn(kernel: &Kernel, pc: usize) -> bool {
    let Some((address, _)) = kernel.instructions.get(pc).and_then(load) else { return false };
    // If the first value already ends the loop, the path may contain the end of the thread.
    let passes = |i: &Instruction| quiet(i) || matches!(i.operation, Operation::Control(Control::Exit));
    let ahead = reach(kernel, pc, passes);
    let again = |at: &usize| {
        let same = kernel.instructions.get(*at).and_then(load).is_some_and(|(other, _)| other == address);
        same && repeats(kernel, *at)
    };
    let kept = address.names();
    let quiets = ahead.iter().filter_map(|at| kernel.instructions.get(*at)).filter(|i| quiet(i));
    ahead.iter().any(again) && quiets.flat_map(|i| effect(i).1).all(|name| !kept.contains(&name))
}

fn repeats(kernel: &Kernel, pc: usize) -> bool {
    let Some((address, results)) = kernel.instructions.get(pc).and_then(load) else { return false };
    let ahead = reach(kernel, pc, quiet);
    if !ahead.contains(&pc) {
        return false;
    }
    let back = |at: &usize| {
        let here = kernel.instructions.get(*at).is_some_and(quiet);
        here && reach(kernel, *at, quiet).contains(&pc)
    };
    let circle: BTreeSet<usize> = ahead.iter().copied().filter(back).collect();
    let changed: Vec<Name> = circle
        .iter()
        .filter_map(|at| kernel.instructions.get(*at))
        .flat_map(|i| effect(i).1)
        .chain(results.iter().copied())
        .collect();
    let still = uniform_ignored(address).into_iter().all(|name| !changed.contains(&name));
    let known = dependent(kernel, &circle, results);
    let decides = |at: &usize| {
        let Some(instruction) = kernel.instructions.get(*at) else { return false };
        let Operation::Control(Control::Branch { condition, .. }) = &instruction.operation else {
            return false;
        };
        let besides = match condition {
            BranchCondition::Uniform(source) | BranchCondition::ThreadIf(source) => {
                known.contains(&pred(source.pred))
            }
            BranchCondition::Thread
            | BranchCondition::Any
            | BranchCondition::Apart(_)
            | BranchCondition::Together(_) => false,
        };
        besides || known.contains(&pred(instruction.guard.pred))
    };
    still && circle.iter().any(decides)
}

/// Address registers that must not change in a polling loop. Uniform registers are left out, because
/// compilers recompute them in each iteration.
fn uniform_ignored(address: Address) -> Vec<Name> {
    address.names().into_iter().filter(|name| matches!(name, Name::Reg(_))).collect()
}

/// True if a load is part of an atomic that the compiler split. Either a compare-and-store at the same
/// address compares with a value computed from the load, or any compare-and-store compares with parts of the
/// loaded value. Or the load reads one of the two words of an mbarrier object of sm_70 to sm_75, and its
/// value goes into an atomic on the other word.
pub(super) fn part_of_atomic(kernel: &Kernel, pc: usize) -> bool {
    let Some((address, results)) = kernel.instructions.get(pc).and_then(load) else { return false };
    let ahead = reach(kernel, pc, no_barrier);
    let parts = || value_flow::compared(kernel, pc, results.clone());
    let known = dependent(kernel, &ahead, results.clone());
    let depends = |reg: Reg| known.contains(&Name::Reg(reg.0)) || known.contains(&Name::Reg(reg.plus(1).0));
    let instructions = || ahead.iter().filter_map(|at| kernel.instructions.get(*at));
    instructions().filter_map(comparer).any(|(other, with)| depends(with) && other == address)
        || parts()
        || instructions().any(|i| match (&i.operation, address) {
            (Operation::Shared(a), Address::Shared(mine)) => {
                let other = SharedAddress { imm: mine.imm.wrapping_add(4), ..mine };
                a.op == Op::Add && a.address == other && depends(a.rb)
            }
            _ => false,
        })
}

/// True if a releasing fence precedes the store, with no other access in between.
pub(super) fn behind_fence(kernel: &Kernel, pc: usize) -> bool {
    for instruction in kernel.instructions.iter().take(pc).rev().take(FAR) {
        match &instruction.operation {
            Operation::Control(Control::Fence) => {
                if instruction.ordering.is_some_and(|ordering| ordering.semantics.releases()) {
                    return true;
                }
            }
            Operation::Control(Control::ProxyFence(_)) => {}
            Operation::Control(Control::Branch { .. } | Control::SyncBarrier { .. }) => return false,
            _ if quiet(instruction) => continue,
            _ => return false,
        }
    }
    false
}
