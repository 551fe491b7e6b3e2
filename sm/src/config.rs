//! Parameters of the core.

/// Parameters of the core around the unit.
///
/// Issue model: each of `schedulers` owns the warps whose slot is its number modulo their count, and
/// issues one instruction per cycle from the next of them, in turn, that is not waiting. A warp waits
/// for its shared-memory request to be answered, for `global_latency_cycles` after a global access, and at
/// barriers; every other instruction is complete when the next is issued. One shared-memory request
/// is offered to the port at a time, warps in turn. Asynchronous copies and accesses to other CTAs of the cluster go
/// through the cluster port, one at a time, copies and warps in turn. [CHOSEN: enough to keep the unit
/// busy, and no more]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmConfig {
    pub schedulers: u32,
    /// Warps resident at once, at most 64 (the tag has 6 bits).
    pub max_warps: u32,
    /// Cycles between a global access and the next instruction of the warp.
    pub global_latency_cycles: u32,
    /// Cycles after which a run is given up, where the launch does not say.
    pub cycle_budget: u64,
    /// Picoseconds of a cycle, by which hints in nanoseconds are converted (spec 6.10).
    pub clock_period_ps: u32,
    /// Most cycles that NANOSLEEP takes, whatever its operand says. [CHOSEN: PTX lets a sleep end early]
    pub longest_sleep_cycles: u32,
    /// Fewest and most cycles from an asynchronous copy's instruction to its first write. Copies take different
    /// times, and so end out of order.
    pub copy_latency_cycles: [u32; 2],
    /// Chooses the latency of each copy.
    pub copy_seed: u64,
    /// Cycles without any change but in registers after which it is looked for threads that wait for
    /// ever.
    pub quiet_cycles: u64,
}

impl SmConfig {
    /// Cycles of a hint: rounded up, and no more than the longest sleep.
    pub(crate) fn sleep_cycles(&self, nanoseconds: u32) -> u32 {
        let cycles = (u64::from(nanoseconds) * 1000).div_ceil(u64::from(self.clock_period_ps.max(1)));
        cycles.min(u64::from(self.longest_sleep_cycles)) as u32
    }
}

impl Default for SmConfig {
    fn default() -> Self {
        SmConfig {
            schedulers: 4,
            max_warps: 64,
            global_latency_cycles: 20,
            cycle_budget: 10_000_000,
            clock_period_ps: 556,
            longest_sleep_cycles: 10_000,
            copy_latency_cycles: [100, 400],
            copy_seed: 1,
            quiet_cycles: 20_000,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::SmConfig;

    #[test]
    fn hints_are_rounded_up_and_limited() {
        let config = SmConfig::default();
        for (nanoseconds, cycles) in [(0, 0), (1, 2), (556, 1000), (557, 1002), (10_000_000, 10_000)] {
            assert_eq!(config.sleep_cycles(nanoseconds), cycles, "{nanoseconds} ns");
        }
        let config = SmConfig { clock_period_ps: 1000, longest_sleep_cycles: u32::MAX, ..config };
        assert_eq!(config.sleep_cycles(u32::MAX), u32::MAX);
    }
}
