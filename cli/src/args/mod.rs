//! Arguments of all commands. Help, completions and manual pages are derived from them.

use std::ops::Range;
use std::path::PathBuf;

use atoms_cosim::internals::Depth;
use atoms_isa::Arch;
use atoms_run::kernel::orders::OrderKey;
use atoms_sm::races::RaceChecks;
use atoms_stimulus::Profile;
use clap::builder::ArgPredicate;
use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum};

use crate::args::number::{Zero, amount, whole};
use crate::args::regress::RegressArgs;
use crate::args::silicon::SiliconCommand;

pub(crate) mod explore;
pub(crate) mod number;
pub(crate) mod regress;
pub(crate) mod silicon;
pub(crate) mod wave;

/// Headings of option groups in the help.
const OUTPUT: &str = "Output options";
const ADVANCED: &str = "Advanced options";

/// Accepted range of seeds, indices and cycle numbers.
const ANY: std::ops::RangeInclusive<u64> = 0..=u64::MAX;

/// Verify and explore a GPU unit that executes shared-memory atomics.
///
/// Exit status: 0 no mismatch, 1 mismatch or failure, 2 could not run, 130 interrupted.
#[derive(Debug, Parser)]
#[command(name = "atoms", version, arg_required_else_help = true, max_term_width = 80)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Cli {
    /// Parses the arguments of this process.
    ///
    /// # Errors
    /// Usage errors, and help and version, which the caller prints.
    pub(crate) fn from_process() -> Result<Cli, clap::Error> {
        let command = Cli::command();
        let template = template(&command);
        let mut command = command.help_template(template);
        let matches = command.try_get_matches_from_mut(std::env::args_os())?;
        Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
    }
}

/// Commands, grouped by purpose, in the order of `atoms --help`.
const JOBS: &[(&str, &[&str])] = &[
    ("Run and check", &["run", "cosim", "check", "silicon", "lower"]),
    ("Regress", &["regress", "repro", "cover", "mutate"]),
    ("Debug", &["wave"]),
    ("Explore", &["explore"]),
    ("Develop", &["bench", "config", "rtl", "completions", "man", "help"]),
];

/// Returns the template of `atoms --help`, with commands grouped by purpose.
fn template(commands: &clap::Command) -> String {
    let mut text = "{about-with-newline}\n{usage-heading} {usage}\n".to_string();
    for (job, names) in JOBS {
        text += &format!("\n{job}:\n");
        for name in *names {
            let about = commands.find_subcommand(name).and_then(clap::Command::get_about);
            let about = about.map_or_else(|| "Print help of a command".to_string(), ToString::to_string);
            text += &format!("  {name:<13}{about}\n");
        }
    }
    text + "\nOptions:\n{options}{after-help}"
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a kernel: PTX, a SASS listing, a cubin or CUDA C
    Run(RunArgs),
    /// Run random requests on RTL and model in lockstep
    Cosim(Box<CosimArgs>),
    /// Translate PTX instructions and compiler builtins to SASS
    Lower(LowerArgs),
    /// Check a recorded trace with the oracle
    Check(CheckArgs),
    /// Check answers captured from a real GPU and compare them with the unit
    #[command(subcommand)]
    Silicon(SiliconCommand),
    /// Run a test plan; collect coverage, minimize failures
    Regress(Box<RegressArgs>),
    /// Run RTL mutants and list those that the tests do not detect
    Mutate(MutateArgs),
    /// Merge the coverage of several regressions
    Cover(CoverArgs),
    /// Replay the failure bundle of a regression
    Repro(ReproArgs),
    /// Show, compare and export VCD and FST waves
    #[command(subcommand)]
    Wave(wave::WaveCommand),
    /// Measure throughput, latency and cost of configurations
    #[command(subcommand)]
    Explore(explore::ExploreCommand),
    /// Measure the simulation speed of RTL, model and lockstep
    Bench(BenchArgs),
    /// List configurations and show their parameters
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Build or lint the RTL, or clean the build cache
    #[command(subcommand)]
    Rtl(RtlCommand),
    /// Print completions for a shell
    Completions {
        /// Shell to complete for
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write all pages to a folder
    Man {
        /// Folder for the pages of all commands: atoms.1, atoms-run.1, ...
        #[arg(value_name = "FOLDER")]
        folder: Option<PathBuf>,
    },
}

/// Implementation to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum On {
    /// RTL and model; compares every output and probe bit in every cycle
    Lockstep,
    /// Only the reference model; needs no Verilator
    Model,
    /// Only the RTL
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

/// Help of `--config`.
const CONFIG: &str = "Configuration, optionally with other parameters: `small,num_banks=8`";

/// Help of `--set`.
const SET: &str = "Change parameters of the configuration: `num_banks=64`; repeatable";

/// Help of `--unit`.
pub(crate) const UNIT: &str =
    "Verify the RTL of another unit, with the oracle at its ports (docs/bring-your-own.md)";

/// Value name of `--unit`.
pub(crate) const UNIT_VALUE: &str = "FILE.toml";

/// Value name of `--set`.
const PAIRS: &str = "PARAMETER=VALUE,...";

/// Returns the name of a point: the configuration followed by its changed parameters.
pub(crate) fn point(config: &str, set: &[String]) -> String {
    [&[config.to_string()], set].concat().join(",")
}

/// Returns the name of a point for each configuration; `set` applies to all of them.
pub(crate) fn points(configs: &[String], set: &[String]) -> Vec<String> {
    configs.iter().map(|config| point(config, set)).collect()
}

// One configuration.
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

// Some configurations, or all.
#[derive(Debug, Args)]
pub(crate) struct PointsArgs {
    /// Configuration, such as `small,num_banks=8`; repeatable [default: all]
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
    /// Implementation to run: RTL and model in lockstep, or one of them
    #[arg(long, value_enum, default_value_t = On::Lockstep, default_value_if("orders", ArgPredicate::IsPresent, "model"))]
    pub(crate) on: On,
    #[command(flatten)]
    pub(crate) point: PointArgs,
    /// Write a wave (.vcd or .fst), and a GTKWave save file next to it
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) trace: Option<PathBuf>,
    /// Limit the wave to these cycles: `1200..1300` (excludes 1300), `1200..`
    #[arg(long, value_name = "FROM..TO", help_heading = OUTPUT, value_parser = window, requires = "trace")]
    pub(crate) window: Option<Range<u64>>,
    /// Add all internal signals of the RTL and registers of the model to the wave
    #[arg(long, requires = "trace", help_heading = OUTPUT)]
    pub(crate) internals: bool,
    /// Write requests and responses as a trace for `atoms check`
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) record: Option<PathBuf>,
    /// Print cycles by cause, latencies, queue and bank use, and retries
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) report: bool,
    /// Threads of a lockstep run, 1 or 2; same results [default: 2 if a core is idle]
    #[arg(long, help_heading = ADVANCED, value_name = "N", allow_negative_numbers = true, value_parser = whole::<usize>(1..=2))]
    threads: Option<usize>,
}

impl MachineArgs {
    /// Returns the number of threads of a lockstep run.
    pub(crate) fn threads(&self) -> usize {
        self.threads.unwrap_or_else(|| {
            let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
            let load = load.split(' ').next().and_then(|load| load.parse().ok()).unwrap_or(f64::INFINITY);
            // Two threads that wait for one core take longer than one.
            if load + 1.0 < atoms_verilated::cores() as f64 { 2 } else { 1 }
        })
    }

    /// Returns the signals that the wave shows.
    pub(crate) fn depth(&self) -> Depth {
        if self.internals { Depth::Internals } else { Depth::Ports }
    }
}

/// Parses `--window`: the first cycle of a wave and the cycle after its last one.
fn window(text: &str) -> Result<Range<u64>, String> {
    let expected = || "expected FROM..TO in cycles, such as 1200..1300".to_string();
    let (from, to) = text.split_once("..").ok_or_else(expected)?;
    let from = from.parse().map_err(|_| expected())?;
    let to = if to.is_empty() { u64::MAX } else { to.parse().map_err(|_| expected())? };
    if from < to { Ok(from..to) } else { Err(format!("the window is empty; {}", expected())) }
}

fn arch(name: &str) -> Result<Arch, String> {
    Arch::from_name(name).ok_or_else(|| "expected an architecture such as sm_75, sm_80 or sm_90a".to_string())
}

/// Value of `atoms run --check`: check during a kernel run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Check {
    /// Ignore uses of mbarrier objects and lanes that PTX leaves undefined
    #[value(alias = "undefined=off")]
    Off,
    /// Print these undefined uses on stderr, or in the JSON
    #[value(alias = "undefined=warn")]
    Warn,
    /// Print these undefined uses and exit with status 1
    #[value(aliases = ["strict", "undefined=strict"])]
    Undefined,
    /// Print data races and too narrow scopes of atomics, exit with status 1
    #[value(alias = "scopes")]
    Races,
    /// Print missing proxy fences between a write and a bulk copy, exit with status 1
    Proxies,
    /// Print missing proxy fences between a read and a bulk copy, exit with status 1
    ProxiesWar,
    /// All of these but proxies-war
    All,
}

/// Level of the check for undefined uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Undefined {
    Off,
    Warn,
    Strict,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// PTX, or a SASS listing of nvdisasm or cuobjdump. A cubin needs nvdisasm on PATH, CUDA C (.cu) needs nvcc
    #[arg(value_name = "FILE")]
    pub(crate) listing: PathBuf,
    /// Architecture for PTX and CUDA C [default: .target of the PTX]
    #[arg(long, value_name = "sm_NN", value_parser = arch)]
    pub(crate) arch: Option<Arch>,
    /// Launch file: grid, block, parameters, results. Without it, print a launch file to edit
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) launch: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
    /// Checks for races, proxy fences and undefined uses, as a list with commas (docs/checks.md) [default: warn]
    #[arg(long, value_enum, value_name = "CHECK", value_delimiter = ',')]
    pub(crate) check: Vec<Check>,
    /// Run N orders of warps, copies, timeouts and CTAs on the model; minimize those with a finding
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole::<u64>(1..=1_000_000), requires = "launch", conflicts_with_all = ["order", "trace", "record", "dump", "report"])]
    pub(crate) orders: Option<u64>,
    /// Seed of --orders
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole::<u64>(ANY), default_value_t = 1, requires = "orders")]
    pub(crate) seed: u64,
    /// Repeat one order that --orders has printed
    #[arg(long, value_name = "KEY", requires = "launch")]
    pub(crate) order: Option<OrderKey>,
    /// Write the final content of a buffer of the launch file; repeatable
    #[arg(long, value_name = "NAME=FILE", help_heading = OUTPUT)]
    pub(crate) dump: Vec<String>,
    /// Write the findings as a page for browsers: code of both accesses, timeline of both warps
    #[arg(long, value_name = "FILE.html", help_heading = OUTPUT, requires = "launch", conflicts_with = "orders")]
    pub(crate) page: Option<PathBuf>,
    /// Write the findings as SARIF 2.1.0, for editors and code review
    #[arg(long, value_name = "FILE.sarif", help_heading = OUTPUT, requires = "launch")]
    pub(crate) sarif: Option<PathBuf>,
    /// Print JSON
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
}

impl RunArgs {
    /// Returns the level for undefined uses; `None` if the options ask for two levels.
    pub(crate) fn undefined(&self) -> Option<Undefined> {
        let level = |check: &Check| match check {
            Check::Off => Some(Undefined::Off),
            Check::Warn => Some(Undefined::Warn),
            Check::Undefined | Check::All => Some(Undefined::Strict),
            Check::Races | Check::Proxies | Check::ProxiesWar => None,
        };
        let mut levels = self.check.iter().filter_map(level);
        let first = levels.next().unwrap_or(Undefined::Warn);
        levels.all(|other| other == first).then_some(first)
    }

    /// Returns the checks of the order of accesses.
    pub(crate) fn races(&self) -> RaceChecks {
        let has = |check| self.check.contains(&check);
        let (races, proxies) = (has(Check::Races), has(Check::Proxies));
        let (all, proxies_war) = (has(Check::All), has(Check::ProxiesWar));
        RaceChecks { races: races || all, proxies: proxies || all, proxies_war }
    }
}

/// Value of `atoms cosim --on-fail`: action when a random run fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnFail {
    /// Print the mismatch
    Report,
    /// Also write a wave of the cycles before the mismatch
    Trace,
    /// Also minimize the failure and write the case as JSON
    Shrink,
}

/// Returns the keys of a profile file, one line for each table.
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
    /// Seed of the stimulus; equal seeds give equal runs
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true, value_parser = whole::<u64>(ANY))]
    pub(crate) seed: u64,
    /// Stop after this number of warp requests
    #[arg(long, value_name = "N", default_value_t = 10_000, allow_negative_numbers = true, value_parser = whole::<u64>(1..=u64::MAX))]
    pub(crate) requests: u64,
    /// Stop after this number of cycles
    #[arg(long, value_name = "CYCLES", allow_negative_numbers = true, value_parser = whole::<u64>(1..=u64::MAX))]
    pub(crate) until: Option<u64>,
    /// Issue only these operations: ADD,CAST.SPIN,LDS; MBAR: all of mbarrier
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) ops: Vec<String>,
    /// Distribution of requests: default, busy, objects, hazards, faults, pressure, resets, or a file (keys below)
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
    #[arg(long, value_name = UNIT_VALUE, help = UNIT, conflicts_with_all = ["config", "set"])]
    pub(crate) unit: Option<PathBuf>,
    /// Action when the run fails; only with --on lockstep [default: shrink]
    #[arg(long, value_enum, value_name = "ACTION")]
    pub(crate) on_fail: Option<OnFail>,
    /// Run the requests of this case, not random requests
    #[arg(long, value_name = "FILE.json", conflicts_with_all = ["on", "config", "set", "seed", "requests", "until", "ops", "profile", "on_fail"])]
    pub(crate) case: Option<PathBuf>,
    /// Do not check the answers with the oracle
    #[arg(long, help_heading = ADVANCED, conflicts_with = "record")]
    pub(crate) no_oracle: bool,
    /// Print JSON
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LowerArgs {
    /// PTX instructions such as "atom.shared.add.u64 %d4, [%r8], %d1;", a PTX or CUDA C file, or - for stdin
    #[arg(value_name = "PTX", required_unless_present_any = ["builtin", "builtins"])]
    pub(crate) ptx: Option<String>,
    /// Lower a compiler builtin: atomicCAS, __nv_atomic_fetch_add_4_u
    #[arg(long, value_name = "NAME", conflicts_with = "ptx")]
    pub(crate) builtin: Option<String>,
    /// List the names of all known builtins
    #[arg(long, conflicts_with_all = ["ptx", "builtin", "arch", "unused"])]
    pub(crate) builtins: bool,
    /// Type of the variable that the builtin accesses: u32, double [default: from its name]
    #[arg(long = "type", value_name = "TYPE", requires = "builtin")]
    pub(crate) object_type: Option<String>,
    /// Memory order of the builtin: relaxed, acquire, release, acq_rel, seq_cst, or its number
    #[arg(long, value_name = "ORDER", requires = "builtin")]
    pub(crate) order: Option<String>,
    /// Memory order of a compare-and-swap builtin if its compare fails
    #[arg(long, value_name = "ORDER", requires = "builtin")]
    pub(crate) failure_order: Option<String>,
    /// Scope of the builtin: thread, block, cluster, device, system, or its number
    #[arg(long, value_name = "SCOPE", requires = "builtin")]
    pub(crate) scope: Option<String>,
    /// Make a compare-and-swap weak: no retry loop for 1 or 2 bytes, from sm_100 on
    #[arg(long, requires = "builtin")]
    pub(crate) weak: bool,
    /// PTX of the builtin: as compilers emit it (current) or NVVM documents it (nvvm)
    #[arg(long, value_name = "DIALECT", default_value = "current", requires = "builtin")]
    pub(crate) dialect: String,
    /// Architectures: sm_80,sm_90, or `all` [default: target of the file, or one per generation]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) arch: Vec<String>,
    /// Lower as if the results of all instructions are never read
    #[arg(long)]
    pub(crate) unused: bool,
    /// Print JSON
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Recorded trace (docs/trace-format.md) or capture of a GPU; - reads stdin
    #[arg(value_name = "TRACE.jsonl")]
    pub(crate) trace: PathBuf,
    /// Write a wave (.vcd, .fst) of the requests, with a GTKWave save file
    #[arg(long = "trace", value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) wave: Option<PathBuf>,
    /// Print JSON
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
}

// RTL for the replay of a bundle.
#[derive(Debug, Args)]
pub(crate) struct BundleRtlArgs {
    /// Replay on the RTL of this checkout, even if the RTL of the bundle differs
    #[arg(long, help_heading = ADVANCED)]
    pub(crate) here: bool,
    /// Replay on the RTL in the bundle, as code with your rights (docs/security.md)
    #[arg(long, help_heading = ADVANCED, conflicts_with = "here")]
    pub(crate) trust: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReproArgs {
    /// Bundle folder, below `failures/` of a regression
    #[arg(value_name = "BUNDLE")]
    pub(crate) bundle: PathBuf,
    #[command(flatten)]
    pub(crate) rtl: BundleRtlArgs,
    /// Write a wave (.vcd), and a GTKWave save file next to it
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) trace: Option<PathBuf>,
    /// Add all internal signals of the RTL and registers of the model to the wave
    #[arg(long, requires = "trace", help_heading = OUTPUT)]
    pub(crate) internals: bool,
    /// Print JSON
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
    /// Internal: replay in this process, and write a heartbeat to FOLDER
    #[arg(long, hide = true, value_name = "FOLDER")]
    pub(crate) in_this_process: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct MutateArgs {
    /// Select mutants whose key contains TEXT: a file, code of a line, an operator
    #[arg(long = "match", value_name = "TEXT", alias = "only")]
    pub(crate) only: Option<String>,
    /// Evaluate a random sample of N mutants
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole::<usize>(1..=1_000_000))]
    pub(crate) sample: Option<usize>,
    /// Seed of the sample
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true, value_parser = whole::<u64>(ANY))]
    pub(crate) seed: u64,
    /// Run only the first N stages of tests; do not lint the survivors
    #[arg(long, help_heading = ADVANCED, value_name = "N", allow_negative_numbers = true, value_parser = whole::<usize>(1..=1_000))]
    pub(crate) stages: Option<usize>,
    /// Corpus of episodes for the last stage [default: tests/regress/corpus.json of the checkout]
    #[arg(long, help_heading = ADVANCED, value_name = "FILE.json")]
    pub(crate) corpus: Option<PathBuf>,
    /// List of known survivors with reasons [default: formal/mutants.toml of the RTL]
    #[arg(long, help_heading = ADVANCED, value_name = "FILE.toml")]
    pub(crate) explained: Option<PathBuf>,
    /// Write the RTL of each survivor to a subfolder of FOLDER
    #[arg(long, help_heading = OUTPUT, value_name = "FOLDER")]
    pub(crate) survivors: Option<PathBuf>,
    /// Number of threads [default: one for each core]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole::<usize>(1..=1_024))]
    pub(crate) threads: Option<usize>,
    /// Print JSON
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    #[command(flatten)]
    pub(crate) point: PointArgs,
    /// Operations of the random requests; MBAR: all of mbarrier [default: all but MBAR]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) ops: Vec<String>,
    /// Measure this kernel, not random requests
    #[arg(long, value_name = "FILE", requires = "launch", conflicts_with = "ops")]
    pub(crate) kernel: Option<PathBuf>,
    /// Launch file of the kernel (docs/launch-files.md)
    #[arg(long, value_name = "FILE.toml", requires = "kernel")]
    pub(crate) launch: Option<PathBuf>,
    /// Measure the speed of writing and comparing waves
    #[arg(long, conflicts_with = "kernel")]
    pub(crate) waves: bool,
    /// Compare with a saved --json report, or with another build of this program
    #[arg(long, value_name = "FILE")]
    pub(crate) compare: Option<PathBuf>,
    /// Number of rounds; each figure is the median of all rounds
    #[arg(long, value_name = "N", default_value_t = 7, allow_negative_numbers = true, value_parser = whole::<usize>(1..=10_000))]
    pub(crate) rounds: usize,
    /// Processor time of one measurement in a round, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 0.5, allow_negative_numbers = true, value_parser = amount(Zero::Refused, 3600.0))]
    pub(crate) seconds: f64,
    /// Print JSON
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// List the configurations
    List {
        /// Print JSON
        #[arg(long, help_heading = OUTPUT)]
        json: bool,
    },
    /// Show the parameters of a configuration
    Show {
        /// Configuration, optionally with other parameters: `small,num_banks=8`
        #[arg(value_name = "NAME", default_value = "default")]
        name: String,
        #[arg(long, value_name = PAIRS, help = SET)]
        set: Vec<String>,
        /// Print JSON
        #[arg(long, help_heading = OUTPUT)]
        json: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum RtlCommand {
    /// Compile the RTL of configurations into the cache, for later commands
    Build {
        #[command(flatten)]
        points: PointsArgs,
    },
    /// Remove unused libraries of compiled RTL from the cache
    Clean {
        /// Remove all libraries of compiled RTL, except those that a running process uses
        #[arg(long, conflicts_with = "older")]
        all: bool,
        /// Keep libraries of compiled RTL that were used within the last N days
        #[arg(long, value_name = "DAYS", default_value_t = 30, allow_negative_numbers = true, value_parser = whole::<u32>(ANY))]
        older: u32,
    },
    /// Lint the RTL with all warnings of Verilator
    Lint {
        #[command(flatten)]
        points: PointsArgs,
    },
    /// Print `atoms_cfg_pkg.sv` of a configuration, or write all RTL with other names, for another testbench
    Package {
        /// Configuration, with changes if needed: `small,num_banks=8`
        #[arg(value_name = "NAME")]
        config: String,
        /// Write the RTL to this folder, with PREFIX before each package and module, so that one design can have two units
        #[arg(long, value_name = "PREFIX", requires = "output", value_parser = prefix)]
        prefix: Option<String>,
        /// Folder for the RTL and its file list atoms.f
        #[arg(long, value_name = "FOLDER", help_heading = OUTPUT, requires = "prefix")]
        output: Option<PathBuf>,
    },
}

fn prefix(text: &str) -> Result<String, String> {
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let is_name = starts && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_name.then(|| text.into()).ok_or_else(|| "expected letters, digits and `_`, such as left_".into())
}

#[derive(Debug, Args)]
pub(crate) struct CoverArgs {
    /// Output folders of regressions, and coverage files of testbenches (docs/integrate.md)
    #[arg(required = true, value_name = "FOLDER or FILE.json")]
    pub(crate) runs: Vec<PathBuf>,
    /// Write functional coverage as YAML of cocotb-coverage, which pyucis reads
    #[arg(long, help_heading = OUTPUT, value_name = "FILE.yaml")]
    pub(crate) yaml: Option<PathBuf>,
    /// Write line coverage of the RTL as an LCOV file
    #[arg(long, help_heading = OUTPUT, value_name = "FILE.info")]
    pub(crate) lcov: Option<PathBuf>,
    /// Print JSON (docs/schema/cover.json)
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_one_job() {
        let mut listed: Vec<&str> = JOBS.iter().flat_map(|(_, names)| *names).copied().collect();
        let command = Command::augment_subcommands(clap::Command::new("atoms"));
        let mut known: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
        known.push("help");
        listed.sort_unstable();
        known.sort_unstable();
        assert_eq!(listed, known);
    }
}
