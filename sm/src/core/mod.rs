//! The core, cycle by cycle: issues instructions, sends requests to the port and handles responses.

mod async_copy;
mod barrier;
mod control;
mod cta;
mod deadlock_report;
mod driver;
mod issue;
mod memory_access;
mod notify;
mod priorities;
mod releasers;
mod residency;
mod special_register;
mod warp_slots;

use crate::config::SmConfig;
use crate::deadlock::ObjectLog;
use crate::error::{KernelError, RunError};
use crate::launch::Launch;
use crate::livelock::LivelockWatch;
use crate::memory::{ConstantBank, GlobalMemory, ReservedShared};
use crate::observer::{CoreEvent, Observer};
use crate::port::{AllocationTable, Answer, ClusterPort, CopyEngine, Origin, Request, Verdict};
use crate::profile::{Answered, Profile};
use crate::report::RunReport;
use crate::schedule::Schedule;
use crate::statistics::Statistics;
use crate::support;
use atoms_isa::Kernel;
use atoms_model::port::In;
use atoms_model::{MemoryPort, RequestOrigin};
use atoms_ops::{Fault, OPS, Op};
use cta::Cta;
use priorities::Priorities;
use std::collections::BTreeSet;
use warp_slots::Slots;

/// Runs a kernel to its end on the memory behind `port`.
///
/// The shared memory need not be cleared. No CTA slot may have an allocation before the run, and none has one
/// after it.
///
/// # Errors
/// [`RunError::Port`] for an error of the port. [`RunError::Kernel`] if the kernel cannot run, or makes an
/// error.
pub fn run<P: MemoryPort>(
    kernel: &Kernel,
    launch: &Launch,
    port: &mut P,
    config: &SmConfig,
) -> Result<RunReport, RunError<P::Error>> {
    run_observed(kernel, launch, port, config, &mut ())
}

/// Same as [`run`], with an observer.
///
/// # Errors
/// Same as [`run`].
pub fn run_observed<P: MemoryPort>(
    kernel: &Kernel,
    launch: &Launch,
    port: &mut P,
    config: &SmConfig,
    observer: &mut dyn Observer,
) -> Result<RunReport, RunError<P::Error>> {
    run_scheduled(kernel, launch, port, config, None, observer)
}

/// Same as [`run_observed`], in the order of a schedule. `None` for the round robin of [`SmConfig`].
///
/// # Errors
/// Same as [`run`].
// Profiles find the run by this name (`.ci/instructions`).
#[inline(never)]
pub fn run_scheduled<P: MemoryPort>(
    kernel: &Kernel,
    launch: &Launch,
    port: &mut P,
    config: &SmConfig,
    schedule: Option<&Schedule>,
    observer: &mut dyn Observer,
) -> Result<RunReport, RunError<P::Error>> {
    let launch = &launch.fitted(kernel).map_err(KernelError::from)?;
    let config = schedule.map_or(*config, |schedule| schedule.config(config));
    let mut core = Core::new(kernel, launch, &config, Geometry::of(port), observer)?;
    if let Some(schedule) = schedule {
        core.follow(schedule);
    }
    while !core.finished() {
        let offered = core.offered;
        core.before_clock(&|row, bank| port.word(row, bank))?;
        // Report the origin of a request to the port only once, even if the port does not accept the request
        // for several cycles.
        if offered != core.offered
            && let Some(origin) = core.origin()
        {
            port.offer_from(&origin);
        }
        core.after_clock(port.cycle(&core.inputs).map_err(RunError::Port)?)?;
    }
    Ok(core.report())
}

#[derive(Clone, Copy)]
struct Geometry {
    lanes: u32,
    rows: u32,
    banks: u32,
    slots: u32,
}

impl Geometry {
    fn of<P: MemoryPort>(port: &P) -> Geometry {
        Geometry { lanes: port.lanes(), rows: port.rows(), banks: port.banks(), slots: port.cta_slots() }
    }
}

fn count_request(statistics: &mut Statistics, op: Op) {
    statistics.shared_requests += 1;
    let row = OPS.iter().zip(&mut statistics.requests_by_op).find(|(row, _)| row.op == op);
    if let Some((_, count)) = row {
        *count += 1;
    }
}

struct Core<'a> {
    kernel: &'a Kernel,
    launch: &'a Launch,
    config: SmConfig,
    geometry: Geometry,
    observer: &'a mut dyn Observer,
    /// True if the observer wants memory events.
    watched: bool,
    constants: ConstantBank,
    global: GlobalMemory,
    inputs: Box<In>,
    table: AllocationTable,
    ctas: Vec<Option<Cta>>,
    /// Warp in each slot. The slot number is the tag of the warp's requests.
    warps: Slots,
    requests: Vec<Option<Box<Request>>>,
    /// Bit mask of the warp slots with a request that waits for the port.
    waiting: u64,
    offered: Option<usize>,
    /// Warp slot after which the round-robin search starts.
    request_turn: usize,
    /// Warp slot that issued last, per scheduler.
    turns: Vec<Option<usize>>,
    /// True if a CTA has ended since the last attempt to start one.
    vacated: bool,
    /// Size of a CTA's allocation in bytes, and in rows.
    allocation: (u32, u32),
    reserved: ReservedShared,
    cluster_port: ClusterPort,
    copies: CopyEngine,
    livelock: LivelockWatch,
    /// Issue order of a schedule. `None` for round robin.
    priorities: Option<Box<Priorities>>,
    /// CTA slot and offset of each mbarrier object of sm_80 to sm_89. Code waits for such objects with plain
    /// loads.
    objects: BTreeSet<(usize, u32)>,
    log: ObjectLog,
    next_cluster: u32,
    cycle: u64,
    budget: u64,
    statistics: Statistics,
    issues: Vec<u64>,
    profile: Profile,
}

/// Number of distinct tags, and so the limit for warps.
const TAGS: u32 = 64;

/// Static shared memory in bytes if neither the kernel nor the launch states it, limited to the CTA's share.
/// Source: [PTX], the most a CTA may declare.
const DEFAULT_SHARED: u64 = 48 * 1024;

fn too_large(message: String, help: String) -> KernelError {
    KernelError::Resources { message, help }
}

impl<'a> Core<'a> {
    fn new(
        kernel: &'a Kernel,
        launch: &'a Launch,
        config: &SmConfig,
        geometry: Geometry,
        observer: &'a mut dyn Observer,
    ) -> Result<Core<'a>, KernelError> {
        support::check(kernel)?;
        launch.check_params(kernel, &support::constant_reads(kernel))?;
        let row_bytes = geometry.banks * 4;
        let memory = u64::from(geometry.rows) * u64::from(row_bytes);
        let used = support::reads_reserved_shared(kernel);
        let reserved_bytes = u64::from(ReservedShared::new(kernel.arch, used, 0).bytes.end);
        let fixed = reserved_bytes + u64::from(launch.dynamic_shared);
        // All CTAs of a cluster are resident together, each on its own rows.
        let share = u64::from(geometry.rows / launch.cluster_ctas().max(1)) * u64::from(row_bytes);
        let undeclared = DEFAULT_SHARED.min(share.saturating_sub(fixed));
        // The kernel gets at least its declared size. The launch may ask for more, for code that receives
        // addresses.
        let bytes = fixed + kernel.shared.max(launch.shared).map_or(undeclared, u64::from);
        let reserved = ReservedShared::new(kernel.arch, used, bytes - reserved_bytes);
        let bytes = bytes.max(reserved.bytes.end.into());
        if bytes > memory {
            return Err(too_large(
                format!("a CTA needs {bytes} bytes of shared memory, but the configuration has {memory}"),
                "lower `shared` or `dynamic_shared` of the launch, or use a configuration with more rows"
                    .into(),
            ));
        }
        // Every slot needs a nonempty allocation, so a CTA without shared memory gets one word.
        let bytes = (bytes as u32).max(4);
        let max_warps = config.max_warps.clamp(1, TAGS);
        let warps = launch.threads().div_ceil(32);
        if warps > max_warps {
            return Err(too_large(
                format!(
                    "a CTA of {} threads has {warps} warps, but the core holds at most {max_warps}",
                    launch.threads()
                ),
                "lower `block` of the launch".into(),
            ));
        }
        if !geometry.lanes.is_power_of_two() || geometry.lanes > 32 || geometry.slots == 0 {
            return Err(too_large(
                format!("the port has {} lanes and {} CTA slots", geometry.lanes, geometry.slots),
                "use a power of two up to 32 lanes, and at least one slot".into(),
            ));
        }
        let allocation = (bytes, bytes.div_ceil(row_bytes));
        residency::check_together(kernel.arch, launch, geometry, allocation.1, warps, max_warps)?;
        let (global, bases) = GlobalMemory::new(launch, &kernel.variables);
        let inputs = In { rst_n: 1, rsp_ready: 1, cl_rsp_ready: 1, wake_ready: 1, ..In::default() };
        let schedulers = config.schedulers.clamp(1, TAGS) as usize;
        Ok(Core {
            constants: ConstantBank::new(kernel.arch, launch, bytes, &reserved, &bases, &kernel.constants),
            kernel,
            launch,
            config: *config,
            geometry,
            watched: observer.watches_memory(),
            observer,
            global,
            inputs: Box::new(inputs),
            table: AllocationTable::new(geometry.slots, geometry.rows),
            ctas: (0..geometry.slots).map(|_| None).collect(),
            warps: Slots::new(max_warps as usize, schedulers),
            requests: (0..max_warps).map(|_| None).collect(),
            waiting: 0,
            offered: None,
            request_turn: max_warps as usize - 1,
            turns: vec![None; schedulers],
            vacated: true,
            allocation,
            reserved,
            cluster_port: ClusterPort::default(),
            copies: CopyEngine::new(config, geometry.slots),
            livelock: LivelockWatch::new(config.quiet_cycles, max_warps as usize),
            priorities: None,
            objects: BTreeSet::new(),
            log: ObjectLog::default(),
            next_cluster: 0,
            cycle: 0,
            budget: launch.cycle_budget.unwrap_or(config.cycle_budget),
            statistics: Statistics::default(),
            issues: vec![0; kernel.mnemonics.len()],
            profile: Profile::new(kernel, max_warps as usize),
        })
    }

    fn finished(&self) -> bool {
        let all_started = self.next_cluster == self.launch.ctas() / self.launch.cluster_ctas();
        all_started && self.ctas.iter().all(Option::is_none) && self.table.idle()
    }

    /// Issues instructions and drives the inputs of this cycle. `word` reads memory, for messages.
    fn before_clock(&mut self, word: &dyn Fn(u32, u32) -> u32) -> Result<(), KernelError> {
        if self.cycle >= self.budget {
            let kernel = self.kernel.name.clone();
            return Err(KernelError::Budget { kernel, report: self.deadlock(word, None) });
        }
        if std::mem::take(&mut self.vacated) {
            self.start_clusters();
        }
        if !self.copies.idle() || !self.cluster_port.idle() || !self.table.idle() {
            self.livelock.change(self.cycle);
        }
        let mut issued = false;
        let mut repeats = false;
        let schedulers = if self.priorities.is_some() { 1 } else { self.turns.len() };
        for scheduler in 0..schedulers {
            let slot = match &self.priorities {
                Some(_) => self.pick(),
                None => self.warps.next_due(scheduler, self.turns[scheduler], self.cycle),
            };
            if let Some(slot) = slot {
                self.turns[scheduler] = Some(slot);
                repeats |= self.look(slot);
                self.issue(slot)?;
                issued = true;
            }
        }
        let deadlock = !issued && self.is_deadlocked();
        if deadlock || repeats && self.is_livelocked() {
            let quiet = (!deadlock).then(|| self.livelock.cycles(self.cycle));
            let kernel = self.kernel.name.clone();
            return Err(KernelError::Deadlock { kernel, report: self.deadlock(word, quiet) });
        }
        self.table.drive(&mut self.inputs);
        self.offer();
        self.copies.clock(self.cycle);
        let offered = self.cluster_port.drive(&mut self.inputs, &mut self.copies, &mut self.global);
        offered.map_err(|(number, message)| self.copy_failed(number, message))
    }

    /// If nothing has changed for long, checks the warp that is about to issue. Returns `true` if the warp is
    /// found to repeat itself.
    fn look(&mut self, slot: usize) -> bool {
        if !self.livelock.long(self.cycle) {
            return false;
        }
        let Some(warp) = self.warps[slot].as_deref_mut() else { return false };
        // `turn` selects the split that issues.
        warp.turn(self.cycle);
        self.livelock.visit(slot, warp)
    }

    fn is_livelocked(&self) -> bool {
        let mut warps = self.warps.iter().enumerate().filter_map(|(slot, w)| Some((slot, w.as_deref()?)));
        warps.all(|(slot, warp)| self.livelock.is_livelocked(slot, warp))
    }

    /// True if no warp can issue and nothing is in flight.
    fn is_deadlocked(&mut self) -> bool {
        self.warps.stand_still(self.cycle)
            && self.table.idle()
            && self.copies.idle()
            && self.cluster_port.idle()
            && self.requests.iter().all(Option::is_none)
            && !self.finished()
    }

    fn offer(&mut self) {
        if self.offered.is_none() && self.waiting != 0 {
            // Round robin: the first slot after the last turn, else the first of all.
            let after = self.waiting & (!1_u64).unbounded_shl(self.request_turn as u32);
            let slots = if after != 0 { after } else { self.waiting };
            let slot = slots.trailing_zeros() as usize;
            self.offered = Some(slot);
            if let Some(request) = &self.requests[slot] {
                request.drive(&mut self.inputs, self.geometry.lanes, slot as u8);
            }
        }
        // The request inputs stay stable until the port accepts the request.
        self.inputs.req_valid = u8::from(self.offered.is_some());
    }

    fn origin(&self) -> Option<RequestOrigin<'_>> {
        let slot = self.offered?;
        let pc = self.requests[slot].as_ref()?.pc;
        let warp = self.warps[slot].as_deref()?;
        let source = &self.kernel.source[pc as usize];
        let cta = self.cta_number(warp.cta_slot);
        Some(RequestOrigin { cta, warp: warp.number, pc, line: source.line, text: source.code() })
    }

    fn after_clock(&mut self, outputs: &atoms_model::port::Out) -> Result<(), KernelError> {
        if self.inputs.req_valid != 0
            && outputs.req_ready != 0
            && let Some(slot) = self.offered.take()
        {
            self.request_turn = slot;
            if let Some(request) = self.requests[slot].as_mut() {
                request.in_flight = true;
                self.waiting &= !(1 << slot);
                self.profile.taken(slot, self.cycle);
                let first = request.piece * self.geometry.lanes;
                let event = CoreEvent::Request(request.pc, first, &self.inputs);
                self.observer.observe(self.cycle, &event);
            }
        }
        if outputs.rsp_valid != 0 {
            self.tell(&CoreEvent::Response(outputs));
            self.answered(outputs)?;
        }
        if outputs.wake_valid != 0 {
            self.woken(outputs)?;
        }
        if let Some(transfer) = self.cluster_port.taken(&self.inputs, outputs) {
            let pc = match transfer.origin {
                Origin::Lane { pc, .. } => Some(pc),
                Origin::Copy(number) => self.copies.copy(number).map(|copy| copy.asker.pc),
            };
            self.observer.observe(self.cycle, &CoreEvent::ClusterRequest(pc, &self.inputs));
            if transfer.red {
                self.cluster_answered(&Answer::posted(transfer))?;
            }
        }
        if let Some(answer) = self.cluster_port.answered(outputs)? {
            self.tell(&CoreEvent::ClusterResponse(outputs));
            self.cluster_answered(&answer)?;
        }
        match self.table.observe(&self.inputs, outputs) {
            None => {}
            Some(Verdict::Granted { slot }) => self.granted(slot),
            Some(Verdict::Refused { slot, allocation }) => {
                let cta = self.ctas[slot].as_ref().map_or(0, |c| c.number);
                return Err(KernelError::AllocationRefused {
                    cta,
                    bytes: allocation.bytes,
                    row: allocation.base,
                });
            }
            Some(Verdict::Released { slot }) => {
                self.tell_end(slot);
                self.ctas[slot] = None;
                self.vacated = true;
                self.objects.retain(|(of, _)| *of != slot);
                self.log.end(slot);
                self.statistics.ctas += 1;
            }
        }
        self.cycle += 1;
        Ok(())
    }

    fn answered(&mut self, outputs: &atoms_model::port::Out) -> Result<(), KernelError> {
        let slot = usize::from(outputs.rsp_tag);
        let request = self.requests.get_mut(slot).and_then(|r| r.as_mut().filter(|r| r.in_flight));
        let warp = self.warps.warp_mut(slot);
        let (Some(request), Some(warp)) = (request, warp) else {
            return Err(KernelError::StrayResponse { tag: outputs.rsp_tag });
        };
        if let Some(fault) = Fault::from_code(outputs.rsp_fault).filter(|f| *f != Fault::None) {
            let (pc, first, cta_slot) = (request.pc, request.piece * self.geometry.lanes, warp.cta_slot);
            return Err(KernelError::Fault {
                fault,
                address: outputs.rsp_fault_addr,
                lane: first + u32::from(outputs.rsp_fault_lane),
                allocation_bytes: self.table.bytes(cta_slot),
                place: self.place(slot, pc),
            });
        }
        let changed = request.changed(outputs, self.geometry.lanes);
        if changed {
            self.livelock.change(self.cycle);
        }
        if let Some(priorities) = &mut self.priorities {
            priorities.answered(slot, changed, request.accessed(outputs, self.geometry.lanes));
        }
        self.statistics.passes += u64::from(outputs.rsp_passes);
        self.statistics.conflicts += u64::from(outputs.rsp_passes.saturating_sub(1));
        let passes = u32::from(outputs.rsp_passes);
        self.end_piece(slot, outputs.rsp_pred, passes, Some(&outputs.rsp_rd));
        Ok(())
    }

    /// Finishes the piece of a request in flight. `holds` are the lanes whose predicate is true.
    fn end_piece(&mut self, slot: usize, holds: u32, passes: u32, results: Option<&[u128]>) {
        let lanes = self.geometry.lanes;
        let (Some(request), Some(warp)) = (self.requests[slot].as_mut(), self.warps.warp_mut(slot)) else {
            return;
        };
        count_request(&mut self.statistics, request.op);
        barrier::log_answer(&mut self.log, slot, request, holds, lanes);
        if self.watched {
            let answered = (request.piece, holds);
            notify::answered(self.observer, (self.cycle, lanes), request, answered, warp, &self.ctas);
        }
        let answer = Answered { op: request.op, lanes: request.piece_mask(lanes), holds, passes };
        self.profile.answered(slot, self.cycle, request.pc, &answer);
        if request.answer(holds, results, lanes, warp) {
            if request.op == Op::CastSpin {
                self.statistics.spin_attempts += u64::from(request.mask.count_ones());
                self.statistics.spin_successes += u64::from(request.stored.count_ones());
            }
            self.requests[slot] = None;
            warp.end_request();
        } else {
            self.waiting |= 1 << slot;
        }
    }

    fn woken(&mut self, outputs: &atoms_model::port::Out) -> Result<(), KernelError> {
        let slot = usize::from(outputs.wake_tag);
        let waits = |r: &Request| r.in_flight && r.op == Op::MbarTryWait;
        if !self.requests.get(slot).is_some_and(|r| r.as_deref().is_some_and(waits)) {
            return Err(KernelError::StrayResponse { tag: outputs.wake_tag });
        }
        self.statistics.suspended += 1;
        self.statistics.woken += u64::from(outputs.wake_pred != 0);
        if let Some(priorities) = &mut self.priorities {
            priorities.saw(slot, std::iter::once(outputs.wake_pred.into()));
        }
        self.end_piece(slot, outputs.wake_pred, 1, None);
        Ok(())
    }

    fn report(self) -> RunReport {
        let mut statistics = self.statistics;
        statistics.cycles = self.cycle;
        statistics.instructions = self.profile.finish();
        let named = self.kernel.mnemonics.iter().cloned().zip(self.issues).filter(|(_, count)| *count > 0);
        statistics.issues_by_mnemonic = named.collect();
        statistics.issues_by_mnemonic.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        RunReport::new(self.launch, statistics, self.global.into_contents())
    }
}
