//! A context: where a process keeps what it has on a device.

use crate::retained::Retained;
use crate::{Device, DriverError};
use std::rc::Rc;

/// The primary context of a device. It stays on its thread.
///
/// After [`GridError::TimedOut`](crate::GridError::TimedOut) or [`DriverError::ContextLost`] neither it nor another context of the process on the
/// device is of further use: every call gives the same error without asking the driver, and dropping frees nothing,
/// since that would wait for the kernel. The process has to end, and its end resets the device.
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

    /// Bytes of memory that are free.
    ///
    /// # Errors
    /// As the driver says.
    pub fn free_memory(&self) -> Result<usize, DriverError> {
        let api = self.retained.enter()?;
        let (mut free, mut total) = (0, 0);
        // SAFETY: the call writes two numbers.
        let status = unsafe { (api.memory_info)(&raw mut free, &raw mut total) };
        self.retained.check("cuMemGetInfo_v2", status).map(|()| free)
    }

    /// When code comes to the device: `eager`, with its module, or `lazy`, when it is first needed; `None` where the
    /// driver is too old to say.
    ///
    /// # Errors
    /// As the driver says.
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
