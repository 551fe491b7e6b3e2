//! How a plan is cut into shards.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// Tests of the plan that are run together, by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shard {
    /// Number of the first.
    pub first: u64,
    /// Number after the last.
    pub end: u64,
}

impl Shard {
    /// Numbers of its tests.
    pub fn tests(&self) -> Range<u64> {
        self.first..self.end
    }
}

/// How a plan is cut into shards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cut {
    /// Into so many; fewer if there are not so many tests.
    Count(u32),
    /// Into parts that take about so many seconds, by the estimate.
    Seconds(f64),
}

impl Cut {
    /// Cuts `tests` tests, of which each takes `cost` seconds by the estimate, into shards that
    /// take about as long as each other. The order of tests stays, and no shard is empty. Asks for each
    /// cost twice.
    pub fn shards(self, tests: u64, cost: impl Fn(u64) -> f64) -> Vec<Shard> {
        let estimate = |test| Some(cost(test)).filter(|c| c.is_finite() && *c > 0.0).unwrap_or(0.0);
        let total: f64 = (0..tests).map(estimate).sum();
        // Without any estimate, all tests are alike.
        let cost = |test| if total > 0.0 { estimate(test) } else { 1.0 };
        let mut left = if total > 0.0 { total } else { tests as f64 };
        let count = match self {
            Cut::Count(count) => u64::from(count),
            Cut::Seconds(seconds) if seconds > 0.0 => (total / seconds).ceil() as u64,
            Cut::Seconds(_) => tests,
        };
        let count = count.clamp(1, tests.clamp(1, u64::from(u32::MAX)));
        let mut shards = Vec::new();
        let mut first = 0;
        for number in 0..count {
            // Tests that must be left for the shards after this one, one each.
            let last = tests.saturating_sub(count - number - 1);
            let share = left / (count - number) as f64;
            let (mut end, mut taken) = (first, 0.0);
            // A test goes where the greater part of it lies.
            while end < last && (end == first || number + 1 == count || taken + cost(end) / 2.0 < share) {
                taken += cost(end);
                end += 1;
            }
            left -= taken;
            if end > first {
                shards.push(Shard { first, end });
            }
            first = end;
        }
        shards
    }
}
