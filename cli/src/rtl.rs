//! `atoms rtl`: builds and lints RTL, and cleans the cache.

use std::time::Duration;

use atoms_cosim::embedded::rtl_dir;
use atoms_cosim::rtl::{self, RtlIdentity, lint};
use atoms_stimulus::configs::{self, NamedConfig};
use atoms_verilated::{Cache, Environment, Variant};

use crate::args::{PointsArgs, RtlCommand};
use crate::machine;
use crate::output::error::{CliError, Verdict};
use crate::output::progress::build_step;
use crate::output::{out, outln};

pub(crate) fn rtl(command: &RtlCommand) -> Result<Verdict, CliError> {
    match command {
        RtlCommand::Build { points } => {
            let configs = chosen(points)?;
            let built = rtl::libraries(&rtl_dir(), &configs, Variant::Fast, &mut build_step);
            let built = built.map_err(|failed| CliError::about(&failed.0.name, failed.1))?;
            outln!("rtl        {}", RtlIdentity::of(&rtl_dir())?)?;
            for (config, library) in configs.iter().zip(built) {
                outln!("{:10} {}", config.name, library.path().display())?;
            }
            Ok(Verdict::Agree)
        }
        RtlCommand::Clean { all, older } => {
            let cache = Cache::new(&Environment::from_process());
            let age =
                if *all { Duration::ZERO } else { Duration::from_secs(u64::from(*older) * 24 * 60 * 60) };
            let cleaned = cache.clean(age)?;
            let kept = match cleaned.in_use {
                0 => String::new(),
                in_use => format!(", {in_use} kept because they are in use"),
            };
            outln!("{}", cache.root().display())?;
            outln!("  removed    {}{kept}", entries(cleaned.removed, cleaned.removed_bytes))?;
            outln!("  left       {}", entries(cleaned.left, cleaned.left_bytes))?;
            Ok(Verdict::Agree)
        }
        RtlCommand::Lint { points } => {
            let mut verdict = Verdict::Agree;
            for config in chosen(points)? {
                let warnings = lint(&rtl_dir(), &config, &mut build_step)?;
                if warnings.is_empty() {
                    outln!("{:10} clean", config.name)?;
                } else {
                    outln!("{:10} warnings\n{warnings}", config.name)?;
                    verdict = Verdict::Disagree;
                }
            }
            Ok(verdict)
        }
        RtlCommand::Package { config, prefix: Some(prefix), output: Some(folder) } => {
            machine::files().writes("--output", folder).check()?;
            let files = rtl::prefixed(&rtl_dir(), &machine::config(config)?, prefix)?;
            std::fs::create_dir_all(folder).map_err(CliError::writing(folder))?;
            for (name, text) in &files {
                let path = folder.join(name);
                std::fs::write(&path, text).map_err(CliError::writing(&path))?;
            }
            Ok(outln!("{} files in {}", files.len(), folder.display()).map(|()| Verdict::Agree)?)
        }
        RtlCommand::Package { config, .. } => {
            Ok(out!("{}", machine::config(config)?.config.rtl_package()).map(|()| Verdict::Agree)?)
        }
    }
}

fn entries(number: usize, bytes: u64) -> String {
    let noun = if number == 1 { "entry" } else { "entries" };
    format!("{number} {noun}, {:.1} MB", bytes as f64 / 1e6)
}

fn chosen(points: &PointsArgs) -> Result<Vec<NamedConfig>, CliError> {
    let names = points.names();
    if names.is_empty() {
        return Ok(configs::all(&rtl_dir())?);
    }
    names.iter().map(|name| machine::config(name)).collect()
}
