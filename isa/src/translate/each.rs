//! Lowers each instruction of a function separately, for display.

use super::flow::registers::{read, written};
use super::layout;
use super::write;
use crate::arch::Arch;
use crate::lower::{LoweringRefusal, lower};
use crate::ptx::{Function, Module, PtxInstruction, RegId};
use std::collections::HashSet;

#[derive(Clone, Debug, PartialEq)]
pub struct Lowered<'a, 't> {
    pub instruction: &'a PtxInstruction<'t>,
    pub used: bool,
    /// PTX registers that the instruction names, with the machine registers that hold them.
    pub registers: Vec<(String, String)>,
    pub result: Result<Vec<String>, LoweringRefusal>,
}

/// Lowers every instruction of a function that is not interpreted, in order. `used` states if results count
/// as used. With `None` a result is used if another instruction reads it.
pub fn lowered<'a, 't>(
    module: &Module<'t>,
    function: &'a Function<'t>,
    arch: Arch,
    used: Option<bool>,
) -> Vec<Lowered<'a, 't>> {
    let places = layout::kernel_variables(module, function, arch, &layout::module_variables(module));
    let mut frame = write::frame(function, &places.homes);
    let reads: HashSet<RegId> = function.instructions.iter().flat_map(read).collect();
    let mut all = Vec::new();
    for instruction in &function.instructions {
        frame.begin();
        let used = used.unwrap_or_else(|| written(instruction).iter().any(|id| reads.contains(id)));
        let Some(result) = lower(module, function, instruction, used, arch, &mut frame) else { continue };
        let mut registers: Vec<(String, String)> = Vec::new();
        for id in written(instruction).into_iter().chain(read(instruction)) {
            let name = function.registers.get(id.0 as usize).map(|r| r.name.to_string());
            if let (Some(name), Some(place)) = (name, frame.name_of(id))
                && !registers.iter().any(|(known, _)| *known == name)
            {
                registers.push((name, place));
            }
        }
        all.push(Lowered { instruction, used, registers, result });
    }
    all
}
