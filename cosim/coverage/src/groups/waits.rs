//! Coverage groups for waits on phases: queries, suspension, wake-up.

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
    "For each lane separately, the queried phase is complete or not: the current phase or the one before, given by its parity or by the state that an arrival returned." "6.5";
    |_| complete_for != Complete::Some || asking == Asking::Several;

    /// Reason why an MBAR.TRY_WAIT is answered without being suspended.
    values AtOnce {
        Complete = "complete for all lanes", Parities = "one object, two parities",
        SomeOfSeveral = "several objects, complete for some", NoneOfSeveral = "several objects, complete for none",
        Full = "table full",
    }
    cover NotSuspended "not_suspended" (because: AtOnce)
    "A request is suspended only if all its lanes wait for one phase of one object and the waiter table has a free place; any other request is answered immediately." "6.3";

    /// Place in the waiter table.
    numbers Place: 32 from 0;
    /// Fill level of the waiter table after a new waiter.
    values Filled { Alone = "alone", Some = "others too", Full = "table full", }
    cover Suspends "suspends" (place: Place, table: Filled)
    "Each place of the waiter table has its own counter and comparator; a new waiter takes the first free place, up to the last." "6.3";
    |config| {
        let (place, places) = (u32::from(place.0), config.num_waiters);
        place < places && match table {
            Filled::Alone => place == 0 && places > 1,
            Filled::Some => places > 2 && place + 1 < places,
            Filled::Full => true,
        }
    };

    /// Time of the completion that wakes a waiter, counted from the suspension.
    values When { First = "in its first cycle", Later = "later", }
    /// Waiters woken by the completions of one cycle.
    values Woken {
        Alone = "alone", Several = "several at one object", Objects = "at several objects",
    }
    cover WokenBy "woken" (port: Port, suspended: When, waiters: Woken)
    "A completion wakes every request suspended at its object and no other, from the first cycle of the suspension on, whichever port caused it." "6.3";
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
    "A wait ends exactly at its limit, not earlier and not later, for short and long limits from the request or from the configuration." "6.10";
    // A longer wait would take most of a run. Group `wait_limit` covers such limits.
    |config| cycles != LimitCycles::Longer && cycles.possible(config, limit);

    cover WaitLimit "wait_limit" (limit: LimitOf, cycles: LimitCycles)
    "Each bit of a limit matters, because a truncated limit ends a wait too early. A wait counts here when it is suspended, even if it does not reach its limit." "6.10";
    |config| cycles.possible(config, limit);

    /// Cycle of a completion relative to the last cycle before the limit.
    values Race { Before = "the cycle before", Same = "in the last cycle", After = "the cycle after", }
    cover LimitRace "limit_race" (limit: LimitOf, port: Port, completion: Race)
    "If phase completion and limit fall into one cycle, the completion counts. The cycles before and after are bins, too." "6.10";
    |config| completion != Race::Before || lasts(config, limit, 2);

    cover LimitRacePlace "limit_race_place" (place: Place, completion: Race)
    "Each place of the waiter table decides separately which came first, the completion or the limit." "6.3, 6.10";
    |config| u32::from(place.0) < config.num_waiters;

    /// Handshake of a wake-up.
    values Taken { AtOnce = "taken at once", Held = "held", }
    cover WakePort "wake_port" (wake_up: Taken, others_ready: Few)
    "Wake-ups are delivered one at a time; other waiters that are ready wait without losing their place in the waiter table." "6.3";
    |config| (others_ready as u32) < config.num_waiters;

    /// Place of the waiter table that gets its wake-up, relative to the place of the previous wake-up.
    values Order { Ahead = "a later place", Round = "round to an earlier place", Same = "the same place", }
    cover WakeOrder "wake_order" (next: Order)
    "Wake-ups are delivered round-robin over the places of the waiter table, so that no waiter waits forever." "6.3";
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
