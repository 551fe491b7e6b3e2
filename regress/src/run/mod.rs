//! Running a regression. One process has a [`session`], a [`scheduler`], and [`worker`]s with their
//! [`journal`]. The [`supervisor`] restarts the process when it dies. The output folder is in [`store`].

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
