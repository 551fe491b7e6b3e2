//! Draws the plots of a sweep and derives their findings.

use std::collections::{BTreeMap, BTreeSet};

use atoms_cosim::usage::CycleClass;

use crate::plot::{
    Axis, Bar, Chart, HeatMap, MOST_SERIES, Mark, PlotError, Scale, Series, StackedBars, short,
};
use crate::sweep::{
    FIGURES, Figure, Line, LineKey, LineNames, Measured, PlotFile, PointOutcome, SweepPoint, findings, front,
    front_findings, lines, series_name, words,
};

use super::SweepReport;

#[derive(Clone, Debug)]
pub struct DrawnPlot {
    pub name: String,
    pub svg: String,
    pub findings: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum PlotRefusal {
    #[error("no figure `{0}`; there are {known}", known = .1.join(", "))]
    Figure(String, Vec<&'static str>),
    #[error("`{0}` does not vary in this sweep; these parameters vary: {known}", known = .1.join(", "))]
    Parameter(String, Vec<String>),
    #[error("`x = \"{0}\"`: its values are not numbers; use it as `by`, and a parameter with numbers as `x`")]
    Names(String),
    #[error("no point has the values of `only = {{ {0} }}`")]
    Empty(String),
    #[error(
        "the plot of `{y}` by `{x}` has {curves} curves, and {MOST_SERIES} at most are shown: {sizes}; take one value, as in \
         `only = {{ {only} }}`"
    )]
    Curves { y: String, x: String, curves: usize, sizes: String, only: String },
    #[error(transparent)]
    Plot(#[from] PlotError),
}

/// Checks that the plots fit these points. Call it before the sweep, to fail early.
///
/// # Errors
/// [`PlotRefusal`].
pub fn check_plots(plots: &[PlotFile], points: &[SweepPoint]) -> Result<(), PlotRefusal> {
    let points: Vec<&SweepPoint> = points.iter().collect();
    plots.iter().try_for_each(|plot| {
        check(plot, &points)?;
        match points.iter().any(|point| plot.has(point)) {
            true => Ok(()),
            false => Err(PlotRefusal::Empty(toml_pairs(&plot.only))),
        }
    })
}

/// Draws the plots of the sweep's file. Default: throughput over the first parameter with numbers as values.
///
/// # Errors
/// [`PlotRefusal`].
pub fn plots(report: &SweepReport<'_>) -> Result<Vec<DrawnPlot>, PlotRefusal> {
    let points: Vec<&SweepPoint> = report.measured.iter().map(|one| &one.point).collect();
    let mut wanted = report.plots.to_vec();
    if wanted.is_empty() {
        wanted.extend(by_default(&points));
    }
    let mut drawn = Vec::new();
    for plot in &wanted {
        drawn.extend(draw(report, plot, &points)?);
    }
    drawn.extend(stack(report)?);
    drawn.extend(banks(report)?);
    Ok(drawn)
}

/// Maximum number of bars in the plot of cycles. A larger sweep shows its best points.
const STACKED: usize = 16;

type Placed<'a> = (usize, &'a Measured, &'a PointOutcome);

/// Groups the points with an outcome by unit of work, and sorts each group by falling throughput.
fn best_first<'a>(report: &'a SweepReport<'_>) -> Vec<Vec<Placed<'a>>> {
    let outcome = |(at, one): (usize, &'a Measured)| Some((at, one, one.outcome.as_ref().ok()?));
    let mut by_unit: BTreeMap<&str, Vec<Placed<'a>>> = BTreeMap::new();
    for placed in report.measured.iter().enumerate().filter_map(outcome) {
        by_unit.entry(placed.1.point.unit_of_work()).or_default().push(placed);
    }
    let rate = |placed: &Placed<'_>| placed.2.measurement.units_per_kilocycle();
    by_unit.values_mut().for_each(|all| all.sort_by(|a, b| rate(b).total_cmp(&rate(a))));
    by_unit.into_values().collect()
}

fn named(one: &Measured) -> String {
    let labels: Vec<_> = one.point.labels.values().map(String::as_str).collect();
    if labels.is_empty() { one.point.config.name.clone() } else { labels.join(", ") }
}

fn stack(report: &SweepReport<'_>) -> Result<Option<DrawnPlot>, PlotRefusal> {
    let by_unit = best_first(report);
    let all: usize = by_unit.iter().map(Vec::len).sum();
    let each = if all > STACKED { STACKED / by_unit.len() } else { all };
    let mut best: Vec<_> = by_unit.iter().flat_map(|points| points.iter().take(each).copied()).collect();
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
    let which = match (all > STACKED, by_unit.len()) {
        (false, _) => String::new(),
        (true, 1) => format!(" of the {each} best points"),
        (true, _) => format!(" of the {each} best points for each unit of work"),
    };
    let title = format!("Where the cycles{which} went");
    let parts = classes.iter().map(|class| class.title().to_string()).collect();
    let points: Vec<_> = best.iter().map(|(_, one, _)| &one.point).collect();
    let chart = StackedBars { title, subtitle: subtitle(report, &points), parts, bars };
    Ok(Some(DrawnPlot { name: "cycles".to_string(), svg: chart.svg()?, findings: Vec::new() }))
}

fn banks(report: &SweepReport<'_>) -> Result<Vec<DrawnPlot>, PlotRefusal> {
    let by_unit = best_first(report);
    let mut drawn = Vec::new();
    for (_, one, outcome) in by_unit.iter().filter_map(|points| points.first()) {
        let (usage, cycles) = (&outcome.usage, outcome.measurement.cycles);
        let banks = usage.served_over_time.first().map_or(0, Vec::len);
        if banks == 0 {
            continue;
        }
        let length = |at: usize| {
            cycles.saturating_sub(at as u64 * usage.interval_cycles).clamp(1, usage.interval_cycles) as f64
        };
        let share = |bank: usize| {
            let intervals = usage.served_over_time.iter().enumerate();
            intervals.map(|(at, served)| served[bank] as f64 / length(at)).collect()
        };
        let map = HeatMap {
            title: format!("Banks of the best point: {}", named(one)),
            subtitle: subtitle(report, &[&one.point]),
            x: "cycle".to_string(),
            columns: (0.0, cycles as f64),
            y: "bank".to_string(),
            value: "share of cycles in which it serves a word".to_string(),
            rows: (0..banks).map(share).collect(),
        };
        let of = if by_unit.len() > 1 { format!("-{}", one.point.workload) } else { String::new() };
        drawn.push(DrawnPlot { name: format!("banks{of}"), svg: map.svg()?, findings: Vec::new() });
    }
    Ok(drawn)
}

fn varied(points: &[&SweepPoint]) -> Vec<String> {
    let names: BTreeSet<&String> = points.iter().flat_map(|point| point.labels.keys()).collect();
    names.into_iter().cloned().collect()
}

fn is_number(points: &[&SweepPoint], name: &str) -> bool {
    points.iter().filter_map(|point| point.labels.get(name)).all(|value| value.parse::<f64>().is_ok())
}

/// Returns a plot of throughput over a parameter. If that plot has too many curves, returns throughput over
/// area.
fn by_default(points: &[&SweepPoint]) -> Option<PlotFile> {
    let names = varied(points);
    let x = names.iter().find(|name| is_number(points, name))?;
    let by = names.iter().find(|name| *name != x).cloned();
    let (y, only) = ("throughput".to_string(), toml::Table::new());
    let plot = PlotFile { title: None, x: x.clone(), y, by, only };
    match check(&plot, points) {
        Err(PlotRefusal::Curves { .. }) => Some(PlotFile { x: "area".to_string(), by: None, ..plot }),
        _ => Some(plot),
    }
}

/// Splits a plot by workload if the units of work differ, since points with different units of work are never
/// ranked together.
fn comparable(plot: &PlotFile, points: &[&SweepPoint]) -> Vec<PlotFile> {
    let shown = || points.iter().filter(|point| plot.has(point));
    if shown().map(|point| point.unit_of_work()).collect::<BTreeSet<_>>().len() < 2 {
        return vec![plot.clone()];
    }
    let workloads: BTreeSet<&String> = shown().map(|point| &point.workload).collect();
    let part = |workload: &String| {
        let mut part = plot.clone();
        part.only.insert("workload".to_string(), workload.clone().into());
        part.title = plot.title.as_ref().map(|title| format!("{title}: {workload}"));
        part
    };
    workloads.into_iter().map(part).collect()
}

/// Returns the figure at `x`; `None` if `x` is a parameter.
fn figure_below(plot: &PlotFile, names: &[String]) -> Option<&'static Figure> {
    Figure::named(&plot.x).filter(|_| !names.contains(&plot.x))
}

/// Splits a plot into the pictures to draw. Each picture is paired with the plots whose points its findings
/// rank. Only `by = "workload"` puts several units of work into one picture.
fn pictures(plot: &PlotFile, points: &[&SweepPoint]) -> Vec<(PlotFile, Vec<PlotFile>)> {
    let parts = comparable(plot, points);
    match figure_below(plot, &varied(points)) {
        None if plot.by.as_deref() == Some("workload") => vec![(plot.clone(), parts)],
        _ => parts.into_iter().map(|part| (part.clone(), vec![part])).collect(),
    }
}

fn check(plot: &PlotFile, points: &[&SweepPoint]) -> Result<&'static Figure, PlotRefusal> {
    let figure = Figure::named(&plot.y).ok_or_else(|| {
        PlotRefusal::Figure(plot.y.clone(), FIGURES.iter().map(|figure| figure.name).collect())
    })?;
    let names = varied(points);
    let x = Some(&plot.x).filter(|_| figure_below(plot, &names).is_none());
    for name in [x, plot.by.as_ref()].into_iter().flatten().chain(plot.only.keys()) {
        if !names.contains(name) {
            return Err(PlotRefusal::Parameter(name.clone(), names));
        }
    }
    match x.filter(|x| !is_number(points, x)) {
        Some(x) => return Err(PlotRefusal::Names(x.clone())),
        None => pictures(plot, points).iter().try_for_each(|(picture, _)| curves(plot, picture, points))?,
    }
    Ok(figure)
}

fn curves(plot: &PlotFile, picture: &PlotFile, points: &[&SweepPoint]) -> Result<(), PlotRefusal> {
    let names = match figure_below(picture, &varied(points)) {
        None => LineNames::of(points, picture),
        Some(_) => LineNames { apart: picture.by.iter().cloned().collect(), along: Vec::new() },
    };
    let keys = |plot: &PlotFile| -> BTreeSet<LineKey> {
        points.iter().filter(|point| plot.has(point)).map(|point| names.key(point, plot)).collect()
    };
    let all = keys(picture);
    if all.len() <= MOST_SERIES {
        return Ok(());
    }
    let values = |at: usize| {
        all.iter().map(|key| &key[at]).filter(|(_, value)| !value.is_empty()).collect::<BTreeSet<_>>()
    };
    let mut sizes: Vec<_> = names.apart.iter().enumerate().map(|(at, name)| (name, values(at))).collect();
    sizes.sort_by_key(|(_, values)| std::cmp::Reverse(values.len()));
    let (mut fixed, mut only) = (picture.clone(), plot.only.clone());
    for (name, values) in &sizes {
        if keys(&fixed).len() > MOST_SERIES
            && let Some((_, value)) = values.first()
        {
            let value = value.parse().unwrap_or_else(|_| toml::Value::String(value.clone()));
            only.insert(name.to_string(), value);
            fixed.only.extend(only.clone());
        }
    }
    let sizes: Vec<_> =
        sizes.iter().map(|(name, values)| format!("`{name}` has {} values", values.len())).collect();
    Err(PlotRefusal::Curves {
        y: picture.y.clone(),
        x: picture.x.clone(),
        curves: all.len(),
        sizes: sizes.join(", "),
        only: toml_pairs(&only),
    })
}

fn toml_pairs(table: &toml::Table) -> String {
    table.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
}

fn draw(
    report: &SweepReport<'_>,
    plot: &PlotFile,
    points: &[&SweepPoint],
) -> Result<Vec<DrawnPlot>, PlotRefusal> {
    let figure = check(plot, points)?;
    let x_figure = figure_below(plot, &varied(points));
    let mut drawn = Vec::new();
    for (plot, parts) in pictures(plot, points) {
        let shown: Vec<&SweepPoint> = points.iter().filter(|point| plot.has(point)).copied().collect();
        let mut subtitle = subtitle(report, &shown);
        let (series, x): (Vec<Series>, Axis) = match x_figure {
            Some(x) => (scattered(report, &plot, x, figure), Axis::linear(x.label)),
            None => {
                let along = LineNames::of(points, &plot).along;
                if !along.is_empty() {
                    let along: Vec<_> = along.iter().map(|name| words(name)).collect();
                    subtitle += &format!("; also varies: {}", along.join(", "));
                }
                let lines = lines(report.measured, &plot, figure);
                let series = lines.iter().map(|line| series(report, line, figure, parts.len() > 1));
                (series.collect(), Axis { label: words(&plot.x), scale: scale(&lines) })
            }
        };
        if series.is_empty() {
            continue;
        }
        let said = |part: &PlotFile| {
            let said = match x_figure {
                Some(x) => front_findings(report.measured, part, x, figure),
                None => findings(report.measured, part, figure),
            };
            let only = only(part);
            let with = if only.is_empty() { String::new() } else { format!("With {only}: ") };
            said.into_iter().map(move |said| format!("{with}{said}"))
        };
        let findings = parts.iter().flat_map(said).collect();
        let with = if plot.only.is_empty() { String::new() } else { format!(", {}", only(&plot)) };
        let title = plot.title.clone().unwrap_or_else(|| format!("{} by {}{with}", figure.label, x.label));
        let by = plot.by.as_ref().map(|by| format!("-{by}")).unwrap_or_default();
        let only: String = plot.only().map(|(name, value)| format!("-{name}-{value}")).collect();
        let name = format!("{}-{}{by}{only}", plot.y, plot.x);
        let chart = Chart { title, subtitle, x, y: Axis::linear(figure.label), series };
        drawn.push(DrawnPlot { name, svg: chart.svg()?, findings });
    }
    Ok(drawn)
}

fn only(plot: &PlotFile) -> String {
    plot.only().map(|(name, value)| format!("{} {value}", words(name))).collect::<Vec<_>>().join(", ")
}

/// Converts a line to a series. Its name includes the unit of work if the picture has several.
fn series(report: &SweepReport<'_>, line: &Line, figure: &Figure, several_units: bool) -> Series {
    let mark = |(x, y, at): &(f64, f64, usize)| mark(report, (*x, *y), *at, figure);
    let first = line.points.first().filter(|_| several_units);
    let unit = first.map(|(.., at)| format!(": {}", report.measured[*at].point.unit_of_work()));
    let name = format!("{}{}", line.name, unit.unwrap_or_default());
    Series { name, marks: line.points.iter().map(mark).collect(), joined: true }
}

fn mark(report: &SweepReport<'_>, (x, y): (f64, f64), at: usize, figure: &Figure) -> Mark {
    let one = &report.measured[at];
    let labels: Vec<_> = one.point.labels.iter().map(|(name, value)| format!("{name} {value}")).collect();
    let title = format!("{}: {} {}", labels.join(", "), short(y), figure.label);
    Mark { x, y, title, link: format!("#point-{at}"), open: !one.certified }
}

/// Draws every point by two figures and joins the points of a front. Measured and fitted points have separate
/// fronts.
fn scattered(report: &SweepReport<'_>, plot: &PlotFile, x: &Figure, y: &Figure) -> Vec<Series> {
    let shown: Vec<(usize, &Measured)> =
        report.measured.iter().enumerate().filter(|(_, one)| plot.has(&one.point)).collect();
    let all: Vec<&Measured> = shown.iter().map(|(_, one)| *one).collect();
    let fronts =
        [(false, "measured"), (true, "fitted")].map(|(fitted, name)| (front(&all, &[x, y], fitted), name));
    let (mut on_front, mut by_name) = ([Vec::new(), Vec::new()], BTreeMap::<String, Vec<Mark>>::new());
    for (at, (place_in_sweep, one)) in shown.iter().enumerate() {
        let place = one.outcome.as_ref().ok().and_then(|outcome| Some(((x.of)(outcome)?, (y.of)(outcome)?)));
        let Some(place) = place else { continue };
        let mark = mark(report, place, *place_in_sweep, y);
        if let Some(which) = fronts.iter().position(|(front, _)| front.best.contains(&at)) {
            on_front[which].push(mark);
        } else {
            let by = plot.by.as_ref().and_then(|by| Some((by, one.point.labels.get(by)?)));
            let name = by.map_or_else(|| "points".to_string(), |(by, value)| series_name(by, value));
            by_name.entry(name).or_default().push(mark);
        }
    }
    let points = by_name.into_iter().map(|(name, marks)| Series { name, marks, joined: false });
    // Draw the fronts last, above all other points.
    let both = on_front.iter().all(|marks| !marks.is_empty());
    let on_front = on_front.into_iter().zip(fronts).map(|(mut marks, (_, name))| {
        marks.sort_by(|a, b| a.x.total_cmp(&b.x));
        Series {
            name: if both { format!("front, {name}") } else { "front".to_string() },
            marks,
            joined: true,
        }
    });
    points.chain(on_front).filter(|series| !series.marks.is_empty()).collect()
}

/// Returns a logarithmic scale if there are at least three values and all are powers of two.
fn scale(lines: &[Line]) -> Scale {
    let mut values: Vec<f64> =
        lines.iter().flat_map(|line| line.points.iter().map(|point| point.0)).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    let is_power = |value: &f64| *value > 0.0 && value.log2().fract() == 0.0;
    if values.len() > 2 && values.iter().all(is_power) { Scale::Log2 } else { Scale::Linear }
}

fn subtitle(report: &SweepReport<'_>, points: &[&SweepPoint]) -> String {
    let Some(first) = points.first() else { return String::new() };
    let workloads: BTreeSet<&str> = points.iter().map(|point| point.workload.as_str()).collect();
    let workloads: Vec<&str> = workloads.into_iter().collect();
    let (base, changes) = first.config.name.split_once(',').unwrap_or((&first.config.name, ""));
    let changes = changes.split(',').filter_map(|change| change.split_once('='));
    let text = |(name, value): (&'_ String, &'_ String)| (name.clone(), value.clone());
    let stated = points.iter().flat_map(|point| point.settings.iter().chain(&point.labels)).map(text);
    let changes = changes.map(|(name, value)| (name.to_string(), value.to_string()));
    let differs = |name: &String| points.iter().any(|point| point.labels.get(name) != first.labels.get(name));
    let fixed: BTreeMap<String, String> =
        changes.chain(stated).filter(|(name, _)| name != "workload" && !differs(name)).collect();
    let fixed: String = fixed.iter().map(|(name, value)| format!(", {} {value}", words(name))).collect();
    format!("{} on {base}{fixed}; seed {}", workloads.join(", "), report.seed)
}
