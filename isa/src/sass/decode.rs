//! From a statement to an instruction.

mod args;
mod arith;
mod barrier;
mod convert;
mod copy;
mod direct;
mod float;
mod global;
mod half;
mod logic;
mod mnemonic;
mod preds;
mod shared;
mod video;
mod warp;

pub use mnemonic::{MNEMONICS, MnemonicRow, NAMED_MNEMONICS};

use crate::arch::Arch;
use crate::kernel::instruction::Operation;
use crate::problem::Problem;
use crate::sass::listing::{INSTRUCTION_BYTES, Statement};
use crate::sass::operand::{Operand, OperandKind};
use args::Args;
use std::collections::HashMap;
use std::ops::Range;

/// Why a statement is not a decoded instruction.
pub(crate) enum Failure {
    /// It exists and is not decoded here.
    Lacking,
    /// It is wrong.
    Wrong { range: Range<usize>, message: String, help: String },
}

pub(crate) type Decoded<T> = Result<T, Failure>;

/// Instructions on shared memory that early architectures lack: mnemonic, the modifier of the form, and the first
/// architecture that has them. Source: \[TOOLS\], for which targets an assembler takes PTX that becomes them.
const FIRST: &[(&str, Option<&str>, u16)] = &[
    ("ATOMS", Some("128"), 90),
    ("ATOMS", Some("ARRIVE"), 80),
    ("ARRIVES", None, 80),
    ("LDGSTS", None, 80),
    ("LDGDEPBAR", None, 80),
    ("REDAS", None, 90),
    ("STAS", None, 90),
    ("SYNCS", None, 90),
    ("UBLKCP", None, 90),
    ("UBLKRED", None, 90),
    ("UMEMSETS", None, 100),
];

/// Names a shared-memory instruction that the architecture does not have.
pub(crate) fn too_early(statement: &Statement<'_>, arch: Arch) -> Option<Problem> {
    let mut parts = statement.mnemonic.split('.');
    let base = parts.next();
    let predicate = matches!(statement.operands.first(), Some(Operand { kind: OperandKind::Pred(_), .. }));
    if predicate && statement.mnemonic.starts_with("ATOMS.CAST") && arch.number() < 100 {
        let message = format!("{arch} has no ATOMS.CAST with a predicate as its result");
        let help = "it exists from sm_100 on: write a register (spec 3.2)";
        return Some(Problem::new(statement.mnemonic_range.clone(), message, help));
    }
    let has = |modifier: &str| parts.clone().any(|part| part == modifier);
    let row = |(name, modifier, first): &&(&str, Option<&str>, u16)| {
        base == Some(*name) && modifier.is_none_or(has) && arch.number() < *first
    };
    let (name, modifier, first) = FIRST.iter().find(row)?;
    let form = modifier.map_or_else(String::new, |modifier| format!(" with `.{modifier}`"));
    let message = format!("{arch} has no {name}{form}");
    let help = format!("it exists from sm_{first} on: name the architecture that the code was compiled for");
    Some(Problem::new(statement.mnemonic_range.clone(), message, help))
}

/// What branch targets are resolved with.
pub(crate) struct Targets<'t> {
    /// Index of the instruction after each label.
    pub(crate) labels: HashMap<&'t str, u32>,
    /// Index of the instruction at each byte offset.
    pub(crate) offsets: HashMap<u64, u32>,
    /// Number of instructions.
    pub(crate) count: u32,
    /// Index of the instruction that is decoded.
    pub(crate) at: u32,
    /// Where the listing says byte offsets, they are those of its instructions.
    pub(crate) regular: bool,
}

impl Targets<'_> {
    /// Half of a code address, as the text of relocatable code names it: `32@lo((kernel + .L_x_5@srel))`.
    pub(crate) fn code_word(&self, text: &str) -> Option<u32> {
        if !self.regular {
            return None;
        }
        let (high, sum) = match text.strip_prefix("32@lo(") {
            Some(sum) => (false, sum),
            None => (true, text.strip_prefix("32@hi(")?),
        };
        let sum = sum.trim_matches(['(', ')']);
        let terms = sum.split('+').map(|term| {
            let term = term.trim();
            self.labels.get(term.split('@').next()?.trim()).copied()
        });
        let index = terms.sum::<Option<u32>>()?;
        Some(if high { 0 } else { index.checked_mul(INSTRUCTION_BYTES)? })
    }
}

/// Decodes one statement.
pub(crate) fn decode(statement: &Statement<'_>, targets: &Targets<'_>) -> Decoded<Operation> {
    let mut parts = statement.mnemonic.split('.');
    let base = parts.next().unwrap_or("");
    let Some(row) = mnemonic::find(base) else {
        if NAMED_MNEMONICS.contains(&base) {
            return Err(Failure::Lacking);
        }
        return Err(Failure::Wrong {
            range: statement.mnemonic_range.clone(),
            message: format!("unknown mnemonic `{base}`"),
            help: format!("the nearest known one is `{}`", mnemonic::nearest(base)),
        });
    };
    if let Some(operand) = statement.uniform_beyond() {
        let last = statement.limits.uniforms - 1;
        return Err(Failure::Wrong {
            range: operand.range.clone(),
            message: format!("no uniform register beyond UR{last} on this architecture"),
            help: format!("the last one is UR{last}, or URZ; there are more from sm_100 on"),
        });
    }
    let mut args = Args::new(statement, parts.collect(), targets, row.path);
    let operation = (row.decode)(&mut args)?;
    args.finish()?;
    Ok(operation)
}
