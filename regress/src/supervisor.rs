//! Starts the process that runs tests, and goes on when it dies.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

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
/// other. A byte on it says how to end; when it closes, the one that held it is gone.
#[derive(Debug, Default)]
pub struct Leash {
    held: Mutex<Option<ChildStdin>>,
    pulled: AtomicBool,
}

/// What comes over a [`Leash`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pull {
    /// The tests at work are to be finished, and no others.
    Finish,
    /// The process is to end now.
    End,
}

const FINISH: u8 = b'f';
const END: u8 = b'e';

impl Leash {
    /// Has the run stopped, as Ctrl-C does: when its tests at work are finished, and the second time at
    /// once. Says which.
    pub fn pull(&self) -> Pull {
        let pull = if self.pulled.swap(true, Ordering::SeqCst) { Pull::End } else { Pull::Finish };
        self.say(pull);
        pull
    }

    /// Whether the run is to stop.
    pub fn is_pulled(&self) -> bool {
        self.pulled.load(Ordering::SeqCst)
    }

    fn held(&self) -> MutexGuard<'_, Option<ChildStdin>> {
        // Nothing that holds the lock can panic; and a poisoned one would do as well.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn say(&self, pull: Pull) {
        let byte = match pull {
            Pull::Finish => FINISH,
            Pull::End => END,
        };
        // Who does not hear it has ended.
        let _ = self.held().as_mut().map(|input| input.write_all(&[byte]));
    }

    /// Runs a process on this leash, to its end.
    fn run(&self, mut command: Command) -> Result<ExitStatus, SupervisorError> {
        let program = command.get_program().to_string_lossy().into_owned();
        let failed = |source| SupervisorError::Start { program: program.clone(), source };
        let mut child = command.stdin(Stdio::piped()).spawn().map_err(failed)?;
        *self.held() = child.stdin.take();
        if self.is_pulled() {
            self.say(Pull::Finish);
        }
        let ended = child.wait().map_err(failed);
        *self.held() = None;
        ended
    }
}

/// Listens on the other end of a [`Leash`], which is `input`, until it closes. Who finds its other end
/// closed finishes what is at work: nobody is left to say more.
pub fn listen(input: impl io::BufRead, mut pulled: impl FnMut(Pull)) {
    for byte in input.bytes() {
        match byte {
            Ok(END) => pulled(Pull::End),
            Ok(_) => pulled(Pull::Finish),
            Err(_) => break,
        }
    }
    pulled(Pull::Finish);
}

/// Runs `whole` to its end, and gives its exit status. When a signal ends it, the tests that were at
/// work in `dir` run by `alone`; those that die there too are written down as crashed, and `whole` is
/// started again, unless the leash was pulled.
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
        let Some(signal) = status.signal().filter(|_| !leash.is_pulled()) else { return Ok(status) };
        let how = death(signal);
        let suspects = running::suspects(dir)?;
        if suspects.is_empty() {
            return Err(SupervisorError::Died { how });
        }
        tell(&Event::Died { how: &how, suspects: suspects.len() });
        let mut died = Vec::new();
        for suspect in suspects.keys() {
            died.push(leash.run(alone(*suspect))?.signal());
            if leash.is_pulled() {
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
