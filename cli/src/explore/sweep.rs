//! `atoms explore sweep`: many points, a report of all of them.

use std::path::PathBuf;

use atoms_cosim::configs;
use atoms_cosim::rtl::RtlIdentity;
use atoms_explore::report::{SweepReport, file};
use atoms_explore::sweep::{
    Certify, Impossible, PointStore, SweepFile, SweepProgress, SweepRun, SweepRunError, sweep,
};
use atoms_verilated::Environment;
use serde_json::json;

use crate::args::explore::{CertifyArg, SweepArgs};
use crate::error::{CliError, Verdict};
use crate::interrupt;
use crate::machine::{self, shell};
use crate::output::{note, outln};
use crate::progress::{bar, build_step, grouped};

pub(crate) fn run(args: &SweepArgs) -> Result<Verdict, CliError> {
    let environment = Environment::from_process();
    let name = args.file.file_stem().unwrap_or_default();
    let out = args.out.clone().unwrap_or_else(|| environment.target.join("explore").join(name));
    let mut files = machine::files();
    files.reads("the sweep", &args.file).writes("--out", &out);
    files.check()?;
    let rtl_dir = configs::rtl_dir();
    let plan = SweepFile::read(&args.file).map_err(CliError::of)?;
    let seed = args.seed.unwrap_or(plan.seed);
    let found = plan.points(&args.file, &rtl_dir).map_err(CliError::of)?;
    for Impossible { rule, points } in &found.impossible {
        note!("atoms: {} left out, which cannot be: {rule}", counted(*points));
    }
    let rtl = RtlIdentity::of(&rtl_dir).map_err(CliError::of)?;
    let store = PointStore::new(&environment.store.join("explore")).map_err(CliError::of)?;
    let run = SweepRun {
        seed,
        rtl_dir: &rtl_dir,
        certify: match args.certify {
            CertifyArg::All => Certify::All,
            CertifyArg::None => Certify::None,
        },
        jobs: args
            .jobs
            .map_or_else(|| std::thread::available_parallelism().map_or(1, Into::into), |jobs| jobs as usize),
        store: &store,
        interrupt: Some(interrupt::seen()),
    };
    let bar = bar(found.points.len() as u64, "points");
    let measured = sweep(&run, found.points, &mut |progress| match progress {
        SweepProgress::Build(step) => bar.suspend(|| build_step(step)),
        SweepProgress::Points { done, .. } => bar.set_position(done as u64),
    });
    bar.finish_and_clear();
    let measured = match measured {
        Err(error @ SweepRunError::Interrupted) => {
            note!("atoms: {error}");
            return Ok(Verdict::Interrupted);
        }
        measured => measured.map_err(CliError::of)?,
    };
    let report = SweepReport {
        about: &plan.about,
        file: &shell(&args.file),
        seed,
        rtl: &rtl,
        measured: &measured,
        impossible: &found.impossible,
        plots: &plan.plot,
    };
    let findings = report.write(&out).map_err(CliError::of)?;
    let failed: Vec<_> = measured.iter().filter(|one| one.outcome.is_err()).collect();
    let certified = measured.iter().filter(|one| one.certified).count();
    let verdict = if failed.is_empty() { Verdict::Agree } else { Verdict::Disagree };
    if args.json {
        outln!(
            "{}",
            json!({
                "about": plan.about, "points": measured.len(), "certified": certified, "failed": failed.len(),
                "impossible": found.impossible.iter().map(|one| one.points).sum::<u64>(), "findings": findings,
                "rtl": rtl, "out": out,
            })
        )?;
        return Ok(verdict);
    }
    outln!("{}", plan.about)?;
    for finding in &findings {
        outln!("  {finding}")?;
    }
    let kept = measured.iter().filter(|one| one.kept).count() as u64;
    let before =
        if kept > 0 { format!(", {} of them measured before", grouped(kept)) } else { String::new() };
    outln!("  points       {}{before}", grouped(measured.len() as u64))?;
    outln!("  certified    {} in lockstep, every answer accepted by the oracle", grouped(certified as u64))?;
    for one in &failed {
        let labels: Vec<_> = one.point.labels.iter().map(|(name, value)| format!("{name} {value}")).collect();
        let reason = one.outcome.as_ref().err().map_or("", String::as_str);
        outln!("  failed       {}: {reason}", labels.join(", "))?;
    }
    outln!("  report       {}", PathBuf::from(&out).join(file::PAGE).display())?;
    outln!("  rtl          {rtl}")?;
    Ok(verdict)
}

fn counted(points: u64) -> String {
    format!("{} point{}", grouped(points), if points == 1 { "" } else { "s" })
}
