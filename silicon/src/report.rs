//! What a capture says: how the oracle judges it, where our own runs differ from it, the answers to the questions, and
//! the timing.

use atoms_model::MemoryPort;
use serde::Serialize;

use crate::answer::Answered;
use crate::capture::{Capture, CaptureHeader, ProgramOutcome};
use crate::experiment;
use crate::judge::{self, RefusedAnswer, ReplayDifference};
use crate::program::Reading;
use crate::replay;
use crate::times::{self, Fit, MeasuredTime};

/// Findings that are kept of one program; the others are counted.
const KEPT: usize = 3;

#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct CaptureReport {
    /// On what it was made.
    pub header: CaptureHeader,
    /// Whether its last line is there.
    pub complete: bool,
    /// Why the run ended early, if it did.
    pub stopped: Option<String>,
    /// Programs by what came of them.
    pub programs: OutcomeCounts,
    /// What the oracle says.
    pub oracle: Judged,
    /// What our own runs say; nothing where none was made.
    pub replayed: Option<ReplayResult>,
    pub answers: Vec<Answered>,
    pub timings: Vec<MeasuredTime>,
    pub fits: Vec<Fit>,
}

/// Programs by what came of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct OutcomeCounts {
    pub answered: u64,
    /// Those that were not run.
    pub skipped: u64,
    /// Name of each that failed or hung, and why.
    pub failed: Vec<(String, String)>,
}

/// What the oracle says.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Judged {
    pub accepted: u64,
    /// Steps that it does not judge.
    pub open: u64,
    /// Steps that contradict the specification as we read it.
    pub refused: u64,
    /// Of each program the first of them.
    pub findings: Vec<OracleFinding>,
    /// Where PTX leaves open what happens, and it is not what the specification chooses.
    pub undefined: Vec<OracleFinding>,
}

/// An answer of a program that contradicts a clause.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct OracleFinding {
    pub program: String,
    #[serde(flatten)]
    pub refusal: RefusedAnswer,
}

/// What our own runs of the same programs say.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct ReplayResult {
    /// Steps compared bit for bit: those whose outcome the specification determines.
    pub compared: u64,
    pub different: u64,
    /// Of each program the first of them, with what was captured and what came out here.
    pub differences: Vec<ReplayDifference>,
    /// Programs that could not be run here, and why.
    pub failed: Vec<(String, String)>,
}

/// Judges a capture by the oracle, and reads answers and times from it.
pub fn judge(capture: &Capture) -> CaptureReport {
    let mut programs = OutcomeCounts::default();
    let mut oracle = Judged::default();
    for record in &capture.records {
        let name = &record.program.name;
        match &record.outcome {
            ProgramOutcome::Outputs(_) => programs.answered += 1,
            ProgramOutcome::Skipped(_) => programs.skipped += 1,
            ProgramOutcome::Failed(why) => programs.failed.push((name.clone(), why.clone())),
            ProgramOutcome::TimedOut(s) => {
                programs.failed.push((name.clone(), format!("still running after {s} s")))
            }
        }
        let outputs = record.outputs().unwrap_or_default();
        if record.outputs().is_some() && outputs.len() != record.program.launches.len() {
            let why = format!("{} launches, and {} outputs", record.program.launches.len(), outputs.len());
            programs.failed.push((name.clone(), why));
        }
        for (launch, output) in record.program.launches.iter().zip(outputs) {
            let Reading::Steps(steps) = &launch.reading else { continue };
            match judge::judge(steps, capture.header.device.arch(), &launch.input, output) {
                Err(why) => programs.failed.push((name.clone(), why)),
                Ok(judgement) => {
                    oracle.accepted += judgement.accepted;
                    oracle.open += judgement.open;
                    let findings = judgement.refused.iter().take(KEPT).cloned();
                    let findings = findings.map(|refusal| OracleFinding { program: name.clone(), refusal });
                    if steps.undefined {
                        oracle.undefined.extend(findings);
                    } else {
                        oracle.refused += judgement.refused.len() as u64;
                        oracle.findings.extend(findings);
                    }
                }
            }
        }
    }
    let timings = times::timings(capture);
    CaptureReport {
        header: capture.header.clone(),
        complete: capture.end.is_some(),
        stopped: capture.end.as_ref().and_then(|end| end.stopped.clone()),
        programs,
        oracle,
        replayed: None,
        answers: experiment::answers(capture, &timings),
        fits: times::fits(&timings),
        timings,
    }
}

/// Runs the programs of a capture here, compiled for the same architecture, and compares what is determined.
/// `ports` makes what stands behind the core, anew after each program that fails; `progress` is told how many programs
/// are done.
///
/// # Errors
/// Of `ports`.
pub fn replay<P: MemoryPort, E>(
    capture: &Capture,
    mut ports: impl FnMut() -> Result<P, E>,
    mut progress: impl FnMut(usize),
) -> Result<ReplayResult, E> {
    let mut port = ports()?;
    let arch = replay::arch(capture.header.device.arch());
    let mut replayed = ReplayResult::default();
    for (done, record) in capture.records.iter().enumerate() {
        progress(done);
        let program = &record.program;
        let steps = |reading: &Reading| matches!(reading, Reading::Steps(_));
        let Some(outputs) = record.outputs().filter(|_| program.launches.iter().all(|l| steps(&l.reading)))
        else {
            continue;
        };
        let ours = match replay::run(program, arch, &mut port) {
            Ok(ours) => ours,
            Err(error) => {
                replayed.failed.push((program.name.clone(), crate::causes(&error)));
                port = ports()?;
                continue;
            }
        };
        for ((launch, output), ours) in program.launches.iter().zip(outputs).zip(&ours) {
            let Reading::Steps(steps) = &launch.reading else { continue };
            let Ok((compared, differences)) =
                judge::compare(&program.name, steps, &launch.input, output, ours)
            else {
                continue;
            };
            replayed.compared += compared;
            replayed.different += if steps.undefined { 0 } else { differences.len() as u64 };
            replayed.differences.extend(differences.into_iter().take(KEPT));
        }
    }
    Ok(replayed)
}

impl CaptureReport {
    /// Whether nothing contradicts the specification or our own runs.
    pub fn agrees(&self) -> bool {
        let replayed = self.replayed.as_ref().is_none_or(|r| r.different == 0 && r.failed.is_empty());
        self.oracle.refused == 0 && replayed
    }
}
