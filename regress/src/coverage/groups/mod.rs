//! The groups: which dimensions are crossed, why, and what can be reached. One file a subject.

pub mod faults;
pub mod kernels;
pub mod objects;
pub mod pipeline;
pub mod ports;
pub mod requests;
pub mod values;
pub mod waits;

use super::cross::groups;
use super::model::Model;

use faults::{Bystander, ClusterIllegal, FaultLane, FaultMix, Misalignment, OutOfRange, PartEdge};
use kernels::{Arithmetic, Compare, CompareWords, Favour, Spin, Values};
use objects::{
    Completion, Completions, Counts, ExpectedAfter, Layout, LiveObject, MergedCompletions, NearCompletion,
    ObjectLanes, Objects, PendingBefore, Phase, Sm80, TxAfter,
};
use pipeline::{Forward, ForwardWidth, Hazard, Neighbours, Stall, StallFill, Turns};
use ports::{
    AllocationSize, BackPressure, ClusterResponses, CtaAsleep, CtaBackToBack, CtaPart, CtaWait, CtaWrite,
    Hold, Queue, ResetInside,
};
use requests::{
    Address, Addresses, Conflict, Crossbar, Decode, Hash, LaneAlone, Lanes, Merging, Offset, Operation,
    Rotation, SameAddress, Slot, StoreOverlay, SubWord, TagReuse, Tags, WideAccess, Winner,
};
use waits::{
    FellAsleep, LimitRace, LimitRacePlace, NotAsleep, TimeOut, Wait, WaitLimit, WakeOrder, WakePort, WokenBy,
};

groups! {
    Operation Decode Lanes LaneAlone Conflict Addresses SameAddress Merging Crossbar Winner Rotation Hash
    WideAccess SubWord StoreOverlay Address Offset Slot Tags TagReuse
    Values Arithmetic Compare CompareWords Spin Favour
    FaultLane FaultMix Misalignment OutOfRange PartEdge Bystander ClusterIllegal
    Neighbours Forward ForwardWidth Hazard Stall StallFill Turns
    BackPressure ClusterResponses Hold Queue ResetInside CtaWrite CtaPart AllocationSize CtaBackToBack CtaWait CtaAsleep
    ObjectLanes Objects Completion NearCompletion Completions MergedCompletions PendingBefore ExpectedAfter
    TxAfter Counts Phase Layout Sm80 LiveObject
    Wait NotAsleep FellAsleep WokenBy WaitLimit TimeOut LimitRace LimitRacePlace WakePort WakeOrder
}

impl Model {
    /// Every group there is.
    pub fn standard() -> Model {
        let mut model = Model::default();
        for group in all() {
            model.push(group);
        }
        model
    }
}
