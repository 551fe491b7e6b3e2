//! Integer arithmetic of any width.

use super::convert::size;
use super::{integer, ones, signed};
use crate::convert;
use atoms_isa::ptx::Type;
use atoms_isa::{IntOp, Part};

/// Result of an operation, in the low bits of it; a wide product has twice as many.
pub(super) fn int(op: IntOp, ty: Type, saturate: bool, [a, b, c, d]: [u64; 4]) -> u64 {
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
