//! What is inside, in a wave: the RTL's signals and the model's registers below their sides, by module, and where a
//! register differs.

use atoms_verilated::Rtl;
use atoms_waves::{Definition, Layout, Signal, SignalKind, WaveTrace};

use crate::internals::{Internals, RegisterDifference};

/// The signals of the inside.
#[derive(Debug)]
pub(super) struct InsideSignals {
    /// By the RTL's signals; those that are the same wire have one.
    rtl: Vec<Signal>,
    registers: Vec<RegisterSignals>,
    /// Any register differs.
    any: Signal,
    /// How many do.
    differing: usize,
    /// No cycle has been shown yet.
    fresh: bool,
}

#[derive(Debug)]
struct RegisterSignals {
    path: String,
    rtl: Signal,
    model: Signal,
    differs: Signal,
    shows_difference: bool,
}

impl InsideSignals {
    pub(super) fn define(d: &mut Definition, internals: &Internals) -> Self {
        let mut rtl: Vec<Signal> = Vec::new();
        d.scope("rtl", |d| {
            for signal in internals.signals() {
                let declared = d.within(&signal.scopes, |d| match signal.same_as {
                    Some(first) => {
                        d.alias(&signal.name, rtl[first]);
                        rtl[first]
                    }
                    None => d.signal(&signal.name, SignalKind::Bits(signal.bits)),
                });
                rtl.push(declared);
            }
        });
        let below = |d: &mut Definition, side: &str, path: &str, bits: u32| {
            let mut scopes: Vec<_> = [side].into_iter().chain(path.split('.')).map(str::to_owned).collect();
            let name = scopes.pop().unwrap_or_default();
            d.within(&scopes, |d| d.signal(&name, SignalKind::Bits(bits)))
        };
        let any = below(d, "diff", "any_inside", 1);
        let registers = internals.registers().iter().map(|register| RegisterSignals {
            path: register.path.clone(),
            rtl: rtl[register.signal],
            model: below(d, "model", &register.path, register.bits),
            differs: below(d, "diff", &register.path, 1),
            shows_difference: false,
        });
        let registers: Vec<_> = registers.collect();
        InsideSignals { rtl, registers, any, differing: 0, fresh: true }
    }

    /// Shows the cycle last looked into. A register that means nothing on the model's side is 0 there, and does not
    /// differ.
    pub(super) fn set(&mut self, trace: &mut WaveTrace, rtl: &Rtl, internals: &Internals) {
        for change in rtl.changes() {
            trace.set(self.rtl[change.signal], change.value);
        }
        let all = if std::mem::take(&mut self.fresh) { 0..self.registers.len() } else { 0..0 };
        for at in all.chain(internals.moved().iter().copied()) {
            let (signals, register) = (&mut self.registers[at], &internals.registers()[at]);
            let held = internals.held()[at];
            let differs = held.is_some_and(|held| held != internals.value(register));
            self.differing -= usize::from(signals.shows_difference);
            self.differing += usize::from(differs);
            signals.shows_difference = differs;
            trace.set(signals.model, held.unwrap_or(0));
            trace.set(signals.differs, differs.into());
        }
        trace.set(self.any, u128::from(self.differing > 0));
    }

    /// Both sides of a register, and where they differ, on top of a layout.
    pub(super) fn layout_at(&self, difference: &RegisterDifference, layout: Layout) -> Layout {
        let of = self.registers.iter().find(|register| register.path == difference.path);
        let signals = of.into_iter().flat_map(|register| [register.rtl, register.model, register.differs]);
        layout.group(&format!("first difference inside: {}", difference.path), signals)
    }
}
