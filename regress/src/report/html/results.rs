//! Test and timing sections of the page.

use atoms_wave_view::html::scroll;
use maud::{Markup, html};

use super::super::figures::{count, counted, percent, seconds};
use super::super::text::busy_share;
use crate::report::summary::Summary;
use crate::run::result::Status;
use crate::run::timing::Timing;
use crate::run::totals::Totals;

pub(super) fn tests(summary: &Summary) -> Markup {
    let Summary { totals, entries, .. } = summary;
    let work = &totals.work;
    html! {
        section #tests {
            h2 { "Tests" }
            p {
                @for (at, status) in Status::ALL.into_iter().enumerate() {
                    @if status == Status::Passed || totals.of(status) > 0 {
                        @if at > 0 { ", " }
                        b { (count(totals.of(status))) } " " (status.name())
                    }
                }
                ", of " b { (count(totals.tests())) } "."
                @if !summary.complete { " Not every test of the plan was run." }
                " They answered " b { (count(work.requests)) } " warp requests and "
                b { (count(work.cluster_requests)) } " cluster requests in " b { (count(work.cycles)) } " cycles and "
                b { (count(work.episodes)) } " runs from reset"
                @if work.counted < work.episodes { ", of which " b { (count(work.counted)) } " counted bins" }
                "; the oracle judged " b { (count(work.judged)) } " answers."
                @if summary.corpus > 0 { " The corpus keeps " (counted(summary.corpus, "run")) "." }
            }
            @if !entries.is_empty() {
                (scroll("Tests by entry and configuration", matrix(summary)))
            }
        }
    }
}

fn matrix(summary: &Summary) -> Markup {
    let Summary { totals, entries, configs, cells, .. } = summary;
    html! {
        table.matrix {
            caption { "Tests by entry and configuration; a cell shows how many tests did not pass" }
            thead {
                tr {
                    th scope="col" { "entry" }
                    @for config in configs { th.figure scope="col" { (lines(&config.name)) } }
                    th.figure scope="col" { "all" }
                    th.figure scope="col" { "passed" }
                }
            }
            tbody {
                @for entry in entries {
                    tr {
                        th scope="row" { (entry.name) }
                        @for config in configs {
                            @let cell = cells.iter().find(|cell| cell.entry == entry.name && cell.config == config.name);
                            (tally(cell.map(|cell| &cell.totals)))
                        }
                        (tally(Some(&entry.totals)))
                        td.figure { (rate(&entry.totals)) }
                    }
                }
            }
            tfoot {
                tr {
                    th scope="row" { "all" }
                    @for config in configs { (tally(Some(&config.totals))) }
                    (tally(Some(totals)))
                    td.figure { (rate(totals)) }
                }
                tr {
                    th scope="row" { "passed" }
                    @for config in configs { td.figure { (rate(&config.totals)) } }
                    td.figure { (rate(totals)) }
                    td {}
                }
            }
        }
    }
}

fn tally(totals: Option<&Totals>) -> Markup {
    let Some(totals) = totals.filter(|totals| totals.tests() > 0) else {
        return html! { td.figure.none { "–" } };
    };
    let ended: Vec<_> = Status::ALL
        .into_iter()
        .filter(|status| totals.of(*status) > 0)
        .map(|status| format!("{} {}", count(totals.of(status)), status.name()))
        .collect();
    html! {
        td.figure.bad[totals.not_passed() > 0] title=(ended.join(", ")) {
            @if totals.not_passed() > 0 { b { "✗ " (count(totals.not_passed())) } " of " }
            (count(totals.tests()))
        }
    }
}

fn rate(totals: &Totals) -> String {
    if totals.ran() == 0 { "–".into() } else { percent(totals.passed, totals.ran()) }
}

pub(super) fn timing(timing: &Timing) -> Markup {
    let longest = timing.slowest.iter().map(|(_, s)| *s).fold(0.0, f64::max);
    html! {
        section #timing {
            h2 { "Timing" }
            p {
                b { (seconds(timing.wall_s)) } " of wall time on " b { (counted(timing.jobs.into(), "worker")) }
                " (" (timing.executor) "), " b { (seconds(timing.busy_s)) } " in tests"
                @if let Some(share) = busy_share(timing) {
                    ": workers were busy for " b { (format!("{share:.0} %")) } " of it"
                }
                "."
            }
            @if !timing.rtl.place.is_empty() {
                p {
                    "RTL: " code { (timing.rtl.origin()) }
                    @if !timing.rtl.tools.is_empty() { ", built with " (timing.rtl.tools) }
                    @if timing.rtl.libraries > 0 {
                        "; " b { (counted(timing.rtl.libraries, "build")) } " in "
                        b { (seconds(timing.rtl.seconds)) } ", not included in the time above"
                    }
                    "."
                }
            }
            @if !timing.slowest.is_empty() {
                table.slowest {
                    caption { "The slowest tests" }
                    thead { tr { th scope="col" { "test" } th.figure scope="col" { "time" } th {} } }
                    tbody {
                        @for (name, s) in &timing.slowest {
                            tr {
                                td { code { (name) } }
                                td.figure { (seconds(*s)) }
                                td {
                                    span.bar aria-hidden="true" {
                                        i.time style={ "width:" (format!("{:.1}", width(*s, longest))) "%" } {}
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn width(seconds: f64, longest: f64) -> f64 {
    let width = 100.0 * seconds / longest;
    if width.is_finite() { width.clamp(0.0, 100.0) } else { 0.0 }
}

/// Renders a configuration name with one line for each overridden parameter.
fn lines(name: &str) -> Markup {
    html! {
        @for (at, part) in name.split_inclusive(',').enumerate() { @if at > 0 { br; } (part) }
    }
}
