//! Data sections of a listing: constant banks, variables in global memory, and shared memory of kernels.

use crate::kernel::program::{CompiledBank, ModuleVariable};
use crate::ptx::{CONSTANTS, GLOBALS};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// Maximum size of all data sections together, in bytes. It is the same as for a PTX module.
const MOST_BYTES: usize = 1 << 28;

/// Gap in bytes between the addresses of two sections of variables. It is larger than any single access.
const GAP: u64 = 256;

/// Constant banks that all kernels of a module share. Bank 3 holds variables, bank 4 holds addresses that
/// code loads.
const MODULE_BANKS: [(&str, u8); 2] = [(".nv.constant3", 3), (".nv.constant4", 4)];

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Item<'t> {
    Bytes(Vec<u8>),
    Zeros(usize),
    /// Zeros up to the next multiple of this number of bytes.
    Align(usize),
    /// A word whose value is an expression such as `name` or `(name + 0x8)`: size in bytes, expression.
    Value(usize, &'t str),
}

impl Item<'_> {
    /// Parses a directive such as `.byte 0x00, 0x01` or `.dword name`. `None` if the directive adds no
    /// content to the section.
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

struct DataSection<'t> {
    name: &'t str,
    bytes: Vec<u8>,
    symbols: Vec<(&'t str, usize)>,
    /// Words whose value is an expression with symbols: byte offset, size in bytes, expression.
    values: Vec<(usize, usize, &'t str)>,
}

#[derive(Default)]
pub(crate) struct DataSections<'t> {
    sections: Vec<DataSection<'t>>,
    total: usize,
}

impl<'t> DataSections<'t> {
    pub(crate) fn begin(&mut self, name: &'t str) {
        self.sections.push(DataSection { name, bytes: Vec::new(), symbols: Vec::new(), values: Vec::new() });
    }

    /// Appends content to the current section. Content beyond [`MOST_BYTES`] is dropped.
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

    pub(crate) fn label(&mut self, name: &'t str) {
        if let Some(section) = self.sections.last_mut() {
            section.symbols.push((name, section.bytes.len()));
        }
    }

    fn of_kernel(&self, before: &str, kernel: &str) -> Option<&DataSection<'t>> {
        self.sections.iter().find(|s| s.name.strip_prefix(before) == Some(kernel))
    }

    /// Returns the static shared memory of a kernel in bytes, including the bytes before it that the system
    /// reserves. If the listing has the kernel's parameters but no section for shared memory, the size is
    /// zero. `None` if it has neither.
    pub(crate) fn shared(&self, kernel: &str) -> Option<u32> {
        match self.of_kernel(".nv.shared.", kernel) {
            // The size is rounded up, because code may access a 16-byte vector that begins in the last bytes.
            Some(section) => u32::try_from(section.bytes.len().next_multiple_of(16)).ok(),
            None => self.of_kernel(".nv.constant0.", kernel).map(|_| 0),
        }
    }

    pub(crate) fn expressions(&self) -> impl Iterator<Item = &'t str> {
        self.sections.iter().flat_map(|section| section.values.iter().map(|(_, _, expression)| *expression))
    }

    /// Assigns addresses to the variables of the module, and fills its constant banks. `addresses` has the
    /// addresses of the code.
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

    /// Returns constant bank 2 of a kernel. The bank may contain code addresses; `labels` has the byte
    /// address of each label.
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
    /// Returns each variable with its range of bytes, which ends at the next symbol or local label.
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

    /// Evaluates an expression in a data word: `name`, `name@srel`, `(name + 0x8)`, or
    /// `fun@R_CUDA_G64(name)`, which is a generic address.
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
