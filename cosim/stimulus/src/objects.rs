//! Model of the mbarrier objects, derived from the stimulus's own requests and their responses.
//!
//! The model is approximate, because cluster requests, plain stores and faults also change objects. The state
//! that an arrival returns corrects it. The stimulus uses the model to wait on real phases and to complete
//! phases on purpose.

use atoms_model::mbarrier::{self, MbarObject};
use atoms_model::port::{MAX_LANES, Out};
use atoms_ops::{Op, ResultKind};

/// Highest number of objects in one allocation.
pub const MAX_OBJECTS: usize = 16;

/// State of one mbarrier object, as far as the stimulus can know it.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// Expected word after all offered requests are done.
    word: u64,
    /// Upper word of the state that an arrival returned last.
    state: u32,
    /// Warp requests at the object that are not answered yet.
    flights: u8,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Flight {
    pub(super) slot: u8,
    pub(super) object: u32,
    /// Lane that is served last, if all lanes access this object.
    pub(super) last: u32,
    pub(super) op: Op,
    pub(super) b: u64,
    /// Low word of the object before lane `last`. Responses do not contain it.
    pub(super) low: u32,
    pub(super) red: bool,
}

impl Flight {
    /// True if the response contains the upper word of the object.
    fn tells(&self) -> bool {
        !self.red && self.op.row().result == ResultKind::State
    }
}

/// Model of the objects of every slot.
#[derive(Clone, Debug)]
pub(super) struct Objects {
    known: [[Known; MAX_OBJECTS]; 16],
    flights: [Option<Flight>; 64],
}

impl Objects {
    pub(super) fn new() -> Self {
        Objects { known: [[Known::default(); MAX_OBJECTS]; 16], flights: [None; 64] }
    }

    /// Returns the expected object after all offered requests are done.
    pub(super) fn object(&self, slot: u8, object: u32) -> MbarObject {
        MbarObject::decode(self.word(slot, object))
    }

    pub(super) fn word(&self, slot: u8, object: u32) -> u64 {
        self.known[usize::from(slot & 15)][object as usize % MAX_OBJECTS].word
    }

    pub(super) fn state(&self, slot: u8, object: u32) -> u32 {
        self.known[usize::from(slot & 15)][object as usize % MAX_OBJECTS].state
    }

    /// Returns true if a few requests can complete a phase of the object.
    pub(super) fn sound(object: &MbarObject) -> bool {
        let some = 1..1 << 12;
        !object.lock
            && !object.version
            && some.contains(&object.expected)
            && object.pending < 1 << 12
            && object.tx.abs() < 1 << 20
    }

    /// Applies one lane of an offered request, with operand `b`.
    pub(super) fn apply(&mut self, slot: u8, object: u32, op: Op, b: u64) {
        if let Some(known) = self.known[usize::from(slot & 15)].get_mut(object as usize) {
            let step = mbarrier::step(op, known.word, b);
            known.word = step.new.unwrap_or(known.word);
        }
    }

    /// Records an offered warp request, whose response will correct the word.
    pub(super) fn depart(&mut self, tag: u8, flight: Flight) {
        if let Some(known) = self.known[usize::from(flight.slot & 15)].get_mut(flight.object as usize) {
            known.flights = known.flights.saturating_add(1);
            self.flights[usize::from(tag & 63)] = Some(flight);
        }
    }

    /// Handles the answer to a warp request: a response if `response` is given, else a wake-up.
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

    /// Clears the objects of a slot whose allocation changed.
    pub(super) fn forget(&mut self, slot: u8) {
        for known in &mut self.known[usize::from(slot & 15)] {
            (known.word, known.state) = (0, 0);
        }
    }
}
