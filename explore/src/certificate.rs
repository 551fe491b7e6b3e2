//! Certificates: that the RTL of a point takes as many cycles as a report says, and does what it must.

use atoms_cosim::rtl::RtlIdentity;
use atoms_stimulus::configs::parameters;
use atoms_verilated::Library;
use atoms_workload::WorkloadIdentity;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::measure::{Behind, Judging, Measurement, Trial, TrialError, measure};

/// That RTL and model of a point agreed in every output and every probe bit of every cycle of a workload, that the oracle
/// accepted every answer and the memory at the end, and that the workload's result was right. Without agreement there is
/// none.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Certificate {
    /// Name of the configuration.
    pub config: String,
    /// Its parameters by name.
    pub parameters: Map<String, Value>,
    pub rtl: RtlIdentity,
    pub workload: WorkloadIdentity,
    pub seed: u64,
    /// What was counted: cycles of the RTL.
    pub measurement: Measurement,
    /// Always true: a certificate is of agreement.
    pub agreed: bool,
}

impl Certificate {
    /// True if what was measured elsewhere is what the RTL does.
    pub fn covers(&self, other: &Measurement) -> bool {
        Measurement { judged: self.measurement.judged, ..*other } == self.measurement
    }
}

/// Runs a point in lockstep, judged by the oracle; `library` is the RTL `rtl` built for its configuration.
///
/// # Errors
/// [`TrialError`]: without agreement there is no certificate.
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
