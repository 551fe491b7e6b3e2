//! Writer thread: compares, formats and writes the values of a trace, so that the simulation does not wait.

use std::io;
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender, bounded};

use crate::batch::Batch;
use crate::format::Format;
use crate::values::{Deferred, WaveValues};

/// Maximum number of batches in flight. Beyond it, the trace waits for the file.
const AHEAD: usize = 8;

#[derive(Debug)]
pub(crate) struct Writer<T: Default> {
    jobs: Option<Sender<Job<T>>>,
    used: Receiver<Batch<T>>,
    thread: Option<JoinHandle<io::Result<()>>>,
}

#[derive(Debug)]
enum Job<T> {
    Write(Batch<T>),
    /// Flush the file, then drop the sender.
    Flush(Sender<()>),
}

impl<T: Default> Writer<T> {
    pub(crate) fn new(
        mut format: impl Format + 'static,
        mut values: WaveValues,
        mut deferred: impl Deferred<Cycle = T>,
    ) -> io::Result<Self>
    where
        T: Send + 'static,
    {
        let (jobs, to_do) = bounded(AHEAD);
        let (give_back, used) = bounded(AHEAD);
        let work = move || {
            for job in to_do {
                match job {
                    Job::Write(mut batch) => {
                        values.take(&batch, &mut deferred, &mut format)?;
                        batch.clear();
                        // The channel is full or closed, so drop the batch.
                        let _ = give_back.try_send(batch);
                    }
                    Job::Flush(done) => {
                        format.flush()?;
                        drop(done);
                    }
                }
            }
            format.flush()
        };
        let thread = std::thread::Builder::new().name("wave".into()).spawn(work)?;
        Ok(Writer { jobs: Some(jobs), used, thread: Some(thread) })
    }

    pub(crate) fn write(&mut self, batch: &mut Batch<T>) -> io::Result<()> {
        let full = std::mem::replace(batch, self.used.try_recv().unwrap_or_default());
        self.give(Job::Write(full))
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        let (done, wait) = bounded(0);
        self.give(Job::Flush(done))?;
        // The sender is dropped after the flush, or when the thread fails. No message is sent.
        let _ = wait.recv();
        if self.thread.as_ref().is_some_and(JoinHandle::is_finished) { self.finish() } else { Ok(()) }
    }

    fn give(&mut self, job: Job<T>) -> io::Result<()> {
        match self.jobs.as_ref().map(|jobs| jobs.send(job)) {
            Some(Ok(())) => Ok(()),
            // The thread has ended. `finish` returns its error.
            Some(Err(_)) | None => self.finish(),
        }
    }

    /// Completes the file. Reports an error only once.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        self.jobs = None;
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(result)) => result,
            Some(Err(_)) => Err(io::Error::other("the thread that writes the wave panicked")),
            None => Ok(()),
        }
    }
}

impl<T: Default> Drop for Writer<T> {
    fn drop(&mut self) {
        // To get the error, call `finish`.
        let _ = self.finish();
    }
}
