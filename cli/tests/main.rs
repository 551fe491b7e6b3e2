//! The binary `atoms`, run as its users run it.

#[path = "../src/args/mod.rs"]
#[allow(dead_code)] // the commands read the fields; here only the definition counts
mod args;
mod command_line;
mod elsewhere;
mod every_command;
mod kernel_text;
mod regress;
mod repro;
