//! The output folder of a regression: results on disk as they come, and a checkpoint to go on from.
//!
//! `results.jsonl` (and `timing.jsonl`, `records.jsonl`) grow by a line a test. `checkpoint.json` says
//! what the lines up to some place amount to, and is replaced as a whole: whatever ends a run, its
//! folder holds a whole checkpoint and the lines that belong to it. Resuming truncates the file after the last checkpoint.
//! Each line and each of the other files ends with a checksum over what stands before it.

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

/// Why the output folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A file or folder cannot be read or written.
    #[error("{0}{hint}", hint = hint(.0))]
    Io(#[from] io::Error),
    /// Something is there and is not what it should be: what was found, and what would work.
    #[error("`{path}`: {1}", path = .0.display())]
    Malformed(PathBuf, String),
    /// A run that was not finished lies there.
    #[error("`{}` holds a run that was interrupted after {tests} tests: go on with `atoms regress resume {}`, or begin anew with --force", path.display(), path.display())]
    Unfinished {
        /// The folder.
        path: PathBuf,
        /// Tests done.
        tests: u64,
    },
    /// Something else lies there.
    #[error("`{}` is there and is no output folder of a regression: name another one with --out", .0.display())]
    Foreign(PathBuf),
    /// Nothing was run there.
    #[error("`{}` is no output folder of a regression: it has no `run.json`", .0.display())]
    NoRun(PathBuf),
    /// A run was begun there and ended before its first checkpoint.
    #[error("`{}` has a run that was ended before its first checkpoint: begin it again, as it was begun, with `atoms regress`", .0.display())]
    NotBegun(PathBuf),
    /// Another process is at it.
    #[error("`{}` is being written by another process: wait for it or end it, or name another folder with --out", .0.display())]
    InUse(PathBuf),
}

fn hint(cause: &io::Error) -> &'static str {
    match cause.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "; results up to the last checkpoint are whole: make room, then `atoms regress resume`"
        }
        _ => "",
    }
}

/// What was run, for a run that goes on: `run.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunHeader {
    /// Version of the format of the folder.
    pub format: u32,
    /// What results depend on, beside the plan.
    pub origin: Origin,
    /// The plan.
    pub plan: PathBuf,
    /// Its text.
    pub text: String,
    /// Profile.
    pub profile: Option<String>,
    /// Seed.
    pub seed: u64,
    /// Tags in place of the profile's.
    pub tags: Vec<String>,
    /// Configurations in place of those of entries.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub configs: Vec<String>,
}

/// Version of the format of the folder.
pub const FORMAT: u32 = 3;

/// What the lines on disk amount to.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RunCheckpoint {
    /// All tests were run, or as many as the budget says.
    pub complete: bool,
    /// The state.
    pub state: RegressionState,
    /// What depends on the machine.
    pub timing: Timing,
    /// Bytes of `results.jsonl`, `timing.jsonl` and `records.jsonl`.
    pub lengths: Vec<u64>,
}

/// Files of lines, in the order of [`RunCheckpoint::lengths`].
const LINES: [&str; 3] = ["results.jsonl", "timing.jsonl", "records.jsonl"];

/// Folder of what tests leave that run alone.
pub const ALONE: &str = "alone";

/// How long a test took: a line of `timing.jsonl`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Took {
    /// Number of the test.
    pub index: u64,
    /// Wall time in milliseconds.
    pub ms: f64,
}

/// An output folder being written.
#[derive(Debug)]
pub struct Store {
    dir: PathBuf,
    files: Vec<Lines>,
    records: bool,
    /// While it is open, the folder is this process's.
    _claim: File,
}

/// Where the bundles of failures go.
#[derive(Clone, Debug)]
pub struct Bundles {
    folder: PathBuf,
    apart: bool,
}

impl Bundles {
    /// The folder for that of the failure that is the first of its kind here, in test `first`. What keeps
    /// records for a merge has a folder for each: of failures that turn out to be one, another may be the
    /// first in the whole run.
    pub fn of(&self, first: u64) -> PathBuf {
        // The name of the innermost is what a bundle tells people of its place.
        if self.apart { self.folder.join(first.to_string()).join(FAILURES) } else { self.folder.clone() }
    }
}

/// How long a run that is resumed waits for a process that was told to end.
const PATIENCE: Duration = Duration::from_secs(20);

/// Makes a folder this process's for as long as the file given is open.
fn claim(dir: &Path, patience: Duration) -> Result<File, StoreError> {
    let path = dir.join(HEADER);
    let file = OpenOptions::new().append(true).open(&path)?;
    let began = Instant::now();
    // Where the file system knows no locks, there is no check.
    while let Err(TryLockError::WouldBlock) = file.try_lock() {
        if began.elapsed() >= patience {
            return Err(StoreError::InUse(dir.to_path_buf()));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(file)
}

/// Takes away what a process that was killed had not finished: drafts of bundles, and what tests that ran
/// alone left.
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

/// An error unless nothing in the folder is worth going on with. Says so of folders of earlier versions too.
fn disposable(dir: &Path) -> Result<(), StoreError> {
    let path = dir.join(CHECKPOINT);
    let text = match fs::read(&path) {
        Ok(text) => text,
        // It was ended before its first checkpoint.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let anew = |reason: &dyn std::fmt::Display| {
        let reason = format!("{reason}; begin anew with `atoms regress --force`, and what is there is lost");
        StoreError::Malformed(path.clone(), reason)
    };
    let checkpoint: serde_json::Value = serde_json::from_slice(&text).map_err(|error| anew(&error))?;
    // Earlier versions wrote none.
    if let (Some(_), Err(broken)) = (checkpoint.get("sum"), checksum::opened(&text)) {
        return Err(anew(&broken));
    }
    if checkpoint["complete"] == true {
        return Ok(());
    }
    let number = |name| checkpoint["state"][name].as_u64().unwrap_or(0);
    match number("next").saturating_sub(number("from")) {
        // It was ended before its first test, or its RTL did not build.
        0 => Ok(()),
        tests => Err(StoreError::Unfinished { path: dir.to_path_buf(), tests }),
    }
}

/// Takes a file, or a folder with all that is in it, away.
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
    /// Opens a file and cuts it to its first `length` bytes.
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
    /// A new output folder. What is left there of a finished run is taken away; `force` also takes an
    /// interrupted one away. `records` keeps what a later merge needs.
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
                // The header last: killed in the middle, this is still the folder of a regression. The checkpoint
                // first: there is then nothing to go on from.
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

    /// Goes on in a folder, from its checkpoint.
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

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Where bundles go.
    pub fn bundles(&self) -> Bundles {
        Bundles { folder: self.dir.join(FAILURES), apart: self.records }
    }

    /// Writes down one test.
    ///
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

    /// Writes down what the lines amount to.
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

/// The checkpoint of a finished run in a folder that keeps records, when all lines are as they were written.
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
        "{there} bytes, but the checkpoint counts {length}: it was cut short; begin anew with `atoms regress --force`"
    );
    StoreError::Malformed(path, reason)
}

/// Whether the lines that a checkpoint counts are as they were written, one a test.
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
                "it counts {} tests from {from} to {next}, but there are {lines} results: begin anew with `atoms regress --force`",
                totals.tests()
            );
            return Err(StoreError::Malformed(path, reason));
        }
    }
    Ok(())
}

/// What a line says, if it is as it was written.
fn opened(path: &Path, number: u64, line: &[u8]) -> Result<Vec<u8>, StoreError> {
    checksum::opened(line).map_err(|broken| {
        let reason = format!("line {number}: {broken}; begin anew with `atoms regress --force`");
        StoreError::Malformed(path.to_path_buf(), reason)
    })
}

/// [`RunCheckpoint`], to be written without copying a state.
#[derive(Serialize)]
struct CheckpointRef<'a> {
    complete: bool,
    state: &'a RegressionState,
    timing: &'a Timing,
    lengths: Vec<u64>,
}

const HEADER: &str = "run.json";
const CHECKPOINT: &str = "checkpoint.json";

/// What was run in a folder.
///
/// # Errors
/// [`StoreError`].
pub fn header(dir: &Path) -> Result<RunHeader, StoreError> {
    let path = dir.join(HEADER);
    if !path.is_file() {
        return Err(StoreError::NoRun(dir.to_path_buf()));
    }
    // A folder of another version says so before anything else is wrong with it.
    let text = fs::read(&path)?;
    let format =
        serde_json::from_slice(&text).ok().and_then(|value: serde_json::Value| value["format"].as_u64());
    if let Some(format) = format.filter(|format| *format != u64::from(FORMAT)) {
        let reason = format!(
            "format {format}, but this version of ATOMS reads format {FORMAT}: begin anew with `atoms regress --force`"
        );
        return Err(StoreError::Malformed(path, reason));
    }
    read(&path)
}

/// The checkpoint of a folder.
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

/// The results of a folder, in order.
///
/// # Errors
/// [`StoreError`], for the file or for a line of it.
pub fn results(
    dir: &Path,
) -> Result<impl Iterator<Item = Result<TestResult, StoreError>> + use<>, StoreError> {
    lines(dir.join(LINES[0]))
}

/// How long the tests of a folder took, in order.
///
/// # Errors
/// [`StoreError`], for the file or for a line of it.
pub fn durations(dir: &Path) -> Result<impl Iterator<Item = Result<Took, StoreError>> + use<>, StoreError> {
    lines(dir.join(LINES[1]))
}

/// The records of a folder that keeps them, in order.
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

/// Reads what [`replace`] wrote.
///
/// # Errors
/// [`StoreError`].
pub fn read<T: DeserializeOwned>(path: &Path) -> Result<T, StoreError> {
    let text = fs::read(path)?;
    let damaged = |reason: &dyn std::fmt::Display| {
        let reason = format!("{reason}; begin anew with `atoms regress --force`");
        StoreError::Malformed(path.to_path_buf(), reason)
    };
    let own = checksum::opened(&text).map_err(|broken| damaged(&broken))?;
    serde_json::from_slice(&own).map_err(|error| damaged(&error))
}

/// Writes an object with a checksum, as a whole: the file is as it was or as it should be, never in between.
///
/// # Errors
/// [`StoreError::Io`].
pub fn replace(path: &Path, value: &impl Serialize) -> Result<(), StoreError> {
    let text = serde_json::to_vec(value).map_err(io::Error::from)?;
    Ok(write_whole(path, sealed(text))?)
}
