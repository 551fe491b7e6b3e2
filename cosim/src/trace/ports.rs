//! Ports in a wave: inputs, and outputs and probe of each side.

use std::iter::once;
use std::sync::Arc;

use atoms_model::Config;
use atoms_model::port::{Field, In, Out, Pins, Probe, Radix, Shape};
use atoms_ops::{Fault, Op, Size};
use atoms_wave_write::{Definition, Signal, SignalKind, WaveValues};

use super::IDLE;
use crate::machine::Machine;

#[derive(Debug)]
pub(super) struct PortSignals {
    pub(super) inputs: StructSignals,
    pub(super) sides: Vec<SideSignals>,
}

#[derive(Debug)]
pub(super) struct SideSignals {
    pub(super) out: StructSignals,
    pub(super) probe: StructSignals,
}

#[derive(Debug)]
pub(super) struct StructSignals(pub(super) Vec<FieldSignals>);

/// Signals of one field: a single one, or one for each lane or bank.
#[derive(Debug)]
pub(super) struct FieldSignals {
    field: usize,
    radix: Radix,
    /// Index of the valid field of the same port, if there is one.
    valid: Option<usize>,
    /// Mask of the fields that are shown by name and depend on this field. Bit `n`: field `n`.
    names: u128,
    pub(super) signals: Vec<Signal>,
}

#[derive(Debug, Default)]
pub(super) struct CyclePins {
    inputs: In,
    out: Out,
    probe: Probe,
    other: Option<Box<(Out, Probe)>>,
}

/// Values of the signals, on the thread that writes the wave. That thread finds the changes.
#[derive(Debug)]
pub(super) struct PortValues {
    signals: Arc<PortSignals>,
    /// Pins that the wave shows so far. `None` before the first cycle.
    before: Option<Box<CyclePins>>,
}

/// Condition under which a port without a request shows no name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Idle {
    Always,
    /// Leave out code 0 only. Any other code is driven on purpose, and sides may differ in it.
    CodeZero,
}

impl PortSignals {
    pub(super) fn define(d: &mut Definition, sides: &[&str], config: &Config) -> Self {
        let inputs = d.scope("in", |d| StructSignals::define(d, "", In::FIELDS, config));
        let side = |name: &&str| {
            d.scope(name, |d| SideSignals {
                out: StructSignals::define(d, "", Out::FIELDS, config),
                probe: StructSignals::define(d, "probe_", Probe::FIELDS, config),
            })
        };
        PortSignals { inputs, sides: sides.iter().map(side).collect() }
    }
}

impl CyclePins {
    pub(super) fn fill(&mut self, i: &In, machine: &dyn Machine) {
        self.inputs = *i;
        self.out = *machine.out();
        self.probe = *machine.probe();
        self.other = machine.other_side().map(|(out, probe)| Box::new((*out, *probe)));
    }

    /// Copies `now` without the temporary on the stack that a clone needs.
    fn copy(&mut self, now: &CyclePins) {
        self.inputs = now.inputs;
        self.out = now.out;
        self.probe = now.probe;
        self.other.clone_from(&now.other);
    }
}

impl PortValues {
    pub(super) fn new(signals: Arc<PortSignals>) -> Self {
        PortValues { signals, before: None }
    }

    pub(super) fn set(&mut self, values: &mut WaveValues, now: &CyclePins) {
        let PortSignals { inputs, sides } = &*self.signals;
        let before = self.before.as_deref();
        let inputs_before = before.map(|before| &before.inputs);
        StructSignals::set(once(inputs), values, &now.inputs, inputs_before, Idle::Always);
        if let Some(other) = &now.other {
            let both = [(&now.out, &now.probe), (&other.0, &other.1)];
            for (side, (out, probe)) in sides.iter().zip(both) {
                StructSignals::set(once(&side.out), values, out, None, Idle::CodeZero);
                StructSignals::set(once(&side.probe), values, probe, None, Idle::CodeZero);
            }
        } else {
            let alike = before.filter(|before| before.other.is_none());
            let outs = sides.iter().map(|side| &side.out);
            let probes = sides.iter().map(|side| &side.probe);
            StructSignals::set(outs, values, &now.out, alike.map(|before| &before.out), Idle::CodeZero);
            StructSignals::set(probes, values, &now.probe, alike.map(|before| &before.probe), Idle::CodeZero);
        }
        self.before.get_or_insert_default().copy(now);
    }
}

impl SideSignals {
    pub(super) fn all(&self) -> impl Iterator<Item = Signal> + '_ {
        let fields = self.out.0.iter().chain(&self.probe.0);
        fields.flat_map(|field| field.signals.iter().copied())
    }

    pub(super) fn out(&self, names: &[&str]) -> Vec<Signal> {
        names.iter().flat_map(|name| self.out.of(Out::FIELDS, name)).collect()
    }

    pub(super) fn probe(&self, names: &[&str]) -> Vec<Signal> {
        names.iter().flat_map(|name| self.probe.of(Probe::FIELDS, name)).collect()
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

    /// Sets the signals that differ from `before`, on each side. Without `before`, sets all signals.
    fn set<'a, P: Pins>(
        sides: impl Iterator<Item = &'a StructSignals> + Clone,
        values: &mut WaveValues,
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
                (Some(_), true) => values.set_pair_changed(*first, value),
                (Some(_), false) => values.set_changed(*first, value),
                (None, _) => {
                    let signals = sides.clone().filter_map(|side| side.0[field].signals.get(at));
                    signals.for_each(|signal| values.set(*signal, value));
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
            signals.for_each(|signal| values.set_text(*signal, name));
        }
    }

    pub(super) fn of(&self, fields: &[Field], name: &str) -> Vec<Signal> {
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
