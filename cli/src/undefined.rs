//! Uses of mbarrier objects that PTX leaves undefined (spec 6.9), as a report shows them.

use std::fmt::Write as _;

use atoms_isa::{Kernel, SourceLine};
use atoms_model::diagnosis::{Diagnosis, Watch};
use atoms_model::port::In;
use atoms_sm::Observer;
use serde_json::{Value, json};

use crate::progress::grouped;

/// Requests whose instruction is kept: 64 MiB of them.
const REQUESTS: usize = 1 << 22;

/// Looks on while a kernel runs, to tell the instruction of a request.
pub(crate) struct Requests<'k> {
    kernel: &'k Kernel,
    /// Cycle taken, instruction, and the lane of the warp that is lane 0 of the request, in order.
    made: Vec<(u64, u32, u32)>,
    /// The same for the cluster port.
    made_at_cluster_port: Vec<(u64, u32, u32)>,
    /// Pending counts taken from states that give none: by instruction, the first and how many.
    pending_counts: Vec<PendingCounts>,
}

/// Pending counts that one instruction takes from states that no noComplete arrival gave.
#[derive(Clone, Copy)]
struct PendingCounts {
    pc: u32,
    cycle: u64,
    lane: u32,
    count: u64,
}

impl<'k> Requests<'k> {
    pub(crate) fn new(kernel: &'k Kernel) -> Self {
        Requests { kernel, made: Vec::new(), made_at_cluster_port: Vec::new(), pending_counts: Vec::new() }
    }

    /// Where the instruction that made the request of `diagnosis` is, or had a copy make it; and the diagnosis
    /// with the lane of the warp.
    fn traced(&self, diagnosis: &Diagnosis) -> (Diagnosis, Option<&'k SourceLine>) {
        let made = if diagnosis.cluster { &self.made_at_cluster_port } else { &self.made };
        let Ok(at) = made.binary_search_by_key(&diagnosis.taken, |(cycle, ..)| *cycle) else {
            return (*diagnosis, None);
        };
        let (_, pc, first) = made[at];
        let lane = diagnosis.lane + first as u8;
        (Diagnosis { lane, ..*diagnosis }, self.kernel.source.get(pc as usize))
    }
}

impl Observer for Requests<'_> {
    fn foreign_pending_count(&mut self, cycle: u64, pc: u32, mask: u32) {
        let count = mask.count_ones().into();
        match self.pending_counts.iter_mut().find(|counts| counts.pc == pc) {
            Some(counts) => counts.count += count,
            None => self.pending_counts.push(PendingCounts { pc, cycle, lane: mask.trailing_zeros(), count }),
        }
    }

    fn cluster_request(&mut self, cycle: u64, pc: Option<u32>, _: &In) {
        if let Some(pc) = pc
            && self.made_at_cluster_port.len() < REQUESTS
        {
            self.made_at_cluster_port.push((cycle, pc, 0));
        }
    }

    fn request(&mut self, cycle: u64, pc: u32, first: u32, _: &In) {
        if self.made.len() < REQUESTS {
            self.made.push((cycle, pc, first));
        }
    }
}

/// What of one kind was done by one instruction.
struct Group<'k> {
    first: Diagnosis,
    line: Option<&'k SourceLine>,
    count: u64,
}

/// What was named in a run.
pub(crate) struct Undefined<'k> {
    groups: Vec<Group<'k>>,
    counts: Vec<(&'static str, u64)>,
    pending_counts: Vec<(PendingCounts, Option<&'k SourceLine>)>,
}

/// What is wrong with a [`PendingCounts`], and what to do about it.
const PENDING_COUNT: (&str, &str) = (
    "pending_count of a state that no noComplete arrival gave",
    "arrive with noComplete, or count arrivals in the program: of other states only the phase is defined",
);

impl<'k> Undefined<'k> {
    pub(crate) fn new(watch: &Watch, requests: &Requests<'k>) -> Self {
        let mut groups: Vec<Group<'k>> = Vec::new();
        for diagnosis in watch.diagnoses() {
            let (diagnosis, line) = requests.traced(diagnosis);
            let alike = |group: &&mut Group<'_>| {
                group.first.kind.name() == diagnosis.kind.name()
                    && group.first.op == diagnosis.op
                    && group.line == line
            };
            match groups.iter_mut().find(alike) {
                Some(group) => group.count += 1,
                None => groups.push(Group { first: diagnosis, line, count: 1 }),
            }
        }
        let line = |counts: &PendingCounts| requests.kernel.source.get(counts.pc as usize);
        let pending_counts = requests.pending_counts.iter().map(|counts| (*counts, line(counts))).collect();
        Undefined { groups, counts: watch.counts().collect(), pending_counts }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.groups.is_empty() && self.pending_counts.is_empty()
    }

    fn total(&self) -> u64 {
        let counts = self.pending_counts.iter().map(|(counts, _)| counts.count);
        self.counts.iter().map(|(_, count)| count).sum::<u64>() + counts.sum::<u64>()
    }

    /// As text: each kind of use by each instruction once, with how often it was found.
    pub(crate) fn text(&self) -> String {
        let total = self.total();
        let uses = if total == 1 { "use" } else { "uses" };
        let mut text =
            format!("atoms: {} {uses} of mbarrier objects that PTX leaves undefined:\n", grouped(total));
        let mut kept = 0;
        for Group { first, line, count } in &self.groups {
            kept += count;
            for part in first.to_string().lines() {
                let _ = writeln!(text, "  {part}");
            }
            text += &place(*line, *count);
        }
        for (PendingCounts { cycle, lane, count, .. }, line) in &self.pending_counts {
            kept += count;
            let (what, advice) = PENDING_COUNT;
            let _ = writeln!(text, "  {what}: lane {lane}, cycle {cycle} (spec 6.9)\n    {advice}");
            text += &place(*line, *count);
        }
        if total > kept {
            let counts: Vec<_> =
                self.counts.iter().map(|(name, count)| format!("{name} {}", grouped(*count))).collect();
            let _ = writeln!(text, "  shown are the first {}; in all: {}", grouped(kept), counts.join(", "));
        }
        text
    }

    pub(crate) fn as_json(&self) -> Value {
        let found: Vec<_> = self
            .groups
            .iter()
            .map(|Group { first: d, line, count }| {
                json!({
                    "kind": d.kind.name(),
                    "clause": d.clause(),
                    "what": d.what(),
                    "found": d.found(),
                    "advice": d.advice(),
                    "op": d.op.name(),
                    "address": d.address,
                    "cycle": d.cycle,
                    "cluster": d.cluster,
                    "lane": d.lane,
                    "tag": d.tag,
                    "slot": d.slot,
                    "line": line.map(|line| line.line),
                    "instruction": line.map(|line| line.text.as_str()),
                    "count": count,
                })
            })
            .collect();
        let (what, advice) = PENDING_COUNT;
        let pending_counts = self.pending_counts.iter().map(|(counts, line)| {
            json!({
                "kind": "foreign pending count",
                "clause": "spec 6.9",
                "what": what,
                "advice": advice,
                "cycle": counts.cycle,
                "lane": counts.lane,
                "line": line.map(|line| line.line),
                "instruction": line.map(|line| line.text.as_str()),
                "count": counts.count,
            })
        });
        let found: Vec<_> = found.into_iter().chain(pending_counts).collect();
        json!({ "total": self.total(), "found": found })
    }
}

/// The instruction, if it is known, and how often it did the same.
fn place(line: Option<&SourceLine>, count: u64) -> String {
    let mut text = String::new();
    if let Some(SourceLine { line, text: instruction, .. }) = line {
        let _ = writeln!(text, "    line {line}: `{instruction}`");
    }
    if count > 1 {
        let _ = writeln!(text, "    and {} more like it", grouped(count - 1));
    }
    text
}
