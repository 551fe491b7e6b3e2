//! Installs the pinned Yosys under the target folder, as `atoms explore cost` does, and prints the folder of packages that
//! Python finds it in.

#![allow(clippy::print_stdout, clippy::print_stderr)] // a program of its own, for people and scripts

use atoms_explore::cost::install_yosys;
use atoms_verilated::Environment;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (_, site) = install_yosys(&Environment::from_process(), &mut |step| eprintln!("{step}"))?;
    println!("{}", site.display());
    Ok(())
}
