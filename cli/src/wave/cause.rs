//! `atoms wave cause`: the RTL lines that most likely cause a failure.

use std::path::Path;

use atoms_cosim::case::Case;
use atoms_cosim::embedded::rtl_dir;
use atoms_faults::build::SchemataRtl;
use atoms_faults::cause::{self, CauseError, CauseSuspect};
use atoms_regress::triage::repro::Bundle;
use atoms_stimulus::configs::NamedConfig;
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::wave::WaveCauseArgs;
use crate::cosim;
use crate::machine;
use crate::output::error::{CliError, Verdict, message};
use crate::output::progress::build_step;
use crate::output::{out, outln, print_json};
use crate::regress::repro::BundleRtl;

pub(crate) fn cause(args: &WaveCauseArgs) -> Result<Verdict, CliError> {
    match (&args.bundle, &args.case) {
        (Some(folder), _) => {
            let bundle = Bundle::read(folder)?;
            let rtl = BundleRtl::choose(&args.rtl, &bundle)?;
            if !args.json {
                rtl.print(&bundle)?;
            }
            let case = bundle.case.clone().ok_or_else(|| {
                message!(
                    "`{}` has no minimized case; the search for causes needs one, to run it on mutants",
                    folder.display()
                )
            })?;
            let schemata = schemata(&rtl.folder, &bundle.config)?;
            Ok(rtl.verdict(of_case(args, &schemata, Some(&case), Some(&rtl))?))
        }
        (None, Some(path)) => {
            let case = cosim::case(path)?;
            of_case(args, &schemata(&rtl_dir(), &machine::config(&case.config)?)?, Some(&case), None)
        }
        (None, None) => {
            let campaign = cosim::campaign(&args.random, machine::config(&args.point.name())?)?;
            let schemata = schemata(&rtl_dir(), &campaign.config)?;
            let case = cause::failing_case(&schemata, &campaign)?;
            of_case(args, &schemata, case.as_ref(), None)
        }
    }
}

fn schemata(dir: &Path, config: &NamedConfig) -> Result<SchemataRtl, CliError> {
    SchemataRtl::build(dir, config, &mut build_step).map_err(|error| CliError::about(&config.name, error))
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct WaveCauseResult<'c> {
    agree: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    config: Option<&'c str>,
    suspects: &'c [CauseSuspect],
    #[serde(skip_serializing_if = "Option::is_none")]
    bundle_rtl_ran: Option<bool>,
}

fn of_case(
    args: &WaveCauseArgs,
    schemata: &SchemataRtl,
    case: Option<&Case>,
    rtl: Option<&BundleRtl>,
) -> Result<Verdict, CliError> {
    let bundle_rtl_ran = rtl.map(|rtl| rtl.is_of_bundle);
    let suspects = match case.map(|case| cause::list(schemata, case)) {
        None | Some(Err(CauseError::Agrees)) => {
            match args.json {
                true => {
                    print_json(&WaveCauseResult { agree: true, config: None, suspects: &[], bundle_rtl_ran })?
                }
                false => outln!("RTL and model agree: there is no cause to find")?,
            }
            return Ok(Verdict::Agree);
        }
        Some(suspects) => suspects?,
    };
    let shown = &suspects[..suspects.len().min(args.count as usize)];
    if args.json {
        let config = Some(schemata.config.name.as_str());
        print_json(&WaveCauseResult { agree: false, config, suspects: shown, bundle_rtl_ran })?;
        return Ok(Verdict::Disagree);
    }
    out!("{}", cause::listed(shown, shown.len()))?;
    Ok(Verdict::Disagree)
}
