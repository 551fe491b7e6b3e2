//! `atoms bench --kernel`: speed of core and machine together.

use std::path::Path;

use atoms_cosim::follower::FollowerMode;
use atoms_cosim::internals::Depth;
use atoms_cosim::lockstep::Lockstep;
use atoms_cosim::machine::{Failure, Machine, ModelMachine};
use atoms_cosim::session::Session;
use atoms_isa::{Kernel, Program};
use atoms_run::bench::{BenchValue, RatioOf, processor_time};
use atoms_run::kernel::source::{self, Wanted};
use atoms_sm::{Launch, RunError, SmConfig, Statistics};
use atoms_stimulus::configs::NamedConfig;

use super::{Subject, measure};
use crate::args::BenchArgs;
use crate::machine;
use crate::output::error::{CliError, Verdict};
use crate::output::interrupt;
use crate::output::progress::grouped;

const UNIT: &str = "instructions/s";
const MODEL: &str = "warp instructions on the model";
const LOCKSTEP: &str = "in lockstep";
const RATIOS: &[RatioOf] = &[RatioOf { what: "lockstep over model in time", over: MODEL, under: LOCKSTEP }];

pub(super) fn of_kernel(
    args: &BenchArgs,
    config: &NamedConfig,
    listing: &Path,
    launch: &Path,
) -> Result<Verdict, CliError> {
    let name = listing.display().to_string();
    let launch = Launch::from_file(launch)?;
    let text = source::read(listing, launch.arch, Wanted::Code)?;
    let program =
        Program::read(&name, &text, launch.arch).map_err(|error| CliError::Listing(Box::new(error)))?;
    let kernel = launch.kernel(&program)?;
    let library = machine::library(config, Depth::Ports)?;
    let lockstep = || {
        let rtl = library.instantiate()?;
        let mut machine = Lockstep::new(rtl, config.config)?;
        machine.set_following(Some(FollowerMode::InTurns))?;
        Ok(machine)
    };
    let Statistics { warp_instructions, thread_instructions, cycles, shared_requests, .. } =
        rate(kernel, &launch, 0.0, || Ok(ModelMachine::new(config.config)))?.1;
    let about = format!(
        "{} ({}): {} warp instructions ({} of threads)\n  {} shared-memory requests, {} cycles",
        kernel.name,
        kernel.arch,
        grouped(warp_instructions),
        grouped(thread_instructions),
        grouped(shared_requests),
        grouped(cycles),
    );
    measure(args, &Subject { kind: "kernel", config, about, ratios: RATIOS }, |limit| {
        let on_model = rate(kernel, &launch, limit.seconds, || Ok(ModelMachine::new(config.config)))?.0;
        let in_lockstep = rate(kernel, &launch, limit.seconds, lockstep)?.0;
        Ok([(MODEL, on_model), (LOCKSTEP, in_lockstep)]
            .map(|(what, value)| BenchValue { what, unit: UNIT, value })
            .into())
    })
}

/// Runs a kernel repeatedly for about `seconds` of processor time. Returns warp instructions per second,
/// including the launch setup, and the statistics of one run.
fn rate<M: Machine>(
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
            report => report?,
        };
        instructions += report.statistics.warp_instructions;
        let spent = (processor_time() - start).as_secs_f64();
        if spent >= seconds {
            session.machine_mut().catch_up()?;
            return Ok((instructions as f64 / spent, report.statistics));
        }
    }
}
