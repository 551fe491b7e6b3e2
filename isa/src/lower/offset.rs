//! Offsets in addresses of machine code, and how they stand in its text.

use std::ops::Range;

/// Offsets beside a register: 24 bits, signed (spec 2.1).
pub(super) const NEAR: Range<i32> = -0x80_0000..0x80_0000;

/// Whether an offset fits beside a register.
pub(super) fn near(offset: i64) -> bool {
    (i64::from(NEAR.start)..i64::from(NEAR.end)).contains(&offset)
}

/// `0x10`, `-0x8`
pub(super) fn hex(value: impl Into<i64>) -> String {
    let value = value.into();
    let sign = if value < 0 { "-" } else { "" };
    format!("{sign}{:#x}", value.unsigned_abs())
}

/// `+0x10`, `+-0x8`; nothing for 0: an offset as it stands behind a register in brackets.
pub(super) fn plus(offset: impl Into<i64>) -> String {
    match offset.into() {
        0 => String::new(),
        offset => format!("+{}", hex(offset)),
    }
}
