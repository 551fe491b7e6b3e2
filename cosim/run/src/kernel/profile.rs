//! Cost of each instruction that uses the unit, as text and JSON.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use atoms_isa::{Kernel, SourceLine};
use atoms_sm::InstructionProfile;
use schemars::JsonSchema;
use serde::Serialize;

use crate::grouped;
use crate::usage::by_range;

/// Largest number of lines of the kernel in the text output. JSON has all lines.
const SHOWN: usize = 12;
const COLUMNS: usize = 80;

/// Instructions of one line of the kernel's text. A PTX line can have several.
struct Line<'p> {
    line: u32,
    parts: Vec<&'p InstructionProfile>,
}

impl Line<'_> {
    /// Returns the sort key: passes at either port, then cycles of latency.
    fn cost(&self) -> (u64, u64) {
        let passes = self.parts.iter().map(|p| p.passes + p.cluster_requests).sum();
        (passes, self.parts.iter().map(|p| p.latency_cycles).sum())
    }
}

/// Groups instructions by line, the most expensive line first.
fn lines<'p>(kernel: &Kernel, profiles: &'p [InstructionProfile]) -> Vec<Line<'p>> {
    let mut lines: Vec<Line<'p>> = Vec::new();
    for profile in profiles {
        let line = kernel.source.get(profile.pc as usize).map_or(0, |s| s.line);
        match lines.iter_mut().find(|l| l.line == line) {
            Some(same) => same.parts.push(profile),
            None => lines.push(Line { line, parts: vec![profile] }),
        }
    }
    lines.sort_by_key(|line| (std::cmp::Reverse(line.cost()), line.line));
    lines
}

fn source<'k>(kernel: &'k Kernel, profile: &InstructionProfile) -> &'k str {
    kernel.source.get(profile.pc as usize).map_or("", SourceLine::code)
}

fn cut(text: &str, columns: usize) -> String {
    if text.chars().count() <= columns {
        return text.to_string();
    }
    text.chars().take(columns.saturating_sub(2)).chain("..".chars()).collect()
}

/// Formats a table with a row for each instruction. If the requests of an instruction took different numbers
/// of passes, their distribution follows the row.
pub fn text(kernel: &Kernel, profiles: &[InstructionProfile]) -> String {
    let lines = lines(kernel, profiles);
    if lines.is_empty() {
        return String::new();
    }
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "    line requests lanes   passes  mean max latency tries  instruction");
    for line in lines.iter().take(SHOWN) {
        for (at, part) in line.parts.iter().enumerate() {
            let number = if at == 0 { line.line.to_string() } else { String::new() };
            row(&mut text, &number, part, source(kernel, part));
        }
    }
    if lines.len() > SHOWN {
        let _ = writeln!(text, "    and {} more lines; --json prints all", lines.len() - SHOWN);
    }
    text
}

fn row(text: &mut String, number: &str, part: &InstructionProfile, instruction: &str) {
    let start = text.len();
    let of_requests = |value: u64| {
        if part.requests == 0 { "-".into() } else { format!("{:.1}", value as f64 / part.requests as f64) }
    };
    let most = part.by_passes.iter().rposition(|count| *count > 0).unwrap_or(0);
    let tries = part.attempts_per_success().map_or(String::new(), |tries| format!("{tries:.2}"));
    let _ = write!(
        text,
        "  {number:>6} {:>8} {:>5} {:>8} {:>5} {most:>3} {:>7} {tries:>5}  ",
        grouped(part.requests + part.cluster_requests),
        of_requests(part.lanes),
        grouped(part.passes + part.cluster_requests),
        of_requests(part.passes),
        of_requests(part.latency_cycles),
    );
    let left = COLUMNS.saturating_sub(text.len() - start);
    let _ = writeln!(text, "{}", cut(instruction, left));
    let mut details = Vec::new();
    if most > 1 {
        details.extend(distribution(part));
    }
    if part.attempts > 0 && part.successes < part.attempts {
        let share = 100.0 * part.successes as f64 / part.attempts as f64;
        details.push(format!(
            "{} of {} lanes succeeded ({share:.1} %)",
            grouped(part.successes),
            grouped(part.attempts)
        ));
    }
    if part.cluster_requests > 0 {
        details.push(format!("{} at the cluster port", grouped(part.cluster_requests)));
    }
    for detail in details {
        let _ = writeln!(text, "         {detail}");
    }
}

/// Formats the distribution of passes. None if the passes of all requests are in one range.
fn distribution(part: &InstructionProfile) -> Option<String> {
    let shares = by_range((0..).zip(part.by_passes));
    (shares.len() > 1).then(|| format!("passes {}", shares.join("  ")))
}

/// Counts of the instructions of one line.
#[derive(Serialize, JsonSchema)]
pub struct LineResult<'k> {
    line: u32,
    parts: Vec<InstructionResult<'k>>,
}

#[derive(Serialize, JsonSchema)]
struct InstructionResult<'k> {
    pc: u32,
    instruction: &'k str,
    op: &'static str,
    requests: u64,
    lanes: u64,
    passes: u64,
    conflicts: u64,
    /// Requests by their number of passes.
    by_passes: BTreeMap<usize, u64>,
    latency_cycles: u64,
    cluster_requests: u64,
    attempts: u64,
    successes: u64,
    attempts_per_success: Option<f64>,
}

/// Returns all counts by line, the most expensive line first.
pub fn results<'k>(kernel: &'k Kernel, profiles: &[InstructionProfile]) -> Vec<LineResult<'k>> {
    let part = |p: &&InstructionProfile| InstructionResult {
        pc: p.pc,
        instruction: source(kernel, p),
        op: p.op.name(),
        requests: p.requests,
        lanes: p.lanes,
        passes: p.passes,
        conflicts: p.conflicts(),
        by_passes: p.by_passes.iter().copied().enumerate().filter(|(_, count)| *count > 0).collect(),
        latency_cycles: p.latency_cycles,
        cluster_requests: p.cluster_requests,
        attempts: p.attempts,
        successes: p.successes,
        attempts_per_success: p.attempts_per_success(),
    };
    let lines = lines(kernel, profiles);
    lines
        .iter()
        .map(|line| LineResult { line: line.line, parts: line.parts.iter().map(part).collect() })
        .collect()
}
