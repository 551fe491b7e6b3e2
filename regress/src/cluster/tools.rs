//! Slurm's commands.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::report::command::quote;

/// Why Slurm does not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum SlurmError {
    /// No such command: this machine has no Slurm.
    #[error(
        "`{tool}` was not found on PATH: run this where Slurm's commands are, or without `--executor slurm`"
    )]
    Missing {
        /// The command.
        tool: String,
    },
    /// It does not start.
    #[error("cannot start `{tool}`")]
    Start {
        /// The command.
        tool: String,
        /// The cause.
        source: io::Error,
    },
    /// Slurm refuses, or cannot be reached.
    #[error("`{command}` failed: {words}")]
    Refused {
        /// The command line.
        command: String,
        /// What it said.
        words: String,
    },
    /// It answers something unexpected.
    #[error("`{command}` answered `{answer}`, expected {expected}")]
    Unexpected {
        /// The command line.
        command: String,
        /// The answer.
        answer: String,
        /// What would have been understood.
        expected: String,
    },
    /// What was kept about earlier submissions cannot be used.
    #[error("`{}` cannot be used: {problem}", path.display())]
    Jobs {
        /// The file.
        path: PathBuf,
        /// What was found, and what would work.
        problem: String,
    },
    /// A name that cannot stand in a script.
    #[error("`{}` is not UTF-8: choose a folder whose name is", path.display())]
    Path {
        /// The name.
        path: PathBuf,
    },
}

impl SlurmError {
    pub(super) fn unexpected(tool: &str, args: &[String], answer: &str, expected: &str) -> Self {
        SlurmError::Unexpected {
            command: command_line(tool, args),
            answer: answer.trim().to_string(),
            expected: expected.to_string(),
        }
    }
}

fn command_line(tool: &str, args: &[String]) -> String {
    args.iter().fold(tool.to_string(), |line, arg| line + " " + &quote(arg))
}

/// Where Slurm's commands are, and what they find in their environment beside that of this process.
#[derive(Clone, Debug)]
pub struct Tools {
    path: OsString,
    environment: Vec<(OsString, OsString)>,
}

impl Tools {
    /// Those on PATH.
    pub fn from_path() -> Self {
        Self::within(std::env::var_os("PATH").unwrap_or_default())
    }

    /// Those in `path`, which is written as PATH is.
    pub fn within(path: impl Into<OsString>) -> Self {
        Tools { path: path.into(), environment: Vec::new() }
    }

    /// With a variable for the commands.
    pub fn with(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.environment.push((name.as_ref().to_os_string(), value.as_ref().to_os_string()));
        self
    }

    /// Runs a command; gives what it printed.
    pub(super) fn run(&self, tool: &str, args: &[String]) -> Result<String, SlurmError> {
        let files = std::env::split_paths(&self.path).map(|folder| folder.join(tool));
        let program = files
            .into_iter()
            .find(|file| file.is_file())
            .ok_or_else(|| SlurmError::Missing { tool: tool.to_string() })?;
        let output = Command::new(program)
            .args(args)
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            // Ctrl-C is for the process that waits, not for the commands that it runs.
            .process_group(0)
            .output()
            .map_err(|source| SlurmError::Start { tool: tool.to_string(), source })?;
        if !output.status.success() {
            let words = String::from_utf8_lossy(&output.stderr).trim().to_string();
            let words = if words.is_empty() { output.status.to_string() } else { words };
            return Err(SlurmError::Refused { command: command_line(tool, args), words });
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}
