//! Cuts a plan into shards.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// Consecutive tests of the plan that one task runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shard {
    pub first: u64,
    /// Index after the last test.
    pub end: u64,
}

impl Shard {
    pub fn tests(&self) -> Range<u64> {
        self.first..self.end
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cut {
    /// Number of shards; a plan with fewer tests gets one shard per test.
    Count(u32),
    /// Estimated seconds of each shard.
    Seconds(f64),
}

impl Cut {
    /// Cuts `tests` tests into shards of about equal estimated time; `cost` returns the seconds of a test.
    /// Each shard is a non-empty range in plan order. Calls `cost` several times for each test.
    pub fn shards(self, tests: u64, cost: impl Fn(u64) -> f64) -> Vec<Shard> {
        let estimate = |test| Some(cost(test)).filter(|c| c.is_finite() && *c > 0.0).unwrap_or(0.0);
        let total: f64 = (0..tests).map(estimate).sum();
        // If no test has an estimate, all tests count the same.
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
            // Leave at least one test for each of the remaining shards.
            let last = tests.saturating_sub(count - number - 1);
            let share = left / (count - number) as f64;
            let (mut end, mut taken) = (first, 0.0);
            // A test across the boundary between two shards goes to the shard that contains more than half of
            // its time.
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
