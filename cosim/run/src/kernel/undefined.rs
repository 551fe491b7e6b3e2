//! Uses of mbarrier objects (spec 6.9), shuffles and memory that PTX leaves undefined, as text and JSON.

use std::fmt::Write as _;

use atoms_isa::{Kernel, SourceLine};
use atoms_model::diagnosis::{Diagnosis, Watch};
use atoms_sm::{CoreEvent, Observer};
use schemars::JsonSchema;
use serde::Serialize;

use crate::grouped;
use crate::kernel::finding::{FindingSite, KernelFault, KernelFinding};

/// Highest number of requests in the log, which then takes 64 MiB.
const REQUESTS: usize = 1 << 22;

/// Log of the instruction that made each request of a run.
#[derive(Debug)]
pub struct RequestLog<'k> {
    kernel: &'k Kernel,
    /// For each request, in order of cycles: cycle of acceptance, index of the instruction, and warp lane
    /// that is lane 0 of the request.
    made: Vec<(u64, u32, u32)>,
    made_at_cluster_port: Vec<(u64, u32, u32)>,
    /// Undefined uses reported by the core, indexed like [`KINDS`].
    named: [Vec<Repeated>; KINDS.len()],
}

/// First undefined use by one instruction, and the number of uses.
#[derive(Clone, Copy, Debug)]
struct Repeated {
    pc: u32,
    cycle: u64,
    lane: u32,
    count: u64,
}

/// Counts a use by instruction `pc` for each lane of `mask`.
fn count(all: &mut Vec<Repeated>, cycle: u64, pc: u32, mask: u32) {
    let count = mask.count_ones().into();
    match all.iter_mut().find(|repeated| repeated.pc == pc) {
        Some(repeated) => repeated.count += count,
        None => all.push(Repeated { pc, cycle, lane: mask.trailing_zeros(), count }),
    }
}

impl<'k> RequestLog<'k> {
    pub fn new(kernel: &'k Kernel) -> Self {
        RequestLog { kernel, made: Vec::new(), made_at_cluster_port: Vec::new(), named: Default::default() }
    }

    /// Returns the diagnosis with the warp's lane number, and the instruction that made its request, directly
    /// or by a copy.
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

impl Observer for RequestLog<'_> {
    fn observe(&mut self, cycle: u64, event: &CoreEvent<'_>) {
        match *event {
            CoreEvent::ForeignLane(pc, mask) => count(&mut self.named[FOREIGN_LANE], cycle, pc, mask),
            CoreEvent::ReservedShared(pc, mask) => count(&mut self.named[RESERVED_SHARED], cycle, pc, mask),
            CoreEvent::SplitAtomic(pc, mask) => count(&mut self.named[SPLIT_ATOMIC], cycle, pc, mask),
            CoreEvent::ForeignPendingCount(pc, mask) => {
                count(&mut self.named[PENDING_COUNT], cycle, pc, mask)
            }
            CoreEvent::ClusterRequest(Some(pc), _) if self.made_at_cluster_port.len() < REQUESTS => {
                self.made_at_cluster_port.push((cycle, pc, 0));
            }
            CoreEvent::Request(pc, first, _) if self.made.len() < REQUESTS => {
                self.made.push((cycle, pc, first));
            }
            _ => {}
        }
    }
}

#[derive(Debug)]
pub struct UndefinedUses<'k> {
    /// Uses of mbarrier objects that the unit reports.
    objects: Vec<UseResult<'k>>,
    counts: Vec<(&'static str, u64)>,
    /// Undefined uses reported by the core, indexed like [`KINDS`].
    named: [Vec<UseResult<'k>>; KINDS.len()],
}

struct Kind {
    name: &'static str,
    /// Title of the list, in singular and plural.
    title: [&'static str; 2],
    clause: &'static str,
    what: &'static str,
    advice: &'static str,
}

/// Indices in [`KINDS`]. The last kind is reported together with the uses of mbarrier objects.
const FOREIGN_LANE: usize = 0;
const RESERVED_SHARED: usize = 1;
const SPLIT_ATOMIC: usize = 2;
const PENDING_COUNT: usize = 3;

const KINDS: [Kind; 4] = [
    Kind {
        name: "foreign lane",
        title: ["shuffled value", "shuffled values"],
        clause: "[PTX] shfl.sync",
        what: "a shuffle reads a lane that does not execute it: the lane has ended, is not in the mask, or is at another instruction",
        advice: "name the lane in the mask and let it execute the shuffle, or do not use the value",
    },
    Kind {
        name: "reserved shared memory",
        title: ["access to reserved shared memory", "accesses to reserved shared memory"],
        clause: "spec 1.4",
        what: "an access to shared memory below the first variable, where memory is reserved for the system",
        advice: "correct the address; code that uses reserved memory on purpose needs %reserved_smem_offset_1",
    },
    Kind {
        name: "split atomic",
        title: ["atomic that loses updates", "atomics that lose updates"],
        clause: "spec 7.5",
        what: "an atomic on shared memory of another CTA that is not atomic: compiled code uses a load and a store, and loses updates",
        advice: "use 32-bit integers, f32, or add, exch or cas of 64 bits, or let a thread of that CTA execute it (docs/silicon.md)",
    },
    Kind {
        name: "foreign pending count",
        title: ["", ""],
        clause: "spec 6.9",
        what: "pending_count of a state that was not returned by a noComplete arrival",
        advice: "use the state that an arrive with noComplete returned, or count arrivals in the program: PTX defines no pending count for other states",
    },
];

#[derive(Serialize, JsonSchema)]
pub struct UndefinedResult<'r> {
    total: u64,
    found: Vec<&'r UseResult<'r>>,
}

/// One kind of undefined use by one instruction.
#[derive(Debug, Serialize, JsonSchema)]
struct UseResult<'k> {
    kind: &'static str,
    clause: &'static str,
    what: String,
    advice: &'static str,
    cycle: u64,
    lane: u32,
    line: Option<u32>,
    instruction: Option<&'k str>,
    #[serde(skip)]
    place: Option<&'k SourceLine>,
    /// Lines of the text output, without the instruction.
    #[serde(skip)]
    text: String,
    count: u64,
    #[serde(flatten)]
    object: Option<ObjectUse>,
}

/// Details of a use of an mbarrier object.
#[derive(Debug, Serialize, JsonSchema)]
struct ObjectUse {
    found: String,
    op: &'static str,
    address: u32,
    cluster: bool,
    tag: u8,
    slot: u8,
}

impl<'k> UseResult<'k> {
    fn of_object(d: &Diagnosis, place: Option<&'k SourceLine>) -> Self {
        UseResult {
            kind: d.kind.name(),
            clause: d.clause(),
            what: d.what(),
            advice: d.advice(),
            cycle: d.cycle,
            lane: d.lane.into(),
            line: place.map(|line| line.line),
            instruction: place.map(|line| line.text.as_str()),
            place,
            text: d.to_string().lines().map(|part| format!("  {part}\n")).collect(),
            count: 1,
            object: Some(ObjectUse {
                found: d.found(),
                op: d.op.name(),
                address: d.address,
                cluster: d.cluster,
                tag: d.tag,
                slot: d.slot,
            }),
        }
    }

    fn of_kind(kind: &Kind, repeated: &Repeated, place: Option<&'k SourceLine>) -> Self {
        let Kind { name, clause, what, advice, .. } = *kind;
        let Repeated { cycle, lane, count, .. } = *repeated;
        UseResult {
            kind: name,
            clause,
            what: what.to_string(),
            advice,
            cycle,
            lane,
            line: place.map(|line| line.line),
            instruction: place.map(|line| line.text.as_str()),
            place,
            text: format!("  {what}: lane {lane}, cycle {cycle} ({clause})\n    {advice}\n"),
            count,
            object: None,
        }
    }

    /// Formats the use, its instruction, if known, and the number of further uses.
    fn text(&self) -> String {
        let mut text = self.text.clone();
        if let Some(line) = self.place {
            let _ = writeln!(text, "    {line}");
        }
        if self.count > 1 {
            let _ = writeln!(text, "    and {} more like it", grouped(self.count - 1));
        }
        text
    }
}

fn total(uses: &[UseResult<'_>]) -> u64 {
    uses.iter().map(|of| of.count).sum()
}

impl<'k> UndefinedUses<'k> {
    pub fn new(watch: &Watch, requests: &RequestLog<'k>) -> Self {
        let mut objects: Vec<UseResult<'k>> = Vec::new();
        for diagnosis in watch.diagnoses() {
            let (diagnosis, line) = requests.traced(diagnosis);
            let new = UseResult::of_object(&diagnosis, line);
            let op = |of: &UseResult<'_>| of.object.as_ref().map(|object| object.op);
            let alike = |old: &&mut UseResult<'_>| {
                old.kind == new.kind && op(old) == op(&new) && old.place == new.place
            };
            match objects.iter_mut().find(alike) {
                Some(old) => old.count += 1,
                None => objects.push(new),
            }
        }
        let source = &requests.kernel.source;
        let named = std::array::from_fn(|kind| {
            let uses = requests.named[kind].iter();
            uses.map(|used| UseResult::of_kind(&KINDS[kind], used, source.get(used.pc as usize))).collect()
        });
        UndefinedUses { objects, counts: watch.counts().collect(), named }
    }

    pub(crate) fn reported(&self) -> impl Iterator<Item = KernelFinding<'k>> {
        self.found().map(|used| {
            let threads = format!("lane {}, cycle {}", used.lane, grouped(used.cycle));
            let site = used.place.map(|line| FindingSite { line, act: String::new(), threads, party: None });
            KernelFinding {
                fault: KernelFault::Undefined,
                name: used.kind.into(),
                hint: false,
                title: used.what.clone(),
                at: String::new(),
                advice: used.advice.into(),
                sites: site.into_iter().collect(),
            }
        })
    }

    fn found(&self) -> impl Iterator<Item = &UseResult<'k>> {
        self.objects.iter().chain(self.named.iter().rev().flatten())
    }

    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// Number of instructions and kinds of use.
    pub(crate) fn count(&self) -> usize {
        self.found().count()
    }

    fn total(&self) -> u64 {
        self.counts.iter().map(|(_, count)| count).sum::<u64>() + total(&self.named[PENDING_COUNT])
    }

    /// Formats each kind of use by each instruction once, with the number of uses.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (kind, uses) in KINDS.iter().zip(&self.named).take(PENDING_COUNT) {
            let total = total(uses);
            if total > 0 {
                let title = kind.title[usize::from(total > 1)];
                let _ = writeln!(text, "atoms: {} {title} that PTX leaves undefined:", grouped(total));
                text.extend(uses.iter().map(UseResult::text));
            }
        }
        let total = self.total();
        if total == 0 {
            return text;
        }
        let uses = if total == 1 { "use" } else { "uses" };
        let _ =
            writeln!(text, "atoms: {} {uses} of mbarrier objects that PTX leaves undefined:", grouped(total));
        let shown = || self.objects.iter().chain(&self.named[PENDING_COUNT]);
        let kept = shown().map(|used| used.count).sum();
        text.extend(shown().map(UseResult::text));
        if total > kept {
            let counts: Vec<_> =
                self.counts.iter().map(|(name, count)| format!("{name} {}", grouped(*count))).collect();
            let _ = writeln!(
                text,
                "  only the first {} are shown; number of all uses: {}",
                grouped(kept),
                counts.join(", ")
            );
        }
        text
    }

    pub fn result(&self) -> UndefinedResult<'_> {
        let others: u64 = self.named.iter().take(PENDING_COUNT).map(|uses| total(uses)).sum();
        UndefinedResult { total: self.total() + others, found: self.found().collect() }
    }
}
