//! The shared-memory atomic unit. Mirror of `rtl/atoms_unit.sv`.

use crate::agen::Meta;
use crate::bank::Banks;
use crate::cluster_rsp::ClusterResponses;
use crate::collect;
use crate::config::Config;
use crate::cta_table::{Allocation, CtaTable, Write};
use crate::diagnosis::{Enters, Seen, Watch};
use crate::fifo::Fifo;
use crate::issue::{ClusterReq, Issue, Pass, Source, WarpReq, show_winners};
use crate::lanes::banks;
use crate::pipe::Pipe;
use crate::port::{In, MAX_BANKS, Out, Probe};
use crate::registers::SeeRegister;
use crate::waiters::{Waiter, Waiters};

/// Requests that wait at the cluster port; `ClusterQueueDepth` in `atoms_pkg`.
const CLUSTER_QUEUE_DEPTH: usize = 2;

/// The unit. [`Unit::evaluate`] computes the outputs of a cycle; [`Unit::tick`] is the clock edge that ends
/// it.
#[derive(Clone, Debug)]
pub struct Unit {
    config: Config,
    warp_queue: Fifo<WarpReq>,
    cluster_queue: Fifo<ClusterReq>,
    cta_table: CtaTable,
    issue: Issue,
    pipe: Pipe,
    banks: Banks,
    waiters: Waiters,
    cluster_rsp: ClusterResponses,
    out: Out,
    hazard: bool,
    stall: bool,
    waiter: Option<Waiter>,
    /// Outputs of the last cycle run by [`Unit::clock`].
    clocked: Out,
    // Boxed, so that an unwatched unit carries only a pointer.
    watch: Option<Box<Watch>>,
}

impl Unit {
    /// Creates a unit in its reset state, with zeroed memory.
    ///
    /// `config` must have passed [`Config::check`].
    pub fn new(config: Config) -> Self {
        Unit {
            config,
            warp_queue: Fifo::new(config.queue_depth as usize),
            cluster_queue: Fifo::new(CLUSTER_QUEUE_DEPTH),
            cta_table: CtaTable::default(),
            issue: Issue::new(),
            pipe: Pipe::new(&config),
            banks: Banks::new(config.num_banks, config.num_rows),
            waiters: Waiters::new(&config),
            cluster_rsp: ClusterResponses::new(&config),
            out: Out::default(),
            hazard: false,
            stall: false,
            waiter: None,
            clocked: Out::default(),
            watch: None,
        }
    }

    /// Configuration that the unit was created with.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Memory as one array: word `row * num_banks + bank`.
    pub fn memory(&self) -> &[u32] {
        self.banks.words()
    }

    /// Memory as in [`Unit::memory`], for a harness that sets words.
    pub fn memory_mut(&mut self) -> &mut [u32] {
        self.banks.words_mut()
    }

    /// Starts a new [`Watch`], which reports every use of an mbarrier object that PTX leaves undefined (spec
    /// 6.9). The watch changes nothing else.
    ///
    /// Call this before the first request. For an object that already exists, the watch knows only its word.
    pub fn watch(&mut self) {
        self.watch = Some(Box::new(Watch::new(&self.config)));
    }

    /// Stops and drops the watch.
    pub fn unwatch(&mut self) {
        self.watch = None;
    }

    /// Watch started by [`Unit::watch`]; `None` if the unit is not watched.
    pub fn watched(&self) -> Option<&Watch> {
        self.watch.as_deref()
    }

    /// Total passes of the request at issue; `None` if there is none.
    pub fn passes_at_issue(&self) -> Option<u32> {
        self.issue.valid().then(|| self.issue.passes())
    }

    /// Computes the outputs of a cycle from the registers and `i`. Changes no register.
    pub fn evaluate(&mut self, i: &In) -> &Out {
        self.pipe.evaluate(&self.banks);
        self.hazard = self.issue.valid() && self.pipe.hazard(&self.config, self.issue.work());
        self.stall = collect::stall(self.pipe.pass(), &self.out, i);
        self.waiter = collect::waiter(&self.config, self.pipe.pass(), self.pipe.effect(), self.pipe.work())
            .filter(|_| !self.stall && self.waiters.free());
        self.out.req_ready = u8::from(self.warp_queue.ready());
        self.out.cl_ready = u8::from(self.cluster_queue.ready());
        self.out.cta_ready = u8::from(self.cta_table.ready(&self.config, i.cta_slot));
        self.out.cta_reject = u8::from(self.cta_table.reject());
        &self.out
    }

    /// Runs one cycle: computes the outputs from the registers and `i`, then performs the clock edge.
    pub fn clock(&mut self, i: &In) -> &Out {
        self.clocked = *self.evaluate(i);
        self.tick(i);
        &self.clocked
    }

    /// Fills in the probe of the cycle last evaluated.
    pub fn probe(&self, probe: &mut Probe) {
        let issue = &self.issue;
        let (pass, work) = (issue.pass(), issue.work());
        let fire = issue.valid() && !self.hazard;
        let fired_banks = if fire { work.valid } else { 0 };
        let here = |value: u8| if issue.valid() { value } else { 0 };

        let effect = self.pipe.effect();
        probe.wr_en = if self.stall { 0 } else { effect.write };
        probe.wr_data = [0; MAX_BANKS];
        probe.wr_row = [0; MAX_BANKS];
        for bank in banks(effect.write) {
            probe.wr_data[bank] = effect.new[bank];
            probe.wr_row[bank] = self.pipe.work().row[bank];
        }
        probe.completed = if self.stall { 0 } else { effect.completed };
        probe.wait_suspended = self.waiters.suspended();
        probe.wait_ready = self.waiters.ready();
        probe.wait_enter = u8::from(self.waiter.is_some());
        let done = self.pipe.pass();
        let cluster_done = done.valid && done.cluster;
        probe.cl_done = u8::from(cluster_done);
        probe.cl_owes = u8::from(cluster_done && done.owes_response());
        probe.cl_owed = self.cluster_rsp.owed() as u8;
        probe.win_valid = fired_banks;
        show_winners(work, fired_banks, &mut probe.win_lane);
        probe.pass_served = if fire { pass.served } else { 0 };
        probe.issue_pending = issue.pending();
        probe.pipe_valid = self.pipe.valid();
        probe.issue_op = here(issue.op_code());
        probe.issue_tag = here(pass.tag);
        probe.queue_count = self.warp_queue.count() as u8;
        probe.cl_count = self.cluster_queue.count() as u8;
        probe.issue_valid = u8::from(issue.valid());
        probe.issue_cluster = here(u8::from(pass.cluster));
        probe.pass_fire = u8::from(fire && !self.stall);
        probe.pass_last = here(u8::from(pass.last));
        probe.pass_index = here(pass.passes - u8::from(issue.pending() != 0));
        probe.hazard = u8::from(self.hazard);
        probe.stall = u8::from(self.stall);
        probe.rotate = issue.rotate() as u8;
    }

    /// Shows every register before the clock edge of the cycle last evaluated. Memory is not included; see
    /// [`Unit::memory`].
    pub fn registers(&self, see: &mut impl SeeRegister) {
        let Unit {
            config,
            warp_queue,
            cluster_queue,
            cta_table,
            issue,
            pipe,
            banks: _,
            waiters,
            cluster_rsp,
            out,
            hazard: _,
            stall: _,
            waiter: _,
            clocked: _,
            watch: _,
        } = self;
        let lanes = config.num_lanes as usize;
        warp_queue.registers("u_warp_queue", lanes, see);
        cluster_queue.registers("u_cluster_queue", lanes, see);
        cta_table.registers(config, see);
        issue.registers(config, warp_queue, see);
        pipe.registers(see);
        waiters.registers(out, see);
        cluster_rsp.registers(see);
        collect::registers(config, out, see);
    }

    /// Pass in the last stage of the pipeline, which writes the banks; `None` if the stage is empty.
    pub fn last_pass(&self) -> Option<&Pass> {
        Some(self.pipe.pass()).filter(|pass| pass.valid)
    }

    /// Performs the clock edge that ends the cycle evaluated with the same `i`.
    pub fn tick(&mut self, i: &In) {
        if i.rst_n == 0 {
            self.reset();
            return;
        }
        if self.watch.is_some() {
            self.show_watch(i);
        }
        let done = self.pipe.pass();
        let suspends = self.waiter.is_some();
        let leave = (done.valid && done.last && !self.stall && !suspends).then_some(done.slot);
        let (effect, row) = (self.pipe.effect(), &self.pipe.work().row);
        let moved = u64::from(!self.stall);
        let woken = self.waiters.tick(
            self.waiter.as_ref(),
            |bank, at| {
                effect.completed >> bank & moved != 0 && row[usize::from(bank) & (MAX_BANKS - 1)] == at
            },
            &mut self.out,
            i,
        );
        let withheld = self.stall || suspends;
        let first = self.pipe.first_words();
        let cluster_rsp = collect::tick(done, withheld, effect, first, &mut self.out, i);

        let mut load = None;
        if !self.stall {
            let fire = self.issue.valid() && !self.hazard;
            let (warps, room) = (self.warp_queue.count() > 0, self.cluster_rsp.room());
            let (clusters, parts) = (&self.cluster_queue, &self.cta_table);
            load = self.issue.load(&self.config, fire, warps, clusters, room, parts);
            self.pipe.tick(&mut self.banks, fire.then_some(&mut self.issue));
            self.issue.tick(&self.config, fire, load, &self.warp_queue, &self.cluster_queue, &self.cta_table);
        }
        let reserve = load == Some(Source::Cluster) && self.issue.pass().owes_response();
        self.cluster_rsp.tick(reserve, cluster_rsp, &mut self.out, i);
        self.tick_queues(i, load, [leave, woken]);
    }

    #[inline(never)] // keeps the code out of the path of an unwatched unit
    fn show_watch(&mut self, i: &In) {
        let Some(watch) = &mut self.watch else { return };
        let pass = self.pipe.pass();
        let seen = Seen {
            config: &self.config,
            pass: (pass.valid && !self.stall).then_some(pass),
            effect: self.pipe.effect(),
            work: self.pipe.work(),
            first: self.pipe.first_words(),
            banks: &self.banks,
            allocation: self.cta_table.allocation(pass.slot),
            waiters: &self.waiters,
        };
        let enters = Enters {
            warp: i.req_valid == 1 && self.warp_queue.ready(),
            cluster: i.cl_valid == 1 && self.cluster_queue.ready(),
            table_write: i.cta_valid == 1 && self.out.cta_ready == 1,
        };
        watch.see(&seen, enters, i);
    }

    fn tick_queues(&mut self, i: &In, load: Option<Source>, leave: [Option<u8>; 2]) {
        let warp = i.req_valid & self.out.req_ready == 1;
        let cluster = i.cl_valid & self.out.cl_ready == 1;
        let write = (i.cta_valid == 1 && self.out.cta_ready == 1).then_some(Write {
            slot: i.cta_slot,
            enable: i.cta_enable == 1,
            allocation: Allocation { size: i.cta_size, base: i.cta_base, rank: i.cta_rank, valid: false },
        });
        self.cta_table.tick(
            &self.config,
            write,
            warp.then_some(i.req_slot),
            cluster.then_some(i.cl_slot),
            leave,
        );
        self.warp_queue.tick(
            load == Some(Source::Warp),
            warp.then_some(|entry: &mut WarpReq| {
                entry.meta = Meta {
                    mask: i.req_mask,
                    ur: i.req_ur,
                    imm: i.req_imm,
                    slot: i.req_slot,
                    tag: i.req_tag,
                    scale: i.req_scale,
                    absolute: i.req_absolute == 1,
                    red: i.req_red == 1,
                    size: i.req_size,
                    op: i.req_op,
                };
                entry.ra = i.req_ra;
                entry.b = i.req_b;
                entry.c = i.req_c;
            }),
        );
        self.cluster_queue.tick(
            load == Some(Source::Cluster),
            cluster.then_some(|entry: &mut ClusterReq| {
                entry.meta = Meta {
                    mask: 1,
                    ur: 0,
                    imm: i.cl_addr,
                    slot: i.cl_slot,
                    tag: i.cl_tag,
                    scale: 0,
                    absolute: true,
                    red: i.cl_red == 1,
                    size: i.cl_size,
                    op: i.cl_op,
                };
                entry.b = i.cl_b;
                entry.c = i.cl_c;
            }),
        );
    }

    /// Performs a clock edge with `rst_n` low. Memory keeps its content.
    pub fn reset(&mut self) {
        self.warp_queue.reset();
        self.cluster_queue.reset();
        self.cta_table.reset();
        self.issue.reset();
        self.pipe.reset();
        self.waiters.reset();
        self.out.rsp_valid = 0;
        self.cluster_rsp.reset(&mut self.out);
        self.out.wake_valid = 0;
        if let Some(watch) = &mut self.watch {
            watch.reset();
        }
    }
}

#[cfg(test)]
mod tests {
    use atoms_ops::{Op, Size};

    use super::*;

    /// Lanes on one bank need one pass per row, with and without coalescing. A request without lanes needs
    /// one pass.
    #[test]
    fn what_is_at_issue_and_in_the_last_stage() {
        let cases = [(3, 3), (1, 1), (0, 1)].map(|case| [Op::Store, Op::Exch].map(|op| (op, case)));
        for (op, (rows, passes)) in cases.into_iter().flatten() {
            let mut unit = Unit::new(Config::default());
            let mut i = In { rst_n: 1, rsp_ready: 1, ..In::default() };
            (i.cta_valid, i.cta_enable, i.cta_size) = (1, 1, 4 * unit.config().row_bytes());
            unit.clock(&i);
            i.cta_valid = 0;
            (i.req_valid, i.req_op, i.req_size, i.req_tag) = (1, op as u8, Size::U32 as u8, 9);
            i.req_mask = (1 << rows) - 1;
            i.req_ra = std::array::from_fn(|lane| 128 * (lane as u32 % 3));
            let (mut at_issue, mut last_stage) = (Vec::new(), Vec::new());
            for _ in 0..20 {
                unit.evaluate(&i);
                at_issue.extend(unit.passes_at_issue());
                last_stage.extend(unit.last_pass().map(|pass| (pass.tag, pass.served)));
                unit.tick(&i);
                i.req_valid = 0;
            }
            assert_eq!(at_issue, vec![passes; passes as usize]);
            let served: Vec<_> = (0..passes).map(|row| (9, i.req_mask & 1 << row)).collect();
            assert_eq!(last_stage, served);
        }
    }
}
