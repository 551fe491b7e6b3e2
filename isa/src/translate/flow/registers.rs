//! Registers that an instruction reads and writes.

use crate::ptx::{Base, Operand, PtxInstruction, RegId};

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

/// Number of operands at the beginning of the operand list that are results.
fn results(i: &PtxInstruction<'_>) -> usize {
    match i.operands.as_slice() {
        // A wait with a failure report has two result operands: `%p|%q, %b, [%a], %s`.
        [_, report, Operand::Address { .. }, ..]
            if i.opcode == "mbarrier" && !matches!(report, Operand::Address { .. }) =>
        {
            2
        }
        _ => usize::from(has_result(i)),
    }
}

pub(crate) fn written(i: &PtxInstruction<'_>) -> Vec<RegId> {
    let mut found = Vec::new();
    i.operands.iter().take(results(i)).for_each(|o| named(o, &mut found));
    found
}

/// Registers that an instruction reads, including the predicate of its guard.
pub(crate) fn read(i: &PtxInstruction<'_>) -> Vec<RegId> {
    let mut found: Vec<RegId> = i.guard.iter().map(|g| g.register).collect();
    i.operands.iter().skip(results(i)).for_each(|o| named(o, &mut found));
    found
}
