//! Runs every legal spelling of an mbarrier operation in PTX, as the machine code of each architecture. RTL
//! and model run in lockstep with the oracle, and give the right results.
//!
//! `tests/vectors/mbarrier_forms.json` holds PTX lines. Each row has the architectures on which an assembler
//! gives the same machine code, and that code without parameter loads and padding [TOOLS]. Operands of the
//! lines: `%a` shared and `%ga` generic address of the object, `sm` a shared array, `%c` count, `%s` state,
//! `%par` parity, `%h` hint in nanoseconds. Results: `%st` and `%p1`.

use std::collections::{BTreeMap, BTreeSet};

use atoms_isa::Arch;
use atoms_tests::ptx::bench::PtxBench;
use atoms_tests::ptx::body::Body;
use atoms_tests::ptx::case::cases;
use atoms_tests::ptx::kernel::{BarrierKernel, Tail, layout};
use atoms_tests::ptx::spelling::{ROWS, SpelledOperation, SpelledReduction, Spelling};
use atoms_tests::test_each;
use serde::Deserialize;

/// Architectures with their numbers of cases.
const ARCHITECTURES: [(&str, usize); 6] =
    [("sm_80", 200), ("sm_89", 200), ("sm_90", 2172), ("sm_100", 2172), ("sm_107", 2172), ("sm_120", 2172)];

use SpelledOperation::*;

/// Number of lines that run for each operation, in the order of [`ARCHITECTURES`]. Before sm_90 there are no
/// transactions and no try_wait, and only noComplete has counts.
#[rustfmt::skip]
const LINES: &[(SpelledOperation, [usize; 6])] = &[
    (Init,                           [ 7,  7,  7,  7,  7,  7]),
    (Inval,                          [ 1,  1,  1,  1,  1,  1]),
    (ExpectTx,                       [ 0,  0,  8,  8,  8,  8]),
    (CompleteTx,                     [ 0,  0, 11, 11, 11, 11]),
    (Arrive,                         [ 5,  5, 35, 35, 35, 35]),
    (ArriveExpectTx,                 [ 0,  0, 35, 35, 35, 35]),
    (ArriveNoComplete,               [11, 11, 11, 11, 11, 11]),
    (ArriveDrop,                     [ 2,  2, 36, 36, 36, 36]),
    (ArriveDropExpectTx,             [ 0,  0, 31, 31, 31, 31]),
    (ArriveDropNoComplete,           [ 8,  8,  8,  8,  8,  8]),
    (TestWait,                       [ 2,  2,  6,  6,  6,  6]),
    (TryWait,                        [ 0,  0, 41, 41, 41, 41]),
    (PendingCount,                   [ 1,  1,  1,  1,  1,  1]),
    (CopyArrive,                     [ 1,  1,  1,  1,  1,  1]),
    (CopyArriveNoinc,                [ 2,  2,  2,  2,  2,  2]),
    (BulkCopy,                       [ 0,  0,  1,  1,  1,  1]),
    (StoreAsync,                     [ 0,  0,  1,  1,  1,  1]),
    (ReduceAsync(SpelledReduction::Add),     [ 0,  0,  2,  2,  2,  2]),
    (ReduceAsync(SpelledReduction::AddWide), [ 0,  0,  1,  1,  1,  1]),
    (ReduceAsync(SpelledReduction::Dec),     [ 0,  0,  1,  1,  1,  1]),
];

#[derive(Deserialize)]
struct Form {
    ptx: String,
    targets: Vec<String>,
    sass: Vec<String>,
}

fn forms() -> Vec<Form> {
    let text = include_str!("../vectors/mbarrier_forms.json");
    serde_json::from_str(text).expect("the rows are readable")
}

struct Line {
    ptx: String,
    spelling: Spelling,
    body: Body,
}

fn lines(arch: Arch) -> Vec<Line> {
    let name = arch.to_string();
    let here = forms().into_iter().filter(|form| form.targets.contains(&name));
    here.map(|form| {
        let spelling = Spelling::parse(&form.ptx).unwrap_or_else(|e| panic!("{e}"));
        let body = Body::read(&form.sass, arch, &spelling)
            .unwrap_or_else(|e| panic!("`{}` on {name}: {e}", form.ptx));
        Line { ptx: form.ptx, spelling, body }
    })
    .collect()
}

/// Runs every line of an architecture in every case.
fn every_line_runs(_: &str, column: usize, configuration: &str) {
    let (name, tried) = ARCHITECTURES[column];
    let arch = Arch::from_name(name).expect("an architecture");
    let lines = lines(arch);
    let counting = lines.iter().find(|line| line.spelling.operation == PendingCount);
    let tail = counting.and_then(|line| Tail::of(&line.body)).expect("pending_count is among the lines");
    let mut bench = PtxBench::new(configuration);
    let mut failures = Vec::new();
    let (mut ran, mut cases_ran, mut apart_ran, mut remote_ran) = (BTreeMap::new(), 0, 0, 0);
    for line in &lines {
        let Line { ptx, spelling, body } = line;
        *ran.entry(spelling.operation).or_insert(0) += 1;
        for case in &cases(spelling, layout(arch)) {
            cases_ran += 1;
            apart_ran += usize::from(case.objects.len() > 1);
            remote_ran += usize::from(case.ctas > 1);
            let kernel = BarrierKernel { arch, spelling, body, case, tail: &tail };
            failures.extend(bench.check(&kernel).err().map(|why| format!("`{ptx}`, {why}")));
        }
    }
    let first = failures.first().map_or("", String::as_str);
    assert!(
        failures.is_empty(),
        "{} of {cases_ran} cases fail on {name}, the first: {first}",
        failures.len()
    );
    for (operation, lines) in LINES {
        let ran = ran.remove(operation).unwrap_or(0);
        assert_eq!(ran, lines[column], "lines of {operation:?} on {name}");
    }
    assert!(ran.is_empty(), "operations that are not in the table: {ran:?}");
    assert_eq!(cases_ran, tried, "cases on {name}");
    let tally = bench.tally();
    let fields = arch.number() >= 90;
    assert!(apart_ran > 0 && fields == (remote_ran > 0), "objects apart, and in other CTAs");
    assert!(fields == (tally.wake_ups > 0 && tally.time_outs > 0), "waits end both ways");
}

test_each! {
    every_line_runs;
    sm_80(0, "default")
    sm_89(1, "default")
    sm_90(2, "default")
    sm_100(3, "default")
    sm_107(4, "default")
    sm_120(5, "default")
    #[ignore = "nightly: another configuration"]
    sm_80_merging(0, "merging")
    #[ignore = "nightly: another configuration"]
    sm_90_merging(2, "merging")
    #[ignore = "nightly: another configuration"]
    sm_90_rotating(2, "rotating")
    #[ignore = "nightly: another configuration"]
    sm_100_hashed(3, "hashed")
}

#[test]
fn every_row_of_the_specification_has_lines() {
    for row in ROWS {
        let lines = LINES.iter().find(|(operation, _)| *operation == row).map(|(_, lines)| lines);
        let lines = lines.unwrap_or_else(|| panic!("{row:?} is not in the table"));
        assert!(lines[2..].iter().all(|n| *n > 0), "{row:?} has no line on some architecture");
    }
}

#[test]
fn no_architecture_is_forgotten() {
    let forms = forms();
    let known: BTreeSet<&str> = ARCHITECTURES.iter().map(|(name, _)| *name).collect();
    let found: BTreeSet<&str> = forms.iter().flat_map(|form| &form.targets).map(String::as_str).collect();
    assert_eq!(found, known);
    for (column, (name, _)) in ARCHITECTURES.iter().enumerate() {
        let there = forms.iter().filter(|form| form.targets.iter().any(|t| t == name)).count();
        assert_eq!(LINES.iter().map(|(_, lines)| lines[column]).sum::<usize>(), there, "lines on {name}");
    }
}
