//! Tests of the trace format.

mod declared;
#[allow(dead_code)] // tests of the oracle alone use some of it
#[path = "../../tests/serial/mod.rs"]
mod serial;
mod traces;
