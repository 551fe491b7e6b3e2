//! Bugs in the outputs of the unit, which the scoreboard must reject.

use atoms_model::Config;
use atoms_model::port::Out;
use atoms_stimulus::Profile;

use crate::bench::Bench;

type Spoil = fn(&mut Out, &mut u64);

struct Planted {
    name: &'static str,
    profile: &'static str,
    /// Changes the outputs of a cycle; the number counts the events of the kind so far.
    spoil: Spoil,
    /// Clauses that may be named.
    clauses: &'static [&'static str],
}

/// True for event 40 of those for which `is` holds.
fn once(count: &mut u64, is: bool) -> bool {
    *count += u64::from(is);
    is && *count == 40
}

#[rustfmt::skip]
const PLANTED: &[Planted] = &[
    Planted { name: "a result", profile: "default", clauses: &["spec 4.2", "spec 4.5", "spec 3.5", "spec 3", "spec 6.6"],
        spoil: |out, count| if once(count, out.rsp_valid == 1 && out.rsp_rd[0] != 0) { out.rsp_rd[0] ^= 2 } },
    Planted { name: "a result that was 0", profile: "busy", clauses: &["spec 2.6", "spec 3", "spec 4.2", "spec 4.5"],
        spoil: |out, count| if once(count, out.rsp_valid == 1 && out.rsp_rd[5] == 0) { out.rsp_rd[5] = 1 } },
    Planted { name: "a predicate", profile: "default", clauses: &["spec 3", "spec 3.2", "spec 4.2", "spec 5.1", "spec 5.3", "spec 5.4", "spec 6.5"],
        spoil: |out, count| if once(count, out.rsp_valid == 1 && out.rsp_pred != 0) { out.rsp_pred ^= 1 << out.rsp_pred.trailing_zeros() } },
    Planted { name: "a fault", profile: "faults", clauses: &["spec 2.4", "spec 3.3", "spec 6.7"],
        spoil: |out, count| if once(count, out.rsp_valid == 1 && out.rsp_fault != 0) { out.rsp_fault = out.rsp_fault % 3 + 1 } },
    Planted { name: "the number of passes", profile: "default", clauses: &["spec 4.3"],
        spoil: |out, count| if once(count, out.rsp_valid == 1) { out.rsp_passes += 1 } },
    Planted { name: "a cluster result", profile: "default", clauses: &["spec 4.2", "spec 4.5", "spec 3.5", "spec 3"],
        spoil: |out, count| if once(count, out.cl_rsp_valid == 1 && out.cl_rsp_rd != 0) { out.cl_rsp_rd ^= 1 } },
    Planted { name: "a tag", profile: "default", clauses: &["spec 4.6"],
        spoil: |out, count| if once(count, out.cl_rsp_valid == 1) { out.cl_rsp_tag ^= 1 } },
    Planted { name: "a response without a request", profile: "busy", clauses: &["spec 4.6", "spec 4.7"],
        spoil: |out, count| if once(count, out.cl_rsp_valid == 0) { out.cl_rsp_valid = 1 } },
    Planted { name: "a wake-up that tells nothing", profile: "objects", clauses: &["spec 6.3", "spec 6.10", "spec 6.12"],
        spoil: |out, count| if once(count, out.wake_valid == 1 && out.wake_pred != 0) { out.wake_pred = 0 } },
    Planted { name: "a wake-up that is early", profile: "objects", clauses: &["spec 6.3", "spec 6.12"],
        spoil: |out, count| if once(count, out.wake_valid == 1 && out.wake_pred == 0) { out.wake_pred = 1 } },
    Planted { name: "the answer of the CTA table", profile: "default", clauses: &["spec 1.3"],
        spoil: |out, _| out.cta_reject ^= 1 },
];

#[test]
fn every_planted_bug_is_rejected_with_its_clause() {
    let small = Config { num_lanes: 8, num_banks: 8, num_rows: 64, num_cta_slots: 4, ..Config::default() };
    let mut missed = Vec::new();
    for Planted { name, profile, spoil, clauses } in PLANTED {
        for observed in [false, true] {
            // A change can be without effect for some requests, so that one of a few runs must show it.
            let rejected = (0..4).find_map(|seed| {
                let (mut bench, mut count) = (Bench::new(small, observed), 0);
                let named = Profile::named(profile).expect("a profile of this name");
                bench.run(named, 2000, seed, |out| spoil(out, &mut count)).err()
            });
            match rejected {
                Some(verdict) if clauses.contains(&verdict.rejection.clause()) => {
                    println!("{name}: {verdict}")
                }
                found => missed.push(format!("{name}, observed {observed}: {found:?}")),
            }
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}
