//! Which tests are at work, on disk: what to suspect when the process dies.
//!
//! The RTL is C++ in the process of the workers. An assertion of it is an error like any other, but an
//! abort ends the process. Then whoever started the process runs the tests that were at work alone, one
//! process each; those that die again are written down as crashed, and the run goes on behind them.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::episode::Episode;
use crate::store::{StoreError, reading, replace, writing};

const RUNNING: &str = "running";
const CRASHED: &str = "crashed";

/// What one worker is at.
#[derive(Debug)]
pub struct Desk {
    path: PathBuf,
    file: File,
}

/// What a worker was at when the process died.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Suspect {
    /// A test.
    Test(u64),
    /// The bundle of a test that had failed.
    Bundle(u64),
}

/// How a test's process died.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Crash {
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// In words: `signal 6 (SIGABRT)`.
    pub how: String,
    /// The random run that was at work, if it was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub episode: Option<Episode>,
    /// It died of looking closer at the failure; the test itself came to an end.
    pub bundle: bool,
}

impl Desk {
    /// The desk of `worker`.
    ///
    /// # Errors
    /// [`StoreError::Write`].
    pub fn open(dir: &Path, worker: usize) -> Result<Self, StoreError> {
        let folder = dir.join(RUNNING);
        fs::create_dir_all(&folder).map_err(writing(&folder))?;
        let path = folder.join(worker.to_string());
        let file = File::create(&path).map_err(writing(&path))?;
        Ok(Desk { path, file })
    }

    /// Says what the worker is at, and in which random run of it, or that it is at nothing. A desk that
    /// cannot be written to only makes a crash harder to pin down, so that is no reason to stop.
    pub fn put(&self, what: Option<Suspect>, episode: Option<&Episode>) {
        let mut text = match what {
            None => String::new(),
            Some(Suspect::Test(index)) => format!("test {index}"),
            Some(Suspect::Bundle(index)) => format!("bundle {index}"),
        };
        if let Some(Ok(episode)) = episode.map(serde_json::to_string) {
            text = format!("{text} {episode}");
        }
        // One write; what a longer entry left behind is on the next line.
        let _ = self.file.write_all_at(format!("{text}\n").as_bytes(), 0);
    }

    /// Its file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// What the workers of a process that died were at, and in which random run.
///
/// # Errors
/// [`StoreError::Read`].
pub fn suspects(dir: &Path) -> Result<BTreeMap<Suspect, Option<Episode>>, StoreError> {
    let folder = dir.join(RUNNING);
    let mut found = BTreeMap::new();
    if !folder.is_dir() {
        return Ok(found);
    }
    for entry in fs::read_dir(&folder).map_err(reading(&folder))? {
        let path = entry.map_err(reading(&folder))?.path();
        let text = fs::read_to_string(&path).map_err(reading(&path))?;
        let mut words = text.lines().next().unwrap_or_default().splitn(3, ' ');
        let suspect = match (words.next(), words.next().and_then(|number| number.parse().ok())) {
            (Some("test"), Some(index)) => Suspect::Test(index),
            (Some("bundle"), Some(index)) => Suspect::Bundle(index),
            _ => continue,
        };
        let episode = words.next().and_then(|episode| serde_json::from_str(episode).ok());
        found.insert(suspect, episode);
    }
    Ok(found)
}

/// Clears all desks.
///
/// # Errors
/// [`StoreError::Write`].
pub fn clear(dir: &Path) -> Result<(), StoreError> {
    let folder = dir.join(RUNNING);
    if folder.is_dir() {
        fs::remove_dir_all(&folder).map_err(writing(&folder))?;
    }
    Ok(())
}

/// Writes down that a test's process died.
///
/// # Errors
/// [`StoreError::Write`].
pub fn write_crash(dir: &Path, index: u64, crash: &Crash) -> Result<(), StoreError> {
    let folder = dir.join(CRASHED);
    fs::create_dir_all(&folder).map_err(writing(&folder))?;
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
    for entry in fs::read_dir(&folder).map_err(reading(&folder))? {
        let path = entry.map_err(reading(&folder))?.path();
        let index = path.file_stem().and_then(|stem| stem.to_str()?.parse().ok());
        let (Some(index), true) = (index, path.extension().is_some_and(|e| e == "json")) else { continue };
        let text = fs::read_to_string(&path).map_err(reading(&path))?;
        let crash = serde_json::from_str(&text)
            .map_err(|error| StoreError::Malformed { path: path.clone(), reason: error.to_string() })?;
        found.insert(index, crash);
    }
    Ok(found)
}
