//! Upper bound for the run time of programs, computed from counts before the run.

use crate::program::{Reading, TestProgram};

/// Time to compile a kernel, in ms. Drivers need tens of ms for kernels of this size.
const COMPILE_MS: u64 = 500;

/// Overhead of a launch in ms: memory, copies, the launch itself.
const LAUNCH_MS: u64 = 20;

/// Cycles of one operation of one warp with 32 lanes on one word. The longest published time is 5729 cycles,
/// for a retry loop on a B300 (explore/data/silicon.csv).
const OPERATION_CYCLES: u64 = 8_000;

/// Cycles per step of a case: load operands, execute, read back memory.
const STEP_CYCLES: u64 = 40_000;

/// Cycles per ms of a slow GPU.
const CYCLES_PER_MS: u64 = 1_000_000;

/// Upper bound in ms for a `try_wait` on a phase that never completes.
const TRY_WAIT_MS: u64 = 100;

/// Upper bound for the run time of the programs, in seconds.
pub fn seconds(programs: &[TestProgram]) -> u64 {
    let milliseconds: u64 = programs.iter().map(milliseconds).sum();
    milliseconds.div_ceil(1000)
}

fn milliseconds(program: &TestProgram) -> u64 {
    let launches = program.launches.iter().map(|launch| {
        let running = match &launch.reading {
            // Assumes that one multiprocessor executes all cases serially.
            Reading::Steps(steps) => {
                u64::from(steps.cases) * steps.steps.len() as u64 * STEP_CYCLES / CYCLES_PER_MS
            }
            Reading::Times(times) if times.of.contains("try_wait with") => {
                u64::from(times.samples) * TRY_WAIT_MS
            }
            Reading::Times(times) => {
                let operations = u64::from(times.samples) * u64::from(times.operations);
                operations * OPERATION_CYCLES * u64::from(times.warps.div_ceil(4)) / CYCLES_PER_MS
            }
        };
        LAUNCH_MS + running
    });
    COMPILE_MS + launches.sum::<u64>()
}
