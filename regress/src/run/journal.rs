//! Which tests are at work, on disk: what to suspect when the process dies or hangs.
//!
//! The RTL is C++ in the process of the workers. An assertion of it is an error like any other, but an
//! abort or an `exit` ends the process, and an endless loop never gives its worker back. The process that
//! started it therefore reads what its workers are at: it runs the tests that were at work when the
//! process died alone, one process each, and kills the process when a test shows no progress. Tests that
//! die again or hang are written down, and the run goes on behind them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use atoms_coverage::episode::Episode;
use atoms_monitor::Cycle;
use atoms_monitor::Listener;
use fs_err::os::unix::fs::FileExt;
use fs_err::{self as fs, File};
use serde::{Deserialize, Serialize};

use crate::run::store::{StoreError, read, replace};
use crate::triage::death::Death;
use crate::triage::test_failure::TestFailure;

const RUNNING: &str = "running";
const CRASHED: &str = "crashed";

/// What one worker is at: a file of one line, `BEATS WHAT INDEX SECONDS EPISODE`. It goes away with this
/// value, so what is left when the process has ended was at work.
#[derive(Debug)]
pub struct WorkerJournal {
    path: PathBuf,
    heart: Heart,
}

/// Counts signs of life in the file of a [`WorkerJournal`].
#[derive(Clone, Debug)]
struct Heart {
    file: Arc<File>,
    beats: Arc<AtomicU64>,
}

/// Digits of the count of beats.
const BEAT_DIGITS: usize = 16;

impl Heart {
    fn text(&self) -> String {
        format!("{:0BEAT_DIGITS$x}", self.beats.fetch_add(1, Ordering::Relaxed))
    }

    fn beat(&self) {
        let _ = self.file.write_all_at(self.text().as_bytes(), 0);
    }
}

/// Says every `CYCLES_PER_BEAT` cycles of a session that the RTL goes on.
#[derive(Debug)]
pub struct Pulse {
    heart: Heart,
    cycles: u32,
}

/// Cycles between beats: some milliseconds in a small configuration, a second in the slowest.
const CYCLES_PER_BEAT: u32 = 1 << 10;

impl Listener for Pulse {
    fn cycle(&mut self, _: &Cycle<'_>) {
        self.cycles += 1;
        if self.cycles >= CYCLES_PER_BEAT {
            self.cycles = 0;
            self.heart.beat();
        }
    }
}

/// What a worker is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Suspect {
    /// A test.
    Test(u64),
    /// The bundle of a test that had failed.
    Bundle(u64),
}

/// What a worker is at, as its file says.
#[derive(Clone, Debug, PartialEq)]
pub struct AtWork {
    /// What.
    pub what: Suspect,
    /// Time without a sign of life after which it hangs.
    pub patience: Duration,
    /// The random run, if it is one.
    pub episode: Option<Episode>,
}

/// A test whose process died.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Crash {
    /// How.
    pub death: Death,
    /// It did so beside other tests; alone it comes to its end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub beside_others: bool,
    /// The random run that was at work, if it was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub episode: Option<Episode>,
    /// It died of looking closer at the failure; the test itself came to an end.
    pub bundle: bool,
}

impl Crash {
    /// Why the test did not pass.
    pub fn failure(&self) -> TestFailure {
        TestFailure::Died { death: self.death, beside_others: self.beside_others }
    }
}

/// Time without a sign of life that a test is given at most, whatever its limit: the step from one cycle to
/// the next takes far below a second.
const MOST_PATIENCE: Duration = Duration::from_secs(60);

/// What a test is given beyond its own limit, which it keeps itself while its RTL goes on.
const GRACE: Duration = Duration::from_secs(5);

/// Time that a bundle is given: it builds RTL, and makes a case small without signs of life.
const BUNDLE_PATIENCE: Duration = Duration::from_secs(600);

/// Time without a sign of life after which a test with this limit hangs.
pub fn patience(limit: Duration) -> Duration {
    limit.min(MOST_PATIENCE) + GRACE
}

impl WorkerJournal {
    /// The journal of `worker` of this process.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn open(dir: &Path, worker: usize) -> Result<Self, StoreError> {
        let folder = dir.join(RUNNING);
        fs::create_dir_all(&folder)?;
        let path = folder.join(format!("{}-{worker}", std::process::id()));
        let file = Arc::new(File::create(&path)?);
        Ok(WorkerJournal { path, heart: Heart { file, beats: Arc::default() } })
    }

    /// Says that the worker is at a test with this limit, and in which random run of it. A journal that cannot
    /// be written to only makes a crash harder to pin down, so that is no reason to stop.
    pub fn test(&self, index: u64, limit: Duration, episode: Option<&Episode>) {
        let episode = episode.and_then(|episode| serde_json::to_string(episode).ok()).unwrap_or_default();
        self.put(&format!("test {index} {} {episode}", patience(limit).as_secs_f64()));
    }

    /// Says that the worker is at the bundle of a test.
    pub fn bundle(&self, index: u64) {
        self.put(&format!("bundle {index} {} ", BUNDLE_PATIENCE.as_secs()));
    }

    /// Says that the worker is at nothing.
    pub fn idle(&self) {
        self.put("idle");
    }

    fn put(&self, text: &str) {
        // One write; what a longer entry left behind is on the next line.
        let text = format!("{} {text}\n", self.heart.text());
        let _ = self.heart.file.write_all_at(text.as_bytes(), 0);
    }

    /// What shows signs of life while a session goes on.
    pub fn pulse(&self) -> Pulse {
        Pulse { heart: self.heart.clone(), cycles: 0 }
    }

    /// Its file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for WorkerJournal {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// What the workers of a process are at, or were at when it died: the first line of the file of each, which
/// changes with every sign of life, and what it says.
///
/// # Errors
/// [`StoreError::Io`].
pub fn at_work(dir: &Path, process: u32) -> Result<Vec<(String, AtWork)>, StoreError> {
    let folder = dir.join(RUNNING);
    let mut found = Vec::new();
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(found),
        Err(error) => return Err(error.into()),
    };
    let own = format!("{process}-");
    for entry in entries {
        let path = entry?.path();
        if !path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&own)) {
            continue;
        }
        // A file that goes away while it is looked for has nothing at work.
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let line = text.lines().next().unwrap_or_default();
        if let Some(at_work) = AtWork::parse(line) {
            found.push((line.to_string(), at_work));
        }
    }
    Ok(found)
}

impl AtWork {
    fn parse(line: &str) -> Option<AtWork> {
        let mut words = line.splitn(5, ' ').skip(1);
        let (kind, index) = (words.next()?, words.next()?.parse().ok()?);
        let what = match kind {
            "test" => Suspect::Test(index),
            "bundle" => Suspect::Bundle(index),
            _ => return None,
        };
        let patience = Duration::try_from_secs_f64(words.next()?.parse().ok()?).ok()?;
        let episode = words.next().and_then(|episode| serde_json::from_str(episode).ok());
        Some(AtWork { what, patience, episode })
    }
}

/// Clears all journals.
///
/// # Errors
/// [`StoreError::Io`].
pub fn clear(dir: &Path) -> Result<(), StoreError> {
    let folder = dir.join(RUNNING);
    if folder.is_dir() {
        fs::remove_dir_all(&folder)?;
    }
    Ok(())
}

/// Writes down that a test's process died.
///
/// # Errors
/// [`StoreError::Io`].
pub fn write_crash(dir: &Path, index: u64, crash: &Crash) -> Result<(), StoreError> {
    let folder = dir.join(CRASHED);
    fs::create_dir_all(&folder)?;
    replace(&folder.join(format!("{index}.json")), crash)
}

/// Tests whose process died, by index.
///
/// # Errors
/// [`StoreError`].
pub fn crashes(dir: &Path) -> Result<BTreeMap<u64, Crash>, StoreError> {
    let folder = dir.join(CRASHED);
    let mut found = BTreeMap::new();
    if !folder.is_dir() {
        return Ok(found);
    }
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        let index = path.file_stem().and_then(|stem| stem.to_str()?.parse().ok());
        let (Some(index), true) = (index, path.extension().is_some_and(|e| e == "json")) else { continue };
        found.insert(index, read(&path)?);
    }
    Ok(found)
}
