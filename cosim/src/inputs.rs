//! Inputs of consecutive cycles. What a warp request brings for each lane is nearly all of them, and is kept only where it
//! changes: as they are, a few cycles would fill the processor's cache. While no request is valid it does not count, here
//! as in the binding.

use atoms_model::port::{In, InScalars, MAX_LANES};

/// Inputs of consecutive cycles.
#[derive(Debug, Default)]
pub(crate) struct Inputs {
    cycles: Vec<Cycle>,
    lanes: Vec<Lanes>,
}

#[derive(Debug)]
struct Cycle {
    scalars: InScalars,
    /// The lanes bring something else than in the cycle before.
    changed: bool,
}

/// What a warp request brings for each lane.
#[derive(Debug)]
struct Lanes {
    ra: [u32; MAX_LANES],
    b: [u128; MAX_LANES],
    c: [u128; MAX_LANES],
}

impl Inputs {
    /// None, with room for those of so many cycles.
    pub(crate) fn with_capacity(cycles: usize) -> Self {
        Inputs { cycles: Vec::with_capacity(cycles), ..Inputs::default() }
    }

    /// How many cycles there are.
    pub(crate) fn len(&self) -> usize {
        self.cycles.len()
    }

    /// Forgets all.
    pub(crate) fn clear(&mut self) {
        self.cycles.clear();
        self.lanes.clear();
    }

    /// Adds a cycle.
    pub(crate) fn push(&mut self, i: &In) {
        let other = |last: &Lanes| last.ra != i.req_ra || last.b != i.req_b || last.c != i.req_c;
        let changed = i.req_valid != 0 && self.lanes.last().is_none_or(other);
        if changed {
            self.lanes.push(Lanes { ra: i.req_ra, b: i.req_b, c: i.req_c });
        }
        self.cycles.push(Cycle { scalars: i.scalars(), changed });
    }

    /// Gives each cycle in turn, until one fails.
    pub(crate) fn play<E>(&self, mut cycle: impl FnMut(&In) -> Result<(), E>) -> Result<(), E> {
        let mut i = In::default();
        let mut lanes = self.lanes.iter();
        for Cycle { scalars, changed } in &self.cycles {
            i.set_scalars(scalars);
            if *changed && let Some(Lanes { ra, b, c }) = lanes.next() {
                (i.req_ra, i.req_b, i.req_c) = (*ra, *b, *c);
            }
            cycle(&i)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cycles are given as they were, lanes while a request is valid, and these are kept once a request.
    #[test]
    fn cycles_come_back() {
        let cycles = [(1, 1, 5), (1, 1, 5), (2, 0, 5), (3, 1, 5), (4, 1, 6), (4, 1, 6), (5, 0, 6), (5, 1, 7)];
        let mut inputs = Inputs::with_capacity(cycles.len());
        for _ in 0..2 {
            inputs.clear();
            for (req_tag, req_valid, word) in cycles {
                inputs.push(&In { req_tag, req_valid, req_c: [word; MAX_LANES], ..In::default() });
            }
            let mut played = Vec::new();
            let stopped = inputs.play(|i| {
                played.push((i.req_tag, i.req_valid, i.req_c[MAX_LANES - 1]));
                if i.req_tag == 5 { Err(i.req_tag) } else { Ok(()) }
            });
            assert_eq!((stopped, &played[..]), (Err(5), &cycles[..7]));
            assert_eq!((inputs.len(), inputs.lanes.len()), (8, 3));
        }
    }
}
