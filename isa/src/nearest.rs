//! Suggests the known name that a misspelled name is closest to.

use std::cmp::Reverse;

/// Maximum number of letters of a name that are compared. It covers the longest known names, those of
/// compiler builtins.
const COMPARED: usize = 48;

/// Returns the candidate with the fewest single-character changes from `name`, ignoring case. Ties go to the
/// longest common prefix, then to the first in alphabetical order.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let common = |other: &str| other.chars().zip(name.chars()).take_while(|(a, b)| a == b).count();
    candidates.into_iter().min_by_key(|other| (distance(name, other), Reverse(common(other)), *other))
}

pub(crate) fn close<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let letters = name.chars().take(COMPARED).count();
    nearest(name, candidates).filter(|near| distance(name, near) * 2 <= letters)
}

fn distance(a: &str, b: &str) -> usize {
    let letters = |name: &str| name.chars().take(COMPARED).collect::<String>().to_ascii_lowercase();
    strsim::levenshtein(&letters(a), &letters(b))
}
