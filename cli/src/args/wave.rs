//! What can be asked about waves.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::args::moment::{MomentWindow, Shift};
use crate::args::number::whole;
use crate::args::{ANY, BundleRtlArgs, PointArgs, RandomArgs};

#[derive(Debug, Args)]
pub(crate) struct WaveArgs {
    #[command(subcommand)]
    pub(crate) command: WaveCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum WaveCommand {
    /// Say what a wave contains: scopes, signals, clock, time
    Info(WaveInfoArgs),
    /// Compare two waves, or two scopes of one: what differs first, and what follows from it
    ///
    /// Exit status: 0 they are equal, 1 they differ, 2 they could not be compared, or not to their ends.
    Diff(WaveDiffArgs),
    /// Show part of a wave in the terminal, as a picture or for a document; list transactions; search
    Show(WaveShowArgs),
    /// Name the lines of the RTL that are the likeliest cause of a failure (docs/causes.md)
    Cause(WaveCauseArgs),
    /// Write a wave as one HTML file, which opens as the save file beside the wave says
    Page(WavePageArgs),
    /// Write a wave as a timeline for Perfetto or Konata, or what Surfer is to show of it
    Export(WaveExportArgs),
    /// Run a bundle, a case or a random run once more, and write the wave of the cycles around one
    At(WaveAtArgs),
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

#[derive(Debug, Args)]
pub(crate) struct WaveDiffArgs {
    /// VCD or FST file, of any program
    #[arg(value_name = "WAVE")]
    pub(crate) left: PathBuf,
    /// The one that it is compared with
    #[arg(value_name = "OTHER", required_unless_present = "scopes", conflicts_with = "scopes")]
    pub(crate) right: Option<PathBuf>,
    /// Compare two scopes of one wave: `rtl,model`
    #[arg(long, value_name = "ONE,OTHER", value_parser = pair(','))]
    pub(crate) scopes: Option<[String; 2]>,
    /// What OTHER calls differently, scopes or signals: `top.rtl=tb.dut`; may be repeated
    #[arg(long, value_name = "OLD=NEW", value_parser = pair('='), conflicts_with = "scopes")]
    pub(crate) rename: Vec<[String; 2]>,
    /// Sample at the rising edges of this clock instead of comparing every change
    #[arg(long, value_name = "SIGNAL")]
    pub(crate) clock: Option<String>,
    /// Add this to the times of OTHER, in cycles or with a unit: `3`, `-20ns`
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, conflicts_with = "scopes")]
    pub(crate) shift: Option<Shift>,
    /// Only from here up to there, in cycles or with units: `1200..1300`, `1.2us..`
    #[arg(long, value_name = "FROM..TO")]
    pub(crate) window: Option<MomentWindow>,
    /// Leave out signals that a pattern chooses: `probe_*`, `rtl.req_*`; may be repeated
    #[arg(long, value_name = "PATTERN")]
    pub(crate) ignore: Vec<String>,
    /// Compare only signals that a pattern chooses; may be repeated
    #[arg(long, value_name = "PATTERN")]
    pub(crate) only: Vec<String>,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct WaveShowArgs {
    /// VCD or FST file, of any program
    #[arg(value_name = "WAVE")]
    pub(crate) wave: PathBuf,
    /// From here up to there, in cycles or with units: `1200..1300`, `1.2us..`. Without it, where the viewer's file
    /// beside the wave has its marker, or where something happens first
    #[arg(long, value_name = "FROM..TO")]
    pub(crate) window: Option<MomentWindow>,
    /// Signals that patterns choose, separated by commas, in this order: `clk,probe_*,rtl.req_*`. Without it, those of
    /// the viewer's file beside the wave, or the first ones
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) signals: Vec<String>,
    /// Write a picture in place of text
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) svg: Option<PathBuf>,
    /// Write WaveJSON, which WaveDrom draws in documents
    #[arg(long, value_name = "FILE.json")]
    pub(crate) wavedrom: Option<PathBuf>,
    /// Draw with ASCII characters alone
    #[arg(long)]
    pub(crate) ascii: bool,
    /// List transactions by time: those of scope `txn`, or texts that --signals chooses. Fields are in --json
    #[arg(long, conflicts_with_all = ["svg", "wavedrom", "ascii", "query"])]
    pub(crate) transactions: bool,
    /// List the cycles in which an expression holds (docs/waves.md): `op == CAS.SPIN && rtl.rsp_passes > 4`
    #[arg(long, value_name = "EXPRESSION", conflicts_with_all = ["svg", "wavedrom", "ascii", "signals"])]
    pub(crate) query: Option<String>,
    /// Print as JSON: WaveJSON, transactions line by line, or cycles
    #[arg(long, conflicts_with_all = ["svg", "wavedrom", "ascii"])]
    pub(crate) json: bool,
}

/// Two names with a character between them.
fn pair(between: char) -> impl Fn(&str) -> Result<[String; 2], String> + Clone + Send + Sync {
    move |text| {
        let parts = text.split_once(between).filter(|(one, _)| !one.is_empty());
        let (one, other) =
            parts.ok_or_else(|| format!("expected two names with `{between}` between them"))?;
        Ok([one.to_owned(), other.to_owned()])
    }
}

/// The part of a wave that a command works on.
#[derive(Debug, Args)]
pub(crate) struct WaveSelection {
    /// Only from here up to there, in cycles or with units: `1200..1300`, `1.2us..`
    #[arg(long, value_name = "FROM..TO")]
    pub(crate) window: Option<MomentWindow>,
    /// Only signals that patterns choose, separated by commas: `probe_*,rtl.req_*`
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) signals: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct WavePageArgs {
    /// VCD or FST file, of any program
    #[arg(value_name = "WAVE")]
    pub(crate) wave: PathBuf,
    /// The page
    #[arg(long, short, value_name = "FILE.html")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) selection: WaveSelection,
    /// Text of the kernel that ran: requests lead to its lines
    #[arg(long, value_name = "FILE")]
    pub(crate) kernel: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct WaveExportArgs {
    /// VCD or FST file, of any program
    #[arg(value_name = "WAVE")]
    pub(crate) wave: PathBuf,
    #[command(flatten)]
    pub(crate) to: WaveExportOutputs,
    #[command(flatten)]
    pub(crate) selection: WaveSelection,
}

/// Where to; at least one.
#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
pub(crate) struct WaveExportOutputs {
    /// Trace events as JSON, for Perfetto and Chrome's viewer
    #[arg(long, value_name = "FILE")]
    pub(crate) perfetto: Option<PathBuf>,
    /// Requests as instructions with their stages, for Konata
    #[arg(long, value_name = "FILE")]
    pub(crate) konata: Option<PathBuf>,
    /// Commands for Surfer, which then shows what the GTKWave save file beside the wave names: `surfer WAVE -c FILE`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["window", "signals"])]
    pub(crate) surfer: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct WaveCauseArgs {
    /// Folder of a bundle that a regression left behind. Without it and without --case, the random run that the options
    /// below describe
    #[arg(value_name = "BUNDLE", conflicts_with_all = ["case", "config", "set", "seed", "requests", "until", "ops", "profile"])]
    pub(crate) bundle: Option<PathBuf>,
    /// The case of a failure, as `atoms cosim` leaves it behind, on the RTL of this checkout
    #[arg(long, value_name = "FILE.json", conflicts_with_all = ["config", "set", "seed", "requests", "until", "ops", "profile"])]
    pub(crate) case: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) rtl: BundleRtlArgs,
    /// Lines to list
    #[arg(long, value_name = "N", default_value_t = 10, allow_negative_numbers = true, value_parser = whole::<u32>(1..=1000))]
    pub(crate) count: u32,
    #[command(flatten)]
    pub(crate) point: PointArgs,
    #[command(flatten)]
    pub(crate) random: RandomArgs,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct WaveAtArgs {
    /// Folder of a bundle, below `failures/` of a regression, or a case as JSON. Without it, the random run that the
    /// options below describe
    #[arg(value_name = "BUNDLE|CASE.json", conflicts_with_all = ["config", "set", "seed", "requests", "until", "ops", "profile"])]
    pub(crate) what: Option<PathBuf>,
    /// The cycle in the middle; without it, that in which the run fails
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole::<u64>(ANY))]
    pub(crate) cycle: Option<u64>,
    /// Cycles to show
    #[arg(long, value_name = "CYCLES", default_value_t = 64, allow_negative_numbers = true, value_parser = whole::<u64>(1..=1_000_000))]
    pub(crate) window: u64,
    /// Show what is inside, too: every signal of the RTL, and the registers that the model has as well
    #[arg(long)]
    pub(crate) internals: bool,
    /// Find the first cycle in which a register of the RTL differs from its counterpart in the model, and show that one
    #[arg(long, conflicts_with = "cycle")]
    pub(crate) first_internal: bool,
    /// Where the wave goes, VCD or by its extension FST [default: target/waves/at-N.vcd]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) rtl: BundleRtlArgs,
    #[command(flatten)]
    pub(crate) point: PointArgs,
    #[command(flatten)]
    pub(crate) random: RandomArgs,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
