//! Expansion of calls of a compiler's atomic builtins to PTX, or the diagnostic of the refusal.
//!
//! There are three families of names: `__nvvm_atom_*` with the scope in the name, `__nv_atomic_*` with order
//! and scope as operands, and the `atomic*` functions of CUDA C++. There are two dialects of PTX: that
//! documented by \[NVVM\] ([`Dialect::Nvvm`]) and that of a current compiler ([`Dialect::Current`]).
//! `docs/builtins.md` states the choice where \[NVVM\] contradicts itself. Source: spec 8.
//!
//! The text is that of a device function with only the call, without loads of parameters and the return.
//! [`Expansion::module`] turns it into a kernel.

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

pub use by_arch::{
    BuiltinAtArches, BuiltinResult, LowerTextError, LoweredInstruction, LoweredResult, arches_named,
    expand_at, lower_text,
};
pub use machine::{Hint, atom_text, membar_text};
pub use name::{Builtin, BuiltinOp, NameForm, NameScope};
pub use operand::{Argument, MemoryOrder, NumberedOperand, PtxTarget, ThreadScope};
pub use refusal::BuiltinRefusal;
pub use text::{Expansion, FreeRegister, Input, InputRole, RegisterType, Warning};
pub use types::{ObjectType, TypeClass};

use refusal::refuse;
use std::str::FromStr;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::Display)]
#[strum(serialize_all = "lowercase")]
pub enum Dialect {
    Nvvm,
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
    #[default]
    Generic,
    /// The object is element `threadIdx.x & 7` of a shared array of eight elements. Only for the functions of
    /// CUDA C++ in [`Dialect::Current`], for which the compiler then emits `.shared` accesses.
    Shared,
}

/// Strength of a compare-and-swap: whether it may fail although memory equals the expected value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CasStrength {
    /// The compare-and-swap must not fail if memory equals the expected value.
    #[default]
    Strong,
    /// The compare-and-swap may fail although memory equals the expected value, so no retry loop is needed.
    Weak,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Call {
    pub builtin: Builtin,
    /// Type of the object. `None` if the builtin's name already contains the type.
    pub ty: Option<ObjectType>,
    /// Type of the value arguments. `None` if they have the type of the object.
    pub operand: Option<ObjectType>,
    /// Memory order of the access. For a compare-and-swap, the order on success.
    pub order: Argument<MemoryOrder>,
    pub failure: Argument<MemoryOrder>,
    pub strength: CasStrength,
    pub scope: Argument<ThreadScope>,
    pub place: ObjectPlace,
}

impl Call {
    /// Creates a call with the default operands of the language: sequentially consistent (relaxed on
    /// failure), system scope.
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
                format!("`{}` works on several object types, and the call states none", self.builtin),
                "state the type of the object, such as `u32`",
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
                    format!(
                        "the name of `{}` fixes the object type `{fixed}`, but the call states `{ty}`",
                        self.builtin
                    ),
                    "omit the type, or use the builtin whose name has this type",
                )
            }
        }
    }
}

/// Parses the name of a builtin.
///
/// # Errors
/// An unknown name, with the nearest known one; diagnostic 3767 for a width that no object has.
pub fn parse(name: &str) -> Result<Builtin, BuiltinRefusal> {
    name.parse()
}

/// Expands a call to PTX.
///
/// # Errors
/// The diagnostic of the dialect's compiler.
pub fn expand(call: &Call, target: PtxTarget, dialect: Dialect) -> Result<Expansion, BuiltinRefusal> {
    match dialect {
        Dialect::Nvvm => nvvm::expand(call, target),
        Dialect::Current => current::expand(call, target),
    }
}
