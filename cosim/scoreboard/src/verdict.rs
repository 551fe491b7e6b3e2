//! Verdicts against an observation.

use std::fmt;

use atoms_monitor::WarpEntry;
use atoms_oracle::Rejection;

/// Port of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortName {
    /// Port of the warps of the CTAs that the unit serves.
    Warp,
    /// Port of requests from other CTAs of the cluster.
    Cluster,
}

impl PortName {
    pub(crate) const BOTH: [PortName; 2] = [PortName::Warp, PortName::Cluster];

    pub(crate) fn other(self) -> Self {
        match self {
            PortName::Warp => PortName::Cluster,
            PortName::Cluster => PortName::Warp,
        }
    }
}

impl fmt::Display for PortName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PortName::Warp => "warp",
            PortName::Cluster => "cluster",
        })
    }
}

/// Identity of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestName {
    /// Port that accepted the request.
    pub port: PortName,
    /// Number on this port, from 0, in order of acceptance, also across resets.
    pub number: u64,
    /// Tag of the request.
    pub tag: u8,
    /// Operation code, possibly undefined.
    pub op: u8,
    /// Mask of active lanes, lane 0 in bit 0.
    pub mask: u32,
    /// Cycle in which the port accepted the request.
    pub accepted: u64,
}

impl WarpEntry for RequestName {
    fn number(&self) -> u64 {
        self.number
    }

    fn tag(&self) -> u8 {
        self.tag
    }

    fn op(&self) -> u8 {
        self.op
    }
}

/// An observation that the oracle rejects or cannot decide ([`Rejection::is_undecided`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortVerdict {
    /// Request that the verdict is about. `None` for a CTA table write, a stray answer or the final memory.
    pub request: Option<RequestName>,
    /// Cycle of the rejected event.
    pub cycle: u64,
    /// Clause, lanes, values and text.
    pub rejection: Rejection,
}

impl PortVerdict {
    /// Lanes that are wrong, lane 0 in bit 0; the active lanes if the whole request is wrong.
    pub fn lanes(&self) -> u32 {
        let wrong = self.rejection.wrong_values().map_or(0, |values| values.lanes);
        if wrong == 0 { self.request.map_or(0, |request| request.mask) } else { wrong }
    }
}

impl fmt::Display for PortVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cycle {}: ", self.cycle)?;
        if let Some(RequestName { port, number, tag, .. }) = self.request {
            write!(f, "{port} request {number}, tag {tag}: ")?;
        }
        self.rejection.fmt(f)
    }
}

impl std::error::Error for PortVerdict {}
