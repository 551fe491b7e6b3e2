//! Mutation runs for developers of the checks. Users run `atoms mutate` instead. Run from the root of the
//! checkout:
//!
//! - `cargo evaluate-mutants --unlisted --sample 200`: runs mutants that are not on the list of known
//!   survivors. Every one must be killed. `--listed` runs the listed mutants instead.
//! - `--built`: runs mutants of widths, loop bounds and labels. Each needs its own build.
//! - `--every-stage`: runs survivors of stage 1 on every later stage, and lists mutants that only one run
//!   kills.
//! - `--common`: checks that the oracle notices each defect of `rtl/formal/common.toml` without the model.
//!   With `--unlisted`: checks each mutant that the model notices.

#![allow(clippy::print_stdout, clippy::print_stderr)] // stand-alone program that prints for people and scripts

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use atoms_cosim::embedded::rtl_dir;
use atoms_faults::mutate::{
    EvaluationSettings, Explained, Fate, JudgedBy, KillCheck, Mutant, MutationReport, Planted, Stage,
    StageTally, evaluate, evaluate_built, evaluate_planted, lint_survivors, mutants, sample, schemata,
    stages, write_survivors,
};
use atoms_verilated::{Environment, cores};
use clap::Parser;

#[derive(Parser)]
struct HuntArgs {
    /// Take mutants whose key contains this text
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Take mutants on the list of known survivors
    #[arg(long, conflicts_with = "unlisted")]
    listed: bool,
    /// Take mutants that are not on the list
    #[arg(long)]
    unlisted: bool,
    /// Draw this many mutants
    #[arg(long, value_name = "N")]
    sample: Option<usize>,
    /// Seed of the sample
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Run only the first N stages, and no lint
    #[arg(long, value_name = "N")]
    stages: Option<usize>,
    /// Judge by the oracle only: the defects of common.toml, or with --unlisted the mutants that the model notices
    #[arg(long, conflicts_with_all = ["survivors", "every_stage", "listed"])]
    common: bool,
    /// Take mutants without a switch, and build each
    #[arg(long, conflicts_with_all = ["common", "every_stage"])]
    built: bool,
    /// Run survivors of stage 1 on every later stage
    #[arg(long)]
    every_stage: bool,
    /// Write the RTL of each survivor into a folder below this one
    #[arg(long, value_name = "FOLDER")]
    survivors: Option<PathBuf>,
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let args = HuntArgs::parse();
    let rtl_dir = rtl_dir();
    let corpus = rtl_dir.with_file_name("tests").join("regress/corpus.json");
    let mut stages = stages(Some(&corpus))?;
    stages.truncate(args.stages.unwrap_or(usize::MAX));
    let list = rtl_dir.join("formal").join(if args.common { "common.toml" } else { "mutants.toml" });
    let explained = Explained::read(&list)?;
    let as_expected = match args.common && !args.unlisted {
        true => planted(&args, &rtl_dir, &stages, &explained)?,
        false => of_rtl(&args, &rtl_dir, &stages, &explained)?,
    };
    Ok(if as_expected { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Evaluates mutants of the RTL. Returns true if the list has all survivors and nothing else.
fn of_rtl(
    args: &HuntArgs,
    rtl_dir: &Path,
    stages: &[Stage],
    explained: &Explained,
) -> Result<bool, Box<dyn Error>> {
    let design = schemata(rtl_dir, "default", &mut |step| eprintln!("{step}"))?;
    let every = mutants(&design)?;
    let keys: Vec<String> = every.iter().map(ToString::to_string).collect();
    let wanted = |mutant: &Mutant, key: &str| {
        let listed = explained.of(key).is_some();
        mutant.switch.is_none() == args.built
            && args.only.as_deref().is_none_or(|only| key.contains(only))
            && !(args.listed && !listed || args.unlisted && listed)
    };
    let chosen = every.iter().zip(&keys).filter(|(mutant, key)| wanted(mutant, key));
    let mut chosen: Vec<Mutant> = chosen.map(|(mutant, _)| mutant.clone()).collect();
    if let Some(count) = args.sample {
        chosen = sample(&chosen, count, args.seed);
    }
    if chosen.is_empty() {
        return Err(
            format!("no mutant matches the options; {} exist, for example {}", keys.len(), keys[0]).into()
        );
    }
    let run = |mutants: &[Mutant], judge| {
        let how =
            EvaluationSettings { rtl_dir, judge, stages, threads: cores(), every_stage: args.every_stage };
        let evaluate = if args.built { evaluate_built } else { evaluate };
        evaluate(how, mutants, &mut |step| eprintln!("{step}"), &mut told)
    };
    let (mut fates, mut tallies) = run(&chosen, JudgedBy::Model)?;
    let kill_is = |fate: &Fate, check| fate.kill.as_ref().is_some_and(|kill| kill.check == check);
    keep(&mut chosen, &mut fates, |fate| !kill_is(fate, KillCheck::Build));
    if args.common {
        keep(&mut chosen, &mut fates, |fate| fate.kill.is_some());
        (fates, tallies) = run(&chosen, JudgedBy::Oracle)?;
    } else if args.stages.is_none() {
        // If only some stages ran, later stages would kill most mutants that are still alive: do not lint
        // them.
        let scratch = Environment::from_process().target.join("mutants");
        lint_survivors(rtl_dir, &chosen, &mut fates, explained, &scratch, cores())?;
    }
    let source = |file: &str| design.source(file).unwrap_or_default();
    let mut report = MutationReport::new(&chosen, &fates, tallies, explained, source, &keys);
    report.counted = args.every_stage;
    if let Some(folder) = &args.survivors {
        write_survivors(rtl_dir, &chosen, &fates, folder)?;
    }
    print!("{report}");
    Ok(report.is_as_listed())
}

fn keep(chosen: &mut Vec<Mutant>, fates: &mut Vec<Fate>, kept: impl Fn(&Fate) -> bool) {
    let mut those = fates.iter();
    chosen.retain(|_| those.next().is_some_and(&kept));
    fates.retain(kept);
}

/// Evaluates the planted defects of the list. Returns true if the oracle notices each defect.
fn planted(
    args: &HuntArgs,
    rtl_dir: &Path,
    stages: &[Stage],
    explained: &Explained,
) -> Result<bool, Box<dyn Error>> {
    let only = args.only.as_deref().unwrap_or_default();
    let named = |one: &&Planted| [&one.about, &one.clause, &one.file].iter().any(|text| text.contains(only));
    let mut chosen: Vec<Planted> = explained.defects.iter().filter(named).cloned().collect();
    if let Some(count) = args.sample {
        chosen = sample(&chosen, count, args.seed);
    }
    if chosen.is_empty() {
        return Err("no defect of rtl/formal/common.toml matches the options".into());
    }
    let how =
        EvaluationSettings { rtl_dir, judge: JudgedBy::Oracle, stages, threads: cores(), every_stage: false };
    let (fates, _) = evaluate_planted(how, &chosen, &mut |step| eprintln!("{step}"), &mut told)?;
    for (Planted { about, clause, file, .. }, fate) in chosen.iter().zip(&fates) {
        let verdict = match &fate.kill {
            None => "not noticed".to_owned(),
            Some(kill) => format!("{:?}: {}", kill.check, kill.by.lines().next().unwrap_or_default()),
        };
        println!("spec {clause}  {file}  {about}\n    {verdict}");
    }
    let noticed = |fate: &&Fate| fate.kill.as_ref().is_some_and(|kill| kill.check == KillCheck::Oracle);
    let count = fates.iter().filter(noticed).count();
    println!("\n{} defects, {count} noticed by the oracle", chosen.len());
    Ok(count == chosen.len())
}

fn told(stage: &StageTally) {
    eprintln!("{}: {} of {} killed in {:.1} s", stage.name, stage.killed, stage.before, stage.seconds);
}
