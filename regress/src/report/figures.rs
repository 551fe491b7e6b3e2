use std::time::{Duration, SystemTime};

/// Formats a number with commas: `12,345`.
pub fn count(number: u64) -> String {
    thousands::Separable::separate_with_commas(&number)
}

/// Formats a count with a noun that has a regular plural: `1 test`, `12,345 tests`.
pub(crate) fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(number), if number == 1 { "" } else { "s" })
}

/// Returns a share in tenths of a percent. Rounds down, so that only a complete share gives 100 %. An empty
/// whole gives 100 %.
pub(super) fn permille(part: u64, whole: u64) -> u64 {
    if part >= whole { 1000 } else { (u128::from(part) * 1000 / u128::from(whole)) as u64 }
}

/// Formats a share as `99.9 %`, rounded like [`permille`].
pub(super) fn percent(part: u64, whole: u64) -> String {
    let permille = permille(part, whole);
    if permille == 1000 { "100 %".into() } else { format!("{}.{} %", permille / 10, permille % 10) }
}

/// Formats seconds: `0.012 s`, `12.3 s`, `4 min 12 s`, `3 h 05 min`.
pub(super) fn seconds(seconds: f64) -> String {
    let seconds = if seconds.is_finite() { seconds.max(0.0) } else { 0.0 };
    match seconds {
        s if s < 0.9995 => format!("{s:.3} s"),
        s if s < 99.95 => format!("{s:.1} s"),
        s if s < 5999.5 => {
            let whole = s.round() as u64;
            format!("{} min {:02} s", whole / 60, whole % 60)
        }
        s => {
            let minutes = (s / 60.0).round() as u64;
            format!("{} h {:02} min", minutes / 60, minutes % 60)
        }
    }
}

/// Formats seconds since 1970 as `2026-03-01 14:05 UTC`.
pub(super) fn moment(since_1970: u64) -> String {
    // Limit to the last second of the year 9999, so that the year has four digits.
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(since_1970.min(253_402_300_799));
    let text = humantime::format_rfc3339_seconds(time).to_string();
    format!("{} {} UTC", &text[..10], &text[11..16])
}

/// Escapes control characters as `\u{1b}`, since a terminal would obey them. Keeps line breaks and replaces
/// tabs by spaces.
pub fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' => plain.push('\n'),
            '\t' => plain.push_str("    "),
            control if control.is_control() => plain.extend(control.escape_unicode()),
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_written_as_people_read_them() {
        assert_eq!([0, 999, 1000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(percent(999_999, 1_000_000), "99.9 %", "almost all is not all");
        assert_eq!(percent(5, 5), "100 %");
        assert_eq!(percent(0, 0), "100 %");
        assert_eq!(percent(u64::MAX - 1, u64::MAX), "99.9 %");
        let times = [0.0, 0.0124, 1.0, 99.94, 99.96, 252.0, 5999.6, 11_100.0, f64::NAN, -1.0];
        let read = times.map(seconds);
        let expected = [
            "0.000 s",
            "0.012 s",
            "1.0 s",
            "99.9 s",
            "1 min 40 s",
            "4 min 12 s",
            "1 h 40 min",
            "3 h 05 min",
            "0.000 s",
            "0.000 s",
        ];
        assert_eq!(read, expected);
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(moment(0), "1970-01-01 00:00 UTC");
        assert_eq!(moment(951_782_400), "2000-02-29 00:00 UTC");
        assert_eq!(moment(1_772_373_900), "2026-03-01 14:05 UTC");
        assert_eq!(moment(4_107_542_400), "2100-03-01 00:00 UTC");
        moment(u64::MAX);
    }

    #[test]
    fn nothing_steers_the_terminal() {
        assert_eq!(plain("a\u{1b}[31mb\tc\nd\r"), "a\\u{1b}[31mb    c\nd\\u{d}");
    }
}
