//! Rewrites machine code of sm_50 to sm_62 to machine code of sm_70, before the decoder.
//!
//! Each instruction that sm_70 does not have becomes one or several sm_70 instructions. The condition code
//! becomes three predicates. The tokens that SSY and PBK push on a stack become convergence barriers. A call
//! stores its return address in additional registers. [`wrong_atomic`] checks the operand rules of ATOMS on
//! these architectures (spec 2.3, 2.5).

mod flow;
mod step;

use crate::kernel::register::PredSource;
use crate::problem::Problem;
use crate::sass::listing::Statement;
use crate::sass::operand::OperandKind;
use std::collections::HashMap;

/// Number of predicates of a thread: P0 to P6, and further ones that only the rewritten code uses.
pub(crate) const PREDICATES: u16 = 32;

/// Rewrites the statements of a kernel. `labels` are indices of statements. Also returns the new index of
/// each position that an [`OperandKind::Place`] can name: each original statement, the end of the code, and
/// positions in the code that the rewrite appends.
pub(crate) fn rewritten<'t>(
    statements: &[Statement<'t>],
    labels: &HashMap<&str, u32>,
) -> (Vec<Statement<'t>>, Vec<u32>) {
    let flow = flow::Flow::of(statements, labels);
    let (mut code, mut places) = (Vec::new(), Vec::new());
    let mut behind = flow::Behind::new(statements.len() + 1);
    for (at, statement) in statements.iter().enumerate() {
        places.push(code.len() as u32);
        let lines = match flow::directs(statement.name) {
            true => flow.lines(at, statement, &mut behind),
            false => step::rewritten(statement),
        };
        // A statement that cannot be rewritten becomes KILL, which is a known mnemonic that is not decoded,
        // and so is reported as unsupported.
        code.extend(lines.unwrap_or_else(|| vec![statement.replaced(PredSource::TRUE, &["KILL"], &[])]));
    }
    let (before, all) = (code.len() as u32, code.len() + behind.code.len());
    places.push(all as u32);
    places.extend(behind.places.iter().map(|place| before + place));
    code.extend(behind.code);
    (code, places)
}

pub(crate) fn wrong_atomic(statement: &Statement<'_>) -> Option<Problem> {
    if statement.name != "ATOMS" {
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
    let [operation, others @ ..] = &statement.modifiers[..] else { return None };
    if !matches!(*operation, "CAS" | "CAST") {
        return None;
    }
    let wide = others.iter().any(|part| matches!(*part, "64" | "U64"));
    let (words, multiple) = if wide { (2, 4) } else { (1, 2) };
    let register = |at: usize| {
        let operand = statement.operands.get(at)?;
        let register = operand.kind.try_as_reg_ref().filter(|register| !register.uniform)?;
        Some((register.index, operand.range.clone()))
    };
    let mnemonic = statement.mnemonic;
    let (rb, range) = register(2)?;
    let rule = if wide { "a multiple of four" } else { "even" };
    let Some(rb) = rb else {
        let help = format!("up to sm_62 Rb of {mnemonic} is {rule}, and not RZ (spec 2.5)");
        return Some(Problem::new(range, "Rb is RZ", help));
    };
    if !rb.is_multiple_of(multiple) {
        let such = rb - rb % multiple;
        let help = format!("up to sm_62 Rb of {mnemonic} is {rule}, such as R{such} (spec 2.5)");
        return Some(Problem::new(range, format!("Rb is R{rb}"), help));
    }
    let (rc, range) = register(3)?;
    let expected = rb + words;
    let rc = rc.filter(|rc| *rc != expected)?;
    let help =
        format!("up to sm_62 Rc is R{expected}, which follows Rb, or RZ: only Rb is encoded (spec 2.5)");
    Some(Problem::new(range, format!("Rc is R{rc}, and Rb is R{rb}"), help))
}
