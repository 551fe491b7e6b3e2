//! Integer arithmetic of any width.

use super::convert::size;
use super::{integer, ones, signed};
use crate::convert;
use atoms_isa::ptx::Type;
use atoms_isa::{IntOp, Part};

/// Result of an operation, in the low bits of it; a wide product has twice as many.
pub(super) fn int(op: IntOp, ty: Type, saturate: bool, [a, b, c, d]: [u64; 4]) -> u64 {
    if let Some(part) = ty.integer_part() {
        let kept = ones(part.bits());
        let of = |at: usize| int(op, part, saturate, [a, b, c, d].map(|v| v >> at & kept)) & kept;
        return (0..32).step_by(part.bits() as usize).fold(0, |word, at| word | of(at) << at);
    }
    let width = ty.bits();
    let [x, y, z] = [a, b, c].map(|v| integer(ty, v));
    let limit = |value: i128| if saturate { convert::limited(size(ty), value) } else { value };
    let low = |value: i128| limit(value) as u64 & ones(width);
    match op {
        IntOp::Add => low(x + y),
        IntOp::Sub => low(x - y),
        IntOp::Mul(part) => of_product(part, width, product(x, y)),
        IntOp::Mad(Part::Wide) => {
            let sum = product(x, y).wrapping_add(c.into());
            sum as u64 & ones(2 * width)
        }
        IntOp::Mad(Part::High) => {
            let high = integer(ty, of_product(Part::High, width, product(x, y)));
            low(high + z)
        }
        IntOp::Mad(Part::Low) => low(of_product(Part::Low, width, product(x, y)) as i128 + z),
        IntOp::Mul24(part) => product24(ty, part, a, b),
        IntOp::Mad24(part) => low(integer(ty, product24(ty, part, a, b)) + z),
        IntOp::Sad => low((x - y).abs() + z),
        // Division by zero is unspecified; all ones, and the dividend, as the machine's sequences give. [CHOSEN]
        IntOp::Div => low(x.checked_div(y).unwrap_or(-1)),
        IntOp::Rem => low(x.checked_rem(y).unwrap_or(x)),
        IntOp::Abs => low(x.abs()),
        IntOp::Neg => low(-x),
        IntOp::Min => low(x.min(y)),
        IntOp::Max => low(x.max(y)),
        IntOp::Shl => {
            let by = (b as u32).min(width);
            (a & ones(width)).checked_shl(by).unwrap_or(0) & ones(width)
        }
        IntOp::Shr => {
            let by = (b as u32).min(width);
            (x >> by) as u64 & ones(width)
        }
        IntOp::Popc => (a & ones(width)).count_ones().into(),
        IntOp::Clz => u64::from((a & ones(width)).leading_zeros() - (64 - width)),
        IntOp::Bfind { shift_amount } => {
            let found = if signed(ty) && x < 0 { !a & ones(width) } else { a & ones(width) };
            match (found, shift_amount) {
                (0, _) => u32::MAX.into(),
                (_, false) => u64::from(63 - found.leading_zeros()),
                (_, true) => u64::from(found.leading_zeros() - (64 - width)),
            }
        }
        IntOp::Brev => a.reverse_bits() >> (64 - width),
        IntOp::Bfe => {
            let (first, count) = ((b & 0xff) as u32, (c & 0xff) as u32);
            let there = count.min(width.saturating_sub(first));
            let field = (a & ones(width)).checked_shr(first).unwrap_or(0) & ones(there);
            let last = (first + count).saturating_sub(1).min(width - 1);
            let sign = signed(ty) && count != 0 && a >> last & 1 != 0;
            if sign { (field | !ones(there)) & ones(width) } else { field }
        }
        IntOp::Bfi => {
            let (first, count) = ((c & 0xff) as u32, (d & 0xff) as u32);
            let place = ones(count).checked_shl(first).unwrap_or(0);
            let field = a.checked_shl(first).unwrap_or(0);
            ((b & !place) | (field & place)) & ones(width)
        }
    }
}

/// Low 128 bits of the product: of 64-bit integers all of them.
fn product(x: i128, y: i128) -> u128 {
    (x as u128).wrapping_mul(y as u128)
}

fn of_product(part: Part, width: u32, product: u128) -> u64 {
    match part {
        Part::Low => product as u64 & ones(width),
        Part::High => (product >> width) as u64 & ones(width),
        Part::Wide => product as u64 & ones(2 * width),
    }
}

/// Of the 48-bit product of 24-bit integers the low 32 bits, or the high ones.
fn product24(ty: Type, part: Part, a: u64, b: u64) -> u64 {
    let narrow = |v: u64| {
        let bits = i128::from(v & 0xff_ffff);
        if signed(ty) && bits >= 1 << 23 { bits - (1 << 24) } else { bits }
    };
    let product = narrow(a) * narrow(b);
    match part {
        Part::High => (product >> 16) as u64 & 0xffff_ffff,
        Part::Low | Part::Wide => product as u64 & 0xffff_ffff,
    }
}

/// Operations with a carry: `d` comes in, the second result goes out. A subtraction carries its borrow.
pub(super) fn carry(op: IntOp, ty: Type, [a, b, c, d]: [u64; 4]) -> (u64, bool) {
    let width = ty.bits();
    let [x, y, z] = [a, b, c].map(|v| u128::from(v & ones(width)));
    let carry = u128::from(d & 1);
    let (sum, out) = match op {
        IntOp::Sub => (x.wrapping_sub(y).wrapping_sub(carry), x < y + carry),
        IntOp::Mad(part) => {
            let product = product(integer(ty, a), integer(ty, b));
            let sum = u128::from(of_product(part, width, product)) + z + carry;
            (sum, sum >> width != 0)
        }
        _ => {
            let sum = x + y + carry;
            (sum, sum >> width != 0)
        }
    };
    (sum as u64 & ones(width), out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// Against the host's integers.
        #[test]
        fn agrees_with_the_host(a in any::<u64>(), b in any::<u64>(), c in any::<u64>(), by in 0..200_u32) {
            let of = |op, ty| int(op, ty, false, [a, b, c, 0]);
            let (sa, sb, sc) = (a as i32, b as i32, c as i32);
            let (ua, ub) = (a as u32, b as u32);
            let word = |v: i32| u64::from(v as u32);
            prop_assert_eq!(of(IntOp::Add, Type::S32), word(sa.wrapping_add(sb)));
            prop_assert_eq!(of(IntOp::Sub, Type::U64), a.wrapping_sub(b));
            prop_assert_eq!(of(IntOp::Mul(Part::Low), Type::U64), a.wrapping_mul(b));
            prop_assert_eq!(of(IntOp::Mul(Part::High), Type::U64), ((u128::from(a) * u128::from(b)) >> 64) as u64);
            prop_assert_eq!(of(IntOp::Mul(Part::Wide), Type::S32), (i64::from(sa) * i64::from(sb)) as u64);
            prop_assert_eq!(of(IntOp::Mad(Part::Low), Type::S32), word(sa.wrapping_mul(sb).wrapping_add(sc)));
            prop_assert_eq!(of(IntOp::Min, Type::S64), (a as i64).min(b as i64) as u64);
            prop_assert_eq!(of(IntOp::Max, Type::U16), u64::from((a as u16).max(b as u16)));
            prop_assert_eq!(of(IntOp::Popc, Type::B32), u64::from(ua.count_ones()));
            prop_assert_eq!(of(IntOp::Clz, Type::B64), u64::from(a.leading_zeros()));
            prop_assert_eq!(of(IntOp::Div, Type::S32), word(sa.checked_div(sb).unwrap_or(i32::MIN)));
            prop_assert_eq!(of(IntOp::Rem, Type::U32), u64::from(ua.checked_rem(ub).unwrap_or(ua)));
            let shifted = |op, ty| int(op, ty, false, [a, by.into(), 0, 0]);
            prop_assert_eq!(shifted(IntOp::Shl, Type::B64), a.checked_shl(by).unwrap_or(0));
            prop_assert_eq!(shifted(IntOp::Shr, Type::U32), u64::from(ua.checked_shr(by).unwrap_or(0)));
            prop_assert_eq!(shifted(IntOp::Shr, Type::S64), ((a as i64) >> by.min(63)) as u64);
            let saturated = int(IntOp::Add, Type::S32, true, [a, b, 0, 0]);
            prop_assert_eq!(saturated, word(sa.saturating_add(sb)));
        }

        /// A sum of two words is their sum in one of twice the width.
        #[test]
        fn carries_go_on(a in any::<u64>(), b in any::<u64>(), c in any::<u64>(), d in any::<u64>()) {
            for (op, whole) in [
                (IntOp::Add, (u128::from(a) << 64 | u128::from(b)).wrapping_add(u128::from(c) << 64 | u128::from(d))),
                (IntOp::Sub, (u128::from(a) << 64 | u128::from(b)).wrapping_sub(u128::from(c) << 64 | u128::from(d))),
            ] {
                let (low, out) = carry(op, Type::U64, [b, d, 0, 0]);
                let (high, _) = carry(op, Type::U64, [a, c, 0, out.into()]);
                prop_assert_eq!(u128::from(high) << 64 | u128::from(low), whole);
            }
        }

        /// A field put in and taken out again is as it was.
        #[test]
        fn fields(a in any::<u64>(), b in any::<u64>(), first in 0..64_u64, count in 0..65_u64) {
            let put = int(IntOp::Bfi, Type::B64, false, [a, b, first, count]);
            let there = (64 - first).min(count) as u32;
            let taken = int(IntOp::Bfe, Type::U64, false, [put, first, count, 0]);
            prop_assert_eq!(taken, a & ones(there));
            let mask = ones(there) << first;
            prop_assert_eq!(put & !mask, b & !mask);
        }
    }
}
