//! Insertion of keys into a hash table with linear probing.

use atoms_ops::{Op, Size};
use rand::Rng;

use crate::draw::generators;
use crate::parameter::{named_values, parameters};
use crate::program::{
    Answer, Next, Placement, SetUp, Threads, WarpPort, WarpProgram, WorkCounts, WorkloadError, lanes_of,
};

named_values! {
    Insertion {
        /// CAS: its result is the key in the slot.
        Cas "cas";
        /// CAST, and a load if it did not store.
        Cast "cast";
        /// CAST.SPIN, and a load if it did not store.
        CastSpin "cast.spin";
    }
}

parameters! {
    /// Parameters of insertion into a hash table.
    HashInsert {
        /// Operation that claims a slot; if a cast does not store, a load reads the key in the slot.
        method: Insertion = Insertion::Cas, ();
        /// Number of slots of the table.
        slots: u32 = 4096, 1..=1048576;
        /// Number of different keys, inserted equally often; 0: each key once.
        keys: u32 = 0, 0..=1048576;
    }
}

impl HashInsert {
    pub(crate) fn program(&self, set_up: &SetUp<'_>) -> Result<HashInsertProgram, WorkloadError> {
        let SetUp { threads, units, config, seed, .. } = *set_up;
        let insertions = u64::from(threads.count()) * u64::from(units);
        let keys = match self.keys {
            0 => insertions,
            keys => insertions.min(keys.into()),
        };
        if keys > self.slots.into() {
            return Err(WorkloadError::Combination(format!(
                "{keys} different keys do not fit a table of {} slots; increase `slots`, or use fewer `keys`, \
                 `warps`, `lanes` or `units`",
                self.slots
            )));
        }
        let base =
            Placement::new(config).words(self.slots.into(), "the slots of the table", "use fewer `slots`")?;
        let key = Key { factor: generators(seed, 1)[0].next_u32() | 1 };
        let state = InsertState { unit: 0, step: InsertStep::Probe, pending: threads.mask() };
        let mut program = HashInsertProgram {
            settings: *self,
            threads,
            base,
            units,
            keys: keys as u32,
            key,
            state: vec![state; threads.warps],
            probes: vec![Probe::default(); threads.count() as usize],
        };
        (0..threads.warps).for_each(|warp| program.begin(warp));
        Ok(program)
    }
}

/// Bijection from numbers to keys.
#[derive(Clone, Copy, Debug)]
struct Key {
    factor: u32,
}

impl Key {
    /// Returns the key of a number. Different numbers have different keys, and no key is 0.
    fn of(self, number: u32) -> u32 {
        mix((number + 1).wrapping_mul(self.factor))
    }
}

/// Bijective hash that maps 0 to 0: the finalizer of MurmurHash3 (Appleby, public domain).
fn mix(mut h: u32) -> u32 {
    h = (h ^ h >> 16).wrapping_mul(0x85eb_ca6b);
    h = (h ^ h >> 13).wrapping_mul(0xc2b2_ae35);
    h ^ h >> 16
}

/// Returns the slot where probing for a key starts.
fn home(key: u32, slots: u32) -> u32 {
    ((u64::from(mix(!key)) * u64::from(slots)) >> 32) as u32
}

#[derive(Clone, Copy, Debug)]
enum InsertStep {
    Probe,
    Look,
}

#[derive(Clone, Copy, Debug)]
struct InsertState {
    unit: u32,
    step: InsertStep,
    /// Lanes whose key is not in the table yet.
    pending: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Probe {
    key: u32,
    slot: u32,
}

#[derive(Debug)]
pub(crate) struct HashInsertProgram {
    settings: HashInsert,
    threads: Threads,
    base: u32,
    units: u32,
    keys: u32,
    key: Key,
    state: Vec<InsertState>,
    /// Probe of each thread.
    probes: Vec<Probe>,
}

impl HashInsertProgram {
    /// Sets the keys of a warp's next unit of work.
    fn begin(&mut self, warp: usize) {
        let InsertState { unit, .. } = self.state[warp];
        for lane in lanes_of(self.threads.mask()) {
            let thread = self.threads.number(warp, lane);
            let number = u64::from(unit) * u64::from(self.threads.count()) + u64::from(thread);
            let key = self.key.of((number % u64::from(self.keys)) as u32);
            self.probes[thread as usize] = Probe { key, slot: home(key, self.settings.slots) };
        }
    }
}

impl WarpProgram for HashInsertProgram {
    fn offer(&mut self, warp: usize, port: &mut WarpPort<'_>) {
        let InsertState { step, pending, .. } = self.state[warp];
        let op = match (step, self.settings.method) {
            (InsertStep::Look, _) => Op::Load,
            (InsertStep::Probe, Insertion::Cas) => Op::Cas,
            (InsertStep::Probe, Insertion::Cast) => Op::Cast,
            (InsertStep::Probe, Insertion::CastSpin) => Op::CastSpin,
        };
        port.ask(op, Size::U32, pending);
        for lane in lanes_of(pending) {
            let Probe { key, slot } = self.probes[self.threads.number(warp, lane) as usize];
            port.lane(lane, self.base + 4 * slot, 0, key.into());
        }
    }

    fn answered(&mut self, warp: usize, answer: &Answer<'_>, counts: &mut WorkCounts) -> Next {
        let InsertState { step, pending, .. } = self.state[warp];
        let tells = self.settings.method == Insertion::Cas;
        let mut done = 0;
        for lane in lanes_of(pending) {
            let probe = &mut self.probes[self.threads.number(warp, lane) as usize];
            let found = answer.rd[lane] as u32;
            let there = match step {
                InsertStep::Probe if answer.pred >> lane & 1 != 0 => true,
                InsertStep::Probe => tells && found == probe.key,
                InsertStep::Look => found == probe.key,
            };
            done |= u32::from(there) << lane;
            // Probe an empty slot again: the unit selected another lane for it.
            let taken = match step {
                InsertStep::Probe => tells && !there,
                InsertStep::Look => found != 0 && !there,
            };
            if taken {
                probe.slot = if probe.slot + 1 == self.settings.slots { 0 } else { probe.slot + 1 };
            }
        }
        if matches!(step, InsertStep::Probe) {
            counts.tried(pending, done);
        }
        counts.units += u64::from(done.count_ones());
        let state = &mut self.state[warp];
        state.pending &= !done;
        if state.pending != 0 {
            state.step =
                if tells || matches!(step, InsertStep::Look) { InsertStep::Probe } else { InsertStep::Look };
            return Next::Dependent;
        }
        *state = InsertState { unit: state.unit + 1, step: InsertStep::Probe, pending: self.threads.mask() };
        if state.unit == self.units {
            return Next::Done;
        }
        self.begin(warp);
        Next::Unit(0)
    }

    fn waits_for(&self, warp: usize) -> String {
        let pending = self.state[warp].pending;
        let Probe { key, slot } =
            self.probes[self.threads.number(warp, pending.trailing_zeros() as usize) as usize];
        format!("lanes {pending:#x} insert keys, the first {key:#x}, at slot {slot}")
    }

    fn check(&self, word: &dyn Fn(u32) -> u32) -> Result<(), String> {
        let slots = self.settings.slots;
        let at = |slot: u32| word(self.base + 4 * slot);
        for number in 0..self.keys {
            let key = self.key.of(number);
            let from = home(key, slots);
            let mut way = (from..slots).chain(0..from).map(at);
            if way.find(|found| *found == key || *found == 0) != Some(key) {
                return Err(format!("key {key:#x} was inserted, but is not found from slot {from} on"));
            }
        }
        let taken = (0..slots).filter(|slot| at(*slot) != 0).count();
        if taken != self.keys as usize {
            return Err(format!("{taken} slots are taken, but {} keys were inserted", self.keys));
        }
        Ok(())
    }
}
