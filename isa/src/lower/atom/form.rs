//! What an `atom` or `red` instruction says: its modifiers, in any order.

use crate::kernel::order::{Scope, Semantics};
use crate::ptx::Type;

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

    /// Its truth table in LOP3, of the first two operands; bitwise operations have one.
    pub(super) fn table(self) -> &'static str {
        match self {
            AtomicOp::And => "0xc0",
            AtomicOp::Or => "0xfc",
            AtomicOp::Xor => "0x3c",
            AtomicOp::Add | AtomicOp::Min | AtomicOp::Max | AtomicOp::Inc | AtomicOp::Dec => "",
            AtomicOp::Exch | AtomicOp::Cas => "",
        }
    }

    /// Its name in machine code.
    pub(super) fn mnemonic(self) -> String {
        self.name().to_uppercase()
    }
}

/// State space of the address.
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
    /// True with `.noftz`: `.add.f32` in global memory keeps subnormals.
    pub(super) noftz: bool,
    /// `.L2::cache_hint`: one more operand, which is a hint to caches and does nothing here.
    pub(super) hinted: bool,
    /// Elements of a vector; 1 for a scalar.
    pub(super) lanes: u8,
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
