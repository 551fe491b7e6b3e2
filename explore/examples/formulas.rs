//! Prints the formulas that `atoms explore cost` fits to a table of cells.
//!
//! `cargo run -p atoms-explore --example formulas [TABLE.toml]`; default: the built-in table.

#![allow(clippy::print_stdout)] // a command-line program, which may print

use std::path::Path;

use atoms_explore::cost::{BUILT_IN, CellTable, FittedFormula};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let read = std::env::args().nth(1).map(|path| CellTable::read(Path::new(&path))).transpose()?;
    let table = read.as_ref().unwrap_or(&BUILT_IN);
    println!("fitted to {} points of {}; area in GE, path in FO4", table.points.len(), table.tools.library);
    for FittedFormula { of, figure, formula, points, left_out_error } in table.formulas() {
        let error = left_out_error.map_or("+-?".to_string(), |error| format!("+-{:.0} %", 100.0 * error));
        println!("{of} {figure}, {points} points, leave-one-out error {error}: {formula}");
    }
    Ok(())
}
