//! Trend section of the page: earlier runs of the same plan.

use atoms_wave_view::html::Column;
use maud::{Markup, html};

use super::super::figures::{count, moment, percent, seconds};
use crate::report::summary::{Summary, TrendPoint};
use crate::run::timing::Timing;

/// Maximum number of runs shown, including this one.
const RUNS: usize = 60;
/// Width and height of a curve in SVG units, and the margin around the curve.
const FIELD: (f64, f64) = (340.0, 90.0);
const MARGIN: f64 = 8.0;

struct Value {
    value: f64,
    text: String,
}

struct Curve {
    title: &'static str,
    values: Vec<Value>,
}

pub(super) fn section(summary: &Summary, timing: &Timing, history: &[TrendPoint]) -> Markup {
    let this = TrendPoint::of(summary, timing);
    let mut runs: Vec<_> = history.iter().filter(|run| run.plan == this.plan && *run != &this).collect();
    runs.push(&this);
    let runs = &runs[runs.len().saturating_sub(RUNS)..];
    let curve = |title, value: fn(&TrendPoint) -> Value| Curve {
        title,
        values: runs.iter().map(|run| value(run)).collect(),
    };
    let curves = [
        curve("tests passed", |run| share(run.totals.passed, run.totals.ran())),
        curve("bins hit", |run| share(run.coverage.0, run.coverage.1)),
        curve("wall time", |run| Value { value: run.wall_s, text: seconds(run.wall_s) }),
    ];
    html! {
        section #trend {
            h2 { "Trend" }
            @if runs.len() < 2 {
                p.empty { "This is the first run of " (this.plan) " in this folder." }
            } @else {
                p { "The last " (count(runs.len() as u64)) " runs of " b { (this.plan) } ", this one at the right; a tick at the bottom where the RTL changed." }
                div.curves { @for curve in &curves { (figure(curve, runs)) } }
                details.values {
                    summary { "Values" }
                    (table(runs))
                }
            }
        }
    }
}

fn share(part: u64, whole: u64) -> Value {
    let value = if whole == 0 { 100.0 } else { 100.0 * part as f64 / whole as f64 };
    Value { value, text: percent(part, whole) }
}

fn figure(curve: &Curve, runs: &[&TrendPoint]) -> Markup {
    let finite = || curve.values.iter().filter(|value| value.value.is_finite());
    let by_value = |a: &&Value, b: &&Value| a.value.total_cmp(&b.value);
    let (Some(low), Some(high)) = (finite().min_by(by_value), finite().max_by(by_value)) else {
        return html! {};
    };
    let (width, height) = FIELD;
    let span = (high.value - low.value).max(f64::MIN_POSITIVE);
    let x = |at: usize| MARGIN + width * at as f64 / (runs.len() - 1).max(1) as f64;
    let flat = high.value - low.value <= 1e-9 * high.value.abs();
    let y =
        |value: f64| if flat { MARGIN + height / 2.0 } else { MARGIN + height * (high.value - value) / span };
    let points: Vec<_> = curve
        .values
        .iter()
        .enumerate()
        .filter(|(_, value)| value.value.is_finite())
        .map(|(at, value)| (at, x(at), y(value.value)))
        .collect();
    let path = points.iter().map(|(_, x, y)| format!("{x:.1},{y:.1}")).collect::<Vec<_>>().join(" ");
    let last = curve.values.last().map_or("", |value| value.text.as_str());
    let label = format!(
        "{}: {last} in this run, from {} to {} in {} runs",
        curve.title,
        low.text,
        high.text,
        runs.len()
    );
    let plot = html! {
        div.plot {
            div.axis aria-hidden="true" { span { (high.text) } @if !flat { span { (low.text) } } }
            svg viewBox=(format!("0 0 {} {}", width + 2.0 * MARGIN, height + 2.0 * MARGIN)) role="img" aria-label=(label) {
                @for (at, pair) in runs.windows(2).enumerate() {
                    @if pair[0].rtl != pair[1].rtl {
                        line.change x1=(format!("{:.1}", x(at + 1))) x2=(format!("{:.1}", x(at + 1)))
                            y1=(height + 2.0 * MARGIN) y2=(height + MARGIN) {}
                    }
                }
                polyline points=(path) {}
                @for (at, x, y) in &points {
                    @let run = runs[*at];
                    @let failed = run.totals.not_passed() > 0;
                    g.point {
                        title { (moment(run.started)) ", RTL " (run.rtl.get(..12).unwrap_or(&run.rtl)) ": " (curve.values[*at].text)
                            @if failed { "; " (count(run.totals.not_passed())) " tests did not pass" } }
                        // Larger invisible circle, which is easier to hover.
                        circle.aim cx=(format!("{x:.1}")) cy=(format!("{y:.1}")) r="7" {}
                        @if failed {
                            path.failed d=(format!("M{:.1} {:.1}l7 7m0-7l-7 7", x - 3.5, y - 3.5)) {}
                        } @else {
                            circle cx=(format!("{x:.1}")) cy=(format!("{y:.1}")) r="2.6" {}
                        }
                    }
                }
            }
        }
    };
    atoms_wave_view::html::figure(Some(html! { (curve.title) " " b { (last) } }), plot)
}

fn table(runs: &[&TrendPoint]) -> Markup {
    let figures =
        ["seed", "tests", "passed", "buckets", "bins hit", "of bins", "wall time"].map(Column::figure);
    let columns = [&[Column::text("run"), Column::text("RTL")][..], &figures].concat();
    let rows = html! {
        @for run in runs.iter().rev() {
            tr {
                td { (moment(run.started)) }
                td { code { (run.rtl.get(..12).unwrap_or(&run.rtl)) } }
                td.figure { (run.seed) }
                td.figure { (count(run.totals.tests())) }
                td.figure.bad[run.totals.not_passed() > 0] { (percent(run.totals.passed, run.totals.ran())) }
                td.figure { (count(run.buckets)) }
                td.figure { (count(run.coverage.0)) }
                td.figure { (count(run.coverage.1)) }
                td.figure { (seconds(run.wall_s)) }
            }
        }
    };
    atoms_wave_view::html::table("Values of the trend", "", &columns, rows)
}
