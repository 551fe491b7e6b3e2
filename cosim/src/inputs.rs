//! Compact list of the inputs of consecutive cycles.
//!
//! Operands of the lanes are nearly all of the data. The list stores them once for each request: stored in
//! every cycle, a few cycles would fill the processor's cache. An offered request does not change until it is
//! accepted or a reset comes (spec 4.8). The RTL reads the operands when it accepts the request, so the list
//! checks for a change only then.

use atoms_model::port::{In, InScalars, MAX_LANES, Out, Probe};

/// Outputs and probe of a machine in its last cycle.
#[derive(Clone, Debug, Default)]
pub struct LastCycle {
    /// Outputs before the clock edge.
    pub out: Out,
    /// Probe before the clock edge.
    pub probe: Probe,
    /// Number of cycles run.
    pub cycles: u64,
}

/// Inputs of consecutive cycles.
#[derive(Debug, Default)]
pub struct Inputs {
    cycles: Vec<Cycle>,
    lanes: Vec<Lanes>,
    /// True if the warp request of the last cycle was not accepted and is still offered.
    stays: bool,
}

#[derive(Debug)]
struct Cycle {
    scalars: InScalars,
    /// True if operands are stored for this cycle: the request is new, or its operands changed before it was
    /// accepted.
    offers: bool,
}

#[derive(Debug)]
struct Lanes {
    ra: [u32; MAX_LANES],
    b: [u128; MAX_LANES],
    c: [u128; MAX_LANES],
}

impl Inputs {
    /// Creates an empty list with room for `cycles` cycles.
    pub fn with_capacity(cycles: usize) -> Self {
        Inputs { cycles: Vec::with_capacity(cycles), ..Inputs::default() }
    }

    /// Returns the number of cycles.
    pub fn cycles(&self) -> usize {
        self.cycles.len()
    }

    /// Returns the number of stored sets of lane operands.
    pub fn offers(&self) -> usize {
        self.lanes.len()
    }

    /// Removes all cycles from the list.
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

    /// Calls `cycle` with the inputs of each cycle in order, until a call fails.
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

    /// Checks that cycles are played back as pushed. The list stores the lanes of an offer once, until the
    /// offer is taken or a reset comes. The lanes are stored again if they change before the offer is taken.
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
