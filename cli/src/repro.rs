//! `atoms repro`: replays the bundle of a failure.

use std::process::{Command, ExitStatus};

use atoms_cosim::{configs, rtl};
use atoms_regress::failure::bucket::{Finding, Key};
use atoms_regress::failure::repro::Bundle;

use crate::args::ReproArgs;
use crate::error::{CliError, Verdict};
use crate::machine::shell;
use crate::progress::{build_step, grouped};

/// Replays in a process of its own: what the bundle is about may end it.
pub(crate) fn repro(args: &ReproArgs) -> Result<Verdict, CliError> {
    let bundle = Bundle::read(&args.bundle).map_err(CliError::of)?;
    if args.in_this_process {
        return replay(args, &bundle);
    }
    println!("{}", bundle.record.key);
    println!("  test       {}, configuration {}", bundle.record.test, bundle.record.config);
    println!("  replays    {}", what(&bundle));
    notes(args, &bundle)?;
    let program = std::env::current_exe()
        .map_err(|error| CliError::message(format!("cannot find the program that runs: {error}")))?;
    let mut command = Command::new(&program);
    command.arg("repro").arg(&args.bundle).arg("--in-this-process");
    if args.here {
        command.arg("--here");
    }
    if let Some(path) = &args.trace {
        command.arg("--trace").arg(path);
    }
    let status = command.status().map_err(CliError::reading(&program))?;
    match status.code() {
        Some(0) => Ok(Verdict::Agree),
        Some(1) => Ok(Verdict::Disagree),
        Some(2) => Ok(Verdict::NotAsked),
        _ => Ok(died(&bundle, status)),
    }
}

/// What is replayed, in words.
fn what(bundle: &Bundle) -> String {
    match &bundle.case {
        Some(case) => {
            let plural = if case.requests() == 1 { "" } else { "s" };
            format!("the smallest case, {} request{plural}", case.requests())
        }
        None => format!("the run as it was, to cycle {}: there is no smaller case", bundle.record.cycle),
    }
}

/// What one should know about the RTL.
fn notes(args: &ReproArgs, bundle: &Bundle) -> Result<(), CliError> {
    let short = |hash: &str| hash.chars().take(16).collect::<String>();
    let own = short(&bundle.record.rtl);
    let here = rtl::rtl_hash(&configs::rtl_dir()).ok();
    match (args.here, here) {
        (true, Some(hash)) if hash == bundle.record.rtl => {
            println!("  rtl        that of this checkout, {own}: the same as that of the bundle");
        }
        (true, Some(hash)) => {
            println!(
                "  rtl        that of this checkout, {}; the bundle has another one, {own}",
                short(&hash)
            );
        }
        (true, None) => {
            let dir = configs::rtl_dir();
            return Err(CliError::message(format!("--here: there is no RTL in `{}`", dir.display())));
        }
        (false, Some(hash)) if hash != bundle.record.rtl => {
            println!(
                "  rtl        that of the bundle, {own}; this checkout has another one, {}",
                short(&hash)
            );
        }
        (false, _) => println!("  rtl        that of the bundle, {own}"),
    }
    if !args.here && !bundle.rtl_is_its_own {
        println!("  changed    the RTL in the bundle is no longer that of the failure");
    }
    Ok(())
}

/// The process that replayed was ended by a signal.
fn died(bundle: &Bundle, status: ExitStatus) -> Verdict {
    #[cfg(unix)]
    let signal = std::os::unix::process::ExitStatusExt::signal(&status);
    #[cfg(not(unix))]
    let signal = None;
    let key = Key::crash(signal);
    let text = format!("the process that ran it ended with {status}");
    if bundle.is_same(&key) {
        println!("  found      the same: {text}");
    } else {
        println!("  found      something else: {key}: {text}");
    }
    Verdict::Disagree
}

fn replay(args: &ReproArgs, bundle: &Bundle) -> Result<Verdict, CliError> {
    let dir = if args.here { configs::rtl_dir() } else { bundle.rtl_dir() };
    let replayed = bundle.replay(&dir, args.trace.as_deref(), &mut build_step).map_err(CliError::of)?;
    if let Some(path) = &args.trace {
        println!("  wave       {}", shell(path));
    }
    let Some(found) = replayed.found else {
        println!("  agree      rtl, model and oracle, in all {} cycles", grouped(replayed.cycles));
        return Ok(Verdict::Agree);
    };
    say(bundle, &found);
    Ok(Verdict::Disagree)
}

/// Says what was found, and whether it is what the bundle is about.
fn say(bundle: &Bundle, found: &Finding) {
    if bundle.is_same(&found.key) {
        println!("  found      the same, in cycle {}", found.cycle);
    } else {
        println!("  found      something else, in cycle {}: {}", found.cycle, found.key);
    }
    for line in found.text.lines() {
        println!("  {line}");
    }
}
