//! The command line of ATOMS.
//!
//! Results go to stdout, diagnostics and progress to stderr. Exit status: 0 they agree, 1 they
//! disagree, 2 the question could not be asked.

#![forbid(unsafe_code)]

mod args;
mod bench;
mod check;
mod config;
mod cosim;
mod error;
mod machine;
mod progress;
mod rtl;
mod run;
mod undefined;

use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};
use error::{Verdict, report};

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are results; a usage error is a question that cannot be asked.
            let _ = error.print();
            return if error.use_stderr() { Verdict::NotAsked.into() } else { Verdict::Agree.into() };
        }
    };
    let outcome = match cli.command {
        Command::Run(args) => run::run(&args),
        Command::Cosim(args) => cosim::cosim(&args),
        Command::Check(args) => check::check(&args),
        Command::Bench(args) => bench::bench(&args),
        Command::Config(args) => config::config(&args),
        Command::Rtl(args) => rtl::rtl(&args),
    };
    match outcome {
        Ok(verdict) => verdict.into(),
        Err(error) => report(&error),
    }
}
