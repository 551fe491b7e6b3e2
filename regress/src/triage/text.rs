//! The report of a bundle: what it says, and as text.

use std::fmt::Write as _;

use atoms_cosim::case::Case;
use atoms_cosim::machine::Stop;
use atoms_cosim::mismatch::Difference;
use atoms_cosim::request::Lane;
use atoms_cosim::scoreboard::OracleViolation;
use atoms_cosim::session::Failure;
use atoms_ops::{Op, Operands, Size};

use crate::triage::layout::file;
use crate::triage::minimize::MinimizedCase;
use crate::triage::record::BundleRecord;
use crate::triage::replay::Run;
use crate::triage::signature::OpName;
use crate::triage::test_failure::FailedRun;
use crate::triage::timeline::{COLUMNS, Row};

/// What a report is made of.
pub(crate) struct Report<'a> {
    pub(crate) record: &'a BundleRecord,
    /// The failure as it was met.
    pub(crate) failed: &'a FailedRun,
    pub(crate) run: &'a Run,
    pub(crate) small: Option<&'a MinimizedCase>,
    /// What the oracle objects to in the RTL alone.
    pub(crate) opinion: Option<&'a OracleViolation>,
    pub(crate) rows: &'a [Row],
    /// First cycle of the wave, if there is one.
    pub(crate) wave_from: Option<u64>,
}

/// Differences shown; a broken pipeline differs in hundreds.
const DIFFERENCES_SHOWN: usize = 8;

/// A lane, or the one of a cluster request, in a table of requests.
pub(crate) struct LaneRow {
    pub(crate) lane: String,
    pub(crate) address: String,
    pub(crate) b: String,
    pub(crate) c: String,
}

/// A request in a table of requests.
pub(crate) struct RequestRow {
    pub(crate) what: String,
    pub(crate) slot: u8,
    pub(crate) tag: u8,
    pub(crate) lanes: Vec<LaneRow>,
}

impl Report<'_> {
    /// The first values that differ, and how many do in all.
    pub(crate) fn differences(&self) -> (&[Difference], usize) {
        let failure = self.small.map(|small| &small.failure);
        let all = match failure {
            Some(Failure::Stop(Stop::Mismatch(mismatch))) => &mismatch.differences[..],
            _ => &[],
        };
        (&all[..all.len().min(DIFFERENCES_SHOWN)], all.len())
    }

    /// The clause of the specification that the RTL breaks, where the oracle names one.
    pub(crate) fn clause(&self) -> Option<&'static str> {
        let direct = match self.small.map(|small| &small.failure) {
            Some(Failure::Oracle(violation)) => violation.clause(),
            _ => None,
        };
        direct.or_else(|| self.opinion.and_then(OracleViolation::clause))
    }

    /// What the oracle says, in a sentence.
    pub(crate) fn oracle(&self) -> String {
        match (self.small.map(|small| &small.failure), self.opinion) {
            (Some(Failure::Oracle(_)), _) => "it is the oracle that objects, see above".to_string(),
            (_, Some(violation)) => violation.to_string(),
            (Some(_), None) => {
                "nothing against the RTL alone: the case ends before an answer shows it, or the model is wrong".to_string()
            }
            (None, None) => "not asked: there is no smaller case".to_string(),
        }
    }

    /// Size of the smallest case, or why there is none.
    pub(crate) fn size(&self) -> String {
        match self.small {
            Some(small) => {
                let requests = small.case.requests();
                let lanes: u32 = small.case.warps.iter().map(|r| r.mask.count_ones()).sum();
                let lanes = lanes as usize + small.case.clusters.len();
                let words = small.case.memory.len();
                let memory = if words == 0 {
                    String::new()
                } else {
                    format!(", {} of memory at the start", count(words, "word"))
                };
                format!("{}, {}{memory}", count(requests, "request"), count(lanes, "lane"))
            }
            None if self.failed.signature.kind.is_dut_failure() => {
                "none found: the failure needs more of its history".to_string()
            }
            None => "none looked for: only the run itself can show it".to_string(),
        }
    }

    /// What was run.
    pub(crate) fn run(&self) -> String {
        match self.run {
            Run::Episode { episode } => {
                // Named as a profile has it: one operation is the common case.
                let ops = match (&episode.towards, serde_json::to_string(&episode.profile)) {
                    (Some(group), _) => format!(" steered towards `{group}`"),
                    (None, Ok(profile)) if profile != "{}" => format!(" of the profile {profile}"),
                    (None, _) => String::new(),
                };
                format!("{} random requests{ops}, seed {}", episode.requests, episode.seed)
            }
            Run::Case { case } => format!("a case of {}", count(case.requests(), "request")),
            Run::Kernel { listing, launch, .. } => {
                format!("the kernel {} with {}", listing.display(), launch.display())
            }
        }
    }

    /// Lines that repeat it, each with what it does.
    pub(crate) fn repeats(&self) -> Vec<(String, &'static str)> {
        let mut lines = vec![
            ("cargo atoms repro .".to_string(), "in this folder: again, on the RTL of the bundle"),
            ("cargo atoms repro . --here".to_string(), "on the RTL of this checkout: is it mended?"),
        ];
        if self.small.is_some() {
            lines.push((
                format!("cargo atoms cosim --case {}", file::CASE),
                "the case alone, on the RTL of this checkout",
            ));
        }
        if self.wave_from.is_some() {
            lines.push((format!("gtkwave {} wave.gtkw", file::WAVE), "the wave"));
        }
        lines
    }

    /// The wave, in words.
    pub(crate) fn wave(&self) -> String {
        match (self.wave_from, self.small) {
            (None, _) => "none: the run could not be repeated in the process that wrote this".to_string(),
            (Some(_), Some(_)) => format!("{}: the whole run of the case", file::WAVE),
            (Some(from), None) => format!("{}: the run from cycle {from} on", file::WAVE),
        }
    }

    /// The failure in its own words: of the smallest case, or as it was met.
    pub(crate) fn words(&self) -> String {
        self.small.map_or_else(|| self.failed.failure.to_string(), |small| small.failure.to_string())
    }

    /// The parameters in a line.
    pub(crate) fn parameters(&self) -> String {
        let one = |(name, value): (&String, &serde_json::Value)| match value.as_str() {
            Some(text) => format!("{name} {text}"),
            None => format!("{name} {value}"),
        };
        self.record.parameters.iter().map(one).collect::<Vec<_>>().join(", ")
    }
}

/// `1 request`, `2 requests`.
pub(crate) fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

fn instruction(op: u8, size: u8, red: bool) -> String {
    let size = Size::from_code(size).map_or(format!("size {size}"), |size| size.to_string());
    let op = if Op::from_code(op).is_none() { format!("operation {op}") } else { OpName::of(op).to_string() };
    format!("{op}.{size}{}", if red { ", no result" } else { "" })
}

fn operands(op: u8, lane: &Lane) -> (String, String) {
    let operands = Op::from_code(op).map_or(Operands::BC, |op| op.row().operands);
    let b = if operands == Operands::None { String::new() } else { format!("{:#x}", lane.b) };
    let c = if operands == Operands::BC { format!("{:#x}", lane.c) } else { String::new() };
    (b, c)
}

/// The requests of a case, those of the warp port first.
pub(crate) fn requests(case: &Case) -> Vec<RequestRow> {
    let warps = case.warps.iter().map(|request| {
        let lanes = (0..32usize).filter(|l| request.mask >> l & 1 == 1).map(|l| {
            let lane = request.lanes.get(l).copied().unwrap_or_default();
            let (b, c) = operands(request.op, &lane);
            let address = request.address_form().address(lane.ra);
            LaneRow { lane: l.to_string(), address: format!("{address:#x}"), b, c }
        });
        RequestRow {
            what: instruction(request.op, request.size, request.red),
            slot: request.slot,
            tag: request.tag,
            lanes: lanes.collect(),
        }
    });
    let clusters = case.clusters.iter().map(|request| {
        let (b, c) = operands(request.op, &Lane { ra: 0, b: request.b, c: request.c });
        let lane = LaneRow { lane: "cluster".to_string(), address: format!("{:#x}", request.addr), b, c };
        RequestRow {
            what: instruction(request.op, request.size, request.red),
            slot: request.slot,
            tag: request.tag,
            lanes: vec![lane],
        }
    });
    warps.chain(clusters).collect()
}

/// What a case has besides its requests: parts, memory, pauses.
pub(crate) fn surroundings(case: &Case) -> Vec<(String, String)> {
    let mut rows = Vec::new();
    for part in &case.parts {
        let what = if part.enable {
            format!("{} bytes from row {} on, rank {}", part.size, part.base, part.rank)
        } else {
            "taken away".to_string()
        };
        rows.push((format!("part of slot {}", part.slot), what));
    }
    for word in &case.memory {
        rows.push((format!("memory word {}", word.word), format!("{:#x}", word.value)));
    }
    let pauses = &case.pauses;
    for (port, pattern) in [
        ("requests", pauses.warp),
        ("responses", pauses.response),
        ("cluster requests", pauses.cluster),
        ("cluster responses", pauses.cluster_response),
        ("wake-ups", pauses.wake),
    ] {
        if pattern != 0 {
            rows.push((format!("pauses of {port}"), format!("{pattern:#018x}, a bit a cycle, of 64 cycles")));
        }
    }
    rows
}

/// Writes rows of texts under each other.
fn table(out: &mut String, rows: &[Vec<String>]) {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |at: usize| {
        rows.iter()
            .filter_map(|row: &Vec<String>| row.get(at))
            .map(|cell| cell.chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<_> = (0..columns).map(width).collect();
    for row in rows {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        let line = cells.collect::<Vec<_>>().join("  ");
        let _ = writeln!(out, "  {}", line.trim_end());
    }
}

/// The report as text.
pub(crate) fn text(report: &Report<'_>) -> String {
    let record = report.record;
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(out, "{}\n", record.key);
    let rtl: String = record.rtl.chars().take(16).collect();
    let mut head = vec![
        vec![
            "test".to_string(),
            format!("{}, number {} of a plan with seed {}", record.test, record.index, record.seed),
        ],
        vec!["ran".to_string(), report.run()],
        vec!["found".to_string(), format!("in cycle {} as `{}`", record.cycle, record.raw)],
        vec!["small case".to_string(), report.size()],
        vec!["broken".to_string(), report.clause().unwrap_or("no clause named").to_string()],
        vec!["config".to_string(), format!("{}: {}", record.config, report.parameters())],
        vec!["rtl".to_string(), format!("{rtl}, built with Verilator {}", record.verilator)],
        vec!["wave".to_string(), report.wave()],
    ];
    for (line, what) in report.repeats() {
        head.push(vec!["repeat".to_string(), format!("{line:36} {what}")]);
    }
    table(&mut out, &head);
    let _ = writeln!(out, "\nWhat was found\n");
    for line in report.words().lines() {
        let _ = writeln!(out, "  {line}");
    }
    let (differences, all) = report.differences();
    if !differences.is_empty() {
        let _ = writeln!(out, "\nWhat differs\n");
        let mut rows = vec![["where", "model", "rtl"].map(String::from).to_vec()];
        rows.extend(differences.iter().map(|d| vec![d.place(), d.show(d.model), d.show(d.rtl)]));
        table(&mut out, &rows);
        if all > differences.len() {
            let _ = writeln!(out, "  and {} more values", all - differences.len());
        }
    }
    let _ = writeln!(out, "\nWhat the oracle says of the RTL alone\n");
    for line in report.oracle().lines() {
        let _ = writeln!(out, "  {line}");
    }
    if let Some(small) = report.small {
        let _ = writeln!(out, "\nThe requests\n");
        let mut rows =
            vec![["request", "slot", "tag", "lane", "address", "b", "c"].map(String::from).to_vec()];
        for request in requests(&small.case) {
            let first = [request.what.clone(), request.slot.to_string(), request.tag.to_string()];
            if request.lanes.is_empty() {
                rows.push([&first[..], &["none".to_string()]].concat());
            }
            for (at, lane) in request.lanes.iter().enumerate() {
                let head = if at == 0 { first.clone() } else { Default::default() };
                let lane = [&lane.lane, &lane.address, &lane.b, &lane.c].map(Clone::clone);
                rows.push([&head[..], &lane[..]].concat());
            }
        }
        table(&mut out, &rows);
        let around = surroundings(&small.case);
        if !around.is_empty() {
            let _ = writeln!(out, "\nWith\n");
            table(&mut out, &around.into_iter().map(|(what, is)| vec![what, is]).collect::<Vec<_>>());
        }
    }
    if !report.rows.is_empty() {
        let _ = writeln!(out, "\nThe RTL, cycle by cycle\n");
        let mut rows = vec![COLUMNS.map(String::from).to_vec()];
        for row in report.rows {
            let mut cells = row.cells.to_vec();
            if row.fails {
                cells.push("<- here".to_string());
            }
            rows.push(cells);
        }
        table(&mut out, &rows);
    }
    if report.small.is_some() {
        let _ = writeln!(out, "\nAs it was met\n");
        for line in report.failed.failure.to_string().lines() {
            let _ = writeln!(out, "  {line}");
        }
    }
    out
}
