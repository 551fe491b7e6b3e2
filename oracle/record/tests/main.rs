//! Tests of the trace format.

mod declared;
#[allow(dead_code)] // the tests of this crate use only a part
#[path = "../../tests/serial/mod.rs"]
mod serial;
mod traces;
