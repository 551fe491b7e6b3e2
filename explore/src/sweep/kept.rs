//! Points that were measured before, by what they depend on.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use atoms_cosim::rtl::RtlIdentity;
use atoms_stimulus::configs::parameters;
use atoms_verilated::hash;
use serde::{Deserialize, Serialize};

use super::outcome::PointUsage;
use crate::measure::{Measurement, Trial};

/// Measurements in a folder, one file each.
#[derive(Clone, Debug)]
pub struct PointStore {
    folder: PathBuf,
    /// Of the program: another one may measure otherwise.
    program: String,
}

/// What is kept of a point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct KeptPoint {
    pub(super) measurement: Measurement,
    /// What the run made of the unit.
    pub(super) usage: PointUsage,
    /// By RTL and model in lockstep, with the oracle.
    pub(super) certified: bool,
}

impl PointStore {
    /// The store in `folder`, of results of this program.
    ///
    /// # Errors
    /// When the program's own file cannot be read.
    pub fn new(folder: &Path) -> std::io::Result<Self> {
        let program = std::env::current_exe().and_then(fs_err::read)?;
        Ok(PointStore { folder: folder.to_path_buf(), program: hash([program]) })
    }

    /// What a measurement is a function of, as the name of its file.
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

    /// What is kept of a point: the certified measurement, where there is one.
    pub(super) fn get(&self, trial: &Trial<'_>, rtl: &RtlIdentity) -> Option<KeptPoint> {
        let text = std::fs::read_to_string(self.place(trial, rtl)).ok()?;
        // A file that was cut short is none.
        serde_json::from_str(&text).ok()
    }

    /// Keeps a measurement.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(super) fn put(&self, trial: &Trial<'_>, rtl: &RtlIdentity, point: &KeptPoint) -> std::io::Result<()> {
        let place = self.place(trial, rtl);
        fs_err::create_dir_all(&self.folder)?;
        // Whole or not at all, also where two processes or threads measure one point.
        static DRAFTS: AtomicU64 = AtomicU64::new(0);
        let number = DRAFTS.fetch_add(1, Ordering::Relaxed);
        let draft = place.with_extension(format!("{}-{number}.part", std::process::id()));
        fs_err::write(&draft, serde_json::to_string(point)?)?;
        fs_err::rename(draft, place)
    }
}
