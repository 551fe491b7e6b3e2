//! Register names.

use std::fmt;

/// A 32-bit register of a thread: R0 to R254 in machine code, as many as it takes in PTX; or RZ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reg(pub u16);

impl Reg {
    /// Reads as zero; what is written to it is lost.
    pub const RZ: Reg = Reg(u16::MAX);

    /// True if this is RZ.
    pub const fn is_zero(self) -> bool {
        self.0 == Reg::RZ.0
    }

    /// The second register of a pair; RZ of RZ.
    pub const fn high(self) -> Reg {
        self.plus(1)
    }

    /// The register `n` further on, as in a pair or a quad; RZ stays RZ.
    pub const fn plus(self, n: u8) -> Reg {
        if self.is_zero() { self } else { Reg(self.0.saturating_add(n as u16)) }
    }
}

impl fmt::Display for Reg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_zero() { f.write_str("RZ") } else { write!(f, "R{}", self.0) }
    }
}

/// A 32-bit register of a warp: UR0 to UR62, from sm_100 on to UR254; or URZ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UReg(pub u8);

impl UReg {
    /// Reads as zero; what is written to it is lost.
    pub const URZ: UReg = UReg(u8::MAX);

    /// True if this is URZ.
    pub const fn is_zero(self) -> bool {
        self.0 == UReg::URZ.0
    }

    /// The register `n` further on, as in a pair or a quad; URZ stays URZ.
    pub const fn plus(self, n: u8) -> UReg {
        if self.is_zero() { self } else { UReg(self.0.saturating_add(n)) }
    }
}

impl fmt::Display for UReg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_zero() { f.write_str("URZ") } else { write!(f, "UR{}", self.0) }
    }
}

/// A predicate: P0 to P6 or PT of a thread (as many as it takes in PTX), UP0 to UP6 or UPT of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pred {
    /// One bit per thread; [`Pred::PT`] always holds.
    Thread(u16),
    /// One bit per warp; 7 is UPT.
    Uniform(u8),
}

impl Pred {
    /// Always true; what is written to it is lost.
    pub const PT: Pred = Pred::Thread(u16::MAX);

    /// True if this is PT or UPT.
    pub const fn is_true(self) -> bool {
        matches!(self, Pred::Thread(u16::MAX) | Pred::Uniform(7))
    }
}

/// A predicate read, perhaps inverted: `P1`, `!UP0`, `!PT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PredSource {
    pub pred: Pred,
    /// True if its inverse is meant.
    pub negate: bool,
}

impl PredSource {
    pub const TRUE: PredSource = PredSource { pred: Pred::PT, negate: false };
    pub const FALSE: PredSource = PredSource { pred: Pred::PT, negate: true };
}

/// A convergence barrier register: B0 to B15.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BarrierRegister(pub u8);
