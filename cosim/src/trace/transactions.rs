//! Transactions as tracks of a wave: the requests of each tag, the lane that each bank serves, the mbarrier objects
//! that requests step, and why nothing is issued.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::Arc;

use atoms_model::mbarrier::MbarObject;
use atoms_model::port::MAX_BANKS;
use atoms_model::{Config, RequestOrigin};
use atoms_ops::{Fault, Op};
use atoms_waves::{Definition, Layout, Signal, SignalKind, WaveTrace};

use super::CycleValues;
use crate::mismatch::Subject;
use crate::monitor::{Cycle, InFlight, LastStage, PassIssued, WarpAnswer};
use crate::request::{ClusterRequest, WarpRequest, write_op};

/// Tags of the warp port. A core gives each warp its own, so a track is a warp's.
const TAGS: usize = 64;
/// mbarrier objects with a track; those stepped last are shown.
const OBJECTS: usize = 8;
/// What a track is set to where nothing happens; it shows `-`.
pub(super) const IDLE: &str = "";

/// The tracks, and what is inside the unit.
#[derive(Debug)]
pub(super) struct Transactions {
    config: Config,
    issue: TextTrack,
    stall: TextTrack,
    answer: TextTrack,
    wake_up: TextTrack,
    cluster: Signal,
    tags: Vec<Signal>,
    banks: Vec<Signal>,
    objects: Vec<ObjectTrack>,
    /// Warp requests without an answer, oldest first.
    inside: Vec<Inside>,
    /// Cluster requests not carried out, oldest first.
    clusters: Vec<InFlight<ClusterRequest>>,
    /// Number of the one that its track shows, or that there is none; `None` before the first cycle.
    cluster_shown: Option<Option<u64>>,
    /// Passes in the pipeline, the one in the last stage first: banks that they work on, and the lane of each.
    passes: VecDeque<(u64, [u8; MAX_BANKS])>,
    /// The pass that was issued in the cycle last followed.
    issued: Option<PassOf>,
    /// Tags whose track is to be written.
    stale: u64,
    /// Banks whose track shows a lane.
    serving: u64,
    text: String,
    /// The instruction that made the request being offered.
    offered_from: String,
}

/// A track that is idle in most cycles.
#[derive(Clone, Copy, Debug)]
struct TextTrack {
    signal: Signal,
    /// It shows that; unknown before the first cycle.
    is_idle: bool,
}

impl TextTrack {
    fn show(&mut self, trace: &mut WaveTrace<CycleValues>, text: &str) {
        if !(self.is_idle && text.is_empty()) {
            self.is_idle = text.is_empty();
            trace.set_text(self.signal, text);
        }
    }
}

/// A warp request inside the unit.
#[derive(Debug)]
struct Inside {
    number: u64,
    request: Arc<WarpRequest>,
    state: State,
    /// What its track says before the state and behind it: texts change with every pass.
    name: String,
    /// See [`Inside::name`].
    rest: String,
}

/// A pass of a request: which, and of how many, where that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PassOf {
    index: u8,
    of: Option<u32>,
}

impl PassOf {
    /// `before of` is what stands between the two numbers.
    fn write(self, text: &mut String, before_of: &str) {
        number(text, u64::from(self.index) + 1);
        if let Some(of) = self.of {
            text.push_str(before_of);
            number(text, u64::from(of));
        }
    }
}

/// How far a request has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Queued,
    Pass(PassOf),
    Suspended,
    /// Its answer stands at the response port, or at that of wake-ups.
    Answered {
        woken: bool,
    },
    /// Its answer was taken in the cycle before.
    Gone,
}

/// The fields of an mbarrier object.
#[derive(Debug)]
struct ObjectTrack {
    at: Signal,
    phase: Signal,
    pending: Signal,
    expected: Signal,
    tx: Signal,
    shown: Option<ShownObject>,
    /// `shown` is not written yet.
    is_stale: bool,
}

/// The object that a track shows.
#[derive(Clone, Copy, Debug)]
struct ShownObject {
    /// Row and low bank.
    place: (u16, usize),
    /// Low and high word, as far as they were seen written.
    words: [Option<u32>; 2],
    /// Cycle in which it was stepped last.
    stepped: u64,
}

impl Transactions {
    /// Declares the tracks in scope `txn`.
    pub(super) fn define(d: &mut Definition, config: &Config) -> Self {
        d.scope("txn", |d| {
            let text = |d: &mut Definition, name: &str| d.signal(name, SignalKind::Text);
            let track = |d: &mut Definition, name: &str| TextTrack { signal: text(d, name), is_idle: false };
            let numbered = |d: &mut Definition, what: &str, count: usize| {
                d.scope(what, |d| (0..count).map(|at| text(d, &format!("{what}{at:02}"))).collect())
            };
            let object = |d: &mut Definition, at: usize| {
                d.scope(&format!("object{at}"), |d| ObjectTrack {
                    at: text(d, "at"),
                    phase: d.signal("phase", SignalKind::Bits(1)),
                    pending: d.signal("pending", SignalKind::Bits(20)),
                    expected: d.signal("expected", SignalKind::Bits(20)),
                    tx: d.signal("tx", SignalKind::Bits(21)),
                    shown: None,
                    is_stale: false,
                })
            };
            Transactions {
                config: *config,
                issue: track(d, "issue"),
                stall: track(d, "stall"),
                answer: track(d, "answer"),
                wake_up: track(d, "wake_up"),
                cluster: text(d, "cluster"),
                tags: numbered(d, "tag", TAGS),
                banks: numbered(d, "bank", config.num_banks as usize),
                objects: (0..OBJECTS).map(|at| object(d, at)).collect(),
                inside: Vec::new(),
                clusters: Vec::new(),
                cluster_shown: None,
                passes: VecDeque::new(),
                issued: None,
                stale: u64::MAX,
                serving: u64::MAX,
                text: String::new(),
                offered_from: String::new(),
            }
        })
    }

    /// The tracks that one looks at first, and the others folded.
    pub(super) fn layout(&self, layout: Layout) -> Layout {
        let object = |o: &ObjectTrack| [o.at, o.phase, o.pending, o.expected, o.tx];
        let tracks = [self.issue, self.stall, self.answer, self.wake_up].map(|track| track.signal);
        layout
            .group("transactions", tracks.into_iter().chain([self.cluster]))
            .folded("requests by tag", self.tags.clone())
            .folded("lanes by bank", self.banks.clone())
            .folded("mbarrier objects", self.objects.iter().flat_map(object))
    }

    /// The tracks that a request is in, and what it may wait for.
    pub(super) fn of(&self, subject: &Subject) -> Vec<Signal> {
        let track =
            if subject.cluster { Some(&self.cluster) } else { self.tags.get(usize::from(subject.tag)) };
        track
            .into_iter()
            .copied()
            .chain([self.issue, self.stall, self.answer].map(|track| track.signal))
            .collect()
    }

    /// The lane whose word a bank works on in the last stage.
    pub(super) fn lane_at(&self, bank: usize) -> Option<usize> {
        let (_, lanes) = self.passes.front().filter(|(banks, _)| banks >> (bank & 63) & 1 == 1)?;
        lanes.get(bank).map(|lane| usize::from(*lane))
    }

    /// The track of a bank.
    pub(super) fn of_bank(&self, bank: usize) -> impl Iterator<Item = Signal> {
        self.banks.get(bank).copied().into_iter()
    }

    /// Notes the instruction that made the request which is offered from the next cycle on.
    pub(super) fn offer_from(&mut self, origin: &RequestOrigin<'_>) {
        let RequestOrigin { cta, warp, pc, line, text } = origin;
        self.offered_from.clear();
        // Writing to a String cannot fail.
        let _ = write!(self.offered_from, ", cta {cta} warp {warp} pc {pc} line {line}: {text}");
    }

    /// Follows a cycle, written or not.
    pub(super) fn follow(&mut self, cycle: &Cycle<'_>, passes_at_issue: Option<u32>) {
        let gone = self.inside.extract_if(.., |inside| inside.state == State::Gone);
        self.stale |= gone.fold(0, |stale, inside| stale | bit(&inside.request));
        if cycle.reset.is_some() {
            self.inside.clear();
            self.clusters.clear();
            self.passes.clear();
            self.stale = u64::MAX;
            return;
        }
        if cycle.last_stage.is_some_and(|last| last.done) {
            self.passes.pop_front();
        }
        self.passes.extend(cycle.pass_issued.map(|pass| (pass.banks, *cycle.winners())));
        if let Some(LastStage { pass, done: true, suspends: true, .. }) = cycle.last_stage {
            self.now(pass.number, State::Suspended);
        }
        self.issued = cycle.pass_issued.map(|pass| {
            // Behind its last pass a request is no longer at issue.
            let of = if pass.last { Some(u32::from(pass.index) + 1) } else { passes_at_issue };
            PassOf { index: pass.index, of }
        });
        if let Some((pass, of)) = cycle.pass_issued.filter(|pass| !pass.cluster).zip(self.issued) {
            self.now(pass.number, State::Pass(of));
        }
        let response = cycle.warp_answer.as_ref().map(|answer| (&answer.appears, answer.taken, false));
        let wake_up = cycle.wake_up.as_ref().map(|answer| (&answer.appears, answer.taken, true));
        for (appears, taken, woken) in [response, wake_up].into_iter().flatten() {
            let request = appears.as_ref().and_then(|appears| appears.request.as_ref().ok());
            if let Some(request) = request {
                self.now(request.number, State::Answered { woken });
            }
            if taken {
                let answered = |inside: &&mut Inside| inside.state == State::Answered { woken };
                self.inside.iter_mut().find(answered).into_iter().for_each(|i| i.state = State::Gone);
            }
        }
        if let Some(accepted) = &cycle.warp_accepted {
            let (number, request) = (accepted.number, Arc::clone(&accepted.request));
            self.stale |= bit(&request);
            let rest = std::mem::take(&mut self.offered_from);
            self.inside.push(Inside::new(number, request, &self.config, &rest));
        }
        if let Some(done) = &cycle.cluster_done
            && let Some(request) = &done.request
        {
            self.clusters.retain(|inside| inside.number != request.number);
        }
        self.clusters.extend(cycle.cluster_accepted.clone());
        if let Some(LastStage { pass, done: true, .. }) = cycle.last_stage {
            self.step_objects(cycle, &pass);
        }
    }

    fn now(&mut self, number: u64, state: State) {
        if let Some(inside) = self.inside.iter_mut().find(|inside| inside.number == number) {
            inside.state = state;
            self.stale |= bit(&inside.request);
        }
    }

    /// Shows the cycle last followed.
    pub(super) fn show(&mut self, trace: &mut WaveTrace<CycleValues>, cycle: &Cycle<'_>) {
        let mut text = std::mem::take(&mut self.text);
        while self.stale != 0 {
            let tag = self.stale.trailing_zeros() as usize;
            self.stale &= self.stale - 1;
            text.clear();
            self.of_tag(tag, &mut text);
            trace.set_text(self.tags[tag], &text);
        }
        text.clear();
        issue(cycle, self.issued, &mut text);
        self.issue.show(trace, &text);
        text.clear();
        stall(cycle, &mut text);
        self.stall.show(trace, &text);
        text.clear();
        if let Some(answer) = &cycle.warp_answer {
            // Writing to a String cannot fail.
            let _ = self.answer(answer, &mut text);
        }
        self.answer.show(trace, &text);
        text.clear();
        if let Some(wake_up) = &cycle.wake_up {
            self.name(wake_up.tag, true, &mut text);
            let how = if wake_up.pred == 0 { "limit passed" } else { "phase complete" };
            let _ = write!(text, "{how}, pred {:x}", wake_up.pred);
        }
        self.wake_up.show(trace, &text);
        let first = self.clusters.first();
        let shown = Some(first.map(|first| first.number));
        if self.cluster_shown != shown {
            self.cluster_shown = shown;
            text.clear();
            if let Some(first) = first {
                // Writing to a String cannot fail.
                let _ = write!(text, "#{} {}", first.number, first.request);
            }
            trace.set_text(self.cluster, &text);
        }
        let served = cycle.pass_issued.map_or(0, |pass| pass.banks);
        let mut changed = served | self.serving;
        self.serving = served;
        if let Some(pass) = cycle.pass_issued.filter(|_| served != 0) {
            text.clear();
            numbered(&mut text, pass.cluster, pass.number);
            text.push_str(" lane ");
            trace.set_stem(&text);
        }
        while changed != 0 {
            let bank = changed.trailing_zeros() as usize;
            changed &= changed - 1;
            let Some(signal) = self.banks.get(bank) else { break };
            if served >> bank & 1 == 1 {
                trace.set_numbered(*signal, cycle.winners()[bank].into());
            } else {
                trace.set_text(*signal, IDLE);
            }
        }
        self.text = text;
        self.objects.iter_mut().filter(|track| track.is_stale).for_each(|track| track.show(trace));
    }

    /// The requests of a tag that are inside.
    fn of_tag(&self, tag: usize, text: &mut String) {
        for inside in self.inside.iter().filter(|inside| usize::from(inside.request.tag) == tag) {
            text.push_str(if text.is_empty() { "" } else { " + " });
            text.push_str(&inside.name);
            match inside.state {
                State::Queued => text.push_str("queued"),
                State::Pass(pass) => {
                    text.push_str("pass ");
                    pass.write(text, " of ");
                }
                State::Suspended => text.push_str("suspended"),
                State::Answered { .. } | State::Gone => text.push_str("answered"),
            }
            text.push_str(&inside.rest);
        }
    }

    /// Names the request whose answer stands at a port.
    fn name(&self, tag: u8, woken: bool, text: &mut String) {
        let states = [State::Answered { woken }, State::Gone];
        let standing = |inside: &&Inside| states.contains(&inside.state) && inside.request.tag == tag;
        let (what, of) = match self.inside.iter().find(standing) {
            Some(inside) => ("#", inside.number),
            None => ("tag ", tag.into()),
        };
        text.push_str(what);
        number(text, of);
        text.push(' ');
    }

    fn answer(&self, answer: &WarpAnswer<'_>, text: &mut String) -> std::fmt::Result {
        self.name(answer.tag, false, text);
        match Fault::from_code(answer.fault) {
            Some(Fault::None) => {
                if let Some(lane) = (0..answer.rd.len()).find(|lane| answer.rd[*lane] != 0) {
                    write!(text, "rd[{lane}] {:x}, ", answer.rd[lane])?;
                }
                if answer.pred != 0 {
                    text.push_str("pred ");
                    hexadecimal(text, answer.pred.into());
                    text.push_str(", ");
                }
                number(text, answer.passes.into());
                text.push_str(" passes");
                Ok(())
            }
            fault => {
                let fault = fault.map_or("unknown fault", Fault::name);
                write!(text, "{fault}, lane {} @{:x}", answer.fault_lane, answer.fault_addr)
            }
        }
    }

    /// Follows the objects that a pass of an mbarrier operation writes.
    fn step_objects(&mut self, cycle: &Cycle<'_>, pass: &PassIssued) {
        let warp = || self.inside.iter().find(|inside| inside.number == pass.number).map(|i| i.request.op);
        let cluster = || Some(cycle.cluster_done.as_ref()?.request.as_ref()?.request.op);
        let op = if pass.cluster { cluster() } else { warp() };
        if !op.and_then(Op::from_code).is_some_and(Op::is_mbarrier) {
            return;
        }
        let (ports, mut banks) = (cycle.bank_ports(), cycle.bank_ports().written);
        while banks != 0 {
            let low = banks.trailing_zeros() as usize & !1;
            let both = banks >> low & 3;
            banks &= !(3 << low);
            let row = ports.rows[low + (both & 1 ^ 1) as usize];
            let place = (row, low);
            let track = self
                .objects
                .iter_mut()
                .min_by_key(|track| match track.shown {
                    Some(shown) if shown.place == place => (0, 0),
                    None => (1, 0),
                    Some(shown) => (2, shown.stepped),
                })
                .expect("there are tracks");
            let same = track.shown.filter(|shown| shown.place == place);
            let mut words = same.map_or([None; 2], |shown| shown.words);
            for (half, word) in words.iter_mut().enumerate().filter(|(half, _)| both >> half & 1 == 1) {
                *word = Some(ports.values[low + half]);
            }
            track.shown = Some(ShownObject { place, words, stepped: cycle.number });
            track.is_stale = true;
        }
    }
}

impl ObjectTrack {
    /// Writes the object that it shows.
    fn show(&mut self, trace: &mut WaveTrace<CycleValues>) {
        self.is_stale = false;
        let Some(ShownObject { place: (row, low), words, .. }) = self.shown else { return };
        trace.set_text(self.at, &format!("row {row} banks {low} {}", low + 1));
        if let [Some(low), Some(high)] = words {
            let object = MbarObject::decode(u64::from(high) << 32 | u64::from(low));
            trace.set(self.phase, object.phase.into());
            trace.set(self.pending, object.pending.into());
            trace.set(self.expected, object.expected.into());
            trace.set(self.tx, u128::from(object.tx as u32));
        }
    }
}

impl Inside {
    /// A request that is accepted, made by the instruction that `origin` names.
    fn new(number: u64, request: Arc<WarpRequest>, config: &Config, origin: &str) -> Self {
        let lanes = request.mask & config.lane_mask();
        let address = request.lanes.get(lanes.trailing_zeros() as usize).map_or(0, |lane| lane.ra);
        let address = request.address_form().address(address);
        let mut name = format!("#{number} ");
        // Writing to a String cannot fail.
        let _ = write_op(&mut name, request.op, request.size);
        name.push_str(if request.red { ".RED " } else { " " });
        let rest = format!(", slot {} lanes {lanes:x} @{address:x}{origin}", request.slot);
        Inside { number, request, state: State::Queued, name, rest }
    }
}

/// Appends a number in decimal digits, without the cost of `write!`: several are written in each cycle.
fn number(text: &mut String, number: u64) {
    text.push_str(itoa::Buffer::new().format(number));
}

/// The same in hexadecimal digits.
fn hexadecimal(text: &mut String, number: u64) {
    let digits = (64 - number.leading_zeros()).div_ceil(4).max(1);
    text.extend(
        (0..digits).rev().map(|digit| char::from(b"0123456789abcdef"[(number >> (4 * digit) & 15) as usize])),
    );
}

/// The track of a request.
fn bit(request: &WarpRequest) -> u64 {
    1 << (request.tag & 63)
}

/// Appends a request as tracks call it.
fn numbered(text: &mut String, cluster: bool, number: u64) {
    text.push_str(if cluster { "cluster #" } else { "#" });
    self::number(text, number);
}

/// A cycle is a few characters wide in a viewer, so what tells most stands first.
fn issue(cycle: &Cycle<'_>, of: Option<PassOf>, text: &mut String) {
    let Some((pass, of)) = cycle.pass_issued.zip(of) else { return };
    numbered(text, pass.cluster, pass.number);
    text.push('.');
    of.write(text, "/");
    text.push_str(" lanes ");
    hexadecimal(text, pass.lanes.into());
}

/// Why less happens than could.
fn stall(cycle: &Cycle<'_>, text: &mut String) {
    let pipeline = cycle.pipeline();
    let (driven, [warps, clusters]) = (cycle.driven(), cycle.queues());
    if pipeline.stalled {
        text.push_str(match () {
            () if cycle.warp_answer.is_some() && !driven.takes_response => "held: response not taken",
            () if cycle.wake_up.is_some() && !driven.takes_wake_up => "held: wake-up not taken",
            () => "held: cluster response not taken",
        });
    } else if let Some(at_issue) = pipeline.at_issue.filter(|_| pipeline.held_back) {
        text.push_str("hazard ");
        numbered(text, at_issue.cluster, at_issue.number);
        text.push_str(": a word is still in the pipeline");
    } else if warps.refuses {
        text.push_str("queue full: request refused");
    } else if clusters.refuses {
        text.push_str("cluster queue full: request refused");
    }
}
