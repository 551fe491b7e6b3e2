//! Sections of data in a listing: constant banks, variables in global memory, shared memory of a kernel.

use crate::kernel::program::{CompiledBank, ModuleVariable};
use crate::ptx::{CONSTANTS, GLOBALS};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// Most bytes of all sections together: as of a PTX module.
const MOST_BYTES: usize = 1 << 28;

/// Between two sections of variables lies so much that no access gets from one into the other.
const GAP: u64 = 256;

/// Constant banks of a module, which all of its kernels read: variables, and addresses that code takes from there.
const MODULE_BANKS: [(&str, u8); 2] = [(".nv.constant3", 3), (".nv.constant4", 4)];

/// What one directive puts into a section.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Item<'t> {
    /// These bytes.
    Bytes(Vec<u8>),
    /// Zeros, by their number of bytes.
    Zeros(usize),
    /// Zeros up to a multiple of this number of bytes.
    Align(usize),
    /// A word of so many bytes whose value is that of an expression such as `name` or `(name + 0x8)`.
    Value(usize, &'t str),
}

impl Item<'_> {
    /// What a directive such as `.byte 0x00, 0x01` or `.dword name` stands for; `None` if it puts nothing there.
    pub(crate) fn read<'t>(directive: &str, values: &'t str) -> Option<Item<'t>> {
        let bytes = match directive {
            ".byte" => 1,
            ".short" | ".hword" | ".2byte" => 2,
            ".word" | ".4byte" => 4,
            ".dword" | ".quad" | ".8byte" => 8,
            ".zero" | ".align" => {
                let count = usize::try_from(number(values)?).ok()?.min(MOST_BYTES);
                return Some(if directive == ".zero" { Item::Zeros(count) } else { Item::Align(count) });
            }
            _ => return None,
        };
        let each = values.split(',').map(|value| Some(number(value)?.to_le_bytes()));
        match each.collect::<Option<Vec<_>>>() {
            Some(words) => Some(Item::Bytes(words.iter().flat_map(|word| &word[..bytes]).copied().collect())),
            None => Some(Item::Value(bytes, values.trim())),
        }
    }
}

fn number(text: &str) -> Option<u64> {
    let text = text.trim();
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// A section as far as it is read.
struct DataSection<'t> {
    name: &'t str,
    bytes: Vec<u8>,
    /// Names and where in the section they stand.
    symbols: Vec<(&'t str, usize)>,
    /// Words whose value is not written there: offset, bytes, expression.
    values: Vec<(usize, usize, &'t str)>,
}

/// All sections of data of a listing.
#[derive(Default)]
pub(crate) struct DataSections<'t> {
    sections: Vec<DataSection<'t>>,
    /// Bytes of all of them.
    total: usize,
}

impl<'t> DataSections<'t> {
    pub(crate) fn begin(&mut self, name: &'t str) {
        self.sections.push(DataSection { name, bytes: Vec::new(), symbols: Vec::new(), values: Vec::new() });
    }

    /// Adds to the section that was begun last; what is beyond [`MOST_BYTES`] is left out.
    pub(crate) fn put(&mut self, item: Item<'t>) {
        let Some(section) = self.sections.last_mut() else { return };
        let at = section.bytes.len();
        let count = match &item {
            Item::Bytes(bytes) => bytes.len(),
            Item::Zeros(count) => *count,
            Item::Align(multiple) => at.next_multiple_of((*multiple).max(1)) - at,
            Item::Value(bytes, _) => *bytes,
        };
        if count > MOST_BYTES - self.total {
            return;
        }
        self.total += count;
        match item {
            Item::Bytes(bytes) => section.bytes.extend(bytes),
            Item::Zeros(_) | Item::Align(_) => section.bytes.resize(at + count, 0),
            Item::Value(_, expression) => {
                section.values.push((at, count, expression));
                section.bytes.resize(at + count, 0);
            }
        }
    }

    /// A label in the section that was begun last.
    pub(crate) fn label(&mut self, name: &'t str) {
        if let Some(section) = self.sections.last_mut() {
            section.symbols.push((name, section.bytes.len()));
        }
    }

    /// The section of this name for a kernel: `.nv.shared.NAME`.
    fn of_kernel(&self, before: &str, kernel: &str) -> Option<&DataSection<'t>> {
        self.sections.iter().find(|s| s.name.strip_prefix(before) == Some(kernel))
    }

    /// Bytes of static shared memory of a kernel, with those that the architecture reserves before them. A listing
    /// that has a kernel's parameters and no such section says that there is none.
    pub(crate) fn shared(&self, kernel: &str) -> Option<u32> {
        match self.of_kernel(".nv.shared.", kernel) {
            // Code reads whole vectors at the end of it.
            Some(section) => u32::try_from(section.bytes.len().next_multiple_of(16)).ok(),
            None => self.of_kernel(".nv.constant0.", kernel).map(|_| 0),
        }
    }

    /// Words whose value is that of an expression.
    pub(crate) fn expressions(&self) -> impl Iterator<Item = &'t str> {
        self.sections.iter().flat_map(|section| section.values.iter().map(|(_, _, expression)| *expression))
    }

    /// Places the variables beside the code at `addresses`, and gives the constant banks of the module.
    pub(crate) fn place(&self, mut addresses: HashMap<&'t str, u64>) -> Placed<'t> {
        let mut placed = Placed::default();
        let mut next = [GLOBALS.start, CONSTANTS.start];
        let mut variables = Vec::new();
        for section in &self.sections {
            let constant = section.name == ".nv.constant3";
            if !constant && section.name != ".nv.global" && section.name != ".nv.global.init" {
                continue;
            }
            let base = &mut next[usize::from(constant)];
            addresses.extend(section.symbols.iter().map(|(name, at)| (*name, *base + *at as u64)));
            variables.push((section, *base, constant));
            *base = (*base + section.bytes.len() as u64 + GAP).next_multiple_of(GAP);
        }
        placed.addresses = Rc::new(addresses);
        for (section, base, constant) in variables {
            let bank = placed.bank(section, &HashMap::new());
            placed.variables.extend(section.variables().map(|(name, range)| ModuleVariable {
                name: name.into(),
                address: base + range.start as u64,
                bytes: bank.bytes.get(range).unwrap_or(&[]).to_vec(),
                constant,
            }));
        }
        for (name, number) in MODULE_BANKS {
            if let Some(section) = self.sections.iter().find(|s| s.name == name) {
                let bank = placed.bank(section, &HashMap::new());
                placed.banks.insert(number, bank);
            }
        }
        placed
    }

    /// Constant bank 2 of a kernel, which may hold addresses of its code: `labels`, in bytes.
    pub(crate) fn bank_of(
        &self,
        kernel: &str,
        placed: &Placed<'t>,
        labels: &HashMap<&str, u64>,
    ) -> Option<CompiledBank> {
        self.of_kernel(".nv.constant2.", kernel).map(|section| placed.bank(section, labels))
    }
}

impl<'t> DataSection<'t> {
    /// Names with the bytes that are theirs: up to the next name, or a local label.
    fn variables(&self) -> impl Iterator<Item = (&'t str, std::ops::Range<usize>)> {
        let own = |name: &str| name.starts_with(".L_") || name == self.name;
        self.symbols.iter().filter(move |(name, _)| !own(name)).map(|(name, start)| {
            let ends = self.symbols.iter().map(|(_, at)| *at).filter(|at| at > start);
            (*name, *start..ends.min().unwrap_or(self.bytes.len()))
        })
    }
}

/// Addresses of variables and code, and the content of the module's constant banks.
#[derive(Clone, Default)]
pub(crate) struct Placed<'t> {
    pub(crate) addresses: Rc<HashMap<&'t str, u64>>,
    pub(crate) variables: Vec<ModuleVariable>,
    pub(crate) banks: BTreeMap<u8, CompiledBank>,
}

impl Placed<'_> {
    /// The content of a section with the values that are told by name filled in.
    fn bank(&self, section: &DataSection<'_>, labels: &HashMap<&str, u64>) -> CompiledBank {
        let mut bank = CompiledBank { bytes: section.bytes.clone(), unknown: Vec::new() };
        for (at, bytes, expression) in &section.values {
            match self.value(expression, labels) {
                Some(value) => {
                    let place = bank.bytes.iter_mut().skip(*at).take(*bytes);
                    place.zip(value.to_le_bytes()).for_each(|(to, from)| *to = from);
                }
                None => bank.unknown.push((*at as u32, *bytes as u32, (*expression).into())),
            }
        }
        bank
    }

    /// `name`, `name@srel`, `(name + 0x8)`, `fun@R_CUDA_G64(name)` for a generic address
    fn value(&self, expression: &str, labels: &HashMap<&str, u64>) -> Option<u64> {
        let expression = expression.strip_prefix("fun@R_CUDA_G64").unwrap_or(expression);
        let terms = expression.trim_matches(['(', ')', '`']).split('+').map(|term| {
            let term = term.trim();
            let name = term.split('@').next().unwrap_or(term);
            number(term).or_else(|| self.addresses.get(name).or_else(|| labels.get(name)).copied())
        });
        terms.sum()
    }
}
