//! Requests to the unit as values ([`request`]), its configurations ([`configs`]), and random requests.
//!
//! [`RandomStimulus`] draws requests where operations change behaviour, in bursts of conflict, with
//! back-pressure on every port; what it draws and how often is its [`Profile`]. [`RetryLoops`] asks whether
//! loops around CAST.SPIN end.

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
    /// Sets the inputs of the next cycle; `i` holds those of the cycle before. What was offered and
    /// not taken stays as it is.
    fn drive(&mut self, i: &mut In);

    /// Sees what the machine drove in the cycle of `i`.
    fn observe(&mut self, i: &In, out: &Out);

    /// Nothing is left to be driven; what is inside may still be on its way.
    fn finished(&self) -> bool;
}

/// Ends the handshakes of a cycle: what was taken is no longer offered. In a cycle of reset nothing is taken.
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
