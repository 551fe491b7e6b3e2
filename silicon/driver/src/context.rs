use crate::retained::Retained;
use crate::{Device, DriverError};
use std::rc::Rc;

/// Primary context of a device. The context is bound to the thread that retained it.
///
/// After [`GridError::TimedOut`](crate::GridError::TimedOut) or [`DriverError::ContextLost`], no context of
/// the process on the device is usable. Every call returns the same error without calling the driver.
/// Dropping frees nothing, because freeing would wait for the kernel. The process must end; its end resets
/// the device.
#[derive(Clone, Debug)]
pub struct DeviceContext {
    pub(crate) retained: Rc<Retained>,
}

impl DeviceContext {
    pub(crate) fn retain(device: &Device) -> Result<DeviceContext, DriverError> {
        let retained = Rc::new(Retained::new(device)?);
        retained.enter()?;
        Ok(DeviceContext { retained })
    }

    pub fn device(&self) -> &Device {
        &self.retained.device
    }

    /// Returns the free device memory in bytes.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn free_memory(&self) -> Result<usize, DriverError> {
        let api = self.retained.enter()?;
        let (mut free, mut total) = (0, 0);
        // SAFETY: the call writes two numbers.
        let status = unsafe { (api.memory_info)(&raw mut free, &raw mut total) };
        self.retained.check("cuMemGetInfo_v2", status).map(|()| free)
    }

    /// Returns the time at which code is loaded to the device. `eager` means with its module, `lazy` means at
    /// first use. `None` if the driver is too old to say.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn loading_mode(&self) -> Result<Option<&'static str>, DriverError> {
        let api = self.retained.enter()?;
        let Some(ask) = api.loading_mode else { return Ok(None) };
        let mut mode = 0;
        // SAFETY: the call writes one number.
        self.retained.check("cuModuleGetLoadingMode", unsafe { ask(&raw mut mode) })?;
        Ok(match mode {
            1 => Some("eager"),
            2 => Some("lazy"),
            _ => None,
        })
    }
}
