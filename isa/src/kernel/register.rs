//! Registers and predicates of threads and warps.

use std::fmt;

/// A 32-bit register of a thread. Machine code has R0 to R254 and the zero register RZ. PTX has any number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reg(pub u16);

impl Reg {
    /// The zero register: reads return zero, writes are discarded.
    pub const RZ: Reg = Reg(u16::MAX);

    pub const fn is_zero(self) -> bool {
        self.0 == Reg::RZ.0
    }

    /// Second register of a pair whose first register is this one. RZ for RZ.
    pub const fn high(self) -> Reg {
        self.plus(1)
    }

    /// Register with the number of this one plus `n`, as in a pair or a quad. RZ for RZ.
    pub const fn plus(self, n: u8) -> Reg {
        if self.is_zero() { self } else { Reg(self.0.saturating_add(n as u16)) }
    }
}

impl fmt::Display for Reg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_zero() { f.write_str("RZ") } else { write!(f, "R{}", self.0) }
    }
}

/// A 32-bit uniform register, one per warp: UR0 to UR62 (from sm_100 on UR0 to UR254) or the zero register
/// URZ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UReg(pub u8);

impl UReg {
    pub const URZ: UReg = UReg(u8::MAX);

    pub const fn is_zero(self) -> bool {
        self.0 == UReg::URZ.0
    }

    pub const fn plus(self, n: u8) -> UReg {
        if self.is_zero() { self } else { UReg(self.0.saturating_add(n)) }
    }
}

impl fmt::Display for UReg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_zero() { f.write_str("URZ") } else { write!(f, "UR{}", self.0) }
    }
}

/// A predicate register. A thread has P0 to P6 (more in PTX) and PT, which is always true. A warp has UP0 to
/// UP6 and UPT, which is always true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pred {
    /// Predicate of each thread, by its number. [`Pred::PT`] is always true.
    Thread(u16),
    /// Uniform predicate, one per warp, by its number. Number 7 is UPT, which is always true.
    Uniform(u8),
}

impl Pred {
    pub const PT: Pred = Pred::Thread(u16::MAX);

    pub const fn is_true(self) -> bool {
        matches!(self, Pred::Thread(u16::MAX) | Pred::Uniform(7))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PredSource {
    pub pred: Pred,
    pub negate: bool,
}

impl PredSource {
    pub const TRUE: PredSource = PredSource { pred: Pred::PT, negate: false };
    pub const FALSE: PredSource = PredSource { pred: Pred::PT, negate: true };
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BarrierRegister(pub u8);
