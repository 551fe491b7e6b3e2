//! What the surroundings say about tools and folders.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Where to look for tools and where to put what is generated.
///
/// A value instead of direct reads of the process environment, so that a caller can look elsewhere
/// and tests can run beside each other. [`Self::from_process`] makes every path absolute: tools run in
/// working folders of their own.
#[derive(Clone, Debug)]
pub struct Environment {
    /// `VERILATOR_ROOT`: this Verilator and no other.
    pub verilator_root: Option<PathBuf>,
    /// `PATH`: where `verilator`, the compiler and `python3` are looked for.
    pub path: OsString,
    /// `CXX`: the C++ compiler; `g++` without it.
    pub cxx: Option<OsString>,
    /// Folder of results: `CARGO_TARGET_DIR`; else `target` of the [`checkout`] around the working folder; else
    /// `atoms-out` in the working folder.
    pub target: PathBuf,
    /// Folder of what is made once and used again, tools and libraries: `CARGO_TARGET_DIR`; else `target` of the
    /// checkout; else `atoms` in the user's cache folder (`XDG_CACHE_HOME`, else `~/.cache`).
    pub store: PathBuf,
    /// `ATOMS_CACHE`: folder of the built libraries; `rtl-cache` in [`Self::store`] without it.
    pub cache: Option<PathBuf>,
    /// `ATOMS_CACHE_MB`: the size in MB that the built libraries may have together.
    pub cache_mb: Option<OsString>,
}

impl Environment {
    /// Reads the environment of this process.
    pub fn from_process() -> Self {
        let var = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let here = std::env::current_dir().unwrap_or_default();
        let path = |name| var(name).map(|path| here.join(path));
        let given = path("CARGO_TARGET_DIR").or_else(|| Some(checkout(&here)?.join("target")));
        let target = given.clone().unwrap_or_else(|| here.join("atoms-out"));
        let of_user = || path("XDG_CACHE_HOME").or_else(|| Some(path("HOME")?.join(".cache")));
        Self {
            verilator_root: path("VERILATOR_ROOT"),
            path: std::env::var_os("PATH").unwrap_or_default(),
            cxx: var("CXX"),
            store: given.or_else(|| Some(of_user()?.join("atoms"))).unwrap_or_else(|| target.clone()),
            target,
            cache: path("ATOMS_CACHE"),
            cache_mb: var("ATOMS_CACHE_MB"),
        }
    }

    /// Folder of the built libraries.
    pub fn cache_dir(&self) -> PathBuf {
        self.cache.clone().unwrap_or_else(|| self.store.join("rtl-cache"))
    }

    /// Folder of tools that [`install_verilator`](crate::install_verilator()) installs.
    pub fn toolchain_dir(&self) -> PathBuf {
        self.store.join("toolchain")
    }

    /// The file a shell would run for `program`: `program` itself if it names a folder, else the
    /// first executable of that name on [`Self::path`]. Absolute.
    pub fn which(&self, program: &Path) -> Option<PathBuf> {
        let found = if program.components().count() > 1 {
            is_executable(program).then(|| program.to_path_buf())
        } else {
            std::env::split_paths(&self.path).map(|dir| dir.join(program)).find(|file| is_executable(file))
        };
        found.map(|file| std::path::absolute(&file).unwrap_or(file))
    }
}

/// The checkout of ATOMS around `folder`: the nearest folder at or above it with `rtl/atoms.f` and
/// `rtl/configs.toml`.
pub fn checkout(folder: &Path) -> Option<PathBuf> {
    let is_checkout =
        |dir: &&Path| ["atoms.f", "configs.toml"].iter().all(|file| dir.join("rtl").join(file).is_file());
    folder.ancestors().find(is_checkout).map(Path::to_path_buf)
}

pub(crate) fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}
