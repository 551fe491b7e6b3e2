//! The oracle at the ports of a unit that is not this project's.

use std::io::{self, Write};

use atoms_model::Config;
use atoms_model::port::In;
use atoms_monitor::{Cycle, WarpAnswer};
use atoms_oracle::{Geometry, SerialRequest};
use atoms_scoreboard::{
    ClusterResponse, PortScoreboard, PortVerdict, WarpResponse, foreign_header, put_warp,
};
use atoms_stimulus::request::WarpRequest;
use atoms_stimulus::unit::ForeignUnit;

use crate::scoreboard::held::HeldAnswers;
use crate::scoreboard::{OracleViolation, response};

/// Reports the transactions of a machine to a [`PortScoreboard`].
#[derive(Debug)]
pub struct ForeignScoreboard {
    inner: PortScoreboard,
    held: HeldAnswers,
    unit: ForeignUnit,
    geometry: Geometry,
    /// Cycle of the last transactions, from 1.
    cycle: u64,
    /// True if a cluster request without a result was accepted since the start.
    has_posted: bool,
}

/// Cycles in which a unit without other requests executes its posted requests.
const POSTED_CYCLES: u64 = 256;

impl ForeignScoreboard {
    pub(super) fn new(config: &Config, unit: &ForeignUnit) -> Self {
        let header = foreign_header(config, unit);
        let inner = PortScoreboard::of_unit(header, config.num_cta_slots);
        ForeignScoreboard {
            inner,
            held: HeldAnswers::default(),
            unit: unit.clone(),
            geometry: header.geometry,
            cycle: 0,
            has_posted: false,
        }
    }

    pub(super) fn set_memory(&mut self, memory: &[u32]) {
        let words: Vec<_> = self.words(memory).filter(|(_, word)| *word != 0).collect();
        // No request is inside, so nothing can be rejected.
        _ = self.inner.set_words(self.cycle, &words);
    }

    pub(super) fn replace_memory(&mut self, memory: &[u32]) {
        let words: Vec<_> = self.words(memory).collect();
        _ = self.inner.set_words(self.cycle, &words);
    }

    pub(super) fn record(&mut self, to: Box<dyn Write + Send>) -> io::Result<()> {
        self.inner.record(to)
    }

    pub(super) fn finish_recording(&mut self) -> io::Result<()> {
        self.inner.finish_recording()
    }

    pub(super) fn refuses(&self, i: &In) -> Option<String> {
        let faults = |request: &SerialRequest| !self.unit.rules.faults && self.inner.faults(request);
        if let Some(why) = self.unit.refuses(i) {
            return Some(why);
        }
        if i.req_valid == 1 {
            let mut request = SerialRequest::default();
            put_warp(&mut request, &WarpRequest::sample(i));
            if faults(&request) {
                return Some("it has a wrong address, and faults are not declared".to_string());
            }
        }
        None
    }

    pub(super) fn open(&self) -> usize {
        self.inner.open()
    }

    pub(super) fn cycles_behind(&self) -> u64 {
        if self.has_posted { POSTED_CYCLES } else { 0 }
    }

    pub(super) fn judged(&self) -> u64 {
        self.inner.judged()
    }

    pub(super) fn see(&mut self, cycle: &Cycle<'_>) -> Result<(), OracleViolation> {
        self.held.see(cycle)?;
        self.report(cycle).map_err(|verdict| violation(&verdict))
    }

    pub(super) fn finish(&mut self, memory: &[u32]) -> Result<(), OracleViolation> {
        let words: Vec<_> = self.words(memory).collect();
        self.inner.finish(self.cycle + 1, &words).map_err(|verdict| violation(&verdict))
    }

    /// Index in the oracle's memory, and value, of each word `row * num_banks + bank`.
    fn words<'a>(&self, memory: &'a [u32]) -> impl Iterator<Item = (u32, u32)> + use<'a> {
        let geometry = self.geometry;
        let index = move |at: u32| geometry.word(at / geometry.banks, at % geometry.banks);
        (0..).zip(memory).map(move |(at, word)| (index(at), *word))
    }

    fn report(&mut self, seen: &Cycle<'_>) -> Result<(), Box<PortVerdict>> {
        let cycle = seen.number + 1;
        self.cycle = cycle;
        if let Some(settled) = seen.allocation_settled {
            self.inner.table_result(cycle, settled.slot, settled.rejected)?;
        }
        if let Some(answer) = seen.warp_answer.as_ref().filter(|answer| answer.appears.is_some()) {
            self.inner.warp_response(cycle, warp_response(answer))?;
        }
        if let Some(answer) = seen.cluster_answer.filter(|answer| answer.appears) {
            let (tag, rd, pred) = (answer.tag, answer.rd, answer.pred);
            let (fault, fault_addr) = (answer.fault, answer.fault_addr);
            self.inner.cluster_response(cycle, ClusterResponse { tag, rd, pred, fault, fault_addr })?;
        }
        if let Some(wake_up) = seen.wake_up.as_ref().filter(|wake_up| wake_up.appears.is_some()) {
            self.inner.wake_up(cycle, wake_up.tag, wake_up.pred)?;
        }
        if seen.is_quiet() {
            self.inner.quiet(cycle, cycle)?;
        }
        if seen.reset.is_some() {
            // Not all of the words that dropped requests may have written are known.
            return self.inner.reset(cycle, None);
        }
        if let Some(write) = &seen.allocation {
            self.inner.table_write(cycle, write)?;
        }
        if let Some(accepted) = &seen.warp_accepted {
            let mut request = SerialRequest::default();
            put_warp(&mut request, &accepted.request);
            self.inner.warp_request(cycle, accepted.request.tag, request)?;
        }
        if let Some(accepted) = &seen.cluster_accepted {
            self.has_posted |= accepted.request.red;
            self.inner.cluster_request(cycle, &accepted.request)?;
        }
        Ok(())
    }
}

fn warp_response(answer: &WarpAnswer<'_>) -> WarpResponse {
    WarpResponse { tag: answer.tag, response: response(answer), passes: None, written: None }
}

fn violation(verdict: &PortVerdict) -> OracleViolation {
    let op = verdict.request.map(|request| request.op);
    OracleViolation { op, ..OracleViolation::of(&verdict.rejection, place(verdict)) }
}

/// Says which event the verdict is about.
fn place(verdict: &PortVerdict) -> String {
    let cycle = verdict.cycle - 1;
    match &verdict.request {
        Some(of) => format!(
            "the oracle rejects the answer in cycle {cycle} to {} request {}, tag {}",
            of.port, of.number, of.tag
        ),
        None => format!("the oracle rejects what the unit did in cycle {cycle}"),
    }
}
