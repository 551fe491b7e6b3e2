//! Command line of ATOMS.
//!
//! Results go to stdout, diagnostics and progress to stderr. Exit status: 0 agreement, 1 disagreement, 2
//! could not run, 130 interrupted.

#![forbid(unsafe_code)]

mod args;
mod bench;
mod check;
mod config;
mod cosim;
mod cover;
mod explore;
mod files;
mod lower;
mod machine;
mod manual;
mod mutate;
mod output;
mod regress;
mod rtl;
mod run;
#[cfg(test)]
mod schema;
mod silicon;
mod wave;

use std::process::ExitCode;

use args::{Cli, Command};
use atoms_cosim::embedded::{self, Files};
use output::error::{CliError, Verdict};

/// RTL of the checkout that this binary was built from.
const RTL: Files = &include!(concat!(env!("OUT_DIR"), "/rtl_files.rs"));

pub fn main() -> ExitCode {
    embedded::carry(RTL);
    let outcome = match Cli::from_process() {
        Ok(cli) => answer(cli.command),
        // Help and version are results. A usage error means that the command could not run.
        Err(error) if error.use_stderr() => {
            let _ = error.print();
            Ok(Verdict::NotAsked)
        }
        Err(help) => help.print().map(|()| Verdict::Agree).map_err(CliError::stdout),
    };
    match outcome.and_then(|verdict| output::finish().map(|()| verdict)) {
        Ok(verdict) => verdict.into(),
        Err(error) => output::failure::report(&error),
    }
}

fn answer(command: Command) -> Result<Verdict, CliError> {
    // A regression installs its own handler, because it must stop its worker processes.
    if !matches!(command, Command::Regress(_)) {
        output::interrupt::watch()?;
    }
    match command {
        Command::Run(args) => run::run(&args),
        Command::Cosim(args) => cosim::cosim(*args),
        Command::Lower(args) => lower::run(&args),
        Command::Check(args) => check::check(&args),
        Command::Silicon(command) => silicon::silicon(&command),
        Command::Regress(args) => regress::regress(&args),
        Command::Mutate(args) => mutate::mutate(&args),
        Command::Cover(args) => cover::cover(&args),
        Command::Repro(args) => regress::repro::repro(&args),
        Command::Wave(command) => wave::wave(&command),
        Command::Explore(command) => explore::explore(&command),
        Command::Bench(args) => bench::bench(&args),
        Command::Config(command) => config::config(&command),
        Command::Rtl(command) => rtl::rtl(&command),
        Command::Completions { shell } => manual::completions(shell),
        Command::Man { folder } => manual::man(folder.as_deref()),
    }
}
