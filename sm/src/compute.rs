//! What an instruction computes in one lane.

use crate::{convert, float, half};
use atoms_isa::{AluOp, BoolOp, Compare, DotPieces, IntSize, IntType, PermuteMode};

/// Register result and predicate results of one lane.
pub(crate) struct Result {
    pub(crate) value: u64,
    pub(crate) preds: [bool; 2],
}

fn value(value: u32) -> Result {
    Result { value: u64::from(value), preds: [false; 2] }
}

fn pair(value: u64) -> Result {
    Result { value, preds: [false; 2] }
}

fn preds(preds: [bool; 2]) -> Result {
    Result { value: 0, preds }
}

/// One lane. `carries` is the number of negated operands of an operation with carries.
///
/// Put in place wherever it is called, so that a constant operation leaves its own arm alone.
#[inline(always)]
pub(crate) fn compute(op: AluOp, [a, b, c]: [u64; 3], p: [bool; 3], carries: u64) -> Result {
    let (a32, b32, c32) = (a as u32, b as u32, c as u32);
    let [fa, fb, fc] = [a32, b32, c32].map(f32::from_bits);
    match op {
        AluOp::Mov => value(a32),
        AluOp::Mov64 => pair(a),
        AluOp::IMad => value(a32.wrapping_mul(b32).wrapping_add(c32).wrapping_add(u32::from(p[0]))),
        AluOp::IMadWide(kind) => {
            let sum = u128::from(product(kind, a32, b32)) + u128::from(c) + u128::from(p[0]);
            Result { value: sum as u64, preds: [sum >> 64 != 0, false] }
        }
        AluOp::IMadHi(kind) => {
            let sum = u128::from(product(kind, a32, b32)) + u128::from(c) + u128::from(p[0]);
            Result { value: sum as u64 >> 32, preds: [sum >> 64 != 0, false] }
        }
        AluOp::IAdd3 => {
            let sum = (a & 0xffff_ffff) + (b & 0xffff_ffff) + (c & 0xffff_ffff) + carries;
            let sum = sum + u64::from(p[0]) + u64::from(p[1]);
            Result { value: sum & 0xffff_ffff, preds: [sum >> 32 >= 1, sum >> 32 >= 2] }
        }
        AluOp::IAdd64 => {
            let sum = [a, b, c, carries].into_iter().map(u128::from).sum::<u128>();
            let sum = sum + u128::from(p[0]) + u128::from(p[1]);
            Result { value: sum as u64, preds: [sum >> 64 >= 1, sum >> 64 >= 2] }
        }
        AluOp::Lop3 { table, combine } => {
            let word = lop3(table, a32, b32, c32);
            Result { value: u64::from(word), preds: [combined(combine, word != 0, p[0]), false] }
        }
        AluOp::PLop3 { tables } => {
            let at = u8::from(p[0]) << 2 | u8::from(p[1]) << 1 | u8::from(p[2]);
            preds(tables.map(|t| t >> at & 1 != 0))
        }
        AluOp::Lea { shift } => {
            let sum = u64::from(a32 << (shift & 31)) + u64::from(b32) + carries;
            Result { value: sum & 0xffff_ffff, preds: [sum >> 32 != 0, false] }
        }
        AluOp::LeaHi { shift, sign_extend } => {
            let upper = if sign_extend { (a32 as i32 >> 31) as u32 } else { c32 };
            let whole = u64::from(upper) << 32 | u64::from(a32);
            let shifted = (whole >> (32 - u32::from(shift & 31))) as u32;
            let sum = u64::from(shifted) + u64::from(b32) + u64::from(p[0]);
            Result { value: sum & 0xffff_ffff, preds: [sum >> 32 != 0, false] }
        }
        AluOp::ShiftLeft { kind, high, wrap } => {
            let whole = u64::from(c32) << 32 | u64::from(a32);
            let shifted = whole.checked_shl(limit(kind, wrap, b32)).unwrap_or(0);
            value(if high { (shifted >> 32) as u32 } else { shifted as u32 })
        }
        AluOp::ShiftRight { kind, high, wrap } => {
            let whole = u64::from(c32) << 32 | u64::from(a32);
            let by = limit(kind, wrap, b32);
            let shifted = if kind.signed() {
                ((whole as i64) >> by.min(63)) as u64
            } else {
                whole.checked_shr(by).unwrap_or(0)
            };
            value(if high { (shifted >> 32) as u32 } else { shifted as u32 })
        }
        AluOp::Select => value(if p[0] { a32 } else { b32 }),
        AluOp::Select64 => pair(if p[0] { a } else { b }),
        AluOp::ISetP { compare, kind, combine, extended } => {
            let order = order(kind, a, b);
            let holds = match compare {
                Compare::False => false,
                Compare::True => true,
                // High words alike: the low words decide.
                _ if extended && order.is_eq() => p[1],
                Compare::Lt => order.is_lt(),
                Compare::Eq => order.is_eq(),
                Compare::Le => order.is_le(),
                Compare::Gt => order.is_gt(),
                Compare::Ne => order.is_ne(),
                Compare::Ge => order.is_ge(),
            };
            compared(combine, holds, p[0])
        }
        AluOp::AddParts { kind, subtract, saturate } => value(add_parts(kind, a32, b32, subtract, saturate)),
        AluOp::IMinMax { kind, relu } => {
            let picked = pick(kind, p[0], a, b);
            let result = pair(if relu { pick(kind, false, picked, 0) } else { picked });
            // Of equal ones it is the first that is taken.
            let first = |shift: u32| pick(kind, p[0], a, b) >> shift & 0xffff == a >> shift & 0xffff;
            if kind.bits() == 16 { Result { preds: [first(0), first(16)], ..result } } else { result }
        }
        AluOp::IMinMax3 { kind, relu } => {
            let picked = pick(kind, p[0], pick(kind, p[0], a, b), c);
            pair(if relu { pick(kind, false, picked, 0) } else { picked })
        }
        AluOp::AddMinMax { kind, relu } => {
            let sum = add_parts(kind, a32, b32, false, false);
            let picked = pick(kind, p[0], u64::from(sum), c);
            pair(if relu { pick(kind, false, picked, 0) } else { picked })
        }
        AluOp::AbsDiff(kind) => {
            let distance = if kind.signed() { (a32 as i32).abs_diff(b32 as i32) } else { a32.abs_diff(b32) };
            value(distance.wrapping_add(c32))
        }
        AluOp::AbsDiff4 { signed, accumulate } => {
            let bytes = a32.to_le_bytes().into_iter().zip(b32.to_le_bytes());
            let distance = |(a, b): (u8, u8)| {
                u32::from(if signed { (a as i8).abs_diff(b as i8) } else { a.abs_diff(b) })
            };
            let sum: u32 = bytes.map(distance).sum();
            value(if accumulate { sum.wrapping_add(c32) } else { sum })
        }
        AluOp::Dot { pieces, signed } => value(dot(pieces, signed, a32, b32).wrapping_add(c32)),
        AluOp::Permute(mode) => value(permute(mode, a32, b32, c32)),
        AluOp::BitMask { wrap } => {
            let (from, count) = if wrap { (a32 & 31, b32 & 31) } else { (a32, b32.min(32)) };
            let ones = u32::MAX.checked_shr(32 - count).unwrap_or(0);
            value(ones.checked_shl(from).unwrap_or(0))
        }
        AluOp::Extend { signed, wrap } => value(extend(signed, if wrap { b32 & 31 } else { b32 }, a32)),
        AluOp::PopCount => value(a32.count_ones()),
        AluOp::FindLeadingOne { kind, shift_amount } => {
            let bits = if kind.signed() && (a32 as i32) < 0 { !a32 } else { a32 };
            value(match (bits, shift_amount) {
                (0, _) => u32::MAX,
                (_, false) => 31 - bits.leading_zeros(),
                (_, true) => bits.leading_zeros(),
            })
        }
        AluOp::BitReverse => value(a32.reverse_bits()),
        AluOp::IAbs => value((a32 as i32).unsigned_abs()),
        AluOp::IntToInt { from, to, saturate } => {
            let number = convert::integer(from, a);
            value(if saturate { convert::limited(to, number) } else { convert::integer(to, number as u64) }
                as u32)
        }
        AluOp::PackInt(to) => value(pack(to, [a32, b32, c32])),
        AluOp::FAdd(mode) => value(float::add(mode, fa, fb).to_bits()),
        AluOp::FMul(mode) => value(float::mul(mode, fa, fb).to_bits()),
        AluOp::FFma(mode) => value(float::fma(mode, fa, fb, fc).to_bits()),
        AluOp::FSetP { compare, combine, flush } => {
            let [a, b] = [fa, fb].map(|v| float::flush_if(flush, v));
            compared(combine, float::compare(compare, a.partial_cmp(&b)), p[0])
        }
        AluOp::FSet { compare, combine, flush, one } => {
            let [a, b] = [fa, fb].map(|v| float::flush_if(flush, v));
            let holds = combined(combine, float::compare(compare, a.partial_cmp(&b)), p[0]);
            value(if !holds { 0 } else { if one { 1.0_f32.to_bits() } else { u32::MAX } })
        }
        AluOp::FMinMax { flush, nan } => {
            let [a, b] = [fa, fb].map(|v| float::flush_if(flush, v));
            value(float::min_max(p[0], nan, a, b).to_bits())
        }
        AluOp::FSelect { flush } => value(float::flush_if(flush, if p[0] { fa } else { fb }).to_bits()),
        AluOp::FCheck => preds([float::division_is_hard(a32, b32), false]),
        AluOp::FRound { format, round, flush } => pair(convert::whole(format, round, flush, a)),
        AluOp::Mufu(function) => value(float::mufu(function, a32)),
        AluOp::IntToFloat { from, to, round } => pair(convert::int_to_float(from, to, round, a)),
        AluOp::FloatToInt { from, to, round, flush, nan_to_zero } => {
            pair(convert::float_to_int(from, to, round, flush, nan_to_zero, a))
        }
        AluOp::FloatToFloat { from, to, mode } => pair(convert::float_to_float(from, to, mode, a)),
        AluOp::PackHalves { format, round, relu } => {
            value(convert::pack_halves(format, round, relu, a32, b32))
        }
        AluOp::HAdd2(mode) => value(half::add(mode, a32, b32)),
        AluOp::HMul2(mode) => value(half::mul(mode, a32, b32)),
        AluOp::HFma2(mode) => value(half::fma(mode, a32, b32, c32)),
        AluOp::HMinMax2 { format, nan } => value(half::min_max(format, p[0], nan, a32, b32)),
        AluOp::HSetP2 { format, compare, combine, both, flush } => {
            let holds = half::compare(format, compare, flush, a32, b32);
            if both {
                compared(combine, holds[0] && holds[1], p[0])
            } else {
                preds(holds.map(|holds| combined(combine, holds, p[0])))
            }
        }
        AluOp::HSet2 { format, compare, combine, flush, one } => {
            let holds = half::compare(format, compare, flush, a32, b32);
            let word = |holds: bool| match (combined(combine, holds, p[0]), one) {
                (false, _) => 0,
                (true, false) => 0xffff,
                (true, true) => half::one(format),
            };
            value(u32::from(word(holds[1])) << 16 | u32::from(word(holds[0])))
        }
        AluOp::DAdd(round) => pair(float::add64(round, a, b)),
        AluOp::DMul(round) => pair(float::mul64(round, a, b)),
        AluOp::DFma(round) => pair(float::fma64(round, a, b, c)),
        AluOp::DSetP { compare, combine } => {
            let order = f64::from_bits(a).partial_cmp(&f64::from_bits(b));
            compared(combine, float::compare(compare, order), p[0])
        }
        AluOp::DMinMaxP { min, combine } => {
            let [a, b] = [a, b].map(f64::from_bits);
            let first = match (a.is_nan(), b.is_nan()) {
                (true, _) => false,
                (false, true) => true,
                (false, false) => a.total_cmp(&b).is_lt() == min,
            };
            preds([combined(combine, first, p[0]), a.is_nan() && b.is_nan()])
        }
    }
}

/// The results of a comparison: it, and its inverse, combined with a predicate.
fn compared(combine: BoolOp, holds: bool, with: bool) -> Result {
    preds([combined(combine, holds, with), combined(combine, !holds, with)])
}

fn order(kind: IntType, a: u64, b: u64) -> std::cmp::Ordering {
    match kind {
        IntType::U32 => (a as u32).cmp(&(b as u32)),
        IntType::S32 => (a as i32).cmp(&(b as i32)),
        IntType::U64 => a.cmp(&b),
        IntType::S64 => (a as i64).cmp(&(b as i64)),
        IntType::U16x2 => (a as u16).cmp(&(b as u16)),
        IntType::S16x2 => (a as i16).cmp(&(b as i16)),
        IntType::U8x4 => (a as u8).cmp(&(b as u8)),
        IntType::S8x4 => (a as i8).cmp(&(b as i8)),
    }
}

/// `f` of the parts of so many bits, each by itself.
fn each_part(bits: u32, a: u32, b: u32, f: impl Fn(u32, u32) -> u32) -> u32 {
    let mask = u32::MAX >> (32 - bits);
    let part = |word: u32, at: usize| word >> at & mask;
    (0..32).step_by(bits as usize).fold(0, |word, at| word | (f(part(a, at), part(b, at)) & mask) << at)
}

/// Sum or difference of the parts, which wraps or is cut off.
fn add_parts(kind: IntType, a: u32, b: u32, subtract: bool, saturate: bool) -> u32 {
    let bits = kind.bits().min(32);
    let unused = 32 - bits;
    let (least, most) = match kind.signed() {
        true => (-(1_i64 << (bits - 1)), (1_i64 << (bits - 1)) - 1),
        false => (0, (1_i64 << bits) - 1),
    };
    let number = |part: u32| match kind.signed() {
        true => i64::from((part << unused) as i32 >> unused),
        false => i64::from(part),
    };
    each_part(bits, a, b, |a, b| {
        let (a, b) = (number(a), number(b));
        let exact = if subtract { a - b } else { a + b };
        (if saturate { exact.clamp(least, most) } else { exact }) as u32
    })
}

/// Minimum or maximum.
fn pick(kind: IntType, min: bool, a: u64, b: u64) -> u64 {
    if kind.bits() < 32 {
        let of = |a: u32, b: u32| {
            if order(kind, a.into(), b.into()).is_lt() == min { a } else { b }
        };
        return each_part(kind.bits(), a as u32, b as u32, of).into();
    }
    if order(kind, a, b).is_lt() == min { a } else { b }
}

/// 64-bit product of two words.
fn product(kind: IntType, a: u32, b: u32) -> u64 {
    if kind.signed() {
        (i64::from(a as i32) * i64::from(b as i32)) as u64
    } else {
        u64::from(a) * u64::from(b)
    }
}

pub(crate) fn lop3(table: u8, a: u32, b: u32, c: u32) -> u32 {
    (0..8_u8).filter(|i| table >> i & 1 != 0).fold(0, |word, i| {
        let pick = |bit: u8, v: u32| if i >> bit & 1 != 0 { v } else { !v };
        word | (pick(2, a) & pick(1, b) & pick(0, c))
    })
}

fn combined(how: BoolOp, holds: bool, with: bool) -> bool {
    match how {
        BoolOp::And => holds && with,
        BoolOp::Or => holds || with,
        BoolOp::Xor => holds != with,
    }
}

/// Shift distance: modulo the width of the type, or no more than it.
fn limit(kind: IntType, wrap: bool, by: u32) -> u32 {
    let width = if kind.wide() { 64 } else { 32 };
    if wrap { by % width } else { by.min(width) }
}

/// The low `count` bits of a word, extended.
fn extend(signed: bool, count: u32, word: u32) -> u32 {
    match count {
        0 => 0,
        32.. => word,
        _ => {
            let shift = 32 - count;
            if signed { ((word << shift) as i32 >> shift) as u32 } else { word << shift >> shift }
        }
    }
}

pub(crate) fn permute(mode: PermuteMode, a: u32, selector: u32, c: u32) -> u32 {
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

/// Sum of products.
fn dot(pieces: DotPieces, [signed_a, signed_b]: [bool; 2], a: u32, b: u32) -> u32 {
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

/// Source: [PTX] cvt.pack.
fn pack(to: IntSize, [a, b, c]: [u32; 3]) -> u32 {
    let bits = u32::from(to.bits);
    let piece = |word: u32| {
        let number = convert::limited(to, i128::from(word as i32)) as u32;
        extend(false, bits, number)
    };
    c.checked_shl(2 * bits).unwrap_or(0) | piece(a) << bits | piece(b)
}
