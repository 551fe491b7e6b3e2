//! Waves of a machine: inputs, outputs and probe of each side, their differences, and the transactions.

mod fields;
mod inside;
mod layout;
mod ports;
mod recorded;
mod requests;
mod tracks;
mod transactions;

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use atoms_model::RequestOrigin;
use atoms_model::port::In;
use atoms_monitor::Cycle;
use atoms_wave_view::WaveNames;
use atoms_wave_write::{
    Comparison, Deferred, Definition, Layout, WaveError, WaveTrace, WaveValues, WaveView,
};

use crate::internals::RegisterDifference;
use crate::machine::Machine;
use crate::mismatch::{Difference, Subject};

use inside::{InsideChanges, InsideSignals, InsideValues};
use ports::{CyclePins, PortSignals, PortValues};
pub use recorded::{RecordedWave, RecordedWaveError};
pub use requests::{
    RequestKind, RequestTransaction, WaveRequest, WaveRequestError, lacks_fields, wave_requests,
};
use transactions::Transactions;

/// Names of scopes and signals in a machine's wave. Pages and timelines show these in their own way.
pub const NAMES: WaveNames = WaveNames {
    transactions: "txn",
    label: "text",
    kind: "kind",
    request: "request",
    line: "line",
    counters: &["phase", "pending", "expected", "tx"],
    signed: &["tx"],
    sides: ["rtl", "model"],
    difference: "diff",
};

/// Text of a track or port while nothing happens. A wave shows it as `-`.
const IDLE: &str = "";

/// A wave file being written.
#[derive(Debug)]
pub struct Trace {
    path: PathBuf,
    window: Range<u64>,
    written: u64,
    trace: WaveTrace<CycleValues>,
    ports: Arc<PortSignals>,
    comparison: Option<Comparison>,
    transactions: Transactions,
    inside: Option<InsideSignals>,
    definition: Definition,
    /// Cycle at which a viewer opens, if the run does not fail.
    marker: Option<u64>,
    failure: Option<FailurePoint>,
    register: Option<RegisterDifference>,
}

/// Raw values of one cycle for the thread that writes the wave. That thread finds the changes.
#[derive(Debug, Default)]
struct CycleValues {
    pins: CyclePins,
    inside: InsideChanges,
}

#[derive(Debug)]
struct DeferredValues {
    ports: PortValues,
    inside: Option<InsideValues>,
}

impl Deferred for DeferredValues {
    type Cycle = CycleValues;

    fn set(&mut self, values: &mut WaveValues, cycle: &CycleValues) {
        self.ports.set(values, &cycle.pins);
        if let Some(inside) = &mut self.inside {
            inside.set(values, &cycle.inside);
        }
    }
}

/// Cycle and signals at which a viewer opens.
#[derive(Clone, Copy, Debug)]
struct FailurePoint {
    cycle: u64,
    difference: Option<Difference>,
    subject: Option<Subject>,
}

impl Trace {
    /// Creates the wave file and a GTKWave save file with the most useful signals, and a marker at cycle
    /// `marker`.
    ///
    /// # Errors
    /// [`WaveError`] if a file cannot be written.
    pub fn create(path: &Path, machine: &dyn Machine, marker: Option<u64>) -> Result<Self, WaveError> {
        let config = *machine.config();
        let mut definition = Definition::new("atoms");
        let ports = Arc::new(PortSignals::define(&mut definition, machine.sides(), &config));
        let comparison = match &ports.sides[..] {
            [rtl, model] => {
                let pairs: Vec<_> = rtl.all().zip(model.all()).map(|(rtl, model)| [rtl, model]).collect();
                Some(definition.compare(NAMES.difference, &pairs))
            }
            _ => None,
        };
        let transactions = Transactions::define(&mut definition, &config, &ports.sides[0]);
        let inside = machine.internals();
        let inside = inside.map(|(_, internals)| InsideSignals::define(&mut definition, internals));
        let (inside, inside_values) = inside.unzip();
        let deferred = DeferredValues { ports: PortValues::new(Arc::clone(&ports)), inside: inside_values };
        let trace = Trace {
            path: path.to_path_buf(),
            window: 0..u64::MAX,
            written: 0,
            trace: definition.create_with(path, deferred)?,
            ports,
            comparison,
            transactions,
            inside,
            definition,
            marker,
            failure: None,
            register: None,
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

    /// Returns the number of cycles written.
    pub fn cycles(&self) -> u64 {
        self.written
    }

    /// Returns the path of the wave file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes one cycle: inputs `i`, outputs and probe of `machine`, and transactions. `transactions` is
    /// `None` if the machine stopped in this cycle.
    ///
    /// # Errors
    /// [`WaveError`] if the file cannot be written.
    pub fn cycle(
        &mut self,
        number: u64,
        i: &In,
        machine: &dyn Machine,
        transactions: Option<&Cycle<'_>>,
    ) -> Result<(), WaveError> {
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
        let CycleValues { pins, inside } = self.trace.defer();
        pins.fill(i, machine);
        match self.inside.as_mut().zip(machine.internals()) {
            Some((signals, (rtl, internals))) => signals.fill(inside, rtl, internals),
            None => inside.clear(),
        }
        transactions.into_iter().for_each(|cycle| self.transactions.show(&mut self.trace, cycle));
        self.trace.tick()
    }

    /// Sets the instruction that makes the warp request offered from the next cycle on.
    pub fn offer_from(&mut self, origin: &RequestOrigin<'_>) {
        self.transactions.offer_from(origin);
    }

    /// Sets the cycle in which the run failed. When the wave is complete, the save file opens there. The
    /// first difference, the request concerned, its lane and its bank are on top.
    pub fn points_at(&mut self, cycle: u64, difference: Option<Difference>, subject: Option<Subject>) {
        self.failure = Some(FailurePoint { cycle, difference, subject });
    }

    /// Sets the register that differs. When the wave is complete, the save file opens at that cycle, with
    /// both sides of the register on top.
    pub fn points_at_register(&mut self, difference: RegisterDifference) {
        self.register = Some(difference);
    }

    /// Completes the wave, and the save file if the run failed. Returns the contents of the save file.
    ///
    /// # Errors
    /// [`WaveError`] if a file cannot be written.
    pub fn finish(self) -> Result<WaveView, WaveError> {
        let shown = self.shown();
        if self.failure.is_some() || self.register.is_some() {
            shown.write(&self.definition, &self.path)?;
        }
        self.trace.finish()?;
        Ok(shown.view(&self.definition))
    }

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
