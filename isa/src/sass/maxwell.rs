//! Machine code of sm_50 to sm_62, told in that of sm_70.
//!
//! The instructions of these architectures that later ones do not have are rewritten as text, each as one or a few
//! of the later ones, before anything is decoded: the condition code is four predicates, the tokens of SSY and PBK are
//! convergence barriers, and a call leaves its return address in registers of its own. What ATOMS requires of
//! its operands there is checked on the text as it is written (spec 2.3, 2.5).

mod flow;
mod step;

use crate::problem::Problem;
use crate::sass::listing::Statement;
use crate::sass::operand::{OperandKind, RegText};
use std::collections::HashMap;

/// Predicates of a thread: P0 to P6, and those that rewritten code uses.
pub(crate) const PREDICATES: u16 = 32;

/// Code rewritten.
pub(crate) struct Rewritten {
    /// Statements and labels, each on a line of its own.
    pub(crate) text: String,
    /// For each line the statement that it comes from.
    pub(crate) origin: Vec<usize>,
}

/// One statement taken apart.
struct Code<'t> {
    /// `@P0 `, with a blank behind it, or nothing.
    guard: String,
    name: &'t str,
    modifiers: Vec<&'t str>,
    operands: Vec<String>,
}

impl<'t> Code<'t> {
    fn of(statement: &Statement<'t>) -> Code<'t> {
        let text = statement.text;
        let guard = match text.strip_prefix('@').and_then(|rest| rest.split_whitespace().next()) {
            Some(guard) => format!("@{guard} "),
            None => String::new(),
        };
        let mut parts = statement.mnemonic.split('.');
        let name = parts.next().unwrap_or("");
        let operands = statement.operand_texts().map(|text| text.replace(".reuse", "")).collect();
        Code { guard, name, modifiers: parts.collect(), operands }
    }

    /// Takes a modifier, if it is there.
    fn take(&mut self, modifier: &str) -> bool {
        let at = self.modifiers.iter().position(|m| *m == modifier);
        at.map(|at| self.modifiers.remove(at)).is_some()
    }

    /// The statement with other operands or modifiers, as text.
    fn text(&self) -> String {
        let modifiers: String = self.modifiers.iter().flat_map(|m| [".", m]).collect();
        format!("{}{}{modifiers} {}", self.guard, self.name, self.operands.join(", "))
    }
}

/// Rewrites the statements of a kernel; `labels` are indices of statements.
pub(crate) fn rewritten(statements: &[Statement<'_>], labels: &HashMap<&str, u32>) -> Rewritten {
    let mut code: Vec<_> = statements.iter().map(Code::of).collect();
    let targets = flow::targets(&code, statements, labels);
    let tables = flow::tables(&code, statements, labels);
    let flow = flow::Flow::of(&code, targets, tables);
    let mut rewritten = Rewritten { text: String::new(), origin: Vec::new() };
    let mut put = |at: usize, line: &str| {
        rewritten.text += line;
        rewritten.text += if line.ends_with(':') { "\n" } else { " ;\n" };
        rewritten.origin.push(at);
    };
    let mut behind = flow::Behind::default();
    for (at, code) in code.iter_mut().enumerate() {
        put(at, &format!(".M{at}:"));
        let lines = flow.lines(at, code, &mut behind).unwrap_or_else(|| step::lines(code));
        // What is not known is told by its own name: this one is known by name only.
        lines.map_or(vec!["KILL".to_string()], |lines| lines).iter().for_each(|line| put(at, line));
    }
    behind.lines.iter().for_each(|(at, line)| put(*at, line));
    rewritten
}

/// What is wrong with the operands of an ATOMS, if anything is.
pub(crate) fn wrong_atomic(statement: &Statement<'_>) -> Option<Problem> {
    let mut parts = statement.mnemonic.split('.');
    if parts.next() != Some("ATOMS") {
        return None;
    }
    for operand in &statement.operands {
        if let OperandKind::Address(address) = &operand.kind
            && address.imm & 3 != 0
        {
            let message = format!("offset {:#x} of an ATOMS is not a multiple of 4", address.imm);
            let help = "up to sm_62 the low two bits of the immediate are zero: it is stored divided by four (spec 2.3)";
            return Some(Problem::new(operand.range.clone(), message, help));
        }
    }
    if !matches!(parts.next(), Some("CAS" | "CAST")) {
        return None;
    }
    let wide = parts.any(|part| matches!(part, "64" | "U64"));
    let (words, multiple) = if wide { (2, 4) } else { (1, 2) };
    let register = |at: usize| match statement.operands.get(at).map(|operand| (&operand.kind, &operand.range))
    {
        Some((OperandKind::Reg(RegText { uniform: false, index, .. }), range)) => {
            Some((*index, range.clone()))
        }
        _ => None,
    };
    let (rb, range) = register(2)?;
    let rule = if wide { "a multiple of four" } else { "even" };
    let Some(rb) = rb else {
        let help = format!("up to sm_62 Rb of {} is {rule}, and not RZ (spec 2.5)", statement.mnemonic);
        return Some(Problem::new(range, "Rb is RZ", help));
    };
    if !rb.is_multiple_of(multiple) {
        let help = format!(
            "up to sm_62 Rb of {} is {rule}, such as R{} (spec 2.5)",
            statement.mnemonic,
            rb - rb % multiple
        );
        return Some(Problem::new(range, format!("Rb is R{rb}"), help));
    }
    let (rc, range) = register(3)?;
    let expected = rb + words;
    let rc = rc.filter(|rc| *rc != expected)?;
    let help =
        format!("up to sm_62 Rc is R{expected}, which follows Rb, or RZ: only Rb is encoded (spec 2.5)");
    Some(Problem::new(range, format!("Rc is R{rc}, and Rb is R{rb}"), help))
}
