//! What stimulus knows of the mbarrier objects it works on: as far as its own requests and the answers to
//! them tell.
//!
//! It is a guess: requests of the other port, plain stores and faults come between. What an arrival
//! returns puts it right again, so that waits ask about phases that are there, and phases are completed
//! on purpose.

use atoms_model::mbarrier::{self, MbarObject};
use atoms_model::port::{MAX_LANES, Out};
use atoms_ops::{Op, ResultKind};

/// Most objects in an allocation.
pub const MAX_OBJECTS: usize = 16;

/// What is known of one object.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// The word, once all requests that were offered are done.
    word: u64,
    /// Upper word of the state that an arrival returned last.
    state: u32,
    /// Warp requests at it that are not answered.
    flights: u8,
}

/// A warp request at one object that is not answered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flight {
    pub(super) slot: u8,
    pub(super) object: u32,
    /// Lane that is served last, if all of them meet there.
    pub(super) last: u32,
    pub(super) op: Op,
    /// Operand of that lane.
    pub(super) b: u64,
    /// Low word of the object before that lane, which no answer tells.
    pub(super) low: u32,
    /// No result is wanted.
    pub(super) red: bool,
}

impl Flight {
    /// The answer tells what the high word was.
    fn tells(&self) -> bool {
        !self.red && self.op.row().result == ResultKind::State
    }
}

/// What stimulus knows of the objects of every slot.
#[derive(Clone, Debug)]
pub(super) struct Objects {
    known: [[Known; MAX_OBJECTS]; 16],
    flights: [Option<Flight>; 64],
}

impl Objects {
    pub(super) fn new() -> Self {
        Objects { known: [[Known::default(); MAX_OBJECTS]; 16], flights: [None; 64] }
    }

    /// The object as it will be once everything offered is done.
    pub(super) fn object(&self, slot: u8, object: u32) -> MbarObject {
        MbarObject::decode(self.word(slot, object))
    }

    /// The word of that object.
    pub(super) fn word(&self, slot: u8, object: u32) -> u64 {
        self.known[usize::from(slot & 15)][object as usize % MAX_OBJECTS].word
    }

    /// Upper word of the state that an arrival at it returned last.
    pub(super) fn state(&self, slot: u8, object: u32) -> u32 {
        self.known[usize::from(slot & 15)][object as usize % MAX_OBJECTS].state
    }

    /// Whether a phase of it could be completed by a few requests.
    pub(super) fn sound(object: &MbarObject) -> bool {
        let some = 1..1 << 12;
        !object.lock
            && !object.version
            && some.contains(&object.expected)
            && object.pending < 1 << 12
            && object.tx.abs() < 1 << 20
    }

    /// A request is offered, of which one lane has operand `b`.
    pub(super) fn apply(&mut self, slot: u8, object: u32, op: Op, b: u64) {
        if let Some(known) = self.known[usize::from(slot & 15)].get_mut(object as usize) {
            let step = mbarrier::step(op, known.word, b);
            known.word = step.new.unwrap_or(known.word);
        }
    }

    /// A warp request at one object is offered; its answer will tell what the word was.
    pub(super) fn depart(&mut self, tag: u8, flight: Flight) {
        if let Some(known) = self.known[usize::from(flight.slot & 15)].get_mut(flight.object as usize) {
            known.flights = known.flights.saturating_add(1);
            self.flights[usize::from(tag & 63)] = Some(flight);
        }
    }

    /// A warp request is answered, by a response if `response`, else by a wake-up.
    pub(super) fn arrive(&mut self, tag: u8, response: Option<&Out>) {
        let Some(flight) = self.flights[usize::from(tag & 63)].take() else { return };
        let known = &mut self.known[usize::from(flight.slot & 15)][flight.object as usize % MAX_OBJECTS];
        known.flights = known.flights.saturating_sub(1);
        if let Some(out) = response
            && flight.tells()
            && out.rsp_fault == 0
        {
            let state = out.rsp_rd[flight.last as usize % MAX_LANES] as u64;
            known.state = (state >> 32) as u32;
            if known.flights == 0 {
                let word = state | u64::from(flight.low);
                known.word = mbarrier::step(flight.op, word, flight.b).new.unwrap_or(word);
            }
        }
    }

    /// The slot's allocation is another one now.
    pub(super) fn forget(&mut self, slot: u8) {
        for known in &mut self.known[usize::from(slot & 15)] {
            (known.word, known.state) = (0, 0);
        }
    }
}
