//! Memory order, scope and target of a builtin call.

use super::BuiltinRefusal;
use super::excerpt::excerpt;
use super::refusal::refuse;
use atoms_isa::nearest;
use std::fmt;
use std::str::FromStr;
use strum::{EnumMessage, VariantArray};

/// Memory order of an operation. Source: spec 8.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, EnumMessage, VariantArray)]
pub enum MemoryOrder {
    /// 0
    #[strum(serialize = "relaxed", serialize = "monotonic", serialize = "__NV_ATOMIC_RELAXED")]
    Relaxed,
    /// 1, treated as acquire
    #[strum(serialize = "consume", serialize = "__NV_ATOMIC_CONSUME")]
    Consume,
    /// 2
    #[strum(serialize = "acquire", serialize = "__NV_ATOMIC_ACQUIRE")]
    Acquire,
    /// 3
    #[strum(serialize = "release", serialize = "__NV_ATOMIC_RELEASE")]
    Release,
    /// 4
    #[strum(serialize = "acq_rel", serialize = "__NV_ATOMIC_ACQ_REL")]
    AcqRel,
    /// 5
    #[strum(serialize = "seq_cst", serialize = "__NV_ATOMIC_SEQ_CST")]
    SeqCst,
}

/// Threads among which an operation is atomic. Source: spec 8.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, EnumMessage, VariantArray)]
pub enum ThreadScope {
    /// 0, treated as block
    #[strum(serialize = "thread", serialize = "__NV_THREAD_SCOPE_THREAD")]
    Thread,
    /// 1
    #[strum(serialize = "block", serialize = "cta", serialize = "__NV_THREAD_SCOPE_BLOCK")]
    Block,
    /// 2, treated as device before sm_90
    #[strum(serialize = "cluster", serialize = "__NV_THREAD_SCOPE_CLUSTER")]
    Cluster,
    /// 3
    #[strum(serialize = "device", serialize = "gpu", serialize = "__NV_THREAD_SCOPE_DEVICE")]
    Device,
    /// 4
    #[strum(serialize = "system", serialize = "sys", serialize = "__NV_THREAD_SCOPE_SYSTEM")]
    System,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Argument<T> {
    Literal(T),
    OutOfRange(i64),
    Runtime,
}

impl<T> Argument<T> {
    /// Returns the value. Refuses a number out of range, and an operand that is not a literal.
    pub(super) fn literal(
        self,
        out_of_range: impl FnOnce(i64) -> BuiltinRefusal,
        runtime: &str,
        help: &str,
    ) -> Result<T, BuiltinRefusal> {
        match self {
            Argument::Literal(value) => Ok(value),
            Argument::OutOfRange(number) => Err(out_of_range(number)),
            Argument::Runtime => refuse(runtime, help),
        }
    }
}

/// An operand type for [`Argument`]: all values in numeric order, each with its names, the main one first.
pub trait NumberedOperand: Copy + VariantArray + EnumMessage {
    const KIND: &'static str;
}

impl NumberedOperand for MemoryOrder {
    const KIND: &'static str = "memory order";
}

impl NumberedOperand for ThreadScope {
    const KIND: &'static str = "scope";
}

impl MemoryOrder {
    pub const ALL: &'static [MemoryOrder] = MemoryOrder::VARIANTS;

    /// True if later accesses stay after the operation.
    pub const fn acquires(self) -> bool {
        matches!(
            self,
            MemoryOrder::Consume | MemoryOrder::Acquire | MemoryOrder::AcqRel | MemoryOrder::SeqCst
        )
    }

    /// True if earlier accesses stay before the operation.
    pub const fn releases(self) -> bool {
        matches!(self, MemoryOrder::Release | MemoryOrder::AcqRel | MemoryOrder::SeqCst)
    }

    /// Returns the weakest order that is at least as strong as both. A compare-and-swap is one instruction,
    /// but has one order for success and one for failure.
    pub const fn join(self, other: MemoryOrder) -> MemoryOrder {
        match (self, other) {
            (MemoryOrder::SeqCst, _) | (_, MemoryOrder::SeqCst) => MemoryOrder::SeqCst,
            _ => match (self.acquires() || other.acquires(), self.releases() || other.releases()) {
                (true, true) => MemoryOrder::AcqRel,
                (true, false) => MemoryOrder::Acquire,
                (false, true) => MemoryOrder::Release,
                (false, false) => MemoryOrder::Relaxed,
            },
        }
    }

    /// PTX qualifier of an order weaker than [`MemoryOrder::SeqCst`]. PTX has no sequentially consistent
    /// access.
    pub(super) const fn qualifier(self) -> &'static str {
        match self {
            MemoryOrder::Relaxed => "relaxed",
            MemoryOrder::Consume | MemoryOrder::Acquire => "acquire",
            MemoryOrder::Release => "release",
            MemoryOrder::AcqRel => "acq_rel",
            MemoryOrder::SeqCst => "sc",
        }
    }
}

impl ThreadScope {
    pub const ALL: &'static [ThreadScope] = ThreadScope::VARIANTS;

    /// PTX qualifier. Clusters exist from sm_90 on; before that, the device stands for the cluster.
    pub const fn qualifier(self, target: PtxTarget) -> &'static str {
        match self {
            ThreadScope::Thread | ThreadScope::Block => "cta",
            ThreadScope::Cluster if target.number >= 90 => "cluster",
            ThreadScope::Cluster | ThreadScope::Device => "gpu",
            ThreadScope::System => "sys",
        }
    }
}

impl<T: NumberedOperand> FromStr for Argument<T> {
    type Err = BuiltinRefusal;

    /// Parses a name, a number (also out of range), or `runtime`.
    fn from_str(text: &str) -> Result<Self, BuiltinRefusal> {
        if text == "runtime" {
            return Ok(Argument::Runtime);
        }
        if let Ok(number) = text.parse::<i64>() {
            let value = usize::try_from(number).ok().and_then(|n| T::VARIANTS.get(n));
            return Ok(value.map_or(Argument::OutOfRange(number), |v| Argument::Literal(*v)));
        }
        let found = T::VARIANTS.iter().find(|v| v.get_serializations().contains(&text));
        found.map(|v| Argument::Literal(*v)).ok_or_else(|| {
            let names = T::VARIANTS.iter().flat_map(|v| v.get_serializations().iter().copied());
            BuiltinRefusal::new(
                format!("unknown {} `{}`", T::KIND, excerpt(text)),
                format!("the nearest known one is `{}`", nearest(text, names).unwrap_or_default()),
            )
        })
    }
}

/// Parses a legal value: a name or a number in range.
fn literal<T: NumberedOperand>(text: &str) -> Result<T, BuiltinRefusal> {
    match text.parse()? {
        Argument::Literal(value) => Ok(value),
        Argument::OutOfRange(_) | Argument::Runtime => {
            let names: Vec<_> =
                T::VARIANTS.iter().filter_map(|v| v.get_serializations().first().copied()).collect();
            let last = T::VARIANTS.len().saturating_sub(1);
            refuse(
                format!("`{}` is no {}", excerpt(text), T::KIND),
                format!("one of {}, or 0 to {last}", names.join(", ")),
            )
        }
    }
}

impl FromStr for MemoryOrder {
    type Err = BuiltinRefusal;

    fn from_str(text: &str) -> Result<MemoryOrder, BuiltinRefusal> {
        literal(text)
    }
}

impl FromStr for ThreadScope {
    type Err = BuiltinRefusal;

    fn from_str(text: &str) -> Result<ThreadScope, BuiltinRefusal> {
        literal(text)
    }
}

impl fmt::Display for MemoryOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.get_serializations().first().copied().unwrap_or_default())
    }
}

impl fmt::Display for ThreadScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.get_serializations().first().copied().unwrap_or_default())
    }
}

impl<T> From<T> for Argument<T> {
    fn from(value: T) -> Argument<T> {
        Argument::Literal(value)
    }
}

/// Target architecture: `sm_` and a number from 50, with an optional letter.
///
/// This type differs from [`atoms_isa::Arch`], because builtins have rules for architectures without machine
/// code here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PtxTarget {
    number: u16,
    letter: Option<char>,
}

impl PtxTarget {
    pub const fn number(self) -> u16 {
        self.number
    }
}

impl FromStr for PtxTarget {
    type Err = BuiltinRefusal;

    fn from_str(text: &str) -> Result<PtxTarget, BuiltinRefusal> {
        let rest = text.strip_prefix("sm_").unwrap_or_default();
        let digits = rest.trim_end_matches(['a', 'f']);
        let letter = rest.get(digits.len()..).map(|s| s.chars().collect::<Vec<_>>());
        let number = digits.parse().ok().filter(|n| (50..130).contains(n) && !digits.starts_with('+'));
        match (number, letter.as_deref()) {
            (Some(number), Some([])) => Ok(PtxTarget { number, letter: None }),
            (Some(number), Some([letter])) => Ok(PtxTarget { number, letter: Some(*letter) }),
            _ => refuse(
                format!("unknown architecture `{}`", excerpt(text)),
                "`sm_` and a number from 50 to 129, such as `sm_90` or `sm_100a`",
            ),
        }
    }
}

impl fmt::Display for PtxTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sm_{}", self.number)?;
        self.letter.map_or(Ok(()), |letter| write!(f, "{letter}"))
    }
}
