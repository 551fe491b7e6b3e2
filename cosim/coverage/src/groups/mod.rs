//! Coverage groups: crossed dimensions, reasons and reachable bins. One file for each subject.

pub mod faults;
pub mod kernels;
pub mod objects;
pub mod pipeline;
pub mod ports;
pub mod requests;
pub mod values;
pub mod waits;

use atoms_ops::{Op, Size};
use atoms_stimulus::unit::ForeignUnit;

use super::cross::{Cover, groups};
use super::model::Model;

// Group names are unique. A dimension name used in two files must be qualified with its file.
pub(crate) use {faults::*, kernels::*, objects::*, pipeline::*, ports::*, requests::*, waits::*};

/// Calls a macro with every group, in the order of the bins.
macro_rules! every_group {
    ($with:ident) => { $with! {
    Operation Decode Lanes LaneAlone Conflict Addresses SameAddress Merging Crossbar Winner Rotation Hash
    WideAccess SubWord StoreOverlay Address Offset Slot Tags TagReuse
    Values Arithmetic Compare CompareWords DistinctWords StoredWords Spin SpinPriority
    FaultLane FaultMix Misalignment OutOfRange PartEdge Bystander ClusterIllegal
    Neighbours Forward ForwardWidth Hazard Stall StallFill Turns
    BackPressure ClusterResponses Hold Queue ResetInside CtaWrite CtaPart CtaNeighbour AllocationSize CtaBackToBack CtaWait CtaSuspended
    ObjectLanes Objects Completion NearCompletion Completions MergedCompletions PendingBefore ExpectedAfter
    TxAfter Counts Phase Layout Sm80 LiveObject
    Wait NotSuspended Suspends WokenBy WaitLimit TimeOut LimitRace LimitRacePlace WakePort WakeOrder
    } };
}
pub(crate) use every_group;
every_group!(groups);

/// Groups that the ports alone show, so that they count for a unit that is not this project's.
const AT_THE_PORTS: [&str; 24] = [
    Operation::NAME,
    Decode::NAME,
    Lanes::NAME,
    LaneAlone::NAME,
    Conflict::NAME,
    Addresses::NAME,
    SameAddress::NAME,
    StoreOverlay::NAME,
    Address::NAME,
    Tags::NAME,
    TagReuse::NAME,
    Compare::NAME,
    PartEdge::NAME,
    Hold::NAME,
    ObjectLanes::NAME,
    Objects::NAME,
    Wait::NAME,
    Slot::NAME,
    Offset::NAME,
    CtaWrite::NAME,
    CtaPart::NAME,
    CtaNeighbour::NAME,
    AllocationSize::NAME,
    CtaBackToBack::NAME,
];

/// Groups of [`AT_THE_PORTS`] that need a CTA table.
const OF_THE_TABLE: [&str; 7] = [
    Slot::NAME,
    Offset::NAME,
    CtaWrite::NAME,
    CtaPart::NAME,
    CtaNeighbour::NAME,
    AllocationSize::NAME,
    CtaBackToBack::NAME,
];

/// Groups of faulty requests that the ports alone show.
const OF_FAULTS: [&str; 4] = [FaultLane::NAME, FaultMix::NAME, Misalignment::NAME, OutOfRange::NAME];

/// Returns true if the ports show the group, and the unit has what it needs.
pub(crate) fn at_the_ports(unit: &ForeignUnit, group: &str) -> bool {
    let stores =
        group != StoreOverlay::NAME || unit.has(Op::Store, Size::U32) || unit.has(Op::Store, Size::U64);
    AT_THE_PORTS.contains(&group) && stores && (unit.ports.table || !OF_THE_TABLE.contains(&group))
        || unit.rules.faults && OF_FAULTS.contains(&group)
}

impl Model {
    pub fn standard() -> Model {
        let mut model = Model::default();
        for group in all() {
            model.push(group);
        }
        model
    }
}
