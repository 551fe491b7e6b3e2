//! `atoms check`: the oracle over a recorded trace, or over a capture of a GPU.

use std::fs::File;
use std::io::{BufRead, BufReader, stdin};
use std::path::Path;

use atoms_cosim::trace::RecordedWave;
use atoms_record::{TraceSummary, check_trace};
use atoms_silicon::capture::looks_like_capture;
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::CheckArgs;
use crate::machine::{self, shell};
use crate::output::error::{CliError, Verdict, message};
use crate::output::progress::grouped;
use crate::output::{outln, print_json, print_lines};
use crate::silicon;

#[derive(Serialize, JsonSchema)]
pub(crate) struct CheckResult<'a> {
    accepted: bool,
    #[serde(flatten)]
    summary: Option<&'a TraceSummary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wave: Option<&'a Path>,
}

pub(crate) fn check(args: &CheckArgs) -> Result<Verdict, CliError> {
    let (name, from_stdin) = (args.trace.display(), args.trace == Path::new("-"));
    let mut files = machine::files();
    files.reads("the trace", &args.trace);
    if let Some(wave) = &args.wave {
        files.writes_wave("--trace", wave);
        if from_stdin || args.trace.exists() && !args.trace.is_file() {
            return Err(message!("--trace: `{name}` must be a file, because it is read more than once"));
        }
    }
    files.check()?;
    let mut reader: Box<dyn BufRead> = if from_stdin {
        Box::new(BufReader::new(stdin()))
    } else {
        Box::new(BufReader::new(File::open(&args.trace).map_err(CliError::reading(&args.trace))?))
    };
    if looks_like_capture(reader.fill_buf().map_err(CliError::reading(&args.trace))?) {
        if args.wave.is_some() {
            return Err(message!("--trace: `{name}` is a capture of a GPU; a wave needs a recorded trace"));
        }
        return silicon::check(&args.trace, reader, args.json);
    }
    let judged = check_trace(reader);
    let wave = args.wave.as_deref();
    let written = wave.map(|wave| RecordedWave::write(&args.trace, wave, judged.as_ref().err())).transpose();
    match &judged {
        Err(error) if !error.is_verdict() => return Err(message!("{name}: {error}")),
        judged if args.json => print_json(&CheckResult {
            accepted: judged.is_ok(),
            summary: judged.as_ref().ok(),
            reason: judged.as_ref().err().map(ToString::to_string),
            wave: wave.filter(|_| written.is_ok()),
        })?,
        Ok(summary) => {
            let TraceSummary { requests, lanes, faults, final_words, wakes, unseen, .. } = *summary;
            let [requests, lanes, faults, words] = [requests, lanes, faults, final_words].map(grouped);
            outln!(
                "{name}: accepted; {requests} requests, {lanes} lanes, {faults} faults, {words} words at the end"
            )?;
            if wakes > 0 {
                outln!("  {} wake-ups", grouped(wakes))?;
            }
            if unseen > 0 {
                outln!("  {} requests have no record of the words that they wrote", grouped(unseen))?;
            }
        }
        Err(error) => outln!("{name}: rejected; {error}")?,
    }
    if let Some((wave, written)) = wave.zip(written?).filter(|_| !args.json) {
        print_lines(&written.lines(&shell(wave)))?;
    }
    Ok(if judged.is_ok() { Verdict::Agree } else { Verdict::Disagree })
}
