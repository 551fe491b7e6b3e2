//! A GPU, and what it says of itself.

use crate::{DeviceContext, Driver, DriverError};
use std::ffi::c_char;
use std::fmt;

/// `CUdevice_attribute`.
#[derive(Clone, Copy)]
enum Attribute {
    ClockRate = 13,
    Multiprocessors = 16,
    KernelTimeout = 17,
    ComputeMode = 20,
    MemoryClockRate = 36,
    Major = 75,
    Minor = 76,
    SharedMemoryOptIn = 97,
    ClusterLaunch = 120,
}

/// Bytes of a device's name that are read, its end included.
const NAME_BYTES: usize = 256;

/// Which processes may have a context on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComputeMode {
    /// Any number of processes.
    Default,
    /// None.
    Prohibited,
    /// One process at a time.
    ExclusiveProcess,
    /// Another mode, by its number.
    Other(i32),
}

impl ComputeMode {
    fn from_number(number: i32) -> ComputeMode {
        match number {
            0 => ComputeMode::Default,
            2 => ComputeMode::Prohibited,
            3 => ComputeMode::ExclusiveProcess,
            other => ComputeMode::Other(other),
        }
    }

    /// What helps where a device of this mode is not available; follows a message.
    pub(crate) fn advice(self) -> &'static str {
        match self {
            ComputeMode::Prohibited => ": its compute mode is PROHIBITED; set another with `nvidia-smi -c`",
            ComputeMode::ExclusiveProcess => {
                ": its compute mode is EXCLUSIVE_PROCESS, and another process uses it; end that one, or set another mode with \
                 `nvidia-smi -c`"
            }
            ComputeMode::Default | ComputeMode::Other(_) => "; end the processes that use it",
        }
    }
}

/// A GPU, or a MIG instance of one.
#[derive(Clone)]
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

    /// Compute capability, major and minor.
    ///
    /// # Errors
    /// As [`Device::name`].
    pub fn compute_capability(&self) -> Result<(u32, u32), DriverError> {
        Ok((self.number_of(Attribute::Major)?, self.number_of(Attribute::Minor)?))
    }

    /// What identifies the GPU, or its MIG instance, on every machine; `None` where the driver is too old to say.
    ///
    /// # Errors
    /// As [`Device::name`].
    pub fn uuid(&self) -> Result<Option<[u8; 16]>, DriverError> {
        let api = self.driver.api();
        let Some(ask) = api.device_uuid else { return Ok(None) };
        let mut uuid = [0; 16];
        // SAFETY: the call writes 16 bytes.
        api.check("cuDeviceGetUuid_v2", unsafe { ask(&raw mut uuid, self.number) })?;
        Ok(Some(uuid))
    }

    /// Bytes of memory.
    ///
    /// # Errors
    /// As [`Device::name`].
    pub fn total_memory(&self) -> Result<usize, DriverError> {
        let api = self.driver.api();
        let mut bytes = 0;
        // SAFETY: the call writes one number.
        api.check("cuDeviceTotalMem_v2", unsafe { (api.device_memory)(&raw mut bytes, self.number) })?;
        Ok(bytes)
    }

    /// Highest clock of the cores in kHz.
    ///
    /// # Errors
    /// As [`Device::name`].
    pub fn clock_rate_khz(&self) -> Result<u32, DriverError> {
        self.number_of(Attribute::ClockRate)
    }

    /// Highest clock of the memory in kHz.
    ///
    /// # Errors
    /// As [`Device::name`].
    pub fn memory_clock_rate_khz(&self) -> Result<u32, DriverError> {
        self.number_of(Attribute::MemoryClockRate)
    }

    /// Streaming multiprocessors.
    ///
    /// # Errors
    /// As [`Device::name`].
    pub fn multiprocessors(&self) -> Result<u32, DriverError> {
        self.number_of(Attribute::Multiprocessors)
    }

    /// Which processes may have a context.
    ///
    /// # Errors
    /// As [`Device::name`].
    pub fn compute_mode(&self) -> Result<ComputeMode, DriverError> {
        self.attribute(Attribute::ComputeMode).map(ComputeMode::from_number)
    }

    /// Whether it is a MIG instance: a part of a GPU. Its name says so; there is no attribute for it.
    ///
    /// # Errors
    /// As [`Device::name`].
    pub fn is_mig(&self) -> Result<bool, DriverError> {
        Ok(self.name()?.split_whitespace().any(|word| word == "MIG"))
    }

    /// Whether grids of clusters can be launched.
    ///
    /// # Errors
    /// As [`Device::name`].
    pub fn cluster_launch(&self) -> Result<bool, DriverError> {
        // A driver older than clusters does not know the question.
        match self.attribute(Attribute::ClusterLaunch) {
            Err(DriverError::Call { .. }) => Ok(false),
            answer => answer.map(|number| number != 0),
        }
    }

    /// Most bytes of shared memory that a thread block can have.
    ///
    /// # Errors
    /// As [`Device::name`].
    pub fn shared_memory_opt_in_bytes(&self) -> Result<u32, DriverError> {
        self.number_of(Attribute::SharedMemoryOptIn)
    }

    /// Whether the system ends kernels that run for some seconds, as it does on a GPU with a display.
    ///
    /// # Errors
    /// As [`Device::name`].
    pub fn kernel_timeout(&self) -> Result<bool, DriverError> {
        self.attribute(Attribute::KernelTimeout).map(|number| number != 0)
    }

    /// Its primary context, retained until the result and all that it made is dropped.
    ///
    /// # Errors
    /// [`DriverError::InUse`], [`DriverError::OutOfMemory`], or as the driver says.
    pub fn context(&self) -> Result<DeviceContext, DriverError> {
        DeviceContext::retain(self).map_err(|error| match error {
            DriverError::InUse { .. } => DriverError::InUse { mode: self.compute_mode().ok() },
            // Of a prohibited device not every driver says that it is not available.
            DriverError::Call { .. } if self.compute_mode() == Ok(ComputeMode::Prohibited) => {
                DriverError::InUse { mode: Some(ComputeMode::Prohibited) }
            }
            other => other,
        })
    }

    pub(crate) fn driver(&self) -> &Driver {
        &self.driver
    }

    pub(crate) fn number(&self) -> i32 {
        self.number
    }

    fn number_of(&self, attribute: Attribute) -> Result<u32, DriverError> {
        self.attribute(attribute).map(|number| u32::try_from(number).unwrap_or(0))
    }

    fn attribute(&self, attribute: Attribute) -> Result<i32, DriverError> {
        let api = self.driver.api();
        let mut value = 0;
        // SAFETY: the call writes one number.
        let status = unsafe { (api.device_attribute)(&raw mut value, attribute as i32, self.number) };
        api.check("cuDeviceGetAttribute", status).map(|()| value)
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Device").field("number", &self.number).finish_non_exhaustive()
    }
}
