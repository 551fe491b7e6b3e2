//! Lowering of `atom` and `red` as compilers do it (spec 7.1 to 7.5).
//!
//! | file | content |
//! |---|---|
//! | `form.rs` | modifiers of an instruction |
//! | `legality.rs` | assembler checks of the modifiers, and messages |
//! | `operand.rs` | kinds and registers of operands |
//! | `address.rs` | addresses in machine code |
//! | `compute.rs` | computation of the new value from the old one |
//! | `fence.rs` | fences for `.sem` and `.scope` |
//! | `shared.rs` | one ATOMS, or a loop around CAST.SPIN |
//! | `halves.rs` | a loop around CAS on the word that contains a half |
//! | `warp.rs` | one address for all lanes: the warp combines its operands first |
//! | `generic.rs` | generic, cluster and global addresses |
//! | `vector.rs` | vectors in global memory |
//! | `maxwell.rs` | loops before sm_70 |

mod address;
mod compute;
mod fence;
mod form;
mod generic;
mod halves;
mod legality;
mod maxwell;
mod operand;
mod shared;
mod vector;
mod warp;

use super::LoweringRefusal;
use super::code::{Code, Value};
use super::operand::Reader;
use crate::ptx::{Function, PtxInstruction, Type};
use form::{AtomicOp, AtomicSpace, Form};
use operand::Operands;

pub(super) fn lower(reader: &Reader<'_, '_>, used: bool, code: &mut Code<'_>) -> Result<(), LoweringRefusal> {
    let form = Form::read(reader.instruction, code.arch, code.target)?;
    let operands = Operands::read(reader, &form, code)?;
    let (form, operands) = simplified(form, operands);
    code.leave_early = last(reader.function, reader.instruction);
    let used = used && operands.destination.is_some();
    code.lower(&form, &operands, used);
    if used && form.lanes > 1 {
        code.take_apart(&form, &operands);
    }
    Ok(())
}

/// Replaces an increment whose limit is 2^32 - 1 by an addition of one, which has the same result.
fn simplified(form: Form, operands: Operands) -> (Form, Operands) {
    match (form.op, operands.b) {
        (AtomicOp::Inc, Value::Constant(limit)) if limit as u32 == u32::MAX => {
            (Form { op: AtomicOp::Add, ..form }, Operands { b: Value::Constant(1), ..operands })
        }
        _ => (form, operands),
    }
}

/// True if the kernel ends after the instruction. A thread that has finished the atomic may then exit.
fn last(function: &Function<'_>, instruction: &PtxInstruction<'_>) -> bool {
    let at = function.instructions.iter().position(|i| std::ptr::eq(i, instruction));
    let ends = |i: &PtxInstruction<'_>| i.guard.is_none() && matches!(i.opcode, "ret" | "exit");
    let next = at.map(|at| function.instructions.get(at + 1));
    function.entry && next.is_some_and(|next| next.is_none_or(ends))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Manner {
    Native,
    /// A loop of load, compute and CAST.SPIN, which repeats until the store succeeds (spec 7.2).
    Spin,
    /// A loop as in `Spin`, but with CAS on the 32-bit word that contains the half.
    Halves,
}

impl Form {
    fn manner(&self) -> Manner {
        match (self.op, self.ty) {
            _ if self.lanes > 1 => Manner::Native,
            (_, Type::B16 | Type::F16 | Type::Bf16) => Manner::Halves,
            (AtomicOp::Exch | AtomicOp::Cas, _) => Manner::Native,
            (_, Type::U32 | Type::S32 | Type::B32) => Manner::Native,
            _ => Manner::Spin,
        }
    }

    fn words(&self) -> u8 {
        self.ty.words().max((self.ty.bits() * u32::from(self.lanes) / 32) as u8)
    }

    fn signed(&self) -> bool {
        matches!(self.ty, Type::S32 | Type::S64)
    }
}

impl Code<'_> {
    fn lower(&mut self, form: &Form, operands: &Operands, used: bool) {
        // Before sm_90, the fence after an acquire waits for the result, so the result counts as used.
        self.wanted = used;
        let used = used || form.sem.acquires() && self.number < 90 && !form.red;
        self.leave_early = self.leave_early && !used;
        match (form.space, form.manner()) {
            (_, Manner::Halves) => self.halves(form, operands, used),
            (AtomicSpace::Shared, Manner::Native) => {
                if !self.combined(form, operands, used) {
                    self.native(form, operands, used);
                }
            }
            (AtomicSpace::Shared, Manner::Spin) if self.number < 70 => self.maxwell(form, operands, used),
            (AtomicSpace::Shared, Manner::Spin) => {
                if !self.combined(form, operands, used) {
                    self.spin(form, operands, used);
                }
            }
            (AtomicSpace::Global, _) => self.global(form, operands, used),
            (AtomicSpace::Generic | AtomicSpace::Cluster, manner) if self.number < 70 => {
                self.maxwell_generic(form, operands, used, manner);
            }
            (AtomicSpace::Generic | AtomicSpace::Cluster, manner) => {
                self.generic(form, operands, used, manner);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::order::{Scope, Semantics};

    #[test]
    fn the_page_has_every_legal_pair() {
        let page = include_str!("../../../../docs/lowering.md");
        for row in legality::ROWS {
            for (ty, since) in row.types {
                let form = Form {
                    red: false,
                    op: row.op,
                    ty: *ty,
                    sem: Semantics::Relaxed,
                    scope: Scope::Gpu,
                    space: AtomicSpace::Shared,
                    noftz: false,
                    hinted: false,
                    lanes: 1,
                };
                let alone = legality::of_vectors_alone(row.op, *ty);
                let since =
                    if alone { "vectors in global memory alone".into() } else { format!("sm_{}", since.0) };
                let manner = match (form.manner(), since.starts_with("sm_")) {
                    (_, false) => "-",
                    (Manner::Native, _) => "one ATOMS",
                    (Manner::Spin, _) => "CAST.SPIN loop",
                    (Manner::Halves, _) => "CAS loop on the word",
                };
                let (op, ty) = (row.op.name(), ty.name());
                let line = format!("| `.{op}` | `.{ty}` | {since} | {manner} |");
                assert!(page.contains(&line), "docs/lowering.md lacks\n{line}");
            }
        }
    }
}
