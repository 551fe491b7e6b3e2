use crate::abi::Handle;
use crate::code;
use crate::retained::Retained;
use crate::{Cubin, DeviceContext, DriverError};
use std::ffi::CString;
use std::rc::Rc;

/// Loaded module. Unloaded when the module and all its kernels are dropped.
#[derive(Clone, Debug)]
pub struct LoadedModule {
    loaded: Rc<Loaded>,
}

#[derive(Debug)]
struct Loaded {
    context: Rc<Retained>,
    handle: Handle,
}

#[derive(Clone, Debug)]
pub struct LoadedKernel {
    name: String,
    pub(crate) handle: Handle,
    module: Rc<Loaded>,
}

impl DeviceContext {
    /// Loads machine code onto the device.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn load(&self, cubin: &Cubin) -> Result<LoadedModule, DriverError> {
        let context = &self.retained;
        let api = context.enter()?;
        // SAFETY: the image is a complete image from the driver's compiler.
        let make = |handle| unsafe { (api.module_load)(handle, cubin.bytes().as_ptr().cast()) };
        let handle = context.handle("cuModuleLoadData", make)?;
        Ok(LoadedModule { loaded: Rc::new(Loaded { context: context.clone(), handle }) })
    }
}

impl LoadedModule {
    /// Looks up a kernel by name.
    ///
    /// # Errors
    /// [`DriverError::NoKernel`], or other errors of the driver.
    pub fn kernel(&self, name: &str) -> Result<LoadedKernel, DriverError> {
        let missing = || DriverError::NoKernel { name: name.into() };
        let text = CString::new(name).map_err(|_| missing())?;
        let context = &self.loaded.context;
        let api = context.enter()?;
        // SAFETY: the module is loaded, and the name ends with a NUL byte.
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
            // SAFETY: the module is loaded once and unloaded once. A refusal needs no reaction.
            unsafe { (api.module_unload)(self.handle) };
        }
    }
}
