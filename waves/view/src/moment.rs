//! Times as a user writes them: cycles, or numbers with a time unit.

use std::ops::Range;
use std::str::FromStr;

use crate::reader::TimeUnit;

/// Message for an empty window.
const NO_TIME: &str = "the window is empty; expected an end after the start, such as 1200..1300";

/// Time as a user writes it: `1200` is a cycle, `1.2us` a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaveTime {
    digits: u64,
    /// Power of ten, in seconds, of the last digit; `None` for cycles.
    exponent: Option<i32>,
}

/// Window of time, excluding its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MomentWindow {
    from: WaveTime,
    to: Option<WaveTime>,
}

/// Cycles or time by which to move a wave, later or earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shift {
    by: WaveTime,
    earlier: bool,
}

/// Time unit and clock of a wave file.
#[derive(Clone, Copy, Debug)]
pub struct WaveScale {
    /// Time unit of the file, if it has one.
    pub unit: Option<TimeUnit>,
    /// Clock period in time units; `None` if the wave has no clock. Numbers without a unit are then time
    /// units.
    pub period: Option<u64>,
}

impl FromStr for WaveTime {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || "expected a cycle such as 1200, or a time such as 1.2us".to_owned();
        let (number, unit) = text.split_at(text.find(|c: char| c.is_alphabetic()).unwrap_or(text.len()));
        let (whole, fraction) = number.trim().split_once('.').unwrap_or((number.trim(), ""));
        let digits = format!("{whole}{fraction}");
        if whole.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
            return Err(expected());
        }
        let digits = digits.parse().map_err(|_| expected())?;
        let exponent = match unit {
            "" if fraction.is_empty() && !number.contains('.') => None,
            "" => return Err(expected()),
            unit => {
                let exponent = TimeUnit::named(unit).ok_or_else(|| {
                    format!("unknown unit `{unit}`; use s, ms, us, ns, ps or fs, or no unit for cycles")
                })?;
                Some(i32::from(exponent) - i32::try_from(fraction.len()).map_err(|_| expected())?)
            }
        };
        Ok(WaveTime { digits, exponent })
    }
}

impl FromStr for MomentWindow {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (from, to) =
            text.split_once("..").ok_or("expected FROM..TO, in cycles or times, such as 1200..1300")?;
        let from = if from.is_empty() { WaveTime { digits: 0, exponent: None } } else { from.parse()? };
        let to = if to.is_empty() { None } else { Some(to.parse()?) };
        Ok(MomentWindow { from, to })
    }
}

impl FromStr for Shift {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (earlier, by) = match text.strip_prefix('-') {
            Some(by) => (true, by),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        Ok(Shift { by: by.parse()?, earlier })
    }
}

impl WaveTime {
    /// Converts to the time units of a wave file.
    ///
    /// # Errors
    /// What is wrong, for a user: too large, finer than the unit, empty.
    pub fn in_units(self, scale: WaveScale) -> Result<u64, String> {
        let WaveTime { digits, exponent } = self;
        let too_late = || "the time is too large".to_owned();
        let Some(exponent) = exponent else {
            return digits.checked_mul(scale.period.unwrap_or(1)).ok_or_else(too_late);
        };
        let unit = scale.unit.ok_or("the wave has no time unit; use cycles")?;
        let power = exponent - i32::from(unit.exponent);
        let factor = 10_u64.checked_pow(power.unsigned_abs());
        if power >= 0 {
            return factor.and_then(|factor| digits.checked_mul(factor)).ok_or_else(too_late);
        }
        let fits = factor.filter(|factor| digits.is_multiple_of(*factor)).map(|factor| digits / factor);
        fits.ok_or_else(|| format!("the time is finer than the unit of the wave, {unit}"))
    }
}

impl MomentWindow {
    /// Converts to the time units of a wave file.
    ///
    /// # Errors
    /// What is wrong, for a user: too large, finer than the unit, empty.
    pub fn in_units(self, scale: WaveScale) -> Result<Range<u64>, String> {
        let from = self.from.in_units(scale)?;
        let to = self.to.map_or(Ok(u64::MAX), |to| to.in_units(scale))?;
        if from < to { Ok(from..to) } else { Err(NO_TIME.to_owned()) }
    }
}

impl Shift {
    /// Converts to the time units of a wave file.
    ///
    /// # Errors
    /// What is wrong, for a user: too large, finer than the unit, empty.
    pub fn in_units(self, scale: WaveScale) -> Result<i64, String> {
        let by = i64::try_from(self.by.in_units(scale)?).map_err(|_| "the time is too large".to_owned())?;
        Ok(if self.earlier { -by } else { by })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCALE: WaveScale = WaveScale { unit: Some(TimeUnit { exponent: -9 }), period: Some(10) };

    #[rustfmt::skip]
    const TIMES: &[(&str, Result<u64, &str>)] = &[
        // written          time units of 1 ns
        ("12",              Ok(120)),
        ("12ns",            Ok(12)),
        ("1.2us",           Ok(1200)),
        ("1 us",            Ok(1000)),
        ("5000ps",          Ok(5)),
        ("5001ps",          Err("finer than the unit of the wave, 1 ns")),
        ("1.5",             Err("expected a cycle")),
        ("-1",              Err("expected a cycle")),
        ("",                Err("expected a cycle")),
        ("us",              Err("expected a cycle")),
        ("1 parsec",        Err("unknown unit `parsec`")),
        ("18446744073709551615", Err("too large")),
        ("99999999999s",    Err("too large")),
    ];

    #[test]
    fn times_become_units() {
        for (text, expected) in TIMES {
            let found = text.parse::<WaveTime>().and_then(|moment| moment.in_units(SCALE));
            match (found, expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, *expected, "{text}"),
                (Err(found), Err(expected)) => assert!(found.contains(expected), "{text}: {found}"),
                (found, _) => panic!("{text}: {found:?}"),
            }
        }
        let window = |text: &str| text.parse::<MomentWindow>().and_then(|window| window.in_units(SCALE));
        assert_eq!(window("2..1us"), Ok(20..1000));
        assert_eq!(window("..3"), Ok(0..30));
        assert_eq!(window("7.."), Ok(70..u64::MAX));
        assert_eq!(window("3..3"), Err(NO_TIME.to_owned()));
        assert!(window("3").is_err());
        let shift = |text: &str| text.parse::<Shift>().and_then(|shift| shift.in_units(SCALE));
        assert_eq!((shift("-2"), shift("+3ns"), shift("4")), (Ok(-20), Ok(3), Ok(40)));
    }
}
