use super::value::Value;
use crate::launch::element::Element;
use std::cmp::Ordering;

/// Error message, and help that tells how to fix the formula.
type Wrong = (String, &'static str);

type Computed = Result<Value, Wrong>;

type OfTwo = fn(Value, Value) -> Computed;

#[derive(Clone, Copy)]
pub(super) enum Function {
    Of(fn(Value) -> Computed),
    /// Function of any number of values: folds them from the left with a function of two.
    OfAll(OfTwo),
    As(Element),
}

/// Binary operator, its precedence, and its function.
type Binary = (&'static str, u8, Option<OfTwo>);

/// Reduction: name, value for an empty range, and function that adds a value.
pub(super) struct Fold(pub(super) &'static str, pub(super) Option<i128>, pub(super) OfTwo);

/// Binary operators with their precedence, as in C. `||` and `&&` have no function, because they evaluate the
/// second operand only if needed.
pub(super) const BINARY: [Binary; 18] = [
    ("||", 1, None),
    ("&&", 2, None),
    ("|", 3, Some(|a, b| bits(a, b, |a, b| Ok(a | b)))),
    ("^", 4, Some(xor)),
    ("&", 5, Some(|a, b| bits(a, b, |a, b| Ok(a & b)))),
    ("==", 6, Some(|a, b| compare(a, b, |order| order == Some(Ordering::Equal)))),
    ("!=", 6, Some(|a, b| compare(a, b, |order| order != Some(Ordering::Equal)))),
    ("<", 7, Some(|a, b| compare(a, b, |order| order.is_some_and(Ordering::is_lt)))),
    ("<=", 7, Some(|a, b| compare(a, b, |order| order.is_some_and(Ordering::is_le)))),
    (">", 7, Some(|a, b| compare(a, b, |order| order.is_some_and(Ordering::is_gt)))),
    (">=", 7, Some(|a, b| compare(a, b, |order| order.is_some_and(Ordering::is_ge)))),
    ("<<", 8, Some(|a, b| bits(a, b, |a, b| exact(a.checked_mul(1 << distance(b)?))))),
    (">>", 8, Some(|a, b| bits(a, b, |a, b| Ok(a >> distance(b)?)))),
    ("+", 9, Some(sum)),
    ("-", 9, Some(|a, b| numbers(a, b, |a, b| exact(a.checked_sub(b)), |a, b| a - b))),
    ("*", 10, Some(|a, b| numbers(a, b, |a, b| exact(a.checked_mul(b)), |a, b| a * b))),
    ("/", 10, Some(|a, b| numbers(a, b, |a, b| exact(a.checked_div(divisor(b)?)), |a, b| a / b))),
    ("%", 10, Some(|a, b| numbers(a, b, |a, b| exact(a.checked_rem(divisor(b)?)), |a, b| a % b))),
];

pub(super) const FOLDS: [Fold; 7] = [
    Fold("sum", Some(0), sum),
    Fold("min", None, lesser),
    Fold("max", None, greater),
    Fold("xor", Some(0), xor),
    Fold("count", Some(0), |count, value| sum(count, Value::truth(value.holds()))),
    Fold("any", Some(0), |any, value| Ok(Value::truth(any.holds() || value.holds()))),
    Fold("all", Some(1), |all, value| Ok(Value::truth(all.holds() && value.holds()))),
];

pub(super) const FUNCTIONS: [(&str, Function); 4] = [
    ("min", Function::OfAll(lesser)),
    ("max", Function::OfAll(greater)),
    ("abs", Function::Of(abs)),
    ("popcount", Function::Of(popcount)),
];

const NO_BITS: (&str, &str) = ("a bit operation on a float", "convert it: `u32(x)` rounds towards zero");

/// Computes on integers, or on floats if an operand is a float.
fn numbers(
    a: Value,
    b: Value,
    int: fn(i128, i128) -> Result<i128, Wrong>,
    float: fn(f64, f64) -> f64,
) -> Computed {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => int(a, b).map(Value::Int),
        (a, b) => Ok(Value::Float(float(a.float(), b.float()))),
    }
}

/// Computes on integers only; a float operand is an error.
fn bits(a: Value, b: Value, int: fn(i128, i128) -> Result<i128, Wrong>) -> Computed {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => int(a, b).map(Value::Int),
        _ => Err((NO_BITS.0.into(), NO_BITS.1)),
    }
}

fn compare(a: Value, b: Value, holds: fn(Option<Ordering>) -> bool) -> Computed {
    let order = match (a, b) {
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(&b)),
        (a, b) => a.float().partial_cmp(&b.float()),
    };
    Ok(Value::truth(holds(order)))
}

fn exact(value: Option<i128>) -> Result<i128, Wrong> {
    value.ok_or((
        "the result has more than 127 bits".into(),
        "shorten the operands: `u32(x)` keeps the low 32 bits",
    ))
}

fn divisor(b: i128) -> Result<i128, Wrong> {
    if b == 0 { Err(("division by zero".into(), "guard it: `n == 0 ? 0 : x / n`")) } else { Ok(b) }
}

fn distance(b: i128) -> Result<u32, Wrong> {
    let there = u32::try_from(b).ok().filter(|b| *b < 127);
    there.ok_or_else(|| (format!("a shift by {b} bits"), "a shift is by 0 to 126 bits"))
}

fn sum(a: Value, b: Value) -> Computed {
    numbers(a, b, |a, b| exact(a.checked_add(b)), |a, b| a + b)
}

fn xor(a: Value, b: Value) -> Computed {
    bits(a, b, |a, b| Ok(a ^ b))
}

fn lesser(a: Value, b: Value) -> Computed {
    numbers(a, b, |a, b| Ok(a.min(b)), f64::min)
}

fn greater(a: Value, b: Value) -> Computed {
    numbers(a, b, |a, b| Ok(a.max(b)), f64::max)
}

fn abs(value: Value) -> Computed {
    match value {
        Value::Int(value) => exact(value.checked_abs()).map(Value::Int),
        Value::Float(value) => Ok(Value::Float(value.abs())),
    }
}

fn popcount(value: Value) -> Computed {
    match value {
        Value::Int(value) if value >= 0 => Ok(Value::Int(value.count_ones().into())),
        _ => Err((
            "popcount of a negative number or a float".into(),
            "convert it to a type with a width: `popcount(u32(x))`",
        )),
    }
}

pub(super) fn negate(value: Value) -> Computed {
    match value {
        Value::Int(value) => exact(value.checked_neg()).map(Value::Int),
        Value::Float(value) => Ok(Value::Float(-value)),
    }
}

pub(super) fn invert(value: Value) -> Computed {
    match value {
        Value::Int(value) => Ok(Value::Int(!value)),
        Value::Float(_) => Err((NO_BITS.0.into(), NO_BITS.1)),
    }
}
