//! Output folder of a regression: result files, and a checkpoint to resume from.
//!
//! `results.jsonl`, `timing.jsonl` and `records.jsonl` grow by one line a test. `checkpoint.json` holds the
//! state after the first lines of these files and their length at that point. It is replaced atomically, so a
//! killed run leaves a valid checkpoint and all its lines. Resuming truncates the files after the last
//! checkpoint. Each line and each JSON file ends with a checksum of the text before it.

use std::fs::TryLockError;
use std::io::{self, BufRead, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fs_err::{self as fs, File, OpenOptions};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::checksum::{self, sealed};
use crate::run::origin::Origin;
use crate::run::result::TestResult;
use crate::run::state::{RegressionState, TestRecord};
use crate::run::timing::Timing;
use crate::triage::layout::FAILURES;
use crate::whole_file::write_whole;

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("{0}{hint}", hint = hint(.0))]
    Io(#[from] io::Error),
    /// A file has unexpected contents; the text says what was found and how to recover.
    #[error("`{path}`: {1}", path = .0.display())]
    Malformed(PathBuf, String),
    #[error("`{}` holds a run that was interrupted after {tests} tests: continue with `atoms regress resume {}`, or start again with --force", path.display(), path.display())]
    Unfinished { path: PathBuf, tests: u64 },
    #[error("`{}` exists and is not an output folder of a regression: choose another one with --output", .0.display())]
    Foreign(PathBuf),
    #[error("`{}` is not an output folder of a regression: it has no `run.json`", .0.display())]
    NoRun(PathBuf),
    #[error("`{}` has a run that ended before its first checkpoint: start it again with the same `atoms regress` command", .0.display())]
    NotBegun(PathBuf),
    #[error("`{}` is being written by another process: wait for it or end it, or choose another folder with --output", .0.display())]
    InUse(PathBuf),
}

fn hint(cause: &io::Error) -> &'static str {
    match cause.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "; results up to the last checkpoint are intact: make room on the disk, then `atoms regress resume`"
        }
        _ => "",
    }
}

/// Request and origin of a run, needed to resume it: `run.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunHeader {
    pub format: u32,
    pub origin: Origin,
    pub plan: PathBuf,
    /// Contents of the plan file, to detect changes.
    pub text: String,
    pub profile: Option<String>,
    pub seed: u64,
    /// Tags that override those of the profile.
    pub tags: Vec<String>,
    /// Configurations that override those of the plan entries.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub configs: Vec<String>,
    /// Declaration of the unit, if it is not this project's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<PathBuf>,
}

/// Version of the format of the output folder; raise it when the format changes.
pub const FORMAT: u32 = 3;

/// State of a run after the first lines of its files: `checkpoint.json`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RunCheckpoint {
    /// True if all tests have run, or as many as the budget allows.
    pub complete: bool,
    pub state: RegressionState,
    pub timing: Timing,
    /// Length in bytes of `results.jsonl`, `timing.jsonl` and `records.jsonl` at the checkpoint.
    pub lengths: Vec<u64>,
}

/// Line files, in the order of [`RunCheckpoint::lengths`].
const LINES: [&str; 3] = ["results.jsonl", "timing.jsonl", "records.jsonl"];

/// Folder for the bundles of tests that ran alone; deleted before a run resumes.
pub const ALONE: &str = "alone";

/// Wall time of one test: a line of `timing.jsonl`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Took {
    pub index: u64,
    pub ms: f64,
}

#[derive(Debug)]
pub struct Store {
    dir: PathBuf,
    files: Vec<Lines>,
    records: bool,
    /// Locked header file; the lock lasts while the file is open.
    _claim: File,
}

#[derive(Clone, Debug)]
pub struct Bundles {
    folder: PathBuf,
    apart: bool,
}

impl Bundles {
    /// Returns the folder for the bundle of a bucket whose first test in this run is `first`. A shard has a
    /// separate folder for each bucket, because a merge copies the bundle only if no earlier shard has a test
    /// in that bucket.
    pub fn of(&self, first: u64) -> PathBuf {
        // The innermost folder must be called `failures`, since bundles name it in their instructions.
        if self.apart { self.folder.join(first.to_string()).join(FAILURES) } else { self.folder.clone() }
    }
}

/// Time for which a resumed run waits for the lock of a process that is ending.
const PATIENCE: Duration = Duration::from_secs(20);

/// Locks a folder for this process until the returned file is closed.
fn claim(dir: &Path, patience: Duration) -> Result<File, StoreError> {
    let path = dir.join(HEADER);
    let file = OpenOptions::new().append(true).open(&path)?;
    let began = Instant::now();
    // File systems without locks skip this check.
    while let Err(TryLockError::WouldBlock) = file.try_lock() {
        if began.elapsed() >= patience {
            return Err(StoreError::InUse(dir.to_path_buf()));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(file)
}

/// Deletes leftovers of a killed process: bundle drafts, and the output of tests that ran alone.
fn tidy(dir: &Path) -> Result<(), StoreError> {
    let alone = dir.join(ALONE);
    if alone.exists() {
        fs::remove_dir_all(&alone)?;
    }
    let failures = dir.join(FAILURES);
    for entry in failures.read_dir().into_iter().flatten() {
        let entry = entry?;
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}

/// Returns an error if the folder holds results of an unfinished run. Also reads the formats of earlier
/// versions.
fn disposable(dir: &Path) -> Result<(), StoreError> {
    let path = dir.join(CHECKPOINT);
    let text = match fs::read(&path) {
        Ok(text) => text,
        // The run ended before its first checkpoint.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let anew = |reason: &dyn std::fmt::Display| {
        let reason = format!("{reason}; start again with `atoms regress --force`, which deletes its results");
        StoreError::Malformed(path.clone(), reason)
    };
    let checkpoint: serde_json::Value = serde_json::from_slice(&text).map_err(|error| anew(&error))?;
    // Earlier versions wrote no checksum.
    if let (Some(_), Err(broken)) = (checkpoint.get("sum"), checksum::opened(&text)) {
        return Err(anew(&broken));
    }
    if checkpoint["complete"] == true {
        return Ok(());
    }
    let number = |name| checkpoint["state"][name].as_u64().unwrap_or(0);
    match number("next").saturating_sub(number("from")) {
        // No test has run: the run was killed early, or its RTL did not build.
        0 => Ok(()),
        tests => Err(StoreError::Unfinished { path: dir.to_path_buf(), tests }),
    }
}

fn remove(path: &Path) -> io::Result<()> {
    let is_folder = fs::symlink_metadata(path).is_ok_and(|about| about.is_dir());
    if is_folder { fs::remove_dir_all(path) } else { fs::remove_file(path) }
}

#[derive(Debug)]
struct Lines {
    file: BufWriter<File>,
    length: u64,
}

impl Lines {
    fn open(path: PathBuf, length: u64) -> Result<Self, StoreError> {
        let file = OpenOptions::new().create(true).append(true).open(&path)?;
        let there = file.metadata()?.len();
        if there < length {
            return Err(not_that_long(path, there, length));
        }
        if there > length {
            file.set_len(length)?;
        }
        Ok(Lines { file: BufWriter::new(file), length })
    }

    fn push(&mut self, value: &impl Serialize) -> io::Result<()> {
        let mut line = sealed(serde_json::to_vec(value)?);
        line.push(b'\n');
        self.length += line.len() as u64;
        self.file.write_all(&line)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.flush().and_then(|()| self.file.get_ref().sync_data())
    }
}

impl Store {
    /// Creates an output folder. Deletes a finished run there, and with `force` also an unfinished one.
    /// `records` also writes `records.jsonl`, which a merge needs.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn create(dir: &Path, header: &RunHeader, records: bool, force: bool) -> Result<Self, StoreError> {
        if dir.exists() {
            // Ignore a header that was only partly written.
            let draft = format!(".{HEADER}.");
            let mut names = Vec::new();
            for entry in fs::read_dir(dir)? {
                names.push(entry?.file_name());
            }
            let there = names.iter().any(|name| !name.to_string_lossy().starts_with(&draft));
            if there && !dir.join(HEADER).is_file() {
                return Err(StoreError::Foreign(dir.to_path_buf()));
            }
            if there {
                let _claim = claim(dir, Duration::ZERO)?;
                if !force {
                    disposable(dir)?;
                }
                // Delete the checkpoint first, so that a killed deletion leaves nothing to resume. Delete the
                // header last, so that the folder remains a recognizable output folder.
                names.sort_by_key(|name| (name == HEADER, name != CHECKPOINT));
                for name in names {
                    remove(&dir.join(name))?;
                }
            }
        }
        fs::create_dir_all(dir)?;
        replace(&dir.join(HEADER), header)?;
        let claim = claim(dir, Duration::ZERO)?;
        Self::at(dir, records, &[0; 3], claim)
    }

    /// Opens a folder to resume its run, and returns its checkpoint.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn reopen(dir: &Path, records: bool) -> Result<(Self, RunCheckpoint), StoreError> {
        let claim = claim(dir, PATIENCE)?;
        tidy(dir)?;
        let mut checkpoint = checkpoint(dir)?;
        let store = Self::at(dir, records, &checkpoint.lengths, claim)?;
        verify_lines(dir, &checkpoint)?;
        checkpoint.state = checkpoint.state.revived();
        Ok((store, checkpoint))
    }

    fn at(dir: &Path, records: bool, lengths: &[u64], claim: File) -> Result<Self, StoreError> {
        let names = LINES.iter().take(if records { 3 } else { 2 });
        let open =
            |(at, name): (usize, &&str)| Lines::open(dir.join(name), lengths.get(at).copied().unwrap_or(0));
        let files = names.enumerate().map(open).collect::<Result<_, _>>()?;
        Ok(Store { dir: dir.to_path_buf(), files, records, _claim: claim })
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    pub fn bundles(&self) -> Bundles {
        Bundles { folder: self.dir.join(FAILURES), apart: self.records }
    }

    /// # Errors
    /// [`StoreError::Io`].
    pub fn push(&mut self, record: &TestRecord, ms: f64) -> Result<(), StoreError> {
        let took = Took { index: record.result.index, ms };
        if let [results, timing, records @ ..] = &mut self.files[..] {
            results.push(&record.result)?;
            timing.push(&took)?;
            if let (true, [records]) = (self.records, records) {
                records.push(record)?;
            }
        }
        Ok(())
    }

    /// Flushes the line files and replaces the checkpoint.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn checkpoint(
        &mut self,
        state: &RegressionState,
        timing: &Timing,
        complete: bool,
    ) -> Result<(), StoreError> {
        for lines in &mut self.files {
            lines.sync()?;
        }
        let lengths = self.files.iter().map(|lines| lines.length).collect();
        let checkpoint = CheckpointRef { complete, state, timing, lengths };
        replace(&self.dir.join(CHECKPOINT), &checkpoint)
    }
}

/// Returns the checkpoint of a finished run, after checking the length and checksums of all its lines.
///
/// # Errors
/// [`StoreError`].
pub fn verified(dir: &Path) -> Result<RunCheckpoint, StoreError> {
    let checkpoint = checkpoint(dir)?;
    for (name, length) in LINES.iter().zip(&checkpoint.lengths) {
        let path = dir.join(name);
        let there = fs::metadata(&path)?.len();
        if there != *length {
            return Err(not_that_long(path, there, *length));
        }
    }
    verify_lines(dir, &checkpoint)?;
    Ok(RunCheckpoint { state: checkpoint.state.revived(), ..checkpoint })
}

fn not_that_long(path: PathBuf, there: u64, length: u64) -> StoreError {
    let reason = format!(
        "{there} bytes, but the checkpoint counts {length}: it was cut short; start again with `atoms regress --force`"
    );
    StoreError::Malformed(path, reason)
}

/// Checks that the lines before the checkpoint are undamaged, one a test.
fn verify_lines(dir: &Path, checkpoint: &RunCheckpoint) -> Result<(), StoreError> {
    let RegressionState { from, next, totals, .. } = &checkpoint.state;
    for (name, length) in LINES.iter().zip(&checkpoint.lengths) {
        let path = dir.join(name);
        let file = File::open(&path)?.take(*length);
        let mut lines = 0;
        for line in io::BufReader::new(file).split(b'\n') {
            lines += 1;
            opened(&path, lines, &line?)?;
        }
        if next.checked_sub(*from) != Some(lines) || totals.tests() != lines {
            let path = dir.join(CHECKPOINT);
            let reason = format!(
                "it counts {} tests from {from} to {next}, but there are {lines} results: start again with `atoms regress --force`",
                totals.tests()
            );
            return Err(StoreError::Malformed(path, reason));
        }
    }
    Ok(())
}

/// Returns the contents of a line after verifying its checksum.
fn opened(path: &Path, number: u64, line: &[u8]) -> Result<Vec<u8>, StoreError> {
    checksum::opened(line).map_err(|broken| {
        let reason = format!("line {number}: {broken}; start again with `atoms regress --force`");
        StoreError::Malformed(path.to_path_buf(), reason)
    })
}

/// Borrowed form of [`RunCheckpoint`], which avoids a copy of the state.
#[derive(Serialize)]
struct CheckpointRef<'a> {
    complete: bool,
    state: &'a RegressionState,
    timing: &'a Timing,
    lengths: Vec<u64>,
}

const HEADER: &str = "run.json";
const CHECKPOINT: &str = "checkpoint.json";

/// # Errors
/// [`StoreError`].
pub fn header(dir: &Path) -> Result<RunHeader, StoreError> {
    let path = dir.join(HEADER);
    if !path.is_file() {
        return Err(StoreError::NoRun(dir.to_path_buf()));
    }
    // Check the format first, so that a folder of another version gets no misleading error.
    let text = fs::read(&path)?;
    let format =
        serde_json::from_slice(&text).ok().and_then(|value: serde_json::Value| value["format"].as_u64());
    if let Some(format) = format.filter(|format| *format != u64::from(FORMAT)) {
        let reason = format!(
            "format {format}, but this version of ATOMS reads format {FORMAT}: start again with `atoms regress --force`"
        );
        return Err(StoreError::Malformed(path, reason));
    }
    read(&path)
}

/// Reads the checkpoint of a folder without checking the line files.
///
/// # Errors
/// [`StoreError`].
pub fn checkpoint(dir: &Path) -> Result<RunCheckpoint, StoreError> {
    let path = dir.join(CHECKPOINT);
    match path.exists() {
        true => read(&path),
        false => Err(StoreError::NotBegun(dir.to_path_buf())),
    }
}

/// # Errors
/// [`StoreError`], for the file or for a line of it.
pub fn results(
    dir: &Path,
) -> Result<impl Iterator<Item = Result<TestResult, StoreError>> + use<>, StoreError> {
    lines(dir.join(LINES[0]))
}

/// # Errors
/// [`StoreError`], for the file or for a line of it.
pub fn durations(dir: &Path) -> Result<impl Iterator<Item = Result<Took, StoreError>> + use<>, StoreError> {
    lines(dir.join(LINES[1]))
}

/// Reads the records of a folder, in plan order; only folders of shards have them.
///
/// # Errors
/// [`StoreError`], for the file or for a line of it.
pub fn records(
    dir: &Path,
) -> Result<impl Iterator<Item = Result<TestRecord, StoreError>> + use<>, StoreError> {
    lines(dir.join(LINES[2]))
}

fn lines<T: DeserializeOwned>(
    path: PathBuf,
) -> Result<impl Iterator<Item = Result<T, StoreError>>, StoreError> {
    let file = File::open(&path)?;
    let lines = io::BufReader::new(file).split(b'\n').zip(1..);
    Ok(lines.map(move |(line, number)| {
        let line = line?;
        serde_json::from_slice(&opened(&path, number, &line)?)
            .map_err(|error| StoreError::Malformed(path.clone(), format!("line {number}: {error}")))
    }))
}

/// # Errors
/// [`StoreError`].
pub fn read<T: DeserializeOwned>(path: &Path) -> Result<T, StoreError> {
    let text = fs::read(path)?;
    let damaged = |reason: &dyn std::fmt::Display| {
        let reason = format!("{reason}; start again with `atoms regress --force`");
        StoreError::Malformed(path.to_path_buf(), reason)
    };
    let own = checksum::opened(&text).map_err(|broken| damaged(&broken))?;
    serde_json::from_slice(&own).map_err(|error| damaged(&error))
}

/// Writes an object with a checksum. The file is replaced atomically, so that a crash leaves the old or the
/// new contents.
///
/// # Errors
/// [`StoreError::Io`].
pub fn replace(path: &Path, value: &impl Serialize) -> Result<(), StoreError> {
    let text = serde_json::to_vec(value).map_err(io::Error::from)?;
    Ok(write_whole(path, sealed(text))?)
}
