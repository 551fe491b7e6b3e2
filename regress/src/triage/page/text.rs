//! Sections of a bundle report, and the report as text.

use std::fmt::Write as _;

use atoms_cosim::case::Case;
use atoms_cosim::machine::Failure;
use atoms_cosim::mismatch::Difference;
use atoms_cosim::scoreboard::OracleViolation;
use atoms_faults::cause::{self, CauseError, CauseSuspect};
use atoms_ops::{Op, Operands, Size};
use atoms_stimulus::configs::NamedConfig;
use atoms_stimulus::request::Lane;

use crate::triage::layout::file;
use crate::triage::minimize::MinimizedCase;
use crate::triage::page::timeline::{COLUMNS, Row};
use crate::triage::record::BundleRecord;
use crate::triage::replay::Run;
use crate::triage::signature::OpName;
use crate::triage::test_failure::FailedRun;

pub(crate) struct Report<'a> {
    pub(crate) record: &'a BundleRecord,
    pub(crate) config: &'a NamedConfig,
    /// Original failure, before minimizing.
    pub(crate) failed: &'a FailedRun,
    pub(crate) run: &'a Run,
    pub(crate) small: Option<&'a MinimizedCase>,
    /// Violation that the oracle finds in the RTL without the model.
    pub(crate) opinion: Option<&'a OracleViolation>,
    /// Likeliest causes, or the reason why there is no list; `None` if not searched.
    pub(crate) causes: Option<&'a Result<Vec<CauseSuspect>, CauseError>>,
    pub(crate) rows: &'a [Row],
    /// First cycle of the wave; `None` without a wave.
    pub(crate) wave_from: Option<u64>,
}

/// Maximum number of differences shown; a broken pipeline has hundreds.
const DIFFERENCES_SHOWN: usize = 8;

/// Maximum number of causes shown; `causes.json` has more.
const CAUSES_SHOWN: usize = 5;

/// Mark in the row of the failing cycle.
pub(crate) const HERE: &str = "<- here";

pub(crate) struct Section {
    pub(crate) title: &'static str,
    pub(crate) content: Content,
    /// Text about omitted rows; empty if there are none.
    pub(crate) more: String,
    /// CSS class of the table.
    pub(crate) class: &'static str,
}

pub(crate) enum Content {
    Words(String),
    /// Column names (empty without a header) and rows.
    Table(&'static [&'static str], Vec<Vec<String>>),
}

impl Section {
    fn words(title: &'static str, words: impl std::fmt::Display) -> Section {
        Section { title, content: Content::Words(words.to_string()), more: String::new(), class: "" }
    }

    fn table(
        title: &'static str,
        head: &'static [&'static str],
        rows: impl IntoIterator<Item = Vec<String>>,
    ) -> Section {
        let content = Content::Table(head, rows.into_iter().collect());
        Section { title, content, more: String::new(), class: "" }
    }
}

impl Report<'_> {
    pub(crate) fn head(&self) -> Vec<Vec<String>> {
        let record = self.record;
        let rtl: String = record.rtl.chars().take(16).collect();
        let facts = [
            ("test", format!("{}, number {} of a plan with seed {}", record.test, record.index, record.seed)),
            ("ran", self.run()),
            ("found", format!("in cycle {} as `{}`", record.cycle, record.raw)),
            ("small case", self.size()),
            ("suspect", record.suspect.clone().unwrap_or_else(|| "none identified".to_string())),
            ("spec clause", self.clause().unwrap_or("none identified").to_string()),
            ("config", format!("{}: {}", record.config, self.parameters())),
            ("rtl", format!("{rtl}, built with Verilator {}", record.verilator)),
            ("wave", self.wave()),
        ];
        let repeats = self.repeats().into_iter().map(|(line, what)| ("repeat", format!("{line:36} {what}")));
        facts.into_iter().chain(repeats).map(|(what, is)| vec![what.to_string(), is]).collect()
    }

    pub(crate) fn sections(&self) -> Vec<Section> {
        let mut sections = vec![Section::words("What was found", self.words())];
        let (differences, all) = self.differences();
        if !differences.is_empty() {
            let rows = differences.iter().map(|d| vec![d.place(), d.show(d.model), d.show(d.rtl)]);
            let left = all - differences.len();
            let more = if left > 0 { format!("and {left} more values") } else { String::new() };
            let table = Section::table("What differs", &["where", "model", "rtl"], rows);
            sections.push(Section { more, class: "differs", ..table });
        }
        if let Some(causes) = self.causes {
            let words = match causes {
                Ok(list) => cause::listed(list, CAUSES_SHOWN),
                Err(error) => format!("no list: {error}"),
            };
            sections.push(Section::words("The likeliest causes", words.trim_end()));
        }
        if self.config.unit.is_none() {
            sections.push(Section::words("The oracle on the RTL, without the model", self.oracle()));
        }
        if let Some(small) = self.small {
            let head = &["request", "slot", "tag", "lane", "address", "b", "c"];
            sections.push(Section::table("The requests", head, requests(&small.case)));
            let around = surroundings(&small.case);
            if !around.is_empty() {
                sections.push(Section::table("With", &[], around));
            }
        }
        if !self.rows.is_empty() {
            let mark = |row: &Row| row.fails.then(|| HERE.to_string());
            let rows = self.rows.iter().map(|row| row.cells.iter().cloned().chain(mark(row)).collect());
            sections.push(Section::table("The RTL, cycle by cycle", &COLUMNS, rows));
        }
        if self.small.is_some() {
            sections.push(Section::words("The failure before minimizing", &self.failed.failure));
        }
        sections
    }

    fn differences(&self) -> (&[Difference], usize) {
        let failure = self.small.map(|small| &small.failure);
        let all = match failure {
            Some(Failure::Mismatch(mismatch)) => &mismatch.differences[..],
            _ => &[],
        };
        (&all[..all.len().min(DIFFERENCES_SHOWN)], all.len())
    }

    /// Returns the clause of the specification that the RTL violates, if the oracle names one.
    fn clause(&self) -> Option<&'static str> {
        let direct = match self.small.map(|small| &small.failure) {
            Some(Failure::Oracle(violation)) => violation.clause(),
            _ => None,
        };
        direct.or_else(|| self.opinion.and_then(OracleViolation::clause))
    }

    fn oracle(&self) -> String {
        match (self.small.map(|small| &small.failure), self.opinion) {
            (Some(Failure::Oracle(_)), _) => "the failure above is a violation that the oracle reports".to_string(),
            (_, Some(violation)) => violation.to_string(),
            (Some(_), None) => {
                "the oracle finds no error in the RTL: the case ends before an answer shows the error, or the model is wrong".to_string()
            }
            (None, None) => "not checked: there is no minimized case".to_string(),
        }
    }

    /// Returns the size of the minimized case, or the reason why there is none.
    fn size(&self) -> String {
        match self.small {
            Some(small) => {
                let requests = small.case.requests();
                let lanes: u32 = small.case.warps.iter().map(|r| r.mask.count_ones()).sum();
                let lanes = lanes as usize + small.case.clusters.len();
                let words = small.case.memory.len();
                let memory = if words == 0 {
                    String::new()
                } else {
                    format!(", {} of memory set before the first request", count(words, "word"))
                };
                format!("{}, {}{memory}", count(requests, "request"), count(lanes, "lane"))
            }
            None if self.failed.signature.kind.is_dut_failure() => {
                "could not be minimized; use the repeat command below".to_string()
            }
            None => "not minimized: only the full run shows the failure".to_string(),
        }
    }

    fn run(&self) -> String {
        match self.run {
            Run::Episode { episode } => {
                // Show the profile only if it differs from the default.
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

    /// Returns command lines that reproduce the failure, each with a description.
    fn repeats(&self) -> Vec<(String, &'static str)> {
        let unit = self.config.unit.as_ref().and_then(|unit| unit.file.as_deref());
        let unit = unit.map_or_else(String::new, |file| format!(" --unit {}", file.display()));
        let mut lines = vec![
            ("cargo atoms repro . --trust".to_string(), "in this folder: repeat on the RTL of the bundle"),
            ("cargo atoms repro . --here".to_string(), "on the present RTL: is it fixed?"),
        ];
        if self.small.is_some() {
            lines.push((
                format!("cargo atoms cosim --case {}{unit}", file::CASE),
                "the case alone, on the present RTL",
            ));
        }
        if self.wave_from.is_some() {
            lines.push((format!("gtkwave {} wave.gtkw", file::WAVE), "the wave"));
        }
        lines
    }

    fn wave(&self) -> String {
        use file::{WAVE, WAVE_PAGE};
        match (self.wave_from, self.small) {
            (None, _) => "none: the run could not be repeated when this report was written".to_string(),
            (Some(_), Some(_)) => {
                format!("{WAVE}: the whole run of the case; {WAVE_PAGE}: the same as a page")
            }
            (Some(from), None) => {
                format!("{WAVE}: the run from cycle {from} on; {WAVE_PAGE}: the same as a page")
            }
        }
    }

    /// Returns the message of the minimized case's failure, or of the original failure.
    fn words(&self) -> String {
        self.small.map_or_else(|| self.failed.failure.to_string(), |small| small.failure.to_string())
    }

    fn parameters(&self) -> String {
        let one = |(name, value): (&String, &serde_json::Value)| match value.as_str() {
            Some(text) => format!("{name} {text}"),
            None => format!("{name} {value}"),
        };
        self.record.parameters.iter().map(one).collect::<Vec<_>>().join(", ")
    }
}

fn count(number: usize, what: &str) -> String {
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

/// Returns one row for each lane of each request; warp requests come before cluster requests.
fn requests(case: &Case) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    let mut request = |op, size, red, slot: u8, tag: u8, lanes: Vec<(String, u32, Lane)>| {
        let mut head = [instruction(op, size, red), slot.to_string(), tag.to_string()];
        if lanes.is_empty() {
            rows.push([&head[..], &["none".to_string()]].concat());
        }
        for (name, address, lane) in lanes {
            let (b, c) = operands(op, &lane);
            rows.push([&head[..], &[name, format!("{address:#x}"), b, c]].concat());
            head = Default::default();
        }
    };
    for r in &case.warps {
        let lanes = (0..32usize).filter(|l| r.mask >> l & 1 == 1).map(|l| {
            let lane = r.lane(l);
            (l.to_string(), r.address_form().address(lane.ra), lane)
        });
        request(r.op, r.size, r.red, r.slot, r.tag, lanes.collect());
    }
    for r in &case.clusters {
        let lane = ("cluster".to_string(), r.addr, Lane { ra: 0, b: r.b, c: r.c });
        request(r.op, r.size, r.red, r.slot, r.tag, vec![lane]);
    }
    rows
}

fn surroundings(case: &Case) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for allocation in &case.allocations {
        rows.push(vec![format!("allocation of slot {}", allocation.slot), allocation.to_string()]);
    }
    for change in &case.changes {
        let place = format!("after {} warp and {} cluster requests", change.warps, change.clusters);
        rows.push(vec![place, change.to_string()]);
    }
    for word in &case.memory {
        rows.push(vec![format!("memory word {}", word.word), format!("{:#x}", word.value)]);
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
            rows.push(vec![
                format!("pauses of {port}"),
                format!("{pattern:#018x}: a set bit c pauses cycle c of every 64"),
            ]);
        }
    }
    rows
}

fn table(out: &mut String, head: &[&str], rows: &[Vec<String>]) {
    let mut widths = Vec::new();
    let head: Vec<String> = head.iter().map(|name| name.to_string()).collect();
    let rows = || [&head].into_iter().chain(rows).filter(|row| !row.is_empty());
    for row in rows() {
        widths.resize(widths.len().max(row.len()), 0);
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    for row in rows() {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        let line = cells.collect::<Vec<_>>().join("  ");
        let _ = writeln!(out, "  {}", line.trim_end());
    }
}

pub(crate) fn text(report: &Report<'_>) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(out, "{}\n", report.record.key);
    table(&mut out, &[], &report.head());
    for Section { title, content, more, .. } in report.sections() {
        let _ = writeln!(out, "\n{title}\n");
        match content {
            Content::Words(words) => words.lines().for_each(|line| _ = writeln!(out, "  {line}")),
            Content::Table(head, rows) => table(&mut out, head, &rows),
        }
        if !more.is_empty() {
            let _ = writeln!(out, "  {more}");
        }
    }
    out
}
