//! Starts the process that runs tests, and goes on when it dies or hangs.

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

/// Why a run cannot be supervised.
#[derive(Debug, thiserror::Error)]
pub enum SupervisorError {
    /// A process cannot be started.
    #[error("cannot start `{0}`: {1}")]
    Start(String, io::Error),
    /// The folder cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// It died in this way while no test was at work.
    #[error(
        "the process that runs the tests died ({0}) while no test was at work; `atoms regress resume` goes on from its last checkpoint"
    )]
    Died(Death),
}

/// What happens to the process, to be shown.
#[derive(Clone, Debug)]
pub enum SupervisorEvent<'a> {
    /// The process died; these were at work and are now run alone.
    Died {
        /// How.
        how: &'a str,
        /// How many were at work.
        suspects: usize,
    },
    /// The process was killed, since these tests showed no progress.
    Hung {
        /// Their numbers.
        tests: &'a [u64],
    },
    /// The run goes on without these.
    GoesOn {
        /// Tests that are crashes.
        crashed: &'a [u64],
    },
}

/// What ties the process that runs tests to the one that started it: the input of the one, held by the
/// other. A byte on it says to finish; when it closes, the other process has ended.
#[derive(Debug, Default)]
pub struct ControlPipe {
    held: Mutex<Option<ChildStdin>>,
    stopping: AtomicBool,
    ended: AtomicBool,
}

/// What [`ControlPipe::stop`] asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopMode {
    /// The tests at work are to be finished, and no others.
    Finish,
    /// The process is killed now.
    End,
}

/// How a process on a [`ControlPipe`] ended.
#[derive(Debug)]
pub struct ProcessEnd {
    /// Its exit status.
    pub status: ExitStatus,
    /// What it was at: nothing, if it came to an end of its own.
    pub at_work: Vec<AtWork>,
    /// Whether it was killed because it hung; what did is then in `at_work`, and nothing else.
    pub hung: bool,
}

impl ProcessEnd {
    /// How it died, unless it came to an end of its own.
    pub fn died(&self) -> Option<Death> {
        let by_signal = || self.status.signal().map(Death::Signal);
        self.at_work.first().map(|at| self.death(at)).or_else(by_signal)
    }

    /// How it died at what it was at.
    fn death(&self, at: &AtWork) -> Death {
        match (self.hung, self.status.signal()) {
            (true, _) => Death::Hung(at.patience.as_secs()),
            (false, Some(signal)) => Death::Signal(signal),
            (false, None) => Death::Exit(self.status.code().unwrap_or_default()),
        }
    }
}

const FINISH: u8 = b'f';

/// Time between looks whether the process has ended.
const POLL: Duration = Duration::from_millis(10);

/// Time between looks at what it is at.
const LOOK: Duration = Duration::from_millis(500);

impl ControlPipe {
    /// Has the run stopped, as Ctrl-C does: when its tests at work are finished, and the second time at
    /// once. Says which.
    pub fn stop(&self) -> StopMode {
        if self.stopping.swap(true, Ordering::SeqCst) {
            self.ended.store(true, Ordering::SeqCst);
            return StopMode::End;
        }
        self.finish();
        StopMode::Finish
    }

    /// Whether the run is to stop.
    pub fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::SeqCst)
    }

    fn held(&self) -> MutexGuard<'_, Option<ChildStdin>> {
        // Nothing that holds the lock can panic; and a poisoned one would do as well.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn finish(&self) {
        // A process that does not hear it has ended.
        let _ = self.held().as_mut().map(|input| input.write_all(&[FINISH]));
    }

    /// Runs a process on this pipe to its end, whose workers keep their journals in `dir`. It is killed when
    /// one of them hangs, or when the pipe asks to stop for the second time.
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

/// Looks for signs of life of the workers of a process.
struct Watch {
    process: u32,
    /// What each worker last showed, and how long ago.
    seen: HashMap<String, Duration>,
    looked: Instant,
}

/// More time than this between two looks was not all the process's: the machine, or this process, was
/// stopped meanwhile.
const MOST_BETWEEN_LOOKS: Duration = Duration::from_secs(2);

impl Watch {
    /// What hangs.
    fn look(&mut self, dir: &Path) -> Result<Vec<AtWork>, SupervisorError> {
        let passed = self.looked.elapsed().min(MOST_BETWEEN_LOOKS);
        self.looked = Instant::now();
        // In a debugger time does not count.
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

/// Listens on the other end of a [`ControlPipe`], which is `input`, and says when the tests at work are to be the
/// last. When it closes, the process that held the pipe has ended, and this one ends with all that it has
/// started.
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

/// Runs `whole` to its end, and gives its exit status. When it dies, the tests that were at
/// work in `dir` run by `alone`; those that die there too are written down as crashed, and `whole` is
/// started again, unless the pipe asked to stop. Tests that hang are written down at once.
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
            // When another test ended the process, this one may not have begun a random run.
            let at = ended.at_work.into_iter().find(|at| at.what == suspect.what);
            suspect.episode = at.and_then(|at| at.episode).or(suspect.episode.take());
            if pipe.is_stopping() {
                return Ok(status);
            }
        }
        // A test that dies alone explains why the process did; the others only were there. If none does, those
        // are named that were there before.
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

/// Writes down how a test died; gives its number.
fn write_down(dir: &Path, at: &AtWork, death: Death, beside_others: bool) -> Result<u64, StoreError> {
    let (index, bundle) = match at.what {
        Suspect::Test(index) => (index, false),
        Suspect::Bundle(index) => (index, true),
    };
    let episode = at.episode.clone();
    journal::write_crash(dir, index, &Crash { death, beside_others, episode, bundle })?;
    Ok(index)
}
