//! Entries of the folder of built libraries: found whole, or made in a private folder and moved into place.

use crate::group::ToolGroup;
use crate::store::lock::{Asked, Lock};
use crate::store::manifest::{self, EntryState, InUse, private_dir};
use crate::{BuildError, Progress, owner};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Name of the library in its entry.
pub(crate) const LIBRARY: &str = "atoms.so";

/// Age at which a leftover is removed where the file system has no locks, which would tell that its owner is dead.
const LEFTOVER_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// A whole entry of a cache.
pub(crate) struct Entry {
    pub(crate) dir: PathBuf,
    /// Keeps it from being evicted.
    pub(crate) in_use: InUse,
    pub(crate) built: bool,
}

/// The entry `name` of the cache at `root`. Where it is not there whole, `make` prepares it in a private folder, and
/// gives the folder that is to become the entry.
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
        // The mark first: what is marked is not evicted between our look and its use.
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

/// Refuses what another user could have put there.
pub(crate) fn own(path: &Path) -> Result<(), BuildError> {
    let files = [path.to_path_buf(), path.join(LIBRARY), path.join(manifest::MANIFEST)];
    let foreign = files.into_iter().find_map(|path| Some((owner::objection(&path)?, path)));
    foreign.map_or(Ok(()), |(reason, path)| Err(BuildError::Foreign(path, reason)))
}

/// A private folder in the cache, and the group of the tools that work in it; both gone when dropped.
#[derive(Debug)]
pub struct BuildDir {
    dir: PathBuf,
    group: ToolGroup,
    /// Says that the owner lives.
    _lock: Lock,
}

impl BuildDir {
    pub(crate) fn open(root: &Path) -> Result<Self, BuildError> {
        let cache = |source| BuildError::Cache(root.to_path_buf(), source);
        clear_leftovers(root);
        // Absolute, since tools run inside it.
        let dir = private_dir(&std::path::absolute(root).map_err(cache)?, "build");
        // Before there is a folder: one without a lock is a leftover.
        let lock = Lock::wait(&lock_of(&dir), || {}).map_err(cache)?;
        std::fs::DirBuilder::new().mode(0o755).create(&dir).map_err(cache)?;
        let group = ToolGroup::start(&dir).map_err(|source| BuildError::Start("/bin/sh".into(), source))?;
        Ok(Self { dir, group, _lock: lock })
    }

    /// Its path, absolute.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The tools that work here.
    pub fn group(&self) -> &ToolGroup {
        &self.group
    }

    /// A folder inside it, made if need be.
    ///
    /// # Errors
    /// [`BuildError::Cache`].
    pub fn folder(&self, name: &str) -> Result<PathBuf, BuildError> {
        let path = self.dir.join(name);
        match std::fs::create_dir_all(&path) {
            Ok(()) => Ok(path),
            Err(source) => Err(BuildError::Cache(path, source)),
        }
    }

    /// Writes a file inside it, and gives its path.
    ///
    /// # Errors
    /// [`BuildError::Cache`].
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
        // What cannot be removed now is a leftover for a later build.
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

/// The lock that the owner of a private folder holds.
fn lock_of(dir: &Path) -> PathBuf {
    let mut name = dir.as_os_str().to_owned();
    name.push(".lock");
    name.into()
}

/// Removes what dead processes left behind: private folders, and locks that they held.
pub(crate) fn clear_leftovers(root: &Path) {
    for entry in std::fs::read_dir(root).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.ends_with(".lock") && name.starts_with('.') {
            // Free: taken, and gone when dropped here.
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
