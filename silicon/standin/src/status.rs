//! Result codes and refusals of the stand-in.

use std::ffi::CStr;

/// Result code of a call (`CUresult`).
pub(crate) type Status = u32;

macro_rules! statuses {
    ($( $name:ident $number:literal $symbol:literal $text:literal; )*) => {
        $(
            #[allow(dead_code, reason = "some are returned only if ATOMS_STANDIN_TROUBLE sets their number")]
            pub(crate) const $name: Status = $number;
        )*

        const ALL: &[(Status, &CStr, &CStr)] = &[$( ($number, $symbol, $text) ),*];
    };
}

statuses! {
    SUCCESS 0 c"CUDA_SUCCESS" c"no error";
    INVALID_VALUE 1 c"CUDA_ERROR_INVALID_VALUE" c"invalid argument";
    OUT_OF_MEMORY 2 c"CUDA_ERROR_OUT_OF_MEMORY" c"out of memory";
    NOT_INITIALIZED 3 c"CUDA_ERROR_NOT_INITIALIZED" c"not initialized";
    STUB_LIBRARY 34 c"CUDA_ERROR_STUB_LIBRARY" c"stub library, only for linking";
    DEVICE_UNAVAILABLE 46 c"CUDA_ERROR_DEVICE_UNAVAILABLE" c"device busy or unavailable";
    NO_DEVICE 100 c"CUDA_ERROR_NO_DEVICE" c"no device";
    INVALID_DEVICE 101 c"CUDA_ERROR_INVALID_DEVICE" c"no such device";
    INVALID_IMAGE 200 c"CUDA_ERROR_INVALID_IMAGE" c"not an image of the stand-in";
    INVALID_CONTEXT 201 c"CUDA_ERROR_INVALID_CONTEXT" c"no context is current";
    NO_BINARY_FOR_GPU 209 c"CUDA_ERROR_NO_BINARY_FOR_GPU" c"no code for this GPU";
    INVALID_PTX 218 c"CUDA_ERROR_INVALID_PTX" c"PTX that cannot be compiled";
    JIT_COMPILER_NOT_FOUND 221 c"CUDA_ERROR_JIT_COMPILER_NOT_FOUND" c"no PTX compiler";
    UNSUPPORTED_PTX_VERSION 222 c"CUDA_ERROR_UNSUPPORTED_PTX_VERSION" c"PTX newer than the driver";
    OPERATING_SYSTEM 304 c"CUDA_ERROR_OPERATING_SYSTEM" c"operating system call failed";
    INVALID_HANDLE 400 c"CUDA_ERROR_INVALID_HANDLE" c"no such handle";
    NOT_FOUND 500 c"CUDA_ERROR_NOT_FOUND" c"no such name";
    NOT_READY 600 c"CUDA_ERROR_NOT_READY" c"not ready";
    ILLEGAL_ADDRESS 700 c"CUDA_ERROR_ILLEGAL_ADDRESS" c"illegal memory access";
    LAUNCH_OUT_OF_RESOURCES 701 c"CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES" c"launch exceeds the resources";
    ILLEGAL_INSTRUCTION 715 c"CUDA_ERROR_ILLEGAL_INSTRUCTION" c"illegal instruction";
    MISALIGNED_ADDRESS 716 c"CUDA_ERROR_MISALIGNED_ADDRESS" c"misaligned address";
    INVALID_PC 718 c"CUDA_ERROR_INVALID_PC" c"invalid program counter";
    LAUNCH_FAILED 719 c"CUDA_ERROR_LAUNCH_FAILED" c"launch failed";
    NOT_PERMITTED 800 c"CUDA_ERROR_NOT_PERMITTED" c"not permitted";
    NOT_SUPPORTED 801 c"CUDA_ERROR_NOT_SUPPORTED" c"not supported by the stand-in";
    SYSTEM_DRIVER_MISMATCH 803 c"CUDA_ERROR_SYSTEM_DRIVER_MISMATCH" c"library and driver differ";
    INVALID_CLUSTER_SIZE 912 c"CUDA_ERROR_INVALID_CLUSTER_SIZE" c"invalid cluster size";
    UNKNOWN 999 c"CUDA_ERROR_UNKNOWN" c"unknown error";
}

pub(crate) fn known(status: Status) -> Option<(&'static CStr, &'static CStr)> {
    ALL.iter().find(|(number, ..)| *number == status).map(|(_, name, text)| (*name, *text))
}

/// Error of a call, with an optional reason beyond the text of the code.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) status: Status,
    /// Reason. Empty if the text of the code is enough.
    pub(crate) reason: String,
}

impl Refusal {
    pub(crate) fn new(status: Status, reason: impl Into<String>) -> Refusal {
        Refusal { status, reason: reason.into() }
    }
}

impl From<Status> for Refusal {
    fn from(status: Status) -> Refusal {
        Refusal::new(status, "")
    }
}
