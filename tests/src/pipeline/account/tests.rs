use super::*;

const HERE: Place = Place { slot: 0, offset: 8 };

#[derive(Clone, Copy, Debug)]
enum Entry {
    Brought(Op, u64),
    Written(MbarObject),
    Completed(MbarObject),
}

use Entry::{Brought, Completed, Written};

const fn object(phase: bool, pending: u32, tx: i32, expected: u32) -> MbarObject {
    MbarObject { phase, expected, pending, tx, lock: false, version: false }
}

/// History of a phase with two arrivals and 16 bytes, then a phase with two arrivals of which one drops.
const RIGHT: &[Entry] = &[
    Brought(Op::MbarInit, 0),
    Written(object(false, 2, 0, 2)),
    Brought(Op::MbarArriveExpectTx, 16),
    Written(object(false, 1, 16, 2)),
    Brought(Op::MbarArrive, 0),
    Written(object(false, 0, 16, 2)),
    Brought(Op::MbarCompleteTx, 16),
    Completed(object(true, 2, 0, 2)),
    Brought(Op::MbarArriveDrop, 0),
    Written(object(true, 1, 0, 1)),
    Brought(Op::MbarArriveNoComplete, 0),
    Written(object(true, 1, 0, 1)),
    Brought(Op::MbarArriveCount, 1),
    Completed(object(false, 1, 0, 1)),
];

/// Replays `entries` for an object that starts with two arrivals, and ends after two phases with one arrival.
fn account(entries: &[Entry]) -> Result<Account, String> {
    let mut account = Account::default();
    let object = account.open("full".into(), HERE, 2, 2, 1);
    for entry in entries {
        match *entry {
            Brought(op, b) => account.book(op, Port::Warp, HERE, b),
            Written(found) => account.written(object, found.encode(), false)?,
            Completed(found) => account.written(object, found.encode(), true)?,
        }
    }
    account.settle().map(|()| account)
}

#[test]
fn a_right_run_settles() {
    let events = account(RIGHT).expect("it is right").events;
    assert_eq!(events, Events { drops: 1, no_complete: 1, ..Events::default() });
}

/// Each counted event must occur exactly once. The check detects a missing or repeated event.
#[test]
fn an_entry_that_is_missing_or_twice_is_found() {
    for at in 0..RIGHT.len() {
        if matches!(RIGHT[at], Written(_) | Brought(Op::MbarInit, _) | Brought(Op::MbarArriveNoComplete, _)) {
            continue;
        }
        let without = [&RIGHT[..at], &RIGHT[at + 1..]].concat();
        account(&without).expect_err("an entry is missing");
        let twice = [&RIGHT[..=at], &RIGHT[at..]].concat();
        account(&twice).expect_err("an entry is there twice");
    }
}

#[test]
fn one_more_of_anything_is_found() {
    #[rustfmt::skip]
    let rows = [
        (2,  Brought(Op::MbarArriveExpectTx, 17),          "is phase parity 0"),
        (6,  Brought(Op::MbarCompleteTx, 15),              "is phase parity 0"),
        (8,  Brought(Op::MbarExpectTx, 0),                 "is phase parity 0"),
        (12, Brought(Op::MbarArriveCount, 2),              "is phase parity 0"),
        (7,  Completed(object(false, 2, 0, 2)),            "full after 1 phases"),
        (9,  Written(object(false, 1, 0, 1)),              "full after 1 phases"),
        (13, Completed(object(false, 2, 0, 1)),            "should be phase parity 0, 1 of 1 arrivals pending"),
        (13, Completed(object(false, 1, 0, 2)),            "should be phase parity 0, 1 of 1 arrivals pending"),
        (13, Completed(object(false, 1, 1, 1)),            "should be phase parity 0, 1 of 1 arrivals pending"),
        (13, Written(object(true, 0, 0, 1)),               "should be phase parity 0, 1 of 1 arrivals pending"),
    ];
    for (at, instead, said) in rows {
        let mut entries = RIGHT.to_vec();
        entries[at] = instead;
        let error = account(&entries).expect_err("something is wrong");
        assert!(error.contains(said), "{at}, {instead:?}: {error}");
    }
}

#[test]
fn what_goes_elsewhere_is_not_booked() {
    let mut account = Account::default();
    account.open("full".into(), HERE, 1, 1, 1);
    account.book(Op::MbarArrive, Port::Cluster, Place { slot: 1, ..HERE }, 0);
    assert_eq!(account.objects[0].arrived, 0);
    account.book(Op::MbarArrive, Port::Cluster, HERE, 0);
    assert_eq!((account.objects[0].arrived, account.events.remote), (1, 1));
}
