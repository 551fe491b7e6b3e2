//! Signals of the RTL and registers of the model inside a machine, and the pairs that must be equal.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;

use atoms_model::Unit;
use atoms_model::registers::SeeRegister;
use atoms_verilated::{DesignSignal, Rtl, RtlError, Variant};

use crate::rtl::TOP;

/// Level of detail of a wave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Ports, probe and transactions.
    Ports,
    /// Also every signal of the RTL and every register of the model.
    Internals,
}

impl Depth {
    /// Returns the variant that the RTL must be built as.
    pub fn variant(self) -> Variant {
        match self {
            Depth::Ports => Variant::Fast,
            Depth::Internals => Variant::Wave,
        }
    }
}

/// Purpose for which registers and internal signals are read, and the cycles. Reading takes about eight times
/// as long as the cycle.
#[derive(Clone, Debug)]
pub enum RegisterAccess {
    /// Show the internals of these cycles in a wave.
    Show(Range<u64>),
    /// Find the first register that differs. One cycle in `every` is compared, from cycle `from` on.
    Compare {
        /// First cycle to compare.
        from: u64,
        /// Distance between compared cycles, at least 1.
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

/// A register of the model, or a part of one, with a counterpart in the RTL.
#[derive(Clone, Debug)]
pub struct ModelRegister {
    /// Path of the register on both sides, from the top module on.
    pub path: String,
    /// Width in the RTL, in bits.
    pub bits: u32,
    /// Index of the counterpart in [`Internals::signals`].
    pub signal: usize,
}

/// A register with different values in RTL and model, although its meaning is the same on both sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterDifference {
    /// Cycle in which the values differ, before its clock edge.
    pub cycle: u64,
    /// Path of the register on both sides, from the top module on.
    pub path: String,
    /// Value in the RTL.
    pub rtl: u128,
    /// Value in the model.
    pub model: u128,
    /// Number of other registers that differ in the same cycle.
    pub others: usize,
}

impl RegisterDifference {
    /// Returns the module of the register, without the prefix `atoms_`.
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

/// Internals of a machine in the cycle read last, before its clock edge.
#[derive(Debug)]
pub struct Internals {
    looking: RegisterAccess,
    signals: Vec<DesignSignal>,
    /// Value of each signal of the RTL. Kept only if registers are compared.
    values: Vec<u128>,
    registers: Vec<ModelRegister>,
    /// Index in `registers` of each register that the model shows. `None` without a counterpart in the RTL.
    mapped: Vec<Option<usize>>,
    held: Vec<Option<u128>>,
    /// Operands at the last read, in the order of the model. Many registers hold operands; while the operands
    /// do not change, these registers are not read again. `None` before the first read, and while the
    /// operands are not valid.
    operands: Vec<Option<Vec<u128>>>,
    moved: Vec<usize>,
    agreed: Option<u64>,
    found: Option<RegisterDifference>,
}

/// One read of all registers of the model.
struct Look<'a> {
    mapped: std::slice::Iter<'a, Option<usize>>,
    operands: &'a mut Vec<Option<Vec<u128>>>,
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
    /// Opens the internals of `rtl` and of a model of the same configuration.
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

    pub(crate) fn looks_at(&self, cycle: u64) -> bool {
        self.looking.at(cycle)
    }

    pub(crate) fn compares(&self) -> bool {
        matches!(self.looking, RegisterAccess::Compare { .. })
    }

    /// Returns every signal of the RTL.
    pub fn signals(&self) -> &[DesignSignal] {
        &self.signals
    }

    /// Returns the registers of the model with a counterpart in the RTL.
    pub fn registers(&self) -> &[ModelRegister] {
        &self.registers
    }

    /// Returns the value of each of [`Internals::registers`]. `None` while the value is not valid.
    pub fn held(&self) -> &[Option<u128>] {
        &self.held
    }

    /// Returns the indices of the registers whose value in the model changed since the previous read.
    pub fn moved(&self) -> &[usize] {
        &self.moved
    }

    /// Returns the last cycle in which every register was compared and none differed.
    pub fn agreed(&self) -> Option<u64> {
        self.agreed
    }

    /// Returns the first difference, if it ended the comparison.
    pub fn found(&self) -> Option<&RegisterDifference> {
        self.found.as_ref()
    }

    /// Reads the registers of the model before the clock edge. If registers are compared, reads the RTL too.
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

    /// Returns the first register that differs. `memory` is the [`memory_difference`] before the cycle.
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

/// Returns the first word of memory that differs, as a register of its bank.
pub(crate) fn memory_difference(rtl: &Rtl, model: &Unit, cycle: u64) -> Option<RegisterDifference> {
    let banks = model.config().num_banks as usize;
    let words = rtl.read_memory();
    let mut differ = words.iter().zip(model.memory()).enumerate().filter(|(_, (rtl, model))| rtl != model);
    let (at, (rtl, model)) = differ.next()?;
    let path = format!("{TOP}.g_bank[{}].u_bank.mem_q[{}]", at % banks, at / banks);
    let (rtl, model) = (u128::from(*rtl), u128::from(*model));
    Some(RegisterDifference { cycle, path, rtl, model, others: differ.count() })
}
