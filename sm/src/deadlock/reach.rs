//! Instructions that a warp can still execute.

use crate::races::rules::dataflow::{Name, effect, group, is_constant, pred};
use crate::warp::View;
use atoms_isa::{
    BarrierResult, BranchCondition, Control, Instruction, Kernel, Operation, Path, PredSource, Reg,
    SharedResult,
};
use std::collections::BTreeSet;

/// Lanes that can execute each instruction.
pub(crate) struct Flow {
    /// Mask of lanes by instruction.
    pub(crate) lanes: Vec<u32>,
    /// Registers that these instructions may write.
    pub(crate) written: BTreeSet<Name>,
}

impl Flow {
    /// Follows the lanes of `mask` from `pc`. A predicate that no reachable instruction may write has its
    /// present value.
    pub(crate) fn new(kernel: &Kernel, view: &View<'_>, pc: u32, mask: u32) -> Flow {
        let constant = |source: PredSource| is_constant(&pred(source.pred)).then(|| view.pred(source));
        let all = follow(kernel, &constant, pc, mask);
        let written = written(kernel, &all);
        let known = |source: PredSource| {
            let name = pred(source.pred);
            (is_constant(&name) || !written.contains(&name)).then(|| view.pred(source))
        };
        let lanes = follow(kernel, &known, pc, mask);
        Flow { written: self::written(kernel, &lanes), lanes }
    }
}

fn written(kernel: &Kernel, lanes: &[u32]) -> BTreeSet<Name> {
    let executed = kernel.instructions.iter().zip(lanes).filter(|(_, lanes)| **lanes != 0);
    executed.flat_map(|(instruction, _)| writes(instruction)).filter(|name| !is_constant(name)).collect()
}

/// Returns the lanes of `mask` that can execute each instruction. `holds` returns the value of a known
/// predicate.
fn follow(kernel: &Kernel, holds: &dyn Fn(PredSource) -> Option<u32>, pc: u32, mask: u32) -> Vec<u32> {
    let count = kernel.instructions.len();
    let (mut seen, mut executes) = (vec![0_u32; count], vec![0_u32; count]);
    let mut open = vec![(pc as usize, mask)];
    while let Some((pc, mask)) = open.pop() {
        let Some(instruction) = kernel.instructions.get(pc) else { continue };
        let mask = mask & !seen[pc];
        if mask == 0 {
            continue;
        }
        seen[pc] |= mask;
        let split = |source, lanes: u32| holds(source).map_or((lanes, lanes), |on| (lanes & on, lanes & !on));
        let (on, off) = split(instruction.guard, mask);
        executes[pc] |= on;
        match &instruction.operation {
            Operation::Control(Control::Branch { target, condition }) => {
                let (taken, stays) = match condition {
                    BranchCondition::Thread => (on, off),
                    BranchCondition::Uniform(source) | BranchCondition::ThreadIf(source) => {
                        let (taken, stays) = split(*source, on);
                        (taken, stays | off)
                    }
                    BranchCondition::Any | BranchCondition::Apart(_) | BranchCondition::Together(_) => {
                        (mask, mask)
                    }
                };
                open.extend([(*target as usize, taken), (pc + 1, stays)]);
            }
            Operation::Control(Control::Exit) => open.push((pc + 1, off)),
            // The target is in a register, so assume any.
            Operation::Control(Control::Jump { .. } | Control::EndCollective) => {
                open.extend((0..count).map(|at| (at, mask)));
            }
            _ => open.push((pc + 1, mask)),
        }
    }
    executes
}

/// Registers and predicates that an instruction may write.
pub(crate) fn writes(instruction: &Instruction) -> Vec<Name> {
    let uniform = |first: u8, words: u8| (0..words).map(move |word| Name::Uniform(first.wrapping_add(word)));
    match &instruction.operation {
        Operation::Shared(access) => match access.result {
            SharedResult::None => Vec::new(),
            SharedResult::Reg(dst) => group(dst, access.size.bytes()),
            SharedResult::Pred(number) => vec![Name::Pred(number)],
        },
        Operation::Barrier(access) => {
            let mut names = match access.result {
                BarrierResult::None => Vec::new(),
                BarrierResult::Pair(dst) => group(dst, 8),
                BarrierResult::UniformPair(dst) => uniform(dst.0, 2).collect(),
                BarrierResult::Pred(dst) => vec![pred(dst)],
            };
            names.extend(access.reported.map(pred));
            names
        }
        Operation::Global(access) => {
            let mut names = group(access.dst, access.size.bytes());
            names.push(pred(access.pred_dst));
            names
        }
        Operation::Local(access) => group(access.reg, access.size.bytes()),
        Operation::Const(access) if access.path == Path::Uniform => uniform(access.dst as u8, 4).collect(),
        Operation::Const(access) => group(Reg(access.dst), 16),
        Operation::QuerySpace { pred_dst, .. } => vec![pred(*pred_dst)],
        Operation::Predicates(moved) => match (moved.dst, moved.path) {
            (Some(dst), Path::Vector) => vec![Name::Reg(dst)],
            (Some(dst), Path::Uniform) => vec![Name::Uniform(dst as u8)],
            (None, Path::Vector) => (0..7).map(Name::Pred).collect(),
            (None, Path::Uniform) => (0..7).map(Name::UniformPred).collect(),
        },
        Operation::Control(Control::BarrierToReg { dst, .. } | Control::ReturnPcToReg { dst, .. }) => {
            vec![Name::Reg(dst.0)]
        }
        _ => effect(instruction).1,
    }
}
