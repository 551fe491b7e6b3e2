//! Builds the RTL of a named configuration.

use std::path::{Path, PathBuf};

use atoms_verilated::{
    BuildError, BuildSpec, Cache, Environment, Library, Progress, Rtl, RtlError, Toolchain, ToolchainError,
    Variant, provide,
};

use crate::configs::NamedConfig;

/// Why there is no RTL to run.
#[derive(Debug, thiserror::Error)]
pub enum RtlBuildError {
    /// No usable Verilator or C++ compiler.
    #[error(transparent)]
    Toolchain(#[from] ToolchainError),
    /// The design does not build.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// It builds, but an instance cannot be made.
    #[error(transparent)]
    Load(#[from] RtlError),
    /// The configuration's package cannot be written, or Verilator not started.
    #[error("cannot lint: `{}`", path.display())]
    Lint {
        /// The file or program.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
}

/// Verilator and compiler of this machine. Without a Verilator, a pinned one is installed under
/// `target/` first.
fn toolchain(env: &Environment, progress: &mut dyn FnMut(&Progress)) -> Result<Toolchain, RtlBuildError> {
    match Toolchain::find(env) {
        Err(ToolchainError::VerilatorMissing { .. }) => {
            provide(env, progress)?;
            Ok(Toolchain::find(env)?)
        }
        found => Ok(found?),
    }
}

/// Builds, or takes from the cache, the RTL in `rtl_dir` for `config`. Without a Verilator on this
/// machine, a pinned one is installed under `target/` first.
///
/// # Errors
/// [`RtlBuildError`].
pub fn library(
    rtl_dir: &Path,
    config: &NamedConfig,
    variant: Variant,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Library, RtlBuildError> {
    let env = Environment::from_process();
    let tools = toolchain(&env, progress)?;
    let spec = BuildSpec::from_list(rtl_dir, "atoms.f", "atoms_unit")?
        .lanes(config.config.num_lanes as usize)
        .banks(config.config.num_banks as usize)
        .generated("atoms_cfg_pkg.sv", config.config.rtl_package(&config.name))
        .variant(variant);
    Ok(Cache::new(&env).library(&spec, &tools, progress)?)
}

/// An instance of [`library`].
///
/// # Errors
/// [`RtlBuildError`].
pub fn instance(
    rtl_dir: &Path,
    config: &NamedConfig,
    variant: Variant,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Rtl, RtlBuildError> {
    Ok(library(rtl_dir, config, variant, progress)?.instantiate()?)
}

/// Lints the RTL in `rtl_dir` for `config` with every warning on, but for those that
/// `lint/verilator.vlt` waives with a reason. Gives Verilator's messages: none if it is clean.
///
/// # Errors
/// [`RtlBuildError`].
pub fn lint(
    rtl_dir: &Path,
    config: &NamedConfig,
    progress: &mut dyn FnMut(&Progress),
) -> Result<String, RtlBuildError> {
    let env = Environment::from_process();
    let tools = toolchain(&env, progress)?;
    let spec = BuildSpec::from_list(rtl_dir, "atoms.f", "atoms_unit")?;
    let dir = env.target.join("lint").join(&config.name);
    let package = dir.join("atoms_cfg_pkg.sv");
    let failed = |path: &Path| {
        let path = path.to_path_buf();
        move |source| RtlBuildError::Lint { path, source }
    };
    std::fs::create_dir_all(&dir).map_err(failed(&dir))?;
    std::fs::write(&package, config.config.rtl_package(&config.name)).map_err(failed(&package))?;
    let mut command = tools.verilator.command();
    command.args(["--lint-only", "-Wall", "--top-module", "atoms_unit", "+define+ATOMS_PROBE"]);
    command.arg(format!("-I{}", rtl_dir.display())).arg(rtl_dir.join("lint/verilator.vlt"));
    for file in &spec.files {
        let configured = file.as_os_str() == "atoms_cfg_pkg.sv";
        command.arg(if configured { package.clone() } else { rtl_dir.join(file) });
    }
    let output = command.output().map_err(failed(&tools.verilator.program))?;
    Ok(String::from_utf8_lossy(&output.stderr).into_owned())
}
