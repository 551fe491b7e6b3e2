//! Finds, loads and starts the driver.

use crate::abi::{Api, Status};
use crate::code;
use crate::{Device, DriverError};
use libloading::Library;
use std::error::Error;
use std::fmt;
use std::path::Path;

const LIBRARIES: [&str; 2] = ["libcuda.so.1", "libcuda.so"];

/// CUDA version that a driver supports. `12.4` has major number 12 and minor number 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DriverVersion {
    pub major: u32,
    pub minor: u32,
}

impl fmt::Display for DriverVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// The CUDA driver, initialized. The library stays loaded until the process ends, because the driver's own
/// threads may run in it.
#[derive(Clone, Debug)]
pub struct Driver {
    api: &'static Api,
    library: String,
    version: DriverVersion,
}

impl Driver {
    /// Loads and initializes the driver. `path` names the library; `None` lets the system's loader find
    /// `libcuda.so.1` or `libcuda.so`. The library runs in this process, so `path` must name a trusted
    /// driver.
    ///
    /// # Errors
    /// [`DriverError::NotFound`], [`DriverError::EntryMissing`], or [`DriverError::Init`] if the driver does
    /// not start.
    pub fn open(path: Option<&Path>) -> Result<Driver, DriverError> {
        let names = match path {
            Some(path) => vec![path],
            None => LIBRARIES.map(Path::new).to_vec(),
        };
        let mut tried = Vec::new();
        for name in names {
            let library = name.display().to_string();
            // SAFETY: the driver's initializers only set up the driver's own state. The caller guarantees
            // that the file is a driver.
            match unsafe { Library::new(name) } {
                Ok(loaded) => return Driver::start(loaded, library),
                Err(error) => {
                    let reason = error.source().map_or_else(|| error.to_string(), ToString::to_string);
                    tried.push((library, reason));
                }
            }
        }
        Err(DriverError::NotFound { tried })
    }

    fn start(loaded: Library, library: String) -> Result<Driver, DriverError> {
        let api = Api::load(&loaded).map_err(|entry| DriverError::EntryMissing {
            version: None,
            library: library.clone(),
            entry,
        })?;
        let api: &'static Api = Box::leak(Box::new(api));
        // Never unload the library: entry points are called until the process ends.
        std::mem::forget(loaded);
        // SAFETY: 0 is the only valid flag.
        started(api, &library, unsafe { (api.init)(0) })?;
        let mut number = 0;
        // SAFETY: the call writes one number.
        api.check("cuDriverGetVersion", unsafe { (api.version)(&raw mut number) })?;
        let number = number.unsigned_abs();
        let version = DriverVersion { major: number / 1000, minor: number % 1000 / 10 };
        Ok(Driver { api, library, version })
    }

    pub fn library(&self) -> &str {
        &self.library
    }

    pub fn version(&self) -> DriverVersion {
        self.version
    }

    /// Returns all visible GPUs.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn devices(&self) -> Result<Vec<Device>, DriverError> {
        let mut count = 0;
        // SAFETY: the call writes one number.
        self.api.check("cuDeviceGetCount", unsafe { (self.api.device_count)(&raw mut count) })?;
        let device = |ordinal| {
            let mut number = 0;
            // SAFETY: the call writes one number.
            let status = unsafe { (self.api.device)(&raw mut number, ordinal) };
            self.api.check("cuDeviceGet", status).map(|()| Device::new(self.clone(), number))
        };
        (0..count).map(device).collect()
    }

    pub(crate) fn api(&self) -> &'static Api {
        self.api
    }

    /// Returns an entry point that is missing in some drivers, or an error.
    pub(crate) fn needed<T>(&self, entry: &'static str, found: Option<T>) -> Result<T, DriverError> {
        found.ok_or_else(|| DriverError::EntryMissing {
            library: self.library.clone(),
            version: Some(self.version),
            entry,
        })
    }
}

fn started(api: &Api, library: &str, status: Status) -> Result<(), DriverError> {
    match status {
        code::SUCCESS => Ok(()),
        _ => Err(DriverError::Init { library: library.into(), code: api.code(status) }),
    }
}
