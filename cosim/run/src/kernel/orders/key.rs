//! Names of orders: version, kernel and schedule in one text, such as `1-8f3a01bc-w7-p12`.

use std::fmt;
use std::fmt::Write as _;
use std::str::FromStr;

use atoms_isa::Kernel;
use atoms_sm::{Launch, SCHEDULE_VERSION, Schedule, ScheduleError};
use atoms_stimulus::configs::NamedConfig;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderKey {
    /// Fingerprint of kernel, launch and configuration.
    fingerprint: u32,
    pub(crate) schedule: Schedule,
}

#[derive(Debug, thiserror::Error)]
pub enum OrderKeyError {
    #[error("`{0}` is no key of an order; `atoms run --orders` prints keys, such as 1-8f3a01bc-w7-p12")]
    Form(String),
    #[error("{0}")]
    Schedule(#[from] ScheduleError),
    #[error("the key has version {0}, not {SCHEDULE_VERSION}; find the order again with --orders")]
    Version(u32),
    #[error("the key {key:08x} is of another kernel, launch or configuration ({run:08x}); repeat --orders")]
    Foreign { key: u32, run: u32 },
}

/// FNV-1a, chosen because its specification fits in two lines.
struct Fnv(u64);

impl fmt::Write for Fnv {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
        Ok(())
    }
}

/// Computes the fingerprint of a kernel with the source `text`, its launch and the configuration.
pub fn fingerprint(text: &str, kernel: &Kernel, launch: &Launch, config: &NamedConfig) -> u32 {
    // The folder of the files is not part of the launch; their contents are.
    let launch = Launch { files: Vec::new(), ..launch.clone() };
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    // Writing to a hash cannot fail.
    let _ = write!(hash, "{text}\n{}\n{}\n{launch:?}\n{:?}", kernel.name, kernel.arch, config.config);
    (hash.0 ^ hash.0 >> 32) as u32
}

impl OrderKey {
    pub(crate) fn new(fingerprint: u32, schedule: Schedule) -> OrderKey {
        OrderKey { fingerprint, schedule }
    }

    /// Returns the schedule, for the run with this fingerprint.
    ///
    /// # Errors
    /// [`OrderKeyError::Foreign`] if the key belongs to another run.
    pub fn schedule(&self, run: u32) -> Result<&Schedule, OrderKeyError> {
        match self.fingerprint {
            key if key != run => Err(OrderKeyError::Foreign { key, run }),
            _ => Ok(&self.schedule),
        }
    }
}

impl fmt::Display for OrderKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEDULE_VERSION}-{:08x}-{}", self.fingerprint, self.schedule)
    }
}

impl FromStr for OrderKey {
    type Err = OrderKeyError;

    fn from_str(text: &str) -> Result<OrderKey, OrderKeyError> {
        let form = || OrderKeyError::Form(text.to_string());
        let parts = text.split_once('-').and_then(|(version, rest)| Some((version, rest.split_once('-')?)));
        let (version, (fingerprint, schedule)) = parts.ok_or_else(form)?;
        let version = version.parse().map_err(|_| form())?;
        let fingerprint = u32::from_str_radix(fingerprint, 16).map_err(|_| form())?;
        if version != SCHEDULE_VERSION {
            return Err(OrderKeyError::Version(version));
        }
        Ok(OrderKey { fingerprint, schedule: schedule.parse()? })
    }
}
