//! Fixed data for the tests of reports, which exercises every part of a report.

use std::fs;
use std::path::Path;

use atoms_ops::Op;
use atoms_regress::coverage::summary::{
    FileCoverage, FunctionalCoverage, Gate, GroupCoverage, RtlCoverageSummary, WaivedPlaces,
};
use atoms_regress::report::html::{self, Page};
use atoms_regress::report::summary::{Bucket, FORMAT, Summary, TrendPoint};
use atoms_regress::report::{json, junit::Junit};
use atoms_regress::run::result::{FailureRecord, Status, TestResult, Work};
use atoms_regress::run::timing::{RtlBuild, Timing};
use atoms_regress::run::totals::{Cell, PartTotals, Totals};
use atoms_regress::triage::signature::{FailureKind, OpName, Signature};

pub(crate) struct Regression {
    pub(crate) summary: Summary,
    pub(crate) timing: Timing,
    pub(crate) history: Vec<TrendPoint>,
    pub(crate) sources: Vec<(String, String)>,
    pub(crate) results: Vec<(TestResult, Option<f64>)>,
}

const CONFIGS: [&str; 6] = ["default", "tiny", "small", "deep", "hashed", "all_options"];
const OPS: [&str; 18] = [
    "ATOMS.ADD",
    "ATOMS.MIN",
    "ATOMS.MAX",
    "ATOMS.INC",
    "ATOMS.DEC",
    "ATOMS.AND",
    "ATOMS.OR",
    "ATOMS.XOR",
    "ATOMS.EXCH",
    "ATOMS.CAS",
    "ATOMS.CAST.SPIN",
    "ATOMS.POPC.INC",
    "ATOMS.ARRIVE",
    "LDS",
    "STS",
    "SYNCS.ARRIVE",
    "SYNCS.PHASECHK",
    "SYNCS.EXCH",
];

/// Deterministic random numbers (xorshift).
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound
    }
}

/// Failures of [`failing`]: kind, signal, operation, status, requests of the minimized case and message. The
/// last two fields are the failures per 1,000 tests and the configurations.
type Planted =
    (FailureKind, &'static str, Option<Op>, Status, Option<u64>, &'static str, u64, &'static [usize]);

#[rustfmt::skip]
const PLANTED: [Planted; 4] = [
    (FailureKind::Mismatch, "probe.wr_data", Some(Op::Max), Status::Failed, Some(2),
     "mismatch at cycle 41: probe.wr_data of bank 7\n  \
        request  ATOMS.MAX.S32  lane 3, address 0x0000_011c, b 0x8000_0000, old 0x0000_0004\n  \
        model    0x0000_0004\n  rtl      0x8000_0000\n  in flight\n    \
        ATOMS.MAX.S32  warp 2, lanes 0x0000_0008, taken in cycle 36\n    \
        LDS            warp 5, lanes 0xffff_ffff, taken in cycle 38", 24, &[0, 2, 5]),
    (FailureKind::Oracle, "rule", Some(Op::CastSpin), Status::Failed, Some(3),
     "the oracle objects at cycle 1,209: lane 11 was told that it stored, and another store came first\n  \
        rule     spec 4.6: of the lanes of one pass that name a word, one stores\n  \
        told     lane 11, stored\n  memory   0x0000_0017, as lane 4 had stored it", 6, &[3]),
    (FailureKind::Assertion, "atoms_collect.NoLaneTwice", None, Status::Failed, Some(1),
     "the RTL's assertion atoms_collect.NoLaneTwice failed at cycle 77", 3, &[1, 3, 4]),
    (FailureKind::Crash, "signal 6", None, Status::Crashed, None,
     "the process that ran it ended by signal 6 (SIGABRT)", 1, &[1]),
];

/// Returns the final and the raw signature of a bucket.
fn keys(planted: &Planted) -> (Signature, Signature) {
    let (kind, what, op, ..) = *planted;
    let of = |what: &str, op: Option<Op>| {
        let mut key = Signature::new(kind, what);
        key.op = op.map(|op| OpName::of(op as u8));
        key
    };
    let key = of(what, op);
    let raw = if kind == FailureKind::Oracle { of("value", Some(Op::Load)) } else { key.clone() };
    (key, raw)
}

pub(crate) fn failing() -> Regression {
    build(true, 40)
}

pub(crate) fn passing() -> Regression {
    build(false, 40)
}

/// Like [`failing`], but with larger crosses, so that the model has at least 10,000 bins.
pub(crate) fn large() -> Regression {
    let large = build(true, 300);
    assert!(large.summary.coverage.bins >= 10_000, "{}", large.summary.coverage.bins);
    large
}

fn build(fail: bool, breadth: usize) -> Regression {
    let results = results(fail);
    let mut summary = Summary {
        format: FORMAT,
        version: "0.1.0".into(),
        plan: "regress".into(),
        profile: "nightly".into(),
        seed: 7,
        rtl: "8f3a21c09b7e44d1a0c35f6672d918be".into(),
        complete: true,
        corpus: 143,
        ..Summary::default()
    };
    tally(&mut summary, &results);
    if fail {
        summary.buckets = buckets(&results);
        summary.buckets.sort_by(|a, b| b.tests.cmp(&a.tests).then(a.first.cmp(&b.first)));
    }
    summary.coverage = coverage(fail, breadth);
    let sources = sources();
    summary.rtl_coverage = Some(rtl_coverage(fail, &sources));
    if fail {
        gate(&mut summary);
    } else {
        summary.coverage.gate = Some(Gate { passed: true, ..Gate::default() });
    }
    let mut slowest: Vec<_> =
        results.iter().map(|(result, s)| (result.name.clone(), s.unwrap_or_default())).collect();
    slowest.push(("kernels/default/ticket_lock.sm_80.sass".into(), 0.4));
    slowest.sort_by(|a, b| b.1.total_cmp(&a.1));
    slowest.truncate(10);
    let busy_s = results.iter().filter_map(|(_, s)| *s).sum::<f64>();
    let timing = Timing {
        started: 1_772_373_900,
        wall_s: busy_s / 16.0 / 0.93,
        jobs: 16,
        executor: "local".into(),
        busy_s,
        slowest,
        rtl: RtlBuild {
            place: "/work/atoms/rtl".into(),
            libraries: 12,
            seconds: 151.0,
            commit: "0123456789ab (dirty)".into(),
            tools: "Verilator 5.048, g++ (Debian 12.2.0-14) 12.2.0".into(),
        },
    };
    let history = history(&summary, &timing);
    Regression { summary, timing, history, sources, results }
}

fn results(fail: bool) -> Vec<(TestResult, Option<f64>)> {
    let mut draw = Draw(0x9e37_79b9_7f4a_7c15);
    let mut results = Vec::new();
    for (entry, tests) in [("random", 900), ("mbarrier", 120), ("kernels", 36)] {
        for (at, config) in CONFIGS.iter().enumerate() {
            if entry == "kernels" && *config == "tiny" {
                continue;
            }
            for series in 0..tests {
                let requests = 4_000 + draw.below(2_000);
                let work = Work {
                    episodes: 4,
                    counted: if entry == "random" { 1 } else { 4 },
                    cycles: requests * 3,
                    requests,
                    cluster_requests: requests / 9,
                    judged: requests * 8,
                };
                let chance = draw.below(1_000);
                let mut before = 0;
                let planted = PLANTED.iter().filter(|_| fail && entry == "random").find(|planted| {
                    let hit = (before..before + planted.6).contains(&chance) && planted.7.contains(&at);
                    before += planted.6;
                    hit
                });
                let name = format!("{entry}/{config}/{series}");
                let failure = planted.map(|planted| FailureRecord {
                    bucket: keys(planted).1,
                    cycle: 41 + chance,
                    text: planted.5.into(),
                    episode: None,
                });
                let status = planted.map_or(Status::Passed, |planted| planted.3);
                let result = TestResult {
                    index: results.len() as u64,
                    name,
                    entry: entry.into(),
                    config: (*config).into(),
                    status,
                    work,
                    new_bins: 0,
                    failure,
                };
                results.push((result, Some((requests as f64 + draw.below(4_000) as f64) / 30_000.0)));
            }
        }
    }
    results
}

fn tally(summary: &mut Summary, results: &[(TestResult, Option<f64>)]) {
    let part = |parts: &mut Vec<PartTotals>, name: &str, result: &TestResult| {
        if !parts.iter().any(|part| part.name == name) {
            parts.push(PartTotals { name: name.into(), totals: Totals::default() });
        }
        let part = parts.iter_mut().find(|part| part.name == name).expect("just pushed");
        part.totals.add(result.status, result.work);
    };
    for (result, _) in results {
        summary.totals.add(result.status, result.work);
        part(&mut summary.entries, &result.entry, result);
        part(&mut summary.configs, &result.config, result);
        let same = |cell: &&mut Cell| cell.entry == result.entry && cell.config == result.config;
        match summary.cells.iter_mut().find(same) {
            Some(cell) => cell.totals.add(result.status, result.work),
            None => {
                let mut totals = Totals::default();
                totals.add(result.status, result.work);
                summary.cells.push(Cell {
                    entry: result.entry.clone(),
                    config: result.config.clone(),
                    totals,
                });
            }
        }
    }
}

fn buckets(results: &[(TestResult, Option<f64>)]) -> Vec<Bucket> {
    PLANTED
        .iter()
        .map(|planted| {
            let (kind, _, op, status, requests, text, _, configs) = planted;
            let (key, raw) = keys(planted);
            let of = || {
                results
                    .iter()
                    .map(|(result, _)| result)
                    .filter(|result| result.failure.as_ref().is_some_and(|failure| failure.text == *text))
            };
            let first = of().next().expect("each is planted often enough");
            let slug: String =
                key.to_string().chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect();
            let bundle = format!("failures/{slug}");
            Bucket {
                entries: Default::default(),
                found_as: Some(raw).filter(|raw| *raw != key).into_iter().collect(),
                key,
                status: *status,
                tests: of().count() as u64,
                first: first.index,
                first_name: first.name.clone(),
                configs: configs.iter().map(|at| CONFIGS[*at].into()).collect(),
                text: (*text).into(),
                files: if requests.is_some() {
                    ["report.html", "case.json", "wave.vcd", "report.txt"].map(Into::into).into()
                } else {
                    vec!["report.txt".into()]
                },
                repeat: format!("atoms repro target/regress/nightly/{bundle}"),
                bundle: Some(bundle),
                requests: *requests,
                suspect: (*op == Some(Op::Max) || *kind == FailureKind::Oracle)
                    .then(|| "atoms_alu.sv:63  OpMax: result[i] = (b[i] < old[i]) ? b[i] : old[i];".into()),
            }
        })
        .collect()
}

fn coverage(fail: bool, breadth: usize) -> FunctionalCoverage {
    let named = |names: &[&str]| names.iter().map(|name| (*name).to_string()).collect::<Vec<_>>();
    let dimension = |name: &str, values: Vec<String>| (name.to_string(), values);
    let op = || dimension("operation", named(&OPS));
    let numbered = |count: usize| (1..=count).map(|n| n.to_string()).collect::<Vec<_>>();
    let groups = [
        (
            "conflict",
            "A pass serves one word of each bank: how many lanes meet in a bank decides how many passes there are.",
            "spec 5.1",
            vec![op(), dimension("width", named(&["32", "64"])), dimension("degree", numbered(breadth))],
        ),
        (
            "value",
            "Signed and unsigned orders, wrapping and limits differ at these values only.",
            "spec 3.2",
            vec![
                op(),
                dimension("old", named(&["0", "1", "max_s", "min_s", "max_u", "other"])),
                dimension("operand", named(&["0", "1", "max_s", "min_s", "max_u", "other"])),
            ],
        ),
        (
            "mbarrier_step",
            "Each way for an mbarrier object to come from one phase into the next, seen while others wait.",
            "spec 7.3",
            vec![
                dimension("waiters", named(&["none", "one", "several"])),
                dimension("transactions", named(&["none", "pending", "last"])),
                dimension("arrival", named(&["plain", "drop", "expect_tx", "complete_tx"])),
                dimension("phase", named(&["even", "odd"])),
            ],
        ),
        (
            "back_pressure",
            "What waits for the receiver, and for how long.",
            "spec 6.2",
            vec![
                dimension("port", named(&["response", "cluster"])),
                dimension("cycles", named(&["0", "1", "2..7", "8.."])),
            ],
        ),
        (
            "fault",
            "Each fault is told once, and nothing is written.",
            "spec 8.1",
            vec![dimension(
                "fault",
                named(&["misaligned", "out of bounds", "undefined operation", "bad phase"]),
            )],
        ),
    ];
    let mut draw = Draw(0x2545_f491_4f6c_dd1d);
    let mut coverage = FunctionalCoverage::default();
    for (name, reason, clause, dimensions) in groups {
        let size = dimensions.iter().map(|(_, values)| values.len()).product::<usize>();
        let last = dimensions[dimensions.len() - 1].1.len();
        let mut group = GroupCoverage {
            name: name.into(),
            reason: reason.into(),
            clause: clause.into(),
            dimensions,
            ..GroupCoverage::default()
        };
        let mut waiver = WaivedPlaces {
            reason: "no configuration of this profile has so many banks".into(),
            places: Vec::new(),
        };
        for at in 0..size {
            let rare = name == "conflict" && at % last > last * 3 / 4;
            let count = match draw.below(100) {
                // Loads and stores have no value classes.
                _ if name == "value" && (13..15).contains(&(at / 36)) => None,
                chance if fail && name == "mbarrier_step" && chance < 20 => Some(0),
                chance if rare && chance < 30 => Some(0),
                chance if fail && chance < 4 => Some(0),
                _ => Some(1 + draw.below(if rare { 9 } else { 90_000 }) as u32),
            };
            group.counts.push(count);
            if let Some(count) = count {
                group.bins += 1;
                group.hit += u64::from(count > 0);
                if count == 0 && rare && (!fail || at % 2 == 0) {
                    group.waived += 1;
                    waiver.places.push(at as u32);
                }
            }
        }
        if !waiver.places.is_empty() {
            group.waivers.push(waiver);
        }
        coverage.bins += group.bins;
        coverage.hit += group.hit;
        coverage.waived += group.waived;
        coverage.groups.push(group);
    }
    coverage
}

/// Reads the actual RTL, for realistic pages.
fn sources() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../rtl");
    let mut sources: Vec<_> = fs::read_dir(folder)
        .expect("the RTL is in the checkout")
        .map(|entry| entry.expect("it can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "sv"))
        .map(|path| {
            let name = path.file_name().expect("a file has a name").to_string_lossy().into_owned();
            (name, fs::read_to_string(path).expect("it can be read"))
        })
        .collect();
    sources.sort();
    sources
}

fn rtl_coverage(fail: bool, sources: &[(String, String)]) -> RtlCoverageSummary {
    let mut draw = Draw(0x1234_5678_9abc_def1);
    let files: Vec<_> = sources
        .iter()
        .filter(|(_, text)| text.contains("always_"))
        .map(|(name, text)| {
            let counted =
                (1u32..).zip(text.lines()).filter(|(_, line)| line.contains(" = ") || line.contains("begin"));
            let mut lines: Vec<(u32, u64)> =
                counted.map(|(number, _)| (number, 1 + draw.below(40_000_000))).collect();
            let mut waivers = Vec::new();
            if fail && name.contains("waiters") {
                lines.iter_mut().skip(4).step_by(9).for_each(|line| line.1 = 0);
            }
            if let Some(last) = lines.last_mut().filter(|_| name.contains("alu")) {
                last.1 = 0;
                waivers.push(WaivedPlaces {
                    reason: "an undefined code never leaves the issue stage".into(),
                    places: vec![last.0],
                });
            }
            FileCoverage { name: name.clone(), lines, toggles: Some((400, 380 + draw.below(20))), waivers }
        })
        .collect();
    let mut covers: Vec<_> =
        (0..24).map(|at| (format!("atoms_unit.u_mbar.Step{at}"), 1 + draw.below(9_000))).collect();
    covers[5].1 = 0;
    covers[9].1 = if fail { 0 } else { 3 };
    RtlCoverageSummary {
        files,
        covers,
        waived_covers: vec![("atoms_unit.u_mbar.Step5".into(), "needs two clusters".into())],
    }
}

fn gate(summary: &mut Summary) {
    let mut gate = Gate { stale: vec!["conflict[LDS, 32, 2]".into()], ..Gate::default() };
    for group in &summary.coverage.groups {
        for (at, count) in group.counts.iter().enumerate() {
            if *count == Some(0) && !group.waivers.iter().any(|waiver| waiver.places.contains(&(at as u32))) {
                gate.missing.push(group.bin_name(at).expect("it is a bin"));
            }
        }
    }
    for file in summary.rtl_coverage.iter().flat_map(|rtl| &rtl.files) {
        let missing = file.lines.iter().filter(|(line, count)| *count == 0 && file.waiver(*line).is_none());
        gate.missing.extend(missing.map(|(line, _)| format!("{}:{line}", file.name)));
    }
    gate.missing.push("atoms_unit.u_mbar.Step9".into());
    summary.coverage.gate = Some(gate);
}

fn history(summary: &Summary, timing: &Timing) -> Vec<TrendPoint> {
    let mut draw = Draw(77);
    let now = TrendPoint::of(summary, timing);
    (0..11)
        .map(|at| {
            let mut run = now.clone();
            run.started = now.started - (11 - at) * 86_400 + draw.below(1_800);
            run.seed = 1 + at;
            run.rtl = format!(
                "{:032x}",
                0x8f3a_21c0_9b7e_44d1_a0c3_5f66_72d9_18be_u128.rotate_left(8 * (at as u32 / 4 + 1))
            );
            let failing = [0, 0, 3, 41, 12, 0, 0, 0, 1, 0, 0][at as usize];
            run.totals.passed = now.totals.tests() - failing;
            (run.totals.failed, run.totals.crashed) = (failing, 0);
            run.buckets = failing.min(2);
            run.coverage.0 = now.coverage.0 - (11 - at) * now.coverage.0 / 90 - draw.below(10);
            run.wall_s = now.wall_s * (0.9 + draw.below(30) as f64 / 100.0);
            run
        })
        .collect()
}

impl Regression {
    pub(crate) fn page(&self, files: &[String]) -> String {
        let Regression { summary, timing, history, sources, .. } = self;
        html::page(&Page { summary, timing, history, sources, files })
    }

    pub(crate) fn junit(&self) -> String {
        let mut junit = Junit::default();
        for (result, seconds) in &self.results {
            junit.add(result, *seconds);
        }
        junit.finish(&self.summary, &self.timing).expect("it can be serialized")
    }

    /// Writes the page and the files that it links.
    pub(crate) fn write(&self, folder: &Path) {
        if folder.exists() {
            fs::remove_dir_all(folder).expect("the folder is the test's own");
        }
        fs::create_dir_all(folder).expect("the folder can be made");
        let files = ["summary.json", "junit.xml"].map(String::from);
        fs::write(folder.join("summary.json"), json::pretty(&self.summary)).expect("it can be written");
        fs::write(folder.join("junit.xml"), self.junit()).expect("it can be written");
        fs::write(folder.join("report.html"), self.page(&files)).expect("it can be written");
        for bucket in &self.summary.buckets {
            let bundle = folder.join(bucket.bundle.as_deref().unwrap_or_default());
            fs::create_dir_all(&bundle).expect("the folder can be made");
            for file in &bucket.files {
                fs::write(bundle.join(file), "made up").expect("it can be written");
            }
        }
    }
}
