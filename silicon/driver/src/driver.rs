//! The driver: found, loaded and started.

use crate::abi::{Api, Status};
use crate::code;
use crate::{Device, DriverError};
use libloading::Library;
use std::error::Error;
use std::fmt;
use std::path::Path;

/// Names of the driver's library, in the order in which they are tried.
const LIBRARIES: [&str; 2] = ["libcuda.so.1", "libcuda.so"];

/// Version of CUDA that a driver supports; `12.4` is major 12, minor 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DriverVersion {
    /// Before the point.
    pub major: u32,
    /// After the point.
    pub minor: u32,
}

impl fmt::Display for DriverVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// The CUDA driver, started. Its library stays loaded until the process ends, since threads of its own may run in it.
#[derive(Clone, Debug)]
pub struct Driver {
    api: &'static Api,
    library: String,
    version: DriverVersion,
}

impl Driver {
    /// Loads and starts the driver: the library at `path`, or the one that the system's loader finds as `libcuda.so.1` or
    /// `libcuda.so`. The library runs in this process, so `path` must name a driver that is trusted.
    ///
    /// # Errors
    /// [`DriverError::NotFound`], [`DriverError::EntryMissing`], or why the driver does not start: [`DriverError::Init`].
    pub fn open(path: Option<&Path>) -> Result<Driver, DriverError> {
        let names = match path {
            Some(path) => vec![path],
            None => LIBRARIES.map(Path::new).to_vec(),
        };
        let mut tried = Vec::new();
        for name in names {
            let library = name.display().to_string();
            // SAFETY: the driver's initializers set up its own state; that the file is a driver, the caller vouches for.
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
        // Entry points are called as long as the process runs.
        std::mem::forget(loaded);
        // SAFETY: 0 is the only flag there is.
        started(api, &library, unsafe { (api.init)(0) })?;
        let mut number = 0;
        // SAFETY: the call writes one number.
        api.check("cuDriverGetVersion", unsafe { (api.version)(&raw mut number) })?;
        let number = number.unsigned_abs();
        let version = DriverVersion { major: number / 1000, minor: number % 1000 / 10 };
        Ok(Driver { api, library, version })
    }

    /// Name under which the library was found.
    pub fn library(&self) -> &str {
        &self.library
    }

    /// Version of CUDA that the driver supports.
    pub fn version(&self) -> DriverVersion {
        self.version
    }

    /// Every GPU that the driver shows.
    ///
    /// # Errors
    /// As the driver says.
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

    /// An entry point that not every driver has.
    pub(crate) fn needed<T>(&self, entry: &'static str, found: Option<T>) -> Result<T, DriverError> {
        found.ok_or_else(|| DriverError::EntryMissing {
            library: self.library.clone(),
            version: Some(self.version),
            entry,
        })
    }
}

/// What the answer of `cuInit` means.
fn started(api: &Api, library: &str, status: Status) -> Result<(), DriverError> {
    match status {
        code::SUCCESS => Ok(()),
        _ => Err(DriverError::Init { library: library.into(), code: api.code(status) }),
    }
}
