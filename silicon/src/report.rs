//! Report about a capture: verdicts of the oracle, differences from the replay, answers to the questions, and
//! timing.

use atoms_model::MemoryPort;
use serde::Serialize;

use crate::answer::Answered;
use crate::capture::{Capture, CaptureHeader, ProgramOutcome};
use crate::experiment;
use crate::judge::{self, RefusedAnswer, ReplayDifference};
use crate::program::Reading;
use crate::replay;
use crate::times::{self, Fit, MeasuredTime};

/// Number of findings kept per program. Further findings are only counted.
const KEPT: usize = 3;

#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct CaptureReport {
    /// GPU, driver and date of the capture.
    pub header: CaptureHeader,
    /// True if the capture has its last line, so that the run was not cut off.
    pub complete: bool,
    /// Reason why the run stopped early. `None` if every program was attempted.
    pub stopped: Option<String>,
    /// Numbers of programs by outcome.
    pub programs: OutcomeCounts,
    /// Numbers of accepted, undecided and refused steps, and the findings of the oracle.
    pub oracle: Judged,
    /// Result of the replay. `None` if no replay was made.
    pub replayed: Option<ReplayResult>,
    pub answers: Vec<Answered>,
    pub timings: Vec<MeasuredTime>,
    pub fits: Vec<Fit>,
}

/// Numbers of programs by outcome.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct OutcomeCounts {
    pub answered: u64,
    /// Number of programs that were not run.
    pub skipped: u64,
    /// Name of each program that failed or hung, with the reason.
    pub failed: Vec<(String, String)>,
}

/// Verdicts of the oracle about a capture.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Judged {
    pub accepted: u64,
    /// Number of steps that the oracle cannot decide.
    pub open: u64,
    /// Number of steps that contradict the specification as this project reads it.
    pub refused: u64,
    /// First refused answers of each program.
    pub findings: Vec<OracleFinding>,
    /// Answers that differ from the specification in cases that PTX leaves undefined.
    pub undefined: Vec<OracleFinding>,
}

/// Answer of a program that contradicts a clause.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct OracleFinding {
    pub program: String,
    #[serde(flatten)]
    pub refusal: RefusedAnswer,
}

/// Result of a replay of the captured programs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct ReplayResult {
    /// Number of steps compared bit for bit: those whose outcome the specification determines.
    pub compared: u64,
    pub different: u64,
    /// First differences of each program, with the captured value and the value of the replay.
    pub differences: Vec<ReplayDifference>,
    /// Name of each program that could not be replayed, with the reason.
    pub failed: Vec<(String, String)>,
}

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
            let why = format!(
                "the program has {} launches, but the capture has {} outputs",
                record.program.launches.len(),
                outputs.len()
            );
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

/// Replays the programs of a capture for the same architecture, and compares the determined values. `ports`
/// makes the memory port, and is called again after each program that fails. `progress` receives the number
/// of programs done.
///
/// # Errors
/// Errors of `ports`.
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
    pub fn agrees(&self) -> bool {
        let replayed = self.replayed.as_ref().is_none_or(|r| r.different == 0 && r.failed.is_empty());
        self.oracle.refused == 0 && replayed
    }
}
