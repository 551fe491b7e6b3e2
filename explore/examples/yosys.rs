//! Installs the pinned Yosys under the target folder, as `atoms explore cost` does. Prints the folder of
//! packages in which Python finds Yosys.

#![allow(clippy::print_stdout, clippy::print_stderr)] // a command-line program, which may print

use atoms_explore::cost::install_yosys;
use atoms_verilated::Environment;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (_, site) = install_yosys(&Environment::from_process(), &mut |step| eprintln!("{step}"))?;
    println!("{}", site.display());
    Ok(())
}
