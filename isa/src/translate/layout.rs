//! Assignment of addresses to variables.

use super::unit::Home;
use crate::arch::Arch;
use crate::kernel::program::{KernelParam, ModuleVariable, SharedVariable};
use crate::ptx::{
    CONSTANTS, Function, GLOBALS, Initial, Module, Operand, PtxInstruction, StateSpace, Symbol, Variable,
};
use std::collections::{HashMap, HashSet};

const MOST_BYTES: u64 = 1 << 28;

/// Gap in bytes between two variables, so that an access beyond the end of one does not reach the next.
const GAP: u64 = 256;

/// Addresses and initial values of the module's variables, before a kernel runs.
#[derive(Default)]
pub(super) struct Layout {
    homes: HashMap<Symbol, Home>,
    pub(super) variables: Vec<ModuleVariable>,
}

pub(super) fn module_variables(module: &Module<'_>) -> Layout {
    let mut layout = Layout::default();
    let mut next = [GLOBALS.start, CONSTANTS.start];
    let mut total = 0_u64;
    for (index, variable) in module.variables.iter().enumerate() {
        let next = match variable.space {
            StateSpace::Global => &mut next[0],
            StateSpace::Const => &mut next[1],
            _ => continue,
        };
        // An external variable gets no address, and an instruction that names it is refused.
        let Some(bytes) = variable.bytes().filter(|_| !variable.external) else { continue };
        total = total.saturating_add(bytes);
        if total > MOST_BYTES {
            continue;
        }
        let address = next.next_multiple_of(u64::from(variable.align.max(1)).max(GAP));
        *next = address + bytes + GAP;
        layout.homes.insert(Symbol::Module(index as u32), Home::Global(address));
    }
    for (index, variable) in module.variables.iter().enumerate() {
        let Some(Home::Global(address)) = layout.homes.get(&Symbol::Module(index as u32)) else { continue };
        let bytes = layout.initial(module, variable);
        let constant = variable.space == StateSpace::Const;
        layout.variables.push(ModuleVariable {
            name: variable.name.into(),
            address: *address,
            bytes,
            constant,
        });
    }
    layout
}

impl Layout {
    fn initial(&self, module: &Module<'_>, variable: &Variable<'_>) -> Vec<u8> {
        let mut bytes = vec![0; variable.bytes().unwrap_or(0) as usize];
        let element = (variable.ty.bits().div_ceil(8) as usize).max(1);
        for (value, place) in variable.initial.iter().zip(bytes.chunks_mut(element)) {
            let bits = match value {
                Initial::Bits(bits) => *bits,
                Initial::Address { symbol, offset, .. } => {
                    let found = module.variables.iter().position(|v| v.name == *symbol);
                    let home = found.and_then(|at| self.homes.get(&Symbol::Module(at as u32)));
                    match home {
                        Some(Home::Global(address)) => address.wrapping_add(*offset as u64),
                        _ => *offset as u64,
                    }
                }
            };
            let little = u128::from(bits).to_le_bytes();
            place.iter_mut().zip(little).for_each(|(to, from)| *to = from);
        }
        bytes
    }
}

pub(super) struct KernelLayout {
    pub(super) homes: HashMap<Symbol, Home>,
    /// Size of static shared memory in bytes. It is also the offset of dynamic shared arrays.
    pub(super) shared: u32,
    pub(super) local: u32,
    pub(super) params: Vec<KernelParam>,
    /// Variables in shared memory that have a size.
    pub(super) variables: Vec<SharedVariable>,
}

/// Assigns addresses to the variables of a kernel after inlining.
///
/// Shared variables are in order of declaration, with their alignment. The module's shared variables that the
/// kernel names come before those of the kernel. Arrays without a size come last.
pub(super) fn kernel_variables(
    module: &Module<'_>,
    function: &Function<'_>,
    arch: Arch,
    layout: &Layout,
) -> KernelLayout {
    let mut homes = layout.homes.clone();
    let named: HashSet<Symbol> = function.instructions.iter().flat_map(symbols).collect();
    let of_module = module.variables.iter().enumerate().map(|(i, v)| (Symbol::Module(i as u32), v));
    let of_kernel = function.variables.iter().enumerate().map(|(i, v)| (Symbol::Local(i as u32), v));
    let mut shared = 0_u32;
    let mut local = 0_u32;
    let mut param = 0_u32;
    let (mut params, mut variables) = (Vec::new(), Vec::new());
    let mut open: Vec<(Symbol, u32)> = Vec::new();
    for (symbol, variable) in of_module.chain(of_kernel) {
        let align = variable.align.max(1);
        let bytes = variable.bytes().and_then(|b| u32::try_from(b).ok());
        let of_kernel = matches!(symbol, Symbol::Local(i) if (i as usize) < function.params);
        match (variable.space, bytes) {
            (StateSpace::Param, Some(bytes)) if of_kernel => {
                param = param.saturating_add(align - 1) / align * align;
                homes.insert(symbol, Home::Param(arch.param_base().saturating_add(param)));
                params.push(KernelParam { name: variable.name.into(), offset: param, bytes });
                param = param.saturating_add(bytes);
            }
            (StateSpace::Shared, None) if named.contains(&symbol) => open.push((symbol, align)),
            (StateSpace::Shared, Some(bytes))
                if matches!(symbol, Symbol::Local(_)) || named.contains(&symbol) =>
            {
                shared = shared.saturating_add(align - 1) / align * align;
                let address = arch.shared_origin().saturating_add(shared);
                homes.insert(symbol, Home::Shared(address));
                variables.push(SharedVariable { name: variable.name.into(), address, bytes });
                shared = shared.saturating_add(bytes);
            }
            (StateSpace::Local | StateSpace::Param, Some(bytes)) => {
                let align = align.max(4);
                local = local.saturating_add(align - 1) / align * align;
                homes.insert(symbol, Home::Local(local));
                local = local.saturating_add(bytes);
            }
            _ => {}
        }
    }
    // All arrays without a size have the same offset. It is a multiple of 4 bytes, because the shared-memory
    // unit works on words.
    let align = open.iter().map(|(_, align)| *align).max().unwrap_or(1).max(4);
    shared = shared.saturating_add(align - 1) / align * align;
    for (symbol, _) in open {
        homes.insert(symbol, Home::Shared(arch.shared_origin().saturating_add(shared)));
    }
    KernelLayout { homes, shared, local, params, variables }
}

fn symbols(i: &PtxInstruction<'_>) -> Vec<Symbol> {
    fn of(operand: &Operand<'_>, found: &mut Vec<Symbol>) {
        match operand {
            Operand::Symbol { symbol, .. } => found.push(*symbol),
            Operand::Address { base: crate::ptx::Base::Symbol(symbol), .. } => found.push(*symbol),
            Operand::Vector(operands) | Operand::List(operands) => operands.iter().for_each(|o| of(o, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    i.operands.iter().for_each(|o| of(o, &mut found));
    found
}
