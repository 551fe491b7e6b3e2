/// Parameters of the core around the unit.
///
/// Issue model: scheduler `s` owns the warps in slots `s`, `s + schedulers`, and so on. Per cycle, each
/// scheduler issues one instruction of the next ready warp, round robin. A warp is not ready while it waits
/// for a shared-memory response, for `global_latency_cycles` after a global access, or at a barrier. Every
/// other instruction completes before the next one issues. The warp port gets one shared-memory request at a
/// time, warps in turn. Asynchronous copies and accesses to other CTAs of the cluster use the cluster port,
/// one at a time, copies and warps in turn. [CHOSEN: enough to keep the unit busy, and no more]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmConfig {
    pub schedulers: u32,
    /// Limit for resident warps, at most 64 (the tag has 6 bits).
    pub max_warps: u32,
    /// Cycles from a global access to the next instruction of the warp.
    pub global_latency_cycles: u32,
    /// Limit in cycles for a run whose launch sets no `cycle_budget`.
    pub cycle_budget: u64,
    /// Clock period in picoseconds. Converts time hints in nanoseconds (spec 6.10).
    pub clock_period_ps: u32,
    /// Upper limit in cycles for NANOSLEEP with any operand. [CHOSEN: PTX lets a sleep end early]
    pub longest_sleep_cycles: u32,
    /// Minimum and maximum cycles from an asynchronous copy instruction to its first write. Latencies differ,
    /// so copies complete out of order.
    pub copy_latency_cycles: [u32; 2],
    pub copy_seed: u64,
    /// Cycles without a visible change before the livelock detection starts. Register writes are not visible
    /// changes.
    pub quiet_cycles: u64,
}

impl SmConfig {
    /// Converts a time hint to cycles, rounded up and limited to `longest_sleep_cycles`.
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
