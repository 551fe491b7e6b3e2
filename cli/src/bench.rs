//! `atoms bench`: how fast RTL, model and lockstep are, on a mix of operations or on a kernel, and waves.

mod waves;

use std::path::Path;
use std::sync::atomic::Ordering;

use atoms_cosim::bench::{self, Rate, Ratio, median, processor_time};
use atoms_cosim::configs::NamedConfig;
use atoms_cosim::internals::Depth;
use atoms_cosim::lockstep::Lockstep;
use atoms_cosim::machine::{Machine, ModelMachine};
use atoms_cosim::session::{Failure, Session};
use atoms_cosim::trace::Sides;
use atoms_isa::{Kernel, Program};
use atoms_sm::{Launch, RunError, SmConfig, Statistics};
use atoms_verilated::Environment;
use serde_json::json;

use crate::args::BenchArgs;
use crate::cosim;
use crate::error::{CliError, Verdict};
use crate::interrupt;
use crate::kernel_text::{self, Wanted};
use crate::machine;
use crate::output::outln;
use crate::progress::{bar, grouped};

pub(crate) fn bench(args: &BenchArgs) -> Result<Verdict, CliError> {
    let config = machine::config(&args.point.name())?;
    if let (Some(kernel), Some(launch)) = (&args.kernel, &args.launch) {
        return on_kernel(args, &config, kernel, launch);
    }
    let mix = cosim::ops(&args.ops)?;
    let dir = Environment::from_process().target.join("bench");
    std::fs::create_dir_all(&dir).map_err(CliError::writing(&dir))?;
    if args.waves {
        return waves::of_waves(args, &config, &mix, &dir);
    }
    let library = machine::library(&config, Depth::Ports)?;
    let wave = dir.join("wave.vcd");
    machine::files()
        .writes_wave("the wave", &wave)
        .writes("the wave as FST", &wave.with_extension("fst"))
        .check()?;
    let bar = bar(args.rounds as u64, "measuring");
    let progress = |round: usize| bar.set_position(round as u64);
    let report = bench::bench(
        &config.name,
        &library,
        config.config,
        &mix,
        args.rounds,
        args.seconds,
        &wave,
        interrupt::seen(),
        progress,
    )
    .map_err(CliError::of)?;
    bar.finish_and_clear();
    if report.rounds == 0 {
        return Ok(Verdict::Interrupted);
    }
    if args.json {
        let mut value = serde_json::to_value(&report).map_err(CliError::of)?;
        value["rtl"] = json!(machine::rtl_used());
        outln!("{value}")?;
        return Ok(interrupt::or(Verdict::Agree));
    }
    outln!(
        "configuration {}, medians of {} rounds, one core, {:.2} cycles per warp request",
        report.config,
        report.rounds,
        report.cycles_per_request
    )?;
    say_rtl()?;
    say_rates(&report.rates, &report.ratios, || Ok(()))?;
    Ok(interrupt::or(Verdict::Agree))
}

/// Prints figures, with what `between` prints in front of the ratios.
fn say_rates(
    rates: &[Rate],
    ratios: &[Ratio],
    between: impl FnOnce() -> Result<(), CliError>,
) -> Result<(), CliError> {
    for rate in rates {
        outln!(
            "  {:29} {:8.3} million cycles/s {:9.3} million requests/s",
            rate.what,
            rate.cycles_per_second / 1e6,
            rate.requests_per_second / 1e6
        )?;
    }
    between()?;
    for ratio in ratios {
        outln!("  {:37} {:6.2}  ({:.2} to {:.2})", ratio.what, ratio.median, ratio.min, ratio.max)?;
    }
    Ok(())
}

fn say_rtl() -> Result<(), CliError> {
    machine::rtl_used().map_or(Ok(()), |rtl| outln!("  rtl: {rtl}"))
}

/// A kernel on the model alone and in lockstep, without the oracle: what core and machine cost together.
fn on_kernel(
    args: &BenchArgs,
    config: &NamedConfig,
    listing: &Path,
    launch: &Path,
) -> Result<Verdict, CliError> {
    let name = listing.display().to_string();
    let launch = Launch::from_file(launch).map_err(CliError::of)?;
    let text = kernel_text::read(listing, launch.arch, Wanted::Code)?;
    let program =
        Program::read(&name, &text, launch.arch).map_err(|error| CliError::Listing(Box::new(error)))?;
    let kernel = launch.kernel(&program).map_err(CliError::of)?;
    let library = machine::library(config, Depth::Ports)?;
    let bar = bar(args.rounds as u64, "measuring");
    let mut rates: [Vec<f64>; 2] = Default::default();
    let mut statistics = Statistics::default();
    let stop = interrupt::seen();
    for round in 0..args.rounds {
        bar.set_position(round as u64);
        let (rate, counted) = rate(kernel, &launch, args.seconds, || Ok(ModelMachine::new(config.config)))?;
        rates[0].push(rate);
        statistics = counted;
        let lockstep = || {
            let rtl = library.instantiate().map_err(CliError::of)?;
            Lockstep::new(rtl, config.config).map_err(CliError::of)
        };
        rates[1].push(self::rate(kernel, &launch, args.seconds, lockstep)?.0);
        if stop.load(Ordering::SeqCst) {
            break;
        }
    }
    bar.finish_and_clear();
    if interrupt::asked() {
        return Ok(Verdict::Interrupted);
    }
    let [model, lockstep] = rates.map(|each| median(&each));
    let Statistics { warp_instructions, thread_instructions, cycles, shared_requests, .. } = statistics;
    if args.json {
        outln!(
            "{}",
            json!({
                "kernel": kernel.name, "arch": kernel.arch.to_string(), "config": config.name, "rounds": args.rounds,
                "warp_instructions": warp_instructions, "thread_instructions": thread_instructions,
                "cycles": cycles, "shared_requests": shared_requests,
                "warp_instructions_per_second": { "model": model, "lockstep": lockstep },
                "rtl": machine::rtl_used(),
            })
        )?;
        return Ok(Verdict::Agree);
    }
    outln!(
        "{} ({}), configuration {}, medians of {} rounds, one core\n  a run is {} warp instructions ({} of \
         threads), {} shared-memory requests, {} cycles",
        kernel.name,
        kernel.arch,
        config.name,
        args.rounds,
        grouped(warp_instructions),
        grouped(thread_instructions),
        grouped(shared_requests),
        grouped(cycles),
    )?;
    say_rtl()?;
    for (what, rate) in [("model", model), ("lockstep", lockstep)] {
        outln!(
            "  {what:9} {:7.3} million warp instructions/s {:9.3} million thread instructions/s",
            rate / 1e6,
            rate / 1e6 * thread_instructions as f64 / warp_instructions.max(1) as f64
        )?;
    }
    Ok(Verdict::Agree)
}

/// Runs a kernel over and over for about `seconds` of processor time; gives warp instructions per second, the
/// launch's setting up included, and what one run counted.
fn rate<M: Machine + Sides>(
    kernel: &Kernel,
    launch: &Launch,
    seconds: f64,
    machine: impl Fn() -> Result<M, CliError>,
) -> Result<(f64, Statistics), CliError> {
    let mut session = Session::new(machine()?, None);
    session.set_interrupt(interrupt::seen());
    let start = processor_time();
    let mut instructions = 0;
    loop {
        let report = match atoms_sm::run(kernel, launch, &mut session, &SmConfig::default()) {
            Err(RunError::Port(Failure::Interrupted { .. })) => return Ok((f64::NAN, Statistics::default())),
            report => report.map_err(CliError::of)?,
        };
        instructions += report.statistics.warp_instructions;
        let spent = (processor_time() - start).as_secs_f64();
        if spent >= seconds {
            return Ok((instructions as f64 / spent, report.statistics));
        }
    }
}
