//! Coverage groups for requests that fault, and for addresses that are only just legal.

use atoms_ops::Fault;

use super::values::{AnyOp, AnySize, ObjectOp, Port, Wanted};
use crate::cross::table;

table! {
    /// Fault of a request. A request that faults accesses no memory.
    values Why {
        Illegal = "illegal instruction", Misaligned = "misaligned address",
        OutOfRange = "address out of range",
    }

    /// Position of the lane that the fault reports.
    values Named { First = "lane 0", Between = "a lane between", Last = "last lane", }
    cover FaultLane "fault" (operation: AnyOp, fault: Why, lane: Named)
    "Every operation can fault in every lane: a request with a fault accesses no memory, and its response names the lowest lane with an error." "2.4, 3.3";
    |config| (fault != Why::Misaligned || operation.0.row().sizes.iter().any(|size| size.bytes() > 1))
        && (lane != Named::Between || config.num_lanes > 2);

    /// Number of lanes with an address error, and number of different errors among them.
    values Erring {
        Alone = "the lane alone takes part", OneOfMany = "one of several lanes", Several = "several lanes, one fault",
        Mixed = "several lanes, both faults", All = "all of several lanes",
    }
    /// Kind of address error of a lane.
    values Bad { Misaligned = "misaligned", OutOfRange = "out of range", }
    cover FaultMix "fault_mix" (first_fault: Bad, lanes_that_err: Erring)
    "If several lanes have an address error, the response reports the error of the lowest of them; the lanes without an error access no memory either." "2.4";
    |config| lanes_that_err != Erring::Several || config.num_lanes > 2;

    /// Way in which an address lies outside the allocation.
    values Outside {
        NoPart = "no part", Rank = "other rank", Straddles = "straddles the end", Behind = "first behind the end",
        Far = "farther behind",
    }
    cover OutOfRange "out_of_range" (size: AnySize, port: Port, address: Outside)
    "The address check compares the rank, then the last byte of the access with the size of the allocation (`part` in bin names): each way to fail, in each access size." "1.3, 1.4, 2.4";
    |config| match address {
        Outside::Rank => port == Port::Warp,
        // An allocation may end at any byte, so only a single-byte access can never straddle the end.
        Outside::Straddles => size.0.bytes() > 1,
        Outside::NoPart | Outside::Behind | Outside::Far => true,
    };

    values Edge { First = "first access of the part", Last = "ends with the part", }
    cover PartEdge "part_edge" (size: AnySize, port: Port, place: Edge)
    "Accesses at the first and at the last bytes of an allocation (`part` in bin names) are legal: an off-by-one error of the address check shows here and in `out_of_range`." "1.3, 2.4";

    /// Bytes by which an address exceeds a multiple of the access size.
    numbers Excess: 15 from 1;
    cover Misalignment "misalignment" (size: AnySize, bytes_beyond: Excess)
    "The misalignment check reads each address bit below the access size, so each remainder is a bin." "2.4";
    |_| u32::from(bytes_beyond.0) < size.0.bytes();

    cover Bystander "bystander" (lane_that_takes_no_part: Bad)
    "An inactive lane causes no fault, whatever its address." "2.6";

    cover ClusterIllegal "cluster_illegal" (operation: ObjectOp, result: Wanted)
    "On an mbarrier object of another CTA, only some operations are legal, and only without a result; all others fault as illegal." "6.7";
    |_| !operation.0.cluster_legal(result == Wanted::None);
}

impl Why {
    pub fn new(fault: Fault) -> Option<Self> {
        match fault {
            Fault::None => None,
            Fault::Illegal => Some(Why::Illegal),
            Fault::Misaligned => Some(Why::Misaligned),
            Fault::OutOfRange => Some(Why::OutOfRange),
        }
    }
}
