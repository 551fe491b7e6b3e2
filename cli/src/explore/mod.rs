//! `atoms explore`: cost and performance of other parameters of the unit.

pub(crate) mod calibrate;
mod cost;
pub(crate) mod run;
pub(crate) mod sweep;
pub(crate) mod workloads;

use crate::args::explore::ExploreCommand;
use crate::output::error::{CliError, Verdict};

pub(crate) fn explore(command: &ExploreCommand) -> Result<Verdict, CliError> {
    match command {
        ExploreCommand::Run(args) => run::run(args),
        ExploreCommand::Cost(args) => cost::cost(args),
        ExploreCommand::Calibrate(args) => calibrate::run(args),
        ExploreCommand::Sweep(args) => sweep::run(args),
        ExploreCommand::Workloads { name, json } => workloads::workloads(name.as_deref(), *json),
    }
}
