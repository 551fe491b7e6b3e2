//! `atoms bench`: speed of RTL, model and lockstep on operations or on a kernel, and speed of waves.

mod compare;
mod kernel;
mod waves;

use std::fmt;

use atoms_cosim::internals::Depth;
use atoms_cosim::rtl::{self, RtlIdentity};
use atoms_run::bench::{BenchSpread, BenchValue, Figures, Limit, MixBench, RatioOf};
use atoms_stimulus::configs::NamedConfig;
use atoms_verilated::Environment;
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::BenchArgs;
use crate::cosim;
use crate::machine;
use crate::output::error::{CliError, Verdict};
use crate::output::interrupt;
use crate::output::progress::bar;
use crate::output::{outln, print_json};
use compare::Other;

pub(crate) fn bench(args: &BenchArgs) -> Result<Verdict, CliError> {
    let config = machine::config(&args.point.name())?;
    if let (Some(kernel), Some(launch)) = (&args.kernel, &args.launch) {
        return kernel::of_kernel(args, &config, kernel, launch);
    }
    let mix = cosim::ops(&args.ops)?;
    if args.waves {
        let dir = Environment::from_process().target.join("bench");
        std::fs::create_dir_all(&dir).map_err(CliError::writing(&dir))?;
        return waves::of_waves(args, &config, &mix, &dir);
    }
    let library = machine::library(&config, Depth::Ports)?;
    let mut bench = MixBench::new(&library, &config, &mix)?;
    let about = format!("{:.2} cycles per warp request", bench.cycles_per_request());
    let subject = Subject { kind: "mix", config: &config, about, ratios: MixBench::RATIOS };
    measure(args, &subject, |limit| Ok(bench.round(limit)?))
}

struct Subject<'a> {
    kind: &'a str,
    config: &'a NamedConfig,
    about: String,
    ratios: &'a [RatioOf],
}

/// Measures rounds, each after a round of the program or report of `--compare`, and prints the figures.
fn measure(
    args: &BenchArgs,
    subject: &Subject<'_>,
    mut round: impl FnMut(Limit) -> Result<Vec<BenchValue>, CliError>,
) -> Result<Verdict, CliError> {
    let mut other = args.compare.as_deref().map(Other::open).transpose()?;
    let bar = bar(args.rounds as u64, "measuring");
    let mut figures = Figures::default();
    for number in 0..args.rounds {
        bar.set_position(number as u64);
        if let Some(other) = &mut other {
            other.round(args)?;
        }
        let measured = round(Limit { seconds: args.seconds, stop: interrupt::seen() })?;
        if interrupt::asked() {
            // Drop the interrupted round, which is incomplete.
            break;
        }
        figures.add(measured);
    }
    bar.finish_and_clear();
    if figures.0.is_empty() {
        return Ok(Verdict::Interrupted);
    }
    let compared = other.map(|other| other.compared(&figures)).transpose()?;
    if args.json {
        print_json(&BenchResult::of(subject, &figures, compared.as_deref()))?;
    } else {
        print(args, subject, &figures, compared.as_deref())?;
    }
    Ok(interrupt::or(Verdict::Agree))
}

/// Name of each figure, and its speed relative to the program or report of `--compare`.
type Compared = Vec<(String, BenchSpread)>;

fn ratios(subject: &Subject<'_>, figures: &Figures) -> impl Iterator<Item = (&'static str, BenchSpread)> {
    subject.ratios.iter().filter_map(|of| Some((of.what, figures.ratio(of)?)))
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct BenchResult<'a> {
    bench: &'a str,
    config: &'a str,
    about: &'a str,
    rtl: Option<&'a RtlIdentity>,
    tools: Option<String>,
    figures: &'a Figures,
    ratios: Vec<RatioResult<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    times_as_fast: Option<Vec<RatioResult<'a>>>,
}

#[derive(Serialize, JsonSchema)]
struct RatioResult<'a> {
    what: &'a str,
    #[serde(flatten)]
    spread: BenchSpread,
}

impl<'a> BenchResult<'a> {
    fn of(
        subject: &'a Subject<'_>,
        figures: &'a Figures,
        compared: Option<&'a [(String, BenchSpread)]>,
    ) -> Self {
        let each = |(what, spread): &'a (String, BenchSpread)| RatioResult { what, spread: *spread };
        BenchResult {
            bench: subject.kind,
            config: &subject.config.name,
            about: &subject.about,
            rtl: machine::rtl_used(),
            tools: rtl::tools().ok(),
            figures,
            ratios: ratios(subject, figures).map(|(what, spread)| RatioResult { what, spread }).collect(),
            times_as_fast: compared.map(|compared| compared.iter().map(each).collect()),
        }
    }
}

fn print(
    args: &BenchArgs,
    subject: &Subject<'_>,
    figures: &Figures,
    compared: Option<&[(String, BenchSpread)]>,
) -> Result<(), CliError> {
    let rounds = figures.0.first().map_or(0, |figure| figure.rounds.len());
    outln!("configuration {}, medians of {rounds} rounds, lowest and highest", subject.config.name)?;
    if !subject.about.is_empty() {
        outln!("  {}", subject.about)?;
    }
    if let Some(rtl) = machine::rtl_used() {
        outln!("  rtl: {rtl}")?;
    }
    if let Ok(tools) = rtl::tools() {
        outln!("  tools: {tools}")?;
    }
    for figure in &figures.0 {
        outln!("  {:34} {}", figure.what, Amounts(figure.spread(), &figure.unit))?;
    }
    for (what, spread) in ratios(subject, figures) {
        outln!("  {what:34} {}", Amounts(spread, ""))?;
    }
    if let (Some(compared), Some(path)) = (compared, &args.compare) {
        outln!("times as fast as {}", path.display())?;
        for (what, spread) in compared {
            outln!("  {what:34} {}", Amounts(*spread, ""))?;
        }
    }
    Ok(())
}

/// Median, minimum and maximum in a unit. Rates are printed in millions.
struct Amounts<'a>(BenchSpread, &'a str);

impl fmt::Display for Amounts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Amounts(BenchSpread { median, min, max }, unit) = *self;
        let (by, prefix) = if unit.ends_with("/s") { (1e6, "M ") } else { (1.0, "") };
        let digits = if median / by >= 100.0 { 1 } else { 3 };
        let [median, min, max] = [median, min, max].map(|value| value / by);
        write!(f, "{median:8.digits$} {:14} ({min:.digits$} to {max:.digits$})", format!("{prefix}{unit}"))
    }
}
