//! Measures a table of cells, such as `explore/data/cells.toml`.
//!
//! - `cargo run -p atoms-explore --example cells TABLE.toml` measures all points of the table again. The
//!   built-in table takes about an hour on two cores.
//! - With configurations after the table (`small`, or `small,num_banks=8`), the example adds these points to
//!   the table, or creates the table.
//!
//! `ATOMS_LIBERTY` names the library of cells.

#![allow(clippy::print_stdout, clippy::print_stderr)] // a command-line program, which may print

use std::path::PathBuf;
use std::time::Duration;

use atoms_cosim::embedded::rtl_dir;
use atoms_explore::cost::{
    BUILT_IN, CellTable, CostQuestion, CostTools, MappingGoal, ToolChoice, UnitCost, measure,
};
use atoms_stimulus::configs::{self, NamedConfig};
use atoms_verilated::{Cache, Environment};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args();
    let path: PathBuf = args.nth(1).ok_or("expected TABLE.toml")?.into();
    let env = Environment::from_process();
    let tools = CostTools::find(&env, &ToolChoice::from_process(), &mut |step| eprintln!("{step}"))?;
    let (rtl_dir, cache) = (rtl_dir(), Cache::new(&env));
    let old = if path.exists() {
        CellTable::read(&path)?
    } else {
        CellTable { points: Vec::new(), ..BUILT_IN.clone() }
    };
    let goal = MappingGoal { period_ns: old.period_ns, limit: Duration::from_secs(3600) };
    let measured = |config: &NamedConfig,
                    modules: &[String]|
     -> Result<UnitCost, Box<dyn std::error::Error>> {
        let question = CostQuestion { modules, table: &old, ..CostQuestion::whole(&rtl_dir, config) };
        let cost = measure(&question, &tools, &cache, goal, &|step| eprintln!("{}: {step:?}", config.name))?;
        println!("{}: {} modules", config.name, cost.modules.len());
        Ok(cost)
    };
    let added: Vec<String> = args.collect();
    let mut new =
        if added.is_empty() { CellTable { points: Vec::new(), ..old.clone() } } else { old.clone() };
    for name in &added {
        let config = configs::named(&rtl_dir, name)?;
        new.record(&path, &measured(&config, &[])?.to_table(&config))?;
    }
    for point in old.points.iter().filter(|_| added.is_empty()) {
        let config = NamedConfig {
            name: point.name.clone(),
            about: String::new(),
            config: point.config()?,
            unit: None,
        };
        // A point without a unit path has only some modules. Measure these again.
        let modules: Vec<String> =
            if point.path_ns.is_some() { Vec::new() } else { point.modules.keys().cloned().collect() };
        new.record(&path, &measured(&config, &modules)?.to_table(&config))?;
    }
    fs_err::write(&path, new.to_text())?;
    Ok(())
}
