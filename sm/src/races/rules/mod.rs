//! Classification of instructions: plain or atomic, and acquire or release.
//!
//! PTX states the order explicitly. Machine code states it for global and generic accesses and for fences
//! (`.STRONG.GPU`, `MEMBAR`), but not for LDS, STS, ATOMS and SYNCS. For these:
//! - Accesses of a thread to shared memory execute in order. So every read acquires in its CTA, and compilers
//!   emit no instruction for that.
//! - A release is a fence before a write, except at mbarrier objects. The fence also releases an atomic
//!   directly after it.
//! - A load counts as atomic if a loop only repeats it until the value is right.
//! - A load counts as atomic if a compare-and-store compares with its value: it is part of an atomic that the
//!   compiler split (spec 7.1), and has the scope of the whole.
//! - A load counts as atomic if its value was tested against the compare value of a compare-and-store, which
//!   confirms the load.
//! - A store directly after a fence counts as a release. Other stores may be volatile; this matters only if
//!   an atomic load reads them.

pub(crate) mod dataflow;
mod flow;
mod value_flow;

use super::engine::Rule;
use super::finding::{Strength, Text};
use atoms_isa::{GlobalOp, Instruction, Kernel, Operation, Ordering, Scope, Semantics};
use atoms_ops::{MbarOp, Op, OpClass, OpKind, WordOp};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    Load,
    Store,
    /// Atomic, or an operation on an mbarrier object that neither arrives nor waits.
    Atomic,
    /// Compare-and-store in the loop that a compiler emits for one atomic. The stated scope need not be that
    /// of the atomic, so it is ignored.
    Loop,
    Object,
    Arrive,
    Wait,
}

fn act(op: Op) -> Act {
    match op.kind() {
        OpKind::Word(WordOp::Cast | WordOp::CastSpin) => Act::Loop,
        OpKind::Word(_) => match op.row().class {
            OpClass::Load => Act::Load,
            OpClass::Store => Act::Store,
            OpClass::Update | OpClass::Compare | OpClass::Barrier => Act::Atomic,
        },
        OpKind::Mbar(MbarOp::Init | MbarOp::Inval) => Act::Object,
        OpKind::Mbar(MbarOp::TestWait | MbarOp::TryWait) => Act::Wait,
        OpKind::Mbar(MbarOp::ExpectTx | MbarOp::CompleteTx | MbarOp::ArriveSm80) => Act::Atomic,
        OpKind::Mbar(MbarOp::Arrive | MbarOp::ArriveCount | MbarOp::ArriveExpectTx) => Act::Arrive,
        OpKind::Mbar(MbarOp::ArriveDrop | MbarOp::ArriveDropCount) => Act::Arrive,
        OpKind::Mbar(MbarOp::ArriveDropExpectTx) => Act::Arrive,
        OpKind::Mbar(MbarOp::ArriveNoComplete | MbarOp::ArriveDropNoComplete) => Act::Arrive,
    }
}

/// Kind of memory operation of an instruction, and true if its memory is certainly shared memory.
fn acts(instruction: &Instruction) -> Option<(Act, bool)> {
    match &instruction.operation {
        Operation::Shared(access) => Some((act(access.op), true)),
        Operation::Fill(_) => Some((Act::Store, true)),
        Operation::Barrier(access) if access.op == Op::Load => Some((Act::Atomic, true)),
        Operation::Barrier(access) => Some((act(access.op), true)),
        Operation::Global(access) => Some((
            match access.op {
                GlobalOp::Load => Act::Load,
                GlobalOp::Store => Act::Store,
                GlobalOp::Atomic(op) => act(op),
                GlobalOp::Wide(_) => Act::Atomic,
            },
            false,
        )),
        _ => None,
    }
}

/// Rule of every instruction of a kernel. [`Rule::WEAK`] for instructions without a memory access.
pub(super) fn of(kernel: &Kernel, text: Text) -> Vec<Rule> {
    let rule = |(pc, instruction): (usize, &Instruction)| {
        acts(instruction).map_or(Rule::WEAK, |(act, shared)| {
            let rule = match (instruction.ordering, text) {
                (Some(ordering), Text::Ptx) => stated(ordering),
                (None, Text::Ptx) => unstated(act),
                (ordering, Text::Machine) => machine(kernel, pc, act, ordering, shared),
            };
            let part = || flow::part_of_atomic(kernel, pc);
            if text == Text::Ptx && rule == Rule::WEAK && act == Act::Load && part() {
                return Rule { strength: Strength::Strong(None), ..Rule::WEAK };
            }
            rule
        })
    };
    kernel.instructions.iter().enumerate().map(rule).collect()
}

fn stated(Ordering { semantics, scope }: Ordering) -> Rule {
    let strength = match semantics {
        Semantics::Weak => Strength::Weak,
        _ => Strength::Strong(Some(scope)),
    };
    let (acquire, release) = (semantics.acquires().then_some(scope), semantics.releases().then_some(scope));
    Rule { strength, acquire, release, ..Rule::WEAK }
}

/// Default of PTX for missing qualifiers. Source: [PTX] atom (relaxed, .gpu), mbarrier.arrive (release,
/// .cta), mbarrier.test_wait (acquire, .cta), ld and st (weak).
fn unstated(act: Act) -> Rule {
    let say = |semantics, scope| stated(Ordering { semantics, scope });
    match act {
        Act::Load | Act::Store | Act::Object => Rule::WEAK,
        Act::Atomic | Act::Loop => say(Semantics::Relaxed, Scope::Gpu),
        Act::Arrive => say(Semantics::Release, Scope::Cta),
        Act::Wait => say(Semantics::Acquire, Scope::Cta),
    }
}

fn machine(kernel: &Kernel, pc: usize, act: Act, ordering: Option<Ordering>, shared: bool) -> Rule {
    let any = Rule { strength: Strength::Strong(None), acquire: Some(Scope::Sys), ..Rule::WEAK };
    if let Some(ordering) = ordering {
        let stated = stated(ordering);
        let strong = stated.strength != Strength::Weak;
        let acquire = stated.acquire.or(strong.then_some(Scope::Cta));
        let strength = match (act, stated.strength) {
            (Act::Loop, _) => Strength::Strong(None),
            (Act::Load, Strength::Weak) if flow::part_of_atomic(kernel, pc) => Strength::Taken,
            (_, strength) => strength,
        };
        return Rule { strength, acquire, fenced: strong, ..stated };
    }
    match act {
        Act::Object => Rule::WEAK,
        Act::Load if shared && flow::polls(kernel, pc) => Rule { strength: Strength::Taken, ..any },
        Act::Load if flow::part_of_atomic(kernel, pc) || (shared && value_flow::confirmed(kernel, pc)) => {
            Rule { strength: Strength::Taken, acquire: shared.then_some(Scope::Sys), ..Rule::WEAK }
        }
        Act::Load => Rule { unused: value_flow::unused(kernel, pc), ..Rule::WEAK },
        Act::Store if shared && flow::behind_fence(kernel, pc) => {
            Rule { acquire: None, release: Some(Scope::Sys), ..any }
        }
        Act::Store if shared => Rule { strength: Strength::Unsaid, fenced: true, ..Rule::WEAK },
        Act::Store => Rule::WEAK,
        Act::Atomic | Act::Loop | Act::Wait => Rule { fenced: true, ..any },
        Act::Arrive => Rule { release: Some(Scope::Sys), ..any },
    }
}
