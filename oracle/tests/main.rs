//! The oracle: what it accepts and what it rejects.

mod acceptance;
mod brute_force;
mod objects;
mod order;
mod passes;
mod posted;
mod rejections;
mod serial;
mod suspended;
mod waits;
