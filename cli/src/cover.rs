//! `atoms cover`: coverage of several regressions together.

use atoms_cosim::embedded::rtl_dir;
use atoms_regress::report;
use atoms_regress::report::cover::cover as covered;

use crate::args::CoverArgs;
use crate::machine;
use crate::output::error::{CliError, Verdict, message};
use crate::output::{out, outln};

pub(crate) fn cover(args: &CoverArgs) -> Result<Verdict, CliError> {
    let mut files = machine::files();
    for run in &args.runs {
        files.reads("a regression", run);
    }
    let outputs = [("--lcov", &args.lcov), ("--yaml", &args.yaml)];
    for (name, path) in outputs.iter().filter_map(|(name, path)| Some((*name, path.as_ref()?))) {
        files.writes(name, path);
    }
    files.check()?;
    let rtl_dir = rtl_dir();
    let found = covered(&args.runs, &rtl_dir)?;
    if let Some(path) = &args.lcov {
        if found.rtl.is_empty() {
            return Err(message!("--lcov: none of the runs counted lines of the RTL (rtl_coverage)"));
        }
        let mut text = Vec::new();
        found.rtl.lcov(&rtl_dir, &mut text).map_err(CliError::writing(path))?;
        std::fs::write(path, text).map_err(CliError::writing(path))?;
    }
    if let Some(path) = &args.yaml {
        let mut text = Vec::new();
        found.summary.coverage.cocotb_yaml(&mut text).map_err(CliError::writing(path))?;
        std::fs::write(path, text).map_err(CliError::writing(path))?;
    }
    if args.json {
        outln!("{}", report::json::pretty(&found.summary))?;
    } else {
        out!("{}", report::text::deterministic(&found.summary))?;
    }
    Ok(Verdict::of_regression(&found.summary))
}
