//! Arguments of `atoms regress`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::args::number::{Zero, amount, whole};
use crate::args::{ANY, OUTPUT, PAIRS, SET, UNIT, UNIT_VALUE};

/// Heading of the options for cluster runs in the help.
pub(crate) const CLUSTER: &str = "Cluster options";

/// Value of `--executor`: where tests run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Executor {
    /// Worker processes on this machine
    Local,
    /// Jobs of a Slurm cluster (docs/cluster.md)
    Slurm,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct RegressArgs {
    #[command(subcommand)]
    pub(crate) command: Option<RegressCommand>,
    /// Test plan [default: regress.toml in the current folder or the checkout]
    #[arg(value_name = "PLAN.toml")]
    pub(crate) plan: Option<PathBuf>,
    /// Profile of the plan, such as smoke or nightly
    #[arg(long, value_name = "NAME")]
    pub(crate) profile: Option<String>,
    /// Same as --profile smoke; takes seconds
    #[arg(long, conflicts_with = "profile")]
    pub(crate) smoke: bool,
    /// Same as --profile nightly
    #[arg(long, conflicts_with_all = ["profile", "smoke"])]
    pub(crate) nightly: bool,
    /// Seed of the random tests [default: seed in the plan]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole::<u64>(ANY))]
    pub(crate) seed: Option<u64>,
    /// Run only plan entries with this tag; repeatable [default: tags of the profile]
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Vec<String>,
    /// Run only this configuration, such as `small,num_banks=8`; repeatable
    #[arg(long, value_name = "NAME")]
    pub(crate) config: Vec<String>,
    #[arg(long, value_name = PAIRS, help = SET, requires = "config")]
    pub(crate) set: Vec<String>,
    #[arg(long, value_name = UNIT_VALUE, help = UNIT, conflicts_with_all = ["config", "set"])]
    pub(crate) unit: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) workers: Workers,
    /// Output folder [default: target/regress/PROFILE]
    #[arg(long = "output", value_name = "FOLDER", alias = "out", help_heading = OUTPUT)]
    pub(crate) out: Option<PathBuf>,
    /// Delete the results of an interrupted run in the output folder
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) force: bool,
    /// Print the tests without running them
    #[arg(long, conflicts_with_all = ["json", "out", "force", "jobs"])]
    pub(crate) list: bool,
    /// Print JSON (docs/schema/regress.json)
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
    /// Run on this machine (local) or as jobs of a cluster (slurm)
    #[arg(long, help_heading = CLUSTER, value_enum, default_value_t = Executor::Local)]
    pub(crate) executor: Executor,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
    #[command(flatten)]
    pub(crate) cut: CutArgs,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct Workers {
    /// Number of workers [default: one for each core]
    #[arg(long, short, value_name = "N", allow_negative_numbers = true, value_parser = whole::<u32>(1..=1024))]
    pub(crate) jobs: Option<u32>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RegressCommand {
    /// Resume an interrupted run, or submit the missing shards of a cluster run
    Resume {
        /// Output folder of the run
        #[arg(value_name = "FOLDER")]
        out: PathBuf,
        #[command(flatten)]
        workers: Workers,
        /// Print JSON (docs/schema/regress.json)
        #[arg(long, help_heading = OUTPUT)]
        json: bool,
        #[command(flatten)]
        cluster: ClusterArgs,
    },
    /// Merge the shards of a cluster run and write reports
    Merge {
        /// Output folder of the run
        #[arg(value_name = "FOLDER")]
        out: PathBuf,
        /// Print JSON (docs/schema/regress.json)
        #[arg(long, help_heading = OUTPUT)]
        json: bool,
    },
    /// Run one shard of a cluster run
    #[command(hide = true)]
    Shard {
        /// Output folder of the whole run, not of the shard
        out: PathBuf,
        /// Number of the shard, from 0
        #[arg(allow_negative_numbers = true, value_parser = whole::<u32>(ANY))]
        shard: u32,
        #[command(flatten)]
        workers: Workers,
    },
    /// Run tests of a regression in a worker process
    #[command(hide = true)]
    Worker {
        /// Folder with header and checkpoint of the run
        out: PathBuf,
        #[command(flatten)]
        workers: Workers,
        /// Stop before the test with this number
        #[arg(long, allow_negative_numbers = true, value_parser = whole::<u64>(ANY))]
        end: Option<u64>,
        /// Keep the records that a merge needs
        #[arg(long)]
        records: bool,
        /// Run only the test with this number, and keep no records
        #[arg(long, allow_negative_numbers = true, value_parser = whole::<u64>(ANY))]
        alone: Option<u64>,
        /// Also write the failure bundle
        #[arg(long, requires = "alone")]
        bundle: bool,
    },
}

#[derive(Clone, Debug, Default, PartialEq, Args)]
#[command(next_help_heading = CLUSTER)]
pub(crate) struct ClusterArgs {
    /// Slurm partition
    #[arg(long, value_name = "NAME")]
    pub(crate) partition: Option<String>,
    /// Slurm account
    #[arg(long, value_name = "NAME")]
    pub(crate) account: Option<String>,
    /// Wall time limit of each Slurm task, in Slurm's format: 2:00:00
    #[arg(long, value_name = "TIME")]
    pub(crate) time_limit: Option<String>,
    /// Cores of each Slurm task; a task runs one shard [default: 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole::<u32>(1..=1024))]
    pub(crate) cpus_per_task: Option<u32>,
    /// Seconds to wait for results on a slow shared file system [default: 30]
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = amount(Zero::Allowed, 3600.0))]
    pub(crate) settle: Option<f64>,
    /// Pass this argument to sbatch; repeatable
    #[arg(long, value_name = "ARG", allow_hyphen_values = true)]
    pub(crate) slurm_arg: Vec<String>,
}

#[derive(Clone, Debug, Args)]
#[command(next_help_heading = CLUSTER)]
pub(crate) struct CutArgs {
    /// Estimated minutes of one core per shard [default: 10]
    #[arg(long, value_name = "MINUTES", conflicts_with = "shards", allow_negative_numbers = true, value_parser = amount(Zero::Refused, 100_000.0))]
    pub(crate) shard_minutes: Option<f64>,
    /// Number of shards to split the tests into
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole::<u32>(1..=100_000))]
    pub(crate) shards: Option<u32>,
}
