//! `atoms repro`: replays the bundle of a failure.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use atoms_cosim::embedded::rtl_dir;
use atoms_cosim::internals::Depth;
use atoms_cosim::rtl;
use atoms_cosim::unit_folder::prepare;
use atoms_regress::report::text::plain;
use atoms_regress::run::journal::WorkerJournal;
use atoms_regress::run::supervisor::{ControlPipe, listen};
use atoms_regress::triage::death::Death;
use atoms_regress::triage::record::BundleRecord;
use atoms_regress::triage::repro::Bundle;
use atoms_regress::triage::signature::Signature;
use atoms_regress::triage::test_failure::FailedRun;
use atoms_verilated::Environment;
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::{BundleRtlArgs, ReproArgs};
use crate::machine::{self, shell};
use crate::output::error::{CliError, Verdict, message};
use crate::output::progress::{build_step, grouped};
use crate::output::{outln, print_json};

/// Replays in a separate process, because the failure may be a crash or a hang.
pub(crate) fn repro(args: &ReproArgs) -> Result<Verdict, CliError> {
    if let Some(folder) = &args.in_this_process {
        std::thread::spawn(|| listen(std::io::stdin().lock(), || ()));
        let bundle = Bundle::read(&args.bundle)?;
        let journal = WorkerJournal::open(folder, 0)?;
        return replay(args, &bundle, &journal);
    }
    let bundle = Bundle::read(&args.bundle)?;
    let mut files = machine::files();
    files.reads("the bundle", &args.bundle);
    if let Some(path) = &args.trace {
        files.writes_wave("--trace", path);
    }
    files.check()?;
    let rtl = BundleRtl::choose(&args.rtl, &bundle)?;
    if !args.json {
        outln!("{}", plain(&bundle.record.key.to_string()))?;
        outln!("  test       {}, configuration {}", plain(&bundle.record.test), bundle.record.config)?;
        outln!("  replays    {}", what(&bundle))?;
        rtl.print(&bundle)?;
    }
    let program =
        std::env::current_exe().map_err(|error| message!("cannot find the program that runs: {error}"))?;
    let journals = Environment::from_process().target.join("repro").join(std::process::id().to_string());
    let journals = std::path::absolute(&journals).unwrap_or(journals);
    let mut command = Command::new(&program);
    command.arg("repro").arg("--in-this-process").arg(&journals);
    command.arg(if args.rtl.trust { "--trust" } else { "--here" });
    if let Some(path) = &args.trace {
        command.arg("--trace").arg(path);
    }
    if args.internals {
        command.arg("--internals");
    }
    if args.json {
        command.arg("--json");
    }
    command.arg("--").arg(&args.bundle);
    let ended = ControlPipe::default().run(command, &journals);
    let _ = std::fs::remove_dir_all(&journals);
    let ended = ended?;
    let verdict = match (ended.died(), ended.status.code()) {
        (None, Some(0)) => Verdict::Agree,
        (None, Some(1)) => Verdict::Disagree,
        (None, Some(Verdict::INTERRUPTED)) => Verdict::Interrupted,
        (None, _) => Verdict::NotAsked,
        (Some(death), _) => died(args, &bundle, &rtl, death)?,
    };
    Ok(rtl.verdict(verdict))
}

pub(crate) fn what(bundle: &Bundle) -> String {
    match &bundle.case {
        Some(case) => {
            let plural = if case.requests() == 1 { "" } else { "s" };
            format!("the minimized case, {} request{plural}", case.requests())
        }
        None => format!(
            "the original run up to cycle {}, because the bundle has no minimized case",
            bundle.record.cycle
        ),
    }
}

pub(crate) struct BundleRtl {
    pub(crate) folder: PathBuf,
    /// True if the RTL equals that of the bundle, by hash.
    pub(crate) is_of_bundle: bool,
    /// True if the checkout's RTL replaces the bundle's different RTL without `--here`.
    replaced: bool,
    /// Hash of this checkout's RTL. `None` without a checkout, which `--trust` does not need.
    here: Option<String>,
}

impl BundleRtl {
    /// Chooses the RTL. The bundle's RTL runs only if it equals this checkout's or with `--trust`.
    pub(crate) fn choose(args: &BundleRtlArgs, bundle: &Bundle) -> Result<Self, CliError> {
        let folder = match bundle.config.unit.as_ref().and_then(|unit| unit.file.as_deref()) {
            Some(file) if !args.trust => prepare(file, &rtl_dir())?.0,
            _ => rtl_dir(),
        };
        let here = rtl::rtl_hash(&folder);
        if args.trust {
            let (folder, here) = (bundle.rtl_dir(), here.ok());
            return Ok(BundleRtl { folder, is_of_bundle: true, replaced: false, here });
        }
        let here = Some(here?);
        let is_of_bundle = bundle.rtl == here;
        Ok(BundleRtl { folder, is_of_bundle, replaced: !is_of_bundle && !args.here, here })
    }

    pub(crate) fn print(&self, bundle: &Bundle) -> Result<(), CliError> {
        if !bundle.rtl_is_its_own {
            outln!("  changed    the RTL in the bundle was changed after the failure")?;
        }
        for name in &bundle.changed {
            outln!("  changed    {} was changed after the failure", plain(name))?;
        }
        let short = |hash: &str| hash.chars().take(16).collect::<String>();
        let own = bundle.rtl.as_deref().map_or_else(|| "with files outside of the bundle".to_string(), short);
        let here = self.here.as_deref().map_or_else(|| "none".to_string(), short);
        if own == here {
            return outln!("  rtl        {own}, the same in the bundle and in this checkout");
        }
        if self.replaced {
            outln!(
                "  not run    the RTL of the bundle, {own}: it differs from this checkout's; --trust runs it"
            )?;
        }
        match self.is_of_bundle {
            true => outln!("  rtl        that of the bundle, {own}; this checkout has different RTL, {here}"),
            false => {
                outln!("  rtl        that of this checkout, {here}; the bundle has different RTL, {own}")
            }
        }
    }

    /// Returns `verdict`, or `NotAsked` if this checkout's RTL replaced the bundle's.
    pub(crate) fn verdict(&self, verdict: Verdict) -> Verdict {
        match verdict {
            Verdict::Agree | Verdict::Disagree if self.replaced => Verdict::NotAsked,
            verdict => verdict,
        }
    }
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct ReproResult<'r> {
    key: &'r Signature,
    test: &'r str,
    config: &'r str,
    bundle_rtl_ran: bool,
    /// Absent if the replay does not fail.
    found: Option<ReplayedFailure>,
}

#[derive(Serialize, JsonSchema)]
struct ReplayedFailure {
    /// True if the failure has the signature of the bundle.
    same: bool,
    signature: Signature,
    /// Absent if the process died.
    #[serde(skip_serializing_if = "Option::is_none")]
    cycle: Option<u64>,
    report: String,
}

fn print_result(
    bundle: &Bundle,
    rtl: &BundleRtl,
    found: Option<ReplayedFailure>,
) -> Result<Verdict, CliError> {
    let verdict = if found.is_none() { Verdict::Agree } else { Verdict::Disagree };
    let BundleRecord { key, test, config, .. } = &bundle.record;
    print_json(&ReproResult { key, test, config, bundle_rtl_ran: rtl.is_of_bundle, found })?;
    Ok(verdict)
}

/// Reports that the replaying process died.
fn died(args: &ReproArgs, bundle: &Bundle, rtl: &BundleRtl, death: Death) -> Result<Verdict, CliError> {
    let signature = Signature::of_death(death);
    let same = bundle.is_same(&signature);
    let text = match death {
        Death::Hung(_) => death.to_string(),
        Death::Signal(_) | Death::Exit(_) => format!("the process of the replay died: {death}"),
    };
    if args.json {
        let found = ReplayedFailure { same, signature, cycle: None, report: text };
        return print_result(bundle, rtl, Some(found));
    }
    match same {
        true => outln!("  found      the same failure: {text}")?,
        false => outln!("  found      another failure: {signature}: {text}")?,
    }
    Ok(Verdict::Disagree)
}

fn replay(args: &ReproArgs, bundle: &Bundle, journal: &WorkerJournal) -> Result<Verdict, CliError> {
    let rtl = BundleRtl::choose(&args.rtl, bundle)?;
    let depth = if args.internals { Depth::Internals } else { Depth::Ports };
    let session = bundle.session(&rtl.folder, depth, &mut build_step)?;
    journal.test(0, Duration::MAX, None);
    let (session, ()) = session.listened_by(journal.pulse());
    let replayed = bundle.replay(session, args.trace.as_deref())?;
    journal.idle();
    if args.json {
        let found = replayed.found.map(|found| ReplayedFailure {
            same: replayed.same,
            signature: found.signature,
            cycle: Some(found.cycle),
            report: found.failure.to_string(),
        });
        return print_result(bundle, &rtl, found);
    }
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

fn show(bundle: &Bundle, found: &FailedRun) -> Result<(), CliError> {
    if bundle.is_same(&found.signature) {
        outln!("  found      the same failure, in cycle {}", found.cycle)?;
    } else {
        outln!("  found      another failure, in cycle {}: {}", found.cycle, found.signature)?;
    }
    for line in found.failure.to_string().lines() {
        outln!("  {}", plain(line))?;
    }
    Ok(())
}
