//! RTL coverage section of the page: files, lines and cover properties.

use atoms_wave_view::html::{Column, table};
use maud::{Markup, html};

use super::super::figures::{count, percent};
use super::super::text::worst_first;
use super::bar;
use crate::coverage::summary::{FileCoverage, RtlCoverageSummary};

/// Returns the number of lines that ran, and of all executable lines.
pub(super) fn lines(rtl: &RtlCoverageSummary) -> (u64, u64) {
    let hit = rtl.files.iter().map(|file| file.hit()).sum();
    (hit, rtl.files.iter().map(|file| file.lines.len() as u64).sum())
}

pub(super) fn section(rtl: &RtlCoverageSummary, sources: &[(String, String)]) -> Markup {
    let (hit, all) = lines(rtl);
    let held = rtl.covers.iter().filter(|(_, count)| *count > 0).count() as u64;
    html! {
        section #rtl {
            h2 { "RTL coverage" }
            p {
                b { (percent(hit, all)) } ": " b { (count(hit)) } " of " (count(all)) " lines ran; "
                b { (count(held)) } " of " (count(rtl.covers.len() as u64)) " cover properties held."
            }
            div.groups {
                div.head aria-hidden="true" {
                    span { "file" } span {} span.figure { "ran" } span.figure { "of lines" }
                    span.figure { "share" } span.figure { "toggled" } span.figure { "missing" }
                }
                @let order = worst_first(&rtl.files, |file| (file.hit() + file.waived(), file.lines.len() as u64));
                @for (at, file) in order.into_iter().enumerate() {
                    (self::file(at, file, sources.iter().find(|(name, _)| *name == file.name).map(|(_, text)| text)))
                }
            }
            @if !rtl.covers.is_empty() { (covers(rtl)) }
        }
    }
}

fn file(at: usize, file: &FileCoverage, text: Option<&String>) -> Markup {
    let (hit, all) = (file.hit(), file.lines.len() as u64);
    let (waived, missing) = (file.waived(), file.missing());
    html! {
        details.group id={ "file-" (at) } {
            summary {
                code { (file.name) }
                (bar(hit, waived, all))
                span.figure { (count(hit)) }
                span.figure { (count(all)) }
                span.figure { (percent(hit, all)) }
                span.figure {
                    @if let Some((points, both)) = file.toggles { (percent(both, points)) span.unit { " toggled" } }
                    @else { span.none { "–" } }
                }
                span.figure.bad[missing > 0].none[missing == 0] {
                    @if missing > 0 { "✗ " } (count(missing)) span.unit { " missing" }
                }
            }
            div.body {
                @if hit < all { (never(at, file, text)) }
                @match text {
                    Some(text) => { pre.source tabindex="0" { (source(at, file, text)) } },
                    None => { p { "The text of the source file is not available." } },
                }
            }
        }
    }
}

fn source(file_at: usize, file: &FileCoverage, text: &str) -> Markup {
    html! {
        @for (number, line) in (1u32..).zip(text.lines()) {
            @let ran = file.lines.iter().find(|(at, _)| *at == number).map(|(_, count)| *count);
            @match (ran, file.waiver(number)) {
                (Some(0), Some(reason)) => {
                    span.waived id={ "line-" (file_at) "-" (number) } title={ "waived: " (reason) } { i { (format!("{number:>5}  waived")) } "  " (line) }
                }
                (Some(0), None) => span.missing id={ "line-" (file_at) "-" (number) } { i { (format!("{number:>5} ✗     0")) } "  " (line) },
                (Some(times), _) => { i { (format!("{number:>5} {:>7}", short(times))) } "  " (line) },
                (None, _) => { i { (format!("{number:>5}        ")) } "  " (line) },
            }
            "\n"
        }
    }
}

fn never(at: usize, file: &FileCoverage, text: Option<&String>) -> Markup {
    let length = text.map_or(0, |text| text.lines().count() as u64);
    html! {
        p {
            "Never ran:"
            @for (line, _) in file.lines.iter().filter(|(_, count)| *count == 0) {
                " "
                @if (1..=length).contains(&u64::from(*line)) {
                    a href={ "#line-" (at) "-" (line) } { (line) }
                } @else { (line) }
                @if file.waiver(*line).is_some() { " (waived)" }
            }
        }
    }
}

fn covers(rtl: &RtlCoverageSummary) -> Markup {
    let reason =
        |name: &str| rtl.waived_covers.iter().find(|(waived, _)| waived == name).map(|(_, reason)| reason);
    let mut order: Vec<_> = rtl.covers.iter().collect();
    // Missing properties first, then waived ones, then those hit.
    order.sort_by_key(|(name, count)| (*count > 0, reason(name).is_some()));
    let missing = order.iter().filter(|(name, count)| *count == 0 && reason(name).is_none()).count() as u64;
    let columns = [Column::text("property"), Column::figure("held"), Column::text("")];
    let rows = html! {
        @for (name, times) in order {
            @let waiver = reason(name).filter(|_| *times == 0);
            tr.missing[*times == 0 && waiver.is_none()] {
                td { code { (name) } }
                td.figure { (count(*times)) }
                td {
                    @match waiver {
                        Some(reason) => { "waived: " (reason) },
                        None => { @if *times == 0 { "✗ never" } },
                    }
                }
            }
        }
    };
    html! {
        details.covers open[missing > 0] {
            summary {
                "Cover properties"
                @if missing > 0 { ": " span.bad { "✗ " (count(missing)) " never held" } }
            }
            (table("Cover properties", "", &columns, rows))
        }
    }
}

/// Formats a count in at most six characters: `999999`, `1.2M`.
fn short(count: u64) -> String {
    match count {
        0..1_000_000 => count.to_string(),
        1_000_000..1_000_000_000 => format!("{}.{}M", count / 1_000_000, count / 100_000 % 10),
        _ => format!("{}.{}G", (count / 1_000_000_000).min(9_999), count / 100_000_000 % 10),
    }
}
