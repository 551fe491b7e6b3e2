//! Tests that run the binary `atoms`.

#[path = "../src/args/mod.rs"]
#[allow(dead_code)] // these tests only use the definition; the commands read the fields
mod args;
mod command_line;
mod elsewhere;
mod every_command;
mod findings;
mod kernel_text;
mod recorded;
mod regress;
mod repro;
mod sync;
