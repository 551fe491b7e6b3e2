//! Data flow: registers that instructions read and write, and successors of instructions.

use atoms_isa::{
    AddressBase, BranchCondition, Collective, Compute, Control, GlobalAccess, GlobalAddress, GlobalOp,
    Instruction, Kernel, Operation, Path, Pred, PredSource, Reg, SharedAccess, SharedAddress, SharedResult,
    Source, Value, WarpOp,
};
use atoms_ops::Op;
use std::collections::BTreeSet;

/// Limit for the number of instructions examined from one access.
pub(super) const FAR: usize = 256;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Name {
    Reg(u16),
    Uniform(u8),
    Pred(u16),
    UniformPred(u8),
}

pub(crate) type FromTo = (Vec<Name>, Vec<Name>);

pub(crate) fn pred(pred: Pred) -> Name {
    match pred {
        Pred::Thread(number) => Name::Pred(number),
        Pred::Uniform(number) => Name::UniformPred(number),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Address {
    Shared(SharedAddress),
    Global(GlobalAddress),
}

impl Address {
    pub(super) fn names(self) -> Vec<Name> {
        let (regs, uniform) = match self {
            Address::Shared(a) => (vec![a.ra], vec![a.ur]),
            Address::Global(a) => {
                let uniform = a.ur.map_or(vec![], |ur| vec![ur, ur.plus(1)]);
                match a.base {
                    AddressBase::None => (vec![], uniform),
                    AddressBase::Word(reg) => (vec![reg], uniform),
                    AddressBase::Pair(reg) => (vec![reg, reg.plus(1)], uniform),
                }
            }
        };
        let regs = regs.into_iter().filter(|r| !r.is_zero()).map(|r| Name::Reg(r.0));
        regs.chain(uniform.into_iter().filter(|u| !u.is_zero()).map(|u| Name::Uniform(u.0))).collect()
    }
}

/// Registers for `bytes` bytes, starting with `first`.
pub(crate) fn group(first: Reg, bytes: u32) -> Vec<Name> {
    (0..bytes.div_ceil(4) as u8).map(|word| Name::Reg(first.plus(word).0)).collect()
}

pub(super) fn load(instruction: &Instruction) -> Option<(Address, Vec<Name>)> {
    match &instruction.operation {
        Operation::Shared(SharedAccess {
            op: Op::Load,
            result: SharedResult::Reg(dst),
            address,
            size,
            ..
        }) => Some((Address::Shared(*address), group(*dst, size.bytes()))),
        Operation::Global(GlobalAccess { op: GlobalOp::Load, dst, address, size, .. }) => {
            Some((Address::Global(*address), group(*dst, size.bytes())))
        }
        _ => None,
    }
}

/// Address of a compare-and-store, and the register with the compare value.
pub(super) fn comparer(instruction: &Instruction) -> Option<(Address, Reg)> {
    let compares = |op: Op| matches!(op, Op::Cas | Op::Cast | Op::CastSpin);
    match &instruction.operation {
        Operation::Shared(a) if compares(a.op) => Some((Address::Shared(a.address), a.rb)),
        Operation::Global(GlobalAccess { op: GlobalOp::Atomic(op), address, rb, .. }) if compares(*op) => {
            Some((Address::Global(*address), *rb))
        }
        _ => None,
    }
}

pub(crate) fn next(kernel: &Kernel, pc: usize) -> Vec<usize> {
    let Some(instruction) = kernel.instructions.get(pc) else { return Vec::new() };
    let always = instruction.guard == PredSource::TRUE;
    let mut next = Vec::new();
    match &instruction.operation {
        Operation::Control(Control::Branch { target, condition }) => {
            next.push(*target as usize);
            let unconditional = match condition {
                BranchCondition::Uniform(source) | BranchCondition::ThreadIf(source) => {
                    *source == PredSource::TRUE
                }
                BranchCondition::Thread | BranchCondition::Any => true,
                BranchCondition::Apart(_) | BranchCondition::Together(_) => false,
            };
            if !(always && unconditional) {
                next.push(pc + 1);
            }
        }
        Operation::Control(Control::Exit) if always => {}
        _ => next.push(pc + 1),
    }
    next.retain(|at| *at < kernel.instructions.len());
    next
}

pub(crate) fn source(source: &Source) -> Vec<Name> {
    let words: u8 = if source.wide { 2 } else { 1 };
    match source.value {
        Value::Reg(reg) => group(reg, 4 * u32::from(words)),
        Value::Uniform(reg) => (0..words).map(|word| Name::Uniform(reg.plus(word).0)).collect(),
        Value::Imm(_) | Value::Const(_) => Vec::new(),
    }
}

pub(super) fn computed(compute: &Compute) -> FromTo {
    let mut reads: Vec<Name> = compute.sources.iter().flat_map(source).collect();
    reads.extend(compute.p.iter().map(|p| pred(p.pred)));
    let mut writes = result(compute.path, compute.dst, compute.wide);
    writes.extend(compute.pred_dst.iter().map(|p| pred(*p)));
    (reads, writes)
}

fn result(path: Path, dst: u16, wide: bool) -> Vec<Name> {
    match path {
        Path::Vector => group(Reg(dst), if wide { 8 } else { 4 }),
        Path::Uniform => vec![Name::Uniform(dst as u8)],
    }
}

/// Names read and written by an arithmetic instruction. For other instructions: only the names that are
/// always written.
pub(crate) fn effect(instruction: &Instruction) -> FromTo {
    match &instruction.operation {
        Operation::Compute(compute) => computed(compute),
        Operation::Special { path, dst, wide, .. } => (Vec::new(), result(*path, *dst, *wide)),
        Operation::Const(access) => (Vec::new(), result(access.path, access.dst, true)),
        Operation::Collective(Collective { op, spread, .. }) => {
            let (reads, mut writes) = among_lanes(op);
            writes.push(Name::Reg(spread.0));
            (reads, writes)
        }
        Operation::Warp(op) => among_lanes(op),
        _ => (Vec::new(), load(instruction).map_or(Vec::new(), |(_, results)| results)),
    }
}

fn among_lanes(op: &WarpOp) -> (Vec<Name>, Vec<Name>) {
    match op {
        WarpOp::Vote { dst, pred_dst, src, .. } => {
            (vec![pred(src.pred)], vec![Name::Reg(dst.0), pred(*pred_dst)])
        }
        WarpOp::VoteUniform { dst, pred_dst, src, .. } => {
            (vec![pred(src.pred)], vec![Name::Uniform(dst.0), pred(*pred_dst)])
        }
        WarpOp::Shuffle { dst, pred_dst, src, .. } => {
            (vec![Name::Reg(src.0)], vec![Name::Reg(dst.0), pred(*pred_dst)])
        }
        WarpOp::Redux { dst, src, .. } => (vec![Name::Reg(src.0)], vec![Name::Uniform(dst.0)]),
        WarpOp::ToUniform { dst, differs, src, .. } => {
            (source(src), vec![Name::Uniform(dst.0), pred(*differs)])
        }
        WarpOp::Match { dst, pred_dst, src, .. } => {
            (vec![Name::Reg(src.0), Name::Reg(src.plus(1).0)], vec![Name::Reg(dst.0), pred(*pred_dst)])
        }
        WarpOp::BarrierResult { dst, pred_dst } => (Vec::new(), vec![Name::Reg(dst.0), pred(*pred_dst)]),
        WarpOp::Elect { pred_dst, dst } => (Vec::new(), vec![Name::Uniform(dst.0), pred(*pred_dst)]),
    }
}

/// True for a name with a constant value: RZ, URZ, PT, UPT.
pub(crate) fn is_constant(name: &Name) -> bool {
    matches!(name, Name::Reg(u16::MAX) | Name::Pred(u16::MAX) | Name::Uniform(u8::MAX) | Name::UniformPred(7))
}

/// Instructions reachable from `pc` through instructions that satisfy `passes`. Includes the first
/// instruction after such a path.
pub(super) fn reach(kernel: &Kernel, pc: usize, passes: impl Fn(&Instruction) -> bool) -> BTreeSet<usize> {
    let mut seen = BTreeSet::new();
    let mut open = next(kernel, pc);
    while let Some(at) = open.pop() {
        if seen.len() >= FAR || !seen.insert(at) {
            continue;
        }
        if kernel.instructions.get(at).is_some_and(&passes) {
            open.extend(next(kernel, at));
        }
    }
    seen
}

pub(super) fn no_barrier(instruction: &Instruction) -> bool {
    !matches!(instruction.operation, Operation::Control(Control::Block(_)))
}
