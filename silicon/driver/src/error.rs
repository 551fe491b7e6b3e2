//! What can go wrong, one variant for each thing the caller can do about it.

use crate::code;
use crate::device::{EXCLUSIVE_PROCESS, PROHIBITED};
use crate::{DriverCode, DriverVersion};

/// Why the driver, a device or a context could not do what was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DriverError {
    /// No library to load: install the driver, or name its library.
    #[error(
        "no CUDA driver found; install the NVIDIA driver, or name its library. Tried:{}",
        tried_text(tried)
    )]
    NotFound {
        /// What was tried, and what the loader said.
        tried: Vec<(String, String)>,
    },
    /// The library lacks an entry point: it is no CUDA driver, or one too old.
    #[error(
        "`{library}`{} has no entry point `{entry}`; a CUDA driver of version 11.8 or newer has it",
        version.map_or(String::new(), |version| format!(", a CUDA driver of version {version},"))
    )]
    EntryMissing {
        library: String,
        /// Its version, where it says one.
        version: Option<DriverVersion>,
        entry: &'static str,
    },
    /// The driver does not start: there is no GPU, no right to use it, or the library is not the one that is running.
    #[error("{}", init_text(library, code))]
    Init { library: String, code: DriverCode },
    /// Another process has the device to itself, or it is closed to all.
    #[error("the device is not available{}", in_use_text(*mode))]
    InUse {
        /// Its compute mode (`CUcomputemode`), where it could be asked.
        mode: Option<u32>,
    },
    /// Too little memory, of the device or of the host.
    #[error("out of memory in {call}{}", bytes.map_or(String::new(), |bytes| format!(", for {bytes} bytes")))]
    OutOfMemory {
        call: &'static str,
        /// Bytes asked for, where they were.
        bytes: Option<usize>,
    },
    /// The context is unusable, and so is every other one of this process on the device: the process has to end.
    #[error("{call}: {code}; the context is lost, start the process again")]
    ContextLost {
        /// The entry point that said so first.
        call: &'static str,
        code: DriverCode,
    },
    /// A kernel was left running ([`GridError::TimedOut`](crate::GridError::TimedOut)): the process has to end.
    #[error("a kernel that exceeded its time limit is still running; start the process again")]
    KernelRunning,
    /// A module has no such kernel.
    #[error("the module has no kernel `{name}`")]
    NoKernel { name: String },
    /// Bytes to write have another length than the memory.
    #[error("{found} bytes for device memory of {expected} bytes; the lengths must be equal")]
    MemoryLength {
        /// Bytes of the memory.
        expected: usize,
        /// Bytes given.
        found: usize,
    },
    /// The driver refuses a call.
    #[error("{call}: {code}")]
    Call { call: &'static str, code: DriverCode },
}

fn tried_text(tried: &[(String, String)]) -> String {
    tried.iter().map(|(name, reason)| format!("\n  {name}: {reason}")).collect()
}

/// What helps where a device of this compute mode is not available.
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

/// What the answer of `cuInit` means, and what helps.
fn init_text(library: &str, code: &DriverCode) -> String {
    let (what, help) = match code.number {
        code::NO_DEVICE => (
            "the driver sees no GPU".into(),
            "; check that `nvidia-smi` lists one (in MIG mode also an instance), and that CUDA_VISIBLE_DEVICES does not \
             hide it",
        ),
        code::NOT_PERMITTED | code::OPERATING_SYSTEM => (
            "the driver may not use the GPU".into(),
            "; check the rights on /dev/nvidia* and, in a container, its devices",
        ),
        code::SYSTEM_DRIVER_MISMATCH => (
            format!("`{library}` does not fit the driver that is running"),
            "; restart the machine after a driver update",
        ),
        code::STUB_LIBRARY => {
            (format!("`{library}` is a stub for linking"), "; name the driver's own library, libcuda.so.1")
        }
        _ => ("the driver does not start".into(), ""),
    };
    format!("{what}: {code}{help}")
}
