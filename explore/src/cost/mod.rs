//! What the unit costs in standard cells: area and slowest path of each module, and the clock of the whole.
//!
//! Yosys maps each module alone to the cells of a Liberty library, and OpenSTA times them: each alone, and all of them
//! linked, which is what the clock follows from. What was measured is kept by the structure of the module, so that points
//! of a sweep share what they have in common; what was not is fitted to a table of points that were ([`CellTable`]), and
//! marked. `docs/cost.md` says what is counted and what is not.

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
