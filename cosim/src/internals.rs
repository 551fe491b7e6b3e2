//! The inside of a machine: every signal of the RTL, every register of the model, and which of them are the same.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;

use atoms_model::Unit;
use atoms_model::registers::SeeRegister;
use atoms_verilated::{DesignSignal, Rtl, RtlError, Variant};

use crate::rtl::TOP;

/// How much of each cycle a wave shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Ports, probe and transactions.
    Ports,
    /// Every signal of the RTL and register of the model, too.
    Internals,
}

impl Depth {
    /// The variant that the RTL must have been built as.
    pub fn variant(self) -> Variant {
        match self {
            Depth::Ports => Variant::Fast,
            Depth::Internals => Variant::Wave,
        }
    }
}

/// Which cycles are looked into, and what for. It costs some eight times the time of the cycle.
#[derive(Clone, Debug)]
pub enum RegisterAccess {
    /// These cycles, for a wave.
    Show(Range<u64>),
    /// To find the first register that differs: from cycle `from` on, one in `every`.
    Compare {
        /// First cycle.
        from: u64,
        /// From one to the next, at least 1.
        every: u64,
    },
}

impl RegisterAccess {
    fn at(&self, cycle: u64) -> bool {
        match self {
            RegisterAccess::Show(window) => window.contains(&cycle),
            RegisterAccess::Compare { from, every } => {
                cycle >= *from && (cycle - from).is_multiple_of(*every)
            }
        }
    }
}

/// A register of the model, or a part of one, that the RTL has too.
#[derive(Clone, Debug)]
pub struct ModelRegister {
    /// Path of both sides, from the top module on.
    pub path: String,
    /// Bits that it has in the RTL.
    pub bits: u32,
    /// Its place among [`Internals::signals`].
    pub signal: usize,
}

/// A register that differs though it means the same on both sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterDifference {
    /// Cycle before whose clock edge it differs.
    pub cycle: u64,
    /// Path of both sides, from the top module on.
    pub path: String,
    /// The RTL's value.
    pub rtl: u128,
    /// The model's.
    pub model: u128,
    /// How many others differ in the same cycle.
    pub others: usize,
}

impl RegisterDifference {
    /// The module that the register is in, without `atoms_`.
    pub fn module(&self) -> &str {
        match self.path.rsplit('.').find_map(|name| name.strip_prefix("u_")) {
            Some("warp_queue" | "cluster_queue") => "fifo",
            Some(module) => module,
            None => "unit",
        }
    }
}

impl fmt::Display for RegisterDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RegisterDifference { cycle, path, rtl, model, others } = self;
        let module = self.module();
        writeln!(f, "first register that differs, at cycle {cycle}")?;
        writeln!(f, "  rtl      {rtl:#x}  {path} (rtl/atoms_{module}.sv)")?;
        write!(f, "  model    {model:#x}  its counterpart (model/src/{module}.rs)")?;
        if *others > 0 {
            write!(f, "\n  others   {others} more in the same cycle")?;
        }
        Ok(())
    }
}

/// What is inside, in the cycle last looked into, before its clock edge.
#[derive(Debug)]
pub struct Internals {
    looking: RegisterAccess,
    signals: Vec<DesignSignal>,
    /// The RTL's values by signal, where registers are compared.
    values: Vec<u128>,
    registers: Vec<ModelRegister>,
    /// Place in `registers` of each register that the model shows.
    mapped: Vec<Option<usize>>,
    held: Vec<Option<u128>>,
    /// Operands that many registers hold, in the order in which the model shows them, so as not to look at each of the
    /// registers; `None` before they were seen, and while they mean nothing.
    operands: Vec<Option<Vec<u128>>>,
    /// Registers that changed on the model's side.
    moved: Vec<usize>,
    /// Last cycle in which every register was compared, and none differed.
    agreed: Option<u64>,
    /// What stopped the comparison.
    found: Option<RegisterDifference>,
}

/// One look at the registers of the model.
struct Look<'a> {
    mapped: std::slice::Iter<'a, Option<usize>>,
    operands: &'a mut Vec<Option<Vec<u128>>>,
    /// Of them, those that were seen.
    operands_seen: usize,
    held: &'a mut [Option<u128>],
    moved: &'a mut Vec<usize>,
}

impl SeeRegister for Look<'_> {
    fn see(&mut self, _: fmt::Arguments<'_>, value: Option<u128>) {
        if let Some(Some(at)) = self.mapped.next()
            && self.held[*at] != value
        {
            self.held[*at] = value;
            self.moved.push(*at);
        }
    }

    fn leaves_out(&mut self, count: usize, operands: &[u128], held: bool) -> bool {
        let at = self.operands_seen;
        self.operands_seen += 1;
        if self.operands.len() == at {
            self.operands.push(None);
        }
        let now = held.then_some(operands);
        if self.operands[at].as_deref() == now {
            self.mapped.nth(count - 1);
            return true;
        }
        self.operands[at] = now.map(<[u128]>::to_vec);
        false
    }
}

impl Internals {
    /// Of an RTL, and of a model of the same configuration.
    ///
    /// # Errors
    /// [`RtlError::NoWaves`] unless the RTL was built as the wave variant.
    pub fn open(rtl: &mut Rtl, model: Option<&Unit>, looking: RegisterAccess) -> Result<Self, RtlError> {
        rtl.forget_signals();
        let signals = rtl.signals()?.to_vec();
        let by_path: HashMap<_, _> =
            signals.iter().enumerate().map(|(at, signal)| (signal.path(), at)).collect();
        let (mut registers, mut mapped) = (Vec::new(), Vec::new());
        if let Some(model) = model {
            model.registers(&mut |name: fmt::Arguments<'_>, _: Option<u128>| {
                let path = format!("{TOP}.{name}");
                let signal = by_path.get(&path).copied();
                mapped.push(signal.map(|_| registers.len()));
                registers.extend(signal.map(|at| {
                    let DesignSignal { bits, same_as, .. } = signals[at];
                    ModelRegister { path, bits, signal: same_as.unwrap_or(at) }
                }));
            });
        }
        let held = vec![None; registers.len()];
        let values = vec![0; signals.len()];
        let (moved, agreed, found) = (Vec::new(), None, None);
        let operands = Vec::new();
        Ok(Internals { looking, signals, values, registers, mapped, held, operands, moved, agreed, found })
    }

    /// Looks into `cycle`.
    pub(crate) fn looks_at(&self, cycle: u64) -> bool {
        self.looking.at(cycle)
    }

    /// Looks for a register that differs.
    pub(crate) fn compares(&self) -> bool {
        matches!(self.looking, RegisterAccess::Compare { .. })
    }

    /// Every signal of the RTL.
    pub fn signals(&self) -> &[DesignSignal] {
        &self.signals
    }

    /// Registers of the model that the RTL has too.
    pub fn registers(&self) -> &[ModelRegister] {
        &self.registers
    }

    /// The value of each, in the same order; `None` while it means nothing.
    pub fn held(&self) -> &[Option<u128>] {
        &self.held
    }

    /// Places of the registers that changed on the model's side since the cycle looked into before.
    pub fn moved(&self) -> &[usize] {
        &self.moved
    }

    /// Last cycle in which every register was compared, and none differed.
    pub fn agreed(&self) -> Option<u64> {
        self.agreed
    }

    /// What stopped the comparison.
    pub fn found(&self) -> Option<&RegisterDifference> {
        self.found.as_ref()
    }

    /// Takes the model as it is before the clock edge; the RTL, too, if it compares.
    pub(crate) fn see(&mut self, rtl: &Rtl, model: Option<&Unit>) {
        if self.compares() {
            rtl.changes().iter().for_each(|change| self.values[change.signal] = change.value);
        }
        self.moved.clear();
        if let Some(model) = model {
            let Internals { mapped, operands, held, moved, .. } = self;
            model.registers(&mut Look { mapped: mapped.iter(), operands, operands_seen: 0, held, moved });
        }
    }

    /// The registers that differ, if it compares. `memory` is what [`memory_difference`] said before.
    pub(crate) fn compare(
        &mut self,
        cycle: u64,
        memory: Option<RegisterDifference>,
    ) -> Option<RegisterDifference> {
        if !self.compares() {
            return None;
        }
        let differ = |(register, held): (&ModelRegister, &Option<u128>)| {
            let (rtl, model) = (self.values[register.signal], (*held)?);
            let path = || register.path.clone();
            (rtl != model).then(|| RegisterDifference { cycle, path: path(), rtl, model, others: 0 })
        };
        let mut found = memory.into_iter().chain(self.registers.iter().zip(&self.held).filter_map(differ));
        self.found = found.next().map(|first| RegisterDifference { others: found.count(), ..first });
        if self.found.is_none() {
            self.agreed = Some(cycle);
        }
        self.found.clone()
    }
}

/// The first word of memory that differs, as the register of its bank.
pub(crate) fn memory_difference(rtl: &Rtl, model: &Unit, cycle: u64) -> Option<RegisterDifference> {
    let banks = model.config().num_banks as usize;
    let words = rtl.read_memory();
    let mut differ = words.iter().zip(model.memory()).enumerate().filter(|(_, (rtl, model))| rtl != model);
    let (at, (rtl, model)) = differ.next()?;
    let path = format!("{TOP}.g_bank[{}].u_bank.mem_q[{}]", at % banks, at / banks);
    let (rtl, model) = (u128::from(*rtl), u128::from(*model));
    Some(RegisterDifference { cycle, path, rtl, model, others: differ.count() })
}
