//! Digits of a number in a wave: `0`, `1`, `x`, `z`, the most significant first.
//!
//! A file may write fewer digits than the signal is wide; the format defines the extension. The shortest form
//! is unique, so values of two files can be compared without extension.

/// Maps characters to digits; 0 means not a digit. The additional states of `std_ulogic` map to the nearest
/// digit: weak levels to 0 or 1; unknown, uninitialized and don't care to `x`.
const DIGITS: [u8; 256] = {
    let mut table = [0; 256];
    let mut at = 0;
    let pairs = b"00 11 xx XX zz ZZ ux UX wx WX l0 L0 h1 H1 -x";
    let pairs = *pairs;
    while at < pairs.len() {
        table[pairs[at] as usize] = match pairs[at + 1] {
            b'X' => b'x',
            b'Z' => b'z',
            digit => digit,
        };
        at += 3;
    }
    table
};

pub(super) fn is_digit(character: u8) -> bool {
    DIGITS[usize::from(character)] != 0
}

/// Shortens digits in place. Returns the index of the first digit that remains.
///
/// # Errors
/// The first character that is not a digit.
pub(super) fn shorten(digits: &mut [u8]) -> Result<usize, u8> {
    for digit in digits.iter_mut() {
        let known = DIGITS[usize::from(*digit)];
        if known == 0 {
            return Err(*digit);
        }
        *digit = known;
    }
    let mut from = 0;
    while let [first, second, ..] = digits[from..] {
        // Extension rules: 0 before 0 and 1, x before x, z before z.
        let given_back = first == second || first == b'0' && second == b'1';
        if !given_back || first == b'1' {
            break;
        }
        from += 1;
    }
    Ok(from)
}

/// Returns the digit that extends a shortened number.
fn filler(digits: &[u8]) -> u8 {
    match digits.first() {
        Some(unknown @ (b'x' | b'z')) => *unknown,
        Some(_) | None => b'0',
    }
}

pub(crate) fn digit(digits: &[u8], bit: u32) -> u8 {
    digits.iter().nth_back(bit as usize).copied().unwrap_or_else(|| filler(digits))
}

pub(super) fn extend(digits: &[u8], width: u32) -> String {
    let filler = char::from(filler(digits));
    let missing = (width as usize).saturating_sub(digits.len());
    let filling = std::iter::repeat_n(filler, missing);
    filling.chain(digits.iter().map(|digit| char::from(*digit))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[rustfmt::skip]
    const SHORT: &[(&str, &str)] = &[
        // written        shortest
        ("0",             "0"),
        ("0000",          "0"),
        ("0001",          "1"),
        ("1100",          "1100"),
        ("0x1",           "0x1"),
        ("00x1",          "0x1"),
        ("xxx1",          "x1"),
        ("XXXX",          "x"),
        ("zz0",           "z0"),
        ("ZZ",            "z"),
        ("0z",            "0z"),
        ("UUUU",          "x"),
        ("LH",            "1"),
        ("-1",            "x1"),
    ];

    #[test]
    fn equal_numbers_have_one_shortest_form_and_it_extends_to_all_digits() {
        for (written, shortest) in SHORT {
            let mut digits = written.as_bytes().to_vec();
            let from = shorten(&mut digits).unwrap();
            assert_eq!(std::str::from_utf8(&digits[from..]).unwrap(), *shortest, "{written}");
            let whole = String::from_utf8(digits.clone()).unwrap();
            assert_eq!(extend(&digits[from..], written.len() as u32), whole, "{written}");
            let each = (0..written.len() as u32).rev().map(|bit| char::from(digit(&digits[from..], bit)));
            assert_eq!(each.collect::<String>(), whole, "{written}");
        }
        assert_eq!(extend(b"x1", 4), "xxx1");
        assert_eq!(extend(b"1", 4), "0001");
    }

    #[test]
    fn other_characters_are_refused() {
        assert_eq!(shorten(&mut b"102".to_vec()), Err(b'2'));
        assert!(is_digit(b'Z') && !is_digit(b'r') && !is_digit(b' '));
    }
}
