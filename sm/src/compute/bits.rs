//! Operations on the bits and bytes of words.

use super::ones;
use atoms_isa::{DotPieces, PermuteMode, Type};

pub(super) fn lop3(table: u8, [a, b, c]: [u64; 3]) -> u64 {
    (0..8_u8).filter(|i| table >> i & 1 != 0).fold(0, |word, i| {
        let pick = |bit: u8, v: u64| if i >> bit & 1 != 0 { v } else { !v };
        word | (pick(2, a) & pick(1, b) & pick(0, c))
    })
}

pub(super) fn funnel(left: bool, ty: Type, high: bool, wrap: bool, [a, by, c]: [u32; 3]) -> u32 {
    let by = if wrap { by % ty.bits() } else { by.min(ty.bits()) };
    let whole = u64::from(c) << 32 | u64::from(a);
    let shifted = match (left, ty.signed()) {
        (true, _) => whole.checked_shl(by).unwrap_or(0),
        (false, true) => ((whole as i64) >> by.min(63)) as u64,
        (false, false) => whole.checked_shr(by).unwrap_or(0),
    };
    if high { (shifted >> 32) as u32 } else { shifted as u32 }
}

/// Finds the `offset`th one bit of `mask`, counted upwards from bit `base`, or downwards if `offset` is
/// negative. For 0, tests bit `base` itself.
pub(super) fn find_nth(mask: u32, base: u32, offset: i32) -> u32 {
    let is = |at: i64| (0..32).contains(&at) && mask >> at & 1 != 0;
    let (step, nth) = if offset < 0 { (-1, offset.unsigned_abs()) } else { (1, offset as u32) };
    let mut left = nth.max(1);
    let mut at = i64::from(base);
    while (0..32).contains(&at) {
        if is(at) {
            left -= 1;
            if left == 0 {
                return at as u32;
            }
        }
        if nth == 0 {
            break;
        }
        at += step;
    }
    u32::MAX
}

pub(super) fn mask(wrap: bool, first: u32, count: u32) -> u32 {
    let [first, count] = if wrap { [first & 31, count & 31] } else { [first, count.min(32)] };
    (ones(count) as u32).checked_shl(first).unwrap_or(0)
}

pub(super) fn extend(signed: bool, count: u32, word: u32) -> u32 {
    match count {
        0 => 0,
        32.. => word,
        _ => {
            let shift = 32 - count;
            if signed { ((word << shift) as i32 >> shift) as u32 } else { word << shift >> shift }
        }
    }
}

/// PRMT: selects bytes of `{c, a}`.
pub(super) fn permute(mode: PermuteMode, a: u32, selector: u32, c: u32) -> u32 {
    let bytes = (u64::from(c) << 32 | u64::from(a)).to_le_bytes();
    let by_mode = |number: u32| bytes[(number & 7) as usize];
    let s = selector & 3;
    let pick = |i: u32| match mode {
        PermuteMode::Index => {
            let nibble = selector >> (4 * i) & 0xf;
            let byte = by_mode(nibble);
            if nibble & 8 != 0 { ((byte as i8) >> 7) as u8 } else { byte }
        }
        PermuteMode::Forward => by_mode(s + i),
        PermuteMode::Backward => by_mode(s.wrapping_sub(i)),
        PermuteMode::Replicate8 => by_mode(s),
        PermuteMode::EdgeLeft => by_mode(s.max(i)),
        PermuteMode::EdgeRight => by_mode(s.min(i)),
        PermuteMode::Replicate16 => by_mode((s & 1) * 2 + (i & 1)),
    };
    u32::from_le_bytes([0, 1, 2, 3].map(pick))
}

/// IDP: dot product of packed integers.
pub(super) fn dot(pieces: DotPieces, [signed_a, signed_b]: [bool; 2], a: u32, b: u32) -> u32 {
    let piece = |word: u32, bits: u32, at: u32, signed: bool| extend(signed, bits, word >> (bits * at));
    let products = |bits: u32, count: u32, first: u32| {
        (0..count).fold(0_u32, |sum, i| {
            let product = piece(a, bits, i, signed_a).wrapping_mul(piece(b, 8, first + i, signed_b));
            sum.wrapping_add(product)
        })
    };
    match pieces {
        DotPieces::Bytes => products(8, 4, 0),
        DotPieces::HalvesLow => products(16, 2, 0),
        DotPieces::HalvesHigh => products(16, 2, 2),
    }
}
