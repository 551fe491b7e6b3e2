//! `atoms completions` and `atoms man`: shell completions and manual pages.

use std::path::Path;

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::args::Cli;
use crate::output::error::{CliError, Verdict};
use crate::output::out;

pub(crate) fn completions(shell: Shell) -> Result<Verdict, CliError> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "atoms", &mut text);
    out!("{}", String::from_utf8_lossy(&text))?;
    Ok(Verdict::Agree)
}

/// Prints the page of `atoms`, or writes the pages of all commands to a folder.
pub(crate) fn man(folder: Option<&Path>) -> Result<Verdict, CliError> {
    if let Some(folder) = folder {
        std::fs::create_dir_all(folder).map_err(CliError::writing(folder))?;
        clap_mangen::generate_to(Cli::command(), folder).map_err(CliError::writing(folder))?;
        return Ok(Verdict::Agree);
    }
    let mut text = Vec::new();
    clap_mangen::Man::new(Cli::command()).render(&mut text).map_err(CliError::stdout)?;
    out!("{}", String::from_utf8_lossy(&text))?;
    Ok(Verdict::Agree)
}
