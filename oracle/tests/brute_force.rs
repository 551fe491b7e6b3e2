//! The verdict equals that of a check which tries every order, for few lanes and for correct and corrupted
//! observations.

use crate::serial;

use std::collections::BTreeSet;

use atoms_ops::Op;
use atoms_oracle::{Allocation, Checker, Geometry, Response, SerialRequest};
use proptest::prelude::*;
use serial::{Machine, active, objects, orders, request, value};

const ALLOCATION: Allocation = Allocation { base_row: 0, size_bytes: 512, rank: 0 };

fn geometry(xor_hash: bool) -> Geometry {
    Geometry { lanes: 6, banks: 32, rows: 4, xor_hash }
}

/// A corruption of an observation: the lane or word to change, and the new value.
#[derive(Clone, Debug)]
enum Spoil {
    Nothing,
    Rd(usize, u128),
    SwapRd(usize, usize),
    Pred(usize),
    /// Changes predicate and Rd together, as a wrong CAST would.
    Flag(usize),
    Word(usize, u32),
}

fn spoil() -> impl Strategy<Value = Spoil> {
    prop_oneof![
        1 => Just(Spoil::Nothing),
        4 => (0usize..6, value()).prop_map(|(lane, value)| Spoil::Rd(lane, value)),
        2 => (0usize..6, 0usize..6).prop_map(|(a, b)| Spoil::SwapRd(a, b)),
        1 => (0usize..6).prop_map(Spoil::Pred),
        3 => (0usize..6).prop_map(Spoil::Flag),
        4 => (0usize..12, value()).prop_map(|(word, value)| Spoil::Word(word, value as u32)),
    ]
}

impl Spoil {
    fn apply(&self, resp: &mut Response, words: &mut [u32]) {
        match *self {
            Spoil::Nothing => {}
            Spoil::Rd(lane, value) => resp.rd[lane] = value,
            Spoil::SwapRd(a, b) => resp.rd.swap(a, b),
            Spoil::Pred(lane) => resp.pred ^= 1 << lane,
            Spoil::Flag(lane) => {
                resp.pred ^= 1 << lane;
                resp.rd[lane] = u128::from(resp.pred >> lane & 1);
            }
            // Most requests access words 16 to 27.
            Spoil::Word(word, value) => words[16 + word] = value,
        }
    }
}

fn words(machine: &Machine) -> Vec<u32> {
    (0..128).map(|w| machine.word(w)).collect()
}

fn machine(geometry: Geometry, words: &[u32]) -> Machine {
    let mut machine = Machine::new(geometry, ALLOCATION);
    words.iter().enumerate().for_each(|(w, &value)| machine.set_word(w as u32, value));
    machine
}

fn start() -> impl Strategy<Value = Vec<u32>> {
    let words = prop::collection::vec(prop_oneof![4 => 0u32..4, 1 => any::<u32>()], 128);
    (words, objects()).prop_map(|(mut words, objects)| {
        for (at, object) in objects {
            (words[16 + at], words[17 + at]) = (object as u32, (object >> 32) as u32);
        }
        words
    })
}

/// All orders of a request's lanes, each with all ways in which noComplete arrivals can arrive together.
fn turns(req: &SerialRequest, geometry: &Geometry) -> Vec<(Vec<usize>, u32)> {
    let merges = !req.red && Op::from_code(req.op).is_some_and(serial::gives_state);
    let lanes = active(req, geometry);
    let ways = if merges { 1 << lanes.len() } else { 1 };
    orders(&lanes).into_iter().flat_map(|order| (0..ways).map(move |way| (order.clone(), way))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6000))]

    /// One request of up to six lanes, with its written words shown.
    #[test]
    fn one_request_is_judged_as_by_all_orders(
        xor_hash in any::<bool>(), before in start(), req in request(ALLOCATION, 6, 0),
        spoils in prop::collection::vec(spoil(), 1..=2),
        pick in any::<prop::sample::Index>(),
    ) {
        let geometry = geometry(xor_hash);
        let turns = turns(&req, &geometry);
        let mut observed = machine(geometry, &before);
        let (order, way) = pick.get::<(Vec<usize>, u32)>(&turns);
        let (mut resp, _) = observed.run_merged(&req, order, *way);
        let mut after = words(&observed);
        spoils.iter().for_each(|spoil| spoil.apply(&mut resp, &mut after));

        let explained = turns.iter().any(|(order, way)| {
            let mut machine = machine(geometry, &before);
            let (serial, _) = machine.run_merged(&req, order, *way);
            serial == resp && words(&machine) == after
        });
        let mut checker = Checker::new(geometry);
        checker.set_allocation(0, Some(ALLOCATION));
        before.iter().enumerate().for_each(|(w, &value)| checker.set_word(w as u32, value));
        let changed: Vec<(u32, u32)> = (0..128u32)
            .filter(|&w| before[w as usize] != after[w as usize])
            .map(|w| (w, after[w as usize]))
            .collect();
        let verdict = checker.request(&req, &resp, Some(&changed));
        prop_assert_eq!(verdict.is_ok(), explained, "{:?}", verdict);
        // After any verdict, checking continues from the observed memory.
        prop_assert_eq!(checker.memory(), &after[..]);
    }
}

/// A request is correct from a set of memories if some order from some memory gives its response. The
/// memories after these orders are the next set.
fn follow(
    memories: &BTreeSet<Vec<u32>>,
    geometry: Geometry,
    req: &SerialRequest,
    resp: &Response,
) -> BTreeSet<Vec<u32>> {
    let turns = turns(req, &geometry);
    let mut left = BTreeSet::new();
    for memory in memories {
        for (order, way) in &turns {
            let mut machine = machine(geometry, memory);
            if machine.run_merged(req, order, *way).0 == *resp {
                left.insert(words(&machine));
            }
        }
    }
    left
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    /// Several requests without their written words, one of them corrupted, and the final memory.
    #[test]
    fn unseen_requests_are_judged_as_by_all_orders(
        before in start(),
        requests in prop::collection::vec((request(ALLOCATION, 4, 0), any::<prop::sample::Index>(), 0u8..3), 1..5),
        spoil_at in 0usize..6, spoil in spoil(),
    ) {
        let geometry = geometry(false);
        let mut observed = machine(geometry, &before);
        let mut checker = Checker::new(geometry);
        checker.set_allocation(0, Some(ALLOCATION));
        before.iter().enumerate().for_each(|(w, &value)| checker.set_word(w as u32, value));
        let mut memories = BTreeSet::from([before]);
        for (i, (req, pick, reds)) in requests.iter().enumerate() {
            let mut req = req.clone();
            req.red |= *reds > 0;
            let turns = turns(&req, &geometry);
            let (order, way) = pick.get::<(Vec<usize>, u32)>(&turns);
            let (mut resp, _) = observed.run_merged(&req, order, *way);
            if spoil_at == i {
                spoil.apply(&mut resp, &mut words(&observed));
            }
            memories = follow(&memories, geometry, &req, &resp);
            let verdict = checker.request(&req, &resp, None);
            prop_assert_eq!(verdict.is_ok(), !memories.is_empty(), "request {}: {:?}", i, verdict);
            if memories.is_empty() {
                return Ok(());
            }
        }
        let mut after = words(&observed);
        if spoil_at >= requests.len() {
            spoil.apply(&mut Response::default(), &mut after);
        }
        let verdict = checker.finish(|w| after[w as usize]);
        prop_assert_eq!(verdict.is_ok(), memories.contains(&after), "{:?}", verdict);
        for w in 0..128u32 {
            let all: BTreeSet<u32> = memories.iter().map(|m| m[w as usize]).collect();
            prop_assert_eq!(checker.possible(w), Vec::from_iter(all));
        }
    }
}
