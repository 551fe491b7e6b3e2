//! Text report for a terminal of 80 columns, failures first.

use std::fmt::Write as _;

pub use super::figures::{count, plain};
use super::figures::{counted, moment, percent, seconds};
use crate::coverage::summary::{FunctionalCoverage, Gate, RtlCoverageSummary};
use crate::report::summary::{Bucket, Cause, Summary, Verdict};
use crate::run::result::Status;
use crate::run::timing::Timing;
use crate::run::totals::{PartTotals, Totals};

/// Width in columns. Only paths and commands to copy may be longer.
const WIDTH: usize = 80;
/// Maximum number of buckets shown in full; each other bucket gets one line.
const BUCKETS: usize = 5;
/// Maximum number of lines of a failure message.
const TEXT_LINES: usize = 8;
/// Maximum number of names in a list.
const NAMES: usize = 10;
/// Maximum number of incomplete coverage groups.
const GROUPS: usize = 12;
/// Maximum number of incomplete RTL files.
const FILES: usize = 4;

pub fn report(summary: &Summary, timing: &Timing, page: &str) -> String {
    format!("{}\n{}\npage  {}\n", deterministic(summary), times(timing), plain(page))
}

/// Formats failures, tests and coverage, which are equal on all machines.
pub fn deterministic(summary: &Summary) -> String {
    let mut text = String::new();
    let out = &mut text;
    if summary.is_of_files() {
        coverage(out, &summary.coverage);
        return text;
    }
    line(out, 0, &headline(summary));
    let mut shown = 0;
    for group in by_suspect(&summary.buckets) {
        let common = group.first().and_then(|at| summary.buckets[*at].suspect.as_ref());
        if let Some(suspect) = common.filter(|_| group.len() > 1 && shown < BUCKETS) {
            out.push('\n');
            line(out, 0, &format!("likely one cause: {}", plain(suspect)));
        }
        for at in group {
            let bucket = &summary.buckets[at];
            if shown < BUCKETS {
                out.push('\n');
                full(out, at + 1, bucket);
            } else {
                if shown == BUCKETS {
                    out.push('\n');
                }
                let key = format!("{:>2}  {}", at + 1, plain(&bucket.key.to_string()));
                row(out, 2, &key, &counted(bucket.tests, "test"));
            }
            shown += 1;
        }
    }
    causes(out, summary);
    out.push('\n');
    let Summary { plan, profile, seed, rtl, version, .. } = summary;
    let rtl = rtl.get(..12).unwrap_or(rtl);
    line(out, 0, &format!("profile {profile} of {plan}, seed {seed}, RTL {rtl}, ATOMS {version}"));
    out.push('\n');
    table(out, summary);
    out.push('\n');
    coverage(out, &summary.coverage);
    if let Some(rtl) = &summary.rtl_coverage {
        rtl_coverage(out, rtl);
    }
    if summary.corpus > 0 {
        line(out, 0, &format!("corpus      {}", counted(summary.corpus, "run")));
    }
    match &summary.coverage.gate {
        Some(gate) => self::gate(out, gate),
        None => line(out, 0, "gate        none"),
    }
    text
}

/// Formats wall time, workers and slowest tests, which depend on the machine.
pub fn times(timing: &Timing) -> String {
    let mut text = String::new();
    let out = &mut text;
    let (wall, began) = (seconds(timing.wall_s), moment(timing.started));
    line(out, 0, &format!("time        {wall} of wall time, begun {began}"));
    let busy = match busy_share(timing) {
        Some(share) => format!(", busy {share:.0} % of it"),
        None => String::new(),
    };
    let jobs = counted(timing.jobs.into(), "worker");
    line(out, 12, &format!("{jobs} ({}){busy}", timing.executor));
    if !timing.rtl.place.is_empty() {
        let built = match timing.rtl.libraries {
            0 => String::new(),
            some => format!("; {} in {} before", counted(some, "build"), seconds(timing.rtl.seconds)),
        };
        line(out, 0, &format!("rtl         {}{built}", plain(&timing.rtl.origin())));
    }
    if !timing.rtl.tools.is_empty() {
        line(out, 0, &format!("tools       {}", plain(&timing.rtl.tools)));
    }
    for (at, (name, s)) in timing.slowest.iter().take(5).enumerate() {
        let label = if at == 0 { "slowest" } else { "" };
        row(out, 0, &format!("{label:<12}{}", plain(name)), &seconds(*s));
    }
    text
}

/// Returns the percentage of the workers' time that was spent in tests.
pub(super) fn busy_share(timing: &Timing) -> Option<f64> {
    let share = 100.0 * timing.busy_s / (timing.wall_s * f64::from(timing.jobs));
    share.is_finite().then_some(share)
}

pub(super) fn headline(summary: &Summary) -> String {
    let totals = &summary.totals;
    let (tests, gate) = (totals.ran(), summary.coverage.gate.as_ref());
    let verdict = summary.verdict();
    let mut reasons = Vec::new();
    if verdict == Verdict::Failed {
        // Merged runs have no buckets.
        let buckets = match summary.buckets.len() as u64 {
            0 => String::new(),
            some => counted(some, "bucket") + ", ",
        };
        let (some, all) = (count(totals.not_passed()), counted(tests, "test"));
        reasons.push(format!("{buckets}{some} of {all} did not pass"));
    } else if tests == 0 {
        reasons.push("no test was run".into());
    } else {
        reasons.push(format!("{} passed", counted(tests, "test")));
    }
    if totals.skipped > 0 {
        reasons.push(format!("{} skipped", count(totals.skipped)));
    }
    if !summary.complete {
        reasons.push("the plan was not run to its end".into());
    }
    if let Some(gate) = gate.filter(|gate| !gate.passed) {
        reasons.push(format!("{} below the coverage gate", missing(gate)));
    }
    format!("{}  {}", verdict.name(), reasons.join("; "))
}

/// Returns the number of bins and lines that the coverage gate misses, as text.
pub(super) fn missing(gate: &Gate) -> String {
    match gate.missing.len() as u64 {
        1 => "1 bin or line is".to_string(),
        many => format!("{} bins or lines are", count(many)),
    }
}

/// Returns bucket indices, grouped by equal suspect line, in the order of the first bucket of each group.
pub(super) fn by_suspect(buckets: &[Bucket]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (at, bucket) in buckets.iter().enumerate() {
        let alike = |group: &&mut Vec<usize>| {
            bucket.suspect.is_some()
                && group.first().is_some_and(|first| buckets[*first].suspect == bucket.suspect)
        };
        match groups.iter_mut().find(alike) {
            Some(group) => group.push(at),
            None => groups.push(vec![at]),
        }
    }
    groups
}

fn full(out: &mut String, number: usize, bucket: &Bucket) {
    row(out, 0, &format!("{number:>3}  {}", plain(&bucket.key.to_string())), &counted(bucket.tests, "test"));
    let text = plain(&bucket.text);
    let lines: Vec<_> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    for shown in lines.iter().take(TEXT_LINES) {
        line(out, 5, shown);
    }
    if lines.len() > TEXT_LINES {
        line(out, 5, &format!("... {} more", counted((lines.len() - TEXT_LINES) as u64, "line")));
    }
    let mut facts = vec![bucket.status.name().to_string()];
    facts.extend(bucket.key.what().map(|what| format!("first mismatch: {what}")));
    facts.extend(bucket.key.op.map(|op| format!("operation {op}")));
    facts.push(format!("in {}", some(&bucket.configs)));
    facts.push(format!("first in {}", bucket.first_name));
    facts.extend(bucket.requests.map(|requests| format!("smaller case of {}", counted(requests, "request"))));
    line(out, 5, &facts.join("; "));
    if let Some(suspect) = &bucket.suspect {
        line(out, 5, &format!("suspect {}", plain(suspect)));
    }
    if let Some(bundle) = &bucket.bundle {
        let _ = writeln!(out, "     bundle  {}", plain(bundle));
    }
    if !bucket.repeat.is_empty() {
        let _ = writeln!(out, "     repeat  {}", plain(&bucket.repeat));
    }
}

/// Maximum number of causes shown.
const CAUSES: usize = 5;

fn causes(out: &mut String, summary: &Summary) {
    if !summary.causes.is_empty() {
        out.push('\n');
    }
    for cause in summary.causes.iter().take(CAUSES) {
        line(out, 0, &format!("likely one cause: {}", said(summary, cause)));
    }
    if summary.causes.len() > CAUSES {
        line(out, 0, &format!("... {} more, in summary.json", count((summary.causes.len() - CAUSES) as u64)));
    }
}

/// Formats a cause: numbers of the buckets, and the separating parameters.
pub(super) fn said(summary: &Summary, cause: &Cause) -> String {
    let number = |bucket: &Bucket| cause.buckets.contains(&bucket.key);
    let numbers = summary.buckets.iter().enumerate().filter(|(_, bucket)| number(bucket));
    let numbers: Vec<_> = numbers.map(|(at, _)| (at + 1).to_string()).collect();
    let buckets = if numbers.len() == 1 { "bucket" } else { "buckets" };
    format!("{} ({buckets} {}) {}", cause.kind, some(&numbers), cause.text())
}

fn table(out: &mut String, summary: &Summary) {
    let ways: Vec<_> =
        Status::ALL.into_iter().skip(1).filter(|status| summary.totals.of(*status) > 0).collect();
    let name = WIDTH - 2 - 12 - 9 - 10 * ways.len();
    let head = ways.iter().map(|way| format!("{:>10}", way.name())).collect::<String>();
    let _ = writeln!(out, "  {:<name$}{:>12}{:>9}{head}", "", "tests", "passed");
    let mut put = |title: &str, totals: &Totals| {
        let numbers = ways.iter().map(|way| format!("{:>10}", count(totals.of(*way)))).collect::<String>();
        let (tests, title) = (totals.tests(), clip(title, name));
        let rate = if totals.ran() == 0 { "-".into() } else { percent(totals.passed, totals.ran()) };
        let _ = writeln!(out, "  {title:<name$}{:>12}{rate:>9}{numbers}", count(tests));
    };
    let mut parts = |title: &str, parts: &[PartTotals]| {
        for part in parts {
            put(&format!("{title} {}", plain(&part.name)), &part.totals);
        }
    };
    parts("entry", &summary.entries);
    parts("config", &summary.configs);
    put("all", &summary.totals);
    let work = &summary.totals.work;
    let some = match work.counted < work.episodes {
        true => format!(" ({} counted bins)", count(work.counted)),
        false => String::new(),
    };
    let did = format!(
        "{}{some}, {}, {}, {} judged by the oracle, {}",
        counted(work.episodes, "run"),
        counted(work.requests, "warp request"),
        counted(work.cluster_requests, "cluster request"),
        count(work.judged),
        counted(work.cycles, "cycle"),
    );
    line(out, 2, &did);
}

fn coverage(out: &mut String, coverage: &FunctionalCoverage) {
    let FunctionalCoverage { bins, hit, waived, groups, .. } = coverage;
    let missing = bins.saturating_sub(*hit).saturating_sub(*waived);
    let (share, bins) = (percent(*hit, *bins), counted(*bins, "bin"));
    let (hit, waived, missing) = (count(*hit), count(*waived), count(missing));
    line(out, 0, &format!("coverage    {share}: {hit} of {bins} hit, {waived} waived, {missing} missing"));
    let order = worst_first(groups, |group| (group.hit + group.waived, group.bins));
    let gaps: Vec<_> = order.iter().filter(|group| group.missing() > 0).collect();
    for group in gaps.iter().take(GROUPS) {
        gap(out, &group.name, group.hit, group.bins, group.missing());
    }
    let rest = groups.len() - gaps.len().min(GROUPS);
    if rest > 0 && !gaps.is_empty() {
        let what = if gaps.len() > GROUPS { "that miss less" } else { "that miss nothing" };
        line(out, 12, &format!("and {} {what}", counted(rest as u64, "group")));
    }
}

fn gap(out: &mut String, name: &str, hit: u64, all: u64, missing: u64) {
    let (share, hit, all) = (percent(hit, all), count(hit), count(all));
    row(out, 12, &plain(name), &format!("{share:>8}  {hit:>7} of {all:>7}{:>9} missing", count(missing)));
}

fn rtl_coverage(out: &mut String, rtl: &RtlCoverageSummary) {
    let hit = rtl.files.iter().map(|file| file.hit()).sum();
    let lines = rtl.files.iter().map(|file| file.lines.len() as u64).sum();
    let held = rtl.covers.iter().filter(|(_, count)| *count > 0).count() as u64;
    let (share, covers) = (percent(hit, lines), rtl.covers.len() as u64);
    let (hit, lines) = (count(hit), counted(lines, "line"));
    let covers = format!("{} of {covers} cover properties held", count(held));
    line(out, 0, &format!("RTL         {share}: {hit} of {lines} ran; {covers}"));
    let order = worst_first(&rtl.files, |file| (file.hit() + file.waived(), file.lines.len() as u64));
    for file in order.iter().filter(|file| file.missing() > 0).take(FILES) {
        gap(out, &file.name, file.hit(), file.lines.len() as u64, file.missing());
    }
}

fn gate(out: &mut String, gate: &Gate) {
    if gate.passed {
        line(out, 0, "gate        passed");
    } else {
        let missing = count(gate.missing.len() as u64);
        line(out, 0, &format!("gate        not passed: {missing} neither hit nor waived"));
        list(out, &gate.missing);
    }
    if !gate.stale.is_empty() {
        line(out, 0, &format!("waivers     {} obsolete, hit or unknown:", count(gate.stale.len() as u64)));
        list(out, &gate.stale);
    }
}

fn list(out: &mut String, names: &[String]) {
    for name in names.iter().take(NAMES) {
        line(out, 12, &plain(name));
    }
    if names.len() > NAMES {
        line(out, 12, &format!("... {} more", count((names.len() - NAMES) as u64)));
    }
}

/// Sorts by share, lowest first; ties keep their order.
pub(super) fn worst_first<T>(items: &[T], share: impl Fn(&T) -> (u64, u64)) -> Vec<&T> {
    let mut order: Vec<_> = items.iter().collect();
    order.sort_by(|a, b| {
        let ((a_hit, a_all), (b_hit, b_all)) = (share(a), share(b));
        // An empty whole counts as 100 %.
        let [a_hit, a_all, b_hit, b_all] = [a_hit, a_all, b_hit, b_all].map(u128::from);
        match (a_all, b_all) {
            (0, _) | (_, 0) => b_all.cmp(&a_all),
            _ => (a_hit * b_all).cmp(&(b_hit * a_all)),
        }
    });
    order
}

/// Formats a list as `a, b, c and 4 more`.
pub(super) fn some(names: &[String]) -> String {
    const SHOWN: usize = 6;
    let shown = names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    match names.len().checked_sub(SHOWN) {
        Some(more) if more > 0 => format!("{shown} and {more} more"),
        _ => shown,
    }
}

fn line(out: &mut String, indent: usize, text: &str) {
    let text = plain(text);
    let own = text.len() - text.trim_start_matches(' ').len();
    let first = " ".repeat(indent + own.min(WIDTH / 2));
    // Align continuation lines with the text after the label.
    let label = if indent == 0 && text.len() > 12 && text.get(10..12) == Some("  ") { 12 } else { 2 };
    let rest = format!("{first}{}", " ".repeat(label));
    let options = textwrap::Options::new(WIDTH).initial_indent(&first).subsequent_indent(&rest);
    for wrapped in textwrap::wrap(text.trim_start_matches(' '), options) {
        out.push_str(wrapped.trim_end());
        out.push('\n');
    }
}

fn row(out: &mut String, indent: usize, left: &str, right: &str) {
    let room = (WIDTH - indent).saturating_sub(textwrap::core::display_width(right) + 2);
    let left = clip(left, room);
    let gap = room.saturating_sub(textwrap::core::display_width(&left)) + 2;
    let row = format!("{:indent$}{left}{:gap$}{right}", "", "");
    out.push_str(row.trim_end());
    out.push('\n');
}

fn clip(text: &str, width: usize) -> String {
    if textwrap::core::display_width(text) <= width {
        return text.into();
    }
    let mut clipped = String::new();
    for character in text.chars() {
        if textwrap::core::display_width(&clipped) + 3 + 1 > width {
            break;
        }
        clipped.push(character);
    }
    clipped + "..."
}
