//! What a file format of traces takes: times and changes, in order.

use crate::{Definition, SignalKind};

/// An entry of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Entry<'a> {
    /// What follows happens at this time.
    Time(u64),
    /// Up to the next time, every signal that has a value is listed: a file starts like this.
    All,
    /// The signal, by number, takes a value.
    Change(usize, Change<'a>),
    /// Changes as they stand in the file, of a format that has such lines.
    Lines(&'a [u8]),
}

/// What becomes of a signal.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change<'a> {
    /// It has no value yet.
    Unknown,
    /// Event trigger.
    Happens,
    /// It has at most 128 bits.
    Narrow(u128),
    /// It is wider, and these are its bits, the least significant byte first; or it is a [`word`].
    Bytes(&'a [u8]),
}

/// A file format that a trace can be written in.
pub(crate) trait Format: Send {
    /// Takes an entry.
    fn entry(&mut self, entry: Entry<'_>) -> std::io::Result<()>;

    /// Brings everything taken so far to the file, which is valid as it then stands.
    fn flush(&mut self) -> std::io::Result<()>;
}

/// Appends `text` with `_` for each run of white space, which separates words in a VCD file, and of control characters;
/// `-` for nothing else.
pub(crate) fn word(out: &mut Vec<u8>, text: &[u8]) {
    let separates = |byte: &u8| *byte <= b' ';
    let start = out.len();
    out.extend_from_slice(text);
    // Without branches, so that eight or more characters are looked at in one: a cycle has several texts of 70.
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

/// The eight digits of each byte.
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

/// The kinds of all signals, by number.
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
