//! Environment variables that select tools and folders.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Places to look for tools, and folders for generated files.
///
/// This value replaces direct reads of the process environment, so that tests can run in parallel.
/// [`Self::from_process`] makes every path absolute, because tools run in their own working folders.
#[derive(Clone, Debug)]
pub struct Environment {
    /// `VERILATOR_ROOT`: the only Verilator to use.
    pub verilator_root: Option<PathBuf>,
    /// `PATH`: folders to search for `verilator`, the compiler and `python3`.
    pub path: OsString,
    /// `CXX`: the C++ compiler. Without it, [`Compiler::find`](crate::Compiler::find) selects one.
    pub cxx: Option<OsString>,
    /// Folder of results: `CARGO_TARGET_DIR`; else `target` of the [`checkout`] around the working folder;
    /// else `atoms-out` in the working folder.
    pub target: PathBuf,
    /// Folder of reusable results, such as tools and libraries: `CARGO_TARGET_DIR`; else `target` of the
    /// checkout; else `atoms` in the user's cache folder (`XDG_CACHE_HOME`, else `~/.cache`).
    pub store: PathBuf,
    /// `ATOMS_CACHE`: folder of built libraries. Default: `rtl-cache` in [`Self::store`].
    pub cache: Option<PathBuf>,
    /// `ATOMS_CACHE_MB`: size limit of all built libraries together, in MB.
    pub cache_mb: Option<OsString>,
}

impl Environment {
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

    pub fn cache_dir(&self) -> PathBuf {
        self.cache.clone().unwrap_or_else(|| self.store.join("rtl-cache"))
    }

    pub fn toolchain_dir(&self) -> PathBuf {
        self.store.join("toolchain")
    }

    /// Returns the absolute path of the file that a shell would run for `program`.
    pub fn which(&self, program: &Path) -> Option<PathBuf> {
        let found = if program.components().count() > 1 {
            is_executable(program).then(|| program.to_path_buf())
        } else {
            std::env::split_paths(&self.path).map(|dir| dir.join(program)).find(|file| is_executable(file))
        };
        found.map(|file| std::path::absolute(&file).unwrap_or(file))
    }
}

/// Returns the nearest folder at or above `folder` with `rtl/atoms.f` and `rtl/configs.toml`.
pub fn checkout(folder: &Path) -> Option<PathBuf> {
    let is_checkout =
        |dir: &&Path| ["atoms.f", "configs.toml"].iter().all(|file| dir.join("rtl").join(file).is_file());
    folder.ancestors().find(is_checkout).map(Path::to_path_buf)
}

pub(crate) fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}
