//! Replays a bundle, on its own RTL or on another one.

use std::path::{Path, PathBuf};

use atoms_cosim::campaign::run_case;
use atoms_cosim::case::Case;
use atoms_cosim::configs::NamedConfig;
use atoms_cosim::rtl;
use atoms_cosim::session::{Failure, PATIENCE};
use atoms_verilated::{Progress, Variant};

use crate::failure::bucket::{Finding, Key};
use crate::failure::bundle::{BundleError, finish, session, trace};
use crate::failure::record::{Record, file, read_json};
use crate::failure::replay::{Run, found};

/// A bundle as it was read.
#[derive(Clone, Debug)]
pub struct Bundle {
    /// Its folder.
    pub folder: PathBuf,
    /// What it is about.
    pub record: Record,
    /// Its configuration.
    pub config: NamedConfig,
    /// The smallest case, if there is one.
    pub case: Option<Case>,
    /// What was run.
    pub run: Run,
    /// Whether the RTL in it is still that of the failure.
    pub rtl_is_its_own: bool,
}

/// What a replay came to.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// What was found, if anything was.
    pub found: Option<Finding>,
    /// Cycles run.
    pub cycles: u64,
    /// Whether it is the bucket of the bundle that showed.
    pub same: bool,
}

/// What happens after the failing cycle is of no interest: a run without the defect stops some cycles on.
const CYCLES_AFTER: u64 = 2 * PATIENCE;

impl Bundle {
    /// The bundle in `folder`.
    ///
    /// # Errors
    /// [`BundleError`] when files are missing, cut short, or of something else.
    pub fn read(folder: &Path) -> Result<Bundle, BundleError> {
        let record = Record::read(folder)?;
        let config = record.config(folder)?;
        let case = if record.case { Some(read_json(&folder.join(file::CASE))?) } else { None };
        let run = read_json(&folder.join(file::ORIGINAL))?;
        let rtl_is_its_own = rtl::rtl_hash(&folder.join(file::RTL))? == record.rtl;
        Ok(Bundle { folder: folder.to_path_buf(), record, config, case, run, rtl_is_its_own })
    }

    /// Folder of the RTL it carries.
    pub fn rtl_dir(&self) -> PathBuf {
        self.folder.join(file::RTL)
    }

    /// Runs the case, or the whole run where there is none, on the RTL in `rtl_dir`; with a wave in `wave`, of
    /// the whole case or of the last cycles of the run.
    ///
    /// # Errors
    /// [`BundleError`] when the RTL does not build or the run cannot be repeated.
    pub fn replay(
        &self,
        rtl_dir: &Path,
        wave: Option<&Path>,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Replayed, BundleError> {
        let library = rtl::library(rtl_dir, &self.config, Variant::Fast, progress)?;
        let mut session = session(&library, &self.config)?;
        if let Some(path) = wave {
            let trace = trace(path, &session, self.record.cycle)?;
            let from = self.record.cycle.saturating_sub(atoms_cosim::campaign::CYCLES_SHOWN);
            session.trace = Some(if self.case.is_some() { trace } else { trace.starting_at(from) });
        }
        let until = self.record.cycle.saturating_add(CYCLES_AFTER);
        let outcome = match &self.case {
            Some(case) => run_case(&mut session, case)
                .map(|_| None)
                .or_else(|failure: Failure| found(failure, &session, &self.config).map(Some)),
            None => self.run.replay(&mut session, &self.config, &self.folder, until),
        };
        if let Some(path) = wave {
            finish(&mut session, path)?;
        }
        let found = outcome?;
        let same = found.as_ref().is_some_and(|finding| self.is_same(&finding.key));
        Ok(Replayed { found, cycles: session.tally().cycles, same })
    }

    /// Whether a failure with this key is of the bundle's bucket. A bucket without an operation has failures of
    /// any.
    pub fn is_same(&self, key: &Key) -> bool {
        let expected = if self.case.is_some() { &self.record.key } else { &self.record.raw };
        key == expected || key.of_any_operation() == *expected
    }
}
