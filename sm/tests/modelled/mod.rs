//! The cycle model behind the port.

use atoms_model::memory_port::word_index;
use atoms_model::port::{In, Out};
use atoms_model::{MemoryPort, Unit};
use std::convert::Infallible;

/// The cycle model behind the port.
pub(crate) struct ModelPort(pub(crate) Unit);

impl MemoryPort for ModelPort {
    type Error = Infallible;

    fn lanes(&self) -> u32 {
        self.0.config().num_lanes
    }

    fn rows(&self) -> u32 {
        self.0.config().num_rows
    }

    fn banks(&self) -> u32 {
        self.0.config().num_banks
    }

    fn cta_slots(&self) -> u32 {
        self.0.config().num_cta_slots
    }

    fn cycle(&mut self, inputs: &In) -> Result<Out, Infallible> {
        let out = *self.0.evaluate(inputs);
        self.0.tick(inputs);
        Ok(out)
    }

    fn word(&self, row: u32, bank: u32) -> u32 {
        self.0.memory()[word_index(self.0.config(), row, bank)]
    }
}
