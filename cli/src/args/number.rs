//! Parsers of numeric option values, with the accepted ranges.

use std::ops::RangeInclusive;

/// Returns a parser for a whole number within a range.
pub(crate) fn whole<T: TryFrom<u64>>(
    range: RangeInclusive<u64>,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync {
    move |text| {
        let number = text.parse().ok().filter(|number| range.contains(number));
        number.and_then(|number| T::try_from(number).ok()).ok_or_else(|| match *range.end() {
            u64::MAX => format!("expected a whole number, {} or more", range.start()),
            most => format!("expected a whole number, {} to {most}", range.start()),
        })
    }
}

/// Returns a parser for a number above 0 up to `most`; `zero` says if 0 is accepted too.
pub(crate) fn amount(zero: Zero, most: f64) -> impl Fn(&str) -> Result<f64, String> + Clone + Send + Sync {
    move |text| {
        let least = |number: f64| number > 0.0 || zero == Zero::Allowed && number == 0.0;
        let number = text.parse().ok().filter(|number: &f64| least(*number) && *number <= most);
        number.ok_or_else(|| match zero {
            Zero::Allowed => format!("expected a number, 0 to {most}"),
            Zero::Refused => format!("expected a number above 0, up to {most}"),
        })
    }
}

/// Says if the value 0 is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Zero {
    Allowed,
    Refused,
}
