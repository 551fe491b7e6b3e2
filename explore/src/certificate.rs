//! Certificates: proof by lockstep that the RTL of a point is correct and takes the reported cycles.

use atoms_cosim::rtl::RtlIdentity;
use atoms_stimulus::configs::parameters;
use atoms_verilated::Library;
use atoms_workload::WorkloadIdentity;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::measure::{Behind, Judging, Measurement, Trial, TrialError, measure};

/// Record of a run in which three checks passed.
///
/// - RTL and model agreed in every output and probe bit of every cycle.
/// - The oracle accepted every answer and the final memory.
/// - The result of the workload was right.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Certificate {
    /// Name of the configuration.
    pub config: String,
    /// Parameters of the configuration by name.
    pub parameters: Map<String, Value>,
    pub rtl: RtlIdentity,
    pub workload: WorkloadIdentity,
    pub seed: u64,
    /// Counts of the lockstep run: cycles are cycles of the RTL.
    pub measurement: Measurement,
    /// Always true: a run without agreement has no certificate.
    pub agreed: bool,
}

impl Certificate {
    /// True if the counts of `other`, a run on the RTL or the model alone, equal those of this run. `judged`
    /// is ignored.
    pub fn covers(&self, other: &Measurement) -> bool {
        Measurement { judged: self.measurement.judged, ..*other } == self.measurement
    }
}

/// Runs a point in lockstep with the oracle. `library` is the RTL `rtl`, built for the point's configuration.
///
/// # Errors
/// [`TrialError`] if a check fails.
pub fn certify(trial: &Trial<'_>, library: &Library, rtl: &RtlIdentity) -> Result<Certificate, TrialError> {
    let (measured, ()) = measure(trial, Behind::Lockstep(library), Judging::Yes, ());
    Ok(Certificate {
        config: trial.config.name.clone(),
        parameters: parameters(&trial.config.config),
        rtl: rtl.clone(),
        workload: trial.workload.identity(),
        seed: trial.seed,
        measurement: measured?,
        agreed: true,
    })
}
