//! Store of measured points, keyed by everything that a measurement depends on.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use atoms_cosim::rtl::RtlIdentity;
use atoms_stimulus::configs::parameters;
use atoms_verilated::hash;
use serde::{Deserialize, Serialize};

use super::outcome::PointUsage;
use crate::measure::{Measurement, Trial};

#[derive(Clone, Debug)]
pub struct PointStore {
    folder: PathBuf,
    /// Hash of the executable: another version may measure differently.
    program: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct KeptPoint {
    pub(super) measurement: Measurement,
    pub(super) usage: PointUsage,
    /// True if RTL and model agreed in lockstep and the oracle accepted every answer.
    pub(super) certified: bool,
}

impl PointStore {
    /// Opens the store in `folder` for results of this executable.
    ///
    /// # Errors
    /// When the executable's own file cannot be read.
    pub fn new(folder: &Path) -> std::io::Result<Self> {
        let program = std::env::current_exe().and_then(fs_err::read)?;
        Ok(PointStore { folder: folder.to_path_buf(), program: hash([program]) })
    }

    /// Returns the file of a measurement. Its name is a hash of everything that the measurement depends on.
    fn place(&self, trial: &Trial<'_>, rtl: &RtlIdentity) -> PathBuf {
        let about = serde_json::json!({
            "program": self.program,
            "rtl": rtl.hash,
            "parameters": parameters(&trial.config.config),
            "workload": trial.workload.identity(),
            "seed": trial.seed,
            "cycles": trial.limits.cycles,
            "patience": trial.limits.watchdog_cycles,
        });
        self.folder.join(format!("{}.json", &hash([about.to_string()])[..32]))
    }

    /// Returns the stored measurement of a point, the certified one if there is one.
    pub(super) fn get(&self, trial: &Trial<'_>, rtl: &RtlIdentity) -> Option<KeptPoint> {
        let text = std::fs::read_to_string(self.place(trial, rtl)).ok()?;
        // Ignore an incomplete file.
        serde_json::from_str(&text).ok()
    }

    /// Stores a measurement.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(super) fn put(&self, trial: &Trial<'_>, rtl: &RtlIdentity, point: &KeptPoint) -> std::io::Result<()> {
        let place = self.place(trial, rtl);
        fs_err::create_dir_all(&self.folder)?;
        // Write a draft and rename it, so that concurrent processes or threads never see an incomplete file.
        static DRAFTS: AtomicU64 = AtomicU64::new(0);
        let number = DRAFTS.fetch_add(1, Ordering::Relaxed);
        let draft = place.with_extension(format!("{}-{number}.part", std::process::id()));
        fs_err::write(&draft, serde_json::to_string(point)?)?;
        fs_err::rename(draft, place)
    }
}
