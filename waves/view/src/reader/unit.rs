//! Time unit of a file.

use std::fmt;

/// Time unit of a file: 1, 10 or 100 of a named unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimeUnit {
    /// Exponent of the unit as a power of ten of a second.
    pub exponent: i8,
}

const NAMES: [(&str, i8); 7] =
    [("s", 0), ("ms", -3), ("us", -6), ("ns", -9), ("ps", -12), ("fs", -15), ("as", -18)];

impl TimeUnit {
    /// Parses `1 ns`, `100ps` or `10 us`.
    pub fn parse(text: &str) -> Option<TimeUnit> {
        let text = text.trim();
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (amount, name) = text.split_at(digits);
        let power = match amount {
            "1" => 0,
            "10" => 1,
            "100" => 2,
            _ => return None,
        };
        Some(TimeUnit { exponent: Self::named(name.trim())? + power })
    }

    /// Parses any multiple of a unit, such as `244 ns`. Returns the unit and the factor.
    pub(super) fn parse_any(text: &str) -> Option<(TimeUnit, u64)> {
        let (amount, name) = text.split_at(text.bytes().take_while(u8::is_ascii_digit).count());
        let (mut amount, mut exponent) = (amount.parse().ok()?, Self::named(name.trim())?);
        if amount == 0 {
            return None;
        }
        while amount % 10 == 0 {
            (amount, exponent) = (amount / 10, exponent + 1);
        }
        Some((TimeUnit { exponent }, amount))
    }

    pub fn named(name: &str) -> Option<i8> {
        NAMES.iter().find(|(known, _)| *known == name).map(|(_, exponent)| *exponent)
    }
}

impl fmt::Display for TimeUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let below = NAMES.iter().find(|(_, exponent)| (0..3).contains(&(self.exponent - exponent)));
        match below {
            Some((name, exponent)) => {
                write!(f, "{} {name}", 10_u32.pow((self.exponent - exponent).unsigned_abs().into()))
            }
            None => write!(f, "1e{} s", self.exponent),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_read_and_shown() {
        for (text, exponent, shown) in
            [("1 ns", -9, "1 ns"), ("100ps", -10, "100 ps"), (" 10  us ", -5, "10 us"), ("1s", 0, "1 s")]
        {
            let unit = TimeUnit::parse(text).unwrap();
            assert_eq!((unit.exponent, unit.to_string().as_str()), (exponent, shown));
        }
        for (text, exponent, amount) in
            [("244ns", -9, 244), ("200 ps", -10, 2), ("1000 ps", -9, 1), ("5s", 0, 5)]
        {
            assert_eq!(TimeUnit::parse_any(text), Some((TimeUnit { exponent }, amount)), "{text}");
        }
        for text in ["", "ns", "0 ns", "1 parsec", "99999999999999999999 ns"] {
            assert_eq!(TimeUnit::parse_any(text), None, "{text}");
        }
        for text in ["", "ns", "2 ns", "1 parsec", "1000 ps"] {
            assert_eq!(TimeUnit::parse(text), None, "{text}");
        }
        assert_eq!(TimeUnit { exponent: -21 }.to_string(), "1e-21 s");
    }
}
