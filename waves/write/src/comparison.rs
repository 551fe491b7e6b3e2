//! Comparison of two sides of a trace.

use crate::Signal;

/// Name of the flag that is 1 if any pair differs.
pub const ANY: &str = "any";

#[derive(Clone, Debug)]
pub struct Comparison {
    pub pairs: Vec<[Signal; 2]>,
    pub flags: Vec<Signal>,
    pub any: Signal,
    /// Number of pairs that differ in this cycle.
    pub pairs_differing: Signal,
    /// Number of cycles so far in which any pair differed, this cycle included.
    pub cycles_differing: Signal,
}

impl Comparison {
    pub(crate) fn shows_difference(&self, signal: Signal) -> bool {
        signal == self.any || self.flags.contains(&signal)
    }
}
