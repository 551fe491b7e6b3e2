//! A GPU, and what it says of itself.

use crate::{DeviceContext, Driver, DriverError};
use std::ffi::c_char;

/// What a device is asked by number: `CUdevice_attribute`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceAttribute {
    /// Highest clock of the cores in kHz.
    ClockRate = 13,
    Multiprocessors = 16,
    /// Whether the system ends kernels that run for some seconds, as it does on a GPU with a display.
    KernelTimeout = 17,
    /// Which processes may have a context: `CUcomputemode`.
    ComputeMode = 20,
    /// Highest clock of the memory in kHz.
    MemoryClockRate = 36,
    /// Compute capability before the point.
    Major = 75,
    /// Compute capability behind the point.
    Minor = 76,
    /// Whether grids of clusters can be launched.
    ClusterLaunch = 120,
}

/// Bytes of a device's name that are read, its end included.
const NAME_BYTES: usize = 256;

/// `CUcomputemode`: no process may have a context, or one at a time.
pub(crate) const PROHIBITED: u32 = 2;
pub(crate) const EXCLUSIVE_PROCESS: u32 = 3;

/// A GPU, or a MIG instance of one.
#[derive(Clone, Debug)]
pub struct Device {
    driver: Driver,
    number: i32,
}

impl Device {
    pub(crate) fn new(driver: Driver, number: i32) -> Device {
        Device { driver, number }
    }

    /// Name of the product.
    ///
    /// # Errors
    /// As the driver says; so for all that a device is asked.
    pub fn name(&self) -> Result<String, DriverError> {
        let api = self.driver.api();
        let mut bytes = [0_u8; NAME_BYTES];
        // SAFETY: the call writes a string with its end into the bytes given, no more than their number.
        let status =
            unsafe { (api.device_name)(bytes.as_mut_ptr().cast::<c_char>(), NAME_BYTES as i32, self.number) };
        api.check("cuDeviceGetName", status)?;
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(NAME_BYTES);
        Ok(String::from_utf8_lossy(&bytes[..end]).into_owned())
    }

    /// What the driver answers about an attribute; 0 is no.
    ///
    /// # Errors
    /// As [`Device::name`].
    pub fn number_of(&self, attribute: DeviceAttribute) -> Result<u32, DriverError> {
        let api = self.driver.api();
        let mut value = 0;
        // SAFETY: the call writes one number.
        let status = unsafe { (api.device_attribute)(&raw mut value, attribute as i32, self.number) };
        match api.check("cuDeviceGetAttribute", status) {
            // A driver older than clusters does not know the question.
            Err(DriverError::Call { .. }) if attribute == DeviceAttribute::ClusterLaunch => Ok(0),
            answer => answer.map(|()| u32::try_from(value).unwrap_or(0)),
        }
    }

    /// Whether it is a MIG instance: a part of a GPU. Its name says so; there is no attribute for it.
    ///
    /// # Errors
    /// As [`Device::name`].
    pub fn is_mig(&self) -> Result<bool, DriverError> {
        Ok(self.name()?.split_whitespace().any(|word| word == "MIG"))
    }

    /// Its primary context, retained until the result and all that it made is dropped.
    ///
    /// # Errors
    /// [`DriverError::InUse`], [`DriverError::OutOfMemory`], or as the driver says.
    pub fn context(&self) -> Result<DeviceContext, DriverError> {
        let mode = || self.number_of(DeviceAttribute::ComputeMode).ok();
        DeviceContext::retain(self).map_err(|error| match error {
            DriverError::InUse { .. } => DriverError::InUse { mode: mode() },
            // Of a prohibited device not every driver says that it is not available.
            DriverError::Call { .. } if mode() == Some(PROHIBITED) => DriverError::InUse { mode: mode() },
            other => other,
        })
    }

    pub(crate) fn driver(&self) -> &Driver {
        &self.driver
    }

    pub(crate) fn number(&self) -> i32 {
        self.number
    }
}
