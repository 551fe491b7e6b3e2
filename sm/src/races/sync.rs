//! Synchronization through memory: releases, acquires, and phases of mbarrier objects.
//!
//! Source: [PTX] memory consistency model, release and acquire patterns. A release is passed on along a chain
//! of atomics on its word. It applies only between threads that are in the scope of each other.

use super::clock::Clock;
use super::finding::Site;
use crate::observer::Memory;
use atoms_isa::Scope;
use atoms_model::mbarrier;
use atoms_ops::Op;
use std::collections::HashMap;

/// Release, with the scope and the clock of the releasing thread.
#[derive(Clone, Debug)]
pub(super) struct Release {
    pub(super) scope: Scope,
    pub(super) site: Site,
    pub(super) clock: Clock,
}

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

/// mbarrier object, with the releases of each phase.
#[derive(Default)]
struct Object {
    bits: u64,
    /// Releases of the current phase.
    filling: Vec<Release>,
    /// Releases up to the end of the last phase of each parity.
    complete: [Vec<Release>; 2],
}

impl Object {
    fn odd(&self) -> bool {
        self.bits >> 63 != 0
    }

    /// Returns true if the phase is complete.
    fn apply(&mut self, op: Op, b: u64) -> bool {
        // This function is called once per lane, so an arrive without a count is one arrival.
        let b = if matches!(op, Op::MbarArrive | Op::MbarArriveDrop) { 1 } else { b };
        let odd = self.odd();
        let step = mbarrier::step(op, self.bits, b);
        self.bits = step.new.unwrap_or(self.bits);
        if step.completed {
            self.complete[usize::from(odd)] = std::mem::take(&mut self.filling);
        }
        step.completed
    }
}

#[derive(Default)]
pub(super) struct Sync {
    words: HashMap<SyncPlace, Vec<Release>>,
    objects: HashMap<SyncPlace, Object>,
}

impl Sync {
    pub(super) fn read(&self, place: SyncPlace) -> &[Release] {
        self.words.get(&place).map_or(&[], Vec::as_slice)
    }

    /// Records an atomic write of a word. If the atomic also reads, the releases already at the word stay
    /// valid.
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

    pub(super) fn init(&mut self, place: SyncPlace, bits: u64) {
        self.objects.insert(place, Object { bits, ..Object::default() });
    }

    /// Applies an operation `times` times, each time with the same releases.
    pub(super) fn arrive(&mut self, place: SyncPlace, op: Op, b: u64, times: u32, releases: &[Release]) {
        let object = self.objects.entry(place).or_default();
        let mut released = false;
        for _ in 0..times {
            if !released {
                releases.iter().for_each(|release| merge(&mut object.filling, release.clone()));
            }
            released = !object.apply(op, b);
        }
    }

    /// Releases that a thread acquires when it learns that the phase with this parity is complete.
    pub(super) fn phase(&self, place: SyncPlace, odd: bool) -> impl Iterator<Item = &Release> {
        let object = self.objects.get(&place);
        let complete = object.map(|o| &o.complete[usize::from(odd)]);
        // The operation that completed the phase may be reported later, through the other port. So releases
        // of the current phase count too, if it has this parity.
        let filling = object.filter(|o| o.odd() == odd).map(|o| &o.filling);
        complete.into_iter().chain(filling).flatten()
    }

    pub(super) fn end(&mut self, cta: u32) {
        let stays = |place: &SyncPlace| place.memory != Memory::Shared(cta);
        self.words.retain(|place, _| stays(place));
        self.objects.retain(|place, _| stays(place));
    }
}
