//! The part of the driver's C ABI that this crate uses: entry points, numbers and layouts. Source: [CUDA]
//! driver API. Sizes and offsets were compared with the vendor's header of release 13.5, as a C compiler lays
//! it out.

use crate::DriverError;
use libloading::Library;
use std::collections::BTreeMap;
use std::ffi::{c_char, c_void};
use std::mem::offset_of;
use std::sync::Mutex;

/// Result code of a call (`CUresult`).
pub(crate) type Status = u32;
/// `CUcontext`, `CUmodule`, `CUfunction`, `CUlinkState` and `CUstream`.
pub(crate) type Handle = *mut c_void;

/// Layout of `CUlaunchConfig`.
#[repr(C)]
pub(crate) struct LaunchConfig {
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) shared_bytes: u32,
    pub(crate) stream: Handle,
    pub(crate) attributes: *const LaunchAttribute,
    pub(crate) count: u32,
}

/// `CUlaunchAttribute` with the value for the cluster size. The union of all values takes 64 bytes.
#[repr(C, align(8))]
pub(crate) struct LaunchAttribute {
    pub(crate) id: u32,
    pub(crate) pad: u32,
    pub(crate) cluster: [u32; 3],
    pub(crate) rest: [u32; 13],
}

const _: () = {
    assert!(size_of::<LaunchConfig>() == 56);
    assert!(offset_of!(LaunchConfig, block) == 12 && offset_of!(LaunchConfig, shared_bytes) == 24);
    assert!(offset_of!(LaunchConfig, stream) == 32 && offset_of!(LaunchConfig, attributes) == 40);
    assert!(offset_of!(LaunchConfig, count) == 48);
    assert!(size_of::<LaunchAttribute>() == 72 && align_of::<LaunchAttribute>() == 8);
    assert!(offset_of!(LaunchAttribute, cluster) == 8);
};

pub(crate) const LAUNCH_ATTRIBUTE_CLUSTER: u32 = 4;

/// Tags in the list of extra launch parameters (`CU_LAUNCH_PARAM_*`).
pub(crate) const PARAM_END: usize = 0;
pub(crate) const PARAM_BUFFER: usize = 1;
pub(crate) const PARAM_BUFFER_BYTES: usize = 2;

/// Linker options (values of `CUjit_option`).
pub(crate) const JIT_ERROR_LOG: u32 = 5;
pub(crate) const JIT_ERROR_LOG_BYTES: u32 = 6;

/// Linker input type (value of `CUjitInputType`).
pub(crate) const JIT_INPUT_PTX: u32 = 1;

/// Function attributes (values of `CUfunction_attribute`).
pub(crate) const FUNCTION_DYNAMIC_SHARED: i32 = 8;
pub(crate) const FUNCTION_ANY_CLUSTER: i32 = 14;

macro_rules! functions {
    (
        needed { $( $field:ident: fn($($argument:ty),*) = $symbol:literal $(| $older:literal)?; )* }
        optional { $( $maybe:ident: fn($($of:ty),*) = $name:literal; )* }
    ) => {
        #[derive(Debug)]
        pub(crate) struct Api {
            $( pub(crate) $field: unsafe extern "C" fn($($argument),*) -> Status, )*
            $( pub(crate) $maybe: Option<unsafe extern "C" fn($($of),*) -> Status>, )*
            /// Error that made the context unusable, by device number.
            pub(crate) lost: Mutex<BTreeMap<i32, DriverError>>,
        }

        impl Api {
            /// Looks up all entry points in `library`. The error is the name of the first missing entry
            /// point.
            pub(crate) fn load(library: &Library) -> Result<Self, &'static str> {
                // SAFETY: the driver's ABI fixes the types of these symbols. A changed function gets a new
                // name.
                unsafe {
                    Ok(Api {
                        $( $field: find(library, &[$symbol $(, $older)?]).ok_or($symbol)?, )*
                        $( $maybe: find(library, &[$name]), )*
                        lost: Mutex::default(),
                    })
                }
            }
        }
    };
}

/// Looks up the first of these symbols that the library exports.
///
/// # Safety
/// The symbols have type `T`.
unsafe fn find<T: Copy>(library: &Library, symbols: &[&str]) -> Option<T> {
    // SAFETY: the caller guarantees the type.
    symbols.iter().find_map(|symbol| unsafe { library.get::<T>(symbol.as_bytes()) }.ok().map(|found| *found))
}

functions! {
    needed {
        init: fn(u32) = "cuInit";
        version: fn(*mut i32) = "cuDriverGetVersion";
        error_name: fn(Status, *mut *const c_char) = "cuGetErrorName";
        error_text: fn(Status, *mut *const c_char) = "cuGetErrorString";
        device_count: fn(*mut i32) = "cuDeviceGetCount";
        device: fn(*mut i32, i32) = "cuDeviceGet";
        device_name: fn(*mut c_char, i32, i32) = "cuDeviceGetName";
        device_attribute: fn(*mut i32, i32, i32) = "cuDeviceGetAttribute";
        context_retain: fn(*mut Handle, i32) = "cuDevicePrimaryCtxRetain";
        context_release: fn(i32) = "cuDevicePrimaryCtxRelease_v2" | "cuDevicePrimaryCtxRelease";
        context_set_current: fn(Handle) = "cuCtxSetCurrent";
        link_create: fn(u32, *mut u32, *mut *mut c_void, *mut Handle) = "cuLinkCreate_v2";
        link_add: fn(Handle, u32, *mut c_void, usize, *const c_char, u32, *mut u32, *mut *mut c_void) = "cuLinkAddData_v2";
        link_complete: fn(Handle, *mut *mut c_void, *mut usize) = "cuLinkComplete";
        link_destroy: fn(Handle) = "cuLinkDestroy";
        module_load: fn(*mut Handle, *const c_void) = "cuModuleLoadData";
        module_unload: fn(Handle) = "cuModuleUnload";
        module_function: fn(*mut Handle, Handle, *const c_char) = "cuModuleGetFunction";
        function_set: fn(Handle, i32, i32) = "cuFuncSetAttribute";
        memory_allocate: fn(*mut u64, usize) = "cuMemAlloc_v2";
        memory_free: fn(u64) = "cuMemFree_v2";
        memory_write: fn(u64, *const c_void, usize) = "cuMemcpyHtoD_v2";
        memory_read: fn(*mut c_void, u64, usize) = "cuMemcpyDtoH_v2";
        memory_info: fn(*mut usize, *mut usize) = "cuMemGetInfo_v2";
        launch: fn(Handle, u32, u32, u32, u32, u32, u32, u32, Handle, *mut *mut c_void, *mut *mut c_void) = "cuLaunchKernel";
        stream_query: fn(Handle) = "cuStreamQuery";
    }
    optional {
        loading_mode: fn(*mut u32) = "cuModuleGetLoadingMode";
        launch_ex: fn(*const LaunchConfig, Handle, *mut *mut c_void, *mut *mut c_void) = "cuLaunchKernelEx";
    }
}
