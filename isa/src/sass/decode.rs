//! Decoder of parsed statements to instructions.

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
use crate::kernel::program::DRIVER_CODE;
use crate::problem::Problem;
use crate::sass::listing::{INSTRUCTION_BYTES, Statement};
use crate::sass::operand::{Operand, OperandKind};
use args::Args;
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

pub(crate) enum Failure {
    Unsupported,
    Wrong { range: Range<usize>, message: String, help: String },
}

pub(crate) type Decoded<T> = Result<T, Failure>;

/// First architecture of each instruction on shared memory. A row has the mnemonic, the modifier of the form
/// (if any), and the number of the architecture. Source: \[TOOLS\], from the targets for which an assembler
/// accepts the PTX that becomes these instructions.
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

pub(crate) fn too_early(statement: &Statement<'_>, arch: Arch) -> Option<Problem> {
    let predicate = matches!(statement.operands.first(), Some(Operand { kind: OperandKind::Pred(_), .. }));
    if predicate && statement.mnemonic.starts_with("ATOMS.CAST") && arch.number() < 100 {
        let message = format!("{arch} has no ATOMS.CAST with a predicate as its result");
        let help = "this form exists from sm_100 on: write a register (spec 3.2)";
        return Some(Problem::new(statement.mnemonic_range.clone(), message, help));
    }
    let has = |modifier: &str| statement.modifiers.contains(&modifier);
    let row = |(name, modifier, first): &&(&str, Option<&str>, u16)| {
        statement.name == *name && modifier.is_none_or(has) && arch.number() < *first
    };
    let (name, modifier, first) = FIRST.iter().find(row)?;
    let form = modifier.map_or_else(String::new, |modifier| format!(" with `.{modifier}`"));
    let message = format!("{arch} has no {name}{form}");
    let help = format!("it exists from sm_{first} on: state the architecture that the code was compiled for");
    Some(Problem::new(statement.mnemonic_range.clone(), message, help))
}

#[derive(Default)]
pub(crate) struct Targets<'t> {
    /// For each label, the index in the section of the instruction after it.
    pub(crate) labels: HashMap<&'t str, u32>,
    /// For each [`OperandKind::Place`], the index in the section of the instruction that it stands for.
    pub(crate) places: Vec<u32>,
    /// For each byte offset, the index in the section of the instruction at this offset.
    pub(crate) offsets: HashMap<u64, u32>,
    pub(crate) count: u32,
    /// Index in the kernel of the first instruction of the section.
    pub(crate) base: u32,
    pub(crate) at: u32,
    pub(crate) module: Rc<HashMap<&'t str, u64>>,
    /// True if the listing states no byte offsets, or offsets that match its instructions.
    pub(crate) regular: bool,
}

impl Targets<'_> {
    pub(crate) fn address(&self, name: &str) -> Option<u64> {
        let label =
            self.labels.get(name).map(|index| u64::from(self.base + index) * u64::from(INSTRUCTION_BYTES));
        label.or_else(|| self.module.get(name).copied())
    }

    pub(crate) fn driver_function(&self, name: &str) -> Option<u32> {
        let address = u32::try_from(self.address(name)?).ok()?;
        Some(address.checked_sub(DRIVER_CODE)? / INSTRUCTION_BYTES)
    }

    /// Returns one word of a relocated code address, such as `32@lo((kernel + .L_x_5@srel))` or
    /// `32@hi(variable)`.
    pub(crate) fn code_word(&self, text: &str) -> Option<u32> {
        if !self.regular {
            return None;
        }
        let (high, sum) = match text.strip_prefix("32@lo(") {
            Some(sum) => (false, sum),
            None => (true, text.strip_prefix("32@hi(")?),
        };
        let sum = sum.trim_matches(['(', ')']);
        let mut address: u64 = 0;
        for term in sum.split('+') {
            let value = match term.trim().split_once('@') {
                Some((label, _)) => u64::from(*self.labels.get(label)?) * u64::from(INSTRUCTION_BYTES),
                None => self.address(term.trim())?,
            };
            address = address.wrapping_add(value);
        }
        Some(if high { (address >> 32) as u32 } else { address as u32 })
    }
}

pub(crate) fn decode(statement: &Statement<'_>, targets: &Targets<'_>) -> Decoded<Operation> {
    let name = statement.name;
    let Some(row) = mnemonic::find(name) else {
        if NAMED_MNEMONICS.contains(&name) {
            return Err(Failure::Unsupported);
        }
        return Err(Failure::Wrong {
            range: statement.mnemonic_range.clone(),
            message: format!("unknown mnemonic `{name}`"),
            help: format!("the nearest known one is `{}`", mnemonic::nearest(name)),
        });
    };
    if let Some(operand) = statement.uniform_beyond() {
        let last = statement.limits.uniforms - 1;
        return Err(Failure::Wrong {
            range: operand.range.clone(),
            message: format!("this architecture has no uniform register beyond UR{last}"),
            help: format!("use UR0 to UR{last} or URZ; only sm_100 and later have more"),
        });
    }
    let mut args = Args::new(statement, targets, row.path);
    let operation = (row.decode)(&mut args)?;
    args.finish()?;
    Ok(operation)
}
