//! The serial oracle: is there a one-at-a-time order of the lanes that explains what was observed?
//!
//! [`Checker`] holds the memory before a request. Given the request, the response and, where an
//! observer of the banks saw them, the words written, it accepts exactly what *some* order of the
//! lanes explains (spec 4.5; spec 5 for CAST.SPIN) and otherwise says which lanes contradict which
//! clause. [`trace`] reads and writes recordings, our own or those of another simulator or a GPU.
//!
//! This is the third voice beside the hardware and its mirrored model. It shares no code with them
//! and knows nothing of passes, pipelines or winners: of the banks only what spec 5.1 says.
//!
//! No search is needed. A lane that gives the old value is an edge from the value it got to the value
//! it left, so an order exists exactly if those edges form one Eulerian trail from the value before
//! (`trail.rs`). Lanes without results either commute, or leave one of their operands, or count
//! up and down under a limit, where an order exists exactly if the limits cover certain slots
//! (`counting.rs`). All of it is polynomial in the number of lanes.

#![forbid(unsafe_code)]

mod access;
mod checker;
mod counting;
mod explain;
mod kernel;
mod rejection;
mod request;
pub mod trace;
mod trail;
mod worlds;

pub use checker::Checker;
pub use rejection::{FaultReport, Lanes, NoWrite, Rejection};
pub use request::{Geometry, MAX_LANES, MAX_WORDS, Part, Request, Response};
pub use worlds::MAX_WORLDS;
