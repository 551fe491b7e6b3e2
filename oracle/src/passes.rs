//! How many passes a request takes (spec 4.1, 4.3, 4.4, 5.2): counted from its addresses, whatever order the lanes go in.

use atoms_ops::Op;

use crate::access::Access;
use crate::explain::case::Units;
use crate::request::Geometry;

/// Which operations the unit was built to merge (spec 4.1, 6.11).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Merging {
    /// ADD, MIN, MAX, AND, OR and XOR without a result.
    pub red: bool,
    /// MBAR.ARRIVE.
    pub arrive: bool,
}

impl Merging {
    /// Whether lanes of one address go together.
    fn joins(self, op: Op, red: bool) -> bool {
        match op {
            Op::PopcInc | Op::Load | Op::Store | Op::MbarTestWait | Op::MbarTryWait => true,
            Op::Add | Op::Min | Op::Max | Op::And | Op::Or | Op::Xor => self.red && red,
            Op::MbarArrive => self.arrive,
            _ => false,
        }
    }
}

/// Passes of a request without a fault, whose lanes at one word are a set of `units`.
pub(crate) fn passes(
    geometry: &Geometry,
    merging: Merging,
    red: bool,
    access: &Access,
    units: &Units,
) -> u32 {
    if access.op == Op::CastSpin {
        return 1;
    }
    let joins = merging.joins(access.op, red);
    let words = access.size.bytes().div_ceil(4);
    // By group of banks.
    let mut asked = vec![0; geometry.banks as usize];
    for lanes in units.sets() {
        let word = access.word[lanes.trailing_zeros() as usize & 31];
        let group = geometry.bank(word) / words;
        asked[group as usize] += if joins { 1 } else { lanes.count_ones() };
    }
    asked.into_iter().max().unwrap_or(0)
}
