//! Arguments of `atoms regress`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::args::number::{Zero, amount, whole};
use crate::args::{ANY, PAIRS, SET};

/// Where tests run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Executor {
    /// Threads of this machine
    Local,
    /// Jobs of a Slurm cluster, of shards of the plan (docs/cluster.md)
    Slurm,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct RegressArgs {
    #[command(subcommand)]
    pub(crate) command: Option<RegressCommand>,
    /// The plan; by default regress.toml here, or that of the checkout
    #[arg(value_name = "PLAN.toml")]
    pub(crate) plan: Option<PathBuf>,
    /// Profile of the plan
    #[arg(long, value_name = "NAME")]
    pub(crate) profile: Option<String>,
    /// As --profile smoke: seconds
    #[arg(long, conflicts_with = "profile")]
    pub(crate) smoke: bool,
    /// As --profile nightly
    #[arg(long, conflicts_with_all = ["profile", "smoke"])]
    pub(crate) nightly: bool,
    /// Seed in place of the plan's
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole::<u64>(ANY))]
    pub(crate) seed: Option<u64>,
    /// Entries with this tag, in place of the profile's tags; may be repeated
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Vec<String>,
    /// Configurations in place of those of the plan, or points such as `small,num_banks=8`; may be repeated.
    /// Stored cases and episodes of others are left out
    #[arg(long, value_name = "NAME")]
    pub(crate) config: Vec<String>,
    #[arg(long, value_name = PAIRS, help = SET, requires = "config")]
    pub(crate) set: Vec<String>,
    #[command(flatten)]
    pub(crate) workers: Workers,
    /// Output folder [default: target/regress/PROFILE]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
    /// Begin anew although the output folder holds an interrupted run
    #[arg(long)]
    pub(crate) force: bool,
    /// Print the tests and do not run them
    #[arg(long, conflicts_with_all = ["json", "out", "force", "jobs"])]
    pub(crate) list: bool,
    /// Print `summary` (docs/schema/cover.json), `timing` and `page` as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Where the tests run
    #[arg(long, value_enum, default_value_t = Executor::Local)]
    pub(crate) executor: Executor,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
    #[command(flatten)]
    pub(crate) cut: CutArgs,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct Workers {
    /// Workers [default: one for each processor]
    #[arg(long, short, value_name = "N", allow_negative_numbers = true, value_parser = whole::<u32>(1..=1024))]
    pub(crate) jobs: Option<u32>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RegressCommand {
    /// Go on with an interrupted run, or submit the shards that are missing
    Resume {
        /// Its output folder
        #[arg(value_name = "FOLDER")]
        out: PathBuf,
        #[command(flatten)]
        workers: Workers,
        /// Print `summary` (docs/schema/cover.json), `timing` and `page` as JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        cluster: ClusterArgs,
    },
    /// Merge the shards of a cluster run and write the reports
    Merge {
        /// Its output folder
        #[arg(value_name = "FOLDER")]
        out: PathBuf,
        /// Print `summary` (docs/schema/cover.json), `timing` and `page` as JSON
        #[arg(long)]
        json: bool,
    },
    /// Run one shard of a cluster run
    #[command(hide = true)]
    Shard {
        /// The output folder of the whole run
        out: PathBuf,
        /// Number of the shard
        #[arg(allow_negative_numbers = true, value_parser = whole::<u32>(ANY))]
        shard: u32,
        #[command(flatten)]
        workers: Workers,
    },
    /// The process that runs tests
    #[command(hide = true)]
    Worker {
        /// Folder with header and checkpoint
        out: PathBuf,
        #[command(flatten)]
        workers: Workers,
        /// Run no test from this one on
        #[arg(long, allow_negative_numbers = true, value_parser = whole::<u64>(ANY))]
        end: Option<u64>,
        /// Keep what a merge needs
        #[arg(long)]
        records: bool,
        /// Run this test alone, and keep nothing
        #[arg(long, allow_negative_numbers = true, value_parser = whole::<u64>(ANY))]
        alone: Option<u64>,
        /// Look closer at its failure too
        #[arg(long, requires = "alone")]
        bundle: bool,
    },
}

#[derive(Clone, Debug, Default, PartialEq, Args)]
#[command(next_help_heading = "Cluster")]
pub(crate) struct ClusterArgs {
    /// Partition of the jobs
    #[arg(long, value_name = "NAME")]
    pub(crate) partition: Option<String>,
    /// Account that is charged
    #[arg(long, value_name = "NAME")]
    pub(crate) account: Option<String>,
    /// Limit of a shard's wall time, as Slurm writes it
    #[arg(long, value_name = "TIME")]
    pub(crate) time_limit: Option<String>,
    /// Processors of a shard [default: 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole::<u32>(1..=1024))]
    pub(crate) cpus_per_task: Option<u32>,
    /// Seconds until a shared file system surely shows what another machine wrote [default: 30]
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = amount(Zero::Allowed, 3600.0))]
    pub(crate) settle: Option<f64>,
    /// Argument for sbatch; may be repeated
    #[arg(long, value_name = "ARG", allow_hyphen_values = true)]
    pub(crate) slurm_arg: Vec<String>,
}

#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Cluster")]
pub(crate) struct CutArgs {
    /// Shards of about this many minutes of one processor [default: 10]
    #[arg(long, value_name = "MINUTES", conflicts_with = "shards", allow_negative_numbers = true, value_parser = amount(Zero::Refused, 100_000.0))]
    pub(crate) shard_minutes: Option<f64>,
    /// This many shards
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole::<u32>(1..=100_000))]
    pub(crate) shards: Option<u32>,
}
