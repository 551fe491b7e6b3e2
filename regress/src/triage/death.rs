use std::fmt;

use serde::{Deserialize, Serialize};

/// Cause of death of the process that ran a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Death {
    Signal(i32),
    /// Status of a call of `exit` in the RTL.
    Exit(i32),
    /// Seconds without progress after which the process was killed.
    Hung(u64),
}

impl fmt::Display for Death {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let signal = match *self {
            Death::Exit(code) => return write!(f, "it called exit with status {code}"),
            Death::Hung(seconds) => {
                return write!(f, "it hangs: no cycle was completed for {seconds} s, so it was killed");
            }
            Death::Signal(signal) => signal,
        };
        let name = match signal {
            4 => " (SIGILL)",
            6 => " (SIGABRT)",
            7 => " (SIGBUS)",
            8 => " (SIGFPE)",
            9 => " (SIGKILL, as the system sends it when memory runs out)",
            11 => " (SIGSEGV)",
            15 => " (SIGTERM)",
            _ => "",
        };
        write!(f, "signal {signal}{name}")
    }
}
