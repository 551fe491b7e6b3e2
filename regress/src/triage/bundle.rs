//! Bundle of a failure: a folder with everything needed to inspect and reproduce the failure on any machine.

use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path, PathBuf};

use atoms_cosim::campaign::{CYCLES_SHOWN, opinion_of_the_rtl};
use atoms_cosim::case::Case;
use atoms_cosim::case::trials::{Effort, run_case};
use atoms_cosim::lockstep::Lockstep;
use atoms_cosim::machine::Failure;
use atoms_cosim::rtl;
use atoms_cosim::scoreboard::Scoreboard;
use atoms_cosim::session::Session;
use atoms_cosim::trace::Trace;
use atoms_coverage::episode::Episode;
use atoms_faults::build::SchemataRtl;
use atoms_faults::cause::{self, CauseError, CauseSuspect};
use atoms_isa::Arch;
use atoms_monitor::Listener;
use atoms_stimulus::configs::{NamedConfig, parameters};
use atoms_verilated::{Environment, Library, Verilator};
use atoms_wave_write::WaveView;
use fs_err as fs;
use sha2::{Digest, Sha256};
use walkdir::{DirEntry as WalkEntry, WalkDir};

use crate::checksum::hex;
use crate::checksum::sealed;
use crate::triage::bucket::{Bucket, Status};
use crate::triage::error::BundleError;
use crate::triage::layout::{FORMAT, file};
use crate::triage::minimize::{MinimizedCase, minimize, minimize_recorded};
use crate::triage::page::page;
use crate::triage::page::text::{Report, text};
use crate::triage::page::timeline::timeline;
use crate::triage::page::wave_page::wave_page;
use crate::triage::record::{BundleRecord, json};
use crate::triage::replay::Run;
use crate::triage::signature::{FailureKind, Signature};
use crate::triage::test_failure::FailedRun;

/// Stimulus of the failed run.
#[derive(Clone, Copy, Debug)]
pub enum Original<'a> {
    Episode(&'a Episode),
    Case(&'a Case),
    Kernel {
        listing: &'a Path,
        launch: &'a Path,
        /// Architecture that overrides that of the PTX.
        arch: Option<Arch>,
    },
}

#[derive(Clone, Copy, Debug)]
pub struct BundleContext<'a> {
    pub test: &'a str,
    pub index: u64,
    pub seed: u64,
    pub config: &'a NamedConfig,
    pub rtl_dir: &'a Path,
    /// Library that was built from `rtl_dir` and ran the test.
    pub library: &'a Library,
    pub original: Original<'a>,
    /// Limit of the work for minimizing.
    pub effort: Effort,
    /// True if the likeliest causes are to be searched with the minimized case.
    pub causes: bool,
}

/// Writes the bundle of a failure to a folder below `parent`, with a minimized case if the recorded requests
/// suffice to find one. Returns the bucket of the test. The contents depend only on the failure.
///
/// If the folder exists, an earlier failure has the same final signature, and that bundle is kept. The folder
/// is created by renaming a draft, so it is always complete.
///
/// # Errors
/// [`BundleError`] if a file cannot be written or an RTL source cannot be read.
pub fn bundle(context: &BundleContext<'_>, failed: &FailedRun, parent: &Path) -> Result<Bucket, BundleError> {
    let mut small = smallest(context, failed)?;
    if let Some(small) = &mut small {
        small.failure.name_config(&context.config.name);
    }
    let small = small.as_ref();
    let signature = small.map_or(&failed.signature, |small| &small.signature);
    let folder = signature.slug();
    let shown =
        parent.file_name().map(|name| Path::new(name).join(&folder)).unwrap_or_else(|| folder.clone().into());
    let bucket = |place: &Path| Bucket {
        key: signature.clone(),
        status: Status::of(&failed.failure),
        tests: 1,
        first: context.index,
        first_name: context.test.to_string(),
        configs: vec![context.config.name.clone()],
        text: small.map_or_else(|| failed.failure.to_string(), |small| small.failure.to_string()),
        bundle: Some(shown.display().to_string()),
        files: files(place),
        requests: small.map(|small| small.case.requests() as u64),
        repeat: format!("atoms repro {}", shown.display()),
        suspect: BundleRecord::read(place).ok().and_then(|record| record.suspect),
        ..Bucket::default()
    };
    let place = parent.join(&folder);
    if place.exists() {
        return Ok(bucket(&place));
    }
    let draft = parent.join(format!(".{folder}.{}", std::process::id()));
    // A killed process with the same id may have left a draft.
    let _ = fs::remove_dir_all(&draft);
    let written = write(context, failed, small, signature, &draft).and_then(|()| {
        match fs::rename(&draft, &place) {
            // Another process has created the folder in the meantime.
            Err(_) if place.exists() => fs::remove_dir_all(&draft).map_err(BundleError::from),
            renamed => Ok(renamed?),
        }
    });
    if written.is_err() {
        let _ = fs::remove_dir_all(&draft);
    }
    written.map(|()| bucket(&place))
}

/// Lists the files of a bundle, page first. Folders hold only data for a replay.
fn files(bundle: &Path) -> Vec<String> {
    let entries = fs::read_dir(bundle).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort_by_key(|name| (!name.ends_with(".html"), name.clone()));
    names
}

fn put(folder: &Path, name: &str, content: impl AsRef<[u8]>) -> io::Result<()> {
    fs::write(folder.join(name), content)
}

/// Creates a session in lockstep with the oracle, after reset.
pub(crate) fn session(library: &Library, config: &NamedConfig) -> Result<Session<Lockstep>, BundleError> {
    let rtl = library.instantiate().map_err(Failure::from)?;
    let machine = Lockstep::of(rtl, config)?;
    let scoreboard = Scoreboard::of(&config.config, config.unit.as_deref());
    Ok(Session::new(machine, Some(scoreboard)))
}

fn smallest(context: &BundleContext<'_>, failed: &FailedRun) -> Result<Option<MinimizedCase>, BundleError> {
    if !failed.signature.kind.is_dut_failure() {
        return Ok(None);
    }
    let mut session = session(context.library, context.config)?;
    // A directed case is the only candidate to minimize.
    if let Original::Case(case) = context.original {
        let candidates = std::iter::once(case.clone());
        return Ok(minimize(&mut session, candidates, &failed.signature, context.effort));
    }
    Ok(failed.recorder.as_ref().and_then(|recorder| {
        minimize_recorded(&mut session, recorder, &context.config.name, &failed.signature, context.effort)
    }))
}

/// Number of causes in `causes.json`.
const CAUSES_KEPT: usize = 20;

/// Searches the likeliest causes of the failure of the minimized case. Returns `None` if not requested, or if
/// the failure is neither a mismatch nor an RTL failure. An error gives the reason why there is no list.
fn causes(
    context: &BundleContext<'_>,
    small: Option<&MinimizedCase>,
) -> Option<Result<Vec<CauseSuspect>, CauseError>> {
    // Mutants are compared by RTL and model. In an oracle violation these agree, so mutants cannot be ranked.
    let small = small
        .filter(|small| context.causes && matches!(small.failure, Failure::Mismatch(_) | Failure::Rtl(_)))?;
    let list = SchemataRtl::build(context.rtl_dir, context.config, &mut |_| {})
        .map_err(CauseError::from)
        .and_then(|schemata| cause::list(&schemata, &small.case));
    Some(list.map(|mut list| {
        list.truncate(CAUSES_KEPT);
        list
    }))
}

fn write(
    context: &BundleContext<'_>,
    failed: &FailedRun,
    small: Option<&MinimizedCase>,
    key: &Signature,
    folder: &Path,
) -> Result<(), BundleError> {
    fs::create_dir_all(folder)?;
    let run = original(context.original, folder)?;
    put(folder, file::ORIGINAL, json(&run))?;
    let sources = folder.join(file::RTL);
    fs::create_dir_all(&sources)?;
    for source in rtl::sources(context.rtl_dir)? {
        copy(&context.rtl_dir.join(&source), &sources.join(&source))?;
    }
    let verilator = Verilator::find(&Environment::from_process())
        .map_or_else(|_| "not found".to_string(), |verilator| verilator.version.to_string());
    let causes = causes(context, small);
    let first = causes.as_ref().and_then(|causes| causes.as_ref().ok()?.first());
    let record = BundleRecord {
        format: FORMAT,
        atoms: env!("CARGO_PKG_VERSION").to_string(),
        key: key.clone(),
        raw: failed.signature.clone(),
        cycle: failed.cycle,
        case: small.is_some(),
        test: context.test.to_string(),
        index: context.index,
        seed: context.seed,
        config: context.config.name.clone(),
        parameters: parameters(&context.config.config),
        rtl: rtl::rtl_hash(context.rtl_dir)?,
        verilator,
        suspect: first.map(CauseSuspect::headline),
        files: BTreeMap::new(),
    };
    let mut rows = Vec::new();
    let mut opinion = None;
    let mut wave_from = None;
    let mut view = None;
    let wave = folder.join(file::WAVE);
    if let Some(small) = small {
        put(folder, file::CASE, json(&small.case))?;
        rows = timeline(&mut session(context.library, context.config)?, &small.case).0;
        if context.config.unit.is_none() {
            opinion = opinion_of_the_rtl(context.library, &context.config.config, &small.case);
        }
        let mut session = session(context.library, context.config)?;
        session.set_trace(Some(trace(&wave, &session, small.cycle)?));
        // Ignore the result: the case fails, as expected.
        let _ = run_case(&mut session, &small.case);
        view = finish(&mut session, &wave)?;
        wave_from = Some(0);
    } else if !matches!(failed.signature.kind, FailureKind::Crash | FailureKind::Hang | FailureKind::Timeout)
    {
        let from = failed.cycle.saturating_sub(CYCLES_SHOWN);
        let mut session = session(context.library, context.config)?;
        session.set_trace(Some(trace(&wave, &session, failed.cycle)?.starting_at(from)));
        run.replay(&mut session, context.config, folder, failed.cycle.saturating_add(1))?;
        view = finish(&mut session, &wave)?;
        wave_from = Some(from);
    }
    if let Some(view) = view {
        put(folder, file::WAVE_PAGE, wave_page(&wave, &key.to_string(), &view, &run)?)?;
    }
    if let Some(Ok(suspects)) = &causes {
        put(folder, file::CAUSES, json(suspects))?;
    }
    let report = Report {
        record: &record,
        config: context.config,
        failed,
        run: &run,
        small,
        opinion: opinion.as_deref(),
        causes: causes.as_ref(),
        rows: &rows,
        wave_from,
    };
    put(folder, file::TEXT, text(&report))?;
    put(folder, file::PAGE, page(&report))?;
    // Write the record last: a folder without it is not a bundle.
    let record = BundleRecord { files: sums(folder)?, ..record };
    Ok(put(folder, file::RECORD, sealed(json(&record).into_bytes()))?)
}

/// Returns the SHA-256 of the files that a replay reads, except record and RTL, by name relative to `folder`.
pub(crate) fn sums(folder: &Path) -> Result<BTreeMap<String, String>, BundleError> {
    let kernel = WalkDir::new(folder.join(file::KERNEL)).into_iter().flatten();
    let kernel = kernel.filter(|entry| !entry.file_type().is_dir()).map(WalkEntry::into_path);
    let mut sums = BTreeMap::new();
    for path in [file::CASE, file::ORIGINAL].map(|name| folder.join(name)).into_iter().chain(kernel) {
        let name = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
        match fs::read(&path) {
            Ok(content) => _ = sums.insert(name, hex(Sha256::digest(content))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(BundleError::NotWhole(error)),
        }
    }
    Ok(sums)
}

pub(crate) fn trace<L: Listener>(
    path: &Path,
    session: &Session<Lockstep, L>,
    marker: u64,
) -> Result<Trace, BundleError> {
    Trace::create(path, session.machine(), Some(marker)).map_err(|error| no_wave(path, &error))
}

fn no_wave(path: &Path, error: &dyn std::error::Error) -> BundleError {
    io::Error::other(format!("cannot write `{}`: {error}", path.display())).into()
}

/// Completes the wave. Edits the save file to name the wave without its folder, so that the bundle can be
/// moved. Returns the view of the save file.
pub(crate) fn finish<L: Listener>(
    session: &mut Session<Lockstep, L>,
    path: &Path,
) -> Result<Option<WaveView>, BundleError> {
    let Some(trace) = session.take_trace() else { return Ok(None) };
    let view = trace.finish().map_err(|error| no_wave(path, &error))?;
    let layout = path.with_extension("gtkw");
    let text = fs::read_to_string(&layout)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let rest = text.split_once('\n').map_or("", |(_, rest)| rest);
    fs::write(&layout, format!("[dumpfile] \"{name}\"\n{rest}"))?;
    Ok(Some(view))
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let content = fs::read(from)?;
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(to, content)
}

/// Copies the input files of the failed run to `folder` and returns the run with paths relative to it.
fn original(original: Original<'_>, folder: &Path) -> Result<Run, BundleError> {
    let (listing, launch, arch) = match original {
        Original::Episode(episode) => return Ok(Run::Episode { episode: Box::new(episode.clone()) }),
        Original::Case(case) => return Ok(Run::Case { case: case.clone() }),
        Original::Kernel { listing, launch, arch } => (listing, launch, arch),
    };
    let carry = |path: &Path| {
        let name = Path::new(file::KERNEL).join(path.file_name().unwrap_or_default());
        copy(path, &folder.join(&name)).map(|()| name)
    };
    let copied = (carry(listing)?, carry(launch)?);
    let text = fs::read_to_string(launch)?;
    let table: toml::Table =
        text.parse().map_err(|error| BundleError::Replay(format!("`{}`: {error}", launch.display())))?;
    let mut files = Vec::new();
    files_named(&toml::Value::Table(table), &mut files);
    for name in files {
        if !is_inside(&name) {
            return Err(BundleError::Replay(format!(
                "`{}` of `{}` lies outside the launch file's folder",
                name.display(),
                launch.display()
            )));
        }
        copy(&launch.with_file_name("").join(&name), &folder.join(file::KERNEL).join(&name))?;
    }
    Ok(Run::Kernel { listing: copied.0, launch: copied.1, arch: arch.map(|arch| arch.to_string()) })
}

/// Returns true if a relative path has no `..` and so stays inside its folder.
pub(crate) fn is_inside(name: &Path) -> bool {
    name.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

pub(crate) fn files_named(value: &toml::Value, found: &mut Vec<PathBuf>) {
    match value {
        toml::Value::Table(table) => {
            for (key, value) in table {
                match value.as_str() {
                    Some(name) if key == "file" => found.push(PathBuf::from(name)),
                    _ => files_named(value, found),
                }
            }
        }
        toml::Value::Array(array) => array.iter().for_each(|value| files_named(value, found)),
        _ => {}
    }
}
