//! Parallel work on numbered tasks.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Calls `work` once for each number below `count`, on one thread for each of `workers`. Returns the results in
/// order of number.
///
/// # Errors
/// An error of `work`. The thread of the error starts no more work; the others go on.
pub fn in_parallel<W: Send, T: Send, E: Send>(
    workers: impl IntoIterator<Item = W>,
    count: usize,
    work: impl Fn(&mut W, usize) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let (next, work) = (&AtomicUsize::new(0), &work);
    let task = |mut worker: W| {
        move || {
            let numbers = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
            let numbers = numbers.take_while(|number| *number < count);
            numbers.map(|number| Ok((number, work(&mut worker, number)?))).collect::<Result<Vec<_>, E>>()
        }
    };
    let mut done = Vec::new();
    std::thread::scope(|scope| {
        let threads: Vec<_> = workers.into_iter().map(|worker| scope.spawn(task(worker))).collect();
        threads.into_iter().try_for_each(|thread| {
            done.extend(thread.join().unwrap_or_else(|panic| resume_unwind(panic))?);
            Ok(())
        })
    })?;
    done.sort_unstable_by_key(|(number, _)| *number);
    Ok(done.into_iter().map(|(_, result)| result).collect())
}
