//! Describes for error messages where the threads are and what they wait for.

use super::Core;
use crate::error::{InstructionPlace, WarpStanding};
use crate::warp::{Wait, Warp};

impl Core<'_> {
    pub(super) fn place(&self, slot: usize, pc: u32) -> InstructionPlace {
        let warp = self.warps.get(slot).and_then(Option::as_deref);
        let cta = warp.and_then(|w| self.ctas.get(w.cta_slot)).and_then(Option::as_ref);
        let source = self.kernel.source.get(pc as usize);
        InstructionPlace {
            kernel: self.kernel.name.clone(),
            line: source.map_or(0, |s| s.line),
            text: source.map_or(String::new(), |s| s.text.clone()),
            cta: cta.map_or(0, |c| c.number),
            warp: warp.map_or(0, |w| w.number),
        }
    }

    /// True if threads wait to reconverge with running threads of their warp and may not continue alone. Only
    /// before sm_70.
    pub(super) fn held_back(&self) -> bool {
        let held = |warp: &Warp| {
            let converging = warp.splits.iter().any(|s| matches!(s.wait, Wait::Convergence(_)));
            converging && warp.splits.iter().any(|s| s.wait == Wait::Ready)
        };
        self.warps.iter().flatten().any(|warp| !warp.independent && held(warp))
    }

    pub(super) fn standing(&self, word: &dyn Fn(u32, u32) -> u32) -> Vec<WarpStanding> {
        let each = self.warps.iter().enumerate().filter_map(|(slot, w)| Some((slot, w.as_deref()?)));
        each.flat_map(|(slot, warp)| {
            warp.splits.iter().map(move |split| {
                // Report the instruction that made the pending request.
                let request = self.requests[slot].as_ref().filter(|r| split.mask & r.mask != 0);
                let pc = request.map_or(split.pc, |r| r.pc);
                let place = self.place(slot, pc);
                let question = self.open_questions(warp, split.mask, word);
                let waiting = match (request, split.wait) {
                    (Some(_), _) | (None, Wait::Ready) if question.is_some() => {
                        format!("waiting {}", question.unwrap_or_default())
                    }
                    (Some(request), _) if request.in_flight => {
                        "waiting for the response of the unit".to_string()
                    }
                    (Some(_), _) => "waiting until the unit accepts its request".to_string(),
                    (None, Wait::Ready) if warp.remote > 0 => {
                        "waiting for another CTA of the cluster".to_string()
                    }
                    (None, Wait::Ready) => "ready".to_string(),
                    (None, Wait::Until(end)) => format!("suspended until cycle {end}"),
                    (None, Wait::Convergence(barrier)) => {
                        format!("waiting at convergence barrier B{barrier}")
                    }
                    (None, Wait::WarpSync { mask, .. }) => {
                        format!("waiting for lanes {mask:#010x} at WARPSYNC")
                    }
                    (None, Wait::Collective { mask, .. }) => {
                        format!("waiting for lanes {mask:#010x} to execute the same instruction")
                    }
                    (None, Wait::Block(id)) => format!("waiting at block barrier {id}"),
                    (None, Wait::Groups(most)) => {
                        format!("waiting until at most {most} groups of copies are pending")
                    }
                    (None, Wait::Cluster) => "waiting at the cluster barrier".to_string(),
                };
                WarpStanding { place, pc, mask: split.mask, waiting }
            })
        })
        .collect()
    }
}
