//! Coverage groups: crossed dimensions, reasons and reachable bins. One file for each subject.

pub mod faults;
mod foreign;
pub mod kernels;
pub mod objects;
pub mod pipeline;
pub mod ports;
pub mod requests;
pub mod values;
pub mod waits;

use super::cross::groups;
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

impl Model {
    pub fn standard() -> Model {
        let mut model = Model::default();
        for group in all() {
            model.push(group);
        }
        model
    }
}
