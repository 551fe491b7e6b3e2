//! Scoreboard for a testbench: takes requests and answers as its monitors see them at the ports of a unit, and
//! judges them with the oracle.
//!
//! [`PortScoreboard`] needs no probe, no fixed latency and no fixed number of passes. Requests of one port
//! execute in the order of acceptance (spec 4.6). The order between the two ports is not visible at the ports.
//! If the order of two requests in flight matters, the scoreboard follows every possible order, and rejects an
//! answer only if no order explains it. With [`PortScoreboard::set_observed`] the testbench reports the order
//! and the words written, and the scoreboard follows only this order.
//!
//! A verdict may come late: a request is judged once every request whose order matters has its answer.
//! [`PortScoreboard::finish`] judges the rest.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod arguments;
mod item;
mod judge;
mod scoreboard;
mod serial;
mod verdict;

pub use scoreboard::{ClusterResponse, PortScoreboard, WarpResponse, foreign_header, header_of};
pub use serial::{put_cluster, put_warp};
pub use verdict::{PortName, PortVerdict, RequestName};
