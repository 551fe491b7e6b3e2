//! What one thread hands to another through memory: releases, acquires, and phases of mbarrier objects.
//!
//! Source: [PTX] memory consistency model, release and acquire patterns. A release is handed over along a chain of
//! atomics on its word, and counts for those alone whose scope includes the releasing thread and who are in its
//! scope.

use super::clock::Clock;
use super::finding::Site;
use crate::observer::Memory;
use atoms_isa::Scope;
use atoms_model::mbarrier;
use atoms_ops::Op;
use std::collections::HashMap;

/// A release, and the threads to which it applies.
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct SyncPlace {
    pub(super) memory: Memory,
    /// Byte address divided by four.
    pub(super) word: u64,
}

/// An mbarrier object, and what was released in each phase.
#[derive(Default)]
struct Object {
    /// Content in memory.
    bits: u64,
    /// In the present phase.
    filling: Vec<Release>,
    /// Up to the end of the last phase of each parity.
    complete: [Vec<Release>; 2],
}

impl Object {
    fn odd(&self) -> bool {
        self.bits >> 63 != 0
    }

    fn apply(&mut self, op: Op, b: u64) {
        // Lanes arrive one by one here.
        let b = if matches!(op, Op::MbarArrive | Op::MbarArriveDrop) { 1 } else { b };
        let odd = self.odd();
        let step = mbarrier::step(op, self.bits, b);
        self.bits = step.new.unwrap_or(self.bits);
        if step.completed {
            self.complete[usize::from(odd)] = std::mem::take(&mut self.filling);
        }
    }
}

/// Everything released through memory.
#[derive(Default)]
pub(super) struct Sync {
    words: HashMap<SyncPlace, Vec<Release>>,
    objects: HashMap<SyncPlace, Object>,
}

impl Sync {
    /// Releases that a read of a word acquires.
    pub(super) fn read(&self, place: SyncPlace) -> &[Release] {
        self.words.get(&place).map_or(&[], Vec::as_slice)
    }

    /// An atomic has written a word; one that has read it as well goes on with what others have released.
    pub(super) fn write(&mut self, place: SyncPlace, reads: bool, releases: impl Iterator<Item = Release>) {
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
    pub(super) fn init(&mut self, place: SyncPlace, bits: u64) {
        self.objects.insert(place, Object { bits, ..Object::default() });
    }

    /// An operation has been done on an mbarrier object.
    pub(super) fn arrive(
        &mut self,
        place: SyncPlace,
        op: Op,
        b: u64,
        releases: impl Iterator<Item = Release>,
    ) {
        let object = self.objects.entry(place).or_default();
        releases.for_each(|release| merge(&mut object.filling, release));
        object.apply(op, b);
    }

    /// What a thread learns that was told that the phase of this parity is complete.
    pub(super) fn phase(&self, place: SyncPlace, odd: bool) -> impl Iterator<Item = &Release> {
        let object = self.objects.get(&place);
        let complete = object.map(|o| &o.complete[usize::from(odd)]);
        // What ended the phase may be on its way to us still, by the other port.
        let filling = object.filter(|o| o.odd() == odd).map(|o| &o.filling);
        complete.into_iter().chain(filling).flatten()
    }

    /// The shared memory of a CTA is no longer there.
    pub(super) fn end(&mut self, cta: u32) {
        let stays = |place: &SyncPlace| place.memory != Memory::Shared(cta);
        self.words.retain(|place, _| stays(place));
        self.objects.retain(|place, _| stays(place));
    }
}
