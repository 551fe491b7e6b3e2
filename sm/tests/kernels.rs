//! Whole kernels from the listing to the result, for every architecture with a listing. They run on the
//! functional port, and on the cycle-accurate model in several configurations.

use crate::functional;

use atoms_isa::Program;
use atoms_model::config::WinnerPolicy;
use atoms_model::{Config, Unit};
use atoms_ops::Op;
use atoms_sm::{Buffer, InstructionProfile, Launch, MemoryPort, Outcome, RunReport, SmConfig, run};
use functional::{FunctionalPort, Shape};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

const ARCHES: [&str; 4] = ["sm_75", "sm_80", "sm_90a", "sm_100a"];

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/kernels")
}

fn read(file: &str) -> Program {
    let path = folder().join(file);
    let text = std::fs::read_to_string(&path).unwrap();
    Program::read(&path.display().to_string(), &text, None)
        .unwrap_or_else(|e| panic!("{:?}", miette::Report::new(e)))
}

fn program(kernel: &str, arch: &str) -> Program {
    read(&format!("{kernel}.{arch}.sass"))
}

/// PTX from which the compiler made the kernel.
fn from_ptx(kernel: &str, arch: &str) -> Program {
    read(&format!("{kernel}.{arch}.ptx"))
}

fn launch(kernel: &str) -> Launch {
    Launch::from_file(&folder().join(format!("{kernel}.launch.toml"))).unwrap()
}

fn run_on(program: &Program, launch: &Launch, shape: Shape) -> RunReport {
    let mut port = FunctionalPort::new(shape);
    let report = run_behind(program, launch, &mut port);
    assert!(port.clean(), "every part is taken away");
    report
}

fn run_behind<P: MemoryPort>(program: &Program, launch: &Launch, port: &mut P) -> RunReport {
    let kernel = launch.kernel(program).unwrap();
    let report = run(kernel, launch, port, &SmConfig::default()).unwrap_or_else(|e| panic!("{e}"));
    let outcomes: Vec<_> = report.buffers.iter().map(|b| &b.outcome).collect();
    check_profile(&report);
    assert!(report.as_expected(), "{} {}: {outcomes:?}", kernel.name, kernel.arch);
    report
}

/// Checks that the counters of all instructions add up to the counters of the run.
fn check_profile(report: &RunReport) {
    let s = &report.statistics;
    let sum = |of: &dyn Fn(&InstructionProfile) -> u64| s.instructions.iter().map(of).sum::<u64>();
    assert_eq!(sum(&|p| p.requests), s.shared_requests);
    // A suspended request takes an extra pass at its wake-up.
    assert_eq!(sum(&|p| p.passes), s.passes + s.suspended);
    assert_eq!(sum(&|p| p.cluster_requests), s.cluster_requests);
    let spins: Vec<_> = s.instructions.iter().filter(|p| p.op == Op::CastSpin).collect();
    assert_eq!(spins.iter().map(|p| p.attempts).sum::<u64>(), s.spin_attempts);
    assert_eq!(spins.iter().map(|p| p.successes).sum::<u64>(), s.spin_successes);
    for profile in &s.instructions {
        assert_eq!(profile.by_passes.iter().sum::<u64>(), profile.requests, "{profile:?}");
        assert!(profile.lanes >= profile.requests, "{profile:?}");
    }
}

/// Configurations that differ in every parameter that could affect a kernel.
fn configs() -> [Config; 4] {
    let default = Config::default();
    [
        default,
        Config { forwarding: false, rmw_latency: 3, winner_policy: WinnerPolicy::Rotating, ..default },
        Config { num_banks: 64, rmw_latency: 6, merge_red: true, queue_depth: 8, ..default },
        Config {
            num_lanes: 16,
            num_banks: 16,
            num_cta_slots: 3,
            bank_hash: true,
            queue_depth: 1,
            merge_arrive: true,
            num_waiters: 2,
            try_wait_limit: 50,
            ..default
        },
    ]
}

/// Runs a kernel for all architectures, on the functional port and on the model, and passes each report to
/// `check`.
fn on_each(kernel: &str, check: impl Fn(&RunReport, &Launch)) {
    on_arches(kernel, &ARCHES, check);
}

fn on_arches(kernel: &str, arches: &[&str], check: impl Fn(&RunReport, &Launch)) {
    let launch = launch(kernel);
    let programs = arches.iter().flat_map(|arch| [program(kernel, arch), from_ptx(kernel, arch)]);
    for program in programs {
        let report = run_on(&program, &launch, Shape::default());
        assert!(report.statistics.shared_requests > 0);
        check(&report, &launch);
        for config in configs() {
            let mut port = Unit::new(config);
            port.memory_mut().fill(0xdead_beef);
            check(&run_behind(&program, &launch, &mut port), &launch);
        }
    }
}

fn ints(buffer: &Buffer) -> Vec<i128> {
    let count = buffer.bytes.len() / buffer.element.bytes();
    (0..count).map(|i| buffer.element.to_int(buffer.element.read(&buffer.bytes, i)).unwrap()).collect()
}

fn floats(buffer: &Buffer) -> Vec<f64> {
    let count = buffer.bytes.len() / buffer.element.bytes();
    (0..count).map(|i| buffer.element.to_float(buffer.element.read(&buffer.bytes, i))).collect()
}

fn met(report: &RunReport, name: &str) {
    assert!(matches!(report.buffer(name).unwrap().outcome, Outcome::Met { .. }));
}

#[test]
fn hist_u32() {
    on_each("hist_u32", |report, _| {
        met(report, "out");
        assert_eq!(report.statistics.ctas, 2);
        // Each counted byte is one lane of one ATOMS.
        assert!(report.statistics.requests(Op::Add) + report.statistics.requests(Op::PopcInc) >= 5000 / 32);
    });
}

#[test]
fn hist_u64() {
    on_each("hist_u64", |report, _| {
        met(report, "out");
        assert_eq!(report.statistics.spin_successes, 1500);
        assert!(report.statistics.spin_attempts > 1500);
    });
}

#[test]
fn accum_f32() {
    on_each("accum_f32", |report, _| {
        met(report, "out");
        assert_eq!(report.statistics.spin_successes, 1000);
    });
}

#[test]
fn accum_half() {
    on_each("accum_half", |report, _| met(report, "out"));
}

#[test]
fn accum_half2() {
    on_each("accum_half2", |report, _| {
        let [input, ix, out] = ["in", "ix", "out"].map(|name| report.buffer(name).unwrap());
        let (input, ix) = (floats(input), ints(ix));
        let mut sums = vec![0.0; 128];
        for (i, index) in ix.iter().enumerate() {
            let at = 2 * (index & 63) as usize;
            sums[at] += input[2 * i];
            sums[at + 1] += input[2 * i + 1];
        }
        assert_eq!(floats(out), sums);
    });
}

#[test]
fn cas_u16_stores_one_value_in_each_place() {
    on_each("cas_u16", |report, _| {
        let (input, out) = (ints(report.buffer("in").unwrap()), ints(report.buffer("out").unwrap()));
        let mut winners = BTreeMap::new();
        for (value, found) in input.iter().zip(&out).filter(|(_, found)| **found == 0) {
            assert_eq!(winners.insert(value & 63, *value), None, "{value} and another found {found}");
        }
        for (value, found) in input.iter().zip(&out).filter(|(_, found)| **found != 0) {
            assert_eq!(winners.get(&(value & 63)), Some(found), "for {value}");
        }
    });
}

#[test]
fn exch64_list_holds_every_node_once() {
    let before = launch("exch64_list");
    on_each("exch64_list", |report, launch| {
        assert_eq!(launch, &before);
        let nodes = report.buffer("nodes").unwrap();
        let words = ints(nodes);
        let mut seen = BTreeSet::new();
        for (list, head) in ints(report.buffer("heads").unwrap()).into_iter().enumerate() {
            let mut next = head;
            while next != 0 {
                let node = (next - i128::from(nodes.address)) / 16;
                assert!(seen.insert(node), "node {node} twice");
                assert_eq!(words[2 * node as usize + 1] & 31, list as i128);
                next = words[2 * node as usize];
            }
        }
        assert_eq!(seen.len(), 400);
    });
}

#[test]
fn spin_lock_gives_the_result_of_some_order() {
    fn orders(left: [u32; 3], v: i128, results: &mut BTreeSet<i128>) {
        if left == [0; 3] {
            results.insert(v);
        }
        for warp in 0..3 {
            if left[warp] > 0 {
                let mut left = left;
                left[warp] -= 1;
                orders(left, 3 * v + 32 * warp as i128, results);
            }
        }
    }
    let mut results = BTreeSet::new();
    orders([3; 3], 0, &mut results);
    on_each("spin_lock", |report, _| {
        let out = ints(report.buffer("out").unwrap())[0];
        assert!(results.contains(&out), "{out}");
    });
}

#[test]
fn spin_lock_acqrel() {
    on_each("spin_lock_acqrel", |report, _| met(report, "out"));
}

#[test]
fn uniform_counter() {
    on_each("uniform_counter", |report, _| {
        let input = ints(report.buffer("in").unwrap());
        let out = ints(report.buffer("out").unwrap());
        let mut positive: Vec<_> = input.iter().copied().filter(|v| *v > 0).collect();
        let count = positive.len();
        assert_eq!(out[700], count as i128);
        assert_eq!(out[701], *input.iter().max().unwrap());
        let mut gathered = out[..count].to_vec();
        positive.sort_unstable();
        gathered.sort_unstable();
        assert_eq!(gathered, positive);
    });
}

#[test]
fn generic_addr_in_shared_memory() {
    on_each("generic_addr", |report, _| met(report, "g"));
}

#[test]
fn generic_addr_in_global_memory() {
    let text = std::fs::read_to_string(folder().join("generic_addr.launch.toml")).unwrap();
    let text = text.replace("value = 0\n", "value = 1\n");
    let (before, after) = text.split_once("expect = {").unwrap();
    let after = after.split_once('}').unwrap().1;
    let launch = Launch::from_toml("sel = 1", &format!("{before}{after}"), &folder()).unwrap();
    for arch in ARCHES {
        let report = run_on(&program("generic_addr", arch), &launch, Shape::default());
        let [g, f, q] = ["g", "f", "q"].map(|name| report.buffer(name).unwrap());
        let expected: Vec<i128> = (0..192).map(|i| if i < 64 { 6 } else { 0 }).collect();
        assert_eq!(ints(g), expected, "{arch}");
        assert_eq!(floats(f), vec![3.0; 64], "{arch}");
        // min(1000, t, t + 64); then 1 becomes 2 below element 32.
        let expected: Vec<i128> = (0..64).map(|i| if i == 1 { 2 } else { i }).collect();
        assert_eq!(ints(q), expected, "{arch}");
    }
}

/// Code for sm_75 uses ordinary atomics for the barrier object; sm_80 has a special atomic for it.
#[test]
fn awbarrier() {
    on_each("awbarrier", |report, _| met(report, "d"));
    let report = run_on(&program("awbarrier", "sm_80"), &launch("awbarrier"), Shape::default());
    // Two phases per iteration and one at the end. Each of 8 warps arrives with one request.
    assert_eq!(report.statistics.requests(Op::MbarArriveSm80), 8 * 13);
    let report = run_on(&program("awbarrier", "sm_90a"), &launch("awbarrier"), Shape::default());
    assert_eq!(report.statistics.requests(Op::MbarArrive), 8 * 12 + 4);
    assert_eq!(report.statistics.requests(Op::MbarArriveDrop), 4);
}

#[test]
fn cpasync_mbar() {
    on_arches("cpasync_mbar", &ARCHES[1..], |report, _| {
        met(report, "out");
        assert_eq!((report.statistics.copies, report.statistics.copied_bytes), (2 * 1280, 2 * 20480));
        // One write and one arrival per thread and iteration.
        assert_eq!(report.statistics.cluster_requests, 2 * 2 * 1280);
    });
}

#[test]
fn cluster_mbar() {
    on_arches("cluster_mbar", &ARCHES[2..], |report, _| {
        met(report, "o");
        // Per CTA: 32 arrivals, 64 stores and 64 completions.
        assert_eq!(report.statistics.cluster_requests, 8 * (32 + 64 + 64));
    });
}

#[test]
fn tma_bulk() {
    on_arches("tma_bulk", &ARCHES[2..], |report, _| {
        met(report, "out");
        assert_eq!((report.statistics.copies, report.statistics.copied_bytes), (40, 40 * 1024));
        assert!(report.statistics.suspended > 0);
    });
}

#[test]
fn any_shape_and_any_stall() {
    for kernel in ["hist_u32", "hist_u64", "accum_f32", "uniform_counter", "awbarrier"] {
        let launch = launch(kernel);
        for (arch, lanes, banks, slots, seed) in [
            ("sm_75", 8, 8, 1, 2),
            ("sm_80", 16, 64, 2, 3),
            ("sm_90a", 4, 4, 3, 4),
            ("sm_100a", 32, 16, 16, 5),
        ] {
            let shape = Shape { lanes, banks, rows: 16384 / banks, slots, seed };
            run_on(&program(kernel, arch), &launch, shape);
        }
    }
}

#[test]
fn a_run_repeats_itself() {
    let (launch, program) = (launch("hist_u64"), program("hist_u64", "sm_80"));
    let once = run_on(&program, &launch, Shape::default());
    let again = run_on(&program, &launch, Shape::default());
    assert_eq!(once.statistics, again.statistics);
}
