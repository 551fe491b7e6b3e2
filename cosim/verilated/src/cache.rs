//! The folder of built libraries.

use crate::build::{self, Sources};
use crate::store::entry::{BuildDir, LIBRARY, clear_leftovers, entry, own};
use crate::store::evict::{self, Cleaned};
use crate::store::manifest::InUse;
use crate::{BuildError, BuildSpec, Environment, Library, Progress, Toolchain};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Size in MB that the entries may have together unless `ATOMS_CACHE_MB` says otherwise: some hundred libraries.
const DEFAULT_MB: u64 = 2000;

/// An entry of files that another tool made; it is not evicted while this is held.
#[derive(Debug)]
pub struct CachedFiles {
    pub dir: PathBuf,
    pub made_now: bool,
    _in_use: InUse,
}

/// Built libraries, in a folder that any number of processes may use at once.
///
/// An entry is built in a private folder and moved into place in one step, by one thread of one process; the others
/// that ask for it wait. It is checked against its manifest each time it is loaded, and rebuilt if it does not match.
/// After a build, the entries used least recently go until the rest fits the size limit; never those in use.
#[derive(Clone, Debug)]
pub struct Cache {
    root: PathBuf,
    limit_mb: Option<OsString>,
}

impl Cache {
    /// The cache of this environment; see [`Environment::cache_dir`].
    pub fn new(env: &Environment) -> Self {
        Self { root: env.cache_dir(), limit_mb: env.cache_mb.clone() }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The library for `spec`, from the cache or newly built (10 to 30 seconds for 32 lanes).
    ///
    /// # Errors
    /// Says whether the design, the tools or the cache folder is at fault; see [`BuildError`].
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
            // A cache that is too large is no reason to fail.
            let _ = evict::shrink(&self.root, limit);
        }
        Library::load(entry.dir.join(LIBRARY), key, entry.in_use)
    }

    /// The entry `name` of files that another tool makes, from the cache or made now by `make`, in a private folder of
    /// which it gives the one that becomes the entry: files, no folders.
    ///
    /// # Errors
    /// Those of `make`; [`BuildError::Cache`], [`BuildError::Foreign`] and [`BuildError::CacheLimit`].
    pub fn files<E: From<BuildError>>(
        &self,
        name: &str,
        make: impl FnOnce(&BuildDir) -> Result<PathBuf, E>,
    ) -> Result<CachedFiles, E> {
        let limit = self.limit()?;
        let entry = entry(&self.root, name, &mut |_| {}, |shop, _| make(shop))?;
        if entry.built {
            // A cache that is too large is no reason to fail.
            let _ = evict::shrink(&self.root, limit);
        }
        Ok(CachedFiles { dir: entry.dir, made_now: entry.built, _in_use: entry.in_use })
    }

    /// Removes what has not been used for `age` or longer, and what killed builds left behind; nothing that is in use.
    ///
    /// # Errors
    /// [`BuildError::Foreign`] and [`BuildError::Cache`].
    pub fn clean(&self, age: Duration) -> Result<Cleaned, BuildError> {
        own(&self.root)?;
        clear_leftovers(&self.root);
        evict::older(&self.root, age).map_err(|source| BuildError::Cache(self.root.clone(), source))
    }

    /// The size limit in bytes.
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
