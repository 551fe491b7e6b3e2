//! Entry point of the program `atoms`.
//!
//! All code is in the library. Cargo compiles the library in parallel with its users, but a binary waits for
//! its libraries.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    atoms_cli::main()
}
