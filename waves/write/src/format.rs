//! Interface to the file formats of traces: times and changes, in order.

use crate::{Definition, SignalKind};

#[derive(Clone, Copy, Debug)]
pub(crate) enum Entry<'a> {
    /// Time of the entries that follow.
    Time(u64),
    /// Start of a full dump: every signal with a value is listed up to the next time. A file starts with a
    /// full dump.
    All,
    Change(usize, Change<'a>),
    /// Formatted lines of changes; only for a text format.
    Lines(&'a [u8]),
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Change<'a> {
    Unknown,
    Happens,
    /// Number of at most 128 bits.
    Narrow(u128),
    /// Wider number, the least significant byte first, or a text that is a [`word`].
    Bytes(&'a [u8]),
}

pub(crate) trait Format: Send {
    fn entry(&mut self, entry: Entry<'_>) -> std::io::Result<()>;

    /// Writes everything to the file, which is then valid.
    fn flush(&mut self) -> std::io::Result<()>;
}

/// Appends `text` as one word: `_` replaces each run of white space and control characters. An empty text
/// becomes `-`.
pub(crate) fn word(out: &mut Vec<u8>, text: &[u8]) {
    let separates = |byte: &u8| *byte <= b' ';
    let start = out.len();
    out.extend_from_slice(text);
    // Without branches, so that the compiler vectorizes the loop: a cycle has several texts of 70 characters.
    out[start..].iter_mut().for_each(|byte| *byte = if separates(byte) { b'_' } else { *byte });
    let pairs = text.iter().zip(text.get(1..).unwrap_or_default());
    let has_runs = pairs.fold(false, |any, (one, next)| any | (separates(one) & separates(next)));
    if has_runs || [text.first(), text.last()].into_iter().any(|byte| byte.is_none_or(separates)) {
        out.truncate(start);
        let mut parts = text.split(separates).filter(|part| !part.is_empty());
        out.extend_from_slice(parts.next().unwrap_or(b"-"));
        for part in parts {
            out.push(b'_');
            out.extend_from_slice(part);
        }
    }
}

/// Binary digits of each byte.
pub(crate) static DIGITS: [[u8; 8]; 256] = {
    let mut table = [[b'0'; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut bit = 0;
        while bit < 8 {
            if byte >> (7 - bit) & 1 == 1 {
                table[byte][bit] = b'1';
            }
            bit += 1;
        }
        byte += 1;
    }
    table
};

pub(crate) fn kinds(definition: &Definition) -> Vec<SignalKind> {
    definition.signals.iter().map(|declared| declared.kind).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_has_no_white_space() {
        let word_of = |text: &str| {
            let mut out = b"behind ".to_vec();
            word(&mut out, text.as_bytes());
            String::from_utf8(out).unwrap()
        };
        for (text, expected) in [
            ("ADD", "ADD"),
            ("a b", "a_b"),
            (" a \t\n b  ", "a_b"),
            ("", "-"),
            (" \n", "-"),
            ("µ s", "µ_s"),
            ("a\u{1}b", "a_b"),
        ] {
            assert_eq!(word_of(text), format!("behind {expected}"), "{text:?}");
        }
    }
}
