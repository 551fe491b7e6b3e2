//! Parameters of the core.

/// Parameters of the core around the unit.
///
/// Issue model: each of `schedulers` owns the warps whose slot is its number modulo their count, and
/// issues one instruction per cycle from the next of them, in turn, that is not waiting. A warp waits
/// for its shared-memory request to be answered, for `global_latency_cycles` after a global access, and at
/// barriers; every other instruction is complete when the next is issued. One shared-memory request
/// is offered to the port at a time, warps in turn. [CHOSEN: enough to keep the unit busy, and no more]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmConfig {
    /// Warp schedulers.
    pub schedulers: u32,
    /// Warps resident at once, at most 64 (the tag has 6 bits).
    pub max_warps: u32,
    /// Cycles between a global access and the next instruction of the warp.
    pub global_latency_cycles: u32,
    /// Cycles after which a run is given up, where the launch does not say.
    pub cycle_budget: u64,
}

impl Default for SmConfig {
    fn default() -> Self {
        SmConfig { schedulers: 4, max_warps: 48, global_latency_cycles: 20, cycle_budget: 10_000_000 }
    }
}
