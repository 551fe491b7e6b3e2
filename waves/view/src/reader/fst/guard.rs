//! Converts failed assertions of `fst-reader` to errors.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use super::problem;
use crate::reader::WaveReadFault;

thread_local! {
    /// True while this thread reads a file that may be damaged: the panic hook then prints nothing.
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Calls `read`. A failed assertion in it means that the file is damaged.
///
/// The first call installs a panic hook. The hook is silent on a thread inside `read` and forwards all other
/// panics to the previous hook.
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
    // Unwind safety: state of `read` is dropped with it, or not used after an error.
    let read = panic::catch_unwind(AssertUnwindSafe(read));
    QUIET.set(outer);
    read.unwrap_or_else(|cause| {
        let words = cause.downcast_ref::<String>().map(String::as_str);
        let words = words.or_else(|| cause.downcast_ref::<&str>().copied()).unwrap_or("an assertion failed");
        let first = words.lines().next().unwrap_or_default();
        Err(problem(format!("the FST file is damaged, or of an unknown variant: {first}")))
    })
}
