//! The known name nearest to a mistyped one.

/// Longest piece of a name that is compared or repeated: no known name is longer.
const LONGEST: usize = 48;

/// The first characters of what was received, for messages.
pub(super) fn excerpt(text: &str) -> String {
    let mut short: String = text.chars().take(LONGEST).collect();
    if short.len() < text.len() {
        short.push_str("...");
    }
    short
}

/// The one of `names` with the fewest single-character changes from `text`; of several the first.
pub(super) fn nearest<'a>(text: &str, names: impl IntoIterator<Item = &'a str>) -> &'a str {
    let text: Vec<char> = text.chars().take(LONGEST).collect();
    names.into_iter().min_by_key(|name| distance(&text, name)).unwrap_or_default()
}

/// Levenshtein distance, ignoring case.
fn distance(a: &[char], b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.iter().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (cell, cb) in row.iter_mut().skip(1).zip(&b) {
            let change = diagonal + usize::from(!ca.eq_ignore_ascii_case(cb));
            diagonal = *cell;
            left = change.min(left + 1).min(*cell + 1);
            *cell = left;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or(a.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_those_of_levenshtein() {
        for (a, b, d) in [("kitten", "sitting", 3), ("", "abc", 3), ("abc", "", 3), ("abc", "ABC", 0)] {
            assert_eq!(distance(&a.chars().collect::<Vec<_>>(), b), d, "{a} {b}");
        }
        assert_eq!(nearest("relaxd", ["acquire", "relaxed", "release"]), "relaxed");
        assert_eq!(nearest("x", []), "");
    }
}
