use crate::retained::Retained;
use crate::{DeviceContext, DriverError};
use std::rc::Rc;

/// Allocation in device memory, freed when dropped.
#[derive(Debug)]
pub struct DeviceMemory {
    pub(crate) context: Rc<Retained>,
    address: u64,
    bytes: usize,
}

impl DeviceContext {
    /// Allocates device memory. The content is undefined.
    ///
    /// # Errors
    /// [`DriverError::OutOfMemory`], or other errors of the driver. The driver refuses a size of 0.
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
    /// Returns the address of the first byte, for kernels.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Writes the whole allocation.
    ///
    /// # Errors
    /// [`DriverError::MemoryLength`] if `content` does not have the length of the allocation, or errors of
    /// the driver.
    pub fn write(&self, content: &[u8]) -> Result<(), DriverError> {
        if content.len() != self.bytes {
            return Err(DriverError::MemoryLength { expected: self.bytes, found: content.len() });
        }
        let api = self.context.enter()?;
        // SAFETY: source and destination both have `bytes` bytes.
        let status = unsafe { (api.memory_write)(self.address, content.as_ptr().cast(), self.bytes) };
        self.context.check("cuMemcpyHtoD_v2", status)
    }

    /// Reads the whole allocation.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn read(&self) -> Result<Vec<u8>, DriverError> {
        let api = self.context.enter()?;
        let mut content = vec![0; self.bytes];
        // SAFETY: source and destination both have `bytes` bytes.
        let status = unsafe { (api.memory_read)(content.as_mut_ptr().cast(), self.address, self.bytes) };
        self.context.check("cuMemcpyDtoH_v2", status).map(|()| content)
    }
}

impl Drop for DeviceMemory {
    fn drop(&mut self) {
        if let Ok(api) = self.context.enter() {
            // SAFETY: the memory is allocated once and freed once. A refusal needs no reaction.
            unsafe { (api.memory_free)(self.address) };
        }
    }
}
