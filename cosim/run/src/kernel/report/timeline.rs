//! Timelines of the warps that take part in races.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use atoms_isa::Kernel;
use atoms_sm::races::Party;
use atoms_sm::{CoreEvent, Observer, Schedule};

use crate::kernel::finding::KernelFinding;

/// Cycles recorded before and after an access.
const AROUND: u64 = 400;

/// CTA and warp.
pub(super) type WarpNumber = (u32, u32);

/// Step of a warp: an instruction that other threads can see.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) cycle: u64,
    pub(super) pc: u32,
    pub(super) mask: u32,
}

/// Records the steps of warps near the accesses of races. Observes a run that repeats the one with the races.
#[derive(Debug)]
pub struct Timelines<'k> {
    kernel: &'k Kernel,
    windows: BTreeMap<WarpNumber, Vec<RangeInclusive<u64>>>,
    steps: BTreeMap<WarpNumber, Vec<Step>>,
}

impl<'k> Timelines<'k> {
    pub fn new(kernel: &'k Kernel, findings: &[KernelFinding<'_>]) -> Self {
        let mut windows: BTreeMap<WarpNumber, Vec<RangeInclusive<u64>>> = BTreeMap::new();
        for finding in findings {
            let parties: Vec<&Party> = finding.sites.iter().filter_map(|site| site.party.as_ref()).collect();
            for of in &parties {
                let near = |party: &&Party| party.cycle.saturating_sub(AROUND)..=party.cycle + AROUND;
                windows.entry((of.cta, of.warp)).or_default().extend(parties.iter().map(near));
            }
        }
        Timelines { kernel, windows, steps: BTreeMap::new() }
    }

    /// True if no warp is recorded, so that no run is needed.
    pub(crate) fn is_empty(&self) -> bool {
        self.windows.is_empty()
    }

    pub(super) fn of(&self, warp: WarpNumber) -> &[Step] {
        self.steps.get(&warp).map_or(&[], Vec::as_slice)
    }
}

impl Observer for Timelines<'_> {
    fn observe(&mut self, cycle: u64, event: &CoreEvent<'_>) {
        let CoreEvent::Issue(threads, pc, _) = *event else { return };
        let warp = (threads.cta, threads.warp);
        let Some(windows) = self.windows.get(&warp) else { return };
        let operation = &self.kernel.instructions[pc as usize].operation;
        if threads.mask != 0
            && Schedule::is_step(operation)
            && windows.iter().any(|window| window.contains(&cycle))
        {
            self.steps.entry(warp).or_default().push(Step { cycle, pc, mask: threads.mask });
        }
    }
}
