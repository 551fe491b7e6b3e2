//! How many passes a request takes (spec 4.1, 4.3, 4.4, 5.2): counted from its addresses, whatever order the lanes go in.

use atoms_ops::Op;

use crate::access::Access;
use crate::lanes::lanes_of;
use crate::request::{Geometry, MAX_LANES};

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

/// Passes of a request without a fault.
pub(crate) fn passes(geometry: &Geometry, merging: Merging, red: bool, access: &Access) -> u32 {
    if access.op == Op::CastSpin {
        return 1;
    }
    let words = access.size.bytes().div_ceil(4);
    // The group of banks and the first word of each access; a list is sorted sooner than maps are made.
    let (mut asked, mut number) = ([(0, 0); MAX_LANES], 0);
    for lane in lanes_of(access.lanes) {
        let word = access.word[lane];
        asked[number] = (geometry.bank(word) / words, word);
        number += 1;
    }
    let asked = &mut asked[..number];
    asked.sort_unstable();
    let joins = merging.joins(access.op, red);
    let of_group = |group: &[_]| if joins { group.chunk_by(|a, b| a == b).count() } else { group.len() };
    asked.chunk_by(|(a, _), (b, _)| a == b).map(of_group).max().unwrap_or(0) as u32
}
