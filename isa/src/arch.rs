//! GPU architecture, and what its calling convention puts where.

use std::fmt;

/// Architecture of a listing: `sm_75`, `sm_90a`, ...
///
/// Listings are read from sm_70 on: earlier machine code has another text (spec 2.3, 2.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arch {
    number: u16,
    suffix: Option<char>,
}

impl Arch {
    /// The architecture named `sm_` and a number from 50 to 129, with or without a letter after it.
    pub fn from_name(name: &str) -> Option<Arch> {
        let rest = name.strip_prefix("sm_")?;
        let digits = rest.trim_end_matches(|c: char| c.is_ascii_lowercase());
        let suffix = match &rest.as_bytes()[digits.len()..] {
            [] => None,
            [letter] => Some(char::from(*letter)),
            _ => return None,
        };
        let number = digits.parse().ok().filter(|n| (50..130).contains(n))?;
        Some(Arch { number, suffix })
    }

    /// Whether listings for it can be read and run.
    pub const fn runs(self) -> bool {
        self.number >= 70
    }

    /// The number after `sm_`.
    pub const fn number(self) -> u16 {
        self.number
    }

    /// Byte offset in constant bank 0 at which kernel parameters start. Source: data/README.md.
    pub const fn param_base(self) -> u32 {
        match self.number {
            ..=89 => 0x160,
            90..=99 => 0x210,
            _ => 0x380,
        }
    }

    /// Byte offset in constant bank 0 of the block size (x, y, z). Source: data/README.md, listings.
    pub const fn block_dim_offset(self) -> u32 {
        match self.number {
            ..=99 => 0x0,
            _ => 0x360,
        }
    }

    /// Byte offset in constant bank 0 of the grid size (x, y, z). Source: data/README.md, listings.
    pub const fn grid_dim_offset(self) -> u32 {
        match self.number {
            ..=99 => 0xc,
            _ => 0x370,
        }
    }

    /// Byte offset in constant bank 0 of the initial stack pointer, which every kernel loads first.
    pub const fn stack_offset(self) -> u32 {
        match self.number {
            ..=99 => 0x28,
            _ => 0x37c,
        }
    }

    /// Byte offset in constant bank 0 of the 64-bit generic address of the shared window, where code
    /// takes it from there; from sm_90 code reads its high word from `SR_SWINHI`.
    pub const fn shared_window_offset(self) -> u32 {
        0x18
    }

    /// Offset of the first static shared variable in the CTA's part, in bytes. Source: spec 1.4.
    pub const fn shared_origin(self) -> u32 {
        match self.number {
            ..=89 => 0,
            _ => 0x400,
        }
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sm_{}", self.number)?;
        self.suffix.map_or(Ok(()), |letter| write!(f, "{letter}"))
    }
}
