//! `atoms bench --waves`: how fast waves are written, compared and looked at again.

use std::path::Path;
use std::time::Instant;

use atoms_cosim::bench::{WaveReport, WaveTime, wave_bench};
use atoms_cosim::campaign::Campaign;
use atoms_cosim::configs::NamedConfig;
use atoms_cosim::internals::Depth;
use atoms_cosim::stimulus::Profile;
use atoms_ops::Op;
use atoms_regress::triage::rerun::Rerun;
use atoms_verilated::Library;
use serde_json::json;

use super::{say_rates, say_rtl};
use crate::args::BenchArgs;
use crate::error::{CliError, Verdict};
use crate::interrupt;
use crate::machine;
use crate::output::outln;
use crate::progress::bar;

/// The cycle looked at, and how many around it.
const CYCLE: u64 = 1_000_000;
const WINDOW: u64 = 64;

pub(super) fn of_waves(
    args: &BenchArgs,
    config: &NamedConfig,
    mix: &[Op],
    dir: &Path,
) -> Result<Verdict, CliError> {
    let mut files = machine::files();
    for name in ["wave.vcd", "internals.vcd", "at.vcd", "left.vcd", "right.vcd"] {
        files.writes_wave("a wave", &dir.join(name));
    }
    files
        .writes("the wave as FST", &dir.join("wave.fst"))
        .writes("Verilator's", &dir.join("verilator.vcd"))
        .check()?;
    let fast = machine::library(config, Depth::Ports)?;
    let inside = machine::library(config, Depth::Internals)?;
    let bar = bar(args.rounds as u64, "measuring");
    let mut report = wave_bench(
        &config.name,
        [&fast, &inside],
        config.config,
        mix,
        args.rounds,
        args.seconds,
        dir,
        interrupt::seen(),
        |round| bar.set_position(round as u64),
    )
    .map_err(CliError::of)?;
    if report.rounds == 0 {
        return Ok(Verdict::Interrupted);
    }
    report.times.push(at_again(config, &fast, &dir.join("at.vcd"), args.rounds)?);
    bar.finish_and_clear();
    if args.json {
        let mut value = serde_json::to_value(&report).map_err(CliError::of)?;
        value["rtl"] = json!(machine::rtl_used());
        outln!("{value}")?;
        return Ok(interrupt::or(Verdict::Agree));
    }
    let WaveReport { config, rounds, rates, times, ratios } = &report;
    outln!("waves of configuration {config}, medians of {rounds} rounds, elapsed time, files complete")?;
    say_rtl()?;
    say_rates(rates, ratios, || {
        times.iter().try_for_each(|took| outln!("  {:38} {:5.3} s", took.what, took.seconds))
    })?;
    Ok(interrupt::or(Verdict::Agree))
}

/// `atoms wave at` of a late cycle of a run, from the second time on.
fn at_again(
    config: &NamedConfig,
    library: &Library,
    path: &Path,
    rounds: usize,
) -> Result<WaveTime, CliError> {
    let config = config.clone();
    let (requests, until) = (CYCLE, u64::MAX);
    let rerun =
        Rerun::Random(Box::new(Campaign { config, profile: Profile::default(), seed: 1, requests, until }));
    let look = || {
        let start = Instant::now();
        let window = CYCLE - WINDOW / 2..CYCLE + WINDOW / 2;
        rerun.excerpt(library, window, path, None, &mut |_| {}).map_err(CliError::of)?;
        Ok(start.elapsed().as_secs_f64())
    };
    look()?;
    let mut took = Vec::new();
    while took.len() < rounds && (took.is_empty() || !interrupt::asked()) {
        took.push(look()?);
    }
    Ok(WaveTime::median("cycle 1,000,000 looked at again", &took))
}
