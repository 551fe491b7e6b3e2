//! The checker accepts every behaviour of a serial machine, in any order of lanes.

use crate::serial;

use atoms_oracle::{Allocation, Checker, Geometry, SerialRequest};
use proptest::prelude::*;
use serial::{Machine, active, heard, objects, request};

const ALLOCATION: Allocation = Allocation { base_row: 3, size_bytes: 1000, rank: 2 };

fn geometry() -> impl Strategy<Value = Geometry> {
    (prop::sample::select(vec![4u32, 8, 32]), any::<bool>(), prop::sample::select(vec![4u32, 32]))
        .prop_map(|(banks, xor_hash, lanes)| Geometry { lanes, banks, rows: 1024 / banks, xor_hash })
}

/// A request, an order of its lanes, and the mask of noComplete arrivals that arrive together.
type Turn = (SerialRequest, Vec<usize>, u32);

fn sequence(fault: u32) -> impl Strategy<Value = Vec<Turn>> {
    let order = Just((0..32usize).collect::<Vec<_>>()).prop_shuffle();
    prop::collection::vec((request(ALLOCATION, 32, fault), order, any::<u32>()), 1..6)
}

/// Contents of memory from word 16 of the allocation on.
fn words() -> impl Strategy<Value = Vec<u32>> {
    (prop::collection::vec(0u32..4, 0..8), objects()).prop_map(|(mut words, objects)| {
        for (at, object) in objects {
            words.resize(words.len().max(at + 2), 0);
            (words[at], words[at + 1]) = (object as u32, (object >> 32) as u32);
        }
        words
    })
}

fn begin(geometry: Geometry, words: &[u32]) -> (Machine, Checker) {
    let (mut machine, mut checker) = (Machine::new(geometry, ALLOCATION), Checker::new(geometry));
    checker.set_allocation(0, Some(ALLOCATION));
    for (i, &value) in words.iter().enumerate() {
        let word = ALLOCATION.base_row * geometry.banks + 16 + i as u32;
        machine.set_word(word, value);
        checker.set_word(word, value);
    }
    (machine, checker)
}

/// Runs a sequence. `see(i)` is true if the words written by request `i` are shown to the checker.
fn accepts(
    geometry: Geometry,
    words: &[u32],
    sequence: &[Turn],
    see: impl Fn(usize) -> bool,
) -> Result<(), TestCaseError> {
    let (mut machine, mut checker) = begin(geometry, words);
    for (i, (req, order, merged)) in sequence.iter().enumerate() {
        let lanes = active(req, &geometry);
        let order: Vec<usize> = order.iter().copied().filter(|lane| lanes.contains(lane)).collect();
        let (resp, written) = machine.run_merged(req, &order, *merged);
        let after: Vec<(u32, u32)> = written.iter().map(|&w| (w, machine.word(w))).collect();
        match checker.request(req, heard(req, &resp), see(i).then_some(&after)) {
            Err(rejection) if rejection.is_undecided() => return Ok(()),
            verdict => prop_assert_eq!(verdict, Ok(()), "request {}", i),
        }
    }
    prop_assert_eq!(checker.finish(|w| machine.word(w)), Ok(()));
    for (w, _) in checker.memory().iter().enumerate() {
        prop_assert!(checker.possible(w as u32).contains(&machine.word(w as u32)));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    /// Every order is accepted if the written words are shown.
    #[test]
    fn a_serial_machine_is_accepted(g in geometry(), w in words(), s in sequence(0)) {
        accepts(g, &w, &s, |_| true)?;
    }

    /// Correct faults are accepted; they touch no memory.
    #[test]
    fn its_faults_are_accepted(g in geometry(), w in words(), s in sequence(5)) {
        accepts(g, &w, &s, |_| true)?;
    }

    /// Correct requests are accepted if their written words are shown rarely or never.
    #[test]
    fn memory_need_not_be_seen(
        g in geometry(), w in words(), s in sequence(0), seen in any::<u8>(),
    ) {
        accepts(g, &w, &s, |_| false)?;
        accepts(g, &w, &s, |i| seen >> i & 1 == 1)?;
    }
}
