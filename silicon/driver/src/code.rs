//! Result codes of driver calls.

use crate::DriverError;
use crate::abi::{Api, Status};
use std::ffi::{CStr, c_char};
use std::fmt;
use std::ptr;

pub(crate) const SUCCESS: Status = 0;
pub(crate) const OUT_OF_MEMORY: Status = 2;
pub(crate) const STUB_LIBRARY: Status = 34;
pub(crate) const DEVICE_UNAVAILABLE: Status = 46;
pub(crate) const NO_DEVICE: Status = 100;
pub(crate) const NO_BINARY_FOR_GPU: Status = 209;
pub(crate) const INVALID_PTX: Status = 218;
pub(crate) const JIT_COMPILER_NOT_FOUND: Status = 221;
pub(crate) const UNSUPPORTED_PTX_VERSION: Status = 222;
pub(crate) const JIT_COMPILATION_DISABLED: Status = 223;
pub(crate) const OPERATING_SYSTEM: Status = 304;
pub(crate) const NOT_FOUND: Status = 500;
pub(crate) const NOT_READY: Status = 600;
pub(crate) const NOT_PERMITTED: Status = 800;
pub(crate) const SYSTEM_DRIVER_MISMATCH: Status = 803;

/// Codes after which a context returns the same error for every call: memory and link errors (214, 220, 226),
/// kernel faults (700, 702, 710, 714 to 719, 721), and a lost context or server (709, 810, 911).
const LOST: [Status; 17] =
    [214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721, 810, 911, 918];

/// A `CUresult` with the driver's name and text for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverCode {
    pub number: u32,
    /// Name such as `CUDA_ERROR_ILLEGAL_ADDRESS`. Empty if the driver has no name for the number.
    pub name: String,
    /// Description in the driver's words. Empty if the driver has none.
    pub text: String,
}

impl fmt::Display for DriverCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = if self.name.is_empty() { "unknown error" } else { &self.name };
        write!(f, "{name} ({})", self.number)?;
        if self.text.is_empty() { Ok(()) } else { write!(f, ": {}", self.text) }
    }
}

impl Api {
    pub(crate) fn code(&self, number: Status) -> DriverCode {
        let ask = |function: unsafe extern "C" fn(Status, *mut *const c_char) -> Status| {
            let mut text = ptr::null();
            // SAFETY: the driver sets `text` to a string of its own that stays, or to null.
            if unsafe { function(number, &raw mut text) } != SUCCESS || text.is_null() {
                return String::new();
            }
            // SAFETY: as above.
            unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
        };
        DriverCode { number, name: ask(self.error_name), text: ask(self.error_text) }
    }

    pub(crate) fn check(&self, call: &'static str, status: Status) -> Result<(), DriverError> {
        match status {
            SUCCESS => Ok(()),
            OUT_OF_MEMORY => Err(DriverError::OutOfMemory { call, bytes: None }),
            DEVICE_UNAVAILABLE => Err(DriverError::InUse { mode: None }),
            lost if LOST.contains(&lost) => Err(DriverError::ContextLost { call, code: self.code(lost) }),
            other => Err(DriverError::Call { call, code: self.code(other) }),
        }
    }
}
