//! `atoms mutate`: small defects planted in the RTL, and which of them no run notices.

use std::path::{Path, PathBuf};

use atoms_cosim::configs;
use atoms_mutate::{
    Explained, Fate, Hunt, JudgedBy, KillCheck, Mutant, MutationReport, Planted, Stage, StageTally,
    altered_folder, hunt, hunt_built, hunt_planted, lint_survivors, mutants, sample, stages, woven,
};
use atoms_verilated::{Environment, cores};
use serde_json::json;

use crate::args::MutateArgs;
use crate::error::{CliError, Verdict};
use crate::machine;
use crate::output::{note, out, outln};
use crate::progress::build_step;

/// In the folder beside that of the RTL.
const CORPUS: &str = "tests/regress/corpus.json";
/// In the folder of the RTL.
const EXPLAINED: &str = "formal/mutants.toml";
/// List of defects that RTL and model could share, in the folder of the RTL.
const COMMON: &str = "formal/common.toml";

pub(crate) fn mutate(args: &MutateArgs) -> Result<Verdict, CliError> {
    let rtl_dir = configs::rtl_dir();
    let list = if args.common { COMMON } else { EXPLAINED };
    let explained_at = args.explained.clone().unwrap_or_else(|| rtl_dir.join(list));
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
    let explained = Explained::read(&explained_at).map_err(CliError::of)?;
    let mut stages = stages(corpus.as_deref()).map_err(CliError::of)?;
    stages.truncate(args.stages.unwrap_or(usize::MAX));
    if args.common && !args.unlisted {
        return planted(args, &rtl_dir, &stages, &explained);
    }
    let design = woven(&rtl_dir, "default", &mut build_step).map_err(CliError::of)?;
    let every = mutants(&design).map_err(CliError::of)?;
    let keys: Vec<String> = every.iter().map(ToString::to_string).collect();
    let wanted = |key: &str| {
        let listed = explained.of(key).is_some();
        args.only.as_deref().is_none_or(|only| key.contains(only))
            && !(args.listed && !listed || args.unlisted && listed)
    };
    let is_chosen =
        |(mutant, key): &(&Mutant, &String)| mutant.switch.is_none() == args.built && wanted(key.as_str());
    let mut chosen: Vec<_> =
        every.iter().zip(&keys).filter(is_chosen).map(|(mutant, _)| mutant.clone()).collect();
    if chosen.is_empty() {
        return Err(CliError::message(format!(
            "of {} mutants none is asked for; the key of the first is `{}`",
            keys.len(),
            keys.first().map_or("", String::as_str)
        )));
    }
    if let Some(count) = args.sample {
        chosen = sample(&chosen, count, args.seed);
    }
    let threads = args.threads.unwrap_or_else(cores);
    let mut done = |stage: &StageTally| {
        let StageTally { name, before, killed, seconds, .. } = stage;
        note!("{name}: {killed} of {before} killed in {seconds:.1} s");
    };
    let mut put = |mutants: &[_], judge| {
        let how = Hunt { rtl_dir: &rtl_dir, judge, stages: &stages, threads, every_stage: args.every_stage };
        let hunt = if args.built { hunt_built } else { hunt };
        hunt(how, mutants, &mut build_step, &mut done).map_err(CliError::of)
    };
    let (mut fates, mut tallies) = put(&chosen, JudgedBy::Model)?;
    let builds = |fate: &Fate| fate.kill.as_ref().is_none_or(|kill| kill.check != KillCheck::Build);
    if !fates.iter().all(builds) {
        let mut those = fates.iter();
        chosen.retain(|_| those.next().is_some_and(builds));
        note!("{} do not build, and are no mutants", fates.len() - chosen.len());
        fates.retain(builds);
    }
    if args.common {
        note!("what the model notices, judged by the oracle alone");
        let mut fates_seen = fates.iter();
        chosen.retain(|_| fates_seen.next().is_some_and(|fate| fate.kill.is_some()));
        (fates, tallies) = put(&chosen, JudgedBy::Oracle)?;
    }
    let open: Vec<usize> = (0..chosen.len())
        .filter(|at| fates[*at].kill.is_none() && explained.of(&chosen[*at].to_string()).is_none())
        .collect();
    let scratch = Environment::from_process().target.join("mutants");
    // After some of the stages most that are left are no survivors.
    if args.stages.is_none() && !args.common {
        lint_survivors(&rtl_dir, &chosen, &mut fates, &open, &scratch, threads).map_err(CliError::of)?;
    }
    let source = |file: &str| design.source(file).unwrap_or_default();
    let mut report = MutationReport::new(&chosen, &fates, tallies, &explained, source, &keys);
    report.counted = args.every_stage;
    if let Some(folder) = &args.survivors {
        for (at, mutant) in chosen.iter().enumerate().filter(|(at, _)| fates[*at].kill.is_none()) {
            let to = folder.join(format!("{:04}", mutant.number));
            altered_folder(&rtl_dir, mutant, &to).map_err(CliError::of)?;
            let key = to.join("mutant.txt");
            std::fs::write(&key, format!("{}\n", chosen[at])).map_err(CliError::writing(&key))?;
        }
    }
    match args.json {
        true => outln!("{}", report.json())?,
        false => out!("{report}")?,
    }
    Ok(if report.is_as_listed() { Verdict::Agree } else { Verdict::Disagree })
}

/// Puts the defects of the list to the oracle, which must notice each.
fn planted(
    args: &MutateArgs,
    rtl_dir: &Path,
    stages: &[Stage],
    explained: &Explained,
) -> Result<Verdict, CliError> {
    let only = args.only.as_deref().unwrap_or_default();
    let named = |one: &&Planted| [&one.about, &one.clause, &one.file].iter().any(|text| text.contains(only));
    let mut chosen: Vec<Planted> = explained.defects.iter().filter(named).cloned().collect();
    if let Some(count) = args.sample {
        chosen = sample(&chosen, count, args.seed);
    }
    if chosen.is_empty() {
        return Err(CliError::message("of the defects of the list none is asked for"));
    }
    let threads = args.threads.unwrap_or_else(cores);
    let how = Hunt { rtl_dir, judge: JudgedBy::Oracle, stages, threads, every_stage: false };
    let mut done = |stage: &StageTally| {
        note!("{}: {} of {} killed in {:.1} s", stage.name, stage.killed, stage.before, stage.seconds);
    };
    let (fates, _) = hunt_planted(how, &chosen, &mut build_step, &mut done).map_err(CliError::of)?;
    let noticed = |fate: &Fate| fate.kill.as_ref().is_some_and(|kill| kill.check == KillCheck::Oracle);
    let count = fates.iter().filter(|fate| noticed(fate)).count();
    if args.json {
        let defects =
            chosen.iter().zip(&fates).map(|(defect, fate)| json!({ "defect": defect, "kill": fate.kill }));
        outln!("{}", json!({ "noticed": count, "defects": defects.collect::<Vec<_>>() }))?;
    } else {
        for (Planted { about, clause, file, .. }, fate) in chosen.iter().zip(&fates) {
            let verdict = match &fate.kill {
                None => "not noticed".to_owned(),
                Some(kill) => format!("{:?}: {}", kill.check, kill.by.lines().next().unwrap_or_default()),
            };
            outln!("spec {clause}  {file}  {about}\n    {verdict}")?;
        }
        outln!("\n{} defects, {count} noticed by the oracle", chosen.len())?;
    }
    Ok(if count == chosen.len() { Verdict::Agree } else { Verdict::Disagree })
}

/// The corpus whose episodes are the last stage; none where there is no checkout.
fn corpus(args: &MutateArgs, rtl_dir: &Path) -> Option<PathBuf> {
    let beside = rtl_dir.parent().map(|root| root.join(CORPUS)).filter(|path| path.is_file());
    args.corpus.clone().or(beside)
}
