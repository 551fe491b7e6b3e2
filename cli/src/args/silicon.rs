//! Arguments of `atoms silicon`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::args::{OUTPUT, PointArgs};

#[derive(Debug, Subcommand)]
pub(crate) enum SiliconCommand {
    /// Check a capture with the oracle, compare it with simulation, print times
    Report(SiliconReportArgs),
    /// Print a program of a capture: purpose, PTX and SASS
    Show(SiliconShowArgs),
    /// Print straight lines (cycles by lanes) fitted to the times of a capture
    Profile {
        /// Capture file; may be compressed by gzip
        #[arg(value_name = "FILE")]
        capture: PathBuf,
        /// Print measurements for `atoms explore calibrate`
        #[arg(long)]
        csv: bool,
    },
    /// Print requests and answers of a program as a trace for `atoms check`
    Trace(SiliconTraceArgs),
}

/// Value of `--on`: implementation to compare a capture with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Against {
    /// RTL and model in lockstep
    Lockstep,
    /// Only the model; needs no Verilator
    Model,
    /// No simulation; only the oracle checks
    Nothing,
}

#[derive(Debug, Args)]
pub(crate) struct SiliconReportArgs {
    /// Capture file; may be compressed by gzip
    #[arg(value_name = "FILE")]
    pub(crate) capture: PathBuf,
    /// Compare with lockstep (RTL and model), the model alone, or nothing
    #[arg(long, value_enum, default_value_t = Against::Lockstep)]
    pub(crate) on: Against,
    #[command(flatten)]
    pub(crate) point: PointArgs,
    /// Print each measured time, in addition to the fitted lines
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) timings: bool,
    /// Print JSON
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SiliconShowArgs {
    /// Capture file; may be compressed by gzip
    #[arg(value_name = "FILE")]
    pub(crate) capture: PathBuf,
    /// Program to show [default: list all]
    #[arg(long, value_name = "NAME")]
    pub(crate) program: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct SiliconTraceArgs {
    /// Capture file; may be compressed by gzip
    #[arg(value_name = "FILE")]
    pub(crate) capture: PathBuf,
    /// Program to print
    #[arg(long, value_name = "NAME")]
    pub(crate) program: String,
}
