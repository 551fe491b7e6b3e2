//! What was received, short enough for a message.

/// Longest piece of a name that is repeated: no known name is longer.
const LONGEST: usize = 48;

/// The first characters of a text.
pub(super) fn excerpt(text: &str) -> String {
    let mut short: String = text.chars().take(LONGEST).collect();
    if short.len() < text.len() {
        short.push_str("...");
    }
    short
}
