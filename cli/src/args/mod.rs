//! What can be asked: one definition, from which help is derived.

use std::ops::Range;
use std::path::PathBuf;

use atoms_cosim::internals::Depth;
use atoms_isa::Arch;
use atoms_stimulus::Profile;
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::args::number::{Zero, amount, whole};
use crate::args::regress::RegressArgs;
use crate::args::silicon::SiliconArgs;

pub(crate) mod explore;
pub(crate) mod moment;
pub(crate) mod number;
pub(crate) mod regress;
pub(crate) mod silicon;
pub(crate) mod wave;

/// Any number that a seed or an index can be.
const ANY: std::ops::RangeInclusive<u64> = 0..=u64::MAX;

/// The shared-memory atomic unit of a GPU, as RTL and as a model, in lockstep.
///
/// Exit status: 0 they agree, 1 they disagree, 2 the run was not possible, 130 interrupted.
#[derive(Debug, Parser)]
#[command(name = "atoms", version, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a kernel, given as the text that nvdisasm or cuobjdump prints, as PTX, a cubin or CUDA C
    Run(RunArgs),
    /// Run random requests through RTL and model in lockstep, judged by the oracle
    Cosim(CosimArgs),
    /// Show the machine code of PTX instructions and of compiler builtins, or why they are refused
    Lower(LowerArgs),
    /// Ask the oracle about a recorded trace (docs/trace-format.md), or about a capture of a GPU
    Check(CheckArgs),
    /// Judge what a GPU answered to atoms-capture, and compare it with the unit (docs/silicon.md)
    Silicon(SiliconArgs),
    /// Run the tests of a plan: workers, coverage, minimized failures, reports (docs/regress.md)
    Regress(Box<RegressArgs>),
    /// Plant small defects in the RTL, one at a time, and say which no run notices (docs/mutation.md)
    Mutate(MutateArgs),
    /// Merge the coverage of several regressions
    Cover(CoverArgs),
    /// Replay the bundle of a failure that a regression left behind
    Repro(ReproArgs),
    /// Say what waves show, VCD or FST, of this program or of others (docs/waves.md)
    Wave(wave::WaveArgs),
    /// Measure what workloads get out of a configuration of the unit (docs/explore.md)
    Explore(explore::ExploreArgs),
    /// Measure RTL, model and lockstep, in turns in one process
    Bench(BenchArgs),
    /// Show the named configurations
    Config(ConfigArgs),
    /// Build or lint the RTL, or clean the cache of what was built
    Rtl(RtlArgs),
    /// Print the completions of a shell
    Completions {
        /// Shell to complete for
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write the pages of all commands
    Man {
        /// Folder for the pages of all commands, atoms.1, atoms-run.1, ...
        #[arg(value_name = "FOLDER")]
        folder: Option<PathBuf>,
    },
}

/// What stands behind the ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum On {
    /// RTL and model, every output and probe bit compared in every cycle
    Lockstep,
    /// The model alone: needs no Verilator
    Model,
    /// The RTL alone
    Rtl,
}

impl On {
    pub(crate) fn name(self) -> &'static str {
        match self {
            On::Lockstep => "lockstep",
            On::Model => "model",
            On::Rtl => "rtl",
        }
    }
}

/// What `--config` takes.
const CONFIG: &str =
    "Configuration of rtl/configs.toml, or a point: `small,num_banks=8` is `small` with other parameters";

/// What `--set` takes.
const SET: &str = "Parameters that are other than in the configuration (docs/building.md): `num_banks=64,winner_policy=rotating`; may be repeated";

/// What `--set` is called in help.
const PAIRS: &str = "PARAMETER=VALUE,...";

/// The name of a configuration with other parameters.
pub(crate) fn point(config: &str, set: &[String]) -> String {
    [&[config.to_string()], set].concat().join(",")
}

/// The names of each of these configurations with other parameters.
pub(crate) fn points(configs: &[String], set: &[String]) -> Vec<String> {
    configs.iter().map(|config| point(config, set)).collect()
}

// The configuration that is run.
#[derive(Debug, Args)]
pub(crate) struct PointArgs {
    #[arg(long, value_name = "NAME", default_value = "default", help = CONFIG)]
    config: String,
    #[arg(long, value_name = PAIRS, help = SET)]
    set: Vec<String>,
}

impl PointArgs {
    pub(crate) fn name(&self) -> String {
        point(&self.config, &self.set)
    }
}

// The configurations that are run, where some need not be named.
#[derive(Debug, Args)]
pub(crate) struct PointsArgs {
    /// Configuration, or a point such as `small,num_banks=8`; may be repeated. Without it, all
    #[arg(long, value_name = "NAME")]
    config: Vec<String>,
    #[arg(long, value_name = PAIRS, help = SET, requires = "config")]
    set: Vec<String>,
}

impl PointsArgs {
    pub(crate) fn names(&self) -> Vec<String> {
        points(&self.config, &self.set)
    }
}

#[derive(Debug, Args)]
pub(crate) struct MachineArgs {
    /// What stands behind the ports
    #[arg(long, value_enum, default_value_t = On::Lockstep)]
    pub(crate) on: On,
    #[command(flatten)]
    pub(crate) point: PointArgs,
    /// Write a wave of every cycle to this file, VCD or by its extension FST, and a GTKWave save file beside it
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    /// Only these cycles of the wave, the last one not included: `1200..1300`, or `1200..` up to the end
    #[arg(long, value_name = "FROM..TO", value_parser = window, requires = "trace")]
    pub(crate) window: Option<Range<u64>>,
    /// Show in the wave what is inside, too: every signal of the RTL, and the registers that the model has as well
    #[arg(long, requires = "trace")]
    pub(crate) internals: bool,
    /// Record requests and answers as a trace that `atoms check` reads
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    /// Report where the cycles went, latencies, queues, banks over time and retries (docs/reports.md)
    #[arg(long)]
    pub(crate) report: bool,
    /// Threads of a run in lockstep: with 2, the RTL follows the model on a thread of its own. By default 2 where a core is
    /// idle. What is found is the same
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole::<usize>(1..=2))]
    threads: Option<usize>,
}

impl MachineArgs {
    /// Threads of a run in lockstep.
    pub(crate) fn threads(&self) -> usize {
        self.threads.unwrap_or_else(|| {
            let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
            let load = load.split(' ').next().and_then(|load| load.parse().ok()).unwrap_or(f64::INFINITY);
            // Two threads that wait for one core take longer than one.
            if load + 1.0 < atoms_verilated::cores() as f64 { 2 } else { 1 }
        })
    }

    /// How much the wave shows.
    pub(crate) fn depth(&self) -> Depth {
        if self.internals { Depth::Internals } else { Depth::Ports }
    }
}

/// Cycles of a wave.
fn window(text: &str) -> Result<Range<u64>, String> {
    let expected = || "expected the first cycle and the one behind the last, such as 1200..1300".to_string();
    let (from, to) = text.split_once("..").ok_or_else(expected)?;
    let from = from.parse().map_err(|_| expected())?;
    let to = if to.is_empty() { u64::MAX } else { to.parse().map_err(|_| expected())? };
    if from < to { Ok(from..to) } else { Err(format!("no cycle is in it; {}", expected())) }
}

fn arch(name: &str) -> Result<Arch, String> {
    Arch::from_name(name).ok_or_else(|| "expected sm_75, sm_80, sm_90a, ...".to_string())
}

/// What to look for while a kernel runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Check {
    /// Ignore uses of mbarrier objects and of lanes that PTX leaves undefined
    #[value(alias = "undefined=off")]
    Off,
    /// Name them on stderr, or in the JSON
    #[value(alias = "undefined=warn")]
    Warn,
    /// Name them, and end with exit status 1
    #[value(alias = "undefined=strict")]
    Strict,
    /// Name races, and atomics whose scopes do not include each other; end with exit status 1
    Scopes,
}

/// What to do about undefined uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Undefined {
    Off,
    Warn,
    Strict,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Listing, as nvdisasm prints it, with or without -hex, or cuobjdump -sass; or PTX. A cubin or CUDA C (.cu) where
    /// nvdisasm and nvcc are on PATH
    #[arg(value_name = "FILE")]
    pub(crate) listing: PathBuf,
    /// Architecture that PTX is run on, in place of its .target, and CUDA C is compiled for
    #[arg(long, value_name = "sm_NN", value_parser = arch)]
    pub(crate) arch: Option<Arch>,
    /// Kernel, grid, block, parameters and expectations (docs/launch-files.md). Without it, a launch file to
    /// begin with is printed
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) launch: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
    /// What to look for (docs/checks.md); more than one with commas, or as often. Without `off` or `strict`: warn
    #[arg(long, value_enum, value_name = "WHAT", value_delimiter = ',')]
    pub(crate) check: Vec<Check>,
    /// Write a buffer's content at the end to a file
    #[arg(long, value_name = "NAME=FILE")]
    pub(crate) dump: Vec<String>,
    /// Print the report as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

impl RunArgs {
    /// What to do about undefined uses; `None` if two things are asked for.
    pub(crate) fn undefined(&self) -> Option<Undefined> {
        let level = |check: &Check| match check {
            Check::Off => Some(Undefined::Off),
            Check::Warn => Some(Undefined::Warn),
            Check::Strict => Some(Undefined::Strict),
            Check::Scopes => None,
        };
        let mut levels = self.check.iter().filter_map(level);
        let first = levels.next().unwrap_or(Undefined::Warn);
        levels.all(|other| other == first).then_some(first)
    }

    /// Whether to look for races and for scopes that are too narrow.
    pub(crate) fn scopes(&self) -> bool {
        self.check.contains(&Check::Scopes)
    }
}

/// What to do when a random run fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnFail {
    /// Print what differs
    Report,
    /// Also write a wave of the cycles before
    Trace,
    /// Also look for a small case that fails the same way, and write it as JSON
    Shrink,
}

/// The keys of `--profile FILE.toml`, those of a table together.
fn profile_keys() -> String {
    let mut text = "Keys of a profile file (docs/profiles.md):".to_string();
    let mut table = "";
    let keys = Profile::keys();
    for key in &keys {
        let (inside, name) = key.name.split_once('.').unwrap_or(("", &key.name));
        if inside != table {
            table = inside;
            text += &format!("\n  {inside}.");
        } else {
            text += if text.ends_with(':') { "\n  " } else { ", " };
        }
        text += name;
    }
    text
}

// A random run.
#[derive(Debug, Args)]
pub(crate) struct RandomArgs {
    /// Seed: the same seed gives the same run
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true, value_parser = whole::<u64>(ANY))]
    pub(crate) seed: u64,
    /// Warp requests
    #[arg(long, value_name = "N", default_value_t = 10_000, allow_negative_numbers = true, value_parser = whole::<u64>(1..=u64::MAX))]
    pub(crate) requests: u64,
    /// Stop after this many cycles
    #[arg(long, value_name = "CYCLES", allow_negative_numbers = true, value_parser = whole::<u64>(1..=u64::MAX))]
    pub(crate) until: Option<u64>,
    /// Operations to issue, separated by commas, and no other: ADD,CAST.SPIN,LDS; MBAR for all that work on
    /// mbarrier objects. Without MBAR.INIT among them, objects are never initialized
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) ops: Vec<String>,
    /// What is drawn, and how often: default, busy, objects, hazards, faults, pressure, resets, or a file with
    /// keys as `atoms cosim --help` lists them
    #[arg(long, value_name = "NAME|FILE.toml")]
    pub(crate) profile: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = profile_keys())]
pub(crate) struct CosimArgs {
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
    #[command(flatten)]
    pub(crate) random: RandomArgs,
    /// What to do when lockstep fails [default: shrink]
    #[arg(long, value_enum, value_name = "WHAT")]
    pub(crate) on_fail: Option<OnFail>,
    /// Run this case instead of random requests
    #[arg(long, value_name = "FILE.json", conflicts_with_all = ["on", "config", "set", "seed", "requests", "until", "ops", "profile", "on_fail"])]
    pub(crate) case: Option<PathBuf>,
    /// Disable the oracle
    #[arg(long, conflicts_with = "record")]
    pub(crate) no_oracle: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LowerArgs {
    /// An instruction such as "atom.shared.add.u64 %d4, [%r8], %d1;", several of them, a PTX file, CUDA C
    /// (.cu) where nvcc is on PATH, or - for standard input
    #[arg(value_name = "PTX", required_unless_present_any = ["builtin", "builtins"])]
    pub(crate) ptx: Option<String>,
    /// A compiler's atomic builtin in place of PTX: __nv_atomic_fetch_add_4_u, atomicCAS, ...
    #[arg(long, value_name = "NAME", conflicts_with = "ptx")]
    pub(crate) builtin: Option<String>,
    /// List the builtins
    #[arg(long, conflicts_with_all = ["ptx", "builtin", "arch", "unused"])]
    pub(crate) builtins: bool,
    /// Type of the builtin's object, where its name does not say it: u32, double, ...
    #[arg(long = "type", value_name = "TYPE", requires = "builtin")]
    pub(crate) object_type: Option<String>,
    /// Memory order of the builtin: relaxed, acquire, release, acq_rel, seq_cst, or its number
    #[arg(long, value_name = "ORDER", requires = "builtin")]
    pub(crate) order: Option<String>,
    /// Memory order of a compare-and-swap that does not store
    #[arg(long, value_name = "ORDER", requires = "builtin")]
    pub(crate) failure_order: Option<String>,
    /// Scope of the builtin: thread, block, cluster, device, system, or its number
    #[arg(long, value_name = "SCOPE", requires = "builtin")]
    pub(crate) scope: Option<String>,
    /// A compare-and-swap that may spuriously fail
    #[arg(long, requires = "builtin")]
    pub(crate) weak: bool,
    /// Whose PTX the builtin becomes: `nvvm` as documented, `current` as a current compiler emits
    #[arg(long, value_name = "DIALECT", default_value = "current", requires = "builtin")]
    pub(crate) dialect: String,
    /// Architectures, separated by commas, or `all`. Without it, that of the file, or of a loose
    /// instruction one of each generation
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) arch: Vec<String>,
    /// Assume that no result is used
    #[arg(long)]
    pub(crate) unused: bool,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Trace, one JSON value a line; `-` reads standard input
    #[arg(value_name = "TRACE.jsonl")]
    pub(crate) trace: PathBuf,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

// Which RTL a bundle is replayed on.
#[derive(Debug, Args)]
pub(crate) struct BundleRtlArgs {
    /// Run the RTL of this checkout, also where the bundle has another one
    #[arg(long)]
    pub(crate) here: bool,
    /// Run the RTL of the bundle also if it differs from this checkout's. It runs with your rights (docs/security.md)
    #[arg(long, conflicts_with = "here")]
    pub(crate) trust: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReproArgs {
    /// Folder of the bundle, below `failures/` of a regression
    #[arg(value_name = "BUNDLE")]
    pub(crate) bundle: PathBuf,
    #[command(flatten)]
    pub(crate) rtl: BundleRtlArgs,
    /// Write a wave to this VCD file, and a GTKWave save file beside it
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    /// Show in the wave what is inside, too: every signal of the RTL, and the registers that the model has as well
    #[arg(long, requires = "trace")]
    pub(crate) internals: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Internal: replay in this process, write a heartbeat to FOLDER
    #[arg(long, hide = true, value_name = "FOLDER")]
    pub(crate) in_this_process: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct MutateArgs {
    /// Mutants with this in their keys: a source, a part of a line, a kind of defect
    #[arg(long, value_name = "TEXT")]
    pub(crate) only: Option<String>,
    /// So many of them, drawn by --seed
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole::<usize>(1..=1_000_000))]
    pub(crate) sample: Option<usize>,
    /// What the sample is drawn by
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true, value_parser = whole::<u64>(ANY))]
    pub(crate) seed: u64,
    /// Run only the first N stages; skip lint
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole::<usize>(1..=1_000))]
    pub(crate) stages: Option<usize>,
    /// Corpus whose episodes are the last stage; by default that of the checkout
    #[arg(long, value_name = "FILE.json")]
    pub(crate) corpus: Option<PathBuf>,
    /// List of survivors that are known, and why; by default formal/mutants.toml of the RTL
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) explained: Option<PathBuf>,
    /// Write the RTL of each survivor to a folder below this one
    #[arg(long, value_name = "FOLDER")]
    pub(crate) survivors: Option<PathBuf>,
    /// Threads; by default one for each core
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole::<usize>(1..=1_024))]
    pub(crate) threads: Option<usize>,
    /// Print the report as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    #[command(flatten)]
    pub(crate) point: PointArgs,
    /// Operations of the mix, separated by commas; MBAR for all that work on mbarrier objects. Without
    /// it, all that work on plain memory
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) ops: Vec<String>,
    /// Measure this kernel in place of a mix of operations
    #[arg(long, value_name = "FILE", requires = "launch", conflicts_with = "ops")]
    pub(crate) kernel: Option<PathBuf>,
    /// How the kernel is launched (docs/launch-files.md)
    #[arg(long, value_name = "FILE.toml", requires = "kernel")]
    pub(crate) launch: Option<PathBuf>,
    /// Measure how fast waves are written, compared and looked at again (docs/waves.md)
    #[arg(long, conflicts_with = "kernel")]
    pub(crate) waves: bool,
    /// Compare with a report of --json, or in turns with another build of this program, which reads the same RTL
    #[arg(long, value_name = "FILE")]
    pub(crate) compare: Option<PathBuf>,
    /// Rounds; figures are medians
    #[arg(long, value_name = "N", default_value_t = 7, allow_negative_numbers = true, value_parser = whole::<usize>(1..=10_000))]
    pub(crate) rounds: usize,
    /// Processor time of each measurement in a round
    #[arg(long, value_name = "SECONDS", default_value_t = 0.5, allow_negative_numbers = true, value_parser = amount(Zero::Refused, 3600.0))]
    pub(crate) seconds: f64,
    /// Print the figures as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    pub(crate) command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// List the configurations
    List {
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Show every parameter of one configuration
    Show {
        /// Configuration, or a point such as `small,num_banks=8`
        #[arg(default_value = "default")]
        name: String,
        #[arg(long, value_name = PAIRS, help = SET)]
        set: Vec<String>,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct RtlArgs {
    #[command(subcommand)]
    pub(crate) command: RtlCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RtlCommand {
    /// Build the RTL into the cache, as the other commands do when they need it
    Build {
        #[command(flatten)]
        points: PointsArgs,
    },
    /// Remove libraries from the cache that were not used for a while; never those in use
    Clean {
        /// Remove all of them
        #[arg(long, conflicts_with = "older")]
        all: bool,
        /// Days that a library may have gone unused
        #[arg(long, value_name = "DAYS", default_value_t = 30, allow_negative_numbers = true, value_parser = whole::<u32>(ANY))]
        older: u32,
    },
    /// Verilator's lint with all warnings, in every configuration
    Lint {
        #[command(flatten)]
        points: PointsArgs,
    },
}

#[derive(Debug, Args)]
pub(crate) struct CoverArgs {
    /// Output folders of regressions of this program and this RTL, of any plans and seeds
    #[arg(required = true, value_name = "FOLDER")]
    pub(crate) runs: Vec<PathBuf>,
    /// Write lines of the RTL for LCOV tools
    #[arg(long, value_name = "FILE.info")]
    pub(crate) lcov: Option<PathBuf>,
    /// Print a summary as JSON (docs/schema/cover.json)
    #[arg(long)]
    pub(crate) json: bool,
}
