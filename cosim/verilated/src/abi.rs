//! The C ABI of a built library. Mirror of `build/shim/shim.cpp` and `build/shim/signals.cpp`.

use atoms_model::port::{In, Out, Probe};
use std::ffi::{c_char, c_void};
use std::path::Path;

use crate::Variant;

/// Version of the C functions below. Increase it when they change.
pub(crate) const ABI_VERSION: u32 = 3;

pub(crate) const OK: i32 = 0;
pub(crate) const STOPPED: i32 = 1;
/// The outputs or the probe of this cycle differ from the expected values.
pub(crate) const DIFFERS: i32 = 3;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) lanes: u32,
    pub(crate) banks: u32,
    pub(crate) rows: u32,
    pub(crate) variant: Variant,
}

/// `Point` of the shim. The texts live as long as the model.
#[repr(C)]
pub(crate) struct RawPoint {
    pub(crate) file: *const c_char,
    pub(crate) hierarchy: *const c_char,
    pub(crate) page: *const c_char,
    pub(crate) comment: *const c_char,
    pub(crate) lines: *const c_char,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// Returns the variant with this number in `atoms_layout` and `ATOMS_VARIANT`: its index in [`Variant::ALL`].
fn variant(number: u32) -> Option<Variant> {
    Variant::ALL.get(number as usize).copied()
}

macro_rules! functions {
    (always { $( $symbol:ident => $field:ident: $ty:ty; )* } some variants { $( $rare:ident => $option:ident: $of:ty; )* }) => {
        /// Functions of a library. They are valid while `_library` keeps the library loaded.
        pub(crate) struct Api {
            $( pub(crate) $field: $ty, )*
            $( pub(crate) $option: Option<$of>, )*
            /// Keeps the library loaded.
            _library: libloading::os::unix::Library,
        }

        impl Api {
            pub(crate) fn load(path: &Path) -> Result<Self, libloading::Error> {
                use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
                // SAFETY: the file is a library that this crate built (the caller has compared its
                // hash with the manifest); its initializers are those of the Verilator runtime,
                // which set up globals of the library only.
                let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL)? };
                // SAFETY: the symbol has this type in shim.cpp; the ABI version is in the cache key.
                $( let $field = unsafe { *library.get::<$ty>(concat!(stringify!($symbol), "\0").as_bytes())? }; )*
                // SAFETY: as for the functions above.
                $( let $option = unsafe { library.get::<$of>(concat!(stringify!($rare), "\0").as_bytes()) }; )*
                Ok(Self { $( $field, )* $( $option: $option.ok().map(|function| *function), )* _library: library })
            }
        }
    };
}

functions! {
    always {
        atoms_layout => layout: unsafe extern "C" fn(*mut u32);
        atoms_create => create: unsafe extern "C" fn() -> *mut c_void;
        atoms_destroy => destroy: unsafe extern "C" fn(*mut c_void);
        atoms_cycle => cycle: unsafe extern "C" fn(*mut c_void, *const In, *mut Out, *mut Probe) -> i32;
        atoms_cycle_expecting => cycle_expecting: unsafe extern "C" fn(*mut c_void, *const In, *const Out, *const Probe, *mut Out, *mut Probe) -> i32;
        atoms_cycles => cycles: unsafe extern "C" fn(*const c_void) -> u64;
        atoms_bank => bank: unsafe extern "C" fn(*mut c_void, u32) -> *mut u32;
        atoms_read_memory => read_memory: unsafe extern "C" fn(*const c_void, *mut u32);
        atoms_write_memory => write_memory: unsafe extern "C" fn(*mut c_void, *const u32);
        atoms_clear_memory => clear_memory: unsafe extern "C" fn(*mut c_void);
        atoms_stop => stop: unsafe extern "C" fn(*const c_void, *mut u64, *mut i32, *mut *const c_char) -> *const c_char;
        atoms_log => log: unsafe extern "C" fn(*const c_void) -> *const c_char;
        atoms_clear_log => clear_log: unsafe extern "C" fn(*mut c_void);
    }
    some variants {
        atoms_save => save: unsafe extern "C" fn(*mut c_void, *mut *const u8, *mut usize) -> i32;
        atoms_restore => restore: unsafe extern "C" fn(*mut c_void, *const u8, usize, u64) -> i32;
        atoms_open_trace => open_trace: unsafe extern "C" fn(*mut c_void, *const c_char) -> i32;
        atoms_close_trace => close_trace: unsafe extern "C" fn(*mut c_void) -> i32;
        atoms_open_signals => open_signals: unsafe extern "C" fn(*mut c_void, *mut *const c_char, *mut usize) -> *mut c_void;
        atoms_close_signals => close_signals: unsafe extern "C" fn(*mut c_void, *mut c_void);
        atoms_cycle_signals => cycle_signals: unsafe extern "C" fn(*mut c_void, *mut c_void, *const In, *mut Out, *mut Probe, *mut *const c_char, *mut usize) -> i32;
        atoms_points => points: unsafe extern "C" fn(*const c_void) -> usize;
        atoms_point => point: unsafe extern "C" fn(*const c_void, usize, *mut RawPoint);
        atoms_counts => counts: unsafe extern "C" fn(*const c_void, *mut u64);
        atoms_set_counts => set_counts: unsafe extern "C" fn(*mut c_void, *const u64);
    }
}

impl Api {
    /// Returns the configuration of the library, or the reason why the library does not fit this binary.
    pub(crate) fn checked_layout(&self) -> Result<Layout, String> {
        let mut words = [0_u32; 8];
        // SAFETY: `atoms_layout` writes eight words.
        unsafe { (self.layout)(words.as_mut_ptr()) };
        let [abi, input, output, probe, lanes, banks, rows, number] = words;
        let sizes = [size_of::<In>(), size_of::<Out>(), size_of::<Probe>()].map(|size| size as u32);
        if abi != ABI_VERSION || [input, output, probe] != sizes {
            return Err(format!("it has ABI {abi}, this binary {ABI_VERSION}, or other port structs"));
        }
        let variant = variant(number).ok_or_else(|| format!("it is of an unknown variant {number}"))?;
        Ok(Layout { lanes, banks, rows, variant })
    }
}
