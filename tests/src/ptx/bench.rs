//! Runs kernels around PTX lines and checks the contents of memory.

use atoms_cosim::lockstep::Lockstep;
use atoms_cosim::machine::Machine;
use atoms_cosim::session::{Session, Tally};
use atoms_isa::Program;
use atoms_model::MemoryPort;
use atoms_sm::{CoreEvent, Observer, SmConfig, run_observed};

use super::barrier::BarrierLayout;
use super::case::{Agent, DATA_WORDS, PtxCase, PtxObserved, PtxStart, judge};
use super::kernel::{self, BarrierKernel, layout};
use super::spelling::SpelledOperation;
use crate::{config, judged_lockstep_of};

/// Returns the words after `cp.async.mbarrier.arrive` before sm_90 at different objects. Compilers add all
/// increments at the object of the highest lane, so the counts are wrong, on devices and in this project.
fn miscompiled(case: &PtxCase, layout: BarrierLayout) -> Vec<Vec<u64>> {
    let last = case.objects.len() - 1;
    let word = |(at, start): (usize, &PtxStart)| {
        let mut barrier = start.reached(layout).0.expect("there is an object");
        if at == last {
            case.objects.iter().for_each(|_| barrier.increment());
        }
        barrier.arrive(1);
        barrier.word(layout)
    };
    vec![case.objects.iter().enumerate().map(word).collect()]
}

/// Mask of lanes that took a pending count from a state that no noComplete arrive returned (spec 6.9).
struct Misused(u32);

impl Observer for Misused {
    fn observe(&mut self, _: u64, event: &CoreEvent<'_>) {
        if let CoreEvent::ForeignPendingCount(_, mask) = event {
            self.0 |= mask;
        }
    }
}

pub struct PtxBench {
    configuration: String,
    session: Session<Lockstep>,
    core: SmConfig,
}

impl PtxBench {
    pub fn new(name: &str) -> PtxBench {
        let mut session = judged_lockstep_of(&config(name));
        session.machine_mut().watch();
        // Caps hints of milliseconds. 3000 cycles are long enough for the late arrival.
        let core =
            SmConfig { longest_sleep_cycles: 3000, copy_latency_cycles: [20, 60], ..SmConfig::default() };
        PtxBench { configuration: name.to_string(), session, core }
    }

    pub fn tally(&self) -> Tally {
        self.session.tally()
    }

    /// Runs a case and checks the results.
    ///
    /// # Errors
    /// Description of the mismatch, with the listing.
    pub fn check(&mut self, kernel: &BarrierKernel<'_>) -> Result<(), String> {
        let BarrierKernel { arch, spelling, case, .. } = *kernel;
        let apart = case.objects.len() > 1;
        let wrong = arch.number() < 90 && spelling.operation == SpelledOperation::CopyArrive && apart;
        let result = match self.observe(kernel) {
            // The session's state is not reliable after an error.
            Err(why) => {
                *self = PtxBench::new(&self.configuration);
                Err(why)
            }
            Ok(observed) if wrong => {
                if observed.words == miscompiled(case, layout(arch)) {
                    Ok(())
                } else {
                    Err("other words".into())
                }
            }
            Ok(observed) => judge(case, spelling, layout(arch), &observed),
        };
        result.map_err(|why| format!("{}: {why}\n{}", case.what, kernel.listing()))
    }

    /// # Errors
    /// The run failed, or broke a rule that holds for every case.
    fn observe(&mut self, kernel: &BarrierKernel<'_>) -> Result<PtxObserved, String> {
        let text = kernel.listing();
        let program = Program::parse("line.sass", &text).map_err(|e| e.to_string())?;
        let code = program.kernel(kernel::NAME).expect("the listing has this kernel");
        let before = self.session.tally();
        let mut misused = Misused(0);
        let report = run_observed(code, &kernel.launch(), &mut self.session, &self.core, &mut misused)
            .map_err(|e| e.to_string())?;
        self.session.judge_memory().map_err(|e| e.to_string())?;
        let tally = self.session.tally();
        let clusters = tally.cluster_requests - before.cluster_requests;
        if tally.judged - before.judged != tally.requests - before.requests + clusters {
            return Err("the oracle has not judged every answer".into());
        }
        let undefined = self.session.machine().watched().expect("the model watches").diagnoses();
        if let Some(diagnosis) = undefined.first() {
            return Err(format!("undefined: {diagnosis}"));
        }
        // PendingCount lines take the count of an ordinary state. Other lines must only use noComplete
        // states.
        let takes = |agent: &Agent| {
            u32::from(kernel.spelling.operation == SpelledOperation::PendingCount) << agent.thread
        };
        let taken = kernel.case.agents.iter().map(takes).fold(0, |mask, lane| mask | lane);
        if misused.0 != taken {
            return Err(format!(
                "counts taken of wrong states: lanes {taken:#x}, but {:#x} are named",
                misused.0
            ));
        }
        // CopyArrive adds an arrival and takes it away, so memory does not show that it ran.
        let agents = kernel.case.agents.len() as u64;
        if kernel.spelling.operation == SpelledOperation::CopyArrive && clusters != agents {
            return Err(format!("{clusters} arrivals of {agents} came through the cluster port"));
        }
        let has = |text: &str| kernel.body.lines.iter().any(|line| line.contains(text));
        let merges = self.session.machine().config().merge_arrive && has("ARRIVE.TRANS64.A1T0");
        let at_once = merges || has("USYNCS.ARRIVE");
        let (answers, words) = (kernel.answers(&report), self.words(kernel));
        Ok(PtxObserved { answers, words, data: self.data(kernel), at_once })
    }

    /// Returns a word of a CTA's allocation. Allocations start at row 0 and are in order of rank.
    fn word(&self, kernel: &BarrierKernel<'_>, cta: u32, offset: u32) -> u32 {
        let banks = self.session.banks();
        let rows = (kernel::SHARED + kernel.arch.shared_origin()).div_ceil(4 * banks);
        self.session.word(cta * rows + offset / (4 * banks), offset / 4 % banks)
    }

    fn words(&self, kernel: &BarrierKernel<'_>) -> Vec<Vec<u64>> {
        let object = |cta: u32, n: usize| {
            let word = |offset: u32| u64::from(self.word(kernel, cta, offset));
            word(kernel.object(n) + 4) << 32 | word(kernel.object(n))
        };
        let objects = 0..kernel.case.objects.len();
        (0..kernel.case.ctas).map(|cta| objects.clone().map(|n| object(cta, n)).collect()).collect()
    }

    fn data(&self, kernel: &BarrierKernel<'_>) -> Vec<Vec<u32>> {
        let each = kernel.case.agents.iter().enumerate();
        each.map(|(at, agent)| {
            let word = |n: usize| self.word(kernel, agent.target, kernel.data(at) + 4 * n as u32);
            (0..DATA_WORDS).map(word).collect()
        })
        .collect()
    }
}
