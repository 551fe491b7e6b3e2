//! The program `atoms`.
//!
//! All of it is the library, which cargo compiles beside the crates that it uses: a program waits for them.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    atoms_cli::main()
}
