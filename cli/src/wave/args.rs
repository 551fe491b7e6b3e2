//! What can be asked about waves.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct WaveArgs {
    #[command(subcommand)]
    pub(crate) command: WaveCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum WaveCommand {
    /// Say what a wave contains: scopes, signals, clock, time
    Info(WaveInfoArgs),
}

#[derive(Debug, Args)]
pub(crate) struct WaveInfoArgs {
    /// VCD or FST file, of any program
    #[arg(value_name = "WAVE")]
    pub(crate) wave: PathBuf,
    /// List the signals that a pattern chooses, or all: `probe_*`, `rtl.req_*`
    #[arg(long, value_name = "PATTERN", num_args = 0..=1, default_missing_value = "*")]
    pub(crate) signals: Option<String>,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
