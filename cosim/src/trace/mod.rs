//! Waves of a machine: inputs, each side's outputs and probe, where two sides differ, and the transactions.

mod inside;
mod layout;
mod transactions;

use std::ops::Range;
use std::path::{Path, PathBuf};

use atoms_model::port::{Field, In, Out, Pins, Probe, Radix, Shape};
use atoms_model::{Config, RequestOrigin};
use atoms_ops::{Fault, Op, Size};
use atoms_waves::{Comparison, Definition, Layout, Signal, SignalKind, WaveError, WaveView};

use crate::internals::RegisterDifference;
use crate::machine::Machine;
use crate::mismatch::{Difference, Subject};
use crate::monitor::Cycle;
use inside::InsideSignals;
use transactions::{IDLE, Transactions};

/// Why a wave cannot be written.
pub type TraceError = WaveError;

/// The signals of one field: one, or one of each lane or bank.
#[derive(Debug)]
struct FieldSignals {
    field: usize,
    radix: Radix,
    /// Of a field with names, the one that says whether it counts.
    valid: Option<usize>,
    /// Fields with names that a change of this field concerns, one bit each.
    names: u128,
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
    inside: Option<InsideSignals>,
    definition: Definition,
    /// Cycle that a viewer is to open at while the run has not failed.
    marker: Option<u64>,
    failure: Option<FailurePoint>,
    register: Option<RegisterDifference>,
    /// What the wave says so far; `None` before the first cycle.
    before: Option<Box<PinsBefore>>,
}

/// Pins of the cycle written last.
#[derive(Debug, Default)]
struct PinsBefore {
    inputs: In,
    out: Out,
    probe: Probe,
    /// All sides drove the same.
    alike: bool,
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
    pub fn create(path: &Path, machine: &dyn Machine, marker: Option<u64>) -> Result<Self, TraceError> {
        let config = *machine.config();
        let mut definition = Definition::new("atoms");
        let inputs = definition.scope("in", |d| StructSignals::define(d, "", In::FIELDS, &config));
        let sides: Vec<_> = machine
            .sides()
            .iter()
            .map(|name| {
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
        let inside = machine.internals();
        let inside = inside.map(|(_, internals)| InsideSignals::define(&mut definition, internals));
        let (inside, trace) = match inside {
            Some((inside, values)) => (Some(inside), definition.create_with(path, values)?),
            None => (None, definition.create(path)?),
        };
        let trace = Trace {
            path: path.to_path_buf(),
            window: 0..u64::MAX,
            written: 0,
            trace,
            inputs,
            sides,
            comparison,
            transactions,
            inside,
            definition,
            marker,
            failure: None,
            register: None,
            before: None,
        };
        trace.shown().write(&trace.definition, path)?;
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
        machine: &dyn Machine,
        transactions: Option<&Cycle<'_>>,
    ) -> Result<(), TraceError> {
        if let Some(cycle) = transactions {
            self.transactions.follow(cycle, machine.passes_at_issue());
        }
        if !self.window.contains(&number) {
            return Ok(());
        }
        self.written += 1;
        if number > self.trace.cycle() {
            self.trace.skip_to(number);
        }
        let trace = &mut self.trace;
        let before = self.before.as_deref();
        let (out, probe) = (machine.out(), machine.probe());
        let inputs = std::iter::once(&self.inputs);
        StructSignals::show(inputs, trace, i, before.map(|before| &before.inputs), Idle::Always);
        let outs = self.sides.iter().map(|side| &side.out);
        let probes = self.sides.iter().map(|side| &side.probe);
        if let Some(other) = machine.other_side() {
            for (at, (out, probe)) in [(out, probe), other].into_iter().enumerate() {
                StructSignals::show(outs.clone().skip(at).take(1), trace, out, None, Idle::CodeZero);
                StructSignals::show(probes.clone().skip(at).take(1), trace, probe, None, Idle::CodeZero);
            }
        } else {
            let before = before.filter(|before| before.alike);
            StructSignals::show(outs, trace, out, before.map(|before| &before.out), Idle::CodeZero);
            StructSignals::show(probes, trace, probe, before.map(|before| &before.probe), Idle::CodeZero);
        }
        if let Some((signals, (rtl, internals))) = self.inside.as_mut().zip(machine.internals()) {
            signals.show(&mut self.trace, rtl, internals);
        }
        let now = self.before.get_or_insert_default();
        now.inputs = *i;
        now.out = *out;
        now.probe = *probe;
        now.alike = machine.other_side().is_none();
        transactions.into_iter().for_each(|cycle| self.transactions.show(&mut self.trace, cycle));
        self.trace.tick()
    }

    /// The warp request that is offered from the next cycle on comes from this instruction.
    pub fn offer_from(&mut self, origin: &RequestOrigin<'_>) {
        self.transactions.offer_from(origin);
    }

    /// The run failed in `cycle`: once the wave is complete, the save file opens there, with what differs first, the
    /// request concerned, its lane and its bank on top.
    pub fn points_at(&mut self, cycle: u64, difference: Option<Difference>, subject: Option<Subject>) {
        self.failure = Some(FailurePoint { cycle, difference, subject });
    }

    /// This register differs: once the wave is complete, the save file opens there, with both sides of it on top.
    pub fn points_at_register(&mut self, difference: RegisterDifference) {
        self.register = Some(difference);
    }

    /// Completes the file, and the save file where the run failed. Gives what the save file says, for a page.
    ///
    /// # Errors
    /// When the rest cannot be written.
    pub fn finish(self) -> Result<WaveView, TraceError> {
        let shown = self.shown();
        if self.failure.is_some() || self.register.is_some() {
            shown.write(&self.definition, &self.path)?;
        }
        self.trace.finish()?;
        Ok(shown.view(&self.definition))
    }

    /// What a viewer shows first.
    fn shown(&self) -> Layout {
        if let Some((inside, register)) = self.inside.as_ref().zip(self.register.as_ref()) {
            let layout = inside.layout_at(register, Layout::new().marker(register.cycle));
            return layout.above(self.layout());
        }
        match &self.failure {
            Some(failure) => self.layout_at(failure),
            None => self.marker.into_iter().fold(self.layout(), Layout::marker),
        }
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
            FieldSignals { field: at, radix: field.radix, valid, names: 0, signals }
        };
        let mut signals: Vec<_> = fields.iter().enumerate().map(define).collect();
        for at in (0..signals.len()).filter(|at| fields[*at].radix != Radix::Number) {
            signals[at].names |= 1 << at;
            signals[at].valid.into_iter().for_each(|valid| signals[valid].names |= 1 << at);
        }
        StructSignals(signals)
    }

    /// Sets, on each of several sides, the signals of what is not as in `before`; without it, of everything.
    fn show<'a, P: Pins>(
        sides: impl Iterator<Item = &'a StructSignals> + Clone,
        trace: &mut atoms_waves::WaveTrace,
        now: &P,
        before: Option<&P>,
        idle: Idle,
    ) {
        let Some(any) = sides.clone().next() else { return };
        let mut renamed = 0;
        let pair = sides.clone().nth(1).is_some();
        now.changes(before, |field, at, value| {
            let of_any = &any.0[field];
            renamed |= of_any.names;
            if of_any.radix != Radix::Number {
                return;
            }
            let Some(first) = of_any.signals.get(at) else { return };
            match (before, pair) {
                (Some(_), true) => trace.set_pair_changed(*first, value),
                (Some(_), false) => trace.set_changed(*first, value),
                (None, _) => {
                    let signals = sides.clone().filter_map(|side| side.0[field].signals.get(at));
                    signals.for_each(|signal| trace.set(*signal, value));
                }
            }
        });
        while renamed != 0 {
            let field = renamed.trailing_zeros() as usize;
            renamed &= renamed - 1;
            let code = now.element(field, 0);
            let at_idle_port = any.0[field].valid.is_some_and(|valid| now.element(valid, 0) == 0);
            let left_out = at_idle_port && (idle == Idle::Always || code == 0);
            let name = if left_out { IDLE } else { name_of(any.0[field].radix, code as u8) };
            let signals = sides.clone().flat_map(|side| &side.0[field].signals);
            signals.for_each(|signal| trace.set_text(*signal, name));
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
