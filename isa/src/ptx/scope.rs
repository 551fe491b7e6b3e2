//! The function being read: its blocks `{ ... }`, and what names in them stand for.

use super::ast::{Function, LabelId, Operand, RegId};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// So many names are looked at for what may be meant by another.
pub(super) const SUGGESTIONS: usize = 500;

/// What a name is declared as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    Register(RegId),
    /// A vector register: so many registers, from this one on.
    Vector(RegId, u8),
    /// A variable of the function.
    Variable(u32),
}

/// What a label stands before.
#[derive(Clone, Copy, Debug)]
pub(super) enum Target {
    Label(LabelId),
    /// `.branchtargets`
    Table(u32),
    /// `.callprototype` or `.calltargets`
    Other,
}

/// Registers declared together: `%r<31>`.
#[derive(Clone, Copy, Debug)]
struct Family {
    first: RegId,
    count: u32,
}

/// Where a label was named before it was known.
#[derive(Clone, Debug)]
pub(super) struct Reference<'t> {
    pub(super) name: &'t str,
    pub(super) range: Range<usize>,
    /// Bytes added, if a `+` follows: then it is no label.
    pub(super) offset: Option<i64>,
    pub(super) site: Site,
}

/// What the opcode says about names among its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// Names are variables or, if there is none, labels.
    Plain,
    /// `bra`: names are labels.
    Branch,
    /// `call`: names may be functions and prototypes.
    Call,
}

/// What a label is patched into.
#[derive(Clone, Copy, Debug)]
pub(super) enum Site {
    /// The operand of this instruction that is the label with this number.
    Operand { instruction: u32, label: LabelId, flow: Flow },
    /// The entry of a table of branch targets.
    Table { table: u32, entry: u32 },
}

/// Names of one block.
#[derive(Debug, Default)]
pub(super) struct Scope<'t> {
    names: HashMap<&'t str, Entry>,
    families: HashMap<&'t str, Family>,
    /// True if the beginning of a family ends in a digit: then a name may be split in several ways.
    digits: bool,
    pub(super) labels: HashMap<&'t str, Target>,
    /// Labels named here or in blocks inside, not found yet.
    pub(super) pending: Vec<Reference<'t>>,
    /// Where the block begins.
    pub(super) open: Range<usize>,
}

impl<'t> Scope<'t> {
    pub(super) fn new(open: Range<usize>) -> Scope<'t> {
        Scope { open, ..Scope::default() }
    }

    /// What the name is declared as in this block.
    pub(super) fn find(&self, name: &str) -> Option<Entry> {
        if !self.families.is_empty()
            && let Some(register) = self.member(name)
        {
            return Some(Entry::Register(register));
        }
        if self.names.is_empty() { None } else { self.names.get(name).copied() }
    }

    fn member(&self, name: &str) -> Option<RegId> {
        let digits = name.bytes().rev().take(9).take_while(u8::is_ascii_digit).count();
        let shortest = if self.digits { 1 } else { digits.max(1) };
        (shortest..=digits).rev().find_map(|length| {
            let (prefix, digits) = name.split_at(name.len() - length);
            let number = number(digits)?;
            let family = self.families.get(prefix)?;
            (number < family.count).then(|| RegId(family.first.0 + number))
        })
    }

    /// Declares a name; false if it is declared in this block already.
    pub(super) fn declare(&mut self, name: &'t str, entry: Entry) -> bool {
        self.find(name).is_none() && self.names.insert(name, entry).is_none()
    }

    /// Declares registers from `prefix0` on; false if one of them is declared in this block already.
    pub(super) fn declare_family(&mut self, prefix: &'t str, first: RegId, count: u32) -> bool {
        let ends_in_digit = prefix.ends_with(|c: char| c.is_ascii_digit());
        let taken = self.families.contains_key(prefix)
            || if ends_in_digit || self.digits || self.names.len() > count as usize {
                (0..count).any(|n| self.find(&format!("{prefix}{n}")).is_some())
            } else {
                // The usual case: names are parameters, and few.
                self.names.keys().any(|name| {
                    name.strip_prefix(prefix).and_then(number).is_some_and(|number| number < count)
                })
            };
        self.digits |= ends_in_digit;
        !taken && self.families.insert(prefix, Family { first, count }).is_none()
    }

    /// The last register of the family that the name, cut before its number, is of.
    pub(super) fn last_of_family(&self, name: &str) -> Option<String> {
        let prefix = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let family = self.families.get(prefix).filter(|f| f.count > 0)?;
        Some(format!("{prefix}{}", family.count - 1))
    }

    /// Names declared, for what may be meant by another.
    pub(super) fn names(&self, wanted: impl Fn(&Entry) -> bool) -> impl Iterator<Item = &'t str> {
        self.names.iter().filter(move |(_, entry)| wanted(entry)).map(|(name, _)| *name)
    }

    /// Beginnings of families.
    pub(super) fn prefixes(&self) -> impl Iterator<Item = &'t str> {
        self.families.keys().copied()
    }
}

/// A label that was named before it was known: instruction, placeholder, what it is.
pub(super) type Found<'t> = (u32, LabelId, Operand<'t>);

/// The function being read.
#[derive(Debug, Default)]
pub(super) struct Body<'t> {
    pub(super) function: Function<'t>,
    /// Blocks around the place being read, the function's own first.
    pub(super) scopes: Vec<Scope<'t>>,
    /// Names that have been reported as not declared.
    pub(super) reported: HashSet<&'t str>,
    /// Numbers given to labels that are not known yet.
    placeholders: u32,
    pub(super) found: Vec<Found<'t>>,
}

impl<'t> Body<'t> {
    pub(super) fn new(function: Function<'t>, open: Range<usize>) -> Body<'t> {
        Body { function, scopes: vec![Scope::new(open)], ..Body::default() }
    }

    /// What a name is declared as, in the innermost block that declares it.
    #[inline]
    pub(super) fn find(&self, name: &str) -> Option<Entry> {
        self.scopes.iter().rev().find_map(|scope| scope.find(name))
    }

    /// The innermost block.
    pub(super) fn scope(&mut self) -> &mut Scope<'t> {
        if self.scopes.is_empty() {
            self.scopes.push(Scope::default());
        }
        let last = self.scopes.len() - 1;
        &mut self.scopes[last]
    }

    /// A number for a label that is not known yet.
    pub(super) fn placeholder(&mut self) -> LabelId {
        self.placeholders += 1;
        // No function has so many labels.
        LabelId(u32::MAX - self.placeholders)
    }

    pub(super) fn names(&self, wanted: impl Fn(&Entry) -> bool + Copy) -> impl Iterator<Item = &'t str> {
        self.scopes.iter().rev().flat_map(move |scope| scope.names(wanted)).take(SUGGESTIONS)
    }

    pub(super) fn prefixes(&self) -> impl Iterator<Item = &'t str> {
        self.scopes.iter().rev().flat_map(Scope::prefixes).take(SUGGESTIONS)
    }

    pub(super) fn last_of_family(&self, name: &str) -> Option<String> {
        self.scopes.iter().rev().find_map(|scope| scope.last_of_family(name))
    }
}

/// The number of a register of a family, after what they begin with. `07` is none: %r07 is not %r7.
fn number(digits: &str) -> Option<u32> {
    let canonical = !digits.starts_with('0') || digits.len() == 1;
    (canonical && digits.bytes().all(|b| b.is_ascii_digit())).then(|| digits.parse().ok()).flatten()
}
