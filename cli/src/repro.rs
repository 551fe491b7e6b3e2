//! `atoms repro`: replays the bundle of a failure.

use std::fmt;
use std::process::Command;
use std::time::Duration;

use atoms_cosim::internals::Depth;
use atoms_cosim::{configs, rtl};
use atoms_regress::report::text::plain;
use atoms_regress::run::journal::WorkerJournal;
use atoms_regress::run::supervisor::{ControlPipe, listen};
use atoms_regress::triage::death::Death;
use atoms_regress::triage::repro::Bundle;
use atoms_regress::triage::signature::Signature;
use atoms_regress::triage::test_failure::FailedRun;
use atoms_verilated::Environment;

use crate::args::{BundleRtlArgs, ReproArgs};
use crate::error::{CliError, Verdict};
use crate::machine::{self, shell};
use crate::output::outln;
use crate::progress::{build_step, grouped};

const REFUSALS: usize = 10;

/// Replays in a process of its own: what the bundle is about may end it, or never end.
pub(crate) fn repro(args: &ReproArgs) -> Result<Verdict, CliError> {
    if let Some(folder) = &args.in_this_process {
        std::thread::spawn(|| listen(std::io::stdin().lock(), || ()));
        let bundle = Bundle::read(&args.bundle).map_err(CliError::of)?;
        let journal = WorkerJournal::open(folder, 0).map_err(CliError::of)?;
        return replay(args, &bundle, &journal);
    }
    let bundle = Bundle::read(&args.bundle).map_err(CliError::of)?;
    let mut files = machine::files();
    files.reads("the bundle", &args.bundle);
    if let Some(path) = &args.trace {
        files.writes_wave("--trace", path);
    }
    files.check()?;
    outln!("{}", plain(&bundle.record.key))?;
    outln!("  test       {}, configuration {}", plain(&bundle.record.test), bundle.record.config)?;
    outln!("  replays    {}", what(&bundle))?;
    let rtl = choose(&args.rtl, &bundle, &mut |line| outln!("{line}"))?;
    let program = std::env::current_exe()
        .map_err(|error| CliError::message(format!("cannot find the program that runs: {error}")))?;
    let journals = Environment::from_process().target.join("repro").join(std::process::id().to_string());
    let journals = std::path::absolute(&journals).unwrap_or(journals);
    let mut command = Command::new(&program);
    command.arg("repro").arg("--in-this-process").arg(&journals);
    command.arg(match rtl {
        Rtl::Here => "--here",
        Rtl::Bundle => "--trust",
    });
    if let Some(path) = &args.trace {
        command.arg("--trace").arg(path);
    }
    if args.internals {
        command.arg("--internals");
    }
    command.arg("--").arg(&args.bundle);
    let ended = ControlPipe::default().run(command, &journals).map_err(CliError::of);
    let _ = std::fs::remove_dir_all(&journals);
    let ended = ended?;
    match (ended.died(), ended.status.code()) {
        (None, Some(0)) => Ok(Verdict::Agree),
        (None, Some(1)) => Ok(Verdict::Disagree),
        (None, Some(Verdict::INTERRUPTED)) => Ok(Verdict::Interrupted),
        (None, _) => Ok(Verdict::NotAsked),
        (Some(death), _) => died(&bundle, death),
    }
}

/// What is replayed, in words.
pub(crate) fn what(bundle: &Bundle) -> String {
    match &bundle.case {
        Some(case) => {
            let plural = if case.requests() == 1 { "" } else { "s" };
            format!("the smallest case, {} request{plural}", case.requests())
        }
        None => format!("the run as it was, to cycle {}: there is no smaller case", bundle.record.cycle),
    }
}

/// Whose RTL is replayed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rtl {
    Here,
    Bundle,
}

/// Decides which RTL is run, and says so.
pub(crate) fn choose(
    args: &BundleRtlArgs,
    bundle: &Bundle,
    say: &mut dyn FnMut(fmt::Arguments<'_>) -> Result<(), CliError>,
) -> Result<Rtl, CliError> {
    let short = |hash: &str| plain(&hash.chars().take(16).collect::<String>());
    let own = short(&bundle.record.rtl);
    let dir = configs::rtl_dir();
    let here = rtl::rtl_hash(&dir).ok();
    let no_rtl = |why: &str| CliError::message(format!("{why}there is no RTL in `{}`", dir.display()));
    if !args.here && !bundle.rtl_is_its_own {
        say(format_args!("  changed    the RTL in the bundle is no longer that of the failure"))?;
    }
    for name in &bundle.changed {
        say(format_args!("  changed    {} is no longer that of the failure", plain(name)))?;
    }
    if args.here {
        let hash = here.ok_or_else(|| no_rtl("--here: "))?;
        if hash == bundle.record.rtl {
            say(format_args!("  rtl        that of this checkout, {own}: the same as that of the bundle"))?;
        } else {
            let hash = short(&hash);
            say(format_args!(
                "  rtl        that of this checkout, {hash}; the bundle has another one, {own}"
            ))?;
        }
        return Ok(Rtl::Here);
    }
    if here.is_some() && here == bundle.rtl {
        say(format_args!("  rtl        that of the bundle, {own}, which is that of this checkout"))?;
        return Ok(Rtl::Here);
    }
    if args.trust || bundle.refused.is_empty() {
        let other =
            here.map(|hash| format!("; this checkout has another one, {}", short(&hash))).unwrap_or_default();
        say(format_args!("  rtl        that of the bundle, {own}{other}"))?;
        return Ok(Rtl::Bundle);
    }
    say(format_args!(
        "  refused    the RTL of the bundle, {own}: it may do more than simulate; --trust runs it"
    ))?;
    for refusal in bundle.refused.iter().take(REFUSALS) {
        say(format_args!("             {refusal}"))?;
    }
    if bundle.refused.len() > REFUSALS {
        say(format_args!("             ... {} more", bundle.refused.len() - REFUSALS))?;
    }
    let hash = here.ok_or_else(|| no_rtl("the RTL of the bundle was refused, and "))?;
    say(format_args!("  rtl        that of this checkout, {}, in its place", short(&hash)))?;
    Ok(Rtl::Here)
}

/// The process that replayed died.
fn died(bundle: &Bundle, death: Death) -> Result<Verdict, CliError> {
    let signature = Signature::of_death(death);
    let text = match death {
        Death::Hung(_) => death.to_string(),
        Death::Signal(_) | Death::Exit(_) => format!("the process that ran it died: {death}"),
    };
    if bundle.is_same(&signature) {
        outln!("  found      the same: {text}")?;
    } else {
        outln!("  found      something else: {signature}: {text}")?;
    }
    Ok(Verdict::Disagree)
}

/// Replays a bundle; `journal` is for the process that watches this one.
fn replay(args: &ReproArgs, bundle: &Bundle, journal: &WorkerJournal) -> Result<Verdict, CliError> {
    let dir = if args.rtl.trust { bundle.rtl_dir() } else { configs::rtl_dir() };
    let depth = if args.internals { Depth::Internals } else { Depth::Ports };
    let session = bundle.session(&dir, depth, &mut build_step).map_err(CliError::of)?;
    journal.test(0, Duration::MAX, None);
    let (session, ()) = session.listened_by(journal.pulse());
    let replayed = bundle.replay(session, args.trace.as_deref()).map_err(CliError::of)?;
    journal.idle();
    if let Some(path) = &args.trace {
        outln!("  wave       {}", shell(path))?;
    }
    let Some(found) = replayed.found else {
        outln!("  agree      rtl, model and oracle, in all {} cycles", grouped(replayed.cycles))?;
        return Ok(Verdict::Agree);
    };
    show(bundle, &found)?;
    Ok(Verdict::Disagree)
}

/// Says what was found, and whether it is what the bundle is about.
fn show(bundle: &Bundle, found: &FailedRun) -> Result<(), CliError> {
    if bundle.is_same(&found.signature) {
        outln!("  found      the same, in cycle {}", found.cycle)?;
    } else {
        outln!("  found      something else, in cycle {}: {}", found.cycle, found.signature)?;
    }
    for line in found.failure.to_string().lines() {
        outln!("  {}", plain(line))?;
    }
    Ok(())
}
