//! Last stage that \[NVVM\] documents: from the operand word of a machine instruction to its mnemonic.

use super::BuiltinRefusal;
use super::refusal::refuse;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Hint {
    Absent,
    L2,
}

/// Operations by number, each with its type letter. Numbers 2 and 4 are unassigned.
const OPERATIONS: &[Option<(&str, char)>] = &[
    Some(("exch", 'b')),
    Some(("add", 'u')),
    None,
    Some(("and", 'b')),
    None,
    Some(("or", 'b')),
    Some(("xor", 'b')),
    Some(("max", 's')),
    Some(("min", 's')),
    Some(("max", 'u')),
    Some(("min", 'u')),
    Some(("add", 'f')),
    Some(("inc", 'u')),
    Some(("dec", 'u')),
    Some(("cas", 'b')),
];

/// Returns the mnemonic of an atomic. `word` has the scope in bits 7:4 and the operation in bits 23:16.
///
/// # Errors
/// An unassigned number of a scope or an operation; a width other than 2, 4, 8 or 16 bytes.
pub fn atom_text(word: u32, bytes: u32, hint: Hint) -> Result<String, BuiltinRefusal> {
    let scope = match (word >> 4) & 0xf {
        0 => "",
        1 => ".cta",
        2 => ".sys",
        other => {
            return refuse(format!("no scope has number {other}"), "0 gpu, 1 cta, 2 sys");
        }
    };
    let number = (word >> 16) & 0xff;
    let found = usize::try_from(number).ok().and_then(|n| OPERATIONS.get(n).copied().flatten());
    let Some((op, letter)) = found else {
        let message = format!("no atomic operation has number {number:#04x}");
        return refuse(message, "0x00 to 0x0e without 0x02 and 0x04");
    };
    if !matches!(bytes, 2 | 4 | 8 | 16) {
        return refuse(format!("no atomic has {bytes} bytes"), "2, 4, 8 or 16");
    }
    let hint = match hint {
        Hint::Absent => "",
        Hint::L2 => ".L2::cache_hint",
    };
    Ok(format!("atom{scope}.{op}{hint}.{letter}{}", 8 * bytes))
}

/// Returns the instruction for the operand of a memory barrier. The documentation writes `membar.gpu` for
/// `membar.gl` of PTX.
///
/// # Errors
/// An unassigned number.
pub fn membar_text(operand: u8) -> Result<&'static str, BuiltinRefusal> {
    match operand {
        0 => Ok("membar.gpu"),
        1 => Ok("membar.cta"),
        2 => Ok("membar.sys"),
        4 => Ok("fence.sc.cluster"),
        _ => refuse(format!("Bad membar op: {operand}"), "0, 1, 2 or 4"),
    }
}
