//! Processes that tests start: finds and signals them, and ends them with their descendants.

use std::ops::{Deref, DerefMut};
use std::process::{Child, Command, Output};
use std::time::{Duration, Instant};

pub use rustix::process::Signal;
use rustix::process::{Pid, kill_process, kill_process_group};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    pub pid: u32,
    /// Process that started this one, or adopted it.
    pub parent: u32,
    pub group: u32,
    /// Program and arguments, each followed by a space.
    pub words: String,
    /// Environment at the start of the process, as `NAME=VALUE`.
    pub environment: Vec<String>,
}

impl Process {
    /// Reads a process. Returns None if it has ended. A process of another user has an empty environment.
    pub fn read(pid: u32) -> Option<Process> {
        let file = |name: &str| std::fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
        let stat = file("stat");
        let stat = String::from_utf8_lossy(&stat);
        // State, parent and group follow the name, which may itself contain `)`.
        let mut behind = stat.rsplit_once(')')?.1.split_whitespace();
        if matches!(behind.next()?, "Z" | "X") {
            return None;
        }
        let (parent, group) = (behind.next()?.parse().ok()?, behind.next()?.parse().ok()?);
        let words = String::from_utf8_lossy(&file("cmdline")).replace('\0', " ");
        let environment = file("environ");
        let environment = environment.split(|byte| *byte == 0).filter(|variable| !variable.is_empty());
        let environment = environment.map(|text| String::from_utf8_lossy(text).into_owned()).collect();
        Some(Process { pid, parent, group, words, environment })
    }
}

pub fn running(wanted: impl Fn(&Process) -> bool) -> Vec<Process> {
    let entries = std::fs::read_dir("/proc").expect("this is Linux");
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    pids.filter_map(Process::read).filter(wanted).collect()
}

/// Returns the matching processes that still run after five seconds. Killed processes need time to disappear.
pub fn left(wanted: impl Fn(&Process) -> bool) -> Vec<Process> {
    let begun = Instant::now();
    loop {
        let left = running(&wanted);
        if left.is_empty() || begun.elapsed() > Duration::from_secs(5) {
            return left;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Sends a signal to a process. Returns false if the process has ended or belongs to another user.
pub fn signal(pid: u32, signal: Signal) -> bool {
    number(pid).is_some_and(|pid| kill_process(pid, signal).is_ok())
}

/// Sends a signal to a process group. Returns false if no process of the group is left.
pub fn signal_group(group: u32, signal: Signal) -> bool {
    number(group).is_some_and(|group| kill_process_group(group, signal).is_ok())
}

fn number(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}

pub fn descendants(pid: u32) -> Vec<Process> {
    let all = running(|_| true);
    let mut found: Vec<Process> = Vec::new();
    let mut parents = vec![pid];
    while let Some(parent) = parents.pop() {
        let children = all.iter().filter(|process| process.parent == parent);
        parents.extend(children.clone().map(|child| child.pid));
        found.extend(children.cloned());
    }
    found
}

/// Child process that is killed on drop, together with its descendants.
#[derive(Debug)]
pub struct Tree(Option<Child>);

impl Tree {
    /// # Panics
    /// The command does not start.
    pub fn start(mut command: Command) -> Tree {
        let name = command.get_program().display().to_string();
        Tree(Some(command.spawn().unwrap_or_else(|error| panic!("{name} does not start: {error}"))))
    }

    pub fn wait_with_output(mut self) -> Output {
        self.0.take().expect("only this takes it").wait_with_output().expect("its pipes can be read")
    }
}

impl Deref for Tree {
    type Target = Child;

    fn deref(&self) -> &Child {
        self.0.as_ref().expect("it is there until it is waited for")
    }
}

impl DerefMut for Tree {
    fn deref_mut(&mut self) -> &mut Child {
        self.0.as_mut().expect("it is there until it is waited for")
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let Some(child) = &mut self.0 else { return };
        let below = descendants(child.id());
        let _ = child.kill();
        let _ = child.wait();
        for process in below {
            signal(process.pid, Signal::KILL);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Stdio;

    use super::*;

    /// Returns a command for a shell that starts another shell, which starts a program that runs for 600 s.
    fn shells(mark: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", "sh -c 'sleep 600 & wait' & wait"]).env("ATOMS_MARK", mark).stdin(Stdio::null());
        command
    }

    fn marked(mark: &str) -> impl Fn(&Process) -> bool {
        let variable = format!("ATOMS_MARK={mark}.{}", std::process::id());
        move |process| process.environment.contains(&variable)
    }

    fn started(mark: &str) -> Tree {
        let tree = Tree::start(shells(&format!("{mark}.{}", std::process::id())));
        let begun = Instant::now();
        while !running(marked(mark)).iter().any(|process| process.words == "sleep 600 ") {
            assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", running(marked(mark)));
            std::thread::sleep(Duration::from_millis(10));
        }
        tree
    }

    #[test]
    fn a_tree_ends_with_all_that_it_started() {
        let tree = started("tree");
        let all = running(marked("tree"));
        assert_eq!(all.len(), 3, "{all:?}");
        assert_eq!(descendants(tree.id()).len(), 2);
        drop(tree);
        assert_eq!(left(marked("tree")), []);
    }

    #[test]
    fn a_tree_ends_with_a_test_that_panics() {
        let panicked = std::panic::catch_unwind(|| {
            let _tree = started("panic");
            std::panic::resume_unwind(Box::new("on purpose"));
        });
        assert_eq!(panicked.expect_err("it panics").downcast_ref(), Some(&"on purpose"));
        assert_eq!(left(marked("panic")), []);
    }

    #[test]
    fn a_killed_process_is_not_running_before_it_is_waited_for() {
        let mut child = Command::new("sleep").arg("600").spawn().expect("sleep starts");
        assert!(signal(child.id(), Signal::KILL));
        assert_eq!(left(|process| process.pid == child.id()), []);
        child.wait().expect("it was started");
        assert!(!signal(child.id(), Signal::KILL), "it is gone");
    }
}
