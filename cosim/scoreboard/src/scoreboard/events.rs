//! Judges the events of the ports in every order that is possible.

use std::io;
use std::sync::Arc;

use atoms_oracle::WORK_OFF_CYCLES;
use atoms_record::TraceEvent;

use super::PortScoreboard;
use crate::item::{Item, Pending};
use crate::judge::{Ending, Step};
use crate::verdict::PortName;

impl PortScoreboard {
    /// Judges one event in every order. Returns false if an answer is missing that is needed for this.
    pub(super) fn judge(&mut self, cycle: u64, event: &Pending) -> bool {
        let recording = self.recording.is_some();
        let step =
            Step { items: &self.items, cycle, observed: self.observed, ending: self.ending, recording };
        let worlds = &mut self.worlds;
        match event {
            Pending::Accept { number, request } => {
                for world in &mut worlds.all {
                    world.checker.accept(*number, cycle, request);
                    if recording {
                        let (number, request) = (*number, request.clone());
                        world.record(TraceEvent::Wait { number, accepted: cycle, request });
                    }
                }
            }
            Pending::Done { port, number } => {
                let owes = self.items.of(*port).get(*number).is_some_and(|item| !item.is_resolved());
                if owes && self.ending == Ending::No || !worlds.run(&step, *port, *number) {
                    return false;
                }
            }
            Pending::Table { slot, allocation } => {
                for port in PortName::BOTH {
                    let of_slot = |item: &&Item| item.request.slot == *slot && item.name.accepted < cycle;
                    let Some(last) = self.items.of(port).from(0).filter(of_slot).last() else { continue };
                    let open = last.name.number;
                    let mut before = self.items.of(port).from(0).take_while(|item| item.name.number <= open);
                    if before.any(Item::is_open) && self.ending == Ending::No
                        || !worlds.run(&step, port, open)
                    {
                        return false;
                    }
                }
                for world in &mut worlds.all {
                    world.checker.set_allocation(*slot, *allocation);
                    if recording {
                        let (slot, allocation) = (*slot, *allocation);
                        world.record(TraceEvent::Allocation { slot, allocation });
                    }
                }
            }
            Pending::TableResult { slot, refused } => {
                let slots = self.slots;
                worlds.each(cycle, None, |world| {
                    if recording && *refused {
                        world.record(TraceEvent::Allocation { slot: *slot, allocation: None });
                    }
                    world.checker.table_written(*slot, slots, *refused)
                });
            }
            Pending::Suspended { number } => {
                let name = self.items.of(PortName::Warp).get(*number).map(|item| item.name);
                worlds.each(cycle, name, |world| {
                    if recording {
                        world.record(TraceEvent::Suspended { number: *number, cycle });
                    }
                    world.checker.suspend(*number, cycle)
                });
            }
            Pending::Wake { number, pred } => {
                let name = self.items.of(PortName::Warp).get(*number).map(|item| item.name);
                worlds.each(cycle, name, |world| {
                    if recording {
                        let (number, pred) = (*number, *pred);
                        world.record(TraceEvent::Wake { number, pred, cycle });
                    }
                    world.checker.wake(*number, *pred, cycle)
                });
                self.judged += 1;
            }
            Pending::Quiet { from } => {
                // A posted request that was accepted long ago has executed.
                let old = |item: &&Item| item.name.accepted.saturating_add(WORK_OFF_CYCLES) < *from;
                let last = self.items.of(PortName::Cluster).from(0).take_while(old).last();
                if let Some(last) = last.filter(|_| !self.observed)
                    && !worlds.run(&step, PortName::Cluster, last.name.number)
                {
                    return false;
                }
                worlds.each(cycle, None, |world| {
                    if !world.checker.is_waiting() {
                        return Ok(());
                    }
                    if recording {
                        world.record(TraceEvent::Quiet { from: *from, to: cycle });
                    }
                    world.checker.quiet(*from, cycle)
                });
            }
            Pending::Words(words) => {
                words.iter().for_each(|(word, _)| _ = worlds.unknown.remove(word));
                for world in &mut worlds.all {
                    words.iter().for_each(|(word, value)| world.checker.set_word(*word, *value));
                    if recording {
                        world.record(TraceEvent::Init(words.clone()));
                    }
                }
            }
            Pending::End => {
                for port in PortName::BOTH {
                    if let Some(item) = self.items.of(port).from(0).find(|item| item.is_open()) {
                        let rejection =
                            worlds.all.first().map(|one| one.checker.never_answered(&item.request));
                        worlds.each(cycle, Some(item.name), |_| rejection.clone().map_or(Ok(()), Err));
                        return true;
                    }
                }
                if let Some(last) = self.items.of(PortName::Cluster).end().checked_sub(1) {
                    worlds.run(&step, PortName::Cluster, last);
                }
                worlds.each(cycle, None, |world| {
                    if recording {
                        world.record(TraceEvent::End);
                    }
                    world.checker.finish_waits()
                });
            }
            Pending::Final(words) => {
                let known: Vec<_> =
                    words.iter().filter(|(word, _)| !worlds.unknown.contains(word)).copied().collect();
                worlds.each(cycle, None, |world| {
                    if recording {
                        world.record(TraceEvent::Final(known.clone()));
                    }
                    world.checker.finish_words(&known)
                });
            }
            Pending::Reset { dropped, written } => {
                if self.ending == (Ending::Reset { seen: false }) {
                    let words = worlds.all.iter().flat_map(|world| {
                        dropped.iter().flat_map(|request| world.checker.may_write(request))
                    });
                    worlds.unknown.extend(words.collect::<Vec<_>>());
                }
                worlds.each(cycle, None, |world| {
                    if recording {
                        let (dropped, written) = (dropped.clone(), written.clone());
                        world.record(TraceEvent::Reset { dropped, written });
                    }
                    world.checker.reset(dropped, written)
                });
            }
        }
        true
    }

    /// Writes events to the trace once a single order is left, and forgets requests that are judged in every order.
    pub(super) fn flush(&mut self) {
        for port in PortName::BOTH {
            let judged = self.worlds.all.iter().map(|world| world.next(port)).min().unwrap_or(0);
            self.judged += self.items.of_mut(port).forget(judged);
        }
        if let Some(cycle) = self.worlds.merged_at.take() {
            let text = format!(
                "in cycle {cycle} too many orders of the requests of both ports were possible, so the trace ends \
                 there; report the order of execution and the words written"
            );
            self.write(vec![Arc::new(TraceEvent::Verdict { undecided: true, text: text.clone() })]);
            self.recording = None;
            self.recording_error.get_or_insert_with(|| io::Error::other(text));
            self.worlds.recorded.clear();
            self.worlds.all.iter_mut().for_each(|world| world.events.clear());
        }
        if let [world] = self.worlds.all.as_mut_slice()
            && !world.events.is_empty()
        {
            let events = std::mem::take(&mut world.events);
            self.worlds.recorded.clear();
            self.write(events);
        }
    }

    /// Writes events to the trace. An I/O error is kept until the end: it must not stop a run.
    pub(super) fn write(&mut self, events: Vec<Arc<TraceEvent>>) {
        let Some(recording) = &mut self.recording else { return };
        if let Err(error) = events.iter().try_for_each(|event| recording.write(event)) {
            self.recording_error = Some(error);
            self.recording = None;
        }
    }
}
