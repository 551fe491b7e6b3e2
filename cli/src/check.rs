//! `atoms check`: the oracle over a recorded trace, or over a capture of a GPU.

use std::fs::File;
use std::io::{BufRead, BufReader, stdin};
use std::path::Path;

use atoms_record::{TraceSummary, check_trace};
use atoms_silicon::capture::looks_like_capture;
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::CheckArgs;
use crate::machine;
use crate::output::error::{CliError, Verdict, message};
use crate::output::progress::grouped;
use crate::output::{outln, print_json};
use crate::silicon;

#[derive(Serialize, JsonSchema)]
pub(crate) struct CheckResult<'a> {
    accepted: bool,
    #[serde(flatten)]
    summary: Option<&'a TraceSummary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

pub(crate) fn check(args: &CheckArgs) -> Result<Verdict, CliError> {
    machine::files().reads("the trace", &args.trace).check()?;
    let mut reader: Box<dyn BufRead> = if args.trace == Path::new("-") {
        Box::new(BufReader::new(stdin()))
    } else {
        Box::new(BufReader::new(File::open(&args.trace).map_err(CliError::reading(&args.trace))?))
    };
    if looks_like_capture(reader.fill_buf().map_err(CliError::reading(&args.trace))?) {
        return silicon::check(&args.trace, reader, args.json);
    }
    let name = args.trace.display();
    match check_trace(reader) {
        Ok(summary) => {
            if args.json {
                print_json(&CheckResult { accepted: true, summary: Some(&summary), reason: None })?;
            } else {
                outln!(
                    "{name}: accepted; {} requests, {} lanes, {} faults, {} words at the end",
                    grouped(summary.requests),
                    grouped(summary.lanes),
                    grouped(summary.faults),
                    grouped(summary.final_words),
                )?;
                if summary.wakes > 0 {
                    outln!("  {} wake-ups", grouped(summary.wakes))?;
                }
                if summary.unseen > 0 {
                    outln!(
                        "  {} requests have no record of the words that they wrote",
                        grouped(summary.unseen)
                    )?;
                }
            }
            Ok(Verdict::Agree)
        }
        Err(error) if error.is_verdict() => {
            if args.json {
                print_json(&CheckResult { accepted: false, summary: None, reason: Some(error.to_string()) })?;
            } else {
                outln!("{name}: rejected; {error}")?;
            }
            Ok(Verdict::Disagree)
        }
        Err(error) => Err(message!("{name}: {error}")),
    }
}
