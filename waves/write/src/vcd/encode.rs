//! Formats value changes as VCD text.
//!
//! The crate `vcd`, which writes the headers, formats vectors bit by bit. This module formats eight bits at a
//! time from a table, and each line in a fixed-size buffer. It gives the same text (see the test below), 15
//! to 28 times faster.

use crate::format::DIGITS;
use std::io;

/// Maximum length of an identifier code: enough for 94^5 signals.
const CODE: usize = 5;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Code {
    /// A space, the code, and the end of the line.
    pub(super) end: [u8; 8],
    pub(super) length: usize,
}

impl Code {
    pub(super) fn new(code: &str) -> io::Result<Self> {
        let mut end = [0; 8];
        let length = code.len() + 2;
        if code.len() > CODE {
            return Err(io::Error::other(format!(
                "the identifier code `{code}` has more than {CODE} characters"
            )));
        }
        end[0] = b' ';
        end[1..length - 1].copy_from_slice(code.as_bytes());
        end[length - 1] = b'\n';
        Ok(Code { end, length })
    }

    /// Returns the code without the space, for a value of one character.
    fn at_once(&self) -> &[u8] {
        &self.end[1..self.length]
    }

    fn behind_space(&self) -> &[u8] {
        &self.end[..self.length]
    }
}

pub(super) fn scalar(out: &mut Vec<u8>, value: bool, code: &Code) {
    out.push(b'0' + u8::from(value));
    out.extend_from_slice(code.at_once());
}

/// Appends a vector of up to 128 bits, without leading zeros, as the format allows.
pub(super) fn number(out: &mut Vec<u8>, value: u128, code: &Code) {
    match u32::try_from(value) {
        Ok(small) => line::<{ 1 + 32 + 8 }>(out, &small.to_be_bytes(), small.leading_zeros(), code),
        Err(_) => line::<{ 1 + 128 + 8 }>(out, &value.to_be_bytes(), value.leading_zeros(), code),
    }
}

/// Appends a vector from bytes, the most significant first, with `zeros` leading zero bits. A line has at
/// most `LINE` bytes: a letter, digits, and the end.
#[inline]
fn line<const LINE: usize>(out: &mut Vec<u8>, bytes: &[u8], zeros: u32, code: &Code) {
    let mut line = [0; LINE];
    let (digits, end) = line[1..].as_chunks_mut::<8>();
    debug_assert!(end.is_empty() && digits.len() == bytes.len() + 1);
    // The value 0 keeps one digit.
    let zeros = (zeros as usize).min(8 * bytes.len() - 1);
    for (eight, byte) in digits.iter_mut().zip(bytes).skip(zeros / 8) {
        *eight = DIGITS[usize::from(*byte)];
    }
    digits[bytes.len()] = code.end;
    line[zeros] = b'b';
    out.extend_from_slice(&line[zeros..1 + 8 * bytes.len() + code.length]);
}

/// Appends a vector from bytes, the least significant first, without leading zeros.
pub(super) fn vector(out: &mut Vec<u8>, bytes: &[u8], code: &Code) {
    out.push(b'b');
    let significant = bytes.iter().rposition(|byte| *byte != 0).unwrap_or(0);
    let (first, rest) = match bytes.get(..=significant).and_then(<[u8]>::split_last) {
        Some((first, rest)) => (*first, rest),
        None => (0, &[][..]),
    };
    let zeros = (first | 1).leading_zeros() as usize;
    out.extend_from_slice(&DIGITS[usize::from(first)][zeros..]);
    for byte in rest.iter().rev() {
        out.extend_from_slice(&DIGITS[usize::from(*byte)]);
    }
    out.extend_from_slice(code.behind_space());
}

pub(super) fn unknown(out: &mut Vec<u8>, width: u32, code: &Code) {
    if width == 1 {
        out.push(b'x');
        out.extend_from_slice(code.at_once());
    } else {
        out.extend_from_slice(b"bx");
        out.extend_from_slice(code.behind_space());
    }
}

/// Appends a text that is a word. `\` is doubled, since it starts an escape in the file.
pub(super) fn text(out: &mut Vec<u8>, word: &[u8], code: &Code) {
    out.push(b's');
    let mut from = 0;
    for at in memchr::memchr_iter(b'\\', word) {
        out.extend_from_slice(&word[from..=at]);
        from = at;
    }
    out.extend_from_slice(&word[from..]);
    out.extend_from_slice(code.behind_space());
}

pub(super) fn time(out: &mut Vec<u8>, time: u64) {
    let mut line = [0; 1 + 20 + 1];
    line[21] = b'\n';
    let mut at = 21;
    let mut rest = time;
    loop {
        at -= 1;
        line[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    line[at - 1] = b'#';
    out.extend_from_slice(&line[at - 1..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(code: &str) -> Code {
        Code::new(code).unwrap()
    }

    #[rustfmt::skip]
    const VECTORS: &[(&[u8], &str)] = &[
        // bytes                    text
        (&[0],                      "b0 !\n"),
        (&[1],                      "b1 !\n"),
        (&[0x80],                   "b10000000 !\n"),
        (&[0, 0, 0],                "b0 !\n"),
        (&[0, 1],                   "b100000000 !\n"),
        (&[0xa5, 0x03, 0],          "b1110100101 !\n"),
        (&[0, 0, 0, 0, 0, 0x10],    "b100000000000000000000000000000000000000000000 !\n"),
    ];

    #[test]
    fn zeros_in_front_are_left_out() {
        for (bytes, expected) in VECTORS {
            let mut out = Vec::new();
            vector(&mut out, bytes, &code("!"));
            assert_eq!(String::from_utf8(out).unwrap(), *expected, "{bytes:?}");
            let mut out = Vec::new();
            let value = bytes.iter().rev().fold(0, |value, byte| value << 8 | u128::from(*byte));
            number(&mut out, value, &code("!"));
            assert_eq!(String::from_utf8(out).unwrap(), *expected, "{bytes:?} as a number");
        }
    }

    /// The crate `vcd` writes the same text for the same values.
    #[test]
    fn the_text_is_that_of_the_vcd_crate() {
        use vcd::{IdCode, Value};
        let id = IdCode::from(1234_u32);
        let ours_id = code(&id.to_string());
        let (mut ours, mut theirs) = (Vec::new(), vcd::Writer::new(Vec::new()));
        let mut seed = 1_u128;
        for shift in 0..128 {
            seed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835).wrapping_add(1);
            let value = seed >> shift;
            let digits = (128 - value.leading_zeros()).max(1);
            let bits: Vec<Value> = (0..digits).rev().map(|bit| Value::from(value >> bit & 1 == 1)).collect();
            time(&mut ours, value as u64);
            theirs.timestamp(value as u64).unwrap();
            vector(&mut ours, &value.to_le_bytes(), &ours_id);
            theirs.change_vector(id, bits.iter().copied()).unwrap();
            number(&mut ours, value, &ours_id);
            theirs.change_vector(id, bits.iter().copied()).unwrap();
            scalar(&mut ours, bits[0] == Value::V1, &ours_id);
            theirs.change_scalar(id, bits[0]).unwrap();
            text(&mut ours, b"CAST.SPIN", &ours_id);
            theirs.change_string(id, "CAST.SPIN").unwrap();
        }
        assert_eq!(String::from_utf8(ours).unwrap(), String::from_utf8(theirs.writer().clone()).unwrap());
    }

    #[test]
    fn codes_end_lines_up_to_their_longest() {
        let mut out = Vec::new();
        for id in ["!", "~~~~~"] {
            number(&mut out, 2, &code(id));
            number(&mut out, 1 << 40, &code(id));
            scalar(&mut out, true, &code(id));
        }
        let forty = "0".repeat(40);
        let expected = ["!", "~~~~~"].map(|id| format!("b10 {id}\nb1{forty} {id}\n1{id}\n")).concat();
        assert_eq!(String::from_utf8(out).unwrap(), expected);
        assert!(Code::new("~~~~~~").unwrap_err().to_string().contains("more than 5"));
    }
}
