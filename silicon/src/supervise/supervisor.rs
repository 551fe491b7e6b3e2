//! Keeps a worker going until every program has its record, or the time is up.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use crate::capture::{self, CaptureEntry, CaptureHeader, End, ProgramOutcome, ProgramRecord};
use crate::program::TestProgram;

/// Longest that a worker may take to open the driver.
const START_LIMIT: Duration = Duration::from_secs(60);

/// Longest that compiling may take, and what is added for each launch.
const COMPILE_LIMIT: Duration = Duration::from_secs(60);

/// Longest that is waited for what a worker that has ended said last.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Workers that may be lost one after the other before it is given up.
const MOST_LOST: u32 = 3;

/// How far a run has come.
#[derive(Clone, Copy, Debug)]
pub struct CaptureProgress<'a> {
    pub done: usize,
    /// The program that comes next.
    pub next: &'a str,
}

/// Why there is no capture.
#[derive(Debug, thiserror::Error)]
pub enum CaptureRunError {
    /// A worker cannot be started.
    #[error("cannot start this program a second time")]
    Start(#[source] std::io::Error),
    /// The worker ended before it had anything to say but this.
    #[error("{0}")]
    Refused(String),
    /// The file cannot be written.
    #[error("cannot write the capture")]
    Write(#[from] std::io::Error),
}

/// What came of the programs of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OutcomeTally {
    pub answered: u64,
    /// Programs that are not for this GPU.
    pub skipped: u64,
    /// Name of each that failed, and why.
    pub failed: Vec<(String, String)>,
    /// Name of each that was still running, and for how long it had been.
    pub timed_out: Vec<(String, String)>,
}

impl OutcomeTally {
    fn count(&mut self, record: &ProgramRecord) {
        let name = || record.program.name.clone();
        match &record.outcome {
            ProgramOutcome::Outputs(_) => self.answered += 1,
            ProgramOutcome::Skipped(_) => self.skipped += 1,
            ProgramOutcome::Failed(why) => self.failed.push((name(), why.clone())),
            ProgramOutcome::TimedOut(seconds) => {
                self.timed_out.push((name(), format!("still running after {seconds} s")))
            }
        }
    }
}

/// A run: the first worker has told of its GPU.
pub struct Supervisor<C> {
    command: C,
    launch_limit: Duration,
    worker: Worker,
    header: CaptureHeader,
    started: Instant,
}

impl<C: Fn() -> Command> Supervisor<C> {
    /// Starts a worker with `command`, which gives a launch up after `launch_limit`, and hears what GPU it has.
    ///
    /// # Errors
    /// [`CaptureRunError`]; there is no driver, say.
    pub fn start(command: C, launch_limit: Duration) -> Result<Supervisor<C>, CaptureRunError> {
        let started = Instant::now();
        let mut worker = Worker::start(&command)?;
        let header = worker.header()?;
        Ok(Supervisor { command, launch_limit, worker, header, started })
    }

    /// What the worker said of its GPU.
    pub fn header(&self) -> &CaptureHeader {
        &self.header
    }

    /// Runs `programs` and writes the capture as it goes. A program that is still running when `limit` has passed since
    /// the start is given up without a record, and none follows.
    ///
    /// # Errors
    /// [`CaptureRunError`]; what has been written until then can be used.
    pub fn capture(
        mut self,
        programs: &[TestProgram],
        limit: Duration,
        mut file: impl Write,
        mut progress: impl FnMut(CaptureProgress<'_>),
    ) -> Result<(End, OutcomeTally), CaptureRunError> {
        capture::write_entry(&mut file, &CaptureEntry::Header(self.header.clone()))?;
        let (mut tally, mut records, mut stopped, mut lost) = (OutcomeTally::default(), 0, None, 0);
        for (number, program) in programs.iter().enumerate() {
            progress(CaptureProgress { done: number, next: &program.name });
            let left = limit.saturating_sub(self.started.elapsed());
            let longest = COMPILE_LIMIT + self.launch_limit * program.launches.len() as u32;
            let answer =
                if left.is_zero() { None } else { Some(self.worker.ask(number, program, longest.min(left))) };
            let Some(WorkerAnswer { record, line, usable }) =
                answer.filter(|_| self.started.elapsed() < limit)
            else {
                stopped = Some(format!("the time of {} s was up", limit.as_secs()));
                break;
            };
            tally.count(&record);
            match line {
                Some(line) => capture::write_line(&mut file, &line)?,
                None => capture::write_entry(&mut file, &CaptureEntry::Record(Box::new(record)))?,
            }
            records += 1;
            if usable {
                lost = 0;
                continue;
            }
            lost += 1;
            if lost == MOST_LOST {
                stopped = Some(format!("{MOST_LOST} programs one after the other left the GPU unusable"));
                break;
            }
            if let Err(error) = self.restart() {
                stopped = Some(format!("after `{}`: {error}", program.name));
                break;
            }
        }
        self.worker.end();
        let end = End { programs: programs.len() as u64, records, stopped };
        capture::write_entry(&mut file, &CaptureEntry::End(end.clone()))?;
        Ok((end, tally))
    }

    fn restart(&mut self) -> Result<(), CaptureRunError> {
        self.worker.end();
        self.worker = Worker::start(&self.command)?;
        self.worker.header().map(drop)
    }
}

/// What came of a program.
struct WorkerAnswer {
    record: ProgramRecord,
    /// The record as the worker wrote it; `None` where it did not.
    line: Option<String>,
    /// The worker can go on.
    usable: bool,
}

struct Worker {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    errors: Receiver<String>,
}

impl Worker {
    fn start(command: impl Fn() -> Command) -> Result<Worker, CaptureRunError> {
        let mut child = command()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(CaptureRunError::Start)?;
        let input = child.stdin.take();
        let lines = listen(child.stdout.take());
        let errors = listen(child.stderr.take());
        Ok(Worker { child, input, lines, errors })
    }

    fn header(&mut self) -> Result<CaptureHeader, CaptureRunError> {
        match self.lines.recv_timeout(START_LIMIT).map(|line| capture::read_entry(&line)) {
            Ok(Ok(CaptureEntry::Header(header))) => Ok(header),
            Ok(other) => {
                self.end();
                Err(CaptureRunError::Refused(format!("the worker does not begin with a header: {other:?}")))
            }
            Err(RecvTimeoutError::Timeout) => {
                self.end();
                let seconds = START_LIMIT.as_secs();
                Err(CaptureRunError::Refused(format!("the driver has not started within {seconds} s")))
            }
            Err(RecvTimeoutError::Disconnected) => Err(CaptureRunError::Refused(self.last_words())),
        }
    }

    /// What the worker said before it ended.
    fn last_words(&mut self) -> String {
        self.end();
        // Until the pipe ends, which it does with the process.
        let lines: Vec<String> = std::iter::from_fn(|| self.errors.recv_timeout(LAST_WORDS).ok()).collect();
        if lines.is_empty() { "the worker ended without a word".into() } else { lines.join("\n") }
    }

    /// Has a program carried out, for which is waited until `limit`.
    fn ask(&mut self, number: usize, program: &TestProgram, limit: Duration) -> WorkerAnswer {
        let asked = Instant::now();
        let told = self
            .input
            .as_mut()
            .is_some_and(|input| writeln!(input, "{number}").is_ok() && input.flush().is_ok());
        let answer = if told { self.lines.recv_timeout(limit) } else { Err(RecvTimeoutError::Disconnected) };
        let made_up = |outcome: ProgramOutcome| {
            let seconds = asked.elapsed().as_secs_f64();
            let record = ProgramRecord { program: program.clone(), outcome, code: None, seconds };
            WorkerAnswer { record, line: None, usable: false }
        };
        match answer.map(|line| (capture::read_entry(&line), line)) {
            Ok((Ok(CaptureEntry::Record(record)), line)) => {
                let usable =
                    matches!(record.outcome, ProgramOutcome::Outputs(_) | ProgramOutcome::Skipped(_))
                        || matches!(&record.outcome, ProgramOutcome::Failed(_) if record.code.is_none());
                WorkerAnswer { record: *record, line: Some(line), usable }
            }
            Ok((other, _)) => {
                made_up(ProgramOutcome::Failed(format!("the worker said something else: {other:?}")))
            }
            Err(RecvTimeoutError::Timeout) => made_up(ProgramOutcome::TimedOut(limit.as_secs())),
            Err(RecvTimeoutError::Disconnected) => {
                let words = self.last_words();
                made_up(ProgramOutcome::Failed(format!("the process ended: {words}")))
            }
        }
    }

    /// Ends the process: only that resets a GPU on which a kernel hangs.
    fn end(&mut self) {
        self.input = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.end();
    }
}

/// Lines of a pipe, as they come.
fn listen(pipe: Option<impl std::io::Read + Send + 'static>) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in pipe.into_iter().flat_map(|pipe| BufReader::new(pipe).lines()).map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    receiver
}
