//! Launches a kernel and waits for its end.

use crate::abi::{
    FUNCTION_ANY_CLUSTER, FUNCTION_DYNAMIC_SHARED, LAUNCH_ATTRIBUTE_CLUSTER, LaunchAttribute, LaunchConfig,
    PARAM_BUFFER, PARAM_BUFFER_BYTES, PARAM_END,
};
use crate::code;
use crate::retained::Retained;
use crate::{DeviceContext, DeviceMemory, DriverError, LoadedKernel};
use std::ffi::c_void;
use std::ptr;
use std::rc::Rc;
use std::thread;
use std::time::{Duration, Instant};

/// Largest cluster, in CTAs, that every device with clusters supports. Larger clusters need an attribute.
const PORTABLE_CLUSTER: u32 = 8;

/// Shortest and longest pause between two polls for the end of a kernel.
const PAUSES: [Duration; 2] = [Duration::from_micros(20), Duration::from_millis(2)];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GridLaunch {
    /// CTAs in x, y, z.
    pub grid: [u32; 3],
    /// Threads per CTA in x, y, z.
    pub block: [u32; 3],
    /// CTAs per cluster in x, y, z. The grid must be a multiple of the cluster.
    pub cluster: [u32; 3],
    /// Dynamic shared memory per CTA, in bytes.
    pub dynamic_shared: u32,
}

impl Default for GridLaunch {
    fn default() -> Self {
        GridLaunch { grid: [1; 3], block: [1; 3], cluster: [1; 3], dynamic_shared: 0 }
    }
}

#[derive(Clone, Copy, Debug)]
pub enum GridArgument<'m> {
    /// Address of device memory: 8 bytes.
    Memory(&'m DeviceMemory),
    U32(u32),
    U64(u64),
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GridError {
    /// The kernel still runs and cannot be stopped. Nothing of the context can be used or freed. Only the end
    /// of the process resets the device.
    #[error("kernel `{kernel}` has not ended within {limit:?}; start the process again")]
    TimedOut { kernel: String, limit: Duration },
    /// The kernel or a memory argument belongs to another context.
    #[error("{what} belongs to another context than the launch")]
    OtherContext {
        /// Object of the other context: the kernel, or an argument with its index.
        what: String,
    },
    #[error(transparent)]
    Driver(#[from] DriverError),
}

impl DeviceContext {
    /// Runs a kernel to its end, or until `limit` has passed.
    ///
    /// # Errors
    /// [`GridError::TimedOut`], [`DriverError::ContextLost`], or other errors of the driver.
    pub fn launch(
        &self,
        kernel: &LoadedKernel,
        launch: &GridLaunch,
        arguments: &[GridArgument<'_>],
        limit: Duration,
    ) -> Result<(), GridError> {
        let context = &self.retained;
        if !Rc::ptr_eq(kernel.context(), context) {
            return Err(GridError::OtherContext { what: "the kernel".into() });
        }
        let foreign = |argument: &GridArgument<'_>| matches!(argument, GridArgument::Memory(memory) if !Rc::ptr_eq(&memory.context, context));
        if let Some(at) = arguments.iter().position(foreign) {
            return Err(GridError::OtherContext { what: format!("argument {at}") });
        }
        launch.start(context, kernel, arguments)?;
        let (began, [mut pause, longest]) = (Instant::now(), PAUSES);
        loop {
            let api = context.device.driver().api();
            // SAFETY: null is the stream of the launch.
            match unsafe { (api.stream_query)(ptr::null_mut()) } {
                code::NOT_READY if began.elapsed() < limit => {
                    thread::sleep(pause.min(limit.saturating_sub(began.elapsed())));
                    pause = (pause * 2).min(longest);
                }
                code::NOT_READY => {
                    context.lose(DriverError::KernelRunning);
                    return Err(GridError::TimedOut { kernel: kernel.name().into(), limit });
                }
                status => return Ok(context.check("cuStreamQuery", status)?),
            }
        }
    }
}

impl GridLaunch {
    fn start(
        &self,
        context: &Retained,
        kernel: &LoadedKernel,
        arguments: &[GridArgument<'_>],
    ) -> Result<(), DriverError> {
        let api = context.enter()?;
        let set = |attribute, value: u32| {
            // SAFETY: the kernel's module is loaded.
            let status = unsafe { (api.function_set)(kernel.handle, attribute, value as i32) };
            context.check("cuFuncSetAttribute", status)
        };
        if self.dynamic_shared > 0 {
            set(FUNCTION_DYNAMIC_SHARED, self.dynamic_shared)?;
        }
        // Arguments are passed as one buffer with a size. The driver then refuses a kernel with other
        // parameters, and never reads past the end of a list.
        let mut packed = packed(arguments);
        let mut bytes = packed.len();
        let buffer = packed.as_mut_ptr().cast::<c_void>();
        let size = (&raw mut bytes).cast::<c_void>();
        let tag = ptr::without_provenance_mut::<c_void>;
        let mut extra = [tag(PARAM_BUFFER), buffer, tag(PARAM_BUFFER_BYTES), size, tag(PARAM_END)];
        let extra = if arguments.is_empty() { ptr::null_mut() } else { extra.as_mut_ptr() };
        let ([gx, gy, gz], [bx, by, bz]) = (self.grid, self.block);
        let (stream, none) = (ptr::null_mut(), ptr::null_mut());
        if self.cluster == [1; 3] {
            // SAFETY: the kernel's module is loaded. Buffer and size live until the call returns, and the
            // driver reads them before that.
            let status = unsafe {
                (api.launch)(kernel.handle, gx, gy, gz, bx, by, bz, self.dynamic_shared, stream, none, extra)
            };
            return context.check("cuLaunchKernel", status);
        }
        let launch = context.device.driver().needed("cuLaunchKernelEx", api.launch_ex)?;
        if self.cluster.iter().fold(1, |all: u32, some| all.saturating_mul(*some)) > PORTABLE_CLUSTER {
            set(FUNCTION_ANY_CLUSTER, 1)?;
        }
        let attribute =
            LaunchAttribute { id: LAUNCH_ATTRIBUTE_CLUSTER, pad: 0, cluster: self.cluster, rest: [0; 13] };
        let config = LaunchConfig {
            grid: self.grid,
            block: self.block,
            shared_bytes: self.dynamic_shared,
            stream,
            attributes: &raw const attribute,
            count: 1,
        };
        // SAFETY: as for `cuLaunchKernel`. The attribute also lives until the call returns.
        let status = unsafe { launch(&raw const config, kernel.handle, none, extra) };
        context.check("cuLaunchKernelEx", status)
    }
}

/// Packs the arguments, each aligned to its size.
fn packed(arguments: &[GridArgument<'_>]) -> Vec<u8> {
    let mut packed = Vec::new();
    for argument in arguments {
        let (value, bytes) = match argument {
            GridArgument::Memory(memory) => (memory.address(), 8),
            GridArgument::U32(value) => (u64::from(*value), 4),
            GridArgument::U64(value) => (*value, 8),
        };
        packed.resize(packed.len().next_multiple_of(bytes), 0);
        packed.extend(&value.to_le_bytes()[..bytes]);
    }
    packed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_aligned() {
        let packed = packed(&[GridArgument::U32(0x0403_0201), GridArgument::U64(5), GridArgument::U32(6)]);
        assert_eq!(packed, [1, 2, 3, 4, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0]);
    }
}
