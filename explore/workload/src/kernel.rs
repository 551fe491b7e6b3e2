//! Kernel as a workload: a listing or PTX, with a launch file.

use std::fmt;
use std::str::FromStr;

use atoms_isa::Kernel;
use atoms_sm::{Launch, Statistics};
use atoms_verilated::hash;

/// Definition of one unit of work of a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KernelUnit {
    /// One request to the unit: the default.
    #[default]
    Request,
    Total(u64),
    PerThread(u64),
}

impl FromStr for KernelUnit {
    type Err = String;

    /// Parses `5000` (total) or `4/thread`.
    fn from_str(text: &str) -> Result<Self, String> {
        let expected =
            || "expected units of work in total, such as 5000, or per thread, such as 4/thread".to_string();
        let (number, of_each) = text.strip_suffix("/thread").map_or((text, false), |number| (number, true));
        let number = number.parse().ok().filter(|number| *number > 0).ok_or_else(expected)?;
        Ok(if of_each { KernelUnit::PerThread(number) } else { KernelUnit::Total(number) })
    }
}

impl fmt::Display for KernelUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KernelUnit::Request => f.write_str("one warp request"),
            KernelUnit::Total(units) => write!(f, "one of {units} parts of the launch"),
            KernelUnit::PerThread(units) => write!(f, "one of {units} parts of a thread"),
        }
    }
}

#[derive(Clone, Debug)]
pub struct KernelWorkload {
    pub kernel: Kernel,
    pub launch: Launch,
    pub unit: KernelUnit,
    /// SHA-256 of the texts of kernel and launch file.
    pub hash: String,
}

impl KernelWorkload {
    /// `texts` are the sources of kernel and launch file.
    pub fn new(kernel: Kernel, launch: Launch, unit: KernelUnit, texts: [&str; 2]) -> Self {
        KernelWorkload { kernel, launch, unit, hash: hash(texts) }
    }

    pub fn units(&self, statistics: &Statistics) -> u64 {
        match self.unit {
            KernelUnit::Request => statistics.shared_requests + statistics.cluster_requests,
            KernelUnit::Total(units) => units,
            KernelUnit::PerThread(units) => {
                units * u64::from(self.launch.threads()) * u64::from(self.launch.ctas())
            }
        }
    }
}
