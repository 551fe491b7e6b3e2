//! The folder of built libraries.

use crate::build::{self, Sources};
use crate::manifest::{self, State, private_dir};
use crate::{BuildError, BuildSpec, Environment, Library, Progress, Toolchain};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};

/// Name of the library in its entry.
pub(crate) const LIBRARY: &str = "atoms.so";

/// Age at which what a killed build left behind is cleared away.
const LEFTOVER_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// How often an entry that vanishes between being found whole and being loaded is looked for again.
const ATTEMPTS: usize = 3;

/// Built libraries, in a folder that any number of processes may use at once.
///
/// An entry is built in a private folder and moved into place in one step. It is checked against
/// its manifest each time it is loaded, and rebuilt if it does not match.
#[derive(Clone, Debug)]
pub struct Cache {
    root: PathBuf,
}

impl Cache {
    /// The cache of this environment; see [`Environment::cache_dir`].
    pub fn new(env: &Environment) -> Self {
        Self { root: env.cache_dir() }
    }

    /// The folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The library for `spec`, from the cache or newly built (10 to 30 seconds for 32 lanes).
    ///
    /// Threads that ask for the same library at once build it once; processes may each build it, and
    /// then use the one that was finished first.
    ///
    /// # Errors
    /// Says whether the design, the tools or the cache folder is at fault; see [`BuildError`].
    pub fn library(
        &self,
        spec: &BuildSpec,
        tools: &Toolchain,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Library, BuildError> {
        let sources = Sources::read(spec)?;
        let key = build::key(spec, &sources, tools);
        let dir = self.root.join(&key);
        let lock = lock_for(&dir);
        let _held = lock.lock().unwrap_or_else(PoisonError::into_inner);
        let mut attempt = 1;
        loop {
            match manifest::inspect(&dir) {
                State::Whole => progress(&Progress::Cached { key: key.clone() }),
                State::Absent => self.build(spec, &sources, tools, &key, progress)?,
                State::Damaged(reason) => {
                    manifest::discard(&dir)
                        .map_err(|source| BuildError::Cache { path: dir.clone(), source })?;
                    progress(&Progress::Discarded { key: key.clone(), reason });
                    self.build(spec, &sources, tools, &key, progress)?;
                }
            }
            match Library::load(dir.join(LIBRARY), key.clone()) {
                // Another process has just discarded it.
                Err(BuildError::Load { path, .. }) if attempt < ATTEMPTS && !path.exists() => attempt += 1,
                result => return result,
            }
        }
    }

    fn build(
        &self,
        spec: &BuildSpec,
        sources: &Sources,
        tools: &Toolchain,
        key: &str,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<(), BuildError> {
        let shop = Workshop::open(&self.root)?;
        let entry = build::build(spec, sources, tools, &self.root, &shop, progress)?;
        let dir = self.root.join(key);
        manifest::seal(&entry)
            .and_then(|()| manifest::install(&entry, &dir))
            .map_err(|source| BuildError::Cache { path: dir, source })?;
        progress(&Progress::Built { key: key.to_owned() });
        Ok(())
    }
}

/// One lock for each entry of any cache, so that threads of this process build an entry once.
fn lock_for(dir: &Path) -> Arc<Mutex<()>> {
    static LOCKS: OnceLock<Mutex<HashMap<PathBuf, Arc<Mutex<()>>>>> = OnceLock::new();
    let mut locks = LOCKS.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    locks.entry(dir.to_path_buf()).or_default().clone()
}

/// A private folder in the cache, gone when dropped.
#[derive(Debug)]
pub(crate) struct Workshop {
    dir: PathBuf,
}

impl Workshop {
    pub(crate) fn open(root: &Path) -> Result<Self, BuildError> {
        let cache = |source| BuildError::Cache { path: root.to_path_buf(), source };
        std::fs::create_dir_all(root).map_err(cache)?;
        clear_leftovers(root);
        let dir = private_dir(root, "build");
        std::fs::create_dir(&dir).map_err(cache)?;
        // Absolute, since tools run inside it.
        let dir = dir.canonicalize().map_err(cache)?;
        Ok(Self { dir })
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// A folder inside it, made if need be.
    pub(crate) fn folder(&self, name: &str) -> Result<PathBuf, BuildError> {
        let path = self.dir.join(name);
        match std::fs::create_dir_all(&path) {
            Ok(()) => Ok(path),
            Err(source) => Err(BuildError::Cache { path, source }),
        }
    }

    /// Writes a file inside it, and gives its path.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> Result<PathBuf, BuildError> {
        let path = self.dir.join(name);
        let folder = path.parent().unwrap_or(&self.dir);
        match std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, content)) {
            Ok(()) => Ok(path),
            Err(source) => Err(BuildError::Cache { path, source }),
        }
    }
}

impl Drop for Workshop {
    fn drop(&mut self) {
        // What cannot be removed now is a leftover for a later build.
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

/// Removes private folders that no living build can be using.
fn clear_leftovers(root: &Path) {
    for entry in std::fs::read_dir(root).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let private = [".build-", ".discard-"].iter().any(|start| name.to_string_lossy().starts_with(start));
        let modified = entry.metadata().and_then(|meta| meta.modified()).unwrap_or(SystemTime::now());
        if private && modified.elapsed().is_ok_and(|age| age > LEFTOVER_AGE) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}
