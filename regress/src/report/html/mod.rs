//! HTML report: one self-contained file that needs no network. All essential contents are visible without
//! scripts.
//!
//! The markup has tables, lists, sources and curves. The script adds the crosses of functional coverage, the
//! search and buttons to copy. A cross is drawn from data in the page when it is opened.

mod coverage;
mod failures;
mod results;
mod rtl;
mod trend;

use atoms_wave_view::html::HtmlPage;
use maud::{Markup, PreEscaped, html};

use super::figures::{count, moment, percent, permille, seconds};
use super::text::headline;
use crate::report::summary::{Summary, TrendPoint, Verdict};
use crate::run::timing::Timing;

#[derive(Clone, Copy, Debug)]
pub struct Page<'a> {
    pub summary: &'a Summary,
    pub timing: &'a Timing,
    /// Earlier runs, oldest first; the page skips those of other plans.
    pub history: &'a [TrendPoint],
    /// RTL sources as pairs of name and text; names as in the RTL coverage.
    pub sources: &'a [(String, String)],
    /// Names of other files in the folder of the page, which the page links.
    pub files: &'a [String],
}

pub fn page(page: &Page<'_>) -> String {
    let Page { summary, timing, history, sources, files } = *page;
    let verdict = summary.verdict();
    let (mark, class) = match verdict {
        Verdict::Passed => ("✓", "good"),
        Verdict::Failed => ("✗", "bad"),
        Verdict::Incomplete | Verdict::Uncovered => ("!", "warn"),
    };
    let headline = headline(summary);
    let reason = headline.strip_prefix(verdict.name()).unwrap_or(&headline);
    let title = format!("{mark} {} {}", summary.plan, summary.profile);
    let body = html! {
        header {
            h1 {
                span class={ "verdict " (class) } { (mark) " " (verdict.name()) }
                " " (reason.trim_start())
            }
            (origin(summary, timing))
        }
        (navigation(summary, timing))
        main {
            (failures::section(summary))
            (results::tests(summary))
            (coverage::section(&summary.coverage))
            @if let Some(rtl) = &summary.rtl_coverage { (rtl::section(rtl, sources)) }
            (trend::section(summary, timing, history))
            (results::timing(timing))
        }
        @if !files.is_empty() {
            footer {
                "Beside this page: "
                @for (at, file) in files.iter().enumerate() {
                    @if at > 0 { ", " }
                    a href=(href(&[file])) { (file) }
                }
            }
        }
        (coverage::data(&summary.coverage))
        script { (PreEscaped(include_str!("page.js"))) }
    };
    HtmlPage { title: &title, style: include_str!("page.css"), body }.text()
}

fn origin(summary: &Summary, timing: &Timing) -> Markup {
    html! {
        p.origin {
            span { "profile " b { (summary.profile) } " of " b { (summary.plan) } }
            span { "seed " b { (summary.seed) } }
            span title=(summary.rtl) { "RTL " b { (summary.rtl.get(..12).unwrap_or(&summary.rtl)) } }
            span { "ATOMS " b { (summary.version) } }
            span { b { (moment(timing.started)) } }
            span { b { (seconds(timing.wall_s)) } " on " b { (timing.jobs) } " " (timing.executor) " workers" }
        }
    }
}

fn navigation(summary: &Summary, timing: &Timing) -> Markup {
    let coverage = &summary.coverage;
    html! {
        nav aria-label="Sections" {
            a href="#failures" {
                "Failures " b.bad[!summary.buckets.is_empty()] {
                    @if !summary.buckets.is_empty() { "✗ " }
                    (count(summary.buckets.len() as u64))
                }
            }
            a href="#tests" { "Tests " b { (percent(summary.totals.passed, summary.totals.ran())) } }
            @let missed = coverage.gate.as_ref().is_some_and(|gate| !gate.passed);
            a href="#coverage" {
                "Coverage " b.bad[missed] { @if missed { "✗ " } (percent(coverage.hit, coverage.bins)) }
            }
            @if let Some(rtl) = &summary.rtl_coverage {
                @let (hit, lines) = rtl::lines(rtl);
                a href="#rtl" { "RTL lines " b { (percent(hit, lines)) } }
            }
            a href="#trend" { "Trend" }
            a href="#timing" { "Timing " b { (seconds(timing.wall_s)) } }
        }
    }
}

/// Returns a relative URL of a path below the folder of the page. Each name is percent-encoded and `..` is
/// dropped, so that no text becomes a scheme, a query or a path outside.
fn href(names: &[&str]) -> String {
    let mut reference = String::from(".");
    for name in
        names.iter().flat_map(|names| names.split('/')).filter(|name| !matches!(*name, "" | "." | ".."))
    {
        reference.push('/');
        for byte in name.bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                    reference.push(byte.into())
                }
                _ => reference += &format!("%{byte:02X}"),
            }
        }
    }
    reference
}

fn bar(hit: u64, waived: u64, all: u64) -> Markup {
    let share = |part| format!("width:{}%", permille(part, all) as f64 / 10.0);
    html! {
        span.bar aria-hidden="true" {
            i.hit style=(share(hit)) {}
            @if waived > 0 && all > 0 { i.waived style=(share(waived)) {} }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_stay_below_the_page() {
        assert_eq!(href(&["failures/a b", "wave.vcd"]), "./failures/a%20b/wave.vcd");
        assert_eq!(href(&["javascript:alert(1)"]), "./javascript%3Aalert%281%29");
        assert_eq!(href(&["/etc/../../x?y#z", ""]), "./etc/x%3Fy%23z");
    }
}
