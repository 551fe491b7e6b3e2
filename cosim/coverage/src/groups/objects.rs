//! Coverage groups for mbarrier objects: operations, counts and phases.

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
    /// Largest number of lanes of one request that access the same mbarrier object.
    values AtOne { One = "1", Two = "2", Some = "some", All = "all of the warp", }
    cover ObjectLanes "object_lanes" (operation: ObjectOp, lanes_at_one_object: AtOne)
    "Lanes of one request at one mbarrier object take effect one after the other, or merged in one pass; each lane gets the result of its turn." "6.3";
    |config| lanes_at_one_object == AtOne::All
        || match lanes_at_one_object {
            AtOne::One => true,
            AtOne::Two => config.num_lanes > 2,
            _ => config.num_lanes > 3,
        };

    /// Number of mbarrier objects that one request accesses.
    values Named {
        One = "1", TwoPairs = "2 on different pairs of banks", OnePair = "2 on one pair of banks", More = "more",
    }
    cover Objects "objects" (operation: ObjectOp, objects_in_one_request: Named)
    "Objects on different pairs of banks are updated in one pass, objects on one pair in several passes; each pair has its own arithmetic and its own completion signal." "4.4, 6.3";
    |config| objects_in_one_request != Named::More || config.num_lanes > 2;

    /// Direction of the phase bit at a completion.
    values Edge { Even = "even to odd", Odd = "odd to even", }
    cover Completion "completion" (operation: CompletingOp, port: Port, phase: Edge)
    "Every operation that changes the counts can be the one that completes the phase, at either port; the phase bit changes in both directions." "6.4";
    |_| port == Port::Warp || operation.0.cluster_legal(true);

    /// Counts after an operation that does not complete the phase: exactly one of the two counts is 0.
    values Left {
        Positive = "pending 0, tx-count above 0", Negative = "pending 0, tx-count below 0",
        Pending = "pending above 0, tx-count 0",
    }
    cover NearCompletion "near_completion" (operation: SteppingOp, left: Left)
    "A phase completes only if both counts are 0, so one nonzero count is the nearest miss. The tx-count is below 0 if bytes arrive before they are expected." "6.4";

    cover Completions "completions" (operation: CompletingOp, in_one_request: Few)
    "One request may complete phases of several objects, or several phases of one object, and each completion wakes waiters." "6.4, 6.11";
    |config| in_one_request as u32 <= config.num_lanes;

    cover MergedCompletions "merged_completions" (in_one_step: Few)
    "Merged arrivals may complete several phases in one operation, which needs a division instead of a count." "6.11";
    |config| config.merge_arrive && in_one_step as u32 <= config.num_lanes;

    /// Pending arrivals of the phase, before the operation.
    values Pending { Zero = "0", One = "1", Two = "2", Other = "other", Most = "2^20 - 1", }

    cover PendingBefore "pending_before" (operation: SteppingOp, pending: Pending)
    "The pending count is stored negated: its field wraps next to 0, 1 and the largest value." "6.1, 6.2";

    /// Expected arrivals of later phases, after an operation that drops arrivals.
    values Expected { Zero = "0", One = "1", More = "more", Wraps = "fewer than 0: wraps", }
    cover ExpectedAfter "expected_after_drop" (operation: DroppingOp, expected: Expected)
    "A drop lowers the number of arrivals that later phases expect, down to 0; below 0 the field wraps, which is undefined behaviour." "6.3, 6.9";

    /// Class of the tx-count after an operation.
    values Tx {
        Zero = "0", One = "1", MinusOne = "-1", Positive = "positive", Negative = "negative", Most = "2^20 - 1",
        Least = "-(2^20 - 1)", Above = "beyond 2^20 - 1", Below = "beyond -(2^20 - 1)",
    }
    cover TxAfter "tx_after" (operation: TransactionOp, tx_count: Tx)
    "The tx-count may be positive or negative, and is stored negated in a field one bit wider than its range: it wraps at the ends of the range." "6.1, 6.9";
    // MBAR.COMPLETE_TX only subtracts, so it cannot pass the upper end.
    |_| operation.0 != Op::MbarCompleteTx || tx_count != Tx::Above;

    /// Arrival count of an operation, compared with the pending arrivals.
    values Count {
        Zero = "0", Fewer = "fewer than pending", All = "all that are pending", Beyond = "more than pending",
        Wraps = "beyond 2^20 - 1",
    }
    cover Counts "count" (operation: CountingOp, arrivals: Count)
    "An arrival count may complete the phase, be too small, or exceed the pending arrivals. Exceeding them is undefined, but RTL and model must still agree." "6.1, 6.9";

    /// Number of a completion, counted from the last request that asked about a phase of the object.
    values Since { First = "first", Second = "second", More = "more", }
    cover Phase "phase" (phase: Edge, since_a_wait: Since)
    "After two completions, a waiter sees the same parity as before: parity distinguishes only the current phase and the one before." "6.4, 6.5";

    /// Lock and version bits of the mbarrier object.
    values Extra { Rest = "at rest", Lock = "lock set", Version = "version 1", Both = "lock set, version 1", }
    cover Layout "layout" (operation: LayoutOp, object: Extra)
    "Bits of an object that no operation uses keep their values." "6.2";

    /// Pending arrivals of an object in the sm_80 layout, before the operation.
    values OldPending { Zero = "0", One = "1", More = "more", }
    cover Sm80 "sm80" (pending: OldPending, phase: Edge)
    "An object in the sm_80 layout keeps its counts in two words, with other field widths, and uses the same arithmetic." "6.2.1";

    /// Content of the accessed words: a live mbarrier object or plain data.
    values Live { Object = "a live object", Word = "no object", }
    cover LiveObject "live_object" (operation: AnyOp, word: Live)
    "Undefined uses, in which RTL and model must agree and which the model must report: mbarrier operations on a word that is not an object, MBAR.INIT on a live object, plain accesses to a live object." "6.9";
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
