//! Cost of the unit in standard cells: area and slowest path of each module, and clock of the unit.
//!
//! Yosys maps each module alone to the cells of a Liberty library. OpenSTA times each module alone, and all
//! modules linked, which gives the clock. Results are cached by the structure of the module, so points of a
//! sweep share equal modules. A module that is not measured gets a marked estimate, fitted to a table of
//! measured points ([`CellTable`]). `docs/cost.md` says what is counted and what is not.

mod fit;
mod formulas;
mod liberty;
mod mapping;
mod netlist;
mod paths;
mod table;
mod text;
mod tools;
mod unit;

#[cfg(test)]
mod tests;

pub use mapping::{CellFigures, MappingGoal};
pub use paths::PathEnd;
pub use table::{BUILT_IN, CellPoint, CellTable, FittedFormula, sources_hash};
pub use text::module_table;
pub use tools::{CostError, CostTools, ToolChoice, ToolIdentity, install_yosys};
pub use unit::{
    CostQuestion, CostStep, FigureOrigin, MEMORY_BIT, MemoryCost, ModuleCost, ModulePath, UnitCost, UnitPath,
    estimate, measure, measure_source,
};
