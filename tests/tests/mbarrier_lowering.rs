//! Lowering of instructions on mbarrier objects. The code matches a real assembler, and lines that the
//! assembler refuses are refused. The code runs in lockstep with the oracle, and gives the right results.
//!
//! `tests/vectors/lowering_sample.json` holds PTX lines. Each row has the architectures on which an assembler
//! gives the same output, and that output [TOOLS]. These tests use the rows of kind `mbarrier`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use atoms_isa::Arch;
use atoms_tests::ptx::bench::PtxBench;
use atoms_tests::ptx::case::cases;
use atoms_tests::ptx::compare::{self, View};
use atoms_tests::ptx::kernel::{BarrierKernel, Tail, layout};
use atoms_tests::ptx::lowered::lower;
use atoms_tests::ptx::product;
use atoms_tests::ptx::spelling::Spelling;
use atoms_tests::test_each;
use serde::Deserialize;

#[derive(Deserialize)]
struct Row {
    kind: String,
    ptx: String,
    targets: Vec<String>,
    #[serde(flatten)]
    said: Said,
}

#[derive(Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
enum Said {
    Ok { sass: Vec<String> },
    Error { error: String },
}

fn rows() -> Vec<Row> {
    let text = include_str!("../vectors/lowering_sample.json");
    let rows: Vec<Row> = serde_json::from_str(text).expect("the rows are readable");
    rows.into_iter().filter(|row| row.kind == "mbarrier").collect()
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Count {
    taken: usize,
    /// Accepted rows with the same memory instructions and loops.
    same: usize,
    /// Accepted rows with the same operands too, except for register numbers.
    operands: usize,
    /// Accepted rows with the same moves and address arithmetic too.
    full: usize,
    refused: usize,
    /// Refused rows that the lowering refuses too.
    agreed: usize,
    /// Refused rows with the same error message.
    words: usize,
}

#[rustfmt::skip]
const REACHED: [(&str, Count); 7] = [
    //                     taken      same        operands       full       refused       agreed       words
    ("sm_75",  Count { taken:   0, same:   0, operands:   0, full:   0, refused: 321, agreed: 321, words: 321 }),
    ("sm_80",  Count { taken:  40, same:  40, operands:  40, full:  40, refused: 281, agreed: 281, words: 281 }),
    ("sm_89",  Count { taken:  40, same:  40, operands:  40, full:  40, refused: 281, agreed: 281, words: 281 }),
    ("sm_90",  Count { taken: 240, same: 240, operands: 240, full: 230, refused:  81, agreed:  81, words:  81 }),
    ("sm_100", Count { taken: 240, same: 240, operands: 240, full: 232, refused:  81, agreed:  81, words:  81 }),
    ("sm_107", Count { taken: 240, same: 240, operands: 240, full: 231, refused:  81, agreed:  81, words:  81 }),
    ("sm_120", Count { taken: 240, same: 240, operands: 240, full: 232, refused:  81, agreed:  81, words:  81 }),
];

const FROM_90: &[&str] = &["sm_90", "sm_100", "sm_107", "sm_120"];

/// Lines that differ in moves and address arithmetic: start of the line, architectures, and reason.
#[rustfmt::skip]
const MOVES: &[(&str, &[&str], &str)] = &[
    ("mbarrier.init.shared.b64 [%a+8388608], %c;",  &["sm_90"],  "the far part of an offset is added by VIADD where the sum becomes uniform"),
    ("mbarrier.init.shared.b64 [%a+16777216], %c;", &["sm_90"],  "the same"),
    ("mbarrier.arrive.shared.b64 %st,[sm+16];",     &["sm_107"], "the rank of the CTA is at hand"),
    ("mbarrier.try_wait.parity.shared.b64 %p1,[sm+24],0;",   FROM_90, "a constant is made between the steps of the variable's address"),
    ("mbarrier.arrive.expect_tx.shared.b64 _,[sm+24],256;",  FROM_90, "the same"),
    ("mapa.shared::cluster.u32 %r2,%a,%c; mbarrier.arrive.", FROM_90, "a constant is made before mapa"),
    ("st.async.weak.",                              FROM_90,     "the kernel has both addresses in one pair"),
    ("red.async.relaxed.cluster.",                  FROM_90,     "the same"),
];

#[test]
fn lowered_code_is_that_of_an_assembler() {
    let mut moved: BTreeSet<(&str, String)> = BTreeSet::new();
    let mut counts: BTreeMap<String, Count> = BTreeMap::new();
    let mut differences = String::new();
    for row in rows() {
        for target in &row.targets {
            let arch = Arch::from_name(target).expect("an architecture");
            let count = counts.entry(target.clone()).or_default();
            let lowered = lower(&row.ptx, arch).map(|lowered| lowered.lines);
            let mut differs = |what: &str, theirs: &dyn std::fmt::Debug, ours: &dyn std::fmt::Debug| {
                writeln!(differences, "{what}: {target} `{}`\n  {theirs:#?}\n  {ours:#?}", row.ptx)
                    .expect("a string takes all");
            };
            match (&row.said, &lowered) {
                (Said::Ok { sass: theirs }, Ok(ours)) => {
                    count.taken += 1;
                    for (view, same) in [
                        (View::Mnemonics, &mut count.same),
                        (View::Operands, &mut count.operands),
                        (View::Full, &mut count.full),
                    ] {
                        let (theirs, ours) = (compare::seen(theirs, view), compare::seen(ours, view));
                        *same += usize::from(theirs == ours);
                        let named = MOVES.iter().find(|(line, ..)| row.ptx.starts_with(line));
                        if let (View::Full, true, Some((line, ..))) = (view, theirs != ours, named) {
                            moved.insert((line, target.clone()));
                        } else if theirs != ours {
                            differs(&format!("{view:?}"), &theirs, &ours);
                        }
                    }
                }
                (Said::Error { error: theirs }, Err(ours)) => {
                    count.refused += 1;
                    count.agreed += 1;
                    count.words += usize::from(*theirs == ours.message);
                    if *theirs != ours.message {
                        differs("words", theirs, &ours.message);
                    }
                    assert!(!ours.help.is_empty(), "`{}` is refused without help", row.ptx);
                }
                (Said::Ok { sass: theirs }, Err(ours)) => {
                    count.taken += 1;
                    differs("legality", theirs, ours);
                }
                (Said::Error { error: theirs }, Ok(ours)) => {
                    count.refused += 1;
                    differs("legality", theirs, ours);
                }
            }
        }
    }
    assert!(differences.is_empty(), "{differences}");
    let named: BTreeSet<(&str, String)> = MOVES
        .iter()
        .flat_map(|(line, targets, _)| targets.iter().map(|target| (*line, target.to_string())))
        .collect();
    assert_eq!(moved, named, "lines that differ in moves");
    println!("target  taken: same operands full   refused: agreed words");
    for (target, count) in &counts {
        let Count { taken, same, operands, full, refused, agreed, words } = count;
        println!(
            "{target:<7}  {taken:4} {same:5}    {operands:5} {full:4}       {refused:3}    {agreed:3}   {words:3}"
        );
    }
    let columns = REACHED.map(|(target, _)| counts.get(target).copied().unwrap_or_default());
    for (what, number) in [
        ("legal lines", (|c| c.taken) as fn(&Count) -> usize),
        ("same instructions, modifiers, order", |c| c.same),
        ("same operands too, but for register numbers", |c| c.operands),
        ("same with moves and address arithmetic", |c| c.full),
        ("refused lines", |c| c.refused),
        ("refused here", |c| c.agreed),
        ("in the same words", |c| c.words),
    ] {
        let numbers: String = columns.iter().map(|count| format!(" {} |", number(count))).collect();
        let line = format!("| {what} |{numbers}\n");
        assert!(include_str!("../../docs/lowering.md").contains(&line), "docs/lowering.md lacks\n{line}");
    }
    for (target, reached) in REACHED {
        assert_eq!(counts.remove(target), Some(reached), "{target}");
    }
    assert!(counts.is_empty(), "architectures that are not in the table: {counts:?}");
}

/// Architectures that run, with the numbers of lines and cases.
const RUNS: [(&str, usize, usize); 6] = [
    ("sm_80", 378, 1597),
    ("sm_89", 378, 1597),
    ("sm_90", 2833, 19254),
    ("sm_100", 2833, 19254),
    ("sm_107", 2833, 19254),
    ("sm_120", 2833, 19254),
];

/// Runs every line of the sample and of the cross product that the architecture supports, in every case.
fn every_lowered_line_runs(name: &str) {
    let (_, lines, cases) = RUNS.into_iter().find(|row| row.0 == name).expect("it is in the table");
    let sample = rows().into_iter().map(|row| row.ptx);
    let ran = run_lines(name, sample.chain(product::lines()).collect());
    assert_eq!(ran, (lines, cases), "lines and cases on {name}");
}

#[test]
fn every_lowered_line_of_the_sample_runs_on_sm_90() {
    let (lines, _) = run_lines("sm_90", rows().into_iter().map(|row| row.ptx).collect());
    let taken = REACHED.iter().find(|row| row.0 == "sm_90").expect("it is in the table").1.taken;
    assert_eq!(lines, taken);
}

/// Runs the lines that lower on an architecture, in every case. Returns the numbers of lines and cases.
fn run_lines(name: &str, lines: BTreeSet<String>) -> (usize, usize) {
    let arch = Arch::from_name(name).expect("an architecture");
    let counting = "mbarrier.arrive.shared.b64 %st,[%a]; mbarrier.pending_count.b64 %r1,%st;";
    let read = |ptx: &str| Spelling::parse(ptx).unwrap_or_else(|e| panic!("{e}"));
    let counting = lower(counting, arch).expect("it is legal").body(&read(counting));
    let tail = Tail::of(&counting).expect("it counts");
    let mut bench = PtxBench::new("default");
    let mut failures = Vec::new();
    let (mut lines_ran, mut cases_ran) = (0, 0);
    for ptx in &lines {
        let Ok(lowered) = lower(ptx, arch) else { continue };
        lines_ran += 1;
        let spelling = read(ptx);
        let body = lowered.body(&spelling);
        let cases = cases(&spelling, layout(arch));
        // A drop or noComplete must leave an arrival, but the maximum count leaves none.
        let leaves = ptx.contains("arrive_drop") || ptx.contains(".noComplete");
        let undefined = leaves && ptx.ends_with(", 1048575;");
        assert!(!cases.is_empty() || undefined, "nothing is tried with `{ptx}`");
        for case in &cases {
            cases_ran += 1;
            let kernel = BarrierKernel { arch, spelling: &spelling, body: &body, case, tail: &tail };
            failures.extend(bench.check(&kernel).err().map(|why| format!("`{ptx}`, {why}")));
        }
    }
    let first = failures.first().map_or("", String::as_str);
    assert!(failures.is_empty(), "{} of {cases_ran} cases fail on {name}, first: {first}", failures.len());
    (lines_ran, cases_ran)
}

test_each! {
    all RUNS.map(|row| row.0) => every_lowered_line_runs;
    sm_80
    #[ignore = "nightly: another architecture"]
    sm_89
    #[ignore = "nightly: 19,000 cases; the quick tier has those of the sample"]
    sm_90
    #[ignore = "nightly: another architecture"]
    sm_100
    #[ignore = "nightly: another architecture"]
    sm_107
    #[ignore = "nightly: another architecture"]
    sm_120
}
