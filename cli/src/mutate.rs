//! `atoms mutate`: runs RTL mutants and lists the survivors.

use std::path::{Path, PathBuf};

use atoms_cosim::embedded::rtl_dir;
use atoms_faults::mutate::{
    EvaluationSettings, Explained, JudgedBy, Mutant, MutationReport, StageTally, evaluate, lint_survivors,
    mutants, sample, schemata, stages, write_survivors,
};
use atoms_verilated::{Environment, cores};

use crate::args::MutateArgs;
use crate::machine;
use crate::output::error::{CliError, Verdict, message};
use crate::output::progress::build_step;
use crate::output::{note, out, print_json};

/// Default corpus of the last stage, relative to the parent folder of the RTL folder.
const CORPUS: &str = "tests/regress/corpus.json";
/// Default list of known survivors, relative to the RTL folder.
const EXPLAINED: &str = "formal/mutants.toml";

pub(crate) fn mutate(args: &MutateArgs) -> Result<Verdict, CliError> {
    let rtl_dir = rtl_dir();
    let explained_at = args.explained.clone().unwrap_or_else(|| rtl_dir.join(EXPLAINED));
    let corpus = corpus(args, &rtl_dir);
    let mut files = machine::files();
    for (what, path) in [("--corpus", &args.corpus), ("--explained", &args.explained)] {
        if let Some(path) = path {
            files.reads(what, path);
        }
    }
    if let Some(folder) = &args.survivors {
        files.writes("--survivors", folder);
    }
    files.check()?;
    let explained = Explained::read(&explained_at)?;
    let mut stages = stages(corpus.as_deref())?;
    stages.truncate(args.stages.unwrap_or(usize::MAX));
    let design = schemata(&rtl_dir, "default", &mut build_step)?;
    let every = mutants(&design)?;
    let keys: Vec<String> = every.iter().map(ToString::to_string).collect();
    let wanted = |(mutant, key): &(&Mutant, &String)| {
        mutant.switch.is_some() && args.only.as_deref().is_none_or(|only| key.contains(only))
    };
    let mut chosen: Vec<Mutant> =
        every.iter().zip(&keys).filter(wanted).map(|(mutant, _)| mutant.clone()).collect();
    if chosen.is_empty() {
        return Err(message!(
            "no mutant matches `{}` ({} exist; for example `{}`)",
            args.only.as_deref().unwrap_or_default(),
            atoms_run::grouped(keys.len() as u64),
            keys.first().map_or("", String::as_str)
        ));
    }
    if let Some(count) = args.sample {
        chosen = sample(&chosen, count, args.seed);
    }
    let threads = args.threads.unwrap_or_else(cores);
    let mut done = |stage: &StageTally| {
        let StageTally { name, before, killed, seconds, .. } = stage;
        note!("{name}: {killed} of {before} killed in {seconds:.1} s");
    };
    let how = EvaluationSettings {
        rtl_dir: &rtl_dir,
        judge: JudgedBy::Model,
        stages: &stages,
        threads,
        every_stage: false,
    };
    let (mut fates, tallies) = evaluate(how, &chosen, &mut build_step, &mut done)?;
    // With `--stages`, do not lint: later stages would kill most of the remaining mutants.
    if args.stages.is_none() {
        let scratch = Environment::from_process().target.join("mutants");
        lint_survivors(&rtl_dir, &chosen, &mut fates, &explained, &scratch, threads)?;
    }
    let source = |file: &str| design.source(file).unwrap_or_default();
    let report = MutationReport::new(&chosen, &fates, tallies, &explained, source, &keys);
    if let Some(folder) = &args.survivors {
        write_survivors(&rtl_dir, &chosen, &fates, folder)?;
    }
    match args.json {
        true => print_json(&report.result())?,
        false => out!("{report}")?,
    }
    Ok(if report.is_as_listed() { Verdict::Agree } else { Verdict::Disagree })
}

/// Returns the corpus for the last stage. None if the option is missing and there is no checkout.
fn corpus(args: &MutateArgs, rtl_dir: &Path) -> Option<PathBuf> {
    let beside = rtl_dir.parent().map(|root| root.join(CORPUS)).filter(|path| path.is_file());
    args.corpus.clone().or(beside)
}
