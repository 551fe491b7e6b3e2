//! Turns captured outputs into a few lines of text for each question.

use serde::Serialize;

use crate::instruction::LaneResult;
use crate::observe::Observed;
use crate::program::{Clock, Contention, LANES, ProgramStep};
use crate::programs::timing::WAYS;
use crate::times::MeasuredTime;

/// Question and the answer of the GPU.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Answered {
    pub asks: String,
    /// Clauses of the specification that the question is about.
    pub clauses: Vec<String>,
    /// Lines of the answer.
    pub answer: Vec<String>,
}

pub(crate) fn timed(timings: &[MeasuredTime]) -> impl Iterator<Item = Answered> {
    TIMED.iter().filter_map(|question| question.answered(timings))
}

/// Returns the answer lines for an experiment about phases: if the phase has completed, according to the
/// `test_wait` in step `step`; then the lines of [`objects`] from this step on.
pub(crate) fn phase_completes(steps: &[ProgramStep], case: &[Observed], step: usize) -> Vec<String> {
    let Some(asked) = case.get(step) else { return Vec::new() };
    let verdict = if asked.result[0] == 1 { "the phase completes" } else { "the phase does not complete" };
    std::iter::once(verdict.into()).chain(objects(steps, &case[step..])).collect()
}

/// Returns one answer line per step: the result of lane 0, or after `mbarrier.inval` the 64 bits of the
/// mbarrier object in memory.
pub(crate) fn objects(steps: &[ProgramStep], case: &[Observed]) -> Vec<String> {
    let line = |observed: &Observed| {
        let ProgramStep { instruction, answer, .. } = &steps[observed.step];
        let value = match answer {
            LaneResult::Nothing if instruction == "mbarrier.inval" => {
                format!("{:#018x} in memory", observed.value(&observed.after, 0, 8))
            }
            LaneResult::Nothing => return None,
            LaneResult::Register => format!("{:#018x}", observed.result[0]),
            LaneResult::Predicate => format!("{}", observed.result[0] == 1),
        };
        Some(format!("step {}, {instruction}: {value}", observed.step))
    };
    case.iter().filter_map(line).collect()
}

/// Returns one answer line per step, from step 2 on: the mbarrier states that the first two active lanes and
/// the last one received.
pub(crate) fn states(_: &[ProgramStep], case: &[Observed]) -> Vec<String> {
    let of = |observed: &Observed| {
        let state = |lane: usize| format!("lane {lane} {:#018x}", observed.result[lane]);
        let lanes: Vec<usize> = observed.lanes().collect();
        let shown = lanes.iter().take(2).chain(lanes.iter().skip(2).last());
        format!("step {}: {}", observed.step, shown.map(|lane| state(*lane)).collect::<Vec<_>>().join(", "))
    };
    case.iter().skip(2).map(of).collect()
}

/// Returns one answer line per step: bytes 0 to 15 of memory after several lanes have stored to one word.
/// Lane `n` stores the value `n + 1`.
pub(crate) fn last_stores(_: &[ProgramStep], case: &[Observed]) -> Vec<String> {
    let stayed = |observed: &Observed| {
        let bytes: Vec<u8> = observed.after.iter().take(4).flat_map(|word| word.to_le_bytes()).collect();
        format!("step {}: bytes 0 to 15 are {bytes:?} (lane n stores n + 1)", observed.step)
    };
    case.iter().map(stayed).collect()
}

/// Returns one answer line per step and address: the order in which the lanes were served. For an exchange,
/// each lane receives the operand of the lane before. For additions of distinct powers of two, a later lane
/// receives a sum with more bits set.
pub(crate) fn order(_: &[ProgramStep], case: &[Observed]) -> Vec<String> {
    let of = |observed: &Observed| {
        let mut places: Vec<u32> = observed.lanes().map(|lane| observed.asked.offset[lane]).collect();
        places.sort_unstable();
        places.dedup();
        let of_place = |offset: &u32| {
            let order = chain(observed).unwrap_or_else(|| {
                let mut lanes: Vec<usize> =
                    observed.lanes().filter(|l| observed.asked.offset[*l] == *offset).collect();
                lanes.sort_by_key(|lane| observed.result[*lane].count_ones());
                lanes
            });
            format!("step {}, offset {offset:#x}: lanes in order {}", observed.step, runs(&order))
        };
        places.iter().map(of_place).collect::<Vec<_>>()
    };
    case.iter().flat_map(of).collect()
}

/// Returns all lanes of an exchange in the order in which they were served: the first lane receives the old
/// value in memory, each further lane the operand of the lane before. Returns `None` if the received values
/// do not fit any order.
fn chain(observed: &Observed) -> Option<Vec<usize>> {
    let mut got = observed.value(&observed.before, 0, 4);
    let mut chain = Vec::new();
    while chain.len() < LANES {
        let next = observed.lanes().find(|lane| observed.result[*lane] == got && !chain.contains(lane))?;
        chain.push(next);
        got = observed.asked.b[next];
    }
    Some(chain)
}

/// Formats lane numbers as ascending and descending ranges: `0..15, 31..16`.
fn runs(lanes: &[usize]) -> String {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for lane in lanes {
        match runs.last_mut() {
            Some((first, last)) if *lane == *last + 1 && *first <= *last => *last = *lane,
            Some((first, last)) if *lane + 1 == *last && *first >= *last => *last = *lane,
            _ => runs.push((*lane, *lane)),
        }
    }
    let one = |(first, last): &(usize, usize)| {
        if first == last { format!("{first}") } else { format!("{first}..{last}") }
    };
    runs.iter().map(one).collect::<Vec<_>>().join(", ")
}

struct Timed {
    asks: &'static str,
    clauses: &'static [&'static str],
    answer: fn(&[MeasuredTime]) -> Option<Vec<String>>,
}

impl Timed {
    fn answered(&self, timings: &[MeasuredTime]) -> Option<Answered> {
        let answer = (self.answer)(timings)?;
        let clauses = self.clauses.iter().map(ToString::to_string).collect();
        Some(Answered { asks: self.asks.into(), clauses, answer })
    }
}

fn each(timings: &[MeasuredTime], of: &str, contention: Contention) -> Option<f64> {
    timings.iter().find(|t| t.of == of && t.contention == contention && t.warps == 1).map(|t| t.each)
}

/// Returns the time per operation of the instruction `of` for each number of lanes in [`WAYS`]. `family`
/// makes the contention from a number of lanes. Returns `None` if a time is missing.
fn series(timings: &[MeasuredTime], of: &str, family: fn(u32) -> Contention) -> Option<Vec<f64>> {
    WAYS.iter().map(|n| each(timings, of, family(*n))).collect()
}

fn listed(cycles: &[f64]) -> String {
    cycles.iter().map(|c| format!("{c:.1}")).collect::<Vec<_>>().join(" ")
}

const TIMED: &[Timed] = &[
    Timed {
        asks: "how many lanes of a CAST.SPIN loop store per iteration: one per word or one per bank",
        clauses: &["5.1", "5.2", "5.3"],
        answer: |timings| {
            let mut lines = Vec::new();
            for of in ["atom.add.f32 latency", "atom.add.u64 latency"] {
                let word = series(timings, of, Contention::OneWord)?;
                let bank = series(timings, of, Contention::OneBank)?;
                let apart = series(timings, of, Contention::Apart)?;
                lines.push(format!("{of}, cycles for 1 2 4 8 16 32 lanes:"));
                lines.push(format!(
                    "  on one word {}, in one bank {}, in separate banks {}",
                    listed(&word),
                    listed(&bank),
                    listed(&apart)
                ));
                // If one lane stores per iteration of the retry loop, 8 lanes need 8 iterations.
                let trips = |cycles: &[f64]| cycles[3] / cycles[0].max(1.0);
                lines.push(format!(
                    "  8 lanes on one word take {:.1} times as long as 1 lane, in one bank {:.1} times: {}",
                    trips(&word),
                    trips(&bank),
                    if trips(&bank) > 4.0 {
                        "one lane of a bank stores per iteration"
                    } else {
                        "lanes of one bank store in the same iteration"
                    }
                ));
            }
            Some(lines)
        },
    },
    Timed {
        asks: "how many cycles does each further lane on one word or in one bank cost",
        clauses: &["4.1", "4.3"],
        answer: |timings| {
            let of = "atom.add.u32 latency";
            let slope = |family: fn(u32) -> Contention| {
                series(timings, of, family).map(|c| ((c[5] - c[0]) / 31.0, listed(&c)))
            };
            let (word, words) = slope(Contention::OneWord)?;
            let (bank, banks) = slope(Contention::OneBank)?;
            Some(vec![
                format!("{of}, on one word: {words} cycles, {word:.2} for each further lane"),
                format!("{of}, in one bank: {banks} cycles, {bank:.2} for each further lane"),
            ])
        },
    },
    Timed {
        asks: "are 32 lanes that add the constant 1 to one word merged (POPC.INC)",
        clauses: &["3"],
        answer: |timings| {
            let of = |of: &str| each(timings, of, Contention::PerWord(32));
            let (one, variable) = (of("red.add.u32 of 1 throughput")?, of("red.add.u32 throughput")?);
            let apart = each(timings, "red.add.u32 throughput", Contention::Apart(32))?;
            Some(vec![format!(
                "constant 1: {one:.1} cycles, a variable: {variable:.1}, separate words: {apart:.1}; {}",
                if one < variable / 2.0 { "merged" } else { "not merged, or both merged" }
            )])
        },
    },
    Timed {
        asks: "after which time does try_wait time out",
        clauses: &["6.10"],
        answer: |timings| {
            let waits: Vec<String> = timings
                .iter()
                .filter(|t| t.clock == Clock::Nanoseconds)
                .map(|t| format!("{}: {:.0} ns (+- {:.0})", t.of, t.each, t.spread))
                .collect();
            (!waits.is_empty()).then_some(waits)
        },
    },
];
