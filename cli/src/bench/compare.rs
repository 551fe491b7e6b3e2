//! Compares a benchmark with an earlier report, or with another build of this program in alternating rounds.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use atoms_run::bench::Figures;
use serde_json::Value;

use super::Compared;
use crate::args::BenchArgs;
use crate::output::error::{CliError, message};

pub(super) struct Other {
    path: PathBuf,
    /// True if `path` is a program, which measures one round per round of this one. False if it is a report.
    is_program: bool,
    figures: Figures,
}

impl Other {
    pub(super) fn open(path: &Path) -> Result<Other, CliError> {
        let absolute = std::path::absolute(path).map_err(CliError::reading(path))?;
        let bytes = std::fs::read(path).map_err(CliError::reading(path))?;
        // JSON cannot start with these bytes.
        let is_program = bytes.starts_with(b"\x7fELF") || bytes.starts_with(b"#!");
        let figures = if is_program { Figures::default() } else { read(path, &bytes)? };
        Ok(Other { path: absolute, is_program, figures })
    }

    pub(super) fn round(&mut self, args: &BenchArgs) -> Result<(), CliError> {
        if self.is_program {
            self.figures.add(of_program(&self.path, args)?.0);
        }
        Ok(())
    }

    pub(super) fn compared(mut self, figures: &Figures) -> Result<Compared, CliError> {
        let both = figures.0.iter().filter_map(|figure| {
            let other = self.figures.0.iter_mut().find(|other| other.what == figure.what)?;
            if self.is_program {
                // Drop a round of the compared program if this program's round was interrupted.
                other.rounds.truncate(figure.rounds.len());
            }
            Some((figure.what.clone(), figure.faster_than(other)))
        });
        let both: Compared = both.collect();
        if both.is_empty() {
            let path = self.path.display();
            return Err(message!(
                "--compare {path}: it measured something else: its report and this run have no figure in common"
            ));
        }
        Ok(both)
    }
}

fn read(path: &Path, bytes: &[u8]) -> Result<Figures, CliError> {
    let value: Result<Value, _> = serde_json::from_slice(bytes);
    value.and_then(|mut value| serde_json::from_value(value["figures"].take())).map_err(|error| {
        let path = path.display();
        message!(
            "--compare {path}: expected a report of `atoms bench --json`, or a build of `atoms`: {error}"
        )
    })
}

fn of_program(program: &Path, args: &BenchArgs) -> Result<Figures, CliError> {
    let output = Command::new(program).args(same(args)).output().map_err(CliError::reading(program))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.lines().last().unwrap_or_default();
        let (program, status) = (program.display(), output.status);
        return Err(message!("--compare {program}: the program ended with {status}: {said}"));
    }
    read(program, &output.stdout)
}

fn same(args: &BenchArgs) -> Vec<OsString> {
    let BenchArgs { point, ops, kernel, launch, waves, rounds: _, seconds, compare: _, json: _ } = args;
    let mut same: Vec<OsString> = ["bench", "--json", "--rounds", "1", "--config"].map(OsString::from).into();
    same.push(point.name().into());
    same.extend(["--seconds".into(), seconds.to_string().into()]);
    same.extend(waves.then(|| "--waves".into()));
    if !ops.is_empty() {
        same.extend(["--ops".into(), ops.join(",").into()]);
    }
    for (option, file) in [("--kernel", kernel), ("--launch", launch)] {
        same.extend(file.iter().flat_map(|file| [option.into(), file.into()]));
    }
    same
}
