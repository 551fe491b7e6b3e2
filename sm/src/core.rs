//! The core, cycle by cycle: starts CTAs, issues instructions, carries requests to the port and back.

mod issue;

use crate::config::SmConfig;
use crate::constant::ConstantBank;
use crate::cta::{Barrier, Cta};
use crate::error::{KernelError, Place, RunError, WarpStanding};
use crate::global::GlobalMemory;
use crate::launch::Launch;
use crate::observer::Observer;
use crate::report::RunReport;
use crate::request::Request;
use crate::statistics::Statistics;
use crate::support;
use crate::table::{PartTable, Verdict};
use crate::warp::{Busy, Wait, Warp};
use atoms_isa::Kernel;
use atoms_model::MemoryPort;
use atoms_model::port::In;
use atoms_ops::{Fault, OPS, Op};

/// Runs a kernel to its end, against the memory behind `port`.
///
/// The port's shared memory need not be cleared, but no CTA slot may have a part; at the end none
/// has one again.
///
/// # Errors
/// [`RunError::Port`] as it came from the port; [`RunError::Kernel`] if the kernel cannot be run, or
/// did something it must not.
pub fn run<P: MemoryPort>(
    kernel: &Kernel,
    launch: &Launch,
    port: &mut P,
    config: &SmConfig,
) -> Result<RunReport, RunError<P::Error>> {
    run_observed(kernel, launch, port, config, &mut ())
}

/// As [`run`], with somebody looking on.
///
/// # Errors
/// As [`run`].
pub fn run_observed<P: MemoryPort>(
    kernel: &Kernel,
    launch: &Launch,
    port: &mut P,
    config: &SmConfig,
    observer: &mut dyn Observer,
) -> Result<RunReport, RunError<P::Error>> {
    let mut core = Core::new(kernel, launch, config, Geometry::of(port), observer)?;
    while !core.finished() {
        core.before_clock()?;
        let outputs = port.cycle(&core.inputs).map_err(RunError::Port)?;
        core.after_clock(&outputs)?;
    }
    Ok(core.report())
}

/// Size of what is behind the port.
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

struct Core<'a> {
    kernel: &'a Kernel,
    launch: &'a Launch,
    config: SmConfig,
    geometry: Geometry,
    observer: &'a mut dyn Observer,
    constants: ConstantBank,
    global: GlobalMemory,
    inputs: Box<In>,
    table: PartTable,
    /// By slot of the CTA table.
    ctas: Vec<Option<Cta>>,
    /// By warp slot, which is the tag of its requests.
    warps: Vec<Option<Box<Warp>>>,
    /// By warp slot.
    requests: Vec<Option<Box<Request>>>,
    /// Warp whose request is offered.
    offered: Option<usize>,
    /// Warp after which the search for the next request starts.
    request_turn: usize,
    /// Per scheduler, the warp after which its search starts.
    turns: Vec<usize>,
    /// Bytes of a CTA's part, and the rows that hold them.
    part: (u32, u32),
    next_cta: u32,
    cycle: u64,
    budget: u64,
    statistics: Statistics,
    issues: Vec<u64>,
}

/// Most warps: what the tag can tell apart.
const TAGS: u32 = 64;

/// Bytes of static shared memory where the launch does not say. Source: [PTX], the most a CTA may declare.
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
        let fixed = u64::from(kernel.arch.shared_origin()) + u64::from(launch.dynamic_shared);
        let undeclared = DEFAULT_SHARED.min(memory.saturating_sub(fixed));
        let bytes = fixed + launch.shared.map_or(undeclared, u64::from);
        if bytes > memory {
            return Err(too_large(
                format!("a CTA needs {bytes} bytes of shared memory, and there are {memory}"),
                "lower `shared` or `dynamic_shared` of the launch, or take a configuration with more rows"
                    .into(),
            ));
        }
        // A CTA without shared memory gets a word: every CTA has a slot, and a slot has a part.
        let bytes = (bytes as u32).max(4);
        let max_warps = config.max_warps.clamp(1, TAGS);
        let warps = launch.threads().div_ceil(32);
        if warps > max_warps {
            return Err(too_large(
                format!(
                    "a CTA of {} threads has {warps} warps, and the core has {max_warps}",
                    launch.threads()
                ),
                "lower `block` of the launch".into(),
            ));
        }
        if !geometry.lanes.is_power_of_two() || geometry.lanes > 32 || geometry.slots == 0 {
            return Err(too_large(
                format!("the port has {} lanes and {} CTA slots", geometry.lanes, geometry.slots),
                "lanes are a power of two up to 32, and there is at least one slot".into(),
            ));
        }
        let (global, bases) = GlobalMemory::new(launch);
        let inputs = In { rst_n: 1, rsp_ready: 1, cl_rsp_ready: 1, ..In::default() };
        let schedulers = config.schedulers.clamp(1, TAGS) as usize;
        Ok(Core {
            constants: ConstantBank::new(kernel.arch, launch, &bases),
            kernel,
            launch,
            config: *config,
            geometry,
            observer,
            global,
            inputs: Box::new(inputs),
            table: PartTable::new(geometry.slots, geometry.rows),
            ctas: (0..geometry.slots).map(|_| None).collect(),
            warps: (0..max_warps).map(|_| None).collect(),
            requests: (0..max_warps).map(|_| None).collect(),
            offered: None,
            request_turn: max_warps as usize - 1,
            turns: vec![usize::MAX; schedulers],
            part: (bytes, bytes.div_ceil(row_bytes)),
            next_cta: 0,
            cycle: 0,
            budget: launch.cycle_budget.unwrap_or(config.cycle_budget),
            statistics: Statistics::default(),
            issues: vec![0; kernel.mnemonics.len()],
        })
    }

    fn finished(&self) -> bool {
        self.next_cta == self.launch.ctas() && self.ctas.iter().all(Option::is_none) && self.table.idle()
    }

    /// Issues instructions and sets the inputs of this cycle.
    fn before_clock(&mut self) -> Result<(), KernelError> {
        if self.cycle >= self.budget {
            let warps = self.standing();
            return Err(KernelError::Budget { kernel: self.kernel.name.clone(), cycles: self.cycle, warps });
        }
        self.start_ctas();
        let mut issued = false;
        for scheduler in 0..self.turns.len() {
            if let Some(slot) = self.next_warp(scheduler) {
                self.turns[scheduler] = slot;
                self.issue(slot)?;
                issued = true;
            }
        }
        if !issued && self.stuck() {
            let warps = self.standing();
            return Err(KernelError::Deadlock {
                kernel: self.kernel.name.clone(),
                cycles: self.cycle,
                warps,
            });
        }
        self.table.drive(&mut self.inputs);
        self.offer();
        Ok(())
    }

    /// Starts CTAs as slots, rows and warps are free.
    fn start_ctas(&mut self) {
        let needed = self.launch.threads().div_ceil(32) as usize;
        while self.next_cta < self.launch.ctas() {
            let free: Vec<usize> = self.free_warps().take(needed).collect();
            if free.len() < needed {
                return;
            }
            let (bytes, rows) = self.part;
            let Some(slot) = self.table.allocate(rows, bytes) else { return };
            let number = self.next_cta;
            let [x, y, _] = self.launch.grid;
            let cta = Cta {
                number,
                index: [number % x, number / x % y, number / x / y],
                warps: free,
                barriers: [Barrier::default(); 16],
                running: false,
            };
            self.ctas[slot] = Some(cta);
            self.next_cta += 1;
        }
    }

    /// Warp slots that no CTA has.
    fn free_warps(&self) -> impl Iterator<Item = usize> {
        let taken = |slot: &usize| self.ctas.iter().flatten().any(|c| c.warps.contains(slot));
        (0..self.warps.len()).filter(move |slot| !taken(slot))
    }

    /// The next warp of a scheduler that can issue.
    fn next_warp(&self, scheduler: usize) -> Option<usize> {
        let (step, count) = (self.turns.len(), self.warps.len());
        let own = (scheduler..count).step_by(step);
        let ready = |slot: &usize| self.warps[*slot].as_deref().is_some_and(|w| w.ready(self.cycle));
        let mut first = None;
        for slot in own.filter(ready) {
            if slot > self.turns[scheduler] {
                return Some(slot);
            }
            first = first.or(Some(slot));
        }
        first
    }

    /// Nothing that could change is on its way.
    fn stuck(&self) -> bool {
        let waits = |w: &Warp| w.busy != Busy::No;
        self.table.idle()
            && self.requests.iter().all(Option::is_none)
            && !self.warps.iter().flatten().any(|w| waits(w) && !w.splits.is_empty())
            && !self.finished()
    }

    /// Offers the next request to the port.
    fn offer(&mut self) {
        self.inputs.req_valid = 0;
        let count = self.requests.len();
        if self.offered.is_none() {
            let waiting = |slot: &usize| self.requests[*slot].as_ref().is_some_and(|r| !r.in_flight);
            self.offered = (1..=count).map(|i| (self.request_turn + i) % count).find(waiting);
        }
        if let Some(slot) = self.offered
            && let Some(request) = &self.requests[slot]
        {
            request.drive(&mut self.inputs, self.geometry.lanes, slot as u8);
        }
    }

    /// Takes in the outputs of this cycle.
    fn after_clock(&mut self, outputs: &atoms_model::port::Out) -> Result<(), KernelError> {
        if self.inputs.req_valid != 0
            && outputs.req_ready != 0
            && let Some(slot) = self.offered.take()
        {
            self.request_turn = slot;
            self.observer.request(self.cycle, &self.inputs);
            if let Some(request) = self.requests[slot].as_mut() {
                request.in_flight = true;
            }
        }
        if outputs.rsp_valid != 0 {
            self.observer.response(self.cycle, outputs);
            self.answered(outputs)?;
        }
        match self.table.observe(&self.inputs, outputs) {
            None => {}
            Some(Verdict::Granted { slot }) => self.start_warps(slot),
            Some(Verdict::Refused { slot, part }) => {
                let cta = self.ctas[slot].as_ref().map_or(0, |c| c.number);
                return Err(KernelError::PartRefused { cta, bytes: part.bytes, row: part.base });
            }
            Some(Verdict::Released { slot }) => {
                self.ctas[slot] = None;
                self.statistics.ctas += 1;
            }
        }
        self.cycle += 1;
        Ok(())
    }

    fn start_warps(&mut self, slot: usize) {
        let Some(cta) = self.ctas[slot].as_mut() else { return };
        cta.running = true;
        let threads = self.launch.threads();
        for (number, warp_slot) in cta.warps.iter().enumerate() {
            let left = threads - 32 * number as u32;
            let mask = if left >= 32 { !0 } else { (1 << left) - 1 };
            self.warps[*warp_slot] = Some(Box::new(Warp::new(slot, number as u32, mask)));
        }
    }

    fn answered(&mut self, outputs: &atoms_model::port::Out) -> Result<(), KernelError> {
        let slot = usize::from(outputs.rsp_tag);
        let request = self.requests.get_mut(slot).and_then(|r| r.as_mut().filter(|r| r.in_flight));
        let warp = self.warps.get_mut(slot).and_then(Option::as_deref_mut);
        let (Some(request), Some(warp)) = (request, warp) else {
            return Err(KernelError::StrayResponse { tag: outputs.rsp_tag });
        };
        if let Some(fault) = Fault::from_code(outputs.rsp_fault).filter(|f| *f != Fault::None) {
            let (pc, first, cta_slot) = (request.pc, request.piece * self.geometry.lanes, warp.cta_slot);
            return Err(KernelError::Fault {
                fault,
                address: outputs.rsp_fault_addr,
                lane: first + u32::from(outputs.rsp_fault_lane),
                part_bytes: self.table.bytes(cta_slot),
                place: self.place(slot, pc),
            });
        }
        let lanes = self.geometry.lanes;
        self.statistics.shared_requests += 1;
        self.statistics.requests_by_op[request.op as usize % OPS.len()] += 1;
        self.statistics.passes += u64::from(outputs.rsp_passes);
        self.statistics.conflicts += u64::from(outputs.rsp_passes.saturating_sub(1));
        if request.answer(outputs, lanes, warp) {
            if request.op == Op::CastSpin {
                self.statistics.spin_attempts += u64::from(request.mask.count_ones());
                self.statistics.spin_successes += u64::from(request.stored.count_ones());
            }
            self.requests[slot] = None;
            warp.busy = Busy::No;
        }
        Ok(())
    }

    /// Where an instruction of a warp stands, for messages.
    fn place(&self, slot: usize, pc: u32) -> Place {
        let warp = self.warps.get(slot).and_then(Option::as_deref);
        let cta = warp.and_then(|w| self.ctas.get(w.cta_slot)).and_then(Option::as_ref);
        let source = self.kernel.source.get(pc as usize);
        Place {
            kernel: self.kernel.name.clone(),
            line: source.map_or(0, |s| s.line),
            text: source.map_or(String::new(), |s| s.text.clone()),
            cta: cta.map_or(0, |c| c.number),
            warp: warp.map_or(0, |w| w.number),
        }
    }

    /// Where all threads stand.
    fn standing(&self) -> Vec<WarpStanding> {
        let each = self.warps.iter().enumerate().filter_map(|(slot, w)| Some((slot, w.as_deref()?)));
        each.flat_map(|(slot, warp)| {
            warp.splits.iter().map(move |split| {
                // A request belongs to the instruction that made it.
                let request = self.requests[slot].as_ref().filter(|r| split.mask & r.mask != 0);
                let pc = request.map_or(split.pc, |r| r.pc);
                let place = self.place(slot, pc);
                let waiting = match (request, split.wait) {
                    (Some(request), _) if request.in_flight => "waiting for the unit's answer".to_string(),
                    (Some(_), _) => "waiting to hand its request to the unit".to_string(),
                    (None, Wait::Ready) => "ready".to_string(),
                    (None, Wait::Convergence(barrier)) => {
                        format!("waiting at convergence barrier B{barrier}")
                    }
                    (None, Wait::WarpSync(mask)) => format!("waiting for lanes {mask:#010x} at WARPSYNC"),
                    (None, Wait::Block(id)) => format!("waiting at block barrier {id}"),
                };
                let Place { line, text, cta, warp, .. } = place;
                WarpStanding { cta, warp, mask: split.mask, pc, line, text, waiting }
            })
        })
        .collect()
    }

    fn report(self) -> RunReport {
        let mut statistics = self.statistics;
        statistics.cycles = self.cycle;
        let named = self.kernel.mnemonics.iter().cloned().zip(self.issues).filter(|(_, count)| *count > 0);
        statistics.issues_by_mnemonic = named.collect();
        statistics.issues_by_mnemonic.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        RunReport::new(self.launch, statistics, self.global.into_contents())
    }
}
