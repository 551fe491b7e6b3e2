//! Least squares for few rows and few terms.

/// Minimizes the squares of `rows * coefficients - right` with coefficients of at least 0 (Lawson and
/// Hanson). Each step adds the term that helps most and removes terms that would become negative. A term that
/// does not help has 0.
pub(crate) fn non_negative(rows: &[Vec<f64>], right: &[f64]) -> Vec<f64> {
    let (rows, sizes) = scaled(rows);
    let width = sizes.len();
    let mut inside = vec![false; width];
    let mut found = vec![0.0; width];
    for _ in 0..3 * width {
        let residuals: Vec<f64> =
            rows.iter().zip(right).map(|(row, right)| right - dot(row, &found)).collect();
        let gain = |term: usize| rows.iter().zip(&residuals).map(|(row, rest)| row[term] * rest).sum::<f64>();
        let best = (0..width).filter(|term| !inside[*term]).max_by(|a, b| gain(*a).total_cmp(&gain(*b)));
        let Some(best) = best.filter(|term| gain(*term) > 1e-9) else { break };
        inside[best] = true;
        loop {
            let terms: Vec<usize> = (0..width).filter(|term| inside[*term]).collect();
            let solved = solve(&rows, right, &terms);
            if solved.iter().all(|value| *value > 0.0) {
                found.fill(0.0);
                terms.iter().zip(&solved).for_each(|(term, value)| found[*term] = *value);
                break;
            }
            // Move toward the solution until the first coefficient reaches 0.
            let steps = terms.iter().zip(&solved).filter(|(_, value)| **value <= 0.0);
            let step = steps.map(|(term, value)| found[*term] / (found[*term] - value));
            let step = step.fold(1.0, f64::min);
            for (term, value) in terms.iter().zip(&solved) {
                found[*term] += step * (value - found[*term]);
                if found[*term] <= 1e-12 {
                    found[*term] = 0.0;
                    inside[*term] = false;
                }
            }
        }
    }
    found.iter().zip(&sizes).map(|(value, size)| value / size).collect()
}

/// Like [`non_negative`], with coefficients of either sign.
pub(crate) fn unconstrained(rows: &[Vec<f64>], right: &[f64]) -> Vec<f64> {
    let (rows, sizes) = scaled(rows);
    let terms: Vec<usize> = (0..sizes.len()).collect();
    solve(&rows, right, &terms).iter().zip(&sizes).map(|(value, size)| value / size).collect()
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Divides each term by its norm, which makes terms comparable. Returns the scaled rows and the norms.
fn scaled(rows: &[Vec<f64>]) -> (Vec<Vec<f64>>, Vec<f64>) {
    let width = rows.first().map_or(0, Vec::len);
    let size = |term: usize| rows.iter().map(|row| row[term].powi(2)).sum::<f64>().sqrt();
    let sizes: Vec<f64> = (0..width).map(|term| size(term).max(f64::MIN_POSITIVE)).collect();
    let scaled = |row: &Vec<f64>| row.iter().zip(&sizes).map(|(x, size)| x / size).collect();
    (rows.iter().map(scaled).collect(), sizes)
}

/// Solves least squares for `terms` only, by elimination on the normal equations.
fn solve(rows: &[Vec<f64>], right: &[f64], terms: &[usize]) -> Vec<f64> {
    let n = terms.len();
    let sum = |a: usize, b: usize| rows.iter().map(|row| row[a] * row[b]).sum::<f64>();
    let mut matrix: Vec<Vec<f64>> = terms
        .iter()
        .map(|a| {
            let right = rows.iter().zip(right).map(|(row, right)| row[*a] * right).sum();
            terms.iter().map(|b| sum(*a, *b)).chain([right]).collect()
        })
        .collect();
    for at in 0..n {
        // Tiny regularization: it only decides between terms that the rows cannot distinguish.
        matrix[at][at] += 1e-9;
        let pivot = matrix[at].clone();
        for (other, row) in matrix.iter_mut().enumerate() {
            if other != at {
                let factor = row[at] / pivot[at];
                row.iter_mut().zip(&pivot).for_each(|(value, by)| *value -= factor * by);
            }
        }
    }
    (0..n).map(|at| matrix[at][n] / matrix[at][at]).collect()
}
