//! Stand-in for the CUDA driver: a shared library with the driver's entry points. It runs PTX on the core of
//! `atoms-sm` and the model of `atoms-model`, in configuration `default` (48 KiB of shared memory). Programs
//! that use the driver can be tested with it on a machine without a GPU.
//!
//! The library is built as `libatoms_standin.so`. A program that names its driver loads the library by that
//! path. For other programs, copy the library as `libcuda.so.1` into a folder of `LD_LIBRARY_PATH`. Tests
//! have this crate as a dev-dependency, so that cargo builds it, and find it with [`library`].
//!
//! A parameter of 8 bytes that equals the address of an allocation is a buffer of the launch. Its content is
//! copied back after the kernel has run. The kernel does not see the address itself, so an address stored in
//! memory is useless. The launch refuses an address inside an allocation, and an allocation passed twice.
//! Module variables and clocks restart with each launch. A kernel that deadlocks or runs for more than 10
//! million cycles never ends. `cuGetErrorString` returns the reason why a call or a kernel failed.
//!
//! | variable | meaning |
//! |---|---|
//! | `ATOMS_STANDIN_CC` | compute capability, and so the architecture that PTX is compiled for: `9.0` unless set |
//! | `ATOMS_STANDIN_TROUBLE` | what goes wrong; a list with commas |
//!
//! | trouble | effect |
//! |---|---|
//! | `no-device` | `cuInit` finds no GPU (100) |
//! | `init=CODE` | `cuInit` returns this code |
//! | `old-driver` | version 10.1, which takes PTX up to 6.4 (222) |
//! | `old-gpu` | compute capability 5.2 |
//! | `link=CODE` | the compiler returns this code for any PTX |
//! | `exclusive`, `prohibited` | another process has the device, or no process may have it (46) |
//! | `mig` | the device is a MIG instance |
//! | `out-of-memory` | allocations fail (2) |
//! | `slow=MS` | each launch takes MS milliseconds longer |
//! | `hang=N` | launch N, from 1, never ends |
//! | `fault=N` | launch N ends with an illegal address (700), and so does every call after it |
//! | `flip=N` | read N, from 1, has one bit flipped |

mod entry;
mod launch;
mod ptx;
mod settings;
mod state;
mod status;

use std::path::{Path, PathBuf};

/// Path of the shared library, for tests. Cargo puts the library into the folder of test programs, which is
/// `deps` below the folder of other programs.
pub fn library() -> PathBuf {
    let program = std::env::current_exe().unwrap_or_default();
    let folder = program.parent().unwrap_or(Path::new(""));
    let folder = if folder.ends_with("deps") { folder.to_path_buf() } else { folder.join("deps") };
    folder.join("libatoms_standin.so")
}
