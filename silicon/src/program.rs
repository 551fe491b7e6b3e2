//! Test program for a GPU: one kernel, its launches, and the layout of their input and output.

use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::instruction::{LaneResult, Meaning};

/// Entry point of every kernel. Its two parameters are the addresses of the input and of the output.
pub const ENTRY: &str = "ask";

pub const LANES: usize = 32;

/// One kernel and its launches. Contains everything that a replay needs, so a capture stays usable after the
/// catalogue changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TestProgram {
    /// Name, unique in a catalogue: `atom.add.u32/4 warps`.
    pub name: String,
    pub asks: String,
    /// Clauses of the specification that the program tests: `4.5`.
    pub clauses: Vec<String>,
    /// First architecture that can run the program, as the number after `sm_`.
    pub since: u32,
    /// PTX module with the entry point [`ENTRY`].
    #[serde(with = "crate::bytes::text")]
    pub ptx: String,
    pub launches: Vec<ProgramLaunch>,
}

impl TestProgram {
    /// Checks a program from an untrusted capture for impossible sizes and indices.
    ///
    /// # Errors
    /// Description of the fault, and the number of the launch.
    pub fn check(&self) -> Result<(), String> {
        for (number, launch) in self.launches.iter().enumerate() {
            launch.check().map_err(|what| format!("`{}`, launch {number}: {what}", self.name))?;
        }
        Ok(())
    }
}

/// Limits for a capture: words of memory per case, steps per case, cases per launch.
const MOST: [u32; 3] = [12 * 1024, 64, 4096];

impl ProgramLaunch {
    fn check(&self) -> Result<(), String> {
        let between = |what: &str, found: u32, least: u32, most: u32| {
            let inside = (least..=most).contains(&found);
            if inside { Ok(()) } else { Err(format!("{found} {what}; expected {least} to {most}")) }
        };
        between("CTAs", self.ctas, 1, 1 << 16)?;
        between("threads", self.threads, 1, 1024)?;
        between("CTAs in a cluster", self.cluster, 1, 16)?;
        between("bytes of output", self.output_bytes, 1, 64 << 20)?;
        match &self.reading {
            Reading::Steps(steps) => {
                let [words, many, cases] = MOST;
                between("words", steps.words, 2, words)?;
                between("steps", steps.steps.len().try_into().unwrap_or(u32::MAX), 1, many)?;
                between("cases", steps.cases, 1, cases)?;
                let mut of =
                    steps.steps.iter().enumerate().filter_map(|(at, step)| Some((at, step.state_of?)));
                match of.find(|(at, of)| of >= at) {
                    Some((at, of)) => {
                        Err(format!("step {at} uses the state of step {of}, which is not an earlier step"))
                    }
                    None => Ok(()),
                }
            }
            Reading::Times(times) => {
                between("warps", times.warps, 1, 32)?;
                between("operations", times.operations, 1, 1 << 16)?;
                between("samples", times.samples, 2, 1 << 10)
            }
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProgramLaunch {
    pub ctas: u32,
    pub threads: u32,
    pub cluster: u32,
    #[serde(with = "crate::bytes")]
    pub input: Vec<u8>,
    pub output_bytes: u32,
    pub reading: Reading,
}

/// Layout of the output of a launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reading {
    Steps(Steps),
    Times(Times),
}

/// Cases with the same steps but different operands. The input of a case starts with [`Steps::words`] 32-bit
/// words of initial memory. After them comes a record of [`ProgramStep::record_bytes`] for each step and
/// lane: byte offset (32 bits), 1 if the lane is active (32 bits), Rb, Rc. The output of a case holds for
/// each step the results of the lanes, [`ProgramStep::result_bytes`] each, then the words of memory after the
/// step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Steps {
    /// Words of shared memory that are initialized and read back.
    pub words: u32,
    pub cases: u32,
    pub spread: Spread,
    pub steps: Vec<ProgramStep>,
    /// True if PTX or the compiler leaves the outcome undefined.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undefined: bool,
}

/// Distribution of the 32 lanes of a request: all in one warp, or lane `n` in warp or CTA `n` modulo their
/// number. Lanes in different warps or CTAs race, so the only check left is that some order explains the
/// results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spread {
    Warp,
    Warps(u32),
    /// Distributed over this many CTAs of a cluster. Memory is that of the first CTA.
    Cluster(u32),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProgramStep {
    /// Name of the instruction, such as `atom.add.u32`.
    pub instruction: String,
    pub meaning: Meaning,
    pub answer: LaneResult,
    /// Index of the earlier step whose returned mbarrier state is the operand of this step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state_of: Option<usize>,
}

/// Clock readings of a launch with one CTA, or of the first CTA of one cluster. The output holds for each
/// sample and each warp the time of `operations` operations, in 64 bits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// Instruction and kind of repetition: `atom.add.u32 latency`.
    pub of: String,
    pub contention: Contention,
    pub warps: u32,
    pub operations: u32,
    /// Number of samples. The first one is a warm-up and is discarded.
    pub samples: u32,
    pub clock: Clock,
}

/// Pattern of the addresses of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Contention {
    /// This many lanes are active, each with its own word in its own bank.
    Apart(u32),
    /// This many lanes are active, all on one word.
    OneWord(u32),
    /// This many lanes are active, each with its own word, all in one bank.
    OneBank(u32),
    /// All lanes are active, this many on each word. The words are in different banks.
    PerWord(u32),
    /// All lanes are active, this many in each bank, each with its own word.
    PerBank(u32),
}

/// Unit of a clock reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Clock {
    /// Cycles of the multiprocessor (`%clock64`).
    Cycles,
    /// Nanoseconds of the global timer (`%globaltimer`).
    Nanoseconds,
}

impl fmt::Display for Contention {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lanes = |n: &u32| if *n == 1 { "1 lane".into() } else { format!("{n} lanes") };
        match self {
            Contention::Apart(n) => write!(f, "{} apart", lanes(n)),
            Contention::OneWord(n) => write!(f, "{} on one word", lanes(n)),
            Contention::OneBank(n) => write!(f, "{} in one bank", lanes(n)),
            Contention::PerWord(n) => write!(f, "{} on each word", lanes(n)),
            Contention::PerBank(n) => write!(f, "{} in each bank", lanes(n)),
        }
    }
}

impl ProgramStep {
    /// Size of Rb in bytes in a record. Rc has the same size.
    pub fn operand_bytes(&self) -> usize {
        match self.meaning {
            Meaning::Unit { size: atoms_ops::Size::B128, .. } => 16,
            _ => 8,
        }
    }

    /// Size in bytes of one lane's record in the input. The size keeps Rb aligned to a multiple of its own
    /// size.
    pub fn record_bytes(&self) -> usize {
        3 * self.operand_bytes()
    }

    pub fn result_bytes(&self) -> usize {
        self.operand_bytes()
    }
}

impl Steps {
    /// Size in bytes of the input of a case. A multiple of 16, because kernels load 128-bit operands from the
    /// input.
    pub fn input_bytes(&self) -> usize {
        self.record(self.steps.len()).start
    }

    /// Byte range of the records of a step in the input of a case.
    pub fn record(&self, step: usize) -> Range<usize> {
        let before: usize = self.steps[..step].iter().map(|s| LANES * s.record_bytes()).sum();
        let start = 4 * self.words as usize + before;
        start..start + self.steps.get(step).map_or(0, |s| LANES * s.record_bytes())
    }

    pub fn output_bytes(&self) -> usize {
        self.results(self.steps.len()).start
    }

    /// Byte range of the results of a step in the output of a case. The memory after the step follows this
    /// range.
    pub fn results(&self, step: usize) -> Range<usize> {
        let memory = 4 * self.words as usize;
        let start: usize = self.steps[..step].iter().map(|s| LANES * s.result_bytes() + memory).sum();
        start..start + self.steps.get(step).map_or(0, |s| LANES * s.result_bytes())
    }
}

impl Spread {
    pub fn warps(self) -> u32 {
        match self {
            Spread::Warps(warps) => warps,
            Spread::Warp | Spread::Cluster(_) => 1,
        }
    }

    pub fn ctas(self) -> u32 {
        match self {
            Spread::Cluster(ctas) => ctas,
            Spread::Warp | Spread::Warps(_) => 1,
        }
    }
}

impl Contention {
    /// Returns the number of active lanes, and the byte offset of each lane's word.
    pub fn addresses(self) -> (u32, [u32; LANES]) {
        const BANKS: u32 = 32;
        let of = |lanes: u32, word: &dyn Fn(u32) -> u32| (lanes, std::array::from_fn(|l| 4 * word(l as u32)));
        match self {
            Contention::Apart(n) => of(n, &|lane| lane),
            Contention::OneWord(n) => of(n, &|_| 0),
            Contention::OneBank(n) => of(n, &|lane| BANKS * lane),
            Contention::PerWord(n) => of(32, &|lane| lane / n),
            Contention::PerBank(n) => of(32, &|lane| lane / n + BANKS * (lane % n)),
        }
    }

    /// Number of lanes that compete for one word or bank.
    pub fn ways(self) -> u32 {
        match self {
            Contention::Apart(_) => 1,
            Contention::OneWord(n)
            | Contention::OneBank(n)
            | Contention::PerWord(n)
            | Contention::PerBank(n) => n,
        }
    }
}
