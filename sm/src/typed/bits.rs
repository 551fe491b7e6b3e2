//! Operations on the bits and bytes of words.

pub(super) fn funnel(left: bool, wrap: bool, a: u32, b: u32, by: u32) -> u32 {
    let by = if wrap { by & 31 } else { by.min(32) };
    let whole = u64::from(b) << 32 | u64::from(a);
    if left { ((whole << by) >> 32) as u32 } else { (whole >> by) as u32 }
}

/// Position of a one of `mask`: the `offset`th from `base` up, or down if negative; `base` itself for 0.
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
    let [first, count] = [first, count].map(|n| if wrap { n & 31 } else { n.min(32) });
    let from = u32::MAX.checked_shl(first).unwrap_or(0);
    let beyond = u32::MAX.checked_shl(first + count).unwrap_or(0);
    from & !beyond
}

pub(super) fn extend(signed: bool, wrap: bool, a: u32, bits: u32) -> u32 {
    let bits = if wrap { bits & 31 } else { bits.min(32) };
    if bits == 0 {
        return 0;
    }
    let shift = 32 - bits;
    if signed { ((a << shift) as i32 >> shift) as u32 } else { a << shift >> shift }
}

fn byte(signed: bool, word: u32, at: usize) -> i64 {
    let byte = word.to_le_bytes()[at & 3];
    if signed { i64::from(byte as i8) } else { i64::from(byte) }
}

pub(super) fn dot4(signed: [bool; 2], a: u32, b: u32, c: u32) -> u32 {
    let sum: i64 = (0..4).map(|i| byte(signed[0], a, i) * byte(signed[1], b, i)).sum();
    c.wrapping_add(sum as u32)
}

pub(super) fn dot2(signed: [bool; 2], high: bool, a: u32, b: u32, c: u32) -> u32 {
    let half = |i: usize| {
        let half = (a >> (16 * i)) as u16;
        if signed[0] { i64::from(half as i16) } else { i64::from(half) }
    };
    let first = if high { 2 } else { 0 };
    let sum: i64 = (0..2).map(|i| half(i) * byte(signed[1], b, first + i)).sum();
    c.wrapping_add(sum as u32)
}
