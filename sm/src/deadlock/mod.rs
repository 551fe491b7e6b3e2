//! Report of a deadlock or livelock: the objects at which threads wait, the cycle of their waits, and hints.

mod history;
mod reach;
mod text;
mod waits;

pub(crate) use history::{MbarEffect, ObjectLog};
pub(crate) use reach::{Flow, writes};
pub(crate) use waits::{Releaser, waits};

use atoms_isa::Arch;
use schemars::JsonSchema;
use serde::Serialize;

/// Objects at which the threads of a kernel wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DeadlockReport {
    pub cycle: u64,
    /// Cycles since the last change that another thread could see. `None` if every thread waits at an object.
    pub quiet: Option<u64>,
    /// Architecture, if threads wait to reconverge with threads of their warp that repeat themselves and the
    /// architecture does not let them continue alone. Only before sm_70; otherwise `None`.
    #[serde(skip)]
    pub in_step: Option<Arch>,
    pub blocked: Vec<BlockedObject>,
    /// Shortest cycle of waits. Without a cycle, one wait per object that a waiting thread could release.
    pub waits: Vec<WaitEdge>,
    pub hints: Vec<DeadlockHint>,
}

/// Object at which threads of one CTA wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BlockedObject {
    /// Number of the CTA in the grid.
    pub cta: u32,
    pub object: WaitObject,
    pub waiters: Vec<WarpLanes>,
    pub places: Vec<WaitPlace>,
    /// Threads that can still release the object. Waiters of the object only if no other thread can.
    pub releasers: Vec<WarpLanes>,
    /// False if the address or barrier number of a releasing instruction is not known yet.
    pub certain: bool,
    /// Warps of the CTA that have ended.
    pub ended: Vec<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum WaitObject {
    Mbarrier {
        /// Variable of the PTX that contains the object, and the offset in it.
        name: Option<String>,
        /// Byte offset in the shared memory of the CTA.
        address: u32,
        /// Parity of the current phase.
        phase: u8,
        /// Phase parity for which the threads wait. `None` if the code reads the object with loads (sm_80 to
        /// sm_89).
        waited: Option<u8>,
        /// Arrivals outstanding in the current phase, of `count` expected.
        pending: u32,
        count: u32,
        /// Bytes or copies outstanding. Negative if more were delivered than expected.
        bytes: i32,
        /// Warps that have arrived in the current phase. Empty if the object was initialized by a plain store.
        arrived: Vec<WarpLanes>,
    },
    BlockBarrier {
        id: u8,
        /// Threads that have arrived, of `count` expected.
        arrived: u32,
        count: u32,
    },
    ClusterBarrier {
        arrived: u32,
        count: u32,
    },
    /// Wait for lanes of the same warp, or for groups of copies.
    Warp {
        what: String,
    },
    /// No object: the threads can run, or wait for a response.
    Running,
}

/// Threads of one warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct WarpLanes {
    /// Number of the CTA in the grid.
    pub cta: u32,
    /// Number of the warp in the CTA.
    pub warp: u32,
    /// Mask of the lanes. `None` for all lanes that have not ended.
    pub lanes: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct WaitPlace {
    /// Line in the kernel's file, from 1.
    pub line: u32,
    pub text: String,
    /// Line of the source, such as `kernel.cu:12`, if the file has line information.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

impl WaitPlace {
    /// Line, with the line of the source.
    pub(crate) fn line(&self) -> String {
        match &self.source {
            Some(source) => format!("line {} ({source})", self.line),
            None => format!("line {}", self.line),
        }
    }
}

/// Wait of one object's waiters for threads that wait themselves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WaitEdge {
    /// Index of the object in `blocked`.
    pub object: usize,
    /// Threads that can release the object.
    pub releasers: Vec<WarpLanes>,
    /// Index of the object at which the releasers wait.
    pub behind: usize,
}

/// Likely cause of the wait at one object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DeadlockHint {
    /// Index of the object in `blocked`.
    pub object: usize,
    #[serde(flatten)]
    pub cause: HintCause,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "cause", rename_all = "snake_case")]
pub enum HintCause {
    /// Bytes were expected in this phase, but no thread has arrived.
    ExpectWithoutArrive { expected: u64 },
    /// The count is larger than the number of arrivals, because arrivals of copies have no `.noinc`: each first
    /// raises the pending count by one.
    NetZeroArrive { count: u32, arrived: u32 },
    /// Bytes expected in this phase differ from the bytes delivered.
    BytesDiffer { expected: u64, delivered: u64 },
    /// The count is larger than the number of arrivals, and no other thread can arrive.
    CountTooLarge { count: u32, arrived: u32 },
    /// The number of threads that arrived at a block barrier since the start is not a multiple of its count.
    CountDoesNotDivide { count: u32, threads: u32 },
    /// Threads wait for the first phase, in which no thread has arrived. Only if several objects have such waiters.
    FirstPhase,
    /// The last wait of a warp that passed at this object had the same parity.
    ParityNotFlipped { parity: u8 },
}
