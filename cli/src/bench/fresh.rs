//! `atoms bench --fresh`: how long the commands of a checkout's README take where nothing is built.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use atoms_cosim::bench::BenchValue;
use atoms_cosim::configs::NamedConfig;

use super::{Subject, folder, measure};
use crate::args::{BenchArgs, Fresh};
use crate::error::{CliError, Verdict};
use crate::interrupt;

/// Prints the command of the README to run a kernel, and the one to run the tests.
const README: &str = ".ci/readme";

pub(super) fn of_checkout(args: &BenchArgs, config: &NamedConfig) -> Result<Verdict, CliError> {
    let here = std::env::current_dir().unwrap_or_default();
    let checkout = Checkout::open(&atoms_verilated::checkout(&here).unwrap_or(here))?;
    let about = "elapsed time of commands of the README".to_owned();
    measure(args, &Subject { kind: "fresh", config, about, ratios: &[] }, |_| checkout.round(&args.fresh))
}

/// A checkout whose commands are timed.
pub(super) struct Checkout {
    root: PathBuf,
    /// Target folder of its own; gone between rounds.
    target: PathBuf,
    /// What the commands print.
    log: PathBuf,
}

impl Checkout {
    /// The one at `root`.
    pub(super) fn open(root: &Path) -> Result<Checkout, CliError> {
        let readme = root.join(README);
        if !readme.is_file() {
            let problem =
                format!("`--fresh` times the commands of a checkout, and there is no {}", readme.display());
            return Err(CliError::message(problem));
        }
        let dir = folder();
        Ok(Checkout { root: root.to_path_buf(), target: dir.join("fresh"), log: dir.join("fresh.log") })
    }

    /// Times each of `commands` once. What an interrupt cuts short is no round.
    pub(super) fn round(&self, commands: &[Fresh]) -> Result<Vec<BenchValue>, CliError> {
        let readme = |command: &str| format!("command=$({README} {command}) && eval \"$command\"");
        let mut round = Vec::new();
        let mut before = None;
        for &command in commands {
            match command {
                Fresh::Run => {
                    self.remove()?;
                    round.push(self.time("kernel run, nothing built", &readme("run"))?);
                }
                Fresh::Rtl => {
                    self.command("cargo atoms rtl clean --all")?;
                    round.push(self.time("RTL of all configurations", "cargo atoms rtl build")?);
                }
                Fresh::Tests => {
                    self.remove()?;
                    round.push(self.time("tests, nothing built", &readme("tests"))?);
                }
                Fresh::Again => {
                    // Nothing else leaves everything built.
                    if before != Some(Fresh::Tests) {
                        self.command(&readme("tests"))?;
                    }
                    round.push(self.time("tests, everything built", &readme("tests"))?);
                }
            }
            before = Some(command);
        }
        self.remove()?;
        Ok(round)
    }

    fn time(&self, what: &'static str, command: &str) -> Result<BenchValue, CliError> {
        let start = Instant::now();
        self.command(command)?;
        Ok(BenchValue { what, unit: "s", value: start.elapsed().as_secs_f64() })
    }

    fn command(&self, command: &str) -> Result<(), CliError> {
        if interrupt::asked() {
            return Ok(());
        }
        let log = File::create(&self.log).map_err(CliError::writing(&self.log))?;
        let errors = log.try_clone().map_err(CliError::writing(&self.log))?;
        let mut shell = Command::new("bash");
        shell.args(["-c", command]).current_dir(&self.root).stdout(log).stderr(errors);
        // Each checkout builds its own RTL.
        let status = shell.env("CARGO_TARGET_DIR", &self.target).env_remove("ATOMS_RTL").status();
        let status = status.map_err(CliError::reading(Path::new("bash")))?;
        if status.success() || interrupt::asked() {
            return Ok(());
        }
        let (root, log) = (self.root.display(), self.log.display());
        Err(CliError::message(format!(
            "in {root}, `{command}` ended with {status}; {log} has what it printed"
        )))
    }

    fn remove(&self) -> Result<(), CliError> {
        if self.target.exists() {
            fs::remove_dir_all(&self.target).map_err(CliError::writing(&self.target))?;
        }
        Ok(())
    }
}
