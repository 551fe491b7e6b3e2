//! What each instruction counts as: plain or atomic, and what it orders.
//!
//! PTX says so in words. Machine code does for global and generic accesses and for fences (`.STRONG.GPU`, `MEMBAR`), and
//! has no word for it in LDS, STS, ATOMS and SYNCS. There:
//! - the accesses of a thread to shared memory are done in order, so that whatever reads acquires in its CTA with
//!   no instruction of its own; nor do compilers write one;
//! - a release is a fence before a write, except at mbarrier objects; an atomic behind it is released with it;
//! - a load that a loop does nothing but repeat until its value is right is meant to be atomic;
//! - so is a load whose value a compare-and-store compares with: it is part of an atomic that the compiler took
//!   apart (spec 7.1), in the scope that the whole has;
//! - so is a load whose value was tested against the one that a compare-and-store compares with, which confirms it;
//! - a store right behind a fence is meant to be a release; others may be volatile, which matters where a load meant to
//!   be atomic reads them.

mod dataflow;
mod flow;
mod value_flow;

use super::engine::Rule;
use super::finding::Strength;
use atoms_isa::{GlobalOp, Instruction, Kernel, Operation, Ordering, Scope, Semantics};
use atoms_ops::Op;

/// Where a kernel's text comes from, and so what it says of order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Text {
    /// Machine code, which leaves much out.
    #[default]
    Machine,
    /// PTX: what is not said has the default that PTX gives it.
    Ptx,
}

/// What an operation does to memory, as far as order is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    Load,
    Store,
    /// An atomic, or work on an mbarrier object that neither arrives nor waits.
    Atomic,
    /// A compare-and-store of a loop that a compiler makes of one atomic: it says of no scope but its own.
    Loop,
    /// Makes an object, or ends it.
    Object,
    Arrive,
    Wait,
}

fn act(op: Op) -> Act {
    match op {
        Op::Load => Act::Load,
        Op::Store => Act::Store,
        Op::Cast | Op::CastSpin => Act::Loop,
        Op::MbarInit | Op::MbarInval => Act::Object,
        Op::MbarTestWait | Op::MbarTryWait => Act::Wait,
        Op::MbarExpectTx | Op::MbarCompleteTx | Op::MbarArriveSm80 => Act::Atomic,
        Op::MbarArrive | Op::MbarArriveCount | Op::MbarArriveExpectTx => Act::Arrive,
        Op::MbarArriveDrop | Op::MbarArriveDropCount | Op::MbarArriveDropExpectTx => Act::Arrive,
        Op::MbarArriveNoComplete | Op::MbarArriveDropNoComplete => Act::Arrive,
        Op::Add | Op::Min | Op::Max | Op::Inc | Op::Dec | Op::Exch | Op::Cas | Op::PopcInc => Act::Atomic,
        Op::And | Op::Or | Op::Xor => Act::Atomic,
    }
}

/// What an instruction does, and whether its memory is shared memory for certain.
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

/// The rule of every instruction of a kernel; [`Rule::WEAK`] for those that access nothing.
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

/// Rule that PTX states.
fn stated(Ordering { semantics, scope }: Ordering) -> Rule {
    let strength = match semantics {
        Semantics::Weak => Strength::Weak,
        _ => Strength::Strong(Some(scope)),
    };
    let (acquire, release) = (semantics.acquires().then_some(scope), semantics.releases().then_some(scope));
    Rule { strength, acquire, release, ..Rule::WEAK }
}

/// What PTX means where it says nothing. Source: [PTX] atom (relaxed, .gpu), mbarrier.arrive (release, .cta),
/// mbarrier.test_wait (acquire, .cta), ld and st (weak).
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
