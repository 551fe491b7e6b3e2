use crate::profile::InstructionProfile;
use atoms_ops::{OPS, Op};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Clocks of the port, from the first to the last.
    pub cycles: u64,
    /// Instructions issued, counted per warp split.
    pub warp_instructions: u64,
    /// Instructions issued, counted per lane.
    pub thread_instructions: u64,
    /// Requests answered by the warp port.
    pub shared_requests: u64,
    /// Total number of passes of these requests.
    pub passes: u64,
    /// Number of passes beyond the first of each request.
    pub conflicts: u64,
    /// Requests by operation, in the order of [`OPS`].
    pub requests_by_op: [u64; OPS.len()],
    /// Lanes that executed CAST.SPIN.
    pub spin_attempts: u64,
    /// Lanes whose CAST.SPIN stored.
    pub spin_successes: u64,
    /// Issues by mnemonic, most frequent first, without zeros.
    pub issues_by_mnemonic: Vec<(String, u64)>,
    /// Counters of each instruction that uses the unit, in the order of the kernel.
    pub instructions: Vec<InstructionProfile>,
    pub ctas: u64,
    /// Requests that the unit suspended, counted at their wake-up.
    pub suspended: u64,
    /// Suspended requests whose phase completed. The others timed out.
    pub woken: u64,
    /// Asynchronous copies. LDGSTS, STAS and REDAS count per lane, block copies count once.
    pub copies: u64,
    pub copied_bytes: u64,
    /// Requests answered by the cluster port.
    pub cluster_requests: u64,
    /// `printf` formats in the order of first use, with the number of threads that printed each.
    pub printed: Vec<(String, u64)>,
}

impl Statistics {
    pub fn requests(&self, op: Op) -> u64 {
        OPS.iter().zip(&self.requests_by_op).filter(|(row, _)| row.op == op).map(|(_, count)| count).sum()
    }
}
