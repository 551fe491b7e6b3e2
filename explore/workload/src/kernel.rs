//! A kernel as a workload: a listing or PTX, started as a launch file says.

use std::fmt;
use std::str::FromStr;

use atoms_isa::Kernel;
use atoms_sm::{Launch, Statistics};
use atoms_verilated::hash;

/// What counts as one unit of work of a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KernelUnit {
    /// A request to the unit: all that is known of a kernel that nothing is said of.
    #[default]
    Request,
    /// So many in all.
    Total(u64),
    /// So many of each thread.
    PerThread(u64),
}

impl FromStr for KernelUnit {
    type Err = String;

    /// `5000` in all, or `4/thread`.
    fn from_str(text: &str) -> Result<Self, String> {
        let expected =
            || "expected units of work in all, such as 5000, or of each thread, such as 4/thread".to_string();
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

/// A kernel, its launch, and what one unit of its work is.
#[derive(Clone, Debug)]
pub struct KernelWorkload {
    pub kernel: Kernel,
    /// Parameters and expectations of the kernel.
    pub launch: Launch,
    /// What one unit of work is.
    pub unit: KernelUnit,
    /// SHA-256 of the texts of kernel and launch file.
    pub hash: String,
}

impl KernelWorkload {
    /// The kernel of a launch, and the texts that both were read from.
    pub fn new(kernel: Kernel, launch: Launch, unit: KernelUnit, texts: [&str; 2]) -> Self {
        KernelWorkload { kernel, launch, unit, hash: hash(texts) }
    }

    /// Units of work of a run that counted `statistics`.
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
