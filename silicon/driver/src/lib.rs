//! Binding to the CUDA driver. Loads `libcuda.so.1` at run time, compiles PTX with the driver, launches
//! kernels and reads their output. Neither the build nor the run needs a CUDA toolkit.
//!
//! ```no_run
//! use atoms_cuda::{Driver, GridArgument, GridLaunch};
//! use std::time::Duration;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let driver = Driver::open(None)?;
//! let device = driver.devices()?.into_iter().next().ok_or("no device")?;
//! let context = device.context()?;
//! let module = context.load(&context.compile(&std::fs::read_to_string("count.ptx")?)?)?;
//! let out = context.allocate(4 * 32)?;
//! out.write(&[0; 4 * 32])?;
//! let launch = GridLaunch { block: [32, 1, 1], ..GridLaunch::default() };
//! let arguments = [GridArgument::Memory(&out), GridArgument::U32(7)];
//! context.launch(&module.kernel("count")?, &launch, &arguments, Duration::from_secs(10))?;
//! let bytes = out.read()?;
//! # Ok(())
//! # }
//! ```
//!
//! A kernel that hangs or faults makes its context unusable: see [`GridError::TimedOut`] and
//! [`DriverError::ContextLost`]. The process must then end. Work that must continue belongs in another
//! process.

mod abi;
mod code;
mod compile;
mod context;
mod device;
mod driver;
mod error;
mod launch;
mod memory;
mod module;
mod retained;

pub use code::DriverCode;
pub use compile::{CompileError, Cubin};
pub use context::DeviceContext;
pub use device::{Device, DeviceAttribute};
pub use driver::{Driver, DriverVersion};
pub use error::DriverError;
pub use launch::{GridArgument, GridError, GridLaunch};
pub use memory::DeviceMemory;
pub use module::{LoadedKernel, LoadedModule};
