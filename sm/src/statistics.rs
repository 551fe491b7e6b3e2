//! Counters of a run.

use crate::profile::InstructionProfile;
use atoms_ops::{OPS, Op};

/// Counters of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Clocks of the port, from the first to the last.
    pub cycles: u64,
    /// Instructions issued, one per warp split that took part.
    pub warp_instructions: u64,
    /// Instructions issued, lanes counted singly.
    pub thread_instructions: u64,
    /// Requests answered by the port.
    pub shared_requests: u64,
    /// Passes these took.
    pub passes: u64,
    /// Passes beyond the first of each request.
    pub conflicts: u64,
    /// Requests by operation, in order of [`OPS`].
    pub requests_by_op: [u64; OPS.len()],
    /// Lanes that tried CAST.SPIN.
    pub spin_attempts: u64,
    /// Lanes whose CAST.SPIN stored.
    pub spin_successes: u64,
    /// Issues by mnemonic, most frequent first; those never issued are left out.
    pub issues_by_mnemonic: Vec<(String, u64)>,
    /// Counters of each instruction that uses the unit, in order of the kernel.
    pub instructions: Vec<InstructionProfile>,
    pub ctas: u64,
    /// Requests that the unit suspended, as seen by their wake-ups.
    pub suspended: u64,
    /// Of these, the ones woken because their phase was complete; the others ran out of time.
    pub woken: u64,
    /// Asynchronous copies: LDGSTS, STAS and REDAS lane by lane, blocks one each.
    pub copies: u64,
    /// Bytes these wrote.
    pub copied_bytes: u64,
    /// Requests answered by the cluster port.
    pub cluster_requests: u64,
    /// Formats of `printf`, in order of first use, and how many threads printed each.
    pub printed: Vec<(String, u64)>,
}

impl Statistics {
    /// Requests of one operation.
    pub fn requests(&self, op: Op) -> u64 {
        OPS.iter().zip(&self.requests_by_op).filter(|(row, _)| row.op == op).map(|(_, count)| count).sum()
    }
}
