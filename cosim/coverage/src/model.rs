//! Coverage model: groups of bins, and their numbering.

use atoms_model::Config;
use bitvec::vec::BitVec;

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

    /// Returns the group of a bin, and the bin's number within the group.
    pub fn locate(&self, bin: usize) -> Option<(&Group, usize)> {
        let after = self.groups.partition_point(|group| group.first <= bin);
        let group = self.groups.get(after.checked_sub(1)?)?;
        (bin - group.first < group.len()).then_some((group, bin - group.first))
    }
}
