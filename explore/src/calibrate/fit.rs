//! Constants fitted to figures by least squares, and how well the figures determine them.

use super::law::{CycleSum, GpuConstant};
use crate::least_squares::{dot, non_negative, unconstrained};

/// A figure as a sum over constants, or as a ratio of two sums.
#[derive(Clone, Debug)]
pub(super) struct Equation {
    /// Parts of the measured workload, which run one after another.
    pub(super) of: Vec<CycleSum>,
    /// Parts of the baseline, if the figure is a ratio.
    pub(super) to: Option<Vec<CycleSum>>,
    pub(super) value: f64,
    /// Expected error, as a share of the figure.
    pub(super) tolerance: f64,
}

/// Adds up the coefficients of the parts of a workload, which run one after another.
fn together(parts: &[CycleSum], constants: &[f64]) -> Vec<f64> {
    let mut sum = vec![0.0; constants.len()];
    for part in parts {
        sum.iter_mut().zip(part.at(constants)).for_each(|(sum, count)| *sum += count);
    }
    sum
}

impl Equation {
    pub(super) fn at(&self, constants: &[f64]) -> f64 {
        let cycles = |parts: &[CycleSum]| dot(&together(parts, constants), constants);
        cycles(&self.of) / self.to.as_ref().map_or(1.0, |to| cycles(to))
    }

    pub(super) fn depends_on(&self) -> Vec<GpuConstant> {
        let parts: Vec<_> = self.of.iter().chain(self.to.iter().flatten()).collect();
        let counts = |constant: &GpuConstant| {
            parts.iter().any(|part| part.alone[*constant as usize] + part.busy[*constant as usize] > 0.0)
        };
        GpuConstant::ALL.into_iter().filter(counts).collect()
    }

    /// Returns the figure as a linear equation, scaled so that the tolerance is 1. A ratio is linearized at
    /// `constants`. A ratio that no constant changes gives a row of zeros.
    fn linear(&self, constants: &[f64]) -> (Vec<f64>, f64) {
        let (of, weight) = (together(&self.of, constants), 1.0 / (self.value * self.tolerance));
        let Some(to) = &self.to else {
            return (of.iter().map(|count| count * weight).collect(), self.value * weight);
        };
        let (to, ratio) = (together(to, constants), self.at(constants));
        let slope = weight / dot(&to, constants);
        (
            of.iter().zip(&to).map(|(of, to)| (of - ratio * to) * slope).collect(),
            (self.value - ratio) * weight,
        )
    }
}

#[derive(Clone, Debug)]
pub(super) struct Solution {
    /// Values indexed by [`GpuConstant`]; 0 if no figure depends on the constant.
    pub(super) values: Vec<f64>,
    pub(super) fitted: Vec<GpuConstant>,
    /// True if some figure is in cycles. Otherwise the unit of all constants is the baseline time of the
    /// first ratio.
    pub(super) in_cycles: bool,
    /// Coefficients of the equations, linearized at `values`.
    rows: Vec<Vec<f64>>,
    /// Standard deviation of the residuals, in units of the tolerance; at least 1.
    scatter: f64,
}

/// Error for fewer figures than constants.
#[derive(Debug, PartialEq, thiserror::Error)]
#[error(
    "{} cannot determine {} constants ({}): add measurements",
    counted(*figures, "figure"), constants.len(), names(constants)
)]
pub(super) struct TooFew {
    figures: usize,
    constants: Vec<GpuConstant>,
}

pub(super) fn counted(count: usize, of: &str) -> String {
    format!("{count} {of}{}", if count == 1 { "" } else { "s" })
}

pub(super) fn names(constants: &[GpuConstant]) -> String {
    constants.iter().map(|constant| constant.name()).collect::<Vec<_>>().join(", ")
}

/// Number of iterations of the fit; enough for the constants to converge.
const STEPS: usize = 60;

/// Fits constants, all at least 0.
pub(super) fn solve(equations: &[Equation]) -> Result<Solution, TooFew> {
    let depends = |constant: &GpuConstant| equations.iter().any(|e| e.depends_on().contains(constant));
    let fitted: Vec<GpuConstant> = GpuConstant::ALL.into_iter().filter(depends).collect();
    let scale = match equations {
        [Equation { to: Some(to), .. }, ..] if equations.iter().all(|e| e.to.is_some()) => {
            Some(Equation { of: to.clone(), to: None, value: 1.0, tolerance: 0.001 })
        }
        _ => None,
    };
    let all: Vec<&Equation> = equations.iter().chain(&scale).collect();
    if all.len() < fitted.len() {
        return Err(TooFew { figures: equations.len(), constants: fitted });
    }
    let mut values: Vec<f64> =
        GpuConstant::ALL.iter().map(|constant| f64::from(u8::from(fitted.contains(constant)))).collect();
    let linear = |values: &[f64]| all.iter().map(|e| e.linear(values)).unzip::<_, _, Vec<_>, Vec<_>>();
    for _ in 0..STEPS {
        let (rows, right) = linear(&values);
        let next = non_negative(&rows, &right);
        // Take half of the step: ratios are not linear in the constants, so a full step may overshoot.
        values.iter_mut().zip(&next).for_each(|(value, next)| *value = (*value + next) / 2.0);
    }
    let (rows, right) = linear(&values);
    let squares: f64 = rows.iter().zip(&right).map(|(row, right)| (dot(row, &values) - right).powi(2)).sum();
    let free = rows.len() - fitted.len();
    let scatter = if free > 0 { (squares / free as f64).sqrt().max(1.0) } else { 1.0 };
    Ok(Solution { values, fitted, in_cycles: scale.is_none(), rows, scatter })
}

/// Accuracy of one constant if all other constants may vary too.
#[derive(Clone, Debug)]
pub(super) struct Determination {
    /// Standard error; `None` if the figures cannot tell this constant from other constants.
    pub(super) error: Option<f64>,
    /// Constants with a similar effect on the figures, each with its weight.
    pub(super) substitutes: Vec<(GpuConstant, f64)>,
}

/// Minimum share of a constant's effect on the figures that other constants cannot explain. With a smaller
/// share, the constant counts as undetermined.
const LEAST_SHARE: f64 = 1e-3;

impl Solution {
    pub(super) fn determination(&self, constant: GpuConstant) -> Determination {
        self.determined(constant, &self.rows)
    }

    /// Returns the standard error that a constant would have if `measured` were measured too, with an error
    /// of 5 %.
    pub(super) fn error_with(&self, constant: GpuConstant, measured: &[CycleSum]) -> Option<f64> {
        let row = together(measured, &self.values);
        let weight = 1.0 / (0.05 * dot(&row, &self.values));
        let rows = [&self.rows[..], &[row.iter().map(|count| count * weight).collect()]].concat();
        self.determined(constant, &rows).error
    }

    fn determined(&self, constant: GpuConstant, rows: &[Vec<f64>]) -> Determination {
        let others: Vec<GpuConstant> =
            self.fitted.iter().copied().filter(|other| *other != constant).collect();
        let column = |of: GpuConstant| rows.iter().map(|row| row[of as usize]).collect::<Vec<f64>>();
        let size = |column: &[f64]| dot(column, column).sqrt();
        let own = column(constant);
        let reduced: Vec<Vec<f64>> =
            rows.iter().map(|row| others.iter().map(|other| row[*other as usize]).collect()).collect();
        let shares = if others.is_empty() { Vec::new() } else { unconstrained(&reduced, &own) };
        let left: Vec<f64> = reduced.iter().zip(&own).map(|(row, own)| own - dot(row, &shares)).collect();
        let substitutes = others
            .into_iter()
            .zip(shares)
            .filter(|(other, share)| share.abs() * size(&column(*other)) > 0.1 * size(&own))
            .collect();
        let error = (size(&left) > LEAST_SHARE * size(&own)).then(|| self.scatter / size(&left));
        Determination { error, substitutes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn equation(atom: f64, pass: f64, value: f64) -> Equation {
        let mut alone = vec![0.0; GpuConstant::ALL.len()];
        (alone[GpuConstant::Atom as usize], alone[GpuConstant::Pass as usize]) = (atom, pass);
        let busy = vec![0.0; alone.len()];
        Equation { of: vec![CycleSum { alone, busy }], to: None, value, tolerance: 0.05 }
    }

    /// Latencies of requests with these numbers of passes. The round trip takes 40 cycles, a pass 2 cycles.
    /// The errors alternate between +1 % and -1 %.
    fn figures(passes: &[f64]) -> Vec<Equation> {
        let wrong = |at: usize| if at.is_multiple_of(2) { 1.01 } else { 0.99 };
        passes.iter().enumerate().map(|(at, n)| equation(1.0, *n, (40.0 + 2.0 * n) * wrong(at))).collect()
    }

    #[test]
    fn constants_come_back_from_noisy_figures() {
        let solution = solve(&figures(&[1.0, 2.0, 4.0, 8.0, 16.0, 32.0])).expect("six figures");
        for (constant, value) in [(GpuConstant::Atom, 40.0), (GpuConstant::Pass, 2.0)] {
            let found = solution.values[constant as usize];
            assert!((found / value - 1.0).abs() < 0.03, "{constant:?}: {found}");
            let error = solution.determination(constant).error.expect("it is determined");
            assert!((found - value).abs() < error && error < 0.2 * value, "{constant:?}: {error}");
        }
    }

    #[test]
    fn figures_that_scatter_make_errors_larger() {
        let mut wild = figures(&[1.0, 2.0, 4.0, 8.0, 16.0, 32.0]);
        let error = |of: &[Equation]| {
            solve(of).expect("six figures").determination(GpuConstant::Pass).error.expect("determined")
        };
        let calm = error(&wild);
        wild[3].value *= 1.5;
        assert!(error(&wild) > 2.0 * calm);
    }

    #[test]
    fn of_ratios_alone_the_baseline_is_one() {
        let to = equation(1.0, 1.0, 1.0).of;
        let ratio = |n: f64| Equation { to: Some(to.clone()), ..equation(1.0, n, (1.0 + 3.0 * n) / 4.0) };
        let solution = solve(&[ratio(2.0), ratio(4.0), ratio(8.0)]).expect("three ratios");
        assert!(!solution.in_cycles);
        let [atom, pass] = [GpuConstant::Atom, GpuConstant::Pass].map(|c| solution.values[c as usize]);
        assert!((atom - 0.25).abs() < 1e-6 && (pass - 0.75).abs() < 1e-6, "{atom} {pass}");
    }

    #[test]
    fn what_always_comes_together_is_not_told_apart() {
        let same = [equation(1.0, 1.0, 42.0), equation(2.0, 2.0, 84.0), equation(3.0, 3.0, 126.0)];
        let solution = solve(&same).expect("three figures");
        for (constant, other) in
            [(GpuConstant::Atom, GpuConstant::Pass), (GpuConstant::Pass, GpuConstant::Atom)]
        {
            let of = solution.determination(constant);
            assert_eq!(of.error, None);
            assert_eq!(of.substitutes.len(), 1);
            assert!(of.substitutes[0].0 == other && (of.substitutes[0].1 - 1.0).abs() < 1e-6, "{of:?}");
        }
        let further = equation(1.0, 32.0, 104.0);
        let error = solution.error_with(GpuConstant::Pass, &further.of).expect("this tells them apart");
        assert!(error < 0.1 * 42.0, "{error}");
    }

    #[test]
    fn few_figures_are_refused() {
        let said = solve(&[equation(1.0, 1.0, 42.0)]).expect_err("one figure").to_string();
        assert_eq!(said, "1 figure cannot determine 2 constants (atom, pass): add measurements");
    }
}
