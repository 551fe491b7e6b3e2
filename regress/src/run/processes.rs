use std::fs;

use rustix::process::{Pid, Signal, kill_process};

/// Kills a process and its descendants, such as compilers that it waits for.
pub fn kill_tree(process: u32) {
    let started = descendants(process);
    // Kill the parent first, so that it starts no further process.
    kill(process);
    started.into_iter().for_each(kill);
}

/// Kills this process and its descendants immediately, even if its threads hang.
pub fn end_now() -> ! {
    let own = std::process::id();
    descendants(own).into_iter().for_each(kill);
    kill(own);
    // Reached only if the signal could not be sent.
    std::process::abort()
}

fn kill(process: u32) {
    if let Some(pid) = i32::try_from(process).ok().and_then(Pid::from_raw) {
        // Ignore the error: the process may have ended already.
        let _ = kill_process(pid, Signal::KILL);
    }
}

/// Lists the descendants of a process as far as `/proc` shows them.
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

/// Returns true if a terminal or a debugger has stopped the process.
pub fn is_stopped(process: u32) -> bool {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // Search from the right, since the program name in parentheses may itself contain `)`.
    let state = text.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().next());
    matches!(state, Some("T" | "t"))
}
