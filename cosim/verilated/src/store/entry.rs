//! Entries of the cache. An entry is found complete, or is made in a private folder and moved into place.

use crate::group::ToolGroup;
use crate::store::lock::{Asked, Lock};
use crate::store::manifest::{self, EntryState, InUse, private_dir};
use crate::{BuildError, Progress, owner};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

pub(crate) const LIBRARY: &str = "atoms.so";

/// Age from which a leftover is removed without locks. With locks, a free lock shows that the owner is dead.
const LEFTOVER_AGE: Duration = Duration::from_secs(24 * 60 * 60);

pub(crate) struct Entry {
    pub(crate) dir: PathBuf,
    /// Keeps the entry from being evicted.
    pub(crate) in_use: InUse,
    pub(crate) built: bool,
}

/// Returns a complete entry. If necessary, `make` prepares the folder that becomes the entry.
pub(crate) fn entry<E: From<BuildError>>(
    root: &Path,
    name: &str,
    progress: &mut dyn FnMut(&Progress),
    make: impl FnOnce(&BuildDir, &mut dyn FnMut(&Progress)) -> Result<PathBuf, E>,
) -> Result<Entry, E> {
    let dir = root.join(name);
    own(root)?;
    own(&dir)?;
    let cache = |source| BuildError::Cache(dir.clone(), source);
    let key = name.to_owned();
    let found = |built: bool, progress: &mut dyn FnMut(&Progress)| -> Option<Entry> {
        // Mark first: a marked entry is not evicted between this check and its use.
        let in_use = InUse::mark(&dir);
        if manifest::inspect(&dir) != EntryState::Whole {
            return None;
        }
        if !built {
            progress(&Progress::Cached(key.clone()));
        }
        Some(Entry { dir: dir.clone(), in_use, built })
    };
    if let Some(entry) = found(false, progress) {
        return Ok(entry);
    }
    std::fs::DirBuilder::new().recursive(true).mode(0o755).create(root).map_err(cache)?;
    let lock = root.join(format!(".{name}.lock"));
    let _held = Lock::wait(&lock, || progress(&Progress::Waiting(key.clone()))).map_err(cache)?;
    if let Some(entry) = found(false, progress) {
        return Ok(entry);
    }
    if let EntryState::Damaged(reason) = manifest::inspect(&dir) {
        manifest::discard(&dir).map_err(cache)?;
        progress(&Progress::Discarded(key.clone(), reason));
    }
    let shop = BuildDir::open(root)?;
    let prepared = make(&shop, progress)?;
    manifest::seal(&prepared).and_then(|()| manifest::install(&prepared, &dir)).map_err(cache)?;
    progress(&Progress::Built(key.clone()));
    found(true, progress)
        .ok_or_else(|| cache(io::Error::other("it was removed or changed as soon as it was built")).into())
}

/// Rejects files that another user could have written.
pub(crate) fn own(path: &Path) -> Result<(), BuildError> {
    let files = [path.to_path_buf(), path.join(LIBRARY), path.join(manifest::MANIFEST)];
    let foreign = files.into_iter().find_map(|path| Some((owner::objection(&path)?, path)));
    foreign.map_or(Ok(()), |(reason, path)| Err(BuildError::Foreign(path, reason)))
}

/// A private folder in the cache, and the group of the tools that work in it. Dropping the value ends both.
#[derive(Debug)]
pub struct BuildDir {
    dir: PathBuf,
    group: ToolGroup,
    /// Shows that the owner is alive.
    _lock: Lock,
}

impl BuildDir {
    pub(crate) fn open(root: &Path) -> Result<Self, BuildError> {
        let cache = |source| BuildError::Cache(root.to_path_buf(), source);
        clear_leftovers(root);
        // Use an absolute path, since tools run inside the folder.
        let dir = private_dir(&std::path::absolute(root).map_err(cache)?, "build");
        // Lock first: a folder without a lock is a leftover.
        let lock = Lock::wait(&lock_of(&dir), || {}).map_err(cache)?;
        std::fs::DirBuilder::new().mode(0o755).create(&dir).map_err(cache)?;
        let group = ToolGroup::start(&dir).map_err(|source| BuildError::Start("/bin/sh".into(), source))?;
        Ok(Self { dir, group, _lock: lock })
    }

    /// Returns the absolute path of the folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    pub fn group(&self) -> &ToolGroup {
        &self.group
    }

    pub fn folder(&self, name: &str) -> Result<PathBuf, BuildError> {
        let path = self.dir.join(name);
        match std::fs::create_dir_all(&path) {
            Ok(()) => Ok(path),
            Err(source) => Err(BuildError::Cache(path, source)),
        }
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> Result<PathBuf, BuildError> {
        let path = self.dir.join(name);
        let folder = path.parent().unwrap_or(&self.dir);
        match std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, content)) {
            Ok(()) => Ok(path),
            Err(source) => Err(BuildError::Cache(path, source)),
        }
    }
}

impl Drop for BuildDir {
    fn drop(&mut self) {
        // A later build removes whatever cannot be removed now.
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

fn lock_of(dir: &Path) -> PathBuf {
    let mut name = dir.as_os_str().to_owned();
    name.push(".lock");
    name.into()
}

/// Removes leftovers of dead processes: private folders, and locks that they held.
pub(crate) fn clear_leftovers(root: &Path) {
    for entry in std::fs::read_dir(root).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.ends_with(".lock") && name.starts_with('.') {
            // A free lock is taken here, and dropping it removes its file.
            let _ = Lock::ask(&entry.path());
        } else if [".build-", ".discard-"].iter().any(|start| name.starts_with(start)) {
            let modified = entry.metadata().and_then(|meta| meta.modified()).unwrap_or(SystemTime::now());
            let old = modified.elapsed().is_ok_and(|age| age > LEFTOVER_AGE);
            match Lock::ask(&lock_of(&entry.path())) {
                Ok(Asked::Held(_lock)) => drop(std::fs::remove_dir_all(entry.path())),
                Ok(Asked::Unsupported) if old => drop(std::fs::remove_dir_all(entry.path())),
                Ok(Asked::Unsupported | Asked::Taken) | Err(_) => {}
            }
        }
    }
}
