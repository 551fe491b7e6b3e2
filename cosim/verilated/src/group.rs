//! The tools that a build runs: they end with this process, however it ends.

use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Condvar, Mutex, PoisonError};

/// The guard of a group. Its input ends when this process does, which a killed process cannot do for itself: a
/// compiler is a driver and its children, and the death of a parent reaches none of them.
const GUARD: &str = r#"
trap '' HUP INT TERM
read -r word
[ "$word" = done ] && exit
kill -TERM 0
rm -rf -- "$1"
sleep 1
rm -rf -- "$1" "$1.lock"
"#;

/// A process group for tools, and the folder they work in, which is removed with them.
#[derive(Debug)]
pub struct ToolGroup {
    guard: Child,
}

impl ToolGroup {
    /// Starts the guard of a group that works in `dir`.
    pub(crate) fn start(dir: &Path) -> io::Result<Self> {
        let mut guard = Command::new("/bin/sh");
        guard.args(["-c", GUARD, "atoms-build"]).arg(dir).current_dir("/").process_group(0);
        guard.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(Self { guard: guard.spawn()? })
    }

    /// Runs `command` to its end, when a core is free for it.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn run(&self, command: &mut Command) -> io::Result<Output> {
        let _turn = Turn::take();
        command.process_group(self.guard.id().cast_signed()).stdin(Stdio::null()).output()
    }
}

impl Drop for ToolGroup {
    fn drop(&mut self) {
        if let Some(mut input) = self.guard.stdin.take() {
            let _ = input.write_all(b"done\n");
        }
        let _ = self.guard.wait();
    }
}

/// The right to run a tool: this process runs as many at once as there are cores, whatever number of
/// libraries it builds. An optimizer takes a whole core and up to a gigabyte.
struct Turn;

static RUNNING: Mutex<usize> = Mutex::new(0);
static FREE: Condvar = Condvar::new();

impl Turn {
    fn take() -> Self {
        let cores = cores();
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        while *running >= cores {
            running = FREE.wait(running).unwrap_or_else(PoisonError::into_inner);
        }
        *running += 1;
        Self
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        *RUNNING.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        FREE.notify_one();
    }
}

/// Processors for this process: what Slurm gives its task, where it says so, else those that the machine lets it use.
pub fn cores() -> usize {
    let slurm = std::env::var("SLURM_CPUS_PER_TASK").ok().and_then(|cpus| cpus.parse().ok());
    slurm.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, Into::into))
}
