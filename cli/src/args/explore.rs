//! What can be asked of `atoms explore`.

use std::path::PathBuf;

use atoms_explore::cost::{MEMORY_BIT, MappingGoal};
use atoms_explore::measure::TrialLimits;
use atoms_workload::{GENERATED, KernelUnit, WorkloadParameter, common_parameters};
use clap::{Args, Subcommand, ValueEnum};

use crate::args::number::{Zero, amount, whole};
use crate::args::regress::Executor;
use crate::args::{ANY, CONFIG, On, PAIRS, PointArgs, SET};

#[derive(Debug, Args)]
pub(crate) struct ExploreArgs {
    #[command(subcommand)]
    pub(crate) command: ExploreCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ExploreCommand {
    /// Measure one workload on one configuration; in lockstep, with a certificate
    Run(ExploreRunArgs),
    /// List the generated workloads: units of work, parameters, their ranges and defaults
    Workloads {
        /// This one alone
        #[arg(value_name = "NAME")]
        name: Option<String>,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Measure the points that a file states, and write a report of them
    Sweep(SweepArgs),
    /// Area and slowest path of each module in standard cells, and the clock of the unit (docs/cost.md)
    Cost(CostArgs),
    /// Fit constants of GPUs to measurements of them, and show what is left of each (docs/calibration.md)
    Calibrate(CalibrateArgs),
}

/// When requests of a trace are offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TraceGaps {
    /// As soon as the unit takes them
    None,
    /// As far apart as they were accepted in the recording
    Recorded,
}

/// The workloads with the names of their parameters.
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
    /// Name of a generated workload; or the file of a kernel, as for `atoms run`; or a recorded trace, FILE.jsonl
    #[arg(value_name = "WORKLOAD")]
    pub(crate) workload: String,
    #[command(flatten)]
    pub(crate) point: PointArgs,
    /// Parameters of a generated workload, separated by commas
    #[arg(long, value_name = "NAME=VALUE", value_delimiter = ',')]
    pub(crate) with: Vec<String>,
    /// What stands behind the ports; only lockstep gives a certificate
    #[arg(long, value_enum, default_value_t = On::Lockstep)]
    pub(crate) on: On,
    /// Seed of what is drawn: the same seed gives the same work
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true, value_parser = whole::<u64>(ANY))]
    pub(crate) seed: u64,
    /// How a kernel is launched (docs/launch-files.md)
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) launch: Option<PathBuf>,
    /// Say the time in cycles of this GPU's SM, too: one with published figures, or constants that `atoms explore
    /// calibrate --out` wrote (docs/calibration.md)
    #[arg(long, value_name = "NAME|FILE.toml")]
    pub(crate) gpu: Option<String>,
    /// Units of work of a kernel, in all or of each thread. Default: one per request
    #[arg(long, value_name = "N|N/thread", requires = "launch")]
    pub(crate) unit: Option<KernelUnit>,
    /// When requests of a trace are offered [default: none]
    #[arg(long, value_enum, value_name = "WHEN", conflicts_with_all = ["launch", "with"])]
    pub(crate) gaps: Option<TraceGaps>,
    /// Give up after this many cycles
    #[arg(long, value_name = "CYCLES", default_value_t = TrialLimits::default().cycles, allow_negative_numbers = true, value_parser = whole::<u64>(1..=u64::MAX))]
    pub(crate) until: u64,
    /// Give up after this many cycles without a unit of work of a generated workload
    #[arg(long, value_name = "CYCLES", default_value_t = TrialLimits::default().watchdog_cycles, allow_negative_numbers = true, value_parser = whole::<u64>(1..=u64::MAX))]
    pub(crate) patience: u64,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CostArgs {
    #[command(flatten)]
    pub(crate) point: PointArgs,
    /// Modules to look at, separated by commas; without it all, and the path through them
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) modules: Vec<String>,
    /// Period that mapping aims at
    #[arg(long, value_name = "NS", default_value_t = MappingGoal::default().period_ns, allow_negative_numbers = true, value_parser = amount(Zero::Refused, 1000.0))]
    pub(crate) period: f64,
    /// The longest that mapping one module may take; what takes longer is fitted
    #[arg(long, value_name = "SECONDS", default_value_t = MappingGoal::default().limit.as_secs(), allow_negative_numbers = true, value_parser = whole::<u64>(1..=1_000_000))]
    pub(crate) limit: u64,
    /// Cells to map to, in place of those of Debian's qflow-tech-osu018
    #[arg(long, value_name = "FILE.lib", conflicts_with = "fitted")]
    pub(crate) liberty: Option<PathBuf>,
    /// Gate equivalents that a bit of memory is taken for
    #[arg(long, value_name = "GE", default_value_t = MEMORY_BIT, allow_negative_numbers = true, value_parser = amount(Zero::Refused, 100.0))]
    pub(crate) memory_bit: f64,
    /// Map nothing: figures of the table, or fitted to it. Needs no tools
    #[arg(long, conflicts_with_all = ["period", "limit"])]
    pub(crate) fitted: bool,
    /// Map a module of yours instead of the unit. Top module: name of the last file; list packages first
    #[arg(long, value_name = "FILE.sv", value_delimiter = ',', conflicts_with_all = ["config", "set", "modules", "memory_bit", "fitted"])]
    pub(crate) source: Vec<PathBuf>,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// A share of a sweep's points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PointShard {
    /// Which, from 1.
    pub(crate) number: u32,
    /// Of how many.
    pub(crate) of: u32,
}

impl PointShard {
    fn parse(text: &str) -> Result<PointShard, String> {
        let parts = text.split_once('/').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
        match parts {
            Some((number, of)) if 1 <= number && number <= of => Ok(PointShard { number, of }),
            _ => Err("expected which of how many: 1/8 to 8/8".to_string()),
        }
    }

    /// Whether the point at this place belongs to it.
    pub(crate) fn has(self, place: usize) -> bool {
        place % self.of as usize == self.number as usize - 1
    }
}

/// Which points of a sweep are measured on the RTL, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CertifyArg {
    /// Every point
    All,
    /// None: figures are the model's, and marked
    None,
}

#[derive(Debug, Args)]
pub(crate) struct SweepArgs {
    /// The sweep: parameters of unit and workload, and plots (docs/explore.md)
    #[arg(value_name = "SWEEP.toml")]
    pub(crate) file: PathBuf,
    /// Folder of the report [default: target/explore/SWEEP]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
    /// Which points need RTL and model in lockstep
    #[arg(long, value_enum, default_value_t = CertifyArg::All)]
    pub(crate) certify: CertifyArg,
    /// Seed in place of the sweep's
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole::<u64>(ANY))]
    pub(crate) seed: Option<u64>,
    /// Measure a share of the points alone, the first of eight say, and write no report: they are kept for a whole run
    #[arg(long, value_name = "1/8", value_parser = PointShard::parse)]
    pub(crate) shard: Option<PointShard>,
    /// Where the points are measured; the report is written here
    #[arg(long, value_enum, default_value_t = Executor::Local, conflicts_with = "shard")]
    pub(crate) executor: Executor,
    /// Tasks of a Slurm job, over which points are dealt out
    #[arg(long, value_name = "N", default_value_t = 8, allow_negative_numbers = true, value_parser = whole::<u32>(1..=10_000))]
    pub(crate) shards: u32,
    /// Argument for sbatch; may be repeated
    #[arg(long, value_name = "ARG", allow_hyphen_values = true)]
    pub(crate) slurm_arg: Vec<String>,
    /// Points measured at a time [default: one for each processor]
    #[arg(long, short, value_name = "N", allow_negative_numbers = true, value_parser = whole::<u32>(1..=1024))]
    pub(crate) jobs: Option<u32>,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CalibrateArgs {
    /// Measurements, with the columns workload, metric and value at least; without it, the published figures
    #[arg(value_name = "FILE.csv")]
    pub(crate) file: Option<PathBuf>,
    /// Measurements of this GPU alone
    #[arg(long, value_name = "NAME")]
    pub(crate) gpu: Option<String>,
    #[arg(long, value_name = "NAME", help = CONFIG)]
    pub(crate) config: Option<String>,
    #[arg(long, value_name = PAIRS, help = SET, requires = "config")]
    pub(crate) set: Vec<String>,
    /// Write the constants of the GPU to this file, for `atoms explore run --gpu`
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) out: Option<PathBuf>,
    /// Print as JSON: every figure with its source, and what each law predicts
    #[arg(long)]
    pub(crate) json: bool,
}
