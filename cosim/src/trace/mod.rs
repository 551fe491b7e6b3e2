//! Waves of a machine: inputs, each side's outputs and probe, where two sides differ, and the transactions.

mod layout;
mod transactions;

use std::ops::Range;
use std::path::{Path, PathBuf};

use atoms_model::port::{Field, In, Out, Probe, Radix, Shape};
use atoms_model::{Config, RequestOrigin};
use atoms_ops::{Fault, Op, Size};
use atoms_waves::{Comparison, Definition, Layout, Signal, SignalKind, WaveError};

use crate::lockstep::Lockstep;
use crate::machine::{Machine, ModelMachine, RtlMachine};
use crate::mismatch::{Difference, Subject};
use crate::monitor::Cycle;
use transactions::{IDLE, Transactions};

/// Why a wave cannot be written.
pub type TraceError = WaveError;

/// A machine that shows its sides: what each drove in the cycle last run.
pub trait Sides {
    /// Name and state of each side, the RTL first.
    fn sides(&self) -> Vec<(&'static str, &Out, &Probe)>;
}

impl Sides for ModelMachine {
    fn sides(&self) -> Vec<(&'static str, &Out, &Probe)> {
        vec![("model", self.out(), self.probe())]
    }
}

impl Sides for RtlMachine {
    fn sides(&self) -> Vec<(&'static str, &Out, &Probe)> {
        vec![("rtl", self.out(), self.probe())]
    }
}

impl Sides for Lockstep {
    fn sides(&self) -> Vec<(&'static str, &Out, &Probe)> {
        let (out, probe) = self.model_side();
        vec![("rtl", self.out(), self.probe()), ("model", out, probe)]
    }
}

/// The signals of one field: one, or one of each lane or bank.
#[derive(Debug)]
struct FieldSignals {
    field: usize,
    radix: Radix,
    /// Of a field with names, the one that says whether it counts.
    valid: Option<usize>,
    signals: Vec<Signal>,
}

/// The signals of one port struct.
#[derive(Debug)]
struct StructSignals(Vec<FieldSignals>);

#[derive(Debug)]
struct SideSignals {
    out: StructSignals,
    probe: StructSignals,
}

/// A wave file being written.
#[derive(Debug)]
pub struct Trace {
    path: PathBuf,
    /// Cycles to be written.
    window: Range<u64>,
    /// Those that were.
    written: u64,
    trace: atoms_waves::WaveTrace,
    inputs: StructSignals,
    sides: Vec<SideSignals>,
    comparison: Option<Comparison>,
    transactions: Transactions,
    definition: Definition,
    failure: Option<FailurePoint>,
    /// What the wave says so far; `None` before the first cycle.
    before: Option<Box<PinsBefore>>,
}

/// Pins of the cycle written last.
#[derive(Debug, Default)]
struct PinsBefore {
    inputs: In,
    /// Of each side.
    sides: Vec<(Out, Probe)>,
}

/// When a name at a port without a request is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Idle {
    Always,
    /// Any other code stands there for a reason, and sides may differ in it.
    CodeZero,
}

/// What a viewer is to open at.
#[derive(Clone, Copy, Debug)]
struct FailurePoint {
    cycle: u64,
    /// What differs first, if sides differ.
    difference: Option<Difference>,
    /// The request concerned, if one is.
    subject: Option<Subject>,
}

impl Trace {
    /// Creates the wave file and, beside it, a GTKWave save file with the signals one looks at
    /// first, and a marker at cycle `marker`.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn create(
        path: &Path,
        machine: &(impl Machine + Sides),
        marker: Option<u64>,
    ) -> Result<Self, TraceError> {
        let config = *machine.config();
        let mut definition = Definition::new("atoms");
        let inputs = definition.scope("in", |d| StructSignals::define(d, "", In::FIELDS, &config));
        let sides: Vec<_> = machine
            .sides()
            .iter()
            .map(|(name, ..)| {
                definition.scope(name, |d| SideSignals {
                    out: StructSignals::define(d, "", Out::FIELDS, &config),
                    probe: StructSignals::define(d, "probe_", Probe::FIELDS, &config),
                })
            })
            .collect();
        let comparison = match &sides[..] {
            [rtl, model] => {
                let pairs: Vec<_> = rtl.all().zip(model.all()).map(|(rtl, model)| [rtl, model]).collect();
                Some(definition.compare("diff", &pairs))
            }
            _ => None,
        };
        let transactions = Transactions::define(&mut definition, &config);
        let trace = definition.create(path)?;
        let trace = Trace {
            path: path.to_path_buf(),
            window: 0..u64::MAX,
            written: 0,
            trace,
            inputs,
            sides,
            comparison,
            transactions,
            definition,
            failure: None,
            before: None,
        };
        let layout = trace.layout();
        marker.into_iter().fold(layout, Layout::marker).write(&trace.definition, path)?;
        Ok(trace)
    }

    /// Leaves out the cycles before `cycle`.
    pub fn starting_at(self, cycle: u64) -> Self {
        self.within(cycle..u64::MAX)
    }

    /// Leaves out the cycles outside `window`.
    pub fn within(self, window: Range<u64>) -> Self {
        Trace { window, ..self }
    }

    /// Cycles written so far.
    pub fn cycles(&self) -> u64 {
        self.written
    }

    /// The wave file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes one cycle: inputs `i`, what `machine` drove for them, and the transactions, unless the machine stopped
    /// in it.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn cycle(
        &mut self,
        number: u64,
        i: &In,
        machine: &impl Sides,
        transactions: Option<&Cycle<'_>>,
    ) -> Result<(), TraceError> {
        transactions.into_iter().for_each(|cycle| self.transactions.follow(cycle));
        if !self.window.contains(&number) {
            return Ok(());
        }
        self.written += 1;
        if number > self.trace.cycle() {
            self.trace.skip_to(number);
        }
        let sides = machine.sides();
        let trace = &mut self.trace;
        let before = self.before.as_deref();
        i.changes(before.map(|before| &before.inputs), |field, at, value| {
            self.inputs.set(trace, field, at, value);
        });
        self.inputs.set_names(trace, Idle::Always, |field| i.element(field, 0));
        for (side, (signals, (_, out, probe))) in self.sides.iter().zip(&sides).enumerate() {
            let before = before.map(|before| &before.sides[side]);
            out.changes(before.map(|(out, _)| out), |field, at, value| {
                signals.out.set(trace, field, at, value);
            });
            signals.out.set_names(trace, Idle::CodeZero, |field| out.element(field, 0));
            probe.changes(before.map(|(_, probe)| probe), |field, at, value| {
                signals.probe.set(trace, field, at, value);
            });
            signals.probe.set_names(trace, Idle::CodeZero, |field| probe.element(field, 0));
        }
        let now = self.before.get_or_insert_default();
        now.inputs = *i;
        now.sides.clear();
        now.sides.extend(sides.iter().map(|(_, out, probe)| (**out, **probe)));
        transactions.into_iter().for_each(|cycle| self.transactions.show(&mut self.trace, cycle));
        self.trace.tick()
    }

    /// The warp request that the next cycle offers comes from this instruction.
    pub fn offer_from(&mut self, origin: &RequestOrigin<'_>) {
        self.transactions.offer_from(origin);
    }

    /// The run failed in `cycle`: once the wave is complete, the save file opens there, with what differs first, the
    /// request concerned, its lane and its bank on top.
    pub fn points_at(&mut self, cycle: u64, difference: Option<Difference>, subject: Option<Subject>) {
        self.failure = Some(FailurePoint { cycle, difference, subject });
    }

    /// Completes the file, and the save file where the run failed.
    ///
    /// # Errors
    /// When the rest cannot be written.
    pub fn finish(self) -> Result<(), TraceError> {
        if let Some(failure) = &self.failure {
            self.layout_at(failure).write(&self.definition, &self.path)?;
        }
        self.trace.finish()
    }
}

impl SideSignals {
    fn all(&self) -> impl Iterator<Item = Signal> + '_ {
        let fields = self.out.0.iter().chain(&self.probe.0);
        fields.flat_map(|field| field.signals.iter().copied())
    }
}

impl StructSignals {
    fn define(d: &mut Definition, prefix: &str, fields: &[Field], config: &Config) -> Self {
        let define = |(at, field): (usize, &Field)| {
            let name = format!("{prefix}{}", field.name);
            let signals = match field.shape {
                Shape::Scalar(_) if field.radix != Radix::Number => vec![d.signal(&name, SignalKind::Text)],
                Shape::Scalar(bits) => vec![d.signal(&name, SignalKind::Bits(bits))],
                Shape::LaneMask => vec![d.signal(&name, SignalKind::Bits(config.num_lanes))],
                Shape::BankMask => vec![d.signal(&name, SignalKind::Bits(config.num_banks))],
                Shape::PerLane(bits) => d.scope(&name, |d| elements(d, "lane", config.num_lanes, bits)),
                Shape::PerBank(bits) => d.scope(&name, |d| elements(d, "bank", config.num_banks, bits)),
            };
            let valid = field.name.rsplit_once('_').map(|(port, _)| format!("{port}_valid"));
            let valid = fields.iter().position(|field| valid.as_deref() == Some(field.name));
            FieldSignals { field: at, radix: field.radix, valid, signals }
        };
        StructSignals(fields.iter().enumerate().map(define).collect())
    }

    /// Sets the signal of an element that is a number.
    fn set(&self, trace: &mut atoms_waves::WaveTrace, field: usize, at: usize, value: u128) {
        let signals = &self.0[field];
        if let (Radix::Number, Some(signal)) = (signals.radix, signals.signals.get(at)) {
            trace.set(*signal, value);
        }
    }

    /// Sets the signals that show names.
    fn set_names(&self, trace: &mut atoms_waves::WaveTrace, idle: Idle, value: impl Fn(usize) -> u128) {
        for field in self.0.iter().filter(|field| field.radix != Radix::Number) {
            let code = value(field.field);
            let at_idle_port = field.valid.is_some_and(|valid| value(valid) == 0);
            let left_out = at_idle_port && (idle == Idle::Always || code == 0);
            let name = if left_out { IDLE } else { name_of(field.radix, code as u8) };
            field.signals.iter().for_each(|signal| trace.set_text(*signal, name));
        }
    }

    /// The signals of a field.
    fn of(&self, fields: &[Field], name: &str) -> Vec<Signal> {
        self.0.iter().filter(|s| fields[s.field].name == name).flat_map(|s| s.signals.clone()).collect()
    }
}

fn elements(d: &mut Definition, what: &str, count: u32, bits: u32) -> Vec<Signal> {
    (0..count).map(|at| d.signal(&format!("{what}{at:02}"), SignalKind::Bits(bits))).collect()
}

fn name_of(radix: Radix, code: u8) -> &'static str {
    let name = match radix {
        Radix::Number => None,
        Radix::Op => Op::from_code(code).map(Op::name),
        Radix::Size => Size::from_code(code).map(Size::name),
        Radix::Fault => Fault::from_code(code).map(Fault::name),
    };
    name.unwrap_or("illegal")
}
