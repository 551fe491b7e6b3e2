//! What somebody who made a slip may have meant.

use std::cmp::Reverse;

/// Letters of a name that are compared: what is longer than any name is as far from one as from another.
/// The longest are those of compiler builtins.
const COMPARED: usize = 48;

/// The candidate that takes the fewest single-character changes to reach from `name`, ignoring case; of several,
/// the one with which it has the longest beginning in common, or else the first by alphabet.
pub(crate) fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name: Vec<char> = name.chars().take(COMPARED).collect();
    let common = |other: &str| other.chars().zip(&name).take_while(|(a, b)| a == *b).count();
    candidates.into_iter().min_by_key(|other| (distance(&name, other), Reverse(common(other)), *other))
}

/// The nearest candidate, if at most half of the letters are others.
pub(crate) fn close<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let letters: Vec<char> = name.chars().take(COMPARED).collect();
    nearest(name, candidates).filter(|near| distance(&letters, near) * 2 <= letters.len())
}

/// Levenshtein distance, ignoring case.
fn distance(a: &[char], b: &str) -> usize {
    let b: Vec<char> = b.chars().take(COMPARED).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let change = diagonal + usize::from(!ca.eq_ignore_ascii_case(cb));
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[b.len()]
}
