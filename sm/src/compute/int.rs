//! Integer arithmetic of any width.

use super::computed::Computed;
use super::ones;
use atoms_isa::{IntOp, ProductPart, Type};

#[inline(always)]
pub(super) fn number(ty: Type, bits: u64) -> i128 {
    let shift = 128 - ty.bits().min(64);
    let wide = i128::from(bits) << shift;
    if ty.signed() { wide >> shift } else { ((wide as u128) >> shift) as i128 }
}

pub(super) fn limited(ty: Type, number: i128) -> i128 {
    let bits = ty.bits().min(64);
    let (least, most) =
        if ty.signed() { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
    number.clamp(least, most)
}

/// Computes an operation; the result is in the low bits. A wide product has twice the width of the type.
#[inline(always)]
pub(super) fn int(
    op: IntOp,
    ty: Type,
    [saturate, relu]: [bool; 2],
    operands: [u64; 4],
    p: [bool; 3],
    carries: u64,
) -> Computed {
    match ty.integer_part() {
        Some(part) => in_parts(op, part, [saturate, relu], operands, p),
        None => single(op, ty, [saturate, relu], operands, p, carries),
    }
}

fn in_parts(op: IntOp, part: Type, limits: [bool; 2], operands: [u64; 4], p: [bool; 3]) -> Computed {
    let each = |at: usize| {
        let operands = operands.map(|v| v >> at & ones(part.bits()));
        single(op, part, limits, operands, p, 0)
    };
    if op == IntOp::SadParts {
        let [a, b, c, d] = operands;
        let distances = (0..32).step_by(part.bits() as usize).map(|at| {
            let [a, b] = [a, b].map(|v| v >> at & ones(part.bits()));
            single(IntOp::AbsDiff, part, limits, [a, b, 0, d], p, 0).value
        });
        return Computed::value(c.wrapping_add(distances.sum()) & ones(32));
    }
    let word = |word, at: usize| word | (each(at).value & ones(part.bits())) << at;
    let value = (0..32).step_by(part.bits() as usize).fold(0, word);
    Computed { value, preds: [0, 16].map(|at| each(at).preds[0]) }
}

#[inline(always)]
fn single(
    op: IntOp,
    ty: Type,
    [saturate, relu]: [bool; 2],
    [a, b, c, d]: [u64; 4],
    p: [bool; 3],
    carries: u64,
) -> Computed {
    let width = ty.bits();
    let kept = ones(width);
    let (x, y, z) = (number(ty, a), number(ty, b), number(ty, c));
    let low = |value: i128| (if saturate { limited(ty, value) } else { value }) as u64 & kept;
    let least = |x: i128, y: i128| if p[0] { x.min(y) } else { x.max(y) };
    let relu = |value: i128| low(if relu { value.max(0) } else { value });
    let value = match op {
        IntOp::Add => low(x + y),
        IntOp::Sub => low(x - y),
        IntOp::Add3 => return add3(width, [a & kept, b & kept, c & kept], p, carries),
        IntOp::SubBorrow => {
            let [x, y] = [a, b].map(|v| u128::from(v & kept));
            let y = y + u128::from(p[0]);
            return Computed::with(x.wrapping_sub(y) as u64 & kept, x < y);
        }
        IntOp::Mul(part) => of_product(part, width, product(x, y)),
        IntOp::Mad(part) if saturate => {
            low(number(ty, of_product(part, width, product(x, y))) + z + i128::from(p[0]))
        }
        IntOp::Mad(part) => {
            let all = if part == ProductPart::Wide { 2 * width } else { width };
            let sum = u128::from(of_product(part, width, product(x, y)))
                + u128::from(c & ones(all))
                + u128::from(p[0]);
            return Computed::with(sum as u64 & ones(all), sum >> all != 0);
        }
        IntOp::MadWideHigh => {
            let sum = u128::from(of_product(ProductPart::Wide, width, product(x, y)))
                + u128::from(c)
                + u128::from(p[0]);
            return Computed::with((sum >> width) as u64 & kept, sum >> (2 * width) != 0);
        }
        IntOp::Mul24(part) => product24(ty, part, a, b),
        IntOp::Mad24(part) => low(number(ty, product24(ty, part, a, b)) + z),
        IntOp::AbsDiff => low((x - y).abs()),
        IntOp::Sad | IntOp::SadParts => low((x - y).abs() + z),
        // PTX leaves division by zero undefined. As in compiled code, the quotient is all ones and the
        // remainder is the dividend. [CHOSEN]
        IntOp::Div => low(x.checked_div(y).unwrap_or(-1)),
        IntOp::Rem => low(x.checked_rem(y).unwrap_or(x)),
        IntOp::Abs => low(x.abs()),
        IntOp::Neg => low(-x),
        IntOp::MinMax => return Computed::with(relu(least(x, y)), least(x, y) == x),
        IntOp::MinMax3 => relu(least(least(x, y), z)),
        IntOp::AddMinMax => relu(least(number(ty, (x + y) as u64), z)),
        IntOp::Shl => {
            let by = (b as u32).min(width);
            (a & kept).checked_shl(by).unwrap_or(0) & kept
        }
        IntOp::Shr => (x >> (b as u32).min(width)) as u64 & kept,
        IntOp::Popc => (a & kept).count_ones().into(),
        IntOp::Clz => u64::from((a & kept).leading_zeros() - (64 - width)),
        IntOp::Bfind { shift_amount } => {
            let found = if x < 0 { !a & kept } else { a & kept };
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
            let field = (a & kept).checked_shr(first).unwrap_or(0) & ones(there);
            let last = (first + count).saturating_sub(1).min(width - 1);
            let sign = ty.signed() && count != 0 && a >> last & 1 != 0;
            if sign { (field | !ones(there)) & kept } else { field }
        }
        IntOp::Bfi => {
            let (first, count) = ((c & 0xff) as u32, (d & 0xff) as u32);
            let place = ones(count).checked_shl(first).unwrap_or(0);
            let field = a.checked_shl(first).unwrap_or(0);
            ((b & !place) | (field & place)) & kept
        }
        IntOp::Cnot => u64::from(a & kept == 0),
    };
    Computed::value(value)
}

#[inline(always)]
fn add3(width: u32, [a, b, c]: [u64; 3], p: [bool; 3], carries: u64) -> Computed {
    let more = carries + u64::from(p[0]) + u64::from(p[1]);
    if width <= 32 {
        let sum = a + b + c + more;
        return Computed { value: sum & ones(width), preds: [sum >> width >= 1, sum >> width >= 2] };
    }
    let sum = u128::from(a) + u128::from(b) + u128::from(c) + u128::from(more);
    Computed { value: sum as u64, preds: [sum >> width >= 1, sum >> width >= 2] }
}

/// Low 128 bits of the product. For 64-bit operands this is the full product.
fn product(x: i128, y: i128) -> u128 {
    (x as u128).wrapping_mul(y as u128)
}

fn of_product(part: ProductPart, width: u32, product: u128) -> u64 {
    match part {
        ProductPart::Low => product as u64 & ones(width),
        ProductPart::High => (product >> width) as u64 & ones(width),
        ProductPart::Wide => product as u64 & ones(2 * width),
    }
}

/// Low or high 32 bits of the 48-bit product of 24-bit integers.
fn product24(ty: Type, part: ProductPart, a: u64, b: u64) -> u64 {
    let narrow = |v: u64| {
        let bits = i128::from(v & 0xff_ffff);
        if ty.signed() && bits >= 1 << 23 { bits - (1 << 24) } else { bits }
    };
    let product = narrow(a) * narrow(b);
    match part {
        ProductPart::High => (product >> 16) as u64 & 0xffff_ffff,
        ProductPart::Low | ProductPart::Wide => product as u64 & 0xffff_ffff,
    }
}
