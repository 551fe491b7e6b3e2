//! Lowers each instruction of a function on its own, for `atoms lower`.

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
    /// Names of the PTX registers in the instruction, each with the machine register that holds it.
    pub registers: Vec<(String, String)>,
    pub result: Result<Vec<String>, LoweringRefusal>,
}

/// Lowers every instruction of a function that has lowered machine code, in order.
///
/// `used` is `Some(true)` to lower as if the program reads every result, `Some(false)` as if it reads none.
/// With `None`, a result is used if another instruction of the function reads the register.
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
