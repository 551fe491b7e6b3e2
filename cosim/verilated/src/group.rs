//! Tools that a build runs. They end with this process, even if it is killed.

use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Condvar, Mutex, PoisonError};

/// Script of the guard of a group. The guard's input ends when this process ends, even if it is killed. The
/// guard then kills the group: a compiler driver and its children do not notice the death of their parent.
const GUARD: &str = r#"
trap '' HUP INT TERM
read -r word
[ "$word" = done ] && exit
kill -TERM 0
rm -rf -- "$1"
sleep 1
rm -rf -- "$1" "$1.lock"
"#;

/// A process group for tools. If this process dies, the guard ends the tools and removes their folder.
#[derive(Debug)]
pub struct ToolGroup {
    guard: Child,
}

impl ToolGroup {
    pub(crate) fn start(dir: &Path) -> io::Result<Self> {
        let mut guard = Command::new("/bin/sh");
        guard.args(["-c", GUARD, "atoms-build"]).arg(dir).current_dir("/").process_group(0);
        guard.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(Self { guard: guard.spawn()? })
    }

    /// Runs `command` to its end, as soon as a core is free.
    ///
    /// # Errors
    /// The I/O error, if the command cannot be started.
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

/// Permission to run a tool, for one tool per core: an optimizer takes a core and up to a gigabyte.
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

/// Returns `SLURM_CPUS_PER_TASK` if it is set, else the number of processors that the system allows.
pub fn cores() -> usize {
    let slurm = std::env::var("SLURM_CPUS_PER_TASK").ok().and_then(|cpus| cpus.parse().ok());
    slurm.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, Into::into))
}
