#![doc = include_str!("../README.md")]
//!
//! # Design
//!
//! [`Checker`] holds the memory before a request. It gets the request, the response and, if the banks were
//! observed, the words written. It accepts exactly the observations that *some* order of the lanes explains
//! (spec 4.5; spec 5 for CAST.SPIN). Otherwise it reports the lanes and the clause that they break.
//! For a unit with a known winner policy ([`Checker::set_goes_first`]) only the order of that policy is
//! accepted (`explain/follow.rs`, spec 4.2).
//!
//! The oracle is independent of the hardware and of its mirrored model. It shares no code with them and has
//! no pipeline. Of banks it knows only the groups of spec 5.1 and the number of passes of a request
//! (`passes.rs`, spec 4.3).
//!
//! The oracle needs almost no search. A lane that returns the old value is an edge from the value that it got
//! to the value that it left. An order exists exactly if these edges form an Eulerian trail that starts at
//! the value before (`explain/trail.rs`).
//! Lanes without results fall into three kinds: they commute, they leave one of their operands, or they count
//! up and down under a limit. For the last kind an order exists exactly if the limits cover certain slots
//! (`explain/counting.rs`). All of this is polynomial in the number of lanes.
//!
//! CAST.SPIN may select any lane of a bank group, but must be fair. Fairness is judged over many requests
//! (`fairness.rs`, spec 5.4). For this project's unit the policy and `spin_hold` are known, so that each
//! request has exactly one correct lane.
//!
//! An mbarrier object is two words with operations of their own (`mbarrier/mod.rs`, spec 6). Arrivals that
//! return the state form a trail too. For other arrivals only the points at which a phase completes matter.
//! The only search of the oracle covers these points, up to a bound (`mbarrier/arrivals.rs`).
//! [`Checker::accept`], [`Checker::wake`] and [`Checker::quiet`] judge suspended waits across other requests
//! (`waits.rs`): woken too early, too late or never. For this project's unit the exact cycle is judged
//! ([`Checker::set_timed`], spec 6.12).

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod access;
mod checker;
mod explain;
mod fairness;
mod given;
mod kernel;
mod lanes;
mod mbarrier;
mod memory;
mod order;
mod passes;
mod rejection;
mod request;
mod table;
mod waits;

pub use access::faults;
pub use checker::Checker;
pub use explain::trail::order_exists;
pub use kernel::lanes_commute;
pub use mbarrier::arrivals::MAX_STATES;
pub use memory::MAX_WORLDS;
pub use order::GoesFirst;
pub use passes::Merging;
pub use rejection::{RejectedValues, Rejection};
pub use request::{Allocation, Geometry, MAX_LANES, MAX_WORDS, RequestTiming, Response, SerialRequest};
pub use waits::{WAKE_CYCLES, WORK_OFF_CYCLES};
