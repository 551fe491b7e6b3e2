//! Page of a sweep: one self-contained HTML file.

use atoms_wave_view::html::{Column, HtmlPage, figure, table};
use maud::{Markup, PreEscaped, html};

use super::SweepReport;
use super::plots::DrawnPlot;
use crate::plot::short;
use crate::sweep::{FIGURES, Measured, PointCost, words};

pub(super) fn page(report: &SweepReport<'_>, plots: &[DrawnPlot]) -> String {
    let findings: Vec<&String> = plots.iter().flat_map(|plot| &plot.findings).collect();
    let measured = report.measured.len();
    let certified = report.measured.iter().filter(|one| one.certified).count();
    let failed: Vec<_> = report.measured.iter().enumerate().filter(|(_, one)| one.outcome.is_err()).collect();
    let body = html! {
        h1 { (report.about) }
        @for finding in &findings { p.finding { (finding) } }
        p.trust {
            b { (certified) } " of " (measured) " points certified: RTL and model agreed in every output and every probe \
            bit of every cycle, and the oracle accepted every answer. "
            @if certified < measured - failed.len() { "The others were measured on the model alone; their marks are hollow. " }
            "RTL " code { (report.rtl) } "; seed " (report.seed) "; " code { "atoms explore sweep " (report.file) }
        }
        @for plot in plots { (figure(None, PreEscaped(&plot.svg))) }
        @if !report.impossible.is_empty() || !failed.is_empty() {
            h2 { "Points without a result" }
            ul {
                @for one in report.impossible { li { (one.points) " points with an invalid configuration or workload: " (one.rule) } }
                @for (at, one) in &failed {
                    li { a href={ "#point-" (at) } { "point " (at) } ": " (one.outcome.as_ref().err().map_or("", String::as_str)) }
                }
            }
        }
        h2 { "Points" }
        (points(report))
    };
    HtmlPage { title: report.about, style: include_str!("page.css"), body }.text()
}

fn cost_from(cost: &PointCost) -> String {
    format!("{}, {}", cost.area_from(), cost.clock_from())
}

fn points(report: &SweepReport<'_>) -> Markup {
    let mut varied: Vec<&String> = report.measured.iter().flat_map(|one| one.point.labels.keys()).collect();
    varied.sort();
    varied.dedup();
    let row = |(at, one): (usize, &Measured)| {
        html! {
            tr id={ "point-" (at) } {
                th scope="row" { (at) }
                @for name in &varied { td { (one.point.labels.get(*name).map_or("", String::as_str)) } }
                @for figure in FIGURES {
                    td.figure {
                        (one.outcome.as_ref().ok().and_then(figure.of).map_or_else(|| "-".to_string(), short))
                    }
                }
                td { (one.outcome.as_ref().ok().and_then(|outcome| outcome.cost.as_ref()).map_or_else(String::new, cost_from)) }
                td { @if one.certified { "lockstep" } @else if one.outcome.is_ok() { "model alone" } @else { "none" } }
                td { code { (report.command(one)) } }
            }
        }
    };
    let mut columns = vec![Column::text("point")];
    let names: Vec<_> = varied.iter().map(|name| words(name)).collect();
    columns.extend(names.iter().map(|name| Column::text(name)));
    columns.extend(FIGURES.iter().map(|figure| Column { about: figure.about, ..Column::text(figure.label) }));
    columns.extend(["area, clock", "certificate", "command to repeat"].map(Column::text));
    let rows = html! { @for one in report.measured.iter().enumerate() { (row(one)) } };
    table("Points", "", &columns, rows)
}
