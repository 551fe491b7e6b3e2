//! Starts the process that runs tests, and restarts it when it dies or hangs.

use std::collections::{BTreeSet, HashMap};
use std::io::{self, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::run::journal::{self, AtWork, Crash, Suspect};
use crate::run::processes::{end_now, is_stopped, kill_tree};
use crate::run::store::StoreError;
use crate::triage::death::Death;

/// Error of supervision itself, not of a test.
#[derive(Debug, thiserror::Error)]
pub enum SupervisorError {
    #[error("cannot start `{0}`: {1}")]
    Start(String, io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The process died while no test was in progress, so there is no suspect.
    #[error(
        "the process that runs the tests died ({0}) while no test was in progress; continue from the last checkpoint with `atoms regress resume`"
    )]
    Died(Death),
}

#[derive(Clone, Debug)]
pub enum SupervisorEvent<'a> {
    /// The process died; the tests in progress now run alone.
    Died { how: &'a str, suspects: usize },
    /// The process was killed because these tests showed no progress.
    Hung {
        /// Indices in the plan.
        tests: &'a [u64],
    },
    /// The run resumes without these tests.
    GoesOn {
        /// Indices of the tests recorded as crashed.
        crashed: &'a [u64],
    },
}

/// Control channel from the supervisor to the process that runs tests: the standard input of that process. A
/// byte asks the process to finish. End of file means that the supervisor has ended.
#[derive(Debug, Default)]
pub struct ControlPipe {
    held: Mutex<Option<ChildStdin>>,
    stopping: AtomicBool,
    ended: AtomicBool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopMode {
    /// Tests in progress finish; no other test starts.
    Finish,
    /// The process is killed immediately.
    End,
}

#[derive(Debug)]
pub struct ProcessEnd {
    pub status: ExitStatus,
    /// Tasks in progress when the process died; empty if it exited by itself.
    pub at_work: Vec<AtWork>,
    /// True if the supervisor killed the process because it hung. Then `at_work` holds only the tasks that
    /// hung.
    pub hung: bool,
}

impl ProcessEnd {
    /// Returns the cause of death, or `None` if the process exited by itself.
    pub fn died(&self) -> Option<Death> {
        let by_signal = || self.status.signal().map(Death::Signal);
        self.at_work.first().map(|at| self.death(at)).or_else(by_signal)
    }

    fn death(&self, at: &AtWork) -> Death {
        match (self.hung, self.status.signal()) {
            (true, _) => Death::Hung(at.patience.as_secs()),
            (false, Some(signal)) => Death::Signal(signal),
            (false, None) => Death::Exit(self.status.code().unwrap_or_default()),
        }
    }
}

const FINISH: u8 = b'f';

/// Time between checks for the exit of the process.
const POLL: Duration = Duration::from_millis(10);

/// Time between reads of the journals.
const LOOK: Duration = Duration::from_millis(500);

impl ControlPipe {
    /// Stops the run, as Ctrl-C does. The first call lets the tests in progress finish; the second kills the
    /// process.
    pub fn stop(&self) -> StopMode {
        if self.stopping.swap(true, Ordering::SeqCst) {
            self.ended.store(true, Ordering::SeqCst);
            return StopMode::End;
        }
        self.finish();
        StopMode::Finish
    }

    pub fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::SeqCst)
    }

    fn held(&self) -> MutexGuard<'_, Option<ChildStdin>> {
        // No code can panic while it holds the lock, and a poisoned lock would be usable too.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn finish(&self) {
        // Ignore the error: a process that cannot read the byte has ended.
        let _ = self.held().as_mut().map(|input| input.write_all(&[FINISH]));
    }

    /// Runs a process on this pipe to its end. The workers of the process keep their journals in `dir`. Kills
    /// the process when a worker hangs, or at the second call of [`ControlPipe::stop`].
    ///
    /// # Errors
    /// [`SupervisorError`].
    pub fn run(&self, mut command: Command, dir: &Path) -> Result<ProcessEnd, SupervisorError> {
        let program = command.get_program().to_string_lossy().into_owned();
        let failed = |source| SupervisorError::Start(program.clone(), source);
        let mut child = command.stdin(Stdio::piped()).spawn().map_err(failed)?;
        *self.held() = child.stdin.take();
        if self.is_stopping() {
            self.finish();
        }
        let mut watch = Watch { process: child.id(), seen: HashMap::new(), looked: Instant::now() };
        let mut hung = Vec::new();
        let status = loop {
            if let Some(status) = child.try_wait().map_err(failed)? {
                break status;
            }
            let ends = self.ended.load(Ordering::SeqCst);
            if !ends && watch.looked.elapsed() >= LOOK {
                hung = watch.look(dir)?;
            }
            if ends || !hung.is_empty() {
                kill_tree(child.id());
                break child.wait().map_err(failed)?;
            }
            std::thread::sleep(POLL);
        };
        *self.held() = None;
        if !hung.is_empty() {
            return Ok(ProcessEnd { status, at_work: hung, hung: true });
        }
        let at_work = journal::at_work(dir, watch.process)?.into_iter().map(|(_, at_work)| at_work).collect();
        Ok(ProcessEnd { status, at_work, hung: false })
    }
}

/// Watchdog for the workers of a process.
struct Watch {
    process: u32,
    /// Time since the last heartbeat, by the journal line that each worker last showed.
    seen: HashMap<String, Duration>,
    looked: Instant,
}

/// Upper bound of the time counted between two reads. A longer gap means that the machine or the supervisor
/// was suspended.
const MOST_BETWEEN_LOOKS: Duration = Duration::from_secs(2);

impl Watch {
    fn look(&mut self, dir: &Path) -> Result<Vec<AtWork>, SupervisorError> {
        let passed = self.looked.elapsed().min(MOST_BETWEEN_LOOKS);
        self.looked = Instant::now();
        // Time in a debugger does not count.
        let passed = if is_stopped(self.process) { Duration::ZERO } else { passed };
        let before = std::mem::take(&mut self.seen);
        let mut hung = Vec::new();
        for (shown, at_work) in journal::at_work(dir, self.process)? {
            let quiet = before.get(&shown).map_or(Duration::ZERO, |quiet| *quiet + passed);
            if quiet >= at_work.patience {
                hung.push(at_work);
            }
            self.seen.insert(shown, quiet);
        }
        Ok(hung)
    }
}

/// Reads the other end of a [`ControlPipe`] and calls `finish` for each byte. At end of file the supervisor
/// has ended, so this process kills itself and its descendants.
pub fn listen(input: impl io::BufRead, mut finish: impl FnMut()) -> ! {
    for byte in input.bytes() {
        match byte {
            Ok(_) => finish(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    end_now()
}

/// Runs `whole` until it exits by itself, and returns its exit status. When the process dies, each test in
/// progress runs in its own process, started by `alone`. Tests that die again are recorded as crashed, and
/// `whole` starts again unless the pipe asked to stop. Tests that hang are recorded at once.
///
/// # Errors
/// [`SupervisorError`].
pub fn supervise(
    dir: &Path,
    whole: impl Fn() -> Command,
    alone: impl Fn(Suspect) -> Command,
    pipe: &ControlPipe,
    mut tell: impl FnMut(&SupervisorEvent),
) -> Result<ExitStatus, SupervisorError> {
    let mut unexplained = BTreeSet::new();
    loop {
        let ended = pipe.run(whole(), dir)?;
        let status = ended.status;
        if ended.hung {
            let mut tests = Vec::new();
            for at in &ended.at_work {
                tests.push(write_down(dir, at, Death::Hung(at.patience.as_secs()), false)?);
            }
            journal::clear(dir)?;
            tell(&SupervisorEvent::Hung { tests: &tests });
            if pipe.is_stopping() {
                return Ok(status);
            }
            continue;
        }
        if pipe.is_stopping() {
            return Ok(status);
        }
        let Some(first) = ended.at_work.first() else {
            return match status.signal() {
                Some(signal) => Err(SupervisorError::Died(Death::Signal(signal))),
                None => Ok(status),
            };
        };
        let death = ended.death(first);
        let how = death.to_string();
        let mut suspects = ended.at_work;
        suspects.sort_by_key(|at| at.what);
        tell(&SupervisorEvent::Died { how: &how, suspects: suspects.len() });
        let mut died = Vec::new();
        for suspect in &mut suspects {
            let ended = pipe.run(alone(suspect.what), dir)?;
            died.push(ended.died());
            // Record the episode in which the test died alone. If the test did not die alone, keep the
            // episode that was in progress when the process of all tests died; `None` if there was no episode.
            let at = ended.at_work.into_iter().find(|at| at.what == suspect.what);
            suspect.episode = at.and_then(|at| at.episode).or(suspect.episode.take());
            if pipe.is_stopping() {
                return Ok(status);
            }
        }
        // A test that dies alone explains the death of the process, and the other suspects are dropped. If no
        // test dies alone, suspects that were also present at an earlier unexplained death are recorded.
        let explained = died.iter().any(Option::is_some);
        let mut crashed = Vec::new();
        for (at, died) in suspects.iter().zip(died) {
            let beside_others = died.is_none();
            if beside_others && (explained || unexplained.insert(at.what)) {
                continue;
            }
            crashed.push(write_down(dir, at, died.unwrap_or(death), beside_others)?);
        }
        journal::clear(dir)?;
        tell(&SupervisorEvent::GoesOn { crashed: &crashed });
    }
}

fn write_down(dir: &Path, at: &AtWork, death: Death, beside_others: bool) -> Result<u64, StoreError> {
    let (index, bundle) = match at.what {
        Suspect::Test(index) => (index, false),
        Suspect::Bundle(index) => (index, true),
    };
    let episode = at.episode.clone();
    journal::write_crash(dir, index, &Crash { death, beside_others, episode, bundle })?;
    Ok(index)
}
