//! Repeats a run to inspect part of it: the wave of a window of cycles, or the first differing register.
//!
//! Runs without the oracle, whose finding is already known.

use std::ops::Range;
use std::path::{Path, PathBuf};

use atoms_cosim::campaign::Campaign;
use atoms_cosim::case::Case;
use atoms_cosim::case::trials::run_case;
use atoms_cosim::internals::{Depth, RegisterAccess, RegisterDifference};
use atoms_cosim::lockstep::{CYCLES_BETWEEN_SNAPSHOTS, Lockstep, SNAPSHOTS_KEPT};
use atoms_cosim::machine::{Failure, Machine};
use atoms_cosim::rtl::{self, BuildStep};
use atoms_cosim::session::Session;
use atoms_stimulus::configs::NamedConfig;
use atoms_verilated::{Cache, Environment, Library, Progress, Variant};

use crate::triage::bundle::{finish, trace};
use crate::triage::error::BundleError;
use crate::triage::replay::{Run, found};
use crate::triage::repro::Bundle;
use crate::triage::test_failure::FailedRun;

/// Cycles between two comparisons of all registers in a search. A comparison costs about as much as 20
/// cycles. The search then compares every cycle of the interval with the first difference.
const CYCLES_BETWEEN_COMPARISONS: u64 = 4096;

#[derive(Clone, Debug)]
pub enum Rerun {
    /// Bundle of a failure: the minimized case, or the original run if there is none.
    Bundle(Box<Bundle>),
    Case {
        case: Box<Case>,
        config: NamedConfig,
    },
    Random(Box<Campaign>),
}

#[derive(Debug)]
pub enum Ended {
    /// The run reached the requested cycle.
    Reached,
    /// The run ended before the requested cycle, without a failure.
    Over,
    /// The run failed before the requested cycle.
    Failed(Box<FailedRun>),
}

#[derive(Debug)]
pub struct WaveWindow {
    pub path: PathBuf,
    pub cycles: Range<u64>,
    /// End of the run, at or before the end of the window.
    pub ended: Ended,
}

#[derive(Debug)]
pub struct Search {
    /// First differing register; `None` if no register differs before the failure or the end.
    pub register: Option<RegisterDifference>,
    pub cycles: u64,
    /// End of the search: failure at the ports, or end of the run.
    pub ended: Ended,
}

impl Rerun {
    pub fn config(&self) -> &NamedConfig {
        match self {
            Rerun::Bundle(bundle) => &bundle.config,
            Rerun::Case { config, .. } => config,
            Rerun::Random(campaign) => &campaign.config,
        }
    }

    /// Returns the cycle of the failure if known before the run; `None` for a minimized case.
    pub fn failed_at(&self) -> Option<u64> {
        match self {
            Rerun::Bundle(bundle) if bundle.case.is_none() => Some(bundle.record.cycle),
            Rerun::Bundle(_) | Rerun::Case { .. } | Rerun::Random(_) => None,
        }
    }

    /// # Errors
    /// [`BundleError::Rtl`] if the RTL does not build.
    pub fn library(
        &self,
        rtl_dir: &Path,
        depth: Depth,
        progress: &mut dyn FnMut(&BuildStep),
    ) -> Result<Library, BundleError> {
        Ok(rtl::library(rtl_dir, self.config(), depth.variant(), progress)?)
    }

    /// Returns the default cycle for a wave: the failing cycle. For a bundle that fails only at the oracle,
    /// returns the last cycle. Returns `None` if nothing fails.
    ///
    /// # Errors
    /// [`BundleError`] if the run cannot start.
    pub fn failure(&self, library: &Library) -> Result<Option<u64>, BundleError> {
        if let Some(cycle) = self.failed_at() {
            return Ok(Some(cycle));
        }
        let mut session = self.session(library)?;
        let ended = self.run(&mut session, u64::MAX)?;
        Ok(match (ended, self) {
            (Ended::Failed(failed), _) => Some(failed.cycle),
            (Ended::Reached | Ended::Over, Rerun::Bundle(_)) => session.machine().cycles().checked_sub(1),
            (Ended::Reached | Ended::Over, Rerun::Case { .. } | Rerun::Random(_)) => None,
        })
    }

    /// Writes the wave of the cycles in `window` to `path`, and stops the run at the end of `window`. A
    /// library with internals also gives a wave of internal signals. Snapshots of the RTL go to the cache. If
    /// the cache has a snapshot of the same run, only the model runs up to that cycle. The save file opens at
    /// `register`, if given.
    ///
    /// # Errors
    /// [`BundleError::Window`] if the run ends before the window; [`BundleError`] if the run cannot start.
    pub fn excerpt(
        &self,
        library: &Library,
        window: Range<u64>,
        path: &Path,
        register: Option<&RegisterDifference>,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<WaveWindow, BundleError> {
        if let Some(cycle) = self.failed_at().filter(|cycle| *cycle < window.start) {
            return Err(BundleError::Window { window, cycles: cycle + 1, fails: true });
        }
        let mut session = self.session(library)?;
        let cache = Cache::new(&Environment::from_process());
        let name = self.name().filter(|_| window.start >= CYCLES_BETWEEN_SNAPSHOTS);
        if let Some(name) = &name {
            let machine = session.machine_mut();
            let mut before = snapshots_before(window.start).map(|cycles| machine.clocks(cycles));
            match before.find_map(|clocks| cache.kept(library, name, clocks, progress)) {
                Some(snapshot) => machine.join_at(snapshot),
                None => machine.take_snapshots(),
            }
        }
        if library.variant() == Variant::Wave {
            session.machine_mut().show_inside(window.clone())?;
        }
        let marker = self.failed_at().unwrap_or_else(|| window.start + (window.end - window.start) / 2);
        let mut wave = trace(path, &session, marker)?.within(window.clone());
        if let Some(register) = register {
            wave.points_at_register(register.clone());
        }
        session.set_trace(Some(wave));
        let outcome = self.run(&mut session, window.end);
        if let Some(name) = &name {
            // Ignore errors: snapshots only save time.
            let _ = cache.keep(library, name, session.machine().snapshots());
        }
        let written = session.trace().map_or(0, |trace| trace.cycles());
        finish(&mut session, path)?;
        let ended = outcome?;
        if written == 0 {
            let cycles = session.machine().cycles();
            return Err(BundleError::Window { window, cycles, fails: matches!(ended, Ended::Failed(_)) });
        }
        let cycles = window.start..window.start + written;
        Ok(WaveWindow { path: path.to_path_buf(), cycles, ended })
    }

    /// Finds the first RTL register that differs from its counterpart in the model, even if the ports agree.
    /// Misses a difference that appears and vanishes between two comparisons. The ports are compared in every
    /// cycle.
    ///
    /// # Errors
    /// [`BundleError`] if the run cannot start, or if `library` was not built for [`Depth::Internals`].
    pub fn first_register(&self, library: &Library) -> Result<Search, BundleError> {
        let mut from = 0;
        let mut every = CYCLES_BETWEEN_COMPARISONS;
        loop {
            let mut session = self.session(library)?;
            session.machine_mut().look_inside(RegisterAccess::Compare { from, every })?;
            let outcome = self.run(&mut session, u64::MAX);
            let cycles = session.machine().cycles();
            let internals = session.machine().internals().map(|(_, internals)| internals);
            let register = internals.and_then(|internals| internals.found().cloned());
            let agreed = internals.and_then(|internals| internals.agreed());
            if register.is_none() && matches!(outcome, Ok(Ended::Reached | Ended::Over)) || every == 1 {
                let ended = if register.is_some() { Ended::Reached } else { outcome? };
                return Ok(Search { register, cycles, ended });
            }
            // Search again, comparing every cycle after the last one in which all registers agreed.
            (from, every) = (agreed.unwrap_or(0), 1);
        }
    }

    /// Returns a cache key of the run. The key includes size and time of the program file, since the program
    /// drives the run. Returns `None` for kernels, whose files may change.
    fn name(&self) -> Option<String> {
        let program =
            std::fs::metadata("/proc/self/exe").or_else(|_| std::env::current_exe()?.metadata()).ok()?;
        let run = match self {
            Rerun::Bundle(bundle) => match (&bundle.case, &bundle.run) {
                (Some(case), _) => format!("{case:?}"),
                (None, Run::Kernel { .. }) => return None,
                (None, run) => format!("{run:?}"),
            },
            Rerun::Case { case, .. } => format!("{case:?}"),
            Rerun::Random(campaign) => format!("{:?}", Campaign { until: u64::MAX, ..(**campaign).clone() }),
        };
        Some(format!("{} {:?} {:?} {run}", program.len(), program.modified().ok()?, self.config()))
    }

    /// Creates a session in lockstep after reset, without the oracle.
    fn session(&self, library: &Library) -> Result<Session<Lockstep>, BundleError> {
        let rtl = library.instantiate().map_err(Failure::from)?;
        Ok(Session::new(Lockstep::of(rtl, self.config())?, None))
    }

    fn run(&self, session: &mut Session<Lockstep>, until: u64) -> Result<Ended, BundleError> {
        session.set_end(until);
        let outcome = match self {
            Rerun::Bundle(bundle) => match &bundle.case {
                Some(case) => found(run_case(session, case), session, self.config()),
                None => bundle.run.replay(session, &bundle.config, &bundle.folder, until),
            },
            Rerun::Case { case, .. } => found(run_case(session, case), session, self.config()),
            Rerun::Random(campaign) => {
                let limit = campaign.until.min(until);
                found(session.run(&mut campaign.stimulus(), limit, |_| {}), session, self.config())
            }
        };
        // Memory is compared after the window. A mismatch of memory therefore belongs to no cycle of the window.
        if session.machine().cycles() >= until {
            return Ok(Ended::Reached);
        }
        Ok(outcome?.map_or(Ended::Over, |failed| Ended::Failed(Box::new(failed))))
    }
}

/// Lists the cycles of possible snapshots at or before `cycle`, latest first.
fn snapshots_before(cycle: u64) -> impl Iterator<Item = u64> {
    let last = cycle / CYCLES_BETWEEN_SNAPSHOTS;
    let first = (last + 1).saturating_sub(SNAPSHOTS_KEPT as u64).max(1);
    (first..=last).rev().map(|number| number * CYCLES_BETWEEN_SNAPSHOTS)
}
