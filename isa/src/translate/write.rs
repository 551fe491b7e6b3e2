//! Translation of one kernel to machine code.

use super::flow::Flow;
use super::flow::registers::read;
use super::layout::{self, Layout};
use super::ordering;
use super::unit::{CodeLabel, Emitted, FunctionUnit, Home, Output, imm, word};
use super::{Fail, Mods, inline};
use crate::arch::Arch;
use crate::kernel::compute::{BoolOp, Compare, ComputeOp, FloatCompare, IntOp};
use crate::kernel::control::{Control, ProxySpace};
use crate::kernel::instruction::{Guard, Instruction, Operation};
use crate::kernel::order::Ordering;
use crate::kernel::program::{Kernel, SourceLine, SourcePosition};
use crate::kernel::register::{BarrierRegister, Pred, PredSource};
use crate::kernel::special::SpecialRegister;
use crate::lower::{self, Frame};
use crate::ptx::{Function, Module, Operand, PtxInstruction, RegId, Symbol, Type};
use crate::sass::assemble;
use atoms_ops::Op;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Convergence barrier at which threads reconverge after an instruction that is lowered to several and has a
/// guard.
const GUARD_BARRIER: BarrierRegister = BarrierRegister(3);

/// Maximum number of registers of a thread that lowered code can use.
const MOST_REGISTERS: u16 = 0xff00;

type Problem<'t> = (&'t str, String, String);

pub(super) fn kernel<'t>(
    module: &Module<'t>,
    kernel: &Function<'t>,
    arch: Arch,
    layout: &Layout,
) -> Result<Kernel, Vec<Problem<'t>>> {
    let flat = inline::flatten(module, kernel).map_err(|(text, fail)| match fail {
        Fail::Unsupported => {
            vec![(
                text,
                "the instruction is not supported".to_string(),
                "use another instruction".to_string(),
            )]
        }
        Fail::Wrong(message, help) => vec![(text, message, help)],
    })?;
    let places = layout::kernel_variables(module, &flat, arch, layout);
    let frame = frame(&flat, &places.homes);
    let mut unit = FunctionUnit {
        module,
        function: &flat,
        arch,
        frame,
        homes: places.homes,
        code: Vec::new(),
        places: Vec::new(),
        line: kernel.line,
        text: String::new(),
        mnemonic: String::new(),
        position: None,
        guard: PredSource::TRUE,
        ordering: None,
        wants_shared_base: false,
        invalidates: false,
    };
    let flow = Flow::new(&flat);
    let mut writer = Writer::new(&mut unit, &flow);
    let mut problems = Vec::new();
    for (index, i) in flat.instructions.iter().enumerate() {
        if let Err(fail) = writer.instruction(index, i) {
            match fail {
                Fail::Unsupported => writer.unit.emit(Operation::Unsupported),
                Fail::Wrong(message, help) => problems.push((i.text, message, help)),
            }
        }
    }
    writer.end();
    if unit.frame.registers() >= MOST_REGISTERS {
        let text = flat.instructions.first().map_or("", |i| i.text);
        let message = format!("kernel `{}` has more than {MOST_REGISTERS} registers", kernel.name);
        problems.push((text, message, "compile it with optimization".into()));
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let mut done = finish(unit, kernel);
    done.shared = Some(places.shared);
    done.local = places.local;
    done.params = Some(places.params);
    done.shared_variables = places.variables;
    done.variables.clone_from(&layout.variables);
    Ok(done)
}

/// Returns a frame that assigns machine registers to the registers of a function, and contains the addresses
/// of its variables.
pub(super) fn frame(function: &Function<'_>, homes: &HashMap<Symbol, Home>) -> Frame {
    let mut frame = Frame::new();
    for (symbol, home) in homes {
        match home {
            Home::Shared(at) => frame.place(*symbol, *at),
            Home::Global(at) => frame.place_global(*symbol, *at),
            Home::Local(_) | Home::Param(_) => {}
        }
    }
    place_vectors(function, &mut frame);
    frame.place_registers(function);
    frame
}

/// Assigns consecutive machine registers to the elements of each vector operand, so that a vector access
/// becomes one instruction.
fn place_vectors(function: &Function<'_>, frame: &mut Frame) {
    for i in &function.instructions {
        if !matches!(i.opcode, "ld" | "st") {
            continue;
        }
        for operand in &i.operands {
            let Operand::Vector(parts) = operand else { continue };
            let ids: Vec<RegId> = parts
                .iter()
                .filter_map(|p| match p {
                    Operand::Register(id) => Some(*id),
                    _ => None,
                })
                .collect();
            let words = |id: &RegId| {
                let ty = function.registers.get(id.0 as usize).and_then(|r| r.ty);
                ty.filter(|t| t.bits() >= 32).map_or(0, Type::words)
            };
            let each = ids.first().map_or(0, words);
            let distinct = ids.iter().collect::<HashSet<_>>().len() == parts.len();
            if each == 0 || !distinct || ids.iter().any(|id| words(id) != each) {
                continue;
            }
            for group in ids.chunks(usize::from(4 / each).max(1)) {
                frame.register_group(group, each);
            }
        }
    }
}

struct Writer<'u, 'a, 't> {
    unit: &'u mut FunctionUnit<'a, 't>,
    flow: &'u Flow,
    /// Two labels for each block, by index of its first instruction: target when control enters the block,
    /// and target for the next iteration if the block is a loop header.
    heads: HashMap<usize, [CodeLabel; 2]>,
    read: HashSet<RegId>,
}

impl<'u, 'a, 't> Writer<'u, 'a, 't> {
    fn new(unit: &'u mut FunctionUnit<'a, 't>, flow: &'u Flow) -> Writer<'u, 'a, 't> {
        let function = unit.function;
        let mut heads = HashMap::new();
        let firsts = flow.graph.blocks.iter().map(|b| b.first);
        for first in firsts.chain([function.instructions.len()]) {
            heads.insert(first, [unit.place(), unit.place()]);
        }
        let read = function.instructions.iter().flat_map(read).collect();
        Writer { unit, flow, heads, read }
    }

    fn target(&self, from: usize, to: usize) -> CodeLabel {
        let [enter, round] = self.heads.get(&to).copied().unwrap_or([CodeLabel(u32::MAX); 2]);
        if self.flow.goes_round(from, to) { round } else { enter }
    }

    fn instruction(&mut self, index: usize, i: &PtxInstruction<'t>) -> Result<(), Fail> {
        self.unit.frame.begin();
        self.unit.line = i.line;
        // The text of a statement may contain tabs and line breaks.
        self.unit.text = i.text.split_whitespace().collect::<Vec<_>>().join(" ");
        self.unit.mnemonic = Mods::new(i).name();
        let file = |(number, line)| Some((self.unit.module.files.get(&number)?.clone(), line));
        self.unit.position = i.position.and_then(file).map(|(file, line)| SourcePosition { file, line });
        self.unit.ordering = None;
        self.unit.guard = PredSource::TRUE;
        self.head(index);
        for barrier in self.flow.before.get(&index).into_iter().flatten() {
            self.set(*barrier);
        }
        let guard = match i.guard {
            None => PredSource::TRUE,
            Some(guard) => {
                PredSource { pred: Pred::Thread(self.unit.predicate(guard.register)?), negate: guard.negate }
            }
        };
        let without_policy = without_policy(i);
        let i = without_policy.as_ref().unwrap_or(i);
        if i.opcode == "mbarrier" && i.modifiers.starts_with(&["init"]) && i.modifiers.contains(&"layout::v1")
        {
            return Err(Fail::Unsupported);
        }
        let used = super::flow::registers::written(i).iter().any(|id| self.read.contains(id));
        let unit = &mut *self.unit;
        if let Some(lowered) = lower::lower(unit.module, unit.function, i, used, unit.arch, &mut unit.frame) {
            let sequence = lowered.map_err(|refused| Fail::Wrong(refused.message, refused.help))?;
            return self.sequence(i, guard, &sequence);
        }
        unit.guard = guard;
        match i.opcode {
            "bra" | "brx" => return self.branch(index, i),
            _ => {}
        }
        let known =
            unit.arithmetic(i)? || unit.moves(i)? || unit.access(i)? || unit.copy(i)? || unit.direct(i)?;
        if !known {
            return Err(Fail::Unsupported);
        }
        let target = lower::Target::new(unit.module, unit.arch.number());
        target.check_versions(i).map_err(|refused| Fail::Wrong(refused.message, refused.help))
    }

    fn head(&mut self, index: usize) {
        let Some([enter, round]) = self.heads.get(&index).copied() else { return };
        let head = self.flow.heads.get(&index).cloned().unwrap_or_default();
        let entry = !head.reconverge.is_empty() || !head.set.is_empty();
        if entry && index > 0 && self.flow.goes_round(index - 1, index) {
            // The end of the loop is directly before this block. It must branch over the code that executes
            // only when control enters the loop.
            self.unit.branch(round);
        }
        self.unit.bind(enter);
        head.reconverge.iter().for_each(|barrier| self.reconverge(*barrier));
        head.set.iter().for_each(|barrier| self.set(*barrier));
        self.unit.bind(round);
        head.reconverge_inside.iter().for_each(|barrier| self.reconverge(*barrier));
    }

    fn set(&mut self, barrier: u8) {
        self.convergence(Control::SetBarrier { barrier: BarrierRegister(barrier) }, "BSSY", barrier);
    }

    fn reconverge(&mut self, barrier: u8) {
        self.convergence(Control::Reconverge { barrier: BarrierRegister(barrier) }, "BSYNC", barrier);
    }

    fn convergence(&mut self, control: Control, mnemonic: &str, barrier: u8) {
        let operation = Operation::Control(control);
        let instruction = Instruction { guard: self.unit.guard, operation, ordering: self.unit.ordering };
        self.unit.push(instruction, Some(format!("{mnemonic} B{barrier}")), mnemonic.into());
    }

    fn branch(&mut self, index: usize, i: &PtxInstruction<'t>) -> Result<(), Fail> {
        let targets = super::flow::graph::targets(self.unit.function, i).unwrap_or_default();
        let mut mods = Mods::new(i);
        mods.drop_hints();
        if i.opcode == "bra" {
            mods.done()?;
            let [target] = targets.as_slice() else {
                return Err(Fail::wrong("the branch has no target label", "write a label of this function"));
            };
            let place = self.target(index, *target);
            self.unit.branch(place);
            return Ok(());
        }
        if !mods.take("idx") || targets.is_empty() {
            return Err(Fail::Unsupported);
        }
        let at = self.unit.input(mods.operand(0)?, Type::U32)?;
        let guard = self.unit.guard;
        let past = self.unit.place();
        if guard != PredSource::TRUE {
            self.unit.guard = PredSource { negate: !guard.negate, ..guard };
            self.unit.branch(past);
            self.unit.guard = PredSource::TRUE;
        }
        let chosen = self.unit.frame.scratch_predicate();
        for (number, target) in targets.iter().enumerate() {
            let place = self.target(index, *target);
            if number + 1 < targets.len() {
                let compare = FloatCompare { compare: Compare::Eq, unordered: false };
                let op = ComputeOp::compare(compare, Type::U32, BoolOp::And, false);
                self.unit.compute_pred(op, Pred::Thread(chosen), &[at, imm(number as u64)]);
                self.unit.guard = PredSource { pred: Pred::Thread(chosen), negate: false };
            }
            // In PTX the result of an index outside the table is undefined. Here it selects the last target.
            self.unit.branch(place);
            self.unit.guard = PredSource::TRUE;
        }
        self.unit.bind(past);
        Ok(())
    }

    fn sequence(&mut self, i: &PtxInstruction<'t>, guard: Guard, lines: &[String]) -> Result<(), Fail> {
        let decoded = assemble(lines).map_err(|error| {
            Fail::wrong(
                format!("its lowered machine code cannot be decoded: {error}"),
                "use another instruction",
            )
        })?;
        let order = sequence_order(i);
        let makes_object = i.opcode == "mbarrier" && i.modifiers.contains(&"init");
        self.unit.invalidates |=
            i.opcode == "mbarrier" && i.modifiers.contains(&"inval") && decoded.is_empty();
        let texts = lines.iter().filter(|line| !line.ends_with(':'));
        let straight = |operation: &Operation| match operation {
            Operation::Control(control) => {
                matches!(control, Control::Fence | Control::ProxyFence(_) | Control::Nop)
            }
            _ => true,
        };
        let plain = decoded.iter().all(|d| d.guard == PredSource::TRUE && straight(&d.operation));
        let parts = guard != PredSource::TRUE && !plain;
        let past = self.unit.place();
        if parts {
            self.set(GUARD_BARRIER.0);
            self.unit.guard = PredSource { negate: !guard.negate, ..guard };
            self.unit.branch(past);
        }
        let base = self.unit.code.len() as u32;
        for (mut instruction, text) in decoded.into_iter().zip(texts) {
            if let Operation::Control(Control::Branch { target, .. }) = &mut instruction.operation {
                let CodeLabel(place) = self.unit.place();
                self.unit.places[place as usize] = Some(base.saturating_add(*target));
                *target = place;
            }
            if !parts && guard != PredSource::TRUE {
                instruction.guard = guard;
            }
            if matches!(instruction.operation, Operation::Control(Control::ProxyFence(_))) {
                // Compilers put a proxy fence before `mbarrier.init`. In PTX, `mbarrier.init` is none.
                let fence = proxy_fence(i).map_or(Control::Fence, Control::ProxyFence);
                instruction.operation = Operation::Control(fence);
            }
            if i.opcode == "fence" && instruction.operation == Operation::Control(Control::Nop) {
                instruction.operation = Operation::Control(Control::InitFence);
            }
            if let Operation::Shared(store) = &mut instruction.operation {
                store.object = makes_object && self.unit.arch.number() < 90;
            }
            if let Operation::Barrier(arrive) = &mut instruction.operation
                && i.modifiers.contains(&"noComplete")
            {
                // Without a use of the state, machine code does not show `.noComplete`.
                arrive.op = match arrive.op {
                    Op::MbarArriveCount => Op::MbarArriveNoComplete,
                    Op::MbarArriveDropCount => Op::MbarArriveDropNoComplete,
                    op => op,
                };
            }
            instruction.ordering = order.filter(|_| is_memory(&instruction.operation));
            let words = text.split_whitespace().find(|word| !word.starts_with('@'));
            let mnemonic = words.unwrap_or_default().to_string();
            self.unit.push(instruction, Some(text.clone()), mnemonic);
        }
        self.unit.bind(past);
        if parts {
            self.unit.guard = PredSource::TRUE;
            self.reconverge(GUARD_BARRIER.0);
        }
        Ok(())
    }

    fn end(&mut self) {
        let end = self.unit.function.instructions.len();
        self.unit.guard = PredSource::TRUE;
        self.unit.ordering = None;
        self.head(end);
        (self.unit.text, self.unit.mnemonic) = ("exit".into(), "exit".into());
        self.unit.control(Control::Exit);
    }
}

/// Returns the instruction without its last operand, if that is a cache policy. The core has no caches.
fn without_policy<'t>(i: &PtxInstruction<'t>) -> Option<PtxInstruction<'t>> {
    const HINT: &str = "L2::cache_hint";
    if i.opcode != "cp" || !i.modifiers.contains(&HINT) {
        return None;
    }
    let mut plain = i.clone();
    plain.modifiers.retain(|modifier| *modifier != HINT);
    plain.operands.pop();
    Some(plain)
}

fn sequence_order(i: &PtxInstruction<'_>) -> Option<Ordering> {
    let mut m = Mods::new(i);
    match i.opcode {
        "atom" | "red" => Some(ordering::ordering(&mut m, true)),
        "mbarrier" => Some(ordering::barrier_object(&mut m)),
        "fence" if i.modifiers.contains(&"proxy") => None,
        "fence" | "membar" => ordering::fence(&mut m, i.opcode == "membar"),
        _ => None,
    }
}

/// Memory that a proxy fence orders. Machine code does not tell the kinds of shared memory apart.
fn proxy_fence(i: &PtxInstruction<'_>) -> Option<ProxySpace> {
    if i.opcode != "fence" {
        return None;
    }
    Some(match Mods::new(i).take_any(&["shared::cta", "shared::cluster", "global"]) {
        Some("shared::cta") => ProxySpace::Cta,
        Some("shared::cluster") => ProxySpace::Cluster,
        Some(_) => ProxySpace::Global,
        None => ProxySpace::All,
    })
}

fn is_memory(operation: &Operation) -> bool {
    matches!(
        operation,
        Operation::Shared(_)
            | Operation::Barrier(_)
            | Operation::Global(_)
            | Operation::Async(_)
            | Operation::Control(Control::Fence)
    )
}

fn finish(mut unit: FunctionUnit<'_, '_>, kernel: &Function<'_>) -> Kernel {
    if unit.wants_shared_base
        && let Some(base) = unit.shared_base()
    {
        let body = std::mem::take(&mut unit.code);
        (unit.guard, unit.ordering) = (PredSource::TRUE, None);
        (unit.line, unit.position) = (kernel.line, None);
        (unit.text, unit.mnemonic) = ("mov.u32 base, %cluster_ctarank".into(), "mov.u32".into());
        unit.special_to(base, SpecialRegister::CgaCtaId);
        (unit.text, unit.mnemonic) = ("shl.b32 base, base, 24".into(), "shl.b32".into());
        let op = ComputeOp::int(IntOp::Shl, Type::B32);
        unit.compute(op, Output::Word(base), &[word(base), imm(24)]);
        let before = unit.code.len() as u32;
        unit.places.iter_mut().flatten().for_each(|at| *at += before);
        unit.code.extend(body);
    }
    let end = unit.code.len() as u32;
    let mut numbers: HashMap<String, u32> = HashMap::new();
    let mut mnemonics = Vec::new();
    let mut instructions = Vec::with_capacity(unit.code.len());
    let mut source = Vec::with_capacity(unit.code.len());
    for Emitted { mut instruction, line, text, lowered, mnemonic, position } in unit.code {
        if let Operation::Control(Control::Branch { target, condition: _ }) = &mut instruction.operation {
            *target = unit.places.get(*target as usize).copied().flatten().unwrap_or(end);
        }
        // After an `mbarrier.inval`, another `mbarrier.init` of the same object is legal, but the machine
        // code does not contain the invalidation. The store of such a kernel is therefore not marked as an
        // initialization.
        if let Operation::Shared(store) = &mut instruction.operation {
            store.object &= !unit.invalidates;
        }
        let number = *numbers.entry(mnemonic).or_insert_with_key(|mnemonic| {
            mnemonics.push(mnemonic.clone());
            mnemonics.len() as u32 - 1
        });
        instructions.push(instruction);
        source.push(SourceLine { line, text, lowered, mnemonic: number, position });
    }
    Kernel {
        name: kernel.name.into(),
        arch: unit.arch,
        instructions,
        source,
        mnemonics,
        registers: unit.frame.registers(),
        predicates: unit.frame.predicates(),
        shared: None,
        constants: BTreeMap::new(),
        local: 0,
        params: None,
        variables: Vec::new(),
        shared_variables: Vec::new(),
        driver_functions: [].into(),
        directives: kernel.directives,
    }
}
