//! Cache of built libraries, in a folder.

use crate::build::{self, Sources};
use crate::store::entry::{BuildDir, LIBRARY, clear_leftovers, entry, own};
use crate::store::evict::{self, Cleaned};
use crate::store::manifest::InUse;
use crate::{BuildError, BuildSpec, Environment, Library, Progress, Toolchain};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Default size limit of all entries together, in MB: some hundred libraries. `ATOMS_CACHE_MB` overrides it.
const DEFAULT_MB: u64 = 2000;

/// Entry with files of another tool. The cache does not evict the entry while this value lives.
#[derive(Debug)]
pub struct CachedFiles {
    pub dir: PathBuf,
    pub made_now: bool,
    _in_use: InUse,
}

/// Built libraries in a folder that any number of processes may use at once.
///
/// One thread of one process builds an entry in a private folder and moves it into place in one step; others
/// wait. Each load checks the manifest, and a damaged entry is rebuilt. After a build, the least recently
/// used entries are removed until the rest fits the size limit. Entries in use stay.
#[derive(Clone, Debug)]
pub struct Cache {
    root: PathBuf,
    limit_mb: Option<OsString>,
}

impl Cache {
    pub fn new(env: &Environment) -> Self {
        Self { root: env.cache_dir(), limit_mb: env.cache_mb.clone() }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the library for `spec`, from the cache or newly built (10 to 30 seconds for 32 lanes).
    ///
    /// # Errors
    /// [`BuildError`]: the design, the tools or the cache folder is at fault.
    pub fn library(
        &self,
        spec: &BuildSpec,
        tools: &Toolchain,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Library, BuildError> {
        let limit = self.limit()?;
        let sources = Sources::read(spec)?;
        let key = build::key(spec, &sources, tools);
        let entry = entry(&self.root, &key, progress, |shop, progress| {
            build::build(spec, &sources, tools, &self.root, shop, progress)
        })?;
        if entry.built {
            // Ignore the error: a cache that is too large still works.
            let _ = evict::shrink(&self.root, limit);
        }
        Library::load(entry.dir.join(LIBRARY), key, entry.in_use)
    }

    /// Returns the entry `name` with files of another tool. `make` creates these files in a private folder,
    /// and returns the folder in it that becomes the entry: files, no folders.
    ///
    /// # Errors
    /// Errors of `make`; [`BuildError::Cache`], [`BuildError::Foreign`] and [`BuildError::CacheLimit`].
    pub fn files<E: From<BuildError>>(
        &self,
        name: &str,
        make: impl FnOnce(&BuildDir) -> Result<PathBuf, E>,
    ) -> Result<CachedFiles, E> {
        let limit = self.limit()?;
        let entry = entry(&self.root, name, &mut |_| {}, |shop, _| make(shop))?;
        if entry.built {
            // Ignore the error: a cache that is too large still works.
            let _ = evict::shrink(&self.root, limit);
        }
        Ok(CachedFiles { dir: entry.dir, made_now: entry.built, _in_use: entry.in_use })
    }

    /// Removes entries not used for `age` or longer, and leftovers of killed builds. Entries in use stay.
    ///
    /// # Errors
    /// [`BuildError::Foreign`] and [`BuildError::Cache`].
    pub fn clean(&self, age: Duration) -> Result<Cleaned, BuildError> {
        own(&self.root)?;
        clear_leftovers(&self.root);
        evict::older(&self.root, age).map_err(|source| BuildError::Cache(self.root.clone(), source))
    }

    pub(crate) fn limit(&self) -> Result<u64, BuildError> {
        let megabytes = match &self.limit_mb {
            None => Some(DEFAULT_MB),
            Some(text) => text.to_str().and_then(|text| text.parse().ok()),
        };
        let bytes = megabytes.and_then(|megabytes: u64| megabytes.checked_mul(1_000_000));
        let found = || self.limit_mb.as_ref().map(|text| text.display().to_string()).unwrap_or_default();
        bytes.ok_or_else(|| BuildError::CacheLimit(found()))
    }
}
