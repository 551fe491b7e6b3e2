//! Parser of number literals.

use super::lex::Cursor;
use crate::problem::Problem;

const HELP: &str =
    "numbers are 7, 0x1f, 017, 0b101, 5U, 1.5, 0f3F800000 (eight digits) and 0d3FF0000000000000 (sixteen)";

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    Integer(u64),
    Single(u32),
    Double(u64),
}

impl Number {
    pub(super) fn negated(self) -> Number {
        match self {
            Number::Integer(value) => Number::Integer(value.wrapping_neg()),
            Number::Single(bits) => Number::Single(bits ^ 1 << 31),
            Number::Double(bits) => Number::Double(bits ^ 1 << 63),
        }
    }
}

pub(super) fn number(cursor: &mut Cursor<'_>) -> Result<Number, Problem> {
    let start = cursor.pos();
    let text = cursor.digits().unwrap_or("");
    let exponent = |c: &Cursor<'_>| matches!(c.peek(), b'+' | b'-') && c.ahead(1).is_ascii_digit();
    let decimal = text.bytes().all(|b| b.is_ascii_digit());
    // Numbers such as 1.5, 1e9 and 1.5e-3. Only in these forms is a dot or a sign part of a number.
    let scaled = text.trim_end_matches(['e', 'E']);
    let ends_in_e = scaled.len() + 1 == text.len() && scaled.bytes().all(|b| b.is_ascii_digit());
    if (decimal && cursor.peek() == b'.' && cursor.ahead(1).is_ascii_digit())
        || (ends_in_e && exponent(cursor))
    {
        cursor.bump();
        let fraction = cursor.digits().unwrap_or("");
        if !ends_in_e && fraction.ends_with(['e', 'E']) && exponent(cursor) {
            cursor.bump();
            cursor.digits();
        }
        return float(cursor.since(start)).ok_or_else(|| unreadable(cursor, start));
    }
    let read = if decimal { integer(text) } else { prefixed(text) };
    read.ok_or_else(|| unreadable(cursor, start))
}

fn unreadable(cursor: &Cursor<'_>, start: usize) -> Problem {
    let text = cursor.since(start);
    let fits = text.bytes().all(|b| b.is_ascii_digit()) && !text.starts_with('0');
    let message =
        if fits { format!("`{text}` does not fit in 64 bits") } else { format!("`{text}` is not a number") };
    Problem::new(start..cursor.pos(), message, HELP)
}

/// Parses decimal digits. After a leading zero, the digits are octal.
fn integer(text: &str) -> Option<Number> {
    let value = match text.strip_prefix('0').filter(|rest| !rest.is_empty()) {
        Some(octal) => u64::from_str_radix(octal, 8),
        None => text.parse(),
    };
    value.ok().map(Number::Integer)
}

fn prefixed(text: &str) -> Option<Number> {
    let hex = |digits: &str, length| {
        (digits.len() == length && digits.bytes().all(|b| b.is_ascii_hexdigit()))
            .then(|| u64::from_str_radix(digits, 16).ok())
            .flatten()
    };
    let radix = |digits: &str, radix| {
        let digits = digits.strip_suffix(['U', 'u']).unwrap_or(digits);
        u64::from_str_radix(digits, radix).ok().map(Number::Integer)
    };
    match text.get(..2)? {
        "0x" | "0X" => radix(&text[2..], 16),
        "0b" | "0B" => radix(&text[2..], 2),
        "0f" | "0F" => hex(&text[2..], 8).map(|bits| Number::Single(bits as u32)),
        "0d" | "0D" => hex(&text[2..], 16).map(Number::Double),
        _ => match text.strip_suffix(['U', 'u']) {
            Some(digits) => digits.bytes().all(|b| b.is_ascii_digit()).then(|| integer(digits)).flatten(),
            None => float(text),
        },
    }
}

fn float(text: &str) -> Option<Number> {
    let form = text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-'));
    let value: f64 = form.then(|| text.parse().ok()).flatten()?;
    Some(Number::Double(value.to_bits()))
}
