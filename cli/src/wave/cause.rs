//! `atoms wave cause`: the lines of the RTL that are the likeliest cause of a failure.

use std::path::Path;

use atoms_cosim::case::Case;
use atoms_cosim::cause::{self, CauseError, CauseScore};
use atoms_cosim::configs::{self, NamedConfig};
use atoms_cosim::woven::WovenRtl;
use atoms_regress::triage::repro::Bundle;
use serde_json::json;

use crate::args::point;
use crate::args::wave::WaveCauseArgs;
use crate::error::{CliError, Verdict};
use crate::machine;
use crate::output::{out, outln};
use crate::progress::{bar, build_step};
use crate::wave::at::rtl_of;

pub(crate) fn cause(args: &WaveCauseArgs) -> Result<Verdict, CliError> {
    match (&args.bundle, &args.case, args.score) {
        (Some(folder), _, _) => {
            let bundle = Bundle::read(folder).map_err(CliError::of)?;
            let dir = rtl_of(&args.rtl, &bundle, args.json)?;
            let case = bundle.case.clone().ok_or_else(|| {
                CliError::message(format!(
                    "`{}` has no case that fails from reset: there is nothing to repeat with alterations",
                    folder.display()
                ))
            })?;
            of_case(args, &dir, &bundle.config, &case)
        }
        (None, Some(path), _) => {
            let text = std::fs::read_to_string(path).map_err(CliError::reading(path))?;
            let case: Case = serde_json::from_str(&text)
                .map_err(|error| CliError::message(format!("`{}`: {error}", path.display())))?;
            of_case(args, &configs::rtl_dir(), &machine::config(&case.config)?, &case)
        }
        (None, None, count) => score(args, count.unwrap_or(1)),
    }
}

fn woven(dir: &Path, config: &NamedConfig) -> Result<WovenRtl, CliError> {
    WovenRtl::build(dir, config, &mut build_step).map_err(|error| CliError::about(&config.name, error))
}

fn of_case(args: &WaveCauseArgs, dir: &Path, config: &NamedConfig, case: &Case) -> Result<Verdict, CliError> {
    let suspects = match cause::list(&woven(dir, config)?, case) {
        Err(CauseError::Agrees) => {
            match args.json {
                true => outln!("{}", json!({ "agree": true, "suspects": [] }))?,
                false => outln!("rtl and model agree in this case: there is no cause to find")?,
            }
            return Ok(Verdict::Agree);
        }
        suspects => suspects.map_err(CliError::of)?,
    };
    let shown = &suspects[..suspects.len().min(args.count as usize)];
    if args.json {
        outln!("{}", json!({ "agree": false, "config": config.name, "suspects": shown }))?;
        return Ok(Verdict::Disagree);
    }
    out!("{}", cause::listed(shown, shown.len()))?;
    Ok(Verdict::Disagree)
}

fn score(args: &WaveCauseArgs, count: u32) -> Result<Verdict, CliError> {
    let config = machine::config(&point(&args.config, &args.set))?;
    let woven = woven(&configs::rtl_dir(), &config)?;
    let bar = bar(u64::from(count), "defects");
    let score = cause::score(&woven, args.seed, count as usize, |done| bar.set_position(done as u64));
    bar.finish_and_clear();
    let score: CauseScore = score.map_err(CliError::of)?;
    if args.json {
        let defects: Vec<_> = score
            .defects
            .iter()
            .map(|defect| {
                json!({
                    "file": defect.site.file, "line": defect.site.line, "module": defect.site.module,
                    "text": defect.site.text, "alteration": defect.alteration.to_string(),
                    "place": defect.line, "place_of_module": defect.module,
                    "place_by_distance": defect.line_by_distance, "suspects": defect.suspects,
                })
            })
            .collect();
        outln!(
            "{}",
            json!({
                "config": config.name, "seed": args.seed, "line_first": score.line(1), "line_in_3": score.line(3),
                "module_in_3": score.module(3), "defects": defects,
            })
        )?;
        return Ok(Verdict::Agree);
    }
    outln!("{} defects in configuration {}, seed {}", score.defects.len(), config.name, args.seed)?;
    outln!("  line first                {}", score.line(1))?;
    outln!("  line in the first 3       {}", score.line(3))?;
    outln!("  module in the first 3     {}", score.module(3))?;
    outln!("of those that no single alteration mends")?;
    outln!("  line first                {}", score.line_without_inverse(1))?;
    outln!("  line in the first 3       {}", score.line_without_inverse(3))?;
    outln!("by distance in the data flow, without alterations")?;
    outln!("  line first                {}", score.line_by_distance(1))?;
    outln!("  line in the first 3       {}", score.line_by_distance(3))?;
    Ok(Verdict::Agree)
}
