//! Order of lanes that each got one value and left another.
//!
//! Such a lane is an edge from the value it got to the value it left. An order of the lanes is a trail that
//! starts at the value before the request and uses every edge once: an Eulerian trail. Counting and
//! connectedness decide if a trail exists, and its end is the same for every order. Equal operands and
//! duplicate values, which are hard cases for a search, therefore cost nothing.

use crate::lanes::{Lanes, lanes_of};
use crate::rejection::held_value;
use crate::request::MAX_LANES;

pub(crate) struct Edges {
    count: usize,
    lane: [u8; MAX_LANES],
    got: [u128; MAX_LANES],
    left: [u128; MAX_LANES],
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NoTrail {
    /// These lanes got `value`, which memory held only `stood` times.
    Short { lanes: u32, value: u128, stood: u32 },
    /// These lanes are unreachable from the start.
    Apart { lanes: u32 },
}

impl Edges {
    pub(crate) fn new() -> Self {
        Edges { count: 0, lane: [0; MAX_LANES], got: [0; MAX_LANES], left: [0; MAX_LANES] }
    }

    /// Adds a lane; the caller adds at most 32.
    pub(crate) fn push(&mut self, lane: usize, got: u128, left: u128) {
        self.lane[self.count] = lane as u8;
        self.got[self.count] = got;
        self.left[self.count] = left;
        self.count += 1;
    }

    /// True if memory holds a value other than `start` at some time, given that a trail exists.
    pub(crate) fn moves_off(&self, start: u128) -> bool {
        self.left[..self.count].iter().any(|&left| left != start)
    }

    /// Value after every order of the lanes from `start` on. Fails if there is no order.
    pub(crate) fn end(&self, start: u128) -> Result<u128, NoTrail> {
        // Hardware usually serves lanes in ascending order, perhaps rotated. Following the next lane that
        // fits then finds an order at once. If this fails, fall back to counting.
        let mut at = start;
        let mut rest = if self.count == 32 { u32::MAX } else { (1 << self.count) - 1 };
        let mut above = u32::MAX;
        while rest != 0 {
            let fits = |&i: &usize| self.got[i] == at;
            let Some(i) = lanes_of(rest & above).find(fits).or_else(|| lanes_of(rest & !above).find(fits))
            else {
                return self.count_end(start);
            };
            rest &= !(1 << i);
            above = (u32::MAX << i) << 1;
            at = self.left[i];
        }
        Ok(at)
    }

    /// Computes [`Edges::end`] by counting how often each value was produced and how often it was got.
    #[cold]
    fn count_end(&self, start: u128) -> Result<u128, NoTrail> {
        let mut values = Values::new();
        let origin = values.index(start);
        values.stood[origin] = 1;
        for i in 0..self.count {
            let (from, to) = (values.index(self.got[i]), values.index(self.left[i]));
            values.got[from] += 1;
            values.stood[to] += 1;
            values.join(from, to);
        }
        // Report a value that was produced too rarely rather than one that was never produced: it is the better
        // hint.
        let short = |v: &usize| values.got[*v] > values.stood[*v];
        let named = (0..values.count).filter(short).max_by_key(|&v| (values.stood[v], std::cmp::Reverse(v)));
        if let Some(v) = named {
            let value = values.value[v];
            let lanes = self.lanes_where(|i| self.got[i] == value);
            return Err(NoTrail::Short { lanes, value, stood: values.stood[v] });
        }
        let home = values.root(origin);
        let apart = self.lanes_where(|i| {
            let v = values.value[..values.count].iter().position(|&v| v == self.got[i]);
            v.is_some_and(|v| values.root(v) != home)
        });
        if apart != 0 {
            return Err(NoTrail::Apart { lanes: apart });
        }
        // Exactly one value was produced once more than it was got.
        let end = (0..values.count).find(|&v| values.stood[v] > values.got[v]).unwrap_or(origin);
        Ok(values.value[end])
    }

    fn lanes_where(&self, holds: impl Fn(usize) -> bool) -> u32 {
        (0..self.count).filter(|&i| holds(i)).fold(0, |mask, i| mask | 1 << self.lane[i])
    }
}

/// Checks that some order of lanes at one address leads from the value `before` to `after`. Each lane got one
/// value and left another.
/// For updates that are not an operation of the unit, such as a retry loop. `lanes` holds lane, value got and
/// value left, at most 32 entries.
///
/// # Errors
/// The lanes that no order explains.
pub fn order_exists(before: u128, lanes: &[(usize, u128, u128)], after: u128) -> Result<(), String> {
    let mut edges = Edges::new();
    for (lane, got, left) in lanes.iter().take(MAX_LANES) {
        edges.push(*lane, *got, *left);
    }
    match edges.end(before) {
        Ok(end) if end == after => Ok(()),
        Ok(end) => Err(format!("every order of the lanes leaves {end:#x}, and memory holds {after:#x}")),
        Err(NoTrail::Short { lanes, value, stood }) => {
            Err(format!("{} got {value:#x}, but memory {}", Lanes(lanes), held_value(stood)))
        }
        Err(NoTrail::Apart { lanes }) => {
            let named = Lanes(lanes);
            Err(format!(
                "no order of the lanes leads from {before:#x}, the value before them, to the values of {named}"
            ))
        }
    }
}

/// Distinct values of a set of edges, as a union-find structure over the edges.
struct Values {
    count: usize,
    value: [u128; 2 * MAX_LANES + 1],
    stood: [u32; 2 * MAX_LANES + 1],
    got: [u32; 2 * MAX_LANES + 1],
    parent: [u8; 2 * MAX_LANES + 1],
}

impl Values {
    fn new() -> Self {
        const N: usize = 2 * MAX_LANES + 1;
        Values { count: 0, value: [0; N], stood: [0; N], got: [0; N], parent: [0; N] }
    }

    fn index(&mut self, value: u128) -> usize {
        if let Some(v) = self.value[..self.count].iter().position(|&v| v == value) {
            return v;
        }
        self.value[self.count] = value;
        self.parent[self.count] = self.count as u8;
        self.count += 1;
        self.count - 1
    }

    fn root(&self, mut v: usize) -> usize {
        while usize::from(self.parent[v]) != v {
            v = usize::from(self.parent[v]);
        }
        v
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a] = b as u8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn updates_that_are_no_operation_have_an_order_or_a_reason() {
        let exists = |lanes: &[(usize, u128, u128)], after| order_exists(0, lanes, after).err();
        assert_eq!(exists(&[(3, 1, 2), (5, 0, 1)], 2), None);
        let wrong = [
            (exists(&[(3, 1, 2), (5, 0, 1)], 1), "every order of the lanes leaves 0x2, and memory holds 0x1"),
            (exists(&[(3, 7, 8)], 8), "lane 3 got 0x7, but memory never held this value"),
            (
                exists(&[(3, 0, 1), (5, 0, 2)], 2),
                "lanes 3 and 5 got 0x0, but memory held this value only once",
            ),
            (
                exists(&[(3, 0, 1), (5, 7, 8), (6, 8, 7)], 1),
                "no order of the lanes leads from 0x0, the value before them, to the values of lanes 5 and 6",
            ),
        ];
        for (said, expected) in wrong {
            assert_eq!(said.as_deref(), Some(expected));
        }
    }

    fn end(start: u128, edges: &[(u128, u128)]) -> Result<u128, NoTrail> {
        let mut all = Edges::new();
        for (lane, (got, left)) in edges.iter().enumerate() {
            all.push(lane, *got, *left);
        }
        let by_counting = all.count_end(start);
        assert_eq!(all.end(start), by_counting);
        by_counting
    }

    #[test]
    fn no_lanes_leave_the_start() {
        assert_eq!(end(7, &[]), Ok(7));
    }

    #[test]
    fn a_chain_in_any_order_of_lanes() {
        assert_eq!(end(1, &[(3, 4), (1, 2), (2, 3)]), Ok(4));
    }

    #[test]
    fn a_side_loop_that_greed_would_leave_behind() {
        assert_eq!(end(1, &[(1, 2), (1, 5), (5, 1)]), Ok(2));
    }

    #[test]
    fn two_lanes_that_got_the_same_value() {
        let lost = NoTrail::Short { lanes: 0b110, value: 2, stood: 1 };
        assert_eq!(end(1, &[(1, 2), (2, 3), (2, 3)]), Err(lost));
    }

    #[test]
    fn a_circle_out_of_reach() {
        assert_eq!(end(1, &[(1, 2), (5, 6), (6, 5)]), Err(NoTrail::Apart { lanes: 0b110 }));
    }

    #[test]
    fn thirty_two_lanes_fit() {
        let chain: Vec<_> = (0..32).rev().map(|i| (i, i + 1)).collect();
        assert_eq!(end(0, &chain), Ok(32));
    }
}
