//! A testbench: the model under random stimulus, and monitors that see only the ports.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use atoms_model::port::{In, Out, Probe};
use atoms_model::{Config, Unit};
use atoms_ops::Fault;
use atoms_oracle::{Response, SerialRequest};
use atoms_scoreboard::{ClusterResponse, PortScoreboard, PortVerdict, WarpResponse, put_warp};
use atoms_stimulus::request::{AllocationWrite, ClusterRequest, WarpRequest};
use atoms_stimulus::{Profile, RandomStimulus, Stimulus, complete_handshakes};

/// Buffer of a trace that the scoreboard writes.
#[derive(Clone, Default)]
pub(crate) struct Shared(Arc<Mutex<Vec<u8>>>);

impl Shared {
    pub(crate) fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.0.lock().expect("no writer panics"))
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no writer panics").write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

pub(crate) struct Bench {
    unit: Unit,
    pub(crate) scoreboard: PortScoreboard,
    observed: bool,
    cycle: u64,
    /// Ports whose answer was reported and not taken: warp, cluster, wake-up.
    standing: [bool; 3],
    table: Option<u8>,
    written: Vec<(u32, u32)>,
}

type Verdict = Result<(), Box<PortVerdict>>;

impl Bench {
    /// With `observed`, the bench reports the words written and the order of execution, from the probe.
    pub(crate) fn new(config: Config, observed: bool) -> Self {
        let mut scoreboard = PortScoreboard::new(&config);
        if observed {
            scoreboard.set_observed();
        }
        let (standing, written) = ([false; 3], Vec::new());
        Bench { unit: Unit::new(config), scoreboard, observed, cycle: 0, standing, table: None, written }
    }

    /// Runs random requests. `spoil` may change the outputs of a cycle.
    pub(crate) fn run(
        &mut self,
        profile: Profile,
        requests: u64,
        seed: u64,
        mut spoil: impl FnMut(&mut Out),
    ) -> Verdict {
        let mut stimulus = RandomStimulus::new(*self.unit.config(), &profile, seed, requests);
        let (mut i, mut probe, mut idle) = (In::default(), Probe::default(), 0);
        while idle < 3000 {
            stimulus.drive(&mut i);
            let mut out = *self.unit.evaluate(&i);
            self.unit.probe(&mut probe);
            spoil(&mut out);
            self.monitor(&i, &out, &probe)?;
            stimulus.observe(&i, &out);
            self.unit.tick(&i);
            complete_handshakes(&mut i, &out);
            idle = if stimulus.finished() { idle + 1 } else { 0 };
        }
        self.finish()
    }

    pub(crate) fn finish(&mut self) -> Verdict {
        let words = self.memory();
        self.scoreboard.finish(self.cycle, &words)
    }

    /// Words of the unit's memory with their indices.
    fn memory(&self) -> Vec<(u32, u32)> {
        let (geometry, banks) = (self.scoreboard.geometry(), self.unit.config().num_banks);
        let at = |at: usize| geometry.word(at as u32 / banks, at as u32 % banks);
        self.unit.memory().iter().enumerate().map(|(place, word)| (at(place), *word)).collect()
    }

    fn monitor(&mut self, i: &In, out: &Out, probe: &Probe) -> Verdict {
        self.cycle += 1;
        let (cycle, scoreboard) = (self.cycle, &mut self.scoreboard);
        if let Some(slot) = self.table.take() {
            scoreboard.table_result(cycle, slot, out.cta_reject == 1)?;
        }
        if out.rsp_valid == 1 && !self.standing[0] {
            let response = Response {
                rd: out.rsp_rd,
                pred: out.rsp_pred,
                fault: Fault::from_code(out.rsp_fault).expect("a code of two bits"),
                fault_lane: out.rsp_fault_lane,
                fault_addr: out.rsp_fault_addr,
            };
            let written = self.observed.then(|| std::mem::take(&mut self.written));
            let (tag, passes) = (out.rsp_tag, Some(out.rsp_passes.into()));
            scoreboard.warp_response(cycle, WarpResponse { tag, response, passes, written })?;
        }
        if out.cl_rsp_valid == 1 && !self.standing[1] {
            let (tag, rd, pred) = (out.cl_rsp_tag, out.cl_rsp_rd, out.cl_rsp_pred == 1);
            let (fault, fault_addr) = (out.cl_rsp_fault, out.cl_rsp_fault_addr);
            scoreboard.cluster_response(cycle, ClusterResponse { tag, rd, pred, fault, fault_addr })?;
        }
        if out.wake_valid == 1 && !self.standing[2] {
            scoreboard.wake_up(cycle, out.wake_tag, out.wake_pred)?;
        }
        let valid = [out.rsp_valid, out.cl_rsp_valid, out.wake_valid];
        let taken = [i.rsp_ready, i.cl_rsp_ready, i.wake_ready];
        self.standing = std::array::from_fn(|port| valid[port] == 1 && taken[port] == 0);
        if valid[2] == 0 && !self.standing[0] && !self.standing[1] {
            scoreboard.quiet(cycle, cycle)?;
        }
        if i.rst_n == 0 {
            self.standing = [false; 3];
            let written = std::mem::take(&mut self.written);
            scoreboard.reset(cycle, self.observed.then_some(&written))?;
            if !self.observed {
                let words = self.memory();
                self.scoreboard.set_words(cycle, &words)?;
            }
            return Ok(());
        }
        if self.observed {
            for bank in (0..64).filter(|bank| probe.wr_en >> bank & 1 == 1) {
                let word = scoreboard.geometry().word(probe.wr_row[bank].into(), bank as u32);
                self.written.retain(|(other, _)| *other != word);
                self.written.push((word, probe.wr_data[bank]));
            }
            if probe.cl_done == 1 {
                scoreboard.executed(cycle, &std::mem::take(&mut self.written))?;
            }
        }
        if i.cta_valid & out.cta_ready == 1 {
            let write = AllocationWrite::sample(i);
            scoreboard.table_write(cycle, &write)?;
            self.table = Some(write.slot);
        }
        if i.req_valid & out.req_ready == 1 {
            let mut request = SerialRequest::default();
            put_warp(&mut request, &WarpRequest::sample(i));
            scoreboard.warp_request(cycle, i.req_tag, request)?;
        }
        if i.cl_valid & out.cl_ready == 1 {
            scoreboard.cluster_request(cycle, &ClusterRequest::sample(i))?;
        }
        Ok(())
    }
}
