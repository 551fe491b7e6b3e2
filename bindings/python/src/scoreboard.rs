//! The scoreboard behind the Python class `Scoreboard`, which documents it.

use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;
use std::sync::{Mutex, TryLockError};

use atoms_scoreboard::{PortScoreboard, PortVerdict, arguments};
use atoms_stimulus::configs;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::array::value_error;
use crate::event::{self, Batch, Event};
use crate::verdict::exception;

#[pyclass(module = "atoms._atoms", frozen)]
pub(crate) struct NativeScoreboard {
    inner: Mutex<PortScoreboard>,
}

#[pymethods]
impl NativeScoreboard {
    #[new]
    fn new(config: &str, observed: bool, record: Option<PathBuf>) -> PyResult<Self> {
        let named = configs::embedded(config).map_err(|error| value_error(error.to_string()))?;
        let mut scoreboard = PortScoreboard::of(&named);
        if observed {
            scoreboard.set_observed();
        }
        if let Some(path) = record {
            scoreboard.record(Box::new(BufWriter::new(File::create(path)?)))?;
        }
        Ok(NativeScoreboard { inner: Mutex::new(scoreboard) })
    }

    /// Reports one event. Raises `Rejected` or `Undecided`.
    fn report(&self, python: Python<'_>, kind: &str, arguments: &Bound<'_, PyDict>) -> PyResult<()> {
        self.with(|scoreboard| {
            let (cycle, event) = event::single(kind, scoreboard.geometry(), arguments)?;
            event.report(scoreboard, cycle).map_err(|verdict| exception(python, &verdict))
        })
    }

    /// Reports batches of events, one for each kind. Returns the verdicts.
    fn judge<'py>(&self, python: Python<'py>, batches: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyList>> {
        let verdicts = self.with(|scoreboard| {
            let geometry = scoreboard.geometry();
            let batches = batches.iter().map(|(kind, batch)| Batch::new(&kind.extract::<String>()?, &batch));
            let batches = batches.collect::<PyResult<Vec<_>>>()?;
            // Finds every error before the first event is judged.
            let places = event::in_order(&batches, geometry)?;
            let mut verdicts: Vec<PortVerdict> = Vec::new();
            for block in places.chunks(BLOCK) {
                let events = block.iter().map(|place| event::at(&batches, geometry, *place));
                let events = events.collect::<PyResult<Vec<_>>>()?;
                let ends = python.detach(|| judge(scoreboard, events, &mut verdicts));
                if ends {
                    break;
                }
            }
            Ok(verdicts)
        })?;
        PyList::new(python, verdicts.iter().map(|verdict| exception(python, verdict).into_value(python)))
    }

    /// Writes the rest of the trace.
    fn close(&self) -> PyResult<()> {
        self.with(|scoreboard| Ok(scoreboard.finish_recording()?))
    }

    fn word_index(&self, row: u32, bank: u32) -> PyResult<u32> {
        self.with(|scoreboard| arguments::word_index(&scoreboard.geometry(), row, bank).map_err(value_error))
    }

    #[getter]
    fn judged(&self) -> PyResult<u64> {
        self.with(|scoreboard| Ok(scoreboard.judged()))
    }

    #[getter]
    fn unjudged(&self) -> PyResult<u64> {
        self.with(|scoreboard| Ok(scoreboard.unjudged()))
    }
}

/// Number of events that are converted at a time, so that they stay in the cache.
const BLOCK: usize = 64;

/// Judges events, and adds the verdicts. Returns true if judging ended.
fn judge(
    scoreboard: &mut PortScoreboard,
    events: Vec<(u64, Event)>,
    verdicts: &mut Vec<PortVerdict>,
) -> bool {
    for (cycle, event) in events {
        if let Err(verdict) = event.report(scoreboard, cycle) {
            let ends = verdict.rejection.is_undecided();
            verdicts.push(*verdict);
            if ends {
                return true;
            }
        }
    }
    false
}

impl NativeScoreboard {
    fn with<T>(&self, call: impl FnOnce(&mut PortScoreboard) -> PyResult<T>) -> PyResult<T> {
        let mut scoreboard = self.inner.try_lock().map_err(|error| {
            PyRuntimeError::new_err(match error {
                TryLockError::WouldBlock => "another thread is in a call of this scoreboard",
                TryLockError::Poisoned(_) => {
                    "an earlier call failed by a bug in atoms; create a new scoreboard"
                }
            })
        })?;
        call(&mut scoreboard)
    }
}
