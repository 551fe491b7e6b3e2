//! Text of a usage report (docs/reports.md).

use std::fmt::Write as _;

use atoms_cosim::usage::{BankUsage, CycleStack, Distribution, LatencyUsage, RetryUsage, UsageReport};

use crate::grouped;

const COLUMNS: usize = 80;
/// Maximum width of a bar, in columns.
const BAR: usize = 16;

fn per_cent(count: u64, of: u64) -> f64 {
    100.0 * count as f64 / of.max(1) as f64
}

/// Formats shares by ranges of the value: 0, 1, 2, 3 to 4, 5 to 8 and so on.
pub(crate) fn by_range(counts: impl Iterator<Item = (u64, u64)>) -> Vec<String> {
    let mut ranges: Vec<(u64, u64, u64)> = Vec::new();
    let mut all = 0;
    for (value, count) in counts.filter(|(_, count)| *count > 0) {
        let high = value.next_power_of_two();
        let (low, high) = if value == 0 { (0, 0) } else { (high / 2 + 1, high) };
        match ranges.last_mut().filter(|range| range.1 == high) {
            Some(range) => range.2 += count,
            None => ranges.push((low, high, count)),
        }
        all += count;
    }
    let share = |(low, high, count): (u64, u64, u64)| {
        let range = if low >= high { high.to_string() } else { format!("{low}-{high}") };
        format!("{range}: {:.0}%", per_cent(count, all))
    };
    ranges.into_iter().map(share).collect()
}

/// Draws a bar that fills `share` of `columns`, in steps of an eighth of a column.
fn bar(share: f64, columns: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (share * columns as f64 * 8.0).round() as usize;
    let some = if eighths == 0 && share > 0.0 { 1 } else { eighths };
    "█".repeat(some / 8) + EIGHTHS[some % 8]
}

/// Draws one character for each value, as high as its share of `most`. A dot stands for 0.
fn sparkline(values: impl Iterator<Item = u64>, most: u64) -> String {
    const LEVELS: [char; 9] = ['·', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    values.map(|value| LEVELS[(value * 8).div_ceil(most.max(1)).min(8) as usize]).collect()
}

/// Formats `report` in lines of at most 80 columns.
pub fn text(report: &UsageReport) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write(&mut text, report);
    text
}

fn write(text: &mut String, report: &UsageReport) -> std::fmt::Result {
    writeln!(text, "  cycles     {}, by class:", grouped(report.cycles))?;
    stack(text, &report.stack)?;
    let t = &report.throughput;
    writeln!(
        text,
        "  per cycle  {:.3} passes, {:.3} requests, {:.2} lane operations",
        t.passes_per_cycle, t.requests_per_cycle, t.lane_operations_per_cycle
    )?;
    let passes = by_range(report.warp.passes.counts());
    if passes.len() > 1 {
        writeln!(text, "  by passes  {}", passes.join("  "))?;
    }
    latencies(text, report)?;
    queue(text, "warp", &report.warp_queue)?;
    queue(text, "cluster", &report.cluster_queue)?;
    held(text, report)?;
    banks(text, report)?;
    retries(text, &report.retries)
}

fn stack(text: &mut String, stack: &CycleStack) -> std::fmt::Result {
    let total = stack.total();
    let mut classes: Vec<_> = stack.iter().filter(|(_, cycles)| *cycles > 0).collect();
    classes.sort_by_key(|(_, cycles)| std::cmp::Reverse(*cycles));
    let digits = grouped(total).len();
    let brief = classes.iter().map(|(class, _)| class.brief().len()).max().unwrap_or(0);
    let columns = COLUMNS.saturating_sub(4 + 10 + 1 + digits + 9 + 2 + 2 + brief).min(BAR);
    for (class, cycles) in classes {
        let bar = bar(cycles as f64 / total as f64, columns);
        writeln!(
            text,
            "    {:10} {:>digits$} {:6.1} %  {bar:columns$}  {}",
            class.title(),
            grouped(cycles),
            per_cent(cycles, total),
            class.brief()
        )?;
    }
    Ok(())
}

fn latencies(text: &mut String, report: &UsageReport) -> std::fmt::Result {
    let UsageReport { warp, cluster, waits, .. } = report;
    let ports = [("warp", &warp.latency), ("cluster", &cluster.latency), ("posted", &cluster.posted_latency)];
    let waits = [("suspended, woken", &waits.woken), ("suspended, limit", &waits.timed_out)];
    let some = |latency: &&LatencyUsage| latency.total.count() > 0;
    if !ports.iter().any(|(_, latency)| some(latency)) && waits.iter().all(|(_, cycles)| cycles.count() == 0)
    {
        return Ok(());
    }
    writeln!(
        text,
        "  latency {:>22} {:>8} {:>6} {:>6} {:>6} {:>6} {:>6}",
        "requests", "mean", "min", "p50", "p90", "p99", "max"
    )?;
    for (name, latency) in ports.iter().filter(|(_, latency)| some(latency)) {
        cycles(text, name, &latency.total, true)?;
        let parts =
            [("queueing", &latency.queueing), ("service", &latency.service), ("answer", &latency.answer)];
        for (part, values) in parts.iter().filter(|(_, values)| values.max() > Some(0)) {
            cycles(text, &format!("  {part}"), values, false)?;
        }
    }
    for (name, values) in waits.iter().filter(|(_, cycles)| cycles.count() > 0) {
        cycles(text, name, values, true)?;
    }
    Ok(())
}

/// Writes a row of latencies. The rows `queueing`, `service` and `answer` have no count, because it equals
/// that of the total above.
fn cycles(text: &mut String, name: &str, values: &Distribution, counted: bool) -> std::fmt::Result {
    let count = if counted { grouped(values.count()) } else { String::new() };
    write!(text, "    {name:16} {count:>11} {:8.2}", values.mean().unwrap_or(0.0))?;
    let figures =
        [values.min(), values.percentile(50), values.percentile(90), values.percentile(99), values.max()];
    for value in figures.into_iter().flatten() {
        write!(text, " {:>6}", grouped(value))?;
    }
    writeln!(text)
}

fn queue(text: &mut String, port: &str, levels: &Distribution) -> std::fmt::Result {
    let Some(mean) = levels.mean().filter(|mean| *mean > 0.0) else { return Ok(()) };
    writeln!(text, "  queue      {port} mean {mean:.2}; {}", by_range(levels.counts()).join("  "))
}

fn held(text: &mut String, report: &UsageReport) -> std::fmt::Result {
    let (b, h) = (&report.back_pressure, &report.hazards);
    let held = [
        ("held up", "warp response not taken", b.warp_responses),
        ("held up", "cluster response not taken", b.cluster_responses),
        ("held up", "wake-up not taken", b.wake_ups),
        ("held up", "warp request refused, queue full", b.warp_requests),
        ("held up", "cluster request refused, queue full", b.cluster_requests),
        ("held up", "write of the CTA table waits", b.table_writes),
        ("hazards", "first pass of a request held back", h.first_pass),
        ("hazards", "later pass of a request held back", h.between_passes),
    ];
    let mut before = "";
    for (label, what, cycles) in held.into_iter().filter(|(.., cycles)| *cycles > 0) {
        let shown = if label == before { "" } else { label };
        before = label;
        let share = per_cent(cycles, report.cycles);
        writeln!(text, "  {shown:10} {what}: {} cycles ({share:.1} %)", grouped(cycles))?;
    }
    Ok(())
}

fn banks(text: &mut String, report: &UsageReport) -> std::fmt::Result {
    let BankUsage { served, interval_cycles, served_over_time, .. } = &report.banks;
    let busiest = served.iter().copied().max().unwrap_or(0);
    let Some(bank) = served.iter().position(|words| *words == busiest).filter(|_| busiest > 0) else {
        return Ok(());
    };
    let least = served.iter().copied().min().unwrap_or(0);
    let share = |words: u64| per_cent(words, report.cycles);
    writeln!(
        text,
        "  banks      busy {:.1} % of the cycles on average, {:.1} % to {:.1} % (bank {bank})",
        100.0 * report.throughput.bank_utilisation,
        share(least),
        share(busiest)
    )?;
    writeln!(text, "    by bank  {}", sparkline(served.iter().copied(), busiest))?;
    let over_time: Vec<u64> = served_over_time.iter().map(|interval| interval.iter().sum()).collect();
    let most = over_time.iter().copied().max().unwrap_or(0);
    let each = grouped(*interval_cycles);
    writeln!(text, "    in time  {}", sparkline(over_time.into_iter(), most))?;
    writeln!(text, "             (one character per bank; one per {each} cycles)")
}

fn retries(text: &mut String, retries: &[RetryUsage]) -> std::fmt::Result {
    if retries.is_empty() {
        return Ok(());
    }
    let head = ["lanes", "succeeded", "per success", "not selected", "repeats"];
    let row = |text: &mut String, name: &str, [lanes, succeeded, each, not_selected, repeats]: [&str; 5]| {
        let row = format!("{name:18} {lanes:>11} {succeeded:>11} {each:>12} {not_selected:>13} {repeats:>9}");
        writeln!(text, "{}", row.trim_end())
    };
    row(text, "  tries", head)?;
    for usage in retries {
        let each = usage.attempts_per_success.map_or("-".into(), |each| format!("{each:.2}"));
        let some = |count: u64| if count == 0 { String::new() } else { grouped(count) };
        let (lanes, succeeded) = (grouped(usage.attempts), grouped(usage.successes));
        let (not_selected, repeats) = (some(usage.not_selected), some(usage.retries));
        row(text, &format!("    {}", usage.op), [&lanes, &succeeded, &each, &not_selected, &repeats])?;
    }
    Ok(())
}
