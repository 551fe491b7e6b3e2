//! A context: where a process keeps what it has on a device.

use crate::abi::{Api, Handle, Status};
use crate::compile::{CompileError, Cubin};
use crate::launch::{GridArgument, GridError, GridLaunch};
use crate::memory::DeviceMemory;
use crate::module::{LoadedKernel, LoadedModule};
use crate::{Device, DriverError};
use std::fmt;
use std::ptr;
use std::rc::Rc;
use std::sync::PoisonError;
use std::time::Duration;

/// When the driver brings a kernel's code to the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadingMode {
    /// With its module.
    Eager,
    /// When it is first needed.
    Lazy,
}

/// The primary context of a device. It stays on its thread.
///
/// After [`GridError::TimedOut`] or [`DriverError::ContextLost`] neither it nor another context of the process on the
/// device is of further use: every call gives the same error without asking the driver, and dropping frees nothing,
/// since that would wait for the kernel. The process has to end, and its end resets the device.
#[derive(Clone)]
pub struct DeviceContext {
    retained: Rc<Retained>,
}

/// What must live as long as anything of the context.
pub(crate) struct Retained {
    pub(crate) device: Device,
    handle: Handle,
}

impl DeviceContext {
    pub(crate) fn retain(device: &Device) -> Result<DeviceContext, DriverError> {
        sound(device)?;
        let api = device.driver().api();
        let mut handle = ptr::null_mut();
        // SAFETY: the call writes one handle.
        let status = unsafe { (api.context_retain)(&raw mut handle, device.number()) };
        api.check("cuDevicePrimaryCtxRetain", status)?;
        let retained = Rc::new(Retained { device: device.clone(), handle });
        retained.enter()?;
        Ok(DeviceContext { retained })
    }

    /// Its device.
    pub fn device(&self) -> &Device {
        &self.retained.device
    }

    /// Machine code for the device, as the driver compiles it from a PTX module.
    ///
    /// # Errors
    /// [`CompileError`].
    pub fn compile(&self, ptx: &str) -> Result<Cubin, CompileError> {
        Cubin::compile(&self.retained, ptx)
    }

    /// Loads machine code.
    ///
    /// # Errors
    /// As the driver says.
    pub fn load(&self, cubin: &Cubin) -> Result<LoadedModule, DriverError> {
        LoadedModule::load(&self.retained, cubin)
    }

    /// Device memory, with whatever it held before.
    ///
    /// # Errors
    /// [`DriverError::OutOfMemory`], or as the driver says, which allocates no 0 bytes.
    pub fn allocate(&self, bytes: usize) -> Result<DeviceMemory, DriverError> {
        DeviceMemory::allocate(&self.retained, bytes)
    }

    /// Runs a kernel to its end, or until `limit` has passed.
    ///
    /// # Errors
    /// [`GridError::TimedOut`], [`DriverError::ContextLost`], or as the driver says.
    pub fn launch(
        &self,
        kernel: &LoadedKernel,
        launch: &GridLaunch,
        arguments: &[GridArgument<'_>],
        limit: Duration,
    ) -> Result<(), GridError> {
        launch.run(&self.retained, kernel, arguments, limit)
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

    /// When code comes to the device; `None` where the driver is too old to say.
    ///
    /// # Errors
    /// As the driver says.
    pub fn loading_mode(&self) -> Result<Option<LoadingMode>, DriverError> {
        let api = self.retained.enter()?;
        let Some(ask) = api.loading_mode else { return Ok(None) };
        let mut mode = 0;
        // SAFETY: the call writes one number.
        self.retained.check("cuModuleGetLoadingMode", unsafe { ask(&raw mut mode) })?;
        Ok(match mode {
            1 => Some(LoadingMode::Eager),
            2 => Some(LoadingMode::Lazy),
            _ => None,
        })
    }
}

impl Retained {
    /// Makes the context current on this thread, if it can still be used.
    pub(crate) fn enter(&self) -> Result<&'static Api, DriverError> {
        sound(&self.device)?;
        let api = self.device.driver().api();
        // SAFETY: the handle is that of a retained context.
        self.check("cuCtxSetCurrent", unsafe { (api.context_set_current)(self.handle) }).map(|()| api)
    }

    /// What an answer to `call` means; remembers that the context is lost.
    pub(crate) fn check(&self, call: &'static str, status: Status) -> Result<(), DriverError> {
        let answer = self.device.driver().api().check(call, status);
        if let Err(error @ DriverError::ContextLost { .. }) = &answer {
            self.lose(error.clone());
        }
        answer
    }

    /// From now on gives `error` to every call.
    pub(crate) fn lose(&self, error: DriverError) {
        let mut lost = self.device.driver().api().lost.lock().unwrap_or_else(PoisonError::into_inner);
        lost.entry(self.device.number()).or_insert(error);
    }

    /// A handle that a call writes.
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

/// Refuses a device on which a context was lost.
fn sound(device: &Device) -> Result<(), DriverError> {
    let lost = device.driver().api().lost.lock().unwrap_or_else(PoisonError::into_inner);
    lost.get(&device.number()).map_or(Ok(()), |error| Err(error.clone()))
}

impl Drop for Retained {
    fn drop(&mut self) {
        if sound(&self.device).is_ok() {
            // SAFETY: retained once, released once; nothing of the context is left. A refusal leaves nothing to do.
            unsafe { (self.device.driver().api().context_release)(self.device.number()) };
        }
    }
}

impl fmt::Debug for DeviceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceContext").field("device", self.device()).finish_non_exhaustive()
    }
}
