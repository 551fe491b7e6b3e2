//! What an `atom` or `red` instruction says: its modifiers, in any order.

use super::legality;
use crate::arch::Arch;
use crate::kernel::order::{Scope, Semantics};
use crate::lower::Refusal;
use crate::ptx::{Instruction, Type};

/// Operation, as PTX names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "lowercase")]
pub(super) enum AtomicOp {
    Add,
    Min,
    Max,
    Inc,
    Dec,
    And,
    Or,
    Xor,
    Exch,
    Cas,
}

impl AtomicOp {
    /// Its name in PTX.
    pub(super) fn name(self) -> &'static str {
        self.into()
    }

    /// Its name in machine code.
    pub(super) fn mnemonic(self) -> String {
        self.name().to_uppercase()
    }
}

/// Which memory the address names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AtomicSpace {
    /// `.shared`, `.shared::cta`
    Shared,
    /// `.shared::cluster`
    Cluster,
    /// `.global`
    Global,
    /// No space named.
    Generic,
}

/// An instruction whose modifiers fit together and whose architecture has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Form {
    /// `red`: there is no destination.
    pub(super) red: bool,
    pub(super) op: AtomicOp,
    pub(super) ty: Type,
    pub(super) sem: Semantics,
    pub(super) scope: Scope,
    pub(super) space: AtomicSpace,
    /// `.L2::cache_hint`: one more operand, which is a hint to caches and does nothing here.
    pub(super) hinted: bool,
}

/// Modifiers as they stand there, before they are looked at together. The first of a kind counts.
#[derive(Clone, Debug, Default)]
pub(super) struct Modifiers<'t> {
    pub(super) op: Option<AtomicOp>,
    pub(super) ty: Option<Type>,
    pub(super) sem: Option<&'t str>,
    pub(super) scope: Option<&'t str>,
    pub(super) space: Option<AtomicSpace>,
    pub(super) noftz: bool,
    pub(super) vector: Option<&'t str>,
    pub(super) hinted: bool,
    /// A kind of which there are two, and what the assembler says of it.
    pub(super) doubled: Option<(&'static str, String)>,
}

impl<'t> Modifiers<'t> {
    /// Sorts the modifiers by kind.
    ///
    /// # Errors
    /// One that `atom` and `red` do not know, or an operation or type that is missing.
    pub(super) fn read(instruction: &Instruction<'t>, arch: Arch) -> Result<Modifiers<'t>, Refusal> {
        let mut found = Modifiers::default();
        for modifier in &instruction.modifiers {
            let op = modifier.parse().ok();
            let ty = Type::from_name(modifier);
            match *modifier {
                _ if op.is_some() => {
                    if found.op.keep_first(op) {
                        found.double("operation", "Multiple instruction post-operation flags set".into());
                    }
                }
                _ if ty.is_some() => {
                    if found.ty.keep_first(ty) {
                        let opcode = instruction.opcode;
                        let message = format!("Unexpected instruction types specified for '{opcode}'");
                        found.double("type", message);
                    }
                }
                sem @ ("relaxed" | "acquire" | "release" | "acq_rel" | "sc" | "weak" | "volatile"
                | "mmio") => {
                    if found.sem.keep_first(Some(sem)) {
                        found.double("semantics", format!("Duplicate .{sem} modifier"));
                    }
                }
                scope @ ("cta" | "cluster" | "gpu" | "sys") => {
                    if found.scope.keep_first(Some(scope)) {
                        found.double("scope", "Multiple scope modifiers specified".into());
                    }
                }
                space @ ("shared" | "shared::cta" | "shared::cluster" | "global") => {
                    let space = match space {
                        "global" => AtomicSpace::Global,
                        "shared::cluster" => AtomicSpace::Cluster,
                        _ => AtomicSpace::Shared,
                    };
                    if found.space.keep_first(Some(space)) {
                        found.double("state space", "Multiple state spaces specified".into());
                    }
                }
                "local" | "const" | "param" => {
                    return legality::refuse(
                        format!("State space incorrect for instruction '{}'", instruction.opcode),
                        "atomics exist on .global, .shared and generic addresses",
                    );
                }
                "noftz" => found.noftz = true,
                "v2" | "v4" | "v8" => found.vector = found.vector.or(Some(modifier)),
                "L2::cache_hint" => found.hinted = true,
                // The assembler finds the type's architecture missing first.
                _ if arch.number() < 70 && instruction.modifiers.contains(&"b128") => {
                    return legality::wide_type();
                }
                unknown => return Err(legality::unknown_modifier(unknown)),
            }
        }
        Ok(found)
    }

    fn double(&mut self, kind: &'static str, message: String) {
        self.doubled.get_or_insert((kind, message));
    }
}

/// Keeps the first of a kind.
trait First<T> {
    /// Sets what is not set; says whether it was.
    fn keep_first(&mut self, value: Option<T>) -> bool;
}

impl<T> First<T> for Option<T> {
    fn keep_first(&mut self, value: Option<T>) -> bool {
        let set = self.is_some();
        if !set {
            *self = value;
        }
        set
    }
}

impl Form {
    /// Reads the modifiers of an instruction and looks whether an assembler for `arch` takes them.
    ///
    /// # Errors
    /// What that assembler says.
    pub(super) fn read(instruction: &Instruction<'_>, arch: Arch) -> Result<Form, Refusal> {
        let modifiers = Modifiers::read(instruction, arch)?;
        let red = instruction.opcode == "red";
        let (op, ty) = legality::check(&modifiers, red, arch)?;
        Ok(Form {
            red,
            op,
            ty,
            // What is volatile is relaxed too.
            sem: modifiers.sem.and_then(|name| name.parse().ok()).unwrap_or(Semantics::Relaxed),
            scope: modifiers.scope.and_then(|name| name.parse().ok()).unwrap_or(Scope::Gpu),
            space: modifiers.space.unwrap_or(AtomicSpace::Generic),
            hinted: modifiers.hinted,
        })
    }
}
