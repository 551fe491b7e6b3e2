//! Modifiers of an instruction, taken one by one: what is left at the end is not known.

use super::Fail;
use crate::kernel::number::Rounding;
use crate::ptx::{PtxInstruction, Type};

pub(super) struct Mods<'t> {
    left: Vec<&'t str>,
}

impl<'t> Mods<'t> {
    pub(super) fn new(instruction: &PtxInstruction<'t>) -> Mods<'t> {
        Mods { left: instruction.modifiers.clone() }
    }

    /// Opcode and modifiers, as written.
    pub(super) fn name(instruction: &PtxInstruction<'_>) -> String {
        std::iter::once(&instruction.opcode)
            .chain(&instruction.modifiers)
            .copied()
            .collect::<Vec<_>>()
            .join(".")
    }

    /// Whether the modifier is there; it is taken.
    pub(super) fn take(&mut self, name: &str) -> bool {
        self.take_any(&[name]).is_some()
    }

    /// The first of these that is there; it is taken.
    pub(super) fn take_any(&mut self, names: &[&str]) -> Option<&'t str> {
        let at = self.left.iter().position(|m| names.contains(m))?;
        Some(self.left.remove(at))
    }

    /// Whether the modifier is there.
    pub(super) fn has(&self, name: &str) -> bool {
        self.left.contains(&name)
    }

    /// The modifier that comes first among those left.
    pub(super) fn next(&mut self) -> Option<&'t str> {
        if self.left.is_empty() { None } else { Some(self.left.remove(0)) }
    }

    /// Takes the next type, if there is one.
    pub(super) fn maybe_ty(&mut self) -> Option<Type> {
        let at = self.left.iter().position(|m| Type::from_name(m).is_some())?;
        Type::from_name(self.left.remove(at))
    }

    /// Takes the next type.
    pub(super) fn ty(&mut self) -> Result<Type, Fail> {
        self.maybe_ty().ok_or(Fail::Lacking)
    }

    /// How the result is rounded, if it is said.
    pub(super) fn rounding(&mut self) -> Option<Rounding> {
        Some(match self.take_any(&["rn", "rz", "rm", "rp"])? {
            "rz" => Rounding::Zero,
            "rm" => Rounding::Down,
            "rp" => Rounding::Up,
            _ => Rounding::Nearest,
        })
    }

    /// Drops those that a functional core need not know: how caches are used.
    pub(super) fn drop_hints(&mut self) {
        const HINTS: &[&str] =
            &["ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc", "uni", "aligned", "unified", "noftz"];
        self.left.retain(|m| !HINTS.contains(m) && !m.starts_with("L1::") && !m.starts_with("L2::"));
    }

    /// Nothing is left.
    pub(super) fn done(&self) -> Result<(), Fail> {
        if self.left.is_empty() { Ok(()) } else { Err(Fail::Lacking) }
    }
}
