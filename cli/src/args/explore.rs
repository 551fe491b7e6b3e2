//! Arguments of `atoms explore`.

use std::path::PathBuf;

use atoms_explore::cost::{MEMORY_BIT, MappingGoal};
use atoms_explore::measure::TrialLimits;
use atoms_workload::{GENERATED, KernelUnit, WorkloadParameter, common_parameters};
use clap::{Args, Subcommand, ValueEnum};

use crate::args::number::{Zero, amount, whole};
use crate::args::regress::{CLUSTER, Executor};
use crate::args::{ADVANCED, ANY, CONFIG, OUTPUT, On, PAIRS, PointArgs, SET};

#[derive(Debug, Subcommand)]
pub(crate) enum ExploreCommand {
    /// Measure one workload on one configuration
    Run(ExploreRunArgs),
    /// List generated workloads and their parameters
    Workloads {
        /// Workload to show [default: all]
        #[arg(value_name = "NAME")]
        name: Option<String>,
        /// Print JSON
        #[arg(long, help_heading = OUTPUT)]
        json: bool,
    },
    /// Measure many configurations or workloads and write a report
    Sweep(SweepArgs),
    /// Report area and critical path of each module in standard cells
    Cost(CostArgs),
    /// Fit timing constants of GPUs to measurements
    Calibrate(CalibrateArgs),
}

/// Times at which a replay offers the requests of a recorded trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TraceGaps {
    /// Offer each request as soon as the unit can accept it
    None,
    /// Keep the cycles between requests as recorded
    Recorded,
}

/// Returns the help text that lists the generated workloads with the names of their parameters.
fn workload_list() -> String {
    let names = |parameters: &[WorkloadParameter]| {
        parameters.iter().map(|parameter| parameter.name).collect::<Vec<_>>().join(", ")
    };
    let mut text =
        "Workloads and their parameters (`atoms explore workloads` has ranges and defaults):".to_string();
    for kind in GENERATED {
        text += &format!("\n  {:12} {}", kind.name, names(kind.parameters()));
    }
    text + &format!("\n  {:12} {}", "all of them", names(common_parameters()))
}

#[derive(Debug, Args)]
#[command(after_help = workload_list())]
pub(crate) struct ExploreRunArgs {
    /// Generated workload, kernel file as for `atoms run`, or recorded trace (.jsonl)
    #[arg(value_name = "WORKLOAD")]
    pub(crate) workload: String,
    #[command(flatten)]
    pub(crate) point: PointArgs,
    /// Set parameters of a generated workload: `contention=4,op=add.red`
    #[arg(long, value_name = "NAME=VALUE", value_delimiter = ',')]
    pub(crate) with: Vec<String>,
    /// Run lockstep, model or RTL; only lockstep certifies the result
    #[arg(long, value_enum, default_value_t = On::Lockstep)]
    pub(crate) on: On,
    /// Seed of the workload
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true, value_parser = whole::<u64>(ANY))]
    pub(crate) seed: u64,
    /// Launch file, if the workload is a kernel (docs/launch-files.md)
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) launch: Option<PathBuf>,
    /// Also predict cycles on a real GPU: its name, or a file of `explore calibrate --output`
    #[arg(long, value_name = "NAME|FILE.toml")]
    pub(crate) gpu: Option<String>,
    /// Units of work in a kernel, for its throughput: 5000, or 4/thread [default: one per request]
    #[arg(long, value_name = "N|N/thread", requires = "launch")]
    pub(crate) unit: Option<KernelUnit>,
    /// Cycles between requests of a recorded trace [default: none]
    #[arg(long, value_enum, value_name = "WHEN", conflicts_with_all = ["launch", "with"])]
    pub(crate) gaps: Option<TraceGaps>,
    /// Stop after this number of cycles
    #[arg(long, value_name = "CYCLES", default_value_t = TrialLimits::default().cycles, allow_negative_numbers = true, value_parser = whole::<u64>(1..=u64::MAX))]
    pub(crate) until: u64,
    /// Stop after this number of cycles without progress
    #[arg(long, help_heading = ADVANCED, value_name = "CYCLES", default_value_t = TrialLimits::default().watchdog_cycles, allow_negative_numbers = true, value_parser = whole::<u64>(1..=u64::MAX))]
    pub(crate) patience: u64,
    /// Print JSON
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CostArgs {
    #[command(flatten)]
    pub(crate) point: PointArgs,
    /// RTL modules to report [default: all, and the critical path through all]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) modules: Vec<String>,
    /// Target clock period of synthesis, in ns
    #[arg(long, help_heading = ADVANCED, value_name = "NS", default_value_t = MappingGoal::default().period_ns, allow_negative_numbers = true, value_parser = amount(Zero::Refused, 1000.0))]
    pub(crate) period: f64,
    /// Time limit of synthesis of one module, in seconds; estimate slower ones
    #[arg(long, help_heading = ADVANCED, value_name = "SECONDS", default_value_t = MappingGoal::default().limit.as_secs(), allow_negative_numbers = true, value_parser = whole::<u64>(1..=1_000_000))]
    pub(crate) limit: u64,
    /// Standard cell library (Liberty) [default: Debian's qflow-tech-osu018]
    #[arg(long, value_name = "FILE.lib", conflicts_with = "fitted")]
    pub(crate) liberty: Option<PathBuf>,
    /// Assumed area of one bit of memory, in gate equivalents
    #[arg(long, help_heading = ADVANCED, value_name = "GE", default_value_t = MEMORY_BIT, allow_negative_numbers = true, value_parser = amount(Zero::Refused, 100.0))]
    pub(crate) memory_bit: f64,
    /// Estimate area and path from stored figures, without Yosys and OpenSTA
    #[arg(long, conflicts_with_all = ["period", "limit"])]
    pub(crate) fitted: bool,
    /// Report your own module: packages first; the last file names the module
    #[arg(long, value_name = "FILE.sv", value_delimiter = ',', conflicts_with_all = ["config", "set", "modules", "memory_bit", "fitted"])]
    pub(crate) source: Vec<PathBuf>,
    /// Print JSON
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
}

/// Shard of a sweep: every `of`-th point, starting at point `number`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PointShard {
    /// Number of this shard, from 1.
    pub(crate) number: u32,
    /// Number of all shards.
    pub(crate) of: u32,
}

impl PointShard {
    fn parse(text: &str) -> Result<PointShard, String> {
        let parts = text.split_once('/').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
        match parts {
            Some((number, of)) if 1 <= number && number <= of => Ok(PointShard { number, of }),
            _ => Err("expected NUMBER/COUNT, such as 1/8 to 8/8".to_string()),
        }
    }

    /// True if the point with this index belongs to the shard.
    pub(crate) fn has(self, place: usize) -> bool {
        place % self.of as usize == self.number as usize - 1
    }
}

/// Points of a sweep that also run in lockstep, which certifies their results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CertifyArg {
    /// Every point
    All,
    /// No point; all results are estimates of the model
    None,
}

#[derive(Debug, Args)]
pub(crate) struct SweepArgs {
    /// Sweep file: parameters of unit and workload, plots (docs/explore.md)
    #[arg(value_name = "SWEEP.toml")]
    pub(crate) file: PathBuf,
    /// Folder of the report [default: target/explore/SWEEP]
    #[arg(long = "output", value_name = "FOLDER", alias = "out", help_heading = OUTPUT)]
    pub(crate) out: Option<PathBuf>,
    /// Certify points in lockstep with the RTL: `all`, or `none` (model only)
    #[arg(long, value_enum, default_value_t = CertifyArg::All)]
    pub(crate) certify: CertifyArg,
    /// Seed of the workloads [default: seed in the sweep file]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole::<u64>(ANY))]
    pub(crate) seed: Option<u64>,
    /// Measure only shard 1 of 8; store the results for a later full run
    #[arg(long, help_heading = CLUSTER, value_name = "1/8", value_parser = PointShard::parse)]
    pub(crate) shard: Option<PointShard>,
    /// Run on this machine (local) or as jobs of a cluster (slurm)
    #[arg(long, help_heading = CLUSTER, value_enum, default_value_t = Executor::Local, conflicts_with = "shard")]
    pub(crate) executor: Executor,
    /// Number of Slurm tasks, one per shard of the sweep
    #[arg(long, help_heading = CLUSTER, value_name = "N", default_value_t = 8, allow_negative_numbers = true, value_parser = whole::<u32>(1..=10_000))]
    pub(crate) shards: u32,
    /// Pass this argument to sbatch; repeatable
    #[arg(long, help_heading = CLUSTER, value_name = "ARG", allow_hyphen_values = true)]
    pub(crate) slurm_arg: Vec<String>,
    /// Number of parallel measurements [default: one for each core]
    #[arg(long, short, value_name = "N", allow_negative_numbers = true, value_parser = whole::<u32>(1..=1024))]
    pub(crate) jobs: Option<u32>,
    /// Print JSON
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CalibrateArgs {
    /// CSV file of measurements (docs/calibration.md) [default: published values]
    #[arg(value_name = "FILE.csv")]
    pub(crate) file: Option<PathBuf>,
    /// Use only measurements of this GPU
    #[arg(long, value_name = "NAME")]
    pub(crate) gpu: Option<String>,
    #[arg(long, value_name = "NAME", help = CONFIG)]
    pub(crate) config: Option<String>,
    #[arg(long, value_name = PAIRS, help = SET, requires = "config")]
    pub(crate) set: Vec<String>,
    /// Write the fitted constants, for `atoms explore run --gpu FILE.toml`
    #[arg(long = "output", value_name = "FILE.toml", alias = "out", help_heading = OUTPUT)]
    pub(crate) out: Option<PathBuf>,
    /// Print JSON: each measurement with its source and predicted value
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
}
