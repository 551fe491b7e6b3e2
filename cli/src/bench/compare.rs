//! What a benchmark is compared with: the report of an earlier one; another build of this program, or another
//! checkout, in turns.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use atoms_cosim::bench::Figures;
use clap::ValueEnum;
use serde_json::Value;

use super::Compared;
use super::fresh::Checkout;
use crate::args::BenchArgs;
use crate::error::CliError;

/// What is compared with.
pub(super) struct Other {
    path: PathBuf,
    /// How it measures a round; a report does not.
    source: Option<Source>,
    figures: Figures,
}

/// What measures in turns with this program.
enum Source {
    /// Another build of it.
    Program,
    /// Where this program times the same commands.
    Checkout(Checkout),
}

impl Other {
    /// The report or the program at `path`; the other checkout there, where `--fresh` is measured.
    pub(super) fn open(path: &Path, fresh: bool) -> Result<Other, CliError> {
        let absolute = std::path::absolute(path).map_err(CliError::reading(path))?;
        let (source, figures) = if fresh && path.is_dir() {
            (Some(Source::Checkout(Checkout::open(&absolute)?)), Figures::default())
        } else {
            let bytes = std::fs::read(path).map_err(CliError::reading(path))?;
            // Programs begin with a byte that no JSON has.
            if bytes.starts_with(b"\x7fELF") || bytes.starts_with(b"#!") {
                (Some(Source::Program), Figures::default())
            } else {
                (None, read(path, &bytes)?)
            }
        };
        Ok(Other { path: absolute, source, figures })
    }

    /// Has it measure a round, unless it is a report.
    pub(super) fn round(&mut self, args: &BenchArgs) -> Result<(), CliError> {
        match &self.source {
            None => {}
            Some(Source::Checkout(checkout)) => self.figures.add(checkout.round(&args.fresh)?),
            Some(Source::Program) => self.figures.add(of_program(&self.path, args)?.0),
        }
        Ok(())
    }

    /// Each figure that both have.
    pub(super) fn compared(mut self, figures: &Figures) -> Result<Compared, CliError> {
        let both = figures.0.iter().filter_map(|figure| {
            let other = self.figures.0.iter_mut().find(|other| other.what == figure.what)?;
            if self.source.is_some() {
                // A round that was interrupted counts for neither.
                other.rounds.truncate(figure.rounds.len());
            }
            Some((figure.what.clone(), figure.faster_than(other)))
        });
        let both: Compared = both.collect();
        if both.is_empty() {
            let path = self.path.display();
            return Err(CliError::message(format!(
                "--compare {path}: it measured something else: none of its figures is one of this run"
            )));
        }
        Ok(both)
    }
}

/// The figures of what `atoms bench --json` printed.
fn read(path: &Path, bytes: &[u8]) -> Result<Figures, CliError> {
    let value: Result<Value, _> = serde_json::from_slice(bytes);
    value.and_then(|mut value| serde_json::from_value(value["figures"].take())).map_err(|error| {
        let path = path.display();
        CliError::message(format!(
            "--compare {path}: expected what `atoms bench --json` prints, or a program that prints it: {error}"
        ))
    })
}

/// What another build of this program measures in a round.
fn of_program(program: &Path, args: &BenchArgs) -> Result<Figures, CliError> {
    let output = Command::new(program).args(same(args)).output().map_err(CliError::reading(program))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.lines().last().unwrap_or_default();
        let (program, status) = (program.display(), output.status);
        return Err(CliError::message(format!("--compare {program}: it ended with {status}: {said}")));
    }
    read(program, &output.stdout)
}

/// The arguments for one round of the same.
fn same(args: &BenchArgs) -> Vec<OsString> {
    let BenchArgs {
        point,
        ops,
        kernel,
        launch,
        waves,
        builds,
        fresh,
        rounds: _,
        seconds,
        compare: _,
        json: _,
    } = args;
    let mut same: Vec<OsString> = ["bench", "--json", "--rounds", "1", "--config"].map(OsString::from).into();
    same.push(point.name().into());
    same.extend(["--seconds".into(), seconds.to_string().into()]);
    for (flag, set) in [("--waves", waves), ("--builds", builds)] {
        same.extend(set.then(|| flag.into()));
    }
    same.extend(
        fresh
            .iter()
            .filter_map(ValueEnum::to_possible_value)
            .flat_map(|command| ["--fresh".into(), command.get_name().into()]),
    );
    if !ops.is_empty() {
        same.extend(["--ops".into(), ops.join(",").into()]);
    }
    for (option, file) in [("--kernel", kernel), ("--launch", launch)] {
        same.extend(file.iter().flat_map(|file| [option.into(), file.into()]));
    }
    same
}
