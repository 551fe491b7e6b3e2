//! Functional coverage section of the page: groups as markup, bins as data for the script.

use maud::{Markup, PreEscaped, html};
use serde::Serialize;

use super::super::figures::{count, counted, percent};
use super::super::text::{missing, worst_first};
use super::bar;
use crate::coverage::summary::{FunctionalCoverage, Gate, GroupCoverage, WaivedPlaces};

/// Maximum number of missing names listed; `summary.json` has all of them.
const LISTED: usize = 500;

pub(super) fn section(coverage: &FunctionalCoverage) -> Markup {
    let FunctionalCoverage { bins, hit, waived, groups, gate } = coverage;
    let missing = bins.saturating_sub(*hit).saturating_sub(*waived);
    html! {
        section #coverage {
            h2 { "Functional coverage" }
            p {
                b { (percent(*hit, *bins)) } ": " b { (count(*hit)) } " of " (count(*bins)) " bins hit, "
                b { (count(*waived)) } " waived, " b { (count(missing)) } " missing."
            }
            @if let Some(gate) = gate { (self::gate(gate)) } @else { p.gate { "There is no gate." } }
            @if groups.is_empty() { p.empty { "No group of bins was sampled." } } @else {
                div.search hidden {
                    label for="search" { "Find bins" }
                    input #search type="search" autocomplete="off" spellcheck="false"
                        placeholder="words of a bin's name, such as CAS missing";
                    label for="state" { "that are" }
                    select #state {
                        option value="" { "in any state" }
                        option value="missing" { "missing" }
                        option value="waived" { "waived" }
                        option value="hit" { "hit" }
                    }
                    div #found role="status" {}
                }
                div.groups {
                    div.head aria-hidden="true" {
                        span { "group" } span {} span.figure { "hit" } span.figure { "of bins" }
                        span.figure { "share" } span.figure { "waived" } span.figure { "missing" }
                    }
                    // The script of the page finds a coverage group by its index, so keep the order of `data`.
                    @for (at, group) in order(coverage).into_iter().enumerate() { (self::group(at, group)) }
                }
            }
        }
    }
}

fn order(coverage: &FunctionalCoverage) -> Vec<&GroupCoverage> {
    worst_first(&coverage.groups, |group| (group.hit + group.waived, group.bins))
}

fn group(at: usize, group: &GroupCoverage) -> Markup {
    let missing = group.missing();
    html! {
        details.group id={ "group-" (at) } data-group=(at) {
            summary {
                code { (group.name) }
                (bar(group.hit, group.waived, group.bins))
                span.figure { (count(group.hit)) }
                span.figure { (count(group.bins)) }
                span.figure { (percent(group.hit, group.bins)) }
                span.figure.none[group.waived == 0] { (count(group.waived)) span.unit { " waived" } }
                span.figure.bad[missing > 0].none[missing == 0] {
                    @if missing > 0 { "✗ " } (count(missing)) span.unit { " missing" }
                }
            }
            div.body {
                p { (group.reason) @if !group.clause.is_empty() { " (" (group.clause) ")" } }
                div.cross {
                    p { "Dimensions of the cross, in the order of a bin's name: "
                        @for (at, (name, values)) in group.dimensions.iter().enumerate() {
                            @if at > 0 { " × " }
                            b { (name) } " (" (counted(values.len() as u64, "value")) ")"
                        }
                        ". The cross itself is drawn by a script; summary.json has it too."
                    }
                }
            }
        }
    }
}

fn gate(gate: &Gate) -> Markup {
    html! {
        @if gate.passed {
            p.gate { span.good { "✓ Coverage is at or above the gate." } }
        } @else {
            details.gate {
                summary {
                    span.bad { "✗ " (missing(gate)) " below the coverage gate" } ": neither hit nor waived"
                }
                (names(&gate.missing))
            }
        }
        @if !gate.stale.is_empty() {
            details.gate {
                summary { span.warn { "! " (counted(gate.stale.len() as u64, "waiver")) } " obsolete: hit, or unknown" }
                (names(&gate.stale))
            }
        }
    }
}

fn names(names: &[String]) -> Markup {
    html! {
        div.list tabindex="0" role="region" aria-label="Names" {
            ul.names {
                @for name in names.iter().take(LISTED) { li { code { (name) } } }
                @if names.len() > LISTED {
                    li { "and " (count((names.len() - LISTED) as u64)) " more, in summary.json" }
                }
            }
        }
    }
}

#[derive(Serialize)]
struct Data<'a> {
    name: &'a str,
    dimensions: &'a [(String, Vec<String>)],
    /// Hits of each combination of values; -1 if the combination is not a bin.
    counts: Vec<i64>,
    waivers: &'a [WaivedPlaces],
}

pub(super) fn data(coverage: &FunctionalCoverage) -> Markup {
    let groups: Vec<_> = order(coverage)
        .into_iter()
        .map(|group| Data {
            name: &group.name,
            dimensions: &group.dimensions,
            counts: group.counts.iter().map(|hits| hits.map_or(-1, i64::from)).collect(),
            waivers: &group.waivers,
        })
        .collect();
    let text = serde_json::to_string(&groups).expect("names and numbers serialize");
    // Escape `<`, since the text of a script element is not unescaped and `</script>` would end the element.
    html! { script #data type="application/json" { (PreEscaped(text.replace('<', "\\u003c"))) } }
}
