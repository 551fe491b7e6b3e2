//! Looking on while a kernel runs.

use atoms_model::port::{In, Out};

/// One instruction issued.
#[derive(Clone, Copy, Debug)]
pub struct Issue<'k> {
    /// Clock cycle, from 0.
    pub cycle: u64,
    /// Number of the CTA in the grid.
    pub cta: u32,
    /// Number of the warp in the CTA.
    pub warp: u32,
    /// Index of the instruction in the kernel.
    pub pc: u32,
    /// Lanes that take part, after the guard.
    pub mask: u32,
    /// The instruction as written.
    pub text: &'k str,
}

/// Is told what happens; every method does nothing unless overridden.
pub trait Observer {
    /// An instruction is issued.
    fn issue(&mut self, issue: &Issue<'_>) {
        let _ = issue;
    }

    /// Instruction `pc` takes, in the lanes of `mask`, a pending count from a state that no noComplete
    /// arrival gave, which PTX leaves undefined (spec 6.9).
    fn foreign_pending_count(&mut self, cycle: u64, pc: u32, mask: u32) {
        let _ = (cycle, pc, mask);
    }

    /// The port has taken the request in `inputs`, which instruction `pc` made.
    fn request(&mut self, cycle: u64, pc: u32, inputs: &In) {
        let _ = (cycle, pc, inputs);
    }

    /// The port has answered with `outputs`.
    fn response(&mut self, cycle: u64, outputs: &Out) {
        let _ = (cycle, outputs);
    }

    /// The port has woken a request with `outputs`.
    fn wake(&mut self, cycle: u64, outputs: &Out) {
        let _ = (cycle, outputs);
    }

    /// The cluster port has taken the request in `inputs`, which instruction `pc` made, or had made by a
    /// copy; `None` if that is no longer known.
    fn cluster_request(&mut self, cycle: u64, pc: Option<u32>, inputs: &In) {
        let _ = (cycle, pc, inputs);
    }

    /// The cluster port has answered with `outputs`.
    fn cluster_response(&mut self, cycle: u64, outputs: &Out) {
        let _ = (cycle, outputs);
    }
}

/// Looks away.
impl Observer for () {}
