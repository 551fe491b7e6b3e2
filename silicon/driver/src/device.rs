use crate::{DeviceContext, Driver, DriverError};
use std::ffi::c_char;

/// Numeric attribute of a device (`CUdevice_attribute`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceAttribute {
    /// Highest clock of the cores, in kHz.
    ClockRate = 13,
    Multiprocessors = 16,
    /// 1 if the system ends kernels that run for several seconds, as on a GPU with a display.
    KernelTimeout = 17,
    /// Compute mode (`CUcomputemode`): which processes may create a context.
    ComputeMode = 20,
    /// Highest clock of the memory, in kHz.
    MemoryClockRate = 36,
    /// Major number of the compute capability.
    Major = 75,
    /// Minor number of the compute capability.
    Minor = 76,
    /// 1 if grids of clusters can be launched.
    ClusterLaunch = 120,
}

/// Size of the buffer for a device name, in bytes, with the NUL byte.
const NAME_BYTES: usize = 256;

/// Compute modes (values of `CUcomputemode`). With `PROHIBITED`, no process may have a context; with
/// `EXCLUSIVE_PROCESS`, one process at a time.
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

    /// Returns the name of the product.
    ///
    /// # Errors
    /// Errors of the driver. The same holds for the other queries.
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

    /// Returns the value of an attribute. 0 means no for an attribute that is a flag.
    ///
    /// # Errors
    /// Same as for [`Device::name`].
    pub fn number_of(&self, attribute: DeviceAttribute) -> Result<u32, DriverError> {
        let api = self.driver.api();
        let mut value = 0;
        // SAFETY: the call writes one number.
        let status = unsafe { (api.device_attribute)(&raw mut value, attribute as i32, self.number) };
        match api.check("cuDeviceGetAttribute", status) {
            // A driver from before clusters rejects this attribute.
            Err(DriverError::Call { .. }) if attribute == DeviceAttribute::ClusterLaunch => Ok(0),
            answer => answer.map(|()| u32::try_from(value).unwrap_or(0)),
        }
    }

    /// True for a MIG instance, a part of a GPU. Decided by the name, because no attribute says so.
    ///
    /// # Errors
    /// Same as for [`Device::name`].
    pub fn is_mig(&self) -> Result<bool, DriverError> {
        Ok(self.name()?.split_whitespace().any(|word| word == "MIG"))
    }

    /// Retains the primary context. The context is released when the result and everything allocated from it
    /// are dropped.
    ///
    /// # Errors
    /// [`DriverError::InUse`], [`DriverError::OutOfMemory`], or other errors of the driver.
    pub fn context(&self) -> Result<DeviceContext, DriverError> {
        let mode = || self.number_of(DeviceAttribute::ComputeMode).ok();
        DeviceContext::retain(self).map_err(|error| match error {
            DriverError::InUse { .. } => DriverError::InUse { mode: mode() },
            // For a device in compute mode PROHIBITED, some drivers return another error code than "not
            // available".
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
