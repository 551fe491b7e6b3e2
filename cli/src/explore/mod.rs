//! `atoms explore`: what the unit gives if it is built otherwise.

mod run;
mod workloads;

use crate::args::explore::ExploreCommand;
use crate::error::{CliError, Verdict};

pub(crate) fn explore(command: &ExploreCommand) -> Result<Verdict, CliError> {
    match command {
        ExploreCommand::Run(args) => run::run(args),
        ExploreCommand::Workloads { name, json } => workloads::workloads(name.as_deref(), *json),
    }
}
