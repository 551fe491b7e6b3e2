//! Inlining: replaces each call by the body of the called function, so that a kernel becomes one function.
//!
//! PTX passes arguments by value in `.param` variables (source: [PTX]). The variables that the caller has
//! filled become the parameters of the called function. Recursive functions cannot be inlined, so they are
//! refused.

use super::Fail;
use crate::ptx::{
    Base, Function, Label, LabelId, Module, Operand, PtxGuard, PtxInstruction, PtxRegister, RegId, Symbol,
    Variable,
};

const MOST_INSTRUCTIONS: usize = 1 << 20;

/// Functions that end the kernel with an error. `assert` of CUDA C++ calls them.
const FATAL: [&str; 2] = ["__assertfail", "__assert_fail"];

/// Numbers to add to the registers, labels, tables and variables of a called function, so that their indices
/// are unique in the kernel.
struct Names {
    registers: u32,
    labels: u32,
    tables: u32,
    variables: Vec<u32>,
}

struct Instance {
    names: Names,
    /// Label to which `ret` branches. `None` for the kernel itself, in which `ret` ends the thread.
    end: Option<LabelId>,
}

fn wrong<'t>(call: &PtxInstruction<'t>, message: impl Into<String>, help: impl Into<String>) -> Failed<'t> {
    (call.text, Fail::wrong(message, help))
}

struct Flattening<'a, 't> {
    module: &'a Module<'t>,
    registers: Vec<PtxRegister<'t>>,
    variables: Vec<Variable<'t>>,
    instructions: Vec<PtxInstruction<'t>>,
    labels: Vec<Label<'t>>,
    branch_targets: Vec<Vec<LabelId>>,
    /// Names of the functions that are being inlined, outermost first; used to find recursion.
    open: Vec<&'t str>,
}

pub(super) type Failed<'t> = (&'t str, Fail);

pub(super) fn flatten<'t>(module: &Module<'t>, kernel: &Function<'t>) -> Result<Function<'t>, Failed<'t>> {
    let mut flat = Flattening {
        module,
        registers: kernel.registers.clone(),
        variables: kernel.variables.clone(),
        instructions: Vec::new(),
        labels: kernel.labels.clone(),
        branch_targets: kernel.branch_targets.clone(),
        open: vec![kernel.name],
    };
    let variables = (0..kernel.variables.len() as u32).collect();
    let instance = Instance { names: Names { registers: 0, labels: 0, tables: 0, variables }, end: None };
    flat.put(kernel, &instance)?;
    let Flattening { registers, variables, instructions, labels, branch_targets, .. } = flat;
    Ok(Function { registers, variables, instructions, labels, branch_targets, ..kernel.clone() })
}

impl<'t> Flattening<'_, 't> {
    fn put(&mut self, function: &Function<'t>, instance: &Instance) -> Result<(), Failed<'t>> {
        let mut places = Vec::with_capacity(function.instructions.len() + 1);
        for instruction in &function.instructions {
            places.push(self.instructions.len() as u32);
            let failed = |fail: Fail| (instruction.text, fail);
            if self.instructions.len() >= MOST_INSTRUCTIONS {
                return Err(failed(Fail::wrong(
                    format!(
                        "the kernel has more than {MOST_INSTRUCTIONS} instructions with all called functions"
                    ),
                    "call fewer functions, or have the compiler inline less",
                )));
            }
            let named = instance.names.instruction(instruction);
            match (instruction.opcode, instance.end) {
                ("call", _) => self.call(&named)?,
                ("ret", Some(end)) => self.instructions.push(PtxInstruction {
                    opcode: "bra",
                    modifiers: Vec::new(),
                    operands: vec![Operand::Label(end)],
                    ..named
                }),
                _ => self.instructions.push(named),
            }
        }
        let end = self.instructions.len() as u32;
        let first = instance.names.labels as usize;
        for (label, of) in self.labels.iter_mut().skip(first).zip(&function.labels) {
            label.at = places.get(of.at as usize).copied().unwrap_or(end);
        }
        if let Some(LabelId(label)) = instance.end
            && let Some(label) = self.labels.get_mut(label as usize)
        {
            label.at = end;
        }
        Ok(())
    }

    fn call(&mut self, call: &PtxInstruction<'t>) -> Result<(), Failed<'t>> {
        let mut name = None;
        let (mut results, mut arguments) = (Vec::new(), Vec::new());
        for operand in &call.operands {
            match operand {
                Operand::List(list) if name.is_none() => results.extend_from_slice(list),
                Operand::List(list) => arguments.extend_from_slice(list),
                Operand::Symbol { symbol: Symbol::Function(index), .. } if name.is_none() => {
                    name = Some(*index as usize);
                }
                Operand::Register(_) if name.is_none() => {
                    let help = "call the function by its name: called functions are inlined";
                    return Err(wrong(call, "a call through a register is not supported", help));
                }
                _ => {}
            }
        }
        let Some(callee) = name.and_then(|index| self.module.functions.get(index)) else {
            return Err(wrong(call, "the call names no function", "write call (result), name, (argument);"));
        };
        // A function may have several declarations, but only one definition.
        let defined = self.module.functions.iter().find(|f| f.name == callee.name && f.defined);
        let Some(callee) = defined else {
            if FATAL.contains(&callee.name) {
                let trap =
                    PtxInstruction { opcode: "trap", modifiers: vec![], operands: vec![], ..call.clone() };
                self.instructions.push(trap);
                return Ok(());
            }
            let message = format!("the called function `{}` is not defined in this module", callee.name);
            return Err(wrong(call, message, "link the function into the module, or remove the call"));
        };
        if self.open.contains(&callee.name) {
            let help = "recursion is not supported, because called functions are inlined";
            return Err(wrong(
                call,
                format!("`{}` calls itself, directly or through other functions", callee.name),
                help,
            ));
        }
        let expected = (callee.params, callee.results);
        if (arguments.len(), results.len()) != expected {
            return Err(wrong(
                call,
                format!(
                    "`{}` is called with {} arguments and {} results",
                    callee.name,
                    arguments.len(),
                    results.len()
                ),
                format!("the function has {} parameters and {} results", callee.params, callee.results),
            ));
        }
        let mut variables = Vec::new();
        for operand in arguments.iter().chain(&results) {
            match operand {
                Operand::Symbol { symbol: Symbol::Local(index), offset: 0 } => variables.push(*index),
                _ => {
                    return Err(wrong(
                        call,
                        "an argument or result of the call is not a variable",
                        "pass .param variables, as compilers do: st.param.b32 [param0], %r1; call f, (param0);",
                    ));
                }
            }
        }
        for variable in callee.variables.iter().skip(callee.params + callee.results) {
            variables.push(self.variables.len() as u32);
            self.variables.push(variable.clone());
        }
        let names = Names {
            registers: self.registers.len() as u32,
            labels: self.labels.len() as u32,
            tables: self.branch_targets.len() as u32,
            variables,
        };
        let moved = |label: &LabelId| LabelId(label.0.saturating_add(names.labels));
        let tables = callee.branch_targets.iter().map(|table| table.iter().map(moved).collect());
        self.branch_targets.extend(tables);
        self.registers.extend(callee.registers.iter().cloned());
        self.labels.extend(callee.labels.iter().cloned());
        let end = LabelId(self.labels.len() as u32);
        self.labels.push(Label { name: callee.name, at: 0 });
        let skip = self.skip_unless(call);
        self.open.push(callee.name);
        self.put(callee, &Instance { names, end: Some(end) })?;
        self.open.pop();
        if let Some(LabelId(label)) = skip
            && let Some(label) = self.labels.get_mut(label as usize)
        {
            label.at = self.instructions.len() as u32;
        }
        Ok(())
    }

    fn skip_unless(&mut self, call: &PtxInstruction<'t>) -> Option<LabelId> {
        let guard = call.guard?;
        let label = LabelId(self.labels.len() as u32);
        self.labels.push(Label { name: "", at: 0 });
        self.instructions.push(PtxInstruction {
            guard: Some(PtxGuard { negate: !guard.negate, ..guard }),
            opcode: "bra",
            modifiers: Vec::new(),
            operands: vec![Operand::Label(label)],
            ..call.clone()
        });
        Some(label)
    }
}

impl Names {
    fn register(&self, RegId(id): RegId) -> RegId {
        RegId(id.saturating_add(self.registers))
    }

    fn symbol(&self, symbol: Symbol) -> Symbol {
        match symbol {
            Symbol::Local(index) => {
                Symbol::Local(self.variables.get(index as usize).copied().unwrap_or(u32::MAX))
            }
            other => other,
        }
    }

    fn instruction<'t>(&self, instruction: &PtxInstruction<'t>) -> PtxInstruction<'t> {
        PtxInstruction {
            guard: instruction.guard.map(|g| PtxGuard { register: self.register(g.register), ..g }),
            operands: instruction.operands.iter().map(|o| self.operand(o)).collect(),
            ..instruction.clone()
        }
    }

    fn operand<'t>(&self, operand: &Operand<'t>) -> Operand<'t> {
        let all = |operands: &[Operand<'t>]| operands.iter().map(|o| self.operand(o)).collect();
        match operand {
            Operand::Register(id) => Operand::Register(self.register(*id)),
            Operand::Not(id) => Operand::Not(self.register(*id)),
            Operand::Vector(operands) => Operand::Vector(all(operands)),
            Operand::List(operands) => Operand::List(all(operands)),
            Operand::Pair(pair) => Operand::Pair(Box::new([self.operand(&pair[0]), self.operand(&pair[1])])),
            Operand::Address { base, offset } => {
                let base = match *base {
                    Base::Register(id) => Base::Register(self.register(id)),
                    Base::Symbol(symbol) => Base::Symbol(self.symbol(symbol)),
                    Base::None => Base::None,
                };
                Operand::Address { base, offset: *offset }
            }
            Operand::Symbol { symbol, offset } => {
                Operand::Symbol { symbol: self.symbol(*symbol), offset: *offset }
            }
            Operand::Label(LabelId(label)) => Operand::Label(LabelId(label.saturating_add(self.labels))),
            Operand::Targets(table) => Operand::Targets(table.saturating_add(self.tables)),
            Operand::Special(_)
            | Operand::Integer(_)
            | Operand::Single(_)
            | Operand::Double(_)
            | Operand::Sink
            | Operand::Name(_) => operand.clone(),
        }
    }
}
