#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! Requests to the unit as values ([`request`]), its configurations ([`configs`]), and random requests.
//!
//! [`RandomStimulus`] draws requests with values at which operations change behaviour, with conflicts, and
//! with back-pressure on every port. Its [`Profile`] sets what is drawn and how often. [`RetryLoops`] checks
//! that loops around CAST.SPIN end.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod barriers;
mod choose;
mod cluster;
pub mod configs;
mod follow;
mod objects;
mod profile;
mod random;
pub mod request;
mod retry;
mod step;
mod tags;
pub mod unit;
mod warp;

use atoms_model::port::{In, Out};

pub use objects::MAX_OBJECTS;
pub use profile::pace::Pace;
pub use profile::values::Values;
pub use profile::weights::{Choice, ProfileKey, Share, Span, Weights};
pub use profile::{
    Barriers, Faults, Form, Immediate, Lanes, Limit, ObjectSharing, Paces, Profile, Scale, Spread,
    UnknownProfile, Wait,
};
pub use random::RandomStimulus;
pub use retry::RetryLoops;
pub use tags::Tags;

/// Drives the inputs of a machine, cycle by cycle.
pub trait Stimulus {
    /// Sets the inputs of the next cycle. On entry, `i` has the inputs of the previous cycle. A request that
    /// was offered but not accepted must stay unchanged.
    fn drive(&mut self, i: &mut In);

    /// Observes the outputs of the machine in the cycle with inputs `i`.
    fn observe(&mut self, i: &In, out: &Out);

    /// True if nothing is left to drive. Requests may still be in flight.
    fn finished(&self) -> bool;
}

/// Completes the handshakes of a cycle: clears the valid of each accepted request. In a reset cycle nothing
/// is accepted.
pub fn complete_handshakes(i: &mut In, out: &Out) {
    if i.rst_n == 0 {
        return;
    }
    i.req_valid &= 1 - out.req_ready;
    i.cl_valid &= 1 - out.cl_ready;
    i.cta_valid &= 1 - out.cta_ready;
}

#[cfg(test)]
mod tests;
