//! Measures the points of a table of cells anew, with the RTL and the tools of now:
//! `cargo run -p atoms-explore --example cells explore/data/cells.toml`. Takes the better part of an hour on two cores.

#![allow(clippy::print_stdout, clippy::print_stderr)] // a program of its own, for people

use std::path::PathBuf;
use std::time::Duration;

use atoms_cosim::configs::{self, NamedConfig};
use atoms_explore::cost::{CellTable, CostQuestion, CostTools, MappingGoal, ToolChoice, measure};
use atoms_verilated::{Cache, Environment};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path: PathBuf = std::env::args_os().nth(1).ok_or("expected a table")?.into();
    let old = CellTable::read(&path)?;
    let env = Environment::from_process();
    let tools = CostTools::find(&env, &ToolChoice::from_process(), &mut |step| eprintln!("{step}"))?;
    let goal = MappingGoal { period_ns: old.period_ns, limit: Duration::from_secs(3600) };
    let (rtl_dir, cache) = (configs::rtl_dir(), Cache::new(&env));
    let mut new = CellTable { points: Vec::new(), ..old.clone() };
    for point in &old.points {
        let config = NamedConfig { name: point.name.clone(), about: String::new(), config: point.config()? };
        // Of a point that was not timed as a whole, the same modules.
        let modules: Vec<String> =
            if point.path_ns.is_some() { Vec::new() } else { point.modules.keys().cloned().collect() };
        let question =
            CostQuestion { modules: &modules, table: &old, ..CostQuestion::whole(&rtl_dir, &config) };
        let cost = measure(&question, &tools, &cache, goal, &|step| eprintln!("{}: {step:?}", point.name))?;
        new.record(&path, &cost.to_table(&config))?;
        println!("{}: {} modules", point.name, cost.modules.len());
    }
    fs_err::write(&path, new.to_text())?;
    Ok(())
}
