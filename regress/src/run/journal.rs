//! Journals on disk: each worker writes down the test that it runs, so that a crash or hang has suspects.
//!
//! The RTL is C++ code in the process of the workers. A failed RTL assertion is an ordinary error. An `abort`
//! or `exit` in the RTL ends the process, and an endless loop blocks its worker indefinitely. Therefore the
//! supervisor reads the journals. When the process dies, the supervisor runs the suspected tests again, each
//! in its own process. When a test shows no progress, the supervisor kills the process. The supervisor
//! records tests that die again or hang, and resumes the run without them.

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

/// Journal of one worker: a file of one line, `BEATS WHAT INDEX SECONDS EPISODE`. Drop deletes the file, so a
/// file that is left after the process has ended names a suspect.
#[derive(Debug)]
pub struct WorkerJournal {
    path: PathBuf,
    heart: Heart,
}

/// Heartbeat of a worker: a counter at the start of its [`WorkerJournal`] file.
#[derive(Clone, Debug)]
struct Heart {
    file: Arc<File>,
    beats: Arc<AtomicU64>,
}

/// Hexadecimal digits of the heartbeat counter in the file.
const BEAT_DIGITS: usize = 16;

impl Heart {
    fn text(&self) -> String {
        format!("{:0BEAT_DIGITS$x}", self.beats.fetch_add(1, Ordering::Relaxed))
    }

    fn beat(&self) {
        let _ = self.file.write_all_at(self.text().as_bytes(), 0);
    }
}

/// Listener that writes a heartbeat every `CYCLES_PER_BEAT` cycles of a session.
#[derive(Debug)]
pub struct Pulse {
    heart: Heart,
    cycles: u32,
}

/// Clock cycles between heartbeats: a few milliseconds in a small configuration, a second in the slowest.
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

/// Task of a worker that may have crashed or hung.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Suspect {
    Test(u64),
    /// Triage of the failure of the test with this index.
    Bundle(u64),
}

#[derive(Clone, Debug, PartialEq)]
pub struct AtWork {
    pub what: Suspect,
    /// Time without a heartbeat after which the task counts as hung.
    pub patience: Duration,
    /// Random run in progress, if any.
    pub episode: Option<Episode>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Crash {
    pub death: Death,
    /// True if the process died while other tests ran in parallel, but the test alone ran to its end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub beside_others: bool,
    /// Random run that was in progress, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub episode: Option<Episode>,
    /// True if the process died during triage of the failure, after the test itself had ended.
    pub bundle: bool,
}

impl Crash {
    pub fn failure(&self) -> TestFailure {
        TestFailure::Died { death: self.death, beside_others: self.beside_others }
    }
}

/// Upper bound of the time without a heartbeat for any test. The RTL simulates one cycle in far less than a
/// second.
const MOST_PATIENCE: Duration = Duration::from_secs(60);

/// Time allowed beyond the limit of a test. The worker enforces that limit itself while the RTL makes
/// progress.
const GRACE: Duration = Duration::from_secs(5);

/// Time allowed for triage, which builds RTL and minimizes a case without writing heartbeats.
const BUNDLE_PATIENCE: Duration = Duration::from_secs(600);

/// Returns the time without a heartbeat after which a test with this limit counts as hung.
pub fn patience(limit: Duration) -> Duration {
    limit.min(MOST_PATIENCE) + GRACE
}

impl WorkerJournal {
    /// # Errors
    /// [`StoreError::Io`].
    pub fn open(dir: &Path, worker: usize) -> Result<Self, StoreError> {
        let folder = dir.join(RUNNING);
        fs::create_dir_all(&folder)?;
        let path = folder.join(format!("{}-{worker}", std::process::id()));
        let file = Arc::new(File::create(&path)?);
        Ok(WorkerJournal { path, heart: Heart { file, beats: Arc::default() } })
    }

    /// Records the test in progress, its limit and its random run. Ignores write errors, since a missing
    /// entry only makes a crash harder to locate.
    pub fn test(&self, index: u64, limit: Duration, episode: Option<&Episode>) {
        let episode = episode.and_then(|episode| serde_json::to_string(episode).ok()).unwrap_or_default();
        self.put(&format!("test {index} {} {episode}", patience(limit).as_secs_f64()));
    }

    pub fn bundle(&self, index: u64) {
        self.put(&format!("bundle {index} {} ", BUNDLE_PATIENCE.as_secs()));
    }

    pub fn idle(&self) {
        self.put("idle");
    }

    fn put(&self, text: &str) {
        // A single write replaces the first line. The rest of a longer old entry stays on the second line.
        let text = format!("{} {text}\n", self.heart.text());
        let _ = self.heart.file.write_all_at(text.as_bytes(), 0);
    }

    pub fn pulse(&self) -> Pulse {
        Pulse { heart: self.heart.clone(), cycles: 0 }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for WorkerJournal {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Returns the journals of a process, also after the process has died. The text of each entry is the first
/// line of the file, which changes with every heartbeat.
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
        // A worker that ended after the folder was listed has deleted its file and has no task.
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

/// Deletes the journals of all processes.
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

/// # Errors
/// [`StoreError::Io`].
pub fn write_crash(dir: &Path, index: u64, crash: &Crash) -> Result<(), StoreError> {
    let folder = dir.join(CRASHED);
    fs::create_dir_all(&folder)?;
    replace(&folder.join(format!("{index}.json")), crash)
}

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
