//! Machine code on the device.

use crate::abi::Handle;
use crate::code;
use crate::retained::Retained;
use crate::{Cubin, DeviceContext, DriverError};
use std::ffi::CString;
use std::rc::Rc;

/// A module, loaded until it and its kernels are dropped.
#[derive(Clone, Debug)]
pub struct LoadedModule {
    loaded: Rc<Loaded>,
}

#[derive(Debug)]
struct Loaded {
    context: Rc<Retained>,
    handle: Handle,
}

/// A kernel of a loaded module.
#[derive(Clone, Debug)]
pub struct LoadedKernel {
    name: String,
    pub(crate) handle: Handle,
    module: Rc<Loaded>,
}

impl DeviceContext {
    /// Loads machine code.
    ///
    /// # Errors
    /// As the driver says.
    pub fn load(&self, cubin: &Cubin) -> Result<LoadedModule, DriverError> {
        let context = &self.retained;
        let api = context.enter()?;
        // SAFETY: the image is one that the driver made, whole.
        let make = |handle| unsafe { (api.module_load)(handle, cubin.bytes().as_ptr().cast()) };
        let handle = context.handle("cuModuleLoadData", make)?;
        Ok(LoadedModule { loaded: Rc::new(Loaded { context: context.clone(), handle }) })
    }
}

impl LoadedModule {
    /// The kernel with this name.
    ///
    /// # Errors
    /// [`DriverError::NoKernel`], or as the driver says.
    pub fn kernel(&self, name: &str) -> Result<LoadedKernel, DriverError> {
        let missing = || DriverError::NoKernel { name: name.into() };
        let text = CString::new(name).map_err(|_| missing())?;
        let context = &self.loaded.context;
        let api = context.enter()?;
        // SAFETY: the module is loaded, and the name ends with a zero byte.
        let make = |handle| unsafe { (api.module_function)(handle, self.loaded.handle, text.as_ptr()) };
        let handle = context.handle("cuModuleGetFunction", make).map_err(|error| match error {
            DriverError::Call { code, .. } if code.number == code::NOT_FOUND => missing(),
            other => other,
        })?;
        Ok(LoadedKernel { name: name.into(), handle, module: self.loaded.clone() })
    }
}

impl LoadedKernel {
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn context(&self) -> &Rc<Retained> {
        &self.module.context
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        if let Ok(api) = self.context.enter() {
            // SAFETY: loaded once, unloaded once; a refusal leaves nothing to do.
            unsafe { (api.module_unload)(self.handle) };
        }
    }
}
