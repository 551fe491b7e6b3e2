//! Arguments of `atoms silicon`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::args::PointArgs;

#[derive(Debug, Args)]
pub(crate) struct SiliconArgs {
    #[command(subcommand)]
    pub(crate) command: SiliconCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SiliconCommand {
    /// Judge a capture by the oracle, compare it with own runs of its programs, and print answers and timing
    Report(SiliconReportArgs),
    /// Print a program of a capture: what it asks, its PTX, and the machine code that ran
    Show(SiliconShowArgs),
    /// Print the lines fitted to the times of a capture as TOML, with their residuals
    Profile {
        /// The capture; may be compressed by gzip
        #[arg(value_name = "FILE")]
        capture: PathBuf,
        /// Print times as measurements for `atoms explore calibrate` instead (docs/calibration.md)
        #[arg(long)]
        csv: bool,
    },
    /// Print the requests of a program of a capture as a trace (docs/trace-format.md)
    Trace(SiliconTraceArgs),
}

/// With what a capture is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Against {
    /// RTL and model in lockstep
    Lockstep,
    /// The model alone: needs no Verilator
    Model,
    /// Nothing: the oracle alone judges
    Nothing,
}

#[derive(Debug, Args)]
pub(crate) struct SiliconReportArgs {
    /// The capture; may be compressed by gzip
    #[arg(value_name = "FILE")]
    pub(crate) capture: PathBuf,
    /// With what it is compared
    #[arg(long, value_enum, default_value_t = Against::Lockstep)]
    pub(crate) on: Against,
    #[command(flatten)]
    pub(crate) point: PointArgs,
    /// Print all timings, not the fitted lines alone
    #[arg(long)]
    pub(crate) timings: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SiliconShowArgs {
    /// The capture; may be compressed by gzip
    #[arg(value_name = "FILE")]
    pub(crate) capture: PathBuf,
    /// Name of the program; without it, all are listed
    #[arg(long, value_name = "NAME")]
    pub(crate) program: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct SiliconTraceArgs {
    /// The capture; may be compressed by gzip
    #[arg(value_name = "FILE")]
    pub(crate) capture: PathBuf,
    /// Name of the program
    #[arg(long, value_name = "NAME")]
    pub(crate) program: String,
}
