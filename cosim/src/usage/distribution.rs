//! Exact distribution of small whole numbers, such as cycles, passes and queue levels.

use std::collections::BTreeMap;

/// Limit of the array of counts. The few values from this limit on are counted in a map.
const DENSE: u64 = 1 << 10;

/// Number of times that each value was recorded.
///
/// In JSON: `count`, `mean`, `min`, `p50`, `p90`, `p99`, `max`, and `counts`, a list of `[value, count]`.
/// Without a recorded value, the figures are null.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(into = "DistributionSummary")]
pub struct Distribution {
    /// Counts by value, up to the greatest value recorded below [`DENSE`].
    dense: Vec<u64>,
    sparse: BTreeMap<u64, u64>,
}

impl Distribution {
    /// Counts one occurrence of `value`.
    #[inline]
    pub fn record(&mut self, value: u64) {
        match self.dense.get_mut(value as usize) {
            Some(count) if value < DENSE => *count += 1,
            _ => self.record_new(value),
        }
    }

    #[cold]
    fn record_new(&mut self, value: u64) {
        if value < DENSE {
            self.dense.resize(value as usize + 1, 0);
            self.dense[value as usize] += 1;
        } else {
            *self.sparse.entry(value).or_default() += 1;
        }
    }

    /// Returns the recorded values in ascending order, each with its count.
    pub fn counts(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let dense = (0..).zip(self.dense.iter().copied()).filter(|(_, count)| *count > 0);
        dense.chain(self.sparse.iter().map(|(value, count)| (*value, *count)))
    }

    /// Returns the number of recorded values.
    pub fn count(&self) -> u64 {
        self.counts().map(|(_, count)| count).sum()
    }

    /// Returns the sum of all recorded values.
    pub fn sum(&self) -> u64 {
        self.counts().map(|(value, count)| value * count).sum()
    }

    /// Returns the mean. `None` without a recorded value.
    pub fn mean(&self) -> Option<f64> {
        let count = self.count();
        (count > 0).then(|| self.sum() as f64 / count as f64)
    }

    /// Returns the smallest recorded value.
    pub fn min(&self) -> Option<u64> {
        self.counts().next().map(|(value, _)| value)
    }

    /// Returns the greatest recorded value.
    pub fn max(&self) -> Option<u64> {
        self.counts().last().map(|(value, _)| value)
    }

    /// Returns the smallest value that `per_cent` per cent of the values do not exceed (nearest rank).
    pub fn percentile(&self, per_cent: u64) -> Option<u64> {
        let rank = (u128::from(self.count()) * u128::from(per_cent)).div_ceil(100).max(1);
        let mut seen = 0;
        self.counts().find_map(|(value, count)| {
            seen += u128::from(count);
            (seen >= rank).then_some(value)
        })
    }
}

#[derive(serde::Serialize, schemars::JsonSchema)]
struct DistributionSummary {
    count: u64,
    mean: Option<f64>,
    min: Option<u64>,
    p50: Option<u64>,
    p90: Option<u64>,
    p99: Option<u64>,
    max: Option<u64>,
    counts: Vec<(u64, u64)>,
}

impl From<Distribution> for DistributionSummary {
    fn from(of: Distribution) -> Self {
        let [p50, p90, p99] = [50, 90, 99].map(|percent| of.percentile(percent));
        let (count, counts) = (of.count(), of.counts().collect());
        DistributionSummary { count, mean: of.mean(), min: of.min(), p50, p90, p99, max: of.max(), counts }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: impl IntoIterator<Item = u64>) -> Distribution {
        let mut distribution = Distribution::default();
        values.into_iter().for_each(|value| distribution.record(value));
        distribution
    }

    #[test]
    fn percentiles_are_values_that_came() {
        let hundred = of((1..=100).rev());
        for per_cent in [1, 50, 90, 99, 100] {
            assert_eq!(hundred.percentile(per_cent), Some(per_cent), "of 1 to 100");
        }
        let few = of([7, 3, 3]);
        let at = |per_cent| few.percentile(per_cent);
        assert_eq!(
            [at(0), at(66), at(67), at(100)],
            [Some(3), Some(3), Some(7), Some(7)],
            "two of three are 3"
        );
        assert_eq!(few.mean(), Some(13.0 / 3.0));
    }

    #[test]
    fn large_values_are_counted_like_small_ones() {
        let values = of([DENSE - 1, DENSE, u64::MAX, DENSE]);
        assert_eq!(values.counts().collect::<Vec<_>>(), [(DENSE - 1, 1), (DENSE, 2), (u64::MAX, 1)]);
        assert_eq!(
            (values.min(), values.percentile(50), values.max()),
            (Some(DENSE - 1), Some(DENSE), Some(u64::MAX))
        );
    }

    #[test]
    fn nothing_has_no_figures() {
        let json = serde_json::to_string(&Distribution::default()).expect("plain data");
        assert_eq!(
            json,
            r#"{"count":0,"mean":null,"min":null,"p50":null,"p90":null,"p99":null,"max":null,"counts":[]}"#
        );
    }
}
