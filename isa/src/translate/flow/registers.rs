//! Which registers an instruction reads and writes.

use crate::ptx::{Base, Operand, PtxInstruction, RegId};

/// Opcodes none of whose operands is a result.
const NO_RESULT: &[&str] = &[
    "applypriority",
    "bar",
    "barrier",
    "bra",
    "brkpt",
    "brx",
    "call",
    "cp",
    "discard",
    "exit",
    "fence",
    "griddepcontrol",
    "membar",
    "nanosleep",
    "prefetch",
    "prefetchu",
    "red",
    "ret",
    "setmaxnreg",
    "st",
    "trap",
];

/// True if the first operand is a result.
fn has_result(i: &PtxInstruction<'_>) -> bool {
    if matches!(i.opcode, "bar" | "barrier") && i.modifiers.contains(&"red") {
        return true;
    }
    !NO_RESULT.contains(&i.opcode) && !matches!(i.operands.first(), Some(Operand::Address { .. }))
}

fn named(operand: &Operand<'_>, found: &mut Vec<RegId>) {
    match operand {
        Operand::Register(id) | Operand::Not(id) => found.push(*id),
        Operand::Vector(operands) | Operand::List(operands) => operands.iter().for_each(|o| named(o, found)),
        Operand::Pair(pair) => pair.iter().for_each(|o| named(o, found)),
        Operand::Address { base: Base::Register(id), .. } => found.push(*id),
        _ => {}
    }
}

/// How many operands, from the first on, are results.
fn results(i: &PtxInstruction<'_>) -> usize {
    match i.operands.as_slice() {
        // What a wait for a phase was told of failures: `%p|%q, %b, [%a], %s`.
        [_, report, Operand::Address { .. }, ..]
            if i.opcode == "mbarrier" && !matches!(report, Operand::Address { .. }) =>
        {
            2
        }
        _ => usize::from(has_result(i)),
    }
}

/// Registers that an instruction writes.
pub(crate) fn written(i: &PtxInstruction<'_>) -> Vec<RegId> {
    let mut found = Vec::new();
    i.operands.iter().take(results(i)).for_each(|o| named(o, &mut found));
    found
}

/// Registers that an instruction reads, its guard among them.
pub(crate) fn read(i: &PtxInstruction<'_>) -> Vec<RegId> {
    let mut found: Vec<RegId> = i.guard.iter().map(|g| g.register).collect();
    i.operands.iter().skip(results(i)).for_each(|o| named(o, &mut found));
    found
}
