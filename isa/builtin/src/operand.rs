//! Memory order and scope, the operands of the newer family of builtins, and the target.

use super::BuiltinRefusal;
use super::excerpt::excerpt;
use atoms_isa::nearest;
use std::fmt;
use std::str::FromStr;

/// Memory order of an operation. Source: spec 8.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MemoryOrder {
    /// 0
    Relaxed,
    /// 1, treated as acquire
    Consume,
    /// 2
    Acquire,
    /// 3
    Release,
    /// 4
    AcqRel,
    /// 5
    SeqCst,
}

/// The threads that an operation is atomic to. Source: spec 8.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ThreadScope {
    /// 0, treated as block
    Thread,
    /// 1
    Block,
    /// 2, treated as device before sm_90
    Cluster,
    /// 3
    Device,
    /// 4
    System,
}

/// An operand that the compiler wants to be a literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Argument<T> {
    /// A legal value.
    Literal(T),
    /// A literal that stands for nothing.
    OutOfRange(i64),
    /// A value known at run time only.
    Runtime,
}

/// What [`Argument`] needs of an operand.
pub trait NumberedOperand: Copy + 'static {
    /// What it is called in messages.
    const KIND: &'static str;
    /// All values, by number.
    const ALL: &'static [Self];
    /// Names, the first one being the main one.
    fn names(self) -> &'static [&'static str];
}

impl NumberedOperand for MemoryOrder {
    const KIND: &'static str = "memory order";
    const ALL: &'static [MemoryOrder] = &[
        MemoryOrder::Relaxed,
        MemoryOrder::Consume,
        MemoryOrder::Acquire,
        MemoryOrder::Release,
        MemoryOrder::AcqRel,
        MemoryOrder::SeqCst,
    ];

    fn names(self) -> &'static [&'static str] {
        match self {
            MemoryOrder::Relaxed => &["relaxed", "monotonic", "__NV_ATOMIC_RELAXED"],
            MemoryOrder::Consume => &["consume", "__NV_ATOMIC_CONSUME"],
            MemoryOrder::Acquire => &["acquire", "__NV_ATOMIC_ACQUIRE"],
            MemoryOrder::Release => &["release", "__NV_ATOMIC_RELEASE"],
            MemoryOrder::AcqRel => &["acq_rel", "__NV_ATOMIC_ACQ_REL"],
            MemoryOrder::SeqCst => &["seq_cst", "__NV_ATOMIC_SEQ_CST"],
        }
    }
}

impl NumberedOperand for ThreadScope {
    const KIND: &'static str = "scope";
    const ALL: &'static [ThreadScope] = &[
        ThreadScope::Thread,
        ThreadScope::Block,
        ThreadScope::Cluster,
        ThreadScope::Device,
        ThreadScope::System,
    ];

    fn names(self) -> &'static [&'static str] {
        match self {
            ThreadScope::Thread => &["thread", "__NV_THREAD_SCOPE_THREAD"],
            ThreadScope::Block => &["block", "cta", "__NV_THREAD_SCOPE_BLOCK"],
            ThreadScope::Cluster => &["cluster", "__NV_THREAD_SCOPE_CLUSTER"],
            ThreadScope::Device => &["device", "gpu", "__NV_THREAD_SCOPE_DEVICE"],
            ThreadScope::System => &["system", "sys", "__NV_THREAD_SCOPE_SYSTEM"],
        }
    }
}

impl MemoryOrder {
    /// Every order, by number.
    pub const ALL: &'static [MemoryOrder] = <MemoryOrder as NumberedOperand>::ALL;

    /// Whether later accesses stay behind the operation.
    pub const fn acquires(self) -> bool {
        matches!(
            self,
            MemoryOrder::Consume | MemoryOrder::Acquire | MemoryOrder::AcqRel | MemoryOrder::SeqCst
        )
    }

    /// Whether earlier accesses stay before the operation.
    pub const fn releases(self) -> bool {
        matches!(self, MemoryOrder::Release | MemoryOrder::AcqRel | MemoryOrder::SeqCst)
    }

    /// The weakest order that is as strong as both: that of a compare-and-swap, which has one order
    /// for success and one for failure but is one instruction.
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

    /// The PTX qualifier of an order weaker than [`MemoryOrder::SeqCst`], which has none on an access.
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
    /// Every scope, by number.
    pub const ALL: &'static [ThreadScope] = <ThreadScope as NumberedOperand>::ALL;

    /// The PTX qualifier. A cluster is one from sm_90; before, the device stands for it.
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

    /// Reads a name, a number (also one out of range), or `runtime`.
    fn from_str(text: &str) -> Result<Self, BuiltinRefusal> {
        if text == "runtime" {
            return Ok(Argument::Runtime);
        }
        if let Ok(number) = text.parse::<i64>() {
            let value = usize::try_from(number).ok().and_then(|n| T::ALL.get(n));
            return Ok(value.map_or(Argument::OutOfRange(number), |v| Argument::Literal(*v)));
        }
        let found = T::ALL.iter().find(|v| v.names().contains(&text));
        found.map(|v| Argument::Literal(*v)).ok_or_else(|| {
            let names = T::ALL.iter().flat_map(|v| v.names().iter().copied());
            BuiltinRefusal::new(format!("unknown {} `{}`", T::KIND, excerpt(text)))
                .help(format!("the nearest known one is `{}`", nearest(text, names).unwrap_or_default()))
        })
    }
}

/// Reads a legal value: a name or a number in range.
fn literal<T: NumberedOperand>(text: &str) -> Result<T, BuiltinRefusal> {
    match text.parse()? {
        Argument::Literal(value) => Ok(value),
        Argument::OutOfRange(_) | Argument::Runtime => {
            let names: Vec<_> = T::ALL.iter().filter_map(|v| v.names().first().copied()).collect();
            let last = T::ALL.len().saturating_sub(1);
            Err(BuiltinRefusal::new(format!("`{}` is no {}", excerpt(text), T::KIND))
                .help(format!("one of {}, or 0 to {last}", names.join(", "))))
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
        f.write_str(self.names().first().copied().unwrap_or_default())
    }
}

impl fmt::Display for ThreadScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.names().first().copied().unwrap_or_default())
    }
}

impl<T> From<T> for Argument<T> {
    fn from(value: T) -> Argument<T> {
        Argument::Literal(value)
    }
}

/// Architecture compiled for: `sm_` and a number from 50, with or without a letter.
///
/// Builtins have rules for architectures that have no machine code here, which is why this is not
/// [`atoms_isa::Arch`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PtxTarget {
    number: u16,
    letter: Option<char>,
}

impl PtxTarget {
    /// The number after `sm_`.
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
            _ => Err(BuiltinRefusal::new(format!("unknown architecture `{}`", excerpt(text)))
                .help("`sm_` and a number from 50 to 129, such as `sm_90` or `sm_100a`")),
        }
    }
}

impl fmt::Display for PtxTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sm_{}", self.number)?;
        self.letter.map_or(Ok(()), |letter| write!(f, "{letter}"))
    }
}
