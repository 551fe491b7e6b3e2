//! Sets up what stands behind the ports.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::sync::OnceLock;

use atoms_cosim::embedded::rtl_dir;
use atoms_cosim::follower::FollowerMode;
use atoms_cosim::internals::Depth;
use atoms_cosim::lockstep::Lockstep;
use atoms_cosim::machine::{Machine, ModelMachine, RtlMachine};
use atoms_cosim::rtl::{self, RtlIdentity};
use atoms_cosim::scoreboard::Scoreboard;
use atoms_cosim::session::Session;
use atoms_cosim::trace::Trace;
use atoms_cosim::usage::{Usage, UsageReport};
use atoms_stimulus::configs::{self, NamedConfig};
use atoms_verilated::{Library, Snapshot};

use crate::args::MachineArgs;
use crate::files::Files;
use crate::output::error::CliError;
use crate::output::interrupt;
use crate::output::note;
use crate::output::progress::build_step;

/// What every command reads that has to do with RTL.
pub(crate) fn files() -> Files {
    let mut files = Files::default();
    files.reads("the RTL", &rtl_dir());
    files
}

/// The configuration called `name`.
pub(crate) fn config(name: &str) -> Result<NamedConfig, CliError> {
    Ok(configs::named(&rtl_dir(), name)?)
}

/// RTL of a configuration, for waves of this depth, built if need be.
pub(crate) fn library(config: &NamedConfig, depth: Depth) -> Result<Library, CliError> {
    let dir = rtl_dir();
    // Before it is read to be built: a file that changes in between is rather seen as another version.
    let identity = RtlIdentity::of(&dir)?;
    let library = rtl::library(&dir, config, depth.variant(), &mut build_step)
        .map_err(|error| CliError::about(&config.name, error))?;
    USED.get_or_init(|| identity);
    Ok(library)
}

static USED: OnceLock<RtlIdentity> = OnceLock::new();

/// The RTL that this process runs, for a report; `None` where it runs none.
pub(crate) fn rtl_used() -> Option<&'static RtlIdentity> {
    USED.get()
}

/// The model alone.
pub(crate) fn model(config: &NamedConfig) -> ModelMachine {
    ModelMachine::new(config.config)
}

/// The RTL alone.
pub(crate) fn rtl_machine(config: &NamedConfig, depth: Depth) -> Result<RtlMachine, CliError> {
    let rtl = library(config, depth)?.instantiate()?;
    Ok(RtlMachine::new(rtl, config.config)?)
}

/// RTL and model, abreast.
pub(crate) fn lockstep(config: &NamedConfig, depth: Depth) -> Result<Lockstep, CliError> {
    let rtl = library(config, depth)?.instantiate()?;
    Ok(Lockstep::new(rtl, config.config)?)
}

/// RTL and model, on as many threads as asked for.
pub(crate) fn lockstep_on_threads(config: &NamedConfig, args: &MachineArgs) -> Result<Lockstep, CliError> {
    let mut machine = lockstep(config, args.depth())?;
    let following = if args.threads() > 1 { FollowerMode::OnItsOwnThread } else { FollowerMode::InTurns };
    machine.set_following(Some(following))?;
    Ok(machine)
}

/// RTL and model abreast, to find what RTL that followed ran into.
pub(crate) fn lockstep_again(
    config: &NamedConfig,
    args: &MachineArgs,
    snapshot: Option<Snapshot>,
) -> Result<Lockstep, CliError> {
    let mut machine = lockstep(config, args.depth())?;
    if let Some(snapshot) = snapshot {
        machine.join_at(snapshot);
    }
    Ok(machine)
}

/// Adds the wave and the recording to what a command writes.
pub(crate) fn outputs(args: &MachineArgs, files: &mut Files) {
    if let Some(path) = &args.trace {
        files.writes_wave("--trace", path);
    }
    if let Some(path) = &args.record {
        files.writes("--record", path);
    }
}

/// A machine being driven, which measures its usage if a report is asked for.
pub(crate) type MeasuredSession<M> = Session<M, Option<Usage>>;

/// A session on `machine` with wave, recording and report as asked for.
pub(crate) fn session<M: Machine>(
    mut machine: M,
    args: &MachineArgs,
    oracle: bool,
) -> Result<MeasuredSession<M>, CliError> {
    let mut scoreboard = oracle.then(|| Scoreboard::new(machine.config(), &[]));
    if let (Some(scoreboard), Some(path)) = (&mut scoreboard, &args.record) {
        let file = File::create(path).map_err(CliError::writing(path))?;
        scoreboard.record(Box::new(BufWriter::new(file))).map_err(CliError::writing(path))?;
    }
    let trace = match &args.trace {
        Some(path) => {
            let window = args.window.clone().unwrap_or(0..u64::MAX);
            if args.depth() == Depth::Internals {
                let needs_rtl = "--internals: the model's registers are shown by the RTL's signals; add --on lockstep or --on rtl";
                machine.show_inside(window.clone()).map_err(|_| CliError::message(needs_rtl))?;
            }
            Some(Trace::create(path, &machine, None)?.within(window))
        }
        None => None,
    };
    let usage = args.report.then(|| Usage::new(machine.config()));
    let (mut session, ()) = Session::new(machine, scoreboard).listened_by(usage);
    session.set_trace(trace);
    session.set_interrupt(interrupt::seen());
    Ok(session)
}

/// Completes wave and recording; gives a line on each for the report, and one on the RTL.
pub(crate) fn finish<M: Machine>(
    session: &mut MeasuredSession<M>,
    args: &MachineArgs,
) -> Result<Vec<String>, CliError> {
    let mut lines: Vec<_> = rtl_used().map(|rtl| format!("rtl        {rtl}")).into_iter().collect();
    if let Some(trace) = session.take_trace() {
        let path = trace.path().to_path_buf();
        if trace.cycles() == 0 {
            let cycles = session.tally().cycles;
            note!("atoms: the wave is empty: the run had {cycles} cycles, all of them outside of --window");
        }
        trace.finish()?;
        let vcd = shell(&path);
        lines.push(format!("wave       {vcd} (gtkwave {vcd} {})", shell(&path.with_extension("gtkw"))));
    }
    if let (Some(_), Some(path)) = (session.scoreboard(), &args.record) {
        session.finish_recording().map_err(CliError::writing(path))?;
        lines.push(format!("recording  {} (atoms check {})", path.display(), path.display()));
    }
    Ok(lines)
}

/// The report, if it is asked for.
pub(crate) fn usage<M: Machine>(session: &mut MeasuredSession<M>) -> Option<UsageReport> {
    session.listener().as_ref().map(Usage::report)
}

/// `path` as it is typed in a command line, relative to the current folder if it is below it.
pub(crate) fn shell(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let text = path.strip_prefix(&here).unwrap_or(path).display().to_string();
    atoms_regress::report::command::path(Path::new(&text))
}
