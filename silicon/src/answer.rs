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

/// Says if the phase has completed, by the `test_wait` of a step. Also prints the object after each step that
/// invalidates it.
pub(crate) fn phase_completes(steps: &[ProgramStep], case: &[Observed], step: usize) -> Vec<String> {
    let Some(asked) = case.get(step) else { return Vec::new() };
    let verdict = if asked.result[0] == 1 { "the phase completes" } else { "the phase does not complete" };
    std::iter::once(verdict.into()).chain(objects(steps, &case[step..])).collect()
}

/// Prints the result of lane 0 of each step. Prints the object in memory after a step that invalidates it.
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

/// Prints, from step 2 on, the states that the first two lanes and the last lane received.
pub(crate) fn states(_: &[ProgramStep], case: &[Observed]) -> Vec<String> {
    let of = |observed: &Observed| {
        let state = |lane: usize| format!("lane {lane} {:#018x}", observed.result[lane]);
        let lanes: Vec<usize> = observed.lanes().collect();
        let shown = lanes.iter().take(2).chain(lanes.iter().skip(2).last());
        format!("step {}: {}", observed.step, shown.map(|lane| state(*lane)).collect::<Vec<_>>().join(", "))
    };
    case.iter().skip(2).map(of).collect()
}

/// Prints the bytes that remain after stores of several lanes to one place. The value of lane `n` is `n + 1`.
pub(crate) fn last_stores(_: &[ProgramStep], case: &[Observed]) -> Vec<String> {
    let stayed = |observed: &Observed| {
        let bytes: Vec<u8> = observed.after.iter().take(4).flat_map(|word| word.to_le_bytes()).collect();
        format!("step {}: bytes 0 to 15 are {bytes:?} (the value of lane n is n + 1)", observed.step)
    };
    case.iter().map(stayed).collect()
}

/// Prints the order in which lanes were served. For an exchange, the returned values form a chain. For
/// additions of distinct powers of two, a later lane receives a sum with more bits set.
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

/// Returns the lanes of an exchange in the order in which they were served. Returns `None` if the values do
/// not form a chain from the value before.
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

/// Times of one contention family, for each number of lanes in [`WAYS`].
fn series(timings: &[MeasuredTime], of: &str, family: fn(u32) -> Contention) -> Option<Vec<f64>> {
    WAYS.iter().map(|n| each(timings, of, family(*n))).collect()
}

fn listed(cycles: &[f64]) -> String {
    cycles.iter().map(|c| format!("{c:.1}")).collect::<Vec<_>>().join(" ")
}

const TIMED: &[Timed] = &[
    Timed {
        asks: "how many lanes of a CAST.SPIN loop win per trip, and per what are they selected: word or bank",
        clauses: &["5.1", "5.2", "5.3"],
        answer: |timings| {
            let mut lines = Vec::new();
            for of in ["atom.add.f32 latency", "atom.add.u64 latency"] {
                let word = series(timings, of, Contention::OneWord)?;
                let bank = series(timings, of, Contention::OneBank)?;
                let apart = series(timings, of, Contention::Apart)?;
                lines.push(format!("{of}, cycles for 1 2 4 8 16 32 lanes:"));
                lines.push(format!(
                    "  on one word {}, on one bank {}, apart {}",
                    listed(&word),
                    listed(&bank),
                    listed(&apart)
                ));
                // With one winner per round trip, 8 lanes need 8 trips.
                let trips = |cycles: &[f64]| cycles[3] / cycles[0].max(1.0);
                lines.push(format!(
                    "  8 lanes take {:.1} times as long as one on one word, {:.1} times on one bank: {}",
                    trips(&word),
                    trips(&bank),
                    if trips(&bank) > 4.0 {
                        "one lane of a bank wins per trip"
                    } else {
                        "lanes of one bank win together"
                    }
                ));
            }
            Some(lines)
        },
    },
    Timed {
        asks: "what does a further lane in a bank, and on a word, cost",
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
                "constant 1: {one:.1} cycles, a variable: {variable:.1}, apart: {apart:.1}; {}",
                if one < variable / 2.0 { "merged" } else { "not merged, or both are" }
            )])
        },
    },
    Timed {
        asks: "after how long does try_wait give up",
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
