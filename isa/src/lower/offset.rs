//! Address offsets in machine code: splitting and formatting.

/// True if an offset fits in the immediate of an address, which has 24 bits and is signed (spec 2.1).
pub(super) fn near(offset: i64) -> bool {
    (-0x80_0000..0x80_0000).contains(&offset)
}

/// Splits an offset into a part that code adds to the register, and an immediate. The immediate is the signed
/// value of the low 24 bits.
pub(super) fn split(offset: i32) -> (i32, i32) {
    let near = (offset << 8) >> 8;
    (offset.wrapping_sub(near), near)
}

/// Like `split`, for a 64-bit address. Up to sm_62 and from sm_90 on, the part that code adds to the register
/// is a multiple of 2^23.
pub(super) fn split_wide(offset: i64, number: u16) -> (i64, i64) {
    let far = match number {
        _ if near(offset) => 0,
        70..90 => (offset + 0x80_0000) & !0xff_ffff,
        _ => (offset + 0x40_0000) & !0x7f_ffff,
    };
    (far, offset - far)
}

pub(super) fn hex(value: impl Into<i64>) -> String {
    let value = value.into();
    let sign = if value < 0 { "-" } else { "" };
    format!("{sign}{:#x}", value.unsigned_abs())
}

/// Formats an offset after a register in brackets: `+0x10`, `+-0x8`, or nothing for 0.
pub(super) fn plus(offset: impl Into<i64>) -> String {
    match offset.into() {
        0 => String::new(),
        offset => format!("+{}", hex(offset)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn far_offsets_are_split() {
        for offset in [0, 8, -8, 0x80_0000, 0x100_0000, 0x7f_fffc, -0x80_0001, i32::MAX, i32::MIN] {
            let (far, rest) = split(offset);
            assert_eq!(far.wrapping_add(rest), offset, "{offset:#x}");
            assert!(near(rest.into()), "{offset:#x}: {rest:#x}");
            for number in [60, 80, 90] {
                let (far, rest) = split_wide(offset.into(), number);
                assert_eq!(far + rest, offset.into(), "{offset:#x}");
                assert!(near(rest), "{offset:#x}: {rest:#x}");
            }
        }
        assert_eq!(split(0x80_0000), (0x100_0000, -0x80_0000));
        assert_eq!(split_wide(0x80_0000, 80), (0x100_0000, -0x80_0000));
        assert_eq!(split_wide(0x80_0000, 90), (0x80_0000, 0));
    }
}
