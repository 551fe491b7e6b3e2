//! Coverage model: groups of bins, and their numbering.

use atoms_model::Config;
use atoms_ops::{Op, Size};
use atoms_stimulus::unit::ForeignUnit;
use bitvec::vec::BitVec;

use crate::groups::at_the_ports;

#[derive(Clone, Debug)]
pub struct Dimension {
    /// Name as in `docs/coverage.md`.
    pub name: &'static str,
    pub values: Vec<String>,
}

/// A cross of dimensions. Each combination of values that some configuration can hit is a bin.
#[derive(Clone, Debug)]
pub struct Group {
    /// Unique name, such as `conflict` or `completion`.
    pub name: &'static str,
    /// Reason to cross these dimensions, in one sentence.
    pub reason: &'static str,
    pub clause: &'static str,
    /// Dimensions of the cross. The bin number changes slowest with the first dimension.
    pub dimensions: Vec<Dimension>,
    /// Returns true if a configuration can hit the bin with these value indices, one for each dimension. A
    /// combination that no configuration can hit does not count as a bin.
    pub reachable: fn(&Config, &[usize]) -> bool,
    pub first: usize,
}

impl Group {
    /// Number of combinations, reachable or not. Bin numbers are `first .. first + len()`.
    pub fn len(&self) -> usize {
        self.dimensions.iter().map(|dimension| dimension.values.len()).product()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the value indices of a bin, given by its number within the group.
    pub fn values(&self, mut at: usize) -> Vec<usize> {
        let mut values = vec![0; self.dimensions.len()];
        for (value, dimension) in values.iter_mut().zip(&self.dimensions).rev() {
            *value = at % dimension.values.len();
            at /= dimension.values.len();
        }
        values
    }

    /// Returns the name of a bin, given by its number within the group ([`bin_name`]). Empty if there is no
    /// such bin.
    pub fn bin_name(&self, at: usize) -> String {
        let dimensions = self.dimensions.iter().map(|dimension| dimension.values.as_slice());
        bin_name(self.name, dimensions, at).unwrap_or_default()
    }
}

/// Returns the name of a bin as waivers and reports use it: `group[value, value]`. `at` is the bin's number
/// within the group. `dimensions` has the value names of each dimension, in the order of
/// [`Group::dimensions`]. None if there is no such bin.
pub fn bin_name<'a, D>(group: &str, dimensions: D, mut at: usize) -> Option<String>
where
    D: IntoIterator<Item = &'a [String], IntoIter: DoubleEndedIterator>,
{
    let mut names = Vec::new();
    for values in dimensions.into_iter().rev() {
        let value = at.checked_rem(values.len())?;
        names.push(values.get(value)?.as_str());
        at /= values.len();
    }
    names.reverse();
    (at == 0).then(|| format!("{group}[{}]", names.join(", ")))
}

#[derive(Clone, Debug, Default)]
pub struct Model {
    /// Groups in the order of their bins.
    pub groups: Vec<Group>,
}

impl Model {
    /// Appends a group and assigns its bin numbers.
    pub fn push(&mut self, mut group: Group) {
        group.first = self.bins();
        self.groups.push(group);
    }

    /// Returns the number of bins of all groups, reachable or not.
    pub fn bins(&self) -> usize {
        self.groups.last().map_or(0, |group| group.first + group.len())
    }

    pub fn reachable(&self, config: &Config) -> BitVec {
        let mut bins = BitVec::repeat(false, self.bins());
        for group in &self.groups {
            for at in 0..group.len() {
                bins.set(group.first + at, (group.reachable)(config, &group.values(at)));
            }
        }
        bins
    }

    /// Returns the bins that a configuration can hit, of a unit that is not this project's if `unit` is given: only
    /// bins of transactions that the ports show and that the unit supports.
    pub fn reachable_by(&self, config: &Config, unit: Option<&ForeignUnit>) -> BitVec {
        let mut bins = self.reachable(config);
        let Some(unit) = unit else { return bins };
        for group in &self.groups {
            let shown = at_the_ports(unit, group.name);
            for at in (0..group.len()).filter(|at| !shown || !supports(unit, group, &group.values(*at))) {
                bins.set(group.first + at, false);
            }
        }
        bins
    }

    /// Returns the group of a bin, and the bin's number within the group.
    pub fn locate(&self, bin: usize) -> Option<(&Group, usize)> {
        let after = self.groups.partition_point(|group| group.first <= bin);
        let group = self.groups.get(after.checked_sub(1)?)?;
        (bin - group.first < group.len()).then_some((group, bin - group.first))
    }
}

/// Returns true if a unit supports the operation, size and port of a bin.
fn supports(unit: &ForeignUnit, group: &Group, values: &[usize]) -> bool {
    let value = |name: &str| {
        let at = group.dimensions.iter().position(|dimension| dimension.name == name)?;
        Some(group.dimensions[at].values[values[at]].as_str())
    };
    let code = |name: &str| value(name).and_then(|code| code.parse().ok());
    let op = value("operation").map(Op::from_name).or_else(|| code("operation_code").map(Op::from_code));
    let size = |name: &str| Size::ALL.into_iter().find(|size| size.name() == name);
    let size = value("size").map(size).or_else(|| code("size_code").map(Size::from_code));
    let fits = match (op, size) {
        (Some(op), Some(size)) => op.zip(size).is_some_and(|(op, size)| unit.has(op, size)),
        (Some(op), None) => op.is_some_and(|op| Size::ALL.iter().any(|size| unit.has(op, *size))),
        (None, Some(size)) => size.is_some_and(|size| Op::ALL.iter().any(|op| unit.has(*op, size))),
        (None, None) => true,
    };
    // An operation that the unit does not have is never sent.
    let is_sent = value("fault") != Some("illegal instruction")
        && (unit.rules.faults || matches!(value("scale"), None | Some("1")));
    let waits = unit.has(Op::MbarTryWait, Size::U64);
    let has_port = match value("port") {
        Some(port) if port.starts_with("cluster") => unit.ports.cluster,
        Some("wake-up") => waits,
        _ => true,
    };
    let two_ports = value("names_also")
        .is_none_or(|names| unit.ports.cluster || !matches!(names, "a request at the other port" | "both"));
    fits && is_sent && has_port && two_ports
}
