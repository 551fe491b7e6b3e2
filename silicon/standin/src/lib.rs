//! Stands in for the CUDA driver: a shared library with the driver's entry points, which carries PTX out on the core of
//! `atoms-sm` and the model of `atoms-model`, in configuration `default` (48 KiB of shared memory). A program that uses
//! the driver can be tried with it on a machine without a GPU.
//!
//! Built as `libatoms_standin.so`. A program that names its driver loads it by that path; for one that does not, put it
//! as `libcuda.so.1` into a folder of `LD_LIBRARY_PATH`. Tests have this crate as a dev-dependency, so that cargo builds
//! it, and find it with [`library`].
//!
//! A parameter of 8 bytes that is the address of an allocation is a buffer of the launch; what it holds comes back when
//! the kernel has run. So no kernel sees the address itself: one that is stored in memory leads nowhere; one inside of
//! an allocation is refused, and so is an allocation given twice. Variables of a module and clocks start anew
//! with each launch. A kernel that waits for ever, or runs for more than 10 million cycles, never ends. Why a call or a
//! kernel failed is in the text of the error (`cuGetErrorString`).
//!
//! | variable | meaning |
//! |---|---|
//! | `ATOMS_STANDIN_CC` | compute capability, and so the architecture that PTX is compiled for: `9.0` unless set |
//! | `ATOMS_STANDIN_TROUBLE` | what goes wrong; a list with commas |
//!
//! | trouble | what happens |
//! |---|---|
//! | `no-device` | `cuInit` finds no GPU (100) |
//! | `init=CODE` | `cuInit` answers this code |
//! | `old-driver` | version 10.1, which takes PTX up to 6.4 (222) |
//! | `old-gpu` | compute capability 5.2 |
//! | `link=CODE` | PTX is answered with this code |
//! | `exclusive`, `prohibited` | another process has the device, or no process may have it (46) |
//! | `mig` | the device is a MIG instance |
//! | `out-of-memory` | allocations fail (2) |
//! | `slow=MS` | each launch takes so many milliseconds more |
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

/// The shared library, for tests: cargo puts it beside a test's own program, and into `deps` below any other program
/// of the same build.
pub fn library() -> PathBuf {
    let program = std::env::current_exe().unwrap_or_default();
    let folder = program.parent().unwrap_or(Path::new(""));
    let folder = if folder.ends_with("deps") { folder.to_path_buf() } else { folder.join("deps") };
    folder.join("libatoms_standin.so")
}
