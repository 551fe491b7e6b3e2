//! Internals in a wave: RTL signals and model registers by module, and flags where registers differ.

use atoms_verilated::{Rtl, read_changes};
use atoms_wave_write::{Definition, Layout, Signal, SignalKind, WaveValues};

use crate::internals::{Internals, RegisterDifference};

/// Signals of the internals in a wave, as the simulation thread uses them.
#[derive(Debug)]
pub(super) struct InsideSignals {
    /// Path of each register, and its signals: RTL, model, difference flag.
    registers: Vec<(String, [Signal; 3])>,
    fresh: bool,
}

#[derive(Debug, Default)]
pub(super) struct InsideChanges {
    /// Changes of the RTL, in the format of [`read_changes`].
    rtl: Vec<u8>,
    /// Index and value of each register of the model that changed. `None` while the value is not valid.
    model: Vec<(usize, Option<u128>)>,
}

/// Values of the internals, decoded on the writer's thread: a cycle changes hundreds of signals.
#[derive(Debug)]
pub(super) struct InsideValues {
    /// Signals of the RTL, by their code in the changes.
    wires: Vec<Option<Wire>>,
    registers: Vec<RegisterValue>,
    /// Indices of registers, grouped by the wire that holds them. `Wire::registers` is a range in this list.
    of_wires: Vec<u32>,
    any: Signal,
    differing: usize,
    /// Indices of registers that changed on either side. An index may occur twice.
    moved: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Wire {
    signal: Signal,
    /// Range of [`InsideValues::of_wires`]: first index, and the index after the last.
    registers: [u32; 2],
}

#[derive(Debug)]
struct RegisterValue {
    signals: [Signal; 3],
    /// Value in the model. `None` while it is not valid.
    held: Option<u128>,
    shows_difference: bool,
}

impl InsideSignals {
    pub(super) fn define(d: &mut Definition, internals: &Internals) -> (Self, InsideValues) {
        let mut wires: Vec<Signal> = Vec::new();
        d.scope("rtl", |d| {
            for signal in internals.signals() {
                let declared = d.within(&signal.scopes, |d| match signal.same_as {
                    Some(first) => {
                        d.alias(&signal.name, wires[first]);
                        wires[first]
                    }
                    None => d.signal(&signal.name, SignalKind::Bits(signal.bits)),
                });
                wires.push(declared);
            }
        });
        let below = |d: &mut Definition, side: &str, path: &str, bits: u32| {
            let mut scopes: Vec<_> = [side].into_iter().chain(path.split('.')).map(str::to_owned).collect();
            let name = scopes.pop().unwrap_or_default();
            d.within(&scopes, |d| d.signal(&name, SignalKind::Bits(bits)))
        };
        let any = below(d, "diff", "any_inside", 1);
        let registers = internals.registers().iter().map(|register| {
            let rtl = wires[register.signal];
            let [model, flag] =
                [("model", register.bits), ("diff", 1)].map(|(s, bits)| below(d, s, &register.path, bits));
            (register.path.clone(), [rtl, model, flag])
        });
        let registers: Vec<_> = registers.collect();
        let mut of_wires: Vec<_> = (0..registers.len() as u32).collect();
        let wire_of = |place: &u32| internals.registers()[*place as usize].signal;
        of_wires.sort_by_key(wire_of);
        let from = |wire: usize| of_wires.partition_point(|place| wire_of(place) < wire) as u32;
        let mut by_code = Vec::new();
        for (at, signal) in
            internals.signals().iter().enumerate().filter(|(_, signal)| signal.same_as.is_none())
        {
            by_code.resize(by_code.len().max(signal.code + 1), None);
            by_code[signal.code] = Some(Wire { signal: wires[at], registers: [from(at), from(at + 1)] });
        }
        let value =
            |(_, signals): &(_, _)| RegisterValue { signals: *signals, held: None, shows_difference: false };
        let values = InsideValues {
            wires: by_code,
            registers: registers.iter().map(value).collect(),
            of_wires,
            any,
            differing: 0,
            moved: Vec::new(),
        };
        (InsideSignals { registers, fresh: true }, values)
    }

    pub(super) fn fill(&mut self, changes: &mut InsideChanges, rtl: &Rtl, internals: &Internals) {
        let all = if std::mem::take(&mut self.fresh) { 0..self.registers.len() } else { 0..0 };
        let changed = all.chain(internals.moved().iter().copied());
        changes.clear();
        changes.model.extend(changed.map(|at| (at, internals.held()[at])));
        changes.rtl.extend_from_slice(rtl.changes_bytes());
    }

    /// Adds a group with both sides of a register and its difference flag to a layout.
    pub(super) fn layout_at(&self, difference: &RegisterDifference, layout: Layout) -> Layout {
        let of = self.registers.iter().find(|(path, _)| *path == difference.path);
        let signals = of.into_iter().flat_map(|(_, signals)| *signals);
        layout.group(&format!("first register that differs: {}", difference.path), signals)
    }
}

impl InsideChanges {
    pub(super) fn clear(&mut self) {
        self.rtl.clear();
        self.model.clear();
    }
}

impl InsideValues {
    /// Applies changes. A register without a valid value in the model is shown as 0 and does not differ.
    pub(super) fn set(&mut self, values: &mut WaveValues, changes: &InsideChanges) {
        let InsideValues { wires, registers, of_wires, any, differing, moved } = self;
        moved.clear();
        read_changes(&changes.rtl, |code, value| {
            let Some(Some(Wire { signal, registers: [from, to] })) = wires.get(code).copied() else { return };
            if from == to {
                values.set_changed(signal, value);
            } else {
                values.set(signal, value);
                moved.extend_from_slice(&of_wires[from as usize..to as usize]);
            }
        });
        for (at, held) in &changes.model {
            registers[*at].held = *held;
            moved.push(*at as u32);
        }
        for at in moved {
            let RegisterValue { signals: [rtl, model, flag], held, shows_difference } =
                &mut registers[*at as usize];
            let differs = held.is_some_and(|held| held != values.get(*rtl).unwrap_or(0));
            *differing -= usize::from(*shows_difference);
            *differing += usize::from(differs);
            *shows_difference = differs;
            values.set(*model, held.unwrap_or(0));
            values.set(*flag, differs.into());
        }
        values.set(*any, u128::from(*differing > 0));
    }
}
