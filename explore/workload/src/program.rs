//! What a generated workload is to its driver: warps that ask, are answered, and so come to their next request.

use std::fmt;
use std::ops::Range;

use atoms_model::Config;
use atoms_model::memory_port::word_index;
use atoms_model::port::{In, MAX_LANES};
use atoms_ops::{Op, Size};

/// The warps of a workload, each a small state machine.
///
/// A warp has one request under way at most. What a warp does is a function of seed, warp and answers: the same work
/// in every configuration, however fast.
pub trait WarpProgram: fmt::Debug + Send {
    /// Words of memory that are not zero at the start: byte offset and value.
    fn memory(&self) -> &[(u32, u32)] {
        &[]
    }

    /// Puts the next request of a warp on the port.
    fn offer(&mut self, warp: usize, port: &mut WarpPort<'_>);

    /// Takes in the answer to that request; says what the warp does then.
    fn answered(&mut self, warp: usize, answer: &Answer<'_>, counts: &mut WorkCounts) -> Next;

    /// What a warp waits for, in words.
    fn waits_for(&self, warp: usize) -> String;

    /// Judges what came out; `word` reads memory by byte offset.
    ///
    /// # Errors
    /// What is wrong, with what was expected.
    fn check(&self, word: &dyn Fn(u32) -> u32) -> Result<(), String>;
}

/// Next action of a warp after an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Asks again, when it has computed what depends on the answer.
    Dependent,
    /// Asks again after so many cycles more: it has looked in vain.
    Backoff(u32),
    /// Begins its next unit of work, when it has thought, and computed for so many cycles.
    Unit(u32),
    /// The warp has done its work.
    Done,
}

/// Counters of the work that warps did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkCounts {
    pub units: u64,
    /// Lanes that tried what may fail: to store, to be let in, to find a phase complete.
    pub tries: u64,
    /// Of them, those that must try again.
    pub retries: u64,
}

impl WorkCounts {
    /// So many lanes tried, and these succeeded.
    pub(crate) fn tried(&mut self, tried: u32, succeeded: u32) {
        self.tries += u64::from(tried.count_ones());
        self.retries += u64::from((tried & !succeeded).count_ones());
    }
}

/// The answer to a request.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    /// Rd per lane.
    pub rd: &'a [u128; MAX_LANES],
    /// Lanes that stored, or whose phase is complete.
    pub pred: u32,
}

/// The pins of a request that is being put together.
#[derive(Debug)]
pub struct WarpPort<'a>(&'a mut In);

impl<'a> WarpPort<'a> {
    /// The warp port of a cycle. `tag` is the warp's.
    pub(crate) fn new(i: &'a mut In, tag: u8) -> Self {
        i.req_valid = 1;
        i.req_tag = tag;
        i.req_slot = 0;
        (i.req_absolute, i.req_scale, i.req_imm, i.req_ur) = (0, 0, 0, 0);
        WarpPort(i)
    }

    /// A request of these lanes that wants a result; their operands follow.
    pub fn ask(&mut self, op: Op, size: Size, lanes: u32) {
        self.0.req_op = op as u8;
        self.0.req_size = size as u8;
        self.0.req_mask = lanes;
        self.0.req_red = 0;
    }

    /// As [`WarpPort::ask`], without a result.
    pub fn post(&mut self, op: Op, size: Size, lanes: u32) {
        self.ask(op, size, lanes);
        self.0.req_red = 1;
    }

    /// Address of a lane, and its operands.
    #[inline]
    pub fn lane(&mut self, lane: usize, address: u32, b: u128, c: u128) {
        let lane = lane & (MAX_LANES - 1);
        self.0.req_ra[lane] = address;
        self.0.req_b[lane] = b;
        self.0.req_c[lane] = c;
    }
}

/// The lanes of a mask, the lowest first.
#[inline]
pub(crate) fn lanes_of(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = (mask != 0).then(|| mask.trailing_zeros() as usize)?;
        mask &= mask - 1;
        Some(lane)
    })
}

/// The mask of the lanes for which something holds.
#[inline]
pub(crate) fn lanes_where(mask: u32, holds: impl Fn(usize) -> bool) -> u32 {
    lanes_of(mask).filter(|lane| holds(*lane)).fold(0, |found, lane| found | 1 << lane)
}

/// Reason why a workload cannot be set up. Messages say what would work.
#[derive(Clone, Debug, thiserror::Error, PartialEq)]
pub enum WorkloadError {
    /// There is no such workload; those there are.
    #[error("no workload `{0}`; there are {known}", known = .1.join(", "))]
    Unknown(String, Vec<&'static str>),
    /// It has no such parameter; those it has.
    #[error("workload {0} has no parameter `{1}`; it has {known}", known = .2.join(", "))]
    NoParameter(&'static str, String, Vec<&'static str>),
    /// The parameter cannot be this; what it may be.
    #[error("`{0}` is `{1}`: expected {2}")]
    Value(&'static str, String, String),
    /// A parameter that has no effect, and the change that gives it one.
    #[error("`{parameter}` of workload {workload} has no effect: {change}, or leave out `{parameter}`")]
    NoEffect { workload: &'static str, parameter: &'static str, change: &'static str },
    /// A parameter that is stated twice: its name and both values.
    #[error("`{0}` is given twice, as {1} and as {2}; leave one out")]
    Twice(String, String, String),
    /// Values that do not go together.
    #[error("{0}")]
    Combination(String),
    /// It needs more memory than the unit has.
    #[error("{what} end at byte {needed} of shared memory, and there are {there}; {help}")]
    Memory { what: &'static str, needed: u64, there: u64, help: &'static str },
    /// A trace that cannot be replayed: line and why.
    #[error("line {0} of the trace: {1}")]
    Trace(u64, String),
}

/// The threads that take part: so many lanes of so many warps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Threads {
    pub(crate) warps: usize,
    pub(crate) lanes: u32,
}

impl Threads {
    /// Their number.
    pub(crate) fn count(self) -> u32 {
        self.warps as u32 * self.lanes
    }

    /// The lanes of a warp.
    pub(crate) fn mask(self) -> u32 {
        u32::MAX >> (32 - self.lanes)
    }

    /// Number of the thread that is this lane of this warp.
    #[inline]
    pub(crate) fn number(self, warp: usize, lane: usize) -> u32 {
        warp as u32 * self.lanes + lane as u32
    }

    /// Numbers of the threads that are the lanes of this warp.
    pub(crate) fn of(self, warp: usize) -> Range<usize> {
        let lanes = self.lanes as usize;
        warp * lanes..(warp + 1) * lanes
    }

    /// Of how many objects each is shared by so many threads; by all with 0.
    pub(crate) fn objects(self, contention: u32) -> u32 {
        if contention == 0 { 1 } else { self.count().div_ceil(contention) }
    }

    /// Number of a thread's object among these.
    #[inline]
    pub(crate) fn object(self, contention: u32, thread: u32) -> u32 {
        thread.checked_div(contention).unwrap_or(0)
    }
}

/// Units of work that each warp has yet to do.
#[derive(Debug)]
pub(crate) struct Remaining(Vec<u32>);

impl Remaining {
    /// All warps have `units` to do.
    pub(crate) fn new(threads: Threads, units: u32) -> Self {
        Remaining(vec![units; threads.warps])
    }

    pub(crate) fn of(&self, warp: usize) -> u32 {
        self.0[warp]
    }

    /// A warp has done a unit; it computes for `compute` cycles before the next one.
    pub(crate) fn next(&mut self, warp: usize, compute: u32) -> Next {
        self.0[warp] -= 1;
        if self.0[warp] == 0 { Next::Done } else { Next::Unit(compute) }
    }
}

/// Hands out the shared memory of the one CTA, which has all of it.
#[derive(Debug)]
pub(crate) struct Placement {
    config: Config,
    next: u64,
}

impl Placement {
    pub(crate) fn new(config: &Config) -> Self {
        Placement { config: *config, next: 0 }
    }

    /// Byte offset of the first of so many words, on a multiple of two words.
    pub(crate) fn words(
        &mut self,
        count: u64,
        what: &'static str,
        help: &'static str,
    ) -> Result<u32, WorkloadError> {
        let from = self.next.next_multiple_of(8);
        let (needed, there) = (from + 4 * count, self.config.bytes());
        if needed > there {
            return Err(WorkloadError::Memory { what, needed, there, help });
        }
        self.next = needed;
        Ok(from as u32)
    }

    /// Byte offset of the word that physical bank `bank` holds in row `row`, wherever a hash has put it.
    pub(crate) fn on_bank(&self, row: u32, bank: u32) -> u32 {
        // The hash is its own inverse.
        4 * word_index(&self.config, row, bank) as u32
    }
}
