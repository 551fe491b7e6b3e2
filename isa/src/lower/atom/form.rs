//! Modifiers of an `atom` or `red` instruction. The instruction may state them in any order.

use crate::kernel::order::{Scope, Semantics};
use crate::ptx::Type;

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
    pub(super) fn name(self) -> &'static str {
        self.into()
    }

    /// Returns the LOP3 truth table of a bitwise operation on the first two operands of LOP3.
    pub(super) fn table(self) -> &'static str {
        match self {
            AtomicOp::And => "0xc0",
            AtomicOp::Or => "0xfc",
            AtomicOp::Xor => "0x3c",
            AtomicOp::Add | AtomicOp::Min | AtomicOp::Max | AtomicOp::Inc | AtomicOp::Dec => "",
            AtomicOp::Exch | AtomicOp::Cas => "",
        }
    }

    pub(super) fn mnemonic(self) -> String {
        self.name().to_uppercase()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AtomicSpace {
    /// `.shared` or `.shared::cta`: the CTA's own shared memory.
    Shared,
    /// `.shared::cluster`: shared memory of any CTA of the cluster.
    Cluster,
    Global,
    Generic,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Form {
    pub(super) red: bool,
    pub(super) op: AtomicOp,
    pub(super) ty: Type,
    pub(super) sem: Semantics,
    pub(super) scope: Scope,
    pub(super) space: AtomicSpace,
    /// True with `.noftz`: an `.add.f32` in global memory does not flush subnormals to zero.
    pub(super) noftz: bool,
    /// True with `.L2::cache_hint`: the instruction then has one more operand, a cache hint that has no
    /// effect here.
    pub(super) hinted: bool,
    pub(super) lanes: u8,
}

/// Modifiers as written, before the check of their combination. Of several modifiers of one kind, only the
/// first is kept.
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
    /// Kind of a modifier that is given twice, and the assembler's message about it.
    pub(super) doubled: Option<(&'static str, String)>,
}
