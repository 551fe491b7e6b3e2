//! Runs something once more to look at a part of it: the wave of some cycles, the first register that differs.
//!
//! The oracle is left out: what it objected to is known, and the run is repeated for what led there.

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

/// Cycles from one comparison of all registers to the next, while a run is searched: one costs about as much as 20
/// cycles. Between two of them, every cycle is compared.
const CYCLES_BETWEEN_COMPARISONS: u64 = 4096;

/// What is run again.
#[derive(Clone, Debug)]
pub enum Rerun {
    /// The bundle of a failure: its smallest case, or the whole run where there is none.
    Bundle(Box<Bundle>),
    /// A case.
    Case {
        /// The case.
        case: Box<Case>,
        /// Its configuration.
        config: NamedConfig,
    },
    /// A random run.
    Random(Box<Campaign>),
}

/// How a run went on, or ended.
#[derive(Debug)]
pub enum Ended {
    /// It reached the last cycle that was asked for.
    Reached,
    /// It was over before, and nothing was found.
    Over,
    /// This was found before.
    Failed(Box<FailedRun>),
}

/// The wave of some cycles.
#[derive(Debug)]
pub struct WaveWindow {
    /// The file.
    pub path: PathBuf,
    /// Cycles in it.
    pub cycles: Range<u64>,
    /// How the run went on behind them.
    pub ended: Ended,
}

/// What a search for the first register that differs came to.
#[derive(Debug)]
pub struct Search {
    /// The register; `None` where none differs before the failure, or before the end.
    pub register: Option<RegisterDifference>,
    /// Cycles run.
    pub cycles: u64,
    /// What the ports showed, if no register was found.
    pub ended: Ended,
}

impl Rerun {
    /// Its configuration.
    pub fn config(&self) -> &NamedConfig {
        match self {
            Rerun::Bundle(bundle) => &bundle.config,
            Rerun::Case { config, .. } => config,
            Rerun::Random(campaign) => &campaign.config,
        }
    }

    /// Cycle of the failure, where it is known before the run: that of a smallest case is not.
    pub fn failed_at(&self) -> Option<u64> {
        match self {
            Rerun::Bundle(bundle) if bundle.case.is_none() => Some(bundle.record.cycle),
            Rerun::Bundle(_) | Rerun::Case { .. } | Rerun::Random(_) => None,
        }
    }

    /// The RTL in `rtl_dir`, for a wave of this depth.
    ///
    /// # Errors
    /// [`BundleError::Rtl`] when it does not build.
    pub fn library(
        &self,
        rtl_dir: &Path,
        depth: Depth,
        progress: &mut dyn FnMut(&BuildStep),
    ) -> Result<Library, BundleError> {
        Ok(rtl::library(rtl_dir, self.config(), depth.variant(), progress)?)
    }

    /// The cycle to look at unless another one is chosen: that of the failure; of a bundle whose failure the oracle alone
    /// sees, the last one. None where nothing fails.
    ///
    /// # Errors
    /// [`BundleError`] when there is no run.
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

    /// Writes the wave of the cycles in `window` to `path`; nothing else is written, and the run goes no further. With
    /// what is inside if the library was built for it. Snapshots of the RTL are kept in the cache on the way, and where
    /// there is one of the same run, the model runs alone up to it. The save file beside it opens at `register`, if that is given.
    ///
    /// # Errors
    /// [`BundleError::Window`] when none of the cycles is run, [`BundleError`] when there is no run.
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
            // They only save time.
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

    /// The first register of the RTL that differs from its counterpart in the model, whether the ports show it or not.
    /// A difference that comes and goes between two comparisons is not seen; the ports are compared in every cycle.
    ///
    /// # Errors
    /// [`BundleError`] when there is no run, or `library` is not of [`Depth::Internals`].
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
            // From the last cycle in which all agreed, each.
            (from, every) = (agreed.unwrap_or(0), 1);
        }
    }

    /// What tells the run from every other one, the program included, which drives it; none where files that may change
    /// say what is run.
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

    /// In lockstep, after reset, without the oracle.
    fn session(&self, library: &Library) -> Result<Session<Lockstep>, BundleError> {
        let rtl = library.instantiate().map_err(Failure::from)?;
        Ok(Session::new(Lockstep::new(rtl, self.config().config)?, None))
    }

    /// Runs until `until` cycles are over.
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
        // What is found when memory is compared at the end of the window belongs to no cycle of it.
        if session.machine().cycles() >= until {
            return Ok(Ended::Reached);
        }
        Ok(outcome?.map_or(Ended::Over, |failed| Ended::Failed(Box::new(failed))))
    }
}

/// Cycles after which there may be a snapshot, from `cycle` back over the last million.
fn snapshots_before(cycle: u64) -> impl Iterator<Item = u64> {
    let last = cycle / CYCLES_BETWEEN_SNAPSHOTS;
    let first = (last + 1).saturating_sub(SNAPSHOTS_KEPT as u64).max(1);
    (first..=last).rev().map(|number| number * CYCLES_BETWEEN_SNAPSHOTS)
}
