//! Slurm's commands.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use super::error::ClusterError;
use crate::report::command::quote;

/// The error for an answer that is none.
pub(super) fn unexpected(tool: &str, args: &[String], answer: &str, expected: &str) -> ClusterError {
    let command = command_line(tool, args);
    ClusterError::Slurm(format!("`{command}` answered `{}`, expected {expected}", answer.trim()))
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
    pub(super) fn run(&self, tool: &str, args: &[String]) -> Result<String, ClusterError> {
        let files = std::env::split_paths(&self.path).map(|folder| folder.join(tool));
        let program = files.into_iter().find(|file| file.is_file()).ok_or_else(|| {
            ClusterError::Slurm(format!(
                "`{tool}` was not found on PATH: run this where Slurm's commands are, or without `--executor slurm`"
            ))
        })?;
        let output = Command::new(program)
            .args(args)
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            // Ctrl-C is for the process that waits, not for the commands that it runs.
            .process_group(0)
            .output()
            .map_err(|error| ClusterError::Slurm(format!("cannot start `{tool}`: {error}")))?;
        if !output.status.success() {
            let words = String::from_utf8_lossy(&output.stderr).trim().to_string();
            let words = if words.is_empty() { output.status.to_string() } else { words };
            return Err(ClusterError::Slurm(format!("`{}` failed: {words}", command_line(tool, args))));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}
