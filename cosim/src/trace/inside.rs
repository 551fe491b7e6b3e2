//! What is inside, in a wave: the RTL's signals and the model's registers below their sides, by module, and where a
//! register differs.

use atoms_verilated::{Rtl, read_changes};
use atoms_wave_write::{Definition, Layout, Signal, SignalKind, WaveValues};

use crate::internals::{Internals, RegisterDifference};

/// The signals of the inside, as the simulation knows them.
#[derive(Debug)]
pub(super) struct InsideSignals {
    /// Path of each register, and its signals: the RTL's, the model's, the flag.
    registers: Vec<(String, [Signal; 3])>,
    /// No cycle has been shown yet.
    fresh: bool,
}

/// What changed inside in a cycle.
#[derive(Debug, Default)]
pub(super) struct InsideChanges {
    /// Of the RTL, as [`read_changes`] reads them.
    rtl: Vec<u8>,
    /// Registers of the model by place, and what they hold; `None` while it means nothing.
    model: Vec<(usize, Option<u128>)>,
}

/// The same as the thread knows them that writes the wave. A cycle changes hundreds of signals: there they are read.
#[derive(Debug)]
pub(super) struct InsideValues {
    /// By the code that the RTL's signals have in changes.
    wires: Vec<Option<Wire>>,
    registers: Vec<RegisterValue>,
    /// Places of registers by the wire that they are, as `Wire::registers` says.
    of_wires: Vec<u32>,
    /// Any register differs.
    any: Signal,
    /// How many do.
    differing: usize,
    /// Registers that changed on either side; some may be here twice.
    moved: Vec<u32>,
}

/// A signal of the RTL.
#[derive(Clone, Copy, Debug)]
struct Wire {
    signal: Signal,
    /// First and last of [`InsideValues::of_wires`].
    registers: [u32; 2],
}

/// A register of both sides.
#[derive(Debug)]
struct RegisterValue {
    signals: [Signal; 3],
    /// The model's value; `None` while it means nothing.
    held: Option<u128>,
    shows_difference: bool,
}

impl InsideSignals {
    /// Declares them; gives what is to work on the thread that writes the wave, too.
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

    /// Takes the changes of the cycle last looked into.
    pub(super) fn fill(&mut self, changes: &mut InsideChanges, rtl: &Rtl, internals: &Internals) {
        let all = if std::mem::take(&mut self.fresh) { 0..self.registers.len() } else { 0..0 };
        let changed = all.chain(internals.moved().iter().copied());
        changes.clear();
        changes.model.extend(changed.map(|at| (at, internals.held()[at])));
        changes.rtl.extend_from_slice(rtl.changes_bytes());
    }

    /// Both sides of a register, and where they differ, on top of a layout.
    pub(super) fn layout_at(&self, difference: &RegisterDifference, layout: Layout) -> Layout {
        let of = self.registers.iter().find(|(path, _)| *path == difference.path);
        let signals = of.into_iter().flat_map(|(_, signals)| *signals);
        layout.group(&format!("first difference inside: {}", difference.path), signals)
    }
}

impl InsideChanges {
    pub(super) fn clear(&mut self) {
        self.rtl.clear();
        self.model.clear();
    }
}

impl InsideValues {
    /// Sets what changed. A register that means nothing on the model's side is 0 there, and does not differ.
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
