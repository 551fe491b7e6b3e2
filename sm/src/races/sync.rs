//! What one thread hands to another through memory: releases, acquires, and phases of mbarrier objects.
//!
//! Source: [PTX] memory consistency model, release and acquire patterns. A release is handed over along a chain of
//! atomics on its word, and counts for those alone whose scope includes the releasing thread and who are in its
//! scope.

use super::clock::Clock;
use crate::observer::Memory;
use atoms_isa::Scope;
use atoms_ops::Op;
use std::collections::HashMap;

/// A thread as scopes see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Site {
    pub(super) cta: u32,
    pub(super) cluster: u32,
}

impl Site {
    /// Whether `scope` around this thread includes the other.
    pub(super) fn reaches(self, scope: Scope, other: Site) -> bool {
        match scope {
            Scope::Cta => self.cta == other.cta,
            Scope::Cluster => self.cluster == other.cluster,
            Scope::Gpu | Scope::Sys => true,
        }
    }
}

/// What has been released, to whom.
#[derive(Clone, Debug)]
pub(super) struct Release {
    pub(super) scope: Scope,
    pub(super) site: Site,
    pub(super) clock: Clock,
}

/// Adds to what has been released.
pub(super) fn merge(releases: &mut Vec<Release>, new: Release) {
    match releases.iter_mut().find(|r| r.scope == new.scope && r.site == new.site) {
        Some(same) => same.clock.join(&new.clock),
        None => releases.push(new),
    }
}

/// A word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Place {
    pub(super) memory: Memory,
    /// Byte address divided by four.
    pub(super) word: u64,
}

/// The counts of an mbarrier object, as far as they say when a phase ends, and what was released in each.
#[derive(Default)]
struct Object {
    expected: i64,
    pending: i64,
    tx: i64,
    odd: bool,
    /// In the present phase.
    filling: Vec<Release>,
    /// Up to the end of the last phase of each parity.
    complete: [Vec<Release>; 2],
}

/// Bits 20:1 of the object count up to the expected arrivals, bits 62:43 up to the pending ones (spec 6.2).
fn field(bits: u64, low: u32) -> i64 {
    ((bits >> low) & 0xf_ffff).wrapping_neg() as i64 & 0xf_ffff
}

impl Object {
    fn apply(&mut self, op: Op, b: u64) {
        let count = i64::from(b as u32);
        let (arrive, drop, expect) = match op {
            Op::MbarExpectTx => (0, false, count),
            Op::MbarCompleteTx => (0, false, -count),
            Op::MbarArrive | Op::MbarArriveSm80 => (1, false, 0),
            Op::MbarArriveCount | Op::MbarArriveNoComplete => (count, false, 0),
            Op::MbarArriveExpectTx => (1, false, count),
            Op::MbarArriveDrop => (1, true, 0),
            Op::MbarArriveDropCount | Op::MbarArriveDropNoComplete => (count, true, 0),
            Op::MbarArriveDropExpectTx => (1, true, count),
            _ => (0, false, 0),
        };
        self.tx += expect;
        self.pending -= arrive;
        if drop {
            self.expected -= arrive;
        }
        if self.pending == 0 && self.tx == 0 {
            self.complete[usize::from(self.odd)] = std::mem::take(&mut self.filling);
            self.odd = !self.odd;
            self.pending = self.expected;
        }
    }
}

/// Everything released through memory.
#[derive(Default)]
pub(super) struct Sync {
    words: HashMap<Place, Vec<Release>>,
    objects: HashMap<Place, Object>,
}

impl Sync {
    /// What reading a word gives.
    pub(super) fn read(&self, place: Place) -> &[Release] {
        self.words.get(&place).map_or(&[], Vec::as_slice)
    }

    /// An atomic has written a word; one that has read it as well goes on with what others have released.
    pub(super) fn write(&mut self, place: Place, reads: bool, releases: impl Iterator<Item = Release>) {
        let mut releases = releases.peekable();
        if releases.peek().is_none() && !self.words.contains_key(&place) {
            return;
        }
        let word = self.words.entry(place).or_default();
        if !reads {
            word.clear();
        }
        releases.for_each(|release| merge(word, release));
    }

    /// A word has become an mbarrier object.
    pub(super) fn init(&mut self, place: Place, bits: u64) {
        let object = Object { expected: field(bits, 1), pending: field(bits, 43), ..Object::default() };
        self.objects.insert(place, object);
    }

    /// An operation has been done on an mbarrier object.
    pub(super) fn arrive(&mut self, place: Place, op: Op, b: u64, releases: impl Iterator<Item = Release>) {
        let object = self.objects.entry(place).or_default();
        releases.for_each(|release| merge(&mut object.filling, release));
        object.apply(op, b);
    }

    /// What a thread learns that was told that the phase of this parity is complete.
    pub(super) fn phase(&self, place: Place, odd: bool) -> impl Iterator<Item = &Release> {
        let object = self.objects.get(&place);
        let complete = object.map(|o| &o.complete[usize::from(odd)]);
        // What ended the phase may be on its way to us still, by the other port.
        let filling = object.filter(|o| o.odd == odd).map(|o| &o.filling);
        complete.into_iter().chain(filling).flatten()
    }

    /// The shared memory of a CTA is no longer there.
    pub(super) fn end(&mut self, cta: u32) {
        let stays = |place: &Place| place.memory != Memory::Shared(cta);
        self.words.retain(|place, _| stays(place));
        self.objects.retain(|place, _| stays(place));
    }
}
