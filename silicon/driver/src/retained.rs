use crate::abi::{Api, Handle, Status};
use crate::{Device, DriverError};
use std::ptr;
use std::sync::PoisonError;

/// Reference that keeps the context alive for everything allocated in it.
#[derive(Debug)]
pub(crate) struct Retained {
    pub(crate) device: Device,
    handle: Handle,
}

impl Retained {
    /// Retains the primary context of the device. Does not make the context current on this thread.
    pub(crate) fn new(device: &Device) -> Result<Retained, DriverError> {
        sound(device)?;
        let api = device.driver().api();
        let mut handle = ptr::null_mut();
        // SAFETY: the call writes one handle.
        let status = unsafe { (api.context_retain)(&raw mut handle, device.number()) };
        api.check("cuDevicePrimaryCtxRetain", status)?;
        Ok(Retained { device: device.clone(), handle })
    }

    /// Makes the context current on this thread. Fails if the context is lost.
    pub(crate) fn enter(&self) -> Result<&'static Api, DriverError> {
        sound(&self.device)?;
        let api = self.device.driver().api();
        // SAFETY: the handle belongs to a retained context.
        self.check("cuCtxSetCurrent", unsafe { (api.context_set_current)(self.handle) }).map(|()| api)
    }

    pub(crate) fn check(&self, call: &'static str, status: Status) -> Result<(), DriverError> {
        let answer = self.device.driver().api().check(call, status);
        if let Err(error @ DriverError::ContextLost { .. }) = &answer {
            self.lose(error.clone());
        }
        answer
    }

    /// Makes every later call return `error`.
    pub(crate) fn lose(&self, error: DriverError) {
        let mut lost = self.device.driver().api().lost.lock().unwrap_or_else(PoisonError::into_inner);
        lost.entry(self.device.number()).or_insert(error);
    }

    pub(crate) fn handle(
        &self,
        call: &'static str,
        make: impl FnOnce(*mut Handle) -> Status,
    ) -> Result<Handle, DriverError> {
        let mut handle = ptr::null_mut();
        let status = make(&raw mut handle);
        self.check(call, status).map(|()| handle)
    }
}

/// Returns an error if a context on this device was lost before.
fn sound(device: &Device) -> Result<(), DriverError> {
    let lost = device.driver().api().lost.lock().unwrap_or_else(PoisonError::into_inner);
    lost.get(&device.number()).map_or(Ok(()), |error| Err(error.clone()))
}

impl Drop for Retained {
    fn drop(&mut self) {
        if sound(&self.device).is_ok() {
            // SAFETY: the context is retained once and released once, and nothing of it is in use. A refusal
            // needs no reaction.
            unsafe { (self.device.driver().api().context_release)(self.device.number()) };
        }
    }
}
