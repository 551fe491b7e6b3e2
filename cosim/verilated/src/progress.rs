//! What a long call is doing, for a caller that shows it.

use crate::Variant;
use std::fmt;

/// One step of building or installing. [`Display`](fmt::Display) gives one line without an end.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Progress {
    /// The library of this key was in the cache.
    Cached(String),
    /// Another process, or another thread, builds the entry of this key: it is waited for.
    Waiting(String),
    /// The cache entry of this key was damaged in this way and has been removed.
    Discarded(String, String),
    /// Verilator is at work on this top module, for this variant.
    Verilating(String, Variant),
    /// Verilator's warnings; the build goes on.
    Warnings(String),
    /// Generated C++ is being compiled.
    Compiling { done: usize, total: usize },
    /// The library is being linked.
    Linking,
    /// The library of this key is in the cache now.
    Built(String),
    /// This command, which installs a tool, is about to run.
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

/// Enough of a key to tell entries apart by eye.
fn short(key: &str) -> &str {
    key.get(..12).unwrap_or(key)
}
