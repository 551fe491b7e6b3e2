//! A regression as it runs: the [`session`] of one process, its [`scheduler`], the [`worker`]s with their
//! [`journal`], the [`supervisor`] that starts the process again when it dies, and the output folder ([`store`]).

pub mod journal;
pub mod origin;
pub mod processes;
pub mod result;
pub mod scheduler;
pub mod session;
pub mod state;
pub mod store;
pub mod supervisor;
pub mod timing;
pub mod totals;
pub mod worker;
