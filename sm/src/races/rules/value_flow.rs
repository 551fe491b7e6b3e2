//! Tracks the use of loaded values.

use super::dataflow::{
    Address, FAR, FromTo, Name, comparer, computed, effect, group, is_constant, load, next, no_barrier, pred,
    reach, source,
};
use atoms_isa::{
    ComputeOp, Control, GlobalOp, Instruction, IntOp, Kernel, Operation, PredSource, ProductPart, Reg,
    Source, Value,
};
use std::collections::{BTreeMap, BTreeSet};

/// True if a compare-and-store confirms a load: it compares with a value against which the loaded value was
/// tested before.
pub(super) fn confirmed(kernel: &Kernel, pc: usize) -> bool {
    let Some((_, results)) = kernel.instructions.get(pc).and_then(load) else { return false };
    if !reach(kernel, pc, no_barrier)
        .iter()
        .any(|at| kernel.instructions.get(*at).and_then(comparer).is_some())
    {
        return false;
    }
    follow(kernel, pc, results, computes).iter().any(|(at, value)| {
        let Some(instruction) = kernel.instructions.get(*at) else { return false };
        let (with, rest): (Vec<Name>, Vec<Name>) =
            operands(instruction).into_iter().partition(|name| value.contains(name));
        !with.is_empty()
            && !rest.is_empty()
            && decides(kernel, *at, effect(instruction).1)
            && compared(kernel, *at, origins(kernel, *at, rest))
    })
}

/// True if a compare-and-store after `pc` compares with one of these names, or with parts of it.
pub(super) fn compared(kernel: &Kernel, pc: usize, names: Vec<Name>) -> bool {
    follow(kernel, pc, names, moved).iter().any(|(at, parts)| {
        let with = kernel.instructions.get(*at).and_then(comparer);
        with.is_some_and(|(_, with)| parts.contains(&Name::Reg(with.0)))
    })
}

/// True if a branch after `pc` depends on these names.
fn decides(kernel: &Kernel, pc: usize, names: Vec<Name>) -> bool {
    follow(kernel, pc, names, computes).iter().any(|(at, known)| {
        kernel.instructions.get(*at).is_some_and(|i| {
            matches!(i.operation, Operation::Control(Control::Branch { .. }))
                && known.contains(&pred(i.guard.pred))
        })
    })
}

/// For each instruction reachable from `pc` without a block barrier in between: the names that hold values
/// derived from `names`. `step` tells how an instruction passes values on.
fn follow(
    kernel: &Kernel,
    pc: usize,
    names: Vec<Name>,
    step: fn(&Instruction) -> Option<FromTo>,
) -> BTreeMap<usize, BTreeSet<Name>> {
    let start: BTreeSet<Name> = names.into_iter().filter(|name| !is_constant(name)).collect();
    let mut states: BTreeMap<usize, BTreeSet<Name>> = BTreeMap::new();
    let mut open: Vec<(usize, BTreeSet<Name>)> =
        next(kernel, pc).into_iter().map(|at| (at, start.clone())).collect();
    while let Some((at, names)) = open.pop() {
        let Some(instruction) = kernel.instructions.get(at).filter(|_| !names.is_empty()) else { continue };
        if states.len() >= FAR && !states.contains_key(&at) {
            continue;
        }
        let state = states.entry(at).or_default();
        if !state.is_empty() && names.is_subset(state) {
            continue;
        }
        state.extend(names);
        let brought = step(instruction).filter(|(from, _)| from.iter().any(|name| state.contains(name)));
        let mut after = state.clone();
        if instruction.guard == PredSource::TRUE {
            let written = effect(instruction).1;
            after.retain(|name| !written.contains(name));
        }
        let brought = brought.into_iter().flat_map(|(_, to)| to);
        after.extend(brought.filter(|name| !is_constant(name)));
        if no_barrier(instruction) {
            open.extend(next(kernel, at).into_iter().map(|next| (next, after.clone())));
        }
    }
    states
}

/// Returns `names`, and the registers from which straight-line code before `pc` computed them, if these still
/// hold their value.
fn origins(kernel: &Kernel, pc: usize, mut names: Vec<Name>) -> Vec<Name> {
    let mut changed: BTreeSet<Name> = BTreeSet::new();
    for instruction in kernel.instructions.iter().take(pc).rev().take(FAR) {
        if matches!(instruction.operation, Operation::Control(Control::Branch { .. } | Control::Exit)) {
            break;
        }
        let (_, writes) = effect(instruction);
        if writes.iter().any(|name| names.contains(name) && !changed.contains(name)) {
            names.extend(operands(instruction).into_iter().filter(|name| !changed.contains(name)));
        }
        changed.extend(writes);
    }
    names
}

fn operands(instruction: &Instruction) -> Vec<Name> {
    let Operation::Compute(compute) = &instruction.operation else { return Vec::new() };
    compute.sources.iter().flat_map(source).filter(|name| !is_constant(name)).collect()
}

/// Names read and written by an arithmetic instruction, with its guard and without constants.
fn computes(instruction: &Instruction) -> Option<FromTo> {
    let Operation::Compute(compute) = &instruction.operation else { return None };
    let (mut from, to) = computed(compute);
    from.push(pred(instruction.guard.pred));
    from.retain(|name| !is_constant(name));
    Some((from, to))
}

/// Source and destination registers of an instruction that only moves a value or parts of it.
fn moved(instruction: &Instruction) -> Option<FromTo> {
    let Operation::Compute(compute) = &instruction.operation else { return None };
    let zero = |source: &Source| matches!(source.value, Value::Reg(reg) if reg.is_zero());
    let moves = match compute.op {
        ComputeOp::Move
        | ComputeOp::Extract { .. }
        | ComputeOp::Concat { .. }
        | ComputeOp::Select { flush: false, .. }
        | ComputeOp::Permute(_)
        | ComputeOp::Int { op: IntOp::MinMax, .. }
        | ComputeOp::Lop3 { .. } => true,
        // Move in the form `IMAD.MOV d, RZ, RZ, c`.
        ComputeOp::Int { op: IntOp::Mad(ProductPart::Low), .. } => compute.sources[..2].iter().any(zero),
        _ => false,
    };
    let registers = |name: &Name| matches!(name, Name::Reg(_) | Name::Uniform(_));
    moves.then(|| (operands(instruction), computed(compute).1.into_iter().filter(registers).collect()))
}

/// Bit mask of the words of a vector load whose values no instruction uses.
pub(super) fn unused(kernel: &Kernel, pc: usize) -> u8 {
    let Some((_, results)) = kernel.instructions.get(pc).and_then(load) else { return 0 };
    let unread = |(_, name): &(usize, &Name)| !read_ahead(kernel, pc, **name);
    let words = results.iter().enumerate().filter(|_| results.len() > 1);
    words.filter(unread).fold(0, |mask, (word, _)| mask | 1 << word)
}

/// True if the value in a register may be read before it is overwritten.
fn read_ahead(kernel: &Kernel, pc: usize, name: Name) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = next(kernel, pc);
    while let Some(at) = open.pop() {
        if !seen.insert(at) {
            continue;
        }
        let Some(instruction) = kernel.instructions.get(at) else { continue };
        if seen.len() > FAR || reads(instruction).is_none_or(|reads| reads.contains(&name)) {
            return true;
        }
        if !(instruction.guard == PredSource::TRUE && effect(instruction).1.contains(&name)) {
            open.extend(next(kernel, at));
        }
    }
    false
}

/// Registers that an instruction may read. `None` if unknown.
fn reads(instruction: &Instruction) -> Option<Vec<Name>> {
    let all = |address: Address, operands: [Reg; 2], bytes: u32| {
        address.names().into_iter().chain(operands.into_iter().flat_map(|reg| group(reg, bytes))).collect()
    };
    Some(match &instruction.operation {
        Operation::Compute(_) | Operation::Special { .. } => effect(instruction).0,
        Operation::Shared(a) => all(Address::Shared(a.address), [a.rb, a.rc], a.size.bytes()),
        Operation::Global(a) if !matches!(a.op, GlobalOp::Wide(_)) => {
            all(Address::Global(a.address), [a.rb, a.rc], a.size.bytes())
        }
        Operation::Control(
            Control::Branch { .. }
            | Control::Exit
            | Control::Fence
            | Control::ProxyFence(_)
            | Control::InitFence
            | Control::Nop,
        ) => Vec::new(),
        _ => return None,
    })
}
