//! Short forms of values and names for display.

use crate::{Excerpt, ExcerptSignal, WaveValue, signal_path, tracks};

/// Formats a value: numbers in hexadecimal, with digit `x` or `z` if one of its bits is unknown.
pub fn value_label(value: &WaveValue) -> String {
    match value {
        WaveValue::Bits(digits) => hexadecimal(digits),
        WaveValue::Text(text) => text.clone(),
        WaveValue::Real(number) => number.to_string(),
        WaveValue::Event => "!".to_owned(),
    }
}

fn hexadecimal(digits: &str) -> String {
    let bytes = digits.as_bytes();
    let digit = |nibble: &[u8]| match nibble.iter().find(|bit| !matches!(bit, b'0' | b'1')) {
        Some(unknown) => char::from(*unknown),
        None => {
            let value = nibble.iter().fold(0, |value, bit| value * 2 + u32::from(bit - b'0'));
            char::from_digit(value, 16).unwrap_or('?')
        }
    };
    let all: String = bytes.rchunks(4).rev().map(digit).collect();
    match all.chars().next() {
        Some(first @ ('x' | 'z')) if all.chars().all(|digit| digit == first) => first.to_string(),
        Some('0') => {
            let short = all.trim_start_matches('0');
            if short.is_empty() { "0".to_owned() } else { short.to_owned() }
        }
        Some(_) | None => all,
    }
}

pub(super) fn is_idle(value: &WaveValue) -> bool {
    matches!(value, WaveValue::Text(text) if tracks::is_idle(text))
}

pub(super) fn names(excerpt: &Excerpt) -> Vec<String> {
    let scopes = |signal: &ExcerptSignal| signal.scopes.clone();
    let mut common = excerpt.signals.first().map(scopes).unwrap_or_default();
    for signal in &excerpt.signals {
        let shared = common.iter().zip(&signal.scopes).take_while(|(one, other)| one == other).count();
        common.truncate(shared);
    }
    let name =
        |signal: &ExcerptSignal| signal_path(signal.scopes[common.len()..].iter().chain([&signal.name]));
    excerpt.signals.iter().map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_hexadecimal_and_unknown_digits_stay() {
        for (digits, expected) in [
            ("1", "1"),
            ("0000", "0"),
            ("00011111", "1f"),
            ("xxxx", "x"),
            ("1x10111", "x7"),
            ("zzzzz", "z"),
            ("x0000", "x0"),
        ] {
            assert_eq!(value_label(&WaveValue::Bits(digits.to_owned())), expected, "{digits}");
        }
    }
}
