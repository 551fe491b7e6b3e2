//! Names that are visible in the function being parsed, for each open block `{ ... }`.

use super::ast::{Function, LabelId, Operand, RegId};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

pub(super) const SUGGESTIONS: usize = 500;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    Register(RegId),
    /// A vector register: its first element and the number of elements.
    Vector(RegId, u8),
    Variable(u32),
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Target {
    Label(LabelId),
    Table(u32),
    Other,
}

#[derive(Clone, Copy, Debug)]
struct Family {
    first: RegId,
    count: u32,
}

/// Use of a name that may be a label. It is resolved at the end of a block.
#[derive(Clone, Debug)]
pub(super) struct Reference<'t> {
    pub(super) name: &'t str,
    pub(super) range: Range<usize>,
    /// Byte offset, if `+` and a number follow the name. The name is then not a label.
    pub(super) offset: Option<i64>,
    pub(super) site: Site,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// Operand of an ordinary instruction: a name is a variable, or a label if there is no such variable.
    Plain,
    /// Operand of `bra`: a name is a label.
    Branch,
    /// Operand of `call`: a name may also be a function or a prototype.
    Call,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Site {
    Operand { instruction: u32, label: LabelId, flow: Flow },
    Table { table: u32, entry: u32 },
}

#[derive(Debug, Default)]
pub(super) struct Scope<'t> {
    names: HashMap<&'t str, Entry>,
    families: HashMap<&'t str, Family>,
    /// True if a register family such as `%r1<8>` has a prefix that ends in a digit. The prefix and the
    /// number in a register name are then ambiguous.
    digits: bool,
    pub(super) labels: HashMap<&'t str, Target>,
    /// References in this block and its inner blocks that are not resolved yet.
    pub(super) pending: Vec<Reference<'t>>,
    pub(super) open: Range<usize>,
}

impl<'t> Scope<'t> {
    pub(super) fn new(open: Range<usize>) -> Scope<'t> {
        Scope { open, ..Scope::default() }
    }

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

    /// Declares a name in this block. Returns false if the block declares it already.
    pub(super) fn declare(&mut self, name: &'t str, entry: Entry) -> bool {
        self.find(name).is_none() && self.names.insert(name, entry).is_none()
    }

    /// Declares the registers `prefix0`, `prefix1` and so on, `count` of them. Returns false if the block
    /// already declares one of these names.
    pub(super) fn declare_family(&mut self, prefix: &'t str, first: RegId, count: u32) -> bool {
        let ends_in_digit = prefix.ends_with(|c: char| c.is_ascii_digit());
        let taken = self.families.contains_key(prefix)
            || if ends_in_digit || self.digits || self.names.len() > count as usize {
                (0..count).any(|n| self.find(&format!("{prefix}{n}")).is_some())
            } else {
                // Usually the only other names are a few parameters, so this search is fast.
                self.names.keys().any(|name| {
                    name.strip_prefix(prefix).and_then(number).is_some_and(|number| number < count)
                })
            };
        self.digits |= ends_in_digit;
        !taken && self.families.insert(prefix, Family { first, count }).is_none()
    }

    /// Name of the last register of the family to which `name` would belong.
    pub(super) fn last_of_family(&self, name: &str) -> Option<String> {
        let prefix = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let family = self.families.get(prefix).filter(|f| f.count > 0)?;
        Some(format!("{prefix}{}", family.count - 1))
    }

    /// Names of this block that a message may suggest instead of an unknown name.
    pub(super) fn names(&self, wanted: impl Fn(&Entry) -> bool) -> impl Iterator<Item = &'t str> {
        self.names.iter().filter(move |(_, entry)| wanted(entry)).map(|(name, _)| *name)
    }

    pub(super) fn prefixes(&self) -> impl Iterator<Item = &'t str> {
        self.families.keys().copied()
    }
}

pub(super) type Found<'t> = (u32, LabelId, Operand<'t>);

#[derive(Debug, Default)]
pub(super) struct Body<'t> {
    pub(super) function: Function<'t>,
    pub(super) scopes: Vec<Scope<'t>>,
    pub(super) reported: HashSet<&'t str>,
    placeholders: u32,
    /// File number and line of the last `.loc` directive.
    pub(super) position: Option<(u32, u32)>,
    pub(super) found: Vec<Found<'t>>,
}

impl<'t> Body<'t> {
    pub(super) fn new(function: Function<'t>, open: Range<usize>) -> Body<'t> {
        Body { function, scopes: vec![Scope::new(open)], ..Body::default() }
    }

    #[inline]
    pub(super) fn find(&self, name: &str) -> Option<Entry> {
        self.scopes.iter().rev().find_map(|scope| scope.find(name))
    }

    pub(super) fn scope(&mut self) -> &mut Scope<'t> {
        if self.scopes.is_empty() {
            self.scopes.push(Scope::default());
        }
        let last = self.scopes.len() - 1;
        &mut self.scopes[last]
    }

    pub(super) fn placeholder(&mut self) -> LabelId {
        self.placeholders += 1;
        // Placeholder labels are numbered downwards from the maximum. No function has enough labels to reach
        // these numbers.
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

/// Parses the number of a register in a family, which follows the prefix. `07` is not a number, because %r07
/// is not %r7.
fn number(digits: &str) -> Option<u32> {
    let canonical = !digits.starts_with('0') || digits.len() == 1;
    (canonical && digits.bytes().all(|b| b.is_ascii_digit())).then(|| digits.parse().ok()).flatten()
}
