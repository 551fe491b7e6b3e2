//! Classes of cycles: each cycle belongs to one class.

use std::collections::BTreeMap;

use atoms_monitor::{Cycle, PassIssued, Pipeline};

pub(super) struct CycleSample<'m, 'c> {
    pub(super) cycle: &'m Cycle<'c>,
    pub(super) pipeline: Pipeline,
    pub(super) pass: Option<PassIssued>,
    /// True if the request of the pass repeats a compare-and-store that failed.
    pub(super) retry: bool,
    /// True if the next cluster request waits for room for its response.
    pub(super) no_room: bool,
}

impl CycleSample<'_, '_> {
    fn passes(&self, so: impl FnOnce(&PassIssued) -> bool) -> bool {
        self.pass.as_ref().is_some_and(so)
    }

    /// Returns true if a request is being accepted or is in its address stage.
    fn fills(&self) -> bool {
        let [warps, clusters] = self.cycle.queues();
        let next = if clusters.level > 0 { !self.no_room } else { self.cycle.cluster_accepted.is_some() };
        warps.level > 0 || self.cycle.warp_accepted.is_some() || next
    }

    fn answers_stand(&self) -> bool {
        let Cycle { warp_answer, cluster_answer, wake_up, .. } = self.cycle;
        let standing = warp_answer.is_some() || cluster_answer.is_some() || wake_up.is_some();
        standing || self.cycle.waiters().ready != 0
    }
}

/// Defines the classes in order of precedence. The condition of the last class always holds.
macro_rules! classes {
    ($( $class:ident $key:literal, $title:literal, $brief:literal, $meaning:literal, $holds:expr; )*) => {
        /// Class of a cycle. The first class that applies counts, in the order below.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum CycleClass { $( #[doc = $meaning] $class, )* }

        impl CycleClass {
            /// Every class, in order of precedence.
            pub const ALL: &'static [CycleClass] = &[$( CycleClass::$class, )*];

            /// Returns the name in JSON.
            pub const fn key(self) -> &'static str {
                match self { $( CycleClass::$class => $key, )* }
            }

            /// Returns the name in text output.
            pub const fn title(self) -> &'static str {
                match self { $( CycleClass::$class => $title, )* }
            }

            /// Returns a short description, for use next to the name.
            pub const fn brief(self) -> &'static str {
                match self { $( CycleClass::$class => $brief, )* }
            }

            /// Returns the full description.
            pub const fn meaning(self) -> &'static str {
                match self { $( CycleClass::$class => $meaning, )* }
            }

            #[inline]
            pub(super) fn of(moment: &CycleSample<'_, '_>) -> CycleClass {
                $( {
                    let holds: fn(&CycleSample<'_, '_>) -> bool = $holds;
                    if holds(moment) {
                        return CycleClass::$class;
                    }
                } )*
                unreachable!("the last class holds always")
            }
        }
    };
}

classes! {
    Reset "reset", "reset", "the reset is active",
        "The reset is active.",
        |m| m.cycle.reset.is_some();
    Stall "stall", "stall", "a response is not taken",
        "The pipeline is stalled: a warp pass is in its last stage, and the warp response before it is not taken.",
        |m| m.pipeline.stalled;
    Conflict "conflict", "conflict", "a later pass of a request",
        "A pass beyond the first of its request is issued: lanes conflict on a bank.",
        |m| m.passes(|pass| pass.index > 0);
    NoLane "no_lane", "no lane", "a fault, or no active lane",
        "The pass of a request that faults or has no active lane is issued; it serves no lane.",
        |m| m.passes(|pass| pass.lanes == 0);
    Cluster "cluster", "cluster", "a pass of the cluster port",
        "The pass of a cluster request is issued.",
        |m| m.passes(|pass| pass.cluster);
    Retry "retry", "retry", "repeats a failed compare",
        "The first pass of a CAS, CAST or CAST.SPIN is issued, and every lane repeats a comparison that failed: the last \
         compare-and-store answered with this tag had the same slot, operation and size, and the lane failed in it at \
         the same address.",
        |m| m.pass.is_some() && m.retry;
    FirstPass "first_pass", "first pass", "the first pass of a request",
        "The first pass of any other warp request is issued.",
        |m| m.pass.is_some();
    Hazard "hazard", "hazard", "its word is in the pipeline",
        "The pass at issue is held back: an older pass in the pipeline may write a word that it needs (without \
         `forwarding` only).",
        |m| m.pipeline.held_back;
    Fill "fill", "fill", "a request comes to issue",
        "Nothing is at issue, and a request is being accepted or in its address stage.",
        |m| m.fills();
    NoRoom "no_room", "no room", "no place for a response",
        "Nothing is at issue, and the cluster request next in line waits for room for its response (spec 4.7).",
        |m| m.cycle.queues()[1].level > 0;
    Drain "drain", "drain", "finishes requests in flight",
        "No request waits for issue; passes are in the pipeline, or responses or wake-ups wait at their ports.",
        |m| m.pipeline.stages != 0 || m.answers_stand();
    Suspended "suspended", "suspended", "all requests are suspended",
        "Every request inside is suspended in MBAR.TRY_WAIT.",
        |m| m.cycle.waiters().suspended != 0;
    Idle "idle", "idle", "no request inside or offered",
        "No request is inside, and none is offered.",
        |_| true;
}

/// Number of cycles of each class. They add up to all cycles.
///
/// In JSON, a map from [`CycleClass::key`] to cycles, with every class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(into = "BTreeMap<&'static str, u64>")]
pub struct CycleStack([u64; CycleClass::ALL.len()]);

impl CycleStack {
    #[inline]
    pub(super) fn count(&mut self, class: CycleClass) {
        self.0[class as usize] += 1;
    }

    /// Returns the cycles of a class.
    pub fn cycles(&self, class: CycleClass) -> u64 {
        self.0[class as usize]
    }

    /// Returns every class with its cycles, in order of precedence.
    pub fn iter(&self) -> impl Iterator<Item = (CycleClass, u64)> + '_ {
        CycleClass::ALL.iter().copied().zip(self.0)
    }

    /// Returns the number of all cycles.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }
}

impl From<CycleStack> for BTreeMap<&'static str, u64> {
    fn from(stack: CycleStack) -> Self {
        stack.iter().map(|(class, cycles)| (class.key(), cycles)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect_file;

    /// Checks that `docs/reports.md` has every class. `cargo regenerate` rewrites the table.
    #[test]
    fn the_page_has_every_class() {
        const BEGIN: &str = "<!-- classes: generated from cosim/src/usage/stack.rs -->\n";
        const END: &str = "<!-- end -->";
        let page = expect_file!["../../../docs/reports.md"];
        let text = page.data();
        let (before, rest) = text.split_once(BEGIN).expect("the page has the markers of the table");
        let (_, after) = rest.split_once(END).expect("the table ends");
        let row =
            |class: &CycleClass| format!("| {} | `{}` | {} |\n", class.title(), class.key(), class.meaning());
        let rows: String = CycleClass::ALL.iter().map(row).collect();
        let head = "| class | JSON | a cycle in which |\n|---|---|---|\n";
        page.assert_eq(&format!("{before}{BEGIN}{head}{rows}{END}{after}"));
    }
}
