//! Constants of GPUs, fitted to published measurements, and the residual of each measurement.

use std::collections::BTreeMap;
use std::path::Path;

use atoms_stimulus::configs::{self, ConfigsError, NamedConfig};
use serde::{Deserialize, Serialize};

use super::doubt::doubts;
use super::fit::{Equation, Solution, TooFew, solve};
use super::law::{CostLaw, GpuConstant};
use super::measurement::{GpuMeasurement, Metric, Provenance};
use super::profile::GpuProfile;
use super::rounds::Rounds;

/// Constants fitted to the measurements of one GPU, and the residual of each measurement.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct Calibration {
    pub gpu: String,
    pub about: String,
    /// Name of the unit configuration that represents the GPU.
    pub unit: String,
    /// Constants of [`CostLaw::Unit`] on which some fitted figure depends; empty if figures are too few.
    pub constants: Vec<FittedConstant>,
    /// Reason why `constants` is empty; `None` if the figures suffice.
    pub too_few: Option<String>,
    /// Unit of measure of the constants: `cycles`, or multiples of a baseline's time if all figures are
    /// ratios.
    pub counted_in: String,
    /// Sentences about constants that the figures do not determine.
    pub doubts: Vec<String>,
    pub residuals: Vec<FigureResidual>,
    /// Errors of each law over the figures that all of them predict.
    pub laws: Vec<LawErrors>,
    /// Per constant of [`CostLaw::Unit`]: the largest number of times that a round of a fitted figure counts
    /// the constant.
    #[serde(skip)]
    largest: BTreeMap<GpuConstant, f64>,
    /// True if some fitted figure keeps the unit busy in every cycle.
    #[serde(skip)]
    saturated: bool,
}

/// A constant with the figures that it is fitted to.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct FittedConstant {
    pub constant: GpuConstant,
    /// Value, in the unit that [`Calibration::counted_in`] names.
    pub value: f64,
    /// Standard error; `None` if the figures cannot tell this constant from other constants.
    pub error: Option<f64>,
    /// Names of the figures that depend on this constant.
    pub figures: Vec<String>,
    /// Weakest provenance among these figures.
    pub mark: Provenance,
}

/// A measured figure and its predictions.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct FigureResidual {
    #[serde(flatten)]
    pub of: GpuMeasurement,
    /// Prediction of each law, in the order of [`CostLaw::ALL`]; `None` if the law cannot predict the figure.
    pub predicted: [Option<f64>; 4],
    /// Reason why [`CostLaw::Unit`] cannot predict the figure; `None` if the law predicts the figure.
    pub why_not: Option<String>,
}

/// Error of one law over the figures that all laws predict.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct LawErrors {
    pub law: CostLaw,
    /// Constants of the law, fitted to the same figures.
    pub constants: BTreeMap<&'static str, f64>,
    pub figures: usize,
    /// Number of figures that the law predicts within their tolerance.
    pub within: usize,
    /// Mean absolute error in percent; `None` without figures.
    pub mean_error: Option<f64>,
}

impl Calibration {
    /// Returns the constants that the figures determine, with their errors and the range of the fitted
    /// figures.
    pub fn profile(&self) -> GpuProfile {
        let known = || self.constants.iter().filter_map(|one| Some((one, one.error?)));
        let fitted = self.residuals.iter().filter(|one| one.of.is_fitted());
        let errors: Vec<f64> = fitted.filter_map(|one| one.error(CostLaw::Unit)).collect();
        let squares: f64 = errors.iter().map(|percent| (percent / 100.0).powi(2)).sum();
        GpuProfile {
            gpu: self.gpu.clone(),
            unit: self.unit.clone(),
            mark: known().map(|(one, _)| one.mark).max().unwrap_or_default(),
            counted_in: self.counted_in.clone(),
            residual: Some((squares / errors.len().max(1) as f64).sqrt()),
            saturated: self.saturated,
            cycles: known().map(|(one, _)| (one.constant, one.value)).collect(),
            errors: known().map(|(one, error)| (one.constant, error)).collect(),
            largest: known()
                .filter_map(|(one, _)| Some((one.constant, *self.largest.get(&one.constant)?)))
                .collect(),
        }
    }
}

impl FigureResidual {
    /// Returns the error of a law's prediction in percent of the measured figure; `None` without a
    /// prediction.
    pub fn error(&self, law: CostLaw) -> Option<f64> {
        Some(100.0 * (self.predicted[law as usize]? / self.of.value - 1.0))
    }

    /// Returns true if the prediction of a law is within the tolerance of the figure; `None` without a
    /// prediction.
    pub fn is_within(&self, law: CostLaw) -> Option<bool> {
        // The margin absorbs rounding: an exact prediction passes with a tolerance of 0.
        Some(self.error(law)?.abs() <= self.of.tolerance + 1e-6)
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Gpu {
    about: String,
    unit: String,
}

fn gpus() -> BTreeMap<String, Gpu> {
    toml::from_str(include_str!("../../data/gpus.toml")).expect("a test reads the committed file")
}

/// Fits constants to the measurements of each GPU, in the order in which the GPUs first appear. The
/// configuration `config` represents every GPU. Without `config`, `explore/data/gpus.toml` names the
/// configuration of each GPU; the default is `default`.
///
/// # Errors
/// When a configuration cannot be loaded.
pub fn calibrate(
    measurements: &[GpuMeasurement],
    rtl_dir: &Path,
    config: Option<&NamedConfig>,
) -> Result<Vec<Calibration>, ConfigsError> {
    let mut names: Vec<&str> = Vec::new();
    for measurement in measurements {
        if !names.contains(&measurement.gpu.as_str()) {
            names.push(&measurement.gpu);
        }
    }
    let gpus = gpus();
    let one = |name: &str| {
        let known = gpus.get(name);
        let config = match config {
            Some(config) => config.clone(),
            None => configs::named(rtl_dir, known.map_or("default", |gpu| &gpu.unit))?,
        };
        let rows: Vec<&GpuMeasurement> = measurements.iter().filter(|row| row.gpu == name).collect();
        let about = known.map_or(String::new(), |gpu| gpu.about.clone());
        let mut rounds = Rounds::new(&config);
        Ok(calibration(name, about, &rows, &mut rounds))
    };
    names.into_iter().map(one).collect()
}

fn calibration(gpu: &str, about: String, rows: &[&GpuMeasurement], rounds: &mut Rounds<'_>) -> Calibration {
    let equations = CostLaw::ALL.map(|law| {
        let fitted = rows.iter().filter(|row| row.is_fitted());
        fitted.filter_map(|row| Some((*row, rounds.equation(row, law).ok()?))).collect::<Vec<_>>()
    });
    let solutions = equations
        .each_ref()
        .map(|of| solve(&of.iter().map(|(_, equation)| equation.clone()).collect::<Vec<_>>()));
    let residual = |row: &&GpuMeasurement| {
        let predicted = CostLaw::ALL.map(|law| rounds.predicted(row, law, &solutions[law as usize]));
        FigureResidual {
            of: (*row).clone(),
            why_not: predicted[CostLaw::Unit as usize].as_ref().err().cloned(),
            predicted: predicted.map(Result::ok),
        }
    };
    let residuals: Vec<FigureResidual> = rows.iter().map(residual).collect();
    let ours = &solutions[CostLaw::Unit as usize];
    let figures = &equations[CostLaw::Unit as usize];
    let mut calibration = Calibration {
        gpu: gpu.to_string(),
        about,
        unit: rounds.unit().to_string(),
        constants: Vec::new(),
        too_few: ours.as_ref().err().map(ToString::to_string),
        counted_in: "cycles".to_string(),
        doubts: Vec::new(),
        laws: CostLaw::ALL.map(|law| law_errors(law, &solutions[law as usize], &residuals)).into(),
        residuals,
        largest: BTreeMap::new(),
        saturated: false,
    };
    if let Ok(solution) = ours {
        if let (false, Some((row, _))) = (solution.in_cycles, figures.first()) {
            let of = row.baseline.as_ref().map_or("", |baseline| &baseline.text);
            calibration.counted_in =
                format!("multiples of the time of `{of}`, since every fitted figure is a ratio");
        }
        calibration.constants = solution.fitted.iter().map(|c| constant(*c, solution, figures)).collect();
        calibration.doubts = doubts(solution, rounds);
        for (row, equation) in figures {
            let rounds = || equation.of.iter().chain(equation.to.iter().flatten());
            calibration.saturated |= row.metric == Metric::Throughput
                || rounds().any(|round| round.is_saturated(&solution.values));
            for constant in &solution.fitted {
                let most = calibration.largest.entry(*constant).or_default();
                *most = rounds().map(|round| round.alone[*constant as usize]).fold(*most, f64::max);
            }
        }
    }
    calibration
}

fn constant(
    constant: GpuConstant,
    solution: &Solution,
    figures: &[(&GpuMeasurement, Equation)],
) -> FittedConstant {
    let of: Vec<_> =
        figures.iter().filter(|(_, equation)| equation.depends_on().contains(&constant)).collect();
    FittedConstant {
        constant,
        value: solution.values[constant as usize],
        error: solution.determination(constant).error,
        figures: of.iter().map(|(row, _)| row.figure.clone()).collect(),
        mark: of.iter().map(|(row, _)| row.mark).max().unwrap_or_default(),
    }
}

fn law_errors(law: CostLaw, solution: &Result<Solution, TooFew>, residuals: &[FigureResidual]) -> LawErrors {
    // Skip a law that predicts no figure. Otherwise no figure would count as predicted by all laws.
    let predicts = |law: &CostLaw| residuals.iter().any(|one| one.predicted[*law as usize].is_some());
    let able: Vec<CostLaw> = CostLaw::ALL.into_iter().filter(predicts).collect();
    let has_all = |one: &&FigureResidual| able.iter().all(|law| one.predicted[*law as usize].is_some());
    let common: Vec<_> = residuals.iter().filter(has_all).collect();
    let errors: Vec<f64> = common.iter().filter_map(|one| one.error(law)).map(f64::abs).collect();
    let constants = solution.iter().flat_map(|solution| {
        solution.fitted.iter().map(|constant| (constant.name(), solution.values[*constant as usize]))
    });
    LawErrors {
        law,
        constants: constants.collect(),
        figures: common.len(),
        within: common.iter().filter(|one| one.is_within(law) == Some(true)).count(),
        mean_error: (!errors.is_empty()).then(|| errors.iter().sum::<f64>() / errors.len() as f64),
    }
}
