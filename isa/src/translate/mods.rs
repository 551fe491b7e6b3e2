//! Modifiers of an instruction, which the translation takes one by one. If modifiers are left at the end, the
//! instruction is unsupported.

use super::Fail;
use crate::ptx::{Operand, PtxInstruction, Type};
use std::str::FromStr;

pub(super) struct Mods<'i, 't> {
    pub(super) instruction: &'i PtxInstruction<'t>,
    left: Vec<&'t str>,
}

impl<'i, 't> Mods<'i, 't> {
    pub(super) fn new(instruction: &'i PtxInstruction<'t>) -> Mods<'i, 't> {
        Mods { instruction, left: instruction.modifiers.clone() }
    }

    pub(super) fn name(&self) -> String {
        let PtxInstruction { opcode, modifiers, .. } = self.instruction;
        [&[*opcode], modifiers.as_slice()].concat().join(".")
    }

    pub(super) fn operand(&self, index: usize) -> Result<&'i Operand<'t>, Fail> {
        let operands = &self.instruction.operands;
        operands.get(index).ok_or_else(|| {
            let help = format!("{} has at least {} operands", self.name(), index + 1);
            Fail::wrong(format!("too few operands: {}", operands.len()), help)
        })
    }

    pub(super) fn take(&mut self, name: &str) -> bool {
        self.take_any(&[name]).is_some()
    }

    pub(super) fn take_any(&mut self, names: &[&str]) -> Option<&'t str> {
        let at = self.left.iter().position(|m| names.contains(m))?;
        Some(self.left.remove(at))
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.left.contains(&name)
    }

    pub(super) fn next(&mut self) -> Option<&'t str> {
        if self.left.is_empty() { None } else { Some(self.left.remove(0)) }
    }

    pub(super) fn next_as<T: FromStr>(&mut self) -> Result<T, Fail> {
        self.next().and_then(lower_case).ok_or(Fail::Unsupported)
    }

    pub(super) fn known<T: FromStr>(&mut self) -> Option<T> {
        let found = self.left.iter().enumerate().find_map(|(at, name)| Some((at, lower_case(name)?)));
        let (at, value) = found?;
        self.left.remove(at);
        Some(value)
    }

    /// Takes one of two modifiers, one of which is mandatory. Returns true for the first.
    pub(super) fn either(&mut self, names: [&str; 2]) -> Result<bool, Fail> {
        Ok(self.take_any(&names).ok_or(Fail::Unsupported)? == names[0])
    }

    pub(super) fn maybe_ty(&mut self) -> Option<Type> {
        let at = self.left.iter().position(|m| Type::from_name(m).is_some())?;
        Type::from_name(self.left.remove(at))
    }

    pub(super) fn ty(&mut self) -> Result<Type, Fail> {
        self.maybe_ty().ok_or(Fail::Unsupported)
    }

    /// Drops modifiers that do not change the result, such as those for caches.
    pub(super) fn drop_hints(&mut self) {
        const HINTS: &[&str] =
            &["ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc", "uni", "aligned", "unified", "noftz"];
        self.left.retain(|m| !HINTS.contains(m) && !m.starts_with("L1::") && !m.starts_with("L2::"));
    }

    pub(super) fn done(&self) -> Result<(), Fail> {
        if self.left.is_empty() { Ok(()) } else { Err(Fail::Unsupported) }
    }
}

/// Parses a name that machine code writes in capitals and PTX in lower case. Only lower case is accepted.
fn lower_case<T: FromStr>(name: &str) -> Option<T> {
    name.parse().ok().filter(|_| !name.bytes().any(|b| b.is_ascii_uppercase()))
}
