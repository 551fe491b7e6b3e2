//! Excerpts of user input for messages.

/// Maximum length of an excerpt, in characters. No known name is longer.
const LONGEST: usize = 48;

pub(super) fn excerpt(text: &str) -> String {
    let mut short: String = text.chars().take(LONGEST).collect();
    if short.len() < text.len() {
        short.push_str("...");
    }
    short
}
