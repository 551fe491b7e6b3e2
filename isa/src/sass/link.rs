//! Functions that have their own code sections, as in debug builds. This module finds the functions that a
//! kernel calls, directly or indirectly.

use crate::sass::listing::Statement;
use crate::sass::operand::OperandKind;
use std::collections::{HashMap, HashSet};

/// Maximum number of instructions of functions in a listing. A function counts once for each kernel that
/// reaches it.
const MOST_INSTRUCTIONS: usize = 1 << 20;

pub(crate) struct Calls {
    named: Vec<Vec<usize>>,
    instructions: Vec<usize>,
    /// Number of instructions that may still be added to kernels. A kernel that calls functions counts `each`
    /// in addition.
    room: usize,
    each: usize,
}

impl Calls {
    /// Collects which section refers to which. `sections` are names and code of the sections, `data` are the
    /// expressions in data words. `each` is added to the number of instructions for each kernel that calls
    /// functions.
    pub(crate) fn new<'a, 't: 'a>(
        sections: impl Iterator<Item = (&'t str, &'a [Statement<'t>])>,
        data: impl Iterator<Item = &'t str>,
        each: usize,
    ) -> Calls {
        let (names, code): (Vec<&str>, Vec<&[Statement<'_>]>) = sections.unzip();
        let numbers: HashMap<&str, usize> = names.iter().enumerate().map(|(at, name)| (*name, at)).collect();
        let sections_in = |text: &'t str| {
            let words = text.split(['(', ')', '+', '`', ' ']);
            words.filter_map(|word| numbers.get(word).copied()).collect::<Vec<_>>()
        };
        let pointed: Vec<usize> = data.flat_map(sections_in).collect();
        let named = |statements: &&[Statement<'t>]| {
            let mut named: HashSet<usize> = HashSet::new();
            for statement in *statements {
                let calls = statement.mnemonic.starts_with("CALL");
                for operand in &statement.operands {
                    match operand.kind {
                        OperandKind::Label(text) | OperandKind::Name(text) => named.extend(sections_in(text)),
                        // The address of an indirect call may come from a data word.
                        OperandKind::Reg(_) if calls => named.extend(&pointed),
                        _ => {}
                    }
                }
            }
            let mut named: Vec<usize> = named.into_iter().collect();
            named.sort_unstable();
            named
        };
        let instructions = code.iter().map(|statements| statements.len()).collect();
        Calls { named: code.iter().map(named).collect(), instructions, room: MOST_INSTRUCTIONS, each }
    }

    /// Returns the section `first` and all sections that it refers to, directly or indirectly. `first` is the
    /// first element. Fails if the listing then has more than the maximum number of instructions.
    pub(crate) fn reached(&mut self, first: usize) -> Result<Vec<usize>, String> {
        let mut reached = vec![first];
        let mut seen = HashSet::from([first]);
        let mut at = 0;
        while let Some(section) = reached.get(at) {
            for next in &self.named[*section] {
                if seen.insert(*next) {
                    let each = if reached.len() == 1 { self.each } else { 0 };
                    let room = self.room.checked_sub(self.instructions[*next] + 1 + each);
                    self.room = room.ok_or_else(|| {
                        format!("functions that kernels call have more than {MOST_INSTRUCTIONS} instructions")
                    })?;
                    reached.push(*next);
                }
            }
            at += 1;
        }
        Ok(reached)
    }
}
