//! A loaded library: the design in one configuration. Any number of models can be made from it.

use crate::abi::{Api, Layout};
use crate::store::manifest::InUse;
use crate::{BuildError, Point, Rtl, RtlError, Variant};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// A design in one configuration and variant. It stays loaded as long as a clone or a model of it lives.
#[derive(Clone)]
pub struct Library {
    loaded: Arc<Loaded>,
}

struct Loaded {
    api: Api,
    layout: Layout,
    key: String,
    path: PathBuf,
    points: OnceLock<Arc<[Point]>>,
    /// Keeps the cache entry from being evicted.
    _in_use: InUse,
}

impl Library {
    /// Loads the verified library at `path`, which was built under `key` and is marked as in use.
    pub(crate) fn load(path: PathBuf, key: String, in_use: InUse) -> Result<Self, BuildError> {
        let failed = |reason: String| BuildError::Load(path.clone(), reason);
        let api = Api::load(&path).map_err(|error| {
            // The error itself only names the call. Its cause has the loader's message.
            let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}"));
            failed(format!("{error}{}", cause.unwrap_or_default()))
        })?;
        let layout = api.checked_layout().map_err(failed)?;
        Ok(Self {
            loaded: Arc::new(Loaded { api, layout, key, path, points: OnceLock::new(), _in_use: in_use }),
        })
    }

    /// Creates a model with all registers and memory 0. Its inputs decide if it is in reset.
    ///
    /// # Errors
    /// [`RtlError::Failed`] if the model cannot be constructed, for lack of memory.
    pub fn instantiate(&self) -> Result<Rtl, RtlError> {
        Rtl::new(self.clone())
    }

    pub fn lanes(&self) -> usize {
        self.loaded.layout.lanes as usize
    }

    pub fn banks(&self) -> usize {
        self.loaded.layout.banks as usize
    }

    pub fn rows(&self) -> usize {
        self.loaded.layout.rows as usize
    }

    pub fn words(&self) -> usize {
        self.banks() * self.rows()
    }

    pub fn variant(&self) -> Variant {
        self.loaded.layout.variant
    }

    /// Returns the key in the cache. Equal sources, flags and tools have equal keys.
    pub fn key(&self) -> &str {
        &self.loaded.key
    }

    pub fn path(&self) -> &Path {
        &self.loaded.path
    }

    pub(crate) fn api(&self) -> &Api {
        &self.loaded.api
    }

    pub(crate) fn points(&self) -> &OnceLock<Arc<[Point]>> {
        &self.loaded.points
    }
}

impl fmt::Debug for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Library")
            .field("key", &self.loaded.key)
            .field("layout", &self.loaded.layout)
            .finish_non_exhaustive()
    }
}
