//! Comparison of lowered code with the output of a real assembler for the same line.
//!
//! An assembler's listing wraps the line in a kernel that loads operands and stores results. The rows omit
//! these loads and stores. Three kinds of kernel code remain:
//! - the constant 0x40, which the kernel keeps as a spare address up to sm_89;
//! - conversion of a predicate to a number for the store (SEL, USEL and the following move);
//! - moves of operands from load registers, and of results to store registers, which another kernel does not
//!   share.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// Guard and mnemonic with modifiers. Moves and address arithmetic count only in loops.
    Mnemonics,
    /// Same as `Mnemonics`, plus operands without register and predicate numbers.
    Operands,
    /// All code except kernel code: mnemonics with modifiers, labels and branches.
    Full,
}

/// Returns the code for a comparison: one text per instruction and label.
///
/// Moves and address arithmetic are:
/// - `MOV`, `MOV.64`, `UMOV`, `IMAD.MOV.U32` and `IMAD.U32 R, RZ, RZ, UR`: copy a register or set a constant;
/// - `HFMA2 R, -RZ, RZ, high, low`: set a constant;
/// - `PLOP3.LUT P, PT, PT, PT, UP`: copy a predicate;
/// - `S2UR UR, SR_CgaCtaId` and `ULEA` by 0x18: compute the address of a variable in the CTA's allocation;
/// - `IADD3`, `IADD` and `VIADD` of a register and a constant, unless the register is subtracted: add the
///   part of an offset that does not fit in an instruction;
/// - `IADD3` with `-c[0x0][0x18]`: convert a generic address to a shared address.
///
/// In a loop, all instructions count, because there they control how lanes take turns.
pub fn seen(lines: &[String], view: View) -> Vec<String> {
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let lines: Vec<&str> = lines.into_iter().filter(|line| !is_of_the_kernel(line)).collect();
    let mut seen = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let (guard, rest) = guard(line);
        let (mnemonic, operands) = rest.split_once(' ').unwrap_or((rest, ""));
        let aside = !in_loop(&lines, at) && is_move(mnemonic, operands);
        if view != View::Full && aside {
            continue;
        }
        let target = label(operands);
        seen.push(match view {
            View::Full if mnemonic.starts_with("HFMA2") => "HFMA2".into(),
            _ if line.ends_with(':') => (*line).into(),
            View::Operands => format!("{}{mnemonic} {}", anonymous(guard), anonymous(operands)),
            _ => format!("{}{mnemonic} {}", anonymous(guard), target.unwrap_or_default()),
        });
    }
    seen
}

fn guard(line: &str) -> (&str, &str) {
    match line.starts_with('@').then(|| line.find(' ')).flatten() {
        Some(end) => line.split_at(end + 1),
        None => ("", line),
    }
}

/// Returns the label of a branch: the last operand, with or without quotes.
fn label(operands: &str) -> Option<&str> {
    let last = operands.rsplit(' ').next()?;
    let name = last.trim_start_matches("`(").trim_end_matches(')');
    let number = name.strip_prefix('L')?;
    (!number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())).then_some(name)
}

/// Removes the numbers of registers, predicates and convergence barriers.
fn anonymous(operands: &str) -> String {
    let mut text = String::new();
    let mut word = String::new();
    for c in operands.chars().chain(['\n']) {
        if c.is_ascii_alphanumeric() || c == '_' {
            word.push(c);
            continue;
        }
        let kind = word.trim_end_matches(|c: char| c.is_ascii_digit());
        text += if ["R", "UR", "P", "UP", "B"].contains(&kind) { kind } else { &word };
        word.clear();
        // Labels may have quotes around them.
        if !matches!(c, '`' | '(' | ')' | '\n') {
            text.push(c);
        }
    }
    text
}

fn in_loop(lines: &[&str], at: usize) -> bool {
    let branches_back =
        |to: &str, from: usize| lines[..from].iter().position(|line| line.strip_suffix(':') == Some(to));
    lines.iter().enumerate().skip(at).any(|(from, line)| {
        let (_, rest) = guard(line);
        rest.starts_with("BRA")
            && label(rest).and_then(|to| branches_back(to, from)).is_some_and(|start| start < at)
    })
}

fn is_of_the_kernel(line: &str) -> bool {
    let (mnemonic, operands) = line.split_once(' ').unwrap_or((line, ""));
    let constant = operands.split_once(", ").map_or("", |(_, rest)| rest);
    match mnemonic {
        "SEL" | "USEL" => constant.starts_with("RZ, 0x1, !P") || constant.starts_with("URZ, 0x1, !UP"),
        "MOV" => constant == "0x40",
        "IMAD.MOV.U32" => constant == "RZ, RZ, 0x40",
        "HFMA2.MMA" => constant == "-RZ, RZ, 0, 3.814697265625e-06",
        _ => false,
    }
}

fn is_move(mnemonic: &str, operands: &str) -> bool {
    let parts: Vec<&str> = operands.split(", ").collect();
    let base = mnemonic.split('.').next().unwrap_or("");
    match (mnemonic, base) {
        ("MOV" | "MOV.64" | "UMOV" | "IMAD.MOV.U32", _) => true,
        ("IMAD.U32", _) => parts.get(1..3) == Some(&["RZ", "RZ"]),
        (_, "HFMA2") => parts.get(1..3) == Some(&["-RZ", "RZ"]),
        (_, "PLOP3") => parts.get(4).is_some_and(|p| p.starts_with("UP") && *p != "UPT"),
        ("S2UR", _) => parts.get(1) == Some(&"SR_CgaCtaId"),
        ("ULEA", _) => parts.last() == Some(&"0x18"),
        ("IADD3" | "IADD" | "VIADD", _) => {
            let plain: Vec<&&str> = parts.iter().skip(1).filter(|p| !matches!(**p, "PT" | "RZ")).collect();
            matches!(plain[..], [register, constant]
                if register.starts_with('R')
                    && (constant.starts_with("0x") || constant.starts_with("-0x") || *constant == "-c[0x0][0x18]"))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn see(lines: &[&str], view: View) -> Vec<String> {
        seen(&lines.iter().map(|line| line.to_string()).collect::<Vec<_>>(), view)
    }

    #[test]
    fn moves_are_left_out_outside_of_loops_only() {
        let code = ["MOV R0, R2", "L0:", "@P0 MOV R7, R6", "@P0 BRA.U.ANY `(L0)", "MOV R1, R3"];
        let expected = ["L0:", "@PMOV ", "@PBRA.U.ANY L0"];
        assert_eq!(see(&code, View::Mnemonics).len(), expected.len());
        assert_eq!(see(&code, View::Full).len(), code.len());
    }

    #[test]
    fn counts_are_no_addresses() {
        let code = ["IADD3 R4, -R0, 0x100000, RZ", "IADD3 R4, PT, PT, R0, 0x1000000, RZ"];
        assert_eq!(see(&code, View::Operands), ["IADD3 R, -R, 0x100000, RZ"]);
    }

    #[test]
    fn registers_have_no_numbers() {
        let code = ["@!P1 SYNCS.ARRIVE.TRANS64.ART0 R12, [R0+URZ+0x8], R7", "ERRBAR"];
        let expected = ["@!P SYNCS.ARRIVE.TRANS64.ART0 R, [R+URZ+0x8], R", "ERRBAR "];
        assert_eq!(see(&code, View::Operands), expected);
    }
}
