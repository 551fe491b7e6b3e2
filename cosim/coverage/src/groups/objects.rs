//! Groups for mbarrier objects: operations, counts and phases.

use atoms_ops::Op;

use super::values::{AnyOp, Few, ObjectOp, Port};
use crate::cross::table;

table! {
    /// Operation that may complete a phase.
    operations CompletingOp {
        MbarExpectTx MbarCompleteTx MbarArrive MbarArriveCount MbarArriveExpectTx MbarArriveNoComplete
        MbarArriveDrop MbarArriveDropCount MbarArriveDropExpectTx MbarArriveDropNoComplete MbarArriveSm80
    }
    /// Operation that changes the counts of an object in the sm_90 layout.
    operations SteppingOp {
        MbarExpectTx MbarCompleteTx MbarArrive MbarArriveCount MbarArriveExpectTx MbarArriveNoComplete
        MbarArriveDrop MbarArriveDropCount MbarArriveDropExpectTx MbarArriveDropNoComplete
    }
    /// Operation that drops arrivals.
    operations DroppingOp { MbarArriveDrop MbarArriveDropCount MbarArriveDropExpectTx MbarArriveDropNoComplete }
    /// Operation that changes the tx-count.
    operations TransactionOp { MbarExpectTx MbarCompleteTx MbarArriveExpectTx MbarArriveDropExpectTx }
    /// Operation with a count of arrivals as operand.
    operations CountingOp { MbarArriveCount MbarArriveNoComplete MbarArriveDropCount MbarArriveDropNoComplete }
    /// Operation on an object in the sm_90 layout.
    operations LayoutOp {
        MbarInit MbarInval MbarExpectTx MbarCompleteTx MbarArrive MbarArriveCount MbarArriveExpectTx
        MbarArriveNoComplete MbarArriveDrop MbarArriveDropCount MbarArriveDropExpectTx
        MbarArriveDropNoComplete MbarTestWait MbarTryWait
    }
    /// Largest number of lanes of a request at the same object.
    values AtOne { One = "1", Two = "2", Some = "some", All = "all of the warp", }
    cover ObjectLanes "object_lanes" (operation: ObjectOp, lanes_at_one_object: AtOne)
    "Lanes of one request step one object one after the other or merged, and their results are in order." "6.3";
    |config| lanes_at_one_object == AtOne::All
        || match lanes_at_one_object {
            AtOne::One => true,
            AtOne::Two => config.num_lanes > 2,
            _ => config.num_lanes > 3,
        };

    /// Number of objects that one request accesses.
    values Named {
        One = "1", TwoPairs = "2 on different pairs of banks", OnePair = "2 on one pair of banks", More = "more",
    }
    cover Objects "objects" (operation: ObjectOp, objects_in_one_request: Named)
    "Objects on different pairs are stepped in one pass, those on one pair in several; each has a kernel and a completion of its own." "4.4, 6.3";
    |config| objects_in_one_request != Named::More || config.num_lanes > 2;

    /// Direction of the phase bit at a completion.
    values Edge { Even = "even to odd", Odd = "odd to even", }
    cover Completion "completion" (operation: CompletingOp, port: Port, phase: Edge)
    "Every operation that counts can be the last, from either port; the phase bit goes both ways." "6.4";
    |_| port == Port::Warp || operation.0.cluster_legal(true);

    /// Counts that keep a step from completing the phase.
    values Left {
        Positive = "pending 0, tx-count above 0", Negative = "pending 0, tx-count below 0",
        Pending = "pending above 0, tx-count 0",
    }
    cover NearCompletion "near_completion" (operation: SteppingOp, left: Left)
    "Both counts must be 0: one of them alone is the nearest miss, and the tx-count may go below 0 before what it waits for is expected." "6.4";

    cover Completions "completions" (operation: CompletingOp, in_one_request: Few)
    "One request may complete several objects, or one object several times, and each completion wakes." "6.4, 6.11";
    |config| in_one_request as u32 <= config.num_lanes;

    cover MergedCompletions "merged_completions" (in_one_step: Few)
    "Merged arrivals may pass through several phases in one step, which is a division instead of a count." "6.11";
    |config| config.merge_arrive && in_one_step as u32 <= config.num_lanes;

    /// Pending arrivals of the phase, before the step.
    values Pending { Zero = "0", One = "1", Two = "2", Other = "other", Most = "2^20 - 1", }

    cover PendingBefore "pending_before" (operation: SteppingOp, pending: Pending)
    "The count is stored negated: 0, 1 and the largest are where the field wraps." "6.1, 6.2";

    /// Expected arrivals after a drop.
    values Expected { Zero = "0", One = "1", More = "more", Wraps = "fewer than 0: wraps", }
    cover ExpectedAfter "expected_after_drop" (operation: DroppingOp, expected: Expected)
    "A drop lowers what every later phase expects, down to 0, and wraps where that is undefined." "6.3, 6.9";

    /// Class of the tx-count after a step.
    values Tx {
        Zero = "0", One = "1", MinusOne = "-1", Positive = "positive", Negative = "negative", Most = "2^20 - 1",
        Least = "-(2^20 - 1)", Above = "beyond 2^20 - 1", Below = "beyond -(2^20 - 1)",
    }
    cover TxAfter "tx_after" (operation: TransactionOp, tx_count: Tx)
    "The tx-count goes both ways and is stored negated in a bit more than its range: its ends are where it wraps." "6.1, 6.9";
    // MBAR.COMPLETE_TX only subtracts, so it cannot pass the upper end.
    |_| operation.0 != Op::MbarCompleteTx || tx_count != Tx::Above;

    /// Arrival count of an operation, compared with the pending arrivals.
    values Count {
        Zero = "0", Fewer = "fewer than pending", All = "all that are pending", Beyond = "more than pending",
        Wraps = "beyond 2^20 - 1",
    }
    cover Counts "count" (operation: CountingOp, arrivals: Count)
    "A count may end the phase, fall short, or overshoot, which is undefined and must still agree." "6.1, 6.9";

    /// Completions since a request last asked about the object.
    values Since { First = "first", Second = "second", More = "more", }
    cover Phase "phase" (phase: Edge, since_a_wait: Since)
    "A waiter that misses two phases sees the parity it started from: only one preceding phase can be told." "6.4, 6.5";

    /// Lock and version bits of the object.
    values Extra { Rest = "at rest", Lock = "lock set", Version = "version 1", Both = "lock set, version 1", }
    cover Layout "layout" (operation: LayoutOp, object: Extra)
    "Bits that no operation owns stay as they are." "6.2";

    /// Pending arrivals of an object in the sm_80 layout, before the step.
    values OldPending { Zero = "0", One = "1", More = "more", }
    cover Sm80 "sm80" (pending: OldPending, phase: Edge)
    "The older layout keeps its counts in two words, with other widths, behind the same kernel." "6.2.1";

    /// Content of the accessed words: a live mbarrier object or plain data.
    values Live { Object = "a live object", Word = "no object", }
    cover LiveObject "live_object" (operation: AnyOp, word: Live)
    "Operations on what is no object, init over a live one and plain accesses to one are undefined, and must agree and be named." "6.9";
}

impl Pending {
    pub fn new(pending: u32) -> Self {
        match pending {
            0 => Pending::Zero,
            1 => Pending::One,
            2 => Pending::Two,
            atoms_model::mbarrier::MAX_COUNT => Pending::Most,
            _ => Pending::Other,
        }
    }
}
