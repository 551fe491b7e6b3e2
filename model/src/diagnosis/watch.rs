//! Tracks the live mbarrier objects in memory, and checks each use of them.

use std::collections::{BTreeMap, HashMap, VecDeque};

use atoms_ops::{Op, Operands, ResultKind, Size};

use super::{Diagnosis, DiagnosisKind, ObjectEnd, Touched, TwoWords, init_fault};
use crate::bank::Banks;
use crate::config::Config;
use crate::cta_table::Allocation;
use crate::issue::Pass;
use crate::lanes::{FirstWords, lanes};
use crate::mbarrier::{self, Change, MAX_COUNT, MbarObject};
use crate::operands::{BankWork, last_word};
use crate::pipe::Effect;
use crate::port::{In, MAX_BANKS, MAX_LANES};
use crate::waiters::Waiters;

/// Maximum number of diagnoses that a [`Watch`] keeps; further diagnoses are only counted.
pub const KEPT: usize = 1000;

/// Operand B that marks a load as a read of a whole object (SYNCS.LD), not a plain access. The unit ignores
/// the operands of loads.
pub const OBJECT_LOAD: u128 = 0x6d62_6172_7269_6572 << 64;

/// Operand C that marks a store as the init of two-word objects (spec 6.2.1), not a plain store. The unit
/// ignores operand C of stores.
pub const OBJECT_INIT: u128 = OBJECT_LOAD | 1;

/// Request number of an end that no request caused.
const NO_REQUEST: u64 = u64::MAX;

/// State of a word pair that is or was an object.
#[derive(Clone, Debug)]
enum KnownPair {
    Live(Life),
    Ended { how: ObjectEnd, cycle: u64, request: u64 },
}

/// State of a live object that memory does not hold.
#[derive(Clone, Debug)]
struct Life {
    slot: u8,
    phase: u64,
    /// True if a wait has seen the previous phase complete. Also true before the first phase.
    waited: bool,
    /// Request that last completed a phase.
    completed_by: Option<u64>,
    /// Cycle in which waiters were last woken.
    woken: Option<u64>,
    /// High words of the states returned, each with the latest phase that returned it.
    states: HashMap<u32, u64>,
}

impl Life {
    fn new(slot: u8) -> Self {
        Life { slot, phase: 0, waited: true, completed_by: None, woken: None, states: HashMap::new() }
    }
}

/// A request from the port to its last pass.
#[derive(Clone, Copy, Debug)]
struct Taken {
    cycle: u64,
    /// For waits, operand B per lane. Coalesced lanes bring only one operand B to the banks.
    asked: [u32; MAX_LANES],
    /// True for a load marked with [`OBJECT_LOAD`].
    of_objects: bool,
    /// True for a store marked with [`OBJECT_INIT`].
    makes_objects: bool,
}

impl Taken {
    /// A request of which only the cycle is known.
    fn at(cycle: u64) -> Taken {
        Taken { cycle, asked: [0; MAX_LANES], of_objects: false, makes_objects: false }
    }
}

/// State of the unit in the current cycle.
pub(crate) struct Seen<'a> {
    pub(crate) config: &'a Config,
    /// Pass in the last stage; `None` if the stage is empty or stalls.
    pub(crate) pass: Option<&'a Pass>,
    pub(crate) effect: &'a Effect,
    pub(crate) work: &'a BankWork,
    pub(crate) first: &'a FirstWords,
    /// Memory before the pass writes.
    pub(crate) banks: &'a Banks,
    /// Allocation of the pass's CTA slot.
    pub(crate) allocation: Allocation,
    pub(crate) waiters: &'a Waiters,
}

/// Transfers at the unit's input ports in the current cycle.
pub(crate) struct Enters {
    pub(crate) warp: bool,
    pub(crate) cluster: bool,
    pub(crate) table_write: bool,
}

/// Record of every undefined use of an mbarrier object; see [`crate::Unit::watch`].
#[derive(Clone, Debug, Default)]
pub struct Watch {
    cycle: u64,
    /// Number of requests that left the pipeline.
    request: u64,
    warps: VecDeque<Taken>,
    clusters: VecDeque<Taken>,
    /// Objects by the number of their word pair in memory.
    places: HashMap<u32, KnownPair>,
    /// One bit per word pair, set if `places` has the pair. A fast filter for plain accesses.
    known: Vec<u64>,
    /// Word pairs to which a plain store wrote an init word, with their CTA slots. An entry lasts until
    /// `places` has the pair. The word may be data, so only a second init store is reported.
    stored: BTreeMap<u32, u8>,
    kept: Vec<Diagnosis>,
    counts: BTreeMap<&'static str, u64>,
}

impl Watch {
    /// Starts without known objects. An object that already exists is recognized by its word alone.
    pub(crate) fn new(config: &Config) -> Self {
        let pairs = config.num_banks * config.num_rows / 2;
        Watch { known: vec![0; pairs.div_ceil(64) as usize], ..Watch::default() }
    }

    /// The first [`KEPT`] diagnoses, in the order of the operations and of the lanes of each operation.
    pub fn diagnoses(&self) -> &[Diagnosis] {
        &self.kept
    }

    /// Number of diagnoses of each kind ([`DiagnosisKind::name`]), including those not kept.
    pub fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.counts.iter().map(|(name, count)| (*name, *count))
    }

    /// Total number of diagnoses, including those not kept.
    pub fn total(&self) -> u64 {
        self.counts.values().sum()
    }

    /// Checks one cycle, before its clock edge.
    pub(crate) fn see(&mut self, seen: &Seen<'_>, enters: Enters, i: &In) {
        if let Some(pass) = seen.pass {
            self.pass(pass, seen);
        }
        if enters.table_write {
            self.end_allocation(Some(i.cta_slot));
        }
        if enters.warp {
            let asks = Op::from_code(i.req_op).is_some_and(Op::asks_phase);
            let asked = if asks { i.req_b.map(|b| b as u32) } else { [0; MAX_LANES] };
            let first = i.req_mask.trailing_zeros() as usize;
            let marked = |operand: &[u128], mark| operand.get(first).is_some_and(|bits| *bits == mark);
            let of_objects = i.req_op == Op::Load as u8 && marked(&i.req_b, OBJECT_LOAD);
            let makes_objects = i.req_op == Op::Store as u8 && marked(&i.req_c, OBJECT_INIT);
            self.warps.push_back(Taken { asked, of_objects, makes_objects, ..Taken::at(self.cycle) });
        }
        if enters.cluster {
            self.clusters.push_back(Taken::at(self.cycle));
        }
        self.cycle += 1;
    }

    /// Handles a cycle of reset: drops all requests in flight and ends all allocations.
    pub(crate) fn reset(&mut self) {
        self.warps.clear();
        self.clusters.clear();
        self.end_allocation(None);
        self.cycle += 1;
    }

    /// Handles the end of the allocation of `slot`, or of all allocations for `None`.
    fn end_allocation(&mut self, slot: Option<u8>) {
        let cycle = self.cycle;
        self.stored.retain(|_, of| slot.is_some_and(|slot| slot != *of));
        for place in self.places.values_mut() {
            if matches!(place, KnownPair::Live(life) if slot.is_none_or(|slot| slot == life.slot)) {
                // No request ended the object, so the next request may make one here.
                *place = KnownPair::Ended { how: ObjectEnd::PartTaken, cycle, request: NO_REQUEST };
            }
        }
    }

    fn pass(&mut self, pass: &Pass, seen: &Seen<'_>) {
        let queue = if pass.cluster { &self.clusters } else { &self.warps };
        // The queue lacks a request that was accepted before the watch started.
        let taken = queue.front().copied().unwrap_or(Taken::at(self.cycle));
        if let Some((op, size)) = pass.kind
            && pass.served != 0
        {
            if op.is_mbarrier() {
                self.objects(op, size, pass, seen, &taken);
            } else if taken.of_objects {
                self.loads(op, size, pass, seen, &taken);
            } else if !self.places.is_empty()
                || !self.stored.is_empty()
                || makes_object(op, size, seen, &taken)
            {
                self.plain(op, size, pass, seen, &taken);
            }
        }
        if pass.last {
            (if pass.cluster { &mut self.clusters } else { &mut self.warps }).pop_front();
            self.request += 1;
        }
    }

    /// Checks the mbarrier operations of the served lanes. Operations on one object run one after the other.
    fn objects(&mut self, op: Op, size: Size, pass: &Pass, seen: &Seen<'_>, taken: &Taken) {
        let mut words = [0u64; MAX_BANKS];
        let mut met = 0u64;
        // Object, operand and result of the previous lane's wait. A polling warp makes the same wait 32
        // times.
        let mut before = None;
        for access in accesses(op, size, pass, seen) {
            let low = access.bank & !1;
            if met >> low & 1 == 0 {
                met |= 1 << low;
                words[low] = pair(&seen.effect.old, low);
            }
            let operand = if op.asks_phase() {
                u64::from(taken.asked[access.lane])
            } else if op.row().operands == Operands::None {
                0
            } else {
                pair(&seen.work.b, low)
            };
            let word = words[low];
            let kinds = match before {
                Some((wait, kinds)) if wait == (low, operand) => kinds,
                _ => {
                    let waited_for = seen.waiters.waits_at(low as u8, access.row);
                    let (slot, red, cycle, request) = (pass.slot, pass.red, self.cycle, self.request);
                    let operation = Operation { op, operand, word, slot, red, cycle, request, waited_for };
                    let (after, kinds) = self.operate(access.pair(seen.config, low), &operation);
                    words[low] = after;
                    before = op.asks_phase().then_some(((low, operand), kinds));
                    kinds
                }
            };
            for kind in kinds.into_iter().flatten() {
                self.report(pass, seen, taken, &access, Diagnosed { operand, word, kind });
            }
        }
    }

    /// Performs `o` on word pair number `at`. Returns the word afterwards, and the rules broken.
    fn operate(&mut self, at: u32, o: &Operation) -> (u64, [Option<DiagnosisKind>; 2]) {
        // An operation without an operand arrives once.
        let operand = if o.op.row().operands == Operands::None { 1 } else { o.operand };
        let step = mbarrier::step(o.op, o.word, operand);
        let after = step.new.unwrap_or(o.word);
        if o.op == Op::MbarArriveSm80 {
            return (after, [self.judge_sm80(at, o.word), None]);
        }
        if o.op == Op::MbarInit {
            let over = self.is_live(at).then_some(DiagnosisKind::InitOverLive);
            self.set(at, KnownPair::Live(Life::new(o.slot)));
            return (after, [over, init_fault(o.operand).map(DiagnosisKind::InitWord)]);
        }
        if !self.is_known(at) && init_fault(o.word).is_none() {
            self.set(at, KnownPair::Live(Life::new(o.slot)));
        }
        let kind = match self.places.get_mut(&at) {
            None => Some(DiagnosisKind::NotLive(None)),
            Some(KnownPair::Ended { how, cycle, .. }) => Some(DiagnosisKind::NotLive(Some((*how, *cycle)))),
            Some(place @ KnownPair::Live(_)) if o.op == Op::MbarInval => {
                let (cycle, request) = (self.cycle, self.request);
                *place = KnownPair::Ended { how: ObjectEnd::Invalidated, cycle, request };
                None
            }
            Some(KnownPair::Live(life)) if o.op.asks_phase() => judge_wait(life, o),
            Some(KnownPair::Live(life)) => judge_step(life, o, &step),
        };
        (after, [kind, None])
    }

    fn judge_sm80(&self, at: u32, word: u64) -> Option<DiagnosisKind> {
        let object = TwoWords::decode(word);
        let expected = object.expected as i32;
        let limit = MAX_COUNT as i32;
        if self.is_live(at) || !(-limit..=limit).contains(&expected) {
            Some(DiagnosisKind::NotLive(None))
        } else if object.pending == 0 {
            Some(DiagnosisKind::ArriveBeyondPending(1))
        } else if expected < 0 || object.pending > MAX_COUNT {
            Some(DiagnosisKind::CountSm80)
        } else {
            None
        }
    }

    /// Checks the loads of whole objects (SYNCS.LD) by the served lanes.
    fn loads(&mut self, op: Op, size: Size, pass: &Pass, seen: &Seen<'_>, taken: &Taken) {
        for access in accesses(op, size, pass, seen) {
            let low = access.bank & !1;
            let word = pair_at(seen.banks, low, access.row);
            let ended = match self.places.get(&access.pair(seen.config, low)) {
                Some(KnownPair::Live(_)) => continue,
                Some(KnownPair::Ended { how, cycle, .. }) => Some((*how, *cycle)),
                None if init_fault(word).is_none() => continue,
                None => None,
            };
            let kind = DiagnosisKind::NotLive(ended);
            self.report(pass, seen, taken, &access, Diagnosed { operand: 0, word, kind });
        }
    }

    /// Checks the plain accesses of the served lanes.
    fn plain(&mut self, op: Op, size: Size, pass: &Pass, seen: &Seen<'_>, taken: &Taken) {
        let last = last_word(size);
        // Apply writes only after the loop: every lane must see the objects as they were before the pass.
        let mut overwritten = Vec::new();
        for access in accesses(op, size, pass, seen) {
            for low in (access.bank & !1..=access.bank + last).step_by(2) {
                let at = access.pair(seen.config, low);
                let writes = seen.effect.write >> access.bank & 1 != 0;
                let new = pair(&seen.effect.new, low);
                let init = op == Op::Store && last > 0 && init_fault(new).is_none();
                let before = if op == Op::Store && writes { self.stored.remove(&at) } else { None };
                if !self.is_known(at) {
                    if writes && (init || taken.makes_objects) {
                        self.stored.insert(at, pass.slot);
                        if before.is_some() {
                            let word = pair_at(seen.banks, low, access.row);
                            let kind = DiagnosisKind::InitOverLive;
                            self.report(pass, seen, taken, &access, Diagnosed { operand: new, word, kind });
                        }
                    }
                    continue;
                }
                if writes {
                    overwritten.push((at, init));
                }
                // Report every lane of the request that overwrites the object, but no later request.
                let named = match self.places.get(&at) {
                    Some(KnownPair::Live(_)) => true,
                    Some(KnownPair::Ended { how: ObjectEnd::Overwritten, request, .. }) => {
                        *request == self.request
                    }
                    Some(KnownPair::Ended { .. }) | None => false,
                };
                if named {
                    let kind = match (last, access.bank & 1) {
                        _ if init => DiagnosisKind::InitOverLive,
                        (0, 0) => DiagnosisKind::PlainAccess(Touched::Low),
                        (0, _) => DiagnosisKind::PlainAccess(Touched::High),
                        _ => DiagnosisKind::PlainAccess(Touched::Both),
                    };
                    let word = pair_at(seen.banks, low, access.row);
                    // If the access covers two objects, report the address of the one touched.
                    let access = Access { bank: access.bank.max(low), ..access };
                    self.report(pass, seen, taken, &access, Diagnosed { operand: 0, word, kind });
                }
            }
        }
        for (at, init) in overwritten {
            self.overwrite(at, init, pass.slot);
        }
    }

    /// Handles a plain write to word pair number `at`. `init` is true if the pair now holds an init word.
    fn overwrite(&mut self, at: u32, init: bool, slot: u8) {
        let (cycle, request) = (self.cycle, self.request);
        match self.places.get(&at) {
            None => {}
            Some(KnownPair::Live(_)) if init => self.set(at, KnownPair::Live(Life::new(slot))),
            Some(KnownPair::Live(_)) => {
                self.set(at, KnownPair::Ended { how: ObjectEnd::Overwritten, cycle, request });
            }
            Some(KnownPair::Ended { request: by, .. }) if *by == request => {}
            Some(KnownPair::Ended { .. }) => {
                if init {
                    self.stored.insert(at, slot);
                }
                self.places.remove(&at);
                if let Some(bits) = self.known.get_mut(at as usize / 64) {
                    *bits &= !(1 << (at % 64));
                }
            }
        }
    }

    /// True if `places` has the pair.
    fn is_known(&self, at: u32) -> bool {
        self.known.get(at as usize / 64).is_some_and(|bits| bits >> (at % 64) & 1 != 0)
    }

    fn is_live(&self, at: u32) -> bool {
        matches!(self.places.get(&at), Some(KnownPair::Live(_)))
    }

    fn set(&mut self, at: u32, place: KnownPair) {
        self.places.insert(at, place);
        if let Some(bits) = self.known.get_mut(at as usize / 64) {
            *bits |= 1 << (at % 64);
        }
    }

    fn report(&mut self, pass: &Pass, seen: &Seen<'_>, taken: &Taken, access: &Access, what: Diagnosed) {
        *self.counts.entry(what.kind.name()).or_default() += 1;
        if self.kept.len() >= KEPT {
            return;
        }
        let rank = u32::from(seen.allocation.rank) << 24;
        self.kept.push(Diagnosis {
            cycle: self.cycle,
            taken: taken.cycle,
            tag: pass.tag,
            slot: pass.slot,
            cluster: pass.cluster,
            lane: access.lane as u8,
            address: rank | access.offset(seen.config, seen.allocation),
            op: access.op,
            size: access.size,
            operand: what.operand,
            word: what.word,
            kind: what.kind,
        });
    }
}

struct Operation {
    op: Op,
    operand: u64,
    word: u64,
    slot: u8,
    red: bool,
    cycle: u64,
    request: u64,
    /// True if a request is suspended at the object.
    waited_for: bool,
}

/// Fields of a diagnosis in addition to those of the access.
struct Diagnosed {
    operand: u64,
    word: u64,
    kind: DiagnosisKind,
}

/// Access of one lane.
#[derive(Clone, Copy)]
struct Access {
    op: Op,
    size: Size,
    lane: usize,
    /// Bank of the first word.
    bank: usize,
    row: u16,
    byte: u32,
}

impl Access {
    /// Number in memory of the word pair whose low word is in bank `low`.
    fn pair(&self, config: &Config, low: usize) -> u32 {
        (u32::from(self.row) * config.num_banks + low as u32) / 2
    }

    /// Offset inside the CTA's allocation. Inverts the mapping of the address generator.
    fn offset(&self, config: &Config, allocation: Allocation) -> u32 {
        let row = u32::from(self.row);
        // The bank hash is its own inverse.
        let swizzle = if config.bank_hash { (row & (config.num_banks / 4 - 1)) << 2 } else { 0 };
        let word = (row - u32::from(allocation.base)) * config.num_banks + (self.bank as u32 ^ swizzle);
        4 * word + self.byte
    }
}

/// Accesses that a pass performs, in order of lanes. Excludes lanes for which CAST.SPIN fails without reading
/// their words.
fn accesses<'a>(op: Op, size: Size, pass: &Pass, seen: &'a Seen<'_>) -> impl Iterator<Item = Access> + 'a {
    lanes(pass.win).map(move |lane| {
        let bank = seen.first.bank(lane);
        Access { op, size, lane, bank, row: seen.work.row[bank], byte: u32::from(seen.first.byte(lane)) }
    })
}

/// True if a pass may make an object: a store of an init word, or a store that is marked with
/// [`OBJECT_INIT`]. Most stores are neither.
fn makes_object(op: Op, size: Size, seen: &Seen<'_>, taken: &Taken) -> bool {
    let is_init =
        |low: usize| seen.effect.write >> low & 1 != 0 && init_fault(pair(&seen.effect.new, low)).is_none();
    let wide_store = op == Op::Store && last_word(size) > 0;
    wide_store && (taken.makes_objects || (0..MAX_BANKS).step_by(2).any(is_init))
}

/// Reads two words of memory as one; `low` is even.
fn pair_at(banks: &Banks, low: usize, row: u16) -> u64 {
    u64::from(banks.read(low | 1, row)) << 32 | u64::from(banks.read(low, row))
}

/// Combines two words into one; `low` is even.
fn pair(words: &[u32; MAX_BANKS], low: usize) -> u64 {
    u64::from(words[low | 1]) << 32 | u64::from(words[low])
}

/// Rule that a wait on a live object breaks, if any.
fn judge_wait(life: &mut Life, o: &Operation) -> Option<DiagnosisKind> {
    let asked = o.operand as u32;
    let complete = o.word >> 63 != u64::from(asked >> 31);
    life.waited |= complete;
    // This is a wait by parity (parity << 31), which fits every second phase: nothing to check.
    if asked << 1 == 0 {
        return None;
    }
    match life.states.get(&asked) {
        None => Some(DiagnosisKind::ForeignState),
        Some(phase) if phase + 1 < life.phase => Some(DiagnosisKind::StalePhase(life.phase - phase)),
        Some(_) => None,
    }
}

/// First rule that any other operation on a live object breaks, if any. One broken rule usually causes the
/// next, so only the first is reported.
fn judge_step(life: &mut Life, o: &Operation, step: &mbarrier::ObjectStep) -> Option<DiagnosisKind> {
    let Operation { op, word, .. } = *o;
    let count = o.operand as u32;
    let before = MbarObject::decode(word);
    // An operation without an operand arrives once.
    let once = op.row().operands == Operands::None;
    let change = Change::of(op, if once { 1 } else { count })?;
    let tx = i64::from(before.tx) + change.tx;
    let limit = u64::from(MAX_COUNT);
    let no_complete = op.row().result == ResultKind::MergedArrival;
    let counted = no_complete || matches!(op, Op::MbarArriveCount | Op::MbarArriveDropCount);
    let kind = if counted && (count == 0 || count > MAX_COUNT) {
        Some(DiagnosisKind::Count)
    } else if change.tx.unsigned_abs() > limit {
        Some(DiagnosisKind::TxOperand)
    } else if change.tx != 0 && tx.unsigned_abs() > limit {
        Some(DiagnosisKind::TxRange(tx))
    } else if change.drop > before.expected {
        Some(DiagnosisKind::DropBeyondExpected(change.drop))
    } else if change.arrive > before.pending {
        Some(DiagnosisKind::ArriveBeyondPending(change.arrive))
    } else if no_complete && step.completed {
        Some(DiagnosisKind::NoCompleteCompletes)
    } else if change.arrive > 0 && life.completed_by == Some(o.request) {
        Some(DiagnosisKind::ArriveAcrossPhases)
    } else if change.arrive > 0 && !life.waited {
        // Report once per phase.
        life.waited = true;
        Some(DiagnosisKind::ArriveUnwaited)
    } else {
        None
    };
    if !o.red && matches!(op.row().result, ResultKind::State | ResultKind::MergedArrival) {
        life.states.insert((word >> 32) as u32, life.phase);
    }
    if step.completed {
        life.phase += 1;
        life.completed_by = Some(o.request);
        // If several phases complete in one cycle, the first completion wakes all waiters.
        life.waited = o.waited_for && life.woken != Some(o.cycle);
        if life.waited {
            life.woken = Some(o.cycle);
        }
    }
    kind
}
