//! Errors of the driver. Each variant calls for a different reaction of the caller.

use crate::code;
use crate::device::{EXCLUSIVE_PROCESS, PROHIBITED};
use crate::{DriverCode, DriverVersion};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DriverError {
    #[error(
        "no CUDA driver found; install the NVIDIA driver, or name its library. Tried:{}",
        tried_text(tried)
    )]
    NotFound {
        /// Names that were tried, each with the loader's message.
        tried: Vec<(String, String)>,
    },
    #[error(
        "`{library}`{} has no entry point `{entry}`; a CUDA driver of version 11.8 or newer has it",
        version.map_or(String::new(), |version| format!(", a CUDA driver of version {version},"))
    )]
    EntryMissing {
        library: String,
        /// Version of the driver. `None` if the library does not report one.
        version: Option<DriverVersion>,
        entry: &'static str,
    },
    /// The driver does not start: no GPU, no permission, or a library that does not match the running driver.
    #[error("{}", init_text(library, code))]
    Init { library: String, code: DriverCode },
    /// Another process uses the device exclusively, or no process may use the device.
    #[error("the device is not available{}", in_use_text(*mode))]
    InUse {
        /// Compute mode (`CUcomputemode`) of the device. `None` if the query failed.
        mode: Option<u32>,
    },
    #[error("out of memory in {call}{}", bytes.map_or(String::new(), |bytes| format!(", for {bytes} bytes")))]
    OutOfMemory {
        call: &'static str,
        /// Requested size in bytes. `None` if the call does not request a size.
        bytes: Option<usize>,
    },
    /// The context is unusable, like every other context of this process on the device. The process must end.
    #[error("{call}: {code}; the context is lost, start the process again")]
    ContextLost {
        /// Entry point that first returned the error.
        call: &'static str,
        code: DriverCode,
    },
    /// A kernel is still running after [`GridError::TimedOut`](crate::GridError::TimedOut). The process must
    /// end.
    #[error("a kernel that exceeded its time limit is still running; start the process again")]
    KernelRunning,
    #[error("the module has no kernel `{name}`")]
    NoKernel { name: String },
    #[error("cannot write {found} bytes to device memory of {expected} bytes; the lengths must be equal")]
    MemoryLength { expected: usize, found: usize },
    #[error("{call}: {code}")]
    Call { call: &'static str, code: DriverCode },
}

fn tried_text(tried: &[(String, String)]) -> String {
    tried.iter().map(|(name, reason)| format!("\n  {name}: {reason}")).collect()
}

fn in_use_text(mode: Option<u32>) -> &'static str {
    match mode {
        None => "",
        Some(PROHIBITED) => ": its compute mode is PROHIBITED; set another with `nvidia-smi -c`",
        Some(EXCLUSIVE_PROCESS) => {
            ": its compute mode is EXCLUSIVE_PROCESS, and another process uses it; end that one, or set another mode with \
             `nvidia-smi -c`"
        }
        Some(_) => "; end the processes that use it",
    }
}

fn init_text(library: &str, code: &DriverCode) -> String {
    let (what, help) = match code.number {
        code::NO_DEVICE => (
            "the driver sees no GPU".into(),
            "; check that `nvidia-smi` lists one (in MIG mode also an instance), and that CUDA_VISIBLE_DEVICES does not \
             hide it",
        ),
        code::NOT_PERMITTED | code::OPERATING_SYSTEM => (
            "the driver has no permission to use the GPU".into(),
            "; check the permissions of /dev/nvidia* and, in a container, that it has these devices",
        ),
        code::SYSTEM_DRIVER_MISMATCH => (
            format!("`{library}` has another version than the running driver"),
            "; restart the machine after a driver update",
        ),
        code::STUB_LIBRARY => {
            (format!("`{library}` is a stub for linking"), "; name the driver's own library, libcuda.so.1")
        }
        _ => ("the driver does not start".into(), ""),
    };
    format!("{what}: {code}{help}")
}
