//! Tests of the core: instructions, kernels, race detection.

mod barriers;
mod collective;
mod corpus;
mod deadlocks;
mod differential;
mod early;
mod errors;
mod fill;
mod forms;
mod functional;
mod instructions;
mod kernels;
mod lowering;
mod mutations;
mod outcomes;
mod ptx;
mod ptx_rows;
mod races;
mod reach;
mod single;
mod split_atomics;
mod threads;
mod vectors;
mod written;
