//! Replays a bundle, on its own RTL or on another one.

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

/// A bundle as it was read.
#[derive(Clone, Debug)]
pub struct Bundle {
    /// Its folder.
    pub folder: PathBuf,
    /// What it is about.
    pub record: BundleRecord,
    /// Its configuration.
    pub config: NamedConfig,
    /// The smallest case, if there is one.
    pub case: Option<Case>,
    /// What was run.
    pub run: Run,
    /// Whether the RTL in it is still that of the failure.
    pub rtl_is_its_own: bool,
    /// Hash of the RTL in it; `None` where its list names files outside of the bundle, which are not read.
    pub rtl: Option<String>,
    /// Other files in it that are no longer those of the failure.
    pub changed: Vec<String>,
}

/// What a replay came to.
#[derive(Debug)]
pub struct Replayed {
    /// What was found, if anything was.
    pub found: Option<FailedRun>,
    /// Cycles run.
    pub cycles: u64,
    /// Whether it is the bucket of the bundle that showed.
    pub same: bool,
}

/// What happens after the failing cycle is of no interest: a run without the defect stops some cycles on.
const CYCLES_AFTER: u64 = 2 * WATCHDOG_CYCLES;

impl Bundle {
    /// The bundle in `folder`.
    ///
    /// # Errors
    /// [`BundleError`] when files are missing, cut short, or of something else, and when one lies outside of it.
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

    /// Folder of the RTL it carries.
    pub fn rtl_dir(&self) -> PathBuf {
        self.folder.join(file::RTL)
    }

    /// A session with the RTL in `rtl_dir`, to replay on, with a wave of this depth.
    ///
    /// # Errors
    /// [`BundleError`] when the RTL does not build.
    pub fn session(
        &self,
        rtl_dir: &Path,
        depth: Depth,
        progress: &mut dyn FnMut(&BuildStep),
    ) -> Result<Session<Lockstep>, BundleError> {
        session(&rtl::library(rtl_dir, &self.config, depth.variant(), progress)?, &self.config)
    }

    /// Runs the case, or the whole run where there is none; with a wave in `wave`, of the whole case or of the
    /// last cycles of the run, as deep as the session's RTL allows.
    ///
    /// # Errors
    /// [`BundleError`] when the run cannot be repeated.
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

    /// Whether a failure with this signature is of the bundle's bucket. A bucket without an operation has failures
    /// of any.
    pub fn is_same(&self, signature: &Signature) -> bool {
        let expected = if self.case.is_some() { &self.record.key } else { &self.record.raw };
        [signature.clone(), signature.of_any_operation()].iter().any(|one| one.is_of(expected))
    }
}

/// Most bytes of a JSON file, and of any other file: the largest buffer of a launch file has as many.
const MOST_BYTES: [(&str, u64); 2] = [("64 MiB", 64 << 20), ("512 MiB", 512 << 20)];

/// A bundle is copied from place to place: it has files and folders, and nothing that leads out of it. Files are read
/// whole, so their size is limited.
fn check_files(folder: &Path) -> Result<(), BundleError> {
    for entry in WalkDir::new(folder).min_depth(1).into_iter().flatten() {
        let is_json = entry.path().extension().is_some_and(|extension| extension == "json");
        let (limit, most) = MOST_BYTES[usize::from(!is_json)];
        if entry.file_type().is_file() && entry.metadata().is_ok_and(|about| about.len() > most) {
            let reason = format!("it is larger than {limit}, the most that such a file of a bundle may have");
            return Err(BundleError::Foreign(entry.into_path(), reason));
        }
        if !entry.file_type().is_dir() && !entry.file_type().is_file() {
            let reason = "it is neither a file nor a folder; a bundle has no links".to_string();
            return Err(BundleError::Foreign(entry.into_path(), reason));
        }
    }
    Ok(())
}

/// An error if a run names files that lie outside of the bundle.
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
    // What is no launch file is refused when it is read as one.
    if let Ok(table) = text.parse::<toml::Table>() {
        files_named(&toml::Value::Table(table), &mut names);
    }
    names.iter().try_for_each(|name| check(&launch.display().to_string(), name))
}
