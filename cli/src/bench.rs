//! `atoms bench`: how fast RTL, model and lockstep are.

use atoms_cosim::bench;
use atoms_verilated::Environment;

use crate::args::BenchArgs;
use crate::cosim;
use crate::error::{CliError, Verdict};
use crate::machine;
use crate::progress::bar;

pub(crate) fn bench(args: &BenchArgs) -> Result<Verdict, CliError> {
    if args.rounds == 0 {
        return Err(CliError::message("0 rounds measure nothing: give --rounds 1 or more"));
    }
    let config = machine::config(&args.config)?;
    let mix = cosim::ops(&args.ops)?;
    let library = machine::library(&config)?;
    let dir = Environment::from_process().target.join("bench");
    std::fs::create_dir_all(&dir).map_err(CliError::writing(&dir))?;
    let wave = dir.join("wave.vcd");
    let bar = bar(args.rounds as u64, "measuring");
    let progress = |round: usize| bar.set_position(round as u64);
    let report =
        bench::bench(&config.name, &library, config.config, &mix, args.rounds, args.seconds, &wave, progress)
            .map_err(CliError::of)?;
    bar.finish_and_clear();
    if args.json {
        let text = serde_json::to_string(&report).map_err(CliError::of)?;
        println!("{text}");
        return Ok(Verdict::Agree);
    }
    println!(
        "configuration {}, medians of {} rounds, one core, {:.2} cycles per warp request",
        report.config, report.rounds, report.cycles_per_request
    );
    for rate in &report.rates {
        println!(
            "  {:27} {:8.3} million cycles/s {:9.3} million requests/s",
            rate.what,
            rate.cycles_per_second / 1e6,
            rate.requests_per_second / 1e6
        );
    }
    for ratio in &report.ratios {
        println!("  {:35} {:6.2}  ({:.2} to {:.2})", ratio.what, ratio.median, ratio.min, ratio.max);
    }
    Ok(Verdict::Agree)
}
