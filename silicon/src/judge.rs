//! Checks the outputs of launches with the oracle.

use atoms_ops::{Op, Size};
use atoms_oracle::{Allocation, Checker, Rejection, Response, SerialRequest, lanes_commute, order_exists};
use serde::Serialize;

use crate::instruction::{LaneResult, Meaning};
use crate::observe::{self, Observed, geometry, reach};
use crate::program::{LANES, ProgramStep, Steps};
use crate::value::{Update, ValueType};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judgement {
    pub accepted: u64,
    /// Number of steps for which the oracle cannot decide if the answer is correct.
    pub open: u64,
    /// Answers that contradict the specification as this project reads it.
    pub refused: Vec<RefusedAnswer>,
}

/// Answer that contradicts a clause.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct RefusedAnswer {
    pub case: usize,
    pub step: usize,
    pub instruction: String,
    /// Clause, such as `spec 4.5`.
    pub clause: String,
    pub text: String,
}

/// First architecture with mbarrier objects as in spec 6.2. Earlier objects have two words, and compilers
/// emit code around them that no single operation of the unit matches.
const OBJECTS_SINCE: u32 = 90;

/// Checks every case of a launch on architecture `arch`.
///
/// # Errors
/// Wrong size of the input or output.
pub fn judge(steps: &Steps, arch: u32, input: &[u8], output: &[u8]) -> Result<Judgement, String> {
    let mut judgement = Judgement::default();
    for (number, case) in observe::cases(steps, input, output)?.iter().enumerate() {
        let mut checker = Checker::new(geometry(steps.words));
        checker.set_allocation(0, Some(Allocation { base_row: 0, size_bytes: 4 * steps.words, rank: 0 }));
        for observed in case {
            let step = &steps.steps[observed.step];
            // Each step starts from the captured memory, not from the oracle's result of the previous step.
            // Live mbarrier objects cannot be read back from a GPU, so the oracle keeps its own values for
            // them.
            observed.known_before().for_each(|(word, value)| checker.set_word(word, value));
            match one(&mut checker, step, arch, observed) {
                Verdict::Accepted => judgement.accepted += 1,
                Verdict::Open => judgement.open += 1,
                Verdict::Refused { clause, text } => {
                    judgement.refused.push(RefusedAnswer {
                        case: number,
                        step: observed.step,
                        instruction: step.instruction.clone(),
                        clause,
                        text,
                    });
                    // The value of the mbarrier object is unknown after a refused step.
                    if observed.is_of_objects() {
                        break;
                    }
                }
            }
        }
    }
    Ok(judgement)
}

enum Verdict {
    Accepted,
    Open,
    Refused { clause: String, text: String },
}

fn refused(clause: &str, text: String) -> Verdict {
    Verdict::Refused { clause: clause.into(), text }
}

fn strayed((word, got): (u32, u32)) -> (&'static str, String) {
    ("spec 2.4", format!("word {word} changed to {got:#x}, but no lane addresses it"))
}

fn one(checker: &mut Checker, step: &ProgramStep, arch: u32, observed: &Observed) -> Verdict {
    let of_objects = matches!(step.meaning, Meaning::Init | Meaning::PendingCount)
        || matches!(step.meaning, Meaning::Unit { op, .. } if op.is_mbarrier());
    if of_objects && arch < OBJECTS_SINCE {
        return Verdict::Open;
    }
    let silent = |lane: &usize| !observed.asked.active[*lane] || step.answer == LaneResult::Nothing;
    if let Some(lane) = (0..LANES).filter(silent).find(|lane| observed.result[*lane] != 0) {
        return refused(
            "spec 2.6",
            format!("lane {lane} received {:#x}, but must receive no result", observed.result[lane]),
        );
    }
    match step.meaning {
        Meaning::Loop { update, value } => match explain_loop(step, update, value, observed) {
            Ok(()) => Verdict::Accepted,
            Err((clause, text)) => refused(clause, text),
        },
        Meaning::PendingCount => pending_count(observed),
        Meaning::Unit { .. } | Meaning::Init => {
            let Some((request, response)) = observed.request(step) else { return Verdict::Open };
            let (bytes, reads) = reach(&request);
            let written = observed.written(bytes, reads);
            let verdict = if observed.is_of_objects() {
                if let Some(stray) = written.first() {
                    let (clause, text) = strayed(*stray);
                    return refused(clause, text);
                }
                checker.request(&request, &response, None).and_then(|()| released(checker, observed))
            } else {
                checker.request(&request, &response, Some(&written))
            };
            match verdict {
                Ok(()) => Verdict::Accepted,
                Err(rejection) if rejection.is_undecided() => Verdict::Open,
                Err(rejection) => refused(rejection.clause(), rejection.to_string()),
            }
        }
    }
}

/// Checks the objects that `mbarrier.inval` released. Their words are now plain memory, so a load by the same
/// lanes must return the oracle's value of the object.
fn released(checker: &mut Checker, observed: &Observed) -> Result<(), Rejection> {
    let is_released = |lane: &usize| observed.is_released(observed.asked.offset[*lane] / 4);
    let lanes: Vec<usize> = observed.lanes().filter(is_released).collect();
    if lanes.is_empty() {
        return Ok(());
    }
    let load = SerialRequest {
        op: Op::Load as u8,
        size: Size::U64 as u8,
        mask: lanes.iter().fold(0, |mask, lane| mask | 1 << lane),
        ra: observed.asked.offset,
        ..SerialRequest::default()
    };
    let mut response = Response::default();
    for lane in lanes {
        response.rd[lane] = observed.value(&observed.after, lane, 8);
    }
    checker.request(&load, &response, Some(&[]))
}

/// Checks the results of `mbarrier.pending_count`: the count is in bits 62:43 of the state operand (spec
/// 6.6).
fn pending_count(observed: &Observed) -> Verdict {
    for lane in observed.lanes() {
        let (state, count) = (observed.asked.b[lane], observed.result[lane]);
        let pending = (1u128 << 20).wrapping_sub(state >> 43 & 0xf_ffff) & 0xf_ffff;
        if count != pending {
            let text = format!(
                "lane {lane}: the state {state:#018x} has {pending} pending arrivals, but the count is {count}"
            );
            return refused("spec 6.6", text);
        }
    }
    if observed.written(0, true).is_empty() {
        Verdict::Accepted
    } else {
        refused("spec 6.3", "pending_count changed memory".into())
    }
}

/// Checks for each address that some order of the lanes explains the results and the final memory of a retry
/// loop (spec 4.5, 7.2).
fn explain_loop(
    step: &ProgramStep,
    update: Update,
    value: ValueType,
    observed: &Observed,
) -> Result<(), (&'static str, String)> {
    let bytes = value.bytes();
    let stray = observed.written(0, true).into_iter().find(|(word, _)| !observed.names(*word, bytes));
    if let Some(stray) = stray {
        return Err(strayed(stray));
    }
    let mut done = [false; LANES];
    for first in observed.lanes() {
        if done[first] {
            continue;
        }
        let here: Vec<usize> =
            observed.lanes().filter(|l| observed.asked.offset[*l] == observed.asked.offset[first]).collect();
        here.iter().for_each(|lane| done[*lane] = true);
        let before = observed.value(&observed.before, first, bytes);
        let after = observed.value(&observed.after, first, bytes);
        let low = |n: u128| n as u64;
        let updated = |lane: usize, old: u128| {
            u128::from(value.updated(
                update,
                low(old),
                low(observed.asked.b[lane]),
                low(observed.asked.c[lane]),
            ))
        };
        let at = format!("offset {:#x}", observed.asked.offset[first]);
        let explained = match (&here[..], step.answer) {
            // A single lane may have any float operand. PTX does not fix the bits of a NaN, so the comparison
            // ignores them.
            ([lane], answer) => {
                let (got, left) = (observed.result[*lane], updated(*lane, before));
                if answer == LaneResult::Register && got != before {
                    Err(format!("lane {lane} received {got:#x}, but memory held {before:#x}"))
                } else if value.canonical(low(left)) != value.canonical(low(after)) {
                    Err(format!("lane {lane} must store {left:#x}, but memory holds {after:#x}"))
                } else {
                    Ok(())
                }
            }
            (lanes, LaneResult::Register) => {
                let edges: Vec<_> = lanes
                    .iter()
                    .map(|l| (*l, observed.result[*l], updated(*l, observed.result[*l])))
                    .collect();
                order_exists(before, &edges, after)
            }
            // Without results, every order of the lanes leaves the same memory, because only operands that
            // commute were drawn.
            (lanes, _) => {
                let left = lanes.iter().fold(before, |old, lane| updated(*lane, old));
                if left == after {
                    Ok(())
                } else {
                    Err(format!("every order of the lanes leaves {left:#x}, but memory holds {after:#x}"))
                }
            }
        };
        explained.map_err(|text| ("spec 4.5", format!("{at}: {text}")))?;
    }
    Ok(())
}

/// Parts of a step that the specification determines for every order of the lanes. Two implementations must
/// agree on these parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Determined {
    pub results: bool,
    pub memory: bool,
}

pub fn determined(step: &ProgramStep, observed: &Observed) -> Determined {
    let (bytes, commutes, reads) = match step.meaning {
        Meaning::Unit { op, size } => (size.bytes(), lanes_commute(op), op.only_reads()),
        Meaning::Init => (8, false, false),
        Meaning::PendingCount => (0, true, true),
        Meaning::Loop { update, value } => (value.bytes(), update != Update::Cas, false),
    };
    let lanes: Vec<usize> = observed.lanes().collect();
    let overlap =
        |a: &usize, b: &usize| observed.asked.offset[*a].abs_diff(observed.asked.offset[*b]) < bytes;
    let meet = lanes.iter().enumerate().any(|(n, a)| lanes[..n].iter().any(|b| overlap(a, b)));
    let free = !meet || reads;
    Determined { results: free || step.answer == LaneResult::Nothing, memory: free || commutes }
}

/// Difference between the replay and a capture where the specification determines the value.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct ReplayDifference {
    pub program: String,
    pub case: usize,
    pub step: usize,
    pub instruction: String,
    pub what: String,
    /// Captured value, in hexadecimal.
    pub captured: String,
    /// Value of the replay, in hexadecimal.
    pub ours: String,
    /// True if PTX leaves the behaviour undefined.
    pub undefined: bool,
}

/// Replaces NaNs by one canonical NaN: their bits are not specified.
fn forget_bits(step: &ProgramStep, observed: &mut Observed) {
    if let Meaning::Loop { value, .. } = step.meaning {
        observed.after = value.canonical_words(&observed.after);
        observed.result = observed.result.map(|bits| value.canonical(bits as u64).into());
    }
}

/// Compares a captured output of `program` with the output of the replay. Each case is compared up to the
/// first step whose memory depends on the order of the lanes. Returns the number of compared steps, and the
/// first difference of each case.
///
/// # Errors
/// Wrong size of the input or output.
pub fn compare(
    program: &str,
    steps: &Steps,
    input: &[u8],
    captured: &[u8],
    ours: &[u8],
) -> Result<(u64, Vec<ReplayDifference>), String> {
    let read = |output: &[u8]| -> Result<Vec<Vec<Observed>>, String> {
        let mut cases = observe::cases(steps, input, output)?;
        cases.iter_mut().flatten().for_each(|observed| forget_bits(&steps.steps[observed.step], observed));
        Ok(cases)
    };
    let (captured, ours) = (read(captured)?, read(ours)?);
    let (mut compared, mut differences) = (0, Vec::new());
    for (case, (captured, ours)) in captured.iter().zip(&ours).enumerate() {
        for (theirs, own) in captured.iter().zip(ours) {
            let Determined { results, memory } = determined(&steps.steps[theirs.step], theirs);
            let difference = |what: String, captured: u128, ours: u128| {
                Some(ReplayDifference {
                    program: program.into(),
                    case,
                    step: theirs.step,
                    instruction: steps.steps[theirs.step].instruction.clone(),
                    what,
                    captured: format!("{captured:#x}"),
                    ours: format!("{ours:#x}"),
                    undefined: steps.undefined,
                })
            };
            let mut found = None;
            if results {
                let lane = (0..LANES).find(|lane| theirs.result[*lane] != own.result[*lane]);
                found =
                    lane.and_then(|l| difference(format!("rd of lane {l}"), theirs.result[l], own.result[l]));
            }
            if memory && found.is_none() {
                let seen = |word: &usize| !theirs.is_hidden_after(*word as u32);
                let word = (0..theirs.after.len()).filter(seen).find(|w| theirs.after[*w] != own.after[*w]);
                found = word.and_then(|w| {
                    difference(format!("word {w}"), theirs.after[w].into(), own.after[w].into())
                });
            }
            compared += u64::from(results || memory);
            let stop = found.is_some() || !memory;
            differences.extend(found);
            if stop {
                break;
            }
        }
    }
    Ok((compared, differences))
}
