//! `atoms rtl`: builds and lints.

use atoms_cosim::configs::{self, NamedConfig};
use atoms_cosim::rtl::lint;

use crate::args::{RtlArgs, RtlCommand};
use crate::error::{CliError, Verdict};
use crate::machine;
use crate::progress::build_step;

pub(crate) fn rtl(args: &RtlArgs) -> Result<Verdict, CliError> {
    match &args.command {
        RtlCommand::Build { config } => {
            for config in chosen(config)? {
                let library = machine::library(&config)?;
                println!("{:10} {}", config.name, library.path().display());
            }
            Ok(Verdict::Agree)
        }
        RtlCommand::Lint { config } => {
            let mut verdict = Verdict::Agree;
            for config in chosen(config)? {
                let warnings = lint(&configs::rtl_dir(), &config, &mut build_step).map_err(CliError::of)?;
                if warnings.is_empty() {
                    println!("{:10} clean", config.name);
                } else {
                    println!("{:10} warnings\n{warnings}", config.name);
                    verdict = Verdict::Disagree;
                }
            }
            Ok(verdict)
        }
    }
}

/// The configurations named, or all of them.
fn chosen(names: &[String]) -> Result<Vec<NamedConfig>, CliError> {
    if names.is_empty() {
        return configs::all(&configs::rtl_dir()).map_err(CliError::of);
    }
    names.iter().map(|name| machine::config(name)).collect()
}
