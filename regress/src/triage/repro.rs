//! Replays a bundle with its own RTL or other RTL.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use atoms_cosim::case::Case;
use atoms_cosim::case::trials::run_case;
use atoms_cosim::internals::Depth;
use atoms_cosim::lockstep::Lockstep;
use atoms_cosim::machine::Machine;
use atoms_cosim::rtl::{self, BuildStep};
use atoms_cosim::session::{Session, WATCHDOG_CYCLES};
use atoms_monitor::Listener;
use atoms_stimulus::configs::NamedConfig;
use atoms_verilated::Variant;
use fs_err as fs;
use walkdir::WalkDir;

use crate::triage::bundle::{files_named, finish, is_inside, session, sums, trace};
use crate::triage::error::BundleError;
use crate::triage::layout::file;
use crate::triage::record::{BundleRecord, read_json};
use crate::triage::replay::{Run, found};
use crate::triage::signature::Signature;
use crate::triage::test_failure::FailedRun;

#[derive(Clone, Debug)]
pub struct Bundle {
    pub folder: PathBuf,
    pub record: BundleRecord,
    pub config: NamedConfig,
    pub case: Option<Case>,
    pub run: Run,
    /// True if the RTL in the bundle is unchanged since the failure.
    pub rtl_is_its_own: bool,
    /// Hash of the RTL in the bundle; `None` if its source list names files outside the bundle, which are not
    /// read.
    pub rtl: Option<String>,
    /// Names of other files that have changed since the failure.
    pub changed: Vec<String>,
}

#[derive(Debug)]
pub struct Replayed {
    /// Failure of the replay; `None` if the replay passed.
    pub found: Option<FailedRun>,
    pub cycles: u64,
    /// True if the failure belongs to the bucket of the bundle.
    pub same: bool,
}

/// Cycles after the original failing cycle at which a replay without failure stops.
const CYCLES_AFTER: u64 = 2 * WATCHDOG_CYCLES;

impl Bundle {
    /// # Errors
    /// [`BundleError`] if files are missing, truncated or foreign, or if a file lies outside the folder.
    pub fn read(folder: &Path) -> Result<Bundle, BundleError> {
        check_files(folder)?;
        let record = BundleRecord::read(folder)?;
        let config = record.config(folder)?;
        let case = if record.case { Some(read_json(&folder.join(file::CASE))?) } else { None };
        let run: Run = read_json(&folder.join(file::ORIGINAL))?;
        stays_inside(folder, &run)?;
        let rtl_dir = folder.join(file::RTL);
        let followed = rtl::sources(&rtl_dir)?.iter().all(|name| is_inside(name));
        let rtl = if followed { Some(rtl::rtl_hash(&rtl_dir)?) } else { None };
        let rtl_is_its_own = rtl.as_ref() == Some(&record.rtl);
        let sums = sums(folder)?;
        let names: BTreeSet<_> = sums.keys().chain(record.files.keys()).collect();
        let differ = |name: &&String| sums.get(*name) != record.files.get(*name);
        let changed = names.into_iter().filter(differ).cloned().collect();
        let folder = folder.to_path_buf();
        Ok(Bundle { folder, record, config, case, run, rtl_is_its_own, rtl, changed })
    }

    pub fn rtl_dir(&self) -> PathBuf {
        self.folder.join(file::RTL)
    }

    /// # Errors
    /// [`BundleError`] if the RTL does not build.
    pub fn session(
        &self,
        rtl_dir: &Path,
        depth: Depth,
        progress: &mut dyn FnMut(&BuildStep),
    ) -> Result<Session<Lockstep>, BundleError> {
        session(&rtl::library(rtl_dir, &self.config, depth.variant(), progress)?, &self.config)
    }

    /// Runs the minimized case, or the original run if there is none. With `wave`, writes a wave of the whole
    /// case or of the last cycles of the run. The depth of the wave depends on the RTL library of the
    /// session.
    ///
    /// # Errors
    /// [`BundleError`] if the run cannot be repeated.
    pub fn replay<L: Listener>(
        &self,
        mut session: Session<Lockstep, L>,
        wave: Option<&Path>,
    ) -> Result<Replayed, BundleError> {
        if let Some(path) = wave {
            let before = self.record.cycle.saturating_sub(atoms_cosim::campaign::CYCLES_SHOWN);
            let from = if self.case.is_some() { 0 } else { before };
            if session.machine().library().variant() == Variant::Wave {
                session.machine_mut().show_inside(from..u64::MAX)?;
            }
            session.set_trace(Some(trace(path, &session, self.record.cycle)?.starting_at(from)));
        }
        let until = self.record.cycle.saturating_add(CYCLES_AFTER);
        let outcome = match &self.case {
            Some(case) => found(run_case(&mut session, case), &session, &self.config),
            None => self.run.replay(&mut session, &self.config, &self.folder, until),
        };
        if let Some(path) = wave {
            let _ = finish(&mut session, path)?;
        }
        let found = outcome?;
        let same = found.as_ref().is_some_and(|failed| self.is_same(&failed.signature));
        Ok(Replayed { found, cycles: session.tally().cycles, same })
    }

    /// Returns true if a failure with this signature belongs to the bucket of the bundle. A bucket without
    /// operation matches any operation.
    pub fn is_same(&self, signature: &Signature) -> bool {
        let expected = if self.case.is_some() { &self.record.key } else { &self.record.raw };
        [signature.clone(), signature.of_any_operation()].iter().any(|one| one.is_of(expected))
    }
}

/// Maximum size of JSON files and of other files. The second equals the largest buffer of a launch file.
const MOST_BYTES: [(&str, u64); 2] = [("64 MiB", 64 << 20), ("512 MiB", 512 << 20)];

/// Checks that a bundle from another machine has only files and folders, without links. Limits the size of
/// files, since they are read into memory.
fn check_files(folder: &Path) -> Result<(), BundleError> {
    for entry in WalkDir::new(folder).min_depth(1).into_iter().flatten() {
        let is_json = entry.path().extension().is_some_and(|extension| extension == "json");
        let (limit, most) = MOST_BYTES[usize::from(!is_json)];
        if entry.file_type().is_file() && entry.metadata().is_ok_and(|about| about.len() > most) {
            let reason = format!("it is larger than {limit}, the most that such a file may have in a bundle");
            return Err(BundleError::Foreign(entry.into_path(), reason));
        }
        if !entry.file_type().is_dir() && !entry.file_type().is_file() {
            let reason = "it is neither a file nor a folder; a bundle has no links, so copy the file itself"
                .to_string();
            return Err(BundleError::Foreign(entry.into_path(), reason));
        }
    }
    Ok(())
}

/// Returns an error if a run names files outside the bundle.
fn stays_inside(folder: &Path, run: &Run) -> Result<(), BundleError> {
    let Run::Kernel { listing, launch, .. } = run else { return Ok(()) };
    let check = |from: &str, name: &Path| {
        if is_inside(name) {
            return Ok(());
        }
        let name = name.display().to_string();
        let reason = format!("it names `{}`, which lies outside of the bundle", name.escape_debug());
        Err(BundleError::Foreign(folder.join(from), reason))
    };
    check(file::ORIGINAL, listing)?;
    check(file::ORIGINAL, launch)?;
    let text = fs::read_to_string(folder.join(launch)).map_err(BundleError::NotWhole)?;
    let mut names = Vec::new();
    // A malformed launch file is reported later, when it is read as such.
    if let Ok(table) = text.parse::<toml::Table>() {
        files_named(&toml::Value::Table(table), &mut names);
    }
    names.iter().try_for_each(|name| check(&launch.display().to_string(), name))
}
