//! Native part of the Python package `atoms`: the scoreboard, model and stimulus, runs of kernels, lowering, measurements.
//!
//! The docstrings of this crate are the Python documentation; their examples run as doctests.

#![forbid(unsafe_code)]

mod array;
mod event;
mod pins;
mod run;
mod scoreboard;
mod verdict;

use std::collections::BTreeMap;

use atoms_model::port::{In, Out};
use atoms_ops::{Op, Size};
use pyo3::prelude::*;

/// Reference for the shared-memory atomic unit of a GPU.
#[pymodule]
fn _atoms(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let python = module.py();
    module.add_class::<scoreboard::NativeScoreboard>()?;
    module.add_class::<pins::NativeModel>()?;
    module.add_class::<pins::NativeStimulus>()?;
    module.add_class::<pins::NativeCoverage>()?;
    module.add("INPUTS", pins::ports(python, In::FIELDS, "_i")?)?;
    module.add("OUTPUTS", pins::ports(python, Out::FIELDS, "_o")?)?;
    module.add("Rejected", python.get_type::<verdict::Rejected>())?;
    module.add("Undecided", python.get_type::<verdict::Undecided>())?;
    module.add_function(wrap_pyfunction!(run::run, module)?)?;
    module.add_function(wrap_pyfunction!(run::lower, module)?)?;
    module.add_function(wrap_pyfunction!(run::explore, module)?)?;
    let ops: BTreeMap<_, _> = Op::ALL.iter().map(|op| (op.to_string(), *op as u8)).collect();
    let sizes: BTreeMap<_, _> = Size::ALL.iter().map(|size| (size.to_string(), *size as u8)).collect();
    module.add("OPS", ops)?;
    module.add("SIZES", sizes)
}
