//! Experiments for questions that only a real GPU can answer.

use crate::answer::{self, Answered};
use crate::capture::{Capture, ProgramOutcome, ProgramRecord};
use crate::instruction::TestInstruction;
use crate::observe::{self, Observed, word_of_count};
use crate::program::{LANES, ProgramStep, Reading, Spread, TestProgram};
use crate::programs::cases::{Asked, of_cases};
use crate::programs::draw::{DrawnCase, DrawnRequest, WORDS};
use crate::programs::kernel::Spelled;
use crate::times::MeasuredTime;

/// One instruction of an experiment: bit mask of the active lanes (bit = lane), byte offset and operand Rb of
/// each lane, and index of the step that returned the mbarrier state to use.
struct Line {
    instruction: &'static str,
    lanes: u32,
    offset: fn(usize) -> u32,
    b: fn(usize) -> u128,
    state_of: Option<usize>,
}

pub(crate) struct Experiment {
    pub(crate) name: &'static str,
    asks: &'static str,
    clauses: &'static [&'static str],
    since: u32,
    undefined: bool,
    lines: &'static [Line],
    pub(crate) answer: fn(&[ProgramStep], &[Observed]) -> Vec<String>,
}

const fn one(instruction: &'static str, b: fn(usize) -> u128) -> Line {
    Line { instruction, lanes: 1, offset: |_| 0, b, state_of: None }
}

/// Instruction that only lane 0 executes, on the mbarrier object at byte offset `offset`.
const fn at(offset: fn(usize) -> u32, instruction: &'static str, b: fn(usize) -> u128) -> Line {
    Line { offset, ..one(instruction, b) }
}

const INVAL: Line = one("mbarrier.inval", |_| 0);

const fn all(instruction: &'static str, offset: fn(usize) -> u32, b: fn(usize) -> u128) -> Line {
    Line { instruction, lanes: u32::MAX, offset, b, state_of: None }
}

const fn asked(instruction: &'static str, state_of: usize) -> Line {
    Line { instruction, lanes: 1, offset: |_| 0, b: |_| 0, state_of: Some(state_of) }
}

/// All experiments about behaviour; timed programs answer the questions about time. A run stops after three
/// programs in a row that leave the GPU unusable, so two experiments that may fault must not be adjacent.
pub(crate) const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "expect_tx to zero with nothing pending",
        asks: "does an expect_tx that brings the tx-count to 0 with nothing pending complete the phase",
        clauses: &["6.3", "6.4"],
        since: 90,
        undefined: true,
        lines: &[
            one("mbarrier.init", |_| 1),
            one("mbarrier.complete_tx.relaxed.cta", |_| 5),
            one("mbarrier.arrive", |_| 0),
            one("mbarrier.expect_tx.relaxed.cta", |_| 5),
            one("mbarrier.test_wait.parity", |_| 0),
            INVAL,
        ],
        answer: |steps, case| answer::phase_completes(steps, case, 4),
    },
    Experiment {
        name: "words of an object through two phases",
        asks: "what do the 64 bits of an mbarrier object contain, including bit 0 and the lock bit",
        clauses: &["6.2", "6.6"],
        since: 80,
        undefined: false,
        lines: &[
            one("mbarrier.init", |_| 3),
            one("mbarrier.arrive", |_| 0),
            one("mbarrier.arrive", |_| 0),
            one("mbarrier.arrive", |_| 0),
            one("mbarrier.arrive_drop", |_| 0),
            one("mbarrier.arrive.noComplete", |_| 1),
            asked("mbarrier.pending_count", 5),
            one("mbarrier.arrive", |_| 0),
            INVAL,
        ],
        answer: answer::objects,
    },
    Experiment {
        name: "a live object in memory",
        asks: "does a load return the bits of a live mbarrier object, and does a store change the object",
        clauses: &["6.9"],
        since: 90,
        undefined: true,
        lines: &[
            one("mbarrier.init", |_| 3),
            one("ld.b64", |_| 0),
            one("mbarrier.arrive", |_| 0),
            one("ld.b64", |_| 0),
            one("st.b64", |_| 0x1234),
            one("ld.b64", |_| 0),
            one("mbarrier.arrive", |_| 0),
            INVAL,
            one("ld.b64", |_| 0),
        ],
        answer: answer::objects,
    },
    Experiment {
        name: "an object after inval",
        asks: "does an operation on an invalidated mbarrier object use the bits in memory",
        clauses: &["6.9"],
        since: 90,
        undefined: true,
        lines: &[
            one("mbarrier.init", |_| 3),
            one("mbarrier.arrive", |_| 0),
            INVAL,
            one("mbarrier.arrive", |_| 0),
            INVAL,
            one("st.b64", |_| word_of_count(7)),
            one("mbarrier.arrive", |_| 0),
            INVAL,
        ],
        answer: answer::objects,
    },
    Experiment {
        name: "an arrive at a word that is no object",
        asks: "what does an arrive do at a word that was never initialized as an mbarrier object",
        clauses: &["6.9"],
        since: 90,
        undefined: true,
        lines: &[one("mbarrier.arrive", |_| 0), INVAL],
        answer: answer::objects,
    },
    Experiment {
        name: "tx-count in an object",
        asks: "how is the tx-count encoded in the 64 bits of an mbarrier object, also at its limits",
        clauses: &["6.1", "6.2"],
        since: 90,
        undefined: false,
        lines: &[
            one("mbarrier.init", |_| 2),
            one("mbarrier.expect_tx.relaxed.cta", |_| 1),
            INVAL,
            at(|_| 8, "mbarrier.init", |_| 2),
            at(|_| 8, "mbarrier.expect_tx.relaxed.cta", |_| (1 << 20) - 1),
            at(|_| 8, "mbarrier.inval", |_| 0),
            at(|_| 16, "mbarrier.init", |_| 2),
            at(|_| 16, "mbarrier.complete_tx.relaxed.cta", |_| 1),
            at(|_| 16, "mbarrier.inval", |_| 0),
            at(|_| 24, "mbarrier.init", |_| 2),
            at(|_| 24, "mbarrier.complete_tx.relaxed.cta", |_| (1 << 20) - 1),
            at(|_| 24, "mbarrier.arrive.count", |_| 2),
            at(|_| 24, "mbarrier.test_wait.parity", |_| 0),
            at(|_| 24, "mbarrier.inval", |_| 0),
        ],
        answer: answer::objects,
    },
    Experiment {
        name: "states of a noComplete arrive",
        asks: "which lanes are set in the TMASK word of a noComplete arrive, and which state does each get",
        clauses: &["6.6", "6.8"],
        since: 80,
        undefined: false,
        lines: &[
            one("mbarrier.init", |_| 100),
            at(|_| 8, "mbarrier.init", |_| 100),
            all("mbarrier.arrive.noComplete", |_| 0, |_| 1),
            all("mbarrier.arrive.noComplete", |lane| if lane < LANES / 2 { 0 } else { 8 }, |_| 2),
        ],
        answer: answer::states,
    },
    Experiment {
        name: "an arrive beyond pending",
        asks: "what happens to an mbarrier object with more arrivals than are pending",
        clauses: &["6.9"],
        since: 90,
        undefined: true,
        lines: &[
            one("mbarrier.init", |_| 2),
            one("mbarrier.arrive.count", |_| 3),
            one("mbarrier.test_wait.parity", |_| 0),
            one("mbarrier.arrive", |_| 0),
        ],
        answer: answer::objects,
    },
    Experiment {
        name: "a noComplete arrive that completes",
        asks: "does a noComplete arrive that brings pending to 0 complete the phase",
        clauses: &["6.9"],
        since: 80,
        undefined: true,
        lines: &[
            one("mbarrier.init", |_| 2),
            one("mbarrier.arrive.noComplete", |_| 2),
            one("mbarrier.test_wait.parity", |_| 0),
            INVAL,
        ],
        answer: |steps, case| answer::phase_completes(steps, case, 2),
    },
    Experiment {
        name: "a warp that arrives twice as often as expected",
        asks: "does one arrive of a warp complete two phases if the expected count is half the warp",
        clauses: &["6.3", "6.6"],
        since: 90,
        undefined: false,
        lines: &[
            one("mbarrier.init", |_| 16),
            all("mbarrier.arrive", |_| 0, |_| 0),
            one("mbarrier.test_wait.parity", |_| 0),
            INVAL,
        ],
        answer: answer::objects,
    },
    Experiment {
        name: "a tx-count beyond its limit",
        asks: "does the tx-count wrap beyond 2^20 - 1",
        clauses: &["6.1", "6.9"],
        since: 90,
        undefined: true,
        lines: &[
            one("mbarrier.init", |_| 1),
            one("mbarrier.expect_tx.relaxed.cta", |_| (1 << 20) - 1),
            one("mbarrier.expect_tx.relaxed.cta", |_| 1),
            INVAL,
        ],
        answer: answer::objects,
    },
    Experiment {
        name: "a warp that arrives once more than expected",
        asks: "does a warp complete a phase in the middle of one arrive",
        clauses: &["6.3", "6.6"],
        since: 90,
        undefined: false,
        lines: &[
            one("mbarrier.init", |_| 31),
            all("mbarrier.arrive", |_| 0, |_| 0),
            one("mbarrier.test_wait.parity", |_| 0),
            INVAL,
        ],
        answer: answer::objects,
    },
    Experiment {
        name: "stores to one word",
        asks: "which lane's value remains if all lanes store to one word, or to the bytes of one word",
        clauses: &["3.5"],
        since: 70,
        undefined: false,
        lines: &[
            all("st.b32", |_| 0, |lane| lane as u128 + 1),
            all("st.b32", |lane| 4 * (lane as u32 / 8), |lane| lane as u128 + 1),
            all("st.u8", |lane| lane as u32 % 8, |lane| lane as u128 + 1),
            all("st.b64", |lane| 8 * (lane as u32 / 16), |lane| lane as u128 + 1),
        ],
        answer: answer::last_stores,
    },
    Experiment {
        name: "order of lanes on one word",
        asks: "in which order are the lanes of a warp served on one word",
        clauses: &["4.2"],
        since: 70,
        undefined: false,
        lines: &[
            all("atom.exch.b32", |_| 0, |lane| lane as u128 + 1),
            all("atom.add.u32", |_| 4, |lane| 1 << (lane % 32)),
            all("atom.exch.b64", |_| 8, |lane| lane as u128 + 1),
        ],
        answer: answer::order,
    },
    Experiment {
        name: "order of lanes in a CAST.SPIN loop",
        asks: "in which order does CAST.SPIN select the lanes if the retry loops of all lanes use one word",
        clauses: &["5.3", "5.4"],
        since: 70,
        undefined: false,
        lines: &[
            all("atom.add.u64", |_| 0, |lane| 1 << lane),
            all("atom.add.u64", |lane| 8 * (lane as u32 % 2), |lane| 1 << lane),
            all("atom.add.u64", |lane| 128 * (lane as u32 % 4), |lane| 1 << lane),
        ],
        answer: answer::order,
    },
];

pub(crate) fn programs() -> Vec<TestProgram> {
    EXPERIMENTS.iter().map(Experiment::program).collect()
}

impl Experiment {
    fn program(&self) -> TestProgram {
        let spelled: Vec<Spelled> = self.lines.iter().filter_map(Line::spelled).collect();
        assert_eq!(spelled.len(), self.lines.len(), "every instruction is in a table");
        let requests = self.lines.iter().map(Line::request).collect();
        let cases = [DrawnCase { memory: vec![0; WORDS as usize], requests }];
        let asked = Asked { name: self.name, asks: self.asks.into(), undefined: self.undefined };
        of_cases(asked, self.clauses, self.since, Spread::Warp, &spelled, &cases)
    }
}

impl Line {
    fn spelled(&self) -> Option<Spelled> {
        let instruction = TestInstruction::named(self.instruction)?;
        Some(Spelled { state_of: self.state_of, ..Spelled::plain(instruction) })
    }

    fn request(&self) -> DrawnRequest {
        DrawnRequest {
            active: std::array::from_fn(|lane| self.lanes >> lane & 1 == 1),
            offset: std::array::from_fn(self.offset),
            b: std::array::from_fn(self.b),
            c: [0; LANES],
        }
    }
}

/// Answers every question for which the capture has a program. If the program failed, the answer states the
/// reason.
pub(crate) fn answers(capture: &Capture, timings: &[MeasuredTime]) -> Vec<Answered> {
    let mut answers = Vec::new();
    for question in EXPERIMENTS {
        let Some(record) = capture.record(question.name) else { continue };
        answers.push(Answered {
            asks: record.program.asks.clone(),
            clauses: record.program.clauses.clone(),
            answer: behaviour(record, question.answer),
        });
    }
    answers.extend(answer::timed(timings));
    answers
}

fn behaviour(record: &ProgramRecord, answer: fn(&[ProgramStep], &[Observed]) -> Vec<String>) -> Vec<String> {
    let outputs = match &record.outcome {
        ProgramOutcome::Outputs(_) => record.outputs().unwrap_or_default(),
        ProgramOutcome::Skipped(why) => return vec![format!("not run: {why}")],
        ProgramOutcome::Failed(why) => return vec![format!("the launch fails: {why}")],
        ProgramOutcome::TimedOut(seconds) => {
            return vec![format!("no answer: the program was still running after {seconds} s")];
        }
    };
    let Some((launch, output)) = record.program.launches.iter().zip(outputs).next() else {
        return vec!["no answer: the program has no launch".into()];
    };
    let Reading::Steps(steps) = &launch.reading else {
        return vec!["no answer: the program measures times, not results".into()];
    };
    match observe::cases(steps, &launch.input, output) {
        Ok(cases) => cases.first().map_or_else(Vec::new, |case| answer(&steps.steps, case)),
        Err(why) => vec![format!("no answer: {why}")],
    }
}
