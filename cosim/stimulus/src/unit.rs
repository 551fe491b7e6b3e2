//! Declaration of a unit that is not this project's: operations, sizes, ports and rules.

use std::path::{Path, PathBuf};

use atoms_model::port::In;
use atoms_ops::{Op, Size};
use serde::Deserialize;

use crate::profile::weights::{Choice, Share, Span, Weights};
use crate::profile::{Faults, Profile, Scale};

/// File name of the declaration in an RTL folder.
pub const UNIT_FILE: &str = "unit.toml";

/// What a unit with the ports of `atoms_unit` supports. `docs/bring-your-own.md` describes the file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForeignUnit {
    /// Name of the unit, and of its configuration.
    pub name: String,
    /// SystemVerilog module with the ports.
    pub module: String,
    /// Sources in compilation order, relative to the file.
    pub sources: Vec<PathBuf>,
    /// Configuration or point with the lanes, banks, rows and CTA slots of the unit.
    pub config: String,
    /// Operations that the unit carries out. No other is sent.
    pub operations: Weights<Op>,
    /// Sizes that the unit carries out. No other is sent.
    pub sizes: Weights<Size>,
    /// Absolute path of the declaration that this one is a copy of.
    pub file: Option<PathBuf>,
    /// Macros of the sources: `NAME` or `NAME=VALUE`.
    #[serde(default)]
    pub defines: Vec<String>,
    /// Optional ports.
    #[serde(default)]
    pub ports: ForeignPorts,
    /// Optional rules.
    #[serde(default)]
    pub rules: ForeignRules,
}

/// Optional ports of a unit. A port that is missing is never used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ForeignPorts {
    /// True if the unit has a cluster port.
    pub cluster: bool,
    /// True if the unit has a CTA table. False: slot 0 has all of memory.
    pub table: bool,
}

impl Default for ForeignPorts {
    fn default() -> Self {
        ForeignPorts { cluster: true, table: true }
    }
}

/// Optional rules that a unit follows. Rules that are `None` are not judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ForeignRules {
    /// True if the unit answers wrong addresses with a fault (spec 2.4). False: none is sent.
    pub faults: bool,
    /// True if the unit supports a reset during a run.
    pub resets: bool,
    /// Number of CAST.SPIN requests for which one lane keeps priority (spec 5.4).
    pub spin_hold: Option<u32>,
    /// Cycles after which a wait without a limit of its own times out (spec 6.10).
    pub try_wait_limit: Option<u32>,
}

impl Default for ForeignRules {
    fn default() -> Self {
        ForeignRules { faults: true, resets: true, spin_hold: None, try_wait_limit: None }
    }
}

/// Returns true if `name` may name a configuration or point. Such a name is one word on a command line and is
/// safe in a path.
pub fn is_name(name: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphanumeric() || "_-.,=".contains(c);
    name.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_') && name.chars().all(letter)
}

/// Reason why a declaration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum UnitError {
    /// The file cannot be read.
    #[error(transparent)]
    Read(#[from] std::io::Error),
    /// The file is not TOML of this form. Has the parser's message with line and column.
    #[error("`{path}`: {1}", path = .0.display())]
    Toml(PathBuf, #[source] Box<toml::de::Error>),
    /// A value cannot be used. Has the problem and what would work.
    #[error("`{path}`: {1}", path = .0.display())]
    Value(PathBuf, String),
}

impl ForeignUnit {
    /// Declares a unit of a configuration with all operations, sizes and ports.
    pub fn whole(config: &str) -> Self {
        ForeignUnit {
            name: config.to_string(),
            module: String::new(),
            sources: Vec::new(),
            config: config.to_string(),
            operations: Weights::default(),
            sizes: Weights::default(),
            file: None,
            defines: Vec::new(),
            ports: ForeignPorts::default(),
            rules: ForeignRules::default(),
        }
    }

    /// Reads a declaration.
    ///
    /// # Errors
    /// [`UnitError`].
    pub fn read(path: &Path) -> Result<Self, UnitError> {
        let unit: ForeignUnit = toml::from_str(&fs_err::read_to_string(path)?)
            .map_err(|error| UnitError::Toml(path.to_path_buf(), error.into()))?;
        unit.check().map_err(|problem| UnitError::Value(path.to_path_buf(), problem))?;
        Ok(unit)
    }

    fn check(&self) -> Result<(), String> {
        if !is_name(&self.name) || self.name.contains([',', '=']) {
            return Err("`name`: expected letters, digits, `_`, `-` and `.`".to_string());
        }
        if self.sources.is_empty() {
            return Err("`sources` is empty; list the SystemVerilog files of the unit".to_string());
        }
        let has_size = |op: Op| op.row().sizes.iter().any(|size| self.sizes.draws(*size));
        match self.operations.iter().find(|(op, _)| !has_size(*op)) {
            Some((op, _)) => {
                let sizes: Vec<_> = op.row().sizes.iter().map(|size| size.name()).collect();
                Err(format!("`sizes` has none of {op}; add one of {}", sizes.join(", ")))
            }
            None => Ok(()),
        }
    }

    /// True if the unit carries out this operation with this size.
    pub fn has(&self, op: Op, size: Size) -> bool {
        self.operations.draws(op) && self.sizes.draws(size) && op.row().sizes.contains(&size)
    }

    /// Returns why the unit does not support the inputs of a cycle, apart from wrong addresses.
    pub fn refuses(&self, i: &In) -> Option<String> {
        let supports = |op, size| {
            let known = Op::from_code(op).zip(Size::from_code(size));
            known.is_some_and(|(op, size)| self.has(op, size))
        };
        let unknown = |op, size| {
            let name = Op::from_code(op).map_or_else(|| format!("operation {op}"), |op| op.to_string());
            let size = Size::from_code(size).map_or_else(|| format!("size {size}"), |size| size.to_string());
            format!("{name} with {size} is not declared")
        };
        if i.req_valid == 1 && !supports(i.req_op, i.req_size) {
            return Some(unknown(i.req_op, i.req_size));
        }
        if i.cl_valid == 1 && !(self.ports.cluster && supports(i.cl_op, i.cl_size)) {
            let missing = || "the cluster port is not declared".to_string();
            return Some(if self.ports.cluster { unknown(i.cl_op, i.cl_size) } else { missing() });
        }
        let whole = i.cta_slot == 0 && i.cta_enable == 1 && i.cta_base == 0;
        (i.cta_valid == 1 && !self.ports.table && !whole).then(|| "the CTA table is not declared".to_string())
    }

    /// Returns the profile without the requests that the unit does not support.
    #[must_use]
    pub fn limit(&self, profile: &Profile) -> Profile {
        let ForeignUnit { operations, sizes, ports, rules, .. } = self;
        let mut limited = Profile {
            ops: within(&profile.ops, operations),
            sizes: within(&profile.sizes, sizes),
            retry_loops: Share::NEVER,
            faults: Faults { illegal: Share::NEVER, ..profile.faults },
            ..profile.clone()
        };
        if !rules.faults {
            limited.faults = Faults::none();
            // Other factors cannot reach every address.
            limited.scale = Weights::only(&[Scale::One]);
        }
        // A request that waits during a reset has no allocation afterwards.
        if !rules.resets || !rules.faults {
            limited.reset = Share::NEVER;
        }
        if !ports.cluster {
            limited.cluster = Share::NEVER;
        }
        if !ports.table {
            limited.slots = Span::new(1, 1);
            limited.faults.slot = Share::NEVER;
            for share in [&mut limited.odd_parts, &mut limited.uneven_parts, &mut limited.table] {
                *share = Share::NEVER;
            }
        }
        limited
    }
}

/// The weights of the choices in `allowed`; those of `allowed` if none is left.
fn within<T: Choice>(weights: &Weights<T>, allowed: &Weights<T>) -> Weights<T> {
    let both = |choice: T| if allowed.draws(choice) { weights.weight(choice) } else { 0 };
    if T::all().any(|choice| both(choice) > 0) { Weights::of(both) } else { allowed.clone() }
}
