//! Cycle of waits: which object's release needs threads that wait at which other object.

use super::WaitEdge;
use std::collections::VecDeque;

/// Threads that can release an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Releaser {
    /// Index of the threads.
    pub(crate) agent: usize,
    /// True if the instruction is known to release this object.
    pub(crate) certain: bool,
}

/// Edge from an object to one at which its releasers wait, if all these releasers are certain.
type Edge = (usize, bool);

/// Returns the shortest cycle of waits; without a cycle, the first edge of each object. `edges` has the edges
/// of each object, `releasers` the threads of an edge. A cycle of certain edges comes before any other.
pub(crate) fn waits(
    edges: &[Vec<Edge>],
    releasers: impl Fn(usize, usize) -> Vec<super::WarpLanes>,
) -> Vec<WaitEdge> {
    let edge = |object, behind| WaitEdge { object, releasers: releasers(object, behind), behind };
    let cycle = [true, false].into_iter().find_map(|sure| {
        let cycles = (0..edges.len()).filter_map(|start| cycle(edges, start, sure));
        cycles.min_by_key(Vec::len)
    });
    match cycle {
        Some(cycle) => {
            let next = cycle.iter().cycle().skip(1);
            cycle.iter().zip(next).map(|(object, behind)| edge(*object, *behind)).collect()
        }
        None => {
            let first =
                |(object, to): (usize, &Vec<Edge>)| to.first().map(|(behind, _)| edge(object, *behind));
            edges.iter().enumerate().filter_map(first).collect()
        }
    }
}

/// Returns the objects of the shortest cycle through `start`.
fn cycle(edges: &[Vec<Edge>], start: usize, sure: bool) -> Option<Vec<usize>> {
    let mut from = vec![None; edges.len()];
    let mut open = VecDeque::from([start]);
    while let Some(object) = open.pop_front() {
        for (behind, certain) in &edges[object] {
            if sure && !certain {
                continue;
            }
            if *behind == start {
                let back = std::iter::successors(Some(object), |at| from[*at]);
                let mut path: Vec<usize> = back.collect();
                path.reverse();
                return Some(path);
            }
            if from[*behind].is_none() {
                from[*behind] = Some(object);
                open.push_back(*behind);
            }
        }
    }
    None
}
