//! Constant bank 2, in which a compiler places the numbers and jump tables of a kernel.
//!
//! A listing of code alone does not contain the bank, but each branch through a table names its targets. The
//! targets in this order are the table.

use crate::sass::listing::{INSTRUCTION_BYTES, Statement};
use crate::sass::operand::OperandKind;
use std::collections::HashMap;

pub(crate) const BANK: u8 = 2;

const MOST_BYTES: usize = 1 << 16;

/// Reconstructs the bank from the targets that the branches name. Returns an empty bank if some read of the
/// bank remains unexplained. An entry of the table is the byte offset of the target in the listing up to
/// sm_62 (`early`), and 16 bytes times the index of the target instruction later.
pub(crate) fn of_branches(statements: &[Statement<'_>], labels: &HashMap<&str, u32>, early: bool) -> Vec<u8> {
    let place = |label: &str| {
        let index = *labels.get(label.trim())?;
        match early {
            true => u32::try_from(statements.get(index as usize)?.offset?).ok(),
            false => Some(index.wrapping_mul(INSTRUCTION_BYTES)),
        }
    };
    let mut bank: Vec<u8> = Vec::new();
    // Byte offset in the bank of the table, by the register that holds an entry of this table.
    let mut entries: HashMap<u16, usize> = HashMap::new();
    for statement in statements {
        let reads = |kind: &OperandKind<'_>| matches!(kind, OperandKind::Const(text) if text.bank == BANK);
        if statement.operands.iter().any(|o| reads(&o.kind)) {
            let Some((register, begin)) = load(statement) else { return Vec::new() };
            if entries.insert(register, begin).is_some() {
                return Vec::new();
            }
        } else if let Some((register, targets)) = branch(statement)
            && let Some(begin) = entries.remove(&register)
        {
            let Some(table) = targets.map(place).collect::<Option<Vec<u32>>>() else { return Vec::new() };
            let end = begin + 4 * table.len();
            if end > MOST_BYTES {
                return Vec::new();
            }
            bank.resize(bank.len().max(end), 0);
            for (entry, bytes) in table.into_iter().zip(bank[begin..end].chunks_exact_mut(4)) {
                bytes.copy_from_slice(&entry.to_le_bytes());
            }
        }
    }
    if entries.is_empty() { bank } else { Vec::new() }
}

/// Parses `LDC R8, c[0x2][R7+0x10]`. Returns the register that receives the table entry, and the byte offset
/// of the table.
fn load(statement: &Statement<'_>) -> Option<(u16, usize)> {
    let [destination, place] = statement.operands.as_slice() else { return None };
    match (statement.mnemonic, &destination.kind, &place.kind) {
        ("LDC", OperandKind::Reg(to), OperandKind::Const(from)) if from.index.is_some() => {
            let begin = usize::try_from(from.offset).ok().filter(|begin| *begin < MOST_BYTES)?;
            to.index.filter(|_| !to.uniform).map(|register| (register, begin))
        }
        _ => None,
    }
}

/// Parses `BRX R8 -0x280 (*"BRANCH_TARGETS .L_x_1,.L_x_2"*)`. Returns the register and the names of the
/// targets.
fn branch<'t>(statement: &Statement<'t>) -> Option<(u16, std::str::Split<'t, char>)> {
    let body = statement.text;
    let targets = body.split_once("\"BRANCH_TARGETS ")?.1.split_once('"')?.0;
    let register = body.split_once("BRX ")?.1.trim_start().strip_prefix('R')?;
    let digits = register.split(|c: char| !c.is_ascii_digit()).next()?;
    Some((digits.parse().ok()?, targets.split(',')))
}

#[cfg(test)]
mod tests {
    use crate::kernel::program::Program;

    fn bank(code: &str) -> Vec<u8> {
        let text = format!("\t.target sm_100a\n\t.section .text.k,\"ax\",@progbits\n{code}");
        let mut kernel = Program::parse("listing", &text).unwrap().kernels.remove(0);
        kernel.constants.remove(&super::BANK).unwrap_or_default().bytes
    }

    const TABLE: &str = "LDC R8, c[0x2][R7+0x4] ;\nBRX R8 -0x20 (*\"BRANCH_TARGETS .L_x_2,.L_x_1\"*) ;\n\
        .L_x_1:\nEXIT ;\n.L_x_2:\nNOP ;\n";

    #[test]
    fn tables_from_targets() {
        assert_eq!(bank(TABLE), [0, 0, 0, 0, 0x30, 0, 0, 0, 0x20, 0, 0, 0]);
        // A read of the bank that is not for a branch makes the content unknown.
        assert_eq!(bank(&format!("{TABLE}MOV R0, c[0x2][0x0] ;\n")), []);
        // The content is unknown if no branch uses the register loaded from the table.
        assert_eq!(bank("LDC R8, c[0x2][R7] ;\nEXIT ;\n"), []);
    }
}
