//! Points of a sweep as CSV and JSON.

use std::collections::BTreeSet;

use atoms_model::config::PARAMETERS;
use atoms_stimulus::configs::parameters;
use serde_json::{Map, Value, json};

use super::SweepReport;
use crate::sweep::{FIGURES, Measured, PointCost};

pub(super) fn csv(report: &SweepReport<'_>) -> Result<Vec<u8>, csv::Error> {
    let settings: BTreeSet<&String> =
        report.measured.iter().flat_map(|one| one.point.settings.keys()).collect();
    let mut out = csv::Writer::from_writer(Vec::new());
    let head = ["point", "config", "workload", "seed"].into_iter().map(str::to_string);
    let unit = PARAMETERS.iter().map(|parameter| parameter.name.to_string());
    let own = settings.iter().map(|name| format!("with.{name}"));
    let figures = FIGURES.iter().map(|figure| figure.name.to_string());
    let tail = ["units", "certified", "area_from", "clock_from", "failure"].into_iter().map(str::to_string);
    out.write_record(head.chain(unit).chain(own).chain(figures).chain(tail))?;
    for (at, one) in report.measured.iter().enumerate() {
        let point = &one.point;
        let head =
            [at.to_string(), point.config.name.clone(), point.workload.clone(), report.seed.to_string()];
        let values = parameters(&point.config.config);
        let unit = PARAMETERS.iter().map(|parameter| plain(&values[parameter.name]));
        let own = settings.iter().map(|name| point.settings.get(*name).cloned().unwrap_or_default());
        let outcome = one.outcome.as_ref().ok();
        let figures = FIGURES
            .iter()
            .map(|figure| outcome.and_then(figure.of).map_or_else(String::new, |value| value.to_string()));
        let units = outcome.map_or_else(String::new, |outcome| outcome.measurement.units.to_string());
        let failure = one.outcome.as_ref().err().cloned().unwrap_or_default();
        let cost = outcome.and_then(|outcome| outcome.cost.as_ref());
        let [area, clock] = [cost.map(PointCost::area_from), cost.map(PointCost::clock_from)];
        let tail =
            [units, one.certified.to_string(), area.unwrap_or_default(), clock.unwrap_or_default(), failure];
        out.write_record(head.into_iter().chain(unit).chain(own).chain(figures).chain(tail))?;
    }
    out.into_inner().map_err(|error| error.into_error().into())
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

pub(super) fn json(report: &SweepReport<'_>) -> Value {
    let point = |(at, one): (usize, &Measured)| {
        let outcome = one.outcome.as_ref().ok();
        let figures: Map<String, Value> = FIGURES
            .iter()
            .filter_map(|figure| Some((figure.name.to_string(), json!((figure.of)(outcome?)?))))
            .collect();
        json!({
            "point": at, "config": one.point.config.name, "parameters": parameters(&one.point.config.config),
            "workload": one.point.workload, "settings": one.point.settings, "varied": one.point.labels,
            "figures": figures, "measurement": outcome.map(|outcome| outcome.measurement),
            "cost": outcome.map(|outcome| &outcome.cost), "stack": outcome.map(|outcome| &outcome.usage.stack), "certified": one.certified,
            "failure": one.outcome.as_ref().err(), "command": report.command(one),
        })
    };
    json!({
        "about": report.about, "sweep": report.file, "seed": report.seed, "rtl": report.rtl,
        "impossible": report.impossible.iter().map(|one| json!({ "rule": one.rule, "points": one.points })).collect::<Vec<_>>(),
        "points": report.measured.iter().enumerate().map(point).collect::<Vec<_>>(),
    })
}
