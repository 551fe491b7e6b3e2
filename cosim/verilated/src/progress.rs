//! Progress of long calls, for callers that show it.

use crate::Variant;
use std::fmt;

/// One step of building or installing. [`Display`](fmt::Display) gives one line without a line break.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Progress {
    /// The cache has the library of this key.
    Cached(String),
    /// Another process or thread builds the entry of this key, and this call waits for it.
    Waiting(String),
    /// A damaged cache entry was removed. The texts are its key and the damage.
    Discarded(String, String),
    /// Verilator compiles this top module for this variant.
    Verilating(String, Variant),
    /// Warnings of Verilator, which do not end the build.
    Warnings(String),
    /// The C++ compiler has finished `done` of `total` units.
    Compiling { done: usize, total: usize },
    /// The linker makes the shared library.
    Linking,
    /// The library of this key was built and is now in the cache.
    Built(String),
    /// This command is about to run. It installs a tool.
    Installing(String),
}

impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Progress::Cached(key) => write!(f, "rtl library {} is in the cache", short(key)),
            Progress::Waiting(key) => {
                write!(f, "waiting for rtl library {}, which another process builds", short(key))
            }
            Progress::Discarded(key, reason) => {
                let what = if key.starts_with("snapshot-") { "snapshot" } else { "rtl library" };
                let key = key.strip_prefix("snapshot-").unwrap_or(key);
                write!(f, "discarded damaged {what} {}: {reason}", short(key))
            }
            Progress::Verilating(top, variant) => write!(f, "verilating {top} ({variant})"),
            Progress::Warnings(text) => f.write_str(text.trim_end()),
            Progress::Compiling { done, total } => write!(f, "compiling {done}/{total}"),
            Progress::Linking => f.write_str("linking"),
            Progress::Built(key) => write!(f, "built rtl library {}", short(key)),
            Progress::Installing(command) => write!(f, "running {command}"),
        }
    }
}

/// Shortens a key to twelve digits, enough to tell entries apart.
fn short(key: &str) -> &str {
    key.get(..12).unwrap_or(key)
}
