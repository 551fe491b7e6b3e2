//! Ends processes together with what they have started.

use std::fs;

use rustix::process::{Pid, Signal, kill_process};

/// Kills a process and all that it has started: compilers go with the process that waits for them.
pub fn kill_tree(process: u32) {
    let started = descendants(process);
    // First, so that it starts nothing more.
    kill(process);
    started.into_iter().for_each(kill);
}

/// Ends this process at once with all that it has started. For a process whose threads may hang.
pub fn end_now() -> ! {
    let own = std::process::id();
    descendants(own).into_iter().for_each(kill);
    kill(own);
    // The signal is delivered before this, or there is no such signal.
    std::process::abort()
}

fn kill(process: u32) {
    if let Some(pid) = i32::try_from(process).ok().and_then(Pid::from_raw) {
        // A process that has ended meanwhile needs none.
        let _ = kill_process(pid, Signal::KILL);
    }
}

/// The processes that a process has started and those that they have, as far as the system tells.
pub fn descendants(process: u32) -> Vec<u32> {
    let mut found = vec![process];
    let mut at = 0;
    while let Some(parent) = found.get(at) {
        let threads = fs::read_dir(format!("/proc/{parent}/task")).into_iter().flatten().flatten();
        let children = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
        let children: Vec<u32> = children
            .flat_map(|text| text.split_whitespace().filter_map(|id| id.parse().ok()).collect::<Vec<_>>())
            .collect();
        found.extend(children);
        at += 1;
    }
    found.remove(0);
    found
}

/// Whether a process is stopped, by a terminal or by a debugger.
pub fn is_stopped(process: u32) -> bool {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The name before it may have anything in it.
    let state = text.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().next());
    matches!(state, Some("T" | "t"))
}
