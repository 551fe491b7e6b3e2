//! Sentences about constants that figures do not determine.

use super::fit::{Equation, Solution, names};
use super::law::{CostLaw, GpuConstant};
use super::measurement::{Metric, published};
use super::rounds::Rounds;

/// Largest standard error of a determined constant, as a share of its value.
const MOST_ERROR: f64 = 0.5;

/// Describes each constant that the figures do not determine, and names a measurement that would determine
/// it.
pub(super) fn doubts(solution: &Solution, rounds: &mut Rounds<'_>) -> Vec<String> {
    let mut said: Vec<(Vec<GpuConstant>, String)> = Vec::new();
    for constant in solution.fitted.iter().copied() {
        let of = solution.determination(constant);
        let (name, value) = (constant.name(), solution.values[constant as usize]);
        let mut about: Vec<GpuConstant> = of.substitutes.iter().map(|(other, _)| *other).collect();
        let beside = names(&about);
        about.push(constant);
        about.sort_unstable();
        if said.iter().any(|(before, _)| *before == about) {
            continue;
        }
        let sentence = match of.error {
            None if beside.is_empty() => {
                format!("{name} is not determined: it affects no figure, since other times are longer")
            }
            None => {
                let known = of.substitutes.iter().map(|(other, share)| {
                    let sum = solution.values[*other as usize] + share * value;
                    format!("{} + {share:.2} {name} = {sum:.2}", other.name())
                });
                let known: Vec<_> = known.collect();
                format!("{name} and {beside} cannot be told apart: only {} is known", known.join(", "))
            }
            Some(error) if value > 0.0 && error > MOST_ERROR * value => {
                let from = if beside.is_empty() {
                    String::new()
                } else {
                    format!(", since the effect of {beside} is similar")
                };
                format!("{name} is hardly determined{from}: {value:.2} +- {error:.2}")
            }
            Some(_) => continue,
        };
        let would = telling(constant, solution, rounds)
            .map_or(format!("; no published measurement would determine {name}"), |(text, error)| {
                format!("; {text} would determine {name} to +- {error:.2}")
            });
        said.push((about, sentence + &would));
    }
    said.into_iter().map(|(_, sentence)| sentence).collect()
}

/// Finds the published measurement that, if added, would reduce the standard error of a constant most.
/// Returns the measurement and the reduced error.
fn telling(constant: GpuConstant, solution: &Solution, rounds: &mut Rounds<'_>) -> Option<(String, f64)> {
    let table = published();
    let before = solution.determination(constant).error.unwrap_or(f64::INFINITY);
    let mut best: Option<(String, f64)> = None;
    for row in table.iter().filter(|row| row.is_fitted()) {
        let Ok(Equation { of, to: None, .. }) = rounds.equation(row, CostLaw::Unit) else { continue };
        let known = Equation { of, to: None, value: 1.0, tolerance: 1.0 };
        if known.depends_on().iter().any(|constant| !solution.fitted.contains(constant)) {
            continue;
        }
        let Some(error) = solution.error_with(constant, &known.of) else { continue };
        if error < 0.5 * before && best.as_ref().is_none_or(|(_, least)| error < 0.99 * least) {
            let text = row.workload.as_ref().map_or("", |workload| &workload.text);
            let metric = if row.metric == Metric::Latency { "latency" } else { "throughput" };
            best = Some((format!("the {metric} of `{text}`"), error));
        }
    }
    best
}
