//! Last stage of the compiler that \[NVVM\] documents: from the encoded operand word of a machine instruction
//! to the PTX mnemonic.

use super::BuiltinRefusal;
use super::refusal::refuse;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Hint {
    Absent,
    L2,
}

/// Operations, indexed by their number in the operand word, each with the letter of its PTX type. Numbers 2
/// and 4 are unassigned.
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

/// Returns the PTX mnemonic of an atomic. Bits 7:4 of `word` are the scope, bits 23:16 are the operation.
///
/// # Errors
/// The number of the scope or of the operation is unassigned, or `bytes` is not 2, 4, 8 or 16.
pub fn atom_text(word: u32, bytes: u32, hint: Hint) -> Result<String, BuiltinRefusal> {
    let scope = match (word >> 4) & 0xf {
        0 => "",
        1 => ".cta",
        2 => ".sys",
        other => {
            return refuse(
                format!("unknown scope number {other}"),
                "scopes are 0 (gpu), 1 (cta) and 2 (sys)",
            );
        }
    };
    let number = (word >> 16) & 0xff;
    let found = usize::try_from(number).ok().and_then(|n| OPERATIONS.get(n).copied().flatten());
    let Some((op, letter)) = found else {
        let message = format!("unknown atomic operation number {number:#04x}");
        return refuse(message, "operations are 0x00 to 0x0e, except 0x02 and 0x04");
    };
    if !matches!(bytes, 2 | 4 | 8 | 16) {
        return refuse(
            format!("an atomic of {bytes} bytes does not exist"),
            "the width is 2, 4, 8 or 16 bytes",
        );
    }
    let hint = match hint {
        Hint::Absent => "",
        Hint::L2 => ".L2::cache_hint",
    };
    Ok(format!("atom{scope}.{op}{hint}.{letter}{}", 8 * bytes))
}

/// Returns the PTX instruction for the operand of a memory barrier. The name `membar.gpu` is from \[NVVM\];
/// PTX itself calls this instruction `membar.gl`.
///
/// # Errors
/// The number is unassigned.
pub fn membar_text(operand: u8) -> Result<&'static str, BuiltinRefusal> {
    match operand {
        0 => Ok("membar.gpu"),
        1 => Ok("membar.cta"),
        2 => Ok("membar.sys"),
        4 => Ok("fence.sc.cluster"),
        _ => refuse(format!("Bad membar op: {operand}"), "the operand is 0, 1, 2 or 4"),
    }
}
