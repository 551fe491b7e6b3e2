//! Memory of the device.

use crate::retained::Retained;
use crate::{DeviceContext, DriverError};
use std::rc::Rc;

/// Memory of the device; freed when dropped.
#[derive(Debug)]
pub struct DeviceMemory {
    pub(crate) context: Rc<Retained>,
    address: u64,
    bytes: usize,
}

impl DeviceContext {
    /// Device memory, with whatever it held before.
    ///
    /// # Errors
    /// [`DriverError::OutOfMemory`], or as the driver says, which allocates no 0 bytes.
    pub fn allocate(&self, bytes: usize) -> Result<DeviceMemory, DriverError> {
        let context = &self.retained;
        let api = context.enter()?;
        let mut address = 0;
        // SAFETY: the call writes one number.
        let status = unsafe { (api.memory_allocate)(&raw mut address, bytes) };
        context.check("cuMemAlloc_v2", status).map_err(|error| match error {
            DriverError::OutOfMemory { call, .. } => DriverError::OutOfMemory { call, bytes: Some(bytes) },
            other => other,
        })?;
        Ok(DeviceMemory { context: context.clone(), address, bytes })
    }
}

impl DeviceMemory {
    /// Address of its first byte, for kernels.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Sets all of it.
    ///
    /// # Errors
    /// [`DriverError::MemoryLength`] unless `content` is as long as the memory; else as the driver says.
    pub fn write(&self, content: &[u8]) -> Result<(), DriverError> {
        if content.len() != self.bytes {
            return Err(DriverError::MemoryLength { expected: self.bytes, found: content.len() });
        }
        let api = self.context.enter()?;
        // SAFETY: both sides have so many bytes.
        let status = unsafe { (api.memory_write)(self.address, content.as_ptr().cast(), self.bytes) };
        self.context.check("cuMemcpyHtoD_v2", status)
    }

    /// All of it.
    ///
    /// # Errors
    /// As the driver says.
    pub fn read(&self) -> Result<Vec<u8>, DriverError> {
        let api = self.context.enter()?;
        let mut content = vec![0; self.bytes];
        // SAFETY: both sides have so many bytes.
        let status = unsafe { (api.memory_read)(content.as_mut_ptr().cast(), self.address, self.bytes) };
        self.context.check("cuMemcpyDtoH_v2", status).map(|()| content)
    }
}

impl Drop for DeviceMemory {
    fn drop(&mut self) {
        if let Ok(api) = self.context.enter() {
            // SAFETY: allocated once, freed once; a refusal leaves nothing to do.
            unsafe { (api.memory_free)(self.address) };
        }
    }
}
