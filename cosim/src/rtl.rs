//! Builds the RTL of a named configuration.

use std::path::Path;

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
    let tools = match Toolchain::find(&env) {
        Err(ToolchainError::VerilatorMissing { .. }) => {
            provide(&env, progress)?;
            Toolchain::find(&env)?
        }
        found => found?,
    };
    let spec = BuildSpec::from_list(rtl_dir, "atoms.f", "atoms_unit")?
        .lanes(config.config.num_lanes as usize)
        .banks(config.config.num_banks as usize)
        .generated("atoms_cfg_pkg.sv", config.config.rtl_package(&config.name))
        .variant(variant)
        .verilator_arg("+define+ATOMS_PROBE");
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
