//! Checks that the core supports all of a kernel, before the run.

use crate::error::{KernelError, UnsupportedInstruction};
use atoms_isa::{
    BarrierAccess, BarrierOperand, BranchCondition, Collective, ConstAddress, ConstIndex, Control, Grain,
    Kernel, MNEMONICS, Operation, PredicateMove, Source, SpecialRegister, Value, WarpOp,
};

pub(crate) fn check(kernel: &Kernel) -> Result<(), KernelError> {
    let lacking = |index: usize, reason: String, class: &str| UnsupportedInstruction {
        line: kernel.source[index].clone(),
        reason,
        class: class.into(),
    };
    let mut instructions = Vec::new();
    for (index, instruction) in kernel.instructions.iter().enumerate() {
        if instruction.operation == Operation::Unsupported {
            let mnemonic = kernel.mnemonic(index);
            let base = mnemonic.split('.').next().unwrap_or_default();
            let known = MNEMONICS.iter().any(|r| r.name == base);
            let reason = match base {
                "clusterlaunchcontrol" | "UGETNEXTWORKID" => {
                    "it takes over a CTA that has not started; this core starts all CTAs itself".into()
                }
                "mbarrier" if mnemonic.contains(".layout::v1") => {
                    "the unit has only mbarrier objects of layout 0; remove `.layout::v1`".into()
                }
                _ if known => format!("this form of {mnemonic} is not supported"),
                _ => format!("{mnemonic} is not supported"),
            };
            instructions.push(lacking(index, reason, base));
        }
        for (constant, bytes) in constants(&instruction.operation) {
            if let Some(reason) = unknown(kernel, constant, bytes) {
                instructions.push(lacking(index, reason.clone(), &reason));
            }
        }
    }
    if instructions.is_empty() {
        return Ok(());
    }
    Err(KernelError::Unsupported { kernel: kernel.name.clone(), instructions })
}

/// Reason why a constant is unknown. `None` if the constant is known.
fn unknown(kernel: &Kernel, constant: ConstAddress, bytes: u32) -> Option<String> {
    let ConstAddress { bank, index, offset } = constant;
    if bank == 0 {
        return None;
    }
    let Some(compiled) = kernel.constants.get(&bank) else {
        return Some(format!(
            "the listing has only code, not constant bank {bank}; nvdisasm without -c prints the bank"
        ));
    };
    let read =
        |at: u32, length: u32| index != ConstIndex::None || (at < offset + bytes && offset < at + length);
    let words = compiled.unknown.iter().filter(|(at, length, _)| read(*at, *length));
    let names =
        words.take(4).map(|(at, _, text)| format!("c[{bank:#x}][{at:#x}] is `{text}`")).collect::<Vec<_>>();
    (!names.is_empty()).then(|| format!("{}, which the listing does not define", names.join(", ")))
}

/// Reads of constant bank 0 at fixed offsets: instruction, offset, size in bytes.
pub(crate) fn constant_reads(kernel: &Kernel) -> Vec<(usize, u32, u32)> {
    let each = kernel.instructions.iter().enumerate();
    each.flat_map(|(index, instruction)| {
        let fixed = constants(&instruction.operation)
            .into_iter()
            .filter(|(c, _)| c.bank == 0 && c.index == ConstIndex::None);
        fixed.map(move |(constant, bytes)| (index, constant.offset, bytes))
    })
    .collect()
}

/// True if the kernel reads the address of the workspace of a cooperative grid, as `grid.sync()` does.
pub(crate) fn reads_grid_workspace(kernel: &Kernel) -> bool {
    reads_constant(kernel, kernel.arch.environment_offset() + 4, 8)
}

/// True if the kernel reads the offset of reserved shared memory, as `%reserved_smem_offset_*` of PTX do.
pub(crate) fn reads_reserved_shared(kernel: &Kernel) -> bool {
    let arch = kernel.arch;
    let register = |operation: &Operation| {
        use SpecialRegister::{ReservedBegin, ReservedFirst};
        matches!(operation, Operation::Special { register: ReservedBegin | ReservedFirst, .. })
    };
    // Code that reads the number of reserved bytes subtracts it from the end of shared memory.
    let behind = arch.shared_origin() == 0 && reads_constant(kernel, arch.reserved_shared_bytes_offset(), 4);
    arch.reserved_shared_offset().is_some_and(|at| {
        behind
            || reads_constant(kernel, at, 8)
            || kernel.instructions.iter().any(|instruction| register(&instruction.operation))
    })
}

fn reads_constant(kernel: &Kernel, first: u32, length: u32) -> bool {
    let mut all = kernel.instructions.iter().flat_map(|instruction| constants(&instruction.operation));
    all.any(|(constant, bytes)| {
        constant.bank == 0 && constant.offset < first + length && first < constant.offset + bytes
    })
}

/// Constants that an instruction reads, with their sizes in bytes.
fn constants(operation: &Operation) -> Vec<(ConstAddress, u32)> {
    let of = |source: &Source, bytes: u32| match source.value {
        Value::Const(address) => Some((address, bytes)),
        Value::Reg(_) | Value::Uniform(_) | Value::Imm(_) => None,
    };
    match operation {
        Operation::Collective(Collective { members, op, .. }) => {
            of(members, 4).into_iter().chain(constants(&Operation::Warp(*op))).collect()
        }
        Operation::Compute(compute) => {
            let bytes = |source: &Source| if source.wide { 8 } else { 4 };
            compute.sources.iter().filter_map(|source| of(source, bytes(source))).collect()
        }
        Operation::Const(access) => {
            let bytes = match access.grain {
                Grain::Sub(size) => size.bytes(),
                Grain::Words(words) => 4 * u32::from(words),
            };
            vec![(access.address, bytes)]
        }
        Operation::Warp(WarpOp::Shuffle { lane, control, .. }) => {
            [of(lane, 4), of(control, 4)].into_iter().flatten().collect()
        }
        Operation::Warp(WarpOp::ToUniform { src, .. })
        | Operation::Control(
            Control::WarpSync { mask: src, .. }
            | Control::RegToBarrier { src, .. }
            | Control::Sleep { nanoseconds: src, .. }
            | Control::RegToReturnPc { src, .. }
            | Control::Branch {
                condition: BranchCondition::Apart(src) | BranchCondition::Together(src), ..
            },
        )
        | Operation::Barrier(BarrierAccess { b: BarrierOperand::Word(src), .. }) => {
            of(src, 4).into_iter().collect()
        }
        Operation::Barrier(BarrierAccess { b: BarrierOperand::Pair(src), .. }) => {
            of(src, 8).into_iter().collect()
        }
        Operation::Predicates(PredicateMove { value, mask, .. }) => {
            [of(value, 4), of(mask, 4)].into_iter().flatten().collect()
        }
        Operation::Control(Control::Block(barrier)) => {
            let threads = barrier.threads.as_ref().and_then(|t| of(t, 4));
            of(&barrier.barrier, 4).into_iter().chain(threads).collect()
        }
        Operation::Special { .. }
        | Operation::Shared(_)
        | Operation::Fill(_)
        | Operation::Barrier(_)
        | Operation::ThreadCopy(_)
        | Operation::CopyArrival(_)
        | Operation::BulkCopy(_)
        | Operation::Async(_)
        | Operation::Global(_)
        | Operation::Local(_)
        | Operation::QuerySpace { .. }
        | Operation::Warp(
            WarpOp::Vote { .. }
            | WarpOp::VoteUniform { .. }
            | WarpOp::Redux { .. }
            | WarpOp::Match { .. }
            | WarpOp::BarrierResult { .. }
            | WarpOp::Elect { .. },
        )
        | Operation::Control(_)
        | Operation::Unsupported => Vec::new(),
    }
}
