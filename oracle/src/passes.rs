//! Number of passes of a request (spec 4.1, 4.3, 4.4, 5.2). The number depends on the addresses, not on the
//! order of lanes.

use atoms_ops::Op;

use crate::access::Access;
use crate::explain::case::Units;
use crate::request::Geometry;

/// Operations that the unit is configured to merge (spec 4.1, 6.11).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Merging {
    /// True if ADD, MIN, MAX, AND, OR and XOR without a result merge.
    pub red: bool,
    /// True if lanes of MBAR.ARRIVE merge.
    pub arrive: bool,
}

impl Merging {
    fn joins(self, op: Op, red: bool) -> bool {
        match op {
            Op::PopcInc | Op::Load | Op::Store | Op::MbarTestWait | Op::MbarTryWait => true,
            Op::Add | Op::Min | Op::Max | Op::And | Op::Or | Op::Xor => self.red && red,
            Op::MbarArrive => self.arrive,
            _ => false,
        }
    }
}

/// Number of passes of a request without a fault. `units` holds the sets of lanes at one word.
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
    // Number of passes for each group of banks.
    let mut asked = vec![0; geometry.banks as usize];
    for lanes in units.sets() {
        let word = access.word[lanes.trailing_zeros() as usize & 31];
        let group = geometry.bank(word) / words;
        asked[group as usize] += if joins { 1 } else { lanes.count_ones() };
    }
    asked.into_iter().max().unwrap_or(0)
}
