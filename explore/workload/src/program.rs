//! Interface between a generated workload and its driver: warps send requests and take answers.

use std::fmt;
use std::ops::Range;

use atoms_model::Config;
use atoms_model::memory_port::word_index;
use atoms_model::port::{In, MAX_LANES};
use atoms_ops::{Op, Size};

/// Warps of a workload, each a small state machine with at most one request in flight.
///
/// The actions of a warp depend only on seed, warp and answers. So the work is the same in every
/// configuration.
pub trait WarpProgram: fmt::Debug + Send {
    /// Returns the words of memory that are not zero at the start: byte offset and value.
    fn memory(&self) -> &[(u32, u32)] {
        &[]
    }

    fn offer(&mut self, warp: usize, port: &mut WarpPort<'_>);

    fn answered(&mut self, warp: usize, answer: &Answer<'_>, counts: &mut WorkCounts) -> Next;

    fn waits_for(&self, warp: usize) -> String;

    /// Checks the result; `word` reads memory by byte offset.
    ///
    /// # Errors
    /// A message with the wrong and the expected value.
    fn check(&self, word: &dyn Fn(u32) -> u32) -> Result<(), String>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Sends a request that depends on the answer, after `compute` cycles.
    Dependent,
    /// Polls again after `compute` and this many more cycles, since the last attempt failed.
    Backoff(u32),
    /// Starts the next unit of work after `think` and this many more cycles.
    Unit(u32),
    Done,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkCounts {
    pub units: u64,
    /// Attempts of lanes that can fail: to store, to acquire a lock, to find a phase complete.
    pub tries: u64,
    /// Failed attempts, included in `tries`.
    pub retries: u64,
}

impl WorkCounts {
    /// Adds an attempt of each lane in `tried`, of which `succeeded` are successful.
    pub(crate) fn tried(&mut self, tried: u32, succeeded: u32) {
        self.tries += u64::from(tried.count_ones());
        self.retries += u64::from((tried & !succeeded).count_ones());
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    pub rd: &'a [u128; MAX_LANES],
    /// Bit mask of the lanes that stored, or whose phase is complete.
    pub pred: u32,
}

#[derive(Debug)]
pub struct WarpPort<'a>(&'a mut In);

impl<'a> WarpPort<'a> {
    /// Starts a request. `tag` is the warp's number.
    pub(crate) fn new(i: &'a mut In, tag: u8) -> Self {
        i.req_valid = 1;
        i.req_tag = tag;
        i.req_slot = 0;
        (i.req_absolute, i.req_scale, i.req_imm, i.req_ur) = (0, 0, 0, 0);
        WarpPort(i)
    }

    /// Starts a request with a result. `lanes` is the bit mask of its lanes; call [`WarpPort::lane`] for each
    /// of them next.
    pub fn ask(&mut self, op: Op, size: Size, lanes: u32) {
        self.0.req_op = op as u8;
        self.0.req_size = size as u8;
        self.0.req_mask = lanes;
        self.0.req_red = 0;
    }

    /// Like [`WarpPort::ask`], but without a result.
    pub fn post(&mut self, op: Op, size: Size, lanes: u32) {
        self.ask(op, size, lanes);
        self.0.req_red = 1;
    }

    #[inline]
    pub fn lane(&mut self, lane: usize, address: u32, b: u128, c: u128) {
        let lane = lane & (MAX_LANES - 1);
        self.0.req_ra[lane] = address;
        self.0.req_b[lane] = b;
        self.0.req_c[lane] = c;
    }
}

/// Iterates over the lanes of a bit mask, the lowest first.
#[inline]
pub(crate) fn lanes_of(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = (mask != 0).then(|| mask.trailing_zeros() as usize)?;
        mask &= mask - 1;
        Some(lane)
    })
}

#[inline]
pub(crate) fn lanes_where(mask: u32, holds: impl Fn(usize) -> bool) -> u32 {
    lanes_of(mask).filter(|lane| holds(*lane)).fold(0, |found, lane| found | 1 << lane)
}

/// Reason why a workload cannot be set up. Each message says how to fix it.
#[derive(Clone, Debug, thiserror::Error, PartialEq)]
pub enum WorkloadError {
    #[error("no workload `{0}`; there are {known}", known = .1.join(", "))]
    Unknown(String, Vec<&'static str>),
    #[error("workload {0} has no parameter `{1}`; it has {known}", known = .2.join(", "))]
    NoParameter(&'static str, String, Vec<&'static str>),
    #[error("`{0}` must be {2}, not `{1}`")]
    Value(&'static str, String, String),
    #[error("`{parameter}` of workload {workload} has no effect: {change}, or leave out `{parameter}`")]
    NoEffect { workload: &'static str, parameter: &'static str, change: &'static str },
    #[error("`{0}` is given twice, as {1} and as {2}; leave one out")]
    Twice(String, String, String),
    /// The values contradict each other, or the unit does not support them.
    #[error("{0}")]
    Combination(String),
    #[error("{what} end at byte {needed} of shared memory, but the unit has {there} bytes; {help}")]
    Memory { what: &'static str, needed: u64, there: u64, help: &'static str },
    #[error("line {0} of the trace: {1}")]
    Trace(u64, String),
}

/// Threads that take part: the lowest `lanes` of each warp.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Threads {
    pub(crate) warps: usize,
    pub(crate) lanes: u32,
}

impl Threads {
    pub(crate) fn count(self) -> u32 {
        self.warps as u32 * self.lanes
    }

    pub(crate) fn mask(self) -> u32 {
        u32::MAX >> (32 - self.lanes)
    }

    #[inline]
    pub(crate) fn number(self, warp: usize, lane: usize) -> u32 {
        warp as u32 * self.lanes + lane as u32
    }

    /// Returns the numbers of the threads in this warp.
    pub(crate) fn of(self, warp: usize) -> Range<usize> {
        let lanes = self.lanes as usize;
        warp * lanes..(warp + 1) * lanes
    }

    /// Returns the number of shared objects (words, locks) if `contention` threads share each one; 0 means
    /// that all threads share one object.
    pub(crate) fn objects(self, contention: u32) -> u32 {
        if contention == 0 { 1 } else { self.count().div_ceil(contention) }
    }

    #[inline]
    pub(crate) fn object(self, contention: u32, thread: u32) -> u32 {
        thread.checked_div(contention).unwrap_or(0)
    }
}

/// Values from which a workload creates its program.
#[derive(Clone, Copy)]
pub(crate) struct SetUp<'a> {
    pub(crate) threads: Threads,
    /// Units of work per lane.
    pub(crate) units: u32,
    /// Cycles from an answer to the request that depends on it.
    pub(crate) compute: u32,
    pub(crate) config: &'a Config,
    pub(crate) seed: u64,
}

impl SetUp<'_> {
    /// Returns the number of warps that produce. The other warps consume.
    pub(crate) fn producers(&self, consumers: usize) -> Result<usize, WorkloadError> {
        let warps = self.threads.warps;
        warps.checked_sub(consumers).filter(|producers| *producers > 0).ok_or_else(|| {
            WorkloadError::Combination(format!(
                "{consumers} consumers of {warps} warps leave no producer; use fewer `consumers` or more `warps`"
            ))
        })
    }
}

#[derive(Debug)]
pub(crate) struct Remaining(Vec<u32>);

impl Remaining {
    pub(crate) fn new(threads: Threads, units: u32) -> Self {
        Remaining(vec![units; threads.warps])
    }

    pub(crate) fn of(&self, warp: usize) -> u32 {
        self.0[warp]
    }

    /// Counts a completed unit of a warp. The warp computes for `compute` cycles before the next unit.
    pub(crate) fn next(&mut self, warp: usize, compute: u32) -> Next {
        self.0[warp] -= 1;
        if self.0[warp] == 0 { Next::Done } else { Next::Unit(compute) }
    }
}

/// Allocator of the shared memory of the only CTA, which owns all of it.
#[derive(Debug)]
pub(crate) struct Placement {
    config: Config,
    next: u64,
}

impl Placement {
    pub(crate) fn new(config: &Config) -> Self {
        Placement { config: *config, next: 0 }
    }

    /// Allocates `count` words at a multiple of two words. Returns the byte offset.
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

    /// Returns the byte offset of the word in row `row` of physical bank `bank`, with `bank_hash` taken into
    /// account.
    pub(crate) fn on_bank(&self, row: u32, bank: u32) -> u32 {
        4 * word_index(&self.config, row, bank) as u32
    }
}
