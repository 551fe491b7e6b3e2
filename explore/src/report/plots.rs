//! The plots of a sweep, with what each says.

use std::collections::BTreeMap;

use atoms_cosim::usage::CycleClass;

use crate::plot::{Axis, Bar, Chart, HeatMap, Mark, PlotError, Scale, Series, StackedBars, short};
use crate::sweep::{
    FIGURES, Figure, Line, Measured, PlotFile, PointOutcome, findings, front, front_findings, lines,
    series_name, words,
};

use super::SweepReport;

/// A plot, drawn.
#[derive(Clone, Debug)]
pub struct DrawnPlot {
    /// Name of its file, without an ending.
    pub name: String,
    /// The picture.
    pub svg: String,
    /// What it says.
    pub findings: Vec<String>,
}

/// Why a plot cannot be drawn.
#[derive(Debug, thiserror::Error)]
pub enum PlotRefusal {
    /// It asks for a figure that there is not.
    #[error("no figure `{0}`; there are {known}", known = .1.join(", "))]
    Figure(String, Vec<&'static str>),
    /// It asks for a parameter that does not vary.
    #[error("`{0}` does not vary in this sweep; there are {known}", known = .1.join(", "))]
    Parameter(String, Vec<String>),
    /// The plot.
    #[error(transparent)]
    Plot(#[from] PlotError),
}

/// Draws what the sweep's file asks for; without that, the throughput along the first parameter that varies in numbers.
///
/// # Errors
/// [`PlotRefusal`].
pub fn plots(report: &SweepReport<'_>) -> Result<Vec<DrawnPlot>, PlotRefusal> {
    let mut wanted = report.plots.to_vec();
    if wanted.is_empty() {
        wanted.extend(by_default(report));
    }
    let mut drawn: Vec<_> =
        wanted.iter().filter_map(|plot| draw(report, plot).transpose()).collect::<Result<_, _>>()?;
    drawn.extend(stack(report)?);
    drawn.extend(banks(report)?);
    Ok(drawn)
}

/// Points whose cycles are shown; of a larger sweep the best ones.
const STACKED: usize = 16;

/// A point with an outcome, and its place in the sweep.
type Placed<'a> = (usize, &'a Measured, &'a PointOutcome);

/// The points with an outcome, the most work in a cycle first.
fn best_first<'a>(report: &'a SweepReport<'_>) -> Vec<Placed<'a>> {
    let outcome = |(at, one): (usize, &'a Measured)| Some((at, one, one.outcome.as_ref().ok()?));
    let mut all: Vec<Placed<'a>> = report.measured.iter().enumerate().filter_map(outcome).collect();
    let rate = |placed: &Placed<'_>| placed.2.measurement.units_per_kilocycle();
    all.sort_by(|a, b| rate(b).total_cmp(&rate(a)));
    all
}

/// A point by what tells it from the others.
fn named(one: &Measured) -> String {
    let labels: Vec<_> = one.point.labels.values().map(String::as_str).collect();
    if labels.is_empty() { one.point.config.name.clone() } else { labels.join(", ") }
}

/// Where the cycles of the points went.
fn stack(report: &SweepReport<'_>) -> Result<Option<DrawnPlot>, PlotRefusal> {
    let mut best = best_first(report);
    let all = best.len();
    best.truncate(STACKED);
    best.sort_by_key(|(at, ..)| *at);
    let cycles = |outcome: &PointOutcome, class: &CycleClass| {
        outcome.usage.stack.get(class.key()).copied().unwrap_or_default()
    };
    let used = |class: &&CycleClass| best.iter().any(|(.., outcome)| cycles(outcome, class) > 0);
    let classes: Vec<&CycleClass> = CycleClass::ALL.iter().filter(used).collect();
    let bar = |(_, one, outcome): &Placed<'_>| Bar {
        name: named(one),
        values: classes.iter().map(|class| cycles(outcome, class) as f64).collect(),
    };
    let bars: Vec<_> = best.iter().map(bar).collect();
    if bars.is_empty() {
        return Ok(None);
    }
    let which = if all > STACKED { format!(" of the {STACKED} best points") } else { String::new() };
    let title = format!("Where the cycles{which} went");
    let parts = classes.iter().map(|class| class.title().to_string()).collect();
    let chart = StackedBars { title, subtitle: subtitle(report), parts, bars };
    Ok(Some(DrawnPlot { name: "cycles".to_string(), svg: chart.svg()?, findings: Vec::new() }))
}

/// How busy the banks of the best point were.
fn banks(report: &SweepReport<'_>) -> Result<Option<DrawnPlot>, PlotRefusal> {
    let Some((_, one, outcome)) = best_first(report).into_iter().next() else { return Ok(None) };
    let (usage, cycles) = (&outcome.usage, outcome.measurement.cycles);
    let banks = usage.served_over_time.first().map_or(0, Vec::len);
    if banks == 0 {
        return Ok(None);
    }
    // The last interval may be shorter.
    let length = |at: usize| {
        cycles.saturating_sub(at as u64 * usage.interval_cycles).clamp(1, usage.interval_cycles) as f64
    };
    let share = |bank: usize| {
        let intervals = usage.served_over_time.iter().enumerate();
        intervals.map(|(at, served)| served[bank] as f64 / length(at)).collect()
    };
    let map = HeatMap {
        title: format!("Banks of the best point: {}", named(one)),
        subtitle: subtitle(report),
        x: "cycle".to_string(),
        columns: (0.0, cycles as f64),
        y: "bank".to_string(),
        value: "share of cycles in which it serves a word".to_string(),
        rows: (0..banks).map(share).collect(),
    };
    Ok(Some(DrawnPlot { name: "banks".to_string(), svg: map.svg()?, findings: Vec::new() }))
}

/// Names of the parameters that vary.
fn varied(report: &SweepReport<'_>) -> Vec<String> {
    let mut names: Vec<String> =
        report.measured.iter().flat_map(|one| one.point.labels.keys().cloned()).collect();
    names.sort();
    names.dedup();
    names
}

fn is_number(report: &SweepReport<'_>, name: &str) -> bool {
    let mut values = report.measured.iter().filter_map(|one| one.point.labels.get(name)).peekable();
    values.peek().is_some() && values.all(|value| value.parse::<f64>().is_ok())
}

fn by_default(report: &SweepReport<'_>) -> Option<PlotFile> {
    let names = varied(report);
    let x = names.iter().find(|name| is_number(report, name))?;
    let by = names.iter().find(|name| *name != x).cloned();
    Some(PlotFile { title: None, x: x.clone(), y: "throughput".to_string(), by, only: toml::Table::new() })
}

/// One plot; nothing where no point has the figure.
fn draw(report: &SweepReport<'_>, plot: &PlotFile) -> Result<Option<DrawnPlot>, PlotRefusal> {
    let figure = Figure::named(&plot.y).ok_or_else(|| {
        PlotRefusal::Figure(plot.y.clone(), FIGURES.iter().map(|figure| figure.name).collect())
    })?;
    let names = varied(report);
    let x_figure = Figure::named(&plot.x).filter(|_| !names.contains(&plot.x));
    let x = Some(&plot.x).filter(|_| x_figure.is_none());
    for name in [x, plot.by.as_ref()].into_iter().flatten().chain(plot.only.keys()) {
        if !names.contains(name) {
            return Err(PlotRefusal::Parameter(name.clone(), names));
        }
    }
    let (series, findings, x) = match x_figure {
        Some(x) => (
            scattered(report, plot, x, figure),
            front_findings(report.measured, plot, x, figure),
            Axis::linear(x.label),
        ),
        None => {
            let lines = lines(report.measured, plot, figure);
            let series = lines.iter().map(|line| series(report, line, figure)).collect();
            let x = Axis { label: words(&plot.x), scale: scale(&lines) };
            (series, findings(report.measured, plot, figure), x)
        }
    };
    if series.is_empty() {
        return Ok(None);
    }
    let only: Vec<_> = plot.only().map(|(name, value)| format!("{} {value}", words(name))).collect();
    let findings = findings.into_iter().map(|said| match &only[..] {
        [] => said,
        only => format!("With {}: {said}", only.join(", ")),
    });
    let findings = findings.collect();
    let with = if only.is_empty() { String::new() } else { format!(", {}", only.join(", ")) };
    let title = plot.title.clone().unwrap_or_else(|| format!("{} by {}{with}", figure.label, x.label));
    let chart = Chart { title, subtitle: subtitle(report), x, y: Axis::linear(figure.label), series };
    let by = plot.by.as_ref().map(|by| format!("-{by}")).unwrap_or_default();
    let only: String = plot.only().map(|(name, value)| format!("-{name}-{value}")).collect();
    let name = format!("{}-{}{by}{only}", plot.y, plot.x);
    Ok(Some(DrawnPlot { name, svg: chart.svg()?, findings }))
}

fn series(report: &SweepReport<'_>, line: &Line, figure: &Figure) -> Series {
    let mark = |(x, y, at): &(f64, f64, usize)| mark(report, (*x, *y), *at, figure);
    Series { name: line.name.clone(), marks: line.points.iter().map(mark).collect(), joined: true }
}

fn mark(report: &SweepReport<'_>, (x, y): (f64, f64), at: usize, figure: &Figure) -> Mark {
    let one = &report.measured[at];
    let labels: Vec<_> = one.point.labels.iter().map(|(name, value)| format!("{name} {value}")).collect();
    let title = format!("{}: {} {}", labels.join(", "), short(y), figure.label);
    Mark { x, y, title, link: format!("#point-{at}"), open: !one.certified }
}

/// Every point by two figures, and those joined that are best in both.
fn scattered(report: &SweepReport<'_>, plot: &PlotFile, x: &Figure, y: &Figure) -> Vec<Series> {
    let shown: Vec<(usize, &Measured)> =
        report.measured.iter().enumerate().filter(|(_, one)| plot.has(&one.point)).collect();
    let place = |one: &Measured| {
        let outcome = one.outcome.as_ref().ok()?;
        Some(((x.of)(outcome)?, (y.of)(outcome)?))
    };
    let all: Vec<&Measured> = shown.iter().map(|(_, one)| *one).collect();
    let best = front(&all, &[x, y]);
    let (mut on_front, mut by_name) = (Vec::new(), BTreeMap::<String, Vec<Mark>>::new());
    for (at, (place_in_sweep, one)) in shown.iter().enumerate() {
        let Some(place) = place(one) else { continue };
        let mark = mark(report, place, *place_in_sweep, y);
        if best.contains(&at) {
            on_front.push(mark);
        } else {
            let by = plot.by.as_ref().and_then(|by| Some((by, one.point.labels.get(by)?)));
            let name = by.map_or_else(|| "points".to_string(), |(by, value)| series_name(by, value));
            by_name.entry(name).or_default().push(mark);
        }
    }
    on_front.sort_by(|a, b| a.x.total_cmp(&b.x));
    let points = by_name.into_iter().map(|(name, marks)| Series { name, marks, joined: false });
    // Above all others.
    let front = Series { name: "front".to_string(), marks: on_front, joined: true };
    points.chain([front]).filter(|series| !series.marks.is_empty()).collect()
}

/// By powers of two where all values are such, and not few.
fn scale(lines: &[Line]) -> Scale {
    let mut values: Vec<f64> =
        lines.iter().flat_map(|line| line.points.iter().map(|point| point.0)).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    let is_power = |value: &f64| *value > 0.0 && value.log2().fract() == 0.0;
    if values.len() > 2 && values.iter().all(is_power) { Scale::Log2 } else { Scale::Linear }
}

/// What all points have in common.
fn subtitle(report: &SweepReport<'_>) -> String {
    let Some(first) = report.measured.first() else { return String::new() };
    let base = first.point.config.name.split(',').next().unwrap_or_default();
    let fixed = first.point.settings.iter().filter(|(name, _)| !first.point.labels.contains_key(*name));
    let fixed: String = fixed.map(|(name, value)| format!(", {name} {value}")).collect();
    format!("{} on {base}{fixed}; seed {}", first.point.workload, report.seed)
}
