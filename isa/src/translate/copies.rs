//! Translation of asynchronous copies that are not lowered to machine code, and of related instructions.

use super::memory::Memory;
use super::unit::{FunctionUnit, Output, imm, pair, word};
use super::{Fail, Mods};
use crate::kernel::compute::{BoolOp, Compare, ComputeOp, FloatCompare, IntOp};
use crate::kernel::control::{Control, GroupKind};
use crate::kernel::instruction::Operation;
use crate::kernel::memory::{AddressBase, GlobalAddress, ThreadCopy};
use crate::kernel::register::{Pred, PredSource, Reg};
use crate::kernel::source::Source;
use crate::lower::Target;
use crate::ptx::{Operand, PtxInstruction, Type};
use atoms_ops::Size;

impl<'t> FunctionUnit<'_, 't> {
    /// Translates an asynchronous copy that is not lowered to machine code. Returns false for any other
    /// instruction.
    pub(super) fn copy(&mut self, i: &PtxInstruction<'t>) -> Result<bool, Fail> {
        if i.opcode != "cp" {
            return Ok(false);
        }
        let m = &mut Mods::new(i);
        if !m.take("async") || m.has("reduce") {
            return Err(Fail::Unsupported);
        }
        let bulk = m.take("bulk");
        if let Some(what) = m.take_any(&["commit_group", "wait_group", "wait_all"]) {
            let read = what == "wait_group" && bulk && m.take("read");
            m.done()?;
            let first = if bulk { 90 } else { 80 };
            if self.arch.number() < first {
                return Err(Fail::since(&m.name(), first));
            }
            return self
                .groups(m, what, if bulk { GroupKind::Bulk } else { GroupKind::Threads }, read)
                .map(|()| true);
        }
        if bulk && m.take("prefetch") && m.take("L2") && m.take("global") {
            m.done()?;
            if self.arch.number() < 90 {
                return Err(Fail::since(&m.name(), 90));
            }
            self.control(Control::Nop);
            return Ok(true);
        }
        if bulk {
            return Err(Fail::Unsupported);
        }
        if self.arch.number() < 80 {
            return Err(Fail::since("cp.async", 80));
        }
        m.take_any(&["shared", "shared::cta"]);
        m.take("global");
        m.drop_hints();
        m.done()?;
        let Operand::Integer(bytes) = m.operand(2)? else {
            return Err(Fail::wrong("the size of the copy is not a number", "the size is 4, 8 or 16 bytes"));
        };
        let size = match bytes {
            4 => Size::U32,
            8 => Size::U64,
            16 => Size::B128,
            _ => {
                return Err(Fail::wrong(
                    format!("a copy of {bytes} bytes is illegal"),
                    "the size is 4, 8 or 16 bytes",
                ));
            }
        };
        let shared = self.shared_address(m.operand(0)?, 0)?;
        let (_, global) = self.global_address(Memory::Global, m.operand(1)?, 0)?;
        let mut copy = ThreadCopy { size, shared, global, enable: PredSource::TRUE, fill: false };
        match i.operands.get(3) {
            None => {}
            Some(Operand::Integer(source)) if source == bytes => {}
            Some(Operand::Integer(0)) => copy.enable = PredSource::FALSE,
            Some(Operand::Register(id)) if self.type_of(*id)? == Type::Pred => {
                // `igonre` is the assembler's spelling.
                Target::new(self.module, self.arch.number())
                    .needs_version("Feature 'igonre-src on cp.async'", (7, 5))
                    .map_err(|refused| Fail::Wrong(refused.message, refused.help))?;
                // If the predicate is true, the copy ignores its source and stores zeros, so `enable` is its
                // inverse.
                let pred = Pred::Thread(self.predicate(*id)?);
                copy.enable = PredSource { pred, negate: true };
            }
            Some(source) => {
                // The copy instruction has no operand for the length of the source. An address that is not
                // aligned states how many bytes of the source are missing.
                let length = self.input(source, Type::U32)?;
                let from = self.global_pair(m.operand(1)?)?;
                let sum = self.scratch(2);
                let sub = ComputeOp::int(IntOp::Sub, Type::U32);
                self.compute(sub, Output::Pair(sum), &[imm(*bytes as u64), length]);
                let add = ComputeOp::int(IntOp::Add, Type::U64);
                self.compute(add, Output::Pair(sum), &[pair(sum), pair(from)]);
                copy.enable = self.not_zero(length);
                copy.global = GlobalAddress { base: AddressBase::Pair(sum), ur: None, imm: 0 };
                copy.fill = true;
            }
        }
        self.emit(Operation::ThreadCopy(copy));
        Ok(true)
    }

    fn global_pair(&mut self, operand: &Operand<'t>) -> Result<Reg, Fail> {
        let (_, address) = self.global_address(Memory::Global, operand, 0)?;
        let base = match address.base {
            AddressBase::Pair(reg) => pair(reg),
            AddressBase::Word(reg) => word(reg),
            AddressBase::None => imm(0),
        };
        let sum = self.scratch(2);
        let op = ComputeOp::int(IntOp::Add, Type::U64);
        self.compute(op, Output::Pair(sum), &[base, imm(i64::from(address.imm) as u64)]);
        Ok(sum)
    }

    fn not_zero(&mut self, word: Source) -> PredSource {
        let pred = Pred::Thread(self.frame.scratch_predicate());
        let compare = FloatCompare { compare: Compare::Ne, unordered: false };
        let op = ComputeOp::compare(compare, Type::U32, BoolOp::And, false);
        self.compute_pred(op, pred, &[word, imm(0)]);
        PredSource { pred, negate: false }
    }

    fn groups(&mut self, m: &Mods<'_, 't>, what: &str, kind: GroupKind, read: bool) -> Result<(), Fail> {
        let most = match what {
            "commit_group" => {
                self.control(Control::EndGroup(kind));
                return Ok(());
            }
            "wait_group" => match m.operand(0)? {
                Operand::Integer(most) => u32::try_from(*most).unwrap_or(0),
                _ => {
                    return Err(Fail::wrong(
                        "the number of groups is not a number",
                        "write a number such as 0",
                    ));
                }
            },
            // `wait_all` waits for all copies, so the current group is closed first.
            _ => {
                self.control(Control::EndGroup(kind));
                0
            }
        };
        self.control(Control::WaitGroups { most, kind: Some(kind), read });
        Ok(())
    }
}
