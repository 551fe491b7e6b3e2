//! Groups of bins, and their numbers.

use atoms_model::Config;
use bitvec::vec::BitVec;

/// One dimension of a cross.
#[derive(Clone, Debug)]
pub struct Dimension {
    /// Name, as in `docs/coverage.md`.
    pub name: &'static str,
    pub values: Vec<String>,
}

/// A cross of dimensions; each combination of values is a bin, unless nothing could ever hit it.
#[derive(Clone, Debug)]
pub struct Group {
    /// Name, unique: `conflict`, `mbarrier_step`.
    pub name: &'static str,
    /// Why these dimensions are crossed, in a sentence.
    pub reason: &'static str,
    /// Clause of the specification it is about.
    pub clause: &'static str,
    /// Dimensions, slowest first.
    pub dimensions: Vec<Dimension>,
    /// Whether a configuration can hit the bin with these values, one index a dimension. What no
    /// configuration can hit is no bin.
    pub reachable: fn(&Config, &[usize]) -> bool,
    /// Number of its first bin.
    pub first: usize,
}

impl Group {
    /// Combinations of values, reachable or not: bin numbers `first .. first + len()`.
    pub fn len(&self) -> usize {
        self.dimensions.iter().map(|dimension| dimension.values.len()).product()
    }

    /// Whether it has no combination at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Values of a bin, given by its number within the group, as indices.
    pub fn values(&self, mut at: usize) -> Vec<usize> {
        let mut values = vec![0; self.dimensions.len()];
        for (value, dimension) in values.iter_mut().zip(&self.dimensions).rev() {
            *value = at % dimension.values.len();
            at /= dimension.values.len();
        }
        values
    }

    /// The name of a bin given by its number within the group, see [`bin_name`]; empty if there is no
    /// such bin.
    pub fn bin_name(&self, at: usize) -> String {
        let dimensions = self.dimensions.iter().map(|dimension| dimension.values.as_slice());
        bin_name(self.name, dimensions, at).unwrap_or_default()
    }
}

/// `group[value, value]`, the name of a bin given by its number within its group; what waivers and
/// reports call it. None if there is no such bin. `dimensions` are the names of their values, slowest
/// dimension first.
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
    /// Adds a group behind the others.
    pub fn push(&mut self, mut group: Group) {
        group.first = self.bins();
        self.groups.push(group);
    }

    /// Bins of all groups, reachable or not.
    pub fn bins(&self) -> usize {
        self.groups.last().map_or(0, |group| group.first + group.len())
    }

    /// Bins that a configuration can hit.
    pub fn reachable(&self, config: &Config) -> BitVec {
        let mut bins = BitVec::repeat(false, self.bins());
        for group in &self.groups {
            for at in 0..group.len() {
                bins.set(group.first + at, (group.reachable)(config, &group.values(at)));
            }
        }
        bins
    }

    /// The group of a bin, and the bin's number within it.
    pub fn locate(&self, bin: usize) -> Option<(&Group, usize)> {
        let after = self.groups.partition_point(|group| group.first <= bin);
        let group = self.groups.get(after.checked_sub(1)?)?;
        (bin - group.first < group.len()).then_some((group, bin - group.first))
    }
}
