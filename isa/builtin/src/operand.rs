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
    /// Number 0 in a call
    #[strum(serialize = "relaxed", serialize = "monotonic", serialize = "__NV_ATOMIC_RELAXED")]
    Relaxed,
    /// Number 1 in a call; treated as acquire
    #[strum(serialize = "consume", serialize = "__NV_ATOMIC_CONSUME")]
    Consume,
    /// Number 2 in a call
    #[strum(serialize = "acquire", serialize = "__NV_ATOMIC_ACQUIRE")]
    Acquire,
    /// Number 3 in a call
    #[strum(serialize = "release", serialize = "__NV_ATOMIC_RELEASE")]
    Release,
    /// Number 4 in a call
    #[strum(serialize = "acq_rel", serialize = "__NV_ATOMIC_ACQ_REL")]
    AcqRel,
    /// Number 5 in a call
    #[strum(serialize = "seq_cst", serialize = "__NV_ATOMIC_SEQ_CST")]
    SeqCst,
}

/// Threads among which an operation is atomic. Source: spec 8.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, EnumMessage, VariantArray)]
pub enum ThreadScope {
    /// Number 0 in a call; treated as block
    #[strum(serialize = "thread", serialize = "__NV_THREAD_SCOPE_THREAD")]
    Thread,
    /// Number 1 in a call
    #[strum(serialize = "block", serialize = "cta", serialize = "__NV_THREAD_SCOPE_BLOCK")]
    Block,
    /// Number 2 in a call; treated as device before sm_90
    #[strum(serialize = "cluster", serialize = "__NV_THREAD_SCOPE_CLUSTER")]
    Cluster,
    /// Number 3 in a call
    #[strum(serialize = "device", serialize = "gpu", serialize = "__NV_THREAD_SCOPE_DEVICE")]
    Device,
    /// Number 4 in a call
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
    /// Returns the value of the argument. Refuses a number out of range, and an argument that is only known
    /// at run time.
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

/// Kind of operand that an [`Argument`] holds: memory order or scope. Its values are in numeric order. Each
/// has one or more names, the main name first.
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

    /// True if later accesses cannot move before the operation.
    pub const fn acquires(self) -> bool {
        matches!(
            self,
            MemoryOrder::Consume | MemoryOrder::Acquire | MemoryOrder::AcqRel | MemoryOrder::SeqCst
        )
    }

    /// True if earlier accesses cannot move after the operation.
    pub const fn releases(self) -> bool {
        matches!(self, MemoryOrder::Release | MemoryOrder::AcqRel | MemoryOrder::SeqCst)
    }

    /// Returns the weakest order that is at least as strong as both orders. A call of compare-and-swap has
    /// one order for success and one for failure, but becomes one instruction.
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

    /// PTX qualifier of an order weaker than [`MemoryOrder::SeqCst`]. PTX has no qualifier for sequentially
    /// consistent accesses.
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

    /// PTX qualifier of the scope. Clusters exist from sm_90 on; for earlier targets, cluster scope becomes
    /// GPU scope.
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

    /// Parses a memory order or scope: a name, a number (also out of range), or `runtime` for an argument
    /// that is only known at run time.
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

/// Parses a legal value of a memory order or scope: a name, or a number in range.
fn literal<T: NumberedOperand>(text: &str) -> Result<T, BuiltinRefusal> {
    match text.parse()? {
        Argument::Literal(value) => Ok(value),
        Argument::OutOfRange(_) | Argument::Runtime => {
            let names: Vec<_> =
                T::VARIANTS.iter().filter_map(|v| v.get_serializations().first().copied()).collect();
            let last = T::VARIANTS.len().saturating_sub(1);
            refuse(
                format!("`{}` is not a {}", excerpt(text), T::KIND),
                format!("it is one of {}, or a number from 0 to {last}", names.join(", ")),
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

/// Target architecture of a builtin call: `sm_` and a number from 50, with an optional letter.
///
/// This type differs from [`atoms_isa::Arch`], because builtins also have rules for architectures whose
/// machine code is not supported here.
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
                "a target is `sm_` and a number from 50 to 129, such as `sm_90` or `sm_100a`",
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
