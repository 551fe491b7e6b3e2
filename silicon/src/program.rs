//! What a GPU is asked: one kernel, its launches, and how the bytes that come back are read.

use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::instruction::{LaneResult, Meaning};

/// Entry point of every kernel. Its two parameters are the addresses of the input and of the output.
pub const ENTRY: &str = "ask";

/// Lanes of a warp.
pub const LANES: usize = 32;

/// One kernel and its launches. All that a replay needs is in it, so that a capture can be read when the programs
/// have long become others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TestProgram {
    /// Name, unique in a catalogue: `atom.add.u32/4 warps`.
    pub name: String,
    pub asks: String,
    /// Clauses of the specification that it is about: `4.5`.
    pub clauses: Vec<String>,
    /// Earliest architecture, as the number after `sm_`.
    pub since: u32,
    /// A module in PTX with the entry point [`ENTRY`].
    #[serde(with = "crate::bytes::text")]
    pub ptx: String,
    /// What is launched, in this order.
    pub launches: Vec<ProgramLaunch>,
}

impl TestProgram {
    /// What of it cannot be, in a capture from elsewhere.
    ///
    /// # Errors
    /// Says what, and of which launch.
    pub fn check(&self) -> Result<(), String> {
        for (number, launch) in self.launches.iter().enumerate() {
            launch.check().map_err(|what| format!("`{}`, launch {number}: {what}", self.name))?;
        }
        Ok(())
    }
}

/// Most words of memory of a case, steps of one, and cases of a launch.
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
                        Err(format!("step {at} takes the state of step {of}, which is not before it"))
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

/// One launch of a kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProgramLaunch {
    /// CTAs.
    pub ctas: u32,
    /// Threads of a CTA.
    pub threads: u32,
    /// CTAs of a cluster.
    pub cluster: u32,
    #[serde(with = "crate::bytes")]
    pub input: Vec<u8>,
    /// Bytes that it writes.
    pub output_bytes: u32,
    pub reading: Reading,
}

/// How the output of a launch is read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reading {
    /// Requests of a warp, and memory after each.
    Steps(Steps),
    /// Clock readings.
    Times(Times),
}

/// Cases of the same steps. The input of a case is [`Steps::words`] 32-bit words that memory is filled with, then for
/// each step and lane a record of [`ProgramStep::record_bytes`]: offset of the address and 1 if the lane takes part (32 bits
/// each), then Rb and Rc. The output of a case is for each step the results of its lanes, [`ProgramStep::result_bytes`] each,
/// then the words of memory after it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Steps {
    /// Words of shared memory that are filled and read back.
    pub words: u32,
    pub cases: u32,
    /// Where the lanes of a request are.
    pub spread: Spread,
    /// What is carried out, one after the other.
    pub steps: Vec<ProgramStep>,
    /// PTX leaves open what happens, or compilers do.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undefined: bool,
}

/// Where the 32 lanes of a request are: all in one warp, or lane `n` in the warp or CTA of number `n` modulo their
/// count, so that they race, and only the rule that some order explains them is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spread {
    Warp,
    /// Over this many warps of a CTA.
    Warps(u32),
    /// Over this many CTAs of a cluster; memory is that of the first.
    Cluster(u32),
}

/// One instruction of a case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProgramStep {
    /// The instruction: `atom.add.u32`.
    pub instruction: String,
    pub meaning: Meaning,
    /// What a lane reads back.
    pub answer: LaneResult,
    /// The step whose result is its operand, a state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state_of: Option<usize>,
}

/// Clock readings of a launch with one CTA, or one cluster whose first CTA is measured: for each sample and each warp
/// the time that `operations` took, in 64 bits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// The instruction, and how it is repeated: `atom.add.u32 latency`.
    pub of: String,
    /// How the addresses lie.
    pub contention: Contention,
    /// Warps that do the same.
    pub warps: u32,
    /// Operations between the two readings of the clock.
    pub operations: u32,
    /// Readings; the first warms up.
    pub samples: u32,
    pub clock: Clock,
}

/// How the addresses of a warp lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Contention {
    /// This many lanes take part, each with a word and a bank of its own.
    Apart(u32),
    /// This many lanes take part, on one word.
    OneWord(u32),
    /// This many lanes take part, each with a word of its own in one bank.
    OneBank(u32),
    /// All lanes take part, this many on each word; the words are in different banks.
    PerWord(u32),
    /// All lanes take part, this many in each bank, each with a word of its own.
    PerBank(u32),
}

/// What a clock reading counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Clock {
    /// Cycles of the multiprocessor (`%clock64`).
    Cycles,
    /// Nanoseconds (`%globaltimer`).
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
    /// Bytes of Rb, and of Rc, in a record.
    pub fn operand_bytes(&self) -> usize {
        match self.meaning {
            Meaning::Unit { size: atoms_ops::Size::B128, .. } => 16,
            _ => 8,
        }
    }

    /// Bytes of a lane's record in the input. Rb lies on a multiple of its own size.
    pub fn record_bytes(&self) -> usize {
        3 * self.operand_bytes()
    }

    /// Bytes of a lane's result in the output.
    pub fn result_bytes(&self) -> usize {
        self.operand_bytes()
    }
}

impl Steps {
    /// Bytes of input of a case; a multiple of 16, as 128-bit operands are loaded from there.
    pub fn input_bytes(&self) -> usize {
        self.record(self.steps.len()).start
    }

    /// Where the records of a step are in the input of a case.
    pub fn record(&self, step: usize) -> Range<usize> {
        let before: usize = self.steps[..step].iter().map(|s| LANES * s.record_bytes()).sum();
        let start = 4 * self.words as usize + before;
        start..start + self.steps.get(step).map_or(0, |s| LANES * s.record_bytes())
    }

    /// Bytes of output of a case.
    pub fn output_bytes(&self) -> usize {
        self.results(self.steps.len()).start
    }

    /// Where the results of a step are in the output of a case; memory after it lies behind them.
    pub fn results(&self, step: usize) -> Range<usize> {
        let memory = 4 * self.words as usize;
        let start: usize = self.steps[..step].iter().map(|s| LANES * s.result_bytes() + memory).sum();
        start..start + self.steps.get(step).map_or(0, |s| LANES * s.result_bytes())
    }
}

impl Spread {
    /// Warps of a CTA.
    pub fn warps(self) -> u32 {
        match self {
            Spread::Warps(warps) => warps,
            Spread::Warp | Spread::Cluster(_) => 1,
        }
    }

    /// CTAs that share a case.
    pub fn ctas(self) -> u32 {
        match self {
            Spread::Cluster(ctas) => ctas,
            Spread::Warp | Spread::Warps(_) => 1,
        }
    }
}

impl Contention {
    /// Lanes that take part, and byte offset of each lane's word.
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

    /// Lanes that meet on one word or bank.
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
