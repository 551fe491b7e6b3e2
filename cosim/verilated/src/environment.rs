//! What the surroundings say about tools and folders.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Where to look for tools and where to put what is generated.
///
/// A value instead of direct reads of the process environment, so that a caller can look elsewhere
/// and tests can run beside each other.
#[derive(Clone, Debug)]
pub struct Environment {
    /// `VERILATOR_ROOT`: this Verilator and no other.
    pub verilator_root: Option<PathBuf>,
    /// `PATH`: where `verilator`, the compiler and `python3` are looked for.
    pub path: OsString,
    /// `CXX`: the C++ compiler; `g++` without it.
    pub cxx: Option<OsString>,
    /// Folder of everything generated: `CARGO_TARGET_DIR`, else `target` beside the nearest
    /// `Cargo.lock` at or above the current directory, else `target`.
    pub target: PathBuf,
    /// `ATOMS_CACHE`: folder of the built libraries; `rtl-cache` in [`Self::target`] without it.
    pub cache: Option<PathBuf>,
}

impl Environment {
    /// Reads the environment of this process.
    pub fn from_process() -> Self {
        let var = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        Self {
            verilator_root: var("VERILATOR_ROOT").map(PathBuf::from),
            path: std::env::var_os("PATH").unwrap_or_default(),
            cxx: var("CXX"),
            target: var("CARGO_TARGET_DIR").map(PathBuf::from).unwrap_or_else(workspace_target),
            cache: var("ATOMS_CACHE").map(PathBuf::from),
        }
    }

    /// Folder of the built libraries.
    pub fn cache_dir(&self) -> PathBuf {
        self.cache.clone().unwrap_or_else(|| self.target.join("rtl-cache"))
    }

    /// Folder of tools that [`provide`](crate::provide()) installs.
    pub fn toolchain_dir(&self) -> PathBuf {
        self.target.join("toolchain")
    }

    /// The file a shell would run for `program`: `program` itself if it names a folder, else the
    /// first executable of that name on [`Self::path`].
    pub(crate) fn which(&self, program: &Path) -> Option<PathBuf> {
        if program.components().count() > 1 {
            return is_executable(program).then(|| program.to_path_buf());
        }
        std::env::split_paths(&self.path).map(|dir| dir.join(program)).find(|file| is_executable(file))
    }
}

/// `target` beside the nearest `Cargo.lock` at or above the current directory.
fn workspace_target() -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    here.ancestors()
        .find(|dir| dir.join("Cargo.lock").is_file())
        .map_or_else(|| PathBuf::from("target"), |dir| dir.join("target"))
}

#[cfg(unix)]
pub(crate) fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
pub(crate) fn is_executable(file: &Path) -> bool {
    file.is_file()
}
