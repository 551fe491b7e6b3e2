//! Inputs of consecutive cycles. What a warp request brings for each lane is nearly all of them, and is kept once for a
//! request: as they are, a few cycles would fill the processor's cache. An offer stays as it is until it is taken or a
//! reset comes (spec 4.8): whether it did is looked at where the RTL does, when it is taken.

use atoms_model::port::{In, InScalars, MAX_LANES, Out, Probe};

/// Outputs and probe of a machine in its last cycle.
#[derive(Clone, Debug, Default)]
pub struct LastCycle {
    /// Outputs.
    pub out: Out,
    /// Probe.
    pub probe: Probe,
    /// Number of cycles run.
    pub cycles: u64,
}

/// Inputs of consecutive cycles.
#[derive(Debug, Default)]
pub struct Inputs {
    cycles: Vec<Cycle>,
    lanes: Vec<Lanes>,
    /// A warp request was offered in the last cycle, and stays.
    stays: bool,
}

#[derive(Debug)]
struct Cycle {
    scalars: InScalars,
    /// Another warp request is offered than in the cycle before, or taken than was offered.
    offers: bool,
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
    pub fn with_capacity(cycles: usize) -> Self {
        Inputs { cycles: Vec::with_capacity(cycles), ..Inputs::default() }
    }

    /// Returns the number of cycles.
    pub fn cycles(&self) -> usize {
        self.cycles.len()
    }

    /// Returns the number of stored sets of lanes.
    pub fn offers(&self) -> usize {
        self.lanes.len()
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.cycles.clear();
        self.lanes.clear();
        self.stays = false;
    }

    /// Adds a cycle, in which the unit drives `out`.
    pub fn push(&mut self, i: &In, out: &Out) {
        let altered = |lanes: &Lanes| (&lanes.ra, &lanes.b, &lanes.c) != (&i.req_ra, &i.req_b, &i.req_c);
        let stays = self.stays && !(out.req_ready != 0 && self.lanes.last().is_some_and(altered));
        let offers = i.req_valid != 0 && !stays;
        if offers {
            self.lanes.push(Lanes { ra: i.req_ra, b: i.req_b, c: i.req_c });
        }
        self.cycles.push(Cycle { scalars: i.scalars(), offers });
        self.stays = i.req_valid != 0 && out.req_ready == 0 && i.rst_n != 0;
    }

    /// Gives each cycle in turn, until one fails.
    pub fn play<E>(&self, mut cycle: impl FnMut(&In) -> Result<(), E>) -> Result<(), E> {
        let mut i = In::default();
        let mut lanes = self.lanes.iter();
        for Cycle { scalars, offers } in &self.cycles {
            i.set_scalars(scalars);
            if *offers && let Some(Lanes { ra, b, c }) = lanes.next() {
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

    /// Cycles come back as they were, with what an offer brings for its lanes, which is kept once: until it is taken, or a
    /// reset comes; and as it is taken.
    #[test]
    fn cycles_come_back() {
        let (waits, taken, reset) = ((1, 0, 1), (1, 1, 1), (1, 0, 0));
        let cycles = [
            (waits, 5),
            (taken, 5),
            (taken, 5),
            (reset, 6),
            (waits, 7),
            (taken, 8),
            ((0, 1, 1), 8),
            (taken, 9),
        ];
        let mut inputs = Inputs::with_capacity(cycles.len());
        for _ in 0..2 {
            inputs.clear();
            for (at, ((req_valid, req_ready, rst_n), word)) in cycles.into_iter().enumerate() {
                let i = In { req_tag: at as u8, req_valid, rst_n, req_c: [word; MAX_LANES], ..In::default() };
                inputs.push(&i, &Out { req_ready, ..Out::default() });
            }
            let mut played = Vec::new();
            let stopped = inputs.play(|i| {
                played.push(i.req_c[MAX_LANES - 1]);
                if usize::from(i.req_tag) + 1 == cycles.len() { Err(i.req_tag) } else { Ok(()) }
            });
            assert_eq!((stopped, played), (Err(7), cycles.map(|(_, word)| word).to_vec()));
            assert_eq!((inputs.cycles(), inputs.offers()), (cycles.len(), 6));
        }
    }
}
