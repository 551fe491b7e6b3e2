use super::element::Element;
use serde::Deserialize;
use std::collections::HashMap;

#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// Expected elements, little-endian. Elements beyond them are not compared.
    pub bytes: Vec<u8>,
    /// Allowed difference of floats, in units in the last place.
    pub ulps: u64,
    pub order: Order,
    /// Indices of the elements that are not compared, in ascending order.
    pub open: Vec<usize>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    #[default]
    Given,
    /// Values are compared in any order. Each value must occur as often as expected.
    Any,
    /// Values are compared as sets: in any order, and each value any number of times.
    Set,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Open,
    Met {
        compared: usize,
    },
    Differs {
        /// Index of the first element that differs from the expected one.
        index: usize,
        expected: String,
        found: String,
        differing: usize,
        compared: usize,
    },
    OtherValues {
        missing: Option<String>,
        /// First value that is unexpected, or occurs too often.
        surplus: Option<String>,
        lacking: usize,
        compared: usize,
    },
}

impl Expectation {
    pub(crate) fn judge(&self, element: Element, found: &[u8]) -> Outcome {
        let expected = self.bytes.len() / element.bytes();
        if self.order != Order::Given {
            return self.judge_values(element, found, expected);
        }
        let compared = expected - self.open.partition_point(|number| *number < expected);
        let same = |i: &usize| {
            let (a, b) = (element.read(&self.bytes, *i), element.read(found, *i));
            a == b || (element.float() && element.ulps(a, b).is_some_and(|d| d <= self.ulps))
        };
        let closed = |i: &usize| self.open.binary_search(i).is_err();
        let differing: Vec<usize> = (0..expected).filter(closed).filter(|i| !same(i)).collect();
        match differing.first() {
            None => Outcome::Met { compared },
            Some(&index) => Outcome::Differs {
                index,
                expected: element.show(element.read(&self.bytes, index)),
                found: element.show(element.read(found, index)),
                differing: differing.len(),
                compared,
            },
        }
    }

    fn judge_values(&self, element: Element, found: &[u8], compared: usize) -> Outcome {
        let mut missing: HashMap<u64, i64> = HashMap::new();
        for (bytes, step) in [(&self.bytes[..], 1), (found, -1)] {
            let mut values: Vec<u64> = (0..compared).map(|i| element.read(bytes, i)).collect();
            if self.order == Order::Set {
                values.sort_unstable();
                values.dedup();
            }
            values.into_iter().for_each(|value| *missing.entry(value).or_default() += step);
        }
        let first = |sign: i64| {
            let of_sign = missing.iter().filter(|(_, count)| count.signum() == sign).map(|(value, _)| *value);
            of_sign.min_by(|a, b| element.compare(*a, *b)).map(|value| element.show(value))
        };
        if missing.values().all(|count| *count == 0) {
            return Outcome::Met { compared };
        }
        let lacking = missing.values().filter(|count| **count > 0).sum::<i64>() as usize;
        Outcome::OtherValues { missing: first(1), surplus: first(-1), lacking, compared }
    }
}
