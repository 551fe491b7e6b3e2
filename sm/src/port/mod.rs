//! The core's side of the unit's ports.

mod cluster;
mod copy;
mod cta_table;
mod request;
mod transfer;

pub(crate) use cluster::ClusterPort;
pub(crate) use copy::{Action, Asker, Completion, CopyEngine, Data, Payload};
pub(crate) use cta_table::{AllocationTable, Verdict};
pub(crate) use request::{Address, Request, RequestOperands, gather, scatter};
pub(crate) use transfer::{Answer, Origin, Reply, Transfer};
