//! The oracle: what it accepts, what it rejects, and the trace format.

mod acceptance;
mod brute_force;
mod declared;
mod objects;
mod order;
mod passes;
mod posted;
mod rejections;
mod serial;
mod suspended;
mod traces;
mod waits;
