//! Transfers changes from a reader thread to the merging thread.

use std::ops::ControlFlow;

use crossbeam_channel::{Receiver, Sender, bounded};

use crate::reader::{ClockLevel, Position};
use crate::{RawValue, Slot, Slots, WaveExtent, WaveFile, WaveReadError};

/// A batch is sent at the end of a time step, when it holds this many changes or bytes.
const CHANGES: usize = 1 << 15;
const BYTES: usize = 1 << 19;
/// Maximum bytes of one time step in a batch, since a signal may change any number of times in it.
const STEP_BYTES: usize = 1 << 26;
const WAITING: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Bits,
    Text,
    Real,
    Event,
}

/// A change. `start..end` is its value in the bytes of the batch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    pub(super) slot: u32,
    pub(super) form: Form,
    start: u32,
    end: u32,
}

#[derive(Clone, Copy, Debug)]
struct TimeStep {
    time: u64,
    /// Index in [`Batch::changes`] after the last change at this time.
    end: u32,
    /// True if the clock rises at this time.
    rises: bool,
}

#[derive(Debug, Default)]
pub(super) struct Batch {
    steps: Vec<TimeStep>,
    changes: Vec<Change>,
    bytes: Vec<u8>,
}

pub(super) enum Message {
    Changes(Batch),
    End(Result<WaveExtent, WaveReadError>),
}

pub(super) struct Steps {
    messages: Receiver<Message>,
    used: Sender<Batch>,
    batch: Batch,
    at: usize,
    /// Extent of the file; `None` until the file is read.
    extent: Option<WaveExtent>,
}

/// Creates both ends of the channel: for the reader thread, and for the merging thread.
pub(super) fn pipe() -> (Feed, Steps) {
    let (send, messages) = bounded(WAITING);
    let (used, free) = bounded(WAITING + 2);
    (Feed { send, free }, Steps { messages, used, batch: Batch::default(), at: 0, extent: None })
}

pub(super) struct Feed {
    send: Sender<Message>,
    free: Receiver<Batch>,
}

impl Feed {
    /// Reads the slots of a file from position `at` to time `until`. Marks the rising edges of `clock`.
    pub(super) fn read(
        self,
        file: &WaveFile,
        at: &mut Position,
        which: &Slots,
        until: u64,
        mut clock: Option<&mut ClockLevel>,
    ) {
        let mut batch = Batch::default();
        let extent = file.changes_from(at, which, until, |time, slot, value| {
            let same = batch.steps.last().is_some_and(|step| step.time == time);
            if !same || batch.bytes.len() + batch.changes.len() >= STEP_BYTES {
                if batch.changes.len() >= CHANGES || batch.bytes.len() >= BYTES {
                    let fresh = self.free.try_recv().unwrap_or_default();
                    let full = std::mem::replace(&mut batch, fresh);
                    if self.send.send(Message::Changes(full)).is_err() {
                        return ControlFlow::Break(());
                    }
                    batch.clear();
                }
                batch.steps.push(TimeStep { time, end: batch.changes.len() as u32, rises: false });
            }
            let rises =
                clock.as_mut().is_some_and(|clock| clock.rises(time, slot, value == RawValue::Bits(b"1")));
            batch.push(slot, value, rises);
            ControlFlow::Continue(())
        });
        // The receiver is gone if the other file cannot be read.
        let _ = self.send.send(Message::Changes(batch));
        let _ = self.send.send(Message::End(extent));
    }
}

impl Batch {
    fn clear(&mut self) {
        self.steps.clear();
        self.changes.clear();
        self.bytes.clear();
    }

    fn push(&mut self, slot: Slot, value: RawValue<'_>, rises: bool) {
        let start = self.bytes.len() as u32;
        let form = match value {
            RawValue::Bits(digits) => {
                self.bytes.extend_from_slice(digits);
                Form::Bits
            }
            RawValue::Text(text) => {
                self.bytes.extend_from_slice(text);
                Form::Text
            }
            RawValue::Real(number) => {
                self.bytes.extend_from_slice(&number.to_le_bytes());
                Form::Real
            }
            RawValue::Event => Form::Event,
        };
        self.changes.push(Change { slot: slot.index() as u32, form, start, end: self.bytes.len() as u32 });
        if let Some(step) = self.steps.last_mut() {
            step.end = self.changes.len() as u32;
            step.rises |= rises;
        }
    }
}

impl Steps {
    pub(super) fn time(&mut self) -> Result<Option<u64>, WaveReadError> {
        while self.at == self.batch.steps.len() && self.extent.is_none() {
            match self.messages.recv() {
                Ok(Message::Changes(batch)) => {
                    self.at = 0;
                    let used = std::mem::replace(&mut self.batch, batch);
                    let _ = self.used.try_send(used);
                }
                Ok(Message::End(extent)) => self.extent = Some(extent?),
                // The reader thread ended without an `End` message: it panicked, and its scope propagates the
                // panic.
                Err(_) => self.extent = Some(WaveExtent::default()),
            }
        }
        Ok(self.batch.steps.get(self.at).map(|step| step.time))
    }

    /// True if the clock rises at the next step.
    pub(super) fn rises(&self) -> bool {
        self.batch.steps.get(self.at).is_some_and(|step| step.rises)
    }

    /// Takes the changes of the next step, each with the bytes of its value.
    pub(super) fn take(&mut self) -> impl Iterator<Item = (Change, &[u8])> {
        let start = self.at.checked_sub(1).map_or(0, |before| self.batch.steps[before].end);
        let end = self.batch.steps.get(self.at).map_or(start, |step| step.end);
        self.at += usize::from(self.at < self.batch.steps.len());
        let batch = &self.batch;
        let changes = &batch.changes[start as usize..end as usize];
        changes.iter().map(|change| (*change, &batch.bytes[change.start as usize..change.end as usize]))
    }

    pub(super) fn skip(&mut self) {
        self.at = self.batch.steps.len();
    }

    /// Returns the extent of the file; valid after the last step.
    pub(super) fn extent(&self) -> WaveExtent {
        self.extent.unwrap_or_default()
    }
}
