//! Checks of arguments, shared by the bindings. An error is the text for the caller.

use atoms_ops::{Fault, Op, Size};
use atoms_oracle::Geometry;

/// Returns `value` if it is at most `most`.
///
/// # Errors
/// Says the range of the argument `name`.
pub fn number(name: &str, value: u64, most: u8) -> Result<u8, String> {
    u8::try_from(value).ok().filter(|value| *value <= most).ok_or_else(|| range(name, value, most.into()))
}

/// Says the range of an argument.
pub fn range(name: &str, value: u64, most: u32) -> String {
    format!("`{name}` is {value}; expected 0 to {most}")
}

/// Returns the code of an operation such as `ADD` or `CAST.SPIN`.
///
/// # Errors
/// The name is unknown.
pub fn op_code(name: &str) -> Result<u8, String> {
    let op = Op::ALL.iter().find(|op| op.to_string() == name);
    op.map(|op| *op as u8).ok_or_else(|| format!("no operation is called `{name}`"))
}

/// Returns the code of a size such as `u32`.
///
/// # Errors
/// The name is unknown.
pub fn size_code(name: &str) -> Result<u8, String> {
    let size = Size::ALL.iter().find(|size| size.to_string() == name);
    size.map(|size| *size as u8).ok_or_else(|| format!("no size is called `{name}`"))
}

/// Returns the fault with this code of the response port.
///
/// # Errors
/// The code is undefined.
pub fn fault(code: u64) -> Result<Fault, String> {
    u8::try_from(code).ok().and_then(Fault::from_code).ok_or_else(|| range("fault", code, 3))
}

/// Checks the index of a word.
///
/// # Errors
/// The memory has fewer words.
pub fn word(geometry: &Geometry, word: u32) -> Result<(), String> {
    if word < geometry.words() { Ok(()) } else { Err(range("word", word.into(), geometry.words() - 1)) }
}

/// Returns the index of the word that `bank` holds in `row`: its physical byte address / 4.
///
/// # Errors
/// The memory has fewer rows or banks.
pub fn word_index(geometry: &Geometry, row: u32, bank: u32) -> Result<u32, String> {
    let Geometry { rows, banks, .. } = *geometry;
    if row >= rows || bank >= banks {
        return Err(format!("row {row}, bank {bank}: the memory has {rows} rows, {banks} banks"));
    }
    Ok(geometry.word(row, bank))
}
