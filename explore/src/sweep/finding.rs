//! Findings: sentences derived from the figures of a sweep.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use super::figure::{Figure, FigureValue};
use super::plan::{PlotFile, SweepPoint};
use super::run::Measured;
use super::search::{Front, front};
use crate::plot::short;

/// Values of a figure over a parameter, for one line of a plot.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line {
    pub(crate) name: String,
    /// Value of the parameter at `x`, value of the figure, and index of the point in the sweep.
    pub(crate) points: Vec<(f64, f64, usize)>,
}

/// Values that distinguish lines, and sort key of lines. Numbers sort by value.
pub(crate) type LineKey = Vec<(Option<OrderedName>, String)>;

/// Returns the label of the points with a value of parameter `by`. Before numbers, `true` and `false`, the
/// label has the parameter's name.
pub(crate) fn series_name(by: &str, value: &str) -> String {
    let speaks = value.parse::<f64>().is_err() && value.parse::<bool>().is_err();
    if speaks { value.to_string() } else { format!("{} {value}", words(by)) }
}

#[derive(Debug)]
pub(crate) struct LineNames {
    /// Parameters that separate lines: the plot's `by`, and parameters that differ between points with equal
    /// `x` and `by`.
    pub(crate) apart: Vec<String>,
    /// Parameters that differ only together with `x` or `by`.
    pub(crate) along: Vec<String>,
}

impl LineNames {
    pub(crate) fn of(points: &[&SweepPoint], plot: &PlotFile) -> LineNames {
        let shown = || points.iter().filter(|point| plot.has(point));
        let all: BTreeSet<&String> = shown().flat_map(|point| point.labels.keys()).collect();
        let mut names = LineNames { apart: plot.by.iter().cloned().collect(), along: Vec::new() };
        for name in all.into_iter().filter(|name| **name != plot.x && plot.by.as_ref() != Some(name)) {
            let mut values: BTreeMap<_, BTreeSet<Option<&String>>> = BTreeMap::new();
            for point in shown() {
                let by = plot.by.as_ref().and_then(|by| point.labels.get(by));
                values.entry((point.labels.get(&plot.x), by)).or_default().insert(point.label(name));
            }
            if values.values().any(|there| there.len() > 1) {
                names.apart.push(name.clone());
            } else if shown().map(|point| point.labels.get(name)).collect::<BTreeSet<_>>().len() > 1 {
                names.along.push(name.clone());
            }
        }
        names
    }

    pub(crate) fn key(&self, point: &SweepPoint, plot: &PlotFile) -> LineKey {
        let value = |name: &String| match plot.by.as_ref() == Some(name) {
            true => point.labels.get(name),
            false => point.label(name),
        };
        let values = self.apart.iter().map(|name| value(name).cloned().unwrap_or_default());
        values.map(|value| (OrderedName::of(&value), value)).collect()
    }

    fn line(&self, key: &LineKey) -> String {
        let said = self.apart.iter().zip(key).filter(|(_, (_, value))| !value.is_empty());
        said.map(|(name, (_, value))| series_name(name, value)).collect::<Vec<_>>().join(", ")
    }
}

/// Returns the lines of a plot. Points of a line with equal `x` agree in every parameter that has an effect.
pub(crate) fn lines(measured: &[Measured], plot: &PlotFile, figure: &Figure) -> Vec<Line> {
    let points: Vec<&SweepPoint> = measured.iter().map(|one| &one.point).collect();
    let names = LineNames::of(&points, plot);
    let mut lines: BTreeMap<LineKey, BTreeMap<u64, (f64, f64, usize)>> = BTreeMap::new();
    for (at, one) in measured.iter().enumerate().filter(|(_, one)| plot.has(&one.point)) {
        let below = one.point.labels.get(&plot.x).and_then(|value| value.parse::<f64>().ok());
        let value = one.outcome.as_ref().ok().and_then(figure.of);
        let (Some(below), Some(value)) = (below, value) else { continue };
        let line = lines.entry(names.key(&one.point, plot)).or_default();
        line.entry(order(below)).or_insert((below, value, at));
    }
    let line = |(key, points): (LineKey, BTreeMap<_, _>)| Line {
        name: names.line(&key),
        points: points.into_values().collect(),
    };
    lines.into_iter().map(line).collect()
}

/// Key that sorts like the number in a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct OrderedName(u64);

impl OrderedName {
    fn of(name: &str) -> Option<OrderedName> {
        name.parse::<f64>().ok().map(|value| OrderedName(order(value)))
    }
}

/// Maps a number to an integer with the same order.
fn order(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// Smallest relative error that a value is assumed to have. Differences of less than twice this do not matter
/// to a designer.
const LEAST_ERROR: f64 = 0.0025;

/// Calls `rank` once for points with measured figures, and once for points with fitted figures. If there are
/// both, each sentence says which points it is about.
fn ranked_apart(
    shown: &[&Measured],
    figures: &[&Figure],
    mut rank: impl FnMut(bool) -> Vec<String>,
) -> Vec<String> {
    let has = |fitted| shown.iter().any(|one| one.outcome.is_ok() && one.is_fitted(figures) == fitted);
    let (measured, fitted) = (has(false), has(true));
    let mut said = if measured { rank(false) } else { Vec::new() };
    if measured && fitted {
        said.iter_mut().for_each(|sentence| *sentence = format!("Measured points: {sentence}"));
    }
    if fitted {
        let prefix = if measured { "Fitted points: " } else { "" };
        said.extend(rank(true).into_iter().map(|sentence| format!("{prefix}{sentence}")));
    }
    said
}

pub(crate) fn findings(measured: &[Measured], plot: &PlotFile, figure: &Figure) -> Vec<String> {
    let shown: Vec<&Measured> = measured.iter().filter(|one| plot.has(&one.point)).collect();
    if figure.more_is_better.is_none() {
        return Vec::new();
    }
    ranked_apart(&shown, &[figure], |fitted| {
        let value = |at: usize| {
            let value = figure.value(measured[at].outcome.as_ref().ok()?)?;
            Some(FigureValue { error: value.error.max(LEAST_ERROR), ..value })
        };
        let of_line = |line: Line| {
            let points =
                line.points.into_iter().filter(|point| measured[point.2].is_fitted(&[figure]) == fitted);
            let points = points.filter_map(|(x, _, at)| Some((x, value(at)?))).collect::<Vec<_>>();
            (!points.is_empty()).then_some((line.name, points))
        };
        let lines: Vec<RankedLine> = lines(measured, plot, figure).into_iter().filter_map(of_line).collect();
        match &lines[..] {
            [(_, points)] => span(points, &words(&plot.x), figure).into_iter().collect(),
            several => leaders(several, figure, plot),
        }
    })
}

type RankedLine = (String, Vec<(f64, FigureValue)>);

/// Best lines at one value of `x`.
struct FirstRank<'l> {
    x: f64,
    /// The best line, and the lines that differ from it by less than the error.
    lines: Vec<&'l str>,
    /// Ratio of the best line to the next one (at least 1), and the name of the next line.
    lead: (f64, &'l str),
    /// Largest relative error of the values of `lines`.
    error: f64,
}

impl<'l> FirstRank<'l> {
    fn of(lines: &'l [RankedLine], x: f64) -> Option<Self> {
        let at = |(name, points): &'l RankedLine| {
            points.iter().find(|point| point.0 == x).map(|point| (name.as_str(), point.1))
        };
        let mut there = lines.iter().map(at).collect::<Option<Vec<_>>>()?;
        there.sort_by(|(_, a), (_, b)| if a.is_better(b) { Ordering::Less } else { Ordering::Greater });
        let [(_, best), (next, second), ..] = there[..] else { return None };
        let is_first = |name: &str| there.iter().any(|(other, value)| *other == name && !best.leads(value));
        let ratio = best.value / second.value;
        Some(FirstRank {
            x,
            lines: lines.iter().map(|(name, _)| name.as_str()).filter(|name| is_first(name)).collect(),
            lead: (if best.more_is_better { ratio } else { 1.0 / ratio }, next),
            error: there
                .iter()
                .filter(|(name, _)| is_first(name))
                .map(|(_, value)| value.error)
                .fold(0.0, f64::max),
        })
    }
}

fn leaders(lines: &[RankedLine], figure: &Figure, plot: &PlotFile) -> Vec<String> {
    let x = &words(&plot.x);
    let values = lines.first().map_or(&[][..], |(_, points)| &points[..]);
    let ranks: Vec<_> = values.iter().filter_map(|point| FirstRank::of(lines, point.0)).collect();
    let mut said = Vec::new();
    for run in ranks.chunk_by(|a, b| a.lines == b.lines) {
        let (from, to) = (run[0].x, run[run.len() - 1].x);
        let range = match run.len() == ranks.len() {
            true => format!("for every value of {x}"),
            false if from == to => format!("at {x} {from}"),
            false => format!("for {x} {from} to {to}"),
        };
        if let [leader] = run[0].lines[..] {
            let most = run.iter().max_by(|a, b| a.lead.0.total_cmp(&b.lead.0)).unwrap_or(&run[0]);
            let (FirstRank { x: at, .. }, (ratio, next)) = (most, most.lead);
            said.push(format!(
                "{leader} is best {range}: up to {ratio:.2} times the next, {next}, at {x} {at}."
            ));
        } else {
            let error = run.iter().map(|rank| rank.error).fold(0.0, f64::max);
            let (figure, equal) = (words(figure.name), equal(error));
            said.push(match run[0].lines.len() == lines.len() {
                true => {
                    let by =
                        plot.by.as_ref().map_or("lines".to_string(), |by| format!("values of {}", words(by)));
                    format!("{figure} is the same for all {by}, {range} ({equal}).")
                }
                false => format!("{} have the best {figure} {range} ({equal}).", run[0].lines.join(" and ")),
            });
        }
    }
    said
}

fn equal(error: f64) -> String {
    if error <= LEAST_ERROR {
        format!("within {:.1} %", 200.0 * LEAST_ERROR)
    } else if error.is_finite() {
        format!("within the error of +-{:.0} %", 100.0 * error)
    } else {
        "within an unknown error".to_string()
    }
}

/// Writes a sentence about the best and the worst point of one line. Points within the error of the best
/// point are named with it.
fn span(points: &[(f64, FigureValue)], x: &str, figure: &Figure) -> Option<String> {
    let better = |a: &(f64, FigureValue), b: &(f64, FigureValue)| a.1.is_better(&b.1);
    let best =
        points.iter().copied().reduce(|best, point| if better(&point, &best) { point } else { best })?;
    let worst =
        points.iter().copied().reduce(|worst, point| if better(&worst, &point) { point } else { worst })?;
    let (name, [most, least]) = (words(figure.name), [best, worst].map(|point| short(point.1.value)));
    let first: Vec<_> = points.iter().filter(|point| !best.1.leads(&point.1)).collect();
    let error = first.iter().map(|point| point.1.error).fold(0.0, f64::max);
    if first.len() == points.len() {
        return Some(format!("{name} is the same for every value of {x} ({}).", equal(error)));
    }
    let ratio = best.1.value / worst.1.value;
    let ratio = if best.1.more_is_better { ratio } else { 1.0 / ratio };
    let among = if first.len() > 1 { format!(" (equal {})", equal(error)) } else { String::new() };
    let first: Vec<_> = first.iter().map(|point| point.0.to_string()).collect();
    Some(format!(
        "The best {name}, {most}, is at {x} {}{among}: {ratio:.2} times as good as at {x} {}, {least}.",
        first.join(" or "),
        worst.0
    ))
}

pub(crate) fn front_findings(measured: &[Measured], plot: &PlotFile, x: &Figure, y: &Figure) -> Vec<String> {
    let shown: Vec<&Measured> = measured.iter().filter(|one| plot.has(&one.point)).collect();
    ranked_apart(&shown, &[x, y], |fitted| front_finding(&shown, x, y, fitted).into_iter().collect())
}

fn front_finding(shown: &[&Measured], x: &Figure, y: &Figure, fitted: bool) -> Option<String> {
    let Front { best, within_error } = front(shown, &[x, y], fitted);
    let value =
        |at: usize, figure: &Figure| shown[at].outcome.as_ref().ok().and_then(figure.of).unwrap_or_default();
    let mut best: Vec<usize> = best.into_iter().collect();
    best.sort_by(|a, b| value(*a, x).total_cmp(&value(*b, x)));
    // Leave out parameters with the same value at all points of the front.
    let value_of = |at: &usize, name: &String| shown[*at].point.labels.get(name);
    let tells = |name: &String| {
        best.len() < 2 || best.iter().any(|at| value_of(at, name) != value_of(&best[0], name))
    };
    let said = |at: usize| {
        let labels = shown[at].point.labels.iter().filter(|(name, _)| tells(name));
        let labels: Vec<_> = labels.map(|(name, value)| format!("{} {value}", words(name))).collect();
        let (x_value, y_value) = (short(value(at, x)), short(value(at, y)));
        format!("{y_value} {} at {} {x_value} ({})", y.label, words(x.name), labels.join(", "))
    };
    let of = shown.iter().filter(|one| one.outcome.is_ok() && one.is_fitted(&[x, y]) == fitted).count();
    let others = match within_error.len() {
        0 => String::new(),
        1 => " 1 more point is equal within the error.".to_string(),
        more => format!(" {more} more points are equal within the error."),
    };
    match best[..] {
        [_] if of == 1 => None,
        [] => None,
        [only] => Some(format!("One of {of} points is best in both: {}.{others}", said(only))),
        [first, .., last] => Some(format!(
            "{} of {of} points are Pareto-optimal: from {} to {}.{others}",
            best.len(),
            said(first),
            said(last)
        )),
    }
}

pub(crate) fn words(name: &str) -> String {
    name.replace('_', " ")
}

#[cfg(test)]
mod tests {
    use atoms_cosim::embedded::rtl_dir;
    use std::collections::BTreeMap;

    use atoms_stimulus::configs;

    use super::*;
    use crate::measure::Measurement;
    use crate::sweep::{PointCost, PointOutcome, PointUsage, SweepPoint};

    fn one(method: &str, lanes: u32, cycles: u64) -> Measured {
        let measurement = Measurement {
            cycles,
            units: 1000,
            requests: 1,
            passes: 1,
            tries: 0,
            retries: 0,
            judged: 0,
            checked: true,
        };
        let labels = [("method", method.to_string()), ("lanes", lanes.to_string())];
        let point = SweepPoint {
            config: configs::named(&rtl_dir(), "tiny").expect("it is there"),
            workload: "accumulate".to_string(),
            settings: BTreeMap::new(),
            idle: BTreeMap::new(),
            labels: labels.map(|(name, value)| (name.to_string(), value)).into(),
        };
        let outcome = Ok(PointOutcome { measurement, usage: PointUsage::default(), cost: None });
        Measured { point, outcome, certified: false, kept: false }
    }

    fn measured(cycles: &[(&str, u32, u64)]) -> Vec<Measured> {
        cycles.iter().map(|(method, lanes, cycles)| one(method, *lanes, *cycles)).collect()
    }

    fn with_area(method: &str, lanes: u32, cycles: u64, area_kge: f64, error: Option<f64>) -> Measured {
        let mut measured = one(method, lanes, cycles);
        let area_fitted = if error.is_some() { 0.5 } else { 0.0 };
        if let Ok(outcome) = &mut measured.outcome {
            let area_error = Some(error.unwrap_or(0.0)).filter(|error| error.is_finite());
            outcome.cost =
                Some(PointCost { area_kge, memory_kge: 0.0, area_fitted, area_error, clock: None });
        }
        measured
    }

    fn plot(text: &str) -> PlotFile {
        toml::from_str(text).expect("a plot")
    }

    #[test]
    fn measured_and_fitted_areas_are_ranked_apart() {
        let by_method = plot("x = \"lanes\"\ny = \"area\"\nby = \"method\"\n");
        let area = Figure::named("area").expect("a figure");
        let fitted = |method, lanes, area| with_area(method, lanes, 100, area, Some(0.05));
        let points = [
            with_area("cas", 1, 100, 10.0, None),
            with_area("spin", 1, 100, 9.0, None),
            fitted("cas", 2, 20.0),
            fitted("spin", 2, 19.0),
            fitted("cas", 4, 40.0),
            fitted("spin", 4, 30.0),
        ];
        assert_eq!(
            findings(&points, &by_method, area),
            [
                "Measured points: spin is best for every value of lanes: up to 1.11 times the next, cas, at lanes 1.",
                "Fitted points: area is the same for all values of method, at lanes 2 (within the error of +-5 %).",
                "Fitted points: spin is best at lanes 4: up to 1.33 times the next, cas, at lanes 4.",
            ]
        );
        let unknown = with_area("cas", 4, 100, 400.0, Some(f64::INFINITY));
        let points = [fitted("spin", 4, 30.0), unknown];
        let said = findings(&points, &by_method, area);
        assert_eq!(
            said,
            [
                "area is the same for all values of method, for every value of lanes (within an unknown error)."
            ]
        );
    }

    #[test]
    fn points_within_the_error_of_the_best_are_named_with_it() {
        let along = plot("x = \"lanes\"\ny = \"area\"\n");
        let area = Figure::named("area").expect("a figure");
        let points = [(1, 10.0), (2, 10.5), (4, 20.0)];
        let points = points.map(|(lanes, area)| with_area("cas", lanes, 100, area, Some(0.04)));
        assert_eq!(
            findings(&points, &along, area),
            [
                "The best area, 10, is at lanes 1 or 2 (equal within the error of +-4 %): 2.00 times as good as at lanes 4, 20."
            ]
        );
    }

    #[test]
    fn measured_and_fitted_points_have_a_front_each() {
        let [area, rate] = ["area", "throughput"].map(|name| Figure::named(name).expect("a figure"));
        let by_area = plot("x = \"area\"\ny = \"throughput\"\n");
        let mut points = vec![
            with_area("cas", 1, 200, 10.0, Some(0.05)),
            // The first point is worse by less than the error, the second by more.
            with_area("cas", 2, 200, 10.5, Some(0.05)),
            with_area("cas", 4, 200, 12.0, Some(0.05)),
            with_area("cas", 8, 100, 30.0, Some(0.05)),
        ];
        let fitted = "2 of 4 points are Pareto-optimal: from 5000 units of work per 1,000 cycles at area 10 (lanes 1) to 10 k units \
                      of work per 1,000 cycles at area 30 (lanes 8). 1 more point is equal within the error.";
        assert_eq!(front_findings(&points, &by_area, area, rate), [fitted]);
        // Measured points are better than all fitted points, but ranked separately.
        points.push(with_area("spin", 1, 50, 5.0, None));
        let expected = format!("Fitted points: {fitted}");
        assert_eq!(front_findings(&points, &by_area, area, rate), [expected], "a single point has no rank");
        points.push(with_area("spin", 2, 60, 5.0, None));
        let measured = "One of 2 points is best in both: 20 k units of work per 1,000 cycles at area 5 (lanes 1, method spin).";
        let expected = [format!("Measured points: {measured}"), format!("Fitted points: {fitted}")];
        assert_eq!(front_findings(&points, &by_area, area, rate), expected);
    }

    #[test]
    fn sentences_say_who_leads_where() {
        let points = measured(&[
            ("cas", 1, 100),
            ("spin", 1, 100),
            ("cas", 2, 100),
            ("spin", 2, 110),
            ("cas", 4, 300),
            ("spin", 4, 150),
            ("cas", 16, 800),
            ("spin", 16, 200),
        ]);
        let by_method = plot("x = \"lanes\"\ny = \"cycles\"\nby = \"method\"\n");
        let alone = plot("x = \"lanes\"\ny = \"cycles\"\n");
        let cas =
            PlotFile { only: [("method".to_string(), "cas".into())].into_iter().collect(), ..alone.clone() };
        let cycles = Figure::named("cycles").expect("a figure");
        let expected = [
            "cycles is the same for all values of method, at lanes 1 (within 0.5 %).",
            "cas is best at lanes 2: up to 1.10 times the next, spin, at lanes 2.",
            "spin is best for lanes 4 to 16: up to 4.00 times the next, cas, at lanes 16.",
        ];
        assert_eq!(findings(&points, &by_method, cycles), expected);
        let said = findings(&points, &alone, cycles);
        assert_eq!(said[0], "cycles is the same for all lines, at lanes 1 (within 0.5 %).");
        assert_eq!(said[1..], expected[1..]);
        let said = findings(&points, &cas, cycles);
        assert_eq!(
            said,
            [
                "The best cycles, 100, is at lanes 1 or 2 (equal within 0.5 %): 8.00 times as good as at lanes 16, 800."
            ]
        );
        let rate = Figure::named("throughput").expect("a figure");
        assert_eq!(
            findings(&points, &cas, rate),
            [
                "The best throughput, 10 k, is at lanes 1 or 2 (equal within 0.5 %): 8.00 times as good as at lanes 16, 1250."
            ]
        );
        let same = findings(&points[..3], &cas, cycles);
        assert_eq!(same, ["cycles is the same for every value of lanes (within 0.5 %)."]);
        let all = findings(&points[4..], &by_method, cycles);
        assert_eq!(
            all,
            ["spin is best for every value of lanes: up to 4.00 times the next, cas, at lanes 16."]
        );
        let retries = Figure::named("retries_per_success").expect("a figure");
        assert!(findings(&points, &by_method, retries).is_empty(), "no point has the figure");
    }
}
