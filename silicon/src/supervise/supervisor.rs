//! Restarts the worker until every program has a record or the time is up.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use crate::capture::{self, CaptureEntry, CaptureHeader, End, ProgramOutcome, ProgramRecord};
use crate::program::TestProgram;

/// Time limit for a worker to open the driver.
const START_LIMIT: Duration = Duration::from_secs(60);

/// Time limit for compiling a program. The launch limit of each launch is added.
const COMPILE_LIMIT: Duration = Duration::from_secs(60);

/// Time limit for reading the last messages of a worker that has ended.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Lost workers in a row after which the run stops.
const MOST_LOST: u32 = 3;

#[derive(Clone, Copy, Debug)]
pub struct CaptureProgress<'a> {
    pub done: usize,
    pub next: &'a str,
}

#[derive(Debug, thiserror::Error)]
pub enum CaptureRunError {
    #[error("cannot start the worker process")]
    Start(#[source] std::io::Error),
    /// The worker ended before it wrote a header. Contains the worker's message.
    #[error("{0}")]
    Refused(String),
    #[error("cannot write the capture")]
    Write(#[from] std::io::Error),
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct OutcomeTally {
    pub answered: u64,
    /// Number of programs that this GPU cannot run.
    pub skipped: u64,
    /// Name of each program that failed, with the reason.
    pub failed: Vec<(String, String)>,
    /// Name of each program that was still running, with the elapsed time.
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

pub struct Supervisor<C> {
    command: C,
    launch_limit: Duration,
    worker: Worker,
    header: CaptureHeader,
    started: Instant,
}

impl<C: Fn() -> Command> Supervisor<C> {
    /// Starts a worker with `command` and reads its header. The worker abandons a launch after
    /// `launch_limit`.
    ///
    /// # Errors
    /// [`CaptureRunError`], for example if there is no driver.
    pub fn start(command: C, launch_limit: Duration) -> Result<Supervisor<C>, CaptureRunError> {
        let started = Instant::now();
        let mut worker = Worker::start(&command)?;
        let header = worker.header()?;
        Ok(Supervisor { command, launch_limit, worker, header, started })
    }

    pub fn header(&self) -> &CaptureHeader {
        &self.header
    }

    /// Runs `programs` and writes each record when the program has ended. If a program is still running when
    /// `limit` has passed since the start, the run stops. That program gets no record.
    ///
    /// # Errors
    /// [`CaptureRunError`]. The lines written until then remain usable.
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
                stopped = Some(format!("the time limit of {} s was reached", limit.as_secs()));
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
                stopped = Some(format!("{MOST_LOST} programs in a row left the GPU unusable"));
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

struct WorkerAnswer {
    record: ProgramRecord,
    /// Record as the worker wrote it. `None` if the supervisor built the record.
    line: Option<String>,
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
                Err(CaptureRunError::Refused(format!(
                    "the first message of the worker is not a header: {other:?}"
                )))
            }
            Err(RecvTimeoutError::Timeout) => {
                self.end();
                let seconds = START_LIMIT.as_secs();
                Err(CaptureRunError::Refused(format!("the driver has not started within {seconds} s")))
            }
            Err(RecvTimeoutError::Disconnected) => Err(CaptureRunError::Refused(self.last_words())),
        }
    }

    /// Ends the worker, and returns the last messages that it wrote to standard error.
    fn last_words(&mut self) -> String {
        self.end();
        // The pipe closes when the process ends.
        let lines: Vec<String> = std::iter::from_fn(|| self.errors.recv_timeout(LAST_WORDS).ok()).collect();
        if lines.is_empty() { "the worker ended without a message".into() } else { lines.join("\n") }
    }

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
            Ok((other, _)) => made_up(ProgramOutcome::Failed(format!(
                "the worker sent something other than a record: {other:?}"
            ))),
            Err(RecvTimeoutError::Timeout) => made_up(ProgramOutcome::TimedOut(limit.as_secs())),
            Err(RecvTimeoutError::Disconnected) => {
                let words = self.last_words();
                made_up(ProgramOutcome::Failed(format!("the worker process ended: {words}")))
            }
        }
    }

    /// Ends the process. Only this resets a GPU on which a kernel hangs.
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
