//! Assertions of the reader that fail, as errors.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use super::problem;
use crate::reader::WaveReadFault;

thread_local! {
    /// This thread reads a file that may be damaged: it is no news on stderr.
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Calls `read`; an assertion that fails in it means that the file is damaged.
///
/// The process gets a panic hook, once, which is silent on a thread inside `read` and passes all else on to the one that
/// was there.
pub(super) fn guarded<T>(read: impl FnOnce() -> Result<T, WaveReadFault>) -> Result<T, WaveReadFault> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |about| {
            if !QUIET.get() {
                before(about);
            }
        }));
    });
    let outer = QUIET.replace(true);
    // What `read` leaves behind is dropped with it, or is not looked at after an error.
    let read = panic::catch_unwind(AssertUnwindSafe(read));
    QUIET.set(outer);
    read.unwrap_or_else(|cause| {
        let words = cause.downcast_ref::<String>().map(String::as_str);
        let words = words.or_else(|| cause.downcast_ref::<&str>().copied()).unwrap_or("an assertion failed");
        let first = words.lines().next().unwrap_or_default();
        Err(problem(format!("the FST file is damaged, or of a variant that is not known: {first}")))
    })
}
