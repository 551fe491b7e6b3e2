//! Programs about mbarrier objects: random sequences whose behaviour PTX defines.

use fastrand::Rng;

use crate::instruction::{BARRIERS, LaneOperands, REMOTE, TestInstruction};
use crate::program::LANES;
use crate::programs::draw::{DrawnCase, DrawnRequest, WORDS};
use crate::programs::kernel::Spelled;

/// Limit for an arrival count, and for the magnitude of a tx-count. Source: spec 6.1.
const MOST: i64 = (1 << 20) - 1;

/// Number of mbarrier objects per case, at byte offsets 0 and 8.
const OBJECTS: usize = 2;

/// State of an mbarrier object as PTX describes it. Used to draw only operands with defined behaviour.
#[derive(Clone, Copy, Default)]
struct Object {
    expected: i64,
    pending: i64,
    tx: i64,
    phase: u64,
}

impl Object {
    /// Applies the arrivals of one request: `n` in total, of which `dropped` also lower the expected count.
    fn arrive(&mut self, n: i64, dropped: i64) {
        self.expected -= dropped;
        self.pending -= n;
        self.complete();
    }

    fn complete(&mut self) {
        if self.pending == 0 && self.tx == 0 {
            self.phase += 1;
            self.pending = self.expected;
        }
    }
}

/// For each lane, the number of the mbarrier object and the phase of the state that the lane holds.
type LaneStates = [Option<(usize, u64)>; LANES];

/// Draws the instructions of a program: initialization of the mbarrier objects, `steps` instructions that
/// architecture `since` has, and invalidation of the objects. With `remote`, the lanes are in the CTAs of a
/// cluster, and most instructions are from [`REMOTE`].
pub fn sequence(rng: &mut Rng, since: u32, steps: usize, remote: bool) -> Vec<Spelled> {
    let named = |name: &str| BARRIERS.iter().find(|i| i.name == name);
    let mut sequence: Vec<Spelled> =
        (0..OBJECTS).filter_map(|_| named("mbarrier.init")).map(Spelled::plain).collect();
    let mut arrivals = Vec::new();
    let mut without = Vec::new();
    while sequence.len() < OBJECTS + steps {
        let table = if remote && rng.u32(..4) != 0 { REMOTE } else { BARRIERS };
        let instruction = &table[rng.usize(..table.len())];
        let name = instruction.name;
        if instruction.since > since || name.ends_with("init") || name.ends_with("inval") {
            continue;
        }
        let state_of = match instruction.operand {
            LaneOperands::State if name.ends_with("pending_count") => rng.choice(&without).copied(),
            LaneOperands::State => rng.choice(&arrivals).copied(),
            _ => None,
        };
        if instruction.operand == LaneOperands::State && state_of.is_none() {
            continue;
        }
        // An arrive on an mbarrier object of another CTA gets an explicit memory order at cluster scope.
        let order =
            if name.ends_with(".remote") && name.contains("arrive") { ".release.cluster" } else { "" };
        if name.contains(".arrive") && !name.ends_with(".remote") {
            if name.ends_with("noComplete") { &mut without } else { &mut arrivals }.push(sequence.len());
        }
        sequence.push(Spelled { instruction, order, state_of });
    }
    // A GPU keeps live mbarrier objects outside shared memory, so their words can be read back only after
    // `mbarrier.inval`.
    sequence.extend((0..OBJECTS).filter_map(|_| named("mbarrier.inval")).map(Spelled::plain));
    sequence
}

/// Draws operands for a sequence such that PTX defines the behaviour. The lanes are distributed over `ctas`
/// CTAs.
pub fn case(rng: &mut Rng, sequence: &[Spelled], ctas: u32) -> DrawnCase {
    let mut objects = [Object::default(); OBJECTS];
    let mut states: Vec<LaneStates> = Vec::new();
    let mut requests = Vec::new();
    for (index, spelled) in sequence.iter().enumerate() {
        let object = match sequence.len() - index {
            _ if index < OBJECTS => index,
            left @ ..=OBJECTS => OBJECTS - left,
            _ => rng.usize(..OBJECTS),
        };
        let mut draw = Draw {
            rng,
            object: &mut objects[object],
            number: object,
            request: DrawnRequest::default(),
            ctas,
        };
        let mut state = [None; LANES];
        match spelled.state_of {
            Some(of) => draw.wait_for(&states[of], spelled.instruction),
            None => draw.operands(spelled.instruction, &mut state),
        }
        draw.request.offset = [8 * object as u32; LANES];
        requests.push(draw.request);
        states.push(state);
    }
    DrawnCase { memory: vec![0; WORDS as usize], requests }
}

struct Draw<'a> {
    rng: &'a mut Rng,
    object: &'a mut Object,
    number: usize,
    request: DrawnRequest,
    ctas: u32,
}

impl Draw<'_> {
    /// Activates `n` random lanes of the request. With `near`, only lanes of the first CTA.
    fn take(&mut self, n: usize, near: bool) {
        let mut lanes: Vec<usize> =
            (0..LANES).filter(|lane| !near || (*lane as u32).is_multiple_of(self.ctas)).collect();
        self.rng.shuffle(&mut lanes);
        lanes.iter().take(n).for_each(|lane| self.request.active[*lane] = true);
    }

    fn lanes(&self, near: bool) -> i64 {
        if near { (LANES as u32).div_ceil(self.ctas).into() } else { LANES as i64 }
    }

    /// Draws a number of lanes from 1 to `most`, and an arrival count for each lane (1 if not `counted`). The
    /// total count is at most `room`. Returns `None` if `room` is less than 1.
    fn share(&mut self, most: i64, room: i64, counted: bool) -> Option<(i64, i64)> {
        if room < 1 {
            return None;
        }
        let lanes = self.rng.i64(1..=most.min(room));
        let each = if !counted {
            1
        } else if self.rng.u32(..3) == 0 {
            room / lanes
        } else {
            self.rng.i64(1..=(room / lanes).min(9))
        };
        Some((lanes, each))
    }

    /// Activates lanes whose state may be tested: a state of the current phase or of the phase before.
    fn wait_for(&mut self, states: &LaneStates, instruction: &TestInstruction) {
        for (lane, state) in states.iter().enumerate() {
            let near = (lane as u32).is_multiple_of(self.ctas);
            let asked = state.is_some_and(|(object, phase)| {
                object == self.number && self.object.phase - phase <= 1 || instruction.bytes() == 0
            });
            self.request.active[lane] = asked && near && self.rng.u32(..4) != 0;
        }
    }

    fn operands(&mut self, instruction: &TestInstruction, state: &mut LaneStates) {
        let name = instruction.name;
        let near = !name.ends_with(".remote");
        let most = self.lanes(near);
        if name.ends_with("init") {
            let count = match self.rng.u32(..6) {
                0 => 1,
                1 => MOST,
                _ => self.rng.i64(1..=96),
            };
            *self.object = Object { expected: count, pending: count, ..*self.object };
            self.take(1, true);
            self.request.b = [count as u128; LANES];
            return;
        }
        if name.ends_with("inval") {
            self.take(1, true);
            return;
        }
        if name.contains("wait.parity") {
            let lanes = self.rng.usize(1..=most as usize);
            self.take(lanes, true);
            self.request.b = std::array::from_fn(|_| u128::from(self.rng.bool()));
            // Time hint of a `try_wait`, in nanoseconds.
            self.request.c = [u128::from(self.rng.u32(1..2000)); LANES];
            return;
        }
        let (phase, object) = (self.object.phase, *self.object);
        let Some((lanes, each)) = self.amount(name, most) else { return };
        self.take(lanes as usize, near);
        self.request.b = [each as u128; LANES];
        let total = lanes * each;
        if name.contains("complete_tx") {
            self.object.tx -= total;
            self.object.complete();
        } else if name.starts_with("mbarrier.expect_tx") {
            self.object.tx += total;
        } else {
            let arrivals = if name.contains("expect_tx") {
                self.object.tx += total;
                lanes
            } else {
                total
            };
            let dropped = if name.contains("arrive_drop") { arrivals } else { 0 };
            self.object.arrive(arrivals, dropped);
        }
        debug_assert!(object.expected >= 1, "the expected count stays at least 1");
        *state = self.request.active.map(|active| active.then_some((self.number, phase)));
    }

    /// Draws the number of active lanes and the operand of each. `None` if PTX would leave the behaviour
    /// undefined.
    fn amount(&mut self, name: &str, most: i64) -> Option<(i64, i64)> {
        let Object { expected, pending, tx, .. } = *self.object;
        if name.contains("complete_tx") {
            // The tx-count may drop below zero only while arrivals are pending. Otherwise the phase would
            // complete during the request.
            let room = if pending == 0 { tx } else { (tx + MOST / 2).min(4000) };
            return self.share(most, room, true);
        }
        if name.starts_with("mbarrier.expect_tx") {
            // With no arrival pending, the sum must stay below zero. An experiment tests if a sum of zero
            // completes the phase.
            let room = if pending == 0 && tx < 0 { -tx - 1 } else { (MOST - tx).min(4000) };
            return self.share(most, room, true);
        }
        let room = if name.ends_with("noComplete") { pending - 1 } else { pending };
        let room = if name.contains("arrive_drop") { room.min(expected - 1) } else { room };
        if name.contains("expect_tx") {
            let (lanes, _) = self.share(most, room, false)?;
            return Some((lanes, self.rng.i64(1..=((MOST - tx) / lanes).clamp(1, 500))));
        }
        let counted = name.contains(".count") || name.ends_with("noComplete");
        self.share(most, room, counted)
    }
}
