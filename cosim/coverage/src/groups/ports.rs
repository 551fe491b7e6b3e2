//! Coverage groups for ports, queues and the CTA table.

use super::values::Port;
use crate::cross::table;

table! {
    /// State of a response port.
    values Answer { Idle = "idle", Taken = "taken", Held = "held", }
    /// State of the waiter table: at least one request is suspended, or none.
    values AnySuspended { None = "none suspended", Some = "some suspended", }
    cover BackPressure "back_pressure" (response: Answer, cluster_response: Answer, wake_up: Answer, waiters: AnySuspended)
    "Each port may be held while others continue, in every combination, and none may lose a response or change the response of another port." "4.6, 6.3";

    values Passing {
        Warp = "a warp pass", Posted = "a posted cluster request", Faulty = "a posted cluster request that faults",
        Answered = "a cluster request that owes a response",
    }
    /// State of the cluster responses while a pass completes: none waits to be taken, one waits to be taken,
    /// or the unit has no room for another one.
    values Room { Free = "none stands untaken", Held = "one stands untaken", None = "no room is left", }
    cover ClusterResponses "cluster_responses" (goes_on: Passing, responses: Room)
    "A cluster response that is not taken does not block warp requests and posted requests, which owe no cluster response; a request that owes one has reserved room for it." "4.6, 4.7";

    numbers Level: 17 from 0;
    /// Requests that enter and leave a queue in one cycle.
    values Traffic {
        Rests = "rests", Comes = "one comes", Goes = "one goes", Both = "one comes and one goes",
        Refuses = "refuses", RefusesGoes = "refuses while one goes",
    }
    cover Queue "queue" (port: Port, requests: Level, traffic: Traffic)
    "Ready of a queue depends only on its level: empty, full and every level between, with requests that enter and leave in one cycle." "4.6";
    |config| {
        let depth = match port { Port::Warp => config.queue_depth, Port::Cluster => 2 };
        let level = u32::from(requests.0);
        level <= depth && match traffic {
            Traffic::Rests => true,
            Traffic::Comes => level < depth,
            Traffic::Goes => level > 0,
            Traffic::Both => level > 0 && level < depth,
            Traffic::Refuses | Traffic::RefusesGoes => level == depth,
        }
    };

    /// Outcome of a write of the CTA table.
    values Written {
        Given = "given a part", TakenAway = "taken away", NoSlot = "refused: no such slot",
        Beyond = "refused: behind the end of memory", Overlap = "refused: another slot's rows",
    }
    /// Allocation (`part`) of the slot before the write.
    values Had { None = "had none", Part = "had a part", }
    values Waited { No = "at once", Yes = "after waiting", }
    cover CtaWrite "cta_write" (outcome: Written, slot: Had, taken: Waited)
    "A refused write leaves the slot without an allocation (`part` in bin names), even if it had one. No write is taken while a request of the slot is in flight." "1.3";
    |config| match outcome {
        Written::Given | Written::TakenAway | Written::Beyond => true,
        Written::NoSlot => config.num_cta_slots < 16 && slot == Had::None && taken == Waited::No,
        Written::Overlap => config.num_cta_slots > 1,
    };

    /// Class of an allocation's size in bytes.
    values PartSize {
        Zero = "0", Under = "less than a row", Row = "one row", Rows = "whole rows", Odd = "rows and some bytes",
        All = "all of memory",
    }
    /// Rank of the CTA in its cluster.
    ranges Rank { Zero = "0" to 0, Few = "1-15" to 15, Many = "16-255" to 255, }

    cover CtaPart "cta_part" (bytes: PartSize, rank: Rank)
    "An allocation may end anywhere in its last row, and owns this whole row; the rank is compared in every address." "1.3, 1.4";
    |config| bytes != PartSize::Rows || config.num_rows > 2;

    /// Number of words that an allocation uses completely in its last row. 0 if the allocation ends within
    /// the first word of that row.
    numbers LastRow: 65 from 0;
    /// Position of the written allocation relative to the allocation of another slot, which the names call
    /// `part`.
    values Neighbour {
        Shares = "begins in the last row of a part", Follows = "begins in the row behind a part",
        Shared = "its last row is the first of a part", Followed = "its last row is in front of a part",
    }
    cover CtaNeighbour "cta_neighbour" (words_in_the_last_row: LastRow, write: Neighbour)
    "An allocation (`part` in bin names) owns its whole last row, however little of it is used: a write that shares this row is refused, a write of the rows next to it is not." "1.3";
    |config| config.num_cta_slots > 1 && u32::from(words_in_the_last_row.0) <= config.num_banks;

    /// Size of an allocation in bytes, independent of the configuration's rows.
    ranges Allocation {
        To1K = "up to 1 KiB" to 1 << 10, To48K = "up to 48 KiB" to 48 << 10, To96K = "up to 96 KiB" to 96 << 10,
        To1M = "up to 1 MiB" to 1 << 20, Below16M = "below 16 MiB" to (1 << 24) - 1, All = "16 MiB" to 1 << 24,
    }

    cover AllocationSize "allocation" (bytes: Allocation)
    "Allocations reach up to the 16 MiB of the shared-memory window: their sizes need 25 bits, their row numbers 16." "1.3";
    |config| {
        let at = bytes as usize;
        at == 0 || config.bytes() > Allocation::MOST[at - 1].into()
    };

    /// Content of the unit in a reset cycle.
    values Inside {
        Nothing = "nothing", Queued = "requests in a queue", Issue = "a request at issue",
        Pipeline = "passes on their way", Writes = "a pass about to write", Waiters = "waiters",
        Answer = "an answer not taken", WakeUp = "a wake-up not taken",
    }
    cover ResetInside "reset" (inside: Inside)
    "A reset drops all requests, wherever they are in the unit, and does not change memory." "4.8";

    /// Port that delivers responses or wake-ups.
    values AnswerPort { Response = "response", Cluster = "cluster response", WakeUp = "wake-up", }
    /// Number of cycles for which a response or wake-up is held.
    ranges HoldCycles { Few = "1-15" to 15, Some = "16-99" to 99, Many = "100 and more" to u32::MAX, }
    cover Hold "hold" (port: AnswerPort, cycles: HoldCycles)
    "A response or wake-up does not change while it is not taken, and nothing that follows it is lost." "4.6, 6.3";

    values Fate { Taken = "taken", Refused = "refused", }
    cover CtaBackToBack "cta_back_to_back" (first: Fate, second: Fate)
    "A write of the CTA table is checked in the cycle in which it is taken and refused in the next, in which a second write may be taken." "1.3";

    /// Requests that delay a write of the CTA table.
    values WaitsFor { Requests = "requests on their way", Waiters = "waiters", Both = "both", }
    cover CtaWait "cta_wait" (write_waits_for: WaitsFor)
    "An allocation cannot change while a request of its slot is in flight or suspended." "1.3";

    /// Write of the CTA table while a request is suspended in MBAR.TRY_WAIT (a waiter).
    values Meanwhile { Waits = "of a waiter's slot waits", Goes = "of another slot is taken", }
    cover CtaSuspended "cta_suspended" (write: Meanwhile)
    "A suspended request delays writes of its own slot's allocation, and no other writes." "1.3, 6.3";
}
