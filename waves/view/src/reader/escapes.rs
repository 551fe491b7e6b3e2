//! Escapes in VCD texts, as GTKWave's library writes them: `\040`, `\x20`, `\n`, `\'`.

const LETTERS: [(u8, u8); 11] = [
    (b'a', 0x07),
    (b'b', 0x08),
    (b'f', 0x0c),
    (b'n', b'\n'),
    (b'r', b'\r'),
    (b't', b'\t'),
    (b'v', 0x0b),
    (b'\'', b'\''),
    (b'"', b'"'),
    (b'\\', b'\\'),
    (b'?', b'?'),
];

/// Decodes the escapes of a text. A `\` without a valid escape stays unchanged.
#[cold]
pub(super) fn decode(mut text: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(text.len());
    while let [first, behind @ ..] = text {
        let escape = if *first == b'\\' { escape(behind) } else { None };
        let (character, length) = escape.unwrap_or((*first, 0));
        decoded.push(character);
        text = &behind[length..];
    }
    decoded
}

/// Decodes an escape after its `\`. Returns the character and the length.
fn escape(behind: &[u8]) -> Option<(u8, usize)> {
    let number = |digits: &[u8], radix| u8::from_str_radix(std::str::from_utf8(digits).ok()?, radix).ok();
    match behind {
        [b'x', digits @ ..] if digits.first().is_some_and(u8::is_ascii_hexdigit) => {
            Some((number(digits.get(..2)?, 16)?, 3))
        }
        [b'0'..=b'7', ..] => Some((number(behind.get(..3)?, 8)?, 3)),
        [letter, ..] => {
            LETTERS.iter().find(|(known, _)| known == letter).map(|(_, character)| (*character, 1))
        }
        [] => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_decoded_and_other_backslashes_stay() {
        for (text, expected) in [
            (r"queue\040full", "queue full"),
            (r"it\'s \x20\x5c\x4A", r"it's  \J"),
            (r"\a\b\f\n\r\t\v\?\\", "\x07\x08\x0c\n\r\t\x0b?\\"),
            (r"\\040", r"\040"),
            (r"\303\244", "ä"),
            (r"\04 \8 \q \x2 \xgg \x+4 \400 \", r"\04 \8 \q \x2 \xgg \x+4 \400 \"),
            (r"\", r"\"),
        ] {
            assert_eq!(String::from_utf8(decode(text.as_bytes())).unwrap(), expected, "{text}");
        }
    }
}
