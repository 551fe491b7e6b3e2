//! Memory order and scope, the operands of the newer family of builtins, and the target.

use super::Refusal;
use super::excerpt::excerpt;
use atoms_isa::nearest;
use std::fmt;
use std::str::FromStr;

/// Memory order of an operation. Source: spec 8.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Order {
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
pub enum Scope {
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
pub trait Numbered: Copy + 'static {
    /// What it is called in messages.
    const KIND: &'static str;
    /// All values, by number.
    const ALL: &'static [Self];
    /// Names, the first one being the main one.
    fn names(self) -> &'static [&'static str];
}

impl Numbered for Order {
    const KIND: &'static str = "memory order";
    const ALL: &'static [Order] =
        &[Order::Relaxed, Order::Consume, Order::Acquire, Order::Release, Order::AcqRel, Order::SeqCst];

    fn names(self) -> &'static [&'static str] {
        match self {
            Order::Relaxed => &["relaxed", "monotonic", "__NV_ATOMIC_RELAXED"],
            Order::Consume => &["consume", "__NV_ATOMIC_CONSUME"],
            Order::Acquire => &["acquire", "__NV_ATOMIC_ACQUIRE"],
            Order::Release => &["release", "__NV_ATOMIC_RELEASE"],
            Order::AcqRel => &["acq_rel", "__NV_ATOMIC_ACQ_REL"],
            Order::SeqCst => &["seq_cst", "__NV_ATOMIC_SEQ_CST"],
        }
    }
}

impl Numbered for Scope {
    const KIND: &'static str = "scope";
    const ALL: &'static [Scope] =
        &[Scope::Thread, Scope::Block, Scope::Cluster, Scope::Device, Scope::System];

    fn names(self) -> &'static [&'static str] {
        match self {
            Scope::Thread => &["thread", "__NV_THREAD_SCOPE_THREAD"],
            Scope::Block => &["block", "cta", "__NV_THREAD_SCOPE_BLOCK"],
            Scope::Cluster => &["cluster", "__NV_THREAD_SCOPE_CLUSTER"],
            Scope::Device => &["device", "gpu", "__NV_THREAD_SCOPE_DEVICE"],
            Scope::System => &["system", "sys", "__NV_THREAD_SCOPE_SYSTEM"],
        }
    }
}

impl Order {
    /// Every order, by number.
    pub const ALL: &'static [Order] = <Order as Numbered>::ALL;

    /// Whether later accesses stay behind the operation.
    pub const fn acquires(self) -> bool {
        matches!(self, Order::Consume | Order::Acquire | Order::AcqRel | Order::SeqCst)
    }

    /// Whether earlier accesses stay before the operation.
    pub const fn releases(self) -> bool {
        matches!(self, Order::Release | Order::AcqRel | Order::SeqCst)
    }

    /// The weakest order that is as strong as both: that of a compare-and-swap, which has one order
    /// for success and one for failure but is one instruction.
    pub const fn join(self, other: Order) -> Order {
        match (self, other) {
            (Order::SeqCst, _) | (_, Order::SeqCst) => Order::SeqCst,
            _ => match (self.acquires() || other.acquires(), self.releases() || other.releases()) {
                (true, true) => Order::AcqRel,
                (true, false) => Order::Acquire,
                (false, true) => Order::Release,
                (false, false) => Order::Relaxed,
            },
        }
    }

    /// The PTX qualifier of an order weaker than [`Order::SeqCst`], which has none on an access.
    pub(super) const fn qualifier(self) -> &'static str {
        match self {
            Order::Relaxed => "relaxed",
            Order::Consume | Order::Acquire => "acquire",
            Order::Release => "release",
            Order::AcqRel => "acq_rel",
            Order::SeqCst => "sc",
        }
    }
}

impl Scope {
    /// Every scope, by number.
    pub const ALL: &'static [Scope] = <Scope as Numbered>::ALL;

    /// The PTX qualifier. A cluster is one from sm_90; before, the device stands for it.
    pub const fn qualifier(self, target: Target) -> &'static str {
        match self {
            Scope::Thread | Scope::Block => "cta",
            Scope::Cluster if target.number >= 90 => "cluster",
            Scope::Cluster | Scope::Device => "gpu",
            Scope::System => "sys",
        }
    }
}

impl<T: Numbered> FromStr for Argument<T> {
    type Err = Refusal;

    /// Reads a name, a number (also one out of range), or `runtime`.
    fn from_str(text: &str) -> Result<Self, Refusal> {
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
            Refusal::new(format!("unknown {} `{}`", T::KIND, excerpt(text)))
                .help(format!("the nearest known one is `{}`", nearest(text, names).unwrap_or_default()))
        })
    }
}

/// Reads a legal value: a name or a number in range.
fn literal<T: Numbered>(text: &str) -> Result<T, Refusal> {
    match text.parse()? {
        Argument::Literal(value) => Ok(value),
        Argument::OutOfRange(_) | Argument::Runtime => {
            let names: Vec<_> = T::ALL.iter().filter_map(|v| v.names().first().copied()).collect();
            let last = T::ALL.len().saturating_sub(1);
            Err(Refusal::new(format!("`{}` is no {}", excerpt(text), T::KIND))
                .help(format!("one of {}, or 0 to {last}", names.join(", "))))
        }
    }
}

impl FromStr for Order {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Order, Refusal> {
        literal(text)
    }
}

impl FromStr for Scope {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Scope, Refusal> {
        literal(text)
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.names().first().copied().unwrap_or_default())
    }
}

impl fmt::Display for Scope {
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
pub struct Target {
    number: u16,
    letter: Option<char>,
}

impl Target {
    /// The number after `sm_`.
    pub const fn number(self) -> u16 {
        self.number
    }
}

impl FromStr for Target {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Target, Refusal> {
        let rest = text.strip_prefix("sm_").unwrap_or_default();
        let digits = rest.trim_end_matches(['a', 'f']);
        let letter = rest.get(digits.len()..).map(|s| s.chars().collect::<Vec<_>>());
        let number = digits.parse().ok().filter(|n| (50..130).contains(n) && !digits.starts_with('+'));
        match (number, letter.as_deref()) {
            (Some(number), Some([])) => Ok(Target { number, letter: None }),
            (Some(number), Some([letter])) => Ok(Target { number, letter: Some(*letter) }),
            _ => Err(Refusal::new(format!("unknown architecture `{}`", excerpt(text)))
                .help("`sm_` and a number from 50 to 129, such as `sm_90` or `sm_100a`")),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sm_{}", self.number)?;
        self.letter.map_or(Ok(()), |letter| write!(f, "{letter}"))
    }
}
