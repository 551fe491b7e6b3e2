//! Page of findings: the code beside both accesses of a race, and the timeline of both warps.

use atoms_isa::{Kernel, SourceLine};
use atoms_sm::races::Party;
use atoms_wave_view::html::{Column, HtmlPage, scroll, table};
use maud::{Markup, html};

use super::timeline::{Timelines, WarpNumber};
use super::{KernelFile, KernelFinding};
use crate::grouped;
use crate::kernel::finding::FindingSite;

/// Lines shown before and after the line of an access.
const LINES: usize = 5;

/// Rows of a timeline shown before and after an access.
const ROWS: usize = 8;

/// Returns the page. `report` is the report of a run that has ended.
pub fn page(
    kernel: &Kernel,
    file: KernelFile<'_>,
    report: Option<&str>,
    findings: &[KernelFinding<'_>],
    timelines: &Timelines<'_>,
) -> String {
    let name = file.path.file_name().unwrap_or_default().to_string_lossy();
    let title = format!("{} in {name}", kernel.name);
    let body = html! {
        h1 { (title) }
        @if findings.is_empty() { p { "No finding." } }
        @for (number, finding) in (1..).zip(findings) {
            section {
                h2 { (number) ". " @if finding.hint { "hint: " } (finding.what()) }
                @if !finding.advice.is_empty() { p.advice { (finding.advice) } }
                div.sites { @for site in &finding.sites { (code(file, site)) } }
                (timeline(kernel, finding, timelines))
            }
        }
        @if let Some(report) = report {
            h2 { "Run" }
            (scroll("Run", html! { pre { (report) } }))
        }
    };
    HtmlPage { title: &title, style: include_str!("page.css"), body }.text()
}

/// Source and machine code or PTX around the instruction of a site.
fn code(file: KernelFile<'_>, site: &FindingSite<'_>) -> Markup {
    let SourceLine { line, text, position, .. } = site.line;
    let source = position.as_ref().and_then(|position| {
        let text = std::fs::read_to_string(file.source(&position.file)?).ok()?;
        Some((position.to_string(), excerpt(&text, position.line)))
    });
    html! {
        figure {
            figcaption { b { (site.about()) } br; "line " (line) @if let Some(position) = position { " (" (position) ")" } ": " code { (text) } }
            @if let Some((name, lines)) = source { (scroll(&name, lines)) }
            (scroll("Code of the kernel", excerpt(file.text, *line)))
        }
    }
}

fn excerpt(text: &str, line: u32) -> Markup {
    let first = (line as usize).saturating_sub(LINES).max(1);
    let lines = (first..).zip(text.lines().skip(first - 1).take(2 * LINES + 1));
    html! {
        pre {
            @for (number, text) in lines {
                span.here[number == line as usize] { (format!("{number:>5}  {text}")) "\n" }
            }
        }
    }
}

/// Cell of a timeline: a step, or an access of the finding.
struct Row {
    cycle: u64,
    warp: WarpNumber,
    text: String,
    is_access: bool,
}

/// Table with a column per warp, and a row per step. Rows far from the accesses are left out.
fn timeline(kernel: &Kernel, finding: &KernelFinding<'_>, timelines: &Timelines<'_>) -> Markup {
    let sites = finding.sites.iter().filter_map(|site| Some((site, site.party.as_ref()?)));
    let sites: Vec<(&FindingSite<'_>, &Party)> = sites.collect();
    let mut warps: Vec<WarpNumber> = sites.iter().map(|(_, party)| (party.cta, party.warp)).collect();
    warps.dedup();
    let mut rows: Vec<Row> = Vec::new();
    for warp in &warps {
        rows.extend(timelines.of(*warp).iter().filter_map(|step| {
            let line = kernel.source.get(step.pc as usize)?;
            let lanes = match step.mask.count_ones() {
                32 => String::new(),
                1 => format!(", lane {}", step.mask.trailing_zeros()),
                lanes => format!(", {lanes} lanes"),
            };
            let text = format!("{}{lanes}", line.text);
            Some(Row { cycle: step.cycle, warp: *warp, text, is_access: false })
        }));
    }
    rows.extend(sites.iter().map(|(site, party)| Row {
        cycle: party.cycle,
        warp: (party.cta, party.warp),
        text: format!("{}: {}", site.act, site.line.text),
        is_access: true,
    }));
    if sites.is_empty() {
        return html! {};
    }
    rows.sort_by_key(|row| (row.cycle, row.is_access));
    let accesses: Vec<usize> =
        rows.iter().enumerate().filter(|(_, row)| row.is_access).map(|(at, _)| at).collect();
    let near = |at: usize| accesses.iter().any(|access| access.abs_diff(at) <= ROWS);
    let labels: Vec<_> = warps.iter().map(|(cta, warp)| format!("CTA {cta} warp {warp}")).collect();
    let columns = [Column::figure("cycle")].into_iter().chain(labels.iter().map(|label| Column::text(label)));
    let body = html! {
        @for (at, row) in rows.iter().enumerate() {
            @if near(at) {
                tr.here[row.is_access] {
                    td.figure { (grouped(row.cycle)) }
                    @for warp in &warps { td { @if row.warp == *warp { code { (row.text) } } } }
                }
            } @else if at > 0 && near(at - 1) {
                tr { td.figure { "…" } }
            }
        }
    };
    table("Timeline", "timeline", &columns.collect::<Vec<_>>(), body)
}
