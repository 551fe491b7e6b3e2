//! Tests of the oracle: accepted and rejected observations.

mod acceptance;
mod brute_force;
mod objects;
mod order;
mod passes;
mod port_orders;
mod posted;
mod rejections;
mod serial;
mod suspended;
mod waits;
