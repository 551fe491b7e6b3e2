//! From a call of a compiler's atomic builtin to the PTX it becomes, or the diagnostic why it is refused.
//!
//! Three families of names: `__nvvm_atom_*`, with the scope in the name; `__nv_atomic_*`, with order and
//! scope as operands; and the `atomic*` functions of CUDA C++. Two dialects of what they become: as
//! documented by \[NVVM\] ([`Dialect::Nvvm`]) and as a current compiler emits ([`Dialect::Current`]).
//! Where \[NVVM\] contradicts itself, `docs/builtins.md` says what was chosen. Source: spec 8.
//!
//! The text of a dialect is that of the device function which contains the call and nothing else, without
//! loads of parameters and the return. [`Expansion::module`] makes a kernel of it.

#![forbid(unsafe_code)]

mod by_arch;
mod current;
mod excerpt;
mod machine;
mod name;
mod nvvm;
mod operand;
mod refusal;
mod text;
mod types;

pub use by_arch::{BuiltinAtArches, BuiltinResult, LoweredInstruction, LoweredResult, expand_at, lower_at};
pub use machine::{Hint, atom_text, membar_text};
pub use name::{Builtin, BuiltinOp, NameForm, NameScope};
pub use operand::{Argument, MemoryOrder, NumberedOperand, PtxTarget, ThreadScope};
pub use refusal::BuiltinRefusal;
pub use text::{Expansion, FreeRegister, Input, InputRole, RegisterType, Warning};
pub use types::{ObjectType, TypeClass};

use refusal::refuse;
use std::str::FromStr;

/// Whose PTX a call becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::Display)]
#[strum(serialize_all = "lowercase")]
pub enum Dialect {
    Nvvm,
    /// As emitted by the compiler of \[TOOLS\].
    Current,
}

impl FromStr for Dialect {
    type Err = BuiltinRefusal;

    fn from_str(text: &str) -> Result<Dialect, BuiltinRefusal> {
        match text {
            "nvvm" => Ok(Dialect::Nvvm),
            "current" => Ok(Dialect::Current),
            _ => refuse(format!("unknown dialect `{}`", excerpt::excerpt(text)), "`nvvm` or `current`"),
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ObjectPlace {
    /// At a generic address passed in.
    #[default]
    Generic,
    /// In a shared array of eight, at the index `threadIdx.x & 7`. For the functions of CUDA C++ in
    /// [`Dialect::Current`] only, which then emit `.shared` accesses.
    Shared,
}

/// Whether a compare-and-swap may fail though the values are equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CasStrength {
    /// It may not.
    #[default]
    Strong,
    /// It may, which saves the loop where there would be one.
    Weak,
}

/// A builtin with its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Call {
    pub builtin: Builtin,
    /// Type of the object; needed where the name does not fix it.
    pub ty: Option<ObjectType>,
    /// Type of the other arguments, where it is not that of the object.
    pub operand: Option<ObjectType>,
    /// Memory order; of a compare-and-swap, of a successful one.
    pub order: Argument<MemoryOrder>,
    /// Memory order of a compare-and-swap that does not store.
    pub failure: Argument<MemoryOrder>,
    /// Whether a compare-and-swap may fail for no reason. [`Dialect::Nvvm`] has strong ones only.
    pub strength: CasStrength,
    pub scope: Argument<ThreadScope>,
    pub place: ObjectPlace,
}

impl Call {
    /// A call with the operands that the language takes when they are left out: sequentially consistent
    /// (relaxed on failure), system scope.
    pub fn new(builtin: Builtin) -> Call {
        Call {
            builtin,
            ty: None,
            operand: None,
            order: MemoryOrder::SeqCst.into(),
            failure: MemoryOrder::Relaxed.into(),
            strength: CasStrength::Strong,
            scope: ThreadScope::System.into(),
            place: ObjectPlace::Generic,
        }
    }

    fn object_type(&self) -> Result<ObjectType, BuiltinRefusal> {
        match (self.builtin.object_type(), self.ty) {
            (None, None) => refuse(
                format!("`{}` works on objects of many types", self.builtin),
                "say the type of the object, such as `u32`",
            ),
            (None, Some(ty)) | (Some(ty), None) => Ok(ty),
            (Some(fixed), Some(ty)) => {
                let letterless = matches!(
                    self.builtin,
                    Builtin::Nv { form: NameForm::Sized { class: TypeClass::Bits, .. }, .. }
                );
                if fixed == ty || (letterless && fixed.bytes() == ty.bytes()) {
                    return Ok(fixed);
                }
                refuse(
                    format!("`{}` works on `{fixed}`, not on `{ty}`", self.builtin),
                    "leave the type out, or use the name for it",
                )
            }
        }
    }
}

/// Reads the name of a builtin.
///
/// # Errors
/// An unknown name, with the nearest known one; diagnostic 3767 for a width that no object has.
pub fn parse(name: &str) -> Result<Builtin, BuiltinRefusal> {
    name.parse()
}

/// The PTX of a call.
///
/// # Errors
/// What the compiler of the dialect says of it.
pub fn expand(call: &Call, target: PtxTarget, dialect: Dialect) -> Result<Expansion, BuiltinRefusal> {
    match dialect {
        Dialect::Nvvm => nvvm::expand(call, target),
        Dialect::Current => current::expand(call, target),
    }
}
