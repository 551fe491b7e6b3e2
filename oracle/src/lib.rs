//! The serial oracle: is there a one-at-a-time order of the lanes that explains what was observed?
//!
//! [`Checker`] holds the memory before a request. Given the request, the response and, where an
//! observer of the banks saw them, the words written, it accepts exactly what *some* order of the
//! lanes explains (spec 4.5; spec 5 for CAST.SPIN) and otherwise says which lanes contradict which
//! clause.
//! Of a unit whose policy is known, [`Checker::set_goes_first`], only the one order that it promises will do
//! (`explain/follow.rs`, spec 4.2).
//!
//! This is the third voice beside the hardware and its mirrored model. It shares no code with them
//! and knows nothing of pipelines: of banks only what spec 5.1 says, and how many passes a request takes
//! (`passes.rs`, spec 4.3).
//!
//! Hardly any search is needed. A lane that gives the old value is an edge from the value it got to the
//! value it left, so an order exists exactly if those edges form one Eulerian trail from the value
//! before (`explain/trail.rs`). Lanes without results either commute, or leave one of their operands, or count
//! up and down under a limit, where an order exists exactly if the limits cover certain slots
//! (`explain/counting.rs`). All of this is polynomial in the number of lanes.
//!
//! CAST.SPIN may select any lane of a bank group, but must be fair; that is judged over many requests
//! (`fairness.rs`, spec 5.4). Our unit has one right lane in each request, since policy and hold are known.
//!
//! An mbarrier object is two words with operations of their own (`mbarrier.rs`, spec 6). Arrivals that
//! give the state form a trail like the others. For those that do not, only the moments matter at which
//! a phase completes, and the one search there is goes through these (`mbarrier/arrivals.rs`), up to a
//! bound. [`Checker::accept`], [`Checker::wake`] and [`Checker::quiet`] judge the waits that are suspended through
//! other requests (`waits.rs`): woken too early, too late or never; of our unit, by the cycle ([`Checker::set_timed`], spec 6.12).

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
mod waits;

pub use checker::Checker;
pub use explain::trail::order_exists;
pub use kernel::lanes_commute;
pub use mbarrier::arrivals::MAX_STATES;
pub use memory::MAX_WORLDS;
pub use order::GoesFirst;
pub use passes::Merging;
pub use rejection::Rejection;
pub use request::{Allocation, Geometry, MAX_LANES, MAX_WORDS, RequestTiming, Response, SerialRequest};
pub use waits::{WAKE_CYCLES, WORK_OFF_CYCLES};
