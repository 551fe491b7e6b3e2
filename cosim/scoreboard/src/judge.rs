//! Search for an order of the two ports that explains the observation.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use atoms_oracle::{Checker, Rejection, RequestTiming};
use atoms_record::{Exchange, TraceEvent};

use crate::item::{BothPorts, Item};
use crate::verdict::{PortName, RequestName};

/// One possible order so far: the oracle after the requests that have executed in this order.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) checker: Box<Checker>,
    /// Number of the next request of each port to execute.
    next: [u64; 2],
    /// True if requests of the other port were put before a request that was answered earlier.
    reordered: bool,
    /// Events of this order that are not in the recording yet.
    pub(crate) events: Vec<Arc<TraceEvent>>,
}

impl World {
    pub(crate) fn new(checker: Checker) -> Self {
        World { checker: Box::new(checker), next: [0; 2], reordered: false, events: Vec::new() }
    }

    pub(crate) fn next(&self, port: PortName) -> u64 {
        self.next[port as usize]
    }

    /// Adds an event for the recording. Joins quiet cycles that follow each other.
    pub(crate) fn record(&mut self, mut event: TraceEvent) {
        if let TraceEvent::Quiet { from, .. } = &mut event
            && let Some(TraceEvent::Quiet { from: before, to }) = self.events.last().map(Arc::as_ref)
            && *to + 1 == *from
        {
            *from = *before;
            self.events.pop();
        }
        self.events.push(Arc::new(event));
    }

    pub(crate) fn skip_to(&mut self, port: PortName, number: u64) {
        self.next[port as usize] = number;
    }

    /// Takes over the possible memories of another order, if the rest of its state is the same.
    fn merge(&mut self, other: &World, widen: bool) -> bool {
        self.next == other.next && self.checker.merge(&other.checker, widen)
    }
}

/// A rejection in one order.
#[derive(Debug)]
pub(crate) struct Objection {
    pub(crate) request: Option<RequestName>,
    pub(crate) cycle: u64,
    pub(crate) rejection: Rejection,
    /// True if the order is not that of the answers. Another objection is more helpful then.
    reordered: bool,
}

/// The orders that explain the observation so far.
#[derive(Debug)]
pub(crate) struct Worlds {
    pub(crate) all: Vec<World>,
    /// Objection of the first order that was rejected while the current event was judged.
    objection: Option<Objection>,
    /// Rejected order from which judging continues, and the words that the rejected request may have written and
    /// that are unknown from now on.
    survivor: Option<(World, Vec<u32>)>,
    /// Maximum number of orders that are followed.
    most: usize,
    /// Words with an unknown value: a request that was rejected or that a reset dropped may have written them.
    pub(crate) unknown: HashSet<u32>,
    /// Cycle in which orders with different memory were merged, so that no single order can be recorded.
    pub(crate) merged_at: Option<u64>,
    /// Requests that were not judged because they access an unknown word.
    pub(crate) unjudged: u64,
    /// Recorded event of each request that is judged in some order, by port and number. Orders share them.
    pub(crate) recorded: HashMap<(usize, u64), Arc<TraceEvent>>,
    /// True if the search was stopped because too many orders are possible.
    stopped: bool,
}

/// Maximum memory, in bytes, for all orders that are followed at the same time. While one event is judged, they may take
/// three times as much.
const BYTES: usize = 256 << 20;

/// Maximum number of events of one order that wait for the recording. Orders share most of them.
const EVENTS: usize = 1 << 17;

/// Maximum number of steps of one search.
const WORK: u32 = 1 << 15;

/// Tells if more answers come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    No,
    /// End of the run: a request without an answer is an error.
    Finish,
    /// Reset: requests without an answer are dropped. `seen` is true if the words that they wrote are known.
    Reset {
        seen: bool,
    },
}

/// Parameters of one step of the search.
pub(crate) struct Step<'a> {
    pub(crate) items: &'a BothPorts,
    /// Cycle of the event that is judged.
    pub(crate) cycle: u64,
    /// True if the testbench reports the order of execution, so that no other order is possible.
    pub(crate) observed: bool,
    pub(crate) ending: Ending,
    pub(crate) recording: bool,
}

impl Worlds {
    pub(crate) fn new(checker: Checker) -> Self {
        let bytes = checker.memory().len().max(1) * 12;
        Worlds {
            most: (BYTES / bytes).clamp(2, 256),
            all: vec![World::new(checker)],
            objection: None,
            survivor: None,
            unknown: HashSet::new(),
            merged_at: None,
            unjudged: 0,
            recorded: HashMap::new(),
            stopped: false,
        }
    }

    /// Executes the requests of `port` up to `number` in every order. Returns false if an answer is missing
    /// that is needed for this.
    ///
    /// Orders advance in step, and those with equal state are merged at once: the number of orders grows much
    /// faster than that of states.
    pub(crate) fn run(&mut self, step: &Step<'_>, port: PortName, number: u64) -> bool {
        let (mut open, mut complete, mut work) = (Open::default(), true, 0);
        let mut all = std::mem::take(&mut self.all);
        // A single order is the usual case, and needs no queue.
        let mut next = if all.len() == 1 { all.pop() } else { None };
        all.into_iter().for_each(|world| open.add(world, !step.recording));
        while let Some(world) = next.take().or_else(|| open.pop()) {
            complete &= self.run_world(world, step, port, number, &mut open);
            work += 1;
            if open.number > self.most && step.recording {
                open.merge();
                self.merged_at = Some(step.cycle);
            }
            let is_few =
                open.done.len() <= self.most || self.reduce(&mut open.done, step.cycle, step.recording);
            if open.number > 2 * self.most || !is_few || work > WORK {
                self.stopped = true;
                break;
            }
        }
        self.all = open.into_all();
        complete || self.stopped
    }

    /// Calls `judge` for every order. Orders in which it fails are given up.
    pub(crate) fn each(
        &mut self,
        cycle: u64,
        request: Option<RequestName>,
        mut judge: impl FnMut(&mut World) -> Result<(), Rejection>,
    ) {
        for mut world in std::mem::take(&mut self.all) {
            match judge(&mut world) {
                Ok(()) => self.all.push(world),
                Err(rejection) => {
                    let reordered = world.reordered;
                    self.object(Objection { request, cycle, rejection, reordered });
                    self.survivor = Some((world, Vec::new()));
                }
            }
        }
    }

    /// Ends the judgement of an event.
    ///
    /// # Errors
    /// The objection, if no order is left. If too many orders are left, the result is undecided. The second
    /// value is false if judging cannot continue.
    pub(crate) fn settle(&mut self, cycle: u64, recording: bool) -> Result<(), (Objection, bool)> {
        let mut all = std::mem::take(&mut self.all);
        let few = self.reduce(&mut all, cycle, recording);
        self.all = all;
        if !few || self.stopped {
            let why = format_args!(
                "more than {} orders of the requests of both ports are possible; report the order of execution \
                 and the words written",
                self.most
            );
            self.all.truncate(1);
            let rejection = Rejection::undecided(why);
            return Err((Objection { request: None, cycle, rejection, reordered: false }, false));
        }
        let objection = self.objection.take();
        let survivor = self.survivor.take();
        if self.all.is_empty() {
            let continues = survivor.is_some();
            if let Some((world, words)) = survivor {
                self.unknown.extend(words);
                self.all.push(world);
            }
            let rejection = Rejection::undecided("no order is left");
            let unknown = Objection { request: None, cycle, rejection, reordered: true };
            return Err((objection.unwrap_or(unknown), continues));
        }
        self.all.iter_mut().for_each(|world| world.reordered = false);
        Ok(())
    }

    /// Merges orders with equal state. Returns false if too many are left.
    ///
    /// A recording needs one order. So orders with different memory stay separate as long as possible.
    fn reduce(&mut self, orders: &mut Vec<World>, cycle: u64, recording: bool) -> bool {
        merge(orders, !recording);
        let long = |world: &World| world.events.len() > EVENTS;
        if recording && (orders.len() > self.most || orders.len() > 1 && orders.iter().any(long)) {
            merge(orders, true);
            self.merged_at = Some(cycle);
        }
        orders.len() <= self.most
    }

    fn object(&mut self, objection: Objection) {
        // The number of passes is judged last, so that an order with this objection explains the values.
        let rank =
            |of: &Objection| (of.rejection.is_undecided(), of.rejection.about() == "passes", !of.reordered);
        if self.objection.as_ref().is_none_or(|old| rank(&objection) > rank(old)) {
            self.objection = Some(objection);
        }
    }

    /// Continues one order until it is not alone, and returns it to `open`.
    fn run_world(
        &mut self,
        mut world: World,
        step: &Step<'_>,
        port: PortName,
        number: u64,
        open: &mut Open,
    ) -> bool {
        loop {
            let Some(mine) =
                next_item(step.items, &mut world, port).filter(|item| item.name.number <= number)
            else {
                open.done.push(world);
                return true;
            };
            match conflict(&world, step, mine) {
                Conflict::None => {}
                Conflict::Unseen => self.forget_words(&world, step, port.other()),
                Conflict::Unresolved => {
                    open.done.push(world);
                    return false;
                }
                Conflict::With(other) => {
                    let mut first = World { reordered: true, ..world.clone() };
                    if self.run_in_order(&mut first, step, port.other(), other) {
                        open.add(first, !step.recording);
                    }
                }
            }
            if let Err(unknown) = self.judge(&mut world, step, mine) {
                let rank = |world: &World, unknown: &[u32]| (unknown.is_empty(), !world.reordered);
                let better = |(old, words): &(World, Vec<u32>)| rank(&world, &unknown) > rank(old, words);
                if self.survivor.as_ref().is_none_or(better) {
                    self.survivor = Some((world, unknown));
                }
                return true;
            }
            if open.number > 0 {
                open.add(world, !step.recording);
                return true;
            }
        }
    }

    /// Executes the requests of `port` up to `number`, before all others of the other port.
    fn run_in_order(&mut self, world: &mut World, step: &Step<'_>, port: PortName, number: u64) -> bool {
        while let Some(item) = next_item(step.items, world, port).filter(|item| item.name.number <= number) {
            if self.judge(world, step, item).is_err() {
                return false;
            }
        }
        true
    }

    /// Judges the next request of a port.
    ///
    /// # Errors
    /// The oracle rejects the request in this order. Contains the words that are unknown from now on.
    fn judge(&mut self, world: &mut World, step: &Step<'_>, item: &Item) -> Result<(), Vec<u32>> {
        world.next[item.name.port as usize] = item.name.number + 1;
        if !self.unknown.is_empty() && self.touches_unknown(world, item) {
            self.unjudged += 1;
            return Ok(());
        }
        if matches!(step.ending, Ending::Reset { .. }) && !item.is_resolved() {
            return self.judge_lost(world, step, item);
        }
        let answered = item.answer.as_ref().map_or(step.cycle, |answer| answer.cycle);
        let is_waiting = world.checker.is_waiting();
        let timing = RequestTiming {
            number: item.name.number,
            answered,
            oldest_unanswered: is_waiting.then(|| oldest_unanswered(world, step)).flatten(),
        };
        let response = item.answer.as_ref().map(|answer| &answer.response);
        if step.recording {
            let event = self.recorded_event(item, timing);
            world.events.push(event);
        }
        let after = item.written.as_deref();
        let verdict = world.checker.request_at(&timing, &item.request, response, after);
        let stated = item.answer.as_ref().and_then(|answer| answer.passes);
        let passes = match stated.filter(|&passes| passes != world.checker.passes()) {
            Some(passes) => {
                let what = format_args!(
                    "the response states {passes} passes, but the request takes {}",
                    world.checker.passes()
                );
                Err(Rejection::new("spec 4.3", "passes", what))
            }
            None => Ok(()),
        };
        let is_known = after.is_some() || verdict.is_ok();
        verdict.and(passes).map_err(|rejection| {
            let reordered = world.reordered;
            self.object(Objection { request: Some(item.name), cycle: answered, rejection, reordered });
            if is_known { Vec::new() } else { world.checker.may_write(&item.request) }
        })
    }

    /// Event of a request for the recording. Orders that judge the request with the same timing share the event.
    fn recorded_event(&mut self, item: &Item, timing: RequestTiming) -> Arc<TraceEvent> {
        let key = (item.name.port as usize, item.name.number);
        if let Some(event) = self.recorded.get(&key)
            && matches!(&**event, TraceEvent::Request(known) if known.moment == Some(timing))
        {
            return Arc::clone(event);
        }
        let exchange = Exchange {
            request: item.request.clone(),
            response: item.answer.as_ref().map(|answer| answer.response.clone()),
            after: item.written.clone(),
            moment: Some(timing),
            accepted: Some(item.name.accepted),
        };
        let event = Arc::new(TraceEvent::Request(Box::new(exchange)));
        self.recorded.insert(key, Arc::clone(&event));
        event
    }

    /// Judges a request that executed, and whose response the reset dropped.
    fn judge_lost(&mut self, world: &mut World, step: &Step<'_>, item: &Item) -> Result<(), Vec<u32>> {
        if step.ending == (Ending::Reset { seen: false }) && item.written.is_none() {
            self.unknown.extend(world.checker.may_write(&item.request));
        }
        let written = item.written.clone().unwrap_or_default();
        let verdict = world.checker.lost(std::slice::from_ref(&item.request), &written);
        if step.recording {
            world.record(TraceEvent::Lost { request: Box::new(item.request.clone()), written });
        }
        verdict.map_err(|rejection| {
            let reordered = world.reordered;
            self.object(Objection { request: Some(item.name), cycle: step.cycle, rejection, reordered });
            Vec::new()
        })
    }

    /// Makes the words unknown that the unanswered requests of a port may have written.
    fn forget_words(&mut self, world: &World, step: &Step<'_>, port: PortName) {
        for item in step.items.of(port).from(world.next(port)).filter(|item| !item.suspended) {
            self.unknown.extend(world.checker.may_write(&item.request));
        }
    }

    /// True if the request accesses an unknown word. Then the words that it may write are unknown, too.
    fn touches_unknown(&mut self, world: &World, item: &Item) -> bool {
        let touches = world.checker.accesses(&item.request).iter().any(|word| self.unknown.contains(word));
        if touches {
            self.unknown.extend(world.checker.may_write(&item.request));
        }
        touches
    }
}

/// Orders in the middle of a search.
#[derive(Default)]
struct Open {
    /// Orders to continue, by the number of requests that have executed.
    worlds: BTreeMap<u64, Vec<World>>,
    /// Number of orders in `worlds`.
    number: usize,
    /// Orders that have reached the end of the search.
    done: Vec<World>,
}

impl Open {
    /// Adds an order, unless it has the state of another one.
    fn add(&mut self, world: World, widen: bool) {
        let alike = self.worlds.entry(world.next.iter().sum()).or_default();
        if !alike.iter_mut().any(|one| one.merge(&world, widen)) {
            alike.push(world);
            self.number += 1;
        }
    }

    /// Removes an order with the fewest requests.
    fn pop(&mut self) -> Option<World> {
        let mut first = self.worlds.first_entry()?;
        let world = first.get_mut().pop();
        if first.get().is_empty() {
            first.remove();
        }
        self.number -= usize::from(world.is_some());
        world
    }

    /// Merges orders with different memory.
    fn merge(&mut self) {
        self.worlds.values_mut().for_each(|alike| merge(alike, true));
        self.number = self.worlds.values().map(Vec::len).sum();
    }

    fn into_all(self) -> Vec<World> {
        let mut all = self.done;
        all.extend(self.worlds.into_values().flatten());
        all
    }
}

/// Merges orders with equal state; with `widen`, also with different memory.
fn merge(orders: &mut Vec<World>, widen: bool) {
    if orders.len() < 2 {
        return;
    }
    let mut distinct: Vec<World> = Vec::with_capacity(orders.len());
    for world in orders.drain(..) {
        if !distinct.iter_mut().any(|one| one.merge(&world, widen)) {
            distinct.push(world);
        }
    }
    *orders = distinct;
}

enum Conflict {
    /// No request of the other port can change the result.
    None,
    /// Request of the other port with this number may have executed before.
    With(u64),
    /// A request that may have executed before has no answer yet.
    Unresolved,
    /// A request that may have executed before was dropped by a reset.
    Unseen,
}

/// Next request of a port that executes; skips suspended ones.
fn next_item<'a>(items: &'a BothPorts, world: &mut World, port: PortName) -> Option<&'a Item> {
    loop {
        let item = items.of(port).get(world.next(port))?;
        if !item.suspended {
            return Some(item);
        }
        world.skip_to(port, item.name.number + 1);
    }
}

/// Finds the first request of the other port whose order with `mine` matters and is not known.
fn conflict(world: &World, step: &Step<'_>, mine: &Item) -> Conflict {
    if step.observed {
        return Conflict::None;
    }
    let port = mine.name.port.other();
    let end = mine.answer.as_ref().map_or(step.cycle, |answer| answer.cycle);
    let pending = step.items.of(port).from(world.next(port)).filter(|item| !item.suspended);
    let mut resolved = true;
    for item in pending.take_while(|item| item.name.accepted < end) {
        resolved &= item.is_resolved();
        if !world.checker.order_matters(&mine.request, &item.request) {
            continue;
        }
        return match (resolved, step.ending) {
            (true, _) => Conflict::With(item.name.number),
            (false, Ending::No) => Conflict::Unresolved,
            (false, Ending::Reset { seen: false }) => Conflict::Unseen,
            (false, Ending::Finish | Ending::Reset { seen: true }) => Conflict::None,
        };
    }
    Conflict::None
}

/// Acceptance cycle of the oldest request that has not executed in this order.
fn oldest_unanswered(world: &World, step: &Step<'_>) -> Option<u64> {
    let oldest = |port| {
        let mut items = step.items.of(port).from(world.next(port));
        items.find(|item| !item.suspended).map(|item| item.name.accepted)
    };
    oldest(PortName::Warp).into_iter().chain(oldest(PortName::Cluster)).min()
}
