//! Lines of known changes, formatted without comparing with the previous value.

use super::encode::{self, Code};
use crate::SignalKind;
use crate::format::DIGITS;

/// Maximum length of a line: a letter, 64 digits, and a code.
const LINE: usize = 1 + 64 + 8;

/// Buffer of lines. The lines of a cycle go to the file as one piece. Each line is written with all possible
/// digits, and the code overwrites the excess: this is faster than a branch per digit.
#[derive(Debug)]
pub(crate) struct ChangeLines {
    signals: Vec<(SignalKind, Code)>,
    /// Buffer, which is longer than its content.
    bytes: Vec<u8>,
    length: usize,
}

impl ChangeLines {
    pub(super) fn new(signals: Vec<(SignalKind, Code)>) -> Self {
        ChangeLines { signals, bytes: Vec::new(), length: 0 }
    }

    /// Adds a line for a signal of at most 128 bits. Returns its length.
    pub(crate) fn push(&mut self, signal: usize, value: u128) -> usize {
        let (kind, code) = &self.signals[signal];
        let Ok(value) = u64::try_from(value) else { return self.push_wide(signal, value) };
        if self.bytes.len() < self.length + LINE {
            self.bytes.resize(2 * self.length + 64 * LINE, 0);
        }
        let line = &mut self.bytes[self.length..][..LINE];
        if *kind == SignalKind::Bits(1) {
            // The code directly follows the value, which overwrites the code's space.
            line[..8].copy_from_slice(&code.end);
            line[0] = b'0' + (value & 1) as u8;
            self.length += code.length;
            return code.length;
        }
        line[0] = b'b';
        // The value 0 keeps one digit.
        let zeros = value.leading_zeros().min(63);
        let (eights, _) = line[1..].as_chunks_mut::<8>();
        for (eight, byte) in eights.iter_mut().zip((value << zeros).to_be_bytes()) {
            *eight = DIGITS[usize::from(byte)];
        }
        let digits = 64 - zeros as usize;
        line[1 + digits..][..8].copy_from_slice(&code.end);
        let length = 1 + digits + code.length;
        self.length += length;
        length
    }

    #[cold]
    fn push_wide(&mut self, signal: usize, value: u128) -> usize {
        let before = self.length;
        self.bytes.truncate(before);
        encode::number(&mut self.bytes, value, &self.signals[signal].1);
        self.length = self.bytes.len();
        self.length - before
    }

    pub(crate) fn text(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    pub(crate) fn clear(&mut self) {
        self.length = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_as_values_would_be() {
        let signal = |width: u32| {
            let code = if width.is_multiple_of(2) { "!" } else { "~~~~~" };
            (SignalKind::Bits(width), Code::new(code).unwrap())
        };
        let signals: Vec<_> = (1..=128).map(signal).collect();
        let mut lines = ChangeLines::new(signals.clone());
        let mut seed = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835_u128;
        for _ in 0..2 {
            lines.clear();
            let mut expected = Vec::new();
            for (at, (kind, code)) in signals.iter().enumerate() {
                let width = at as u32 + 1;
                for zeros in [0, width / 2, width] {
                    seed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
                    let value = if zeros == width { 0 } else { (seed | 1 << 127) >> (128 - width + zeros) };
                    let before = expected.len();
                    match kind {
                        SignalKind::Bits(1) => encode::scalar(&mut expected, value == 1, code),
                        _ => encode::number(&mut expected, value, code),
                    }
                    assert_eq!(lines.push(at, value), expected.len() - before, "{width} {value:b}");
                }
            }
            assert_eq!(lines.text(), expected);
        }
    }
}
