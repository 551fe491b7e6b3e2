//! Two sides of a trace, held against each other.

use crate::Signal;

/// Name of the flag for any pair.
pub const ANY: &str = "any";

/// The flags of a comparison; see [`Definition::compare`](crate::Definition::compare).
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The pairs, left and right.
    pub pairs: Vec<[Signal; 2]>,
    /// For each pair, 1 in cycles in which its signals differ.
    pub flags: Vec<Signal>,
    /// 1 in cycles in which any pair differs.
    pub any: Signal,
    /// Number of pairs that differ in this cycle.
    pub pairs_differing: Signal,
    /// Number of cycles so far, this one included, in which any pair differed.
    pub cycles_differing: Signal,
}

impl Comparison {
    /// Whether `signal` is 1 where the sides differ.
    pub(crate) fn shows_difference(&self, signal: Signal) -> bool {
        signal == self.any || self.flags.contains(&signal)
    }
}
