//! Groups for waits on phases: queries, suspension, wake-up.

use atoms_model::Config;

use super::values::{Few, Port};
use crate::cross::table;

table! {
    /// Operation that asks about a phase.
    operations WaitOp { MbarTestWait MbarTryWait }
    /// Operand that selects the phase.
    values By { Parity = "parity", State = "state", }
    /// Lanes whose phase is complete.
    values Complete { All = "all lanes", Some = "some lanes", None = "no lane", }
    /// Number of lanes that ask.
    values Asking { One = "one lane", Several = "several lanes", }
    cover Wait "wait" (operation: WaitOp, asked_by: By, complete_for: Complete, asking: Asking)
    "The current or the preceding phase, named by parity or by the state of an arrival, is complete or not for each lane on its own." "6.5";
    |_| complete_for != Complete::Some || asking == Asking::Several;

    /// Reason why MBAR.TRY_WAIT is answered at once.
    values AtOnce {
        Complete = "complete for all lanes", Parities = "one object, two parities",
        SomeOfSeveral = "several objects, complete for some", NoneOfSeveral = "several objects, complete for none",
        Full = "table full",
    }
    cover NotSuspended "not_suspended" (because: AtOnce)
    "A request is suspended only if all its lanes wait for one phase of one object and there is a place; every other case is answered." "6.3";

    /// Place in the waiter table.
    numbers Place: 32 from 0;
    /// Fill level of the waiter table after a new waiter.
    values Filled { Alone = "alone", Some = "others too", Full = "table full", }
    cover Suspends "suspends" (place: Place, table: Filled)
    "Every place counts down and compares on its own; the first free one is taken, up to the last." "6.3";
    |config| {
        let (place, places) = (u32::from(place.0), config.num_waiters);
        place < places && match table {
            Filled::Alone => place == 0 && places > 1,
            Filled::Some => places > 2 && place + 1 < places,
            Filled::Full => true,
        }
    };

    /// Time at which a completion wakes a waiter.
    values When { First = "in its first cycle", Later = "later", }
    /// Waiters woken by the completions of one cycle.
    values Woken {
        Alone = "alone", Several = "several at one object", Objects = "at several objects",
    }
    cover WokenBy "woken" (port: Port, suspended: When, waiters: Woken)
    "A completion wakes every request suspended at its object and no other, from the first cycle on, whichever port brought it." "6.3";
    |config| match waiters {
        Woken::Alone => true,
        Woken::Several => config.num_waiters > 1,
        // A cluster request can complete only one object.
        Woken::Objects => config.num_waiters > 1 && port == Port::Warp,
    };

    values LimitOf { Request = "of the request", Configuration = "of the configuration", }

    ranges LimitCycles {
        One = "1" to 1, Few = "2-4" to 4, More = "5-16" to 16, Many = "17-999" to 999, Long = "1000-65535" to 65535,
        Longer = "65536 and more" to u32::MAX,
    }

    cover TimeOut "time_out" (limit: LimitOf, cycles: LimitCycles)
    "A limit is neither missed nor early, whether it is 1 or long, given or not." "6.10";
    // A longer wait would take most of a run. Group `wait_limit` covers such limits.
    |config| cycles != LimitCycles::Longer && cycles.possible(config, limit);

    cover WaitLimit "wait_limit" (limit: LimitOf, cycles: LimitCycles)
    "Every bit of a limit counts: one that is cut off passes too early, also where nothing waits for its end." "6.10";
    |config| cycles.possible(config, limit);

    /// Cycle of a completion relative to the last cycle before the limit.
    values Race { Before = "the cycle before", Same = "in the last cycle", After = "the cycle after", }
    cover LimitRace "limit_race" (limit: LimitOf, port: Port, completion: Race)
    "Completion and limit in one cycle: completion counts; one cycle to either side is the other answer." "6.10";
    |config| completion != Race::Before || lasts(config, limit, 2);

    cover LimitRacePlace "limit_race_place" (place: Place, completion: Race)
    "Every place compares its object and counts down on its own, and decides on its own which of the two came first." "6.3, 6.10";
    |config| u32::from(place.0) < config.num_waiters;

    /// Handshake of a wake-up.
    values Taken { AtOnce = "taken at once", Held = "held", }
    cover WakePort "wake_port" (wake_up: Taken, others_ready: Few)
    "Wake-ups go out one by one; those that are ready wait without losing their place." "6.3";
    |config| (others_ready as u32) < config.num_waiters;

    /// Place that is answered, relative to the last answered place.
    values Order { Ahead = "a later place", Round = "round to an earlier place", Same = "the same place", }
    cover WakeOrder "wake_order" (next: Order)
    "Places are answered in a circle, so that none waits for ever." "6.3";
    |config| next == Order::Same || config.num_waiters > 1;
}

/// Returns true if a wait with such a limit can last at least this many cycles.
fn lasts(config: &Config, limit: LimitOf, cycles: u32) -> bool {
    limit == LimitOf::Request || config.try_wait_limit >= cycles
}

impl LimitCycles {
    /// Returns true if a wait can have a limit in this range.
    fn possible(self, config: &Config, limit: LimitOf) -> bool {
        limit == LimitOf::Request || LimitCycles::new(config.try_wait_limit) == self
    }
}
