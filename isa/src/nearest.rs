//! The known name that a misspelled one may stand for.

use std::cmp::Reverse;

/// Letters of a name that are compared: what is longer than any name is as far from one as from another.
/// The longest are those of compiler builtins.
const COMPARED: usize = 48;

/// The candidate that takes the fewest single-character changes to reach from `name`, ignoring case; of several,
/// the one with which it has the longest beginning in common, or else the first by alphabet.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let common = |other: &str| other.chars().zip(name.chars()).take_while(|(a, b)| a == b).count();
    candidates.into_iter().min_by_key(|other| (distance(name, other), Reverse(common(other)), *other))
}

/// The nearest candidate, if at most half of the letters are others.
pub(crate) fn close<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let letters = name.chars().take(COMPARED).count();
    nearest(name, candidates).filter(|near| distance(name, near) * 2 <= letters)
}

/// Levenshtein distance, ignoring case.
fn distance(a: &str, b: &str) -> usize {
    let letters = |name: &str| name.chars().take(COMPARED).collect::<String>().to_ascii_lowercase();
    strsim::levenshtein(&letters(a), &letters(b))
}
