//! Judges a whole recording.

use std::io::BufRead;

use atoms_ops::Fault;
use atoms_oracle::Rejection;

use crate::{Exchange, RecordingError, TraceEvent, TraceReader};

/// Totals of an accepted trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct TraceSummary {
    /// Lines of the file, including blank lines and the header.
    pub lines: u64,
    /// Requests of both ports.
    pub requests: u64,
    /// Sum of active lanes over all requests.
    pub lanes: u64,
    /// Requests that correctly ended with a fault.
    pub faults: u64,
    /// Requests whose written words were not recorded.
    pub unseen: u64,
    /// Wake-ups of suspended requests, including timeouts.
    pub wakes: u64,
    /// Words of memory that were compared with the oracle's memory.
    pub final_words: u64,
}

/// Judges a whole trace. The memory used does not grow with the length of the trace.
///
/// # Errors
/// [`RecordingError::Rejected`] with the first line that no order explains. Every other variant means that no
/// verdict was reached.
pub fn check_trace<R: BufRead>(reader: R) -> Result<TraceSummary, RecordingError> {
    let mut trace = TraceReader::new(reader)?;
    let header = *trace.header();
    let lane_mask = header.geometry.lane_mask();
    let mut checker = header.checker();
    let mut summary = TraceSummary::default();
    while let Some((line, event)) = trace.next_event()? {
        let verdict = match event {
            TraceEvent::Allocation { slot, allocation } => {
                checker.set_allocation(slot, allocation);
                Ok(())
            }
            TraceEvent::Init(words) => {
                words.into_iter().for_each(|(word, value)| checker.set_word(word, value));
                Ok(())
            }
            TraceEvent::Request(exchange) => {
                let Exchange { request, response, after, moment, accepted: _ } = *exchange;
                summary.requests += 1;
                summary.lanes += u64::from((request.mask & lane_mask).count_ones());
                summary.faults +=
                    u64::from(response.as_ref().is_some_and(|response| response.fault != Fault::None));
                summary.unseen += u64::from(after.is_none());
                match moment {
                    Some(moment) => {
                        checker.request_at(&moment, &request, response.as_ref(), after.as_deref())
                    }
                    None if checker.is_waiting() => {
                        let problem = "a wait is unanswered, so the `request` needs `number` and `answered`";
                        return Err(RecordingError::Malformed { line, problem: problem.to_owned() });
                    }
                    None => checker.request(&request, response.as_ref(), after.as_deref()),
                }
            }
            TraceEvent::Wait { number, accepted, request } => {
                checker.accept(number, accepted, &request);
                Ok(())
            }
            TraceEvent::Suspended { number, cycle } => checker.suspend(number, cycle),
            TraceEvent::Wake { number, pred, cycle } => {
                summary.wakes += 1;
                checker.wake(number, pred, cycle)
            }
            TraceEvent::Quiet { from, to } => checker.quiet(from, to),
            TraceEvent::Lost { request, written } => checker.lost(std::slice::from_ref(&request), &written),
            TraceEvent::Reset { dropped, written } => checker.reset(&dropped, &written),
            TraceEvent::End => checker.finish_waits(),
            TraceEvent::Final(words) => {
                summary.final_words += words.len() as u64;
                checker.finish_words(&words)
            }
            TraceEvent::Verdict { undecided, text } => Err(Rejection::recorded(undecided, &text)),
        };
        verdict.map_err(|rejection| {
            let undecided = rejection.is_undecided();
            let rejection = Box::new(rejection);
            if undecided {
                RecordingError::Undecided { line, rejection }
            } else {
                RecordingError::Rejected { line, rejection }
            }
        })?;
    }
    summary.lines = trace.line;
    Ok(summary)
}
