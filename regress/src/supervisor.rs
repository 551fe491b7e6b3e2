//! Starts the process that runs tests, and goes on when it dies.

use std::collections::BTreeSet;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ChildStdin, Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::running::{self, Crash, Suspect};
use crate::store::StoreError;

/// Why a run cannot be supervised.
#[derive(Debug, thiserror::Error)]
pub enum SupervisorError {
    /// A process cannot be started.
    #[error("cannot start `{program}`: {source}")]
    Start {
        /// The program.
        program: String,
        /// The cause.
        source: io::Error,
    },
    /// The folder cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// It died while no test was at work.
    #[error("the process that runs the tests died ({how}) while no test was at work")]
    Died {
        /// How.
        how: String,
    },
}

/// What happens, for whoever tells people.
#[derive(Clone, Debug)]
pub enum Event<'a> {
    /// The process died; these were at work and are now run alone.
    Died {
        /// How.
        how: &'a str,
        /// How many were at work.
        suspects: usize,
    },
    /// The run goes on without these.
    GoesOn {
        /// Tests that are crashes.
        crashed: &'a [u64],
    },
}

/// What ties the process that runs tests to the one that started it: the input of the one, held by the
/// other. When it closes, for whatever reason, the run is to be stopped.
#[derive(Debug, Default)]
pub struct Leash {
    held: Mutex<Option<ChildStdin>>,
    cut: AtomicBool,
}

impl Leash {
    /// Has the run stopped, as Ctrl-C does.
    pub fn cut(&self) {
        self.cut.store(true, Ordering::SeqCst);
        self.hold(None);
    }

    /// Whether it was cut.
    pub fn is_cut(&self) -> bool {
        self.cut.load(Ordering::SeqCst)
    }

    fn hold(&self, input: Option<ChildStdin>) {
        // Nothing that holds the lock can panic; and a poisoned one would do as well.
        *self.held.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = input;
    }

    /// Runs a process on this leash, to its end.
    fn run(&self, mut command: Command) -> Result<ExitStatus, SupervisorError> {
        let program = command.get_program().to_string_lossy().into_owned();
        let failed = |source| SupervisorError::Start { program: program.clone(), source };
        let mut child = command.stdin(Stdio::piped()).spawn().map_err(failed)?;
        self.hold(child.stdin.take());
        if self.is_cut() {
            self.hold(None);
        }
        child.wait().map_err(failed)
    }
}

/// Waits on the other end of a [`Leash`], until it is cut.
pub fn wait_for_the_end_of_the_leash() {
    let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
}

/// Runs `whole` to its end, and gives its exit status. When a signal ends it, the tests that were at
/// work in `dir` run by `alone`; those that die there too are written down as crashed, and `whole` is
/// started again, unless the leash was cut.
///
/// # Errors
/// [`SupervisorError`].
pub fn supervise(
    dir: &Path,
    whole: impl Fn() -> Command,
    alone: impl Fn(Suspect) -> Command,
    leash: &Leash,
    mut tell: impl FnMut(&Event),
) -> Result<ExitStatus, SupervisorError> {
    let mut unexplained = BTreeSet::new();
    loop {
        let status = leash.run(whole())?;
        let Some(signal) = status.signal().filter(|_| !leash.is_cut()) else { return Ok(status) };
        let how = death(signal);
        let suspects = running::suspects(dir)?;
        if suspects.is_empty() {
            return Err(SupervisorError::Died { how });
        }
        tell(&Event::Died { how: &how, suspects: suspects.len() });
        let mut died = Vec::new();
        for suspect in suspects.keys() {
            died.push(leash.run(alone(*suspect))?.signal());
            if leash.is_cut() {
                return Ok(status);
            }
        }
        // Who dies alone explains why the process did; the others only were there. If nobody does, those are
        // named who were there before.
        let explained = died.iter().any(Option::is_some);
        let mut crashed = Vec::new();
        for ((suspect, episode), died) in suspects.into_iter().zip(died) {
            let how = match died {
                Some(signal) => death(signal),
                None if explained || unexplained.insert(suspect) => continue,
                None => format!("{how} while others ran beside it; alone it comes to its end"),
            };
            let (index, bundle) = match suspect {
                Suspect::Test(index) => (index, false),
                Suspect::Bundle(index) => (index, true),
            };
            let crash = Crash { signal: died.or(Some(signal)), how, episode, bundle };
            running::write_crash(dir, index, &crash)?;
            crashed.push(index);
        }
        running::clear(dir)?;
        tell(&Event::GoesOn { crashed: &crashed });
    }
}

/// A signal by number and name.
fn death(signal: i32) -> String {
    let name = match signal {
        4 => " (SIGILL)",
        6 => " (SIGABRT)",
        7 => " (SIGBUS)",
        8 => " (SIGFPE)",
        9 => " (SIGKILL)",
        11 => " (SIGSEGV)",
        15 => " (SIGTERM)",
        _ => "",
    };
    format!("signal {signal}{name}")
}
