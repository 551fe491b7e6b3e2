//! A loaded library: the design in one configuration, from which any number of models are made.

use crate::abi::{Api, Layout};
use crate::store::manifest::InUse;
use crate::{BuildError, Point, Rtl, RtlError, Variant};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// A Verilated design in one configuration and variant. Cloning is cheap; the library stays loaded
/// as long as a clone or a model of it lives.
#[derive(Clone)]
pub struct Library {
    loaded: Arc<Loaded>,
}

struct Loaded {
    api: Api,
    layout: Layout,
    key: String,
    path: PathBuf,
    /// What the variant counts; as the first model that was asked has it.
    points: OnceLock<Arc<[Point]>>,
    /// Kept for its lifetime alone.
    _in_use: InUse,
}

impl Library {
    /// Loads the verified library at `path`, built under `key` and marked as in use.
    pub(crate) fn load(path: PathBuf, key: String, in_use: InUse) -> Result<Self, BuildError> {
        let failed = |reason: String| BuildError::Load(path.clone(), reason);
        let api = Api::load(&path).map_err(|error| {
            // The error itself only names the call; what the loader says is its cause.
            let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}"));
            failed(format!("{error}{}", cause.unwrap_or_default()))
        })?;
        let layout = api.checked_layout().map_err(failed)?;
        Ok(Self {
            loaded: Arc::new(Loaded { api, layout, key, path, points: OnceLock::new(), _in_use: in_use }),
        })
    }

    /// A new model, all registers and memory zero, out of reset or not as its inputs say.
    ///
    /// # Errors
    /// [`RtlError::Failed`] when its construction fails, which is to say without memory.
    pub fn instantiate(&self) -> Result<Rtl, RtlError> {
        Rtl::new(self.clone())
    }

    /// Lanes of the configuration.
    pub fn lanes(&self) -> usize {
        self.loaded.layout.lanes as usize
    }

    pub fn banks(&self) -> usize {
        self.loaded.layout.banks as usize
    }

    /// Rows of each bank.
    pub fn rows(&self) -> usize {
        self.loaded.layout.rows as usize
    }

    /// Words of all banks.
    pub fn words(&self) -> usize {
        self.banks() * self.rows()
    }

    /// Variant it was built as.
    pub fn variant(&self) -> Variant {
        self.loaded.layout.variant
    }

    /// Key in the cache: equal for equal sources, flags and tools.
    pub fn key(&self) -> &str {
        &self.loaded.key
    }

    /// The file it was loaded from.
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
