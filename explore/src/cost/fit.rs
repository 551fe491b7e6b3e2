//! Least-squares fits over few points, with coefficients of at least 0 and a leave-one-out error.

use crate::least_squares::{dot, non_negative};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fit {
    /// A coefficient for each term; 0 for a term that does not improve the fit.
    pub(crate) coefficients: Vec<f64>,
    /// Root mean square of the relative errors, where each point is predicted from all other points. `None`
    /// for fewer than three points.
    pub(crate) left_out_error: Option<f64>,
}

impl Fit {
    /// Fits points to minimize relative errors. A point is the values of all terms and a figure above 0.
    /// `None` without points.
    pub(crate) fn of(points: &[(Vec<f64>, f64)]) -> Option<Self> {
        let coefficients = fit(&points.iter().collect::<Vec<_>>())?;
        let predicted = |others: &[&_], (terms, _): &(Vec<f64>, _)| Some(dot(&fit(others)?, terms));
        Some(Self { coefficients, left_out_error: left_out_error(points, predicted) })
    }

    pub(crate) fn at(&self, terms: &[f64]) -> f64 {
        dot(&self.coefficients, terms)
    }
}

/// Fit of the slowest timing path as the maximum over several chains of modules. Each chain has a fitted
/// delay outside its modules.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ChainFit {
    /// Delay of each chain outside its modules; `None` if the chain is never the slowest.
    pub(crate) beside: Vec<Option<f64>>,
    pub(crate) left_out_error: Option<f64>,
}

type ChainPoint = (Vec<Option<f64>>, f64);

impl ChainFit {
    /// Fits the delay of each chain outside its modules. `None` if no point has a chain.
    pub(crate) fn of(points: &[ChainPoint]) -> Option<Self> {
        let found = beside(&points.iter().collect::<Vec<_>>())?;
        let predicted = |others: &[&_], (chains, _): &ChainPoint| Some(slowest(chains, &beside(others)?)?.1);
        Some(ChainFit { beside: found, left_out_error: left_out_error(points, predicted) })
    }

    pub(crate) fn at(&self, chains: &[Option<f64>]) -> Option<f64> {
        slowest(chains, &self.beside).map(|(_, path)| path)
    }
}

/// Root mean square of the relative errors of `predicted`, which gets all points but one and predicts that
/// one. `None` for fewer than three points.
fn left_out_error<X>(
    points: &[(X, f64)],
    predicted: impl Fn(&[&(X, f64)], &(X, f64)) -> Option<f64>,
) -> Option<f64> {
    let squares = points.iter().enumerate().filter_map(|(place, point)| {
        let others = points.iter().enumerate().filter(|(other, _)| *other != place);
        let others: Vec<_> = others.map(|(_, point)| point).collect();
        Some((predicted(&others, point)? / point.1 - 1.0).powi(2))
    });
    let squares: Vec<f64> = squares.collect();
    (squares.len() > 2).then(|| (squares.iter().sum::<f64>() / squares.len() as f64).sqrt())
}

/// Returns the index and the delay of the slowest chain, including its delay outside the modules.
fn slowest(chains: &[Option<f64>], beside: &[Option<f64>]) -> Option<(usize, f64)> {
    let sums = chains
        .iter()
        .zip(beside)
        .enumerate()
        .filter_map(|(at, (chain, beside))| Some((at, (*chain)? + (*beside)?)));
    sums.max_by(|a, b| a.1.total_cmp(&b.1))
}

/// Computes the mean delay of each chain outside its modules, over the points where the chain is the slowest.
/// The slowest chain of a point depends on the result, so the function iterates until the result is stable.
fn beside(points: &[&ChainPoint]) -> Option<Vec<Option<f64>>> {
    let count = points.first()?.0.len();
    let mut found = vec![Some(0.0); count];
    for _ in 0..points.len() + 1 {
        let mut of: Vec<Vec<f64>> = vec![Vec::new(); count];
        for (chains, path) in points {
            if let Some((at, _)) = slowest(chains, &found) {
                of[at].push(path - chains[at].unwrap_or_default());
            }
        }
        let mean = |all: Vec<f64>| (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64);
        let next: Vec<Option<f64>> = of.into_iter().map(mean).collect();
        if next == found {
            break;
        }
        found = next;
    }
    found.iter().any(Option::is_some).then_some(found)
}

/// Minimizes the sum of squared relative errors: each row is divided by its figure.
fn fit(points: &[&(Vec<f64>, f64)]) -> Option<Vec<f64>> {
    points.first()?;
    let rows: Vec<Vec<f64>> = points.iter().map(|(x, y)| x.iter().map(|x| x / y).collect()).collect();
    Some(non_negative(&rows, &vec![1.0; rows.len()]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points for `y = 3 * lanes * banks + 40 * lanes + 100`, times `1 + noise` or `1 - noise`. A term for
    /// banks is useless.
    fn points(noise: f64) -> Vec<(Vec<f64>, f64)> {
        let mut points = Vec::new();
        for (at, (lanes, banks)) in
            [(2.0, 4.0), (4.0, 4.0), (4.0, 8.0), (8.0, 4.0), (8.0, 8.0), (16.0, 8.0)].into_iter().enumerate()
        {
            let y = 3.0 * lanes * banks + 40.0 * lanes + 100.0;
            let sign = if at % 2 == 0 { 1.0 } else { -1.0 };
            points.push((vec![lanes * banks, lanes, banks, 1.0], y * (1.0 + sign * noise)));
        }
        points
    }

    #[test]
    fn a_law_is_found_and_carried_beyond_its_points() {
        let fit = Fit::of(&points(0.0)).expect("there are points");
        for (found, expected) in fit.coefficients.iter().zip([3.0, 40.0, 0.0, 100.0]) {
            assert!((found - expected).abs() < 1e-3, "{:?}", fit.coefficients);
        }
        let beyond = fit.at(&[1024.0, 32.0, 32.0, 1.0]);
        assert!((beyond / (3.0 * 1024.0 + 40.0 * 32.0 + 100.0) - 1.0).abs() < 1e-4, "{beyond}");
        assert!(fit.left_out_error.expect("six points") < 1e-3);
    }

    #[test]
    fn the_error_is_that_of_points_left_out() {
        let error = Fit::of(&points(0.05)).expect("there are points").left_out_error.expect("six points");
        assert!((0.04..0.4).contains(&error), "noise of 5 % gives {error}");
        let law = |lanes: f64| (vec![1.0], lanes * lanes);
        let wrong = Fit::of(&[law(2.0), law(4.0), law(8.0)]).expect("there are points");
        assert!(wrong.left_out_error.expect("three points") > 1.0, "a constant is no square");
    }

    #[test]
    fn no_coefficient_is_negative() {
        let falling = [(vec![1.0, 1.0], 10.0), (vec![2.0, 1.0], 8.0), (vec![4.0, 1.0], 4.0)];
        let fit = Fit::of(&falling).expect("there are points");
        assert!(fit.coefficients[0].abs() < 1e-9 && fit.coefficients[1] > 0.0, "{:?}", fit.coefficients);
    }

    #[test]
    fn few_points_give_no_error_and_none_no_fit() {
        assert_eq!(Fit::of(&[]), None);
        let one = Fit::of(&[(vec![2.0, 0.0], 10.0)]).expect("a point");
        assert_eq!(one.left_out_error, None);
        assert!((one.at(&[4.0, 1.0]) - 20.0).abs() < 1e-6);
    }

    #[test]
    fn the_slower_of_two_chains_is_found() {
        // The delays outside the modules are 10 and -4.
        let point = |a: f64, b: f64| (vec![Some(a), Some(b)], (a + 10.0).max(b - 4.0));
        let points =
            [(20.0, 15.0), (22.0, 5.0), (24.0, 33.0), (21.0, 50.0), (23.0, 60.0)].map(|(a, b)| point(a, b));
        let fit = ChainFit::of(&points).expect("there are points");
        assert_eq!(fit.beside, [Some(10.0), Some(-4.0)]);
        assert_eq!(fit.at(&[Some(20.0), Some(100.0)]), Some(96.0));
        assert_eq!(fit.at(&[Some(20.0), None]), Some(30.0), "what is not known is not the slower");
        assert!(fit.left_out_error.is_some_and(|error| error < 1e-9), "{fit:?}");
        let one = ChainFit::of(&points[..1]).expect("there is a point");
        assert_eq!((one.beside, one.left_out_error), (vec![Some(10.0), None], None));
        assert_eq!(ChainFit::of(&[]), None);
    }
}
