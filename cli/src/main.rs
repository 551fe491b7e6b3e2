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
mod cover;
mod error;
mod lower;
mod machine;
mod profile;
mod progress;
mod races;
mod regress;
mod repro;
mod rtl;
mod run;
mod undefined;

use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};
use error::{Verdict, report};

/// What a shell says of a command whose output nobody reads any more: 128 and the signal, SIGPIPE.
const NOBODY_READS: i32 = 128 + 13;

/// Whoever reads stdout may stop before its end, as `head` does: that ends us, but is no failure to tell
/// about.
fn end_when_nobody_reads() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let message = panic.payload().downcast_ref::<String>();
        if message.is_some_and(|m| m.starts_with("failed printing to stdout: Broken pipe")) {
            std::process::exit(NOBODY_READS);
        }
        usual(panic);
    }));
}

fn main() -> ExitCode {
    end_when_nobody_reads();
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
        Command::Lower(args) => lower::run(&args),
        Command::Check(args) => check::check(&args),
        Command::Regress(args) => regress::regress(&args),
        Command::Cover(args) => cover::cover(&args),
        Command::Repro(args) => repro::repro(&args),
        Command::Bench(args) => bench::bench(&args),
        Command::Config(args) => config::config(&args),
        Command::Rtl(args) => rtl::rtl(&args),
    };
    match outcome {
        Ok(verdict) => verdict.into(),
        Err(error) => report(&error),
    }
}
