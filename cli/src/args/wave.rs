//! Arguments of `atoms wave`.

use std::path::PathBuf;

use atoms_wave_view::{MomentWindow, Shift};
use clap::{Args, Subcommand};

use crate::args::number::whole;
use crate::args::{ANY, BundleRtlArgs, OUTPUT, PointArgs, RandomArgs};

#[derive(Debug, Subcommand)]
pub(crate) enum WaveCommand {
    /// Show format, scopes, signals, clock and length of a wave
    Info(WaveInfoArgs),
    /// Compare two waves, or two scopes; show the first difference
    ///
    /// Exit status: 0 equal, 1 different, 2 could not compare to the end.
    Diff(WaveDiffArgs),
    /// Draw a wave, list transactions, or search for cycles
    Show(WaveShowArgs),
    /// Rank the RTL lines that most likely caused a failure
    Cause(WaveCauseArgs),
    /// Write a wave as one HTML page
    Page(WavePageArgs),
    /// Export a wave for Perfetto, Konata or Surfer
    Export(WaveExportArgs),
    /// Rerun a failure and write the wave around one cycle
    At(WaveAtArgs),
}

#[derive(Debug, Args)]
pub(crate) struct WaveInfoArgs {
    /// VCD or FST file of any tool
    #[arg(value_name = "WAVE")]
    pub(crate) wave: PathBuf,
    /// List all signals, or those that match a pattern: `probe_*`, `rtl.req_*`
    #[arg(long, value_name = "PATTERN", num_args = 0..=1, default_missing_value = "*")]
    pub(crate) signals: Option<String>,
    /// Print JSON
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct WaveDiffArgs {
    /// VCD or FST file of any tool
    #[arg(value_name = "WAVE")]
    pub(crate) left: PathBuf,
    /// Wave to compare with
    #[arg(value_name = "OTHER", required_unless_present = "scopes", conflicts_with = "scopes")]
    pub(crate) right: Option<PathBuf>,
    /// Compare two scopes of one wave: `rtl,model`
    #[arg(long, value_name = "ONE,OTHER", value_parser = pair(','))]
    pub(crate) scopes: Option<[String; 2]>,
    /// Rename a scope or signal of WAVE to its name in OTHER: `top.rtl=tb.dut`; repeatable
    #[arg(long, value_name = "OLD=NEW", value_parser = pair('='), conflicts_with = "scopes")]
    pub(crate) rename: Vec<[String; 2]>,
    /// Compare only values at rising edges of this clock
    #[arg(long, value_name = "SIGNAL")]
    pub(crate) clock: Option<String>,
    /// Shift OTHER by cycles or time: `3`, `-20ns`
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, conflicts_with = "scopes")]
    pub(crate) shift: Option<Shift>,
    /// Limit to cycles or times: `1200..1300` (excludes 1300), `1.2us..`
    #[arg(long, value_name = "FROM..TO")]
    pub(crate) window: Option<MomentWindow>,
    /// Ignore signals that match a pattern: `probe_*`, `rtl.req_*`; repeatable
    #[arg(long, value_name = "PATTERN")]
    pub(crate) ignore: Vec<String>,
    /// Compare only signals that match a pattern; repeatable
    #[arg(long, value_name = "PATTERN")]
    pub(crate) only: Vec<String>,
    /// Print JSON
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct WaveShowArgs {
    /// VCD or FST file of any tool
    #[arg(value_name = "WAVE")]
    pub(crate) wave: PathBuf,
    /// Cycles or times to show: `1200..1300`, `1.2us..` [default: at the save file's marker, or the first change]
    #[arg(long, value_name = "FROM..TO")]
    pub(crate) window: Option<MomentWindow>,
    /// Signals to show, as patterns: `clk,probe_*,rtl.req_*` [default: of the GTKWave save file]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) signals: Vec<String>,
    /// Write the drawing as an SVG picture
    #[arg(long, help_heading = OUTPUT, value_name = "FILE.svg")]
    pub(crate) svg: Option<PathBuf>,
    /// Write WaveJSON for WaveDrom
    #[arg(long, help_heading = OUTPUT, value_name = "FILE.json")]
    pub(crate) wavedrom: Option<PathBuf>,
    /// Draw with ASCII characters only
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) ascii: bool,
    /// List transactions (scope `txn`), or the text signals of --signals
    #[arg(long, conflicts_with_all = ["svg", "wavedrom", "ascii", "query"])]
    pub(crate) transactions: bool,
    /// List cycles where an expression is true: `op == CAS.SPIN && rtl.rsp_passes > 4`
    #[arg(long, value_name = "EXPRESSION", conflicts_with_all = ["svg", "wavedrom", "ascii", "signals"])]
    pub(crate) query: Option<String>,
    /// Print JSON: with --transactions one transaction per line, with --query the cycles, else WaveJSON
    #[arg(long, help_heading = OUTPUT, conflicts_with_all = ["svg", "wavedrom", "ascii"])]
    pub(crate) json: bool,
}

/// Returns a parser for two names with the character `between` between them.
fn pair(between: char) -> impl Fn(&str) -> Result<[String; 2], String> + Clone + Send + Sync {
    move |text| {
        let parts = text.split_once(between).filter(|(one, _)| !one.is_empty());
        let (one, other) = parts.ok_or_else(|| {
            format!("expected two names with `{between}` between them, such as a{between}b")
        })?;
        Ok([one.to_owned(), other.to_owned()])
    }
}

/// Window and signals of a wave to convert.
#[derive(Debug, Args)]
pub(crate) struct WaveSelection {
    /// Limit to cycles or times: `1200..1300` (excludes 1300), `1.2us..`
    #[arg(long, value_name = "FROM..TO")]
    pub(crate) window: Option<MomentWindow>,
    /// Limit to signals that match: `probe_*,rtl.req_*`
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) signals: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct WavePageArgs {
    /// VCD or FST file of any tool
    #[arg(value_name = "WAVE")]
    pub(crate) wave: PathBuf,
    /// HTML file to write
    #[arg(long, short, value_name = "FILE.html")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) selection: WaveSelection,
    /// Kernel file that ran; the page links each request to its line
    #[arg(long, value_name = "FILE")]
    pub(crate) kernel: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(override_usage = "atoms wave export [OPTIONS] <WAVE>")]
pub(crate) struct WaveExportArgs {
    /// VCD or FST file of any tool
    #[arg(value_name = "WAVE")]
    pub(crate) wave: PathBuf,
    #[command(flatten)]
    pub(crate) to: WaveExportOutputs,
    #[command(flatten)]
    pub(crate) selection: WaveSelection,
}

/// Files to write, one option per format; at least one is required.
#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
pub(crate) struct WaveExportOutputs {
    /// Write trace events (JSON) for Perfetto
    #[arg(long, value_name = "FILE")]
    pub(crate) perfetto: Option<PathBuf>,
    /// Write requests with their pipeline stages for Konata
    #[arg(long, value_name = "FILE")]
    pub(crate) konata: Option<PathBuf>,
    /// Write commands that set up the viewer Surfer: `surfer WAVE -c FILE`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["window", "signals"])]
    pub(crate) surfer: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct WaveCauseArgs {
    /// Bundle folder of a regression [default: random run of --seed, --requests, ...]
    #[arg(value_name = "BUNDLE", conflicts_with_all = ["case", "config", "set", "seed", "requests", "until", "ops", "profile"])]
    pub(crate) bundle: Option<PathBuf>,
    /// Failing case from `atoms cosim`, to run on the RTL of this checkout
    #[arg(long, value_name = "FILE.json", conflicts_with_all = ["config", "set", "seed", "requests", "until", "ops", "profile"])]
    pub(crate) case: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) rtl: BundleRtlArgs,
    /// Number of RTL lines to list
    #[arg(long, value_name = "N", default_value_t = 10, allow_negative_numbers = true, value_parser = whole::<u32>(1..=1000))]
    pub(crate) count: u32,
    #[command(flatten)]
    pub(crate) point: PointArgs,
    #[command(flatten)]
    pub(crate) random: RandomArgs,
    /// Print JSON
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct WaveAtArgs {
    /// Bundle folder, or case file [default: random run of --seed, --requests, ...]
    #[arg(value_name = "BUNDLE|CASE.json", conflicts_with_all = ["config", "set", "seed", "requests", "until", "ops", "profile"])]
    pub(crate) what: Option<PathBuf>,
    /// Cycle in the middle of the wave [default: cycle of the failure]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole::<u64>(ANY))]
    pub(crate) cycle: Option<u64>,
    /// Number of cycles in the wave
    #[arg(long = "cycles", value_name = "N", alias = "window", default_value_t = 64, allow_negative_numbers = true, value_parser = whole::<u64>(1..=1_000_000))]
    pub(crate) window: u64,
    /// Add all internal signals of the RTL and registers of the model to the wave
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) internals: bool,
    /// Find the first cycle in which a register of RTL and model differs, and write the wave around it
    #[arg(long, conflicts_with = "cycle")]
    pub(crate) first_internal: bool,
    /// Wave to write, .vcd or .fst [default: target/waves/at-N.vcd]
    #[arg(long, short, help_heading = OUTPUT, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) rtl: BundleRtlArgs,
    #[command(flatten)]
    pub(crate) point: PointArgs,
    #[command(flatten)]
    pub(crate) random: RandomArgs,
    /// Print JSON
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
}
