//! How long programs take at most, by count: for a plan, before anything is run.

use crate::program::{Reading, TestProgram};

/// Milliseconds to compile a kernel; drivers take some tens for kernels of this size.
const COMPILE_MS: u64 = 500;

/// Milliseconds around a launch: memory, copies, the launch itself.
const LAUNCH_MS: u64 = 20;

/// Cycles of one operation with 32 lanes on one word, of one warp. The longest that was published, of a retry loop, is
/// 5729, on a B300 (docs/silicon.md).
const OPERATION_CYCLES: u64 = 8_000;

/// Cycles of a step of a case: operands, instruction, memory read back.
const STEP_CYCLES: u64 = 40_000;

/// Cycles in a millisecond, of a slow GPU.
const CYCLES_PER_MS: u64 = 1_000_000;

/// Milliseconds for which a `try_wait` without an end waits.
const TRY_WAIT_MS: u64 = 100;

/// Seconds that the programs take at most.
pub fn seconds(programs: &[TestProgram]) -> u64 {
    let milliseconds: u64 = programs.iter().map(milliseconds).sum();
    milliseconds.div_ceil(1000)
}

fn milliseconds(program: &TestProgram) -> u64 {
    let launches = program.launches.iter().map(|launch| {
        let running = match &launch.reading {
            // As if one multiprocessor carried out all cases, one after the other.
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
