//! Every program of the capture kit, in the order of execution.

use fastrand::Rng;

use crate::experiment;
use crate::instruction::{ACCESSES, ATOMICS, LOOPS, Meaning, TestInstruction};
use crate::program::{Spread, TestProgram};
use crate::programs::barrier;
use crate::programs::cases::{Asked, of_cases};
use crate::programs::draw;
use crate::programs::kernel::Spelled;
use crate::programs::timing;

const CASES: usize = 20;

const REQUESTS: usize = 3;

/// Number of mbarrier programs per architecture (`SEQUENCES`), and number of instructions in each
/// (`SEQUENCE_STEPS`).
const SEQUENCES: usize = 12;
const SEQUENCE_STEPS: usize = 10;

/// Distributions of the 32 lanes of a request over warps or CTAs, used in addition to `Spread::Warp` (all
/// lanes in one warp).
const SPREADS: [Spread; 4] = [Spread::Warps(2), Spread::Warps(8), Spread::Cluster(2), Spread::Cluster(4)];

/// PTX qualifiers for memory order and scope. `.cluster` needs sm_90 or later.
const ORDERS: [&str; 13] = [
    ".relaxed.cta",
    ".acquire.cta",
    ".release.cta",
    ".acq_rel.cta",
    ".relaxed.gpu",
    ".acquire.gpu",
    ".release.gpu",
    ".acq_rel.gpu",
    ".acq_rel.sys",
    ".relaxed.cluster",
    ".acquire.cluster",
    ".release.cluster",
    ".acq_rel.cluster",
];

/// Number of entries at the start of [`ORDERS`] that do not need clusters.
const BEFORE_CLUSTERS: usize = 9;

/// Returns all programs for a seed. Experiments come first, then tests of behaviour, then timing: a run that
/// is stopped early has the most important programs.
pub fn programs(seed: u64) -> Vec<TestProgram> {
    let mut programs = experiment::programs();
    programs.extend(behaviour(seed));
    programs.extend(timing::programs());
    programs
}

fn behaviour(seed: u64) -> Vec<TestProgram> {
    let mut rng = Rng::with_seed(seed);
    let mut programs = Vec::new();
    for (n, instruction) in [ATOMICS, LOOPS, ACCESSES].into_iter().flatten().enumerate() {
        programs.push(requests(&mut rng, instruction, Spread::Warp, ""));
        if instruction.is_atomic() {
            let spread = SPREADS[n % SPREADS.len()];
            // Draw one memory order and one scope for each instruction. The next loop uses all orders and
            // scopes, but only for a few instructions.
            let known = if spread.ctas() > 1 { ORDERS.len() } else { BEFORE_CLUSTERS };
            let orders: Vec<_> = ORDERS[..known].iter().filter(|order| instruction.takes(order)).collect();
            programs.push(requests(&mut rng, instruction, spread, orders[n % orders.len()]));
        }
    }
    for name in ["atom.add.u32", "atom.cas.b64", "red.xor.b32", "atom.add.f32"] {
        if let Some(instruction) = TestInstruction::named(name) {
            let orders = ORDERS.iter().filter(|order| instruction.takes(order));
            programs.extend(orders.map(|order| requests(&mut rng, instruction, Spread::Warp, order)));
            programs.extend(SPREADS.map(|spread| requests(&mut rng, instruction, spread, "")));
        }
    }
    // Use a cluster of two CTAs: compilers emit different code for remote shared memory, depending on the
    // operation.
    let by_two = |instruction| requests(&mut rng, instruction, Spread::Cluster(2), "");
    programs.extend([ATOMICS, LOOPS].into_iter().flatten().map(by_two));
    for since in [80, 90] {
        for n in 0..SEQUENCES {
            programs.push(barriers(&mut rng, since, Spread::Warp, n));
        }
    }
    for n in 0..SEQUENCES {
        programs.push(barriers(&mut rng, 90, SPREADS[2 + n % 2], n));
    }
    // Two draws can have the same instruction, spread and order, and so the same name.
    programs.sort_by(|a, b| a.name.cmp(&b.name));
    programs.dedup_by(|a, b| a.name == b.name);
    programs
}

fn place(spread: Spread) -> String {
    match spread {
        Spread::Warp => "a warp".into(),
        Spread::Warps(n) => format!("{n} warps"),
        Spread::Cluster(n) => format!("{n} CTAs"),
    }
}

fn requests(
    rng: &mut Rng,
    instruction: &'static TestInstruction,
    spread: Spread,
    order: &'static str,
) -> TestProgram {
    let spelled: Vec<Spelled> =
        (0..REQUESTS).map(|_| Spelled { order, ..Spelled::plain(instruction) }).collect();
    let cases: Vec<_> = (0..CASES).map(|_| draw::case(rng, instruction, REQUESTS)).collect();
    let about = format!("{}{order} by {}", instruction.name, place(spread));
    let cluster = spread.ctas() > 1 || order.ends_with(".cluster");
    let asks = Asked {
        name: &about,
        asks: format!("does some serial order of the lanes explain the results of {about}"),
        undefined: instruction.is_open(spread.ctas()),
    };
    let mut clauses = match instruction.meaning {
        Meaning::Loop { .. } => vec!["4.5", "7.2", "7.3"],
        _ if instruction.is_atomic() => vec!["1.1", "3", "4.5"],
        _ => vec!["1.1", "3.5"],
    };
    if !order.is_empty() {
        clauses.push("7.4");
    }
    if spread.ctas() > 1 {
        clauses.push("7.5");
    }
    let since = instruction.since.max(if cluster { 90 } else { 70 });
    of_cases(asks, &clauses, since, spread, &spelled, &cases)
}

fn barriers(rng: &mut Rng, since: u32, spread: Spread, n: usize) -> TestProgram {
    let spelled = barrier::sequence(rng, since, SEQUENCE_STEPS, spread.ctas() > 1);
    let cases: Vec<_> = (0..CASES).map(|_| barrier::case(rng, &spelled, spread.ctas())).collect();
    let name = format!("mbarrier sequence {n} of sm_{since} by {}", place(spread));
    let asks = format!("do mbarrier objects complete phases as specified: {name}");
    let clauses: &[&str] = match (since, spread) {
        (80, _) => &["6.2", "6.2.1", "6.3", "6.4", "6.5", "6.6"],
        (_, Spread::Cluster(_)) => &["6.2", "6.3", "6.4", "6.7"],
        (_, Spread::Warp | Spread::Warps(_)) => &["6.2", "6.3", "6.4", "6.5", "6.6"],
    };
    of_cases(Asked { name: &name, asks, undefined: false }, clauses, since, spread, &spelled, &cases)
}
