//! What a sweep says, in sentences that are derived from its figures.

use std::collections::{BTreeMap, BTreeSet};

use super::figure::Figure;
use super::plan::{PlotFile, SweepPoint};
use super::run::Measured;
use super::search::front;
use crate::plot::short;

/// Values of a figure along a parameter, of one line of a plot.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line {
    /// Values of the parameters that tell lines apart.
    pub(crate) name: String,
    /// Value of the parameter below, and of the figure, with the place of the point in the sweep.
    pub(crate) points: Vec<(f64, f64, usize)>,
}

/// Values that tell lines apart. Lines are sorted by them, numbers by their value.
pub(crate) type LineKey = Vec<(Option<OrderedName>, String)>;

/// What points with this value of parameter `by` are called: a number, or true, tells nothing by itself.
pub(crate) fn series_name(by: &str, value: &str) -> String {
    let speaks = value.parse::<f64>().is_err() && value.parse::<bool>().is_err();
    if speaks { value.to_string() } else { format!("{} {value}", words(by)) }
}

/// Parameters that tell the lines of a plot apart, and those that vary along a line.
#[derive(Debug)]
pub(crate) struct LineNames {
    /// The plot's `by`, and parameters that differ between points with one value of `x` and one of `by`.
    pub(crate) apart: Vec<String>,
    /// Parameters that differ only where `x` or `by` does.
    pub(crate) along: Vec<String>,
}

impl LineNames {
    /// Finds the parameters that vary between points of `plot`.
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

    /// Gives the values that tell the line of a point apart.
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

/// Gives the lines of a plot. Points of a line with one value of `x` are alike in every parameter that has an effect.
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

/// A number by its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct OrderedName(u64);

impl OrderedName {
    fn of(name: &str) -> Option<OrderedName> {
        name.parse::<f64>().ok().map(|value| OrderedName(order(value)))
    }
}

/// A key that sorts as the number does.
fn order(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// How much better the best must be to lead.
const LEAD: f64 = 1.005;

/// Sentences about a plot: which line leads where, by how much, and where they cross.
pub(crate) fn findings(measured: &[Measured], plot: &PlotFile, figure: &Figure) -> Vec<String> {
    let (lines, x) = (lines(measured, plot, figure), plot.x.as_str());
    let mut said = Vec::new();
    let Some(better) = figure.more_is_better else { return said };
    let leads = |a: f64, b: f64| if better { a > b } else { a < b };
    match &lines[..] {
        [] => {}
        [line] => said.extend(span(line, x, figure)),
        several => {
            let common: BTreeSet<u64> = several
                .iter()
                .map(|line| line.points.iter().map(|point| order(point.0)).collect::<BTreeSet<_>>())
                .reduce(|a, b| a.intersection(&b).copied().collect())
                .unwrap_or_default();
            // Who leads at each value that all lines have, if one does, and by how much over the next.
            let mut leaders: Vec<(f64, Option<&str>, f64, &str)> = Vec::new();
            for key in common {
                let mut there: Vec<(f64, &str, f64)> = several
                    .iter()
                    .filter_map(|line| {
                        let point = line.points.iter().find(|point| order(point.0) == key)?;
                        Some((point.1, line.name.as_str(), point.0))
                    })
                    .collect();
                there.sort_by(|a, b| {
                    if leads(a.0, b.0) { std::cmp::Ordering::Less } else { std::cmp::Ordering::Greater }
                });
                if let [first, second, ..] = there[..] {
                    let ratio = if better { first.0 / second.0 } else { second.0 / first.0 };
                    // Nor does one lead where both are zero.
                    let leader = (ratio >= LEAD).then_some(first.1);
                    leaders.push((first.2, leader, ratio, second.1));
                }
            }
            let mut rest = &leaders[..];
            while let Some(first) = rest.first() {
                let run = rest.iter().take_while(|one| one.1 == first.1).count();
                let most = rest[..run].iter().max_by(|a, b| a.2.total_cmp(&b.2)).unwrap_or(first);
                let (from, to) = (first.0, rest[run - 1].0);
                let where_ = if run == leaders.len() {
                    format!("whatever {} is", words(x))
                } else if from == to {
                    format!("where {} is {from}", words(x))
                } else {
                    format!("where {} is {from} to {to}", words(x))
                };
                said.push(match first.1 {
                    Some(leader) => {
                        let (at, _, ratio, next) = most;
                        format!(
                            "{leader} is best {where_}: up to {ratio:.2} times the next, {next}, at {at}."
                        )
                    }
                    None => format!("None leads by more than {:.1} % {where_}.", 100.0 * (LEAD - 1.0)),
                });
                rest = &rest[run..];
            }
        }
    }
    said
}

/// From the worst to the best of one line; of equal ones the first.
fn span(line: &Line, x: &str, figure: &Figure) -> Option<String> {
    let by = |a: &&(f64, f64, usize), b: &&(f64, f64, usize)| a.1.total_cmp(&b.1);
    let (low, high) = (line.points.iter().min_by(by)?, line.points.iter().rev().max_by(by)?);
    let (best, worst) = if figure.more_is_better == Some(true) { (high, low) } else { (low, high) };
    let (name, x, ratio) = (words(figure.name), words(x), high.1 / low.1);
    let [most, least] = [best, worst].map(|point| short(point.1));
    // The ratio of two zeros is not a number.
    if ratio < LEAD || ratio.is_nan() {
        let within = 100.0 * (LEAD - 1.0);
        return Some(format!("The best {name}, {most}, is the same within {within:.1} % whatever {x} is."));
    }
    Some(format!(
        "The best {name}, {most}, is where {x} is {}: {ratio:.2} times as good as where it is {}, {least}.",
        best.0, worst.0
    ))
}

/// A sentence about the points that are best in two figures at once.
pub(crate) fn front_findings(measured: &[Measured], plot: &PlotFile, x: &Figure, y: &Figure) -> Vec<String> {
    let shown: Vec<&Measured> = measured.iter().filter(|one| plot.has(&one.point)).collect();
    let best = front(&shown, &[x, y]);
    let value =
        |at: usize, figure: &Figure| shown[at].outcome.as_ref().ok().and_then(figure.of).unwrap_or_default();
    let mut best: Vec<usize> = best.into_iter().collect();
    best.sort_by(|a, b| value(*a, x).total_cmp(&value(*b, x)));
    // What all of the front have in common tells nothing about one of them.
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
    match best[..] {
        [] => Vec::new(),
        [only] => vec![format!("One of {} points is best in both: {}.", shown.len(), said(only))],
        [first, .., last] => vec![format!(
            "{} of {} points are on the front: from {} to {}.",
            best.len(),
            shown.len(),
            said(first),
            said(last)
        )],
    }
}

/// A parameter's name in a sentence, or at an axis.
pub(crate) fn words(name: &str) -> String {
    name.replace('_', " ")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use atoms_cosim::configs;

    use super::*;
    use crate::measure::Measurement;
    use crate::sweep::{PointOutcome, PointUsage, SweepPoint};

    /// Points of two methods with these cycles for 1,000 units of work.
    fn measured(cycles: &[(&str, u32, u64)]) -> Vec<Measured> {
        let config = configs::named(&configs::rtl_dir(), "tiny").expect("it is there");
        let one = |(method, lanes, cycles): &(&str, u32, u64)| {
            let measurement = Measurement {
                cycles: *cycles,
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
                config: config.clone(),
                workload: "accumulate".to_string(),
                settings: BTreeMap::new(),
                idle: BTreeMap::new(),
                labels: labels.map(|(name, value)| (name.to_string(), value)).into(),
            };
            let outcome = Ok(PointOutcome { measurement, usage: PointUsage::default(), cost: None });
            Measured { point, outcome, certified: false, kept: false }
        };
        cycles.iter().map(one).collect()
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
        let plot = |text: &str| toml::from_str::<PlotFile>(text).expect("a plot");
        let by_method = plot("x = \"lanes\"\ny = \"cycles\"\nby = \"method\"\n");
        let alone = plot("x = \"lanes\"\ny = \"cycles\"\n");
        let cas =
            PlotFile { only: [("method".to_string(), "cas".into())].into_iter().collect(), ..alone.clone() };
        let cycles = Figure::named("cycles").expect("a figure");
        let expected = [
            "None leads by more than 0.5 % where lanes is 1.",
            "cas is best where lanes is 2: up to 1.10 times the next, spin, at 2.",
            "spin is best where lanes is 4 to 16: up to 4.00 times the next, cas, at 16.",
        ];
        assert_eq!(findings(&points, &by_method, cycles), expected);
        // A plot without `by` has a line for each method, too.
        assert_eq!(findings(&points, &alone, cycles), expected);
        let said = findings(&points, &cas, cycles);
        assert_eq!(
            said,
            ["The best cycles, 100, is where lanes is 1: 8.00 times as good as where it is 16, 800."]
        );
        // More is better here.
        let rate = Figure::named("throughput").expect("a figure");
        assert_eq!(
            findings(&points, &cas, rate),
            ["The best throughput, 10 k, is where lanes is 1: 8.00 times as good as where it is 16, 1250."]
        );
        let same = findings(&points[..3], &cas, cycles);
        assert_eq!(same, ["The best cycles, 100, is the same within 0.5 % whatever lanes is."]);
        let all = findings(&points[4..], &by_method, cycles);
        assert_eq!(all, ["spin is best whatever lanes is: up to 4.00 times the next, cas, at 16."]);
        let retries = Figure::named("retries_per_success").expect("a figure");
        assert!(findings(&points, &by_method, retries).is_empty(), "no point has the figure");
    }
}
